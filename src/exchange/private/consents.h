/* Consents: somebody may send something somewhere, for a time, until it is taken back.
 *
 * A route that requires one lets nothing leave the device without it. A consent belongs to the
 * caller that gave it (its tenant, or its address where no keys are required). Nobody else sees
 * it, uses it or takes it back, and the same id of two callers names two consents. A consent never
 * comes to hold for more or for longer than it was given for. They are kept in a file, or in the
 * database that nodes share, so that what was taken back stays taken back. One for the process; any
 * thread. */
#ifndef EXCHANGE_CONSENTS_H
#define EXCHANGE_CONSENTS_H

#include "tandem/types.h"

#define CONSENT_ID_BYTES_MAX 64
#define CONSENT_SCOPE_BYTES_MAX 64
#define CONSENTS_MAX 20000u /* of all callers; a caller may have as many as are still free */
#define CONSENT_SECONDS_MAX (366u * 86400u)

struct consents;
struct json;
struct shared_text;

enum consent_state {
    CONSENT_VALID,
    CONSENT_NONE,    /* the request names none */
    CONSENT_UNKNOWN, /* one that nobody gave */
    CONSENT_EXPIRED,
    CONSENT_REVOKED,
    CONSENT_OTHER_SCOPE,
    CONSENT_OTHER_USER
};
/* The end of a sentence: "its consent has expired". */
const char *consent_state_text(enum consent_state state);

struct consent {
    const char *id;      /* NULL: one is made */
    const char *scope;   /* a route's name, or "*" */
    const char *user;    /* whose requests it is for; NULL = anybody's */
    uint64_t expires_ms; /* since the Unix epoch */
    const char *caller;  /* who gives it (td_request.caller); NULL = nobody in particular */
};

/* Reads the file. path NULL: in memory only. TD_CORRUPT: the file is malformed. **returns new**
 * (consents_close). */
TD_MUST_CHECK enum td_status consents_open(const char *path, struct consents **out,
                                           struct td_error *err);
/* They are those that nodes have together; after consents_open without a path. **takes** the text.
 * One that cannot be read now is read with consents_refresh: until then nobody's consent is
 * known. */
void consents_share(struct consents *consents, struct shared_text *text);
/* What other nodes have changed; to be called some times a second where nodes share them. TD_OK
 * also where they do not. */
TD_MUST_CHECK enum td_status consents_refresh(struct consents *consents, struct td_error *err);
/* From now on nothing is written: the file is another process's. Before anything else. */
void consents_keep_in_memory(struct consents *consents);
void consents_close(struct consents *consents);
/* From now on no user's name is kept, in the file and in memory, also of earlier consents. A hash
 * stands in its place, with a salt of its own for each consent. TD_IO: the file could not be
 * written. */
TD_MUST_CHECK enum td_status consents_keep_hashes(struct consents *consents, struct td_error *err);

/* id_out: of the consent. The same id once more can only move the end to an earlier time.
 * TD_INVALID: malformed, or for longer than a year. TD_DENIED: that id was taken back, has expired,
 * or was given for something else or for less time. TD_LIMIT: too many. */
TD_MUST_CHECK enum td_status consents_grant(struct consents *consents,
                                            const struct consent *consent, uint64_t now_ms,
                                            char id_out[static CONSENT_ID_BYTES_MAX + 1],
                                            struct td_error *err);
/* From now on it is revoked, for good. TD_NOT_FOUND: the caller gave none of that id. */
TD_MUST_CHECK enum td_status consents_revoke(struct consents *consents, const char *caller,
                                             const char *id, uint64_t now_ms, struct td_error *err);
/* Erases everything that the caller gave for the user's requests, taken back or not. caller NULL:
 * whoever gave it. TD_IO: the file could not be written. */
TD_MUST_CHECK enum td_status consents_forget(struct consents *consents, const char *caller,
                                             const char *user, uint64_t *erased,
                                             struct td_error *err);
/* What a request would use a consent for. */
struct consent_use {
    const char *id; /* NULL: it names none */
    const char *route, *user, *caller;
};
enum consent_state consents_check(struct consents *consents, const struct consent_use *use,
                                  uint64_t now_ms);
/* The caller's: [{"id", "scope", "user", "expires", "state"}], with "user_hash" where names are not
 * kept. id NULL: all. **returns new** (json_free). */
struct json *consents_list(struct consents *consents, const char *caller, const char *id,
                           uint64_t now_ms);

#endif
