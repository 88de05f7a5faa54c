/* One answer of the engine, between its scheduler and the attempt's sink: tokens become pieces,
 * calls of tools are taken out of the text, and a prompt is echoed. The attempt is the context of
 * its job and ends with it. Only for files of this folder. The loop's thread. */
#ifndef TIER_LOCAL_ATTEMPT_H
#define TIER_LOCAL_ATTEMPT_H

#include "engine/session/label_run.h"
#include "engine/session/scheduler.h"
#include "tier/openai/openai_logprobs.h"
#include "tier/tier.h"
#include "tier/tool_parser.h"

#define LOCAL_CALLS_SEEN 8

struct sandbox_call;

/* What is asked when the model calls none of the tools that were offered: the same with a computed
 * answer. */
struct otherwise {
    struct scheduler *scheduler; /* NULL: nothing */
    struct job_request job;      /* its grammar is owned */
    int32_t *ids;                /* of the job; owned */
};

struct tier_attempt {
    struct tier_sink sink;
    struct job *job;
    struct otherwise otherwise;
    struct label_run *labels;      /* instead of a job: labels are scored */
    struct sandbox_call *confined; /* instead of both: the confined worker answers */
    double start_ms, first_ms;
    uint32_t prompt_tokens;
    const struct td_model *model;
    uint64_t calls_seen[LOCAL_CALLS_SEEN]; /* hashes of the first calls */
    struct tool_parser parser;             /* format NONE: the answer has no calls */
    bool held;                             /* a grammar holds its calls */
    bool computed;                         /* a grammar allows nothing but the answer */
    bool declined;                         /* that answer says that the question is another's */
    bool must_call;
    const struct td_completion *completion; /* NULL = a chat */
    int32_t *ids;                           /* of a completion's prompt */
    struct openai_logprobs logprobs;        /* of a completion */
    bool with_logprobs, echo_due;
    struct label_plan *plan; /* of the labels that are scored, or NULL */
    bool ending;             /* inside on_done: the job is gone already */
    bool cancelled;          /* while ending */
};

void local_attempt_free(struct tier_attempt *attempt); /* accepts NULL */
/* The callbacks of its job (scheduler.h). */
void local_attempt_on_token(void *ctx, const struct td_token *token, struct td_str text);
void local_attempt_on_done(void *ctx, enum td_status status,
                           const struct td_generate_result *result, const struct td_error *err);

#endif
