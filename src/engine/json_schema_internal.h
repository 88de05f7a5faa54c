/* What json_schema.c and json_structure.c share: the state of one compilation. */
#ifndef ENGINE_JSON_SCHEMA_INTERNAL_H
#define ENGINE_JSON_SCHEMA_INTERNAL_H

#include "engine/json_schema.h"

#define REFERENCES_MAX 1024
#define BODY_BYTES_MAX GRAMMAR_TEXT_BYTES_MAX

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
    unsigned rule_count;
    enum td_status status;
    struct td_error *err;
};

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

void json_write_object(struct compiler *c, const struct json *schema, struct buf *body);
void json_write_array(struct compiler *c, const struct json *schema, struct buf *body);

#endif
