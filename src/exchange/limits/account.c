#include "exchange/limits/account.h"

#include "base/core/assertion.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct account {
    pthread_mutex_t lock;
    struct account_numbers numbers;
};

struct account *account_new(void)
{
    struct account *account = calloc(1, sizeof *account);
    if (account)
        pthread_mutex_init(&account->lock, NULL);
    return account;
}

void account_free(struct account *account)
{
    if (!account)
        return;
    pthread_mutex_destroy(&account->lock);
    free(account);
}

static struct account_tier *tier_locked(struct account *account, const char *name)
{
    struct account_numbers *numbers = &account->numbers;
    for (size_t i = 0; i < numbers->tier_count; i++)
        if (strncmp(numbers->tiers[i].name, name, ACCOUNT_NAME_BYTES - 1) == 0)
            return &numbers->tiers[i];
    if (numbers->tier_count > ACCOUNT_TIERS_MAX)
        return &numbers->tiers[ACCOUNT_TIERS_MAX];
    struct account_tier *tier = &numbers->tiers[numbers->tier_count++];
    snprintf(tier->name, sizeof tier->name, "%s",
             numbers->tier_count > ACCOUNT_TIERS_MAX ? "other" : name);
    return tier;
}

void account_add(struct account *account, const struct account_entry *entry)
{
    ASSERT(account && entry);
    pthread_mutex_lock(&account->lock);
    struct account_numbers *numbers = &account->numbers;
    tier_locked(account, entry->tier ? entry->tier : "")->cost_usd += entry->cost_usd;
    numbers->estimated_usd += entry->estimated_usd;
    if (entry->standing == ANSWER_FULL)
        numbers->all_cloud_usd += entry->all_cloud_usd;
    else if (entry->standing == ANSWER_DEGRADED)
        numbers->degraded_all_cloud_usd += entry->all_cloud_usd;
    pthread_mutex_unlock(&account->lock);
}

void account_refuse_usage(struct account *account, const char *tier)
{
    ASSERT(account && tier);
    pthread_mutex_lock(&account->lock);
    tier_locked(account, tier)->usages_refused++;
    pthread_mutex_unlock(&account->lock);
}

void account_read(struct account *account, struct account_numbers *out)
{
    pthread_mutex_lock(&account->lock);
    *out = account->numbers;
    pthread_mutex_unlock(&account->lock);
}
