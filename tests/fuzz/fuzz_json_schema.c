/* A hostile schema. It is refused with words, or it becomes a grammar that compiles. */
#include "base/core/str.h"
#include "engine/grammar/grammar_match.h"
#include "engine/grammar/json_schema.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct json *schema = NULL;
    struct td_error err = {0};
    struct buf text;
    struct td_grammar *grammar = NULL;
    if (json_parse((struct td_str){(const char *)data, size}, &schema, NULL) != TD_OK)
        return 0;
    buf_init(&text, GRAMMAR_TEXT_BYTES_MAX);
    enum td_status status = json_schema_write(schema, &text, &err);
    if (status != TD_OK && err.message[0] == '\0')
        abort();
    if (status == TD_OK) {
        err = (struct td_error){0};
        status = grammar_compile(buf_view(&text), JSON_SCHEMA_DEPTH_MAX, &grammar, &err);
        /* Circular references and limits may stop it, but not bad GBNF that we wrote. */
        if (status != TD_OK && status != TD_LIMIT && !strstr(err.message, "can never end") &&
            !strstr(err.message, "left-recursive") && !strstr(err.message, "has no character"))
            abort();
    }
    struct matcher *matcher = NULL;
    if (grammar && matcher_new(grammar, &matcher, NULL) == TD_OK) {
        uint32_t set = matcher_start(matcher);
        for (unsigned byte = 0; byte < 128 && set != MATCH_FULL; byte++)
            (void)matcher_step(matcher, set, (unsigned char)byte);
    }
    matcher_free(matcher);
    td_grammar_free(grammar);
    buf_deinit(&text);
    json_free(schema);
    return 0;
}
