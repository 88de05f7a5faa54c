#include "tier/openai/openai_extras.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/shortage.h"
#include "base/core/str.h"
#include "base/json/json.h"

/* As for log-probabilities: servers are updated, and models exchanged behind a name. */
#define ASK_AGAIN_MS (60 * 60 * UINT64_C(1000))

/* The members of an extra, and the words that name it in a refusal. OpenAI says "must be verified
 * to stream this model", others "streaming is not supported". */
static const struct {
    const char *members[8], *words[10];
    const char *also; /* a word that the refusal must have, too */
} rows[EXTRA_COUNT] = {
    {{"logprobs", "top_logprobs"}, {"logprob"}, NULL},
    {{"stream_options"}, {"stream_options", "include_usage"}, NULL},
    {{"stream", "stream_options"}, {"stream"}, NULL},
    {{"reasoning_effort", "verbosity", "prompt_cache_key", "prompt_cache_retention",
      "safety_identifier", "service_tier"},
     {"reasoning_effort", "reasoning effort", "verbosity", "prompt_cache", "safety_identifier",
      "service_tier", "extra inputs", "extra_forbidden", "unrecognized", "unknown"},
     NULL},
    /* "Unsupported value: 'temperature' does not support 0.2 with this model". A number out of its
     * range is the client's mistake, and is said otherwise. */
    {{"temperature", "top_p", "presence_penalty", "frequency_penalty"},
     {"temperature", "top_p", "presence_penalty", "frequency_penalty"},
     "unsupported"},
    /* "Use 'max_completion_tokens' instead": it is renamed. */
    {{"max_tokens"}, {"max_completion_tokens"}, "unsupported"},
};

static bool holds(struct td_str text, const char *word)
{
    struct td_str what = str_from(word);
    for (size_t at = 0; at + what.len <= text.len; at++)
        if (str_equal_nocase(str_slice(text, at, at + what.len), what))
            return true;
    return false;
}

static bool names(struct td_str refusal, size_t row)
{
    size_t count = sizeof rows->words / sizeof *rows->words;
    if (rows[row].also && !holds(refusal, rows[row].also))
        return false;
    for (size_t i = 0; i < count && rows[row].words[i]; i++)
        if (holds(refusal, rows[row].words[i]))
            return true;
    return false;
}

unsigned extra_support_refused(const struct extra_support *support, unsigned extras,
                               uint64_t now_ms)
{
    ASSERT(support);
    unsigned refused = 0;
    for (unsigned i = 0; i < EXTRA_COUNT; i++)
        if (extras >> i & 1 && now_ms < atomic_load(&support->refused_until[i]))
            refused |= 1u << i;
    return refused;
}

void extra_support_learn(struct extra_support *support, unsigned refused, uint64_t now_ms)
{
    ASSERT(support);
    for (unsigned i = 0; i < EXTRA_COUNT; i++)
        if (refused >> i & 1)
            atomic_store(&support->refused_until[i], now_ms + ASK_AGAIN_MS);
}

void extra_support_copy(struct extra_support *to, const struct extra_support *from)
{
    for (unsigned i = 0; i < EXTRA_COUNT; i++)
        atomic_store(&to->refused_until[i], atomic_load(&from->refused_until[i]));
}

bool openai_names_logprobs(struct td_str refusal)
{
    return names(refusal, 0);
}

/* One at a time, the smaller loss first: a refusal of stream_options also says "stream". */
unsigned openai_extras_refused(unsigned extras, int http, struct td_str refusal)
{
    if (http != 400 && http != 403 && http != 404 && http != 422 && http != 501)
        return 0;
    for (unsigned i = 1; i < EXTRA_COUNT; i++)
        if (extras >> i & 1 && names(refusal, i))
            return 1u << i;
    return 0;
}

/* The whole body again. **takes** root. */
static enum td_status write_again(struct json *root, uint32_t shortages, struct buf *body,
                                  struct td_error *err)
{
    buf_clear(body);
    json_write(root, body);
    json_free(root);
    enum td_status status =
        body->failed
            ? error_set(err, TD_LIMIT, "the request is larger than %zu bytes", body->bytes_max)
            : TD_OK;
    return shortage_judge(shortages, status, err);
}

#define MARK "cache_control"
#define THOUGHTS "reasoning_details"

/* Copies of the objects without these members; what else stands in a list comes as it is. A content
 * whose only part is a text is a string again, because some servers take nothing else. */
static struct json *list_without_marks(const struct json *list)
{
    struct json *out = json_new_array();
    for (size_t i = 0; i < json_count(list); i++) {
        struct json *item = json_clone(json_at(list, i));
        const struct json *content = json_get(item, "content");
        json_remove(item, MARK);
        json_remove(item, THOUGHTS);
        if (json_kind_of(content) == JSON_KIND_ARRAY) {
            const struct json *text = json_get(json_at(content, 0), "text");
            bool only = json_count(content) == 1 && json_kind_of(text) == JSON_KIND_TEXT;
            json_put(item, "content", only ? json_clone(text) : list_without_marks(content));
        }
        const struct json *calls = json_get(item, "tool_calls");
        if (json_kind_of(calls) == JSON_KIND_ARRAY)
            json_put(item, "tool_calls", list_without_marks(calls));
        json_push(out, item);
    }
    return out;
}

enum td_status openai_drop_marks(struct buf *body, struct td_error *err)
{
    static const char *const lists[] = {"messages", "tools"};
    struct json *root = NULL;
    uint32_t shortages = shortage_count();
    if (str_find(buf_view(body), STR("\"" MARK "\""), 0) == SIZE_MAX &&
        str_find(buf_view(body), STR("\"" THOUGHTS "\""), 0) == SIZE_MAX)
        return TD_OK;
    enum td_status status = json_parse(buf_view(body), &root, err);
    if (status != TD_OK)
        return status;
    json_remove(root, MARK);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (json_kind_of(json_get(root, lists[i])) == JSON_KIND_ARRAY)
            json_put(root, lists[i], list_without_marks(json_get(root, lists[i])));
    return write_again(root, shortages, body, err);
}

enum td_status openai_drop_extras(struct buf *body, unsigned extras, struct td_error *err)
{
    struct json *root = NULL;
    uint32_t shortages = shortage_count();
    if (extras == 0)
        return TD_OK;
    enum td_status status = json_parse(buf_view(body), &root, err);
    if (status != TD_OK)
        return status;
    const struct json *limit = extras & EXTRA_LIMIT ? json_get(root, "max_tokens") : NULL;
    if (!json_absent(limit) && json_absent(json_get(root, "max_completion_tokens")))
        json_put(root, "max_completion_tokens", json_clone(limit));
    for (unsigned i = 0; i < EXTRA_COUNT; i++)
        for (size_t m = 0; extras >> i & 1 && rows[i].members[m]; m++)
            json_remove(root, rows[i].members[m]);
    return write_again(root, shortages, body, err);
}
