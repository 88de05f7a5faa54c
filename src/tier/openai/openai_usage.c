#include "tier/openai/openai_usage.h"

#include "base/core/str.h"

#include <math.h>

/* More than any model's window, and what the largest request that we send has at four bytes a
 * token. */
#define USAGE_TOKENS_MAX (8 * 1024 * 1024)
/* A token has a byte at least. Beyond the bytes of a body there are the marks of messages, and what
 * a server puts before them: its own instructions, tools that it has. */
#define PROMPT_TOKENS_BESIDE 4096
/* The end, the marks of calls and of thoughts. */
#define ANSWER_TOKENS_BESIDE 64
/* Some count the end among what they were allowed. */
#define LIMIT_TOKENS_BESIDE 16
/* Thoughts that nobody is shown take their time. The fastest servers of 2026 write 3,000 tokens of
 * one answer in a second. */
#define HIDDEN_TOKENS_PER_MS 10.0

/* False for what is no number of tokens: nothing is made of a text or a fraction. */
static bool read_count(const struct json *value, uint32_t *out)
{
    int64_t count = json_int(value, -1);
    bool plausible =
        json_kind_of(value) == JSON_KIND_INT && count >= 0 && count <= USAGE_TOKENS_MAX;
    *out = plausible ? (uint32_t)count : 0;
    return plausible;
}

static bool read_count_or_none(const struct json *value, uint32_t *out)
{
    *out = 0;
    return json_absent(value) || read_count(value, out);
}

/* Prompt tokens that the server had in its cache. OpenAI and those after it say so in the details,
 * DeepSeek and Moonshot beside the other counts. */
static const struct json *cached_of(const struct json *usage)
{
    const struct json *cached = json_get(json_get(usage, "prompt_tokens_details"), "cached_tokens");
    if (json_absent(cached))
        cached = json_get(usage, "prompt_cache_hit_tokens");
    return json_absent(cached) ? json_get(usage, "cached_tokens") : cached;
}

static struct tier_usage refused(const char *why)
{
    return (struct tier_usage){.refused = why};
}

struct tier_usage openai_usage_read(const struct json *usage)
{
    struct tier_usage told = {.exact = true};
    const struct json *details = json_get(usage, "completion_tokens_details");
    const struct json *prompt = json_get(usage, "prompt_tokens_details");
    uint32_t reasoning, total;
    if (!read_count(json_get(usage, "prompt_tokens"), &told.prompt_tokens) ||
        !read_count(json_get(usage, "completion_tokens"), &told.completion_tokens) ||
        !read_count_or_none(cached_of(usage), &told.cached_tokens) ||
        !read_count_or_none(json_get(prompt, "cache_write_tokens"), &told.cache_written) ||
        !read_count_or_none(json_get(details, "reasoning_tokens"), &reasoning))
        return refused("a count that is no number of tokens");
    if (told.cached_tokens > told.prompt_tokens ||
        told.cache_written > told.prompt_tokens - told.cached_tokens)
        return refused("more cached tokens than the prompt has");
    if (reasoning <= told.completion_tokens)
        return told;
    if (!read_count(json_get(usage, "total_tokens"), &total) ||
        total != told.prompt_tokens + told.completion_tokens + reasoning)
        return refused("more tokens of reasoning than the answer has");
    told.completion_tokens += reasoning; /* xAI counts them beside the answer */
    return told;
}

uint32_t openai_usage_limit(const struct td_request *request, enum prefill prefill)
{
    static const struct td_str names[] = {{"max_tokens", 10}, {"max_completion_tokens", 21}};
    bool whole = request->continues && !request->completion && prefill == PREFILL_NONE;
    if (whole) /* the server may begin anew */
        return 0;
    if (request->member_count == 0)
        return request->tokens_max;
    for (size_t i = 0; i < request->member_count; i++)
        for (size_t n = 0; n < sizeof names / sizeof *names; n++)
            if (str_equal(str_from(request->members[i].name), names[n]) &&
                !json_absent(request->members[i].value))
                return request->tokens_max;
    return 0;
}

static double prompt_most(const struct usage_evidence *seen)
{
    double most = (double)seen->sent_bytes + PROMPT_TOKENS_BESIDE;
    if (!seen->media)
        return most;
    return fmax(most, seen->context_tokens ? seen->context_tokens : USAGE_TOKENS_MAX);
}

/* Why no server can have counted so; NULL when one can. */
static const char *contradiction(const struct tier_usage *usage, const struct usage_evidence *seen)
{
    double hidden = fmax(seen->took_ms, 0) * HIDDEN_TOKENS_PER_MS;
    if (seen->context_tokens)
        hidden = fmin(hidden, seen->context_tokens);
    if (usage->completion_tokens == 0 && seen->text_bytes > 0)
        return "no token for a text"; /* it belongs to an earlier moment, or is untrue */
    if (usage->prompt_tokens > prompt_most(seen))
        return "more tokens than were sent";
    if (seen->limit && usage->completion_tokens > (uint64_t)seen->limit + LIMIT_TOKENS_BESIDE)
        return "more tokens than the request allowed";
    if (usage->completion_tokens > (double)seen->shown_bytes + ANSWER_TOKENS_BESIDE + hidden)
        return "more tokens than can have come";
    return NULL;
}

void openai_usage_check(struct tier_usage *usage, const struct usage_evidence *evidence)
{
    const char *why = usage->exact ? contradiction(usage, evidence) : NULL;
    if (why)
        *usage = refused(why);
}
