/* Filters on lists and mappings. Where Jinja returns a generator they return a list. */
#include "engine/template/jinja_eval.h"

static struct jinja_value copy_list(struct jinja_run *run, struct jinja_value input)
{
    const struct jinja_list *from = jinja_iterate(run, input);
    struct jinja_value list = jinja_list_new(run, from ? from->count : 0);
    for (size_t i = 0; from && i < from->count; i++)
        jinja_list_add(run, list.list, from->items[i]);
    return list;
}

static struct jinja_value filter_list(struct jinja_run *run, struct jinja_value input,
                                      const struct jinja_args *args)
{
    (void)args;
    return copy_list(run, input);
}

static struct jinja_value filter_first(struct jinja_run *run, struct jinja_value input,
                                       const struct jinja_args *args)
{
    const struct jinja_list *list = jinja_iterate(run, input);
    (void)args;
    return list && list->count > 0 ? list->items[0] : jinja_undefined();
}

static struct jinja_value filter_last(struct jinja_run *run, struct jinja_value input,
                                      const struct jinja_args *args)
{
    const struct jinja_list *list = jinja_iterate(run, input);
    (void)args;
    return list && list->count > 0 ? list->items[list->count - 1] : jinja_undefined();
}

static struct jinja_value filter_reverse(struct jinja_run *run, struct jinja_value input,
                                         const struct jinja_args *args)
{
    const struct jinja_list *from = jinja_iterate(run, input);
    struct jinja_value list = jinja_list_new(run, from ? from->count : 0);
    (void)args;
    for (size_t i = from ? from->count : 0; i > 0; i--)
        jinja_list_add(run, list.list, from->items[i - 1]);
    if (input.kind == JINJA_TEXT && run->status == TD_OK)
        return jinja_join(run, list.list, (struct jinja_text){.data = ""});
    return list;
}

struct jinja_value jinja_items_of(struct jinja_run *run, struct jinja_value dict)
{
    struct jinja_value list = jinja_list_new(run, 0);
    if (dict.kind == JINJA_UNDEFINED)
        return list;
    if (dict.kind != JINJA_DICT)
        return jinja_fail(run, TD_UNSUPPORTED, "%s has no items", jinja_kind_name(dict.kind));
    for (size_t i = 0; i < dict.dict->count && run->status == TD_OK; i++) {
        struct jinja_value pair = jinja_list_new(run, 2);
        if (pair.kind != JINJA_LIST)
            break;
        pair.list->tuple = true;
        jinja_list_add(run, pair.list, jinja_from_text(dict.dict->entries[i].key));
        jinja_list_add(run, pair.list, dict.dict->entries[i].value);
        jinja_list_add(run, list.list, pair);
    }
    return list;
}

static struct jinja_value filter_items(struct jinja_run *run, struct jinja_value input,
                                       const struct jinja_args *args)
{
    (void)args;
    return jinja_items_of(run, input);
}

/* Follows a path such as a.b.0 from a value, as attribute arguments are written. */
static struct jinja_value path_of(struct jinja_run *run, struct jinja_value value,
                                  struct jinja_value path)
{
    if (path.kind == JINJA_INT)
        return jinja_subscript(run, value, path);
    if (path.kind != JINJA_TEXT)
        return jinja_fail(run, TD_UNSUPPORTED, "an attribute's name must be a string");
    struct td_str rest = jinja_view(path.text), part;
    while (run->status == TD_OK && str_next(&rest, '.', &part)) {
        int64_t index;
        struct jinja_text key = {.data = part.data, .len = part.len};
        value = jinja_subscript(run, value,
                                str_to_i64(part, &index) ? jinja_int(index) : jinja_from_text(key));
    }
    return value;
}

static struct jinja_value filter_join(struct jinja_run *run, struct jinja_value input,
                                      const struct jinja_args *args)
{
    struct jinja_value separator = jinja_arg(args, 0, "d"), path = jinja_arg(args, 1, "attribute");
    struct jinja_value list = copy_list(run, input);
    for (size_t i = 0; path.kind != JINJA_UNDEFINED && run->status == TD_OK && i < list.list->count;
         i++)
        list.list->items[i] = path_of(run, list.list->items[i], path);
    return run->status == TD_OK ? jinja_join(run, list.list, jinja_str(run, separator))
                                : jinja_undefined();
}

/* The arguments after the first `skip` ones. */
static struct jinja_args rest_of(const struct jinja_args *args, size_t skip)
{
    if (args->count <= skip)
        return (struct jinja_args){0};
    return (struct jinja_args){args->values + skip, args->names + skip, args->count - skip};
}

static struct jinja_value filter_map(struct jinja_run *run, struct jinja_value input,
                                     const struct jinja_args *args)
{
    struct jinja_value path = jinja_arg(args, SIZE_MAX, "attribute");
    struct jinja_value otherwise = jinja_arg(args, SIZE_MAX, "default");
    struct jinja_value list = copy_list(run, input);
    jinja_filter_fn *apply = NULL;
    struct jinja_args rest = rest_of(args, 1);
    if (path.kind == JINJA_UNDEFINED) {
        struct jinja_text name = jinja_text_arg(run, args, 0, "filter", NULL);
        apply = jinja_filter_find(jinja_view(name));
        if (apply == NULL)
            return jinja_fail(run, TD_UNSUPPORTED, "map() with a filter that is not supported");
    }
    if (++run->depth > JINJA_DEPTH_MAX) /* map('map', ...) */
        jinja_fail(run, TD_LIMIT, "filters are nested too deep");
    for (size_t i = 0; run->status == TD_OK && i < list.list->count; i++) {
        struct jinja_value *item = &list.list->items[i];
        jinja_charge(run, 0);
        *item = apply ? apply(run, *item, &rest) : path_of(run, *item, path);
        if (!apply && item->kind == JINJA_UNDEFINED)
            *item = otherwise;
    }
    run->depth--;
    return list;
}

/* select, reject and their -attr forms: the items for which the test, or truth, gives `wanted`. */
static struct jinja_value choose(struct jinja_run *run, struct jinja_value input,
                                 const struct jinja_args *args, bool by_attribute, bool wanted)
{
    const struct jinja_list *from = jinja_iterate(run, input);
    struct jinja_value list = jinja_list_new(run, 0);
    struct jinja_args rest = rest_of(args, by_attribute);
    jinja_test_fn *holds = NULL;
    if (rest.count > 0) {
        struct jinja_text name = jinja_text_arg(run, &rest, 0, "test", NULL);
        holds = jinja_test_find(jinja_view(name));
        if (holds == NULL)
            return jinja_fail(run, TD_UNSUPPORTED, "a selection by a test that is not supported");
        rest = rest_of(&rest, 1);
    }
    for (size_t i = 0; from && run->status == TD_OK && i < from->count; i++) {
        struct jinja_value value = from->items[i];
        if (by_attribute)
            value = path_of(run, value, jinja_arg(args, 0, "attribute"));
        bool chosen = holds ? holds(run, value, &rest) : jinja_truth(value);
        if (run->status == TD_OK && chosen == wanted)
            jinja_list_add(run, list.list, from->items[i]);
    }
    return list;
}

static struct jinja_value filter_select(struct jinja_run *run, struct jinja_value input,
                                        const struct jinja_args *args)
{
    return choose(run, input, args, false, true);
}

static struct jinja_value filter_reject(struct jinja_run *run, struct jinja_value input,
                                        const struct jinja_args *args)
{
    return choose(run, input, args, false, false);
}

static struct jinja_value filter_selectattr(struct jinja_run *run, struct jinja_value input,
                                            const struct jinja_args *args)
{
    return choose(run, input, args, true, true);
}

static struct jinja_value filter_rejectattr(struct jinja_run *run, struct jinja_value input,
                                            const struct jinja_args *args)
{
    return choose(run, input, args, true, false);
}

/* As in Jinja, strings compare without case unless the template asks for it. */
static struct jinja_value sort_key(struct jinja_run *run, struct jinja_value value,
                                   struct jinja_value path, bool with_case)
{
    if (path.kind != JINJA_UNDEFINED)
        value = path_of(run, value, path);
    if (value.kind == JINJA_TEXT && !with_case)
        value = jinja_change_case(run, value.text, JINJA_LOWER);
    return value;
}

/* Insertion sort: lists in templates are short, and the steps are counted. */
static struct jinja_value sort_by(struct jinja_run *run, struct jinja_value input,
                                  struct jinja_value path, bool with_case, bool reverse)
{
    struct jinja_value list = copy_list(run, input);
    struct jinja_value *items = run->status == TD_OK ? list.list->items : NULL;
    for (size_t i = 1; items && i < list.list->count && run->status == TD_OK; i++) {
        struct jinja_value item = items[i], key = sort_key(run, item, path, with_case);
        size_t at = i;
        for (; at > 0 && run->status == TD_OK; at--) {
            int order = jinja_compare(run, sort_key(run, items[at - 1], path, with_case), key);
            if (reverse ? order >= 0 : order <= 0)
                break;
            items[at] = items[at - 1];
        }
        items[at] = item;
    }
    return list;
}

static struct jinja_value filter_sort(struct jinja_run *run, struct jinja_value input,
                                      const struct jinja_args *args)
{
    return sort_by(run, input, jinja_arg(args, 2, "attribute"),
                   jinja_truth(jinja_arg(args, 1, "case_sensitive")),
                   jinja_truth(jinja_arg(args, 0, "reverse")));
}

static struct jinja_value filter_dictsort(struct jinja_run *run, struct jinja_value input,
                                          const struct jinja_args *args)
{
    int64_t column = jinja_is_text(jinja_arg(args, 1, "by"), "value");
    return sort_by(run, jinja_items_of(run, input), jinja_int(column),
                   jinja_truth(jinja_arg(args, 0, "case_sensitive")),
                   jinja_truth(jinja_arg(args, 2, "reverse")));
}

static struct jinja_value extreme(struct jinja_run *run, struct jinja_value input,
                                  const struct jinja_args *args, int sign)
{
    const struct jinja_list *list = jinja_iterate(run, input);
    struct jinja_value best = jinja_undefined(), path = jinja_arg(args, 1, "attribute");
    bool with_case = jinja_truth(jinja_arg(args, 0, "case_sensitive"));
    for (size_t i = 0; list && i < list->count && run->status == TD_OK; i++)
        if (i == 0 || sign * jinja_compare(run, sort_key(run, list->items[i], path, with_case),
                                           sort_key(run, best, path, with_case)) >
                          0)
            best = list->items[i];
    return best;
}

static struct jinja_value filter_max(struct jinja_run *run, struct jinja_value input,
                                     const struct jinja_args *args)
{
    return extreme(run, input, args, 1);
}

static struct jinja_value filter_min(struct jinja_run *run, struct jinja_value input,
                                     const struct jinja_args *args)
{
    return extreme(run, input, args, -1);
}

static struct jinja_value filter_unique(struct jinja_run *run, struct jinja_value input,
                                        const struct jinja_args *args)
{
    const struct jinja_list *from = jinja_iterate(run, input);
    struct jinja_value list = jinja_list_new(run, 0);
    bool with_case = jinja_truth(jinja_arg(args, 0, "case_sensitive"));
    for (size_t i = 0; from && i < from->count && run->status == TD_OK; i++) {
        struct jinja_value key = sort_key(run, from->items[i], jinja_undefined(), with_case);
        bool seen = false;
        for (size_t n = 0; n < list.list->count && !seen && run->status == TD_OK; n++)
            seen = jinja_equal(run, key,
                               sort_key(run, list.list->items[n], jinja_undefined(), with_case));
        if (!seen)
            jinja_list_add(run, list.list, from->items[i]);
    }
    return list;
}

static struct jinja_value filter_sum(struct jinja_run *run, struct jinja_value input,
                                     const struct jinja_args *args)
{
    const struct jinja_list *list = jinja_iterate(run, input);
    struct jinja_value path = jinja_arg(args, 0, "attribute");
    int64_t sum = 0, integer;
    for (size_t i = 0; list && i < list->count && run->status == TD_OK; i++) {
        struct jinja_value value = list->items[i];
        if (path.kind != JINJA_UNDEFINED)
            value = path_of(run, value, path);
        if (!jinja_as_int(value, &integer) || __builtin_add_overflow(sum, integer, &sum))
            return jinja_fail(run, TD_UNSUPPORTED, "only integers can be summed");
    }
    return jinja_int(sum);
}

jinja_filter_fn *jinja_list_filter_find(struct td_str name)
{
    static const struct {
        const char *name;
        jinja_filter_fn *apply;
    } rows[] = {
        {"dictsort", filter_dictsort},
        {"first", filter_first},
        {"items", filter_items},
        {"join", filter_join},
        {"last", filter_last},
        {"list", filter_list},
        {"map", filter_map},
        {"max", filter_max},
        {"min", filter_min},
        {"reject", filter_reject},
        {"rejectattr", filter_rejectattr},
        {"reverse", filter_reverse},
        {"select", filter_select},
        {"selectattr", filter_selectattr},
        {"sort", filter_sort},
        {"sum", filter_sum},
        {"unique", filter_unique},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (str_equal(name, str_from(rows[i].name)))
            return rows[i].apply;
    return NULL;
}
