/* What vault.c and vault_words.c share: vault.c owns the pairs and finds free surrogates,
 * vault_words.c takes names and addresses apart into words. */
#ifndef PRIVACY_VAULT_INTERNAL_H
#define PRIVACY_VAULT_INTERNAL_H

#include "privacy/pseudonym/vault.h"
#include "privacy/pseudonym/vault_map.h"

/* A replacement in progress: the arguments of vault_replace. */
struct vault_job {
    struct vault *vault;
    const struct word_set *taken; /* may be NULL */
    struct vault_uses *uses;      /* may be NULL */
    struct td_error *err;
};

/* A space keeps apart values that are spelled alike and mean different things: the name of their
 * kind, or one of these. */
#define VAULT_SPACE_WORD "word"
#define VAULT_SPACE_PHRASE "phrase"

/* The entry for exactly this value, or VAULT_NONE. Retires an entry first whose surrogate stands in
 * the texts by now. */
uint32_t vault_find(const struct vault_job *job, const char *space, struct td_str original);
/* The salt for the draws of a value that was not found. It is 0, or a new number each time that the
 * value's surrogate was retired. */
uint32_t vault_salt(const struct vault_job *job, const char *space, struct td_str original);
/* May it become the surrogate of a new value? */
bool vault_is_free(const struct vault_job *job, struct td_str surrogate);
/* Adds a pair and notes its use. */
TD_MUST_CHECK enum td_status vault_add(const struct vault_job *job, const char *space,
                                       const struct vault_entry *entry);
TD_MUST_CHECK enum td_status vault_use(const struct vault_job *job, uint32_t index);

/* A value that needs a surrogate, and how to write one. */
struct vault_question {
    const char *space;
    enum privacy_kind kind;
    enum surrogate_form form;
    struct td_str value, canonical; /* canonical: what its spellings have in common */
    void (*write)(const struct vault_question *question, const uint8_t *key,
                  struct td_str canonical, uint32_t salt, struct buf *out);
    const void *ctx;
};
/* Appends the value's surrogate: the one that it has, else one like those of its other spellings,
 * else a new one. */
TD_MUST_CHECK enum td_status vault_pair(const struct vault_job *job,
                                        const struct vault_question *question, struct buf *out);

/* vault_words.c: names, places, organisations, addresses. */
TD_MUST_CHECK enum td_status vault_replace_words(const struct vault_job *job,
                                                 enum privacy_kind kind, struct td_str value,
                                                 struct buf *out);

#endif
