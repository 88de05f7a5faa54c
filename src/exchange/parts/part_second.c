/* A second signal (router/judge/second_signal.h) for an answer of the local model whose confidence
 * is near the bound of G3. The answer waits meanwhile, and then the gates judge it once more.
 *
 * It is asked for only where it can change something: a tier to climb to is there, the client has
 * no text that it would not take back, no stronger tier checks the answer anyway (G4), and the
 * device is cool enough for more work. Its requests are no attempts, because they have no answer:
 * they go to the engine, never through the door, and what they take stands in the record and in a
 * reason. Whatever fails leaves the verdict as it was. */
#include "exchange/parts/part_second.h"

#include "base/core/str.h"
#include "base/json/json_writer.h"
#include "exchange/limits/cost.h"
#include "exchange/machine/climb.h"
#include "exchange/machine/exchange_core.h"
#include "router/watch/agreement.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An answer waits no longer than this for it. */
#define WAIT_MS_MAX 5000
#define SAMPLE_BYTES_MAX (64 * SECOND_TOKENS)

struct second_run {
    struct exchange *exchange;
    struct tier_attempt *running; /* NULL = none */
    struct buf text;
};

/* Few exchanges need it. */
struct second_state {
    enum second_by by;
    size_t tier;
    struct second_run runs[SECOND_SAMPLES_MAX];
    uint32_t run_count, left, agreed, failed;
    struct loop_timer *timer;
    struct tier_ticket ticket;
    struct td_request request;
    struct td_labels labels;
    struct td_message *messages; /* of p_true */
    struct buf answer;
    double begin_ms, ms, first, value; /* NAN: there is none */
    struct tier_usage usage;           /* of all runs */
};

/* NULL: it was not asked for. */
static struct second_state *state_of(const struct exchange *ex)
{
    return *(struct second_state **)part_state(ex, &part_second);
}

/* --- whether --- */

static bool is_in_doubt(const struct exchange *ex)
{
    const struct gate_verdict *verdict = &ex->lane->verdict;
    return verdict->token_count == 0 && (!verdict->left_by || gate_is_low(verdict->left_by)) &&
           fabs(verdict->confidence - verdict->threshold) <= ex->lane->gates.second_band;
}

static bool can_change_it(const struct exchange *ex)
{
    return ex->current->gated && exchange_can_climb(ex) && !exchange_is_stuck(ex) &&
           !exchange_is_hopeless(ex) && !lane_beside(ex) &&
           ex->verification.state == VERIFICATION_NONE;
}

static bool can_be_asked(const struct exchange *ex)
{
    const struct confidence *confidence = &ex->lane->confidence;
    int by = ex->lane->gates.second;
    return confidence->model && confidence->model->second.by == (enum second_by)by &&
           confidence->model->second.second > 0 && !ex->facts[ex->current->tier].provider &&
           !confidence->calls && !tier_cache_is_kept(ex->current->cache) && ex->lane->hold_whole &&
           request_is_words_alone(&ex->request) && !ex->request.continues && !ex->request.labels &&
           !ex->staying && (by == SECOND_P_TRUE || ex->request.format == TD_FORMAT_TEXT) &&
           ex->signals.moment.device_level < DEVICE_HOT && !ex->signals.moment.battery_low;
}

/* --- asking --- */

/* What both kinds share: words alone, in few tokens, and nothing of it kept for others. */
static void begin_request(const struct exchange *ex, struct second_state *own)
{
    struct td_request *request = &own->request;
    *request = *outgoing_plain(ex, &ex->facts[own->tier]);
    request->tokens_max = SECOND_TOKENS;
    request->streamed = request->logprobs = request->corrections = false;
    request->cache = CACHE_OFF;
    request->sampling.temperature = SECOND_TEMPERATURE;
    request->left_to_model &= ~(unsigned)SETTING_TEMPERATURE;
}

/* The conversation, the answer, and the question whether it is right. */
static bool write_p_true(struct second_state *own)
{
    struct td_request *request = &own->request;
    size_t count = request->message_count;
    own->messages = malloc((count + 2) * sizeof *own->messages);
    if (!own->messages)
        return false;
    memcpy(own->messages, request->messages, count * sizeof *own->messages);
    own->messages[count] =
        (struct td_message){.role = TD_ROLE_ASSISTANT, .content = buf_view(&own->answer)};
    own->messages[count + 1] =
        (struct td_message){.role = TD_ROLE_USER, .content = str_from(SECOND_QUESTION)};
    own->labels = (struct td_labels){.texts = second_labels, .count = SECOND_LABELS};
    request->messages = own->messages;
    request->message_count = count + 2;
    request->parts = NULL;
    request->labels = &own->labels;
    request->format = TD_FORMAT_TEXT;
    request->grammar = NULL;
    return true;
}

static void stop(struct exchange *ex, struct second_state *own)
{
    for (uint32_t i = 0; i < own->run_count; i++)
        if (own->runs[i].running) {
            tier_cancel(ex->services->tiers[own->tier], own->runs[i].running);
            own->runs[i].running = NULL;
        }
    if (own->timer)
        loop_timer_stop(ex->loop, own->timer);
    tier_health_leave(ex->services->health, own->tier, &own->ticket, NULL,
                      (uint64_t)exchange_now_ms(ex));
}

/* --- what it says --- */

static void explain(struct exchange *ex, const struct second_state *own, double confidence)
{
    const char *name = ex->facts[own->tier].name;
    if (isnan(confidence))
        plan_add_reason(&ex->plan, REASON_SECOND_SIGNAL, name,
                        "no second signal (%s) came in %.0f ms", second_names[own->by], own->ms);
    else
        plan_add_reason(&ex->plan, REASON_SECOND_SIGNAL, name,
                        "%s says %.2f, so confidence %.2f becomes %.2f: it took %.0f ms, %u tokens "
                        "read and %u written",
                        second_names[own->by], own->value, own->first, confidence, own->ms,
                        own->usage.prompt_tokens - own->usage.cached_tokens,
                        own->usage.completion_tokens);
}

static void conclude(struct exchange *ex, struct second_state *own)
{
    double confidence = NAN;
    stop(ex, own);
    own->ms = exchange_now_ms(ex) - own->begin_ms;
    if (own->by == SECOND_AGREEMENT && own->failed == 0 && own->left == 0)
        own->value = second_agreement(own->agreed, own->run_count);
    if (!isnan(own->value))
        confidence = second_combine(&ex->lane->confidence.model->second, own->first, own->value);
    ex->current->cost_usd += cost_usd(&ex->facts[own->tier], &own->usage);
    explain(ex, own, confidence);
    climb_weigh(ex, confidence);
}

static void on_piece(void *ctx, const struct tier_piece *piece)
{
    struct second_run *run = ctx;
    struct second_state *own = state_of(run->exchange);
    if (piece->label_count == SECOND_LABELS)
        own->value = second_p_true(piece->label_scores);
    if (run->text.len + piece->text.len <= SAMPLE_BYTES_MAX)
        buf_append_str(&run->text, piece->text);
}

static void on_done(void *ctx, const struct tier_result *result)
{
    struct second_run *run = ctx;
    struct exchange *ex = run->exchange;
    struct second_state *own = state_of(ex);
    exchange_enter(ex);
    run->running = NULL;
    own->left--;
    own->failed += result->status != TD_OK;
    own->usage.prompt_tokens += result->usage.prompt_tokens;
    own->usage.cached_tokens += result->usage.cached_tokens;
    own->usage.completion_tokens += result->usage.completion_tokens;
    if (result->status == TD_OK && own->by == SECOND_AGREEMENT)
        own->agreed += answers_agree(COMPARE_MEANING, buf_view(&own->answer), buf_view(&run->text),
                                     result->finish == TD_FINISH_LENGTH);
    if (own->left == 0 || own->failed > 0)
        conclude(ex, own);
    exchange_leave(ex);
}

static void on_timer(void *ctx)
{
    struct exchange *ex = ctx;
    exchange_enter(ex);
    conclude(ex, state_of(ex));
    exchange_leave(ex);
}

/* Several samples are several requests, which the engine computes together. */
static bool start(struct exchange *ex, struct second_state *own)
{
    struct tier_state why = {0};
    const struct tier_entry entry = exchange_entry(ex, own->tier);
    uint32_t count = own->by == SECOND_P_TRUE ? 1 : ex->lane->gates.second_samples;
    own->timer = loop_timer_new(ex->loop, on_timer, ex);
    if (!own->timer || !tier_health_enter(ex->services->health, own->tier, &entry,
                                          (uint64_t)exchange_now_ms(ex), &own->ticket, &why))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        struct second_run *run = &own->runs[i];
        const struct tier_sink sink = {
            .on_piece = on_piece, .on_done = on_done, .ctx = run, .pass = &ex->lane->pass};
        run->exchange = ex;
        buf_init(&run->text, SAMPLE_BYTES_MAX);
        own->request.sampling.seed += i > 0; /* else every sample is the same */
        if (tier_start(ex->services->tiers[own->tier], ex->loop, &own->request, &sink,
                       &run->running, NULL) != TD_OK)
            return false;
        own->run_count = own->left = i + 1;
    }
    loop_timer_start(ex->loop, own->timer, WAIT_MS_MAX);
    return true;
}

static bool judged(struct exchange *ex, void *state)
{
    struct second_state **kept = state, *own;
    if (ex->lane->gates.second == SECOND_OFF || *kept || !is_in_doubt(ex) || !can_change_it(ex) ||
        !can_be_asked(ex) || !(own = calloc(1, sizeof *own)))
        return false;
    *kept = own;
    own->by = (enum second_by)ex->lane->gates.second;
    own->tier = ex->current->tier;
    own->first = ex->lane->verdict.confidence;
    own->value = NAN;
    own->begin_ms = exchange_now_ms(ex);
    buf_init(&own->answer, HOLD_BYTES_MAX);
    hold_text(&ex->lane->hold, &own->answer);
    begin_request(ex, own);
    if (!own->answer.failed && (own->by != SECOND_P_TRUE || write_p_true(own)) && start(ex, own)) {
        ex->waiting = ex->lane;
        return true;
    }
    stop(ex, own);
    explain(ex, own, NAN);
    return false;
}

void part_second_write(const struct exchange *ex, struct json_writer *to)
{
    const struct second_state *own = state_of(ex);
    if (!own)
        return;
    json_writer_open(to, "second", '{');
    json_writer_text(to, "by", second_names[own->by]);
    json_writer_text(to, "tier", ex->facts[own->tier].name);
    json_writer_double(to, "first", own->first);
    if (!isnan(own->value))
        json_writer_double(to, "value", own->value);
    json_writer_double(to, "ms", own->ms);
    json_writer_int(to, "prompt_tokens", own->usage.prompt_tokens);
    json_writer_int(to, "cached_tokens", own->usage.cached_tokens);
    json_writer_int(to, "completion_tokens", own->usage.completion_tokens);
    json_writer_close(to, '}');
}

/* --- the end --- */

static void ended(struct exchange *ex, void *state, enum exchange_end how)
{
    struct second_state **own = state;
    (void)how;
    if (*own)
        stop(ex, *own);
}

static void release(struct exchange *ex, void *state)
{
    struct second_state *own = *(struct second_state **)state;
    if (!own)
        return;
    loop_timer_free(ex->loop, own->timer);
    for (uint32_t i = 0; i < SECOND_SAMPLES_MAX; i++)
        buf_deinit(&own->runs[i].text);
    buf_deinit(&own->answer);
    free(own->messages);
    free(own);
}

const struct exchange_part part_second = {
    .name = "second",
    .state_bytes = sizeof(struct second_state *),
    .judged = judged,
    .ended = ended,
    .release = release,
};
