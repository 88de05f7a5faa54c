/* Evaluates expressions. Arithmetic is Python's, but integers have 64 bits: a result that would
 * overflow is an error. */
#include "engine/template/jinja_eval.h"

#include <math.h>

struct jinja_args jinja_evaluate_args(struct jinja_run *run, const struct jinja_node *chain)
{
    struct jinja_args args = {0};
    size_t count = 0;
    for (const struct jinja_node *node = chain; node; node = node->next)
        count++;
    if (count == 0)
        return args;
    args.values = jinja_alloc(run, count, sizeof(*args.values));
    args.names = jinja_alloc(run, count, sizeof(*args.names));
    for (const struct jinja_node *node = chain; node && args.values && args.names;
         node = node->next) {
        args.values[args.count] = jinja_evaluate(run, node->a);
        args.names[args.count++] = node->text;
    }
    return args;
}

/* --- attributes and items --- */

static struct jinja_value loop_item(const struct jinja_loop *loop, size_t index)
{
    return index < loop->items->count ? loop->items->items[index] : jinja_undefined();
}

static struct jinja_value loop_attribute(const struct jinja_loop *loop, struct td_str name)
{
    int64_t index = (int64_t)loop->index, count = (int64_t)loop->items->count;
    const struct {
        const char *name;
        struct jinja_value value;
    } members[] = {{"index", jinja_int(index + 1)},
                   {"index0", jinja_int(index)},
                   {"first", jinja_bool(index == 0)},
                   {"last", jinja_bool(index + 1 == count)},
                   {"length", jinja_int(count)},
                   {"revindex", jinja_int(count - index)},
                   {"revindex0", jinja_int(count - index - 1)},
                   {"depth", jinja_int(1)}, /* recursive loops are refused */
                   {"depth0", jinja_int(0)},
                   {"previtem", loop_item(loop, loop->index ? loop->index - 1 : SIZE_MAX)},
                   {"nextitem", loop_item(loop, loop->index + 1)}};
    for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++)
        if (str_equal(name, str_from(members[i].name)))
            return members[i].value;
    return jinja_undefined();
}

static struct jinja_value bound_method(struct jinja_run *run, struct jinja_value of,
                                       struct td_str name)
{
    struct jinja_method *method = jinja_alloc(run, 1, sizeof(*method));
    if (method == NULL)
        return jinja_undefined();
    *method = (struct jinja_method){of, name};
    return (struct jinja_value){.kind = JINJA_METHOD, .method = method};
}

/* value.name; undefined when there is no such attribute. */
static struct jinja_value attribute(struct jinja_run *run, struct jinja_value of,
                                    struct td_str name)
{
    if (of.kind == JINJA_UNDEFINED)
        return jinja_fail(run, TD_UNSUPPORTED, "'" STR_FMT "' of an undefined value",
                          STR_ARG(str_slice(name, 0, 40)));
    if (jinja_method_exists(of, name))
        return bound_method(run, of, name);
    if (of.kind == JINJA_LOOP)
        return loop_attribute(of.loop, name);
    if (of.kind != JINJA_DICT && of.kind != JINJA_NAMESPACE)
        return jinja_undefined();
    const struct jinja_value *found = jinja_dict_get(run, of.dict, name);
    return found ? *found : jinja_undefined();
}

static struct jinja_value at_index(struct jinja_run *run, struct jinja_value of, int64_t index)
{
    if (of.kind == JINJA_LIST) {
        int64_t count = (int64_t)of.list->count;
        index += index < 0 ? count : 0;
        return index >= 0 && index < count ? of.list->items[index] : jinja_undefined();
    }
    if (of.kind != JINJA_TEXT || !jinja_charge(run, of.text.len))
        return jinja_undefined();
    if (index < 0)
        index += (int64_t)jinja_text_length(of.text);
    size_t begin = index < 0 ? of.text.len : jinja_text_offset(of.text, (size_t)index);
    if (begin >= of.text.len)
        return jinja_undefined();
    struct jinja_text rest = jinja_slice(of.text, begin, of.text.len);
    return jinja_from_text(jinja_slice(rest, 0, jinja_text_offset(rest, 1)));
}

struct jinja_value jinja_subscript(struct jinja_run *run, struct jinja_value of,
                                   struct jinja_value key)
{
    int64_t index;
    if (of.kind == JINJA_UNDEFINED)
        return jinja_fail(run, TD_UNSUPPORTED, "an item of an undefined value");
    if (key.kind != JINJA_TEXT)
        return jinja_as_int(key, &index) ? at_index(run, of, index) : jinja_undefined();
    if (of.kind == JINJA_DICT) {
        const struct jinja_value *found = jinja_dict_get(run, of.dict, jinja_view(key.text));
        if (found)
            return *found;
    }
    return attribute(run, of, jinja_view(key.text));
}

/* One end of a slice, clamped as Python does. */
static int64_t slice_end(struct jinja_run *run, const struct jinja_node *node, int64_t count,
                         int64_t step, int64_t otherwise)
{
    struct jinja_value value = node ? jinja_evaluate(run, node) : jinja_none();
    int64_t end;
    if (value.kind == JINJA_NONE)
        return otherwise;
    if (!jinja_as_int(value, &end)) {
        jinja_fail(run, TD_UNSUPPORTED, "a slice from %s", jinja_kind_name(value.kind));
        return 0;
    }
    if (end < 0)
        end = end < -count ? -1 : end + count;
    if (end < 0)
        return step < 0 ? -1 : 0;
    return end < count ? end : step < 0 ? count - 1 : count;
}

static struct jinja_value slice_list(struct jinja_run *run, const struct jinja_list *from,
                                     int64_t begin, int64_t end, int64_t step)
{
    struct jinja_value list = jinja_list_new(run, 0);
    if (list.kind != JINJA_LIST)
        return list;
    list.list->tuple = from->tuple;
    for (int64_t i = begin; (step > 0 ? i < end : i > end) && run->status == TD_OK; i += step)
        jinja_list_add(run, list.list, from->items[i]);
    return list;
}

static struct jinja_value slice(struct jinja_run *run, const struct jinja_node *node)
{
    struct jinja_value of = jinja_evaluate(run, node->a);
    int64_t step = 1;
    struct jinja_value given = node->d ? jinja_evaluate(run, node->d) : jinja_none();
    if (given.kind != JINJA_NONE && (!jinja_as_int(given, &step) || step == 0))
        return jinja_fail(run, TD_UNSUPPORTED, "a slice's step is no number, or 0");
    step = step > INT32_MAX ? INT32_MAX : step < -INT32_MAX ? -INT32_MAX : step;
    if (of.kind != JINJA_LIST && of.kind != JINJA_TEXT)
        return jinja_fail(run, TD_UNSUPPORTED, "a slice of %s", jinja_kind_name(of.kind));
    if (of.kind == JINJA_TEXT && !jinja_charge(run, of.text.len))
        return jinja_undefined();
    int64_t count = (int64_t)(of.kind == JINJA_LIST ? of.list->count : jinja_text_length(of.text));
    int64_t begin = slice_end(run, node->b, count, step, step > 0 ? 0 : count - 1);
    int64_t end = slice_end(run, node->c, count, step, step > 0 ? count : -1);
    if (run->status != TD_OK)
        return jinja_undefined();
    if (of.kind == JINJA_LIST)
        return slice_list(run, of.list, begin, end, step);
    if (step == 1) {
        size_t first = jinja_text_offset(of.text, (size_t)begin);
        size_t last = jinja_text_offset(of.text, (size_t)end);
        return jinja_from_text(jinja_slice(of.text, first, last));
    }
    const struct jinja_list *characters = jinja_iterate(run, of);
    if (characters == NULL)
        return jinja_undefined();
    struct jinja_value chosen = slice_list(run, characters, begin, end, step);
    return run->status == TD_OK ? jinja_join(run, chosen.list, (struct jinja_text){.data = ""})
                                : jinja_undefined();
}

/* --- operators --- */

static struct jinja_value int_arithmetic(struct jinja_run *run, enum jinja_operator op, int64_t a,
                                         int64_t b)
{
    int64_t result = 0;
    bool overflow = false;
    if (op == JINJA_OP_ADD)
        overflow = __builtin_add_overflow(a, b, &result);
    else if (op == JINJA_OP_SUBTRACT)
        overflow = __builtin_sub_overflow(a, b, &result);
    else if (op == JINJA_OP_MULTIPLY)
        overflow = __builtin_mul_overflow(a, b, &result);
    else if (b == 0)
        return jinja_fail(run, TD_UNSUPPORTED, "division by zero");
    else if (b == -1) /* INT64_MIN / -1 */
        overflow = op == JINJA_OP_FLOOR_DIVIDE && __builtin_sub_overflow((int64_t)0, a, &result);
    else if (op == JINJA_OP_FLOOR_DIVIDE)
        result = a / b - (a % b != 0 && (a < 0) != (b < 0));
    else
        result = a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : 0);
    return overflow ? jinja_fail(run, TD_UNSUPPORTED, "a number is too large") : jinja_int(result);
}

static struct jinja_value float_arithmetic(struct jinja_run *run, enum jinja_operator op, double a,
                                           double b)
{
    if ((op == JINJA_OP_DIVIDE || op == JINJA_OP_FLOOR_DIVIDE || op == JINJA_OP_MODULO) && b == 0)
        return jinja_fail(run, TD_UNSUPPORTED, "division by zero");
    switch (op) {
    case JINJA_OP_ADD:
        return jinja_float(a + b);
    case JINJA_OP_SUBTRACT:
        return jinja_float(a - b);
    case JINJA_OP_MULTIPLY:
        return jinja_float(a * b);
    case JINJA_OP_DIVIDE:
        return jinja_float(a / b);
    case JINJA_OP_FLOOR_DIVIDE:
        return jinja_float(floor(a / b));
    case JINJA_OP_POWER:
        return jinja_float(pow(a, b));
    default:
        return jinja_float(a - floor(a / b) * b);
    }
}

static struct jinja_value power(struct jinja_run *run, int64_t base, int64_t exponent)
{
    struct jinja_value result = jinja_int(1);
    if (exponent < 0)
        return jinja_float(pow((double)base, (double)exponent));
    if (base == 0 || base == 1 || base == -1)
        return jinja_int(exponent == 0 ? 1 : base == -1 && exponent % 2 == 0 ? 1 : base);
    while (exponent-- > 0 && run->status == TD_OK)
        result = int_arithmetic(run, JINJA_OP_MULTIPLY, result.integer, base);
    return result;
}

static struct jinja_value repeat(struct jinja_run *run, struct jinja_text text, int64_t times)
{
    struct jinja_builder out;
    jinja_builder_init(&out, run);
    for (int64_t i = 0; i < times && text.len > 0 && run->status == TD_OK; i++)
        jinja_build_text(&out, text);
    return jinja_from_text(jinja_built(&out));
}

static struct jinja_value join_two(struct jinja_run *run, struct jinja_value a,
                                   struct jinja_value b)
{
    struct jinja_builder out;
    jinja_builder_init(&out, run);
    jinja_build_str(&out, a);
    jinja_build_str(&out, b);
    return jinja_from_text(jinja_built(&out));
}

static struct jinja_value join_lists(struct jinja_run *run, const struct jinja_list *a,
                                     const struct jinja_list *b)
{
    struct jinja_value list = jinja_list_new(run, a->count + b->count);
    if (list.kind != JINJA_LIST)
        return list;
    list.list->tuple = a->tuple;
    for (size_t i = 0; i < a->count; i++)
        jinja_list_add(run, list.list, a->items[i]);
    for (size_t i = 0; i < b->count; i++)
        jinja_list_add(run, list.list, b->items[i]);
    return list;
}

static struct jinja_value binary(struct jinja_run *run, const struct jinja_node *node,
                                 struct jinja_value a, struct jinja_value b)
{
    enum jinja_operator op = node->op;
    int64_t m, n;
    double x, y;
    if (run->status != TD_OK)
        return jinja_undefined();
    if (op == JINJA_OP_CONCATENATE)
        return join_two(run, a, b);
    if (op == JINJA_OP_ADD && a.kind == JINJA_TEXT && b.kind == JINJA_TEXT)
        return join_two(run, a, b);
    if (op == JINJA_OP_ADD && a.kind == JINJA_LIST && b.kind == JINJA_LIST)
        return join_lists(run, a.list, b.list);
    if (op == JINJA_OP_MULTIPLY && a.kind == JINJA_TEXT && jinja_as_int(b, &n))
        return repeat(run, a.text, n);
    if (op == JINJA_OP_MODULO && a.kind == JINJA_TEXT)
        return b.kind == JINJA_LIST && b.list->tuple
                   ? jinja_format(run, a.text, b.list->items, b.list->count)
                   : jinja_format(run, a.text, &b, 1);
    bool integers = jinja_as_int(a, &m) && jinja_as_int(b, &n);
    if (integers && op == JINJA_OP_POWER)
        return power(run, m, n);
    if (integers && op != JINJA_OP_DIVIDE)
        return int_arithmetic(run, op, m, n);
    if (jinja_as_number(a, &x) && jinja_as_number(b, &y))
        return float_arithmetic(run, op, x, y);
    return jinja_fail(run, TD_UNSUPPORTED, "%s and %s cannot be combined with '" STR_FMT "'",
                      jinja_kind_name(a.kind), jinja_kind_name(b.kind), STR_ARG(node->text));
}

static bool comparison_holds(struct jinja_run *run, enum jinja_operator op, struct jinja_value a,
                             struct jinja_value b)
{
    switch (op) {
    case JINJA_OP_EQUAL:
        return jinja_equal(run, a, b);
    case JINJA_OP_NOT_EQUAL:
        return !jinja_equal(run, a, b);
    case JINJA_OP_IN:
        return jinja_contains(run, b, a);
    case JINJA_OP_NOT_IN:
        return !jinja_contains(run, b, a);
    case JINJA_OP_LESS:
        return jinja_compare(run, a, b) < 0;
    case JINJA_OP_LESS_EQUAL:
        return jinja_compare(run, a, b) <= 0;
    case JINJA_OP_GREATER:
        return jinja_compare(run, a, b) > 0;
    default: /* JINJA_OP_GREATER_EQUAL */
        return jinja_compare(run, a, b) >= 0;
    }
}

static struct jinja_value compare(struct jinja_run *run, const struct jinja_node *node)
{
    struct jinja_value left = jinja_evaluate(run, node->a);
    for (const struct jinja_node *next = node->b; next; next = next->next) {
        struct jinja_value right = jinja_evaluate(run, next->a);
        if (run->status != TD_OK || !comparison_holds(run, next->op, left, right))
            return jinja_bool(false);
        left = right;
    }
    return jinja_bool(true);
}

static struct jinja_value negative(struct jinja_run *run, struct jinja_value value)
{
    int64_t integer;
    if (jinja_as_int(value, &integer))
        return int_arithmetic(run, JINJA_OP_SUBTRACT, 0, integer);
    if (value.kind == JINJA_FLOAT)
        return jinja_float(-value.number);
    return jinja_fail(run, TD_UNSUPPORTED, "%s has no negative", jinja_kind_name(value.kind));
}

/* --- filters, tests, calls --- */

static struct jinja_value filter(struct jinja_run *run, const struct jinja_node *node,
                                 struct jinja_value input)
{
    jinja_filter_fn *apply = jinja_filter_find(node->text);
    if (apply == NULL)
        return jinja_fail(run, TD_UNSUPPORTED, "the filter '" STR_FMT "' is not supported",
                          STR_ARG(str_slice(node->text, 0, 40)));
    struct jinja_args args = jinja_evaluate_args(run, node->b);
    return run->status == TD_OK ? apply(run, input, &args) : jinja_undefined();
}

struct jinja_value jinja_apply_filters(struct jinja_run *run, const struct jinja_node *chain,
                                       struct jinja_value input)
{
    if (chain == NULL)
        return input;
    if (chain->kind != JINJA_FILTER)
        return jinja_fail(run, TD_UNSUPPORTED, "a filter block must begin with filters");
    if (++run->depth > JINJA_DEPTH_MAX)
        return jinja_fail(run, TD_LIMIT, "too many filters");
    struct jinja_value inner = jinja_apply_filters(run, chain->a, input);
    run->depth--;
    return filter(run, chain, inner);
}

static struct jinja_value test(struct jinja_run *run, const struct jinja_node *node)
{
    struct jinja_value input = jinja_evaluate(run, node->a);
    jinja_test_fn *holds = jinja_test_find(node->text);
    if (holds == NULL)
        return jinja_fail(run, TD_UNSUPPORTED, "the test '" STR_FMT "' is not supported",
                          STR_ARG(str_slice(node->text, 0, 40)));
    struct jinja_args args = jinja_evaluate_args(run, node->b);
    return run->status == TD_OK ? jinja_bool(holds(run, input, &args) != node->negated)
                                : jinja_undefined();
}

static struct jinja_value call(struct jinja_run *run, struct jinja_value callee,
                               const struct jinja_args *args)
{
    if (run->status != TD_OK)
        return jinja_undefined();
    switch (callee.kind) {
    case JINJA_MACRO:
        return jinja_call_macro(run, callee.macro, args, NULL);
    case JINJA_FUNCTION:
        return callee.function->call(run, args);
    case JINJA_METHOD:
        return jinja_method_call(run, callee.method, args);
    default:
        return jinja_fail(run, TD_UNSUPPORTED, "%s cannot be called", jinja_kind_name(callee.kind));
    }
}

static struct jinja_value name(struct jinja_run *run, const struct jinja_node *node)
{
    const struct jinja_value *found = jinja_lookup(run, node->symbol);
    if (found)
        return *found;
    const struct jinja_function *function = jinja_function_find(node->text);
    if (function)
        return (struct jinja_value){.kind = JINJA_FUNCTION, .function = function};
    return jinja_undefined();
}

static struct jinja_value sequence(struct jinja_run *run, const struct jinja_node *node)
{
    struct jinja_value list = jinja_list_new(run, 0);
    if (list.kind != JINJA_LIST)
        return list;
    list.list->tuple = node->tuple;
    for (const struct jinja_node *item = node->b; item; item = item->next)
        jinja_list_add(run, list.list, jinja_evaluate(run, item));
    return list;
}

static struct jinja_value mapping(struct jinja_run *run, const struct jinja_node *node)
{
    struct jinja_value dict = jinja_dict_new(run);
    for (const struct jinja_node *pair = node->b; pair && run->status == TD_OK; pair = pair->next) {
        struct jinja_value key = jinja_evaluate(run, pair->a);
        if (key.kind != JINJA_TEXT)
            return jinja_fail(run, TD_UNSUPPORTED, "a key of a mapping is no string");
        jinja_dict_put(run, dict.dict, key.text, jinja_evaluate(run, pair->b));
    }
    return dict;
}

static struct jinja_value logic(struct jinja_run *run, const struct jinja_node *node)
{
    struct jinja_value a = jinja_evaluate(run, node->a);
    switch (node->kind) {
    case JINJA_NOT:
        return jinja_bool(!jinja_truth(a));
    case JINJA_AND:
        return jinja_truth(a) ? jinja_evaluate(run, node->b) : a;
    case JINJA_OR:
        return jinja_truth(a) ? a : jinja_evaluate(run, node->b);
    default: /* JINJA_CONDITIONAL */
        if (jinja_truth(a))
            return jinja_evaluate(run, node->b);
        return node->c ? jinja_evaluate(run, node->c) : jinja_undefined();
    }
}

static struct jinja_value evaluate(struct jinja_run *run, const struct jinja_node *node)
{
    struct jinja_value a;
    switch (node->kind) {
    case JINJA_LITERAL:
        return node->value;
    case JINJA_NAME:
        return name(run, node);
    case JINJA_ATTRIBUTE:
        a = jinja_evaluate(run, node->a);
        return run->status == TD_OK ? attribute(run, a, node->text) : jinja_undefined();
    case JINJA_ITEM:
        a = jinja_evaluate(run, node->a);
        return jinja_subscript(run, a, jinja_evaluate(run, node->b));
    case JINJA_SLICE:
        return slice(run, node);
    case JINJA_CALL: {
        a = jinja_evaluate(run, node->a);
        struct jinja_args args = jinja_evaluate_args(run, node->b);
        return call(run, a, &args);
    }
    case JINJA_FILTER:
        return filter(run, node, jinja_evaluate(run, node->a));
    case JINJA_TEST:
        return test(run, node);
    case JINJA_NEGATIVE:
        return negative(run, jinja_evaluate(run, node->a));
    case JINJA_POSITIVE:
        return jinja_evaluate(run, node->a);
    case JINJA_NOT:
    case JINJA_AND:
    case JINJA_OR:
    case JINJA_CONDITIONAL:
        return logic(run, node);
    case JINJA_BINARY:
        a = jinja_evaluate(run, node->a);
        return binary(run, node, a, jinja_evaluate(run, node->b));
    case JINJA_COMPARE:
        return compare(run, node);
    case JINJA_SEQUENCE:
        return sequence(run, node);
    case JINJA_MAPPING:
        return mapping(run, node);
    default:
        return jinja_fail(run, TD_INTERNAL, "not an expression");
    }
}

struct jinja_value jinja_evaluate(struct jinja_run *run, const struct jinja_node *node)
{
    if (!jinja_charge(run, 0))
        return jinja_undefined();
    if (++run->depth > JINJA_DEPTH_MAX)
        jinja_fail(run, TD_LIMIT, "expressions are nested too deep");
    struct jinja_value value = run->status == TD_OK ? evaluate(run, node) : jinja_undefined();
    run->depth--;
    return value;
}
