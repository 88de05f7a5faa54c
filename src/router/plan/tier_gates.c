/* A calibration's threshold judges whole answers (G3). The same one judges the running answer just
 * before text is committed (G2), because a stream that the client has seen cannot climb. An early
 * look at the first token, which fits the embedded model, is not taken over: of other models
 * nothing says that their first token tells. */
#include "router/plan/tier_gates.h"

#include "base/core/assertion.h"

#include <math.h>

static void use_calibration(const struct tier_facts *facts, struct gate_settings *gates)
{
    ASSERT(gates->risk >= 0 && gates->risk < RISK_LEVEL_COUNT);
    double threshold = facts->threshold[gates->risk];
    bool looks_early = gates->g2_on && !gates->g3_given;
    if (!gates->g3_given && gates->g3_on)
        gates->g3_confidence_min = threshold;
    if (gates->g2_given)
        return;
    gates->g2_on = looks_early && gates->commit_tokens != UINT32_MAX;
    gates->g2_confidence_min = threshold;
    gates->g2_tokens = isinf(threshold) || gates->commit_tokens == 0 ? 1 : gates->commit_tokens;
}

void tier_gates_of(const struct gate_settings *route, const struct tier_facts *facts, bool adapted,
                   struct gate_settings *out)
{
    *out = *route;
    if (!adapted && facts->has_thresholds) {
        use_calibration(facts, out);
    } else if (adapted || facts->uncalibrated) {
        out->g2_on = route->g2_on && route->g2_given;
        out->g3_on = route->g3_on && route->g3_given;
        out->uncalibrated = (route->g2_on || route->g3_on) && !out->g2_on && !out->g3_on;
    }
}
