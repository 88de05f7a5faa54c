/* Remembers for each conversation the highest class above public that was seen, so that a class
 * only rises. The table is bounded. When it is full, entries of the lowest class leave first, the
 * least recently used before others. A newcomer of a class lower than all of them is not kept.
 * Thread-safe. */
#ifndef PRIVACY_CONVERSATION_H
#define PRIVACY_CONVERSATION_H

#include "base/names.h"

struct conversation_classes;

/* In memory. **returns new**; NULL for no capacity, or without memory. */
struct conversation_classes *conversation_classes_new(size_t capacity);
void conversation_classes_free(struct conversation_classes *classes);

/* Reads the file, if it exists, and writes it from now on: salted hashes of keys, and classes. Call
 * it before conversation_classes_raise. TD_CORRUPT, TD_IO. */
TD_MUST_CHECK enum td_status conversation_classes_keep(struct conversation_classes *classes,
                                                       const char *path, struct td_error *err);

/* Raises the stored class to `seen` and returns the stored one. */
enum td_data_class conversation_classes_raise(struct conversation_classes *classes, uint64_t key,
                                              enum td_data_class seen);

#endif
