/* Copies of a ledger's file, and looks at every byte of one. Of a database elsewhere its own tools
 * make copies: these calls refuse it (TD_UNSUPPORTED). Any thread. */
#ifndef LEDGER_UPKEEP_H
#define LEDGER_UPKEEP_H

#include "ledger/database/sealed_text.h"

#define LEDGER_STATE_BYTES 17 /* a name of the state folder: 16 hexadecimal digits, or "" */

struct ledger_copied {
    uint64_t exchanges, bytes;
    uint64_t last_wall_ms;          /* of the newest exchange; 0 = none */
    uint64_t made_wall_ms;          /* of a backup; 0 = a file that was copied otherwise */
    char state[LEDGER_STATE_BYTES]; /* whose it is; "" = it does not say */
};

/* Told how many pages are done; false ends the copying (TD_CANCELLED). */
typedef bool ledger_copying_fn(void *ctx, uint64_t done, uint64_t all);

struct ledger_backup_options {
    const char *path, *file; /* the ledger; the copy, which must not be there yet */
    const char *state;       /* whose it is, as above */
    ledger_copying_fn *copying;
    void *ctx;
};
/* Copies what is committed at this moment, while others read and write, and reads the copy whole.
 * The copy is one file (0600). After a failure, also for a full disk, there is none. TD_BUSY: the
 * file is there. */
TD_MUST_CHECK enum td_status ledger_backup(const struct ledger_backup_options *options,
                                           struct ledger_copied *out, struct td_error *err);

struct ledger_restore_options {
    const char *file, *path; /* the backup; the ledger. The caller has the state folder's lock */
    const char *state;       /* whose the ledger is */
    bool other_state;        /* the backup may be of another state folder */
    bool replace;            /* the ledger there may be newer than the backup, or damaged */
    ledger_copying_fn *copying;
    void *ctx;
};
/* Puts a copy of the backup in the ledger's place, and brings it up to date. What was there stays
 * beside it under another name, which `aside` gets ("" = nothing was there). TD_CORRUPT: the backup
 * is damaged, or none; TD_UNSUPPORTED: a newer program wrote it; TD_DENIED: it is of another state;
 * TD_BUSY: the ledger there is newer, or in use. After a failure the ledger is as it was. */
TD_MUST_CHECK enum td_status ledger_restore(const struct ledger_restore_options *options,
                                            struct ledger_copied *out, char *aside,
                                            size_t aside_size, struct td_error *err);

struct ledger_sound {
    uint64_t exchanges, attempts, bytes;
    uint32_t version; /* of the schema */
    bool sound;
    char problem[256]; /* the first that was found */
    struct sealed_texts texts;
};
/* Reads every page, every reference and every packed text. Of a database it only counts. TD_OK with
 * a verdict. */
TD_MUST_CHECK enum td_status ledger_inspect(const char *path, struct ledger_sound *out,
                                            struct td_error *err);

#endif
