/* Cuts a template's text into tokens, with the white space rules that Hugging Face sets
 * (trim_blocks, lstrip_blocks, one newline at the end dropped). Stateless; everything lives in the
 * caller's arena. */
#ifndef ENGINE_JINJA_LEXER_H
#define ENGINE_JINJA_LEXER_H

#include "base/bytes/arena.h"
#include "tandem/types.h"

enum jinja_token_kind {
    JINJA_TOKEN_DATA,        /* text outside tags */
    JINJA_TOKEN_BLOCK_BEGIN, /* {% */
    JINJA_TOKEN_BLOCK_END,
    JINJA_TOKEN_OUTPUT_BEGIN, /* {{ */
    JINJA_TOKEN_OUTPUT_END,
    JINJA_TOKEN_NAME,
    JINJA_TOKEN_STRING, /* text: its value, escapes resolved */
    JINJA_TOKEN_INT,
    JINJA_TOKEN_FLOAT,
    JINJA_TOKEN_OPERATOR, /* text: the operator */
    JINJA_TOKEN_END
};

struct jinja_token {
    enum jinja_token_kind kind;
    uint32_t line; /* from 1 */
    struct td_str text;
    int64_t integer;
    double number;
};

#define JINJA_TOKENS_MAX 200000 /* the largest known template has about 8,000 */

/* *tokens lives in the arena and ends with JINJA_TOKEN_END. `source` is copied.
 * TD_UNSUPPORTED with the line for malformed text, TD_LIMIT. */
TD_MUST_CHECK enum td_status jinja_tokenize(struct arena *arena, struct td_str source,
                                            struct jinja_token **tokens, size_t *count,
                                            struct td_error *err);

#endif
