/* Tests: the names after `is`, and those that select() and its relatives take. */
#include "engine/template/jinja_eval.h"

#include "base/core/ascii.h"

/* Defines a test by its name and a condition on `value` and `other`, its first argument. */
#define TEST(name, condition)                                                \
    static bool test_##name(struct jinja_run *run, struct jinja_value value, \
                            const struct jinja_args *args)                   \
    {                                                                        \
        struct jinja_value other = jinja_arg(args, 0, "other");              \
        (void)run, (void)other;                                              \
        return condition;                                                    \
    }

static bool has_case(struct jinja_run *run, struct jinja_value value, enum jinja_case how)
{
    struct jinja_text text = jinja_str(run, value);
    bool letters = false;
    for (size_t i = 0; i < text.len; i++)
        letters = letters || ascii_is_letter(text.data[i]);
    return letters && jinja_equal(run, jinja_from_text(text), jinja_change_case(run, text, how));
}

static int64_t remainder_of(struct jinja_run *run, struct jinja_value value, int64_t by)
{
    int64_t integer;
    if (!jinja_as_int(value, &integer) || by == 0) {
        jinja_fail(run, TD_UNSUPPORTED, "%s cannot be divided", jinja_kind_name(value.kind));
        return 0;
    }
    return by == -1 ? 0 : integer % by;
}

static bool same(struct jinja_value a, struct jinja_value b)
{
    if (a.kind != b.kind)
        return false;
    switch (a.kind) {
    case JINJA_UNDEFINED:
    case JINJA_NONE:
        return true;
    case JINJA_BOOL:
        return a.boolean == b.boolean;
    case JINJA_INT:
        return a.integer == b.integer;
    case JINJA_FLOAT:
        return a.number == b.number;
    case JINJA_TEXT:
        return str_equal(jinja_view(a.text), jinja_view(b.text));
    default:
        return a.list == b.list;
    }
}

TEST(defined, value.kind != JINJA_UNDEFINED)
TEST(undefined, value.kind == JINJA_UNDEFINED)
TEST(none, value.kind == JINJA_NONE)
TEST(boolean, value.kind == JINJA_BOOL)
TEST(true, value.kind == JINJA_BOOL && value.boolean)
TEST(false, value.kind == JINJA_BOOL && !value.boolean)
TEST(integer, value.kind == JINJA_INT)
TEST(float, value.kind == JINJA_FLOAT)
TEST(number, value.kind == JINJA_INT || value.kind == JINJA_FLOAT || value.kind == JINJA_BOOL)
TEST(string, value.kind == JINJA_TEXT)
TEST(mapping, value.kind == JINJA_DICT)
TEST(iterable, value.kind == JINJA_TEXT || value.kind == JINJA_LIST || value.kind == JINJA_DICT ||
                   value.kind == JINJA_UNDEFINED)
TEST(sequence, value.kind == JINJA_TEXT || value.kind == JINJA_LIST || value.kind == JINJA_DICT ||
                   value.kind == JINJA_UNDEFINED)
TEST(callable,
     value.kind == JINJA_MACRO || value.kind == JINJA_FUNCTION || value.kind == JINJA_METHOD)
TEST(odd, remainder_of(run, value, 2) != 0)
TEST(even, remainder_of(run, value, 2) == 0)
TEST(divisibleby, remainder_of(run, value, jinja_int_arg(run, args, 0, "num", 0)) == 0)
TEST(eq, jinja_equal(run, value, other))
TEST(ne, !jinja_equal(run, value, other))
TEST(lt, jinja_compare(run, value, other) < 0)
TEST(le, jinja_compare(run, value, other) <= 0)
TEST(gt, jinja_compare(run, value, other) > 0)
TEST(ge, jinja_compare(run, value, other) >= 0)
TEST(in,
     jinja_contains(run, other.kind == JINJA_UNDEFINED ? jinja_arg(args, 0, "seq") : other, value))
TEST(sameas, same(value, other))
TEST(lower, has_case(run, value, JINJA_LOWER))
TEST(upper, has_case(run, value, JINJA_UPPER))

jinja_test_fn *jinja_test_find(struct td_str name)
{
    static const struct {
        const char *name;
        jinja_test_fn *holds;
    } rows[] = {
        {"defined", test_defined},
        {"undefined", test_undefined},
        {"none", test_none},
        {"boolean", test_boolean},
        {"true", test_true},
        {"false", test_false},
        {"integer", test_integer},
        {"float", test_float},
        {"number", test_number},
        {"string", test_string},
        {"mapping", test_mapping},
        {"iterable", test_iterable},
        {"sequence", test_sequence},
        {"callable", test_callable},
        {"odd", test_odd},
        {"even", test_even},
        {"divisibleby", test_divisibleby},
        {"in", test_in},
        {"equalto", test_eq},
        {"eq", test_eq},
        {"==", test_eq},
        {"ne", test_ne},
        {"!=", test_ne},
        {"lt", test_lt},
        {"lessthan", test_lt},
        {"<", test_lt},
        {"le", test_le},
        {"<=", test_le},
        {"gt", test_gt},
        {"greaterthan", test_gt},
        {">", test_gt},
        {"ge", test_ge},
        {">=", test_ge},
        {"sameas", test_sameas},
        {"lower", test_lower},
        {"upper", test_upper},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (str_equal(name, str_from(rows[i].name)))
            return rows[i].holds;
    return NULL;
}
