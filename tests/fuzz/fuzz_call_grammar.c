/* A hostile chat request with tools. Its tools are refused with words, or they become a grammar in
 * which, whatever a model writes, a call has a name that was offered. */
#include "api/wire/openai_request.h"
#include "base/core/str.h"
#include "engine/grammar/grammar_match.h"
#include "tier/call_grammar.h"

#include <stdlib.h>

#define WRITTEN_MAX 512 /* bytes of an answer */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_offered(const struct td_request *request, struct td_str name)
{
    const struct json *tools = request_value(request, REQUEST_TOOLS);
    for (size_t i = 0; i < json_count(tools); i++)
        if (str_equal(json_text(json_get(json_get(json_at(tools, i), "function"), "name")), name))
            return true;
    return false;
}

/* The text is what was written up to a whole call. */
static void judge_call(const struct td_request *request, struct td_str text)
{
    struct json *call = NULL;
    if (json_parse(text, &call, NULL) != TD_OK)
        abort();
    if (!is_offered(request, json_text(json_get(call, "name"))) ||
        json_kind_of(json_get(call, "arguments")) != JSON_KIND_OBJECT)
        abort();
    json_free(call);
}

/* Writes a call as a model would whose preferences are the bytes of the input. */
static void write_call(const struct td_request *request, struct td_grammar *grammar,
                       const uint8_t *data, size_t size)
{
    struct matcher *matcher = NULL;
    char text[WRITTEN_MAX];
    size_t len = 0;
    if (matcher_new(grammar, &matcher, NULL) != TD_OK)
        return;
    uint32_t set = matcher_step(matcher, matcher_start(matcher), 1);
    while (set != MATCH_FULL && set != MATCH_DEAD && len < sizeof text) {
        unsigned char wish = data[len % size];
        uint32_t next = matcher_step(matcher, set, 2);
        if (next != MATCH_DEAD && next != MATCH_FULL) {
            judge_call(request, (struct td_str){text, len});
            break;
        }
        for (unsigned tried = 0; tried < 256; tried++, wish++) {
            next = matcher_step(matcher, set, wish);
            if (next != MATCH_DEAD)
                break;
        }
        text[len++] = (char)wish;
        set = next;
    }
    /* A call that began can go on: no schema that was taken leads nowhere. */
    if (set == MATCH_DEAD)
        abort();
    matcher_free(matcher);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct token_marks marks = {1, 2, -1};
    struct arena *arena = arena_new(1 << 20);
    struct chat_request request;
    struct fault fault = {0};
    if (!arena)
        return 0;
    if (openai_request_parse((struct td_str){(const char *)data, size}, NULL, NULL, arena, &request,
                             &fault)) {
        struct td_grammar *all = NULL, *start = NULL;
        struct td_error err = {0};
        if (call_grammar_is_due(&request.td)) {
            enum td_status status = call_grammar_compile(&request.td, &all, &err);
            if (status != TD_OK && err.message[0] == '\0')
                abort();
            if (status != TD_OK && status != TD_INVALID && status != TD_UNSUPPORTED &&
                status != TD_LIMIT)
                abort();
        }
        start = all ? call_grammar_begin(all, TOOL_FORMAT_HERMES, &marks) : NULL;
        if (start)
            write_call(&request.td, start, data, size);
        td_grammar_free(start);
        td_grammar_free(all);
        openai_request_deinit(&request);
    }
    arena_free(arena);
    return 0;
}
