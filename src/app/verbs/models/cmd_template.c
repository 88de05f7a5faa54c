/* tandem template: chat messages as the model reads them, as text or as token ids. */
#define HELP_OF 57
#include "api/wire/openai_messages.h"
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/verb.h"
#include "app/config/packed_help.h"
#include "base/core/error.h"
#include "base/json/json.h"
#include "engine/model/chat_tools.h"

#include <stdlib.h>

#define MESSAGES_ARENA_BYTES (512u << 20)

/* A JSON array of messages, or an object with `messages` and `tools` as a chat request has it. */
static enum td_status read_messages(struct td_str text, struct json **body, struct arena *arena,
                                    struct td_request *request, struct td_error *err)
{
    enum td_status status = json_parse(text, body, err);
    if (status != TD_OK)
        return status;
    if (json_kind_of(*body) == JSON_KIND_ARRAY) {
        struct json *object = json_new_object();
        json_put(object, "messages", *body);
        *body = object;
    }
    struct fault fault = {0};
    if (!openai_messages_read(*body, arena, request, &fault))
        return error_set(err, TD_INVALID, "%s: %s", fault.param, fault.message);
    enum json_kind tools = json_kind_of(json_get(*body, "tools"));
    if (json_get(*body, "tools") && tools != JSON_KIND_ARRAY && tools != JSON_KIND_NULL)
        return error_set(err, TD_INVALID, "tools: not an array of tools");
    return TD_OK;
}

static struct json *ids_to_json(const int32_t *ids, size_t count)
{
    struct json *array = json_new_array();
    for (size_t i = 0; i < count; i++)
        json_push(array, json_new_int(ids[i]));
    return array;
}

/* The bytes that the tokens stand for, control tokens spelled out. **returns new** (free). */
static char *text_of_ids(const struct td_model *model, const int32_t *ids, size_t count,
                         size_t *len)
{
    struct buf out;
    buf_init(&out, MESSAGES_ARENA_BYTES);
    for (size_t i = 0; i < count; i++)
        buf_append_str(&out, td_token_piece(model, ids[i], true));
    *len = out.len;
    return buf_take(&out);
}

/* Tools are shown by the model's own template alone, which gives tokens. */
static enum td_status render_tools(const struct td_model *model, const struct json *body,
                                   bool as_ids, char **text, int32_t **ids, size_t *len,
                                   struct td_error *err)
{
    size_t count = 0;
    enum td_status status = chat_tools_tokenize(model, json_get(body, "messages"),
                                                json_get(body, "tools"), ids, &count, err);
    *len = count;
    if (status == TD_OK && !as_ids) {
        *text = text_of_ids(model, *ids, count, len);
        if (*text == NULL)
            status = error_set(err, TD_NO_MEMORY, "no memory for the rendered prompt");
    }
    return status;
}

struct prompt_form {
    bool as_ids, json;
};

static enum td_status print_prompt(const struct td_model *model, const struct json *body,
                                   const struct td_request *request, struct prompt_form form,
                                   bool *printed, struct td_error *err)
{
    char *text = NULL;
    int32_t *ids = NULL;
    size_t len = 0;
    enum td_status status;
    if (json_count(json_get(body, "tools")) > 0)
        status = render_tools(model, body, form.as_ids, &text, &ids, &len, err);
    else if (form.as_ids)
        status =
            td_chat_tokenize(model, request->messages, request->message_count, &ids, &len, err);
    else
        status =
            td_template_render(model, request->messages, request->message_count, &text, &len, err);
    if (status == TD_OK && form.as_ids)
        *printed = command_print_json(ids_to_json(ids, len));
    else if (status == TD_OK)
        *printed = form.json ? command_print_json(json_new_text((struct td_str){text, len}))
                             : command_print((struct td_str){text, len});
    free(text);
    free(ids);
    return status;
}

static int cmd_template(int argc, char **argv)
{
    const char *model_path = NULL;
    bool as_ids = false, json = false;
    enum td_cpu cpu = TD_CPU_AUTO;
    const struct option options[] = {
        OPTION_ROW_MODEL(model_path),
        {"ids", 0, OPTION_FLAG, &as_ids, NULL,
         HELP_TEXT("print the token ids as a JSON array instead of the text"), 0, 0},
        OPTION_ROW_CPU(cpu),
        OPTION_ROW_JSON(json),
    };
    const struct option_spec spec = {
        .verb = "template",
        .arguments = "< MESSAGES.json",
        .summary = HELP_TEXT(
            "Shows chat messages as the model reads them: rendered by the model's chat "
            "template, up to the start of the assistant's turn. The input is a JSON array "
            "of {role, content}, or an object with `messages` and `tools` as in a chat "
            "request."),
        .json = HELP_TEXT("One string."),
        OPTION_TABLE(options),
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, NULL, NULL);

    struct td_error err = {0};
    struct td_model *model = NULL;
    struct buf input = {0};
    struct json *body = NULL;
    struct td_request request = {0};
    struct arena *arena = arena_new(MESSAGES_ARENA_BYTES);
    bool printed = true;
    enum td_status status = command_open_model(model_path, cpu, true, &model, &err);
    if (status == TD_OK)
        status = command_read_all(NULL, &input, &err);
    if (status == TD_OK)
        status = arena ? read_messages(buf_view(&input), &body, arena, &request, &err)
                       : error_set(&err, TD_NO_MEMORY, "no memory for the messages");
    if (status == TD_OK)
        status =
            print_prompt(model, body, &request, (struct prompt_form){as_ids, json}, &printed, &err);
    arena_free(arena);
    json_free(body);
    buf_deinit(&input);
    td_model_close(model);
    return status == TD_OK ? !printed : command_fail("template", &err);
}

const struct verb verb_template = {"template", cmd_template,
                                   HELP_TEXT("show chat messages as the model reads them")};
