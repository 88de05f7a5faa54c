/* The texts that a model is measured with, as token ids. One owner. */
#ifndef QUANT_TEXTS_H
#define QUANT_TEXTS_H

#include "base/bytes/buf.h"
#include "engine/model/model.h"

struct texts {
    int32_t **ids;  /* [count] */
    size_t *counts; /* [count]: tokens of each */
    size_t count, capacity;
    uint64_t token_count;
};

/* Tokenizes a text, with the marks of a chat template as special tokens: texts to measure with are
 * often conversations as the model sees them. */
TD_MUST_CHECK enum td_status texts_add(struct texts *texts, const struct td_model *model,
                                       struct td_str text, struct td_error *err);
/* A text file, as one text. TD_LIMIT: above 256 MiB. */
TD_MUST_CHECK enum td_status texts_add_file(struct texts *texts, const struct td_model *model,
                                            const char *path, struct td_error *err);
/* **takes** ids (free). */
TD_MUST_CHECK enum td_status texts_take(struct texts *texts, int32_t *ids, size_t count,
                                        struct td_error *err);
void texts_deinit(struct texts *texts);

#endif
