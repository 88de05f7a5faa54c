/* Generation. A token that ends the answer (end of sequence, end of turn) is reported like any
 * other, with the empty text that control tokens have, so that its probability counts in the
 * answer's confidence; as in OpenAI's usage it counts as a completion token. The model's "not mine"
 * token ends nothing: what follows it is up to the caller. */
#include "engine/generate.h"

#include "base/clock.h"
#include "base/error.h"
#include "engine/session.h"

static void accept_recent(struct sampler *sampler, const int32_t *ids, size_t count)
{
    size_t recent = count < SAMPLER_HISTORY_MAX ? count : SAMPLER_HISTORY_MAX;
    for (size_t i = count - recent; i < count; i++)
        sampler_accept(sampler, ids[i]);
}

static enum td_status check_biases(const struct td_generate_options *options, uint32_t vocab_count,
                                   struct td_error *err)
{
    for (size_t i = 0; i < options->sampling.bias_count; i++) {
        int32_t id = options->sampling.biases[i].id;
        if (id < 0 || (uint32_t)id >= vocab_count)
            return error_set(err, TD_INVALID, "logit_bias: the model has no token %d", id);
    }
    return TD_OK;
}

static enum td_status start_filter(struct generation *generation, struct td_error *err)
{
    const struct td_model *model = generation->model;
    const struct token_index *index = NULL;
    enum td_status status = token_index_get(model->token_index, model->tokenizer, &index, err);
    if (status == TD_OK)
        status = token_filter_new(generation->options.grammar, model->tokenizer, index,
                                  &generation->filter, err);
    if (status != TD_OK)
        return status;
    generation->filter->ends_allowed = !generation->options.ignore_eos;
    generation->sampler.filter = generation->filter;
    return TD_OK;
}

/* Tokens that the limits leave, with the next one. The last token needs no place in the cache. */
static uint32_t tokens_left(const struct generation *generation)
{
    const struct sequence *sequence = generation->sequence;
    uint32_t left = sequence->context_size - sequence->length + 1;
    uint32_t max = generation->options.tokens_max;
    uint32_t made = generation->result.completion_tokens;
    return max && max - made < left ? max - made : left;
}

enum td_status generation_init(struct generation *generation, struct sequence *sequence,
                               const int32_t *ids, size_t count,
                               const struct td_generate_options *options, struct td_error *err)
{
    *generation = (struct generation){.model = sequence->model,
                                      .sequence = sequence,
                                      .options = *options,
                                      .ids = ids,
                                      .id_count = count,
                                      .result = {.finish = TD_FINISH_LENGTH}};
    enum td_status status =
        text_gate_init(&generation->gate, options->stops, options->stop_count, err);
    if (status == TD_OK)
        status = sampler_init(&generation->sampler, &options->sampling, err);
    if (status != TD_OK)
        return status;
    if (options->top_logprobs > TD_TOP_LOGPROBS_MAX)
        return error_set(err, TD_INVALID, "top_logprobs is %u, at most %d", options->top_logprobs,
                         TD_TOP_LOGPROBS_MAX);
    if (count == 0)
        return error_set(err, TD_INVALID, "the prompt has no tokens");
    if (count > sequence->context_size - sequence->length)
        return error_set(err, TD_LIMIT,
                         "a prompt of %zu tokens after %u does not fit the context of %u", count,
                         sequence->length, sequence->context_size);
    generation->result.prompt_tokens = (uint32_t)count;
    generation->sampler.tokenizer = sequence->model->tokenizer;
    accept_recent(&generation->sampler, sequence->ids, sequence->length);
    accept_recent(&generation->sampler, ids, count);
    status = check_biases(options, sequence->model->vocab_count, err);
    return status == TD_OK && options->grammar ? start_filter(generation, err) : status;
}

void generation_deinit(struct generation *generation)
{
    text_gate_deinit(&generation->gate);
    sampler_deinit(&generation->sampler);
    token_filter_free(generation->filter);
    generation->filter = NULL;
}

void generation_skip(struct generation *generation, uint32_t count)
{
    generation->ids += count;
    generation->id_count -= count;
    generation->result.cached_tokens += count;
}

static bool is_end(const struct generation *generation, int32_t id)
{
    return !generation->options.ignore_eos && tokenizer_is_end(generation->model->tokenizer, id);
}

/* Whether the token just made is the last, and why. */
static void decide_end(struct generation *generation)
{
    const struct sequence *sequence = generation->sequence;
    struct td_generate_result *result = &generation->result;
    uint32_t tokens_max = generation->options.tokens_max;
    bool complete = generation->filter && token_filter_is_complete(generation->filter);
    if (is_end(generation, generation->last_id) || generation->gate.stopped || complete) {
        result->finish = TD_FINISH_STOP;
        generation->ended = true;
    } else if ((tokens_max && result->completion_tokens >= tokens_max) ||
               sequence->length >= sequence->context_size) {
        result->finish = TD_FINISH_LENGTH;
        generation->ended = true;
    }
}

static enum td_status make_token(struct generation *generation, float *logits,
                                 struct sampler_candidate *candidates,
                                 struct generation_event *event, struct td_error *err)
{
    const struct td_model *model = generation->model;
    struct sampler_choice choice;
    if (generation->filter)
        token_filter_set_budget(generation->filter, tokens_left(generation));
    /* Before the choice: a grammar takes the logits of what it forbids. */
    size_t top_count = sampler_top_logprobs(model->kernels, logits, model->vocab_count,
                                            generation->options.top_logprobs, generation->top);
    enum td_status status =
        sampler_choose(&generation->sampler, model->kernels, logits, model->vocab_count,
                       model->info.not_mine_id, candidates, &choice, err);
    if (status != TD_OK)
        return status;
    event->kind = GENERATION_TOKEN;
    event->token = (struct td_token){.id = choice.id,
                                     .piece = td_token_piece(model, choice.id, false),
                                     .stats = choice.stats,
                                     .top = generation->top,
                                     .top_count = top_count};
    sampler_accept_answer(&generation->sampler, choice.id);
    generation->last_id = choice.id;
    generation->ids = &generation->last_id;
    generation->id_count = 1;
    generation->result.completion_tokens++;
    if (generation->filter)
        status = token_filter_accept(generation->filter, choice.id, err);
    if (status == TD_OK && !is_end(generation, choice.id))
        status = text_gate_push(&generation->gate, event->token.piece, &event->text, err);
    decide_end(generation);
    return status;
}

/* The text that was held back, once. */
static enum td_status finish(struct generation *generation, struct generation_event *event,
                             struct td_error *err)
{
    bool done = generation->done;
    generation->done = true;
    if (done || generation->gate.stopped || generation->gate.held.len == 0)
        return TD_OK;
    event->kind = GENERATION_TAIL;
    return text_gate_finish(&generation->gate, &event->text, err);
}

struct generation_due generation_due(struct generation *generation, uint32_t prefill_max)
{
    if (generation->ended)
        return (struct generation_due){.ids = generation->ids};
    generation->due_ms = clock_monotonic_ms(NULL);
    bool last = generation->id_count <= prefill_max;
    return (struct generation_due){.ids = generation->ids,
                                   .count = last ? (uint32_t)generation->id_count : prefill_max,
                                   .logit_rows = last};
}

enum td_status generation_take(struct generation *generation, const struct generation_due *due,
                               float *logits, struct sampler_candidate *candidates,
                               struct generation_event *event, struct td_error *err)
{
    *event = (struct generation_event){.kind = GENERATION_DONE};
    if (due->count == 0)
        return finish(generation, event, err);
    bool prefill = generation->result.completion_tokens == 0;
    double *spent_ms = prefill ? &generation->result.prefill_ms : &generation->result.decode_ms;
    generation->ids += due->count;
    generation->id_count -= due->count;
    enum td_status status = TD_OK;
    if (due->logit_rows == 0)
        event->kind = GENERATION_PREFILL;
    else
        status = make_token(generation, logits, candidates, event, err);
    *spent_ms += clock_monotonic_ms(NULL) - generation->due_ms;
    return status;
}

static enum td_status run_to_end(struct generation *generation, struct td_session *session,
                                 td_token_fn *on_token, void *ctx, struct td_error *err)
{
    struct workspace *workspace = session->workspace;
    for (;;) {
        struct generation_due due = generation_due(generation, workspace->row_max);
        enum td_status status =
            td_session_forward(session, due.ids, due.count, workspace->logits, due.logit_rows, err);
        struct generation_event event;
        if (status == TD_OK)
            status = generation_take(generation, &due, workspace->logits, workspace->candidates,
                                     &event, err);
        if (status != TD_OK || event.kind == GENERATION_DONE)
            return status;
        if (event.kind == GENERATION_PREFILL || on_token == NULL)
            continue;
        const struct td_token *token = event.kind == GENERATION_TOKEN ? &event.token : NULL;
        if (!on_token(ctx, token, event.text))
            return error_set(err, TD_CANCELLED, "cancelled by the caller");
    }
}

enum td_status td_generate(struct td_session *session, const int32_t *ids, size_t count,
                           const struct td_generate_options *options, td_token_fn *on_token,
                           void *ctx, struct td_generate_result *result, struct td_error *err)
{
    struct generation generation;
    enum td_status status =
        generation_init(&generation, &session->sequence, ids, count, options, err);
    if (status == TD_OK)
        status = run_to_end(&generation, session, on_token, ctx, err);
    if (result)
        *result = generation.result;
    generation_deinit(&generation);
    return status;
}
