/* The answer of a person is looked for when somebody asks for the response, not when it is given: a
 * ticket knows its exchange, and only the response knows which exchange that was. */
#include "api/inference/kept_review.h"

#include "api/http/access.h"
#include "api/inference/kept_page.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "exchange/machine/exchange.h"
#include "ledger/store/queue_store.h"

#include <string.h>

/* The body whose member `tandem` has that one as true; NULL otherwise. **returns new** */
static struct json *body_with(const struct history_found *found, struct td_str written,
                              const char *name)
{
    struct td_str text = history_text_view(found->body);
    struct json *body = NULL;
    if (found->state != HISTORY_DONE || str_find(text, written, 0) == SIZE_MAX ||
        json_parse(text, &body, NULL) != TD_OK)
        return NULL;
    if (json_bool(json_get(json_get(body, "tandem"), name), false))
        return body;
    json_free(body);
    return NULL;
}

static bool take_text(void *ctx, const struct queued *row)
{
    struct json **text = ctx, *result = NULL;
    if (row->state == QUEUED_ENDED && json_parse(row->result, &result, NULL) == TD_OK &&
        json_get_text(result, "text").len > 0 && strcmp(row->outcome, "rejected") != 0) {
        json_free(*text);
        *text = json_clone(json_get(result, "text"));
    }
    json_free(result);
    return true;
}

/* A message with that text alone, in the place of one with the interim text. */
static struct json *said(const struct json *item, const struct json *text)
{
    struct json *copy = json_clone(item), *content = json_new_array();
    struct json *part = json_clone(json_at(json_get(item, "content"), 0));
    if (part)
        json_put(part, "text", json_clone(text));
    json_push(content, part);
    if (copy)
        json_put(copy, "content", content);
    else
        json_free(content);
    return copy;
}

static struct json *with_text(const struct json *items, const struct json *text)
{
    struct json *list = json_new_array();
    for (size_t i = 0; i < json_count(items); i++) {
        const struct json *item = json_at(items, i);
        bool answers = str_equal(json_get_text(item, "type"), STR("message")) &&
                       str_equal(json_get_text(item, "role"), STR("assistant"));
        json_push(list, answers ? said(item, text) : json_clone(item));
    }
    return list;
}

/* **takes** the value. **returns new**, or NULL. */
static struct history_text *written(struct json *value)
{
    struct buf out;
    buf_init(&out, KEPT_REPLY_BYTES_MAX);
    if (value)
        json_write(value, &out);
    struct history_text *text = value && !out.failed ? history_text_new(buf_view(&out)) : NULL;
    buf_deinit(&out);
    json_free(value);
    return text;
}

static void replace_list(struct api *api, const char *id, const struct history_found *found,
                         const struct json *text)
{
    const struct history_text *before =
        found->list_count > 1 ? found->lists[found->list_count - 1] : NULL;
    struct json *items = NULL;
    if (!before || json_parse(history_text_view(before), &items, NULL) != TD_OK)
        return;
    struct history_text *after = written(with_text(items, text));
    if (after)
        history_replace(api->host->history, api->who.caller, id, before, after);
    history_text_free(after);
    json_free(items);
}

static void replace(struct api *api, const char *id, struct history_found *found, struct json *body,
                    const struct json *text)
{
    struct json *tandem = json_clone(json_get(body, "tandem"));
    if (!tandem)
        return;
    json_put(tandem, "pending", json_new_bool(false));
    json_put(tandem, "degraded", json_new_bool(false));
    json_remove(tandem, "disclosure");
    json_put(body, "tandem", tandem);
    json_put(body, "output", with_text(json_get(body, "output"), text));
    struct history_text *after = written(json_share(body));
    if (!after)
        return;
    replace_list(api, id, found, text);
    history_replace(api->host->history, api->who.caller, id, NULL, after);
    history_text_free(found->body);
    found->body = after;
}

void kept_review_settle(struct api *api, const char *id, struct history_found *found)
{
    struct json *body = body_with(found, STR("\"pending\":true"), "pending"), *text = NULL;
    if (!body)
        return;
    struct exchange_services *services = api->host->acquire(api->host->ctx);
    const struct queue_filter filter = {
        .owner = access_view(&api->who),
        .about = json_cstr(json_get(json_get(body, "tandem"), "exchange")),
    };
    if (services->queues && filter.about &&
        queue_store_each(services->queues, &filter, take_text, &text, NULL) == TD_OK && text)
        replace(api, id, found, body, text);
    json_free(text);
    json_free(body);
    api->host->release(api->host->ctx, services);
}

void kept_review_drop(struct api *api, const struct history_found *found)
{
    struct json *body = body_with(found, STR("\"review\":true"), "review");
    const char *about = json_cstr(json_get(json_get(body, "tandem"), "exchange"));
    if (!about) {
        json_free(body);
        return;
    }
    struct exchange_services *services = api->host->acquire(api->host->ctx);
    if (services->queues)
        (void)!queue_store_drop(services->queues, access_view(&api->who), about, NULL);
    api->host->release(api->host->ctx, services);
    json_free(body);
}
