/* Highest class seen, by conversation: a chained hash table over a fixed pool of entries, whose
 * entries also form a list by last use. Indices instead of pointers, two allocations for its whole
 * life. */
#include "privacy/privacy.h"

#include "base/hash.h"

#include <pthread.h>
#include <stdlib.h>

#define NONE UINT32_MAX

struct entry {
    uint64_t key;
    uint32_t chain;        /* next in the bucket */
    uint32_t newer, older; /* neighbours in order of use */
    enum td_data_class data_class;
};

struct conversation_classes {
    pthread_mutex_t mutex;
    uint32_t capacity, count;
    uint32_t newest, oldest;
    uint32_t bucket_mask;
    uint32_t *buckets;
    struct entry *entries;
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
    classes->buckets = malloc(bucket_count * sizeof *classes->buckets);
    classes->entries = calloc(capacity, sizeof *classes->entries);
    if (classes->buckets == NULL || classes->entries == NULL) {
        free(classes->buckets);
        free(classes->entries);
        free(classes);
        return NULL;
    }
    for (size_t i = 0; i < bucket_count; i++)
        classes->buckets[i] = NONE;
    classes->capacity = (uint32_t)capacity;
    classes->bucket_mask = (uint32_t)(bucket_count - 1);
    classes->newest = classes->oldest = NONE;
    pthread_mutex_init(&classes->mutex, NULL);
    return classes;
}

void conversation_classes_free(struct conversation_classes *classes)
{
    if (classes == NULL)
        return;
    pthread_mutex_destroy(&classes->mutex);
    free(classes->buckets);
    free(classes->entries);
    free(classes);
}

static uint32_t *bucket_of(struct conversation_classes *classes, uint64_t key)
{
    return &classes->buckets[hash_mix64(key) & classes->bucket_mask];
}

static void unlink_use_locked(struct conversation_classes *classes, uint32_t i)
{
    struct entry *entry = &classes->entries[i];
    *(entry->newer == NONE ? &classes->newest : &classes->entries[entry->newer].older) =
        entry->older;
    *(entry->older == NONE ? &classes->oldest : &classes->entries[entry->older].newer) =
        entry->newer;
}

static void push_newest_locked(struct conversation_classes *classes, uint32_t i)
{
    struct entry *entry = &classes->entries[i];
    entry->newer = NONE;
    entry->older = classes->newest;
    *(classes->newest == NONE ? &classes->oldest : &classes->entries[classes->newest].newer) = i;
    classes->newest = i;
}

/* An entry to fill: an unused one, or the least recently used. */
static uint32_t take_entry_locked(struct conversation_classes *classes)
{
    if (classes->count < classes->capacity)
        return classes->count++;
    uint32_t i = classes->oldest;
    unlink_use_locked(classes, i);
    uint32_t *link = bucket_of(classes, classes->entries[i].key);
    while (*link != i)
        link = &classes->entries[*link].chain;
    *link = classes->entries[i].chain;
    return i;
}

enum td_data_class conversation_classes_raise(struct conversation_classes *classes, uint64_t key,
                                              enum td_data_class seen)
{
    pthread_mutex_lock(&classes->mutex);
    uint32_t i = *bucket_of(classes, key);
    while (i != NONE && classes->entries[i].key != key)
        i = classes->entries[i].chain;
    if (i != NONE) {
        unlink_use_locked(classes, i);
    } else {
        i = take_entry_locked(classes);
        uint32_t *bucket = bucket_of(classes, key);
        classes->entries[i] = (struct entry){.key = key, .chain = *bucket, .data_class = seen};
        *bucket = i;
    }
    push_newest_locked(classes, i);
    if (seen > classes->entries[i].data_class)
        classes->entries[i].data_class = seen;
    enum td_data_class stored = classes->entries[i].data_class;
    pthread_mutex_unlock(&classes->mutex);
    return stored;
}
