/* What a provider's own list of models says of one: limits, prices and abilities, in the forms of
 * OpenRouter, Together, Groq, Mistral, vLLM, llama-server and Google. What is not said is not
 * known. Pure; any thread. */
#ifndef TIER_MODEL_LISTED_H
#define TIER_MODEL_LISTED_H

#include "base/json/json.h"

struct model_listed {
    bool found;
    uint32_t context_tokens, output_tokens; /* 0 = not said */
    double input_usd, output_usd;           /* for a million tokens; NAN = not said */
    unsigned said;                          /* of enum card_ability: the list speaks of it */
    unsigned abilities;                     /* of these, what the model has */
};

/* root: the answer to GET /models. */
struct model_listed model_listed_read(const struct json *root, const char *model);
/* The rows of such a list, and the model's name in one. **borrow** */
const struct json *model_listed_rows(const struct json *root);
struct td_str model_listed_name(const struct json *row);

#endif
