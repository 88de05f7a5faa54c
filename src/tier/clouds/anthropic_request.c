/* The body of a chat as a body of Anthropic's Messages API.
 *
 * Instructions stand apart from the messages there, whatever their place was. Results of tools are
 * the user's. Neighbouring messages of one side become one: results of several calls must come in
 * one message. A thought goes back only with the signature that it came with
 * (`reasoning_details`), because without it the request is refused.
 *
 * What has no form there is left out: `seed`, penalties, `logit_bias`, `logprobs`. */
#include "tier/clouds/anthropic.h"

#include "base/bytes/buf.h"
#include "base/core/error.h"
#include "base/core/shortage.h"
#include "request/thinking.h"
#include "tier/cards/model_cards.h"
#include "tier/clouds/cloud_parts.h"

#include <string.h>

/* `max_tokens` is required. Where nothing is known of a model, this is less than what each can
 * write since 2024. */
#define TOKENS_DEFAULT 8192
#define TEXT_BYTES_MAX ((size_t)256 << 20)

#define WISH_FOR_JSON "Answer with one JSON object and nothing else."

struct writing {
    const struct json *chat;
    const struct dialect_ask *ask;
    struct json *system;
    struct turns turns;
    bool thoughtless; /* the last message of the model has calls and no thought */
    struct td_error *err;
};

/* --- blocks --- */

/* {"type": type, member: text}; NULL for a text of white space, which is refused there. from: what
 * may have a `cache_control`. */
static struct json *text_block(struct td_str text, const struct json *from)
{
    if (str_trim(text).len == 0)
        return NULL;
    struct json *block = json_new_object();
    json_put(block, "type", json_new_cstr("text"));
    json_put(block, "text", json_new_text(text));
    dialect_copy(from, "cache_control", block, "cache_control");
    return block;
}

/* {"type": type, "source": {...}} of an address or a data URL. */
static struct json *media_block(const char *type, struct td_str url)
{
    struct json *source = json_new_object(), *block = json_new_object();
    struct td_str media_type, data;
    if (dialect_read_data_url(url, &media_type, &data)) {
        json_put(source, "type", json_new_cstr("base64"));
        json_put(source, "media_type", json_new_text(media_type));
        json_put(source, "data", json_new_text(data));
    } else {
        json_put(source, "type", json_new_cstr("url"));
        json_put(source, "url", json_new_text(url));
    }
    json_put(block, "type", json_new_cstr(type));
    json_put(block, "source", source);
    return block;
}

/* A part of a content as a block; NULL with TD_OK: it says nothing. */
static enum td_status part_block(const struct json *part, struct json **out, struct td_error *err)
{
    struct td_str type = json_get_text(part, "type");
    const struct json *file = json_get(part, "file");
    struct td_str data = json_get_text(file, "file_data");
    *out = NULL;
    if (str_equal(type, STR("text")) || str_equal(type, STR("refusal")))
        *out = text_block(json_get_text(part, str_equal(type, STR("text")) ? "text" : "refusal"),
                          part);
    else if (str_equal(type, STR("image_url")))
        *out = media_block("image", json_get_text(json_get(part, "image_url"), "url"));
    else if (str_equal(type, STR("file")) && data.len > 0)
        *out = media_block("document", data);
    else
        return dialect_refuse_part(part, err);
    if (file)
        dialect_copy(file, "filename", *out, "title");
    if (!str_equal(type, STR("text")))
        dialect_copy(part, "cache_control", *out, "cache_control");
    return TD_OK;
}

/* The blocks of a content into a list, which may be NULL: then into the message. */
static enum td_status add_content(struct writing *writing, const char *role, struct json *list,
                                  const struct json *content)
{
    enum td_status status = TD_OK;
    struct json *block = text_block(json_text(content), NULL);
    size_t count = json_kind_of(content) == JSON_KIND_ARRAY ? json_count(content) : 0;
    for (size_t i = 0; i <= count && status == TD_OK; i++) {
        if (block && list)
            json_push(list, block);
        else
            turns_add(&writing->turns, role, block);
        block = NULL;
        if (i < count)
            status = part_block(json_at(content, i), &block, writing->err);
    }
    return status;
}

/* --- messages --- */

static bool add_thoughts(struct writing *writing, const struct json *details)
{
    size_t count = json_kind_of(details) == JSON_KIND_ARRAY ? json_count(details) : 0;
    bool thinks = false;
    for (size_t i = 0; i < count; i++) {
        const struct json *detail = json_at(details, i);
        struct td_str type = json_get_text(detail, "type");
        const struct json *data = json_get(detail, "data");
        const struct json *signature = json_get(detail, "signature");
        bool hidden = str_equal(type, STR("reasoning.encrypted")) && json_text(data).len > 0;
        if (!hidden && json_text(signature).len == 0)
            continue;
        struct json *block = json_new_object();
        json_put(block, "type", json_new_cstr(hidden ? "redacted_thinking" : "thinking"));
        if (hidden) {
            json_put(block, "data", json_clone(data));
        } else {
            json_put(block, "thinking", json_new_text(json_get_text(detail, "text")));
            json_put(block, "signature", json_clone(signature));
        }
        turns_add(&writing->turns, "assistant", block);
        thinks = true;
    }
    return thinks;
}

static void add_call(struct writing *writing, const struct json *call)
{
    const struct json *function = json_get(call, "function");
    struct json *block = json_new_object();
    json_put(block, "type", json_new_cstr("tool_use"));
    dialect_copy(call, "id", block, "id");
    dialect_copy(function, "name", block, "name");
    json_put(block, "input", dialect_arguments(json_get_text(function, "arguments")));
    dialect_copy(call, "cache_control", block, "cache_control");
    turns_add(&writing->turns, "assistant", block);
}

static enum td_status add_answer(struct writing *writing, const struct json *message)
{
    const struct json *calls = json_get(message, "tool_calls");
    bool thinks = add_thoughts(writing, json_get(message, "reasoning_details"));
    enum td_status status = add_content(writing, "assistant", NULL, json_get(message, "content"));
    for (size_t i = 0; i < json_count(calls) && status == TD_OK; i++)
        add_call(writing, json_at(calls, i));
    writing->thoughtless = json_count(calls) > 0 && !thinks;
    return status;
}

static enum td_status add_result(struct writing *writing, const struct json *message)
{
    struct json *block = json_new_object(), *list = json_new_array();
    enum td_status status = add_content(writing, "user", list, json_get(message, "content"));
    json_put(block, "type", json_new_cstr("tool_result"));
    dialect_copy(message, "tool_call_id", block, "tool_use_id");
    cloud_put_list(block, "content", list);
    dialect_copy(message, "cache_control", block, "cache_control");
    turns_add(&writing->turns, "user", block);
    return status;
}

static enum td_status add_message(void *ctx, const struct json *message, size_t index)
{
    struct writing *writing = ctx;
    (void)index;
    struct td_str role = json_get_text(message, "role");
    if (str_equal(role, STR("system")) || str_equal(role, STR("developer")))
        return add_content(writing, "system", writing->system, json_get(message, "content"));
    if (str_equal(role, STR("assistant")))
        return add_answer(writing, message);
    if (str_equal(role, STR("tool")))
        return add_result(writing, message);
    writing->thoughtless = false;
    return add_content(writing, "user", NULL, json_get(message, "content"));
}

/* --- the rest --- */

static void put_tools(const struct writing *writing, struct json *body)
{
    const struct json *tools = json_get(writing->chat, "tools");
    struct json *list = json_new_array();
    for (size_t i = 0; i < json_count(tools); i++) {
        const struct json *tool = json_at(tools, i), *function = json_get(tool, "function");
        struct json *made = json_new_object();
        dialect_copy(function, "name", made, "name");
        dialect_copy(function, "description", made, "description");
        json_put(made, "input_schema", dialect_parameters(function));
        if (json_bool(json_get(function, "strict"), false))
            json_put(made, "strict", json_new_bool(true));
        dialect_copy(tool, "cache_control", made, "cache_control");
        json_push(list, made);
    }
    cloud_put_list(body, "tools", list);
}

static void put_choice(const struct writing *writing, struct json *body)
{
    static const struct dialect_word words[] = {
        {"auto", "auto"}, {"none", "none"}, {"required", "any"}, {NULL, NULL}};
    const struct json *given = json_get(writing->chat, "tool_choice");
    const struct json *name = json_get(json_get(given, "function"), "name");
    bool one = !json_bool(json_get(writing->chat, "parallel_tool_calls"), true);
    if (!json_get(body, "tools") || (json_absent(given) && !one))
        return;
    struct json *choice = json_new_object();
    json_put(choice, "type",
             json_new_cstr(name ? "tool" : dialect_word(words, json_text(given), "auto")));
    if (name)
        json_put(choice, "name", json_clone(name));
    if (one && !str_equal(json_text(given), STR("none")))
        json_put(choice, "disable_parallel_tool_use", json_new_bool(true));
    json_put(body, "tool_choice", choice);
}

static void put_effort(const char *effort, struct json *to)
{
    const struct json *before = json_get(to, "output_config");
    struct json *config = before ? json_clone(before) : json_new_object();
    json_put(config, "effort", json_new_cstr(effort));
    json_put(to, "output_config", config);
}

int64_t anthropic_put_thinking(const struct json *chat, const struct dialect_ask *ask,
                               struct json *to)
{
    static const struct dialect_word efforts[] = {
        {"minimal", "low"}, {"low", "low"}, {"medium", "medium"}, {"high", "high"},
        {"xhigh", "xhigh"}, {"max", "max"}, {NULL, NULL}};
    struct td_str effort = json_get_text(chat, "reasoning_effort");
    unsigned abilities = ask->card ? ask->card->abilities : CARD_REASONING | CARD_ADAPTIVE;
    const char *told = dialect_word(efforts, effort, NULL);
    int64_t budget = thinking_budget_of(thinking_anthropic, effort);
    bool none = str_equal(effort, STR("none"));
    if (!(abilities & CARD_REASONING) || (!told && !none))
        return 0;
    struct json *thinking = json_new_object();
    if (none && !(abilities & CARD_ADAPTIVE)) { /* it does not think unless it is told to */
        json_free(thinking);
        return 0;
    }
    if (none) {
        json_put(thinking, "type", json_new_cstr("disabled"));
    } else if (abilities & CARD_ADAPTIVE) {
        json_put(thinking, "type", json_new_cstr("adaptive"));
        json_put(thinking, "display", json_new_cstr("summarized"));
        put_effort(told, to);
    } else {
        json_put(thinking, "type", json_new_cstr("enabled"));
        json_put(thinking, "budget_tokens", json_new_int(budget));
    }
    json_put(to, "thinking", thinking);
    return none || abilities & CARD_ADAPTIVE ? 0 : budget;
}

/* A model that is given a budget must neither be held to a call, nor go on after calls without the
 * thought before them. */
static int64_t put_thinking(const struct writing *writing, struct json *body)
{
    bool adaptive = !writing->ask->card || writing->ask->card->abilities & CARD_ADAPTIVE;
    bool forced = cloud_forces_call(writing->chat);
    if (!adaptive && (forced || writing->thoughtless))
        return 0;
    return anthropic_put_thinking(writing->chat, writing->ask, body);
}

static void put_tokens(const struct writing *writing, int64_t budget, struct json *body)
{
    int64_t most = dialect_tokens_max(writing->chat);
    int64_t able = writing->ask->card ? writing->ask->card->output_tokens : 0;
    if (most <= 0)
        most = able > 0 ? able : TOKENS_DEFAULT;
    else
        most += budget; /* thoughts count, and a chat's limit is for the answer */
    if (able > 0 && most > able)
        most = able;
    json_put(body, "max_tokens", json_new_int(most));
}

/* Its temperatures end at 1. One of temperature and top_p is taken, and none while it thinks. */
static void put_sampling(const struct writing *writing, bool thinks, struct json *body)
{
    const struct json *chat = writing->chat;
    double temperature = json_number(json_get(chat, "temperature"), -1);
    bool fixed = writing->ask->card && writing->ask->card->abilities & CARD_FIXED;
    if (fixed || thinks)
        return;
    if (temperature >= 0)
        json_put(body, "temperature", json_new_double(temperature > 1 ? 1 : temperature));
    else
        dialect_copy(chat, "top_p", body, "top_p");
    dialect_copy(chat, "top_k", body, "top_k");
}

static void put_format(struct writing *writing, struct json *body)
{
    const struct json *schema = dialect_schema(writing->chat);
    if (schema) {
        const struct json *before = json_get(body, "output_config");
        struct json *config = before ? json_clone(before) : json_new_object();
        struct json *format = json_new_object();
        json_put(format, "type", json_new_cstr("json_schema"));
        json_put(format, "schema", json_clone(schema));
        json_put(config, "format", format);
        json_put(body, "output_config", config);
    } else if (dialect_wants_json(writing->chat)) {
        json_push(writing->system, text_block(STR(WISH_FOR_JSON), NULL));
    }
}

static void put_user(const struct json *chat, struct json *body)
{
    const struct json *user = json_get(chat, "user");
    struct td_str tier = json_get_text(chat, "service_tier");
    if (json_text(user).len > 0) {
        struct json *metadata = json_new_object();
        json_put(metadata, "user_id", json_clone(user));
        json_put(body, "metadata", metadata);
    }
    if (str_equal(tier, STR("default")))
        json_put(body, "service_tier", json_new_cstr("standard_only"));
}

/* The model's own last words may not end in white space. */
enum td_status anthropic_write_body(const struct json *chat, const struct dialect_ask *ask,
                                    struct buf *out, struct td_error *err)
{
    uint32_t shortages = shortage_count();
    struct writing writing = {.chat = chat, .ask = ask, .err = err};
    struct json *body = json_new_object();
    writing.system = json_new_array();
    const struct turns_source source = {chat, "Anthropic's API", add_message, &writing};
    enum td_status status = turns_read(&writing.turns, "content", &source, err);
    json_put(body, "model", json_new_cstr(ask->model));
    json_put(body, "stream", json_new_bool(true));
    int64_t budget = put_thinking(&writing, body);
    put_tokens(&writing, budget, body);
    put_sampling(&writing, json_get(body, "thinking") != NULL, body);
    put_format(&writing, body);
    struct json *stops = dialect_stops(chat);
    json_put(body, "stop_sequences", stops);
    put_tools(&writing, body);
    put_choice(&writing, body);
    put_user(chat, body);
    dialect_copy(chat, "cache_control", body, "cache_control");
    cloud_put_list(body, "system", writing.system);
    json_put(body, "messages", writing.turns.list);
    if (status == TD_OK)
        return dialect_write_body(body, shortages, out, err);
    json_free(body);
    return shortage_judge(shortages, status, err);
}
