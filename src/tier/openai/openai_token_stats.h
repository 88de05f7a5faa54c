/* Reads a choice's log-probabilities, in the form of a chat (`content`, a list of entries) or of a
 * completion (`token_logprobs` and `top_logprobs`, parallel lists). Some servers send the first
 * form with completions, too. Numbers are a stranger's: what is no log-probability becomes NAN,
 * which counts as impossible (exchange/limits/confidence.h). Borrows the JSON. */
#ifndef TIER_OPENAI_TOKEN_STATS_H
#define TIER_OPENAI_TOKEN_STATS_H

#include "base/json/json.h"
#include "tandem/engine.h"

struct token_stats_list {
    const struct json *entries;         /* of a chat; else NULL */
    const struct json *logprobs, *tops; /* of a completion */
    size_t count;
};

struct token_stats_list openai_token_stats_open(const struct json *logprobs);
/* Log-probability and margin of token `at` (0 when fewer than two alternatives came). The entropy
 * cannot be known from a few alternatives and stays 0. */
struct td_token_stats openai_token_stats_read(const struct token_stats_list *list, size_t at);

#endif
