/* Scans a reading by units, and remembers what was found in them, so that a conversation that comes
 * again with one more turn is not read again from its beginning.
 *
 * A unit is whole texts that follow one another, some thousand bytes together. It is known again by
 * a keyed hash of the caller, of its own texts, and of both its neighbours, because a word or a
 * value may cross the border. No text is kept: only hashes, and of the findings kinds and places. A
 * memory belongs to the scanner whose findings it keeps, and ends with it. Any thread. */
#ifndef PRIVACY_REMEMBERED_H
#define PRIVACY_REMEMBERED_H

#include "privacy/kind/spans.h"
#include "privacy/text/reading.h"

struct scan_memory;

/* **returns new** (scan_memory_free), NULL without memory. */
struct scan_memory *scan_memory_new(void);
void scan_memory_free(struct scan_memory *memory);
/* Everything of everybody is forgotten. */
void scan_memory_clear(struct scan_memory *memory);

/* Scans the bytes from `begin` to `end` of the reading; the findings have its places. False: not
 * all could be looked at, which is among the findings and is not to be remembered. */
typedef bool scan_range_fn(void *ctx, size_t begin, size_t end, struct spans *found);

/* All findings of the reading, in order: the same ones whatever is remembered. memory NULL: nothing
 * is. caller: whose texts they are; what was found in another's is not asked. False without memory;
 * then some may be missing. */
TD_MUST_CHECK bool scan_memory_find(struct scan_memory *memory, const struct reading *reading,
                                    struct td_str caller, scan_range_fn *read, void *ctx,
                                    struct spans *out);

/* For metrics and tests: bytes that were scanned, and that were remembered. */
struct scan_memory_counts {
    uint64_t scanned, remembered;
};
struct scan_memory_counts scan_memory_count(struct scan_memory *memory);

#endif
