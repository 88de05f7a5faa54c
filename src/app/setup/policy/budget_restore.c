/* Reads the ledger at the start of a server, and only when a budget or a rule needs it: reading
 * a day's exchanges takes time. */
#include "app/setup/policy/budget_restore.h"

#include "app/setup/policy/consistency_setup.h"
#include "base/crypto/crypto.h"
#include "base/time/clock.h"
#include "exchange/limits/spending.h"
#include "exchange/parts/shadow_pool.h"
#include "ledger/record/ledger.h"

#define DAY_MS 86400000u

struct restoring {
    const struct config *config;
    struct spending *spending;
    uint8_t secret[KEYED_KEY_BYTES]; /* of the ids of keys */
};

/* As exchange/parts/part_budget.c has them; NULL: a caller without a key, whom the ledger does not
 * know. */
static const char *whom(const struct ledger_spent *spent, const char *key_id, int per)
{
    switch ((enum budget_per)per) {
    case BUDGET_PER_USER:
        return spent->user ? spent->user : key_id;
    case BUDGET_PER_APP:
        return spent->app ? spent->app : "";
    case BUDGET_PER_ROUTE:
        return spent->route;
    case BUDGET_PER_KEY:
        return key_id;
    default:
        return "";
    }
}

static void add_money(void *ctx, const struct ledger_spent *spent)
{
    const struct restoring *restoring = ctx;
    const struct config *config = restoring->config;
    char made[SPENDING_KEY_ID_BYTES];
    const char *key_id = spent->key_id;
    if (!key_id && spent->key_digest) { /* a row of before keys had ids */
        spending_key_id(restoring->secret, spent->key_digest, made);
        key_id = made;
    }
    spending_restore(restoring->spending, shadow_pool_budget_key(), spent->shadow_usd);
    for (size_t i = 0; i < config->budget_count; i++) {
        const char *who = whom(spent, key_id, config->budgets[i].per);
        const char *tenant = config->budgets[i].per == (int)BUDGET_PER_USER ? spent->tenant : NULL;
        if (who)
            spending_restore(restoring->spending,
                             spending_key(config->budgets[i].name, tenant, who), spent->cost_usd);
    }
}

static void add_tokens(void *ctx, const struct ledger_spent *spent)
{
    const struct restoring *restoring = ctx;
    spending_add_tokens_of(restoring->spending, spent->hour, spent->tokens);
}

/* Reading a day's exchanges takes time: only where something asks for it. */
static bool asks_for_tokens(const struct config *config)
{
    for (size_t i = 0; i < config->rule_set.count; i++)
        if (config->rule_set.rules[i].asked >> RULE_DAY_TOKENS & 1)
            return true;
    return false;
}

static bool asks_for_money(const struct config *config)
{
    bool shadows = false;
    for (size_t i = 0; i < config->route_count; i++)
        shadows = shadows || config->routes[i].shadow_cloud_share > 0;
    return shadows || config->budget_count > 0;
}

enum td_status budget_restore(const struct config *config, const struct clock *clock,
                              struct spending *spending, struct td_error *err)
{
    struct restoring restoring = {.config = config, .spending = spending};
    struct ledger_reader *reader = NULL;
    enum td_status status = TD_OK;
    if (!asks_for_money(config) && !asks_for_tokens(config))
        return TD_OK;
    status = installation_key(config, restoring.secret, err);
    if (status == TD_OK)
        status = ledger_reader_open(config->ledger.path, &reader, err);
    if (status == TD_OK && asks_for_money(config))
        status =
            ledger_reader_spent(reader, spending_day_begin_ms(clock), add_money, &restoring, err);
    if (status == TD_OK)
        status =
            ledger_reader_spent(reader, clock_wall_ms(clock) - DAY_MS, add_tokens, &restoring, err);
    ledger_reader_close(reader);
    crypto_wipe(restoring.secret, sizeof restoring.secret);
    return status;
}
