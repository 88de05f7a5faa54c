/* The ramps' file: any bytes are refused with words, or become states that are sound for their plan
 * or are not taken over, and that no judgement then leads astray. */
#include "exchange/memory/ramp_file.h"

#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct ramp_plan plan = {.steps = {1, 5, 20, 50, 100},
                                      .step_count = 5,
                                      .judged_min = 50,
                                      .disagreement_max = 0.2,
                                      .loss_margin = 0.05,
                                      .needs_agreement = true};

static void go_on(struct ramp_state state)
{
    for (int i = 0; i < 8; i++)
        ramp_judge(&plan, &state, (enum ramp_evidence)(i % RAMP_EVIDENCE_COUNT), i % 2, i == 3);
    double percent = ramp_percent(&plan, &state);
    if (!ramp_state_is_sound(&plan, &state) || !(percent >= 0 && percent <= 100))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct td_str text = {(const char *)data, size};
    struct ramp_saved *saved = NULL;
    struct td_error err = {0};
    size_t count = 0;
    if (ramp_file_parse(text, &saved, &count, &err) != TD_OK) {
        if (!*err.message || saved || count)
            abort();
        return 0;
    }
    for (size_t i = 0; i < count; i++)
        if (ramp_state_is_sound(&plan, &saved[i].state))
            go_on(saved[i].state);
    free(saved);
    return 0;
}
