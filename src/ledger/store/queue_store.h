/* Durable queues of things that somebody or something answers later: each entry is taken with a
 * lease and ended exactly once. An entry has a body, which whoever puts it in writes, and a result,
 * which whoever ends it writes. Both are texts that this store does not read.
 *
 * A lease that has run out leaves the entry for others. Each step is one transaction that is on the
 * disk when it returns. So a process that is killed loses no entry and ends none twice.
 *
 * queues.db in the state folder, or the database that several nodes share. Several processes may
 * have it open: a server, and the command line beside it. Times are in seconds since 1970. Any
 * thread. */
#ifndef LEDGER_QUEUE_STORE_H
#define LEDGER_QUEUE_STORE_H

#include "tandem/types.h"

#define QUEUE_STORE_FILE "queues.db"
#define QUEUED_ID_BYTES 28 /* "q_", 24 hex digits */
#define QUEUED_NAME_BYTES 72
#define QUEUED_TEXT_BYTES_MAX ((size_t)8 << 20) /* of a body, and of a result */

struct queue_store;

enum queued_state {
    QUEUED_OPEN,
    QUEUED_TAKEN, /* by `holder`, until lease_s */
    QUEUED_ENDED, /* has a result */
    QUEUED_EXPIRED
};
const char *queued_state_name(enum queued_state state); /* "open", ... */

struct queued {
    char id[QUEUED_ID_BYTES];
    char queue[QUEUED_NAME_BYTES];
    char owner[QUEUED_NAME_BYTES];   /* a tenant; "" = of a server without keys */
    char about[QUEUED_NAME_BYTES];   /* an exchange's id */
    char holder[QUEUED_NAME_BYTES];  /* who took it last; "" = nobody */
    char outcome[QUEUED_NAME_BYTES]; /* of an ended one, as whoever ended it calls it */
    int data_class;
    enum queued_state state;
    int64_t created_s, expires_s, lease_s, ended_s;
    uint32_t takes;             /* how often it was taken */
    struct td_str body, result; /* borrowed while it is shown */
};
/* False to stop. Calls nothing of the store. */
typedef bool queued_fn(void *ctx, const struct queued *row);

/* path: of the file, or the database's URL. **returns new** (queue_store_close). */
TD_MUST_CHECK enum td_status queue_store_open(const char *path, struct queue_store **out,
                                              struct td_error *err);
void queue_store_close(struct queue_store *store); /* accepts NULL */

/* Who is told that an entry came (state open) or was ended, after that is on the disk: without
 * its texts. fn may be called by any thread that uses the store, and calls nothing of the store. */
typedef void queue_listener_fn(void *ctx, const struct queued *row);
void queue_store_set_listener(struct queue_store *store, queue_listener_fn *fn, void *ctx);

struct queue_entry {
    const char *queue, *owner, *user, *about; /* NULL = "" */
    int data_class;
    int64_t expires_s;
    uint32_t open_max; /* entries of the queue that have not ended; TD_BUSY beyond them */
    struct td_str body;
};
TD_MUST_CHECK enum td_status queue_store_add(struct queue_store *store,
                                             const struct queue_entry *entry,
                                             char id[static QUEUED_ID_BYTES], struct td_error *err);

/* NULL and 0 stand for any. */
struct queue_filter {
    const char *queue, *owner, *about;
    const char *after; /* begins behind the entry of this id */
    bool waiting;      /* only open and taken ones */
    uint32_t limit;
};
/* Oldest first. */
TD_MUST_CHECK enum td_status queue_store_each(struct queue_store *store,
                                              const struct queue_filter *filter, queued_fn *fn,
                                              void *ctx, struct td_error *err);
/* owner NULL: anybody's. TD_NOT_FOUND: fn was not called. */
TD_MUST_CHECK enum td_status queue_store_find(struct queue_store *store, const char *owner,
                                              const char *id, queued_fn *fn, void *ctx,
                                              struct td_error *err);

/* TD_BUSY: another holder has it. TD_UNSUPPORTED: it has ended or expired. Both as the message
 * says. Whoever holds it already has it for longer. */
TD_MUST_CHECK enum td_status queue_store_take(struct queue_store *store, const char *id,
                                              const char *holder, uint32_t lease_s,
                                              struct td_error *err);
/* Gives it back. TD_BUSY: it is not the holder's. */
TD_MUST_CHECK enum td_status queue_store_release(struct queue_store *store, const char *id,
                                                 const char *holder, struct td_error *err);
/* Ends it, unless another holder has it: TD_BUSY and TD_UNSUPPORTED as above. */
TD_MUST_CHECK enum td_status queue_store_finish(struct queue_store *store, const char *id,
                                                const char *holder, const char *outcome,
                                                struct td_str result, struct td_error *err);

struct queue_count {
    uint64_t waiting, taken; /* waiting: not ended, taken ones included */
    int64_t oldest_s;        /* when the oldest of them came; 0 = there is none */
};
void queue_store_count(struct queue_store *store, const char *queue, struct queue_count *out);

/* How those that are kept have ended. */
typedef void queue_outcome_fn(void *ctx, const char *outcome, uint64_t count);
void queue_store_outcomes(struct queue_store *store, const char *queue, queue_outcome_fn *fn,
                          void *ctx);

/* Who did what with an entry, for whoever audits: kept as long as the entry. */
TD_MUST_CHECK enum td_status queue_store_note(struct queue_store *store, const char *id,
                                              const char *who, const char *what,
                                              struct td_error *err);
typedef void queue_note_fn(void *ctx, int64_t at_s, const char *who, const char *what);
TD_MUST_CHECK enum td_status queue_store_notes(struct queue_store *store, const char *id,
                                               queue_note_fn *fn, void *ctx, struct td_error *err);

/* Removes what ended longer ago than its queue's entries are kept. Calls nothing of the store. */
typedef uint32_t queue_keep_fn(void *ctx, const char *queue); /* in seconds */
TD_MUST_CHECK enum td_status queue_store_sweep(struct queue_store *store, queue_keep_fn *keep,
                                               void *ctx, struct td_error *err);

/* Removes a user's entries whole. owner NULL: of all owners' users of that name. */
TD_MUST_CHECK enum td_status queue_store_forget(struct queue_store *store, const char *owner,
                                                const char *user, uint64_t *count,
                                                struct td_error *err);
/* The same of what is about that thing. Who waits for it finds it gone. */
TD_MUST_CHECK enum td_status queue_store_drop(struct queue_store *store, const char *owner,
                                              const char *about, struct td_error *err);

#endif
