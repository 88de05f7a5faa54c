/* Remembers for each conversation the highest class above public that was seen, so that a class
 * only rises.
 *
 * The table is bounded. When it is full, whoever has most entries gives one up: of his lowest
 * class, the least recently used. So nobody can push out the conversations of somebody who has
 * fewer. What was given up is still known by a filter (forgotten.h), which may take an unknown
 * conversation for one that was given up, never the other way round. It is asked only for
 * conversations that go on: one that begins has nothing to remember. Without memory for the filter,
 * conversations that go on and are not known count as restricted.
 *
 * Beside the classes it knows which conversations there are, public ones too, as long as there is
 * room for their keys. That is not kept in a file. Thread-safe. */
#ifndef PRIVACY_CONVERSATION_H
#define PRIVACY_CONVERSATION_H

#include "base/bytes/buf.h"
#include "base/text/names.h"

struct conversation_classes;

struct conversation {
    uint64_t key;
    const char *owner; /* whose share of the table it takes: a caller; NULL = nobody's */
    bool goes_on;      /* somebody has answered in it, or asked again */
};

/* In memory. **returns new**; NULL for no capacity, or without memory. */
struct conversation_classes *conversation_classes_new(size_t capacity);
void conversation_classes_free(struct conversation_classes *classes);

/* Raises the stored class to `seen` and returns the stored one. */
enum td_data_class conversation_classes_raise(struct conversation_classes *classes,
                                              const struct conversation *conversation,
                                              enum td_data_class seen);

/* The stored class, or the one with which it was given up if that is higher. Nothing is raised. */
enum td_data_class conversation_classes_find(struct conversation_classes *classes,
                                             const struct conversation *conversation);

/* Whether the conversation was met. */
bool conversation_classes_has_met(struct conversation_classes *classes,
                                  const struct conversation *conversation);
void conversation_classes_meet(struct conversation_classes *classes,
                               const struct conversation *conversation);

/* --- for class_file.h, which keeps it in a file --- */

#define CONVERSATION_RECORD_BYTES 16

/* Each rise is told, under the table's lock. */
typedef void conversation_rose_fn(void *ctx,
                                  const uint8_t record[static CONVERSATION_RECORD_BYTES]);
void conversation_classes_watch(struct conversation_classes *classes, conversation_rose_fn *rose,
                                void *ctx);
/* Appends all that is known: salt, what was given up, and a record for each entry, of each class
 * what was used last at the end. */
void conversation_classes_write(struct conversation_classes *classes, struct buf *out);
/* Takes what was written and records that were appended to it, before anything else. *damaged:
 * records that were not believed; a loss of power leaves such. False: it is none of ours. */
bool conversation_classes_read(struct conversation_classes *classes, struct td_str text,
                               size_t *damaged);
/* More records than this in a file are mostly superseded ones. */
size_t conversation_classes_records_max(const struct conversation_classes *classes);

#endif
