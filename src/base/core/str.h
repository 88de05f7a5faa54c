/* String views. A td_str **borrows**; nothing here allocates. Pure; any thread. */
#ifndef BASE_STR_H
#define BASE_STR_H

#include "tandem/types.h"

#include <string.h>

#define STR(literal) ((struct td_str){(literal), sizeof(literal) - 1})
#define STR_FMT "%.*s"
#define STR_ARG(s) (int)((s).len > 0x7fffffff ? 0x7fffffff : (s).len), ((s).data ? (s).data : "")
/* What a noun gets behind its number: "%u key%s". */
#define PLURAL(count) ((count) == 1 ? "" : "s")

static inline struct td_str str_from(const char *text)
{
    return (struct td_str){text, text ? strlen(text) : 0};
}

static inline bool str_equal(struct td_str a, struct td_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

bool str_equal_nocase(struct td_str a, struct td_str b); /* ASCII case only */
bool str_starts_with(struct td_str text, struct td_str prefix);
bool str_ends_with(struct td_str text, struct td_str suffix);
struct td_str str_trim(struct td_str text); /* ASCII white space at both ends */
struct td_str str_slice(struct td_str text, size_t begin, size_t end); /* clamped to the text */

/* The offset of the first `needle` at or after `from`; SIZE_MAX when there is none. */
size_t str_find(struct td_str text, struct td_str needle, size_t from);

/* Takes the part before the next `separator` off the front of *rest. False, with an empty part,
 * when nothing is left. rest and part must be different variables. */
bool str_next(struct td_str *rest, char separator, struct td_str *part);

/* Reads the whole view as a decimal number: u64 without a sign, i64 with an optional one. False on
 * overflow and for any other character. */
bool str_to_u64(struct td_str text, uint64_t *out);
bool str_to_i64(struct td_str text, int64_t *out);
bool str_to_double(struct td_str text, double *out); /* finite values only */
bool str_to_share(struct td_str text, double *out);  /* the same, or a percentage: "5%" is 0.05 */

/* The candidate with the smallest edit distance to `text`, if it is near enough to be meant; else
 * NULL. For messages, error_suggest (base/core/error.h) is the shorter way. Candidates are
 * NUL-terminated. */
const char *str_nearest(struct td_str text, const char *const *candidates, size_t candidate_count);

#endif
