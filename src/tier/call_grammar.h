/* The grammar of an answer that may call the request's tools, or must: names are those that were
 * offered, and arguments follow their schemas. Before and after calls the text is free.
 *
 * One compiled grammar has a start for each form in which models write calls. So it is made once
 * for a request, whichever local tier answers. Immutable; any thread. */
#ifndef TIER_CALL_GRAMMAR_H
#define TIER_CALL_GRAMMAR_H

#include "engine/model/chat_tools.h"
#include "request/request.h"

#define CALL_TOOLS_MAX 512
#define CALL_NAME_BYTES_MAX 256

/* The starts of the grammar, by form: the marks of calls are tokens, or text. */
enum call_root {
    CALL_ROOT_HERMES_TOKENS,
    CALL_ROOT_HERMES,
    CALL_ROOT_MISTRAL_TOKENS,
    CALL_ROOT_MISTRAL,
    CALL_ROOT_LLAMA
};

/* Whether the request offers tools that its answer may call. */
bool call_grammar_is_due(const struct td_request *request);

/* Compiles tools, tool_choice, tool_named, one_call and the format of the request. TD_INVALID,
 * TD_UNSUPPORTED or TD_LIMIT when no grammar holds its tools, with the place. **returns new**
 * (td_grammar_free). */
TD_MUST_CHECK enum td_status call_grammar_compile(const struct td_request *request,
                                                  struct td_grammar **out, struct td_error *err);

/* Begins at the start for a model of this form and with these tokens. **returns new**
 * (td_grammar_free); NULL without memory. */
struct td_grammar *call_grammar_begin(struct td_grammar *grammar, enum tool_format format,
                                      const struct token_marks *marks);

#endif
