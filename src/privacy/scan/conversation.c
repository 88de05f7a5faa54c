/* A chained hash table over a fixed pool of entries. For each owner and class the entries also form
 * a list by last use. Indices instead of pointers, two allocations for its whole life, and one for
 * each owner who has given something up.
 *
 * Owners are hashes of their names modulo OWNERS, under the table's own salt: a few that fall
 * together share a share, and nobody can choose with whom.
 *
 * As bytes (conversation_classes_write):
 *
 *      0  FILE_MARK
 *     17  salt (32 bytes)
 *     49  number of owners who gave something up (4 bytes), a hash of what follows for them (8)
 *         for each: the owner's number (4 bytes), forgotten_write
 *         records of 16 bytes: id (8), owner (2), class (1), zero (1), check (4)
 *
 * The check is the beginning of the record's HMAC. The first version of the file had records of 9
 * bytes (id, class) after the salt. */
#include "privacy/scan/conversation.h"

#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "base/crypto/hash.h"
#include "base/crypto/keyed.h"
#include "base/time/log.h"
#include "privacy/scan/forgotten.h"

#include <pthread.h>
#include <stdlib.h>

#define NONE UINT32_MAX
#define CLASSES (TD_CLASS_RESTRICTED + 1)
#define OWNERS 256
#define MET_WAYS 4 /* of a set of conversations that were met; there is a set for each entry */
#define FILE_MARK "tandem classes 2\n"
#define FILE_MARK_1 "tandem classes 1\n"
#define RECORD_1_BYTES 9

struct entry {
    uint64_t id;           /* the key's hash under the salt */
    uint32_t chain;        /* next in the bucket */
    uint32_t newer, older; /* neighbours in order of use, of the same owner and class */
    uint16_t owner;
    uint8_t data_class;
};

struct owner {
    uint32_t count;
    uint32_t newest[CLASSES], oldest[CLASSES];
    struct forgotten *forgotten; /* NULL = nothing was given up */
    bool lost;                   /* there was no memory for it */
};

struct conversation_classes {
    pthread_mutex_t mutex;
    uint8_t salt[KEYED_KEY_BYTES];
    uint32_t capacity, count;
    struct owner owners[OWNERS];
    uint32_t bucket_mask;
    uint32_t *buckets;
    struct entry *entries;
    uint64_t *met; /* [bucket_mask + 1][MET_WAYS] ids, in each set the latest first; 0 = none */
    bool gave_up;  /* something, since the start */
    conversation_rose_fn *rose; /* or NULL */
    void *rose_ctx;
};

struct conversation_classes *conversation_classes_new(size_t capacity)
{
    if (capacity == 0 || capacity > UINT32_MAX / 4)
        return NULL;
    size_t bucket_count = 1;
    while (bucket_count < capacity)
        bucket_count *= 2;
    struct conversation_classes *classes = calloc(1, sizeof *classes);
    if (classes == NULL)
        return NULL;
    pthread_mutex_init(&classes->mutex, NULL);
    classes->buckets = malloc(bucket_count * sizeof *classes->buckets);
    classes->entries = calloc(capacity, sizeof *classes->entries);
    classes->met = calloc(bucket_count * MET_WAYS, sizeof *classes->met);
    if (classes->buckets == NULL || classes->entries == NULL || classes->met == NULL ||
        crypto_random(classes->salt, sizeof classes->salt, NULL) != TD_OK) {
        conversation_classes_free(classes);
        return NULL;
    }
    for (size_t i = 0; i < bucket_count; i++)
        classes->buckets[i] = NONE;
    for (size_t i = 0; i < OWNERS * CLASSES; i++)
        classes->owners[i / CLASSES].newest[i % CLASSES] =
            classes->owners[i / CLASSES].oldest[i % CLASSES] = NONE;
    classes->capacity = (uint32_t)capacity;
    classes->bucket_mask = (uint32_t)(bucket_count - 1);
    return classes;
}

void conversation_classes_free(struct conversation_classes *classes)
{
    if (classes == NULL)
        return;
    pthread_mutex_destroy(&classes->mutex);
    for (size_t i = 0; i < OWNERS; i++)
        free(classes->owners[i].forgotten);
    free(classes->buckets);
    free(classes->entries);
    free(classes->met);
    free(classes);
}

/* --- the table --- */

static uint32_t *bucket_of(struct conversation_classes *classes, uint64_t id)
{
    return &classes->buckets[id & classes->bucket_mask];
}

static void unlink_use_locked(struct conversation_classes *classes, uint32_t i)
{
    struct entry *entry = &classes->entries[i];
    struct owner *owner = &classes->owners[entry->owner];
    *(entry->newer == NONE ? &owner->newest[entry->data_class]
                           : &classes->entries[entry->newer].older) = entry->older;
    *(entry->older == NONE ? &owner->oldest[entry->data_class]
                           : &classes->entries[entry->older].newer) = entry->newer;
    owner->count--;
}

static void push_newest_locked(struct conversation_classes *classes, uint32_t i)
{
    struct entry *entry = &classes->entries[i];
    struct owner *owner = &classes->owners[entry->owner];
    uint32_t *newest = &owner->newest[entry->data_class];
    entry->newer = NONE;
    entry->older = *newest;
    *(*newest == NONE ? &owner->oldest[entry->data_class] : &classes->entries[*newest].newer) = i;
    *newest = i;
    owner->count++;
}

static void forget_locked(struct conversation_classes *classes, uint32_t number, uint64_t id,
                          enum td_data_class data_class)
{
    struct owner *owner = &classes->owners[number];
    classes->gave_up = true;
    if (!owner->forgotten)
        owner->forgotten = forgotten_new(classes->capacity);
    if (owner->forgotten)
        forgotten_add(owner->forgotten, id, data_class);
    else
        owner->lost = true;
}

/* An entry to fill: an unused one, or one that whoever has most gives up. NONE: it would be of a
 * class above `seen` and of the same owner, so the newcomer itself is given up. */
static uint32_t take_entry_locked(struct conversation_classes *classes, uint64_t id, uint16_t owner,
                                  enum td_data_class seen)
{
    if (classes->count < classes->capacity)
        return classes->count++;
    uint16_t most = owner;
    for (uint16_t i = 0; i < OWNERS; i++)
        if (classes->owners[i].count > classes->owners[most].count)
            most = i;
    unsigned lowest = TD_CLASS_PUBLIC;
    while (lowest < CLASSES && classes->owners[most].oldest[lowest] == NONE)
        lowest++;
    if (most == owner && (lowest == CLASSES || lowest > seen)) {
        forget_locked(classes, owner, id, seen);
        return NONE;
    }
    uint32_t i = classes->owners[most].oldest[lowest];
    forget_locked(classes, most, classes->entries[i].id, (enum td_data_class)lowest);
    unlink_use_locked(classes, i);
    uint32_t *link = bucket_of(classes, classes->entries[i].id);
    while (*link != i)
        link = &classes->entries[*link].chain;
    *link = classes->entries[i].chain;
    return i;
}

static uint32_t find_locked(struct conversation_classes *classes, uint64_t id)
{
    uint32_t i = *bucket_of(classes, id);
    while (i != NONE && classes->entries[i].id != id)
        i = classes->entries[i].chain;
    return i;
}

static void add_locked(struct conversation_classes *classes, uint64_t id, uint16_t owner,
                       enum td_data_class seen)
{
    uint32_t i = take_entry_locked(classes, id, owner, seen);
    if (i == NONE)
        return;
    uint32_t *bucket = bucket_of(classes, id);
    classes->entries[i] =
        (struct entry){.id = id, .chain = *bucket, .owner = owner, .data_class = (uint8_t)seen};
    *bucket = i;
    push_newest_locked(classes, i);
}

/* The stored class; *rose: it was lower, or not there. */
static enum td_data_class raise_locked(struct conversation_classes *classes, uint64_t id,
                                       uint16_t owner, enum td_data_class seen, bool *rose)
{
    uint32_t i = find_locked(classes, id);
    struct entry *entry = i == NONE ? NULL : &classes->entries[i];
    *rose = seen > (entry ? entry->data_class : TD_CLASS_PUBLIC);
    if (!entry) {
        if (*rose)
            add_locked(classes, id, owner, seen);
        return seen;
    }
    unlink_use_locked(classes, i);
    entry->owner = owner; /* of an older file it was nobody's */
    if (*rose)
        entry->data_class = (uint8_t)seen;
    push_newest_locked(classes, i);
    return (enum td_data_class)entry->data_class;
}

static uint64_t salted(const struct conversation_classes *classes, const void *data, size_t len)
{
    uint8_t mac[KEYED_MAC_BYTES];
    uint64_t out;
    keyed_mac(classes->salt, data, len, mac);
    memcpy(&out, mac, sizeof out);
    return out;
}

static uint16_t owner_number(const struct conversation_classes *classes, const char *owner)
{
    uint64_t basis;
    memcpy(&basis, classes->salt, sizeof basis);
    return owner ? (uint16_t)(hash_mix64(hash_fnv1a64(owner, strlen(owner), basis)) % OWNERS) : 0;
}

static void write_record(const struct conversation_classes *classes, const struct entry *entry,
                         uint8_t out[static CONVERSATION_RECORD_BYTES])
{
    uint64_t check;
    memset(out, 0, CONVERSATION_RECORD_BYTES);
    memcpy(out, &entry->id, 8);
    memcpy(out + 8, &entry->owner, 2);
    out[10] = entry->data_class;
    check = salted(classes, out, 12);
    memcpy(out + 12, &check, 4);
}

/* The class with which the owner has given it up, or may have. */
static enum td_data_class given_up_locked(const struct owner *owner, uint64_t id)
{
    if (owner->lost)
        return TD_CLASS_RESTRICTED;
    return owner->forgotten ? forgotten_find(owner->forgotten, id) : TD_CLASS_PUBLIC;
}

enum td_data_class conversation_classes_raise(struct conversation_classes *classes,
                                              const struct conversation *conversation,
                                              enum td_data_class seen)
{
    uint8_t record[CONVERSATION_RECORD_BYTES];
    const uint64_t id = salted(classes, &conversation->key, sizeof conversation->key);
    const uint16_t owner = owner_number(classes, conversation->owner);
    bool rose;
    pthread_mutex_lock(&classes->mutex);
    const bool gave_up = classes->gave_up;
    if (conversation->goes_on && find_locked(classes, id) == NONE) {
        enum td_data_class before = given_up_locked(&classes->owners[owner], id);
        seen = before > seen ? before : seen;
    }
    enum td_data_class stored = raise_locked(classes, id, owner, seen, &rose);
    if (rose && classes->rose) {
        write_record(classes,
                     &(struct entry){.id = id, .owner = owner, .data_class = (uint8_t)stored},
                     record);
        classes->rose(classes->rose_ctx, record);
    }
    const bool first = classes->gave_up && !gave_up;
    pthread_mutex_unlock(&classes->mutex);
    if (first)
        log_event(LOG_LEVEL_WARN, "classes_full",
                  "capacity=%u advice=\"raise privacy.conversations_max\"", classes->capacity);
    return stored;
}

enum td_data_class conversation_classes_find(struct conversation_classes *classes,
                                             const struct conversation *conversation)
{
    const uint64_t id = salted(classes, &conversation->key, sizeof conversation->key);
    const uint16_t owner = owner_number(classes, conversation->owner);
    pthread_mutex_lock(&classes->mutex);
    uint32_t i = find_locked(classes, id);
    enum td_data_class found = given_up_locked(&classes->owners[owner], id);
    if (i != NONE && classes->entries[i].data_class > found)
        found = (enum td_data_class)classes->entries[i].data_class;
    pthread_mutex_unlock(&classes->mutex);
    return found;
}

/* --- which ones there are --- */

static uint64_t *met_in_locked(const struct conversation_classes *classes, uint64_t id)
{
    return &classes->met[(id & classes->bucket_mask) * MET_WAYS];
}

bool conversation_classes_has_met(struct conversation_classes *classes,
                                  const struct conversation *conversation)
{
    const uint64_t id = salted(classes, &conversation->key, sizeof conversation->key);
    pthread_mutex_lock(&classes->mutex);
    const uint64_t *set = met_in_locked(classes, id);
    bool met = false;
    for (size_t way = 0; way < MET_WAYS; way++)
        met |= set[way] == id;
    pthread_mutex_unlock(&classes->mutex);
    return met;
}

void conversation_classes_meet(struct conversation_classes *classes,
                               const struct conversation *conversation)
{
    const uint64_t id = salted(classes, &conversation->key, sizeof conversation->key);
    size_t way = 0;
    pthread_mutex_lock(&classes->mutex);
    uint64_t *set = met_in_locked(classes, id);
    while (way + 1 < MET_WAYS && set[way] != id)
        way++;
    memmove(set + 1, set, way * sizeof *set); /* over its own place, or over the oldest */
    set[0] = id;
    pthread_mutex_unlock(&classes->mutex);
}

/* --- as bytes --- */

void conversation_classes_watch(struct conversation_classes *classes, conversation_rose_fn *rose,
                                void *ctx)
{
    pthread_mutex_lock(&classes->mutex);
    classes->rose = rose;
    classes->rose_ctx = ctx;
    pthread_mutex_unlock(&classes->mutex);
}

size_t conversation_classes_records_max(const struct conversation_classes *classes)
{
    return 2 * (size_t)classes->capacity;
}

static void write_forgotten_locked(struct conversation_classes *classes, struct buf *out)
{
    uint32_t count = 0;
    uint64_t hash = 0;
    for (uint32_t i = 0; i < OWNERS; i++)
        count += classes->owners[i].forgotten != NULL;
    buf_append(out, &count, sizeof count);
    size_t at = out->len;
    buf_append(out, &hash, sizeof hash);
    for (uint32_t i = 0; i < OWNERS; i++)
        if (classes->owners[i].forgotten) {
            buf_append(out, &i, sizeof i);
            forgotten_write(classes->owners[i].forgotten, out);
        }
    if (out->failed)
        return;
    hash = hash_words64(out->data + at + sizeof hash, out->len - at - sizeof hash);
    memcpy(out->data + at, &hash, sizeof hash);
}

void conversation_classes_write(struct conversation_classes *classes, struct buf *out)
{
    uint8_t record[CONVERSATION_RECORD_BYTES];
    pthread_mutex_lock(&classes->mutex);
    buf_append_str(out, STR(FILE_MARK));
    buf_append(out, classes->salt, sizeof classes->salt);
    write_forgotten_locked(classes, out);
    for (size_t of = 0; of < CLASSES; of++)
        for (size_t owner = 0; owner < OWNERS; owner++)
            for (uint32_t i = classes->owners[owner].oldest[of]; i != NONE;
                 i = classes->entries[i].newer) {
                write_record(classes, &classes->entries[i], record);
                buf_append(out, record, sizeof record);
            }
    pthread_mutex_unlock(&classes->mutex);
}

static bool read_forgotten(struct conversation_classes *classes, struct td_str *text)
{
    uint32_t count, owner;
    uint64_t hash;
    const struct td_str whole = *text;
    if (text->len < sizeof count + sizeof hash)
        return false;
    memcpy(&count, text->data, sizeof count);
    memcpy(&hash, text->data + sizeof count, sizeof hash);
    *text = str_slice(*text, sizeof count + sizeof hash, text->len);
    const char *begin = text->data;
    for (uint32_t i = 0; i < count; i++) {
        if (text->len < sizeof owner)
            return false;
        memcpy(&owner, text->data, sizeof owner);
        *text = str_slice(*text, sizeof owner, text->len);
        if (owner >= OWNERS || classes->owners[owner].forgotten ||
            !(classes->owners[owner].forgotten = forgotten_new(classes->capacity)) ||
            !forgotten_read(classes->owners[owner].forgotten, text))
            return false;
    }
    size_t len = whole.len - text->len - sizeof count - sizeof hash;
    return hash_words64(begin, len) == hash;
}

/* The records that follow one another at the end. One that was being written may be half there. */
static void read_records(struct conversation_classes *classes, struct td_str text, bool first,
                         size_t *damaged)
{
    size_t step = first ? RECORD_1_BYTES : CONVERSATION_RECORD_BYTES;
    bool rose;
    for (size_t at = 0; at + step <= text.len; at += step) {
        uint8_t checked[CONVERSATION_RECORD_BYTES];
        struct entry entry = {0};
        memcpy(&entry.id, text.data + at, 8);
        entry.data_class = (uint8_t)text.data[at + (first ? 8 : 10)];
        if (!first) {
            memcpy(&entry.owner, text.data + at + 8, 2);
            write_record(classes, &entry, checked);
        }
        if (entry.data_class >= CLASSES || entry.owner >= OWNERS ||
            (!first && memcmp(checked, text.data + at, step) != 0))
            ++*damaged;
        else
            (void)raise_locked(classes, entry.id, entry.owner, (enum td_data_class)entry.data_class,
                               &rose);
    }
}

bool conversation_classes_read(struct conversation_classes *classes, struct td_str text,
                               size_t *damaged)
{
    const size_t mark = sizeof FILE_MARK - 1;
    bool first = str_starts_with(text, STR(FILE_MARK_1));
    *damaged = 0;
    if ((!first && !str_starts_with(text, STR(FILE_MARK))) ||
        text.len < mark + sizeof classes->salt)
        return false;
    pthread_mutex_lock(&classes->mutex);
    memcpy(classes->salt, text.data + mark, sizeof classes->salt);
    text = str_slice(text, mark + sizeof classes->salt, text.len);
    bool sound = first || read_forgotten(classes, &text);
    if (sound)
        read_records(classes, text, first, damaged);
    pthread_mutex_unlock(&classes->mutex);
    return sound;
}
