#include "tier/clouds/cloud_parts.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"

#include <string.h>

/* Whose signatures these are: no other provider can use them. */
#define THOUGHT_FORMAT "anthropic-claude-v1"

static void end_turn(struct turns *turns)
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
        end_turn(turns);
    if (!turns->role) {
        turns->role = role;
        turns->parts = json_new_array();
    }
    json_push(turns->parts, part);
}

enum td_status turns_read(struct turns *turns, const char *parts_name,
                          const struct turns_source *source, struct td_error *err)
{
    ASSERT(turns && parts_name);
    const struct json *list = json_get(source->chat, "messages");
    enum td_status status = TD_OK;
    *turns = (struct turns){.parts_name = parts_name, .list = json_new_array()};
    for (size_t i = 0; i < json_count(list) && status == TD_OK; i++)
        status = source->add(source->ctx, json_at(list, i), i);
    end_turn(turns);
    if (status == TD_OK && json_count(turns->list) == 0)
        status = error_set(err, TD_INVALID,
                           "%s needs a message of the user's beside the instructions", source->api);
    return status;
}

void cloud_call_begin(struct cloud_call *call, struct td_str id, struct td_str name,
                      const struct dialect_out *out)
{
    const struct dialect_call told = {.number = call->count++, .id = id, .name = name};
    call->open = true;
    call->has_arguments = false;
    dialect_put_call(out, &told);
}

void cloud_call_add(struct cloud_call *call, struct td_str arguments, const struct dialect_out *out)
{
    if (!call->open || arguments.len == 0)
        return;
    call->has_arguments = true;
    const struct dialect_call told = {.number = call->count - 1, .arguments = arguments};
    dialect_put_call(out, &told);
}

void cloud_call_end(struct cloud_call *call, const struct dialect_out *out)
{
    if (!call->has_arguments)
        cloud_call_add(call, STR("{}"), out);
    call->open = false;
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
