/* Makes a td_request's format of what the client wishes (format_spellings.h), and compiles it.
 *
 * JSON without a schema is compiled at once, which is cheap. A schema or a grammar may take half a
 * second, so it is only noted here; inference/format_task.c compiles it elsewhere. Choices and
 * regular expressions become GBNF. */
#include "api/wire/openai_format.h"

#include "base/core/assertion.h"
#include "base/core/str.h"
#include "base/text/utf8.h"
#include "engine/grammar/json_schema.h"
#include "tandem/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool unsupported(struct fault *fault, const char *param, const char *message)
{
    fault_request(fault, param, "%s", message);
    fault->error_code = "unsupported_parameter";
    return false;
}

/* JSON mode is an object with any members. */
static enum td_status compile_object(struct td_grammar **out, struct td_error *err)
{
    return td_grammar_from_schema(STR("{\"type\":\"object\"}"), out, err);
}

static bool read_object(struct td_request *request, struct fault *fault)
{
    struct td_error err = {0};
    if (compile_object(&request->grammar, &err) == TD_OK)
        return true;
    return fault_request(fault, request->format_member, "%s", err.message);
}

/* --- choices --- */

/* Choices with a common beginning share it, because a grammar may have only so many rules open at
 * once. Deeper than this they stand side by side. */
#define CHOICE_DEPTH_MAX 24

struct choices {
    struct td_str *texts; /* [count] in order */
    size_t count;
};

static int by_text(const void *a, const void *b)
{
    const struct td_str *x = a, *y = b;
    size_t shared = x->len < y->len ? x->len : y->len;
    int order = shared > 0 ? memcmp(x->data, y->data, shared) : 0;
    return order ? order : (x->len > y->len) - (x->len < y->len);
}

/* How far all of them are the same, to a character's beginning. */
static size_t shared_len(const struct choices *group)
{
    struct td_str first = group->texts[0], last = group->texts[group->count - 1];
    size_t len = 0;
    while (len < first.len && len < last.len && first.data[len] == last.data[len])
        len++;
    return len < first.len ? utf8_character_begin(first, len) : len;
}

/* Those that begin with the same character as the first one from `at` on. */
static struct choices next_group(const struct choices *of, size_t at, size_t skip)
{
    struct td_str first = of->texts[at];
    size_t end = skip, count = 1;
    if (skip < first.len)
        utf8_next(first, &end);
    struct td_str begin = str_slice(first, 0, end);
    while (at + count < of->count && skip < first.len &&
           str_starts_with(of->texts[at + count], begin))
        count++;
    return (struct choices){of->texts + at, count};
}

/* skip: bytes of each that are written already. */
static void write_group(const struct choices *group, size_t skip, unsigned depth, struct buf *out)
{
    size_t shared = depth < CHOICE_DEPTH_MAX ? shared_len(group) : skip;
    if (group->count == 1) {
        json_schema_literal(out, str_slice(group->texts[0], skip, group->texts[0].len));
        return;
    }
    json_schema_literal(out, str_slice(group->texts[0], skip, shared));
    buf_append_str(out, STR(" ("));
    for (size_t at = 0; at < group->count && !out->failed;) {
        struct choices next = {group->texts + at, 1};
        if (depth < CHOICE_DEPTH_MAX)
            next = next_group(group, at, shared);
        buf_append_str(out, at > 0 ? STR(" | ") : STR(""));
        write_group(&next, shared, depth + 1, out);
        at += next.count;
    }
    buf_append_char(out, ')');
}

static bool write_choices(const struct format_wish *wish, struct arena *arena, struct buf *out,
                          struct fault *fault)
{
    struct choices all = {arena_alloc_array(arena, json_count(wish->value), sizeof(struct td_str)),
                          0};
    if (!all.texts)
        return fault_request(fault, wish->member, "%s does not fit the memory of a request",
                             wish->member);
    for (size_t i = 0; i < json_count(wish->value); i++) {
        const struct json *choice = json_at(wish->value, i);
        char param[64];
        snprintf(param, sizeof param, "%s[%zu]", wish->member, i);
        if (json_kind_of(choice) != JSON_KIND_TEXT)
            return fault_request(fault, param, "%s must be a string, not %s", param,
                                 json_kind_name(json_kind_of(choice)));
        all.texts[i] = json_text(choice);
    }
    qsort(all.texts, json_count(wish->value), sizeof *all.texts, by_text);
    for (size_t i = 0; i < json_count(wish->value); i++) /* each once */
        if (i == 0 || !str_equal(all.texts[i], all.texts[all.count - 1]))
            all.texts[all.count++] = all.texts[i];
    write_group(&all, 0, 0, out);
    return true;
}

static bool write_regex(const struct format_wish *wish, struct buf *out, struct fault *fault)
{
    const char *reason;
    if (json_pattern_write_plain(json_text(wish->value), out, &reason))
        return true;
    return fault_request(fault, wish->member, "%s cannot be promised: %s is not supported",
                         wish->member, reason);
}

/* Choices and expressions as GBNF, in the arena. */
static bool read_rule(const struct format_wish *wish, struct arena *arena,
                      struct td_request *request, struct fault *fault)
{
    struct buf text;
    buf_init(&text, GRAMMAR_TEXT_BYTES_MAX);
    buf_append_str(&text, STR("root ::= "));
    bool ok = wish->kind == WISH_CHOICE ? write_choices(wish, arena, &text, fault)
                                        : write_regex(wish, &text, fault);
    if (ok && text.failed)
        ok = fault_request(fault, wish->member, "%s is too long", wish->member);
    request->grammar_source = buf_view(&text);
    request->grammar_source.data = ok ? arena_copy(arena, buf_view(&text)) : NULL;
    buf_deinit(&text);
    return ok && (request->grammar_source.data ||
                  fault_request(fault, wish->member, "%s does not fit the memory of a request",
                                wish->member));
}

bool openai_format_read(const struct format_wish *wish, struct arena *arena,
                        struct td_request *request, struct fault *fault)
{
    ASSERT(wish && arena && request && fault);
    request->format_member = wish->member;
    switch (wish->kind) {
    case WISH_NONE:
        return true;
    case WISH_OBJECT:
        request->format = TD_FORMAT_JSON;
        return read_object(request, fault);
    case WISH_SCHEMA:
        request->format = TD_FORMAT_JSON;
        request->schema = wish->value;
        return true;
    case WISH_GRAMMAR:
        request->format = TD_FORMAT_GRAMMAR;
        request->grammar_source = json_text(wish->value);
        return true;
    case WISH_REGEX:
    case WISH_CHOICE:
        request->format = TD_FORMAT_GRAMMAR;
        return read_rule(wish, arena, request, fault);
    }
    return true;
}

/* A format that nobody asked for by a member is only kept where it can be. */
static bool drop_guess(struct td_request *request)
{
    request->format = TD_FORMAT_TEXT;
    request->schema = NULL;
    request->format_is_guessed = false;
    return true;
}

bool openai_format_is_due(const struct td_request *request)
{
    return request->format != TD_FORMAT_TEXT && !request->grammar;
}

enum td_status openai_format_compile(const struct td_request *request, struct td_grammar **out,
                                     struct td_error *err)
{
    ASSERT(request->format != TD_FORMAT_TEXT);
    if (request->format == TD_FORMAT_GRAMMAR)
        return td_grammar_parse(request->grammar_source, out, err);
    return request->schema ? json_schema_compile(request->schema, out, err)
                           : compile_object(out, err);
}

bool openai_format_accept(enum td_status status, struct td_grammar *grammar,
                          const struct td_error *err, struct td_request *request,
                          struct fault *fault)
{
    const char *param = request->format_member;
    request->grammar = grammar;
    if (status == TD_OK)
        return true;
    if (status == TD_NO_MEMORY) {
        fault_from_status(fault, status, err->message, NULL);
        return false;
    }
    if (request->format_is_guessed)
        return drop_guess(request);
    if (request->format == TD_FORMAT_GRAMMAR)
        return fault_request(fault, param, "%s", err->message);
    bool elsewhere = status == TD_UNSUPPORTED || status == TD_LIMIT;
    if (!elsewhere)
        return fault_request(fault, param, "%s", err->message);
    return request->mode != TD_MODE_ONLY_LOCAL || unsupported(fault, param, err->message);
}
