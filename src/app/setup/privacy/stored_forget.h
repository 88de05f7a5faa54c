/* Erases what the files of this installation hold of a user. A command does it for all of them when
 * no server runs. A server does it for those that it has not opened because they are switched off:
 * what was kept before is still there. Any thread. */
#ifndef APP_STORED_FORGET_H
#define APP_STORED_FORGET_H

#include "api/http/api_host.h"
#include "app/config/config.h"

/* What the process has open, and erases through that. */
enum stored_open {
    STORED_LEDGER = 1,
    STORED_CONSENTS = 2,
    STORED_SIMILAR = 4,
    STORED_VAULTS = 8,
    STORED_FILES = 16,
    STORED_DEFERRED = 32,
    STORED_RESPONSES = 64,
    STORED_TICKETS = 128,
};

struct stored_forget {
    const struct config *config;
    uint32_t open;      /* a sum of enum stored_open */
    const char *tenant; /* NULL = of all tenants' users of that name */
    const char *user;
};

/* Fills in what *out has of the stores that are not open. Consents and vaults name no tenant in
 * their files: they go whoever asks. */
TD_MUST_CHECK enum td_status stored_forget(const struct stored_forget *whom, struct api_stored *out,
                                           struct td_error *err);

#endif
