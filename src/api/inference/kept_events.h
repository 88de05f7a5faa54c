/* A kept response as the events of a stream, for GET /v1/responses/ID?stream=true. They are made
 * again from the response: their numbers are their own, and a text comes in one piece. Pure. */
#ifndef API_KEPT_EVENTS_H
#define API_KEPT_EVENTS_H

#include "base/bytes/buf.h"

#define KEPT_EVENTS_ALL UINT64_MAX

/* Appends those whose number is above `after`, or all of them, and the last one in any case. False
 * when the body is not JSON, or without memory. */
bool kept_events_write(struct td_str body, uint64_t after, struct buf *out);

#endif
