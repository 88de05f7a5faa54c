/* The vaults of all conversations, by a digest of how a conversation began. A vault stays in memory
 * while it is used and some time after. When there are too many or they take too much memory, the
 * longest unused one leaves; all leave wiped.
 *
 * Any thread. Between vault_hold_lock and vault_hold_unlock a vault belongs to one thread. The
 * strings that it has given out stay valid as long as it is held. */
#ifndef PRIVACY_VAULT_STORE_H
#define PRIVACY_VAULT_STORE_H

#include "base/crypto/crypto.h"
#include "privacy/pseudonym/vault.h"

struct vault_store;
struct vault_hold;

#define VAULT_OWNER_USER_BYTES 16

/* bytes_max: of the memory of all vaults; the one that was used last stays whatever it takes.
 * **returns new** (vault_store_free, when nobody holds a vault); NULL without memory. */
struct vault_store *vault_store_new(size_t conversations_max, size_t bytes_max, uint64_t ttl_ms);
void vault_store_free(struct vault_store *store);

/* Finds the vault of the conversation, or makes one. owner: digests for vault_store_forget. The
 * first VAULT_OWNER_USER_BYTES of it name the user, and the whole names the user of a tenant. *out
 * **returns new** (vault_hold_drop). */
TD_MUST_CHECK enum td_status vault_store_take(struct vault_store *store,
                                              const uint8_t key[static CRYPTO_SHA256_BYTES],
                                              const uint8_t owner[static CRYPTO_SHA256_BYTES],
                                              uint64_t now_ms, struct vault_hold **out,
                                              struct td_error *err);
void vault_hold_drop(struct vault_hold *hold); /* accepts NULL */
/* Forbids to write the vault to a disk: vault_store_each leaves it out. */
void vault_hold_forbid_keeping(struct vault_hold *hold);
struct vault *vault_hold_lock(struct vault_hold *hold);
void vault_hold_unlock(struct vault_hold *hold);

/* Makes an alias for a name that a caller gives to something (a user, a cache), so that the name
 * itself does not leave. The same caller and name give the same alias while the store lives. */
#define VAULT_ALIAS_BYTES 33
void vault_store_alias(const struct vault_store *store, struct td_str caller, struct td_str name,
                       char out[static VAULT_ALIAS_BYTES]);

/* Drops vaults that were not used for longer than ttl_ms. It drops at most `most`, so that nobody
 * waits long for the store. Returns after how many ms to call again; 0: more are due now. A vault
 * that is added meanwhile is not due earlier. */
uint64_t vault_store_sweep(struct vault_store *store, uint64_t now_ms, size_t most);
/* Drops all vaults of the owner, or of everybody with that user's name, and returns how many.
 * Running exchanges keep theirs until they end. */
size_t vault_store_forget(struct vault_store *store,
                          const uint8_t owner[static CRYPTO_SHA256_BYTES], bool any_tenant);

/* A vault on its way to a disk or from there. */
struct vault_record {
    uint8_t key[CRYPTO_SHA256_BYTES], owner[CRYPTO_SHA256_BYTES];
    uint64_t unused_ms; /* since its last use */
    struct vault *vault;
};

/* Is called with each vault that may be kept, under its lock. **borrows** the record during the
 * call. */
typedef enum td_status vault_store_fn(void *ctx, const struct vault_record *record,
                                      struct td_error *err);
TD_MUST_CHECK enum td_status vault_store_each(struct vault_store *store, uint64_t now_ms,
                                              vault_store_fn *fn, void *ctx, struct td_error *err);
/* Puts back a vault that was kept. **takes** record->vault, also on failure. Wipes it instead when
 * it was not used for longer than the store keeps vaults. */
TD_MUST_CHECK enum td_status vault_store_put(struct vault_store *store,
                                             const struct vault_record *record, uint64_t now_ms,
                                             struct td_error *err);

#endif
