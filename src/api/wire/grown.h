/* An object of JSON that grows by deltas, as a stream's members do:
 *
 *   texts              are appended: the object's own, and below them those of some names (text,
 *                      summary, arguments, ...); other texts are replaced
 *   objects            are merged
 *   lists of entries   an entry with the `index` of an earlier one is merged with it, others are
 *                      added
 *   anything else      is replaced; null changes nothing
 *
 * So what came in many deltas is what one message would have said. Bounded in bytes. One owner, one
 * thread. */
#ifndef API_GROWN_H
#define API_GROWN_H

#include "base/bytes/buf.h"
#include "base/json/json.h"

struct grown;

/* bytes_max: of all texts and values, at a rough count. **returns new** (grown_free), or NULL. */
struct grown *grown_new(size_t bytes_max);
void grown_free(struct grown *grown);
void grown_add(struct grown *grown, const char *name, const struct json *value);
/* Whether something is missing because it did not fit. NULL: nothing. */
bool grown_failed(const struct grown *grown);
/* Appends the members in the order in which they came, each after a comma, without those of
 * `except` (up to NULL; NULL = none). grown NULL: none. */
void grown_write(const struct grown *grown, const char *const *except, struct buf *out);
/* The member; NULL without it. **returns new** (json_free) */
struct json *grown_value(const struct grown *grown, const char *name);

#endif
