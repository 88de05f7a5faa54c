/* The binary event stream of AWS (application/vnd.amazon.eventstream): reading streams that are cut
 * at any byte. One owner, one thread.
 *
 *   offset  bytes
 *   0       4      length of the whole frame, big-endian, as all numbers
 *   4       4      length of the headers
 *   8       4      CRC-32 of the first eight bytes
 *   12      n      headers: length of the name (1), name, type of the value (1), value
 *   12 + n  m      payload
 *   end - 4 4      CRC-32 of everything before it */
#ifndef NET_EVENT_FRAMES_H
#define NET_EVENT_FRAMES_H

#include "base/bytes/buf.h"

struct frame_reader {
    struct buf frame; /* the unfinished frame */
};

/* What of a frame is read; views are valid during the call only. Empty where it has none. */
struct event_frame {
    struct td_str message_type;  /* ":message-type": event, exception or error */
    struct td_str event_type;    /* ":event-type", or ":exception-type" or ":error-code" */
    struct td_str error_message; /* ":error-message" */
    struct td_str payload;
};
/* The call must not deinit the reader. */
typedef void frame_fn(void *ctx, const struct event_frame *frame);

void frame_reader_init(struct frame_reader *reader, size_t frame_bytes_max);
void frame_reader_deinit(struct frame_reader *reader);
/* TD_LIMIT when a frame is larger than the maximum, TD_CORRUPT when one is damaged; feed nothing
 * more afterwards. */
TD_MUST_CHECK enum td_status frame_reader_feed(struct frame_reader *reader, struct td_str bytes,
                                               frame_fn *fn, void *ctx, struct td_error *err);
/* Whether it has part of a frame. */
bool frame_reader_is_inside(const struct frame_reader *reader);

#endif
