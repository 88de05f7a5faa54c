#include "tier/clouds/cloud_parts.h"

#include <assert.h>
#include <string.h>

/* Whose signatures these are: no other provider can use them. */
#define THOUGHT_FORMAT "anthropic-claude-v1"

void turns_begin(struct turns *turns, const char *parts_name)
{
    assert(turns && parts_name);
    *turns = (struct turns){.parts_name = parts_name, .list = json_new_array()};
}

void turns_end(struct turns *turns)
{
    if (!turns->role)
        return;
    struct json *turn = json_new_object();
    json_put(turn, "role", json_new_cstr(turns->role));
    json_put(turn, turns->parts_name, turns->parts);
    json_push(turns->list, turn);
    turns->role = NULL;
    turns->parts = NULL;
}

void turns_add(struct turns *turns, const char *role, struct json *part)
{
    if (!part)
        return;
    if (turns->role && strcmp(turns->role, role) != 0)
        turns_end(turns);
    if (!turns->role) {
        turns->role = role;
        turns->parts = json_new_array();
    }
    json_push(turns->parts, part);
}

struct json *cloud_object(const char *name, struct json *value)
{
    struct json *object = json_new_object();
    json_put(object, name, value);
    return object;
}

void cloud_put_list(struct json *to, const char *name, struct json *list)
{
    if (json_count(list) > 0)
        json_put(to, name, list);
    else
        json_free(list);
}

bool cloud_forces_call(const struct json *chat)
{
    const struct json *choice = json_get(chat, "tool_choice");
    return json_kind_of(choice) == JSON_KIND_OBJECT ||
           str_equal(json_text(choice), STR("required"));
}

int64_t cloud_count(const struct json *usage, const char *name)
{
    int64_t count = json_int(json_get(usage, name), 0);
    return count < 0 || count > INT32_MAX ? INT32_MAX : count;
}

void cloud_put_thought(const struct dialect_out *out, const struct cloud_thought *thought)
{
    if (thought->text.len == 0)
        return;
    struct json *entry = json_new_object(), *list = json_new_array(), *delta = json_new_object();
    json_put(entry, "type", json_new_cstr(thought->type));
    json_put(entry, "index", json_new_int(thought->index));
    json_put(entry, "format", json_new_cstr(THOUGHT_FORMAT));
    json_put(entry, thought->name, json_new_text(thought->text));
    if (strcmp(thought->name, "text") == 0)
        json_put(delta, "reasoning", json_new_text(thought->text));
    json_push(list, entry);
    json_put(delta, "reasoning_details", list);
    dialect_put_delta(out, delta);
}
