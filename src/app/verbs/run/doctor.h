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

/* Of a local tier's model (doctor_models.c). */
void doctor_check_bits(struct doctor *doctor, const struct config_tier *tier,
                       const struct td_model *model, const char *path);
void doctor_check_cache(struct doctor *doctor, const struct td_model *model, const char *path);
void doctor_check_age(struct doctor *doctor, const struct config_tier *tier, const char *path);
/* Of the models here, which is the best for the memory that is free (doctor_best.c). path: the one
 * in use, or "". */
void doctor_check_best(struct doctor *doctor, const struct config_tier *tier, const char *path);
/* Whether it failed on this hardware before. */
void doctor_check_failures(struct doctor *doctor, const char *name, const char *path);
/* Whether models of two tiers have drifted apart. */
void doctor_check_skew(struct doctor *doctor, struct ledger_reader *reader);

#endif
