/* Filling a gap: the tokens by which a model is given the text before and after one, in the order
 *
 *   [BOS] prefix, the text before, suffix, the text after, middle
 *
 * (PSM: Bavarian et al. 2022, "Efficient Training of Language Models to Fill in the Middle"). A
 * file names the three tokens by tokenizer.ggml.fim_pre_token_id, fim_suf_token_id and
 * fim_mid_token_id, or by the older prefix_, suffix_ and middle_token_id; otherwise they are known
 * by their texts. */
#ifndef ENGINE_INFILL_H
#define ENGINE_INFILL_H

#include "engine/tokenizer/tokenizer.h"

/* While a tokenizer is opened: finds the three tokens. They and the ones that end a filled gap
 * become control tokens, so that no text can write them. TD_CORRUPT: an id outside. */
TD_MUST_CHECK enum td_status infill_load(struct tokenizer *tokenizer, const struct gguf *gguf,
                                         struct td_error *err);

/* The key of the first token that the vocabulary lacks; NULL: the model can be asked to fill. */
const char *infill_missing(const struct tokenizer *tokenizer);

/* A gap; `before` as text, or as `ids` where there are some. */
struct infill_gap {
    struct td_str before, after;
    const int32_t *ids; /* [id_count]; NULL = none */
    size_t id_count;
};
/* Appends the prompt to *ids. TD_UNSUPPORTED names what is missing; otherwise as
 * tokenizer_encode. */
TD_MUST_CHECK enum td_status infill_encode(const struct tokenizer *tokenizer,
                                           const struct infill_gap *gap, struct buf *ids,
                                           struct td_error *err);

#endif
