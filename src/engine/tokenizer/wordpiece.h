/* WordPiece, the tokenizer of BERT-like models (Devlin et al. 2018; Wu et al. 2016, section 4.1).
 * Text is cleaned and cut into words. Each word is cut, from left to right, into the longest pieces
 * of the vocabulary. No state; any thread. */
#ifndef ENGINE_WORDPIECE_H
#define ENGINE_WORDPIECE_H

#include "engine/tokenizer/tokenizer_internal.h"

/* Appends the ids of `text`, in which special tokens are not parsed. False when the ids are
 * full. */
bool wordpiece_encode(const struct tokenizer *tokenizer, struct td_str text, struct buf *ids);

#endif
