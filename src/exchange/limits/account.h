/* What exchanges cost since the process began, for GET /metrics. It is told by the part that tells
 * the ledger, with the same numbers, so that both agree. One for the process; any thread. */
#ifndef EXCHANGE_ACCOUNT_H
#define EXCHANGE_ACCOUNT_H

#include "base/core/outcome.h"
#include "tandem/types.h"

#define ACCOUNT_TIERS_MAX 32
#define ACCOUNT_NAME_BYTES 64

struct account;

struct account_tier {
    char name[ACCOUNT_NAME_BYTES]; /* "" = no tier answered */
    double cost_usd;               /* of exchanges that it answered, all attempts */
    uint64_t usages_refused;       /* of its own attempts */
};

struct account_numbers {
    struct account_tier tiers[ACCOUNT_TIERS_MAX + 1]; /* the last one: all that are too many */
    size_t tier_count;
    double all_cloud_usd;          /* for whole answers */
    double degraded_all_cloud_usd; /* for degraded ones */
    double estimated_usd;          /* the part of the costs that no usage was told for */
};

/* One exchange. */
struct account_entry {
    const char *tier; /* that answered; NULL = none */
    double cost_usd, all_cloud_usd, estimated_usd;
    enum answer_standing standing;
};

struct account *account_new(void); /* **returns new** (account_free), or NULL */
void account_free(struct account *account);
void account_add(struct account *account, const struct account_entry *entry);
void account_refuse_usage(struct account *account, const char *tier);
void account_read(struct account *account, struct account_numbers *out);

#endif
