/* Pre-tokenizers of byte-level BPE: they cut a text into the pieces inside which merges may happen.
 * Pure functions over views; any thread. */
#ifndef ENGINE_PRETOKENIZER_H
#define ENGINE_PRETOKENIZER_H

#include "tandem/types.h"

struct pretokenizer;

/* The pre-tokenizer that GGUF calls `name` (tokenizer.ggml.pre), or NULL. Static storage. */
const struct pretokenizer *pretokenizer_find(struct td_str name);
/* All names that pretokenizer_find knows, comma-separated, for a message. */
void pretokenizer_list(char *out, size_t out_size);

/* Vocabularies of this kind: take a piece that is a token as a whole without merging it together
 * ... */
bool pretokenizer_ignores_merges(const struct pretokenizer *pre);
/* ... and want BOS unless the file says otherwise. */
bool pretokenizer_adds_bos(const struct pretokenizer *pre);

/* Gives the pieces in order; together they are the text. Stops when `emit` returns false. */
typedef bool (*pretokenizer_emit)(void *context, struct td_str piece);
bool pretokenizer_split(const struct pretokenizer *pre, struct td_str text, pretokenizer_emit emit,
                        void *context);

#endif
