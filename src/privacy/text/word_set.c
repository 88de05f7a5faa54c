/* A set of words by their hashes: open addressing at half full at most. Words themselves are not
 * kept; two of one hash only make a surrogate be drawn again. */
#include "privacy/text/word_set.h"

#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "base/crypto/hash.h"
#include "privacy/text/spell.h"

#include <stdlib.h>

#define CAPACITY_FIRST 256

/* Who has the hashes can try words. */
static void drop_hashes(struct word_set *set)
{
    if (set->hashes)
        crypto_wipe(set->hashes, set->capacity * sizeof *set->hashes);
    free(set->hashes);
}

void word_set_deinit(struct word_set *set)
{
    drop_hashes(set);
    *set = (struct word_set){0};
}

static uint64_t key_of(uint64_t hash)
{
    hash = hash_mix64(hash);
    return hash ? hash : 1;
}

static size_t place_of(const uint64_t *hashes, size_t capacity, uint64_t key)
{
    size_t i = (size_t)key & (capacity - 1);
    while (hashes[i] != 0 && hashes[i] != key)
        i = (i + 1) & (capacity - 1);
    return i;
}

static void insert(struct word_set *set, uint64_t key)
{
    if (2 * (set->count + 1) > set->capacity) {
        size_t capacity = set->capacity ? 2 * set->capacity : CAPACITY_FIRST;
        uint64_t *hashes = calloc(capacity, sizeof *hashes);
        if (hashes == NULL) {
            set->failed = true;
            return;
        }
        for (size_t i = 0; i < set->capacity; i++)
            if (set->hashes[i] != 0)
                hashes[place_of(hashes, capacity, set->hashes[i])] = set->hashes[i];
        drop_hashes(set);
        set->hashes = hashes;
        set->capacity = capacity;
    }
    size_t i = place_of(set->hashes, set->capacity, key);
    set->count += set->hashes[i] == 0;
    set->hashes[i] = key;
}

static bool holds(const struct word_set *set, uint64_t key)
{
    return set->capacity > 0 && set->hashes[place_of(set->hashes, set->capacity, key)] == key;
}

/* The next run of letters and digits at or after *offset, and how long it is; 0 at the end. */
static size_t next_run(struct td_str text, size_t *offset, uint64_t *key)
{
    uint64_t hash = HASH_FNV1A64_BASIS;
    size_t any = 0;
    for (;;) {
        struct sign sign = spell_at(text, *offset, false);
        *offset = sign.end;
        if (spell_is_significant(&sign)) {
            hash = (hash ^ sign.c) * UINT64_C(0x100000001b3); /* as spell_hash */
            any++;
        } else if (sign.kind != SIGN_NOTHING && any) {
            *key = key_of(hash);
            return any;
        } else if (sign.kind == SIGN_END) {
            return 0;
        }
    }
}

void word_set_add(struct word_set *set, struct td_str text)
{
    size_t offset = 0;
    uint64_t key;
    while (!set->failed && next_run(text, &offset, &key))
        insert(set, key);
}

void word_set_add_joined(struct word_set *set, struct td_str text)
{
    insert(set, key_of(spell_hash(text)));
}

size_t word_set_list(struct td_str text, size_t letters_min, uint64_t *keys, size_t capacity)
{
    size_t offset = 0, count = 0, len;
    uint64_t key;
    while (count < capacity && (len = next_run(text, &offset, &key)) > 0) {
        size_t i = 0;
        while (i < count && keys[i] != key)
            i++;
        if (i == count && len >= letters_min)
            keys[count++] = key;
    }
    return count;
}

bool word_set_has_key(const struct word_set *set, uint64_t key)
{
    return holds(set, key);
}

bool word_set_has(const struct word_set *set, struct td_str word)
{
    return holds(set, key_of(spell_hash(word)));
}

bool word_set_may_hold(const struct word_set *set, struct td_str text)
{
    size_t offset = 0;
    uint64_t key;
    if (word_set_has(set, text))
        return true;
    bool any = false;
    while (next_run(text, &offset, &key)) {
        if (!holds(set, key))
            return false;
        any = true;
    }
    return any;
}
