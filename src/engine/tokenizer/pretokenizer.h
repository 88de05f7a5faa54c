/* Pre-tokenizers of byte-level BPE. They cut a text into pieces; merges never cross from one piece
 * into another. Pure functions over views; any thread. */
#ifndef ENGINE_PRETOKENIZER_H
#define ENGINE_PRETOKENIZER_H

#include "tandem/types.h"

struct pretokenizer;

/* The pre-tokenizer that GGUF calls `name` (tokenizer.ggml.pre), or NULL. Static storage. */
const struct pretokenizer *pretokenizer_find(struct td_str name);
/* The first name of each pre-tokenizer, with commas between, for a message; some have further
 * names. */
void pretokenizer_list(char *out, size_t out_size);

/* Whether a piece that is a token becomes that token without any merges. */
bool pretokenizer_ignores_merges(const struct pretokenizer *pre);
/* Whether such vocabularies want BOS, unless the file says otherwise. */
bool pretokenizer_adds_bos(const struct pretokenizer *pre);

/* Calls `emit` with the pieces in order; together they are the text. Stops and returns false when
 * `emit` returns false. */
typedef bool (*pretokenizer_emit)(void *context, struct td_str piece);
bool pretokenizer_split(const struct pretokenizer *pre, struct td_str text, pretokenizer_emit emit,
                        void *context);

#endif
