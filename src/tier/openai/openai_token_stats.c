#include "tier/openai/openai_token_stats.h"

#include <math.h>

struct token_stats_list openai_token_stats_open(const struct json *logprobs)
{
    struct token_stats_list list = {.entries = json_get(logprobs, "content")};
    list.count = json_count(list.entries);
    if (list.count > 0)
        return list;
    list = (struct token_stats_list){.logprobs = json_get(logprobs, "token_logprobs"),
                                     .tops = json_get(logprobs, "top_logprobs")};
    list.count = json_count(list.logprobs);
    return list;
}

static double number_of(const struct json *value)
{
    enum json_kind kind = json_kind_of(value);
    return kind == JSON_KIND_DOUBLE || kind == JSON_KIND_INT ? json_number(value, 0) : (double)NAN;
}

/* Beyond the range of a float the sign is all that is left. */
static float to_float(double number)
{
    return number > 1e30 ? INFINITY : number < -1e30 ? -INFINITY : (float)number;
}

static float margin_of(double best, double second)
{
    return (float)(exp(fmin(best, 0)) - exp(fmin(second, 0)));
}

/* The alternatives of a chat's token are a list, the likeliest first. */
static float margin_of_list(const struct json *top)
{
    return json_count(top) < 2 ? 0
                               : margin_of(json_number(json_get(json_at(top, 0), "logprob"), 0),
                                           json_number(json_get(json_at(top, 1), "logprob"), 0));
}

/* Those of a completion's token are an object without an order. */
static float margin_of_object(const struct json *top)
{
    void *iterator = NULL;
    const char *text;
    const struct json *value;
    double best = -INFINITY, second = -INFINITY;
    size_t count = 0;
    while (json_next(top, &iterator, &text, &value)) {
        double number = json_number(value, -INFINITY);
        second = fmax(second, fmin(best, number));
        best = fmax(best, number);
        count++;
    }
    return count < 2 ? 0 : margin_of(best, second);
}

struct td_token_stats openai_token_stats_read(const struct token_stats_list *list, size_t at)
{
    if (list->entries) {
        const struct json *entry = json_at(list->entries, at);
        return (struct td_token_stats){
            .logprob = to_float(number_of(json_get(entry, "logprob"))),
            .margin = margin_of_list(json_get(entry, "top_logprobs")),
        };
    }
    return (struct td_token_stats){
        .logprob = to_float(number_of(json_at(list->logprobs, at))),
        .margin = margin_of_object(json_at(list->tops, at)),
    };
}
