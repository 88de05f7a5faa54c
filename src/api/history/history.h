/* What clients may come back to: responses and conversations of OpenAI's Responses API, in memory.
 *
 * A record is a text (the object that its client sees) and lists of items, each a JSON text that
 * never changes once it is there. So a record is looked at without holding up other callers.
 * A record belongs to one caller: to all others it is not there, and nothing tells it from one that
 * never was.
 *
 * Nothing is written to a disk. A record is dropped when nobody has used it for a time; when its
 * caller has more than a caller may have; and when all callers together have too much, which the
 * caller with most pays for. What was used least recently goes first. Texts are wiped.
 *
 * Where nodes share a database, records are there instead, sealed, and all nodes find them; those
 * of contractual and restricted requests stay in the memory of their node. The limits are then
 * those of all nodes together. Any thread; there a call may wait for the database. */
#ifndef API_HISTORY_H
#define API_HISTORY_H

#include "base/crypto/keyed.h"
#include "base/text/names.h"
#include "base/time/clock.h"
#include "tandem/types.h"

/* "resp_", 24 hex digits, NUL. What is longer names nothing. */
#define HISTORY_ID_BYTES 48

struct history;
struct history_text;
struct history_wait;
struct loop;

struct history_limits {
    uint64_t keep_ms; /* since the last use */
    size_t bytes_max, caller_bytes_max;
    uint32_t caller_count_max; /* records of one caller */
};

/* clock NULL = the system's. **returns new** (history_free); NULL without memory. */
struct history *history_new(const struct history_limits *limits, const struct clock *clock);
void history_free(struct history *history);

/* What nodes have together: the database's URL, and the key under which texts are sealed. */
struct history_share {
    const char *database;
    uint8_t key[KEYED_KEY_BYTES];
};
/* From now on records are there. Before the first record. */
TD_MUST_CHECK enum td_status history_share(struct history *history,
                                           const struct history_share *share, struct td_error *err);
/* Of a server that does not run: the records of a user in that database. */
TD_MUST_CHECK enum td_status history_share_forget(const struct history_share *share,
                                                  const char *tenant, const char *user,
                                                  uint64_t *count, struct td_error *err);
/* Whether the database gave no answer when it was asked last: what was not found may be there. */
bool history_is_away(const struct history *history); /* accepts NULL */
#define HISTORY_AWAY "the database that has kept responses gives no answer; try again"

/* A text that is shared and counted. **returns new** (history_text_free), with one holder; NULL
 * without memory, or when `text` has no data. */
struct history_text *history_text_new(struct td_str text);
struct history_text *history_text_hold(struct history_text *text);
void history_text_free(struct history_text *text); /* accepts NULL */
struct td_str history_text_view(const struct history_text *text);

/* HISTORY_LOST: it ran on a node that is gone. */
enum history_state { HISTORY_DONE, HISTORY_RUNNING, HISTORY_CANCELLED, HISTORY_LOST };

/* Whose it is. NULL: no name. */
struct history_owner {
    const char *caller; /* as td_request's */
    const char *tenant, *user;
};

struct history_class {
    enum td_data_class declared; /* by whoever asked; detectors find the rest again */
    enum td_data_class seen;     /* that its exchange had */
};

void history_class_raise(struct history_class *data_class, const struct history_class *by);

#define HISTORY_LISTS_OF_RESPONSE 2 /* what was asked, what was answered */

/* What is put. Strings are copied, texts are held. */
struct history_record {
    const char *id;
    struct history_owner owner;
    enum history_state state;
    bool background;
    struct history_class data_class;
    const char *previous; /* the response that it goes on from; NULL or "" = none */
    struct history_text *body;
    struct history_text *const *lists; /* [list_count], each an array of items */
    size_t list_count;
    /* It is in the database that nodes share when the call returns. Otherwise it may come there a
     * moment later (history_wait). */
    bool at_once;
};

/* What is found; it stays as it was when it was found. */
struct history_found {
    enum history_state state;
    bool background;
    struct history_class data_class;
    char previous[HISTORY_ID_BYTES];
    struct history_text *body;
    struct history_text **lists; /* [list_count] */
    size_t list_count;
};

/* Puts a record. If there is one of that id and caller, it is replaced. TD_LIMIT: it is larger than
 * its caller may have. */
TD_MUST_CHECK enum td_status history_put(struct history *history,
                                         const struct history_record *record);
/* Puts the end of a record that runs. TD_NOT_FOUND: it was cancelled or deleted meanwhile. */
TD_MUST_CHECK enum td_status history_finish(struct history *history,
                                            const struct history_record *record);
/* False: the caller has none of that id. Counts as a use. **returns new** *out
 * (history_found_deinit). */
bool history_find(struct history *history, const char *caller, struct td_str id,
                  struct history_found *out);
void history_found_deinit(struct history_found *found);
/* The same with the record that it goes on from, the one before that and so on, as many as can be
 * found at a time: at least one, or false. Of those before the first one the body may be NULL.
 * **returns new** *out (history_run_deinit). */
#define HISTORY_RUN_MAX 64
struct history_run {
    size_t count;
    struct history_found found[HISTORY_RUN_MAX];
    char ids[HISTORY_RUN_MAX][HISTORY_ID_BYTES];
};
bool history_find_run(struct history *history, const char *caller, struct td_str id,
                      struct history_run *out);
void history_run_deinit(struct history_run *run);
/* Whether it still runs. Is no use. */
bool history_runs(struct history *history, const char *caller, const char *id);
/* Ends one that runs, with another body. False: it does not run. */
bool history_cancel(struct history *history, const char *caller, const char *id,
                    struct history_text *body);
bool history_remove(struct history *history, const char *caller, const char *id);

/* Adds the record's only list to the caller's record of that id; it has no body. owner.user: who
 * may have it forgotten, too. TD_LIMIT: it has too many. When it is then larger than its caller may
 * have, it is dropped. */
TD_MUST_CHECK enum td_status history_append(struct history *history,
                                            const struct history_record *record);
/* Replaces a list, or with `before` NULL the body. False: it is not there any more. */
bool history_replace(struct history *history, const char *caller, const char *id,
                     const struct history_text *before, struct history_text *after);

/* Drops all records of a user. tenant NULL: of all tenants. */
TD_MUST_CHECK enum td_status history_forget(struct history *history, const char *tenant,
                                            const char *user, uint64_t *count,
                                            struct td_error *err);
/* Calls fn on the loop as soon as all that was put until now is in the database, or cannot be.
 * NULL: there is nothing to wait for, and fn is not called. Otherwise **returns new**, until fn is
 * called or history_wait_cancel, which the loop's thread calls. */
struct history_wait *history_wait(struct history *history, struct loop *loop, void (*fn)(void *ctx),
                                  void *ctx);
void history_wait_cancel(struct history_wait *wait); /* accepts NULL */
/* Drops what has been kept long enough. Returns in how many ms to call again. */
uint64_t history_sweep(struct history *history);

#endif
