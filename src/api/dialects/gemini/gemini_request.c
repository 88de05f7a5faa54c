#include "api/dialects/gemini/gemini_request.h"

#include "api/dialects/chat_build.h"
#include "api/dialects/gemini/gemini_json.h"
#include "api/dialects/gemini/gemini_parts.h"
#include "api/dialects/gemini/gemini_schema.h"
#include "api/dialects/gemini/gemini_tools.h"
#include "base/core/str.h"
#include "request/thinking.h"

#include <stdio.h>

#define CONFIG "generationConfig"

/* Members of generationConfig that a chat has under a name of its own. */
static const struct {
    const char *name, *chat;
    bool integer;
} numbers[] = {
    {"temperature", "temperature", false},
    {"topP", "top_p", false},
    {"topK", "top_k", true},
    {"seed", "seed", true},
    {"presencePenalty", "presence_penalty", false},
    {"frequencyPenalty", "frequency_penalty", false},
    {"maxOutputTokens", "max_completion_tokens", true},
    {"candidateCount", "n", true},
    {"stopSequences", "stop", false},
};

static void read_numbers(struct chat_build *build, const struct json *config)
{
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const struct json *value = gemini_get(config, numbers[i].name);
        if (json_absent(value) || (strcmp(numbers[i].chat, "stop") == 0 && json_count(value) == 0 &&
                                   json_kind_of(value) == JSON_KIND_ARRAY))
            continue;
        chat_build_put(build, build->body, numbers[i].chat,
                       numbers[i].integer ? gemini_integer(value) : json_clone(value));
    }
}

/* What an answer must be, under one of three names. */
static const char *const schemas[] = {"responseSchema", "responseJsonSchema",
                                      "_responseJsonSchema"};

static bool read_schema(struct chat_build *build, const struct json *config, bool *found)
{
    char place[CHAT_BUILD_PLACE_BYTES];
    *found = false;
    for (size_t i = 0; i < sizeof schemas / sizeof *schemas && !*found; i++) {
        const struct json *schema = gemini_get(config, schemas[i]);
        chat_build_place(place, CONFIG ".%s", schemas[i]);
        if (json_absent(schema))
            continue;
        if (json_kind_of(schema) != JSON_KIND_OBJECT)
            return fault_request(build->fault, place, "%s must be an object, not %s", place,
                                 json_kind_name(json_kind_of(schema)));
        struct json *made =
            i == 0 ? gemini_schema(schema, place, build->fault) : json_clone(schema);
        if (!made && build->fault->code)
            return false;
        build->failed |= !made;
        if (made)
            chat_build_json_format(build, "answer", made, NULL);
        json_free(made);
        *found = true;
    }
    return true;
}

static bool read_format(struct chat_build *build, const struct json *config)
{
    const struct json *type = gemini_get(config, "responseMimeType");
    struct td_str name = json_text(type);
    bool found;
    if (!json_absent(type) && json_kind_of(type) != JSON_KIND_TEXT)
        return fault_request(build->fault, CONFIG ".responseMimeType",
                             CONFIG ".responseMimeType must be a string, not %s",
                             json_kind_name(json_kind_of(type)));
    bool json = str_equal(name, STR("application/json"));
    if (name.len > 0 && !json && !str_equal(name, STR("text/plain")))
        return chat_build_unsupported(build->fault, CONFIG ".responseMimeType",
                                      "answers are text/plain or application/json here");
    if (!read_schema(build, config, &found))
        return false;
    if (json && !found)
        chat_build_json_format(build, NULL, NULL, NULL);
    return true;
}

static bool read_thinking(struct chat_build *build, const struct json *config)
{
    const struct json *thinking = gemini_get(config, "thinkingConfig");
    const struct json *level = gemini_get(thinking, "thinkingLevel");
    const struct json *given = gemini_get(thinking, "thinkingBudget");
    static const char *const levels[] = {"minimal", "low", "medium", "high"};
    if (!json_absent(thinking) && json_kind_of(thinking) != JSON_KIND_OBJECT)
        return fault_request(build->fault, CONFIG ".thinkingConfig",
                             CONFIG ".thinkingConfig must be an object, not %s",
                             json_kind_name(json_kind_of(thinking)));
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        if (str_equal_nocase(json_text(level), str_from(levels[i]))) {
            chat_build_put(build, build->body, "reasoning_effort", json_new_cstr(levels[i]));
            return true;
        }
    struct json *budget = json_absent(given) ? NULL : gemini_integer(given);
    int64_t tokens = json_int(budget, -1);
    bool number = !budget || json_kind_of(budget) == JSON_KIND_INT;
    json_free(budget);
    if (!number)
        return fault_request(build->fault, CONFIG ".thinkingConfig.thinkingBudget",
                             "thinkingBudget must be an integer, not %s",
                             json_kind_name(json_kind_of(given)));
    if (tokens >= 0) /* -1: as the model likes */
        chat_build_put(build, build->body, "reasoning_effort",
                       json_new_cstr(thinking_effort_of(thinking_google, tokens)));
    return true;
}

static bool read_modalities(const struct json *config, struct fault *fault)
{
    const struct json *list = gemini_get(config, "responseModalities");
    for (size_t i = 0; i < json_count(list); i++)
        if (!str_equal_nocase(json_text(json_at(list, i)), STR("TEXT")))
            return chat_build_unsupported(fault, CONFIG ".responseModalities",
                                          "answers are text here");
    return true;
}

static bool read_config(struct chat_build *build, const struct json *body)
{
    const struct json *config = gemini_get(body, CONFIG);
    if (!json_absent(config) && json_kind_of(config) != JSON_KIND_OBJECT)
        return fault_request(build->fault, CONFIG, CONFIG " must be an object, not %s",
                             json_kind_name(json_kind_of(config)));
    read_numbers(build, config);
    return read_modalities(config, build->fault) && read_format(build, config) &&
           read_thinking(build, config);
}

static struct json *translate(const struct json *body, bool counts, struct fault *fault)
{
    struct chat_build build;
    if (!chat_build_begin(&build, fault))
        return NULL;
    chat_build_common(&build, body);
    bool ok = true;
    if (!json_absent(gemini_get(body, "cachedContent")))
        ok = chat_build_unsupported(fault, "cachedContent",
                                    "cachedContent is not supported: no content is kept here");
    ok = ok && gemini_parts_read(&build, body, counts) && gemini_tools_read(&build, body) &&
         read_config(&build, body);
    return chat_build_end(&build, ok);
}

struct json *gemini_request_translate(const struct json *body, struct fault *fault)
{
    return translate(body, false, fault);
}

struct json *gemini_request_translate_count(const struct json *body, struct fault *fault)
{
    const struct json *inside = gemini_get(body, "generateContentRequest");
    return translate(json_absent(inside) ? body : inside, true, fault);
}

/* Whether a member is one that is read, by a list that ends with NULL. */
static bool is_among(const char *came, const char *const *names)
{
    while (*names && !gemini_is_name(came, *names))
        names++;
    return *names != NULL;
}

static void list_others(const struct json *object, const char *const *names, struct buf *out)
{
    void *iterator = NULL;
    const char *name;
    const struct json *value;
    while (json_next(object, &iterator, &name, &value)) {
        bool empty = json_kind_of(value) == JSON_KIND_ARRAY && json_count(value) == 0;
        if (!is_among(name, names) && !json_absent(value) && !empty)
            chat_build_note(out, name);
    }
}

void gemini_request_list_left_out(const struct json *body, struct buf *out)
{
    static const char *const not_run[] = {"safetySettings", NULL};
    static const char *const config[] = {"temperature",
                                         "topP",
                                         "topK",
                                         "seed",
                                         "stopSequences",
                                         "presencePenalty",
                                         "frequencyPenalty",
                                         "candidateCount",
                                         "maxOutputTokens",
                                         "responseMimeType",
                                         "responseSchema",
                                         "responseJsonSchema",
                                         "_responseJsonSchema",
                                         "thinkingConfig",
                                         "responseModalities",
                                         NULL};
    gemini_tools_list_left_out(body, out);
    gemini_parts_list_left_out(body, out);
    for (size_t i = 0; not_run[i]; i++)
        if (json_count(gemini_get(body, not_run[i])) > 0)
            chat_build_note(out, not_run[i]);
    list_others(gemini_get(body, CONFIG), config, out);
}

bool gemini_request_shows_thoughts(const struct json *body)
{
    const struct json *thinking = gemini_get(gemini_get(body, CONFIG), "thinkingConfig");
    return json_bool(gemini_get(thinking, "includeThoughts"), false);
}
