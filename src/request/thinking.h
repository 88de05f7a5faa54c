/* How much a model thinks: providers count it in tokens, a chat says it as an effort. One table a
 * provider is read in both directions. Constant; any thread. */
#ifndef REQUEST_THINKING_H
#define REQUEST_THINKING_H

#include "base/core/str.h"

struct thinking_level {
    const char *effort;
    int64_t budget; /* tokens that this effort is given */
    int64_t most;   /* a budget of at most so many tokens is this effort */
};

/* Claude Code's words "think", "think hard" and "ultrathink" are 4000, 10000 and 31999 tokens. */
static const struct thinking_level thinking_anthropic[] = {
    {"low", 4000, 4096}, {"medium", 10000, 16384}, {"high", 31999, INT64_MAX}, {NULL, 0, 0}};

/* As Google's own servers translate them (ai.google.dev/gemini-api/docs/openai). */
static const struct thinking_level thinking_google[] = {{"none", 0, 0},
                                                        {"low", 1024, 1024},
                                                        {"medium", 8192, 8192},
                                                        {"high", 24576, INT64_MAX},
                                                        {NULL, 0, 0}};

static inline const char *thinking_effort_of(const struct thinking_level *levels, int64_t budget)
{
    while (budget > levels->most)
        levels++;
    return levels->effort;
}

/* An effort below the lowest ("minimal") is the lowest, one above the highest ("xhigh", "max") the
 * highest; -1 for no effort at all. */
static inline int64_t thinking_budget_of(const struct thinking_level *levels, struct td_str effort)
{
    int64_t highest = -1, low = -1;
    for (; levels->effort; levels++) {
        if (str_equal(effort, str_from(levels->effort)))
            return levels->budget;
        low = str_equal(str_from(levels->effort), STR("low")) ? levels->budget : low;
        highest = levels->budget;
    }
    if (str_equal(effort, STR("minimal")))
        return low;
    return str_equal(effort, STR("xhigh")) || str_equal(effort, STR("max")) ? highest : -1;
}

#endif
