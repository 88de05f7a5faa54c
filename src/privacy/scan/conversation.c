/* A chained hash table over a fixed pool of entries, whose entries also form a list by last use for
 * each class. Indices instead of pointers, two allocations for its whole life. The file has a
 * record for every rise, one after the other. It is rewritten when most of them are superseded. */
#include "privacy/scan/conversation.h"

#include "base/buf.h"
#include "base/crypto.h"
#include "base/error.h"
#include "base/file.h"
#include "base/keyed.h"
#include "base/log.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define NONE UINT32_MAX
#define CLASSES (TD_CLASS_RESTRICTED + 1)
#define FILE_MARK "tandem classes 1\n"
#define RECORD_BYTES 9 /* the hash, the class */
#define FILE_BYTES_MAX ((size_t)64 << 20)

struct entry {
    uint64_t id;           /* the key's hash under the salt */
    uint32_t chain;        /* next in the bucket */
    uint32_t newer, older; /* neighbours in order of use, of the same class */
    enum td_data_class data_class;
};

struct conversation_classes {
    pthread_mutex_t mutex;
    uint8_t salt[KEYED_KEY_BYTES];
    uint32_t capacity, count;
    uint32_t newest[CLASSES], oldest[CLASSES];
    uint32_t bucket_mask;
    uint32_t *buckets;
    struct entry *entries;
    char *path; /* NULL: in memory only */
    int file;
    size_t record_count; /* in the file */
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
    classes->file = -1;
    pthread_mutex_init(&classes->mutex, NULL);
    classes->buckets = malloc(bucket_count * sizeof *classes->buckets);
    classes->entries = calloc(capacity, sizeof *classes->entries);
    if (classes->buckets == NULL || classes->entries == NULL ||
        crypto_random(classes->salt, sizeof classes->salt, NULL) != TD_OK) {
        conversation_classes_free(classes);
        return NULL;
    }
    for (size_t i = 0; i < bucket_count; i++)
        classes->buckets[i] = NONE;
    for (size_t i = 0; i < CLASSES; i++)
        classes->newest[i] = classes->oldest[i] = NONE;
    classes->capacity = (uint32_t)capacity;
    classes->bucket_mask = (uint32_t)(bucket_count - 1);
    return classes;
}

void conversation_classes_free(struct conversation_classes *classes)
{
    if (classes == NULL)
        return;
    if (classes->file >= 0)
        close(classes->file);
    pthread_mutex_destroy(&classes->mutex);
    free(classes->buckets);
    free(classes->entries);
    free(classes->path);
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
    enum td_data_class of = entry->data_class;
    *(entry->newer == NONE ? &classes->newest[of] : &classes->entries[entry->newer].older) =
        entry->older;
    *(entry->older == NONE ? &classes->oldest[of] : &classes->entries[entry->older].newer) =
        entry->newer;
}

static void push_newest_locked(struct conversation_classes *classes, uint32_t i)
{
    struct entry *entry = &classes->entries[i];
    enum td_data_class of = entry->data_class;
    entry->newer = NONE;
    entry->older = classes->newest[of];
    *(classes->newest[of] == NONE ? &classes->oldest[of]
                                  : &classes->entries[classes->newest[of]].newer) = i;
    classes->newest[of] = i;
}

/* An entry to fill: an unused one, or the least recently used of the lowest class, if that is not
 * above `seen`. */
static uint32_t take_entry_locked(struct conversation_classes *classes, enum td_data_class seen)
{
    if (classes->count < classes->capacity)
        return classes->count++;
    enum td_data_class lowest = TD_CLASS_PUBLIC;
    while (classes->oldest[lowest] == NONE)
        lowest++;
    if (lowest > seen)
        return NONE;
    uint32_t i = classes->oldest[lowest];
    unlink_use_locked(classes, i);
    uint32_t *link = bucket_of(classes, classes->entries[i].id);
    while (*link != i)
        link = &classes->entries[*link].chain;
    *link = classes->entries[i].chain;
    return i;
}

/* The stored class; *rose: it was lower, or not there. */
static enum td_data_class raise_locked(struct conversation_classes *classes, uint64_t id,
                                       enum td_data_class seen, bool *rose)
{
    uint32_t i = *bucket_of(classes, id);
    while (i != NONE && classes->entries[i].id != id)
        i = classes->entries[i].chain;
    *rose = false;
    if (i == NONE) {
        i = seen > TD_CLASS_PUBLIC ? take_entry_locked(classes, seen) : NONE;
        if (i == NONE)
            return seen;
        uint32_t *bucket = bucket_of(classes, id);
        classes->entries[i] = (struct entry){.id = id, .chain = *bucket, .data_class = seen};
        *bucket = i;
        *rose = true;
    } else {
        unlink_use_locked(classes, i);
        *rose = seen > classes->entries[i].data_class;
        if (*rose)
            classes->entries[i].data_class = seen;
    }
    push_newest_locked(classes, i);
    return classes->entries[i].data_class;
}

/* --- the file --- */

static void write_record(uint64_t id, enum td_data_class data_class, char out[static RECORD_BYTES])
{
    memcpy(out, &id, sizeof id);
    out[RECORD_BYTES - 1] = (char)data_class;
}

/* Everything that is held, of each class what was used last at the end. */
static enum td_status rewrite_locked(struct conversation_classes *classes, struct td_error *err)
{
    struct buf text;
    char record[RECORD_BYTES];
    buf_init(&text, FILE_BYTES_MAX);
    buf_append_str(&text, STR(FILE_MARK));
    buf_append(&text, classes->salt, sizeof classes->salt);
    for (size_t of = 0; of < CLASSES; of++)
        for (uint32_t i = classes->oldest[of]; i != NONE; i = classes->entries[i].newer) {
            write_record(classes->entries[i].id, classes->entries[i].data_class, record);
            buf_append(&text, record, sizeof record);
        }
    enum td_status status =
        text.failed ? error_set(err, TD_NO_MEMORY, "no memory to keep conversations' classes")
                    : file_replace(classes->path, buf_view(&text), 0600, err);
    buf_deinit(&text);
    if (status != TD_OK)
        return status;
    if (classes->file >= 0)
        close(classes->file);
    classes->record_count = classes->count;
    classes->file = open(classes->path, O_WRONLY | O_APPEND | O_CLOEXEC);
    return classes->file >= 0 ? TD_OK
                              : error_set(err, TD_IO, "%s: %s", classes->path, strerror(errno));
}

static void append_locked(struct conversation_classes *classes, uint64_t id,
                          enum td_data_class data_class)
{
    char record[RECORD_BYTES];
    struct td_error err = {0};
    write_record(id, data_class, record);
    enum td_status status = TD_OK;
    if (classes->record_count >= 2 * (size_t)classes->capacity)
        status = rewrite_locked(classes, &err); /* with this one */
    else if (write(classes->file, record, sizeof record) == (ssize_t)sizeof record)
        classes->record_count++;
    else
        status = error_set(&err, TD_IO, "%s: %s", classes->path, strerror(errno));
    if (status != TD_OK)
        log_event(LOG_LEVEL_WARN, "class_not_kept", "error=\"%s\"", err.message);
}

static enum td_status read_file(struct conversation_classes *classes, struct td_str text,
                                struct td_error *err)
{
    size_t at = strlen(FILE_MARK);
    bool rose;
    if (!str_starts_with(text, STR(FILE_MARK)) || text.len < at + sizeof classes->salt)
        return error_set(err, TD_CORRUPT, "%s is no list of conversations' classes", classes->path);
    memcpy(classes->salt, text.data + at, sizeof classes->salt);
    /* The last record may be half of one that was being written. */
    for (at += sizeof classes->salt; at + RECORD_BYTES <= text.len; at += RECORD_BYTES) {
        uint64_t id;
        unsigned char data_class = (unsigned char)text.data[at + RECORD_BYTES - 1];
        memcpy(&id, text.data + at, sizeof id);
        if (data_class > TD_CLASS_RESTRICTED)
            return error_set(err, TD_CORRUPT, "%s has a class that there is not", classes->path);
        (void)raise_locked(classes, id, (enum td_data_class)data_class, &rose);
    }
    return TD_OK;
}

enum td_status conversation_classes_keep(struct conversation_classes *classes, const char *path,
                                         struct td_error *err)
{
    struct buf text;
    struct td_error unread = {0};
    buf_init(&text, FILE_BYTES_MAX);
    pthread_mutex_lock(&classes->mutex);
    classes->path = strdup(path);
    enum td_status status = classes->path
                                ? buf_read_file(&text, path, &unread)
                                : error_set(&unread, TD_NO_MEMORY, "no memory for a file's name");
    if (status == TD_OK)
        status = read_file(classes, buf_view(&text), err);
    else if (status == TD_NOT_FOUND) /* a first start; no word of it to the caller */
        status = TD_OK;
    else
        (void)error_set(err, status, "%s", unread.message);
    if (status == TD_OK)
        status = rewrite_locked(classes, err);
    pthread_mutex_unlock(&classes->mutex);
    buf_deinit(&text);
    return status;
}

enum td_data_class conversation_classes_raise(struct conversation_classes *classes, uint64_t key,
                                              enum td_data_class seen)
{
    uint8_t mac[KEYED_MAC_BYTES];
    uint64_t id;
    bool rose;
    keyed_mac(classes->salt, &key, sizeof key, mac);
    memcpy(&id, mac, sizeof id);
    pthread_mutex_lock(&classes->mutex);
    enum td_data_class stored = raise_locked(classes, id, seen, &rose);
    if (rose && classes->file >= 0)
        append_locked(classes, id, stored);
    pthread_mutex_unlock(&classes->mutex);
    return stored;
}
