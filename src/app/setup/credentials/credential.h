/* Credentials that end: tokens that a command prints, that Google gives for a service account, that
 * AWS gives a machine or a container. Whoever gets one says where from, and by when the next is
 * needed. Any thread; they block. */
#ifndef APP_CREDENTIAL_H
#define APP_CREDENTIAL_H

#include "app/config/config.h"
#include "base/crypto/secret.h"

struct credential {
    struct secret *text;    /* owned; NULL = there is none */
    uint64_t renew_wall_ms; /* when the next is to be fetched; 0 = it does not end */
};

enum credential_kind {
    CREDENTIAL_NONE,
    CREDENTIAL_COMMAND, /* the text that a command prints */
    CREDENTIAL_GOOGLE,  /* an access token for the account in a file of Google's */
    CREDENTIAL_AWS_ROLE /* of this container, or of this machine */
};

#define CREDENTIAL_WORDS_MAX CONFIG_COMMAND_WORDS_MAX

struct credential_source {
    enum credential_kind kind;
    const char *const *words; /* of a command, NULL-terminated; borrowed */
    const char *file;         /* of Google; borrowed */
};

TD_MUST_CHECK enum td_status credential_fetch(const struct credential_source *source,
                                              struct credential *out, struct td_error *err);
/* The moment at which a credential that ends then is to be renewed: before its last five minutes,
 * or half of what is left of it. */
uint64_t credential_renew_at(uint64_t now_wall_ms, uint64_t end_wall_ms);

/* How each is got. */
enum td_status credential_of_command(const char *const *words, struct credential *out,
                                     struct td_error *err);
enum td_status credential_of_google(const char *file, struct credential *out, struct td_error *err);
/* TD_OK and no text: this is no container and no machine of AWS with a role. */
enum td_status credential_of_aws_role(struct credential *out, struct td_error *err);
/* "2026-11-27T21:00:00Z" in ms since 1970; 0 = it is no such time. */
uint64_t credential_read_time(const char *text);

#endif
