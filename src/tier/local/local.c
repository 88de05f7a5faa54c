/* The tier that is the engine in this process. It turns messages into token ids and starts a job
 * with the engine's scheduler; the job's context is the attempt (local_attempt.h). Requests whose
 * data may not leave the machine go to the confined worker instead (tier/local/sandbox.h), when
 * there is one. */
#include "base/core/assertion.h"
#include "tier/tier.h"

#include "base/core/error.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "base/time/clock.h"
#include "engine/model/adapter.h"
#include "engine/model/model_infill.h"
#include "engine/session/classifier.h"
#include "router/plan/policy.h"
#include "tier/call_grammar.h"
#include "tier/door.h"
#include "tier/local/job_sampling.h"
#include "tier/local/local_adapters.h"
#include "tier/local/local_asked.h"
#include "tier/local/local_attempt.h"
#include "tier/local/local_computed.h"
#include "tier/local/local_prompt.h"
#include "tier/local/sandbox.h"

#include <math.h>
#include <stdlib.h>

/* Tokens of an answer when the request sets no limit; a small model is seldom useful beyond. */
#define ANSWER_TOKENS_DEFAULT 1024
/* No vocabulary has more bytes per token on average. A longer prompt cannot fit, so it is refused
 * before the event loop spends time on tokenizing it. */
#define BYTES_PER_TOKEN_MAX 64

/* A model and what runs it. */
struct local_engine {
    const struct td_model *model; /* NULL = there is none */
    struct scheduler *scheduler;
    uint32_t context_tokens;
    enum tool_format tool_format; /* of the model's template */
    struct local_unasked unasked;
};

struct local {
    struct tier tier; /* first: the caller's view */
    struct local_engine main;
    struct local_engine for_tools;       /* of requests that bring tools, where there is one */
    const struct tier_adapter *adapters; /* [facts.adapter_count], of the main model */
    struct sandbox *sandbox;             /* NULL = none */
    bool isolated;                       /* it answers whatever the class */
};

static struct local *local_of(struct tier *tier)
{
    return (struct local *)tier;
}

/* --- labels --- */

static void on_labels(void *ctx, enum td_status status, const struct label_result *result,
                      const struct td_error *err)
{
    struct tier_attempt *attempt = ctx;
    size_t count = result ? label_plan_count(attempt->plan) : 0;
    float *scores = calloc(count + 1, sizeof *scores);
    struct tier_result out = {
        .status = scores ? status : TD_NO_MEMORY,
        .err = *err,
        .total_ms = clock_monotonic_ms(NULL) - attempt->start_ms,
        .usage = {.prompt_tokens = attempt->prompt_tokens, .exact = true},
    };
    attempt->ending = true; /* the run is gone; a cancel now only marks the attempt */
    if (result && scores) {
        out.usage.cached_tokens = result->cached_tokens;
        out.waited_ms = result->waited_ms;
        for (size_t i = 0; i < count; i++)
            scores[i] = (float)result->scores[i];
        struct tier_piece piece = {.has_stats = true, .label_scores = scores, .label_count = count};
        piece.stats.not_mine = isnan(result->not_mine) ? 0 : (float)result->not_mine;
        attempt->sink.on_piece(attempt->sink.ctx, &piece);
    }
    free(scores);
    struct tier_sink sink = attempt->sink;
    bool wanted = !attempt->cancelled;
    local_attempt_free(attempt);
    if (wanted)
        sink.on_done(sink.ctx, &out);
}

/* Adapters are of the main model, and so are labels. */
static const struct local_engine *engine_for(const struct local *local,
                                             const struct td_request *request)
{
    bool is_main = !local_prompt_tools(request) || request->labels || request->names_adapters ||
                   local_adapters_named(&local->tier.facts, request) != SIZE_MAX;
    return is_main || !local->for_tools.model ? &local->main : &local->for_tools;
}

/* What the labels are to the model. **returns new** (label_plan_release). */
static enum td_status plan_labels(const struct td_model *model, const struct td_labels *labels,
                                  struct label_plan **out, struct td_error *err)
{
    struct td_classifier *own = NULL;
    const struct td_classifier_options options = {.labels = labels->texts,
                                                  .label_count = labels->count};
    enum td_status status =
        labels->classifier ? TD_OK : td_classifier_new(model, &options, &own, err);
    if (status == TD_OK)
        *out = label_plan_retain(classifier_labels(own ? own : labels->classifier));
    td_classifier_free(own);
    return status;
}

static enum td_status start_labels(const struct local_engine *engine,
                                   const struct td_labels *labels, const struct job_request *job,
                                   struct tier_attempt *attempt, struct td_error *err)
{
    enum td_status status = plan_labels(engine->model, labels, &attempt->plan, err);
    if (status != TD_OK)
        return status;
    const struct label_request request = {
        .job = job, .labels = attempt->plan, .on_done = on_labels, .ctx = attempt};
    return label_run_start(engine->scheduler, &request, &attempt->labels, err);
}

static uint32_t answer_tokens_max(const struct local_engine *engine,
                                  const struct td_request *request, size_t prompt_count)
{
    uint32_t wanted = request->tokens_max;
    if (request->completion &&
        request->completion->prompt_only) /* scoring may use the whole context */
        return prompt_count <= engine->context_tokens;
    if (wanted == 0)
        wanted = request->tokens_eased ? request->tokens_eased : ANSWER_TOKENS_DEFAULT;
    size_t room = engine->context_tokens > prompt_count ? engine->context_tokens - prompt_count : 0;
    return wanted > room ? (uint32_t)room : wanted;
}

static struct job_request job_of(const struct td_request *request, uint32_t tokens_max)
{
    struct job_request job = {
        .priority = request->priority,
        .options = {.tokens_max = tokens_max,
                    .grammar = request->grammar,
                    .stops = request->stops,
                    .stop_count = request->stop_count,
                    .top_logprobs = request->logprobs ? request->top_logprobs : 0},
        .owner = request_sharer(request),
        .weight = request_weight(request),
        .keep_nothing = request->keep_nothing,
        .on_token = local_attempt_on_token,
        .on_done = local_attempt_on_done,
    };
    tier_local_scope(request->caller, job.scope.bytes);
    return job;
}

void tier_local_scope(const char *caller, uint8_t scope[static CRYPTO_SHA256_BYTES])
{
    memset(scope, 0, CRYPTO_SHA256_BYTES);
    if (caller)
        crypto_sha256(caller, strlen(caller), scope);
}

static void begin_completion(struct tier_attempt *attempt, const struct td_request *request,
                             struct job_request *job)
{
    const struct td_completion *completion = request->completion;
    if (!completion)
        return;
    attempt->completion = completion;
    attempt->with_logprobs = request->logprobs;
    attempt->logprobs =
        (struct openai_logprobs){.model = attempt->model, .top_count = request->top_logprobs};
    attempt->echo_due = completion->echo;
    if (!completion->echo)
        openai_logprobs_skip(&attempt->logprobs, completion->text);
    job->score_prompt = completion->echo && request->logprobs;
    job->prompt_only = completion->prompt_only;
}

/* --- the confined worker --- */

static void on_confined_piece(void *ctx, const struct tier_piece *piece)
{
    struct tier_attempt *attempt = ctx;
    struct tier_piece own = *piece; /* the worker has the same model */
    own.model = attempt->model;
    attempt->sink.on_piece(attempt->sink.ctx, &own);
}

static void on_confined_done(void *ctx, const struct tier_result *result)
{
    struct tier_attempt *attempt = ctx;
    struct tier_sink sink = attempt->sink;
    local_attempt_free(attempt);
    sink.on_done(sink.ctx, result);
}

/* Without a pass nobody has declared the data harmless, so it counts as restricted. */
static bool is_restricted(const struct tier_sink *sink)
{
    return !sink->pass || sandbox_is_for(sink->pass->data_class);
}

static enum td_status start_confined(struct local *local, struct loop *loop,
                                     const struct td_request *request, const struct tier_sink *sink,
                                     struct tier_attempt **out, struct td_error *err)
{
    const char *name = local->tier.facts.name;
    struct tier_attempt *attempt = calloc(1, sizeof *attempt);
    if (!attempt)
        return error_set(err, TD_NO_MEMORY, "no memory for an attempt on %s", name);
    attempt->sink = *sink;
    attempt->model = engine_for(local, request)->model;
    const struct tier_sink inner = {
        .on_piece = on_confined_piece, .on_done = on_confined_done, .ctx = attempt};
    enum td_status status =
        sandbox_start(local->sandbox, name, loop, request, &inner, &attempt->confined, err);
    if (status == TD_OK)
        *out = attempt;
    else
        local_attempt_free(attempt);
    return status;
}

/* Holds the answer's calls to the tools that were offered. */
static enum td_status hold_calls(const struct local_engine *engine,
                                 const struct td_request *request, struct tier_attempt *attempt,
                                 struct job_request *job, struct td_error *err)
{
    if (!request->call_grammar || !call_grammar_is_due(request))
        return TD_OK;
    chat_tool_marks(engine->model, engine->tool_format, &job->marks);
    job->options.grammar =
        call_grammar_begin(request->call_grammar, engine->tool_format, &job->marks);
    if (!job->options.grammar)
        return error_set(err, TD_NO_MEMORY, "no memory for a grammar");
    attempt->held = job->marked = true;
    attempt->must_call = request->tool_choice == TOOL_CHOICE_FORCED;
    return TD_OK;
}

/* Has a computed answer given, where the question has one. With tools the model is asked first: one
 * of them may be meant for it. */
static enum td_status give_computed(const struct local_engine *engine,
                                    const struct td_request *request, struct tier_attempt *attempt,
                                    struct job_request *job, struct td_error *err)
{
    struct td_grammar *computed = NULL;
    enum td_status status =
        local_computed_grammar(engine->model, request, &computed, &attempt->declined, err);
    if (status != TD_OK || !computed)
        return status;
    if (!(request->tool_count > 0 && request->tool_choice != TOOL_CHOICE_NONE)) {
        job->options.grammar = computed;
        attempt->computed = true;
        return TD_OK;
    }
    if (!attempt->held || job->marks.open_id < 0) { /* a call is not seen at its first token */
        td_grammar_free(computed);
        return TD_OK;
    }
    struct otherwise *otherwise = &attempt->otherwise;
    otherwise->ids = malloc(job->id_count * sizeof *job->ids);
    otherwise->job = *job;
    otherwise->job.options.grammar = computed;
    otherwise->job.marked = false;
    otherwise->job.ids = otherwise->ids;
    if (!otherwise->ids)
        return error_set(err, TD_NO_MEMORY, "no memory for an attempt");
    memcpy(otherwise->ids, job->ids, job->id_count * sizeof *job->ids);
    otherwise->scheduler = engine->scheduler;
    return TD_OK;
}

static enum td_status local_start(struct tier *tier, struct loop *loop,
                                  const struct td_request *request, const struct tier_sink *sink,
                                  struct tier_attempt **out, struct td_error *err)
{
    ASSERT(loop != NULL && request != NULL && out != NULL);
    ASSERT(sink != NULL && sink->on_piece != NULL && sink->on_done != NULL);
    struct local *local = local_of(tier);
    const struct local_engine *engine = engine_for(local, request);
    if (!engine->model)
        return error_set(err, TD_UNAVAILABLE, "tier %s has no model", tier->facts.name);
    if (local->sandbox && (local->isolated || is_restricted(sink)))
        return start_confined(local, loop, request, sink, out, err);
    struct tier_attempt *attempt = NULL;
    int32_t *ids = NULL;
    size_t id_count = 0;
    enum td_status status =
        local_prompt_tokenize(engine->model, engine->tool_format, request, &ids, &id_count, err);
    if (status != TD_OK)
        return status;
    struct job_request job = job_of(request, answer_tokens_max(engine, request, id_count));
    if (job.options.tokens_max == 0) {
        status = error_set(err, TD_LIMIT, "prompt of %zu tokens exceeds %s's limit of %u", id_count,
                           tier->facts.name, engine->context_tokens);
        goto out;
    }
    job_sampling_set(request, &td_model_get_info(engine->model)->sampling, &job);
    if (job.options.sampling.bias_count == 0) {
        job.options.sampling.biases = engine->unasked.biases;
        job.options.sampling.bias_count = local_unasked_count(&engine->unasked, request);
    }
    if (engine == &local->main)
        status = local_adapters_choose(&tier->facts, local->adapters, engine->model, request,
                                       &job.adapters, err);
    if (status != TD_OK)
        goto out;
    attempt = calloc(1, sizeof *attempt);
    if (!attempt) {
        status = error_set(err, TD_NO_MEMORY, "no memory for an attempt on %s", tier->facts.name);
        goto out;
    }
    attempt->sink = *sink;
    attempt->start_ms = clock_monotonic_ms(NULL);
    attempt->prompt_tokens = (uint32_t)id_count;
    attempt->model = engine->model;
    begin_completion(attempt, request, &job);
    if (attempt->completion) {
        attempt->ids = ids;
        ids = NULL;
    }
    if (engine->tool_format != TOOL_FORMAT_NONE && local_prompt_tools(request)) {
        tool_parser_init(&attempt->parser, engine->tool_format, local_prompt_tools(request));
        status = hold_calls(engine, request, attempt, &job, err);
    }
    job.ids = attempt->completion ? attempt->ids : ids;
    job.id_count = id_count;
    job.loop = loop;
    job.ctx = attempt;
    if (status == TD_OK)
        status = give_computed(engine, request, attempt, &job, err);
    if (status == TD_OK)
        status = request->labels ? start_labels(engine, request->labels, &job, attempt, err)
                                 : scheduler_submit(engine->scheduler, &job, &attempt->job, err);
out:
    if (job.options.grammar != request->grammar) /* the job retains it */
        td_grammar_free(job.options.grammar);
    adapter_set_release(job.adapters); /* the job holds its own reference */
    free(ids);
    if (status == TD_OK)
        *out = attempt;
    else
        local_attempt_free(attempt);
    return status;
}

static void local_cancel(struct tier_attempt *attempt)
{
    attempt->cancelled = true;
    if (attempt->ending)
        return; /* on_done frees it */
    if (attempt->confined)
        sandbox_cancel(attempt->confined);
    else if (attempt->labels)
        label_run_cancel(attempt->labels);
    else
        job_cancel(attempt->job);
    local_attempt_free(attempt);
}

static uint32_t local_count_prompt(struct tier *tier, const struct td_request *request)
{
    const struct local_engine *engine = engine_for(local_of(tier), request);
    uint64_t bytes = 0;
    for (size_t i = 0; i < request->message_count; i++)
        bytes += request->messages[i].content.len;
    uint64_t estimate = bytes / 4 + 4 * (uint64_t)request->message_count;
    size_t count = estimate > UINT32_MAX ? UINT32_MAX : (size_t)estimate;
    if (!engine->model || bytes / BYTES_PER_TOKEN_MAX > engine->context_tokens)
        return (uint32_t)count;
    int32_t *ids = NULL;
    size_t exact = 0;
    if (local_prompt_tokenize(engine->model, engine->tool_format, request, &ids, &exact, NULL) ==
        TD_OK)
        count = exact > UINT32_MAX ? UINT32_MAX : exact;
    free(ids);
    return (uint32_t)count;
}

static void local_look(struct tier *tier, struct tier_state *out)
{
    const struct local *local = local_of(tier);
    if (!local->main.scheduler)
        return;
    struct scheduler_load load = scheduler_get_load(local->main.scheduler);
    out->unloaded = !load.loaded;
    out->load_ms = load.load_ms;
}

/* An answer that asks for no length is as long as answers were lately. The confined worker has a
 * queue of its own, of which nothing is known here. */
static void local_forecast(struct tier *tier, const struct tier_ask *ask, uint32_t coming,
                           struct tier_state *out)
{
    struct local *local = local_of(tier);
    struct scheduler_forecast forecast;
    if (!local->main.scheduler ||
        (local->sandbox && (local->isolated || sandbox_is_for(ask->data_class))))
        return;
    scheduler_forecast(local->main.scheduler, ask->priority, coming, ask->prompt_tokens, &forecast);
    double tokens = fmax(forecast.answer_most, 1);
    if (ask->tokens_max && ask->tokens_max < tokens)
        tokens = ask->tokens_max;
    if (out->unloaded) /* local_look has said so */
        forecast.wait_ms += out->load_ms;
    out->wait_ms = forecast.wait_ms;
    out->forecast_ttft_ms =
        forecast.wait_ms + ask->prompt_tokens * forecast.prompt_row_ms + forecast.token_ms;
    out->forecast_total_ms = out->forecast_ttft_ms + (tokens - 1) * forecast.token_ms;
}

static void local_free(struct tier *tier)
{
    local_unasked_deinit(&local_of(tier)->main.unasked);
    local_unasked_deinit(&local_of(tier)->for_tools.unasked);
    free(local_of(tier));
}

static const struct tier_ops local_ops = {
    .start = local_start,
    .cancel = local_cancel,
    .count_prompt = local_count_prompt,
    .look = local_look,
    .free = local_free,
    .forecast = local_forecast,
};

const struct td_model *tier_local_model(const struct tier *tier)
{
    return tier->ops == &local_ops ? ((const struct local *)tier)->main.model : NULL;
}

static enum td_status engine_init(struct local_engine *engine, const struct tier_local_engine *from,
                                  uint32_t context_max, struct td_error *err)
{
    if (!from->model)
        return TD_OK;
    uint32_t own = td_model_get_info(from->model)->context_tokens;
    engine->model = from->model;
    engine->scheduler = from->scheduler;
    engine->tool_format = chat_tool_format(from->model);
    engine->context_tokens = context_max ? context_max : own;
    return local_unasked_init(&engine->unasked, from->model, err);
}

enum td_status tier_local_new(const struct tier_facts *facts,
                              const struct tier_local_options *options, struct tier **out,
                              struct td_error *err)
{
    ASSERT(facts != NULL && options != NULL && out != NULL);
    ASSERT(facts->adapter_count == 0 || options->adapters != NULL);
    struct local *local = calloc(1, sizeof *local);
    if (!local)
        return error_set(err, TD_NO_MEMORY, "no memory for tier %s", facts->name);
    local->tier = (struct tier){.ops = &local_ops, .facts = *facts};
    local->tier.facts.prefill = PREFILL_MESSAGE;
    local->tier.facts.lacks |= CAPABILITY_FOREIGN_TOOLS | CAPABILITY_WHOLE_TOOLS |
                               CAPABILITY_WHOLE_SCHEMA | CAPABILITY_SAMPLING | CAPABILITY_MEDIA;
    enum td_status status = engine_init(&local->main, &options->main, facts->context_tokens, err);
    if (status == TD_OK)
        status =
            engine_init(&local->for_tools, &options->for_tools, facts->tools_context_tokens, err);
    if (status != TD_OK) {
        local_free(&local->tier);
        return status;
    }
    if (local->main.model && local->main.tool_format == TOOL_FORMAT_NONE &&
        local->for_tools.tool_format == TOOL_FORMAT_NONE)
        local->tier.facts.lacks |= CAPABILITY_TOOLS;
    if (local->main.model)
        local->tier.facts.infill_missing = model_infill_missing(local->main.model);
    if (!local->main.model || local->tier.facts.infill_missing)
        local->tier.facts.lacks |= CAPABILITY_INFILL;
    local->adapters = options->adapters;
    local->sandbox = options->sandbox;
    local->isolated = options->isolated;
    *out = &local->tier;
    return TD_OK;
}
