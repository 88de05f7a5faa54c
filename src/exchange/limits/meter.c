/* One lock for all meters: a request holds it for some tenths of a microsecond. A meter is found by
 * a hash of whom it is of, and never moves, because requests point to theirs. What was spent is
 * kept twice: as the sum of the period, and as what the store has not been told yet. */
#include "base/core/assertion.h"
#include "exchange/limits/meter_internal.h"

#include "base/core/error.h"
#include "base/crypto/hash.h"
#include "base/time/clock.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct meters *meters_new(const struct clock *clock)
{
    struct meters *meters = calloc(1, sizeof *meters);
    if (!meters)
        return NULL;
    meters->clock = clock;
    pthread_mutex_init(&meters->lock, NULL);
    return meters;
}

void meters_free(struct meters *meters)
{
    if (!meters)
        return;
    for (struct meter *meter = meters->first, *next; meter; meter = next) {
        next = meter->next;
        free(meter->requests);
        free(meter->tokens);
        free(meter);
    }
    pthread_mutex_destroy(&meters->lock);
    free(meters->late);
    free(meters);
}

void meters_share(struct meters *meters, const struct shared_limits *door)
{
    meters->door = door;
}

/* --- the calendar --- */

static void keep_late_locked(struct meters *meters, const struct meter *meter,
                             enum key_period period)
{
    if (!(meter->unsaved[period].usd > 0) && !meter->unsaved[period].tokens)
        return;
    if (meters->late_count == meters->late_capacity) {
        size_t capacity = meters->late_capacity ? 2 * meters->late_capacity : 64;
        struct key_spent *more = realloc(meters->late, capacity * sizeof *more);
        if (!more)
            return; /* of a period that is over: it limits nobody any more */
        meters->late = more;
        meters->late_capacity = capacity;
    }
    struct key_spent *late = &meters->late[meters->late_count++];
    *late = (struct key_spent){.usd = meter->unsaved[period].usd,
                               .tokens = meter->unsaved[period].tokens,
                               .own_usd = meter->spent[period].usd,
                               .own_tokens = meter->spent[period].tokens};
    memcpy(late->whom, meter->whom, sizeof late->whom);
    memcpy(late->period, meters->period[period], sizeof late->period);
}

static void begin_period_locked(struct meters *meters, enum key_period period, const char *name)
{
    for (struct meter *meter = meters->first; meter; meter = meter->next) {
        keep_late_locked(meters, meter, period);
        meter->spent[period] = meter->unsaved[period] = meter->others[period] = (struct sums){0};
        meter->granted[period][USD] = meter->granted[period][TOKENS] = 0;
        meter->heard[period][0] = meter->heard[period][1] = (struct sums){0};
    }
    snprintf(meters->period[period], sizeof meters->period[period], "%s", name);
}

void meters_turn_locked(struct meters *meters)
{
    uint64_t minute = clock_wall_ms(meters->clock) / 60000;
    char day[11], month[11];
    if (minute == meters->looked_min)
        return;
    meters->looked_min = minute;
    key_store_periods(minute * 60000, day, month);
    if (strcmp(day, meters->period[KEY_DAY]) != 0)
        begin_period_locked(meters, KEY_DAY, day);
    if (strcmp(month, meters->period[KEY_MONTH]) != 0)
        begin_period_locked(meters, KEY_MONTH, month);
}

void meters_periods(struct meters *meters, char day[static 11], char month[static 11])
{
    pthread_mutex_lock(&meters->lock);
    meters_turn_locked(meters);
    memcpy(day, meters->period[KEY_DAY], 11);
    memcpy(month, meters->period[KEY_MONTH], 11);
    pthread_mutex_unlock(&meters->lock);
}

static uint32_t period_left_ms(const struct meters *meters, enum key_period period)
{
    uint64_t now_ms = clock_wall_ms(meters->clock);
    time_t now = (time_t)(now_ms / 1000);
    struct tm local;
    if (!localtime_r(&now, &local))
        return 1000;
    local.tm_hour = local.tm_min = local.tm_sec = 0;
    local.tm_isdst = -1;
    local.tm_mday = period == KEY_DAY ? local.tm_mday + 1 : 1;
    local.tm_mon += period == KEY_MONTH;
    time_t end = mktime(&local);
    uint64_t left_ms = end > now ? (uint64_t)end * 1000 - now_ms : 1000;
    return left_ms < UINT32_MAX ? (uint32_t)left_ms : UINT32_MAX;
}

/* --- the table --- */

static struct meter **slot_of(struct meters *meters, const char *whom)
{
    uint64_t hash = hash_fnv1a64(whom, strlen(whom), HASH_FNV1A64_BASIS);
    return &meters->slots[hash_mix64(hash) % SLOTS];
}

static struct meter *find_locked(struct meters *meters, char kind, const char *id)
{
    char whom[METER_WHOM_BYTES];
    if (!*id)
        return NULL;
    snprintf(whom, sizeof whom, "%c%s", kind, id);
    struct meter *meter = *slot_of(meters, whom);
    while (meter && strcmp(meter->whom, whom) != 0)
        meter = meter->next_in_slot;
    return meter;
}

static struct meter *make_locked(struct meters *meters, const char *whom)
{
    struct meter *meter = meters->count < METERS_MAX ? calloc(1, sizeof *meter) : NULL;
    if (!meter)
        return NULL;
    struct meter **slot = slot_of(meters, whom);
    snprintf(meter->whom, sizeof meter->whom, "%s", whom);
    meter->terms = key_terms_none;
    meter->next = meters->first;
    meter->next_in_slot = *slot;
    meters->first = *slot = meter;
    meters->count++;
    return meter;
}

static bool make_minute(struct minute **minute, uint32_t limit)
{
    if (limit && !*minute)
        *minute = calloc(1, sizeof **minute);
    return !limit || *minute;
}

enum td_status meters_set(struct meters *meters, const char *whom, const struct key_terms *terms,
                          struct td_error *err)
{
    ASSERT(strlen(whom) > 1 && strlen(whom) < METER_WHOM_BYTES);
    pthread_mutex_lock(&meters->lock);
    meters_turn_locked(meters);
    struct meter *meter = find_locked(meters, *whom, whom + 1);
    if (!meter)
        meter = make_locked(meters, whom);
    bool ok = meter && make_minute(&meter->requests, terms->requests_per_minute) &&
              make_minute(&meter->tokens, terms->tokens_per_minute);
    if (ok)
        meter->terms = *terms;
    pthread_mutex_unlock(&meters->lock);
    return ok ? TD_OK : error_set(err, TD_NO_MEMORY, "no memory for the limits of a key");
}

static enum key_period period_of(const struct meters *meters, const char *name)
{
    if (strcmp(name, meters->period[KEY_DAY]) == 0)
        return KEY_DAY;
    return strcmp(name, meters->period[KEY_MONTH]) == 0 ? KEY_MONTH : KEY_PERIOD_COUNT;
}

void meters_restore(struct meters *meters, const struct key_spent *spent)
{
    pthread_mutex_lock(&meters->lock);
    meters_turn_locked(meters);
    struct meter *meter = find_locked(meters, *spent->whom, spent->whom + 1);
    enum key_period period = period_of(meters, spent->period);
    if (meter && period != KEY_PERIOD_COUNT) {
        meter->spent[period].usd += spent->usd;
        meter->spent[period].tokens += spent->tokens;
    }
    pthread_mutex_unlock(&meters->lock);
}

void meters_hear(struct meters *meters, const struct key_spent *spent)
{
    pthread_mutex_lock(&meters->lock);
    meters_turn_locked(meters);
    struct meter *meter = find_locked(meters, *spent->whom, spent->whom + 1);
    enum key_period period = period_of(meters, spent->period);
    if (meter && period != KEY_PERIOD_COUNT)
        meter->others[period] = (struct sums){spent->others_usd, spent->others_tokens};
    pthread_mutex_unlock(&meters->lock);
}

size_t meters_take(struct meters *meters, struct key_spent *out, size_t max)
{
    size_t count = 0;
    pthread_mutex_lock(&meters->lock);
    meters_turn_locked(meters);
    while (count < max && meters->late_count > 0)
        out[count++] = meters->late[--meters->late_count];
    for (struct meter *meter = meters->first; meter; meter = meter->next) {
        for (int period = 0; period < KEY_PERIOD_COUNT && count < max; period++) {
            struct sums *sums = &meter->unsaved[period];
            if (!(sums->usd > 0) && !sums->tokens)
                continue;
            struct key_spent *spent = &out[count++];
            *spent = (struct key_spent){.usd = sums->usd,
                                        .tokens = sums->tokens,
                                        .own_usd = meter->spent[period].usd,
                                        .own_tokens = meter->spent[period].tokens};
            memcpy(spent->whom, meter->whom, sizeof spent->whom);
            memcpy(spent->period, meters->period[period], sizeof spent->period);
            *sums = (struct sums){0};
        }
    }
    pthread_mutex_unlock(&meters->lock);
    return count;
}

void meters_give_back(struct meters *meters, const struct key_spent *spent, size_t count)
{
    pthread_mutex_lock(&meters->lock);
    for (size_t i = 0; i < count; i++) {
        struct meter *meter = find_locked(meters, *spent[i].whom, spent[i].whom + 1);
        enum key_period period = period_of(meters, spent[i].period);
        if (!meter || period == KEY_PERIOD_COUNT)
            continue;
        meter->unsaved[period].usd += spent[i].usd;
        meter->unsaved[period].tokens += spent[i].tokens;
    }
    pthread_mutex_unlock(&meters->lock);
}

/* --- requests --- */

/* The share of a budget that is used, with what is promised; 0 = there is no such budget. */
static double used_usd(const struct meter *meter, int period, bool promised)
{
    double budget = meter->terms.usd[period];
    double spent =
        meter->spent[period].usd + meter->others[period].usd + (promised ? meter->promised_usd : 0);
    return budget > 0 ? spent / budget : 0;
}

static double used_tokens(const struct meter *meter, int period, uint64_t reserved)
{
    double budget = (double)meter->terms.tokens[period];
    double spent = (double)meter->spent[period].tokens + (double)meter->others[period].tokens +
                   (double)reserved;
    return budget > 0 ? spent / budget : 0;
}

bool meter_refuse(struct meter *meter, bool of_tenant, enum meter_limit what, uint32_t wait_ms,
                  struct meter_verdict *verdict)
{
    meter->refused[what]++;
    verdict->what = what;
    verdict->of_tenant = of_tenant;
    verdict->wait_ms = wait_ms;
    return false;
}

/* Where only promises fill it, whoever runs will soon give some back. */
static bool fits_budgets(struct meters *meters, struct meter *meter, bool of_tenant,
                         struct meter_verdict *verdict)
{
    for (int period = 0; period < KEY_PERIOD_COUNT && !meter->terms.local_when_spent; period++) {
        double usd = used_usd(meter, period, true);
        double tokens = used_tokens(meter, period, meter->reserved_tokens);
        if (usd < 1 && tokens < 1) {
            /* A billionth of a USD, or a token, must have room beside what others have. */
            if (!meter_fits_together(meters, meter, period, USD, 1))
                usd = 1;
            else if (!meter_fits_together(meters, meter, period, TOKENS, 1))
                tokens = 1;
            else
                continue;
        }
        bool spent = used_usd(meter, period, false) >= 1 || used_tokens(meter, period, 0) >= 1;
        verdict->period = (enum key_period)period;
        verdict->tokens = tokens >= 1;
        return meter_refuse(meter, of_tenant, METER_SPENT,
                            spent ? period_left_ms(meters, verdict->period) : 1000, verdict);
    }
    return true;
}

/* As much of the minute as the request may come to need, but never more than there is. */
static uint32_t needed(const struct meter *meter, const struct meter_ask *ask)
{
    uint64_t tokens = (uint64_t)ask->prompt_tokens + ask->answer_tokens;
    uint32_t most = meter->terms.tokens_per_minute;
    return tokens < most ? (uint32_t)tokens : most;
}

static bool fits(struct meters *meters, struct meter *meter, const struct meter_ask *ask,
                 bool of_tenant, struct meter_verdict *verdict)
{
    const struct key_terms *terms = &meter->terms;
    uint64_t now_ms = (uint64_t)clock_monotonic_ms(meters->clock);
    if (!fits_budgets(meters, meter, of_tenant, verdict))
        return false;
    uint32_t wait_ms = terms->requests_per_minute
                           ? minute_wait_ms(meter->requests, terms->requests_per_minute, now_ms)
                           : 0;
    if (wait_ms)
        return meter_refuse(meter, of_tenant, METER_REQUESTS, wait_ms, verdict);
    if (terms->tokens_per_minute == 0)
        return true;
    if (ask->prompt_tokens > terms->tokens_per_minute)
        return meter_refuse(meter, of_tenant, METER_TOO_LARGE, 0, verdict);
    wait_ms =
        minute_wait_ms(meter->tokens, terms->tokens_per_minute - needed(meter, ask) + 1, now_ms);
    return wait_ms ? meter_refuse(meter, of_tenant, METER_TOKENS, wait_ms, verdict) : true;
}

static void read_rate(struct minute *minute, uint32_t limit, uint64_t now_ms,
                      struct meter_rate *rate)
{
    if (limit == 0)
        return;
    uint32_t reset_ms = minute_wait_ms(minute, 1, now_ms);
    uint32_t left = minute->sum < limit ? limit - (uint32_t)minute->sum : 0;
    if (rate->limit == 0 || left < rate->left)
        *rate = (struct meter_rate){.limit = limit, .left = left, .reset_ms = reset_ms};
}

static void read_rates(struct meters *meters, struct meter *const of[static METERS_OF_REQUEST],
                       struct meter_verdict *verdict)
{
    uint64_t now_ms = (uint64_t)clock_monotonic_ms(meters->clock);
    for (size_t i = 0; i < METERS_OF_REQUEST; i++) {
        if (!of[i])
            continue;
        read_rate(of[i]->requests, of[i]->terms.requests_per_minute, now_ms, &verdict->requests);
        read_rate(of[i]->tokens, of[i]->terms.tokens_per_minute, now_ms, &verdict->prompt_tokens);
    }
}

static void take(struct meters *meters, const struct meter_ask *ask, struct meter_hold *hold)
{
    hold->since_ms = (uint64_t)clock_monotonic_ms(meters->clock);
    hold->tokens = ask->prompt_tokens + ask->answer_tokens < ask->prompt_tokens
                       ? UINT32_MAX
                       : ask->prompt_tokens + ask->answer_tokens;
    for (size_t i = 0; i < METERS_OF_REQUEST; i++) {
        struct meter *meter = hold->of[i];
        if (!meter)
            continue;
        meter->request_count++;
        meter->reserved_tokens += hold->tokens;
        if (meter->terms.requests_per_minute)
            minute_add(meter->requests, 1, hold->since_ms);
        hold->counted[i] = needed(meter, ask);
        if (hold->counted[i])
            minute_add(meter->tokens, hold->counted[i], hold->since_ms);
    }
}

bool meters_enter(struct meters *meters, const struct meter_ask *ask, struct meter_hold *hold,
                  struct meter_verdict *verdict)
{
    struct shared_limit *together[METERS_OF_REQUEST] = {NULL};
    bool ok = true;
    *verdict = (struct meter_verdict){.what = METER_FREE};
    *hold = (struct meter_hold){.tokens = 0};
    pthread_mutex_lock(&meters->lock);
    meters_turn_locked(meters);
    struct meter *of[METERS_OF_REQUEST] = {find_locked(meters, 'k', ask->key_id),
                                           find_locked(meters, 't', ask->tenant)};
    for (size_t i = 0; i < METERS_OF_REQUEST && ok; i++)
        ok = !of[i] || fits(meters, of[i], ask, i == 1, verdict);
    if (ok) {
        memcpy(hold->of, of, sizeof of);
        take(meters, ask, hold);
    }
    read_rates(meters, of, verdict);
    for (size_t i = 0; ok && i < METERS_OF_REQUEST; i++)
        together[i] = of[i] ? meter_together(meters, of[i]) : NULL;
    pthread_mutex_unlock(&meters->lock);
    return ok && (together[0] || together[1])
               ? meters_enter_together(meters, together, hold, verdict)
               : ok;
}

/* The second of the reservation gets what was really used, so that the minute forgets it then. When
 * that second is over, what is beyond the reservation counts now. */
static void settle_minute(struct meter *meter, uint32_t held, uint64_t since_ms, uint64_t tokens,
                          uint64_t now_ms)
{
    if (!meter->tokens) /* no such limit was ever set */
        return;
    uint32_t used = tokens < UINT32_MAX ? (uint32_t)tokens : UINT32_MAX;
    if (used < held)
        minute_take(meter->tokens, held - used, since_ms, now_ms);
    else
        minute_add(meter->tokens, used - held, now_ms);
}

void meters_leave(struct meters *meters, struct meter_hold *hold, uint64_t tokens, double usd)
{
    if (!hold->of[0] && !hold->of[1])
        return;
    pthread_mutex_lock(&meters->lock);
    meters_turn_locked(meters);
    uint64_t now_ms = (uint64_t)clock_monotonic_ms(meters->clock);
    for (size_t i = 0; i < METERS_OF_REQUEST; i++) {
        struct meter *meter = hold->of[i];
        if (!meter)
            continue;
        settle_minute(meter, hold->counted[i], hold->since_ms, tokens, now_ms);
        meter->reserved_tokens -= hold->tokens;
        for (int period = 0; period < KEY_PERIOD_COUNT; period++) {
            meter->spent[period].usd += usd;
            meter->spent[period].tokens += tokens;
            meter->unsaved[period].usd += usd;
            meter->unsaved[period].tokens += tokens;
        }
    }
    pthread_mutex_unlock(&meters->lock);
    meters_settle_together(meters, hold, tokens);
    *hold = (struct meter_hold){.tokens = 0};
}

struct meter_hold meters_split(struct meter_hold *hold, uint32_t parts)
{
    struct meter_hold part = *hold;
    ASSERT(parts > 0);
    part.tokens = hold->tokens / parts;
    hold->tokens -= part.tokens;
    for (size_t i = 0; i < METERS_OF_REQUEST; i++) {
        part.counted[i] = hold->counted[i] / parts;
        hold->counted[i] -= part.counted[i];
    }
    if (parts == 1)
        *hold = (struct meter_hold){.tokens = 0};
    return part;
}

/* --- budgets --- */

void meters_promise(struct meters *meters, const struct meter_hold *hold, double usd)
{
    if (!hold->of[0] && !hold->of[1])
        return;
    pthread_mutex_lock(&meters->lock);
    for (size_t i = 0; i < METERS_OF_REQUEST; i++) {
        struct meter *meter = hold->of[i];
        if (!meter)
            continue;
        meter->promised_usd = fmax(meter->promised_usd + usd, 0);
        for (int period = 0; usd > 0 && period < KEY_PERIOD_COUNT; period++)
            (void)meter_fits_together(meters, meter, period, USD, 0); /* the others hear of it */
    }
    pthread_mutex_unlock(&meters->lock);
}

/* What the request itself has reserved stands in nobody else's way. */
static void look_at(const struct meters *meters, const struct meter_hold *hold, bool of_tenant,
                    int period, struct meter_budget *out)
{
    const struct meter *meter = hold->of[of_tenant];
    double usd = used_usd(meter, period, true);
    double tokens = used_tokens(meter, period, meter->reserved_tokens - hold->tokens);
    double left = meter->terms.usd[period] * (1 - usd);
    if (!(meter->terms.usd[period] > 0) && !meter->terms.tokens[period])
        return;
    if (meter->terms.usd[period] > 0 && left < out->left_usd)
        out->left_usd = left;
    if (out->name && fmax(usd, tokens) <= out->used)
        return;
    out->name = of_tenant ? "tenant" : "key";
    out->period = period == KEY_DAY ? "this day" : "this month";
    out->wait_ms = period_left_ms(meters, (enum key_period)period);
    out->used = fmax(usd, tokens);
    out->frees = used_usd(meter, period, false) < 1 && used_tokens(meter, period, 0) < 1;
}

void meters_look(struct meters *meters, const struct meter_hold *hold, struct meter_budget *out)
{
    *out = (struct meter_budget){.left_usd = INFINITY};
    if (!hold->of[0] && !hold->of[1])
        return;
    pthread_mutex_lock(&meters->lock);
    meters_turn_locked(meters);
    for (size_t i = 0; i < METERS_OF_REQUEST; i++)
        for (int period = 0; hold->of[i] && period < KEY_PERIOD_COUNT; period++)
            look_at(meters, hold, i == 1, period, out);
    pthread_mutex_unlock(&meters->lock);
}

bool meters_have_room(struct meters *meters, const struct meter_hold *hold, double usd)
{
    struct meter_budget budget = {.left_usd = INFINITY};
    if (!meters)
        return usd <= budget.left_usd;
    meters_look(meters, hold, &budget);
    bool room = usd <= budget.left_usd;
    pthread_mutex_lock(&meters->lock);
    for (size_t i = 0; meters->door && i < METERS_OF_REQUEST; i++)
        for (int period = 0; room && hold->of[i] && period < KEY_PERIOD_COUNT; period++)
            room = meter_fits_together(meters, hold->of[i], period, USD, NANO * usd);
    pthread_mutex_unlock(&meters->lock);
    return room;
}

void meters_each(struct meters *meters, meter_fn *each, void *ctx)
{
    pthread_mutex_lock(&meters->lock);
    meters_turn_locked(meters);
    for (const struct meter *meter = meters->first; meter; meter = meter->next) {
        struct meter_numbers numbers = {.requests = meter->request_count};
        memcpy(numbers.whom, meter->whom, sizeof numbers.whom);
        memcpy(numbers.refused, meter->refused, sizeof numbers.refused);
        for (int period = 0; period < KEY_PERIOD_COUNT; period++) {
            numbers.usd[period] = meter->spent[period].usd + meter->others[period].usd;
            numbers.tokens[period] = meter->spent[period].tokens + meter->others[period].tokens;
        }
        each(ctx, &numbers);
    }
    pthread_mutex_unlock(&meters->lock);
}
