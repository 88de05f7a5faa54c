/* A request goes to tiers of many kinds, and not each of them reads each spelling. So spellings are
 * settled once, before anything reads the body: `1.0` where an integer is meant, an empty stop
 * string, biases as a list of pairs (llama.cpp's), and OpenAI's choice among allowed tools, which
 * is the same as a request with these tools alone. (OpenAI's servers keep the others in the prompt
 * so that it stays cached. Few other servers know that choice.)
 *
 * Members that nobody here acts upon reach servers as they came. Their types are checked all the
 * same: a client's mistake has one answer, whichever tier would have had it. */
#include "api/wire/body_forms.h"

#include "api/wire/openai_request.h"
#include "api/wire/sampling_keys.h"
#include "base/core/str.h"

#include <math.h>
#include <stdio.h>

/* 2^53: up to it, a double is the integer that was written. */
#define EXACT_INTEGER_MAX 9007199254740992.0
/* OpenAI's word for a token that must not come. */
#define BIAS_BANNED (-100)

/* --- numbers --- */

/* Languages that have one type of number write 1.0 where they mean 1. The request is what it would
 * be with integers, also for servers that it goes on to. */
static void make_integer(struct json *object, const char *name)
{
    const struct json *value = name ? json_get(object, name) : NULL;
    double number = json_number(value, 0);
    if (json_kind_of(value) == JSON_KIND_DOUBLE && fabs(number) <= EXACT_INTEGER_MAX &&
        floor(number) == number)
        json_put(object, name, json_new_int((int64_t)number));
}

static void make_integers(struct json *object)
{
    static const char *const names[] = {
        "max_tokens", "max_completion_tokens", "max_output_tokens", "n",
        "seed",       "top_logprobs",          "logprobs",          "best_of",
        "min_tokens"};
    const struct sampling_key *key;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        make_integer(object, names[i]);
    for (size_t i = 0; (key = sampling_key_at(i)); i++) {
        make_integer(object, key->integer ? key->name : NULL);
        make_integer(object, key->integer ? key->alias : NULL);
    }
}

void body_forms_drop_no_limits(struct json *object)
{
    static const char *const names[] = {"max_tokens", "max_completion_tokens"};
    for (size_t i = 0; i < 2; i++)
        if (json_int(json_get(object, names[i]), 0) == -1)
            json_remove(object, names[i]);
}

/* --- stops --- */

static bool is_empty_stop(const struct json *value)
{
    return json_kind_of(value) == JSON_KIND_TEXT && json_text(value).len == 0;
}

/* llama.cpp takes an empty one for none; no text ends with it. */
static void drop_empty_stops(struct json *object)
{
    const struct json *stop = json_get(object, "stop");
    size_t count = json_count(stop), empty = 0;
    if (is_empty_stop(stop)) {
        json_remove(object, "stop");
        return;
    }
    if (json_kind_of(stop) != JSON_KIND_ARRAY)
        return;
    for (size_t i = 0; i < count; i++)
        empty += is_empty_stop(json_at(stop, i));
    if (empty == 0)
        return;
    struct json *list = json_new_array();
    for (size_t i = 0; list && i < count; i++)
        if (!is_empty_stop(json_at(stop, i)))
            json_push(list, json_clone(json_at(stop, i)));
    if (empty < count) {
        json_put(object, "stop", list);
        return;
    }
    json_free(list);
    json_remove(object, "stop");
}

/* --- biases --- */

/* false bans a token. */
static struct json *bias_of(const struct json *value)
{
    bool banned = json_kind_of(value) == JSON_KIND_BOOL && !json_bool(value, true);
    return banned ? json_new_int(BIAS_BANNED) : json_clone(value);
}

static bool is_pair(const struct json *pair)
{
    return json_kind_of(pair) == JSON_KIND_ARRAY && json_count(pair) == 2 &&
           json_kind_of(json_at(pair, 0)) == JSON_KIND_INT;
}

/* llama.cpp's list of pairs becomes OpenAI's object. */
static void settle_biases(struct json *object)
{
    const struct json *biases = json_get(object, "logit_bias");
    bool list = json_kind_of(biases) == JSON_KIND_ARRAY;
    size_t count = json_count(biases);
    void *iterator = NULL;
    const char *name;
    const struct json *value;
    if ((!list && json_kind_of(biases) != JSON_KIND_OBJECT) || count > TD_LOGIT_BIASES_MAX)
        return;
    for (size_t i = 0; list && i < count; i++)
        if (!is_pair(json_at(biases, i)))
            return;
    struct json *settled = json_new_object();
    for (size_t i = 0; list && settled && i < count; i++) {
        const struct json *pair = json_at(biases, i);
        char id[32];
        snprintf(id, sizeof id, "%lld", (long long)json_int(json_at(pair, 0), -1));
        json_put(settled, id, bias_of(json_at(pair, 1)));
    }
    while (!list && settled && json_next(biases, &iterator, &name, &value))
        json_put(settled, name, bias_of(value));
    json_put(object, "logit_bias", settled);
}

/* --- choices of tools --- */

/* Mistral's "any" is OpenAI's "required", which Mistral takes as well. */
static void settle_choice(struct json *object)
{
    if (str_equal(json_get_text(object, "tool_choice"), STR("any")))
        json_put(object, "tool_choice", json_new_cstr("required"));
}

void body_forms_settle(struct json *object)
{
    settle_choice(object);
    make_integers(object);
    drop_empty_stops(object);
    settle_biases(object);
}

/* --- types --- */

bool body_forms_check_kinds(const struct json *object, const char *place,
                            const struct body_kind *rows, struct fault *fault)
{
    for (; rows->name; rows++) {
        const struct json *value = json_get(object, rows->name);
        char param[80];
        if (json_absent(value) || (rows->kinds & 1u << json_kind_of(value)))
            continue;
        snprintf(param, sizeof param, "%s%s", place, rows->name);
        return fault_request(fault, param, "%s must be %s, not %s", param, rows->what,
                             json_kind_name(json_kind_of(value)));
    }
    return true;
}

static const struct body_kind kinds[] = {
    {"audio", BODY_KIND(OBJECT), "an object"},
    {"function_call", BODY_KIND(OBJECT) | BODY_KIND(TEXT), "a string or an object"},
    {"functions", BODY_KIND(ARRAY), "a list"},
    {"metadata", BODY_KIND(OBJECT), "an object"},
    {"modalities", BODY_KIND(ARRAY), "a list of strings"},
    {"parallel_tool_calls", BODY_KIND(BOOL), "true or false"},
    {"prediction", BODY_KIND(OBJECT), "an object"},
    {"prompt_cache_key", BODY_KIND(TEXT), "a string"},
    {"prompt_cache_retention", BODY_KIND(TEXT), "a string"},
    {"reasoning_effort", BODY_KIND(TEXT), "a string"},
    {"safety_identifier", BODY_KIND(TEXT), "a string"},
    {"service_tier", BODY_KIND(TEXT), "a string"},
    {"store", BODY_KIND(BOOL), "true or false"},
    {"tool_choice", BODY_KIND(OBJECT) | BODY_KIND(TEXT), "a string or an object"},
    {"tools", BODY_KIND(ARRAY), "a list"},
    {"verbosity", BODY_KIND(TEXT), "a string"},
    {"web_search_options", BODY_KIND(OBJECT), "an object"},
    {NULL, 0, NULL},
};

static bool check_tools(const struct json *tools, struct fault *fault)
{
    size_t count = json_count(tools);
    if (count > OPENAI_TOOLS_MAX)
        return fault_request(fault, "tools", "%zu tools; at most %d are accepted", count,
                             OPENAI_TOOLS_MAX);
    for (size_t i = 0; i < count; i++) {
        enum json_kind kind = json_kind_of(json_at(tools, i));
        char param[32];
        snprintf(param, sizeof param, "tools[%zu]", i);
        if (kind != JSON_KIND_OBJECT)
            return fault_request(fault, param, "a tool must be an object, not %s",
                                 json_kind_name(kind));
    }
    return true;
}

bool body_forms_check(const struct json *object, struct fault *fault)
{
    return body_forms_check_kinds(object, "", kinds, fault) &&
           check_tools(json_get(object, "tools"), fault);
}

/* --- allowed tools --- */

/* Of a tool as it is offered and as it is allowed: the member that its type is called by. */
static struct td_str name_of(const struct json *tool)
{
    const char *type = json_cstr(json_get(tool, "type"));
    return type ? json_get_text(json_get(tool, type), "name") : STR("");
}

static const struct json *find_tool(const struct json *tools, const struct json *allowed)
{
    struct td_str type = json_get_text(allowed, "type"), name = name_of(allowed);
    for (size_t i = 0; type.len > 0 && i < json_count(tools); i++) {
        const struct json *tool = json_at(tools, i);
        if (str_equal(json_get_text(tool, "type"), type) && str_equal(name_of(tool), name))
            return tool;
    }
    return NULL;
}

static bool push_allowed(const struct json *tools, const struct json *allowed, struct json *out,
                         struct fault *fault)
{
    const char *member = "tool_choice.allowed_tools.tools";
    if (json_kind_of(allowed) != JSON_KIND_ARRAY || json_count(allowed) == 0)
        return fault_request(fault, member, "%s must be a list of tools", member);
    if (json_count(allowed) > OPENAI_TOOLS_MAX)
        return fault_request(fault, member, "%zu tools; at most %d are accepted",
                             json_count(allowed), OPENAI_TOOLS_MAX);
    for (size_t i = 0; i < json_count(allowed); i++) {
        const struct json *tool = find_tool(tools, json_at(allowed, i));
        char param[64];
        snprintf(param, sizeof param, "%s[%zu]", member, i);
        if (!tool)
            return fault_request(fault, param, "%s is not among the tools", param);
        json_push(out, json_clone(tool));
    }
    return true;
}

bool body_forms_narrow_tools(struct json *object, struct fault *fault)
{
    const struct json *choice = json_get(object, "tool_choice");
    if (!str_equal(json_get_text(choice, "type"), STR("allowed_tools")))
        return true;
    const struct json *allowed = json_get(choice, "allowed_tools");
    struct td_str mode = json_get_text(allowed, "mode");
    if (!str_equal(mode, STR("auto")) && !str_equal(mode, STR("required")))
        return fault_request(fault, "tool_choice.allowed_tools.mode",
                             "tool_choice.allowed_tools.mode must be auto or required");
    struct json *tools = json_new_array(), *word = json_new_text(mode);
    const struct json *list = json_get(allowed, "tools");
    if (!push_allowed(json_get(object, "tools"), list, tools, fault)) {
        json_free(tools);
        json_free(word);
        return false;
    }
    /* A tool too many could be called, so nothing may be lost. */
    bool whole = tools && word && json_count(tools) == json_count(list);
    json_put(object, "tools", tools);
    whole = whole && json_get(object, "tools") == tools;
    json_put(object, "tool_choice", word);
    return (whole && json_get(object, "tool_choice") == word) || fault_no_memory(fault);
}
