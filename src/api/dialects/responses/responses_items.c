#include "api/dialects/responses/responses_items.h"

#include "base/core/assertion.h"
#include "base/core/str.h"

#include <stdio.h>

/* What ids of OpenAI's begin with. */
static const char *prefix_of(const struct json *item)
{
    static const char *const rows[][2] = {
        {"message", "msg"}, {"reasoning", "rs"}, {"function_call", "fc"}, {NULL, "item"}};
    struct td_str type = json_get_text(item, "type");
    size_t i = 0;
    while (rows[i][0] && !str_equal(type, str_from(type.len ? rows[i][0] : "")) && type.len > 0)
        i++;
    return rows[i][1]; /* a message may come without a type */
}

/* Its own, or one made of its place. */
static void write_id(const struct json *item, const struct responses_item_place *place,
                     char out[static RESPONSES_ITEM_ID_BYTES])
{
    struct td_str own = json_get_text(item, "id"), digits = place->owner;
    digits = str_slice(digits, str_find(digits, STR("_"), 0) + 1, digits.len);
    if (own.len > 0 && own.len < RESPONSES_ITEM_ID_BYTES && !memchr(own.data, '\0', own.len))
        snprintf(out, RESPONSES_ITEM_ID_BYTES, STR_FMT, STR_ARG(own));
    else
        snprintf(out, RESPONSES_ITEM_ID_BYTES, "%s_" STR_FMT "_%zux%zu", prefix_of(item),
                 STR_ARG(str_slice(digits, 0, HISTORY_ID_BYTES)), place->list, place->index);
}

static struct json *parts_of(const struct json *content, bool answer)
{
    struct json *parts = json_new_array(), *part = json_new_object();
    json_put(part, "type", json_new_cstr(answer ? "output_text" : "input_text"));
    json_put(part, "text", json_clone(content));
    if (answer)
        json_put(part, "annotations", json_new_array());
    json_push(parts, part);
    return parts;
}

struct json *responses_items_show(const struct json *item, const struct responses_item_place *place)
{
    char id[RESPONSES_ITEM_ID_BYTES];
    write_id(item, place, id);
    struct json *shown = json_clone(item);
    const struct json *content = json_get(item, "content");
    if (json_absent(json_get(item, "type")))
        json_put(shown, "type", json_new_cstr("message"));
    json_put(shown, "id", json_new_cstr(id));
    if (json_absent(json_get(item, "status")))
        json_put(shown, "status", json_new_cstr("completed"));
    if (json_kind_of(content) == JSON_KIND_TEXT)
        json_put(shown, "content",
                 parts_of(content, str_equal(json_get_text(item, "role"), STR("assistant"))));
    return shown;
}

void responses_items_show_list(const struct history_text *list, struct td_str owner, size_t number,
                               struct json *out)
{
    struct json *items = NULL;
    if (json_parse(history_text_view(list), &items, NULL) != TD_OK)
        return;
    for (size_t i = 0; i < json_count(items); i++) {
        const struct responses_item_place place = {owner, number, i};
        json_push(out, responses_items_show(json_at(items, i), &place));
    }
    json_free(items);
}

void responses_items_append(const struct history_text *list, struct buf *out)
{
    struct td_str text = history_text_view(list);
    ASSERT(text.len >= 2); /* the brackets */
    if (text.len == 2)
        return;
    if (out->len > 0 && out->data[out->len - 1] != '[')
        buf_append_char(out, ',');
    buf_append_str(out, str_slice(text, 1, text.len - 1));
}

bool responses_items_is_reference(const struct json *item)
{
    const struct json *type = json_get(item, "type");
    if (!json_absent(type))
        return str_equal(json_text(type), STR("item_reference"));
    return json_absent(json_get(item, "role")) && json_absent(json_get(item, "content")) &&
           !json_absent(json_get(item, "id"));
}

/* --- finding --- */

static bool find_in_list(const struct history_text *list, struct td_str id,
                         struct responses_item_place place, struct buf *out)
{
    struct json *items = NULL;
    bool found = false;
    if (json_parse(history_text_view(list), &items, NULL) != TD_OK)
        return false;
    for (place.index = 0; !found && place.index < json_count(items); place.index++) {
        char at[RESPONSES_ITEM_ID_BYTES];
        const struct json *item = json_at(items, place.index);
        write_id(item, &place, at);
        found = str_equal(str_from(at), id);
        if (found)
            json_write(item, out);
    }
    json_free(items);
    return found;
}

/* Answers come last and are what is referred to, so lists are searched from the end. */
static bool find_in(const struct history_found *found, struct td_str owner, struct td_str id,
                    struct buf *out)
{
    bool here = false;
    for (size_t list = found->list_count; list-- > 0 && !here;)
        here = find_in_list(found->lists[list], id,
                            (struct responses_item_place){.owner = owner, .list = list}, out);
    return here;
}

bool responses_items_find(struct history *history, const char *caller, struct td_str id,
                          struct history_class *data_class, struct buf *out)
{
    static const char *const kinds[] = {"resp", "conv"};
    size_t first = str_find(id, STR("_"), 0);
    if (!history || first == SIZE_MAX || id.len >= RESPONSES_ITEM_ID_BYTES)
        return false;
    size_t second = str_find(id, STR("_"), first + 1);
    struct td_str digits = str_slice(id, first + 1, second);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char owner[RESPONSES_ITEM_ID_BYTES + 8];
        struct history_found kept;
        int len = snprintf(owner, sizeof owner, "%s_" STR_FMT, kinds[i], STR_ARG(digits));
        struct td_str name = {owner, (size_t)len};
        if (!history_find(history, caller, name, &kept))
            continue;
        bool found = find_in(&kept, name, id, out);
        if (found)
            history_class_raise(data_class, &kept.data_class);
        history_found_deinit(&kept);
        if (found)
            return true;
    }
    return false;
}
