/* What a request wants the answer to look like: its format in td_request, and the grammar that
 * holds the local tier to it. No thread state. */
#ifndef API_OPENAI_FORMAT_H
#define API_OPENAI_FORMAT_H

#include "api/http/fault.h"
#include "api/wire/format_spellings.h"
#include "base/bytes/arena.h"
#include "request/request.h"

/* Fills request->format with its source. JSON without a schema has request->grammar at once
 * (**returns new**: td_grammar_free). **borrows** the wish's value. */
bool openai_format_read(const struct format_wish *wish, struct arena *arena,
                        struct td_request *request, struct fault *fault);
/* There is a schema or a grammar to compile, which may take half a second: for a thread that nobody
 * waits for (base/thread/background.h). */
bool openai_format_is_due(const struct td_request *request);
/* Compiles what the request's format, schema and grammar_source say. **returns new**
 * (td_grammar_free). Any thread. */
TD_MUST_CHECK enum td_status openai_format_compile(const struct td_request *request,
                                                   struct td_grammar **out, struct td_error *err);
/* **takes** what openai_format_compile gave, or says what was wrong. A schema with keywords that
 * the local engine cannot promise leaves request->grammar NULL, for a cloud that can; with
 * only-local it is refused. A guess that cannot be held is dropped. */
bool openai_format_accept(enum td_status status, struct td_grammar *grammar,
                          const struct td_error *err, struct td_request *request,
                          struct fault *fault);

#endif
