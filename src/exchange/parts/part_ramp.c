/* An exchange and the ramp of its route (memory/ramp_table.h).
 *
 * Before the plan, the ramp says whether this user is taken to its candidate. At the end it is told
 * what the exchange came to: a loss is an answer that failed, was degraded or came too late. */
#include "exchange/machine/exchange_core.h"
#include "exchange/memory/ramp_table.h"

static void prepare(struct exchange *ex, void *state, const struct route *route)
{
    (void)state;
    if (ex->services->ramp_table)
        ramp_table_read(ex->services->ramp_table, route, &ex->request, &ex->signals.ramp);
}

/* Later than the ramp or the request itself wants it. */
static bool was_late(const struct exchange *ex)
{
    uint32_t wanted = ex->plan.route->ramp_slo_ms;
    if (ex->request.slo_ms && (wanted == 0 || ex->request.slo_ms < wanted))
        wanted = ex->request.slo_ms;
    double total_ms = exchange_now_ms(ex) - ex->created_ms;
    double ttft_ms = ex->answer.ttft_ms > 0 ? ex->answer.ttft_ms : total_ms;
    return (wanted > 0 && total_ms > wanted) ||
           (ex->request.slo_ttft_ms > 0 && ttft_ms > ex->request.slo_ttft_ms);
}

/* Another tier may have answered in its place. */
static bool start_failed(const struct exchange *ex)
{
    return ex->attempt_count && ex->attempts[0]->outcome == ATTEMPT_FAILED;
}

/* A client that went away says nothing of the tier, unless it had waited for too long: otherwise a
 * tier would look better the more of its users give up. */
static void ended(struct exchange *ex, void *state, enum exchange_end how)
{
    (void)state;
    const struct ramp_arm *arm = &ex->plan.decision.ramp;
    bool late = was_late(ex);
    if (!ex->services->ramp_table || !arm->on || (how == ENDED_CANCELLED && !late))
        return;
    bool lost = how != ENDED_OK || ex->answer.summary.degraded || start_failed(ex) || late;
    ramp_table_judge(ex->services->ramp_table, ex->plan.route, RAMP_OUTCOMES, arm->taken,
                     lost ? 1 : 0);
}

const struct exchange_part part_ramp = {.name = "ramp", .prepare = prepare, .ended = ended};
