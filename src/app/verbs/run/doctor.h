/* What the checks of `tandem doctor` share: what they look at, and their results. One thread. */
#ifndef APP_DOCTOR_H
#define APP_DOCTOR_H

#include "app/config/config.h"
#include "tandem/engine.h"

struct egress_log;
struct ledger_reader;

#define DOCTOR_RESULTS_MAX 64

enum health { HEALTH_OK, HEALTH_WARN, HEALTH_FAIL };

struct result {
    enum health health;
    char name[64];
    char text[512];
    char advice[256]; /* "" = nothing to do */
};

struct doctor {
    struct config *config;
    enum td_cpu cpu;
    const char *model_path; /* -m */
    bool offline;
    struct egress_log *egress; /* opened with the first tier that is asked */
    struct result results[DOCTOR_RESULTS_MAX];
    size_t result_count;
};

/* advice: what to do; NULL = nothing. */
TD_PRINTF(5, 6)
void doctor_add(struct doctor *doctor, const char *name, enum health health, const char *advice,
                const char *format, ...);

/* A clock that says an earlier time is wrong: this program was not written then. */
#define DOCTOR_EARLIEST_MS UINT64_C(1764547200000) /* 2025-12-01 */

void doctor_check_routes(struct doctor *doctor);
void doctor_check_machine(struct doctor *doctor);
void doctor_check_models(struct doctor *doctor);
/* The state folder and its disk. */
void doctor_check_place(struct doctor *doctor);
/* The ledger, and what of texts is kept. */
void doctor_check_kept(struct doctor *doctor);
/* The confined worker, addresses, keys of clients and certificates. */
void doctor_check_door(struct doctor *doctor);
/* What an operator has switched on. */
void doctor_check_services(struct doctor *doctor);
void doctor_check_retirement(struct doctor *doctor);
void doctor_check_tiers(struct doctor *doctor);
/* Of the models here, which is the best for the memory that is free (doctor_best.c). path: the one
 * in use, or "". */
void doctor_check_best(struct doctor *doctor, const struct config_tier *tier, const char *path);
/* Whether models of two tiers have drifted apart. */
void doctor_check_skew(struct doctor *doctor, struct ledger_reader *reader);

#endif
