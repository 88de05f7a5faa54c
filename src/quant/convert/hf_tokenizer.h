/* Reads the tokenizer of a Hugging Face folder (tokenizer.json, tokenizer_config.json) into GGUF's
 * metadata. No state; any thread. */
#ifndef QUANT_HF_TOKENIZER_H
#define QUANT_HF_TOKENIZER_H

#include "base/bytes/buf.h"
#include "base/json/json.h"

/* The largest published one has 33 MB. */
#define HF_TOKENIZER_BYTES_MAX ((size_t)96 << 20)

/* Appends the pairs tokenizer.ggml.* and tokenizer.chat_template to `pairs` and adds their number
 * to *count. tokenizer: tokenizer.json; config: tokenizer_config.json, may be NULL; model:
 * config.json; vocab_count: rows of the embedding, at least as many as there are tokens (the rest
 * are padding). chat_template: {NULL, 0} = the one in `config`. TD_UNSUPPORTED: a kind of tokenizer
 * that is not run here; TD_CORRUPT with the reason. */
TD_MUST_CHECK enum td_status
hf_tokenizer_convert(const struct json *tokenizer, const struct json *config,
                     const struct json *model, struct td_str chat_template, uint32_t vocab_count,
                     struct buf *pairs, uint64_t *count, struct td_error *err);

#endif
