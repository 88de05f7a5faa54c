/* How servers count tokens, learnt from the usages that they tell.
 *
 * Before a server is asked, and where it is not asked at all, its tokens are estimated: four bytes
 * are one. Each exact usage says what that estimate really came to. From their sums follow a ratio
 * for prompts, one for answers (reasoning that nobody sees is in it), and the share of prompts that
 * the server had in its cache. A server starts with what its ledger knows. One for the process; any
 * thread. */
#ifndef EXCHANGE_TOKEN_COUNTS_H
#define EXCHANGE_TOKEN_COUNTS_H

#include "router/plan/facts.h"

/* Exact usages that a ratio needs. */
#define TOKEN_COUNTS_MIN 5

struct token_counts;

/* Sums over exact usages: what was estimated, and what was told. */
struct token_sums {
    double count;
    double prompt_estimate, prompt_tokens, cached_tokens;
    double answer_estimate, completion_tokens;
};

struct token_ratio {
    double prompt, answer; /* tokens of the server for each estimated one */
    double cached;         /* share of prompt tokens */
    bool learnt;           /* false: too few usages; 1, 1 and 0 */
};

struct token_counts *token_counts_new(void); /* **returns new** (token_counts_free), or NULL */
void token_counts_free(struct token_counts *counts);
/* A model that is one too many teaches nothing. */
void token_counts_add(struct token_counts *counts, const char *tier, const char *model,
                      const struct token_sums *more);
/* counts NULL: nothing is learnt. */
void token_counts_read(struct token_counts *counts, const struct tier_facts *facts,
                       struct token_ratio *out);

#endif
