/* The file may have been written by hand or by somebody else: every member is checked. */
#include "app/chat/conversation_file.h"

#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/text/names.h"

#define VERSION 1

static enum td_status read_message(const struct json *item, size_t number,
                                   struct conversation *conversation, struct td_error *err)
{
    enum td_role role;
    const struct json *content = json_get(item, "content");
    if (json_kind_of(content) != JSON_KIND_TEXT)
        return error_set(err, TD_INVALID, "messages[%zu].content must be a text", number);
    if (!names_role_parse(json_text(json_get(item, "role")), &role) ||
        (role != TD_ROLE_SYSTEM && role != TD_ROLE_USER && role != TD_ROLE_ASSISTANT))
        return error_set(err, TD_INVALID, "messages[%zu].role must be system, user or assistant",
                         number);
    if (role != TD_ROLE_SYSTEM)
        return conversation_add(conversation, role, json_text(content), err);
    if (number > 0)
        return error_set(err, TD_INVALID, "messages[%zu]: only the first may be the system's",
                         number);
    return conversation_set_system(conversation, json_text(content), err);
}

static enum td_status read_members(const struct json *file, struct conversation *conversation,
                                   struct td_error *err)
{
    const struct json *version = json_get(file, "tandem_conversation");
    const struct json *messages = json_get(file, "messages");
    if (json_kind_of(version) != JSON_KIND_INT || json_int(version, 0) < 1)
        return error_set(err, TD_INVALID, "it is not a conversation that /save has written");
    if (json_int(version, 0) > VERSION)
        return error_set(err, TD_UNSUPPORTED,
                         "a newer version of tandem wrote it (format %lld, this one reads %d)",
                         (long long)json_int(version, 0), VERSION);
    if (json_kind_of(messages) != JSON_KIND_ARRAY)
        return error_set(err, TD_INVALID, "'messages' must be a list");
    const struct json *is_private = json_get(file, "private");
    if (is_private && json_kind_of(is_private) != JSON_KIND_BOOL)
        return error_set(err, TD_INVALID, "'private' must be true or false");
    conversation->is_private = json_bool(is_private, false);
    enum td_status status = TD_OK;
    for (size_t i = 0; status == TD_OK && i < json_count(messages); i++)
        status = read_message(json_at(messages, i), i, conversation, err);
    return status;
}

enum td_status conversation_parse(struct td_str text, struct conversation *conversation,
                                  struct td_error *err)
{
    struct json *file = NULL;
    enum td_status status = json_parse(text, &file, err);
    if (status == TD_OK)
        status = read_members(file, conversation, err);
    json_free(file);
    return status;
}

void conversation_write(const struct conversation *conversation, struct buf *out)
{
    size_t count;
    const struct td_message *messages = conversation_messages(conversation, &count);
    struct json *file = json_new_object(), *list = json_new_array();
    for (size_t i = 0; i < count; i++) {
        struct json *item = json_new_object();
        json_put(item, "role", json_new_cstr(names_role(messages[i].role)));
        json_put(item, "content", json_new_text(messages[i].content));
        json_push(list, item);
    }
    json_put(file, "tandem_conversation", json_new_int(VERSION));
    json_put(file, "private", json_new_bool(conversation->is_private));
    json_put(file, "messages", list);
    json_write(file, out);
    buf_append_char(out, '\n');
    json_free(file);
}
