/* The watch learns what is usual, and then looks for changes.
 *
 * The first exchanges tell the usual shares; after that sequential tests (router/watch/drift.h) say
 * when they have changed. Callers lie in a table of buckets of eight places, where the one that was
 * not used for longest makes room. An alarm begins and ends by itself with its test: `lasting`
 * holds its number while it lasts. */
#include "exchange/limits/watch.h"

#include "base/core/assertion.h"
#include "base/crypto/hash.h"
#include "exchange/limits/spending.h"
#include "router/watch/drift.h"

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
/* Tiers and budgets of a configuration. */
#define SUBJECTS_MAX 64
/* Whoever finds the cause of an alarm again after a restart does it within this time. */
#define ORPHANS_MS 3600000
/* A tier that rested and does so no more has either answered or had nobody ask it. */
#define UP_MS 90000
/* Half a day's worth of a month's misses in an hour, and still going on (The Site Reliability
 * Workbook, chapter 5); of a few requests, chance alone does that. */
#define BURN_FEARED 14.4
#define BURN_MISSED_MIN 5

struct caller {
    uint64_t key; /* 0 = free */
    uint64_t used_seq;
    uint32_t seen, escalated; /* while learning */
    bool watched;             /* learnt */
    struct drift_share share;
    uint64_t share_alarm, cap_alarm; /* numbers of the alarms that last; 0 = none */
    double tokens, filled_ms;        /* of the bucket; filled_ms 0: not used yet */
};

/* A budget that is spent, or a tier that does not answer. */
struct subject {
    char name[WATCH_SUBJECT_BYTES]; /* "" = free */
    enum watch_kind kind;
    uint64_t alarm;    /* that lasts; 0 = none */
    uint64_t since_ms; /* when it began, by the wall */
    uint64_t up_ms;    /* of a tier: since when it does not rest any more; 0 = it rests */
};

struct watch {
    const struct clock *clock;
    pthread_mutex_t lock;
    uint64_t seq;
    struct watch_kept kept;
    uint64_t orphans_until_ms;          /* 0 = there are none */
    uint64_t lasting[WATCH_KIND_COUNT]; /* alarms over all callers that last */
    double objective;                   /* share of answers that should be in time */
    struct burn burn;
    struct subject subjects[SUBJECTS_MAX];
    struct phrases phrases;
    struct caller callers[CALLERS_MAX];
};

struct watch *watch_new(const struct clock *clock)
{
    struct watch *watch = calloc(1, sizeof *watch);
    if (!watch)
        return NULL;
    watch->clock = clock;
    watch->objective = WATCH_OBJECTIVE;
    pthread_mutex_init(&watch->lock, NULL);
    drift_mean_init(&watch->kept.calibration, CALIBRATION_SHIFT, CALIBRATION_VARIANCE);
    drift_share_init(&watch->kept.sure_wrong, SURE_WRONG_USUAL, SURE_WRONG_FEARED);
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
    watch->kept.usual = fmin(fmax(share, 0.01), 0.8);
    drift_share_init(&watch->kept.share, watch->kept.usual, watch->kept.usual + SHARE_SHIFT);
}

void watch_set_usual_share(struct watch *watch, double share)
{
    pthread_mutex_lock(&watch->lock);
    if (share > 0)
        set_usual_locked(watch, share);
    pthread_mutex_unlock(&watch->lock);
}

/* --- alarms --- */

static uint64_t now_ms(const struct watch *watch)
{
    return clock_wall_ms(watch->clock);
}

static void end_locked(struct watch *watch, uint64_t *lasting)
{
    alarms_end(&watch->kept.alarms, *lasting, now_ms(watch));
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
    struct watch_alarm alarm = {
        .kind = kind, .begin_wall_ms = now_ms(watch), .value = numbers[0], .usual = numbers[1]};
    if (caller)
        snprintf(alarm.caller, sizeof alarm.caller, "%08" PRIx32, (uint32_t)(caller->key >> 32));
    va_list args;
    va_start(args, format);
    vsnprintf(alarm.text, sizeof alarm.text, format, args);
    va_end(args);
    *lasting = alarms_begin(&watch->kept.alarms, &alarm);
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
        if (caller->seen < LEARN_CALLER || watch->kept.usual <= 0)
            return;
        double usual = fmax(watch->kept.usual, (double)caller->escalated / caller->seen);
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

/* The mean of all at first, and of the last `window` or so from then on: the first one counts no
 * more than any other. */
static void recent(struct watch_mean *mean, double value, uint32_t window)
{
    mean->count += mean->count < window;
    mean->value += (value - mean->value) / mean->count;
}

static double recent_value(const struct watch_mean *mean)
{
    return mean->count ? mean->value : (double)NAN;
}

static void watch_share_locked(struct watch *watch, bool escalated)
{
    recent(&watch->kept.recent_share, escalated, LEARN_ALL);
    if (watch->kept.usual <= 0) {
        watch->kept.seen++;
        watch->kept.escalated += escalated;
        if (watch->kept.seen == LEARN_ALL)
            set_usual_locked(watch, (double)watch->kept.escalated / LEARN_ALL);
        return;
    }
    bool on = drift_share_add(&watch->kept.share, escalated);
    const double numbers[2] = {watch->kept.recent_share.value, watch->kept.usual};
    follow_locked(watch, &watch->lasting[WATCH_ESCALATION_SHARE], on, WATCH_ESCALATION_SHARE, NULL,
                  numbers, "more questions leave the device than the usual %.0f %%",
                  100 * watch->kept.usual);
}

static void watch_score_locked(struct watch *watch, double confidence)
{
    if (!drift_scores_add(&watch->kept.scores, confidence))
        return;
    const double numbers[2] = {watch->kept.scores.psi, 0.25};
    follow_locked(watch, &watch->lasting[WATCH_SCORES], watch->kept.scores.alarm, WATCH_SCORES,
                  NULL, numbers,
                  "confidences are distributed otherwise than they were (stability index %.2f)",
                  watch->kept.scores.psi);
}

void watch_add(struct watch *watch, const struct watch_exchange *exchange)
{
    ASSERT(watch && exchange);
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
    recent(&watch->kept.recent_error, confidence - right, 300);
    drift_mean_add(&watch->kept.calibration, confidence - right);
    const double error[2] = {watch->kept.recent_error.value, 0};
    follow_locked(watch, &watch->lasting[WATCH_OVERCONFIDENT], watch->kept.calibration.above.alarm,
                  WATCH_OVERCONFIDENT, NULL, error,
                  "confidences are too high for what people say of the answers: too little is "
                  "escalated; train a model of confidence and tune again");
    follow_locked(watch, &watch->lasting[WATCH_UNDERCONFIDENT], watch->kept.calibration.below.alarm,
                  WATCH_UNDERCONFIDENT, NULL, error,
                  "confidences are too low for what people say of the answers: too much is "
                  "escalated; train a model of confidence and tune again");
    if (confidence >= SURE_FROM) {
        bool on = drift_share_add(&watch->kept.sure_wrong, right < 0.5);
        const double numbers[2] = {watch->kept.sure_wrong.cusum.sum,
                                   watch->kept.sure_wrong.cusum.level};
        follow_locked(watch, &watch->lasting[WATCH_SURE_WRONG], on, WATCH_SURE_WRONG, NULL, numbers,
                      "answers with a confidence of %.1f and more are wrong more often than in "
                      "%.0f of 100",
                      SURE_FROM, 100 * SURE_WRONG_USUAL);
    }
    pthread_mutex_unlock(&watch->lock);
}

/* --- times that were asked for --- */

static const uint32_t burn_minutes[WATCH_BURN_COUNT] = {5, BURN_MINUTES};

static void burn_locked(const struct watch *watch, double rates[static WATCH_BURN_COUNT],
                        uint32_t missed[static WATCH_BURN_COUNT])
{
    for (size_t i = 0; i < WATCH_BURN_COUNT; i++)
        rates[i] =
            burn_rate(&watch->burn, burn_minutes[i], watch->objective, now_ms(watch), &missed[i]);
}

static void watch_burn_locked(struct watch *watch)
{
    double rates[WATCH_BURN_COUNT];
    uint32_t missed[WATCH_BURN_COUNT];
    burn_locked(watch, rates, missed);
    bool on = rates[0] >= BURN_FEARED && rates[1] >= BURN_FEARED && missed[0] >= BURN_MISSED_MIN;
    const double numbers[2] = {rates[0], BURN_FEARED};
    follow_locked(watch, &watch->lasting[WATCH_OBJECTIVE_BURN], on, WATCH_OBJECTIVE_BURN, NULL,
                  numbers,
                  "answers come later than asked for: %.0f of 100 in the last 5 minutes; %.2g of "
                  "100 may",
                  rates[0] * (1 - watch->objective) * 100, (1 - watch->objective) * 100);
}

void watch_set_objective(struct watch *watch, double share)
{
    pthread_mutex_lock(&watch->lock);
    watch->objective = fmin(fmax(share, 0), WATCH_OBJECTIVE_MAX);
    pthread_mutex_unlock(&watch->lock);
}

void watch_add_objective(struct watch *watch, bool missed)
{
    pthread_mutex_lock(&watch->lock);
    burn_add(&watch->burn, missed, now_ms(watch));
    watch_burn_locked(watch);
    pthread_mutex_unlock(&watch->lock);
}

/* --- budgets and tiers --- */

/* NULL: there is none, and no room or no wish to make one. */
static struct subject *subject_locked(struct watch *watch, enum watch_kind kind, const char *name,
                                      bool make)
{
    struct subject *unused = NULL;
    for (size_t i = 0; i < SUBJECTS_MAX; i++) {
        struct subject *subject = &watch->subjects[i];
        if (subject->kind == kind && strcmp(subject->name, name) == 0)
            return subject;
        if (!*subject->name && !unused)
            unused = subject;
    }
    if (!make || !unused || !*name || strlen(name) >= sizeof unused->name)
        return NULL;
    *unused = (struct subject){.kind = kind, .since_ms = now_ms(watch)};
    memcpy(unused->name, name, strlen(name) + 1);
    return unused;
}

static void forget_subject_locked(struct watch *watch, struct subject *subject)
{
    if (subject->alarm)
        end_locked(watch, &subject->alarm);
    *subject = (struct subject){0};
}

TD_PRINTF(4, 5)
static void alarm_of_locked(struct watch *watch, struct subject *subject, double value,
                            const char *format, ...)
{
    struct watch_alarm alarm = {
        .kind = subject->kind, .begin_wall_ms = now_ms(watch), .value = value};
    va_list args;
    if (subject->alarm)
        return;
    memcpy(alarm.subject, subject->name, sizeof alarm.subject);
    va_start(args, format);
    vsnprintf(alarm.text, sizeof alarm.text, format, args);
    va_end(args);
    subject->alarm = alarms_begin(&watch->kept.alarms, &alarm);
}

void watch_budget_spent(struct watch *watch, const char *budget)
{
    pthread_mutex_lock(&watch->lock);
    struct subject *subject = subject_locked(watch, WATCH_BUDGET_SPENT, budget, true);
    if (subject)
        alarm_of_locked(watch, subject, 1,
                        "the budget '%s' is spent for today: only tiers without a price "
                        "answer what draws on it",
                        budget);
    pthread_mutex_unlock(&watch->lock);
}

void watch_tier_answered(struct watch *watch, const char *tier)
{
    pthread_mutex_lock(&watch->lock);
    struct subject *subject = subject_locked(watch, WATCH_TIER_RESTING, tier, false);
    if (subject)
        forget_subject_locked(watch, subject);
    pthread_mutex_unlock(&watch->lock);
}

void watch_tier_rests(struct watch *watch, const char *tier, bool rests, uint64_t alarm_ms)
{
    uint64_t now = now_ms(watch);
    pthread_mutex_lock(&watch->lock);
    struct subject *subject = subject_locked(watch, WATCH_TIER_RESTING, tier, rests);
    if (subject && !rests) {
        subject->up_ms = subject->up_ms ? subject->up_ms : now;
        if (now - subject->up_ms >= UP_MS)
            forget_subject_locked(watch, subject);
    } else if (subject) {
        subject->up_ms = 0;
        if (now - subject->since_ms >= alarm_ms)
            alarm_of_locked(watch, subject, (double)(now - subject->since_ms) / 1e3,
                            "the tier %s has not answered for %.0f s and rests", tier,
                            (double)(now - subject->since_ms) / 1e3);
    }
    pthread_mutex_unlock(&watch->lock);
}

void watch_tick(struct watch *watch)
{
    uint64_t now = now_ms(watch), day_begin_ms = spending_day_begin_ms(watch->clock);
    pthread_mutex_lock(&watch->lock);
    for (size_t i = 0; i < SUBJECTS_MAX; i++) {
        struct subject *subject = &watch->subjects[i];
        if (*subject->name && subject->kind == WATCH_BUDGET_SPENT &&
            subject->since_ms < day_begin_ms)
            forget_subject_locked(watch, subject);
    }
    watch_burn_locked(watch);
    if (watch->orphans_until_ms && now >= watch->orphans_until_ms) {
        alarms_end_orphans(&watch->kept.alarms, now);
        watch->orphans_until_ms = 0;
    }
    pthread_mutex_unlock(&watch->lock);
}

/* --- over restarts --- */

void watch_keep(struct watch *watch, struct watch_kept *out)
{
    pthread_mutex_lock(&watch->lock);
    *out = watch->kept;
    pthread_mutex_unlock(&watch->lock);
}

void watch_restore(struct watch *watch, const struct watch_kept *kept)
{
    pthread_mutex_lock(&watch->lock);
    watch->kept = *kept;
    if (kept->usual > 0) { /* of the test, a file has only the sum and the alarm */
        struct drift_cusum *cusum = &watch->kept.share.cusum;
        set_usual_locked(watch, kept->usual);
        cusum->sum = kept->share.cusum.sum;
        cusum->alarm = kept->share.cusum.alarm;
    }
    alarms_orphan(&watch->kept.alarms);
    watch->orphans_until_ms = now_ms(watch) + ORPHANS_MS;
    pthread_mutex_unlock(&watch->lock);
}

void watch_set_told(struct watch *watch, uint64_t number, enum watch_told told)
{
    pthread_mutex_lock(&watch->lock);
    for (size_t i = 0; i < watch->kept.alarms.count; i++)
        if (watch->kept.alarms.items[i].number == number)
            watch->kept.alarms.items[i].told |= told;
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
    size_t count = watch->kept.alarms.count < capacity ? watch->kept.alarms.count : capacity;
    for (size_t i = 0; i < count; i++)
        out[i] = watch->kept.alarms.items[watch->kept.alarms.count - 1 - i];
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
    *out = (struct watch_numbers){.escalation_share = recent_value(&watch->kept.recent_share),
                                  .psi = watch->kept.scores.psi,
                                  .calibration_error = recent_value(&watch->kept.recent_error)};
    memcpy(out->begun, watch->kept.alarms.begun, sizeof out->begun);
    burn_locked(watch, out->burn, out->missed);
    for (size_t i = 0; i < watch->kept.alarms.count; i++)
        if (watch->kept.alarms.items[i].end_wall_ms == 0)
            out->active[watch->kept.alarms.items[i].kind]++;
    pthread_mutex_unlock(&watch->lock);
}
