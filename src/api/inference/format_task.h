/* Compiles the format that a request wants, and the grammar of its calls, outside of the event
 * loop. A schema of a few hundred kilobytes takes half a second, in which the loop's other
 * connections would stand still. */
#ifndef API_FORMAT_TASK_H
#define API_FORMAT_TASK_H

#include "api/wire/openai_format.h"
#include "base/thread/background.h"
#include "request/request.h"

/* What a compilation gave. grammar **is new** (td_grammar_free), or NULL. */
struct format_part {
    bool wanted;
    enum td_status status;
    struct td_grammar *grammar;
    struct td_error err;
};

struct format_result {
    struct format_part format; /* of openai_format_compile */
    struct format_part calls;  /* of call_grammar_compile */
};

/* Called on the loop. What it takes out of the result it sets to NULL. */
typedef void format_done_fn(void *owner, struct format_result *result);

struct format_task_options {
    struct background *background;
    struct loop *loop;
    const struct td_request *request; /* what it says of the format and the tools is copied */
    bool format, calls;               /* what is to be compiled */
    format_done_fn *on_done;          /* exactly once unless background_cancel was called */
    void *owner;
};

/* *out is valid until on_done returns or background_cancel is called. */
TD_MUST_CHECK enum td_status format_task_start(const struct format_task_options *options,
                                               struct background_task **out, struct td_error *err);

#endif
