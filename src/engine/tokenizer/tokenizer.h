/* Tokenizers read from GGUF metadata: SentencePiece BPE ("llama"), byte-level BPE ("gpt2") with the
 * pre-tokenizers gpt-2, llama-bpe, qwen2 and others (the table in pretokenizer.c), and WordPiece
 * ("bert"). Immutable after open; any thread. */
#ifndef ENGINE_TOKENIZER_H
#define ENGINE_TOKENIZER_H

#include "base/buf.h"
#include "engine/gguf/gguf.h"

struct tokenizer;

/* Borrows strings from `gguf`, which must outlive it. **returns new** (tokenizer_close). */
TD_MUST_CHECK enum td_status tokenizer_open(const struct gguf *gguf, struct tokenizer **out,
                                            struct td_error *err);
void tokenizer_close(struct tokenizer *tokenizer);

struct tokenizer_options {
    bool add_special;   /* BOS/EOS ([CLS]/[SEP]) where the vocabulary asks for them */
    bool parse_special; /* text spelling a control or user-defined token becomes it */
};

/* Appends ids (int32_t each) to *ids, a buf used as an array. TD_LIMIT/TD_NO_MEMORY when it is
 * full. */
TD_MUST_CHECK enum td_status tokenizer_encode(const struct tokenizer *tokenizer, struct td_str text,
                                              const struct tokenizer_options *options,
                                              struct buf *ids, struct td_error *err);

struct text_segment {
    size_t begin, end; /* bytes of the rendered text */
    bool mark;         /* part of the template (special tokens are parsed), not of a message */
};

/* The same for a rendered chat template: the text is tokenised as one, but special tokens are
 * parsed only inside marks (and options->parse_special is not looked at), so that a message cannot
 * write one. The segments must cover the text in order: TD_INVALID. */
TD_MUST_CHECK enum td_status tokenizer_encode_segments(const struct tokenizer *tokenizer,
                                                       struct td_str text,
                                                       const struct text_segment *segments,
                                                       size_t segment_count, bool add_special,
                                                       struct buf *ids, struct td_error *err);

/* Bytes of one token as they stand in a text (SentencePiece: U+2581 as space, byte tokens as
 * bytes). Control tokens give "" unless `special`. Borrowed until close. */
struct td_str tokenizer_piece(const struct tokenizer *tokenizer, int32_t id, bool special);
/* Text of a whole sequence, with SentencePiece's leading space dropped at the start. */
void tokenizer_decode(const struct tokenizer *tokenizer, const int32_t *ids, size_t count,
                      bool special, struct buf *out);

uint32_t tokenizer_count(const struct tokenizer *tokenizer);
int32_t tokenizer_bos(const struct tokenizer *tokenizer); /* -1 = none */
int32_t tokenizer_eos(const struct tokenizer *tokenizer);
bool tokenizer_adds_bos(const struct tokenizer *tokenizer);
/* End of generation: eos, end of turn, and tokens named so by their text (<|im_end|>, <|eot_id|>,
 * ...). */
bool tokenizer_is_end(const struct tokenizer *tokenizer, int32_t id);
/* Id of a token with exactly this text, or -1. */
int32_t tokenizer_find(const struct tokenizer *tokenizer, struct td_str text);

#endif
