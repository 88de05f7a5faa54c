/* One conversation's private values and their surrogates: the same value gets the same surrogate as long
 * as the conversation lasts, in every format that it is written in. In memory only (vault_file.h writes
 * one when somebody asks); limited; wiped when it is freed. Names are kept by the word, so that "John
 * Smith", "Smith" and "SMITH" stay related. One owner; vault_store.h shares them between threads. */
#ifndef PRIVACY_VAULT_H
#define PRIVACY_VAULT_H

#include "base/buf.h"
#include "privacy/pseudonym/surrogate.h"
#include "privacy/scan/privacy.h"
#include "privacy/text/word_set.h"

#define VAULT_ENTRIES_MAX 16384u
#define VAULT_BYTES_MAX ((size_t)4 << 20)
/* A longer value is no surrogate's: it stays (a text of base64, a certificate chain). */
#define VAULT_VALUE_BYTES_MAX 4096u

struct vault;

struct vault_entry {
    enum privacy_kind kind;
    enum surrogate_form form;
    /* **borrows** until vault_free, also when entries are added. */
    struct td_str surrogate, original;
    bool retired; /* its surrogate came to stand in a text: never given out again */
    uint32_t salt;
};

/* Which entries one request has used, each once, in order of first use. */
struct vault_uses {
    uint32_t *entries;
    size_t count, capacity;
    uint32_t last; /* used last; of a name the last of its words */
    uint8_t seen[VAULT_ENTRIES_MAX / 8];
};
void vault_uses_deinit(struct vault_uses *uses);
void vault_uses_clear(struct vault_uses *uses);
/* Notes all entries of the vault. */
TD_MUST_CHECK enum td_status vault_uses_all(const struct vault *vault, struct vault_uses *uses,
                                            struct td_error *err);

/* With a random key. **returns new** (vault_free). */
TD_MUST_CHECK enum td_status vault_new(struct vault **out, struct td_error *err);
/* With this key, for tests and for a vault that was kept. NULL without memory. */
struct vault *vault_with_key(const uint8_t key[static KEYED_KEY_BYTES]);
void vault_free(struct vault *vault); /* wipes */
const uint8_t *vault_key(const struct vault *vault);

/* The entry's surrogate came to stand in a text: it is never given out again. */
void vault_retire(struct vault *vault, uint32_t index);
size_t vault_count(const struct vault *vault);
size_t vault_bytes(const struct vault *vault);
struct vault_entry vault_at(const struct vault *vault, uint32_t index);

/* Appends the value's surrogate and notes what it used. taken: words of all texts of the request, none of
 * which a surrogate may be. TD_LIMIT when the vault is full or no surrogate is left. */
TD_MUST_CHECK enum td_status vault_replace(struct vault *vault, enum privacy_kind kind,
                                           struct td_str value, const struct word_set *taken,
                                           struct vault_uses *uses, struct buf *out,
                                           struct td_error *err);

/* The same with a word of letters, whatever kind of value it stands for: for a value whose surrogate in its
 * own form would not be known again where it stands. From then on vault_replace gives that one, too. */
TD_MUST_CHECK enum td_status vault_replace_by_word(struct vault *vault, enum privacy_kind kind,
                                                   struct td_str value,
                                                   const struct word_set *taken,
                                                   struct vault_uses *uses, struct buf *out,
                                                   struct td_error *err);

/* Adds a pair as it was kept. TD_CORRUPT when another value has the surrogate. */
TD_MUST_CHECK enum td_status vault_put(struct vault *vault, const struct vault_entry *entry,
                                       struct td_error *err);

#endif
