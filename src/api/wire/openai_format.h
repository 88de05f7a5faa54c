/* What a request wants the answer to look like: response_format (OpenAI's), grammar (ours: GBNF)
 * and logit_bias. No thread state. */
#ifndef API_OPENAI_FORMAT_H
#define API_OPENAI_FORMAT_H

#include "api/http/fault.h"
#include "base/arena.h"
#include "base/json.h"

/* A grammar that is still to be compiled, which may take as long as half a second: for a thread
 * that nobody waits for (base/background.h). */
struct openai_format {
    const struct json *source; /* NULL = nothing to compile; else a schema, or a text of GBNF */
    bool is_schema;
};

/* Fills request->format, and either request->grammar (**returns new**: td_grammar_free) or
 * *format. **borrows** body. */
bool openai_format_read(const struct json *body, struct td_request *request,
                        struct openai_format *format, struct fault *fault);
/* **returns new** (td_grammar_free). Any thread. */
TD_MUST_CHECK enum td_status openai_format_compile(const struct openai_format *format,
                                                   struct td_grammar **out, struct td_error *err);
/* **takes** what openai_format_compile gave, or says what was wrong. A schema with keywords that
 * the local engine cannot promise leaves request->grammar NULL, for a cloud that can; with
 * only-local it is refused. */
bool openai_format_accept(const struct openai_format *format, enum td_status status,
                          struct td_grammar *grammar, const struct td_error *err,
                          struct td_request *request, struct fault *fault);

/* {"token id": bias from -100 to 100, ...} of the model that answers. */
bool openai_format_read_biases(const struct json *body, struct arena *arena,
                               struct td_sampling *sampling, struct fault *fault);

#endif
