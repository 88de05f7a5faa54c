/* Watches all exchanges of a process and raises alarms.
 *
 * It watches the share that escalates (in all, and for each caller), and each caller's escalations
 * an hour against its cap. It watches the distribution of confidences, how well they fit what
 * people say of answers, and the share of sure answers that are wrong. It watches which phrases
 * come with escalations. An alarm has a beginning, an end, a value and a sentence; it is logged and
 * counted.
 *
 * One for the process, shared by all loops; any thread. It costs a few microseconds an exchange
 * under one lock. Callers are told apart by a hash of their identity. Only texts of public data are
 * seen. */
#ifndef EXCHANGE_WATCH_H
#define EXCHANGE_WATCH_H

#include "base/clock.h"
#include "router/watch/phrases.h"

#define WATCH_CALLER_BYTES 9 /* 8 hex digits */
#define WATCH_TEXT_BYTES 192

enum watch_kind {
    WATCH_ESCALATION_SHARE,
    WATCH_CALLER_SHARE,  /* the same of one caller */
    WATCH_CALLER_CAPPED, /* its cap of an hour is reached */
    WATCH_SCORES,        /* the distribution of confidences changed */
    WATCH_OVERCONFIDENT,
    WATCH_UNDERCONFIDENT,
    WATCH_SURE_WRONG,   /* wrong answers among those with a confidence of .9 and more */
    WATCH_RAMP_STOPPED, /* a ramp lost more than it may (memory/ramp_table.h) */
    WATCH_KIND_COUNT
};

const char *watch_kind_name(enum watch_kind kind); /* "escalation_share", ... */

struct watch_alarm {
    uint64_t number; /* 1, 2, ... since the process began */
    enum watch_kind kind;
    char caller[WATCH_CALLER_BYTES];     /* "" = over all */
    uint64_t begin_wall_ms, end_wall_ms; /* end 0: it lasts */
    double value, usual;
    char text[WATCH_TEXT_BYTES];
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

/* Takes one of the caller's escalations of this hour: a bucket that holds per_hour of them and
 * fills evenly. False when it is empty. per_hour 0: no cap. */
bool watch_reserve(struct watch *watch, const char *caller, uint32_t per_hour);
/* What was reserved was not needed. */
void watch_give_back(struct watch *watch, const char *caller, uint32_t per_hour);

/* An alarm that the caller decides on: *lasting (0 = none) follows `on`. numbers: the value, and
 * the usual one. */
void watch_follow(struct watch *watch, uint64_t *lasting, bool on, enum watch_kind kind,
                  const double numbers[static 2], const char *text);

/* That are kept. When there are more, the oldest one that has ended is forgotten first. */
#define WATCH_ALARMS_MAX 128
/* Newest first. */
size_t watch_alarms(struct watch *watch, struct watch_alarm *out, size_t capacity);
/* Forgets all phrases, which are not kept by caller. */
void watch_forget_phrases(struct watch *watch);
size_t watch_phrases(struct watch *watch, struct phrase_lift *out, size_t capacity);

struct watch_numbers {
    uint32_t active[WATCH_KIND_COUNT];
    uint64_t begun[WATCH_KIND_COUNT];
    double escalation_share;  /* of the last 500 or so exchanges that could stay; NAN before any */
    double psi;               /* of the last window */
    double calibration_error; /* mean of confidence - right over the last 300 or so; NAN before */
};
void watch_numbers(struct watch *watch, struct watch_numbers *out);

#endif
