/* Questions that wait for a connection (docs/offline.md): what was asked, on whose behalf, and the
 * answer once there is one. A database beside the ledger, or the one that nodes share; then a
 * question is asked by one node, which says so each second, and by another when it does not any
 * more. Each change of state is one transaction
 * that is on the disk when it returns. So after a crash a question that was being asked waits
 * again, and an answer that was kept stays the only one.
 *
 * Texts are sealed under the installation's key. What an owner has waiting is counted by triggers,
 * so that a full queue is refused as quickly as an empty one takes.
 *
 * Time is the queue's own: it advances with the monotonic clock while the store is open, and while
 * it is closed by what the wall clock says, a day at most. So a wall clock that jumps expires
 * nothing. Any thread. */
#ifndef LEDGER_DEFERRED_STORE_H
#define LEDGER_DEFERRED_STORE_H

#include "base/bytes/buf.h"
#include "base/crypto/keyed.h"
#include "ledger/store/file_store.h"

#define DEFERRED_KEY_ID_BYTES 32
#define DEFERRED_PATH_BYTES 160
#define DEFERRED_REASON_BYTES 256

struct clock;
struct deferred_store;

/* In this order in the database: add at the end. */
enum deferred_state {
    DEFERRED_WAITING,
    DEFERRED_RUNNING,
    DEFERRED_ANSWERED, /* with code 200 */
    DEFERRED_FAILED,   /* with another code, which asking again would not change */
    DEFERRED_EXPIRED,
    DEFERRED_CANCELLED,
    DEFERRED_STATE_COUNT
};
const char *deferred_state_name(enum deferred_state state);
/* DEFERRED_STATE_COUNT: there is no such state. */
enum deferred_state deferred_state_parse(const char *name);

struct deferred_limits {
    uint64_t count_max, owner_count_max; /* that wait */
    uint64_t bytes_max;                  /* of all texts, of questions and of kept answers */
    int64_t expires_s;                   /* a question that waits for longer is not asked */
    int64_t keep_s;                      /* what has ended is removed after so long */
};

/* What is put in. user may be NULL. */
struct deferred_question {
    const char *owner, *key_id, *user, *path, *reason;
    struct td_str headers; /* lines "name: value\n" */
    struct td_str body;
    int64_t expires_s; /* 0 = the store's */
};

struct deferred {
    int64_t seq;
    char id[STORED_ID_BYTES];
    char owner[STORED_OWNER_BYTES], key_id[DEFERRED_KEY_ID_BYTES];
    char path[DEFERRED_PATH_BYTES], reason[DEFERRED_REASON_BYTES];
    enum deferred_state state;
    int64_t created_s, expires_s, ended_s; /* by the wall clock; ended_s 0 = it has not */
    uint32_t tries;
    int code; /* of the answer; 0 = there is none */
};

/* path: of a file, or the URL of the database that nodes share, which may be away. clock NULL = the
 * system's; key: copied. **returns new** (deferred_store_close). */
TD_MUST_CHECK enum td_status deferred_store_open(const char *path,
                                                 const struct deferred_limits *limits,
                                                 const uint8_t key[static KEYED_KEY_BYTES],
                                                 const struct clock *clock,
                                                 struct deferred_store **out, struct td_error *err);
void deferred_store_close(struct deferred_store *store); /* accepts NULL */

/* TD_LIMIT: the queue is full, or the owner's part of it; the message says which key. */
TD_MUST_CHECK enum td_status deferred_store_add(struct deferred_store *store,
                                                const struct deferred_question *question,
                                                struct deferred *out, struct td_error *err);
/* owner NULL: anybody's. */
bool deferred_store_find(struct deferred_store *store, const char *owner, struct td_str id,
                         struct deferred *out);
/* The newest first, after the one whose id is page->after. state DEFERRED_STATE_COUNT: any. Calls
 * fn at most limit + 1 times: the last one says that there are more. False: there is no such
 * `after`, or the database could not be read. */
bool deferred_store_list(struct deferred_store *store, const char *owner, enum deferred_state state,
                         const struct stored_page *page,
                         void (*fn)(void *ctx, const struct deferred *one), void *ctx);
/* The next of the owners with a question that waits, behind `after` ("" = the first), in an order
 * that does not change. False: there is none. */
bool deferred_store_next_owner(struct deferred_store *store, const char *after,
                               char out[static STORED_OWNER_BYTES]);
/* The owner's oldest question that waits; it runs from then on. Texts are appended. TD_NOT_FOUND:
 * there is none. TD_CORRUPT: its texts cannot be opened, and it has ended as failed. */
TD_MUST_CHECK enum td_status deferred_store_take(struct deferred_store *store, const char *owner,
                                                 struct deferred *out, struct buf *headers,
                                                 struct buf *body, struct td_error *err);
/* Whatever runs here waits again: nobody asks it any more. */
TD_MUST_CHECK enum td_status deferred_store_recover(struct deferred_store *store,
                                                    struct td_error *err);
/* It waits again, at its old place. */
TD_MUST_CHECK enum td_status deferred_store_back(struct deferred_store *store, const char *id,
                                                 struct td_error *err);
/* The end of one that runs. The question's text goes. TD_NOT_FOUND: it does not run any more. */
TD_MUST_CHECK enum td_status deferred_store_end(struct deferred_store *store, const char *id,
                                                int code, struct td_str answer,
                                                struct td_error *err);
/* Whether this process is still to ask it; where nodes share the queue, it says that it does. */
bool deferred_store_runs(struct deferred_store *store, const char *id);
/* The kept answer is appended; nothing where there is none. */
TD_MUST_CHECK enum td_status deferred_store_answer(struct deferred_store *store, const char *id,
                                                   struct buf *out, struct td_error *err);
/* One that waits or runs is cancelled, one that has ended is removed. TD_NOT_FOUND. */
TD_MUST_CHECK enum td_status deferred_store_drop(struct deferred_store *store, const char *owner,
                                                 struct td_str id, bool *removed,
                                                 struct td_error *err);
/* Removes all of a user's. owner NULL: of all. */
TD_MUST_CHECK enum td_status deferred_store_forget(struct deferred_store *store, const char *owner,
                                                   const char *user, uint64_t *count,
                                                   struct td_error *err);
/* Expires and removes what is due, some hundred at a time. */
void deferred_store_sweep(struct deferred_store *store);
bool deferred_store_is_shared(const struct deferred_store *store);
/* How many wait or run, as of this process's last change or sweep. */
uint64_t deferred_store_waiting(struct deferred_store *store);

#endif
