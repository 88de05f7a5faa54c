#include "app/setup/model/model_policy.h"

#include <stdio.h>

#include "app/setup/model/model_age.h"
#include "base/time/clock.h"
#include "base/time/log.h"

void model_policy_find_bits(const struct config *config, const struct config_tier *tier,
                            const struct td_model_info *info,
                            const struct confidence_binding *identity, struct bits_finding *out)
{
    *out = (struct bits_finding){.verdict = EVALUATION_NONE};
    out->doubt = bit_policy_doubts(config, tier, info, out->why, sizeof out->why);
    if (out->doubt != BITS_ENOUGH && identity)
        out->verdict = evaluation_file_find(config->state_dir, identity, out->day);
}

static void judge_bits(const struct config *config, const struct config_tier *tier,
                       const struct local_model *model, bool says, struct model_judgement *out)
{
    struct bits_finding found;
    model_policy_find_bits(config, tier, td_model_get_info(model->model), &model->identity, &found);
    if (found.doubt == BITS_ENOUGH || found.verdict == EVALUATION_PASSED)
        return;
    const char *end = found.verdict == EVALUATION_REFUSED ? ", and an evaluation refused it"
                                                          : ", and no evaluation has passed";
    if (config->models.few_bits == MODEL_WARN) {
        if (says)
            log_event(LOG_LEVEL_WARN, "model_few_bits",
                      "tier=%s file=%s reason=\"%s%s\" do=\"tandem quant-eval --gate\"", tier->name,
                      model->path, found.why, end);
    } else if (found.doubt == BITS_FEW_FOR_A_USE) {
        snprintf(out->unproven, sizeof out->unproven, "%.180s%s", found.why, end);
    } else {
        out->refused = "few_bits";
        snprintf(out->why, sizeof out->why, "%.180s%s", found.why, end);
    }
}

static void judge_age(const struct config *config, const struct config_tier *tier,
                      const struct local_model *model, bool says, struct model_judgement *out)
{
    char day[MODEL_DAY_BYTES];
    double days;
    uint32_t most = config->models.max_age_days;
    if (!most || !model_age_read(model->path, clock_wall_ms(NULL), day, &days) || days <= most)
        return;
    if (config->models.too_old == MODEL_REFUSE) {
        out->refused = "too_old";
        snprintf(out->why, sizeof out->why,
                 "it was made on %s, %.0f days ago, and models.max_age_days is %u", day, days,
                 most);
    } else if (says) {
        log_event(LOG_LEVEL_WARN, "model_too_old", "tier=%s file=%s made=%s days=%.0f max=%u",
                  tier->name, model->path, day, days, most);
    }
}

void model_policy_judge(const struct config *config, const struct config_tier *tier,
                        const struct local_model *model, bool says, struct model_judgement *out)
{
    *out = (struct model_judgement){.refused = NULL};
    judge_bits(config, tier, model, says, out);
    if (!out->refused)
        judge_age(config, tier, model, says, out);
}
