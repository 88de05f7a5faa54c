/* Compiling a schema or grammar on a background thread. The task owns copies of what it compiles,
 * so the request may go away while it runs. */
#include "api/inference/format_task.h"

#include "base/error.h"
#include "base/shortage.h"
#include "tandem/engine.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct work {
    /* Copies: the request may be gone while they are compiled. */
    struct json *schema;
    char *grammar_source;
    struct td_request request; /* nothing but the format */
    format_done_fn *on_done;
    enum td_status status;
    struct td_grammar *grammar;
    struct td_error err;
};

static void work_run(void *ctx)
{
    struct work *work = ctx;
    uint32_t shortages = shortage_count();
    work->status = openai_format_compile(&work->request, &work->grammar, &work->err);
    /* Otherwise a part of the schema may be missing, or it would be asked elsewhere. */
    work->status = shortage_judge(shortages, work->status, &work->err);
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
    json_free(work->schema);
    free(work->grammar_source);
    free(work);
}

/* All of its bytes: JSON may bring a NUL, and that is for the grammar's reader to refuse. */
static char *copy_bytes(struct td_str text)
{
    char *copy = malloc(text.len + 1);
    if (copy && text.len > 0)
        memcpy(copy, text.data, text.len);
    return copy;
}

enum td_status format_task_start(const struct format_task_options *options,
                                 struct background_task **out, struct td_error *err)
{
    assert(options->background && options->loop && options->on_done);
    assert(options->request->format != TD_FORMAT_TEXT);
    *out = NULL;
    struct work *work = calloc(1, sizeof *work);
    if (!work)
        return error_set(err, TD_NO_MEMORY, "no memory for another request");
    const struct td_request *request = options->request;
    struct td_str grammar = request->grammar_source;
    work->schema = json_clone(request->schema);
    work->grammar_source = copy_bytes(grammar);
    work->request = (struct td_request){.format = request->format,
                                        .schema = work->schema,
                                        .grammar_source = {work->grammar_source, grammar.len}};
    work->on_done = options->on_done;
    const struct background_work background_work = {.run = work_run,
                                                    .done = work_done,
                                                    .free_ctx = work_free,
                                                    .ctx = work,
                                                    .owner = options->owner,
                                                    .loop = options->loop};
    enum td_status status = TD_OK;
    if (!work->grammar_source || (request->schema && !work->schema))
        status = error_set(err, TD_NO_MEMORY, "no memory for a copy of the schema");
    else
        status = background_submit(options->background, &background_work, out, err);
    if (status != TD_OK)
        work_free(work);
    return status;
}
