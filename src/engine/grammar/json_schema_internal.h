/* What json_schema.c and json_structure.c share: the state of one compilation. */
#ifndef ENGINE_JSON_SCHEMA_INTERNAL_H
#define ENGINE_JSON_SCHEMA_INTERNAL_H

#include "engine/grammar/json_schema.h"

#define REFERENCES_MAX 1024
#define OWNED_MAX 8192 /* schemas made by merging */
#define BODY_BYTES_MAX GRAMMAR_TEXT_BYTES_MAX
/* What comparing and merging may cost in one compilation, about a second: a comparison of two texts is 1, a
 * value that is made JSON_COST_VALUE. */
#define WORK_MAX UINT64_C(2000000)
#define JSON_COST_VALUE 8

struct reference {
    const struct json *schema;
    unsigned rule;
    struct td_str path; /* in the schema that refers */
};

struct compiler {
    const struct json *root;
    struct buf *out;
    struct buf path; /* of what is compiled, as a JSON pointer */
    struct reference references[REFERENCES_MAX];
    size_t reference_count, written_count;
    struct json *owned[OWNED_MAX]; /* freed when it ends */
    size_t owned_count;
    uint64_t work; /* of WORK_MAX */
    unsigned rule_count;
    enum td_status status;
    struct td_error *err;
};

/* Rules for any JSON text, on which the others build. */
extern const char json_schema_base_rules[];

/* Notes the first failure, with the place in the schema; false, to be returned. */
bool json_compiler_fail(struct compiler *c, enum td_status status, const char *format, ...)
    TD_PRINTF(3, 4);
void json_compiler_put_rule(struct compiler *c, unsigned rule, const struct buf *body);
/* Writes the rule of a schema; NULL: none was given, anything is allowed. */
void json_compiler_write(struct compiler *c, const struct json *schema, unsigned rule);
/* The rule of a schema that stands at keyword/name in this one. */
unsigned json_compiler_sub_schema(struct compiler *c, const struct json *schema,
                                  const char *keyword, struct td_str name);
/* A count from 0 on; -1 when it is absent. */
int64_t json_compiler_count(struct compiler *c, const struct json *schema, const char *name);
/* Minimum and maximum, -1 = none; a larger maximum is cut to what is written, which allows less. */
bool json_compiler_counts(struct compiler *c, const struct json *schema, const char *min_name,
                          const char *max_name, int64_t counts[2]);
void json_compiler_put_counts(struct buf *body, int64_t min, int64_t max);

/* False, with a failure, when the schema has a keyword that there is not. */
bool json_compiler_check_keywords(struct compiler *c, const struct json *schema);
/* What a $ref of this schema leads to, or NULL. */
const struct json *json_compiler_resolve(const struct compiler *c, struct td_str text);
/* Bits of what a schema's `type` allows: object 1, array 2, string 4, number 8, integer 16, boolean
 * 32, null
 * 64. 0 with a failure (c may be NULL). */
unsigned json_compiler_types(struct compiler *c, const struct json *type);
/* The JSON text of a value, as a literal. */
void json_compiler_put_value(struct compiler *c, struct buf *body, const struct json *value);

/* json_combine.c: listed values, and alternatives alone and beside other keywords. */
/* Whether a listed value satisfies the types, bounds and lengths beside it; what cannot be looked
 * at is a failure. */
bool json_value_fits(struct compiler *c, const struct json *schema, const struct json *value);
void json_write_values(struct compiler *c, const struct json *schema, struct buf *body);
void json_write_alternatives(struct compiler *c, const struct json *schema, const char *keyword,
                             struct buf *body);
void json_write_distributed(struct compiler *c, const struct json *schema, const char *keyword,
                            struct buf *body);

/* Counts work that is quadratic, or worse, in the length of a schema. False, with a failure: it was
 * too much. */
bool json_compiler_spend(struct compiler *c, uint64_t work);
/* What making a copy of a value costs. */
uint64_t json_compiler_cost(const struct json *value);

/* Whether a regular expression finds a match in a name without characters that JSON escapes. False:
 * it cannot be said. */
bool json_pattern_matches(struct compiler *c, struct td_str pattern, struct td_str name,
                          bool *matches);

/* json_structure.c */
void json_write_object(struct compiler *c, const struct json *schema, struct buf *body);
void json_write_array(struct compiler *c, const struct json *schema, struct buf *body);

#endif
