/* The OpenAI chat wire format as its client sees it: the body to send, the stream to read, the
 * errors to understand. No I/O and no clock: bytes in, pieces out
 * (tests/fuzz/fuzz_openai_stream.c).
 *
 * A stream is strict: what is malformed ends it with TD_CORRUPT and a name for what was wrong,
 * because a guess here would be shown to a user as an answer. One owner, one thread. */
#ifndef TIER_OPENAI_WIRE_H
#define TIER_OPENAI_WIRE_H

#include "net/sse.h"
#include "request/request.h"
#include "tier/tier.h"

/* TD_INVALID unless https, or http to a loopback host or with allow_http. No user:password part. */
TD_MUST_CHECK enum td_status openai_check_url(struct td_str url, bool allow_http,
                                              struct td_error *err);

/* Appends the JSON body for a streamed chat completion by facts->model. */
TD_MUST_CHECK enum td_status openai_write_body(const struct td_request *request,
                                               const struct tier_facts *facts, struct buf *out,
                                               struct td_error *err);

/* Spaces behind the JSON, up to a multiple of `multiple` bytes, so that a length on the wire says
 * little of the text; 0 = none. */
TD_MUST_CHECK enum td_status openai_pad_body(struct buf *body, uint32_t multiple,
                                             struct td_error *err);

/* What a refusal means; the message is the peer's, bounded and free of control characters. */
enum td_status openai_status_of_http(int code);
void openai_read_error(int code, struct td_str body, struct td_error *err);
/* "2" -> 2000. UINT64_MAX when it is no number of seconds (a date). */
uint64_t openai_retry_after_ms(const char *value);

typedef void openai_piece_fn(void *ctx, const struct tier_piece *piece);

enum openai_form { OPENAI_FORM_UNKNOWN, OPENAI_FORM_EVENTS, OPENAI_FORM_WHOLE };

struct openai_stream {
    openai_piece_fn *on_piece;
    void *ctx;
    bool completion;       /* choices have `text`; some servers send one beside a chat's delta */
    enum openai_form form; /* some servers answer a streaming request with one JSON object */
    struct sse_reader events;
    struct buf whole;
    bool finished; /* a finish_reason came */
    bool done;     /* [DONE] came: nothing follows */
    enum td_finish finish;
    struct tier_usage usage; /* exact when the peer sent it */
    uint64_t text_bytes;     /* of content, for an estimate when it did not */
    struct td_error err;     /* first failure; sticky */
};

/* completion: the answer is one to a text, not to a chat. */
void openai_stream_init(struct openai_stream *stream, bool completion, openai_piece_fn *on_piece,
                        void *ctx);
void openai_stream_deinit(struct openai_stream *stream);
TD_MUST_CHECK enum td_status openai_stream_feed(struct openai_stream *stream, struct td_str bytes,
                                                struct td_error *err);
/* At the end of the body: TD_OK when the answer was whole. */
TD_MUST_CHECK enum td_status openai_stream_end(struct openai_stream *stream, struct td_error *err);

#endif
