/* The body of a chat as a body of Bedrock's Converse. The model stands in the address. Media are
 * bytes, never addresses. `tool_choice: none` has no form: the tools are left out, unless the
 * messages have calls, which need them. What only some models know, such as thinking, is handed on
 * beside the common members. */
#include "tier/clouds/anthropic.h"
#include "tier/clouds/bedrock.h"

#include "base/bytes/buf.h"
#include "base/core/ascii.h"
#include "base/core/error.h"
#include "base/core/shortage.h"
#include "tier/cards/model_cards.h"
#include "tier/clouds/cloud_parts.h"

#include <string.h>

#define WISH_FOR_JSON "Answer with one JSON object and nothing else."
#define NAME_BYTES_MAX 100

struct writing {
    const struct json *chat;
    const struct dialect_ask *ask;
    struct json *system;
    struct turns turns;
    bool has_calls;   /* the messages have calls or results */
    bool thoughtless; /* the last message of the model has calls and no thought */
    struct td_error *err;
};

/* --- blocks --- */

static struct json *text_block(struct td_str text)
{
    return str_trim(text).len > 0 ? cloud_object("text", json_new_text(text)) : NULL;
}

/* "image/jpeg" as "jpeg", "text/plain" as "txt". */
static struct td_str format_of(struct td_str type)
{
    static const struct dialect_word words[] = {{"text/plain", "txt"},
                                                {"text/markdown", "md"},
                                                {"application/msword", "doc"},
                                                {NULL, NULL}};
    const char *known = dialect_word(words, type, NULL);
    size_t slash = str_find(type, STR("/"), 0);
    return known ? str_from(known) : str_slice(type, slash == SIZE_MAX ? 0 : slash + 1, type.len);
}

/* Letters, digits and a few marks are allowed in a document's name. */
static struct json *document_name(struct td_str name)
{
    char text[NAME_BYTES_MAX];
    size_t len = 0;
    for (size_t i = 0; i < name.len && len < sizeof text; i++) {
        bool plain = ascii_is_alnum(name.data[i]) || strchr("-()[]", name.data[i]);
        text[len++] = plain && name.data[i] ? name.data[i] : '-';
    }
    return json_new_text(len > 0 ? (struct td_str){text, len} : STR("document"));
}

static enum td_status media_block(const struct json *part, const char *kind, struct td_str url,
                                  struct json **out, struct td_error *err)
{
    struct td_str type, data;
    if (!dialect_read_data_url(url, &type, &data))
        return dialect_refuse_part(part, err);
    struct json *media = json_new_object();
    json_put(media, "format", json_new_text(format_of(type)));
    if (strcmp(kind, "document") == 0)
        json_put(media, "name", document_name(json_get_text(json_get(part, "file"), "filename")));
    json_put(media, "source", cloud_object("bytes", json_new_text(data)));
    *out = cloud_object(kind, media);
    return TD_OK;
}

static enum td_status part_block(const struct json *part, struct json **out, struct td_error *err)
{
    struct td_str type = json_get_text(part, "type");
    *out = NULL;
    if (str_equal(type, STR("text")) || str_equal(type, STR("refusal"))) {
        *out = text_block(json_get_text(part, str_equal(type, STR("text")) ? "text" : "refusal"));
        return TD_OK;
    }
    if (str_equal(type, STR("image_url")))
        return media_block(part, "image", json_get_text(json_get(part, "image_url"), "url"), out,
                           err);
    if (str_equal(type, STR("file")))
        return media_block(part, "document", json_get_text(json_get(part, "file"), "file_data"),
                           out, err);
    return dialect_refuse_part(part, err);
}

/* Models of others refuse it. NULL: nothing is marked. **returns new** */
static struct json *cache_point(const struct writing *writing, const struct json *marked)
{
    const char *model = writing->ask->model;
    bool caches = strstr(model, "anthropic.") || strstr(model, "amazon.nova");
    return caches && !json_absent(json_get(marked, "cache_control"))
               ? cloud_object("cachePoint", cloud_object("type", json_new_cstr("default")))
               : NULL;
}

/* The blocks of a content into a list, which may be NULL: then into the message. A hint to cache is
 * a block of its own behind what it marks. */
static enum td_status add_content(struct writing *writing, const char *role, struct json *list,
                                  const struct json *content)
{
    enum td_status status = TD_OK;
    struct json *block = text_block(json_text(content)), *point = NULL;
    size_t count = json_kind_of(content) == JSON_KIND_ARRAY ? json_count(content) : 0;
    for (size_t i = 0; i <= count && status == TD_OK; i++) {
        struct json *const made[] = {block, point};
        for (size_t m = 0; m < 2; m++)
            if (list && made[m])
                json_push(list, made[m]);
            else
                turns_add(&writing->turns, role, made[m]);
        block = point = NULL;
        if (i == count)
            break;
        status = part_block(json_at(content, i), &block, writing->err);
        if (block)
            point = cache_point(writing, json_at(content, i));
    }
    return status;
}

/* --- messages --- */

static bool add_thoughts(struct writing *writing, const struct json *details)
{
    size_t count = json_kind_of(details) == JSON_KIND_ARRAY ? json_count(details) : 0;
    bool thinks = false;
    for (size_t i = 0; i < count; i++) {
        const struct json *detail = json_at(details, i), *data = json_get(detail, "data");
        const struct json *signature = json_get(detail, "signature");
        struct json *thought = NULL;
        if (json_text(signature).len > 0) {
            struct json *text = cloud_object("text", json_new_text(json_get_text(detail, "text")));
            json_put(text, "signature", json_clone(signature));
            thought = cloud_object("reasoningText", text);
        } else if (json_text(data).len > 0) {
            thought = cloud_object("redactedContent", json_clone(data));
        }
        if (!thought)
            continue;
        turns_add(&writing->turns, "assistant", cloud_object("reasoningContent", thought));
        thinks = true;
    }
    return thinks;
}

static void add_call(struct writing *writing, const struct json *call)
{
    const struct json *function = json_get(call, "function");
    struct json *use = json_new_object();
    dialect_copy(call, "id", use, "toolUseId");
    dialect_copy(function, "name", use, "name");
    json_put(use, "input", dialect_arguments(json_get_text(function, "arguments")));
    turns_add(&writing->turns, "assistant", cloud_object("toolUse", use));
    writing->has_calls = true;
}

static enum td_status add_result(struct writing *writing, const struct json *message)
{
    struct json *result = json_new_object(), *list = json_new_array();
    enum td_status status = add_content(writing, "user", list, json_get(message, "content"));
    if (json_count(list) == 0)
        json_push(list, cloud_object("text", json_new_cstr("(nothing)")));
    dialect_copy(message, "tool_call_id", result, "toolUseId");
    json_put(result, "content", list);
    turns_add(&writing->turns, "user", cloud_object("toolResult", result));
    turns_add(&writing->turns, "user", cache_point(writing, message));
    writing->has_calls = true;
    return status;
}

static enum td_status add_message(void *ctx, const struct json *message, size_t index)
{
    struct writing *writing = ctx;
    (void)index;
    struct td_str role = json_get_text(message, "role");
    const struct json *content = json_get(message, "content");
    if (str_equal(role, STR("system")) || str_equal(role, STR("developer")))
        return add_content(writing, "system", writing->system, content);
    if (str_equal(role, STR("tool")))
        return add_result(writing, message);
    if (!str_equal(role, STR("assistant"))) {
        writing->thoughtless = false;
        return add_content(writing, "user", NULL, content);
    }
    const struct json *calls = json_get(message, "tool_calls");
    bool thinks = add_thoughts(writing, json_get(message, "reasoning_details"));
    enum td_status status = add_content(writing, "assistant", NULL, content);
    for (size_t i = 0; i < json_count(calls) && status == TD_OK; i++)
        add_call(writing, json_at(calls, i));
    writing->thoughtless = json_count(calls) > 0 && !thinks;
    return status;
}

/* --- the rest --- */

static struct json *tools_of(const struct writing *writing)
{
    const struct json *tools = json_get(writing->chat, "tools");
    struct json *list = json_new_array();
    for (size_t i = 0; i < json_count(tools); i++) {
        const struct json *tool = json_at(tools, i), *function = json_get(tool, "function");
        struct json *spec = json_new_object();
        dialect_copy(function, "name", spec, "name");
        dialect_copy(function, "description", spec, "description");
        json_put(spec, "inputSchema", cloud_object("json", dialect_parameters(function)));
        json_push(list, cloud_object("toolSpec", spec));
        struct json *point = cache_point(writing, tool);
        if (point)
            json_push(list, point);
    }
    return list;
}

static struct json *choice_of(const struct json *choice)
{
    const struct json *name = json_get(json_get(choice, "function"), "name");
    if (str_equal(json_text(choice), STR("required")))
        return cloud_object("any", json_new_object());
    return name ? cloud_object("tool", cloud_object("name", json_clone(name)))
                : cloud_object("auto", json_new_object());
}

static void put_tools(const struct writing *writing, struct json *body)
{
    const struct json *choice = json_get(writing->chat, "tool_choice");
    bool none = str_equal(json_text(choice), STR("none"));
    struct json *list = tools_of(writing);
    if (json_count(list) == 0 || (none && !writing->has_calls)) {
        json_free(list);
        return;
    }
    struct json *config = cloud_object("tools", list);
    if (!json_absent(choice) && !none)
        json_put(config, "toolChoice", choice_of(choice));
    json_put(body, "toolConfig", config);
}

/* Anthropic's models are told to think as at Anthropic's own API. */
static int64_t put_model_members(const struct writing *writing, struct json *body)
{
    const struct json *choice = json_get(writing->chat, "tool_choice");
    const struct model_card *card = writing->ask->card;
    bool claude = strstr(writing->ask->model, "anthropic.") != NULL;
    bool forced =
        json_kind_of(choice) == JSON_KIND_OBJECT || str_equal(json_text(choice), STR("required"));
    bool adaptive = card && card->abilities & CARD_ADAPTIVE;
    int64_t budget = 0;
    struct json *members = json_new_object();
    if (claude && (adaptive || !(forced || writing->thoughtless)))
        budget = anthropic_put_thinking(writing->chat, writing->ask, members);
    if (claude && json_count(members) == 0 && !(card && card->abilities & CARD_FIXED))
        dialect_copy(writing->chat, "top_k", members, "top_k");
    if (json_count(members) > 0)
        json_put(body, "additionalModelRequestFields", members);
    else
        json_free(members);
    return budget;
}

static void put_config(const struct writing *writing, int64_t budget, struct json *body)
{
    const struct json *chat = writing->chat;
    const struct model_card *card = writing->ask->card;
    int64_t most = dialect_tokens_max(chat), able = card ? card->output_tokens : 0;
    bool claude = strstr(writing->ask->model, "anthropic.") != NULL;
    bool free = !(card && card->abilities & CARD_FIXED) &&
                !json_get(json_get(body, "additionalModelRequestFields"), "thinking");
    double temperature = json_number(json_get(chat, "temperature"), -1);
    struct json *config = json_new_object();
    if (most <= 0 && claude) /* without it answers end early */
        most = able;
    else if (most > 0)
        most += budget;
    if (most > 0)
        json_put(config, "maxTokens", json_new_int(able > 0 && most > able ? able : most));
    if (free && temperature >= 0) /* all models' temperatures end at 1 there */
        json_put(config, "temperature", json_new_double(temperature > 1 ? 1 : temperature));
    if (free && !(claude && temperature >= 0))
        dialect_copy(chat, "top_p", config, "topP");
    json_put(config, "stopSequences", dialect_stops(chat));
    if (json_count(config) > 0)
        json_put(body, "inferenceConfig", config);
    else
        json_free(config);
}

enum td_status bedrock_write_body(const struct json *chat, const struct dialect_ask *ask,
                                  struct buf *out, struct td_error *err)
{
    uint32_t shortages = shortage_count();
    struct writing writing = {.chat = chat, .ask = ask, .err = err};
    struct json *body = json_new_object();
    writing.system = json_new_array();
    const struct turns_source source = {chat, "Bedrock", add_message, &writing};
    enum td_status status = turns_read(&writing.turns, "content", &source, err);
    if (dialect_wants_json(chat))
        json_push(writing.system, text_block(STR(WISH_FOR_JSON)));
    cloud_put_list(body, "system", writing.system);
    json_put(body, "messages", writing.turns.list);
    put_tools(&writing, body);
    int64_t budget = put_model_members(&writing, body);
    put_config(&writing, budget, body);
    if (status == TD_OK)
        return dialect_write_body(body, shortages, out, err);
    json_free(body);
    return shortage_judge(shortages, status, err);
}
