/* One conversation's private values and their surrogates. A value keeps its surrogate as long as
 * the conversation lasts, in every format in which it is written. Names are kept word by word, so
 * that "John Smith", "Smith" and "SMITH" stay related.
 *
 * A vault lives in memory (vault_json.h writes one that somebody wants to keep). It has a limit,
 * and it is wiped when it is freed. One owner at a time; vault_store.h shares vaults among
 * threads. */
#ifndef PRIVACY_VAULT_H
#define PRIVACY_VAULT_H

#include "base/bytes/buf.h"
#include "base/crypto/keyed.h"
#include "privacy/pseudonym/surrogate.h"
#include "privacy/text/word_set.h"

#define VAULT_ENTRIES_MAX 16384u
#define VAULT_BYTES_MAX ((size_t)4 << 20)
/* A longer value gets no surrogate: a text of base64, a certificate chain. */
#define VAULT_VALUE_BYTES_MAX 4096u

struct vault;

struct vault_entry {
    enum privacy_kind kind;
    enum surrogate_form form;
    /* **borrows** until vault_free, also while entries are added. */
    struct td_str surrogate, original;
    bool retired; /* a text contains the surrogate by now: it is never given out again */
    uint32_t salt;
};

/* Which entries one request has used, each once, in order of first use. */
struct vault_uses {
    uint32_t *entries;
    size_t count, capacity;
    uint32_t last; /* the entry that was used last; of a name the last of its words */
    uint8_t seen[VAULT_ENTRIES_MAX / 8];
};
void vault_uses_deinit(struct vault_uses *uses);
void vault_uses_clear(struct vault_uses *uses);
/* How many of the used entries are of the kind; counts up to `most`. */
size_t vault_uses_count(const struct vault *vault, const struct vault_uses *uses,
                        enum privacy_kind kind, size_t most);
/* Notes all entries of the vault. */
TD_MUST_CHECK enum td_status vault_uses_all(const struct vault *vault, struct vault_uses *uses,
                                            struct td_error *err);

/* With a random key. **returns new** (vault_free). */
TD_MUST_CHECK enum td_status vault_new(struct vault **out, struct td_error *err);
/* With this key, for tests and for a vault that was kept. **returns new**; NULL without memory. */
struct vault *vault_with_key(const uint8_t key[static KEYED_KEY_BYTES]);
void vault_free(struct vault *vault); /* wipes; accepts NULL */
const uint8_t *vault_key(const struct vault *vault);

/* A text contains the entry's surrogate by now: it is never given out again. */
void vault_retire(struct vault *vault, uint32_t index);
size_t vault_count(const struct vault *vault);
size_t vault_bytes(const struct vault *vault); /* of memory, with all that belongs to it */
struct vault_entry vault_at(const struct vault *vault, uint32_t index);

/* Appends the value's surrogate and notes in *uses (may be NULL) what it used. taken (may be NULL):
 * the words of all texts of the request. No surrogate may be one of them. TD_LIMIT: the vault is
 * full, or no surrogate is left. */
TD_MUST_CHECK enum td_status vault_replace(struct vault *vault, enum privacy_kind kind,
                                           struct td_str value, const struct word_set *taken,
                                           struct vault_uses *uses, struct buf *out,
                                           struct td_error *err);

/* The same, but the surrogate is a word of random letters, whatever the value's kind. For a value
 * whose own kind of surrogate would not be recognised where it stands. From then on vault_replace
 * gives this surrogate, too. */
TD_MUST_CHECK enum td_status vault_replace_by_word(struct vault *vault, enum privacy_kind kind,
                                                   struct td_str value,
                                                   const struct word_set *taken,
                                                   struct vault_uses *uses, struct buf *out,
                                                   struct td_error *err);

/* Adds a pair that was kept. TD_CORRUPT when another value has the same surrogate. */
TD_MUST_CHECK enum td_status vault_put(struct vault *vault, const struct vault_entry *entry,
                                       struct td_error *err);

#endif
