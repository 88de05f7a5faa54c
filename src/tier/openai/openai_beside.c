/* Gathers what stands beside an answer's message. A server may make up any number of members, so
 * their count and their bytes are bounded; what is over the bounds is not told. */
#include "tier/openai/openai_beside.h"

#include "base/bytes/buf.h"
#include "base/core/assertion.h"

#include <string.h>

#define MEMBERS_MAX 64
/* Citations of a search with their snippets are some 50 kB. */
#define MEMBER_BYTES_MAX ((size_t)1 << 20)

static const char *const chunk_own[] = {"id",      "object",      "created", "model",
                                        "choices", "usage",       "error",   "tandem",
                                        "status",  "obfuscation", "type",    NULL};
static const char *const choice_own[] = {"index",         "delta", "message", "logprobs",
                                         "finish_reason", "text",  NULL};
static const char *const usage_own[] = {"prompt_tokens", "completion_tokens", "total_tokens", NULL};

void openai_beside_deinit(struct openai_beside *beside)
{
    json_free(beside->chunk);
    json_free(beside->choice);
    json_free(beside->usage);
    *beside = (struct openai_beside){0};
}

static bool is_own(const char *const *own, const char *name)
{
    while (*own && strcmp(*own, name) != 0)
        own++;
    return *own != NULL;
}

static bool fits(const struct json *value)
{
    struct buf text;
    buf_init(&text, MEMBER_BYTES_MAX);
    json_write(value, &text);
    bool ok = !text.failed;
    buf_deinit(&text);
    return ok;
}

static void note(struct json **told, const struct json *object, const char *const *own)
{
    void *iterator = NULL;
    const char *name;
    const struct json *value;
    while (json_next(object, &iterator, &name, &value)) {
        bool is_new = !json_get(*told, name);
        if (is_own(own, name) || json_absent(value) || !fits(value) ||
            (is_new && json_count(*told) >= MEMBERS_MAX))
            continue;
        if (!*told)
            *told = json_new_object();
        json_put(*told, name, json_clone(value));
    }
}

void openai_beside_note_chunk(struct openai_beside *beside, const struct json *chunk)
{
    note(&beside->chunk, chunk, chunk_own);
}

void openai_beside_note_choice(struct openai_beside *beside, const struct json *choice)
{
    note(&beside->choice, choice, choice_own);
}

/* The details belong to their counts, which are told with them. */
void openai_beside_note_usage(struct openai_beside *beside, const struct json *usage)
{
    struct json *details = NULL;
    note(&details, usage, usage_own);
    json_free(beside->usage);
    beside->usage = details && fits(usage) ? json_clone(usage) : NULL;
    json_free(details);
}

static void put(struct json *object, const char *name, struct json **value)
{
    json_put(object, name, *value);
    *value = NULL;
}

struct json *openai_beside_take(struct openai_beside *beside)
{
    ASSERT(beside);
    if (!beside->chunk && !beside->choice && !beside->usage)
        return NULL;
    struct json *told = json_new_object(), *raw_delta = json_new_object();
    put(told, "chunk", &beside->chunk);
    put(told, "choice", &beside->choice);
    put(told, "usage", &beside->usage);
    json_put(raw_delta, OPENAI_BESIDE, told);
    return raw_delta;
}
