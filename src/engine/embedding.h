/* What the rest of the engine may ask of an embedder (include/tandem/engine.h) beyond its public
 * calls. */
#ifndef ENGINE_EMBEDDING_H
#define ENGINE_EMBEDDING_H

#include "tandem/engine.h"

#include <stdatomic.h>

/* `cancel` set: a call ends between two layers with TD_CANCELLED. NULL = nobody can.
 * **borrows**. */
void embedder_set_cancel(struct td_embedder *embedder, const atomic_bool *cancel);

/* Divides by the length of the vector (its 2-norm); a vector of zeroes stays one. */
void embedding_normalise(float *vector, size_t size);

/* "mean", "cls", "last"; false for another name. */
bool pooling_parse(const char *name, enum td_pooling *out);
const char *pooling_name(enum td_pooling pooling);

#endif
