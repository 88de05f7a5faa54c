/* chat.completion and chat.completion.chunk bodies, written by hand into a buf. This is the hot
 * path of a stream: a tree of JSON values for each token would cost more than the token of a small
 * model.
 *
 * A response_writer is the constant part of one response; a response_answer collects what a whole
 * (not streamed) answer needs. One owner, one loop. */
#ifndef API_OPENAI_RESPONSE_H
#define API_OPENAI_RESPONSE_H

#include "api/http/fault.h"
#include "base/bytes/buf.h"
#include "exchange/machine/exchange.h"
#include "request/request.h"

#define RESPONSE_ID_BYTES 64

struct grown;

struct response_writer {
    char id[RESPONSE_ID_BYTES]; /* the digits of the exchange's */
    int64_t created;            /* seconds since the Unix epoch */
    const char *model;          /* as asked; used until the answering model is known */
    enum td_mode mode;
    bool logprobs;
    const char *left_out; /* of the request (openai_request.h), or NULL; set after init */
    bool include_usage;   /* chunks before the last carry "usage": null; set after init */
};

/* exchange_id: "ex_...". The answer's id has the same digits, so both lead to the same record. */
void response_writer_init(struct response_writer *writer, const char *exchange_id, int64_t created,
                          const struct td_request *request);

/* A whole answer being collected. */
struct response_answer {
    struct buf content;
    struct buf logprobs; /* entries of logprobs.content, comma-separated */
    struct buf refusal;
    struct tool_calls *tool_calls; /* NULL until a tier sends one */
    struct grown *members;         /* what else its message has: reasoning, annotations, ... */
    struct json *beside;           /* what was told beside it (openai_beside.h), or NULL */
    bool old_call;                 /* it has a call in OpenAI's form before 2023-11 */
};

/* What an OpenAI-compatible peer sent in addition to plain text: a message's members, or NULL. */
const struct json *response_raw_message(const struct tier_piece *piece);
/* told: the usage as the tier's server sent it, whose details are repeated; NULL = none. */
void response_write_usage(const struct tier_usage *usage, const struct json *told, struct buf *out);
/* Appends the `tandem` object: where the answer came from and why. */
void response_write_tandem(const struct response_writer *writer,
                           const struct exchange_summary *summary, struct buf *out);

/* Stream chunks, as JSON texts (no SSE framing). Content: false when the piece has nothing to
 * show. The last two need of the answer what its pieces told beside the message. */
void response_chunk_role(const struct response_writer *writer,
                         const struct exchange_summary *summary, struct buf *out);
bool response_chunk_content(const struct response_writer *writer,
                            const struct exchange_summary *summary, const struct tier_piece *piece,
                            struct buf *out);
void response_chunk_correction(const struct response_writer *writer,
                               const struct exchange_summary *summary, struct buf *out);
void response_chunk_verdict(const struct response_writer *writer,
                            const struct exchange_summary *summary, struct buf *out);
/* Of both the members without the braces, for other dialects: the exchange, and what stays of what
 * was shown; or what was found of it, as a member `commit` or `timeout`. */
void response_write_correction(const struct exchange_summary *summary, struct buf *out);
void response_write_verdict(const struct exchange_summary *summary, struct buf *out);
const char *response_verdict_name(const struct exchange_summary *summary);
/* Where that many characters of the text end. */
size_t response_bytes_of(struct td_str text, uint64_t characters);
void response_chunk_finish(const struct response_writer *writer,
                           const struct exchange_summary *summary,
                           const struct response_answer *answer, struct buf *out);
void response_chunk_usage(const struct response_writer *writer,
                          const struct exchange_summary *summary,
                          const struct response_answer *answer, struct buf *out);

/* Of a whole answer being collected. */
void response_answer_init(struct response_answer *answer, size_t bytes_max);
void response_answer_deinit(struct response_answer *answer);
void response_answer_clear(
    struct response_answer *answer); /* a correction: forget what was shown */
void response_answer_add(const struct response_writer *writer, struct response_answer *answer,
                         const struct tier_piece *piece);
/* Only the calls of a message or of a delta. */
void response_answer_add_calls(struct response_answer *answer, const struct json *calls);
/* Only the message's members that are neither text nor calls, and what is told beside it. */
void response_answer_add_members(struct response_answer *answer, const struct tier_piece *piece);
/* Only what the piece tells beside the message. */
void response_answer_add_beside(struct response_answer *answer, const struct tier_piece *piece);
/* Of that, members of the `chunk` or of its `choice`, each after a comma, without those of `except`
 * (up to NULL; NULL = none). */
void response_write_beside(const struct json *beside, const char *part, const char *const *except,
                           struct buf *out);
/* Members of an object, each after a comma, without those of `except`. */
void response_write_members(const struct json *object, const char *const *except, struct buf *out);
/* The usage that was told, where it is the answer's; else NULL. */
const struct json *response_told_usage(const struct json *beside, const struct tier_usage *usage);
/* Only what is told of a piece's tokens. */
void response_answer_add_logprobs(const struct response_writer *writer,
                                  struct response_answer *answer, const struct tier_piece *piece);
/* Whether something of it is missing because it outgrew its limit. */
bool response_answer_failed(const struct response_answer *answer);
/* Appends the chat.completion; false when the answer outgrew its limit. */
bool response_write_completion(const struct response_writer *writer,
                               const struct exchange_summary *summary,
                               const struct response_answer *answer, struct buf *out);

/* The request's stop text that ended the answer; "" = none, or none is known. */
struct td_str response_stop(const struct td_request *request,
                            const struct exchange_summary *summary);

/* Copies text as a header value: printable ASCII, everything else '?', at most size - 1 bytes. */
void response_header_text(const char *text, char *out, size_t size);

#endif
