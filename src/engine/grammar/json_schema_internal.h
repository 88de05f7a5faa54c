/* What the files of the JSON schema compiler share: the state of one compilation. json_schema.c
 * writes a schema, json_structure.c objects and arrays, json_combine.c listed values and
 * alternatives, json_merge.c makes one schema of several. */
#ifndef ENGINE_JSON_SCHEMA_INTERNAL_H
#define ENGINE_JSON_SCHEMA_INTERNAL_H

#include "engine/grammar/json_schema.h"

#define REFERENCES_MAX 1024
#define OWNED_MAX 8192 /* schemas made by merging */
#define BODY_BYTES_MAX GRAMMAR_TEXT_BYTES_MAX
/* What comparing and merging may cost in one compilation, about a second. Comparing two texts costs
 * 1, making a value costs JSON_COST_VALUE. */
#define WORK_MAX UINT64_C(2000000)
#define JSON_COST_VALUE 8

/* The types of a schema's `type`, as bits of a set. */
enum schema_type {
    SCHEMA_OBJECT = 1,
    SCHEMA_ARRAY = 2,
    SCHEMA_STRING = 4,
    SCHEMA_NUMBER = 8,
    SCHEMA_INTEGER = 16,
    SCHEMA_BOOLEAN = 32,
    SCHEMA_NULL = 64
};

/* The two keywords of alternatives. */
enum alternatives { ALTERNATIVES_ANY_OF, ALTERNATIVES_ONE_OF };

/* A schema that a $ref leads to, and its rule. */
struct reference {
    const struct json *schema;
    unsigned rule;
    struct td_str path; /* where it is, for messages */
};

struct compiler {
    const struct json *root;
    struct buf *out;
    struct buf path; /* of the schema that is being compiled, as a JSON pointer */
    struct reference references[REFERENCES_MAX];
    size_t reference_count, written_count;
    struct json *owned[OWNED_MAX]; /* freed when the compilation ends */
    size_t owned_count;
    uint64_t work; /* spent so far, at most WORK_MAX */
    unsigned rule_count;
    bool strict; /* as in struct json_schema_list */
    enum td_status status;
    struct td_error *err;
};

/* Appends the rules for any JSON text, to which the other rules refer. */
void json_compiler_put_base(struct buf *out, bool strict);

/* Records the first failure, with the place in the schema. Returns false, for the caller to
 * return. */
bool json_compiler_fail(struct compiler *c, enum td_status status, const char *format, ...)
    TD_PRINTF(3, 4);
void json_compiler_put_rule(struct compiler *c, unsigned rule, const struct buf *body);
/* Writes the rule of a schema. NULL: there is no schema, so any value is allowed. */
void json_compiler_write(struct compiler *c, const struct json *schema, unsigned rule);
/* Writes a schema that is at keyword/name in the current one; returns its rule. */
unsigned json_compiler_sub_schema(struct compiler *c, const struct json *schema,
                                  const char *keyword, struct td_str name);
/* The keyword `name` as a count, at least 0; -1 when it is absent. */
int64_t json_compiler_count(struct compiler *c, const struct json *schema, const char *name);
/* Reads a minimum (0 when absent) and a maximum (-1 = none). A maximum that is too large to write
 * is cut, which allows less. */
bool json_compiler_counts(struct compiler *c, const struct json *schema, const char *min_name,
                          const char *max_name, int64_t counts[2]);
/* Appends {min,max}, or {min,} for max -1. */
void json_compiler_put_counts(struct buf *body, int64_t min, int64_t max);

/* False, with a failure, when the schema has an unknown keyword. */
bool json_compiler_check_keywords(struct compiler *c, const struct json *schema);
/* The schema that a $ref with this text leads to, or NULL. */
const struct json *json_compiler_resolve(const struct compiler *c, struct td_str text);
/* The set of enum schema_type that a schema's `type` allows. 0 with a failure (c may be NULL). */
unsigned json_compiler_types(struct compiler *c, const struct json *type);
/* Appends the JSON text of a value, as a GBNF literal. */
void json_compiler_put_value(struct compiler *c, struct buf *body, const struct json *value);

/* --- json_combine.c --- */

/* Whether a listed value satisfies the types, bounds and lengths of the same schema. A keyword that
 * cannot be checked is a failure. */
bool json_value_fits(struct compiler *c, const struct json *schema, const struct json *value);
/* Writes the values of `const` or `enum`. */
void json_write_values(struct compiler *c, const struct json *schema, struct buf *body);
/* Writes anyOf or oneOf without other keywords. */
void json_write_alternatives(struct compiler *c, const struct json *schema, enum alternatives kind,
                             struct buf *body);
/* The same in a schema with other keywords: each alternative is merged with them. */
void json_write_distributed(struct compiler *c, const struct json *schema, enum alternatives kind,
                            struct buf *body);

/* Counts work that is quadratic, or worse, in the length of a schema. False, with a failure, when
 * it was too much. */
bool json_compiler_spend(struct compiler *c, uint64_t work);
/* What a copy of a value costs. */
uint64_t json_compiler_cost(const struct json *value);

/* *matches: whether a regular expression matches somewhere in a name. Returns false when that
 * cannot be decided, for example if JSON escapes a character of the name. */
bool json_pattern_matches(struct compiler *c, struct td_str pattern, struct td_str name,
                          bool *matches);

/* --- json_structure.c --- */

void json_write_object(struct compiler *c, const struct json *schema, struct buf *body);
void json_write_array(struct compiler *c, const struct json *schema, struct buf *body);

#endif
