/* Heads of rerankers: how well a document answers a query, from the pooled state of a model that
 * has read both. Immutable after opening; any thread. */
#ifndef ENGINE_RANK_HEAD_H
#define ENGINE_RANK_HEAD_H

#include "base/bytes/buf.h"
#include "engine/model/model.h"

struct rank_head;

/* Whether the file is a reranker: it says so ({arch}.pooling_type 4), or it has a head. */
bool rank_head_is_in(const struct td_model *model);
/* **borrows** the model. **returns new** (rank_head_free). TD_UNSUPPORTED, TD_CORRUPT. */
TD_MUST_CHECK enum td_status rank_head_open(const struct td_model *model, struct rank_head **out,
                                            struct td_error *err);
void rank_head_free(struct rank_head *head); /* accepts NULL */
/* In [0, 1]. state: [embedding], of the first token of an encoder or the last of a decoder. */
double rank_head_score(const struct rank_head *head, const double *state);

/* Appends the ids of a query and a document as the model was trained to read them. */
TD_MUST_CHECK enum td_status rank_encode_pair(const struct td_model *model, struct td_str query,
                                              struct td_str document, struct buf *ids,
                                              struct td_error *err);

#endif
