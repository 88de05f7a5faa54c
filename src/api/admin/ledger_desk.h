/* Reads the ledger for handlers, on a thread of its own: its database may be another machine, which
 * may be slow or away, and no loop waits for it. Questions are answered one after the other. Any
 * thread may ask. */
#ifndef API_LEDGER_DESK_H
#define API_LEDGER_DESK_H

#include "api/http/auth.h"
#include "base/thread/background.h"

#include <stddef.h>

struct json;
struct ledger;
struct ledger_desk;

#define LEDGER_DESK_ID_BYTES 160

enum ledger_asked {
    LEDGER_ASKED_ONE,
    LEDGER_ASKED_LIST,
    LEDGER_ASKED_SHADOWS,
    LEDGER_ASKED_REPORT,
    /* {"answers": [[confidence, right or null, kept]] of the device, newest first,
     *  "versions": as ledger_reader_models} */
    LEDGER_ASKED_CALIBRATION
};

/* As the calls of ledger/record/ledger.h take it. */
struct ledger_question {
    enum ledger_asked what;
    bool of_all; /* tenants; false = of `tenant` alone */
    char tenant[AUTH_TENANT_BYTES];
    char id[LEDGER_DESK_ID_BYTES];
    uint64_t since_wall_ms;
    size_t limit;
    /* Of a report. */
    int by; /* LEDGER_BY_COUNT = of all */
    uint64_t until_wall_ms;
    char key_id[24]; /* "" = of all */
    /* Of the list, and of one. */
    bool hurry;  /* of one exchange: one that is not there may wait for its commit */
    bool egress; /* of one exchange: with `egress`, what left the device for it */
    char tier[LEDGER_DESK_ID_BYTES], route[LEDGER_DESK_ID_BYTES], data_class[16]; /* "" = any */
    bool degraded;
};

struct ledger_answer {
    enum td_status status;
    struct td_error err;
    struct json *value; /* whoever keeps it sets NULL here */
};

/* Who is told, on the loop, unless the task is cancelled before (background_cancel). */
struct ledger_asker {
    struct loop *loop;
    void (*done)(void *owner, struct ledger_answer *answer);
    void *owner;
};

/* ledger: its newest rows are waited for a moment, when one exchange is asked for; or NULL.
 * egress: the folder of the record of what left; or NULL. **borrows** all. **returns new**
 * (ledger_desk_free), NULL without memory. */
struct ledger_desk *ledger_desk_new(const char *path, struct ledger *ledger, const char *egress);
/* The loops that asked must have stopped. Accepts NULL. */
void ledger_desk_free(struct ledger_desk *desk);
/* TD_BUSY when too many questions wait. *out is valid until `done` returns or it is cancelled. */
TD_MUST_CHECK enum td_status ledger_desk_ask(struct ledger_desk *desk,
                                             const struct ledger_question *question,
                                             const struct ledger_asker *asker,
                                             struct background_task **out, struct td_error *err);

#endif
