/* Tokenizers, read from GGUF metadata: SentencePiece BPE ("llama"), byte-level BPE ("gpt2") with a
 * pre-tokenizer from the table in pretokenizer.c, and WordPiece ("bert"). Immutable after open; any
 * thread. */
#ifndef ENGINE_TOKENIZER_H
#define ENGINE_TOKENIZER_H

#include "base/bytes/buf.h"
#include "engine/gguf/gguf.h"

struct tokenizer;

/* **borrows** strings from `gguf`, which must outlive the tokenizer. **returns new**
 * (tokenizer_close). */
TD_MUST_CHECK enum td_status tokenizer_open(const struct gguf *gguf, struct tokenizer **out,
                                            struct td_error *err);
void tokenizer_close(struct tokenizer *tokenizer);

struct tokenizer_options {
    bool add_special;   /* BOS/EOS ([CLS]/[SEP]) where the vocabulary asks for them */
    bool parse_special; /* text that spells a control token becomes that token */
    bool goes_on;       /* no space of SentencePiece's before the text */
};

/* Appends ids to *ids, a buf used as an array of int32_t. TD_LIMIT when that is full,
 * TD_NO_MEMORY. */
TD_MUST_CHECK enum td_status tokenizer_encode(const struct tokenizer *tokenizer, struct td_str text,
                                              const struct tokenizer_options *options,
                                              struct buf *ids, struct td_error *err);

struct text_segment {
    size_t begin, end; /* bytes of the rendered text */
    bool mark;         /* text of the template, in which special tokens are parsed */
};

/* The same for a rendered chat template. The text is tokenised as one, but special tokens are
 * parsed only inside marks, so a message cannot write one. TD_INVALID unless the segments cover the
 * text in order. */
TD_MUST_CHECK enum td_status tokenizer_encode_segments(const struct tokenizer *tokenizer,
                                                       struct td_str text,
                                                       const struct text_segment *segments,
                                                       size_t segment_count, bool add_special,
                                                       struct buf *ids, struct td_error *err);

/* The bytes that one token writes into a text (SentencePiece: U+2581 is a space, byte tokens are
 * bytes). Control tokens give "" unless `special` is set. **borrows** until tokenizer_close. */
struct td_str tokenizer_piece(const struct tokenizer *tokenizer, int32_t id, bool special);
/* Appends the text of a whole sequence, without the space that SentencePiece puts first. */
void tokenizer_decode(const struct tokenizer *tokenizer, const int32_t *ids, size_t count,
                      bool special, struct buf *out);

uint32_t tokenizer_count(const struct tokenizer *tokenizer);
int32_t tokenizer_bos(const struct tokenizer *tokenizer); /* -1 = none */
int32_t tokenizer_eos(const struct tokenizer *tokenizer);
bool tokenizer_adds_bos(const struct tokenizer *tokenizer);
/* Whether the token ends a generation: eos, end of turn, and tokens whose text says so (<|im_end|>,
 * <|eot_id|>, ...). */
bool tokenizer_is_end(const struct tokenizer *tokenizer, int32_t id);
/* Id of a token with exactly this text, or -1. */
int32_t tokenizer_find(const struct tokenizer *tokenizer, struct td_str text);

#endif
