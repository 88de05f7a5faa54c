/* The event loop of base/thread/loop.h on libevent. One thread runs it.
 *
 * Timers and watches must be freed before the loop, by their makers. Every post that was accepted
 * runs exactly once, at the latest before loop_event_run returns. */
#ifndef NET_LOOP_EVENT_H
#define NET_LOOP_EVENT_H

#include "base/thread/loop.h"

TD_MUST_CHECK enum td_status loop_event_new(struct loop **out, struct td_error *err);
void loop_event_free(struct loop *loop);    /* not while it runs; also frees the loop's client */
void loop_event_run(struct loop *loop);     /* until loop_event_stop */
void loop_event_restart(struct loop *loop); /* lets a stopped loop run and accept posts again */
void loop_event_stop(struct loop *loop);    /* any thread; a stopped loop accepts no more posts */

/* For net/ alone. */
struct event_base;
struct client;
struct event_base *loop_event_base(struct loop *loop);
struct client **loop_event_client(struct loop *loop); /* where client_of_loop keeps its client */

#endif
