/* Functions of an embedder for the rest of Tandem, in addition to the public ones
 * (include/tandem/engine.h). One thread for each embedder. */
#ifndef ENGINE_EMBEDDING_H
#define ENGINE_EMBEDDING_H

#include "tandem/engine.h"

#include <stdatomic.h>

/* When `cancel` is set, a call ends between two layers with TD_CANCELLED. NULL = never.
 * **borrows**. */
void embedder_set_cancel(struct td_embedder *embedder, const atomic_bool *cancel);

/* td_embed for a part of a longer list. texts[0] is number `first` of the list; errors name a text
 * by its number in the list. */
TD_MUST_CHECK enum td_status embedder_run(struct td_embedder *embedder, const struct td_ids *texts,
                                          size_t text_count, size_t first, float *out,
                                          struct td_error *err);

/* An embedder of a reranker (rank_head.h): td_embed then gives the score of each pair of texts in
 * the first element of its vector, and zeroes after it. **returns new** (td_embedder_free). */
TD_MUST_CHECK enum td_status embedder_new_ranker(const struct td_model *model,
                                                 uint32_t thread_count, struct td_embedder **out,
                                                 struct td_error *err);

/* Divides a vector by its length (2-norm). A vector of zeroes does not change. */
void embedding_normalise(float *vector, size_t size);

/* "mean", "cls", "last"; false for another name. */
bool pooling_parse(const char *name, enum td_pooling *out);
const char *pooling_name(enum td_pooling pooling);

#endif
