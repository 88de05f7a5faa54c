/* Watches all exchanges of a process and raises alarms.
 *
 * It watches the share that escalates (in all, and for each caller), and each caller's escalations
 * an hour against its cap. It watches the distribution of confidences, how well they fit what
 * people say of answers, and the share of sure answers that are wrong. It watches which phrases
 * come with escalations, which answers come later than asked for, which budgets are spent and which
 * tiers do not answer. What it finds are alarms (alarms.h).
 *
 * One for the process, shared by all loops; any thread. It costs a few microseconds an exchange
 * under one lock. Callers are told apart by a hash of their identity. Only texts of public data are
 * seen. */
#ifndef EXCHANGE_WATCH_H
#define EXCHANGE_WATCH_H

#include "base/time/clock.h"
#include "exchange/limits/alarms.h"
#include "exchange/limits/burn.h"
#include "router/watch/drift.h"
#include "router/watch/phrases.h"

/* A mean of the last ones. */
struct watch_mean {
    double value;
    uint32_t count; /* 0 = there is none yet */
};

/* What survives a restart: what was learnt, how far the tests stand, and the alarms. */
struct watch_kept {
    double usual; /* share of escalations; 0 = not known yet */
    uint32_t seen, escalated;
    struct drift_share share;
    struct drift_scores scores;
    struct drift_mean calibration;
    struct drift_share sure_wrong;
    struct watch_mean recent_share, recent_error;
    struct alarms alarms;
};

struct watch;

/* clock NULL = the system's. **returns new** (watch_free), NULL without memory. */
struct watch *watch_new(const struct clock *clock);
void watch_free(struct watch *watch);
/* The usual share of escalations; 0 (the beginning): the first 500 exchanges tell. */
void watch_set_usual_share(struct watch *watch, double share);

struct watch_exchange {
    const char *caller; /* identity; NULL = unknown */
    bool escalated;     /* a tier off the device was asked */
    bool could_stay;    /* one on the device was allowed; otherwise the exchange is not counted */
    double confidence;  /* of the first answer on the device; NAN = none */
    const struct utterance *utterance; /* NULL: not to be looked at */
};
void watch_add(struct watch *watch, const struct watch_exchange *exchange);
/* Somebody said how right (0..1) an answer with that confidence was. */
void watch_add_feedback(struct watch *watch, double confidence, double right);

/* The share of answers that should come within the time that was asked for. */
#define WATCH_OBJECTIVE 0.99
#define WATCH_OBJECTIVE_MAX 0.99999
void watch_set_objective(struct watch *watch, double share);
void watch_add_objective(struct watch *watch, bool missed);

/* The money of a budget is spent; the alarm ends with the day. */
void watch_budget_spent(struct watch *watch, const char *budget);
/* Whether a tier rests now. An alarm begins when that has gone on for alarm_ms without an
 * answer. */
void watch_tier_rests(struct watch *watch, const char *tier, bool rests, uint64_t alarm_ms);
void watch_tier_answered(struct watch *watch, const char *tier);
/* To be called from time to time: ends what ends by itself. */
void watch_tick(struct watch *watch);

/* Copies what survives a restart, and takes it back before the first exchange. */
void watch_keep(struct watch *watch, struct watch_kept *out);
void watch_restore(struct watch *watch, const struct watch_kept *kept);
/* A webhook knows of the alarm's beginning or end. */
void watch_set_told(struct watch *watch, uint64_t number, enum watch_told told);

/* Takes one of the caller's escalations of this hour: a bucket that holds per_hour of them and
 * fills evenly. False when it is empty. per_hour 0: no cap. */
bool watch_reserve(struct watch *watch, const char *caller, uint32_t per_hour);
/* What was reserved was not needed. */
void watch_give_back(struct watch *watch, const char *caller, uint32_t per_hour);

/* An alarm that the caller decides on: *lasting (0 = none) follows `on`. numbers: the value, and
 * the usual one. */
void watch_follow(struct watch *watch, uint64_t *lasting, bool on, enum watch_kind kind,
                  const double numbers[static 2], const char *text);

/* Newest first. */
size_t watch_alarms(struct watch *watch, struct watch_alarm *out, size_t capacity);
/* Forgets all phrases, which are not kept by caller. */
void watch_forget_phrases(struct watch *watch);
size_t watch_phrases(struct watch *watch, struct phrase_lift *out, size_t capacity);

#define WATCH_BURN_COUNT 2 /* of the last 5 minutes, and of the last hour */
struct watch_numbers {
    double burn[WATCH_BURN_COUNT]; /* NAN: nobody asked for a time */
    uint32_t missed[WATCH_BURN_COUNT];
    uint32_t active[WATCH_KIND_COUNT];
    uint64_t begun[WATCH_KIND_COUNT];
    double escalation_share;  /* of the last 500 or so exchanges that could stay; NAN before any */
    double psi;               /* of the last window */
    double calibration_error; /* mean of confidence - right over the last 300 or so; NAN before */
};
void watch_numbers(struct watch *watch, struct watch_numbers *out);

#endif
