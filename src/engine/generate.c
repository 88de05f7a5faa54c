/* Generation. A token that ends the answer (end of sequence, end of turn) is reported like any
 * other, with the empty text that control tokens have, so that its probability counts in the
 * answer's confidence; as in OpenAI's usage it counts as a completion token. The model's "not mine"
 * token ends nothing: what follows it is up to the caller. */
#include "engine/generate.h"

#include "base/clock.h"
#include "base/error.h"

static void accept_recent(struct sampler *sampler, const int32_t *ids, size_t count)
{
    size_t recent = count < SAMPLER_RECENT_TOKENS ? count : SAMPLER_RECENT_TOKENS;
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
    const struct td_model *model = generation->session->model;
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
    const struct td_session *session = generation->session;
    uint32_t left = session->context_size - session->length + 1;
    uint32_t max = generation->options.tokens_max;
    uint32_t made = generation->result.completion_tokens;
    return max && max - made < left ? max - made : left;
}

enum td_status generation_init(struct generation *generation, struct td_session *session,
                               const int32_t *ids, size_t count,
                               const struct td_generate_options *options, struct td_error *err)
{
    *generation = (struct generation){.session = session,
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
    if (count > session->context_size - session->length)
        return error_set(err, TD_LIMIT,
                         "a prompt of %zu tokens after %u does not fit the context of %u", count,
                         session->length, session->context_size);
    generation->result.prompt_tokens = (uint32_t)count;
    accept_recent(&generation->sampler, session->ids, session->length);
    accept_recent(&generation->sampler, ids, count);
    status = check_biases(options, session->model->vocab_count, err);
    return status == TD_OK && options->grammar ? start_filter(generation, err) : status;
}

void generation_deinit(struct generation *generation)
{
    text_gate_deinit(&generation->gate);
    sampler_deinit(&generation->sampler);
    token_filter_free(generation->filter);
    generation->filter = NULL;
}

/* Puts what is due through the model, at most `max` tokens; logits only when nothing is left
 * after. */
static enum td_status run_model(struct generation *generation, uint32_t max, struct td_error *err)
{
    size_t count = generation->id_count < max ? generation->id_count : max;
    bool last = count == generation->id_count;
    enum td_status status =
        td_session_forward(generation->session, generation->ids, count,
                           last ? generation->session->logits : NULL, last ? 1 : 0, err);
    if (status == TD_OK) {
        generation->ids += count;
        generation->id_count -= count;
    }
    return status;
}

static bool is_end(const struct generation *generation, int32_t id)
{
    return !generation->options.ignore_eos &&
           tokenizer_is_end(generation->session->model->tokenizer, id);
}

/* Whether the token just made is the last, and why. */
static void decide_end(struct generation *generation)
{
    const struct td_session *session = generation->session;
    struct td_generate_result *result = &generation->result;
    uint32_t tokens_max = generation->options.tokens_max;
    bool complete = generation->filter && token_filter_is_complete(generation->filter);
    if (is_end(generation, generation->last_id) || generation->gate.stopped || complete) {
        result->finish = TD_FINISH_STOP;
        generation->ended = true;
    } else if ((tokens_max && result->completion_tokens >= tokens_max) ||
               session->length >= session->context_size) {
        result->finish = TD_FINISH_LENGTH;
        generation->ended = true;
    }
}

static enum td_status make_token(struct generation *generation, struct generation_event *event,
                                 struct td_error *err)
{
    struct td_session *session = generation->session;
    const struct td_model *model = session->model;
    struct sampler_choice choice;
    if (generation->filter)
        token_filter_set_budget(generation->filter, tokens_left(generation));
    /* Before the choice: a grammar takes the logits of what it forbids. */
    size_t top_count = sampler_top_logprobs(model->kernels, session->logits, model->vocab_count,
                                            generation->options.top_logprobs, generation->top);
    enum td_status status =
        sampler_choose(&generation->sampler, model->kernels, session->logits, model->vocab_count,
                       model->info.not_mine_id, session->candidates, &choice, err);
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

enum td_status generation_step(struct generation *generation, uint32_t prefill_max,
                               struct generation_event *event, struct td_error *err)
{
    *event = (struct generation_event){.kind = GENERATION_DONE};
    if (generation->done)
        return TD_OK;
    if (generation->ended) {
        generation->done = true;
        if (generation->gate.stopped || generation->gate.held.len == 0)
            return TD_OK;
        event->kind = GENERATION_TAIL;
        return text_gate_finish(&generation->gate, &event->text, err);
    }
    bool prefill = generation->result.completion_tokens == 0;
    double *spent_ms = prefill ? &generation->result.prefill_ms : &generation->result.decode_ms;
    double begin_ms = clock_monotonic_ms(NULL);
    enum td_status status = run_model(generation, prefill_max, err);
    if (status == TD_OK && generation->id_count > 0)
        event->kind = GENERATION_PREFILL;
    else if (status == TD_OK)
        status = make_token(generation, event, err);
    *spent_ms += clock_monotonic_ms(NULL) - begin_ms;
    return status;
}

static enum td_status run_to_end(struct generation *generation, td_token_fn *on_token, void *ctx,
                                 struct td_error *err)
{
    for (;;) {
        struct generation_event event;
        enum td_status status = generation_step(generation, SESSION_CHUNK_TOKENS, &event, err);
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
    enum td_status status = generation_init(&generation, session, ids, count, options, err);
    if (status == TD_OK)
        status = run_to_end(&generation, on_token, ctx, err);
    if (result)
        *result = generation.result;
    generation_deinit(&generation);
    return status;
}
