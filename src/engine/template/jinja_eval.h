/* Runs a tree: statements (jinja_eval.c) and expressions (jinja_expression.c). Templates call
 * filters (jinja_filters.c, jinja_filters_list.c), tests (jinja_tests.c), functions and methods
 * (jinja_methods.c). A run belongs to one thread. */
#ifndef ENGINE_JINJA_EVAL_H
#define ENGINE_JINJA_EVAL_H

#include "engine/template/jinja_ast.h"

struct jinja_variable {
    uint32_t symbol;
    struct jinja_value value;
};

/* Variables of one body. Each round of a loop and each call of a macro has its own scope. */
struct jinja_scope {
    struct jinja_scope *parent;
    struct jinja_variable *variables;
    size_t count, capacity;
};

struct jinja_macro {
    const struct jinja_node *node; /* JINJA_MACRO_NODE or JINJA_CALL_BLOCK */
    struct jinja_scope *scope;     /* where it was defined */
};

void jinja_assign(struct jinja_run *run, uint32_t symbol, struct jinja_value value);
const struct jinja_value *jinja_lookup(const struct jinja_run *run, uint32_t symbol);

void jinja_run_body(struct jinja_run *run, const struct jinja_node *body);
struct jinja_value jinja_evaluate(struct jinja_run *run, const struct jinja_node *node);
/* Evaluates the arguments of a call, filter or test: a chain of JINJA_ARGUMENT. */
struct jinja_args jinja_evaluate_args(struct jinja_run *run, const struct jinja_node *chain);
/* Applies a chain of filters to `input`. */
struct jinja_value jinja_apply_filters(struct jinja_run *run, const struct jinja_node *chain,
                                       struct jinja_value input);
struct jinja_value jinja_call_macro(struct jinja_run *run, const struct jinja_macro *macro,
                                    const struct jinja_args *args,
                                    const struct jinja_macro *caller);
struct jinja_value jinja_subscript(struct jinja_run *run, struct jinja_value of,
                                   struct jinja_value key);

/* NULL when there is no such filter, test or function. */
jinja_filter_fn *jinja_filter_find(struct td_str name);
jinja_filter_fn *jinja_list_filter_find(struct td_str name); /* for jinja_filter_find */
jinja_test_fn *jinja_test_find(struct td_str name);
const struct jinja_function *jinja_function_find(struct td_str name);
bool jinja_method_exists(struct jinja_value of, struct td_str name);
struct jinja_value jinja_method_call(struct jinja_run *run, const struct jinja_method *method,
                                     const struct jinja_args *args);

/* Argument `index`, or the one named `name`; undefined when neither is given. */
struct jinja_value jinja_arg(const struct jinja_args *args, size_t index, const char *name);
bool jinja_has_arg(const struct jinja_args *args, size_t index, const char *name);
struct jinja_text jinja_text_arg(struct jinja_run *run, const struct jinja_args *args, size_t index,
                                 const char *name, const char *otherwise);
int64_t jinja_int_arg(struct jinja_run *run, const struct jinja_args *args, size_t index,
                      const char *name, int64_t otherwise);

/* Filters and methods of the same name share these. */
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
