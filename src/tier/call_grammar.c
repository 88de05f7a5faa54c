/* Writes the grammar of answers with calls as GBNF.
 *
 * Free text is a grammar, too: an automaton that looks for the opening mark as Knuth, Morris and
 * Pratt do, with one rule for each beginning of the mark. So there is no trigger beside the
 * grammar, and a token that holds the end of a mark and the beginning of a call is judged whole.
 * Where the vocabulary has a token for a mark, that token is a byte of the grammar
 * (token_filter.h); the spelled mark then opens a call as well, because the parser reads it so. */
#include "tier/call_grammar.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "engine/grammar/json_schema.h"

#include <stdio.h>
#include <stdlib.h>

#define OPEN_TOKEN "\"\\x01\""
#define CLOSE_TOKEN "\"\\x02\""
/* White space around a call: templates differ. */
#define AROUND "around"

struct writer {
    const struct td_request *request;
    const struct json *tools;
    const struct json **schemas; /* [count], and the format's after them */
    struct td_str *names;        /* [count] */
    size_t *places;              /* [count] their indices in the request */
    size_t count;
    struct json *owned; /* the schemas of arguments */
    struct buf text;
    bool forced;
};

/* --- the tools -------------------------------------------------------------------------------- */

/* The schema of a tool's arguments, which are always an object. A tool without one has none
 * (OpenAI's API reference, "parameters"). */
static enum td_status add_schema(struct writer *w, const struct json *function, size_t place,
                                 struct td_error *err)
{
    const struct json *given = json_get(function, "parameters"), *type = json_get(given, "type");
    struct json *schema = json_absent(given) ? json_new_object() : json_clone(given);
    if (json_absent(given))
        json_put(schema, "properties", json_new_object());
    else if (json_kind_of(given) != JSON_KIND_OBJECT)
        type = given;
    bool object = json_absent(type) || str_equal(json_text(type), STR("object"));
    for (size_t i = 0; json_kind_of(type) == JSON_KIND_ARRAY && i < json_count(type); i++)
        object |= str_equal(json_text(json_at(type, i)), STR("object"));
    if (!object) {
        json_free(schema);
        return error_set(err, TD_INVALID,
                         "tools[%zu].function.parameters is no schema of an object", place);
    }
    json_put(schema, "type", json_new_cstr("object"));
    json_push(w->owned, schema);
    w->schemas[w->count] = json_at(w->owned, w->count);
    return TD_OK;
}

static enum td_status add_tool(struct writer *w, size_t place, struct td_error *err)
{
    const struct json *function = json_get(json_at(w->tools, place), "function");
    struct td_str name = json_text(json_get(function, "name")), only = w->request->tool_named;
    if (name.len == 0 || name.len > CALL_NAME_BYTES_MAX)
        return error_set(err, TD_UNSUPPORTED,
                         "tools[%zu] is not a function with a name of 1 to %d bytes", place,
                         CALL_NAME_BYTES_MAX);
    if (only.len && !str_equal(name, only))
        return TD_OK;
    for (size_t i = 0; i < w->count; i++)
        if (str_equal(w->names[i], name))
            return error_set(err, TD_INVALID, "tools[%zu] has the name of tools[%zu]", place,
                             w->places[i]);
    enum td_status status = add_schema(w, function, place, err);
    w->names[w->count] = name;
    w->places[w->count] = place;
    w->count += status == TD_OK;
    return status;
}

static enum td_status add_tools(struct writer *w, struct td_error *err)
{
    size_t count = json_count(w->tools);
    if (count > CALL_TOOLS_MAX)
        return error_set(err, TD_LIMIT, "more than %d tools", CALL_TOOLS_MAX);
    w->schemas = calloc(count + 2, sizeof *w->schemas);
    w->names = calloc(count + 1, sizeof *w->names);
    w->places = calloc(count + 1, sizeof *w->places);
    w->owned = json_new_array();
    enum td_status status = TD_OK;
    if (!w->schemas || !w->names || !w->places || !w->owned)
        status = error_set(err, TD_NO_MEMORY, "no memory for a grammar of calls");
    for (size_t i = 0; status == TD_OK && i < count; i++)
        status = add_tool(w, i, err);
    if (status == TD_OK && w->count == 0)
        status = error_set(err, TD_INVALID, "the named tool is not offered");
    return status;
}

/* --- calls ------------------------------------------------------------------------------------ */

/* Writes the rules `<member>`, a whole call, and `<member>_named`, what follows its key "name". */
static void write_call(struct writer *w, const char *member)
{
    buf_printf(&w->text, "%s ::= \"{\\\"name\\\": \" %s-named\n%s-named ::= ", member, member,
               member);
    for (size_t i = 0; i < w->count; i++) {
        struct buf name;
        buf_init(&name, 8 * CALL_NAME_BYTES_MAX);
        json_write_text(w->names[i], &name);
        if (i)
            buf_append_str(&w->text, STR(" | "));
        json_schema_literal(&w->text, buf_view(&name));
        buf_printf(&w->text, " \", \\\"%s\\\": \" r%zu \"}\"", member, i);
        w->text.failed |= name.failed;
        buf_deinit(&name);
    }
    buf_append_char(&w->text, '\n');
}

/* --- free text -------------------------------------------------------------------------------- */

/* The length of the longest beginning of the mark with which mark[0..len) and `next` end. */
static size_t mark_progress(struct td_str mark, size_t len, char next)
{
    for (size_t to = len + 1; to > 0; to--)
        if (mark.data[to - 1] == next && memcmp(mark.data, mark.data + (len + 1 - to), to - 1) == 0)
            return to;
    return 0;
}

/* Appends the alternatives of free text that ends with `len` bytes of the mark. `also`: further
 * bytes of a class that are not text here. The calls behind a mark are the rule "open<root>". */
static void put_text(struct writer *w, enum call_root root, struct td_str mark, size_t len,
                     const char *also)
{
    buf_append_str(&w->text, STR("| "));
    for (size_t i = 0; i <= len; i++) { /* no other byte can prolong a beginning */
        size_t to = mark_progress(mark, len, mark.data[i]);
        bool known = false;
        for (size_t j = 0; j < i; j++)
            known |= mark.data[j] == mark.data[i];
        if (known || to == 0)
            continue;
        buf_printf(&w->text, "\"\\x%02X\" ", (unsigned char)mark.data[i]);
        if (to == mark.len)
            buf_printf(&w->text, "open%d | ", root);
        else
            buf_printf(&w->text, "text%d-%zu | ", root, to);
    }
    buf_printf(&w->text, OPEN_TOKEN " open%d | [^\\x01\\x02%s", root, also);
    for (size_t i = 0; i <= len; i++)
        if (mark_progress(mark, len, mark.data[i]) > 0)
            buf_printf(&w->text, "\\x%02X", (unsigned char)mark.data[i]);
    buf_printf(&w->text, "] text%d-0\n", root);
}

static void write_text(struct writer *w, enum call_root root, struct td_str mark)
{
    for (size_t len = 0; len < mark.len; len++) {
        buf_printf(&w->text, "text%d-%zu ::= ", root, len);
        put_text(w, root, mark, len, "");
    }
}

/* --- the forms -------------------------------------------------------------------------------- */

/* The start: calls alone, or the client's format or calls, or free text. */
static void write_root(struct writer *w, enum call_root root)
{
    if (w->forced)
        buf_printf(&w->text, "root%d ::= calls%d\n", root, root);
    else if (w->request->format == TD_FORMAT_JSON)
        buf_printf(&w->text, "root%d ::= r%zu | calls%d\n", root, w->count, root);
    else
        buf_printf(&w->text, "root%d ::= text%d-%s\n", root, root,
                   root == CALL_ROOT_LLAMA ? "a" : "0");
}

static void write_hermes(struct writer *w, enum call_root root)
{
    struct tool_marks marks = tool_format_marks(TOOL_FORMAT_HERMES);
    bool tokens = root == CALL_ROOT_HERMES_TOKENS, one = w->request->one_call;
    const char *close = tokens ? CLOSE_TOKEN : "\"</tool_call>\"";
    const char *open = tokens ? OPEN_TOKEN : "\"<tool_call>\"";
    bool free = !w->forced && w->request->format != TD_FORMAT_JSON;
    buf_printf(&w->text, "open%d ::= " AROUND " arguments " AROUND " %s", root, close);
    if (!one && free)
        buf_printf(&w->text, " text%d-0\n", root);
    else if (!one)
        buf_printf(&w->text, " (" AROUND " calls%d)?\n", root);
    else
        buf_append_char(&w->text, '\n');
    buf_printf(&w->text, "calls%d ::= %s open%d\n", root, open, root);
    write_text(w, root, marks.open);
}

static void write_mistral(struct writer *w, enum call_root root)
{
    struct tool_marks marks = tool_format_marks(TOOL_FORMAT_MISTRAL);
    buf_printf(&w->text, "open%d ::= " AROUND " \"[\" arguments%s \"]\"\n", root,
               w->request->one_call ? "" : " (\", \" arguments)*");
    buf_printf(&w->text, "calls%d ::= %s open%d\n", root,
               root == CALL_ROOT_MISTRAL_TOKENS ? OPEN_TOKEN : "\"[TOOL_CALLS]\"", root);
    write_text(w, root, marks.open);
}

/* Text that begins like a call. `pattern`: its bytes; a space stands for any white space. Where the
 * text is another one it goes on as free text, where it is the pattern as the rule `then`. After
 * two bytes it may also go on with the first byte of `other` (NULL = none) and the rule
 * "<other>0". */
static void write_beginning(struct writer *w, const char *prefix, const char *pattern,
                            const char *then, const char *other)
{
    struct td_str mark = tool_format_marks(TOOL_FORMAT_LLAMA).open;
    size_t state = 0;
    for (size_t i = 0; pattern[i]; i++, state++) {
        bool spaces = pattern[i] == ' ', forks = other && state == 2;
        char also[40];
        i += spaces;
        buf_printf(&w->text, "%s%zu ::= ", prefix, state);
        if (spaces)
            buf_printf(&w->text, "[ \\t\\r\\n] %s%zu | ", prefix, state);
        buf_printf(&w->text, "\"\\x%02X\" ", (unsigned char)pattern[i]);
        if (pattern[i + 1])
            buf_printf(&w->text, "%s%zu ", prefix, state + 1);
        else
            buf_printf(&w->text, "%s ", then);
        if (forks)
            buf_printf(&w->text, "| \"%c\" %s0 ", other[0], other);
        snprintf(also, sizeof also, "%s\\x%02X\\x%02X", spaces ? " \\t\\r\\n" : "",
                 (unsigned char)pattern[i], (unsigned char)(forks ? other[0] : pattern[i]));
        put_text(w, CALL_ROOT_LLAMA, mark, 0, also);
    }
}

/* The whole answer is a call, where it begins like one. Such models also write a "type" first. */
static void write_llama(struct writer *w)
{
    struct tool_marks marks = tool_format_marks(TOOL_FORMAT_LLAMA);
    buf_printf(&w->text,
               "open%d ::= " AROUND " parameters\n"
               "calls%d ::= \"{\" (\"\\\"type\\\": \\\"function\\\", \")? \"\\\"name\\\": \" "
               "parameters-named\n"
               "named ::= \": \" parameters-named\n",
               CALL_ROOT_LLAMA, CALL_ROOT_LLAMA);
    write_text(w, CALL_ROOT_LLAMA, marks.open);
    buf_printf(&w->text, "text%d-a ::= head0\n", CALL_ROOT_LLAMA);
    write_beginning(w, "head", " { \"name\"", "named", "type");
    write_beginning(w, "type", "ype\" : \"function\" , \"name\"", "named", NULL);
}

/* --- the whole -------------------------------------------------------------------------------- */

static enum td_status write_schemas(struct writer *w, struct td_error *err)
{
    struct json_schema_list list = {.schemas = w->schemas, .count = w->count, .strict = true};
    struct json *object = NULL;
    struct td_error inner = {0};
    size_t failed;
    if (!w->forced && w->request->format == TD_FORMAT_JSON) {
        object = json_new_object();
        json_put(object, "type", json_new_cstr("object"));
        w->schemas[list.count++] = w->request->schema ? w->request->schema : object;
    }
    enum td_status status = json_schema_write_all(&list, &w->text, &failed, &inner);
    json_free(object);
    if (status != TD_OK && failed < w->count)
        return error_set(err, status, "tools[%zu].function.parameters: %s", w->places[failed],
                         inner.message);
    return status == TD_OK ? TD_OK : error_set(err, status, "%s", inner.message);
}

static enum td_status write_all(struct writer *w, struct td_error *err)
{
    enum td_status status = add_tools(w, err);
    if (status == TD_OK)
        status = write_schemas(w, err);
    if (status != TD_OK)
        return status;
    buf_append_str(&w->text, STR("root ::= arguments\n" AROUND " ::= | \" \" | \"\\n\"\n"));
    write_call(w, "arguments");
    write_call(w, "parameters");
    for (int root = 0; root <= CALL_ROOT_LLAMA; root++)
        write_root(w, (enum call_root)root);
    write_hermes(w, CALL_ROOT_HERMES_TOKENS);
    write_hermes(w, CALL_ROOT_HERMES);
    write_mistral(w, CALL_ROOT_MISTRAL_TOKENS);
    write_mistral(w, CALL_ROOT_MISTRAL);
    write_llama(w);
    return w->text.failed
               ? error_set(err, TD_LIMIT, "the grammar of the tools would be longer than %zu bytes",
                           GRAMMAR_TEXT_BYTES_MAX)
               : TD_OK;
}

enum td_status call_grammar_compile(const struct td_request *request, struct td_grammar **out,
                                    struct td_error *err)
{
    ASSERT(call_grammar_is_due(request) && out != NULL);
    struct writer w = {.request = request,
                       .tools = request_value(request, REQUEST_TOOLS),
                       .forced = request->tool_choice == TOOL_CHOICE_FORCED};
    struct td_error inner = {0};
    *out = NULL;
    buf_init(&w.text, GRAMMAR_TEXT_BYTES_MAX);
    enum td_status status = write_all(&w, err);
    if (status == TD_OK) {
        status = grammar_compile(buf_view(&w.text), JSON_SCHEMA_DEPTH_MAX, out, &inner);
        if (status != TD_OK)
            error_set(err, status,
                      "the tools refer to themselves without end, or are too large "
                      "(%s)",
                      inner.message);
    }
    buf_deinit(&w.text);
    json_free(w.owned);
    free(w.schemas);
    free(w.names);
    free(w.places);
    return status;
}
