/* Several schemas that must all hold, as one: what allOf, $ref or anyOf beside other keywords, if
 * and then, dependencies, contains and the older spellings come to. The result allows nothing that
 * the parts forbid, and may allow less. */
#ifndef ENGINE_JSON_MERGE_H
#define ENGINE_JSON_MERGE_H

#include "engine/grammar/json_schema_internal.h"

/* Whether a schema needs flattening before it can be written. */
bool json_merge_needed(const struct json *schema);

/* A schema with the keywords of json_schema.c alone; anyOf and oneOf may stay beside others. NULL
 * when it failed (c->status), or when no value can satisfy it (*empty). **borrows** until the
 * compilation ends. */
const struct json *json_merge_flatten(struct compiler *c, const struct json *schema, bool *empty);
/* Both at once. The same. */
const struct json *json_merge_both(struct compiler *c, const struct json *a, const struct json *b,
                                   bool *empty);

/* Whether two values are written alike; false as well after a failure. */
bool json_merge_equal(struct compiler *c, const struct json *a, const struct json *b);

#endif
