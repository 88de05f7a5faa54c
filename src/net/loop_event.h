/* base/loop.h on libevent. One thread runs it.
 *
 * Timers and watches are freed by whoever made them, before the loop. What loop_post accepted runs
 * exactly once, at the latest just before loop_event_run returns. */
#ifndef NET_LOOP_EVENT_H
#define NET_LOOP_EVENT_H

#include "base/loop.h"

TD_MUST_CHECK enum td_status loop_event_new(struct loop **out, struct td_error *err);
void loop_event_free(struct loop *loop);    /* not while it runs; frees the loop's client */
void loop_event_run(struct loop *loop);     /* until loop_event_stop */
void loop_event_restart(struct loop *loop); /* a stopped loop may run again and takes posts */
void loop_event_stop(
    struct loop *loop); /* any thread; for good: a stopped loop takes no more posts */

/* For net/ only. */
struct event_base;
struct client;
struct event_base *loop_event_base(struct loop *loop);
struct client **
loop_event_client(struct loop *loop); /* the place where client_of_loop keeps its own */

#endif
