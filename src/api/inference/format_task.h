/* Compiles the format that a request wants, outside of the event loop. A schema of a few hundred
 * kilobytes takes half a second, in which the loop's other connections would stand still. */
#ifndef API_FORMAT_TASK_H
#define API_FORMAT_TASK_H

#include "api/wire/openai_format.h"
#include "base/background.h"
#include "request/request.h"

/* Called on the loop with what openai_format_compile returned. **takes** grammar. */
typedef void format_done_fn(void *owner, enum td_status status, struct td_grammar *grammar,
                            const struct td_error *err);

struct format_task_options {
    struct background *background;
    struct loop *loop;
    const struct td_request *request; /* what it says of the format is copied */
    format_done_fn *on_done;          /* exactly once unless background_cancel was called */
    void *owner;
};

/* *out is valid until on_done returns or background_cancel is called. */
TD_MUST_CHECK enum td_status format_task_start(const struct format_task_options *options,
                                               struct background_task **out, struct td_error *err);

#endif
