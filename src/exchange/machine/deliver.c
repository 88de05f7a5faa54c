/* What the client is told, and the ends of an exchange.
 *
 * Pieces are held back until the commit point and then shown in order; whose text it is was
 * announced before. Every emit may lead to exchange_cancel, so each is followed by a look at
 * `ended`. */
#include "base/str.h"
#include "exchange/machine/exchange_internal.h"

#include <math.h>

double exchange_now_ms(const struct exchange *ex)
{
    return clock_monotonic_ms(ex->services->clock);
}

struct tier_usage exchange_usage_so_far(uint32_t prompt_tokens, uint64_t tokens, uint64_t bytes)
{
    tokens += (bytes + 3) / 4;
    return (struct tier_usage){
        .prompt_tokens = prompt_tokens,
        .completion_tokens = tokens < UINT32_MAX ? (uint32_t)tokens : UINT32_MAX,
    };
}

double exchange_cost(const struct tier_facts *facts, const struct tier_usage *usage)
{
    return (usage->prompt_tokens * facts->input_usd_per_mtok +
            usage->completion_tokens * facts->output_usd_per_mtok) /
           1e6;
}

/* Second best: after a failure, below the bar, or because a budget took what was dearer away. */
static bool is_degraded(const struct exchange *ex, const struct attempt *by)
{
    return by->fallback || by->low || ex->plan.spent;
}

void deliver_summarize(struct exchange *ex, const struct attempt *by)
{
    struct exchange_summary *summary = &ex->summary;
    *summary = (struct exchange_summary){
        .id = ex->id,
        .confidence = NAN,
        .data_class = ex->signals.data_class,
        .route = ex->plan.route->name,
        .reduced = ex->plan.reduced,
        .ttft_ms = ex->ttft_ms,
        .total_ms = exchange_now_ms(ex) - ex->created_ms,
        .reasons = ex->plan.reasons,
        .reason_count = ex->plan.reason_count,
        .attempt_count = (uint32_t)ex->attempt_count,
    };
    for (size_t i = 0; i < ex->attempt_count; i++)
        summary->cost_usd += ex->attempts[i].cost_usd;
    if (!by)
        return;
    summary->tier = ex->facts[by->tier].name;
    summary->model = ex->facts[by->tier].model;
    summary->place = ex->facts[by->tier].place;
    summary->confidence =
        by->outcome ? by->confidence : confidence_value(&ex->lane->confidence); /* so far */
    summary->review = ex->hopeless || (by->outcome && by->confidence < ex->plan.gates.human_under);
    summary->finish = by->finish;
    summary->usage = by->usage;
    summary->pseudonyms = by->pseudonyms;
    summary->left_out = by->left_out;
    summary->degraded = is_degraded(ex, by);
    summary->disclosure = summary->degraded ? ex->disclosure : NULL;
    if (ex->services->all_cloud_tier < ex->services->tier_count)
        summary->all_cloud_cost_usd =
            exchange_cost(&ex->facts[ex->services->all_cloud_tier], &by->usage);
}

static void emit(struct exchange *ex, enum exchange_event_kind kind, const struct tier_piece *piece)
{
    struct exchange_event event = {.kind = kind, .piece = piece, .summary = &ex->summary};
    ex->on_event(ex->ctx, &event);
}

/* Announces whose text follows: the first time as the start, later as a correction. */
static void announce(struct exchange *ex)
{
    if (ex->shown == ex->current)
        return;
    bool correction = ex->shown != NULL;
    ex->shown = ex->current;
    if (correction)
        buf_clear(&ex->answer);
    if (is_degraded(ex, ex->current))
        disclosure_write(ex);
    deliver_summarize(ex, ex->current);
    emit(ex, correction ? EXCHANGE_CORRECTION : EXCHANGE_START, NULL);
}

/* False when the client went away meanwhile. */
static bool show(void *ctx, const struct tier_piece *piece)
{
    struct exchange *ex = ctx;
    announce(ex);
    if (ex->ended)
        return false;
    if (!ex->visible && piece_is_visible(piece)) {
        ex->visible = true;
        ex->ttft_ms = ex->summary.ttft_ms = exchange_now_ms(ex) - ex->created_ms;
    }
    if (ex->shadowed || (ex->services->store_prompts && !ex->request.keep_nothing))
        buf_append_str(&ex->answer, piece->text);
    emit(ex, EXCHANGE_TEXT, piece);
    return !ex->ended;
}

/* From the start upward; then what lies below it, nearest first. */
bool attempt_is_above(const struct attempt *attempt, const struct attempt *other)
{
    if (attempt->fallback != other->fallback)
        return other->fallback;
    return attempt->fallback ? attempt->rung < other->rung : attempt->rung > other->rung;
}

bool exchange_can_climb(const struct exchange *ex)
{
    const struct lane *other = hedge_other(ex);
    return ex->rung_next < ex->plan.climb_count ||
           (other && ex->current && attempt_is_above(other->attempt, ex->current));
}

bool exchange_is_stuck(const struct exchange *ex)
{
    return ex->shown && !ex->request.corrections;
}

static bool commit_is_due(const struct exchange *ex, const struct tier_piece *piece)
{
    if (!ex->lane->hold_visible)
        return false;
    if (!ex->current->gated || !exchange_can_climb(ex))
        return true; /* nothing would make us leave */
    /* A tier without stats is not judged: holding it back would gain nothing. */
    return ex->lane->token_count >= ex->plan.gates.commit_tokens ||
           (ex->lane->token_count == 0 && !piece->has_stats);
}

/* Shows what is held back. Clients that take corrections may get the old answer back, so it is
 * kept. */
static void commit(struct exchange *ex)
{
    ex->lane->committed = true;
    hedge_settle(ex);
    hold_replay(&ex->lane->hold, show, ex);
    if (!ex->request.corrections)
        hold_deinit(&ex->lane->hold);
}

void deliver_piece(struct exchange *ex, const struct tier_piece *piece)
{
    bool keep = !ex->lane->committed || (ex->request.corrections && ex->current->gated);
    bool held = keep && hold_add(&ex->lane->hold, piece);
    ex->lane->hold_whole = ex->lane->hold_whole && held;
    if (ex->lane->committed) {
        show(ex, piece);
        return;
    }
    ex->lane->hold_visible = ex->lane->hold_visible || piece_is_visible(piece);
    if (held && !commit_is_due(ex, piece))
        return;
    commit(ex);
    if (!held && !ex->ended)
        show(ex, piece);
}

/* --- the ends --- */

static void end(struct exchange *ex, const char *status)
{
    ex->ended = true;
    loop_timer_stop(ex->loop, ex->step_timer);
    if (ex->deadline_timer)
        loop_timer_stop(ex->loop, ex->deadline_timer);
    hedge_end(ex);
    budget_settle(ex);
    remember_end(ex, strcmp(status, "ok") == 0);
    record_put(ex, status);
    observe_end(ex);
    rollout_end(ex, status);
    if (ex->shadowed && strcmp(status, "ok") == 0)
        shadow_begin(ex);
}

void deliver_answer(struct exchange *ex)
{
    if (!ex->lane->committed)
        commit(ex);
    if (ex->ended)
        return;
    if (is_degraded(ex, ex->current))
        disclosure_write(ex);
    announce(ex);
    /* An answer of nothing at all, from a tier that could not do better, is said in words. */
    if (!ex->ended && !ex->visible && ex->summary.degraded && !ex->request.completion) {
        struct tier_piece piece = {.text = str_from(ex->disclosure)};
        show(ex, &piece);
    }
    if (ex->ended)
        return;
    if (ex->current->confidence < ex->plan.gates.human_under)
        plan_add_reason(&ex->plan, REASON_REVIEW, ex->facts[ex->current->tier].name,
                        "confidence %.2f is below %.2f: a person should look at it",
                        ex->current->confidence, ex->plan.gates.human_under);
    deliver_summarize(ex, ex->current);
    end(ex, "ok");
    emit(ex, EXCHANGE_DONE, NULL);
}

void deliver_kept(struct exchange *ex)
{
    ex->current = ex->kept;
    ex->current->outcome = "answered";
    plan_add_reason(&ex->plan, REASON_KEPT_LAST, ex->facts[ex->current->tier].name,
                    "no better answer could be had");
    disclosure_write(ex);
    if (ex->shown != ex->kept)
        hold_replay(&ex->kept_hold, show, ex);
    ex->lane->committed = true;
    if (!ex->ended)
        deliver_answer(ex);
}

void deliver_failure(struct exchange *ex)
{
    const char *param = NULL;
    deliver_summarize(ex, ex->shown);
    enum td_status status = disclosure_failure(ex, &param);
    end(ex, "failed");
    struct exchange_event event = {
        .kind = EXCHANGE_FAILED,
        .summary = &ex->summary,
        .status = status,
        .upstream_denied = status == TD_DENIED && disclosure_upstream_denied(ex),
        .message = ex->message,
        .param = param,
    };
    ex->on_event(ex->ctx, &event);
}

void deliver_cancelled(struct exchange *ex)
{
    deliver_summarize(ex, ex->shown);
    end(ex, "cancelled");
}
