/* The answers of /v1/completions, whole and as chunks. */
#ifndef API_COMPLETION_RESPONSE_H
#define API_COMPLETION_RESPONSE_H

#include "api/wire/openai_response.h"

/* The part of one choice that has come so far. */
struct text_answer {
    struct buf text;
    struct buf columns[4]; /* of its log-probabilities: elements of the arrays */
    struct json *beside;   /* what was told beside it (tier/openai/openai_beside.h), or NULL */
};

void text_answer_init(struct text_answer *answer, size_t bytes_max);
void text_answer_deinit(struct text_answer *answer);
void text_answer_clear(struct text_answer *answer); /* keeps the memory */
void text_answer_add(struct text_answer *answer, const struct tier_piece *piece);

/* A choice of a whole answer: {"text", "index", "logprobs", "finish_reason"}, and `tandem` when the
 * answer has several. False when it did not fit. */
bool text_answer_write(const struct response_writer *writer, const struct text_answer *answer,
                       const struct exchange_summary *summary, size_t index, bool several,
                       struct buf *out);

/* "{id, object, created, model" of an answer or a chunk: the caller goes on. */
void completion_write_head(const struct response_writer *writer,
                           const struct exchange_summary *summary, struct buf *out);
/* Chunks of one choice; piece NULL: its end, with `tandem`. A piece may tell nothing but what
 * stands beside the answer. */
void completion_chunk(const struct response_writer *writer, const struct exchange_summary *summary,
                      size_t index, const struct tier_piece *piece, struct buf *out);
/* told: as of response_write_usage. */
void completion_chunk_usage(const struct response_writer *writer,
                            const struct exchange_summary *summary, const struct tier_usage *usage,
                            const struct json *told, struct buf *out);

#endif
