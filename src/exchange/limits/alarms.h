/* The alarms that were raised, kept also over restarts.
 *
 * An alarm has a beginning, an end, a value and a sentence. It is logged and counted. After a
 * restart those that lasted are orphans: whoever finds the same cause again takes its alarm over,
 * so that it is neither counted nor told twice. One that nobody takes over ends.
 *
 * Plain data under its owner's lock. */
#ifndef EXCHANGE_ALARMS_H
#define EXCHANGE_ALARMS_H

#include "base/time/clock.h"
#include "tandem/types.h"

#define WATCH_CALLER_BYTES 9 /* 8 hex digits */
#define WATCH_SUBJECT_BYTES 64
#define WATCH_TEXT_BYTES 192
/* That are kept. When there are more, the oldest one that has ended is forgotten first. */
#define WATCH_ALARMS_MAX 128

enum watch_kind {
    WATCH_ESCALATION_SHARE,
    WATCH_CALLER_SHARE,  /* the same of one caller */
    WATCH_CALLER_CAPPED, /* its cap of an hour is reached */
    WATCH_SCORES,        /* the distribution of confidences changed */
    WATCH_OVERCONFIDENT,
    WATCH_UNDERCONFIDENT,
    WATCH_SURE_WRONG,     /* wrong answers among those with a confidence of .9 and more */
    WATCH_RAMP_STOPPED,   /* a ramp lost more than it may (memory/ramp_table.h) */
    WATCH_BUDGET_SPENT,   /* a budget's money is spent for today */
    WATCH_TIER_RESTING,   /* a tier has not answered for long */
    WATCH_OBJECTIVE_BURN, /* too many answers later than asked for */
    WATCH_KIND_COUNT
};

const char *watch_kind_name(enum watch_kind kind); /* "escalation_share", ... */

enum watch_told { WATCH_TOLD_BEGUN = 1, WATCH_TOLD_ENDED = 2 };

struct watch_alarm {
    uint64_t number; /* 1, 2, ... */
    enum watch_kind kind;
    char caller[WATCH_CALLER_BYTES];     /* "" = over all */
    char subject[WATCH_SUBJECT_BYTES];   /* a budget or tier of the configuration; "" = none */
    uint64_t begin_wall_ms, end_wall_ms; /* end 0: it lasts */
    double value, usual;
    char text[WATCH_TEXT_BYTES];
    unsigned told; /* enum watch_told: what a webhook knows of it */
    bool orphan;
};

struct alarms {
    struct watch_alarm items[WATCH_ALARMS_MAX];
    size_t count;
    uint64_t number; /* of the newest */
    uint64_t begun[WATCH_KIND_COUNT];
};

/* Begins it, or takes an orphan of the same kind, caller and subject over. Its number. */
uint64_t alarms_begin(struct alarms *alarms, const struct watch_alarm *alarm);
void alarms_end(struct alarms *alarms, uint64_t number, uint64_t wall_ms);
/* Those that last have lost who would end them. */
void alarms_orphan(struct alarms *alarms);
void alarms_end_orphans(struct alarms *alarms, uint64_t wall_ms);

#endif
