/* What vault.c and vault_words.c share. */
#ifndef PRIVACY_VAULT_INTERNAL_H
#define PRIVACY_VAULT_INTERNAL_H

#include "privacy/pseudonym/vault.h"

/* A replacement in progress. */
struct vault_job {
    struct vault *vault;
    const struct word_set *taken;
    struct vault_uses *uses;
    struct td_error *err;
};

/* The entry for exactly this value, or UINT32_MAX. An entry whose surrogate the texts have by now is
 * retired first. */
uint32_t vault_find(const struct vault_job *job, const char *space, struct td_str original);
/* What draws of a value that is not found depend on beside it: 0, or another number each time that its
 * surrogate was retired. */
uint32_t vault_salt(const struct vault_job *job, const char *space, struct td_str original);
/* May it be a new value's surrogate? */
bool vault_is_free(const struct vault_job *job, struct td_str surrogate);
/* Adds a pair and notes its use. */
TD_MUST_CHECK enum td_status vault_add(const struct vault_job *job, const char *space,
                                       const struct vault_entry *entry);
TD_MUST_CHECK enum td_status vault_use(const struct vault_job *job, uint32_t index);

/* Values of different spaces are others, though they are spelled alike. */
#define VAULT_SPACE_WORD "word"
#define VAULT_SPACE_PHRASE "phrase"

struct vault_question {
    const char *space;
    enum privacy_kind kind;
    enum surrogate_form form;
    struct td_str value, canonical; /* canonical: what its other spellings have in common */
    void (*write)(const struct vault_question *question, const uint8_t *key,
                  struct td_str canonical, uint32_t salt, struct buf *out);
    const void *ctx;
};
/* Appends the value's surrogate: the one that it has, one like its other spellings', or a new one. */
TD_MUST_CHECK enum td_status vault_pair(const struct vault_job *job,
                                        const struct vault_question *question, struct buf *out);

/* vault_words.c: names, places, firms, addresses. */
TD_MUST_CHECK enum td_status vault_replace_words(const struct vault_job *job,
                                                 enum privacy_kind kind, struct td_str value,
                                                 struct buf *out);

#endif
