/* A hash table of slots in one array; a slot's number is its place in the file.
 *
 * Slots of one person hang on one list, so that a search walks only that person's entries. There is
 * no list by age: when all slots are taken, the oldest of a few goes, which is nearly the oldest of
 * all. Entries that expired are swept a few at a time with each new one, so that they leave the
 * file, too. */
#include "exchange/memory/consistency.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/crypto/hash.h"
#include "base/time/log.h"
#include "exchange/memory/consistency_file.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NONE UINT32_MAX
#define DAY_MS UINT64_C(86400000)
/* When all slots are taken, the longest unused of that many goes. */
#define EVICTION_LOOKS 32
/* Entries whose age is looked at with each new one. */
#define SWEEP_LOOKS 4
/* A new question this near to an entry is that question: it gets no entry of its own. */
#define SAME_DISTANCE 8

struct consistency {
    pthread_mutex_t lock;
    const struct clock *clock;
    uint8_t key[KEYED_KEY_BYTES];
    uint64_t ttl_s;
    int fd; /* -1 = memory alone */
    bool write_failed;
    struct consistency_slot *slots; /* [slot_max] */
    /* Links are complements of slots' numbers, so that 0, which untouched memory holds, is NONE. */
    uint32_t *next;  /* [slot_max]: of the same head, or of the free ones */
    uint32_t *heads; /* [head_mask + 1] */
    uint32_t slot_max, head_mask, free_first, swept, evicted;
    uint32_t used_end; /* slots from here on were never used, and are not among the free ones */
    struct consistency_day day;
    struct consistency_numbers numbers;
};

static uint64_t now_s(const struct consistency *c)
{
    return clock_wall_ms(c->clock) / 1000;
}

static bool is_expired(const struct consistency *c, const struct consistency_slot *slot,
                       uint64_t now)
{
    return now > slot->seen_s && now - slot->seen_s > c->ttl_s;
}

/* --- the table; all with the lock --- */

static uint32_t *head_of(struct consistency *c, uint64_t whose)
{
    return &c->heads[(uint32_t)hash_mix64(whose) & c->head_mask];
}

static void link_locked(struct consistency *c, uint32_t number)
{
    uint32_t *head = head_of(c, c->slots[number].whose);
    c->next[number] = *head;
    *head = ~number;
    c->numbers.entries++;
}

static void save_locked(struct consistency *c, uint32_t number)
{
    struct td_error err = {0};
    if (c->fd < 0 || consistency_file_put(c->fd, c->key, number, &c->slots[number], &err) == TD_OK)
        return;
    if (!c->write_failed)
        log_event(LOG_LEVEL_WARN, "consistency_not_kept", "error=\"%s\"", err.message);
    c->write_failed = true;
}

static void give_slot_locked(struct consistency *c, uint32_t number)
{
    c->next[number] = ~c->free_first;
    c->free_first = number;
}

/* NONE when all are taken. */
static uint32_t take_slot_locked(struct consistency *c)
{
    uint32_t number = c->free_first;
    if (number != NONE)
        c->free_first = ~c->next[number];
    else if (c->used_end < c->slot_max)
        number = c->used_end++;
    return number;
}

static void drop_locked(struct consistency *c, uint32_t number)
{
    ASSERT(number < c->slot_max && c->slots[number].whose);
    uint32_t *at = head_of(c, c->slots[number].whose);
    while (*at != ~number)
        at = &c->next[~*at];
    *at = c->next[number];
    c->slots[number] = (struct consistency_slot){0};
    give_slot_locked(c, number);
    c->numbers.entries--;
    save_locked(c, number);
}

static void sweep_locked(struct consistency *c, uint64_t now)
{
    for (int i = 0; i < SWEEP_LOOKS; i++) {
        uint32_t number = c->swept++ % c->slot_max;
        if (c->slots[number].whose && is_expired(c, &c->slots[number], now))
            drop_locked(c, number);
    }
}

static void make_room_locked(struct consistency *c)
{
    uint32_t oldest = NONE;
    for (int i = 0; i < EVICTION_LOOKS; i++) {
        uint32_t number = c->evicted++ % c->slot_max;
        if (c->slots[number].whose &&
            (oldest == NONE || c->slots[number].seen_s < c->slots[oldest].seen_s))
            oldest = number;
    }
    if (oldest != NONE)
        drop_locked(c, oldest);
}

static void add_locked(struct consistency *c, const struct consistency_slot *slot)
{
    uint32_t number = take_slot_locked(c);
    if (number == NONE) {
        make_room_locked(c);
        number = take_slot_locked(c);
    }
    if (number == NONE)
        return;
    c->slots[number] = *slot;
    link_locked(c, number);
    save_locked(c, number);
}

/* --- opening --- */

static enum td_status allocate(struct consistency *c, uint32_t entries_max, struct td_error *err)
{
    uint32_t heads = 64;
    while (heads < entries_max)
        heads *= 2;
    c->slot_max = entries_max;
    c->head_mask = heads - 1;
    c->slots = calloc(entries_max, sizeof *c->slots);
    c->next = calloc(entries_max, sizeof *c->next);
    c->heads = calloc(heads, sizeof *c->heads);
    if (!c->slots || !c->next || !c->heads)
        return error_set(err, TD_NO_MEMORY, "no memory to remember %u questions", entries_max);
    return TD_OK;
}

/* What was read goes into the table, what expired meanwhile out of the file. */
static void index_all(struct consistency *c)
{
    uint64_t now = now_s(c);
    c->free_first = NONE;
    c->used_end = c->slot_max;
    while (c->used_end > 0 && !c->slots[c->used_end - 1].whose)
        c->used_end--;
    for (uint32_t i = c->used_end; i-- > 0;) {
        struct consistency_slot *slot = &c->slots[i];
        bool expired = slot->whose && is_expired(c, slot, now);
        if (slot->whose && !expired) {
            link_locked(c, i);
            continue;
        }
        give_slot_locked(c, i);
        if (expired) {
            *slot = (struct consistency_slot){0};
            save_locked(c, i);
        }
    }
}

enum td_status consistency_open(const struct consistency_options *options, struct consistency **out,
                                struct td_error *err)
{
    if (options->entries_max == 0 || options->entries_max > CONSISTENCY_ENTRIES_MAX)
        return error_set(err, TD_INVALID, "1 to %d questions can be remembered",
                         CONSISTENCY_ENTRIES_MAX);
    struct consistency *c = calloc(1, sizeof *c);
    if (!c)
        return error_set(err, TD_NO_MEMORY, "no memory to remember questions");
    pthread_mutex_init(&c->lock, NULL);
    c->clock = options->clock ? options->clock : &clock_system;
    c->ttl_s = options->ttl_s;
    c->fd = -1;
    memcpy(c->key, options->key, sizeof c->key);
    uint32_t bad = 0;
    enum td_status status = allocate(c, options->entries_max, err);
    if (status == TD_OK && options->path && options->read_only)
        status =
            consistency_file_read(options->path, c->key, c->slots, c->slot_max, &bad, &c->day, err);
    else if (status == TD_OK && options->path)
        status = consistency_file_open(options->path, c->key, c->slots, c->slot_max, &bad, &c->day,
                                       &c->fd, err);
    if (status != TD_OK) {
        consistency_close(c);
        return status;
    }
    if (bad)
        log_event(LOG_LEVEL_WARN, "consistency_entries_dropped", "file=%s entries=%u",
                  options->path, bad);
    index_all(c);
    *out = c;
    return TD_OK;
}

void consistency_close(struct consistency *consistency)
{
    if (!consistency)
        return;
    if (consistency->fd >= 0)
        close(consistency->fd);
    pthread_mutex_destroy(&consistency->lock);
    explicit_bzero(consistency->key, sizeof consistency->key);
    free(consistency->slots);
    free(consistency->next);
    free(consistency->heads);
    free(consistency);
}

/* --- who --- */

/* HMAC over texts with their lengths, so that "ab","c" and "a","bc" differ. A long text stands
 * there by its hash. */
static void identify(const struct consistency *c, const char *purpose, const char *const *texts,
                     size_t count, uint8_t mac[static KEYED_MAC_BYTES])
{
    char bytes[1024];
    size_t len = 0;
    for (size_t i = 0; i <= count; i++) {
        const char *text = i == 0 ? purpose : texts[i - 1] ? texts[i - 1] : "";
        uint64_t size = strlen(text);
        uint8_t digest[KEYED_MAC_BYTES];
        if (size > 256) {
            keyed_mac(c->key, text, size, digest);
            text = (const char *)digest;
        }
        size_t copied = size > 256 ? sizeof digest : (size_t)size;
        if (len + sizeof size + copied > sizeof bytes)
            break; /* cannot be: at most three texts and a purpose */
        memcpy(bytes + len, &size, sizeof size);
        memcpy(bytes + len + sizeof size, text, copied);
        len += sizeof size + copied;
    }
    keyed_mac(c->key, bytes, len, mac);
}

void consistency_identify(const struct consistency *consistency, enum consistency_kind kind,
                          const struct td_request *request, const char *route,
                          struct consistency_person *out)
{
    uint8_t mac[KEYED_MAC_BYTES];
    const char *const texts[] = {request->caller, request->user, route};
    identify(consistency, kind == CONSISTENCY_QUESTIONS ? "questions" : "conversations", texts, 3,
             mac);
    memcpy(&out->whose, mac, sizeof out->whose);
    memcpy(out->mask, mac + 8, sizeof out->mask);
    out->whose += out->whose == 0; /* 0 is an empty slot */
}

/* The upper half of an owner is the user's name, the lower half the name and the tenant. So a user
 * can be found in one tenant and in all. */
#define OWNER_NAME (UINT64_MAX << 32)

static uint64_t owner_of(const struct consistency *c, const char *tenant, const char *user)
{
    uint8_t mac[KEYED_MAC_BYTES];
    uint64_t owner, name;
    if (!user || !*user)
        return 0;
    identify(c, "owner", (const char *const[]){user}, 1, mac);
    memcpy(&owner, mac, sizeof owner);
    if (tenant) {
        name = owner;
        identify(c, "owner", (const char *const[]){user, tenant}, 2, mac);
        memcpy(&owner, mac, sizeof owner);
        owner = (name & OWNER_NAME) | (owner & ~OWNER_NAME);
    }
    return owner + (owner == 0);
}

uint64_t consistency_tier_hash(const char *tier)
{
    return hash_fnv1a64(tier, strlen(tier), HASH_FNV1A64_BASIS);
}

/* --- finding and remembering --- */

bool consistency_find(struct consistency *consistency, const struct consistency_person *person,
                      const uint64_t bits[static 2], unsigned distance, uint64_t *tier)
{
    ASSERT(distance <= SIMILARITY_BITS);
    struct consistency *c = consistency;
    const uint64_t masked[2] = {bits[0] ^ person->mask[0], bits[1] ^ person->mask[1]};
    unsigned nearest = distance + 1;
    uint64_t now = now_s(c);
    pthread_mutex_lock(&c->lock);
    for (uint32_t i = ~*head_of(c, person->whose); i != NONE; i = ~c->next[i]) {
        const struct consistency_slot *slot = &c->slots[i];
        unsigned here = similarity_distance(slot->bits, masked);
        if (slot->whose == person->whose && here < nearest && !is_expired(c, slot, now)) {
            nearest = here;
            *tier = slot->tier;
        }
    }
    pthread_mutex_unlock(&c->lock);
    return nearest <= distance;
}

/* All near entries get the tier. *known: the question itself is there. Returns the number of the
 * person's entries; *oldest is the longest unused one. */
static uint32_t retarget_locked(struct consistency *c, const struct consistency_slot *wanted,
                                unsigned distance, bool *known, uint32_t *oldest)
{
    uint32_t count = 0;
    *known = false;
    *oldest = NONE;
    unsigned same = distance < SAME_DISTANCE ? distance : SAME_DISTANCE;
    for (uint32_t i = ~*head_of(c, wanted->whose); i != NONE; i = ~c->next[i]) {
        struct consistency_slot *slot = &c->slots[i];
        if (slot->whose != wanted->whose)
            continue;
        count++;
        if (*oldest == NONE || slot->seen_s < c->slots[*oldest].seen_s)
            *oldest = i;
        unsigned here = similarity_distance(slot->bits, wanted->bits);
        if (here > distance)
            continue;
        bool itself = here <= same && !*known;
        if (slot->tier == wanted->tier && !itself)
            continue;
        slot->tier = wanted->tier;
        if (itself) {
            slot->owner = wanted->owner;
            slot->seen_s = wanted->seen_s;
            slot->count++;
            *known = true;
        }
        save_locked(c, i);
    }
    return count;
}

void consistency_put(struct consistency *consistency, const struct consistency_person *person,
                     const uint64_t bits[static 2], unsigned distance,
                     const struct td_request *request, uint64_t tier)
{
    struct consistency *c = consistency;
    struct consistency_slot slot = {
        .whose = person->whose,
        .owner = owner_of(c, request->tenant, request->user),
        .bits = {bits[0] ^ person->mask[0], bits[1] ^ person->mask[1]},
        .tier = tier,
        .seen_s = now_s(c),
        .count = 1,
    };
    bool known;
    uint32_t oldest;
    pthread_mutex_lock(&c->lock);
    sweep_locked(c, slot.seen_s);
    uint32_t count = retarget_locked(c, &slot, distance, &known, &oldest);
    if (!known && count >= CONSISTENCY_PERSON_MAX)
        drop_locked(c, oldest);
    if (!known)
        add_locked(c, &slot);
    pthread_mutex_unlock(&c->lock);
}

enum td_status consistency_forget(struct consistency *consistency, const char *tenant,
                                  const char *user, uint64_t *erased, struct td_error *err)
{
    struct consistency *c = consistency;
    uint64_t owner = owner_of(c, tenant, user), compared = tenant ? UINT64_MAX : OWNER_NAME;
    enum td_status status = TD_OK;
    *erased = 0;
    pthread_mutex_lock(&c->lock);
    c->write_failed = false;
    for (uint32_t i = 0; owner && i < c->slot_max; i++) {
        if (c->slots[i].whose && c->slots[i].owner &&
            ((c->slots[i].owner ^ owner) & compared) == 0) {
            drop_locked(c, i);
            ++*erased;
        }
    }
    if (*erased && (c->write_failed || (c->fd >= 0 && fdatasync(c->fd) != 0)))
        status = error_set(err, TD_IO, "what starts where could not be erased from its file");
    pthread_mutex_unlock(&c->lock);
    return status;
}

/* --- counting --- */

static void roll_day_locked(struct consistency *c)
{
    uint64_t day = clock_wall_ms(c->clock) / DAY_MS;
    if (c->day.day != day)
        c->day = (struct consistency_day){.day = day};
}

static uint64_t micro(double value)
{
    return value > 0 ? (uint64_t)fmin(ceil(value * 1e6), 1e15) : 0;
}

void consistency_count(struct consistency *consistency, const struct consistency_count *count)
{
    struct consistency *c = consistency;
    struct td_error err = {0};
    ASSERT((unsigned)count->result < CONSISTENCY_RESULT_COUNT);
    pthread_mutex_lock(&c->lock);
    uint64_t *counts = count->conversation ? c->numbers.conversation : c->numbers.similar;
    counts[count->result]++;
    double usd = count->dearer && isfinite(count->usd) ? fmax(count->usd, 0) : 0;
    double gain = isfinite(count->gain) ? fmax(count->gain, 0) : 0;
    c->numbers.usd += usd;
    c->numbers.gain += gain;
    roll_day_locked(c);
    c->day.micro_usd += micro(usd);
    c->day.micro_gain += micro(gain);
    if (usd + gain > 0 && c->fd >= 0 &&
        consistency_file_put_day(c->fd, c->key, &c->day, &err) != TD_OK)
        c->write_failed = true;
    pthread_mutex_unlock(&c->lock);
}

void consistency_count_request(struct consistency *consistency)
{
    pthread_mutex_lock(&consistency->lock);
    roll_day_locked(consistency);
    consistency->day.requests++;
    pthread_mutex_unlock(&consistency->lock);
}

bool consistency_may_lose(struct consistency *consistency, double loss_max)
{
    pthread_mutex_lock(&consistency->lock);
    roll_day_locked(consistency);
    double allowed = CONSISTENCY_LOSS_FREE + loss_max * (double)consistency->day.requests;
    bool may = loss_max > 0 && (double)consistency->day.micro_gain / 1e6 < allowed;
    pthread_mutex_unlock(&consistency->lock);
    return may;
}

double consistency_usd_today(struct consistency *consistency)
{
    pthread_mutex_lock(&consistency->lock);
    roll_day_locked(consistency);
    double usd = (double)consistency->day.micro_usd / 1e6;
    pthread_mutex_unlock(&consistency->lock);
    return usd;
}

void consistency_numbers(struct consistency *consistency, struct consistency_numbers *out)
{
    pthread_mutex_lock(&consistency->lock);
    *out = consistency->numbers;
    pthread_mutex_unlock(&consistency->lock);
}
