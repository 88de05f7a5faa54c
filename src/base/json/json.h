/* JSON values: strict reading, compact writing. jansson is inside; no jansson type leaves base/.
 *
 * Reading refuses duplicate keys, invalid UTF-8, trailing text, numbers that do not fit, and
 * nesting deeper than 64. Otherwise the privacy scan and a cloud could see two different contents.
 *
 * A parsed tree has one owner; accessors **borrow** until json_free of the root. They accept NULL
 * (an absent member) and then answer "absent", so lookups can be chained. A tree may be read by
 * several threads while none changes it. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/bytes/buf.h"
#include "tandem/types.h"

struct json;

enum json_kind {
    JSON_KIND_ABSENT,
    JSON_KIND_NULL,
    JSON_KIND_BOOL,
    JSON_KIND_INT,
    JSON_KIND_DOUBLE,
    JSON_KIND_TEXT,
    JSON_KIND_ARRAY,
    JSON_KIND_OBJECT
};

/* For a program's start: allocations that fail inside the JSON library count as shortages
 * (base/core/shortage.h), and a text that it had no memory for is TD_NO_MEMORY. It holds for the
 * whole process, so a library must not do it. */
void json_watch_memory(void);

/* **returns new** (json_free). TD_INVALID with line and column. */
/* A byte order mark before it is passed over (RFC 8259, section 8.1, allows that). */
TD_MUST_CHECK enum td_status json_parse(struct td_str text, struct json **out,
                                        struct td_error *err);
/* The same, but of a name that stands twice the last value counts: for what models write. */
TD_MUST_CHECK enum td_status json_parse_last(struct td_str text, struct json **out,
                                             struct td_error *err);
/* Checks JSON that is passed on as it is. No value is kept, so integers of more than 64 bits and
 * duplicate keys do no harm. *kind: of the whole text. */
TD_MUST_CHECK enum td_status json_check(struct td_str text, enum json_kind *kind,
                                        struct td_error *err);
/* Whether a text is JSON by its grammar. json_parse may refuse it all the same: for NUL, half a
 * surrogate pair or bytes that are no UTF-8 in a string, for a name that stands twice. */
bool json_is_grammatical(struct td_str text);
/* How many bytes there are before the first that a string escapes: a quotation mark, a backslash or
 * a control character. */
size_t json_plain_prefix(struct td_str text);
void json_free(struct json *value);

enum json_kind json_kind_of(const struct json *value);
bool json_absent(const struct json *value);      /* not present, or null */
const char *json_kind_name(enum json_kind kind); /* "string", "object", ... as JSON says */
const struct json *json_get(const struct json *object, const char *key); /* NULL when absent */
size_t json_count(const struct json *value); /* elements or members; 0 for anything else */
const struct json *json_at(const struct json *array, size_t index);
/* The last value of a list, to be built further; NULL when there is none. **borrows** */
struct json *json_last(struct json *array);
struct td_str json_text(const struct json *value); /* {NULL, 0} unless a string */
struct td_str json_get_text(const struct json *object, const char *key);
const char *json_cstr(const struct json *value); /* NUL-terminated; NULL unless a string */
int64_t json_int(const struct json *value, int64_t otherwise);
double json_number(const struct json *value, double otherwise); /* int or double */
bool json_bool(const struct json *value, bool otherwise);

/* Walks the members of an object in insertion order. Start with *iterator = NULL; false at the
 * end. */
bool json_next(const struct json *object, void **iterator, const char **key,
               const struct json **value);

/* Building. All **return new**; NULL when memory is short. json_put and json_push **take** the
 * value, also on failure, and leave out a value that is NULL. So a tree can be built without a
 * check after each call. */
struct json *json_new_object(void);
struct json *json_new_array(void);
struct json *json_new_text(struct td_str text); /* invalid UTF-8 is replaced by U+FFFD */
struct json *json_new_cstr(const char *text);   /* NULL gives JSON null */
struct json *json_new_int(int64_t value);
struct json *json_new_double(double value); /* NaN and infinities become null */
struct json *json_new_bool(bool value);
struct json *json_new_null(void);
struct json *json_clone(const struct json *value); /* deep copy; NULL for NULL */
/* The value itself once more, to be freed once more; nobody may change it from now on. */
struct json *json_share(const struct json *value);
void json_put(struct json *object, const char *key, struct json *value);
void json_push(struct json *array, struct json *value);
void json_remove(struct json *object, const char *key);

/* Compact, with UTF-8 unescaped. Doubles have 15 significant digits: 0.1 stays "0.1". */
void json_write(const struct json *value, struct buf *out);
void json_write_int(int64_t value, struct buf *out);
void json_write_double(double value, struct buf *out); /* not of infinities and NaN */
/* Appends `text` as a quoted JSON string, for output that is written by hand for speed. */
void json_write_text(struct td_str text, struct buf *out);

#endif
