/* What nodes keep together of history.h: what was made on one is found on all. Answers are written
 * by a thread, some together, and their last bytes wait for it (history_wait). What clients ask for
 * is read and changed at once, by whoever asks. Any thread. */
#ifndef API_HISTORY_SHARED_H
#define API_HISTORY_SHARED_H

#include "api/history/history.h"

struct history_shared;

TD_MUST_CHECK enum td_status history_shared_open(const struct history_share *share,
                                                 const struct history_limits *limits,
                                                 struct history_shared **out, struct td_error *err);
/* Writes what waits, if the database is there. Accepts NULL. */
void history_shared_close(struct history_shared *shared);

/* Whether such a record may be in a database: texts of contractual and restricted requests are not
 * stored. */
bool history_shared_may_have(const struct history_class *data_class);

enum td_status history_shared_put(struct history_shared *shared,
                                  const struct history_record *record, bool finish);
enum td_status history_shared_append(struct history_shared *shared,
                                     const struct history_record *record);
bool history_shared_find(struct history_shared *shared, const char *caller, struct td_str id,
                         size_t count_max, struct history_run *out);
/* A record that this node makes: whether somebody still wants it; and that it is not made for the
 * database any more. */
bool history_shared_runs(struct history_shared *shared, const char *caller, const char *id);
bool history_shared_drop_running(struct history_shared *shared, const char *caller, const char *id);
bool history_shared_cancel(struct history_shared *shared, const char *caller, const char *id,
                           struct history_text *body);
bool history_shared_remove(struct history_shared *shared, const char *caller, const char *id);
bool history_shared_replace(struct history_shared *shared, const char *caller, const char *id,
                            const struct history_text *before, struct history_text *after);
bool history_shared_users(struct history_shared *shared, const char *caller, const char *id,
                          void (*each)(void *ctx, const char *user), void *ctx);
enum td_status history_shared_forget(struct history_shared *shared, const char *tenant,
                                     const char *user, uint64_t *count, struct td_error *err);
struct history_wait *history_shared_wait(struct history_shared *shared, struct loop *loop,
                                         void (*fn)(void *ctx), void *ctx);
bool history_shared_is_away(const struct history_shared *shared);

#endif
