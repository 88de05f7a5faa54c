/* Consents: that somebody may send something somewhere, for a time, until it is taken back. A route that
 * asks for one lets nothing leave the device without it. A consent is of the caller that gave it (its API
 * key, or its address where no keys are asked for): nobody else sees, uses or takes it back, and the same id
 * of two callers names two. It never comes to hold for more or longer than it was given for. Kept in a file,
 * so that what was taken back stays taken back. Any thread. */
#ifndef EXCHANGE_CONSENTS_H
#define EXCHANGE_CONSENTS_H

#include "tandem/types.h"

#define CONSENT_ID_BYTES_MAX 64
#define CONSENT_SCOPE_BYTES_MAX 64
#define CONSENTS_MAX 10000u
#define CONSENT_SECONDS_MAX (366u * 86400u)

struct consents;
struct json;

enum consent_state {
    CONSENT_VALID,
    CONSENT_NONE,    /* the request names none */
    CONSENT_UNKNOWN, /* one that nobody gave */
    CONSENT_EXPIRED,
    CONSENT_REVOKED,
    CONSENT_OTHER_SCOPE,
    CONSENT_OTHER_USER
};
/* "no consent was given", ... */
const char *consent_state_text(enum consent_state state);

struct consent {
    const char *id;      /* NULL: one is made */
    const char *scope;   /* a route's name, or "*" */
    const char *user;    /* whose requests it is for; NULL = anybody's */
    uint64_t expires_ms; /* since the Unix epoch */
    const char *caller;  /* who gives it (td_request.caller); NULL = nobody in particular */
};

/* path NULL: in memory only. What a file holds is read; one that is malformed is TD_CORRUPT. **returns new**
 * (consents_close). */
TD_MUST_CHECK enum td_status consents_open(const char *path, struct consents **out,
                                           struct td_error *err);
void consents_close(struct consents *consents);
/* From now on no user's name is kept, in the file and in memory: a hash with a salt of each consent's own
 * stands in its place, of those that were given before as well. TD_IO: the file could not be written. */
TD_MUST_CHECK enum td_status consents_keep_hashes(struct consents *consents, struct td_error *err);

/* id_out: of the consent. The same once more changes nothing but for an earlier end. TD_INVALID: malformed,
 * or for longer than a year; TD_DENIED: that id was taken back, has expired, or was given for something
 * else or for less time; TD_LIMIT: too many. */
TD_MUST_CHECK enum td_status consents_grant(struct consents *consents,
                                            const struct consent *consent, uint64_t now_ms,
                                            char id_out[static CONSENT_ID_BYTES_MAX + 1],
                                            struct td_error *err);
/* From now on it is revoked, for good. TD_NOT_FOUND: the caller gave none of that id. */
TD_MUST_CHECK enum td_status consents_revoke(struct consents *consents, const char *caller,
                                             const char *id, uint64_t now_ms, struct td_error *err);
/* Everything that was given for the user's requests, taken back or not; they have no consent any more. TD_IO: the file
 * could not be written. */
TD_MUST_CHECK enum td_status consents_forget(struct consents *consents, const char *user,
                                             uint64_t *erased, struct td_error *err);
/* What a request would use a consent for. */
struct consent_use {
    const char *id; /* NULL: it names none */
    const char *route, *user, *caller;
};
enum consent_state consents_check(struct consents *consents, const struct consent_use *use,
                                  uint64_t now_ms);
/* Of the caller: [{"id", "scope", "user", "expires", "state"}] ("user_hash" where names are not kept):
 * **returns new** (json_free). id NULL: all. */
struct json *consents_list(struct consents *consents, const char *caller, const char *id,
                           uint64_t now_ms);

#endif
