/* The entry to the interpreter: it compiles a template, sets the variables of a rendering, and
 * gives its output as segments.
 *
 * A template is a program from a model file, so it is treated as hostile. It can read only its
 * input and write only its output, and every step, byte and level of nesting is counted. What it
 * can call is in jinja_filters*.c, jinja_tests.c and jinja_methods.c; there is nothing else.
 *
 * Why message text cannot become a control token: every text value knows for each byte whether the
 * template's author wrote it (a mark) or the caller did. Slices, strips, joins, replacements,
 * captures and JSON keep this. The output is cut into segments by it, and the tokenizer looks for
 * special tokens only inside marks. So a template may split a message at "</think>" and put the
 * parts between its own marks; whatever the parts spell, they stay text. Two ways were rejected. If
 * placeholders were rendered and replaced afterwards, conditions on the content would see the
 * placeholder. Searching the output for the messages fails when the template changes them.
 *
 * Marks are: literals of the template, numbers, the BOS and EOS texts, and the names of the known
 * roles ('<|' + message.role + '|>' must work; any other role is message text). Everything else in
 * the input is message text, also tools and variables.
 *
 * As in Hugging Face's transformers (chat_template_utils.py) there are trim_blocks, lstrip_blocks,
 * loop controls, tojson without HTML escapes, raise_exception and strftime_now. `tools` and
 * `documents` have Jinja's value none when they are not given. */
#include "engine/template/jinja.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "engine/template/jinja_eval.h"
#include "engine/template/jinja_parser.h"

#include <stdlib.h>

#define SOURCE_BYTES_MAX ((size_t)1 << 20)    /* the largest known has 30 KiB */
#define TREE_BYTES_MAX ((size_t)256 << 20)    /* tokens and nodes of a source of that size */
#define RUN_BYTES_BASE ((size_t)32 << 20)     /* memory of a rendering without messages */
#define RUN_BYTES_PER_BYTE 16                 /* and for each byte of input */
#define STEPS_MAX ((uint64_t)5 << 20)         /* about a second; 1,000 messages need 200,000 */
#define ARGUMENTS_BYTES_MAX ((size_t)1 << 20) /* of one call, as JSON in a string */

struct jinja {
    struct arena *arena;
    struct jinja_tree tree;
    bool knows_developer; /* the template mentions that role */
};

enum td_status jinja_open(struct td_str source, struct jinja **out, struct td_error *err)
{
    ASSERT(out != NULL);
    ASSERT(source.data != NULL || source.len == 0);
    *out = NULL;
    if (source.len > SOURCE_BYTES_MAX)
        return error_set(err, TD_LIMIT, "a chat template of %zu bytes; at most %zu", source.len,
                         SOURCE_BYTES_MAX);
    struct jinja *jinja = calloc(1, sizeof(*jinja));
    if (jinja)
        jinja->arena = arena_new(TREE_BYTES_MAX);
    if (jinja == NULL || jinja->arena == NULL) {
        free(jinja);
        return error_set(err, TD_NO_MEMORY, "no memory for the chat template");
    }
    enum td_status status = jinja_parse(jinja->arena, source, &jinja->tree, err);
    if (status != TD_OK) {
        jinja_close(jinja);
        return status;
    }
    jinja->knows_developer = str_find(source, STR("developer"), 0) != SIZE_MAX;
    *out = jinja;
    return TD_OK;
}

void jinja_close(struct jinja *jinja)
{
    if (jinja == NULL)
        return;
    arena_free(jinja->arena);
    free(jinja);
}

/* --- input --- */

static struct jinja_value text_value(struct td_str text, bool mark)
{
    return jinja_from_text(
        (struct jinja_text){.data = text.data ? text.data : "", .len = text.len, .mark = mark});
}

static void put(struct jinja_run *run, struct jinja_value dict, const char *key,
                struct jinja_value value)
{
    if (run->status == TD_OK)
        jinja_dict_put(run, dict.dict, jinja_word(key).text, value);
}

static bool is_known_role(struct td_str role)
{
    static const char *const roles[] = {"system",    "developer",    "user",     "assistant",
                                        "tool",      "ipython",      "function", "model",
                                        "tool_call", "tool_response"};
    for (size_t i = 0; i < sizeof(roles) / sizeof(*roles); i++)
        if (str_equal(role, str_from(roles[i])))
            return true;
    return false;
}

/* Copies JSON into the run's memory, so the tree need not outlive the call. JSON is at most 64
 * levels deep (base/json/json.h), which bounds the recursion. */
static struct jinja_value from_json(struct jinja_run *run, const struct json *json)
{
    struct jinja_value value = jinja_none();
    void *iterator = NULL;
    const char *key;
    const struct json *member;
    switch (json_kind_of(json)) {
    case JSON_KIND_BOOL:
        return jinja_bool(json_bool(json, false));
    case JSON_KIND_INT:
        return jinja_int(json_int(json, 0));
    case JSON_KIND_DOUBLE:
        return jinja_float(json_number(json, 0));
    case JSON_KIND_TEXT: {
        char *copy = arena_copy(run->arena, json_text(json));
        if (copy == NULL)
            return jinja_fail(run, TD_LIMIT, "the messages need too much memory");
        return text_value((struct td_str){copy, json_text(json).len}, false);
    }
    case JSON_KIND_ARRAY:
        value = jinja_list_new(run, json_count(json));
        for (size_t i = 0; i < json_count(json) && run->status == TD_OK; i++)
            jinja_list_add(run, value.list, from_json(run, json_at(json, i)));
        return value;
    case JSON_KIND_OBJECT:
        value = jinja_dict_new(run);
        while (run->status == TD_OK && json_next(json, &iterator, &key, &member)) {
            char *copy = arena_copy(run->arena, str_from(key));
            if (copy == NULL)
                return jinja_fail(run, TD_LIMIT, "the messages need too much memory");
            jinja_dict_put(run, value.dict, (struct jinja_text){.data = copy, .len = strlen(copy)},
                           from_json(run, member));
        }
        return value;
    default:
        return value;
    }
}

/* Parses tool_calls[i].function.arguments: OpenAI has JSON in a string there, but templates expect
 * the object. */
static void read_arguments(struct jinja_run *run, struct jinja_value calls)
{
    for (size_t i = 0; calls.kind == JINJA_LIST && i < calls.list->count; i++) {
        struct jinja_value call = calls.list->items[i];
        const struct jinja_value *function = NULL, *arguments = NULL;
        struct json *parsed = NULL;
        if (call.kind == JINJA_DICT)
            function = jinja_dict_get(run, call.dict, STR("function"));
        if (function && function->kind == JINJA_DICT)
            arguments = jinja_dict_get(run, function->dict, STR("arguments"));
        if (arguments == NULL || arguments->kind != JINJA_TEXT ||
            arguments->text.len > ARGUMENTS_BYTES_MAX ||
            json_parse(jinja_view(arguments->text), &parsed, NULL) != TD_OK)
            continue;
        if (json_kind_of(parsed) == JSON_KIND_OBJECT)
            put(run, *function, "arguments", from_json(run, parsed));
        json_free(parsed);
    }
}

/* Content that consists of text parts only becomes one string. */
static struct jinja_value join_parts(struct jinja_run *run, struct jinja_value content)
{
    struct jinja_builder out;
    jinja_builder_init(&out, run);
    for (size_t i = 0; i < content.list->count; i++) {
        struct jinja_value part = content.list->items[i];
        const struct jinja_value *text = NULL;
        if (part.kind == JINJA_DICT)
            text = jinja_dict_get(run, part.dict, STR("text"));
        if (text == NULL || text->kind != JINJA_TEXT)
            return content;
        if (i > 0)
            jinja_build_bytes(&out, "\n", 1, false);
        jinja_build_text(&out, text->text);
    }
    return jinja_from_text(jinja_built(&out));
}

static struct jinja_value message_from_json(struct jinja_run *run, const struct json *json)
{
    struct jinja_value message = from_json(run, json);
    if (run->status != TD_OK || message.kind != JINJA_DICT)
        return jinja_fail(run, TD_INVALID, "a message must be an object");
    const struct jinja_value *role = jinja_dict_get(run, message.dict, STR("role"));
    const struct jinja_value *content = jinja_dict_get(run, message.dict, STR("content"));
    const struct jinja_value *calls = jinja_dict_get(run, message.dict, STR("tool_calls"));
    if (calls)
        read_arguments(run, *calls);
    if (content == NULL)
        put(run, message, "content", jinja_none());
    else if (content->kind == JINJA_LIST)
        put(run, message, "content", join_parts(run, *content));
    role = jinja_dict_get(run, message.dict, STR("role")); /* put may have moved the entry */
    if (role && role->kind == JINJA_TEXT && is_known_role(jinja_view(role->text)))
        put(run, message, "role", text_value(jinja_view(role->text), true));
    return message;
}

static struct jinja_value message_from(struct jinja_run *run, const struct td_message *from,
                                       bool knows_developer)
{
    static const char *const roles[] = {[TD_ROLE_SYSTEM] = "system",
                                        [TD_ROLE_DEVELOPER] = "developer",
                                        [TD_ROLE_USER] = "user",
                                        [TD_ROLE_ASSISTANT] = "assistant",
                                        [TD_ROLE_TOOL] = "tool"};
    bool as_system = from->role == TD_ROLE_DEVELOPER && !knows_developer;
    struct jinja_value message = jinja_dict_new(run);
    put(run, message, "role", jinja_word(as_system ? "system" : roles[from->role]));
    put(run, message, "content", text_value(from->content, false));
    return message;
}

static void set(struct jinja_run *run, const struct jinja *jinja, const char *name,
                struct jinja_value value)
{
    for (uint32_t i = 0; i < jinja->tree.symbol_count;
         i++) /* a name that the template never uses needs no value */
        if (str_equal(jinja->tree.symbols[i], str_from(name)))
            jinja_assign(run, i, value);
}

static void set_variables(struct jinja_run *run, const struct jinja *jinja,
                          const struct jinja_input *input)
{
    bool as_json = input->messages_json != NULL;
    size_t count = as_json ? json_count(input->messages_json) : input->message_count;
    struct jinja_value messages = jinja_list_new(run, count);
    for (size_t i = 0; i < count && run->status == TD_OK; i++)
        jinja_list_add(run, messages.list,
                       as_json ? message_from_json(run, json_at(input->messages_json, i))
                               : message_from(run, &input->messages[i], jinja->knows_developer));
    set(run, jinja, "messages", messages);
    set(run, jinja, "tools", from_json(run, input->tools));
    set(run, jinja, "documents", jinja_none());
    set(run, jinja, "add_generation_prompt", jinja_bool(input->add_generation));
    set(run, jinja, "bos_token", text_value(input->bos_token, true));
    set(run, jinja, "eos_token", text_value(input->eos_token, true));
    void *iterator = NULL;
    const char *key;
    const struct json *value;
    while (run->status == TD_OK && json_next(input->variables, &iterator, &key, &value))
        set(run, jinja, key, from_json(run, value));
}

/* --- output --- */

static void write_segments(struct jinja_text text, struct template_output *out)
{
    for (size_t begin = 0; begin < text.len;) {
        bool mark = text.origin ? text.origin[begin] : text.mark;
        size_t end = text.origin ? begin + 1 : text.len;
        while (end < text.len && (bool)text.origin[end] == mark)
            end++;
        template_output_append(out, (struct td_str){text.data + begin, end - begin}, mark);
        begin = end;
    }
}

static size_t input_bytes(const struct jinja_input *input)
{
    size_t bytes = 0;
    for (size_t i = 0; input->messages_json == NULL && i < input->message_count; i++)
        bytes += input->messages[i].content.len;
    return bytes;
}

enum td_status jinja_render(const struct jinja *jinja, const struct jinja_input *input,
                            struct template_output *out, struct td_error *err)
{
    ASSERT(jinja != NULL && out != NULL);
    ASSERT(input->messages != NULL || input->message_count == 0);
    size_t bytes = input_bytes(input), extra;
    if (__builtin_mul_overflow(bytes, (size_t)RUN_BYTES_PER_BYTE, &extra))
        return error_set(err, TD_LIMIT, "messages of %zu bytes", bytes);
    /* The size of JSON is not known: its copy and all that is made of it get twice as much. */
    size_t bytes_max = RUN_BYTES_BASE * (input->messages_json ? 2 : 1);
    struct arena *arena = arena_new(extra > SIZE_MAX - bytes_max ? SIZE_MAX : bytes_max + extra);
    if (arena == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory to render the chat template");
    struct jinja_scope scope = {0};
    struct jinja_builder text;
    struct jinja_run run = {.arena = arena,
                            .err = err,
                            .steps_left = STEPS_MAX + bytes / 8,
                            .text_bytes_max = out->text.bytes_max,
                            .clock = input->clock,
                            .scope = &scope,
                            .out = &text};
    jinja_builder_init(&text, &run);
    set_variables(&run, jinja, input);
    jinja_run_body(&run, jinja->tree.body);
    if (run.status == TD_OK)
        write_segments(jinja_built(&text), out);
    if (run.status == TD_OK && (out->text.failed || out->segments.failed))
        run.status =
            error_set(err, TD_LIMIT, "the prompt has more than %zu bytes", out->text.bytes_max);
    arena_free(arena);
    return run.status;
}
