/* An exchange and its budgets. While it runs, its budgets hold back what it may come to cost, so that many at once do not
 * together overdraw what each one finds enough for itself. */
#include "exchange/limits/spending.h"
#include "exchange/machine/exchange_internal.h"

#include <math.h>

/* Answers are seldom longer; what an answer costs more is counted when it ends. */
#define ANSWER_TOKENS_MAX 1024

static const char *whom(const struct exchange *ex, const struct route *route, enum budget_per per)
{
    switch (per) {
    case BUDGET_PER_USER:
        return ex->signals.user;
    case BUDGET_PER_APP:
        return ex->signals.app;
    case BUDGET_PER_ROUTE:
        return route->name;
    default:
        return "";
    }
}

void budget_read(struct exchange *ex, const struct route *route)
{
    const struct policy *policy = ex->services->policy;
    struct spending *spending = ex->services->spending;
    if (!spending)
        return;
    ex->signals.moment.day_tokens = spending_day_tokens(spending);
    for (size_t i = 0; i < policy->budget_count && i < BUDGETS_MAX; i++) {
        const struct budget *budget = &policy->budgets[i];
        const char *who = whom(ex, route, budget->per);
        if (!who)
            continue;
        ex->budget_keys[i] = spending_key(budget->name, who);
        double used = spending_today(spending, ex->budget_keys[i]) / budget->usd_per_day;
        if (!(used <= ex->signals.budget_used)) { /* also when nothing is there yet (NAN) */
            ex->signals.budget_used = used;
            ex->signals.budget = budget->name;
        }
    }
}

/* What one answer of the tier may come to. */
static double answer_usd(const struct exchange *ex, size_t tier)
{
    uint32_t wanted = ex->request.tokens_max;
    const struct tier_usage usage = {
        .prompt_tokens = ex->states[tier].prompt_tokens,
        .completion_tokens = wanted && wanted < ANSWER_TOKENS_MAX ? wanted : ANSWER_TOKENS_MAX};
    return exchange_cost(&ex->facts[tier], &usage);
}

static void promise(struct exchange *ex, double usd)
{
    ex->promised_usd += usd;
    for (size_t i = 0; i < BUDGETS_MAX; i++)
        if (ex->budget_keys[i])
            spending_promise(ex->services->spending, ex->budget_keys[i], usd);
}

void budget_promise(struct exchange *ex)
{
    double most = 0;
    if (!ex->signals.budget)
        return;
    for (size_t i = 0; i < ex->plan.rung_count; i++)
        most = fmax(most, answer_usd(ex, ex->plan.rungs[i]));
    promise(ex, most);
}

bool budget_has_room(const struct exchange *ex, size_t tier)
{
    return budget_has_room_for(ex, answer_usd(ex, tier));
}

bool budget_has_room_for(const struct exchange *ex, double usd)
{
    const struct policy *policy = ex->services->policy;
    for (size_t i = 0; usd > 0 && i < policy->budget_count && i < BUDGETS_MAX; i++)
        if (ex->budget_keys[i] && spending_today(ex->services->spending, ex->budget_keys[i]) + usd >
                                      policy->budgets[i].usd_per_day)
            return false;
    return true;
}

void budget_promise_more(struct exchange *ex, size_t tier)
{
    if (ex->signals.budget)
        promise(ex, answer_usd(ex, tier));
}

void budget_settle(struct exchange *ex)
{
    struct spending *spending = ex->services->spending;
    double cost = 0;
    uint64_t tokens = 0;
    if (!spending)
        return;
    for (size_t i = 0; i < ex->attempt_count; i++) {
        cost += ex->attempts[i].cost_usd;
        tokens +=
            (uint64_t)ex->attempts[i].usage.prompt_tokens + ex->attempts[i].usage.completion_tokens;
    }
    for (size_t i = 0; i < BUDGETS_MAX; i++)
        if (ex->budget_keys[i])
            spending_settle(spending, ex->budget_keys[i], ex->promised_usd, cost);
    spending_add_tokens(spending, tokens);
}
