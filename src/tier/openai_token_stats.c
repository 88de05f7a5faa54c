#include "tier/openai_token_stats.h"

#include "base/str.h"

#include <math.h>
#include <string.h>

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

/* --- what is no JSON --- */

/* The place after the string that begins at `at`. */
static size_t after_string(struct td_str text, size_t at)
{
    for (at++; at < text.len && text.data[at] != '"'; at++)
        at += text.data[at] == '\\';
    return at < text.len ? at + 1 : text.len;
}

static size_t after_space(struct td_str text, size_t at)
{
    while (at < text.len && memchr(" \t\r\n", text.data[at], 4))
        at++;
    return at;
}

/* The place after the value at `at`: up to the comma or bracket that does not belong to it. */
static size_t after_value(struct td_str text, size_t at)
{
    size_t depth = 0;
    while (at < text.len) {
        char c = text.data[at];
        if (depth == 0 && (c == ',' || c == '}' || c == ']'))
            return at;
        depth += c == '{' || c == '[';
        depth -= c == '}' || c == ']';
        at = c == '"' ? after_string(text, at) : at + 1;
    }
    return at;
}

bool openai_token_stats_cut(struct td_str chunk, struct buf *out)
{
    static const struct td_str name = {"\"logprobs\"", 10};
    bool found = false;
    size_t copied = 0;
    for (size_t at = 0; at < chunk.len;) {
        size_t next = chunk.data[at] == '"' ? after_string(chunk, at) : at + 1;
        size_t colon = after_space(chunk, next);
        if (!str_equal(str_slice(chunk, at, next), name) || colon >= chunk.len ||
            chunk.data[colon] != ':') {
            at = next;
            continue;
        }
        buf_append_str(out, str_slice(chunk, copied, colon + 1));
        buf_append_str(out, STR("null"));
        at = copied = after_value(chunk, colon + 1);
        found = true;
    }
    buf_append_str(out, str_slice(chunk, copied, chunk.len));
    return found && !out->failed;
}
