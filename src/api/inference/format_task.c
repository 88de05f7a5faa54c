#include "api/inference/format_task.h"

#include "base/error.h"
#include "tandem/engine.h"

#include <stdlib.h>

struct work {
    struct json *source; /* a copy: the request may be gone while it is compiled */
    struct openai_format format;
    format_done_fn *on_done;
    enum td_status status;
    struct td_grammar *grammar;
    struct td_error err;
};

static void work_run(void *ctx)
{
    struct work *work = ctx;
    work->status = openai_format_compile(&work->format, &work->grammar, &work->err);
}

static void work_done(void *ctx, void *owner)
{
    struct work *work = ctx;
    struct td_grammar *grammar = work->grammar;
    work->grammar = NULL;
    work->on_done(owner, work->status, grammar, &work->err);
}

static void work_free(void *ctx)
{
    struct work *work = ctx;
    td_grammar_free(work->grammar);
    json_free(work->source);
    free(work);
}

enum td_status format_task_start(const struct format_task_options *options,
                                 struct background_task **out, struct td_error *err)
{
    *out = NULL;
    struct work *work = calloc(1, sizeof *work);
    if (!work)
        return error_set(err, TD_NO_MEMORY, "no memory for another request");
    work->source = json_clone(options->format->source);
    work->format = (struct openai_format){work->source, options->format->is_schema};
    work->on_done = options->on_done;
    const struct background_work background_work = {.run = work_run,
                                                    .done = work_done,
                                                    .free_ctx = work_free,
                                                    .ctx = work,
                                                    .owner = options->owner,
                                                    .loop = options->loop};
    enum td_status status = TD_OK;
    if (!work->source)
        status = error_set(err, TD_NO_MEMORY, "no memory for a copy of the schema");
    else
        status = background_submit(options->background, &background_work, out, err);
    if (status != TD_OK)
        work_free(work);
    return status;
}
