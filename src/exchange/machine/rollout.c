/* An exchange and the ramp of its route (ramps.h): is it taken, and what did it come to. */
#include "exchange/machine/exchange_internal.h"
#include "exchange/memory/ramps.h"

#include <string.h>

void rollout_read(struct exchange *ex, const struct route *route)
{
    if (ex->services->ramps)
        ramps_read(ex->services->ramps, route, &ex->request, &ex->signals.ramp);
}

/* Later than the ramp or the request itself wants it. */
static bool was_late(const struct exchange *ex)
{
    uint32_t wanted = ex->plan.route->ramp_slo_ms;
    if (ex->request.slo_ms && (wanted == 0 || ex->request.slo_ms < wanted))
        wanted = ex->request.slo_ms;
    double total_ms = exchange_now_ms(ex) - ex->created_ms;
    double ttft_ms = ex->ttft_ms > 0 ? ex->ttft_ms : total_ms;
    return (wanted > 0 && total_ms > wanted) ||
           (ex->request.slo_ttft_ms > 0 && ttft_ms > ex->request.slo_ttft_ms);
}

/* Although another tier may have answered in its place. */
static bool start_failed(const struct exchange *ex)
{
    const char *outcome = ex->attempt_count ? ex->attempts[0].outcome : NULL;
    return outcome && strcmp(outcome, "failed") == 0;
}

/* A client that went away says nothing of the tier, unless it had waited for too long: else a tier would look the better, the more of its
 * users give up. */
void rollout_end(struct exchange *ex, const char *status)
{
    const struct ramp_arm *arm = &ex->plan.decision.ramp;
    bool late = was_late(ex);
    if (!ex->services->ramps || !arm->on || (strcmp(status, "cancelled") == 0 && !late))
        return;
    bool lost = strcmp(status, "ok") != 0 || ex->summary.degraded || start_failed(ex) || late;
    ramps_judge(ex->services->ramps, ex->plan.route, RAMP_OUTCOMES, arm->taken, lost ? 1 : 0);
}
