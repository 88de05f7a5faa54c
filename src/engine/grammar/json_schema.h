/* JSON Schema (the part of draft 2020-12 that a context-free grammar can promise) as GBNF text.
 *
 * What is generated is valid; what is valid need not be generable: members come in the schema's
 * order, there are no others unless additionalProperties says so, strings have no lone surrogates,
 * numbers at most 15 digits, values of `if` are those of `then` (json_merge.c). Members that
 * additionalProperties lets in may come twice, which no grammar can forbid. Keywords that cannot be
 * promised are TD_UNSUPPORTED with their place and name. */
#ifndef ENGINE_JSON_SCHEMA_H
#define ENGINE_JSON_SCHEMA_H

#include "base/json.h"
#include "engine/grammar/grammar.h"

/* What is generated nests no deeper, so that strict readers (64 levels) take it. */
#define JSON_SCHEMA_DEPTH_MAX 60u

/* Writes the grammar to `out` (a buf with a limit). */
TD_MUST_CHECK enum td_status json_schema_write(const struct json *schema, struct buf *out,
                                               struct td_error *err);
/* The same, compiled. **returns new** (td_grammar_free). */
TD_MUST_CHECK enum td_status json_schema_compile(const struct json *schema, struct td_grammar **out,
                                                 struct td_error *err);

/* --- parts of it ------------------------------------------------------------------------------ */

/* Appends a GBNF literal of these bytes (UTF-8). */
void json_schema_literal(struct buf *out, struct td_str text);

/* json_scalar.c: what stands between the quotes of a string of this format, or NULL when it is not
 * known. */
const char *json_format_body(struct td_str format);
/* The shortest and longest text of a known format. */
bool json_format_lengths(struct td_str format, int64_t lengths[2]);
/* Whether a format says only what the text is for. */
bool json_format_is_note(struct td_str format);
/* An integer or number within minimum, maximum, exclusiveMinimum and exclusiveMaximum, and a
 * multiple of multipleOf. False with a reason. */
bool json_number_write(const struct json *schema, bool integer, struct buf *out,
                       const char **reason);
/* json_pattern.c: what stands between the quotes of a string that the regular expression finds a
 * match in. False with a reason when it uses what is not supported. */
bool json_pattern_write(struct td_str pattern, struct buf *out, const char **reason);

#endif
