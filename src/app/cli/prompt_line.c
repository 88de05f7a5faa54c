/* A line of a file of prompts goes the way of a chat request: its messages through the model's
 * template. */
#include "app/cli/prompt_line.h"

#include "api/wire/openai_messages.h"
#include "base/core/error.h"
#include "base/json/json.h"

#define LINE_ARENA_BYTES (64u << 20)

/* "prompt" as one message of a user's. */
static enum td_status as_messages(struct json *line, struct td_error *err)
{
    const struct json *prompt = json_get(line, "prompt");
    bool chat = json_get(line, "messages") != NULL;
    if ((prompt != NULL) == chat)
        return error_set(err, TD_INVALID, "give exactly one of 'prompt' and 'messages'");
    if (chat)
        return TD_OK;
    if (json_kind_of(prompt) != JSON_KIND_TEXT)
        return error_set(err, TD_INVALID, "'prompt' must be a string");
    struct json *message = json_new_object(), *messages = json_new_array();
    json_put(message, "role", json_new_cstr("user"));
    json_put(message, "content", json_clone(prompt));
    json_push(messages, message);
    json_put(line, "messages", messages);
    return TD_OK;
}

enum td_status prompt_line_read(const struct td_model *model, struct td_str text,
                                struct json **line, int32_t **ids, size_t *count,
                                struct td_error *err)
{
    struct td_request request = {0};
    struct fault fault = {0};
    *line = NULL;
    *ids = NULL;
    enum td_status status = json_parse(text, line, err);
    if (status == TD_OK && json_kind_of(*line) != JSON_KIND_OBJECT)
        status = error_set(err, TD_INVALID, "the line must be a JSON object");
    if (status == TD_OK)
        status = as_messages(*line, err);
    struct arena *arena = arena_new(LINE_ARENA_BYTES);
    if (status == TD_OK && arena == NULL)
        status = error_set(err, TD_NO_MEMORY, "no memory for the messages");
    if (status == TD_OK && !openai_messages_read(*line, arena, &request, &fault))
        status = error_set(err, TD_INVALID, "%s: %s", fault.param, fault.message);
    if (status == TD_OK)
        status = td_chat_tokenize(model, request.messages, request.message_count, ids, count, err);
    arena_free(arena);
    return status;
}
