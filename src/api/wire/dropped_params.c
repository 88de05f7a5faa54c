#include "api/wire/dropped_params.h"

#include "base/core/str.h"

#define WISH "drop_params"
#define LIST "additional_drop_params"

static void drop(struct json *body, const char *name, struct buf *names)
{
    if (!json_get(body, name))
        return;
    json_remove(body, name);
    buf_printf(names, "%s%s", names->len ? ", " : "", name);
}

static bool is_format(const struct json *value)
{
    return json_absent(value) || json_text(json_get(value, "type")).len > 0;
}

void dropped_params_apply(struct json *body, struct buf *names)
{
    struct json *list = json_clone(json_get(body, LIST));
    bool wished = json_bool(json_get(body, WISH), false);
    json_remove(body, LIST);
    json_remove(body, WISH);
    for (size_t i = 0; i < json_count(list); i++)
        if (json_cstr(json_at(list, i)))
            drop(body, json_cstr(json_at(list, i)), names);
    if (wished && !is_format(json_get(body, "response_format")))
        drop(body, "response_format", names);
    json_free(list);
}
