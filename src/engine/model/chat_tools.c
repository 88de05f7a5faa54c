/* Finds out how a model calls tools by asking its own template: it renders a probe tool and a probe
 * call with unusual names, and looks where the names are in the text. So no list of models is
 * needed, and a new model with a known form works at once. */
#include "engine/model/chat_tools.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "engine/model/model.h"

#include <stdlib.h>

#define PROBE_BYTES_MAX ((size_t)1 << 20)

/* The names occur in no template. There is one call, because Llama's template refuses several, and
 * its id has nine characters, because Mistral's template requires that. */
static const char probe_tools[] =
    "[{\"type\":\"function\",\"function\":{\"name\":\"zq_probe\",\"description\":\"zq_text\","
    "\"parameters\":{\"type\":\"object\",\"properties\":{\"zq_a\":{\"type\":\"string\"}},"
    "\"required\":[\"zq_a\"]}}}]";
static const char probe_question[] = "[{\"role\":\"user\",\"content\":\"hello\"}]";
static const char probe_call[] =
    "[{\"role\":\"user\",\"content\":\"hello\"},{\"role\":\"assistant\",\"content\":\"\","
    "\"tool_calls\":[{\"id\":\"abcdefghi\",\"type\":\"function\",\"function\":{\"name\":"
    "\"zq_probe\",\"arguments\":{\"zq_a\":\"zq_value\"}}}]},{\"role\":\"tool\",\"tool_call_id\":"
    "\"abcdefghi\",\"name\":\"zq_probe\",\"content\":\"zq_result\"}]";

/* Whether the template renders these messages. The text is in *out, which needs
 * template_output_deinit in any case. */
static bool probe(const struct jinja *jinja, const char *messages, struct template_output *out)
{
    struct json *list = NULL, *tools = NULL;
    template_output_init(out, PROBE_BYTES_MAX);
    bool ok = json_parse(str_from(messages), &list, NULL) == TD_OK &&
              json_parse(str_from(probe_tools), &tools, NULL) == TD_OK;
    struct jinja_input input = {.messages_json = list,
                                .tools = tools,
                                .bos_token = STR("<s>"),
                                .eos_token = STR("</s>"),
                                .add_generation = true};
    ok = ok && jinja_render(jinja, &input, out, NULL) == TD_OK;
    json_free(list);
    json_free(tools);
    return ok;
}

/* The text before the last mention of the call's name tells the form of calls. */
static enum tool_format format_of_text(struct td_str text)
{
    size_t value = str_find(text, STR("zq_value"), 0), at = SIZE_MAX;
    for (size_t next = str_find(text, STR("zq_probe"), 0); next != SIZE_MAX && next < value;
         next = str_find(text, STR("zq_probe"), next + 1))
        at = next;
    if (value == SIZE_MAX || at == SIZE_MAX || str_find(text, STR("zq_result"), value) == SIZE_MAX)
        return TOOL_FORMAT_NONE;
    struct td_str before = str_slice(text, at > 64 ? at - 64 : 0, at);
    struct td_str between = str_slice(text, at, value);
    if (str_find(before, STR("<tool_call>"), 0) != SIZE_MAX &&
        str_find(between, STR("\"arguments\""), 0) != SIZE_MAX)
        return TOOL_FORMAT_HERMES;
    if (str_find(before, STR("[TOOL_CALLS]"), 0) != SIZE_MAX &&
        str_find(between, STR("\"arguments\""), 0) != SIZE_MAX)
        return TOOL_FORMAT_MISTRAL;
    if (str_ends_with(before, STR("{\"name\": \"")) &&
        str_find(between, STR("\"parameters\""), 0) != SIZE_MAX)
        return TOOL_FORMAT_LLAMA;
    return TOOL_FORMAT_NONE;
}

enum tool_format tool_format_of(const struct jinja *jinja)
{
    struct template_output out;
    enum tool_format format = TOOL_FORMAT_NONE;
    bool shown = probe(jinja, probe_question, &out) &&
                 str_find(buf_view(&out.text), STR("zq_probe"), 0) != SIZE_MAX;
    template_output_deinit(&out);
    if (!shown)
        return TOOL_FORMAT_NONE;
    if (probe(jinja, probe_call, &out))
        format = format_of_text(buf_view(&out.text));
    template_output_deinit(&out);
    return format;
}

enum tool_format chat_tool_format(const struct td_model *model)
{
    return model->jinja ? tool_format_of(model->jinja) : TOOL_FORMAT_NONE;
}

void chat_tool_marks(const struct td_model *model, enum tool_format format, struct token_marks *out)
{
    struct tool_marks marks = tool_format_marks(format);
    *out = (struct token_marks){
        .open_id = tokenizer_find(model->tokenizer, marks.open),
        .close_id = marks.close.len ? tokenizer_find(model->tokenizer, marks.close) : -1,
        .free_id = model->info.not_mine_id};
}

enum td_status chat_tools_tokenize(const struct td_model *model, const struct json *messages,
                                   const struct json *tools, int32_t **ids, size_t *count,
                                   struct td_error *err)
{
    ASSERT(messages != NULL && ids != NULL && count != NULL);
    struct jinja_input input = {.messages_json = messages, .tools = tools, .add_generation = true};
    *ids = NULL;
    *count = 0;
    if (model->jinja == NULL)
        return error_set(err, TD_UNSUPPORTED, "%s has no chat template that takes tools",
                         model->name);
    return model_tokenize_chat(model, &input, ids, count, err);
}
