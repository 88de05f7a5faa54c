/* What the rest of the engine may ask of an embedder (include/tandem/engine.h) beyond its public
 * calls. */
#ifndef ENGINE_EMBEDDING_H
#define ENGINE_EMBEDDING_H

#include "tandem/engine.h"

#include <stdatomic.h>

/* `cancel` set: a call ends between two layers with TD_CANCELLED. NULL = nobody can.
 * **borrows**. */
void embedder_set_cancel(struct td_embedder *embedder, const atomic_bool *cancel);

/* td_embed for a part of a longer list, of which texts[0] is number `first`: an error names the
 * text by its place in the whole. */
TD_MUST_CHECK enum td_status embedder_run(struct td_embedder *embedder, const struct td_ids *texts,
                                          size_t text_count, size_t first, float *out,
                                          struct td_error *err);

/* Divides by the length of the vector (its 2-norm); a vector of zeroes stays one. */
void embedding_normalise(float *vector, size_t size);

/* "mean", "cls", "last"; false for another name. */
bool pooling_parse(const char *name, enum td_pooling *out);
const char *pooling_name(enum td_pooling pooling);

#endif
