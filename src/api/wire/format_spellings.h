/* The spellings of one wish: what the answer has to look like. Servers have many for it
 * (response_format, json_schema, guided_json, structured_outputs, ...); here they become one. No
 * thread state. */
#ifndef API_FORMAT_SPELLINGS_H
#define API_FORMAT_SPELLINGS_H

#include "api/http/fault.h"
#include "base/json/json.h"

enum format_wish_kind {
    WISH_NONE,
    WISH_OBJECT,  /* any object */
    WISH_SCHEMA,  /* `value` is a JSON schema */
    WISH_GRAMMAR, /* `value` is a text of GBNF */
    WISH_REGEX,   /* `value` is a regular expression that matches the whole answer */
    WISH_CHOICE,  /* `value` is a list of texts, one of which is the answer */
};

struct format_wish {
    enum format_wish_kind kind;
    const char *member;       /* as the client spelled it: "structured_outputs.json"; a literal */
    const struct json *value; /* **borrows** from the body */
};

/* Reads the wish. One of JSON becomes response_format in OpenAI's form, which most servers know,
 * and the client's own spelling is removed. Several wishes are refused. */
bool format_spellings_unify(struct json *body, struct format_wish *out, struct fault *fault);

/* The members other than response_format that may hold a wish. NULL at the end. */
const char *format_spelling_member(size_t index);

#endif
