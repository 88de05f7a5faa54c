/* The watch learns what is usual, and then looks for changes.
 *
 * The first exchanges tell the usual shares; after that sequential tests (router/watch/drift.h) say
 * when they have changed. Callers lie in a table of buckets of eight places, where the one that was
 * not used for longest makes room. An alarm begins and ends by itself with its test: `lasting`
 * holds its number while it lasts. */
#include "exchange/limits/watch.h"

#include "base/hash.h"
#include "base/log.h"
#include "router/watch/drift.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A share that is higher than usual by this much is an alarm. */
#define SHARE_SHIFT 0.15
#define LEARN_ALL 500
/* A caller's own share counts as usual where it is above that of all. */
#define LEARN_CALLER 200
#define CALLERS_MAX 1024
/* A mean of confidence - right that is off by this much is an alarm. A yes or no varies by .25 at
 * most. */
#define CALIBRATION_SHIFT 0.2
#define CALIBRATION_VARIANCE 0.25
#define SURE_FROM 0.9
#define SURE_WRONG_USUAL 0.05
#define SURE_WRONG_FEARED 0.15
#define HOUR_MS 3600000.0

struct caller {
    uint64_t key; /* 0 = free */
    uint64_t used_seq;
    uint32_t seen, escalated; /* while learning */
    bool watched;             /* learnt */
    struct drift_share share;
    uint64_t share_alarm, cap_alarm; /* numbers of the alarms that last; 0 = none */
    double tokens, filled_ms;        /* of the bucket; filled_ms 0: not used yet */
};

struct watch {
    const struct clock *clock;
    pthread_mutex_t lock;
    uint64_t seq;
    double usual; /* 0 = not known yet */
    uint32_t seen, escalated;
    struct drift_share share;
    struct drift_scores scores;
    struct drift_mean calibration;
    struct drift_share sure_wrong;
    double recent_share, recent_error;  /* exponential means; NAN before any */
    uint64_t lasting[WATCH_KIND_COUNT]; /* alarms over all callers that last */
    uint64_t begun[WATCH_KIND_COUNT];
    struct watch_alarm alarms[WATCH_ALARMS_MAX];
    size_t alarm_count;
    uint64_t alarm_number;
    struct phrases phrases;
    struct caller callers[CALLERS_MAX];
};

const char *watch_kind_name(enum watch_kind kind)
{
    static const char *const names[WATCH_KIND_COUNT] = {
        [WATCH_ESCALATION_SHARE] = "escalation_share",
        [WATCH_CALLER_SHARE] = "caller_share",
        [WATCH_CALLER_CAPPED] = "caller_capped",
        [WATCH_SCORES] = "score_distribution",
        [WATCH_OVERCONFIDENT] = "overconfident",
        [WATCH_UNDERCONFIDENT] = "underconfident",
        [WATCH_SURE_WRONG] = "sure_wrong",
        [WATCH_RAMP_STOPPED] = "ramp_stopped",
    };
    return (size_t)kind < WATCH_KIND_COUNT ? names[kind] : "unknown";
}

struct watch *watch_new(const struct clock *clock)
{
    struct watch *watch = calloc(1, sizeof *watch);
    if (!watch)
        return NULL;
    watch->clock = clock;
    watch->recent_share = watch->recent_error = NAN;
    pthread_mutex_init(&watch->lock, NULL);
    drift_mean_init(&watch->calibration, CALIBRATION_SHIFT, CALIBRATION_VARIANCE);
    drift_share_init(&watch->sure_wrong, SURE_WRONG_USUAL, SURE_WRONG_FEARED);
    return watch;
}

void watch_free(struct watch *watch)
{
    if (!watch)
        return;
    pthread_mutex_destroy(&watch->lock);
    free(watch);
}

static void set_usual_locked(struct watch *watch, double share)
{
    watch->usual = fmin(fmax(share, 0.01), 0.8);
    drift_share_init(&watch->share, watch->usual, watch->usual + SHARE_SHIFT);
}

void watch_set_usual_share(struct watch *watch, double share)
{
    pthread_mutex_lock(&watch->lock);
    if (share > 0)
        set_usual_locked(watch, share);
    pthread_mutex_unlock(&watch->lock);
}

/* --- alarms --- */

/* Room for one more: the oldest one that has ended goes, otherwise the oldest. */
static struct watch_alarm *new_alarm_locked(struct watch *watch)
{
    if (watch->alarm_count == WATCH_ALARMS_MAX) {
        size_t gone = 0;
        while (gone < WATCH_ALARMS_MAX && watch->alarms[gone].end_wall_ms == 0)
            gone++;
        if (gone == WATCH_ALARMS_MAX)
            gone = 0;
        memmove(&watch->alarms[gone], &watch->alarms[gone + 1],
                (WATCH_ALARMS_MAX - gone - 1) * sizeof *watch->alarms);
        watch->alarm_count--;
    }
    return &watch->alarms[watch->alarm_count++];
}

static void end_locked(struct watch *watch, uint64_t *lasting)
{
    for (size_t i = 0; i < watch->alarm_count; i++) {
        struct watch_alarm *alarm = &watch->alarms[i];
        if (alarm->number != *lasting)
            continue;
        alarm->end_wall_ms = clock_wall_ms(watch->clock);
        log_event(LOG_LEVEL_WARN, "alarm_ended", "alarm=%" PRIu64 " kind=%s caller=%s",
                  alarm->number, watch_kind_name(alarm->kind), alarm->caller);
    }
    *lasting = 0;
}

/* *lasting follows `on`. */
TD_PRINTF(7, 8)
static void follow_locked(struct watch *watch, uint64_t *lasting, bool on, enum watch_kind kind,
                          const struct caller *caller, const double numbers[static 2],
                          const char *format, ...)
{
    if (on == (*lasting != 0))
        return;
    if (!on) {
        end_locked(watch, lasting);
        return;
    }
    struct watch_alarm *alarm = new_alarm_locked(watch);
    *alarm = (struct watch_alarm){.number = ++watch->alarm_number,
                                  .kind = kind,
                                  .begin_wall_ms = clock_wall_ms(watch->clock),
                                  .value = numbers[0],
                                  .usual = numbers[1]};
    if (caller)
        snprintf(alarm->caller, sizeof alarm->caller, "%08" PRIx32, (uint32_t)(caller->key >> 32));
    va_list args;
    va_start(args, format);
    vsnprintf(alarm->text, sizeof alarm->text, format, args);
    va_end(args);
    *lasting = alarm->number;
    watch->begun[kind]++;
    log_event(LOG_LEVEL_WARN, "alarm_begun", "alarm=%" PRIu64 " kind=%s caller=%s text=\"%s\"",
              alarm->number, watch_kind_name(kind), alarm->caller, alarm->text);
}

void watch_follow(struct watch *watch, uint64_t *lasting, bool on, enum watch_kind kind,
                  const double numbers[static 2], const char *text)
{
    pthread_mutex_lock(&watch->lock);
    follow_locked(watch, lasting, on, kind, NULL, numbers, "%s", text);
    pthread_mutex_unlock(&watch->lock);
}

/* --- callers --- */

static uint64_t key_of(const char *caller)
{
    uint64_t key = hash_mix64(hash_fnv1a64(caller, strlen(caller), HASH_FNV1A64_BASIS));
    return key ? key : 1;
}

/* Eight places for a key; the one that was not used for longest makes room. */
static struct caller *caller_locked(struct watch *watch, const char *identity)
{
    uint64_t key = key_of(identity);
    struct caller *bucket = &watch->callers[key % (CALLERS_MAX / 8) * 8], *oldest = bucket;
    for (size_t i = 0; i < 8; i++) {
        if (bucket[i].key == key) {
            bucket[i].used_seq = ++watch->seq;
            return &bucket[i];
        }
        if (bucket[i].used_seq < oldest->used_seq)
            oldest = &bucket[i];
    }
    if (oldest->share_alarm)
        end_locked(watch, &oldest->share_alarm);
    if (oldest->cap_alarm)
        end_locked(watch, &oldest->cap_alarm);
    *oldest = (struct caller){.key = key, .used_seq = ++watch->seq};
    return oldest;
}

static void watch_caller_locked(struct watch *watch, struct caller *caller, bool escalated)
{
    if (!caller->watched) {
        caller->seen++;
        caller->escalated += escalated;
        if (caller->seen < LEARN_CALLER || watch->usual <= 0)
            return;
        double usual = fmax(watch->usual, (double)caller->escalated / caller->seen);
        drift_share_init(&caller->share, usual, usual + SHARE_SHIFT);
        caller->watched = true;
        return;
    }
    bool on = drift_share_add(&caller->share, escalated);
    const double numbers[2] = {caller->share.cusum.sum, caller->share.cusum.level};
    follow_locked(watch, &caller->share_alarm, on, WATCH_CALLER_SHARE, caller, numbers,
                  "one caller's questions leave the device more often than its earlier ones and "
                  "than others'");
}

/* --- exchanges --- */

static void recent(double *mean, double value, double window)
{
    *mean = isnan(*mean) ? value : *mean + (value - *mean) / window;
}

static void watch_share_locked(struct watch *watch, bool escalated)
{
    recent(&watch->recent_share, escalated, LEARN_ALL);
    if (watch->usual <= 0) {
        watch->seen++;
        watch->escalated += escalated;
        if (watch->seen == LEARN_ALL)
            set_usual_locked(watch, (double)watch->escalated / LEARN_ALL);
        return;
    }
    bool on = drift_share_add(&watch->share, escalated);
    const double numbers[2] = {watch->recent_share, watch->usual};
    follow_locked(watch, &watch->lasting[WATCH_ESCALATION_SHARE], on, WATCH_ESCALATION_SHARE, NULL,
                  numbers, "more questions leave the device than the usual %.0f %%",
                  100 * watch->usual);
}

static void watch_score_locked(struct watch *watch, double confidence)
{
    if (!drift_scores_add(&watch->scores, confidence))
        return;
    const double numbers[2] = {watch->scores.psi, 0.25};
    follow_locked(watch, &watch->lasting[WATCH_SCORES], watch->scores.alarm, WATCH_SCORES, NULL,
                  numbers,
                  "confidences are distributed otherwise than they were (stability index %.2f)",
                  watch->scores.psi);
}

void watch_add(struct watch *watch, const struct watch_exchange *exchange)
{
    assert(watch && exchange);
    if (!exchange->could_stay)
        return;
    pthread_mutex_lock(&watch->lock);
    watch_share_locked(watch, exchange->escalated);
    watch_score_locked(watch, exchange->confidence);
    if (exchange->caller)
        watch_caller_locked(watch, caller_locked(watch, exchange->caller), exchange->escalated);
    if (exchange->utterance)
        phrases_add(&watch->phrases, exchange->utterance, exchange->escalated);
    pthread_mutex_unlock(&watch->lock);
}

void watch_add_feedback(struct watch *watch, double confidence, double right)
{
    if (!(confidence >= 0 && confidence <= 1) || !(right >= 0 && right <= 1))
        return;
    pthread_mutex_lock(&watch->lock);
    recent(&watch->recent_error, confidence - right, 300);
    drift_mean_add(&watch->calibration, confidence - right);
    const double error[2] = {watch->recent_error, 0};
    follow_locked(watch, &watch->lasting[WATCH_OVERCONFIDENT], watch->calibration.above.alarm,
                  WATCH_OVERCONFIDENT, NULL, error,
                  "confidences are too high for what people say of the answers: too little is "
                  "escalated; train a model of confidence and tune again");
    follow_locked(watch, &watch->lasting[WATCH_UNDERCONFIDENT], watch->calibration.below.alarm,
                  WATCH_UNDERCONFIDENT, NULL, error,
                  "confidences are too low for what people say of the answers: too much is "
                  "escalated; train a model of confidence and tune again");
    if (confidence >= SURE_FROM) {
        bool on = drift_share_add(&watch->sure_wrong, right < 0.5);
        const double numbers[2] = {watch->sure_wrong.cusum.sum, watch->sure_wrong.cusum.level};
        follow_locked(watch, &watch->lasting[WATCH_SURE_WRONG], on, WATCH_SURE_WRONG, NULL, numbers,
                      "answers with a confidence of %.1f and more are wrong more often than in "
                      "%.0f of 100",
                      SURE_FROM, 100 * SURE_WRONG_USUAL);
    }
    pthread_mutex_unlock(&watch->lock);
}

/* --- caps --- */

static void fill_locked(struct watch *watch, struct caller *caller, double per_hour)
{
    double now = clock_monotonic_ms(watch->clock) + 1; /* 0 is "never" */
    if (!(caller->filled_ms > 0))
        caller->tokens = per_hour;
    else
        caller->tokens += (now - caller->filled_ms) / HOUR_MS * per_hour;
    caller->tokens = fmin(caller->tokens, per_hour);
    caller->filled_ms = now;
}

bool watch_reserve(struct watch *watch, const char *caller, uint32_t per_hour)
{
    if (per_hour == 0 || !caller)
        return true;
    pthread_mutex_lock(&watch->lock);
    struct caller *of = caller_locked(watch, caller);
    fill_locked(watch, of, per_hour);
    bool has = of->tokens >= 1;
    if (has)
        of->tokens -= 1;
    const double numbers[2] = {per_hour, per_hour};
    follow_locked(watch, &of->cap_alarm, !has, WATCH_CALLER_CAPPED, of, numbers,
                  "one caller has had its %" PRIu32 " escalations an hour; what it asks stays on "
                  "the device",
                  per_hour);
    pthread_mutex_unlock(&watch->lock);
    return has;
}

void watch_give_back(struct watch *watch, const char *caller, uint32_t per_hour)
{
    if (per_hour == 0 || !caller)
        return;
    pthread_mutex_lock(&watch->lock);
    struct caller *of = caller_locked(watch, caller);
    if (of->filled_ms > 0)
        of->tokens = fmin(of->tokens + 1, per_hour);
    pthread_mutex_unlock(&watch->lock);
}

/* --- reading --- */

size_t watch_alarms(struct watch *watch, struct watch_alarm *out, size_t capacity)
{
    pthread_mutex_lock(&watch->lock);
    size_t count = watch->alarm_count < capacity ? watch->alarm_count : capacity;
    for (size_t i = 0; i < count; i++)
        out[i] = watch->alarms[watch->alarm_count - 1 - i];
    pthread_mutex_unlock(&watch->lock);
    return count;
}

void watch_forget_phrases(struct watch *watch)
{
    pthread_mutex_lock(&watch->lock);
    explicit_bzero(&watch->phrases, sizeof watch->phrases);
    pthread_mutex_unlock(&watch->lock);
}

size_t watch_phrases(struct watch *watch, struct phrase_lift *out, size_t capacity)
{
    pthread_mutex_lock(&watch->lock);
    size_t count = phrases_top(&watch->phrases, out, capacity);
    pthread_mutex_unlock(&watch->lock);
    return count;
}

void watch_numbers(struct watch *watch, struct watch_numbers *out)
{
    pthread_mutex_lock(&watch->lock);
    *out = (struct watch_numbers){.escalation_share = watch->recent_share,
                                  .psi = watch->scores.psi,
                                  .calibration_error = watch->recent_error};
    memcpy(out->begun, watch->begun, sizeof out->begun);
    for (size_t i = 0; i < watch->alarm_count; i++)
        if (watch->alarms[i].end_wall_ms == 0)
            out->active[watch->alarms[i].kind]++;
    pthread_mutex_unlock(&watch->lock);
}
