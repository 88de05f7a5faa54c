/* A short list: a program has few tiers. With no room left, what was counted least makes some. */
#include "exchange/memory/skew_table.h"

#include "base/crypto/hash.h"
#include "base/ratio.h"
#include "base/time/log.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAIRS_MAX 64

struct entry {
    char tiers[2][SKEW_NAME_BYTES]; /* in the order of strcmp */
    uint64_t versions[2];           /* hashes; 0 = not known */
    double compared, same;
    bool skewed;
};

struct skew_table {
    pthread_mutex_t lock;
    double most;
    size_t count;
    struct entry entries[PAIRS_MAX];
};

struct skew_table *skew_table_new(void)
{
    struct skew_table *table = calloc(1, sizeof *table);
    if (!table)
        return NULL;
    pthread_mutex_init(&table->lock, NULL);
    table->most = 1;
    return table;
}

void skew_table_free(struct skew_table *table)
{
    if (!table)
        return;
    pthread_mutex_destroy(&table->lock);
    free(table);
}

static double differ_of(const struct entry *entry)
{
    return entry->compared > 0 ? 1 - entry->same / entry->compared : 0;
}

static void judge(const struct skew_table *table, struct entry *entry)
{
    double low = 0, high = 0;
    bool before = entry->skewed;
    if (entry->compared > 0)
        ratio_share_interval(entry->compared - entry->same, entry->compared, &low, &high);
    if (entry->compared >= SKEW_COMPARED_MIN)
        entry->skewed = low > table->most || (before && differ_of(entry) > SKEW_CALM * table->most);
    if (entry->skewed == before)
        return;
    if (entry->skewed)
        log_event(LOG_LEVEL_WARN, "models_skewed",
                  "tier=%s other=%s differ=%.2f compared=%.0f max=%g hint=\"update a model\"",
                  entry->tiers[0], entry->tiers[1], differ_of(entry), entry->compared, table->most);
    else
        log_event(LOG_LEVEL_INFO, "models_agree", "tier=%s other=%s differ=%.2f", entry->tiers[0],
                  entry->tiers[1], differ_of(entry));
}

void skew_table_set_most(struct skew_table *table, double most)
{
    pthread_mutex_lock(&table->lock);
    bool changed = table->most != most;
    table->most = most;
    for (size_t i = 0; changed && i < table->count; i++)
        judge(table, &table->entries[i]);
    pthread_mutex_unlock(&table->lock);
}

static uint64_t version_hash(const char *version)
{
    return version && *version ? hash_fnv1a64(version, strlen(version), HASH_FNV1A64_BASIS) : 0;
}

static struct entry *find_locked(struct skew_table *table, const char *const names[2])
{
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->entries[i].tiers[0], names[0]) == 0 &&
            strcmp(table->entries[i].tiers[1], names[1]) == 0)
            return &table->entries[i];
    return NULL;
}

static struct entry *room_locked(struct skew_table *table)
{
    struct entry *least = &table->entries[0];
    if (table->count < PAIRS_MAX)
        return &table->entries[table->count++];
    for (size_t i = 1; i < table->count; i++)
        if (table->entries[i].compared < least->compared)
            least = &table->entries[i];
    return least;
}

/* NULL: a name is too long, or both are one tier. */
static struct entry *entry_locked(struct skew_table *table, const struct skew_sides *sides,
                                  bool *is_new)
{
    int order = strcmp(sides->tiers[0], sides->tiers[1]);
    size_t first = order > 0;
    const char *names[2] = {sides->tiers[first], sides->tiers[1 - first]};
    const uint64_t versions[2] = {version_hash(sides->versions[first]),
                                  version_hash(sides->versions[1 - first])};
    if (order == 0 || strlen(names[0]) >= SKEW_NAME_BYTES || strlen(names[1]) >= SKEW_NAME_BYTES)
        return NULL;
    struct entry *entry = find_locked(table, names);
    *is_new = !entry || memcmp(entry->versions, versions, sizeof versions) != 0;
    if (!entry)
        entry = room_locked(table);
    else if (*is_new && entry->skewed)
        log_event(LOG_LEVEL_INFO, "models_agree", "tier=%s other=%s why=\"another version\"",
                  names[0], names[1]);
    if (!*is_new)
        return entry;
    *entry = (struct entry){.versions = {versions[0], versions[1]}};
    for (int i = 0; i < 2; i++)
        snprintf(entry->tiers[i], SKEW_NAME_BYTES, "%s", names[i]);
    return entry;
}

void skew_table_count(struct skew_table *table, const struct skew_sides *sides, bool same)
{
    bool is_new;
    pthread_mutex_lock(&table->lock);
    struct entry *entry = entry_locked(table, sides, &is_new);
    if (entry) {
        double kept = entry->compared < SKEW_MEMORY ? 1 : 1 - 1.0 / SKEW_MEMORY;
        entry->compared = kept * entry->compared + 1;
        entry->same = kept * entry->same + same;
        judge(table, entry);
    }
    pthread_mutex_unlock(&table->lock);
}

void skew_table_restore(struct skew_table *table, const struct skew_sides *sides, double compared,
                        double same)
{
    bool is_new;
    int order = strcmp(sides->tiers[0], sides->tiers[1]);
    const char *names[2] = {sides->tiers[order > 0], sides->tiers[order <= 0]};
    if (!(compared > 0) || !(same >= 0) || same > compared || !isfinite(compared))
        return;
    pthread_mutex_lock(&table->lock);
    struct entry *entry = find_locked(table, names) ? NULL : entry_locked(table, sides, &is_new);
    if (entry) {
        entry->compared = fmin(compared, SKEW_MEMORY);
        entry->same = same / compared * entry->compared;
        judge(table, entry);
    }
    pthread_mutex_unlock(&table->lock);
}

static size_t tier_of(const struct tier_facts *facts, size_t tier_count, const char *name)
{
    size_t i = 0;
    while (i < tier_count && strcmp(facts[i].name, name) != 0)
        i++;
    return i;
}

void skew_table_read(struct skew_table *table, const struct tier_facts *facts, size_t tier_count,
                     struct skew_signal *out)
{
    out->count = 0;
    pthread_mutex_lock(&table->lock);
    for (size_t i = 0; i < table->count && out->count < SKEW_PAIRS_MAX; i++) {
        const struct entry *entry = &table->entries[i];
        if (!entry->skewed)
            continue;
        size_t one = tier_of(facts, tier_count, entry->tiers[0]);
        size_t two = tier_of(facts, tier_count, entry->tiers[1]);
        if (one < tier_count && two < tier_count)
            out->pairs[out->count++] = (struct skew_pair){
                .tiers = {one, two}, .differ = differ_of(entry), .compared = entry->compared};
    }
    pthread_mutex_unlock(&table->lock);
}
