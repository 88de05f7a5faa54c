/* Finds the schema that libraries write into prompts where an API has no member for it, and people
 * where they know of none. A wrong guess would force JSON on somebody who wants prose, so the
 * sentence before the schema has to say three things: that an answer is given, that it is JSON, and
 * that it conforms ("Answer as JSON with this schema: {...}"). Some libraries say it after the
 * schema. A word that asks for something else ("explain", "write a function") ends the guess. */
#include "api/wire/prompt_schema.h"

#include "base/core/ascii.h"
#include "base/core/str.h"

#include <string.h>

#define TEXT_BYTES_MAX ((size_t)1 << 20) /* a longer one is no instruction */
#define SENTENCE_BYTES 400               /* that are looked at before a schema and after it */

/* clang-format off */
static const char *const answering[] = {
    "answer", "respond", "reply", "return", "output", "produce", "provide", "formatted", "extract",
    "generate", "give", "antwort", "ausgabe", NULL};
static const char *const conforming[] = {
    "match", "conform", "adher", "compatible", "follow", "according to", "comply", "with this",
    "with the", "using this", "using the", "valid against", "in this", "diesem", NULL};
static const char *const plain_schema[] = {
    "schema to follow", "output schema", "answer schema", "response schema", "reply schema", NULL};
static const char *const of_answers[] = {
    "json object", "valid json", "only json", "as json", "in json", NULL};
/* About a schema, or about a program. */
static const char *const other_tasks[] = {
    "expla", "describ", "validat", "example", "write a", "code that", "code which", "code to",
    " function", " script", "python", " class ", "convert", "translat", "review", "check", "fix",
    "wrong", "what", "why", "how ", "table", "sql", "erkl", "?", NULL};
/* clang-format on */

/* --- words --- */

struct sentence {
    char text[SENTENCE_BYTES + 1]; /* in small letters; spaces and underscores are one space each */
};

static void set_sentence(struct sentence *out, struct td_str text)
{
    size_t len = 0;
    for (size_t i = 0; i < text.len && len < SENTENCE_BYTES; i++) {
        char c = (char)ascii_lower((unsigned char)text.data[i]);
        bool is_space = ascii_is_space((unsigned char)c) || c == '_' || c == '\0';
        if (!is_space || len == 0 || out->text[len - 1] != ' ')
            out->text[len++] = is_space ? ' ' : c;
    }
    out->text[len] = '\0';
}

static bool has_any(const struct sentence *sentence, const char *const *words)
{
    for (; *words; words++)
        if (strstr(sentence->text, *words))
            return true;
    return false;
}

static bool has(const struct sentence *sentence, const char *word)
{
    return strstr(sentence->text, word) != NULL;
}

/* What stands before a schema, less a fence and a colon: the end of its last paragraph. */
static struct td_str last_paragraph(struct td_str before)
{
    size_t end = before.len;
    while (end > 0 && strchr(" \t\r\n`:", before.data[end - 1]) && before.data[end - 1])
        end--;
    if (end < before.len && end >= 5 && before.data[end] == '\n' &&
        str_equal_nocase(str_slice(before, end - 5, end), STR("`json"))) {
        end -= 4;
        while (end > 0 && strchr(" \t\r\n`:", before.data[end - 1]) && before.data[end - 1])
            end--;
    }
    size_t begin = end > SENTENCE_BYTES ? end - SENTENCE_BYTES : 0;
    for (size_t i = begin; i + 1 < end; i++)
        if (before.data[i] == '\n' && before.data[i + 1] == '\n')
            begin = i + 2;
    return str_slice(before, begin, end);
}

static bool is_wish(struct td_str before, struct td_str after)
{
    struct sentence intro, outro;
    set_sentence(&intro, last_paragraph(before));
    set_sentence(&outro, str_slice(after, 0, SENTENCE_BYTES));
    if (!has(&intro, "schema") || has_any(&intro, other_tasks))
        return false;
    if (has_any(&intro, plain_schema))
        return true;
    if (has_any(&intro, answering) && has(&intro, "json") && has_any(&intro, conforming))
        return true;
    return has_any(&outro, answering) && has_any(&outro, of_answers) && has(&outro, "schema") &&
           has_any(&outro, conforming) && !has_any(&outro, other_tasks);
}

/* --- schemas --- */

/* Where the object that begins at `at` ends, by its brackets; SIZE_MAX = nowhere. */
static size_t object_end(struct td_str text, size_t at)
{
    size_t depth = 0;
    bool in_string = false;
    for (size_t i = at; i < text.len; i++) {
        char c = text.data[i];
        if (c == '\\' && in_string)
            i++;
        else if (c == '"')
            in_string = !in_string;
        else if (!in_string && c == '{')
            depth++;
        else if (!in_string && c == '}' && --depth == 0)
            return i + 1;
    }
    return SIZE_MAX;
}

/* A schema of objects, as libraries write them; the type is sometimes left out. */
static bool is_schema(const struct json *value)
{
    struct td_str type = json_text(json_get(value, "type"));
    bool has_members = json_kind_of(json_get(value, "properties")) == JSON_KIND_OBJECT;
    bool refers = json_text(json_get(value, "$ref")).len > 0 &&
                  json_kind_of(json_get(value, "$defs")) == JSON_KIND_OBJECT;
    return refers || (has_members && (type.len == 0 || str_equal(type, STR("object"))));
}

/* *count: of the schemas that are a wish; *out is the first of them. */
static void look_at(struct td_str text, struct json **out, size_t *count)
{
    size_t from = 0; /* the end of the object before */
    if (text.len > TEXT_BYTES_MAX)
        return;
    for (size_t at = str_find(text, STR("{"), 0); at != SIZE_MAX;
         at = str_find(text, STR("{"), from)) {
        size_t end = object_end(text, at);
        struct json *schema = NULL;
        if (end == SIZE_MAX)
            return;
        if (is_wish(str_slice(text, from, at), str_slice(text, end, text.len)) &&
            json_parse(str_slice(text, at, end), &schema, NULL) == TD_OK && is_schema(schema) &&
            (*count)++ == 0) {
            *out = schema;
            schema = NULL;
        }
        json_free(schema);
        from = end;
    }
}

static bool may_hold_one(const struct td_request *request)
{
    return request->message_count > 0 && request->tool_count == 0 && !request->old_functions &&
           !request->has_calls && !request->completion && !request->labels && !request->continues;
}

struct json *prompt_schema_find(const struct td_request *request)
{
    struct json *found = NULL;
    size_t count = 0;
    if (!may_hold_one(request))
        return NULL;
    for (size_t i = 0; i < request->message_count; i++) {
        const struct td_message *message = &request->messages[i];
        bool is_last = i + 1 == request->message_count && message->role == TD_ROLE_USER;
        if (message->role == TD_ROLE_SYSTEM || message->role == TD_ROLE_DEVELOPER || is_last)
            look_at(message->content, &found, &count);
    }
    if (count == 1)
        return found;
    json_free(found);
    return NULL;
}
