/* What was forgotten: a Bloom filter of pairs (id, class). Bloom, "Space/Time Trade-offs in Hash
 * Coding with Allowable Errors", CACM 13 (7), 1970. What was added is always found. What was not is
 * found by mistake with probability (1 - exp(-4 n / bits))^4 after n additions.
 *
 * A filter that only fills finds everything in the end. So there are two: what is added goes into
 * the newer one, and after FORGOTTEN_DAYS the older one is emptied and becomes the newer. What was
 * added is found for one to two times as long. Not thread-safe. */
#ifndef PRIVACY_FORGOTTEN_H
#define PRIVACY_FORGOTTEN_H

#include "base/bytes/buf.h"
#include "base/text/names.h"

#define FORGOTTEN_DAYS 7

struct forgotten;

/* For about this many additions. **returns new** (free); NULL without memory. */
struct forgotten *forgotten_new(size_t capacity);
void forgotten_add(struct forgotten *forgotten, uint64_t id, enum td_data_class data_class);
/* The highest class with which the id was added; public = it was not. */
enum td_data_class forgotten_find(const struct forgotten *forgotten, uint64_t id);
/* For a file. Reading takes its part from the front of the text; false when it is malformed. */
void forgotten_write(const struct forgotten *forgotten, struct buf *out);
bool forgotten_read(struct forgotten *forgotten, struct td_str *text);

#endif
