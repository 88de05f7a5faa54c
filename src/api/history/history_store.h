/* The records of history.h in the database that nodes share (src/cluster/schema/007_kept.sql). What
 * a record says is sealed under the cluster's key, and its owner is a hash under that key. One
 * connection: one caller at a time. Each call waits for the database, two seconds at most;
 * TD_UNAVAILABLE: it gives no answer. */
#ifndef API_HISTORY_STORE_H
#define API_HISTORY_STORE_H

#include "api/history/history.h"
#include "base/crypto/keyed.h"

struct history_store;

/* Of one text of a record: hexadecimal digits of it are one value of a statement. */
#define HISTORY_STORE_TEXT_BYTES_MAX ((size_t)16 << 20)

/* url: it may be away. **returns new** (history_store_close). */
TD_MUST_CHECK enum td_status history_store_open(const char *url,
                                                const uint8_t key[static KEYED_KEY_BYTES],
                                                const struct history_limits *limits,
                                                struct history_store **out, struct td_error *err);
/* What takes longer is away. */
void history_store_hurry(struct history_store *store, uint32_t answer_ms);
void history_store_close(struct history_store *store); /* accepts NULL */

/* Those of history.h. finish: the record runs, or TD_NOT_FOUND. */
TD_MUST_CHECK enum td_status history_store_put(struct history_store *store,
                                               const struct history_record *record, bool finish,
                                               struct td_error *err);
/* Adds the only list of the record. mark: what was told with it before is told again. */
TD_MUST_CHECK enum td_status history_store_append(struct history_store *store,
                                                  const struct history_record *record,
                                                  const char *mark, struct td_error *err);
/* As history_find_run, of at most count_max. Of those before the first one there is no body. */
TD_MUST_CHECK enum td_status history_store_find(struct history_store *store, const char *caller,
                                                struct td_str id, size_t count_max,
                                                struct history_run *out, struct td_error *err);
/* Each user who asked for a part of it. */
TD_MUST_CHECK enum td_status history_store_users(struct history_store *store, const char *caller,
                                                 const char *id,
                                                 void (*each)(void *ctx, const char *user),
                                                 void *ctx, struct td_error *err);
/* What is put and added between them takes place as a whole, or with another status than TD_OK not
 * at all. */
TD_MUST_CHECK enum td_status history_store_begin(struct history_store *store, struct td_error *err);
TD_MUST_CHECK enum td_status history_store_end(struct history_store *store, enum td_status status,
                                               struct td_error *err);
/* TD_NOT_FOUND: it does not run. */
TD_MUST_CHECK enum td_status history_store_cancel(struct history_store *store, const char *caller,
                                                  const char *id, struct history_text *body,
                                                  struct td_error *err);
TD_MUST_CHECK enum td_status history_store_remove(struct history_store *store, const char *caller,
                                                  const char *id, struct td_error *err);
TD_MUST_CHECK enum td_status history_store_replace(struct history_store *store, const char *caller,
                                                   const char *id,
                                                   const struct history_text *before,
                                                   struct history_text *after,
                                                   struct td_error *err);
/* Says that this node still makes it. TD_NOT_FOUND: nobody wants it any more. */
TD_MUST_CHECK enum td_status history_store_hold(struct history_store *store, const char *caller,
                                                const char *id, struct td_error *err);
TD_MUST_CHECK enum td_status history_store_forget(struct history_store *store, const char *tenant,
                                                  const char *user, uint64_t *count,
                                                  struct td_error *err);
/* Removes what nobody has used for long enough, and what is beyond the limits of those callers that
 * have got something since the last call through this store. */
TD_MUST_CHECK enum td_status history_store_sweep(struct history_store *store, struct td_error *err);

#endif
