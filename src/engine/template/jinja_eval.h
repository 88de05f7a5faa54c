/* Runs a tree: statements (jinja_eval.c), expressions (jinja_expression.c), and what templates
 * call: filters, tests, functions and methods (jinja_filters.c, jinja_tests.c, jinja_methods.c). */
#ifndef ENGINE_JINJA_EVAL_H
#define ENGINE_JINJA_EVAL_H

#include "engine/template/jinja_ast.h"

struct jinja_variable {
    uint32_t symbol;
    struct jinja_value value;
};

/* Names of one body; a loop's round and a macro's call have their own. */
struct jinja_scope {
    struct jinja_scope *parent;
    struct jinja_variable *variables;
    size_t count, capacity;
};

struct jinja_macro {
    const struct jinja_node *node; /* MACRO_NODE or CALL_BLOCK */
    struct jinja_scope *scope;     /* where it was defined */
};

enum jinja_leave { JINJA_STAY, JINJA_LEAVE_ROUND, JINJA_LEAVE_LOOP };

void jinja_assign(struct jinja_run *run, uint32_t symbol, struct jinja_value value);
const struct jinja_value *jinja_lookup(const struct jinja_run *run, uint32_t symbol);

void jinja_run_body(struct jinja_run *run, const struct jinja_node *body);
struct jinja_value jinja_evaluate(struct jinja_run *run, const struct jinja_node *node);
/* Arguments of a call, filter or test; the chain of JINJA_ARGUMENT. */
struct jinja_args jinja_evaluate_args(struct jinja_run *run, const struct jinja_node *chain);
/* Applies a chain of filters whose innermost input is `input`. */
struct jinja_value jinja_apply_filters(struct jinja_run *run, const struct jinja_node *chain,
                                       struct jinja_value input);
struct jinja_value jinja_call(struct jinja_run *run, struct jinja_value callee,
                              const struct jinja_args *args);
struct jinja_value jinja_call_macro(struct jinja_run *run, const struct jinja_macro *macro,
                                    const struct jinja_args *args,
                                    const struct jinja_macro *caller);
/* value.name; undefined when there is none. */
struct jinja_value jinja_attribute(struct jinja_run *run, struct jinja_value of,
                                   struct td_str name);
struct jinja_value jinja_subscript(struct jinja_run *run, struct jinja_value of,
                                   struct jinja_value key);

jinja_filter_fn *jinja_filter_find(struct td_str name);      /* NULL: none */
jinja_filter_fn *jinja_list_filter_find(struct td_str name); /* those on lists */
jinja_test_fn *jinja_test_find(struct td_str name);
const struct jinja_function *jinja_function_find(struct td_str name);
bool jinja_method_exists(struct jinja_value of, struct td_str name);
struct jinja_value jinja_method_call(struct jinja_run *run, const struct jinja_method *method,
                                     const struct jinja_args *args);

/* Argument `index`, or the one named `name`; undefined when it is not given. */
struct jinja_value jinja_arg(const struct jinja_args *args, size_t index, const char *name);
bool jinja_has_arg(const struct jinja_args *args, size_t index, const char *name);
struct jinja_text jinja_text_arg(struct jinja_run *run, const struct jinja_args *args, size_t index,
                                 const char *name, const char *otherwise);
int64_t jinja_int_arg(struct jinja_run *run, const struct jinja_args *args, size_t index,
                      const char *name, int64_t otherwise);

/* Shared by filters and methods of the same name. */
struct jinja_value jinja_strip(struct jinja_run *run, struct jinja_text text,
                               const struct jinja_args *args, bool left, bool right);
struct jinja_value jinja_replace(struct jinja_run *run, struct jinja_text text,
                                 const struct jinja_args *args);
enum jinja_case { JINJA_UPPER, JINJA_LOWER, JINJA_TITLE, JINJA_CAPITALIZE };
struct jinja_value jinja_change_case(struct jinja_run *run, struct jinja_text text,
                                     enum jinja_case how);
struct jinja_value jinja_items_of(struct jinja_run *run, struct jinja_value dict);
struct jinja_value jinja_join(struct jinja_run *run, const struct jinja_list *list,
                              struct jinja_text separator);
/* printf-style: %s %d %%. */
struct jinja_value jinja_format(struct jinja_run *run, struct jinja_text format,
                                const struct jinja_value *values, size_t count);

#endif
