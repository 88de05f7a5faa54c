#include "api/inference/kept_page.h"

#include "api/history/history.h"
#include "api/http/reply.h"
#include "base/core/str.h"
#include "base/json/json.h"

#include <string.h>

#define LIMIT_DEFAULT 20
#define LIMIT_MAX 100
#define SHOWN_BYTES 100

struct page {
    uint64_t limit;
    bool ascending;
    struct td_str after; /* empty = from the beginning */
};

static bool read_page(const struct http_request *request, struct page *page, struct fault *fault)
{
    struct td_str query = str_from(http_request_query(request)), part, key;
    *page = (struct page){.limit = LIMIT_DEFAULT};
    while (str_next(&query, '&', &part)) {
        if (!str_next(&part, '=', &key))
            continue;
        if (str_equal(key, STR("after")))
            page->after = part;
        if (str_equal(key, STR("limit")) &&
            (!str_to_u64(part, &page->limit) || page->limit < 1 || page->limit > LIMIT_MAX))
            return fault_request(fault, "limit", "limit must be from 1 to %d", LIMIT_MAX);
        if (!str_equal(key, STR("order")))
            continue;
        page->ascending = str_equal(part, STR("asc"));
        if (!page->ascending && !str_equal(part, STR("desc")))
            return fault_request(fault, "order", "order must be asc or desc");
    }
    return true;
}

static struct json *make_page(const struct json *items, const struct page *page)
{
    struct json *data = json_new_array(), *object = json_new_object();
    size_t count = json_count(items), taken = 0, i = 0;
    const struct json *first = NULL, *last = NULL;
    bool begun = page->after.len == 0;
    for (; i < count && taken < page->limit; i++) {
        const struct json *item = json_at(items, page->ascending ? i : count - 1 - i);
        if (begun) {
            json_push(data, json_clone(item));
            first = first ? first : item;
            last = item;
            taken++;
        }
        begun |= str_equal(json_get_text(item, "id"), page->after);
    }
    json_put(object, "object", json_new_cstr("list"));
    json_put(object, "data", data);
    json_put(object, "first_id", json_new_cstr(json_cstr(json_get(first, "id"))));
    json_put(object, "last_id", json_new_cstr(json_cstr(json_get(last, "id"))));
    json_put(object, "has_more", json_new_bool(i < count));
    return object;
}

void kept_page_reply(struct api *api, struct http_request *request, struct json *items)
{
    struct page page;
    struct fault fault;
    if (read_page(request, &page, &fault))
        api_reply_value(api, request, make_page(items, &page), KEPT_REPLY_BYTES_MAX);
    else
        api_reply_fault(api, request, &fault);
    json_free(items);
}

struct td_str kept_page_name(const char *rest)
{
    return (struct td_str){rest, strcspn(rest, "/")};
}

void kept_page_reply_absent(struct api *api, struct http_request *request, const char *what,
                            struct td_str id)
{
    struct fault fault;
    fault_set(&fault, 404, "invalid_request_error", NULL, "%s with id '" STR_FMT "' not found.",
              what, STR_ARG(str_slice(id, 0, SHOWN_BYTES)));
    memcpy(fault.param, "id", sizeof "id");
    if (history_is_away(api->host->history))
        fault_from_status(&fault, TD_UNAVAILABLE, HISTORY_AWAY, NULL);
    api_reply_fault(api, request, &fault);
}
