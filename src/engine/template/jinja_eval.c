/* Runs statements. Scopes are as in Jinja: a round of a loop, a call of a macro and `with` have
 * their own; `if` has none. A `set` inside a scope is forgotten after it; templates use namespaces
 * to keep values. A macro sees the scope in which it was defined. */
#include "engine/template/jinja_eval.h"

#include "base/core/assertion.h"

void jinja_assign(struct jinja_run *run, uint32_t symbol, struct jinja_value value)
{
    struct jinja_scope *scope = run->scope;
    for (size_t i = 0; i < scope->count; i++)
        if (scope->variables[i].symbol == symbol) {
            scope->variables[i].value = value;
            return;
        }
    if (scope->count == scope->capacity) {
        size_t capacity = scope->capacity ? scope->capacity * 2 : 8;
        struct jinja_variable *grown = jinja_alloc(run, capacity, sizeof(*grown));
        if (grown == NULL)
            return;
        if (scope->count > 0)
            memcpy(grown, scope->variables, scope->count * sizeof(*grown));
        scope->variables = grown;
        scope->capacity = capacity;
    }
    scope->variables[scope->count++] = (struct jinja_variable){symbol, value};
}

const struct jinja_value *jinja_lookup(const struct jinja_run *run, uint32_t symbol)
{
    for (const struct jinja_scope *scope = run->scope; scope; scope = scope->parent)
        for (size_t i = 0; i < scope->count; i++)
            if (scope->variables[i].symbol == symbol)
                return &scope->variables[i].value;
    return NULL;
}

static void assign_target(struct jinja_run *run, const struct jinja_node *target,
                          struct jinja_value value)
{
    if (target->kind == JINJA_NAME) {
        jinja_assign(run, target->symbol, value);
    } else if (target->kind == JINJA_ATTRIBUTE) {
        const struct jinja_value *space = jinja_lookup(run, target->a->symbol);
        if (space == NULL || space->kind != JINJA_NAMESPACE) {
            jinja_fail(run, TD_UNSUPPORTED, "only a namespace's members can be set");
            return;
        }
        struct jinja_text key = {.data = target->text.data, .len = target->text.len, .mark = true};
        jinja_dict_put(run, space->dict, key, value);
    } else {
        const struct jinja_list *list = jinja_iterate(run, value);
        size_t i = 0;
        const struct jinja_node *part = target->b;
        for (; list && part && i < list->count; part = part->next)
            assign_target(run, part, list->items[i++]);
        if (list && (part || i < list->count))
            jinja_fail(run, TD_UNSUPPORTED, "%zu values for another number of names", list->count);
    }
}

static struct jinja_text capture(struct jinja_run *run, const struct jinja_node *body)
{
    struct jinja_builder text, *before = run->out;
    jinja_builder_init(&text, run);
    run->out = &text;
    jinja_run_body(run, body);
    run->out = before;
    return jinja_built(&text);
}

static void run_if(struct jinja_run *run, const struct jinja_node *node)
{
    for (const struct jinja_node *branch = node->b; branch; branch = branch->next)
        if (branch->a == NULL || jinja_truth(jinja_evaluate(run, branch->a))) {
            jinja_run_body(run, branch->b);
            return;
        }
}

/* The items that satisfy the loop's condition. */
static const struct jinja_list *choose(struct jinja_run *run, const struct jinja_node *node,
                                       const struct jinja_list *items)
{
    struct jinja_value chosen = jinja_list_new(run, 0);
    for (size_t i = 0; i < items->count && run->status == TD_OK; i++) {
        struct jinja_scope scope = {.parent = run->scope}, *outer = run->scope;
        run->scope = &scope;
        assign_target(run, node->a, items->items[i]);
        if (jinja_truth(jinja_evaluate(run, node->c)))
            jinja_list_add(run, chosen.list, items->items[i]);
        run->scope = outer;
    }
    return chosen.kind == JINJA_LIST ? chosen.list : NULL;
}

static void run_for(struct jinja_run *run, const struct jinja_node *node)
{
    const struct jinja_list *items = jinja_iterate(run, jinja_evaluate(run, node->b));
    if (items && node->c)
        items = choose(run, node, items);
    if (items == NULL || run->status != TD_OK)
        return;
    struct jinja_loop *loop = jinja_alloc(run, 1, sizeof(*loop));
    if (loop == NULL)
        return;
    loop->items = items;
    struct jinja_scope *outer = run->scope;
    for (; loop->index < items->count && jinja_charge(run, 0); loop->index++) {
        /* In the arena, because a macro that is defined here keeps the scope. */
        struct jinja_scope *scope = jinja_alloc(run, 1, sizeof(*scope));
        if (scope == NULL)
            break;
        scope->parent = outer;
        run->scope = scope;
        jinja_assign(run, JINJA_SYMBOL_LOOP,
                     (struct jinja_value){.kind = JINJA_LOOP, .loop = loop});
        assign_target(run, node->a, items->items[loop->index]);
        jinja_run_body(run, node->d);
        bool out = run->leaving == JINJA_LEAVE_LOOP;
        run->leaving = JINJA_STAY;
        if (out)
            break;
    }
    run->scope = outer;
    if (items->count == 0)
        jinja_run_body(run, node->e);
}

static struct jinja_macro *new_macro(struct jinja_run *run, const struct jinja_node *node)
{
    struct jinja_macro *macro = jinja_alloc(run, 1, sizeof(*macro));
    if (macro)
        *macro = (struct jinja_macro){node, run->scope};
    return macro;
}

static void run_call_block(struct jinja_run *run, const struct jinja_node *node)
{
    struct jinja_macro *caller = new_macro(run, node);
    struct jinja_value callee = jinja_evaluate(run, node->b->a);
    struct jinja_args args = jinja_evaluate_args(run, node->b->b);
    if (run->status == TD_OK && callee.kind != JINJA_MACRO)
        jinja_fail(run, TD_UNSUPPORTED, "a call block calls %s", jinja_kind_name(callee.kind));
    if (run->status == TD_OK)
        jinja_build_str(run->out, jinja_call_macro(run, callee.macro, &args, caller));
}

struct jinja_value jinja_call_macro(struct jinja_run *run, const struct jinja_macro *macro,
                                    const struct jinja_args *args, const struct jinja_macro *caller)
{
    ASSERT(macro->node->kind == JINJA_MACRO_NODE || macro->node->kind == JINJA_CALL_BLOCK);
    struct jinja_scope *scope = jinja_alloc(run, 1, sizeof(*scope)), *outer = run->scope;
    if (scope == NULL)
        return jinja_none();
    if (++run->depth > JINJA_DEPTH_MAX)
        jinja_fail(run, TD_LIMIT, "macros call each other too deep");
    scope->parent = macro->scope;
    run->scope = scope;
    size_t index = 0, used = 0;
    const struct jinja_node *parameter = macro->node->a;
    for (; parameter && jinja_charge(run, args->count); parameter = parameter->next, index++) {
        struct jinja_value value = {.kind = JINJA_UNDEFINED};
        bool given = index < args->count && args->names[index].data == NULL;
        if (given)
            value = args->values[index];
        for (size_t i = 0; i < args->count && !given; i++)
            if ((given = args->names[i].data && str_equal(args->names[i], parameter->text)))
                value = args->values[i];
        used += given;
        if (!given && parameter->a)
            value = jinja_evaluate(run, parameter->a);
        jinja_assign(run, parameter->symbol, value);
    }
    if (used < args->count)
        jinja_fail(run, TD_UNSUPPORTED,
                   "a macro is called with arguments that it does not declare");
    if (caller)
        jinja_assign(run, JINJA_SYMBOL_CALLER,
                     (struct jinja_value){.kind = JINJA_MACRO, .macro = caller});
    enum jinja_leave leaving = run->leaving;
    run->leaving = JINJA_STAY;
    struct jinja_text text = capture(run, macro->node->d);
    run->leaving = leaving;
    run->scope = outer;
    run->depth--;
    return jinja_from_text(text);
}

static void run_scope(struct jinja_run *run, const struct jinja_node *node)
{
    struct jinja_scope *scope = jinja_alloc(run, 1, sizeof(*scope)), *outer = run->scope;
    if (scope == NULL)
        return;
    scope->parent = outer;
    for (const struct jinja_node *set = node->a; set; set = set->next) {
        struct jinja_value value = jinja_evaluate(run, set->b);
        run->scope = scope;
        assign_target(run, set->a, value);
        run->scope = outer;
    }
    run->scope = scope;
    jinja_run_body(run, node->d);
    run->scope = outer;
}

static void run_macro(struct jinja_run *run, const struct jinja_node *node)
{
    struct jinja_macro *macro = new_macro(run, node);
    if (macro)
        jinja_assign(run, node->symbol, (struct jinja_value){.kind = JINJA_MACRO, .macro = macro});
}

static void run_statement(struct jinja_run *run, const struct jinja_node *node)
{
    switch (node->kind) {
    case JINJA_OUTPUT:
        jinja_build_str(run->out, jinja_evaluate(run, node->a));
        break;
    case JINJA_IF:
        run_if(run, node);
        break;
    case JINJA_FOR:
        run_for(run, node);
        break;
    case JINJA_SET:
        assign_target(run, node->a, jinja_evaluate(run, node->b));
        break;
    case JINJA_SET_BLOCK: {
        struct jinja_value text = jinja_from_text(capture(run, node->d));
        assign_target(run, node->a, jinja_apply_filters(run, node->c, text));
        break;
    }
    case JINJA_MACRO_NODE:
        run_macro(run, node);
        break;
    case JINJA_CALL_BLOCK:
        run_call_block(run, node);
        break;
    case JINJA_FILTER_BLOCK: {
        struct jinja_value text = jinja_from_text(capture(run, node->d));
        jinja_build_str(run->out, jinja_apply_filters(run, node->c, text));
        break;
    }
    case JINJA_SCOPE:
        run_scope(run, node);
        break;
    case JINJA_BREAK:
        run->leaving = JINJA_LEAVE_LOOP;
        break;
    case JINJA_CONTINUE:
        run->leaving = JINJA_LEAVE_ROUND;
        break;
    default:
        jinja_fail(run, TD_INTERNAL, "not a statement");
    }
}

void jinja_run_body(struct jinja_run *run, const struct jinja_node *body)
{
    if (++run->depth > JINJA_DEPTH_MAX)
        jinja_fail(run, TD_LIMIT, "statements are nested too deep");
    for (const struct jinja_node *node = body; node && run->leaving == JINJA_STAY;
         node = node->next) {
        if (!jinja_charge(run, 0))
            break;
        run->line = node->line;
        run_statement(run, node);
    }
    run->depth--;
}
