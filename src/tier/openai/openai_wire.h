/* The OpenAI wire format from the client's side: the body to send, the stream to read, the errors
 * to understand. No I/O and no clock: bytes in, pieces out (tests/fuzz/fuzz_openai_stream.c).
 *
 * A stream is read strictly. Malformed input ends it with TD_CORRUPT and a message that says what
 * was wrong: a guess would be shown to a user as an answer. One owner, one thread. */
#ifndef TIER_OPENAI_WIRE_H
#define TIER_OPENAI_WIRE_H

#include "net/client/event_frames.h"
#include "net/client/sse.h"
#include "request/request.h"
#include "tier/openai/openai_beside.h"
#include "tier/tier.h"

/* Accepts https URLs, and http URLs of a loopback host or with allow_http. A URL with user:password
 * is refused. TD_INVALID. */
TD_MUST_CHECK enum td_status openai_check_url(struct td_str url, bool allow_http,
                                              struct td_error *err);

/* Appends the JSON body of a streamed request for facts->model. judged: with log-probabilities,
 * also where the client asks for none. What of it is not to be asked, tier/openai/openai_extras.h
 * takes out. */
TD_MUST_CHECK enum td_status openai_write_body(const struct td_request *request,
                                               const struct tier_facts *facts, bool judged,
                                               struct buf *out, struct td_error *err);

/* Appends a message to a list of them. The text as it lies in the list, which **borrows** it;
 * data NULL without memory. */
struct td_str openai_add_message(struct json *list, enum td_role role, struct td_str text);

/* Whether `tools`, a request's list, has a function of that name. */
bool openai_offers_tool(const struct json *tools, struct td_str name);

/* Appends spaces after the JSON up to a multiple of `multiple` bytes (0 = none), so that the length
 * on the wire says little about the text. */
TD_MUST_CHECK enum td_status openai_pad_body(struct buf *body, uint32_t multiple,
                                             struct td_error *err);

/* The status for an HTTP error, what it means (tier/openai/openai_refusal.h), and the peer's
 * message: bounded, without control characters. code 0: the error came in a stream. */
enum td_status openai_status_of_http(int code);
void openai_read_error(int code, struct td_str body, struct tier_refusal *refusal,
                       struct td_error *err);
/* Reads "2" as 2000, and the date of HTTP as the time until then; an hour at most. UINT64_MAX when
 * the value is neither. */
uint64_t openai_retry_after_ms(const char *value, uint64_t now_wall_ms);

struct tier_dialect;
typedef void openai_piece_fn(void *ctx, const struct tier_piece *piece);

enum openai_form { OPENAI_FORM_UNKNOWN, OPENAI_FORM_EVENTS, OPENAI_FORM_WHOLE };

struct openai_stream {
    openai_piece_fn *on_piece;
    void *ctx;
    bool completion; /* the choices have `text`; some servers send it in chats, too */
    /* Set after openai_stream_init: log-probabilities were asked for by us, not by the client. They
     * become stats, and no piece has them; none of them makes an answer malformed. */
    bool own_logprobs;
    /* Set after it, too: the texts of the request, to know which of them ended the answer. */
    const struct td_str *stops; /* [stop_count] */
    size_t stop_count;
    enum openai_form form;              /* known after the first byte */
    const struct tier_dialect *dialect; /* of another provider; NULL = OpenAI's */
    void *dialect_state;
    struct sse_reader events;
    struct frame_reader frames;
    struct buf whole;
    bool finished; /* a finish_reason came */
    bool done;     /* [DONE] came: nothing follows */
    enum td_finish finish;
    uint32_t stop_number;    /* as in tier_result */
    struct tier_usage usage; /* exact if the peer sent it */
    struct openai_beside beside;
    uint64_t text_bytes;    /* of content, for an estimate of the usage */
    uint64_t shown_bytes;   /* of that, of calls and of what stands beside the answer */
    uint64_t stats_count;   /* pieces with stats */
    uint64_t identity;      /* hash of the model and build that the server names; 0 = not yet */
    uint64_t surplus_count; /* log-probabilities beyond what the text can have tokens */
    bool chunk_was_cut;     /* the log-probabilities of the chunk at hand are no JSON */
    bool usage_was_cut;     /* its usage is none */
    enum td_status failed;  /* later bytes are ignored */
    struct td_error *err;   /* the first failure, while bytes are read */
    struct tier_refusal refusal; /* what it means when the server said it in the stream */
    bool own_fault;              /* it is about this answer, not about the server */
};

/* From now on the stream is another provider's. After openai_stream_init; TD_NO_MEMORY. */
TD_MUST_CHECK enum td_status openai_stream_speak(struct openai_stream *stream,
                                                 const struct tier_dialect *dialect,
                                                 struct td_error *err);
/* completion: the answer continues a text, it is not a message of a chat. */
void openai_stream_init(struct openai_stream *stream, bool completion, openai_piece_fn *on_piece,
                        void *ctx);
void openai_stream_deinit(struct openai_stream *stream);
TD_MUST_CHECK enum td_status openai_stream_feed(struct openai_stream *stream, struct td_str bytes,
                                                struct td_error *err);
/* Grows with what comes of the answer. Comments, empty chunks and the like are nothing. */
uint64_t openai_stream_progress(const struct openai_stream *stream);
/* Called at the end of the body. TD_OK when the answer is complete. */
TD_MUST_CHECK enum td_status openai_stream_end(struct openai_stream *stream, struct td_error *err);

#endif
