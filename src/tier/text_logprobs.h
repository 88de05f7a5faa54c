/* Log-probabilities of texts in the form of OpenAI's completions:
 *   {"tokens": [text], "token_logprobs": [number or null],
 *    "top_logprobs": [{text: number} or null],
 *    "text_offset": [characters of prompt and answer, as sent, before it]}
 * A token that is no whole UTF-8 is "bytes:\xe2\x80", as OpenAI writes it. Plain data, one
 * owner. */
#ifndef TIER_TEXT_LOGPROBS_H
#define TIER_TEXT_LOGPROBS_H

#include "base/json.h"
#include "engine/session/generate.h"

struct text_logprobs {
    const struct td_model *model;
    uint8_t top_count; /* alternatives that were asked for; the token itself always is one */
    uint32_t offset;   /* whole characters so far */
    char partial[3];   /* what follows them: the beginning of one */
    uint8_t partial_len;
};

struct text_prompt {
    struct td_str text;
    const int32_t *ids; /* [count] */
    const struct prompt_score *scores;
    size_t count;
};

/* Of a whole prompt, which is the beginning. **returns new** (json_free), NULL without memory. */
struct json *text_logprobs_prompt(struct text_logprobs *state, const struct text_prompt *prompt);
/* Without one, a prompt counts for the offsets all the same. */
void text_logprobs_skip(struct text_logprobs *state, struct td_str text);
/* Of one generated token. **returns new** (json_free), NULL without memory. */
struct json *text_logprobs_token(struct text_logprobs *state, const struct td_token *token);

#endif
