/* What the client is told, and the ends of an exchange.
 *
 * Pieces are held back until the commit point and then shown in order. Whose text it is, is
 * announced before. A client may cancel inside of every event, so each one is followed by a look at
 * `ended`. */
#include "exchange/machine/answer.h"

#include "base/core/assertion.h"
#include "base/core/str.h"
#include "exchange/limits/cost.h"
#include "exchange/machine/exchange_core.h"
#include "exchange/machine/recording.h"
#include "exchange/private/conversation_id.h"
#include "tier/openai/openai_delta.h"

#include <math.h>
#include <stdlib.h>

/* A second-best answer: after a failure, below the bar, of several tiers, cut at the deadline,
 * or to spare the device, because a budget took dearer tiers away, of a tier that stands in for
 * a busy one, or of a model that stands in for another. */
static bool is_degraded(const struct exchange *ex, const struct attempt *by)
{
    const struct model_fault *fault = ex->facts[by->tier].model_fault;
    bool alone = ex->staying && ex->staying->alone;
    return alone || by->fallback || by->low || by->cut || by->eased || ex->review.pending ||
           ex->plan.spent || disclosure_stands_in(ex, by) || ex->continuation.seam_count > 0 ||
           (fault && !fault->is_loading);
}

/* There is something to say of the answer. */
static bool is_disclosed(const struct exchange *ex, const struct attempt *by)
{
    return is_degraded(ex, by) || by->cache == TIER_CACHE_SIMILAR ||
           staying_from(ex, &ex->facts[by->tier]);
}

static void disclose(struct exchange *ex)
{
    if (is_disclosed(ex, ex->current))
        disclosure_write(ex, is_degraded(ex, ex->current), ex->answer.disclosure);
}

/* What the cloud alone would have charged for what the client got. It is assumed to write as much
 * as the tier that answered. */
static void price_all_cloud(const struct exchange *ex, const struct attempt *by,
                            struct exchange_summary *summary)
{
    size_t cloud = ex->services->all_cloud_tier;
    if (cloud >= ex->services->tier_count || !ex->answer.visible)
        return;
    const struct tier_facts *facts = &ex->facts[cloud];
    struct token_ratio ratio;
    token_counts_read(ex->services->token_counts, facts, &ratio);
    summary->all_cloud_basis = ratio.learnt ? BASIS_RATIO : BASIS_PRIOR;
    const struct attempt *first = ex->continuation.first;
    if (first) { /* of several tiers: as if the cloud had written it in one go */
        summary->all_cloud_cost_usd =
            cost_of_text(facts, &ratio, first->prompt_estimate, ex->answer.text.len);
        return;
    }
    if (by->tier != cloud) {
        summary->all_cloud_cost_usd =
            cost_of_text(facts, &ratio, by->prompt_estimate, by->answer_bytes);
        return;
    }
    summary->all_cloud_cost_usd = by->cost_usd + by->saved_usd;
    if (by->usage.exact)
        summary->all_cloud_basis = BASIS_CLOUD;
}

void answer_summarize(struct exchange *ex, const struct attempt *by)
{
    struct exchange_summary *summary = &ex->answer.summary;
    *summary = (struct exchange_summary){
        .id = ex->id,
        .tenant = ex->request.tenant,
        .confidence = NAN,
        .data_class = ex->signals.data_class,
        .route = ex->plan.route->name,
        .reduced = ex->plan.reduced,
        .ttft_ms = ex->answer.ttft_ms,
        .total_ms = exchange_now_ms(ex) - ex->created_ms,
        .deadline_ms = ex->deadline.total_ms,
        .deadline_missed = ex->deadline.passed,
        .reasons = ex->plan.reasons,
        .reason_count = ex->plan.reason_count,
        .attempt_count = (uint32_t)ex->attempt_count,
    };
    for (size_t i = 0; i < ex->attempt_count; i++) {
        summary->cost_usd += ex->attempts[i]->cost_usd;
        summary->cache_saved_usd += ex->attempts[i]->saved_usd;
        summary->egress_bytes += ex->attempts[i]->egress_bytes;
    }
    if (!by)
        return;
    summary->cache = by->cache;
    summary->cache_facts = by->cache_facts;
    summary->tier = ex->facts[by->tier].name;
    summary->model = ex->facts[by->tier].model;
    summary->place = ex->facts[by->tier].place;
    summary->confidence = by->outcome != ATTEMPT_OPEN
                              ? by->confidence
                              : confidence_value(&ex->lane->confidence); /* so far */
    summary->pending = ex->review.pending != NULL;
    summary->review = ex->hopeless || summary->pending ||
                      (by->outcome != ATTEMPT_OPEN && by->confidence < ex->plan.gates.human_under);
    summary->finish = by->finish;
    summary->stop_number = by->stop_number;
    if (by->first_ms > 0)
        summary->first_token_ms = by->start_ms + by->first_ms;
    summary->usage = continuation_usage(ex, by);
    summary->seams = ex->continuation.seams;
    summary->seam_count = ex->continuation.seam_count;
    if (summary->seam_count > 0)
        summary->confidence = NAN; /* nobody has judged the whole */
    summary->verification = ex->verification;
    if (ex->checker)
        summary->verification.cost_usd = ex->checker->cost_usd;
    summary->documents = ex->staying ? &ex->staying->facts : NULL;
    summary->pseudonyms = by->pseudonyms;
    summary->left_out = by->left_out;
    summary->degraded = is_degraded(ex, by);
    summary->disclosure = is_disclosed(ex, by) ? ex->answer.disclosure : NULL;
    price_all_cloud(ex, by, summary);
}

static void emit(struct exchange *ex, enum exchange_event_kind kind, const struct tier_piece *piece)
{
    struct exchange_event event = {.kind = kind, .piece = piece, .summary = &ex->answer.summary};
    ex->answer.on_event(ex->answer.ctx, &event);
}

struct prefix {
    struct td_str shown;
    size_t bytes;
};

static bool match(void *ctx, const struct tier_piece *piece)
{
    struct prefix *prefix = ctx;
    size_t len = 0, left = prefix->shown.len - prefix->bytes;
    if (piece->raw_delta && !openai_delta_is_text(piece->raw_delta))
        return false;
    while (len < piece->text.len && len < left &&
           piece->text.data[len] == prefix->shown.data[prefix->bytes + len])
        len++;
    prefix->bytes += len;
    return len == piece->text.len;
}

/* How much of what the client has seen the new answer begins with, as far as it has come. Only
 * words can stay: of anything else clients keep more than its text. */
static size_t shared_bytes(const struct exchange *ex)
{
    struct prefix prefix = {.shown = buf_view(&ex->answer.text)};
    if (!ex->request.streamed || !ex->answer.keeps_text || ex->answer.text.failed ||
        ex->request.logprobs || ex->continuation.sealed)
        return 0;
    hold_replay(ex->current == ex->kept ? &ex->kept_hold : &ex->lane->hold, match, &prefix);
    while (prefix.bytes > 0 && prefix.bytes < prefix.shown.len &&
           ((unsigned char)prefix.shown.data[prefix.bytes] & 0xC0) == 0x80)
        prefix.bytes--;
    return prefix.bytes;
}

/* The text of another attempt takes the place of what was shown, but for a common beginning. */
static void begin_correction(struct exchange *ex)
{
    struct answer *answer = &ex->answer;
    size_t stays = shared_bytes(ex), characters = 0;
    for (size_t i = 0; i < stays; i++)
        characters += ((unsigned char)answer->text.data[i] & 0xC0) != 0x80;
    buf_truncate(&answer->text, stays);
    answer->skip_bytes = stays;
    answer->heard = conversation_id_hear(CONVERSATION_ID_SILENCE, buf_view(&answer->text));
    answer->visible = stays > 0;
    ex->verification.at_chars = characters;
}

/* Announces whose text follows: the first time as the start, later as a correction. Where nothing
 * can be taken back, it goes on with what was shown, and the summary has the seam. */
static void announce(struct exchange *ex)
{
    const struct attempt *before = ex->answer.shown;
    if (before == ex->current)
        return;
    bool seam = exchange_is_stuck(ex);
    ex->answer.shown = ex->current;
    if (seam) {
        continuation_add_seam(ex, before);
    } else if (before) {
        begin_correction(ex);
    }
    disclose(ex);
    answer_summarize(ex, ex->current);
    if (!seam)
        emit(ex, before ? EXCHANGE_CORRECTION : EXCHANGE_START, NULL);
}

/* False when the client went away meanwhile. */
static bool show(void *ctx, const struct tier_piece *piece)
{
    struct exchange *ex = ctx;
    struct tier_piece rest;
    announce(ex);
    if (ex->ended)
        return false;
    if (ex->answer.skip_bytes > 0) {
        if (piece->text.len <= ex->answer.skip_bytes) {
            ex->answer.skip_bytes -= piece->text.len;
            return true;
        }
        rest = *piece;
        rest.text = str_slice(piece->text, ex->answer.skip_bytes, piece->text.len);
        rest.raw_delta = NULL;
        ex->answer.skip_bytes = 0;
        piece = &rest;
    }
    if (!ex->answer.visible && piece_is_visible(piece)) {
        ex->answer.visible = true;
        if (ex->answer.ttft_ms <= 0 || !ex->request.streamed)
            ex->answer.ttft_ms = exchange_now_ms(ex) - ex->created_ms;
        ex->answer.summary.ttft_ms = ex->answer.ttft_ms;
    }
    if (ex->answer.keeps_text)
        buf_append_str(&ex->answer.text, piece->text);
    ex->answer.heard = conversation_id_hear(ex->answer.heard, piece->text);
    continuation_note(ex, piece);
    emit(ex, EXCHANGE_TEXT, piece);
    return !ex->ended;
}

static bool commit_is_due(const struct exchange *ex, const struct tier_piece *piece)
{
    if (!ex->lane->hold_visible)
        return false;
    if (ex->verification.state == VERIFICATION_PROVISIONAL && ex->request.corrections)
        return true; /* the client knows that it may be replaced */
    if (!ex->current->gated || !exchange_can_climb(ex))
        return true; /* nothing would make us leave */
    if (answer_values_open(&ex->lane->values))
        return false; /* nothing that it says is worth keeping yet */
    if (ex->current->urgent && ex->lane->verdict.left_by)
        return false; /* the better one may still come in time */
    /* A tier without stats is not judged, so holding its text back would gain nothing. */
    return ex->lane->token_count >= ex->plan.gates.commit_tokens ||
           (ex->lane->token_count == 0 && !piece->has_stats);
}

/* Shows what is held back. Clients whose text can be replaced may get the old answer back, so it
 * is kept. */
static void commit(struct exchange *ex)
{
    ex->lane->committed = true;
    parts_committing(ex);
    hold_replay(&ex->lane->hold, show, ex);
    if (!exchange_takes_back(ex))
        hold_deinit(&ex->lane->hold);
}

/* The text of an answer in a format, or the arguments of its calls. */
static void read_values(struct answer_values *values, const struct tier_piece *piece)
{
    struct delta_reader reader;
    struct delta_part part;
    if (!answer_values_open(values))
        return;
    answer_values_add(values, piece->text);
    openai_delta_read(&reader, piece->raw_delta);
    while (openai_delta_next(&reader, &part))
        if (part.kind == DELTA_CALL)
            answer_values_add(values, part.arguments);
}

void answer_add(struct exchange *ex, const struct tier_piece *piece)
{
    ASSERT(!ex->ended);
    read_values(&ex->lane->values, piece);
    bool checked = ex->verification.state != VERIFICATION_NONE;
    bool keep =
        !ex->lane->committed || (exchange_takes_back(ex) && (ex->current->gated || checked));
    bool held = keep && hold_add(&ex->lane->hold, piece);
    ex->lane->hold_whole = ex->lane->hold_whole && held;
    if (ex->lane->committed) {
        show(ex, piece);
        return;
    }
    ex->lane->hold_visible = ex->lane->hold_visible || piece_is_visible(piece);
    if (ex->lane->withheld && (held || ex->lane->checks))
        return; /* what is too long to be held is no check, and is shown where it is the answer */
    ex->lane->withheld = false;
    if (held && !commit_is_due(ex, piece))
        return;
    commit(ex);
    if (!held && !ex->ended)
        show(ex, piece);
}

/* --- the ends --- */

void answer_tell_provisional(struct exchange *ex)
{
    answer_summarize(ex, ex->current);
    emit(ex, EXCHANGE_PROVISIONAL, NULL);
}

/* The client that saw a provisional answer learns what became of it. A correction has said it. */
static void tell_verdict(struct exchange *ex)
{
    struct verification *verification = &ex->verification;
    if (verification->state == VERIFICATION_PROVISIONAL) /* the time was over before */
        verification->state = VERIFICATION_TIMEOUT;
    ex->answer.summary.verification.state = verification->state;
    if (verification->state == VERIFICATION_NONE || ex->answer.told_verdict)
        return;
    ex->answer.told_verdict = true;
    emit(ex, EXCHANGE_VERDICT, NULL);
}

/* Where each attempt led: to the next one, or back to one whose answer was good enough. */
static void summarize_steps(struct exchange *ex)
{
    struct exchange_summary *summary = &ex->answer.summary;
    free(ex->answer.steps);
    ex->answer.steps = calloc(ex->attempt_count + 1, sizeof *ex->answer.steps);
    for (size_t i = 0; i < ex->attempt_count && ex->answer.steps; i++) {
        const struct attempt *attempt = ex->attempts[i];
        bool last = i + 1 == ex->attempt_count;
        struct exchange_step *step = &ex->answer.steps[i];
        *step = (struct exchange_step){.tier = ex->facts[attempt->tier].name,
                                       .why_left = attempt->why_left,
                                       .retry_count = attempt->retry_count};
        if (attempt->why_left)
            step->next = !last                      ? ex->facts[ex->attempts[i + 1]->tier].name
                         : summary->end == ENDED_OK ? summary->tier
                                                    : NULL;
    }
    summary->steps = ex->answer.steps;
    summary->attempts = (const struct attempt *const *)ex->attempts;
    summary->facts = ex->facts;
    summary->trace = ex->request.keep_nothing ? NULL : &ex->trace;
    summary->completes = ex->request.completion != NULL;
}

/* A client that leaves before the time is up says nothing of it. */
static enum objective_result judge_objective(uint32_t asked_ms, double took_ms, bool reached,
                                             enum exchange_end how)
{
    if (asked_ms == 0 || (how == ENDED_CANCELLED && !reached && took_ms <= asked_ms))
        return OBJECTIVE_NONE;
    return reached && took_ms <= asked_ms ? OBJECTIVE_HIT : OBJECTIVE_MISSED;
}

static void summarize_end(struct exchange *ex, enum exchange_end how)
{
    struct exchange_summary *summary = &ex->answer.summary;
    summary->end = how;
    bool began = ex->answer.ttft_ms > 0;
    summary->objective_ttft = judge_objective(
        ex->request.slo_ttft_ms, began ? ex->answer.ttft_ms : summary->total_ms, began, how);
    summary->objective_total =
        judge_objective(ex->request.slo_ms, summary->total_ms, how == ENDED_OK, how);
    summarize_steps(ex);
}

/* A prompt that is only scored has no answer to see. */
static enum answer_standing standing_of(const struct exchange *ex, enum exchange_end how)
{
    const struct td_completion *completion = ex->request.completion;
    bool scored = how == ENDED_OK && completion && completion->prompt_only;
    if (how == ENDED_FAILED || !(ex->answer.visible || scored))
        return ANSWER_NONE;
    return ex->answer.summary.degraded ? ANSWER_DEGRADED : ANSWER_FULL;
}

static void end(struct exchange *ex, enum exchange_end how)
{
    ASSERT(!ex->ended);
    struct exchange_summary *summary = &ex->answer.summary;
    for (size_t i = 0; i < LANES_MAX; i++) /* nothing of it may call back any more */
        lane_stop(&ex->lanes[i], ATTEMPT_CANCELLED);
    summarize_end(ex, how);
    summary->standing = standing_of(ex, how);
    if (summary->standing == ANSWER_NONE) {
        summary->all_cloud_cost_usd = 0;
        summary->all_cloud_basis = BASIS_NONE;
    }
    ex->ended = true;
    loop_timer_stop(ex->loop, ex->step_timer);
    deadline_end(ex);
    parts_ended(ex, how);
    if (how == ENDED_OK)
        review_learn(ex);
}

/* --- the last event --- */

static void tell_last(struct exchange *ex)
{
    struct answer *answer = &ex->answer;
    if (answer->unrecorded) {
        answer->summary.end = ENDED_FAILED;
        answer->last = (struct exchange_event){
            .kind = EXCHANGE_FAILED,
            .summary = &answer->summary,
            .status = TD_UNAVAILABLE,
            .message = "the exchange could not be recorded, and without a record no answer ends",
        };
    }
    answer->on_event(answer->ctx, &answer->last);
}

static void on_recorded(void *ctx)
{
    struct exchange *ex = ctx;
    ex->answer.unrecorded = recording_end(ex->loop, ex->answer.recording) != TD_OK;
    ex->answer.recording = NULL;
    tell_last(ex);
    exchange_leave(ex); /* entered when the waiting began */
}

struct recording *answer_await_record(struct exchange *ex)
{
    ex->answer.recording = recording_begin(ex->loop, on_recorded, ex);
    ex->answer.unrecorded = !ex->answer.recording;
    return ex->answer.recording;
}

/* Now, or when the record is written. */
static void end_with(struct exchange *ex, enum exchange_end how, const struct exchange_event *last)
{
    ex->answer.last = *last;
    end(ex, how);
    if (ex->answer.recording)
        exchange_enter(ex);
    else
        tell_last(ex);
}

static void end_given(struct exchange *ex)
{
    struct exchange_event last = {.kind = EXCHANGE_DONE, .summary = &ex->answer.summary};
    if (ex->answer.rejected) {
        last.kind = EXCHANGE_FAILED;
        last.status = TD_UNSUPPORTED;
        last.message = "the answer could not be given in the form of this endpoint";
    }
    end_with(ex, ex->answer.rejected ? ENDED_FAILED : ENDED_OK, &last);
}

/* Whoever writes the answer for the client may reject it, or hold it until others are there. */
static void end_answered(struct exchange *ex)
{
    summarize_end(ex, ENDED_OK);
    emit(ex, EXCHANGE_COMPLETE, NULL);
    if (ex->ended)
        return;
    if (!ex->answer.held || ex->answer.rejected) {
        end_given(ex);
        return;
    }
    for (size_t i = 0; i < LANES_MAX; i++)
        lane_stop(&ex->lanes[i], ATTEMPT_CANCELLED);
    loop_timer_stop(ex->loop, ex->step_timer);
    deadline_end(ex);
}

void exchange_hold(struct exchange *ex)
{
    ASSERT(!ex->ended);
    ex->answer.held = true;
}

void exchange_give(struct exchange *ex)
{
    ASSERT(ex->answer.held && !ex->ended);
    ex->answer.held = false;
    exchange_enter(ex);
    end_given(ex);
    exchange_leave(ex);
}

void answer_show_held(struct exchange *ex)
{
    if (!ex->lane->committed)
        commit(ex);
}

void answer_give_cut(struct exchange *ex)
{
    ASSERT(ex->lane->attempt == ex->current);
    ex->current->outcome = attempt_answered(ex->current);
    ex->current->status = TD_OK;
    ex->current->finish = TD_FINISH_LENGTH;
    plan_add_reason(&ex->plan, REASON_KEPT_LAST, ex->facts[ex->current->tier].name,
                    "the answer is what had come until then");
    attempt_take_rest(ex);
    if (!ex->ended)
        answer_finish(ex);
}

void answer_finish(struct exchange *ex)
{
    if (!ex->lane->committed)
        commit(ex);
    if (ex->ended)
        return;
    disclose(ex);
    announce(ex);
    /* An empty answer of a tier that could not do better is replaced by its disclosure. */
    if (!ex->ended && !ex->answer.visible && ex->answer.summary.degraded &&
        !ex->request.completion) {
        struct tier_piece piece = {.text = str_from(ex->answer.disclosure)};
        show(ex, &piece);
    }
    if (ex->ended)
        return;
    if (ex->current->confidence < ex->plan.gates.human_under)
        plan_add_reason(&ex->plan, REASON_REVIEW, ex->facts[ex->current->tier].name,
                        "confidence %.2f is below %.2f: a person should look at it",
                        ex->current->confidence, ex->plan.gates.human_under);
    answer_summarize(ex, ex->current);
    tell_verdict(ex);
    if (!ex->ended)
        end_answered(ex);
}

void answer_give_kept(struct exchange *ex)
{
    ASSERT(ex->kept);
    ex->current = ex->kept;
    ex->current->outcome = ATTEMPT_ANSWERED;
    plan_add_reason(&ex->plan, REASON_KEPT_LAST, ex->facts[ex->current->tier].name,
                    "no better answer could be had");
    disclosure_write(ex, true, ex->answer.disclosure);
    if (ex->verification.state == VERIFICATION_CORRECTED)
        ex->verification.state = VERIFICATION_FAILED; /* nothing stands in its place */
    if (ex->answer.shown != ex->kept)
        hold_replay(&ex->kept_hold, show, ex);
    ex->lane->committed = true;
    if (!ex->ended)
        answer_finish(ex);
}

void answer_fail(struct exchange *ex)
{
    const char *param = NULL;
    if (!ex->request.streamed) { /* nobody has seen anything */
        ex->answer.shown = NULL;
        buf_clear(&ex->answer.text);
    }
    answer_summarize(ex, ex->answer.shown);
    char short_of[MESSAGE_BYTES];
    ex->answer.message = malloc(MESSAGE_BYTES); /* once: an exchange ends once */
    char *message = ex->answer.message;
    enum td_status status = disclosure_failure(ex, message ? message : short_of, &param);
    const struct exchange_event last = {
        .kind = EXCHANGE_FAILED,
        .summary = &ex->answer.summary,
        .status = status,
        .upstream_denied = status == TD_DENIED && disclosure_upstream_denied(ex),
        .retry_after_s = disclosure_retry_after_s(ex),
        .message = message ? message : "no memory to say what failed",
        .refusal = ex->plan.rung_count ? disclosure_refusal(ex, status) : NULL,
        .param = param,
    };
    end_with(ex, ENDED_FAILED, &last);
}

void answer_cancel(struct exchange *ex)
{
    answer_summarize(ex, ex->answer.shown);
    end(ex, ex->answer.rejected ? ENDED_FAILED : ENDED_CANCELLED);
    if (ex->answer.recording) /* nobody waits for it */
        (void)recording_end(ex->loop, ex->answer.recording);
    ex->answer.recording = NULL;
    emit(ex, EXCHANGE_CANCELLED, NULL);
}

void answer_cancel_last(struct exchange *ex)
{
    if (!ex->answer.recording)
        return;
    (void)recording_end(ex->loop, ex->answer.recording);
    ex->answer.recording = NULL;
    emit(ex, EXCHANGE_CANCELLED, NULL);
    exchange_leave(ex);
}

void exchange_reject(struct exchange *ex, const char *why)
{
    ex->answer.rejected = true;
    plan_add_reason(&ex->plan, REASON_NOT_GIVEN,
                    ex->current ? ex->facts[ex->current->tier].name : "", "not given: %s", why);
}

const char *verification_state_name(enum verification_state state)
{
    static const char *const names[] = {NULL,        "provisional", "committed",
                                        "corrected", "timeout",     "failed"};
    ASSERT((unsigned)state < sizeof names / sizeof *names);
    return names[state];
}
