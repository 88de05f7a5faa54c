/* API keys that were made with `tandem keys` or the admin API: keys.db in the state folder, or the
 * database that several nodes share. Of a key it has a mark, from which nobody finds the key
 * without the installation's secret. Beside them stand the terms of tenants, and what keys and
 * tenants have spent in a day and in a month.
 *
 * Several processes may have it open: a server, and the command line beside it. Times are in
 * seconds since 1970, 0 = never. Any thread. */
#ifndef LEDGER_KEY_STORE_H
#define LEDGER_KEY_STORE_H

#include "base/key_terms.h"
#include "tandem/types.h"

#define KEY_STORE_FILE "keys.db"
#define STORED_KEY_ID_BYTES 17   /* 16 hexadecimal digits and a NUL */
#define STORED_KEY_NAME_BYTES 65 /* of a key and of a tenant, with a NUL */
#define STORED_KEY_MARK_BYTES 32
#define STORED_KEYS_MAX 65536 /* with those that were revoked */
#define KEY_SPENT_BYTES \
    18 /* of whom: 'k' and a key's id, 't' and a tenant's, 'b' a budget, 'n' nobody */

struct stored_key {
    char id[STORED_KEY_ID_BYTES];
    char name[STORED_KEY_NAME_BYTES];
    char tenant[STORED_KEY_NAME_BYTES]; /* "" = the key is a tenant of its own */
    bool operates;
    uint8_t mark[STORED_KEY_MARK_BYTES];
    uint8_t mark_before[STORED_KEY_MARK_BYTES]; /* of before it was rotated */
    int64_t before_until_s;                     /* that one is taken until then; 0 = not at all */
    int64_t created_s, expires_s, revoked_s, used_s;
    struct key_terms terms;
};

struct stored_tenant {
    char name[STORED_KEY_NAME_BYTES];
    struct key_terms terms;
};

struct key_store;

/* path: of the file, or the database's URL. create: makes the file when it is missing; else
 * TD_NOT_FOUND. **returns new** (key_store_close). */
TD_MUST_CHECK enum td_status key_store_open(const char *path, bool create, struct key_store **out,
                                            struct td_error *err);
void key_store_close(struct key_store *store);

/* A number that is another one after others have changed keys or tenants; own writes may not count.
 * -1: it cannot be read. */
int64_t key_store_version(struct key_store *store);

/* Letters, digits and . _ - @ : +, 1 to 64 of them. */
bool key_store_name_is_plain(const char *name);

/* Fills in id and created_s. TD_INVALID: a key that was not revoked has the name. TD_LIMIT: there
 * are STORED_KEYS_MAX. */
TD_MUST_CHECK enum td_status key_store_add(struct key_store *store, struct stored_key *key,
                                           struct td_error *err);
/* By its id, or by its name among those that were not revoked. TD_NOT_FOUND. */
TD_MUST_CHECK enum td_status key_store_find(struct key_store *store, const char *key,
                                            struct stored_key *out, struct td_error *err);
/* Writes expires_s, revoked_s, the marks and the terms of the key with that id. */
TD_MUST_CHECK enum td_status key_store_change(struct key_store *store, const struct stored_key *key,
                                              struct td_error *err);
/* In the order of their making. Nobody may call the store inside. */
typedef void stored_key_fn(void *ctx, const struct stored_key *key);
TD_MUST_CHECK enum td_status key_store_each(struct key_store *store, stored_key_fn *each, void *ctx,
                                            struct td_error *err);
/* They were used just now. */
TD_MUST_CHECK enum td_status key_store_touch(struct key_store *store,
                                             const char (*ids)[STORED_KEY_ID_BYTES], size_t count,
                                             struct td_error *err);

/* The terms of a tenant that has a name; key_terms_none where nothing was set. */
TD_MUST_CHECK enum td_status key_store_tenant(struct key_store *store, const char *name,
                                              struct stored_tenant *out, struct td_error *err);
TD_MUST_CHECK enum td_status key_store_set_tenant(struct key_store *store,
                                                  const struct stored_tenant *tenant,
                                                  struct td_error *err);
typedef void stored_tenant_fn(void *ctx, const struct stored_tenant *tenant);
TD_MUST_CHECK enum td_status key_store_tenants(struct key_store *store, stored_tenant_fn *each,
                                               void *ctx, struct td_error *err);

/* What was spent in a period: "2026-11-27" or "2026-11". */
struct key_spent {
    char whom[KEY_SPENT_BYTES];
    char period[11];
    double usd;
    uint64_t tokens;
    /* Where nodes share the store: the sums of this node since the period began, and of the others
     * together. */
    double own_usd, others_usd;
    uint64_t own_tokens, others_tokens;
};
/* The names of the periods that a time is in, by local time. */
void key_store_periods(uint64_t wall_ms, char day[static 11], char month[static 11]);
/* Adds usd and tokens to what stands there, all or nothing. A store that nodes share gets own_usd
 * and own_tokens instead: whoever is not told whether a commit took place tells them again. */
TD_MUST_CHECK enum td_status key_store_spend(struct key_store *store, const struct key_spent *spent,
                                             size_t count, struct td_error *err);
typedef void key_spent_fn(void *ctx, const struct key_spent *spent);
/* Of these two periods, of all nodes together; drops what is older than the month. */
TD_MUST_CHECK enum td_status key_store_spent(struct key_store *store, const char *day,
                                             const char *month, key_spent_fn *each, void *ctx,
                                             struct td_error *err);
/* Of a store that nodes share: the sums of this node and of the others in these two periods. all:
 * also those that nobody has changed in the last seconds. */
TD_MUST_CHECK enum td_status key_store_spent_apart(struct key_store *store, const char *day,
                                                   const char *month, bool all, key_spent_fn *each,
                                                   void *ctx, struct td_error *err);
/* Says that this node is there, and counts those that have said so today within a minute. */
TD_MUST_CHECK enum td_status key_store_count_nodes(struct key_store *store, const char *day,
                                                   uint32_t *nodes, struct td_error *err);
/* Drops what was spent of budgets on earlier days. */
TD_MUST_CHECK enum td_status key_store_end_days(struct key_store *store, const char *day,
                                                struct td_error *err);
/* Makes the keys and tenants of `to` those of `from`, which is another store. */
TD_MUST_CHECK enum td_status key_store_copy(struct key_store *from, struct key_store *to,
                                            struct td_error *err);

#endif
