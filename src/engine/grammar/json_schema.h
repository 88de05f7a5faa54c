/* Compiles JSON Schema to GBNF: the part of draft 2020-12 that a context-free grammar can enforce.
 * No state; any thread.
 *
 * Everything that is generated is valid, but not every valid value can be generated. Members come
 * in the schema's order, and other members only if additionalProperties says so. Strings have no
 * lone surrogates, numbers at most 15 digits, and `if` always holds (json_merge.c). Members that
 * additionalProperties allows may come twice, which no grammar can forbid. A keyword that cannot be
 * enforced is TD_UNSUPPORTED, with its place and name. */
#ifndef ENGINE_JSON_SCHEMA_H
#define ENGINE_JSON_SCHEMA_H

#include "base/json/json.h"
#include "engine/grammar/grammar.h"

/* Generated JSON nests no deeper, so that strict readers (64 levels) accept it. */
#define JSON_SCHEMA_DEPTH_MAX 60u

/* Writes the grammar to `out` (a buf with a limit). */
TD_MUST_CHECK enum td_status json_schema_write(const struct json *schema, struct buf *out,
                                               struct td_error *err);

/* Several schemas in one grammar, which share the limits of one. */
struct json_schema_list {
    const struct json *const *schemas; /* [count]; NULL = any value */
    size_t count;
    /* No white space but one space after each separator, and no members beside named ones. */
    bool strict;
};
/* Writes schema i as the rule "r<i>", without a rule "root". *failed: the schema that was not
 * written; SIZE_MAX = the failure is of none. */
TD_MUST_CHECK enum td_status json_schema_write_all(const struct json_schema_list *list,
                                                   struct buf *out, size_t *failed,
                                                   struct td_error *err);
/* The same as json_schema_write, compiled. **returns new** (td_grammar_free). */
TD_MUST_CHECK enum td_status json_schema_compile(const struct json *schema, struct td_grammar **out,
                                                 struct td_error *err);

/* --- parts of it ------------------------------------------------------------------------------ */

/* Appends a GBNF literal of these bytes (UTF-8). */
void json_schema_literal(struct buf *out, struct td_str text);

/* json_scalar.c: GBNF for the text between the quotes of a string of this format; NULL = the format
 * is unknown. */
const char *json_format_body(struct td_str format);
/* The shortest and longest text of a known format. */
bool json_format_lengths(struct td_str format, int64_t lengths[2]);
/* Whether a format only describes what the text is for and restricts nothing. */
bool json_format_is_note(struct td_str format);
/* Appends GBNF for an integer or number within minimum, maximum, exclusiveMinimum and
 * exclusiveMaximum that is a multiple of multipleOf. False with a reason. */
bool json_number_write(const struct json *schema, bool integer, struct buf *out,
                       const char **reason);
/* json_pattern.c: appends GBNF for the text between the quotes of a string in which the regular
 * expression matches. False with a reason when it uses something that is not supported. */
bool json_pattern_write(struct td_str pattern, struct buf *out, const char **reason);
/* The same for a text that is not JSON and that the expression matches from its beginning to its
 * end, whether or not it has ^ and $. */
bool json_pattern_write_plain(struct td_str pattern, struct buf *out, const char **reason);

#endif
