/* One timer watches two deadlines. That of the first text is kept as soon as a tier has some; a
 * client that streams is then shown it at once. When a deadline passes, what is in hand is the
 * answer: one that was complete, or what has come of one (climb.c, `transitions`).
 *
 * A client that hangs up gets nothing, so its time-out counts a little less than it says. */
#include "exchange/machine/deadline.h"

#include "exchange/machine/climb.h"
#include "exchange/machine/exchange_core.h"

#include <math.h>

/* Of a client's time-out: for the way here and back. */
#define MARGIN_SHARE 20
#define MARGIN_MS_MIN 50
#define MARGIN_MS_MAX 1000
/* How much more than its forecast the device is given: it may be busier than it was. */
#define URGENT_MARGIN 1.5

static uint32_t sooner(uint32_t a, uint32_t b)
{
    return a && b ? (a < b ? a : b) : a + b; /* 0 = none */
}

static uint32_t less_margin(uint32_t timeout_ms)
{
    uint32_t margin = timeout_ms / MARGIN_SHARE;
    margin = margin < MARGIN_MS_MIN ? MARGIN_MS_MIN : margin;
    margin = margin > MARGIN_MS_MAX ? MARGIN_MS_MAX : margin;
    return timeout_ms > 2 * margin ? timeout_ms - margin : (timeout_ms + 1) / 2;
}

uint32_t deadline_of_answer(uint32_t server_ms, const struct td_request *request)
{
    uint32_t ms = sooner(server_ms, request->slo_ms);
    return request->streamed ? ms : sooner(ms, less_margin(request->client_timeout_ms));
}

/* A client that streams hangs up when nothing comes; afterwards the stream is kept alive. */
static void read_limits(struct exchange *ex)
{
    const struct td_request *request = &ex->request;
    struct deadline *deadline = &ex->deadline;
    deadline->total_ms = deadline_of_answer(ex->services->deadline_ms, request);
    deadline->first_ms = request->slo_ttft_ms;
    if (request->streamed)
        deadline->first_ms = sooner(deadline->first_ms, less_margin(request->client_timeout_ms));
}

/* --- the timer --- */

static double passed_ms(const struct exchange *ex)
{
    return exchange_now_ms(ex) - ex->created_ms;
}

static bool has_text(const struct lane *lane)
{
    return lane->committed || (lane->hold_visible && !lane->plans);
}

/* The lane of an attempt that runs and has text, or NULL. */
static struct lane *lane_with_text(struct exchange *ex)
{
    for (size_t i = 0; i < LANES_MAX; i++)
        if (ex->lanes[i].running && has_text(&ex->lanes[i]))
            return &ex->lanes[i];
    return NULL;
}

/* Whether only the deadline of the first text is due, and a tier has some. */
static bool first_is_kept(struct exchange *ex)
{
    const struct deadline *deadline = &ex->deadline;
    bool total_due = deadline->total_ms && passed_ms(ex) >= deadline->total_ms;
    return !total_due && (ex->answer.visible || lane_with_text(ex));
}

static void keep_first(struct exchange *ex)
{
    struct lane *lane = lane_with_text(ex);
    if (lane && ex->request.streamed && !ex->answer.visible) {
        lane_turn_to(ex, lane);
        answer_show_held(ex);
    }
    ex->deadline.first_ms = 0;
    if (!ex->ended)
        deadline_watch(ex);
}

static void on_deadline(void *ctx)
{
    struct exchange *ex = ctx;
    struct deadline *deadline = &ex->deadline;
    exchange_enter(ex);
    if (first_is_kept(ex)) {
        keep_first(ex);
    } else {
        deadline->passed_ms = sooner(deadline->first_ms, deadline->total_ms);
        deadline->passed = true;
        deadline->first_passed = deadline->passed_ms != deadline->total_ms;
        loop_timer_stop(ex->loop, ex->step_timer);
        climb_deadline(ex);
    }
    exchange_leave(ex);
}

bool deadline_init(struct exchange *ex)
{
    read_limits(ex);
    if (ex->deadline.first_ms || ex->deadline.total_ms)
        ex->deadline.timer = loop_timer_new(ex->loop, on_deadline, ex);
    return ex->deadline.timer || !(ex->deadline.first_ms || ex->deadline.total_ms);
}

void deadline_release(struct exchange *ex)
{
    loop_timer_free(ex->loop, ex->deadline.timer);
}

void deadline_watch(struct exchange *ex)
{
    uint32_t next_ms = sooner(ex->deadline.first_ms, ex->deadline.total_ms);
    double left_ms = ceil(next_ms - passed_ms(ex));
    if (next_ms)
        loop_timer_start(ex->loop, ex->deadline.timer, left_ms > 0 ? (uint64_t)left_ms : 0);
}

void deadline_end(struct exchange *ex)
{
    if (ex->deadline.timer)
        loop_timer_stop(ex->loop, ex->deadline.timer);
}

/* --- what is left --- */

static double left_ms(const struct exchange *ex, uint32_t deadline_ms)
{
    return deadline_ms ? fmax(deadline_ms - passed_ms(ex), 0) : (double)INFINITY;
}

uint32_t deadline_left_for_attempt(const struct exchange *ex)
{
    uint32_t total_ms = ex->deadline.total_ms;
    return total_ms ? (uint32_t)fmax(left_ms(ex, total_ms), 1) : 0;
}

static bool is_late(const struct exchange *ex, size_t rung, char why[static REASON_TEXT_BYTES])
{
    size_t tier = ex->plan.rungs[rung];
    double first = ex->answer.visible ? (double)INFINITY : left_ms(ex, ex->deadline.first_ms);
    return plan_explain_slow(&ex->facts[tier], &ex->states[tier], first,
                             left_ms(ex, ex->deadline.total_ms), why);
}

void deadline_skip_rungs(struct exchange *ex, bool in_hand)
{
    char why[REASON_TEXT_BYTES], other[REASON_TEXT_BYTES];
    while (ex->rung_next < ex->plan.rung_count && is_late(ex, ex->rung_next, why)) {
        size_t rung = ex->rung_next + 1;
        while (rung < ex->plan.rung_count && is_late(ex, rung, other))
            rung++;
        if (!in_hand && rung == ex->plan.rung_count)
            return;
        plan_add_reason(&ex->plan, REASON_REMOVED_TOO_SLOW,
                        ex->facts[ex->plan.rungs[ex->rung_next]].name, "%s", why);
        ex->rung_next++;
    }
}

/* Half of what is left when it is not known what the device needs, or when it is not enough. */
static double patience_ms(double left, double forecast)
{
    double enough = left - URGENT_MARGIN * forecast;
    return forecast > 0 && enough > left / 2 ? enough : left / 2;
}

double deadline_patience_ms(const struct exchange *ex, size_t device)
{
    const struct tier_state *state = &ex->states[device];
    double first = left_ms(ex, ex->answer.visible ? 0 : ex->deadline.first_ms);
    double ms = fmin(patience_ms(first, state->forecast_ttft_ms),
                     patience_ms(left_ms(ex, ex->deadline.total_ms), state->forecast_total_ms));
    return isinf(ms) ? (double)NAN : ms;
}

struct lane *deadline_cut_lane(const struct exchange *ex)
{
    struct lane *lanes = ex->lane->exchange->lanes, *found = NULL;
    for (size_t i = 0; i < LANES_MAX; i++) {
        struct lane *lane = &lanes[i];
        bool shown = ex->answer.shown && lane->attempt == ex->answer.shown;
        if (lane->attempt && lane->attempt->cut && has_text(lane) && (shown || !found))
            found = lane;
    }
    return found;
}
