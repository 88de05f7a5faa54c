/* What can be said of each tier at this moment, and of budgets, for GET /metrics. */
#include "api/http/metrics.h"
#include "api/metrics/metric_writers.h"
#include "api/metrics/tier_condition.h"
#include "base/core/str.h"
#include "base/time/clock.h"
#include "exchange/limits/spending.h"

static void put(struct buf *out, const char *name, const char *label, const char *value, double is)
{
    char labels[METRICS_LABELS_BYTES] = "";
    metrics_label(labels, label, value);
    buf_printf(out, "%s{%s} %.12g\n", name, labels, is);
}

static double is_up(const struct exchange_services *services, size_t tier)
{
    struct tier_condition condition;
    tier_condition_read(services, tier, &condition);
    return condition.up && !condition.broken;
}

static double is_broken(const struct exchange_services *services, size_t tier)
{
    struct tier_condition condition;
    tier_condition_read(services, tier, &condition);
    return condition.broken;
}

static double rests(const struct exchange_services *services, size_t tier)
{
    return services->health && !tier_health_usable(services->health, tier,
                                                   (uint64_t)clock_monotonic_ms(services->clock));
}

static double is_asked(const struct exchange_services *services, size_t tier)
{
    return services->load ? tier_load_count(services->load, tier) : 0;
}

/* A budget that each user or key has for itself has no one number. */
static void write_budgets(const struct exchange_services *services, struct buf *out)
{
    const struct policy *policy = services->policy;
    metrics_write_head(out, "tandem_budget_usd",
                       "A day's money of budgets that all requests share");
    for (size_t i = 0; i < policy->budget_count; i++)
        if (policy->budgets[i].per == BUDGET_PER_ALL)
            put(out, "tandem_budget_usd", "budget", policy->budgets[i].name,
                policy->budgets[i].usd_per_day);
    metrics_write_head(out, "tandem_budget_spent_usd", "What of it is spent today");
    for (size_t i = 0; services->spending && i < policy->budget_count; i++)
        if (policy->budgets[i].per == BUDGET_PER_ALL)
            put(out, "tandem_budget_spent_usd", "budget", policy->budgets[i].name,
                spending_spent(services->spending,
                               spending_key(policy->budgets[i].name, NULL, "")));
}

void tiers_write_metrics(const struct api_host *host, const struct exchange_services *services,
                         struct buf *out)
{
    static const struct {
        const char *name, *help;
        double (*read)(const struct exchange_services *services, size_t tier);
    } rows[] = {
        {"tandem_tier_up", "1: the tier is configured, and answered when it was last asked", is_up},
        {"tandem_tier_broken", "1: somebody has to mend its key, model, address or network",
         is_broken},
        {"tandem_tier_resting", "1: the tier failed and is not asked now", rests},
        {"tandem_tier_in_flight", "Requests that the tier has, or is about to get", is_asked},
    };
    (void)host;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        metrics_write_head(out, rows[i].name, rows[i].help);
        for (size_t tier = 0; tier < services->tier_count; tier++)
            put(out, rows[i].name, "tier", services->tiers[tier]->facts.name,
                rows[i].read(services, tier));
    }
    write_budgets(services, out);
}
