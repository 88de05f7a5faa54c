/* An exchange and its budgets.
 *
 * Before the plan, the signals are told how full the fullest budget is. While the exchange runs,
 * its budgets hold back what it may come to cost, so that many exchanges at once do not together
 * spend what each of them finds free. At the end the promise is replaced by the real cost. */
#include "exchange/parts/part_budget.h"

#include "base/core/assertion.h"
#include "exchange/limits/cost.h"
#include "exchange/limits/meter.h"
#include "exchange/limits/spending.h"
#include "exchange/machine/exchange_core.h"

#include <math.h>
#include <string.h>

struct budget_state {
    uint64_t keys[BUDGETS_MAX]; /* in limits/spending.h; 0 = the request does not draw from it */
    double promised_usd;        /* to each of them */
};

/* Answers are seldom longer; what an answer costs more is counted when it ends. */
#define ANSWER_TOKENS_MAX 1024
#define LEAST_USD 1e-9 /* that must have room beside what other nodes have announced */

/* Everybody is somebody: who names no user is the caller itself, and callers that are no
 * application share one budget. Otherwise leaving a name out would lift the cap. Users of two
 * tenants are two users, whatever their names. */
static const char *whom(const struct exchange *ex, const struct route *route, enum budget_per per)
{
    const char *caller = ex->request.key_id   ? ex->request.key_id
                         : ex->request.caller ? ex->request.caller
                                              : "";
    switch (per) {
    case BUDGET_PER_USER:
        return ex->signals.user ? ex->signals.user : caller;
    case BUDGET_PER_APP:
        return ex->signals.app ? ex->signals.app : "";
    case BUDGET_PER_ROUTE:
        return route->name;
    case BUDGET_PER_KEY:
        return caller;
    default:
        return "";
    }
}

/* The budgets of the key and of its tenant (limits/meter.h). */
static void inform_of_key(struct exchange *ex)
{
    struct meter_budget budget;
    ex->signals.key_terms = ex->request.terms;
    if (!ex->services->meters)
        return;
    meters_look(ex->services->meters, &ex->request.meters, &budget);
    if (!budget.name)
        return;
    if (!ex->signals.budget || budget.left_usd < ex->signals.budget_left_usd)
        ex->signals.budget_left_usd = budget.left_usd;
    if (budget.used <= ex->signals.budget_used)
        return;
    ex->signals.budget_used = budget.used;
    ex->signals.budget = budget.name;
    ex->signals.budget_period = budget.period;
    ex->signals.budget_wait_ms = budget.wait_ms;
    ex->signals.budget_frees = budget.frees;
}

static void inform(struct exchange *ex, void *state, const struct route *route)
{
    struct budget_state *own = state;
    const struct policy *policy = ex->services->policy;
    struct spending *spending = ex->services->spending;
    if (!spending)
        return;
    ex->signals.moment.day_tokens = spending_day_tokens(spending);
    for (size_t i = 0; i < policy->budget_count && i < BUDGETS_MAX; i++) {
        const struct budget *budget = &policy->budgets[i];
        const char *tenant = budget->per == BUDGET_PER_USER ? ex->request.tenant : NULL;
        own->keys[i] = spending_key(budget->name, tenant, whom(ex, route, budget->per));
        double today_usd = spending_today(spending, own->keys[i]);
        double used = today_usd / budget->usd_per_day, left = budget->usd_per_day - today_usd;
        if (left > 0 && !spending_fits(spending, own->keys[i], budget->usd_per_day, LEAST_USD)) {
            used = 1; /* other nodes have announced all of it */
            left = 0;
        }
        if (!ex->signals.budget || left < ex->signals.budget_left_usd)
            ex->signals.budget_left_usd = left;
        if (!(used <= ex->signals.budget_used)) { /* also when nothing is there yet (NAN) */
            ex->signals.budget_used = used;
            ex->signals.budget = budget->name;
            ex->signals.budget_frees = spending_spent(spending, own->keys[i]) < budget->usd_per_day;
        }
    }
    inform_of_key(ex);
}

double part_budget_answer_usd(const struct exchange *ex, size_t tier)
{
    ASSERT(tier < ex->services->tier_count);
    if (ex->facts[tier].people)
        return ex->facts[tier].review_usd;
    uint32_t wanted = ex->request.tokens_max;
    const struct tier_usage usage = {
        .prompt_tokens = ex->states[tier].prompt_tokens,
        .completion_tokens = wanted && wanted < ANSWER_TOKENS_MAX ? wanted : ANSWER_TOKENS_MAX};
    return cost_usd(&ex->facts[tier], &usage);
}

void part_budget_promise(struct exchange *ex, double usd)
{
    struct budget_state *own = part_state(ex, &part_budget);
    const struct policy *policy = ex->services->policy;
    own->promised_usd += usd;
    for (size_t i = 0; i < BUDGETS_MAX; i++) {
        if (!own->keys[i])
            continue;
        spending_promise(ex->services->spending, own->keys[i], usd);
        if (usd > 0 && i < policy->budget_count) /* the other nodes hear of it */
            (void)spending_fits(ex->services->spending, own->keys[i],
                                policy->budgets[i].usd_per_day, 0);
    }
    if (ex->services->meters)
        meters_promise(ex->services->meters, &ex->request.meters, usd);
}

bool part_budget_has_room(const struct exchange *ex, double usd)
{
    const struct budget_state *own = part_state(ex, &part_budget);
    const struct policy *policy = ex->services->policy;
    for (size_t i = 0; usd > 0 && i < policy->budget_count && i < BUDGETS_MAX; i++)
        if (own->keys[i] && (spending_today(ex->services->spending, own->keys[i]) + usd >
                                 policy->budgets[i].usd_per_day ||
                             !spending_fits(ex->services->spending, own->keys[i],
                                            policy->budgets[i].usd_per_day, usd)))
            return false;
    return meters_have_room(ex->services->meters, &ex->request.meters, usd);
}

void part_budget_keys(const struct exchange *ex, uint64_t out[static BUDGETS_MAX])
{
    const struct budget_state *own = part_state(ex, &part_budget);
    memcpy(out, own->keys, sizeof own->keys);
}

/* The dearest answer that the plan may lead to. */
static void planned(struct exchange *ex, void *state)
{
    (void)state;
    double most = 0;
    for (size_t i = 0; i < ex->plan.rung_count; i++)
        most = fmax(most, part_budget_answer_usd(ex, ex->plan.rungs[i]));
    part_budget_promise(ex, most);
}

/* What broke off has to be paid as well. */
static bool may_go_on(struct exchange *ex, void *state, size_t tier)
{
    const struct budget_state *own = state;
    double missing = part_budget_answer_usd(ex, tier) - own->promised_usd;
    for (size_t i = 0; i < ex->attempt_count; i++)
        missing += ex->attempts[i]->cost_usd;
    if (!(missing > 0))
        return true;
    if (!part_budget_has_room(ex, missing)) {
        plan_add_reason(&ex->plan, REASON_REMOVED_BUDGET, ex->facts[tier].name,
                        "not asked to go on: the budget '%.60s' has no room for it",
                        ex->signals.budget);
        return false;
    }
    part_budget_promise(ex, missing);
    return true;
}

static void ended(struct exchange *ex, void *state, enum exchange_end how)
{
    (void)how;
    const struct budget_state *own = state;
    struct spending *spending = ex->services->spending;
    double cost = 0;
    uint64_t tokens = 0;
    if (!spending)
        return;
    for (size_t i = 0; i < ex->attempt_count; i++) {
        const struct tier_usage *usage = &ex->attempts[i]->usage;
        cost += ex->attempts[i]->cost_usd;
        tokens += (uint64_t)usage->prompt_tokens + usage->completion_tokens;
    }
    for (size_t i = 0; i < BUDGETS_MAX; i++)
        if (own->keys[i])
            spending_settle(spending, own->keys[i], own->promised_usd, cost);
    spending_add_tokens(spending, tokens);
    if (!ex->services->meters)
        return;
    meters_promise(ex->services->meters, &ex->request.meters, -own->promised_usd);
    meters_leave(ex->services->meters, &ex->request.meters, tokens, cost);
}

const struct exchange_part part_budget = {
    .name = "budget",
    .state_bytes = sizeof(struct budget_state),
    .inform = inform,
    .planned = planned,
    .may_go_on = may_go_on,
    .ended = ended,
};
