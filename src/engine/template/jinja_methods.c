/* Functions that templates can call without defining them, and methods of strings, mappings, lists
 * and loops. None of them changes a value: Hugging Face's sandbox also forbids append, pop and the
 * like. None reads a file or exceeds the run's limits. */
#include "engine/template/jinja_eval.h"

#include "base/core/ascii.h"
#include "base/text/utf8.h"

#include <time.h>

/* --- functions --- */

#define RANGE_MAX 100000 /* Jinja's sandbox has the same */

static struct jinja_value function_range(struct jinja_run *run, const struct jinja_args *args)
{
    bool two = args->count > 1;
    int64_t begin = two ? jinja_int_arg(run, args, 0, "start", 0) : 0;
    int64_t end = jinja_int_arg(run, args, two, "stop", 0);
    int64_t step = jinja_int_arg(run, args, 2, "step", 1);
    struct jinja_value list = jinja_list_new(run, 0);
    if (step == 0 || args->count == 0)
        return jinja_fail(run, TD_UNSUPPORTED, "a range without end");
    for (int64_t i = begin; step > 0 ? i < end : i > end;) {
        if (run->status != TD_OK || list.list->count == RANGE_MAX)
            return jinja_fail(run, TD_LIMIT, "a range of more than %d numbers", RANGE_MAX);
        jinja_list_add(run, list.list, jinja_int(i));
        if (__builtin_add_overflow(i, step, &i))
            break;
    }
    return list;
}

static struct jinja_value function_dict(struct jinja_run *run, const struct jinja_args *args)
{
    struct jinja_value dict = jinja_dict_new(run);
    for (size_t i = 0; i < args->count && run->status == TD_OK; i++) {
        if (args->names[i].data == NULL)
            return jinja_fail(run, TD_UNSUPPORTED, "dict() and namespace() take named values");
        struct jinja_text key = {
            .data = args->names[i].data, .len = args->names[i].len, .mark = true};
        jinja_dict_put(run, dict.dict, key, args->values[i]);
    }
    return dict;
}

static struct jinja_value function_namespace(struct jinja_run *run, const struct jinja_args *args)
{
    struct jinja_value space = function_dict(run, args);
    if (space.kind == JINJA_DICT)
        space.kind = JINJA_NAMESPACE;
    return space;
}

/* Only the template's own words: errors may be logged, and message text must not be. */
static struct jinja_value function_raise(struct jinja_run *run, const struct jinja_args *args)
{
    struct jinja_text text = jinja_str(run, jinja_arg(args, 0, "message"));
    char words[256];
    size_t len = 0;
    for (size_t i = 0; i < text.len && len + 1 < sizeof(words); i++)
        words[len++] = (text.origin ? text.origin[i] : text.mark) ? text.data[i] : '?';
    words[len] = '\0';
    return jinja_fail(run, TD_INVALID, "it refuses the messages: %s", words);
}

static struct jinja_value function_strftime_now(struct jinja_run *run,
                                                const struct jinja_args *args)
{
    struct jinja_text format = jinja_text_arg(run, args, 0, "format", NULL);
    char *pattern = jinja_alloc(run, format.len + 1, 1), *out = jinja_alloc(run, 256, 1);
    struct tm parts;
    time_t now = (time_t)(clock_wall_ms(run->clock) / 1000);
    if (pattern == NULL || out == NULL || format.len == 0)
        return jinja_word("");
    memcpy(pattern, format.data, format.len);
    if (format.len > 64 || localtime_r(&now, &parts) == NULL)
        return jinja_fail(run, TD_UNSUPPORTED, "a time format that is not supported");
    size_t len = strftime(out, 256, pattern, &parts);
    if (len == 0)
        return jinja_fail(run, TD_UNSUPPORTED, "a time format that is not supported");
    return jinja_from_text((struct jinja_text){.data = out, .len = len, .mark = true});
}

const struct jinja_function *jinja_function_find(struct td_str name)
{
    static const struct jinja_function functions[] = {{"range", function_range},
                                                      {"dict", function_dict},
                                                      {"namespace", function_namespace},
                                                      {"raise_exception", function_raise},
                                                      {"strftime_now", function_strftime_now}};
    for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
        if (str_equal(name, str_from(functions[i].name)))
            return &functions[i];
    return NULL;
}

/* --- methods of strings --- */

static struct jinja_value split_spaces(struct jinja_run *run, struct jinja_text text)
{
    struct jinja_value list = jinja_list_new(run, 0);
    for (size_t at = 0; at < text.len && run->status == TD_OK;) {
        size_t begin = at;
        while (at < text.len && text.data[at] != ' ' &&
               (text.data[at] < '\t' || text.data[at] > '\r'))
            at++;
        if (at > begin)
            jinja_list_add(run, list.list, jinja_from_text(jinja_slice(text, begin, at)));
        else
            at++;
    }
    return list;
}

static struct jinja_value split(struct jinja_run *run, struct jinja_text text,
                                const struct jinja_args *args)
{
    struct jinja_value given = jinja_arg(args, 0, "sep");
    int64_t left = jinja_int_arg(run, args, 1, "maxsplit", -1);
    if (!jinja_charge(run, text.len))
        return jinja_undefined();
    if ((given.kind == JINJA_UNDEFINED || given.kind == JINJA_NONE) && left < 0)
        return split_spaces(run, text);
    struct jinja_text separator = jinja_text_arg(run, args, 0, "sep", NULL);
    struct jinja_value list = jinja_list_new(run, 0);
    if (separator.len == 0)
        return jinja_fail(run, TD_UNSUPPORTED, "a split at an empty string");
    size_t from = 0, at;
    while (left-- != 0 && run->status == TD_OK &&
           (at = str_find(jinja_view(text), jinja_view(separator), from)) != SIZE_MAX) {
        jinja_list_add(run, list.list, jinja_from_text(jinja_slice(text, from, at)));
        from = at + separator.len;
    }
    jinja_list_add(run, list.list, jinja_from_text(jinja_slice(text, from, text.len)));
    return list;
}

static struct jinja_value splitlines(struct jinja_run *run, struct jinja_text text)
{
    struct jinja_value list = jinja_list_new(run, 0);
    for (size_t from = 0; from < text.len && run->status == TD_OK;) {
        size_t end = from;
        while (end < text.len && text.data[end] != '\n' && text.data[end] != '\r')
            end++;
        jinja_list_add(run, list.list, jinja_from_text(jinja_slice(text, from, end)));
        bool both = end + 1 < text.len && text.data[end] == '\r' && text.data[end + 1] == '\n';
        from = end + 1 + both;
    }
    return list;
}

/* startswith and endswith, with a string or with a tuple of strings. */
static struct jinja_value affix(struct jinja_run *run, struct jinja_text text,
                                struct jinja_value of, bool end)
{
    const struct jinja_value *parts = of.kind == JINJA_LIST ? of.list->items : &of;
    size_t count = of.kind == JINJA_LIST ? of.list->count : 1;
    for (size_t i = 0; i < count; i++) {
        if (parts[i].kind != JINJA_TEXT)
            return jinja_fail(run, TD_UNSUPPORTED, "a string cannot begin or end with %s",
                              jinja_kind_name(parts[i].kind));
        struct td_str part = jinja_view(parts[i].text);
        if (!jinja_charge(run, part.len))
            break;
        if (end ? str_ends_with(jinja_view(text), part) : str_starts_with(jinja_view(text), part))
            return jinja_bool(true);
    }
    return jinja_bool(false);
}

static struct jinja_value remove_affix(struct jinja_run *run, struct jinja_text text,
                                       const struct jinja_args *args, bool end)
{
    struct jinja_text part = jinja_text_arg(run, args, 0, "affix", NULL);
    struct jinja_value there = affix(run, text, jinja_from_text(part), end);
    if (!jinja_truth(there))
        return jinja_from_text(text);
    return jinja_from_text(end ? jinja_slice(text, 0, text.len - part.len)
                               : jinja_slice(text, part.len, text.len));
}

static struct jinja_value find(struct jinja_run *run, struct jinja_text text,
                               const struct jinja_args *args, bool last)
{
    struct jinja_text part = jinja_text_arg(run, args, 0, "sub", NULL);
    size_t found = SIZE_MAX, at = 0;
    if (!jinja_charge(run, text.len) || args->count > 1)
        return jinja_fail(run, TD_UNSUPPORTED, "find() within a range is not supported");
    while ((at = str_find(jinja_view(text), jinja_view(part), at)) != SIZE_MAX &&
           jinja_charge(run, part.len)) {
        found = at++;
        if (!last)
            break;
    }
    if (found == SIZE_MAX)
        return jinja_int(-1);
    return jinja_int((int64_t)jinja_text_length(jinja_slice(text, 0, found)));
}

static struct jinja_value count(struct jinja_run *run, struct jinja_text text,
                                const struct jinja_args *args)
{
    struct jinja_text part = jinja_text_arg(run, args, 0, "sub", NULL);
    int64_t found = 0;
    if (!jinja_charge(run, text.len))
        return jinja_undefined();
    if (part.len == 0)
        return jinja_int((int64_t)jinja_text_length(text) + 1);
    for (size_t at = 0; (at = str_find(jinja_view(text), jinja_view(part), at)) != SIZE_MAX &&
                        jinja_charge(run, 0);
         at += part.len)
        found++;
    return jinja_int(found);
}

static struct jinja_value all_of(struct jinja_run *run, struct jinja_text text, bool (*is)(int c))
{
    if (!jinja_charge(run, text.len))
        return jinja_undefined();
    for (size_t i = 0; i < text.len; i++)
        if (!is(text.data[i]))
            return jinja_bool(false);
    return jinja_bool(text.len > 0);
}

/* Every byte outside ASCII counts as a letter. */
static bool is_alpha(int c)
{
    return ascii_is_letter(c) || (c & 0x80);
}

static bool is_alnum(int c)
{
    return ascii_is_digit(c) || is_alpha(c);
}

enum method {
    METHOD_NONE,
    METHOD_STRIP,
    METHOD_LSTRIP,
    METHOD_RSTRIP,
    METHOD_SPLIT,
    METHOD_SPLITLINES,
    METHOD_STARTSWITH,
    METHOD_ENDSWITH,
    METHOD_REPLACE,
    METHOD_UPPER,
    METHOD_LOWER,
    METHOD_TITLE,
    METHOD_CAPITALIZE,
    METHOD_FIND,
    METHOD_RFIND,
    METHOD_COUNT,
    METHOD_JOIN,
    METHOD_REMOVEPREFIX,
    METHOD_REMOVESUFFIX,
    METHOD_ISDIGIT,
    METHOD_ISALPHA,
    METHOD_ISALNUM,
    METHOD_ISSPACE,
    METHOD_ITEMS,
    METHOD_KEYS,
    METHOD_VALUES,
    METHOD_GET,
    METHOD_INDEX,
    METHOD_CYCLE
};

static enum method method_of(struct jinja_value of, struct td_str name)
{
    static const struct {
        enum jinja_kind of;
        const char *name;
        enum method method;
    } rows[] = {
        {JINJA_TEXT, "strip", METHOD_STRIP},
        {JINJA_TEXT, "lstrip", METHOD_LSTRIP},
        {JINJA_TEXT, "rstrip", METHOD_RSTRIP},
        {JINJA_TEXT, "split", METHOD_SPLIT},
        {JINJA_TEXT, "splitlines", METHOD_SPLITLINES},
        {JINJA_TEXT, "startswith", METHOD_STARTSWITH},
        {JINJA_TEXT, "endswith", METHOD_ENDSWITH},
        {JINJA_TEXT, "replace", METHOD_REPLACE},
        {JINJA_TEXT, "upper", METHOD_UPPER},
        {JINJA_TEXT, "lower", METHOD_LOWER},
        {JINJA_TEXT, "title", METHOD_TITLE},
        {JINJA_TEXT, "capitalize", METHOD_CAPITALIZE},
        {JINJA_TEXT, "find", METHOD_FIND},
        {JINJA_TEXT, "rfind", METHOD_RFIND},
        {JINJA_TEXT, "count", METHOD_COUNT},
        {JINJA_TEXT, "join", METHOD_JOIN},
        {JINJA_TEXT, "removeprefix", METHOD_REMOVEPREFIX},
        {JINJA_TEXT, "removesuffix", METHOD_REMOVESUFFIX},
        {JINJA_TEXT, "isdigit", METHOD_ISDIGIT},
        {JINJA_TEXT, "isalpha", METHOD_ISALPHA},
        {JINJA_TEXT, "isalnum", METHOD_ISALNUM},
        {JINJA_TEXT, "isspace", METHOD_ISSPACE},
        {JINJA_DICT, "items", METHOD_ITEMS},
        {JINJA_DICT, "keys", METHOD_KEYS},
        {JINJA_DICT, "values", METHOD_VALUES},
        {JINJA_DICT, "get", METHOD_GET},
        {JINJA_LIST, "index", METHOD_INDEX},
        {JINJA_LIST, "count", METHOD_COUNT},
        {JINJA_LOOP, "cycle", METHOD_CYCLE},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (rows[i].of == of.kind && str_equal(name, str_from(rows[i].name)))
            return rows[i].method;
    return METHOD_NONE;
}

bool jinja_method_exists(struct jinja_value of, struct td_str name)
{
    return method_of(of, name) != METHOD_NONE;
}

static struct jinja_value call_on_text(struct jinja_run *run, struct jinja_text text,
                                       enum method method, const struct jinja_args *args)
{
    switch (method) {
    case METHOD_STRIP:
        return jinja_strip(run, text, args, true, true);
    case METHOD_LSTRIP:
        return jinja_strip(run, text, args, true, false);
    case METHOD_RSTRIP:
        return jinja_strip(run, text, args, false, true);
    case METHOD_SPLIT:
        return split(run, text, args);
    case METHOD_SPLITLINES:
        return jinja_charge(run, text.len) ? splitlines(run, text) : jinja_undefined();
    case METHOD_STARTSWITH:
    case METHOD_ENDSWITH:
        return affix(run, text, jinja_arg(args, 0, "affix"), method == METHOD_ENDSWITH);
    case METHOD_REPLACE:
        return jinja_replace(run, text, args);
    case METHOD_UPPER:
    case METHOD_LOWER:
    case METHOD_TITLE:
    case METHOD_CAPITALIZE:
        return jinja_change_case(run, text, (enum jinja_case)(method - METHOD_UPPER));
    case METHOD_FIND:
    case METHOD_RFIND:
        return find(run, text, args, method == METHOD_RFIND);
    case METHOD_COUNT:
        return count(run, text, args);
    case METHOD_JOIN: {
        const struct jinja_list *list = jinja_iterate(run, jinja_arg(args, 0, "iterable"));
        return list ? jinja_join(run, list, text) : jinja_undefined();
    }
    case METHOD_REMOVEPREFIX:
    case METHOD_REMOVESUFFIX:
        return remove_affix(run, text, args, method == METHOD_REMOVESUFFIX);
    case METHOD_ISDIGIT:
        return all_of(run, text, ascii_is_digit);
    case METHOD_ISALPHA:
        return all_of(run, text, is_alpha);
    case METHOD_ISALNUM:
        return all_of(run, text, is_alnum);
    default: /* METHOD_ISSPACE */
        return all_of(run, text, ascii_is_space);
    }
}

/* --- methods of the others --- */

static struct jinja_value call_on_dict(struct jinja_run *run, struct jinja_value dict,
                                       enum method method, const struct jinja_args *args)
{
    if (method == METHOD_ITEMS)
        return jinja_items_of(run, dict);
    if (method == METHOD_GET) {
        struct jinja_value key = jinja_arg(args, 0, "key");
        const struct jinja_value *found = NULL;
        if (key.kind == JINJA_TEXT)
            found = jinja_dict_get(run, dict.dict, jinja_view(key.text));
        if (found)
            return *found;
        return jinja_has_arg(args, 1, "default") ? jinja_arg(args, 1, "default") : jinja_none();
    }
    struct jinja_value list = jinja_list_new(run, dict.dict->count);
    for (size_t i = 0; i < dict.dict->count && run->status == TD_OK; i++)
        jinja_list_add(run, list.list,
                       method == METHOD_KEYS ? jinja_from_text(dict.dict->entries[i].key)
                                             : dict.dict->entries[i].value);
    return list;
}

static struct jinja_value call_on_list(struct jinja_run *run, const struct jinja_list *list,
                                       enum method method, const struct jinja_args *args)
{
    struct jinja_value wanted = jinja_arg(args, 0, "value");
    int64_t found = 0;
    for (size_t i = 0; i < list->count && run->status == TD_OK; i++) {
        if (!jinja_equal(run, list->items[i], wanted))
            continue;
        if (method == METHOD_INDEX)
            return jinja_int((int64_t)i);
        found++;
    }
    return method == METHOD_INDEX ? jinja_fail(run, TD_UNSUPPORTED, "index() finds nothing")
                                  : jinja_int(found);
}

struct jinja_value jinja_method_call(struct jinja_run *run, const struct jinja_method *method,
                                     const struct jinja_args *args)
{
    struct jinja_value of = method->receiver;
    enum method which = method_of(of, method->name);
    switch (of.kind) {
    case JINJA_TEXT:
        return call_on_text(run, of.text, which, args);
    case JINJA_DICT:
        return call_on_dict(run, of, which, args);
    case JINJA_LIST:
        return call_on_list(run, of.list, which, args);
    default: /* loop.cycle */
        if (args->count == 0)
            return jinja_fail(run, TD_UNSUPPORTED, "cycle() without values");
        return args->values[of.loop->index % args->count];
    }
}
