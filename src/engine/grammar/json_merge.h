/* Makes one schema of several that must all hold: allOf, $ref or anyOf together with other
 * keywords, if and then, dependencies, contains, and the spellings of older drafts. The result
 * allows nothing that the parts forbid. It may allow less than they do. One compilation is one
 * thread. */
#ifndef ENGINE_JSON_MERGE_H
#define ENGINE_JSON_MERGE_H

#include "engine/grammar/json_schema_internal.h"

/* Whether a schema needs flattening before it can be written. */
bool json_merge_needed(const struct json *schema);

/* Rewrites a schema with the keywords of json_schema.c only. anyOf and oneOf may stay next to other
 * keywords. NULL after a failure (c->status), or when no value can satisfy it (*empty). **borrows**
 * until the compilation ends. */
const struct json *json_merge_flatten(struct compiler *c, const struct json *schema, bool *empty);
/* The same for two schemas that must both hold. */
const struct json *json_merge_both(struct compiler *c, const struct json *a, const struct json *b,
                                   bool *empty);

/* Whether two values are written alike; also false after a failure. */
bool json_merge_equal(struct compiler *c, const struct json *a, const struct json *b);

#endif
