/* Generation. A token that ends the answer (end of sequence, end of turn) is reported like any
 * other, with the empty text of control tokens, so that its probability counts in the confidence of
 * the answer. As in OpenAI's usage it counts as a completion token. The model's "not mine" token
 * ends nothing: the caller decides what follows it.
 *
 * With speculation a pass has several rows: one for the last token and one for each guess after it.
 * Tokens are chosen row by row, as if each row had been a pass of its own, until one differs from
 * the guess. They are handed out one by one, and wrong guesses are removed from the cache. */
#include "engine/session/generate.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/time/clock.h"
#include "engine/session/scoring.h"
#include "engine/session/session.h"

/* Rows of logits at a time of a prompt that is scored: enough for the kernels' panels, and few
 * enough that streams beside it do not wait long. */
#define PROMPT_SCORE_ROWS 64

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

/* How many tokens the limits leave, including the next one, which is chosen at `length`. The last
 * token needs no place in the cache. */
static uint32_t tokens_left(const struct generation *generation, uint32_t length)
{
    bool shift = generation->options.context_shift;
    uint32_t left = shift ? UINT32_MAX : generation->sequence->context_size - length + 1;
    uint32_t max = generation->options.tokens_max;
    uint32_t made = generation->chosen_count;
    return max && max - made < left ? max - made : left;
}

enum td_status generation_init(struct generation *generation, struct sequence *sequence,
                               const int32_t *ids, size_t count,
                               const struct td_generate_options *options, struct td_error *err)
{
    ASSERT(ids != NULL || count == 0);
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
    if (status == TD_OK)
        status = speculation_init(&generation->speculation, sequence->model, options, err);
    if (status != TD_OK)
        return status;
    if (options->top_logprobs > TD_TOP_LOGPROBS_MAX)
        return error_set(err, TD_INVALID, "top_logprobs is %u, at most %d", options->top_logprobs,
                         TD_TOP_LOGPROBS_MAX);
    if (!(options->exit_threshold >= 0 && options->exit_threshold <= 1))
        return error_set(err, TD_INVALID, "exit_threshold is not in [0, 1]");
    if (options->exit_threshold > 0 && sequence->model->info.exit_count == 0)
        return error_set(err, TD_INVALID, "exit_threshold: %s has no early exits",
                         sequence->model->name);
    /* A guess would be checked with other layers than the token itself would have used. */
    if (options->exit_threshold > 0 && options->speculation != TD_SPECULATION_NONE)
        return error_set(err, TD_INVALID, "exit_threshold and speculation exclude each other");
    if (count == 0)
        return error_set(err, TD_INVALID, "the prompt has no tokens");
    if (options->context_shift && options->tokens_max == 0)
        return error_set(err, TD_INVALID, "context_shift requires tokens_max");
    if (options->context_shift && options->context_keep >= sequence->context_size)
        return error_set(err, TD_INVALID,
                         "context_keep is %u: fewer than the context's %u tokens can be kept",
                         options->context_keep, sequence->context_size);
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

/* Drops the tokens that were chosen but not handed out. */
static void drop_choices(struct generation *generation)
{
    if (generation->choice_next == generation->choice_count)
        return;
    sequence_truncate(generation->sequence,
                      generation->choices[generation->choice_next].length - 1);
    generation->choice_count = generation->choice_next = 0;
}

void generation_deinit(struct generation *generation)
{
    drop_choices(generation);
    text_gate_deinit(&generation->gate);
    sampler_deinit(&generation->sampler);
    speculation_deinit(&generation->speculation);
    token_filter_free(generation->filter);
    generation->filter = NULL;
}

void generation_score_prompt(struct generation *generation, struct prompt_score *scores, bool only)
{
    ASSERT(generation->chosen_count == 0 && generation->prompt_scores == NULL);
    generation->prompt_scores = scores;
    generation->prompt_only = only;
    generation->prompt = generation->ids;
}

void generation_score_labels(struct generation *generation, struct label_walk *labels)
{
    ASSERT(generation->chosen_count == 0 && generation->prompt_scores == NULL);
    generation->labels = labels;
}

void generation_skip(struct generation *generation, uint32_t count)
{
    ASSERT(count < generation->id_count && generation->chosen_count == 0);
    generation->ids += count;
    generation->id_count -= count;
    generation->result.cached_tokens += count;
}

static bool is_end(const struct generation *generation, int32_t id)
{
    return !generation->options.ignore_eos && tokenizer_is_end(generation->model->tokenizer, id);
}

/* Decides whether the chosen token is the last one, whatever its text, and why. */
static void decide_last(struct generation *generation, struct generation_choice *choice)
{
    uint32_t tokens_max = generation->options.tokens_max;
    bool complete = generation->filter && token_filter_is_complete(generation->filter);
    if (is_end(generation, choice->id) || complete) {
        choice->finish = TD_FINISH_STOP;
        choice->last = true;
    } else if ((tokens_max && generation->chosen_count >= tokens_max) ||
               (!generation->options.context_shift &&
                choice->length >= generation->sequence->context_size)) {
        choice->finish = TD_FINISH_LENGTH;
        choice->last = true;
    }
}

/* Chooses a token from one row, the last position of `length`. */
static enum td_status choose(struct generation *generation, float *logits, uint32_t length,
                             struct sampler_candidate *candidates, struct td_error *err)
{
    const struct td_model *model = generation->model;
    struct generation_choice *out = &generation->choices[generation->choice_count];
    struct sampler_choice choice;
    if (generation->filter)
        token_filter_set_budget(generation->filter, tokens_left(generation, length));
    /* Before the choice, because a grammar overwrites the logits of tokens that it refuses. */
    size_t top_count = sampler_top_logprobs(model->kernels, logits, model->vocab_count,
                                            generation->options.top_logprobs, out->top);
    enum td_status status =
        sampler_choose(&generation->sampler, model->kernels, logits, model->vocab_count,
                       model->info.not_mine_id, candidates, &choice, err);
    if (status != TD_OK)
        return status;
    sampler_accept_answer(&generation->sampler, choice.id);
    out->id = choice.id;
    out->stats = choice.stats;
    out->stats.probe = generation->chosen_count == 0 ? generation->result.probe : 0;
    out->stats.forced = generation->filter && token_filter_is_forced(generation->filter, choice.id);
    out->top_count = top_count;
    out->length = length;
    out->last = false;
    generation->choice_count++;
    generation->chosen_count++;
    generation->last_id = choice.id;
    if (generation->filter)
        status = token_filter_accept(generation->filter, choice.id, err);
    decide_last(generation, out);
    return status;
}

/* Chooses row by row, as long as the chosen token is the guess of the next row. */
static enum td_status choose_all(struct generation *generation, const struct generation_due *due,
                                 float *logits, struct sampler_candidate *candidates,
                                 struct td_error *err)
{
    uint32_t before = generation->sequence->length - due->logit_rows, rows = 0;
    const int32_t *guesses = due->ids + (due->count - due->logit_rows) + 1;
    enum td_status status = TD_OK;
    bool more = true;
    generation->choice_count = generation->choice_next = 0;
    for (; status == TD_OK && more && rows < due->logit_rows; rows++) {
        status = choose(generation, logits + (size_t)rows * generation->model->vocab_count,
                        before + rows + 1, candidates, err);
        more = status == TD_OK && !generation->choices[rows].last && rows + 1 < due->logit_rows &&
               guesses[rows] == generation->last_id;
    }
    sequence_truncate(generation->sequence, before + rows);
    if (generation->options.speculation != TD_SPECULATION_NONE && status == TD_OK) {
        generation->result.drafted_tokens += due->logit_rows - 1;
        generation->result.accepted_tokens += rows - 1;
        speculation_note(&generation->speculation, rows - 1,
                         clock_monotonic_ms(NULL) - generation->guessed_ms);
    }
    generation->ids = &generation->last_id;
    generation->id_count = 1;
    return status;
}

/* Hands out the next chosen token. */
static enum td_status hand_out(struct generation *generation, struct generation_event *event,
                               struct td_error *err)
{
    struct generation_choice *choice = &generation->choices[generation->choice_next++];
    enum td_status status = TD_OK;
    event->kind = GENERATION_TOKEN;
    event->token = (struct td_token){.id = choice->id,
                                     .piece = td_token_piece(generation->model, choice->id, false),
                                     .stats = choice->stats,
                                     .top = choice->top,
                                     .top_count = choice->top_count};
    generation->result.completion_tokens++;
    if (!is_end(generation, choice->id))
        status = text_gate_push(&generation->gate, event->token.piece, &event->text, err);
    if (choice->last || generation->gate.stopped) {
        generation->ended = true;
        generation->result.finish = generation->gate.stopped ? TD_FINISH_STOP : choice->finish;
        if (generation->gate.stopped)
            generation->result.stop_number = (uint32_t)generation->gate.found + 1;
        drop_choices(generation);
    }
    return status;
}

/* Hands out, once, the text that was held back. */
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

/* Whether the prompt has run and labels follow. */
static bool runs_labels(const struct generation *generation)
{
    return generation->labels && generation->labels->prompt_done;
}

/* A step of the last token, and of guesses at the tokens after it. */
static struct generation_due due_token(struct generation *generation, uint32_t rows_max)
{
    struct speculation *speculation = &generation->speculation;
    const struct sequence *sequence = generation->sequence;
    /* After a wrong guess a recurrent state would have to be computed again from a checkpoint. */
    if (generation->options.speculation == TD_SPECULATION_NONE || generation->model->ssm_count)
        return (struct generation_due){generation->ids, 1, 1};
    /* The last token, the first row, is not in the sequence yet. */
    uint32_t left = tokens_left(generation, sequence->length + 1);
    uint32_t room = sequence->context_size - sequence->length;
    room = left < room ? left : room;
    room = room < rows_max ? room : rows_max;
    speculation_guess(speculation, sequence, generation->last_id, &generation->sampler,
                      generation->filter, room - 1);
    uint32_t count = 1 + speculation->guess_count;
    return (struct generation_due){speculation->batch, count < rows_max ? count : rows_max,
                                   count < rows_max ? count : rows_max};
}

struct generation_due generation_due(struct generation *generation, uint32_t rows_max)
{
    ASSERT(rows_max > 0);
    if (generation_has_event(generation))
        return (struct generation_due){.ids = generation->ids};
    generation->due_ms = clock_monotonic_ms(NULL);
    struct generation_due due = {0};
    if (runs_labels(generation)) {
        due.count = (uint32_t)label_walk_due(generation->labels, rows_max, &due.ids);
        due.logit_rows = due.count;
    } else if (generation->chosen_count > 0) {
        due = due_token(generation, rows_max);
    } else {
        bool scores = generation->prompt_scores != NULL;
        if (scores && rows_max > PROMPT_SCORE_ROWS)
            rows_max = PROMPT_SCORE_ROWS;
        bool last = generation->id_count <= rows_max;
        due = (struct generation_due){.ids = generation->ids,
                                      .count = last ? (uint32_t)generation->id_count : rows_max,
                                      .logit_rows = last};
        if (scores)
            due.logit_rows = due.count;
    }
    generation->guessed_ms = clock_monotonic_ms(NULL);
    return due;
}

struct segment generation_segment(struct generation *generation, const struct generation_due *due)
{
    bool prompt = generation->chosen_count == 0;
    return (struct segment){
        .sequence = generation->sequence,
        .ids = due->ids,
        .count = due->count,
        .logit_rows = due->logit_rows,
        /* Not in the prompt: how much of the prompt runs depends on what was cached. */
        .exit_threshold = prompt ? 0 : generation->options.exit_threshold,
        .layers_run = &generation->layers_run,
        .probe_out = prompt && due->logit_rows ? &generation->result.probe : NULL};
}

static void count_layers(struct generation *generation)
{
    uint32_t all = generation->model->layer_count;
    if (generation->layers_run >= all)
        return;
    generation->result.early_tokens++;
    generation->result.layers_saved += all - generation->layers_run;
}

/* A part of the prompt has run: scores the tokens that follow its rows. */
static enum td_status score_rows(struct generation *generation, const struct generation_due *due,
                                 const float *logits, struct td_error *err)
{
    const struct td_model *model = generation->model;
    size_t first = (size_t)(due->ids - generation->prompt) + 1;
    for (size_t r = 0; r < due->count && first + r < generation->result.prompt_tokens; r++) {
        const float *row = logits + r * model->vocab_count;
        struct prompt_score *score = &generation->prompt_scores[first + r];
        size_t top_max = generation->options.top_logprobs;
        double sum;
        enum td_status status = scoring_log_sum(model, row, &sum, err);
        if (status != TD_OK)
            return status;
        score->logprob = (float)((double)row[generation->prompt[first + r]] - sum);
        score->top_count = (uint8_t)sampler_top_logprobs(
            model->kernels, row, model->vocab_count,
            top_max < PROMPT_TOP_MAX ? top_max : PROMPT_TOP_MAX, score->top);
    }
    return TD_OK;
}

/* The prompt has run: gives the first token, or the end if only the prompt was wanted. */
static enum td_status take_prompt_end(struct generation *generation,
                                      const struct generation_due *due, float *logits,
                                      struct sampler_candidate *candidates,
                                      struct generation_event *event, struct td_error *err)
{
    if (generation->prompt_only) {
        generation->done = true;
        generation->result.finish = TD_FINISH_LENGTH;
        return TD_OK; /* the event is GENERATION_DONE */
    }
    const struct generation_due last = {due->ids + due->count - 1, 1, 1};
    logits += (size_t)(due->logit_rows - 1) * generation->model->vocab_count;
    enum td_status status = choose_all(generation, &last, logits, candidates, err);
    return status == TD_OK ? hand_out(generation, event, err) : status;
}

/* The prompt's end or tokens of labels have run: goes on to the next label, or ends. */
static enum td_status take_labels(struct generation *generation, const struct generation_due *due,
                                  const float *logits, struct generation_event *event,
                                  struct td_error *err)
{
    struct label_walk *labels = generation->labels;
    const int32_t *ids;
    if (!labels->prompt_done)
        generation->prompt_length = generation->sequence->length;
    enum td_status status = label_walk_take(labels, logits, due->logit_rows, err);
    if (status != TD_OK)
        return status;
    generation->done = label_walk_due(labels, 1, &ids) == 0;
    sequence_truncate(generation->sequence,
                      generation->prompt_length + (generation->done ? 0 : labels->depth));
    event->kind = generation->done ? GENERATION_DONE : GENERATION_PREFILL;
    return TD_OK;
}

enum td_status generation_take(struct generation *generation, const struct generation_due *due,
                               float *logits, struct sampler_candidate *candidates,
                               struct generation_event *event, struct td_error *err)
{
    ASSERT(due->logit_rows <= due->count && (logits != NULL || due->logit_rows == 0));
    *event = (struct generation_event){.kind = GENERATION_DONE};
    if (due->count == 0)
        return generation->ended ? finish(generation, event, err)
                                 : hand_out(generation, event, err);
    bool prefill = generation->chosen_count == 0;
    double *spent_ms = prefill ? &generation->result.prefill_ms : &generation->result.decode_ms;
    enum td_status status = TD_OK;
    if (!prefill)
        count_layers(generation);
    bool prompt_end = prefill && due->count == generation->id_count;
    if (prefill && generation->prompt_scores)
        status = score_rows(generation, due, logits, err);
    if (status != TD_OK) {
        *spent_ms += clock_monotonic_ms(NULL) - generation->due_ms;
        return status;
    }
    if (generation->labels && (prompt_end || generation->labels->prompt_done)) {
        status = take_labels(generation, due, logits, event, err);
    } else if (prompt_end) {
        status = take_prompt_end(generation, due, logits, candidates, event, err);
    } else if (prefill) {
        event->kind = GENERATION_PREFILL;
        generation->ids += due->count;
        generation->id_count -= due->count;
    } else {
        status = choose_all(generation, due, logits, candidates, err);
        if (status == TD_OK)
            status = hand_out(generation, event, err);
    }
    *spent_ms += clock_monotonic_ms(NULL) - generation->due_ms;
    return status;
}

/* Makes room in a full context for the tokens that are due. */
static enum td_status make_room(const struct generation *generation, struct td_session *session,
                                struct td_error *err)
{
    const struct sequence *sequence = &session->sequence;
    uint32_t keep = generation->options.context_keep;
    if (!generation->options.context_shift || generation_has_event(generation) ||
        sequence->length < sequence->context_size)
        return TD_OK;
    uint32_t others = sequence->length - keep;
    return td_session_shift(session, keep, others - others / 2, err);
}

static enum td_status run_to_end(struct generation *generation, struct td_session *session,
                                 td_token_fn *on_token, void *ctx, struct td_error *err)
{
    struct workspace *workspace = session->workspace;
    for (;;) {
        enum td_status status = make_room(generation, session, err);
        if (status != TD_OK)
            return status;
        struct generation_due due = generation_due(generation, workspace->row_max);
        struct segment segment = generation_segment(generation, &due);
        status = session_run(session, &segment, workspace->logits, err);
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
    ASSERT(session != NULL && options != NULL);
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
