/* An open-addressed table of sums. Its slots are at least twice as many as its entries, so that a
 * search always ends. A day's sums are dropped when the first call of a new day comes, and tokens
 * lie in a ring of hours; no timer is needed.
 *
 * Clients invent users, so a tenant could fill the table and leave its neighbours none. A newcomer
 * gets an entry only while its tenant has fewer than are still free: a tenant alone may have half,
 * and each further one half of the rest. */
#include "exchange/limits/spending_internal.h"

#include "base/core/assertion.h"
#include "base/crypto/crypto.h"
#include "base/crypto/hash.h"
#include "base/time/clock.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define HOUR_MS 3600000u

struct spending *spending_new(const struct clock *clock, uint32_t entries_max)
{
    size_t slots = 16;
    while (slots < 2 * ((size_t)entries_max + GROUPS))
        slots *= 2;
    struct spending *spending = calloc(1, sizeof *spending + slots * sizeof spending->slots[0]);
    if (!spending)
        return NULL;
    pthread_mutex_init(&spending->lock, NULL);
    spending->clock = clock;
    spending->entries_max = entries_max;
    spending->slot_count = slots;
    return spending;
}

void spending_free(struct spending *spending)
{
    if (!spending)
        return;
    pthread_mutex_destroy(&spending->lock);
    free(spending->beside);
    free(spending);
}

void spending_key_id(const uint8_t secret[static KEYED_KEY_BYTES], const char *digest,
                     char out[static SPENDING_KEY_ID_BYTES])
{
    char text[32];
    uint8_t mac[KEYED_MAC_BYTES];
    /* The words keep it apart from the names of tenants, which are made with the same secret. */
    int len = snprintf(text, sizeof text, "key id,%.16s", digest);
    keyed_mac(secret, text, (size_t)len, mac);
    crypto_hex(mac, (SPENDING_KEY_ID_BYTES - 1) / 2, out);
}

uint64_t spending_key(const char *budget, const char *tenant, const char *whom)
{
    ASSERT(budget && whom);
    uint64_t key = hash_fnv1a64(budget, strlen(budget) + 1, HASH_FNV1A64_BASIS), group = 0;
    if (tenant) {
        group = hash_mix64(hash_fnv1a64(tenant, strlen(tenant), HASH_FNV1A64_BASIS)) % GROUPS;
        key = hash_fnv1a64(tenant, strlen(tenant) + 1, key);
    }
    key = hash_mix64(hash_fnv1a64(whom, strlen(whom), key)) / GROUPS;
    return group << 56 | (key > GROUPS ? key : key + GROUPS + 1);
}

static struct entry *find_locked(struct spending *spending, uint64_t key)
{
    size_t at = key & (spending->slot_count - 1);
    while (spending->slots[at].key && spending->slots[at].key != key)
        at = (at + 1) & (spending->slot_count - 1);
    return &spending->slots[at]; /* there is always a free one: they are twice as many as entries */
}

/* What is remembered of it beside; NULL where this node is alone. */
static struct beside *beside_locked(struct spending *spending, const struct entry *entry)
{
    return spending->beside ? &spending->beside[entry - spending->slots] : NULL;
}

/* Its own entry, or where its tenant may have no more, the one that all newcomers share who have
 * the same first byte. */
struct entry *spending_entry_locked(struct spending *spending, uint64_t key)
{
    size_t group = key >> 56;
    struct entry *entry = find_locked(spending, key);
    if (entry->key)
        return entry;
    if (spending->used_by[group] < spending->entries_max - spending->used) {
        spending->used++;
        spending->used_by[group]++;
    } else {
        key = group + 1;
        entry = find_locked(spending, key);
    }
    entry->key = key;
    return entry;
}

/* A new day begins with nothing spent; what was promised before midnight stays promised. */
static void begin_day_locked(struct spending *spending)
{
    size_t promised = 0, count = 0;
    for (size_t i = 0; i < spending->slot_count; i++) {
        promised += spending->slots[i].promised_usd > 0;
        if (spending->slots[i].key)
            spending->slots[i].spent_usd = 0;
    }
    for (size_t i = 0; spending->beside && i < spending->slot_count; i++)
        spending->beside[i] = (struct beside){.unsaved = false};
    spending->unsaved_count = 0;
    struct entry *kept = calloc(promised + 1, sizeof *kept);
    if (!kept)
        return; /* all keep their places */
    for (size_t i = 0; i < spending->slot_count; i++)
        if (spending->slots[i].promised_usd > 0)
            kept[count++] = spending->slots[i];
    memset(spending->slots, 0, spending->slot_count * sizeof *spending->slots);
    memset(spending->used_by, 0, sizeof spending->used_by);
    spending->used = 0;
    for (size_t i = 0; i < count; i++) {
        bool shared = kept[i].key <= GROUPS;
        struct entry *entry = shared ? find_locked(spending, kept[i].key)
                                     : spending_entry_locked(spending, kept[i].key);
        entry->key = shared ? kept[i].key : entry->key;
        entry->promised_usd += kept[i].promised_usd;
    }
    free(kept);
}

void spending_turn_day_locked(struct spending *spending)
{
    time_t now = (time_t)(clock_wall_ms(spending->clock) / 1000);
    struct tm local;
    if (!localtime_r(&now, &local) ||
        (local.tm_year == spending->year && local.tm_yday == spending->day))
        return;
    spending->year = local.tm_year;
    spending->day = local.tm_yday;
    begin_day_locked(spending);
}

static double read_usd(struct spending *spending, uint64_t key, bool with_promises)
{
    pthread_mutex_lock(&spending->lock);
    spending_turn_day_locked(spending);
    const struct entry *entry = spending_entry_locked(spending, key);
    const struct beside *beside = beside_locked(spending, entry);
    double usd = entry->spent_usd + (with_promises ? entry->promised_usd : 0);
    if (beside)
        usd += spending_others_locked(spending, entry, beside);
    pthread_mutex_unlock(&spending->lock);
    return usd;
}

double spending_today(struct spending *spending, uint64_t key)
{
    return read_usd(spending, key, true);
}

double spending_spent(struct spending *spending, uint64_t key)
{
    return read_usd(spending, key, false);
}

void spending_promise(struct spending *spending, uint64_t key, double usd)
{
    ASSERT(key != 0 && usd >= 0);
    pthread_mutex_lock(&spending->lock);
    spending_turn_day_locked(spending);
    spending_entry_locked(spending, key)->promised_usd += usd;
    pthread_mutex_unlock(&spending->lock);
}

void spending_settle(struct spending *spending, uint64_t key, double promised_usd, double usd)
{
    pthread_mutex_lock(&spending->lock);
    spending_turn_day_locked(spending);
    struct entry *entry = spending_entry_locked(spending, key);
    entry->promised_usd -= promised_usd;
    if (entry->promised_usd < 0) /* rounding, or a promise of before the table was full */
        entry->promised_usd = 0;
    entry->spent_usd += usd;
    if (usd > 0)
        spending_note_unsaved_locked(spending, entry);
    pthread_mutex_unlock(&spending->lock);
}

void spending_restore(struct spending *spending, uint64_t key, double usd)
{
    pthread_mutex_lock(&spending->lock);
    spending_turn_day_locked(spending);
    struct entry *entry = spending_entry_locked(spending, key);
    struct beside *beside = beside_locked(spending, entry);
    *(beside ? &beside->before_usd : &entry->spent_usd) += usd;
    pthread_mutex_unlock(&spending->lock);
}

uint64_t spending_day_begin_ms(const struct clock *clock)
{
    time_t now = (time_t)(clock_wall_ms(clock) / 1000);
    struct tm local;
    if (!localtime_r(&now, &local))
        return (uint64_t)now * 1000;
    local.tm_hour = local.tm_min = local.tm_sec = 0;
    local.tm_isdst = -1; /* as it was at midnight */
    time_t begin = mktime(&local);
    return (uint64_t)(begin < 0 || begin > now ? now : begin) * 1000;
}

uint64_t spending_day_left_ms(const struct clock *clock)
{
    uint64_t now_ms = clock_wall_ms(clock);
    time_t now = (time_t)(now_ms / 1000);
    struct tm local;
    if (!localtime_r(&now, &local))
        return 0;
    local.tm_mday++; /* a day may have 23 or 25 hours */
    local.tm_hour = local.tm_min = local.tm_sec = 0;
    local.tm_isdst = -1;
    time_t end = mktime(&local);
    return end > now ? (uint64_t)end * 1000 - now_ms : 0;
}

/* Hours that have passed since the last count lose theirs. */
static void turn_hours_locked(struct spending *spending)
{
    uint64_t hour = clock_wall_ms(spending->clock) / HOUR_MS;
    if (hour < spending->hour || hour - spending->hour >= HOURS) {
        memset(spending->tokens, 0, sizeof spending->tokens);
    } else {
        for (uint64_t h = spending->hour + 1; h <= hour; h++)
            spending->tokens[h % HOURS] = 0;
    }
    spending->hour = hour;
}

void spending_add_tokens(struct spending *spending, uint64_t tokens)
{
    pthread_mutex_lock(&spending->lock);
    turn_hours_locked(spending);
    spending->tokens[spending->hour % HOURS] += tokens;
    pthread_mutex_unlock(&spending->lock);
}

void spending_add_tokens_of(struct spending *spending, uint64_t hour, uint64_t tokens)
{
    pthread_mutex_lock(&spending->lock);
    turn_hours_locked(spending);
    if (hour <= spending->hour && spending->hour - hour < HOURS)
        spending->tokens[hour % HOURS] += tokens;
    pthread_mutex_unlock(&spending->lock);
}

double spending_day_tokens(struct spending *spending)
{
    double sum = 0;
    pthread_mutex_lock(&spending->lock);
    turn_hours_locked(spending);
    for (size_t i = 0; i < HOURS; i++)
        sum += (double)spending->tokens[i];
    pthread_mutex_unlock(&spending->lock);
    return sum;
}
