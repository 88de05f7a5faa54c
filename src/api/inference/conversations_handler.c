/* Conversations: POST /v1/conversations makes one; GET, POST (its metadata) and DELETE
 * /v1/conversations/ID; GET and POST .../items, GET and DELETE .../items/ID.
 *
 * What is put here is only kept. It is read, scanned and classified when a response goes on from
 * it. It belongs to its caller; to others it is not there. */
#include "api/dialects/responses/responses_history.h"
#include "api/dialects/responses/responses_items.h"
#include "api/dialects/responses/responses_request.h"
#include "api/http/access.h"
#include "api/http/reply.h"
#include "api/inference/handlers.h"
#include "api/inference/kept_page.h"
#include "api/wire/openai_request.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "base/json/json.h"
#include "base/time/clock.h"

#include <stdio.h>

#define DIGITS_BYTES 12 /* random, for an id */
#define METADATA_MAX 16
#define METADATA_BYTES_MAX 512

static bool find(const struct api *api, struct td_str id, struct history_found *found)
{
    return api->host->history && str_starts_with(id, STR("conv_")) &&
           history_find(api->host->history, api->who.caller, id, found);
}

static void reply_absent(struct api *api, struct http_request *request, struct td_str id)
{
    kept_page_reply_absent(api, request, "Conversation", id);
}

static void copy_name(struct td_str id, char name[static HISTORY_ID_BYTES])
{
    snprintf(name, HISTORY_ID_BYTES, STR_FMT, STR_ARG(id));
}

/* --- bodies --- */

static bool check_metadata(const struct json *metadata, struct fault *fault)
{
    void *at = NULL;
    const char *name;
    const struct json *value;
    if (json_absent(metadata))
        return true;
    if (json_kind_of(metadata) != JSON_KIND_OBJECT || json_count(metadata) > METADATA_MAX)
        return fault_request(fault, "metadata", "metadata must be an object of at most %d members",
                             METADATA_MAX);
    while (json_next(metadata, &at, &name, &value))
        if (json_kind_of(value) != JSON_KIND_TEXT || json_text(value).len > METADATA_BYTES_MAX)
            return fault_request(fault, "metadata",
                                 "values of metadata must be strings of at most %d bytes",
                                 METADATA_BYTES_MAX);
    return true;
}

/* Whether a model could be asked with these items: one that could not would spoil the whole
 * conversation. The fault names the place in `items`. */
static bool check_items(struct td_str list, struct fault *fault)
{
    struct buf text;
    struct json *body = NULL, *chat = NULL;
    buf_init(&text, list.len + 64);
    buf_append_str(&text, STR("{\"input\":"));
    buf_append_str(&text, list);
    buf_append_char(&text, '}');
    if (!text.failed && openai_request_read_object(buf_view(&text), &body, fault))
        chat = responses_request_translate(body, fault);
    buf_deinit(&text);
    json_free(body);
    json_free(chat);
    if (chat)
        return true;
    if (strncmp(fault->param, "input", 5) == 0)
        memcpy(fault->param, "items", 5);
    return false;
}

/* Items with ids that stay, whatever is taken out later. **takes** list. */
static struct history_text *name_items(struct history_text *list, struct td_str owner,
                                       struct fault *fault)
{
    uint32_t number;
    struct json *shown = json_new_array();
    struct history_text *text = NULL;
    if (crypto_random(&number, sizeof number, NULL) == TD_OK) {
        struct buf out;
        buf_init(&out, KEPT_REPLY_BYTES_MAX);
        responses_items_show_list(list, owner, number, shown);
        json_write(shown, &out);
        text = out.failed ? NULL : history_text_new(buf_view(&out));
        buf_deinit(&out);
    }
    json_free(shown);
    history_text_free(list);
    if (!text)
        fault_from_status(fault, TD_NO_MEMORY, "no memory for the items", NULL);
    return text;
}

/* The member `items` of a body. **returns new** (history_text_free), or NULL with the fault. */
static struct history_text *read_items(const struct api *api, const struct json *body,
                                       struct td_str owner, struct history_class *data_class,
                                       struct fault *fault)
{
    const struct responses_history from = responses_history_of(api);
    const struct json *items = json_get(body, "items");
    if (json_kind_of(items) != JSON_KIND_ARRAY || json_count(items) == 0 ||
        json_count(items) > OPENAI_MESSAGES_MAX) {
        fault_request(fault, "items", "items must be a list of 1 to %d items", OPENAI_MESSAGES_MAX);
        return NULL;
    }
    struct history_text *list = responses_history_copy(&from, items, "items", data_class, fault);
    if (list && !check_items(history_text_view(list), fault)) {
        history_text_free(list);
        return NULL;
    }
    return list ? name_items(list, owner, fault) : NULL;
}

static struct json *read_body(struct http_request *request, struct fault *fault)
{
    struct json *body = NULL;
    struct td_str text = http_request_body(request);
    (void)openai_request_read_object(text.len ? text : STR("{}"), &body, fault);
    return body;
}

/* --- conversations --- */

static struct history_text *write_body(const char *id, int64_t created, const struct json *metadata)
{
    struct buf out;
    buf_init(&out, KEPT_REPLY_BYTES_MAX);
    buf_printf(&out,
               "{\"id\":\"%s\",\"object\":\"conversation\",\"created_at\":%lld,\"metadata\":", id,
               (long long)created);
    if (json_absent(metadata))
        buf_append_str(&out, STR("{}"));
    else
        json_write(metadata, &out);
    buf_append_char(&out, '}');
    struct history_text *text = out.failed ? NULL : history_text_new(buf_view(&out));
    buf_deinit(&out);
    return text;
}

static void reply_text(struct api *api, struct http_request *request,
                       const struct history_text *body)
{
    api_reply_text(api, request, 200, "application/json", history_text_view(body));
}

static bool put(struct api *api, const char *id, struct history_text *body,
                struct history_text *items, struct history_class data_class, struct fault *fault)
{
    struct history_text *const lists[] = {items};
    const struct history_record record = {
        .id = id,
        .owner = {.caller = api->who.caller, .tenant = *api->who.tenant ? api->who.tenant : NULL},
        .data_class = data_class,
        .body = body,
        .lists = lists,
        .list_count = 1,
        .at_once = true,
    };
    enum td_status status = body ? history_put(api->host->history, &record) : TD_NO_MEMORY;
    if (status == TD_LIMIT)
        return fault_request(fault, "items", "the items are more than a caller may have kept here");
    if (status != TD_OK)
        fault_from_status(fault, status,
                          status == TD_UNAVAILABLE ? HISTORY_AWAY : "no memory for a conversation",
                          NULL);
    return status == TD_OK;
}

void conversations_handle_new(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    struct fault fault = {0};
    uint8_t digits[DIGITS_BYTES];
    char id[HISTORY_ID_BYTES] = "conv_";
    struct history_class data_class = {.declared = TD_CLASS_PUBLIC};
    struct history_text *items = NULL, *body = NULL;
    struct json *asked = read_body(request, &fault);
    bool ok = asked && check_metadata(json_get(asked, "metadata"), &fault);
    if (ok && !api->host->history)
        ok = fault_request(&fault, NULL, "this server keeps no conversations (responses.keep_s)");
    if (ok && crypto_random(digits, sizeof digits, NULL) != TD_OK) {
        fault_from_status(&fault, TD_IO, "there are no random numbers", NULL);
        ok = false;
    }
    if (ok) {
        crypto_hex(digits, sizeof digits, id + strlen("conv_"));
        body = write_body(id, (int64_t)(clock_wall_ms(NULL) / 1000), json_get(asked, "metadata"));
    }
    if (ok && json_kind_of(json_get(asked, "items")) != JSON_KIND_ABSENT &&
        !json_absent(json_get(asked, "items")) &&
        !(json_kind_of(json_get(asked, "items")) == JSON_KIND_ARRAY &&
          json_count(json_get(asked, "items")) == 0)) {
        items = read_items(api, asked, str_from(id), &data_class, &fault);
        ok = items != NULL;
    }
    if (ok && put(api, id, body, items, data_class, &fault))
        reply_text(api, request, body);
    else
        api_reply_fault(api, request, &fault);
    history_text_free(items);
    history_text_free(body);
    json_free(asked);
}

void conversations_handle_one(struct api *api, struct http_request *request, const char *rest)
{
    struct history_found found;
    if (!find(api, str_from(rest), &found)) {
        reply_absent(api, request, str_from(rest));
        return;
    }
    reply_text(api, request, found.body);
    history_found_deinit(&found);
}

/* The body of the conversation with other metadata. */
static struct history_text *change(const struct history_found *found, const char *id,
                                   const struct json *metadata)
{
    struct json *object = NULL;
    if (json_parse(history_text_view(found->body), &object, NULL) != TD_OK)
        return NULL;
    struct history_text *body =
        write_body(id, json_int(json_get(object, "created_at"), 0), metadata);
    json_free(object);
    return body;
}

void conversations_handle_change(struct api *api, struct http_request *request, const char *rest)
{
    struct fault fault = {0};
    struct history_found found;
    struct history_text *body = NULL;
    char name[HISTORY_ID_BYTES];
    if (!find(api, str_from(rest), &found)) {
        reply_absent(api, request, str_from(rest));
        return;
    }
    copy_name(str_from(rest), name);
    struct json *asked = read_body(request, &fault);
    const struct json *metadata = json_get(asked, "metadata");
    bool ok = asked && check_metadata(metadata, &fault);
    if (ok)
        body =
            json_absent(metadata) ? history_text_hold(found.body) : change(&found, name, metadata);
    if (ok && history_replace(api->host->history, api->who.caller, name, NULL, body))
        reply_text(api, request, body);
    else if (ok)
        reply_absent(api, request, str_from(rest));
    else
        api_reply_fault(api, request, &fault);
    history_text_free(body);
    json_free(asked);
    history_found_deinit(&found);
}

void conversations_handle_delete(struct api *api, struct http_request *request, const char *rest)
{
    bool is_conversation = str_starts_with(str_from(rest), STR("conv_"));
    if (!api->host->history || !is_conversation ||
        !history_remove(api->host->history, api->who.caller, rest)) {
        reply_absent(api, request, str_from(rest));
        return;
    }
    struct json *object = json_new_object();
    json_put(object, "id", json_new_cstr(rest));
    json_put(object, "object", json_new_cstr("conversation.deleted"));
    json_put(object, "deleted", json_new_bool(true));
    api_reply_value(api, request, object, KEPT_REPLY_BYTES_MAX);
}

/* --- items --- */

void conversations_handle_items(struct api *api, struct http_request *request, const char *rest)
{
    struct td_str id = kept_page_name(rest);
    const struct responses_history from = responses_history_of(api);
    struct json *items;
    if (str_starts_with(id, STR("conv_")) && responses_history_show(&from, id, &items))
        kept_page_reply(api, request, items);
    else
        reply_absent(api, request, id);
}

static void reply_items(struct api *api, struct http_request *request,
                        const struct history_text *list)
{
    struct json *object = json_new_object(), *data = NULL;
    if (json_parse(history_text_view(list), &data, NULL) != TD_OK)
        data = NULL;
    size_t count = json_count(data);
    json_put(object, "object", json_new_cstr("list"));
    json_put(object, "first_id", json_clone(json_get(json_at(data, 0), "id")));
    json_put(object, "last_id", json_clone(json_get(json_at(data, count - 1), "id")));
    json_put(object, "has_more", json_new_bool(false));
    json_put(object, "data", data);
    api_reply_value(api, request, object, KEPT_REPLY_BYTES_MAX);
}

void conversations_handle_add(struct api *api, struct http_request *request, const char *rest)
{
    struct td_str id = kept_page_name(rest);
    struct fault fault = {0};
    struct history_found found;
    struct history_class data_class = {.declared = TD_CLASS_PUBLIC};
    char name[HISTORY_ID_BYTES];
    if (!find(api, id, &found)) {
        reply_absent(api, request, id);
        return;
    }
    history_found_deinit(&found);
    copy_name(id, name);
    struct json *asked = read_body(request, &fault);
    struct history_text *list = asked ? read_items(api, asked, id, &data_class, &fault) : NULL;
    const struct history_record record = {.id = name,
                                          .owner = {.caller = api->who.caller},
                                          .data_class = data_class,
                                          .lists = &list,
                                          .list_count = 1,
                                          .at_once = true};
    enum td_status status = list ? history_append(api->host->history, &record) : TD_OK;
    if (list && status == TD_OK)
        reply_items(api, request, list);
    else if (status == TD_NOT_FOUND)
        reply_absent(api, request, id);
    else {
        if (status == TD_LIMIT)
            fault_request(&fault, "items", "the conversation is larger than may be kept here");
        else if (status != TD_OK)
            fault_from_status(&fault, status,
                              status == TD_UNAVAILABLE ? HISTORY_AWAY : "no memory for the items",
                              NULL);
        api_reply_fault(api, request, &fault);
    }
    history_text_free(list);
    json_free(asked);
}

/* Where an item is. **returns new** *items (json_free): its list. */
static const struct json *find_item(const struct history_found *found, struct td_str owner,
                                    struct td_str id, size_t *list, size_t *index,
                                    struct json **items)
{
    for (*list = 0; *list < found->list_count; ++*list) {
        *items = json_new_array();
        responses_items_show_list(found->lists[*list], owner, *list, *items);
        for (*index = 0; *index < json_count(*items); ++*index)
            if (str_equal(json_text(json_get(json_at(*items, *index), "id")), id))
                return json_at(*items, *index);
        json_free(*items);
    }
    *items = NULL;
    return NULL;
}

/* "CONVERSATION/items/ITEM". */
static struct td_str item_name(const char *rest)
{
    struct td_str text = str_from(rest), id = kept_page_name(rest);
    return str_slice(text, id.len + strlen("/items/"), text.len);
}

void conversations_handle_item(struct api *api, struct http_request *request, const char *rest)
{
    struct td_str id = kept_page_name(rest), item = item_name(rest);
    struct history_found found;
    size_t list, index;
    struct json *items;
    if (!find(api, id, &found)) {
        reply_absent(api, request, id);
        return;
    }
    const struct json *shown = find_item(&found, id, item, &list, &index, &items);
    if (shown)
        api_reply_value(api, request, json_clone(shown), KEPT_REPLY_BYTES_MAX);
    else
        kept_page_reply_absent(api, request, "Item", item);
    json_free(items);
    history_found_deinit(&found);
}

/* The list without one of its items; the others keep their ids. */
static struct history_text *without(const struct json *items, size_t index)
{
    struct buf out;
    buf_init(&out, KEPT_REPLY_BYTES_MAX);
    buf_append_char(&out, '[');
    for (size_t i = 0; i < json_count(items); i++) {
        if (i == index)
            continue;
        if (out.len > 1)
            buf_append_char(&out, ',');
        json_write(json_at(items, i), &out);
    }
    buf_append_char(&out, ']');
    struct history_text *text = out.failed ? NULL : history_text_new(buf_view(&out));
    buf_deinit(&out);
    return text;
}

void conversations_handle_drop(struct api *api, struct http_request *request, const char *rest)
{
    struct td_str id = kept_page_name(rest), item = item_name(rest);
    struct history_found found;
    size_t list, index;
    struct json *items;
    char name[HISTORY_ID_BYTES];
    if (!find(api, id, &found)) {
        reply_absent(api, request, id);
        return;
    }
    copy_name(id, name);
    struct history_text *rest_of_it =
        find_item(&found, id, item, &list, &index, &items) ? without(items, index) : NULL;
    if (rest_of_it &&
        history_replace(api->host->history, api->who.caller, name, found.lists[list], rest_of_it))
        reply_text(api, request, found.body);
    else
        kept_page_reply_absent(api, request, "Item", item);
    history_text_free(rest_of_it);
    json_free(items);
    history_found_deinit(&found);
}
