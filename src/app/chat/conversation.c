/* Messages own their texts. The system prompt stands before the others in one array, so that a
 * request can borrow them all. */
#include "app/chat/conversation.h"

#include "base/core/error.h"
#include "base/core/str.h"

#include <stdlib.h>

static void drop_text(struct conversation *conversation, struct td_message *message)
{
    conversation->bytes -= message->content.len;
    free((void *)(uintptr_t)message->content.data);
    *message = (struct td_message){0};
}

void conversation_init(struct conversation *conversation)
{
    *conversation = (struct conversation){0};
}

void conversation_deinit(struct conversation *conversation)
{
    conversation_clear(conversation);
    drop_text(conversation, &conversation->items[0]);
}

static void drop_oldest_pair(struct conversation *conversation)
{
    size_t count = conversation->count < 2 ? conversation->count : 2;
    struct td_message *first = conversation->items + 1;
    for (size_t i = 0; i < count; i++)
        drop_text(conversation, &first[i]);
    conversation->count -= count;
    conversation->dropped += count;
    memmove(first, first + count, conversation->count * sizeof *first);
}

static enum td_status copy_into(struct conversation *conversation, struct td_message *place,
                                enum td_role role, struct td_str text, struct td_error *err)
{
    char *copy = malloc(text.len + 1);
    if (!copy)
        return error_set(err, TD_NO_MEMORY, "no memory for the message");
    if (text.len)
        memcpy(copy, text.data, text.len);
    copy[text.len] = '\0';
    *place = (struct td_message){role, {copy, text.len}};
    conversation->bytes += text.len;
    return TD_OK;
}

enum td_status conversation_add(struct conversation *conversation, enum td_role role,
                                struct td_str text, struct td_error *err)
{
    size_t system = conversation->items[0].content.len;
    if (text.len > CONVERSATION_BYTES_MAX - system)
        return error_set(err, TD_LIMIT, "the message is too long: %zu bytes, at most %zu", text.len,
                         CONVERSATION_BYTES_MAX - system);
    while (conversation->count == CONVERSATION_MESSAGES_MAX ||
           (conversation->count && conversation->bytes + text.len > CONVERSATION_BYTES_MAX))
        drop_oldest_pair(conversation);
    struct td_message *place = &conversation->items[1 + conversation->count];
    enum td_status status = copy_into(conversation, place, role, text, err);
    if (status == TD_OK)
        conversation->count++;
    return status;
}

void conversation_drop_last(struct conversation *conversation)
{
    if (conversation->count)
        drop_text(conversation, &conversation->items[conversation->count--]);
}

void conversation_clear(struct conversation *conversation)
{
    while (conversation->count)
        conversation_drop_last(conversation);
    conversation->dropped = 0;
}

enum td_status conversation_set_system(struct conversation *conversation, struct td_str text,
                                       struct td_error *err)
{
    struct td_message message = {0};
    if (text.len > CONVERSATION_BYTES_MAX / 2)
        return error_set(err, TD_LIMIT, "the system prompt is too long: %zu bytes, at most %u",
                         text.len, CONVERSATION_BYTES_MAX / 2);
    if (text.len) {
        enum td_status status = copy_into(conversation, &message, TD_ROLE_SYSTEM, text, err);
        if (status != TD_OK)
            return status;
    }
    drop_text(conversation, &conversation->items[0]);
    conversation->items[0] = message;
    return TD_OK;
}

struct td_str conversation_system(const struct conversation *conversation)
{
    return conversation->items[0].content.len ? conversation->items[0].content : STR("");
}

const struct td_message *conversation_messages(const struct conversation *conversation,
                                               size_t *count)
{
    bool system = conversation->items[0].content.len > 0;
    *count = conversation->count + system;
    return conversation->items + !system;
}
