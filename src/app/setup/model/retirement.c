#include "app/setup/model/retirement.h"

#include "app/config/config_defaults.h"
#include "base/time/clock.h"
#include "base/time/log.h"
#include "tier/cards/model_cards.h"

void retirement_each(const struct config *config, uint64_t wall_ms, retirement_fn *fn, void *ctx)
{
    char words[MODEL_CARD_END_BYTES];
    for (size_t i = 0; i < config->tier_count; i++) {
        const struct config_tier *tier = &config->tiers[i];
        if (tier->kind < CONFIG_TIER_SERVER)
            continue;
        if (model_card_ends(config_model_card(tier, tier->model), wall_ms, words))
            fn(ctx, tier, tier->model, words);
        for (size_t m = 0; m < tier->model_count; m++)
            if (model_card_ends(config_model_card(tier, tier->models[m].name), wall_ms, words))
                fn(ctx, tier, tier->models[m].name, words);
    }
}

static void log_one(void *ctx, const struct config_tier *tier, const char *model, const char *words)
{
    (void)ctx;
    log_event(LOG_LEVEL_WARN, "model_retires", "tier=%s model=%s reason=\"%s\"", tier->name, model,
              words);
}

void retirement_log(const struct config *config)
{
    retirement_each(config, clock_wall_ms(NULL), log_one, NULL);
}
