/* Biases and penalties by token id. The tokens that have a bias or are in the answer are one short
 * list, with a hash table from id to entry. So a choice touches only these logits, and puts exactly
 * the old values back afterwards: the caller's logits may be used again. */
#include "engine/sampling/sampler_penalty.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/crypto/hash.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Doubles the room when it is used up. There are twice as many slots as entries. */
static bool reserve(struct penalty *p)
{
    uint32_t slots = p->slots ? p->mask + 1 : 0;
    if (p->count * 2 < slots)
        return true;
    slots = slots ? slots * 2 : 64;
    struct penalty_entry *entries = realloc(p->entries, slots / 2 * sizeof *entries);
    if (entries)
        p->entries = entries;
    uint32_t *table = entries ? calloc(slots, sizeof *table) : NULL;
    if (table == NULL)
        return false;
    free(p->slots);
    p->slots = table;
    p->mask = slots - 1;
    for (uint32_t e = 0; e < p->count; e++) {
        uint32_t at = (uint32_t)hash_mix64((uint32_t)p->entries[e].id);
        while (table[at & p->mask])
            at++;
        table[at & p->mask] = e + 1;
    }
    return true;
}

static struct penalty_entry *find_or_add(struct penalty *p, int32_t id)
{
    if (!reserve(p))
        return NULL;
    uint32_t at = (uint32_t)hash_mix64((uint32_t)id);
    for (uint32_t e; (e = p->slots[at & p->mask]) != 0; at++)
        if (p->entries[e - 1].id == id)
            return &p->entries[e - 1];
    p->entries[p->count] = (struct penalty_entry){.id = id};
    p->slots[at & p->mask] = ++p->count;
    return &p->entries[p->count - 1];
}

enum td_status penalty_init(struct penalty *p, const struct td_sampling *sampling,
                            struct td_error *err)
{
    *p = (struct penalty){.presence = sampling->presence_penalty,
                          .frequency = sampling->frequency_penalty};
    p->counts = p->presence != 0 || p->frequency != 0;
    if (sampling->bias_count > TD_LOGIT_BIASES_MAX)
        return error_set(err, TD_INVALID, "%zu logit biases, at most %d", sampling->bias_count,
                         TD_LOGIT_BIASES_MAX);
    for (size_t i = 0; i < sampling->bias_count; i++) {
        if (!isfinite(sampling->biases[i].bias))
            return error_set(err, TD_INVALID, "the logit bias of token %d is not a number",
                             sampling->biases[i].id);
        struct penalty_entry *entry = find_or_add(p, sampling->biases[i].id);
        if (entry == NULL)
            return error_set(err, TD_NO_MEMORY, "no memory for logit biases");
        entry->bias = sampling->biases[i].bias;
    }
    return TD_OK;
}

void penalty_deinit(struct penalty *p)
{
    free(p->entries);
    free(p->slots);
    *p = (struct penalty){0};
}

void penalty_count(struct penalty *p, int32_t id)
{
    struct penalty_entry *entry = p->counts ? find_or_add(p, id) : NULL;
    if (entry)
        entry->count++;
}

bool penalty_apply(struct penalty *p, float *logits, uint32_t vocab_count)
{
    ASSERT(logits != NULL);
    for (uint32_t i = 0; i < p->count; i++) {
        struct penalty_entry *entry = &p->entries[i];
        if (entry->id < 0 || (uint32_t)entry->id >= vocab_count)
            continue;
        entry->before = logits[entry->id];
        logits[entry->id] +=
            entry->bias - (float)entry->count * p->frequency - (entry->count ? p->presence : 0.0f);
    }
    return p->count > 0;
}

void penalty_restore(const struct penalty *p, float *logits, uint32_t vocab_count)
{
    for (uint32_t i = 0; i < p->count; i++)
        if (p->entries[i].id >= 0 && (uint32_t)p->entries[i].id < vocab_count)
            logits[p->entries[i].id] = p->entries[i].before;
}
