/* How often two tiers' models say something else, as shadows find it, and which do so too often.
 *
 * Two tiers are *skewed* from when surely (95 %, Wilson) more than `most` of their compared answers
 * differ, until less than SKEW_CALM of `most` does: so a share near the limit does not switch with
 * each answer. Answers count by their age: one weighs half as much after some SKEW_MEMORY * 0.7
 * later ones. When one of both models is another version, counting begins anew, because an update
 * is what was asked for. After a restart the ledger's counts are put back.
 *
 * One for the process, shared by all loops; any thread. */
#ifndef EXCHANGE_SKEW_TABLE_H
#define EXCHANGE_SKEW_TABLE_H

#include "router/plan/facts.h"
#include "router/plan/policy.h"

/* Fewer answers say nothing. The same number as in app/setup/model/model_age.h. */
#define SKEW_COMPARED_MIN 20
#define SKEW_MEMORY 200 /* answers: at a share of 0.5 one in 28 is within the standard error */
#define SKEW_CALM 0.8   /* share of the limit: three standard errors below 0.5 */
#define SKEW_NAME_BYTES 65

struct skew_table;

/* **returns new** (skew_table_free), NULL without memory. */
struct skew_table *skew_table_new(void);
void skew_table_free(struct skew_table *table);

/* The share from now on, in (0, 1]; what was counted is judged anew. */
void skew_table_set_most(struct skew_table *table, double most);

/* Two tiers by name, and the versions of their models ("" or NULL: not known). */
struct skew_sides {
    const char *tiers[2], *versions[2];
};
/* One comparison. A change is logged once: models_skewed, models_agree. */
void skew_table_count(struct skew_table *table, const struct skew_sides *sides, bool same);
/* What an earlier process counted; nothing when there is something newer of these tiers. */
void skew_table_restore(struct skew_table *table, const struct skew_sides *sides, double compared,
                        double same);

/* The skewed pairs among these tiers. */
void skew_table_read(struct skew_table *table, const struct tier_facts *facts, size_t tier_count,
                     struct skew_signal *out);

#endif
