/* Compiling a schema, a grammar or tools on a background thread. The task owns copies of what it
 * compiles, so the request may go away while it runs. */
#include "api/inference/format_task.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/shortage.h"
#include "tandem/engine.h"
#include "tier/call_grammar.h"

#include <stdlib.h>
#include <string.h>

struct work {
    /* Copies: the request may be gone while they are compiled. */
    struct json *schema, *tools;
    char *grammar_source, *tool_named;
    struct request_member member;
    struct td_request request; /* nothing but the format and the tools */
    format_done_fn *on_done;
    struct format_result result;
};

typedef enum td_status compile_fn(const struct td_request *request, struct td_grammar **out,
                                  struct td_error *err);

static void compile_part(const struct td_request *request, compile_fn *compile,
                         struct format_part *part)
{
    uint32_t shortages = shortage_count();
    if (!part->wanted)
        return;
    part->status = compile(request, &part->grammar, &part->err);
    /* Otherwise a part of the schema may be missing, or it would be asked elsewhere. */
    part->status = shortage_judge(shortages, part->status, &part->err);
}

static void work_run(void *ctx)
{
    struct work *work = ctx;
    compile_part(&work->request, openai_format_compile, &work->result.format);
    compile_part(&work->request, call_grammar_compile, &work->result.calls);
}

static void work_done(void *ctx, void *owner)
{
    struct work *work = ctx;
    work->on_done(owner, &work->result);
}

static void work_free(void *ctx)
{
    struct work *work = ctx;
    td_grammar_free(work->result.format.grammar);
    td_grammar_free(work->result.calls.grammar);
    json_free(work->schema);
    json_free(work->tools);
    free(work->grammar_source);
    free(work->tool_named);
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

/* False without memory. */
static bool copy_request(struct work *work, const struct td_request *request)
{
    const struct json *tools = request_value(request, REQUEST_TOOLS);
    work->schema = json_clone(request->schema);
    work->tools = json_clone(tools);
    work->grammar_source = copy_bytes(request->grammar_source);
    work->tool_named = copy_bytes(request->tool_named);
    work->member = (struct request_member){"tools", REQUEST_TOOLS, work->tools};
    work->request =
        (struct td_request){.format = request->format,
                            .schema = work->schema,
                            .grammar_source = {work->grammar_source, request->grammar_source.len},
                            .members = &work->member,
                            .member_count = 1,
                            .tool_count = request->tool_count,
                            .tool_choice = request->tool_choice,
                            .tool_named = {work->tool_named, request->tool_named.len},
                            .one_call = request->one_call};
    return work->grammar_source && work->tool_named && (work->schema || !request->schema) &&
           (work->tools || !tools);
}

enum td_status format_task_start(const struct format_task_options *options,
                                 struct background_task **out, struct td_error *err)
{
    ASSERT(options->background && options->loop && options->on_done);
    ASSERT(options->format || options->calls);
    *out = NULL;
    struct work *work = calloc(1, sizeof *work);
    if (!work)
        return error_set(err, TD_NO_MEMORY, "no memory for another request");
    work->on_done = options->on_done;
    work->result.format.wanted = options->format;
    work->result.calls.wanted = options->calls;
    const struct background_work background_work = {.run = work_run,
                                                    .done = work_done,
                                                    .free_ctx = work_free,
                                                    .ctx = work,
                                                    .owner = options->owner,
                                                    .loop = options->loop};
    enum td_status status = TD_OK;
    if (!copy_request(work, options->request))
        status = error_set(err, TD_NO_MEMORY, "no memory for a copy of the schema");
    else
        status = background_submit(options->background, &background_work, out, err);
    if (status != TD_OK)
        work_free(work);
    return status;
}
