/* Log-probabilities in the form of OpenAI's completions, as parallel arrays:
 *
 *   {"tokens": [text], "token_logprobs": [number or null],
 *    "top_logprobs": [{text: number} or null],
 *    "text_offset": [characters of prompt and answer, as sent, before the token]}
 *
 * A token that is not whole UTF-8 is written "bytes:\xe2\x80", as OpenAI does. Plain data, one
 * owner, one thread. */
#ifndef TIER_OPENAI_LOGPROBS_H
#define TIER_OPENAI_LOGPROBS_H

#include "base/json/json.h"
#include "engine/session/generate.h"

struct openai_logprobs {
    const struct td_model *model;
    uint8_t top_count; /* alternatives requested; the token itself is always listed */
    uint32_t offset;   /* complete characters so far */
    char partial[3];   /* the beginning of the next one */
    uint8_t partial_len;
};

struct text_prompt {
    struct td_str text;
    const int32_t *ids; /* [count] */
    const struct prompt_score *scores;
    size_t count;
};

/* For the whole prompt, which begins the text. **returns new** (json_free); NULL without memory. */
struct json *openai_logprobs_prompt(struct openai_logprobs *state,
                                    const struct text_prompt *prompt);
/* For a prompt whose log-probabilities are not wanted: it counts for the offsets all the same. */
void openai_logprobs_skip(struct openai_logprobs *state, struct td_str text);
/* For one generated token. **returns new** (json_free); NULL without memory. */
struct json *openai_logprobs_token(struct openai_logprobs *state, const struct td_token *token);

#endif
