/* The body of a chat as a body of Google's generateContent.
 *
 * Results of tools name their function there and not their call, so the names of earlier calls are
 * looked up. A thought signature goes back to the call or text that it came with. Gemini 3 and
 * later refuse calls without one; for calls that another model made Google documents a word that
 * stands for it. `logprobs` and `logit_bias` are left out. */
#include "tier/clouds/gemini.h"

#include "base/bytes/buf.h"
#include "base/core/ascii.h"
#include "base/core/error.h"
#include "base/core/shortage.h"
#include "request/thinking.h"
#include "tier/cards/model_cards.h"
#include "tier/clouds/cloud_parts.h"

#include <string.h>

#define TEXT_BYTES_MAX ((size_t)256 << 20)
#define NO_SIGNATURE "skip_thought_signature_validator"

struct writing {
    const struct json *chat;
    const struct dialect_ask *ask;
    struct turns turns;
    struct buf system;
    struct td_error *err;
};

/* --- parts --- */

static struct json *text_part(struct td_str text)
{
    if (text.len == 0)
        return NULL;
    struct json *part = json_new_object();
    json_put(part, "text", json_new_text(text));
    return part;
}

static struct json *inline_part(struct td_str type, struct td_str data)
{
    struct json *blob = json_new_object(), *part = json_new_object();
    json_put(blob, "mimeType", json_new_text(type));
    json_put(blob, "data", json_new_text(data));
    json_put(part, "inlineData", blob);
    return part;
}

/* Of an address nobody has said what is there; its end often does. */
static const char *type_of_url(struct td_str url)
{
    static const struct dialect_word types[] = {
        {".png", "image/png"},   {".gif", "image/gif"},       {".webp", "image/webp"},
        {".heic", "image/heic"}, {".pdf", "application/pdf"}, {NULL, NULL}};
    size_t end = str_find(url, STR("?"), 0);
    struct td_str path = str_slice(url, 0, end == SIZE_MAX ? url.len : end);
    for (size_t i = 0; types[i].theirs; i++) {
        size_t len = strlen(types[i].theirs);
        if (path.len > len &&
            str_equal_nocase(str_slice(path, path.len - len, path.len), str_from(types[i].theirs)))
            return types[i].ours;
    }
    return "image/jpeg";
}

static struct json *media_part(struct td_str url)
{
    struct td_str type, data;
    if (dialect_read_data_url(url, &type, &data))
        return inline_part(type, data);
    struct json *file = json_new_object(), *part = json_new_object();
    json_put(file, "fileUri", json_new_text(url));
    json_put(file, "mimeType", json_new_cstr(type_of_url(url)));
    json_put(part, "fileData", file);
    return part;
}

static struct json *audio_part(const struct json *audio)
{
    struct buf type;
    buf_init(&type, 64);
    buf_append_str(&type, STR("audio/"));
    buf_append_str(&type, json_get_text(audio, "format"));
    struct json *part =
        inline_part(type.failed ? STR("audio/wav") : buf_view(&type), json_get_text(audio, "data"));
    buf_deinit(&type);
    return part;
}

static enum td_status read_part(const struct json *part, struct json **out, struct td_error *err)
{
    struct td_str type = json_get_text(part, "type");
    struct td_str file = json_get_text(json_get(part, "file"), "file_data");
    if (str_equal(type, STR("text")) || str_equal(type, STR("refusal")))
        *out = text_part(json_get_text(part, str_equal(type, STR("text")) ? "text" : "refusal"));
    else if (str_equal(type, STR("image_url")))
        *out = media_part(json_get_text(json_get(part, "image_url"), "url"));
    else if (str_equal(type, STR("input_audio")))
        *out = audio_part(json_get(part, "input_audio"));
    else if (str_equal(type, STR("file")) && file.len > 0)
        *out = media_part(file);
    else
        return dialect_refuse_part(part, err);
    return TD_OK;
}

static enum td_status add_content(struct writing *writing, const char *role,
                                  const struct json *content)
{
    enum td_status status = TD_OK;
    turns_add(&writing->turns, role, text_part(json_text(content)));
    for (size_t i = 0;
         json_kind_of(content) == JSON_KIND_ARRAY && i < json_count(content) && status == TD_OK;
         i++) {
        struct json *part = NULL;
        status = read_part(json_at(content, i), &part, writing->err);
        turns_add(&writing->turns, role, part);
    }
    return status;
}

/* --- calls --- */

static const struct json *signature_of(const struct json *from)
{
    return json_get(json_get(json_get(from, "extra_content"), "google"), "thought_signature");
}

/* Models before Gemini 3 sign nothing. */
static bool signs(const char *model)
{
    return !strstr(model, "gemini-1") && !strstr(model, "gemini-2") && !strstr(model, "gemma");
}

/* first: of its message; the others of one step need no signature. */
static void add_call(struct writing *writing, const struct json *call, bool first)
{
    const struct json *function = json_get(call, "function"), *signature = signature_of(call);
    struct json *made = json_new_object(), *part = json_new_object();
    dialect_copy(function, "name", made, "name");
    json_put(made, "args", dialect_arguments(json_get_text(function, "arguments")));
    json_put(part, "functionCall", made);
    if (json_text(signature).len > 0)
        json_put(part, "thoughtSignature", json_clone(signature));
    else if (first && signs(writing->ask->model))
        json_put(part, "thoughtSignature", json_new_cstr(NO_SIGNATURE));
    turns_add(&writing->turns, "model", part);
}

static enum td_status add_answer(struct writing *writing, const struct json *message)
{
    const struct json *calls = json_get(message, "tool_calls"), *signature = signature_of(message);
    enum td_status status = add_content(writing, "model", json_get(message, "content"));
    if (json_text(signature).len > 0) {
        struct json *part = json_new_object(); /* a part of its own is allowed, too */
        json_put(part, "text", json_new_cstr(""));
        json_put(part, "thoughtSignature", json_clone(signature));
        turns_add(&writing->turns, "model", part);
    }
    for (size_t i = 0; i < json_count(calls) && status == TD_OK; i++)
        add_call(writing, json_at(calls, i), i == 0);
    return status;
}

/* The function of an earlier call, the latest of that id. */
static const struct json *name_of_call(const struct writing *writing, size_t before,
                                       struct td_str id)
{
    const struct json *list = json_get(writing->chat, "messages");
    for (size_t i = before; i-- > 0;) {
        const struct json *calls = json_get(json_at(list, i), "tool_calls");
        for (size_t c = 0; c < json_count(calls); c++)
            if (str_equal(json_get_text(json_at(calls, c), "id"), id))
                return json_get(json_get(json_at(calls, c), "function"), "name");
    }
    return NULL;
}

/* What a function answered is an object there. */
static struct json *response_of(const struct json *content)
{
    struct buf text;
    struct json *object = NULL;
    buf_init(&text, TEXT_BYTES_MAX);
    dialect_write_text(content, &text);
    if (json_parse(buf_view(&text), &object, NULL) != TD_OK ||
        json_kind_of(object) != JSON_KIND_OBJECT) {
        json_free(object);
        object = json_new_object();
        json_put(object, "result", json_new_text(buf_view(&text)));
    }
    buf_deinit(&text);
    return object;
}

static void add_result(struct writing *writing, const struct json *message, size_t index)
{
    const struct json *name = name_of_call(writing, index, json_get_text(message, "tool_call_id"));
    struct json *made = json_new_object(), *part = json_new_object();
    json_put(made, "name", name ? json_clone(name) : json_new_cstr("unknown"));
    json_put(made, "response", response_of(json_get(message, "content")));
    json_put(part, "functionResponse", made);
    turns_add(&writing->turns, "user", part);
}

static enum td_status add_message(void *ctx, const struct json *message, size_t index)
{
    struct writing *writing = ctx;
    struct td_str role = json_get_text(message, "role");
    if (str_equal(role, STR("system")) || str_equal(role, STR("developer"))) {
        dialect_write_text(json_get(message, "content"), &writing->system);
        return TD_OK;
    }
    if (str_equal(role, STR("assistant")))
        return add_answer(writing, message);
    if (!str_equal(role, STR("tool")))
        return add_content(writing, "user", json_get(message, "content"));
    add_result(writing, message, index);
    return TD_OK;
}

/* --- the rest --- */

static void put_tools(const struct json *chat, struct json *body)
{
    const struct json *tools = json_get(chat, "tools");
    struct json *list = json_new_array();
    for (size_t i = 0; i < json_count(tools); i++) {
        const struct json *function = json_get(json_at(tools, i), "function");
        struct json *made = json_new_object();
        dialect_copy(function, "name", made, "name");
        dialect_copy(function, "description", made, "description");
        dialect_copy(function, "parameters", made, "parametersJsonSchema");
        json_push(list, made);
    }
    if (json_count(list) == 0) {
        json_free(list);
        return;
    }
    struct json *tool = json_new_object(), *all = json_new_array();
    json_put(tool, "functionDeclarations", list);
    json_push(all, tool);
    json_put(body, "tools", all);
}

static void put_choice(const struct json *chat, struct json *body)
{
    static const struct dialect_word modes[] = {
        {"auto", "AUTO"}, {"none", "NONE"}, {"required", "ANY"}, {NULL, NULL}};
    const struct json *given = json_get(chat, "tool_choice");
    const struct json *name = json_get(json_get(given, "function"), "name");
    if (!json_get(body, "tools") || json_absent(given))
        return;
    struct json *calling = json_new_object(), *config = json_new_object();
    json_put(calling, "mode",
             json_new_cstr(name ? "ANY" : dialect_word(modes, json_text(given), "AUTO")));
    if (name) {
        struct json *names = json_new_array();
        json_push(names, json_clone(name));
        json_put(calling, "allowedFunctionNames", names);
    }
    json_put(config, "functionCallingConfig", calling);
    json_put(body, "toolConfig", config);
}

/* Gemini 2.5 is given tokens, later ones a level. */
static void put_thinking(const struct writing *writing, struct json *config)
{
    static const struct dialect_word levels[] = {
        {"none", "minimal"}, {"minimal", "minimal"}, {"low", "low"},  {"medium", "medium"},
        {"high", "high"},    {"xhigh", "high"},      {"max", "high"}, {NULL, NULL}};
    struct td_str effort = json_get_text(writing->chat, "reasoning_effort");
    const char *level = dialect_word(levels, effort, NULL);
    const struct model_card *card = writing->ask->card;
    if (!level || (card && !(card->abilities & CARD_REASONING)))
        return;
    struct json *thinking = json_new_object();
    if (strstr(writing->ask->model, "gemini-2.5"))
        json_put(thinking, "thinkingBudget",
                 json_new_int(thinking_budget_of(thinking_google, effort)));
    else
        json_put(thinking, "thinkingLevel", json_new_cstr(level));
    json_put(thinking, "includeThoughts", json_new_bool(!str_equal(effort, STR("none"))));
    json_put(config, "thinkingConfig", thinking);
}

static void put_config(const struct writing *writing, struct json *body)
{
    static const char *const names[][2] = {{"temperature", "temperature"},
                                           {"top_p", "topP"},
                                           {"top_k", "topK"},
                                           {"seed", "seed"},
                                           {"presence_penalty", "presencePenalty"},
                                           {"frequency_penalty", "frequencyPenalty"}};
    const struct json *chat = writing->chat, *schema = dialect_schema(chat);
    int64_t most = dialect_tokens_max(chat);
    struct json *config = json_new_object();
    bool fixed = writing->ask->card && writing->ask->card->abilities & CARD_FIXED;
    for (size_t i = 0; !fixed && i < sizeof names / sizeof *names; i++)
        dialect_copy(chat, names[i][0], config, names[i][1]);
    if (most > 0)
        json_put(config, "maxOutputTokens", json_new_int(most));
    json_put(config, "stopSequences", dialect_stops(chat));
    if (schema || dialect_wants_json(chat))
        json_put(config, "responseMimeType", json_new_cstr("application/json"));
    if (schema)
        json_put(config, "responseJsonSchema", json_clone(schema));
    put_thinking(writing, config);
    if (json_count(config) > 0)
        json_put(body, "generationConfig", config);
    else
        json_free(config);
}

static void put_system(struct writing *writing, struct json *body)
{
    struct json *part = text_part(buf_view(&writing->system));
    if (!part)
        return;
    struct json *parts = json_new_array(), *system = json_new_object();
    json_push(parts, part);
    json_put(system, "parts", parts);
    json_put(body, "systemInstruction", system);
}

enum td_status gemini_write_body(const struct json *chat, const struct dialect_ask *ask,
                                 struct buf *out, struct td_error *err)
{
    uint32_t shortages = shortage_count();
    struct writing writing = {.chat = chat, .ask = ask, .err = err};
    struct json *body = json_new_object();
    const struct turns_source source = {chat, "Google's API", add_message, &writing};
    buf_init(&writing.system, TEXT_BYTES_MAX);
    enum td_status status = turns_read(&writing.turns, "parts", &source, err);
    put_system(&writing, body);
    json_put(body, "contents", writing.turns.list);
    put_tools(chat, body);
    put_choice(chat, body);
    put_config(&writing, body);
    buf_deinit(&writing.system);
    if (status == TD_OK)
        return dialect_write_body(body, shortages, out, err);
    json_free(body);
    return shortage_judge(shortages, status, err);
}
