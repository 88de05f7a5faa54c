/* Filters on texts, numbers and any value, as Jinja defines them. Only tojson is Hugging Face's:
 * json.dumps without escapes for HTML. The result of a filter keeps the provenance of its text. */
#include "engine/template/jinja_eval.h"

#include "base/core/ascii.h"
#include "base/text/utf8.h"

#include <math.h>

bool jinja_has_arg(const struct jinja_args *args, size_t index, const char *name)
{
    if (index < args->count && args->names[index].data == NULL)
        return true;
    for (size_t i = 0; i < args->count; i++)
        if (args->names[i].data && str_equal(args->names[i], str_from(name)))
            return true;
    return false;
}

struct jinja_value jinja_arg(const struct jinja_args *args, size_t index, const char *name)
{
    if (index < args->count && args->names[index].data == NULL)
        return args->values[index];
    for (size_t i = 0; i < args->count; i++)
        if (args->names[i].data && str_equal(args->names[i], str_from(name)))
            return args->values[i];
    return jinja_undefined();
}

struct jinja_text jinja_text_arg(struct jinja_run *run, const struct jinja_args *args, size_t index,
                                 const char *name, const char *otherwise)
{
    if (!jinja_has_arg(args, index, name) && otherwise)
        return jinja_word(otherwise).text;
    struct jinja_value value = jinja_arg(args, index, name);
    if (value.kind == JINJA_TEXT)
        return value.text;
    jinja_fail(run, TD_UNSUPPORTED, "the argument '%s' must be a string", name);
    return jinja_word("").text;
}

int64_t jinja_int_arg(struct jinja_run *run, const struct jinja_args *args, size_t index,
                      const char *name, int64_t otherwise)
{
    struct jinja_value value = jinja_arg(args, index, name);
    int64_t integer;
    if (value.kind == JINJA_UNDEFINED || value.kind == JINJA_NONE)
        return otherwise;
    if (!jinja_as_int(value, &integer))
        jinja_fail(run, TD_UNSUPPORTED, "the argument '%s' must be an integer", name);
    return integer;
}

/* --- texts --- */

static bool is_blank(struct jinja_text text, size_t begin, struct jinja_text blanks)
{
    if (blanks.data == NULL)
        return text.data[begin] == ' ' || (text.data[begin] >= '\t' && text.data[begin] <= '\r');
    struct td_str one = jinja_view(jinja_slice(text, begin, text.len));
    size_t len = 0;
    utf8_next(one, &len);
    return str_find(jinja_view(blanks), str_slice(one, 0, len), 0) != SIZE_MAX;
}

/* Removes ASCII white space, or the characters of the first argument. */
struct jinja_value jinja_strip(struct jinja_run *run, struct jinja_text text,
                               const struct jinja_args *args, bool left, bool right)
{
    struct jinja_text blanks = {0};
    struct jinja_value given = jinja_arg(args, 0, "chars");
    if (given.kind != JINJA_UNDEFINED && given.kind != JINJA_NONE)
        blanks = jinja_text_arg(run, args, 0, "chars", NULL);
    if (!jinja_charge(run, text.len * (1 + blanks.len)))
        return jinja_undefined();
    size_t begin = 0, end = text.len;
    while (left && begin < end && is_blank(text, begin, blanks))
        utf8_next(jinja_view(text), &begin);
    while (right && end > begin) {
        size_t last = end - 1;
        while (last > begin && ((unsigned char)text.data[last] & 0xc0) == 0x80)
            last--;
        if (!is_blank(text, last, blanks))
            break;
        end = last;
    }
    return jinja_from_text(jinja_slice(text, begin, end));
}

struct jinja_value jinja_replace(struct jinja_run *run, struct jinja_text text,
                                 const struct jinja_args *args)
{
    struct jinja_text old = jinja_text_arg(run, args, 0, "old", NULL);
    struct jinja_text new = jinja_text_arg(run, args, 1, "new", NULL);
    int64_t left = jinja_int_arg(run, args, 2, "count", -1);
    struct jinja_builder out;
    jinja_builder_init(&out, run);
    if (old.len == 0)
        return jinja_fail(run, TD_UNSUPPORTED, "an empty string cannot be replaced");
    size_t from = 0, at;
    while (left-- != 0 && jinja_charge(run, 0) &&
           (at = str_find(jinja_view(text), jinja_view(old), from)) != SIZE_MAX) {
        jinja_build_text(&out, jinja_slice(text, from, at));
        jinja_build_text(&out, new);
        from = at + old.len;
    }
    jinja_build_text(&out, jinja_slice(text, from, text.len));
    return jinja_from_text(jinja_built(&out));
}

static bool is_letter(char c)
{
    return ascii_is_letter(c) || (c & 0x80);
}

/* Only ASCII letters change. Templates change the case of roles and keys, not of prose. */
struct jinja_value jinja_change_case(struct jinja_run *run, struct jinja_text text,
                                     enum jinja_case how)
{
    if (!jinja_charge(run, text.len))
        return jinja_undefined();
    char *data = jinja_alloc(run, text.len + 1, 1);
    if (data == NULL)
        return jinja_undefined();
    for (size_t i = 0; i < text.len; i++) {
        bool first = i == 0 || (how == JINJA_TITLE && !is_letter(text.data[i - 1]));
        bool upper = how == JINJA_UPPER || (how != JINJA_LOWER && first);
        data[i] = (char)(upper ? ascii_upper(text.data[i]) : ascii_lower(text.data[i]));
    }
    text.data = data;
    return jinja_from_text(text);
}

struct jinja_value jinja_format(struct jinja_run *run, struct jinja_text format,
                                const struct jinja_value *values, size_t count)
{
    struct jinja_builder out;
    size_t from = 0, used = 0;
    jinja_builder_init(&out, run);
    for (size_t i = 0; i + 1 < format.len; i++) {
        if (format.data[i] != '%')
            continue;
        jinja_build_text(&out, jinja_slice(format, from, i));
        char kind = format.data[++i];
        from = i + 1;
        int64_t integer;
        if (kind == '%')
            jinja_build_text(&out, jinja_slice(format, i, i + 1));
        else if (kind == 's' && used < count)
            jinja_build_str(&out, values[used++]);
        else if (kind == 'd' && used < count && jinja_as_int(values[used], &integer))
            used++, jinja_build_str(&out, jinja_int(integer));
        else
            return jinja_fail(run, TD_UNSUPPORTED, "a format that is not supported");
    }
    jinja_build_text(&out, jinja_slice(format, from, format.len));
    if (used != count)
        return jinja_fail(run, TD_UNSUPPORTED, "a format with too many values");
    return jinja_from_text(jinja_built(&out));
}

struct jinja_value jinja_join(struct jinja_run *run, const struct jinja_list *list,
                              struct jinja_text separator)
{
    struct jinja_builder out;
    jinja_builder_init(&out, run);
    for (size_t i = 0; i < list->count && run->status == TD_OK; i++) {
        if (i > 0)
            jinja_build_text(&out, separator);
        jinja_build_str(&out, list->items[i]);
    }
    return jinja_from_text(jinja_built(&out));
}

static struct jinja_value filter_trim(struct jinja_run *run, struct jinja_value input,
                                      const struct jinja_args *args)
{
    return jinja_strip(run, jinja_str(run, input), args, true, true);
}

static struct jinja_value filter_upper(struct jinja_run *run, struct jinja_value input,
                                       const struct jinja_args *args)
{
    (void)args;
    return jinja_change_case(run, jinja_str(run, input), JINJA_UPPER);
}

static struct jinja_value filter_lower(struct jinja_run *run, struct jinja_value input,
                                       const struct jinja_args *args)
{
    (void)args;
    return jinja_change_case(run, jinja_str(run, input), JINJA_LOWER);
}

static struct jinja_value filter_title(struct jinja_run *run, struct jinja_value input,
                                       const struct jinja_args *args)
{
    (void)args;
    return jinja_change_case(run, jinja_str(run, input), JINJA_TITLE);
}

static struct jinja_value filter_capitalize(struct jinja_run *run, struct jinja_value input,
                                            const struct jinja_args *args)
{
    (void)args;
    return jinja_change_case(run, jinja_str(run, input), JINJA_CAPITALIZE);
}

static struct jinja_value filter_replace(struct jinja_run *run, struct jinja_value input,
                                         const struct jinja_args *args)
{
    return jinja_replace(run, jinja_str(run, input), args);
}

static struct jinja_value filter_string(struct jinja_run *run, struct jinja_value input,
                                        const struct jinja_args *args)
{
    (void)args;
    return jinja_from_text(jinja_str(run, input));
}

static struct jinja_value filter_format(struct jinja_run *run, struct jinja_value input,
                                        const struct jinja_args *args)
{
    return jinja_format(run, jinja_str(run, input), args->values, args->count);
}

/* Indents every line except the first and blank ones. */
static struct jinja_value filter_indent(struct jinja_run *run, struct jinja_value input,
                                        const struct jinja_args *args)
{
    static const char spaces[] = "                                                                ";
    int64_t width = jinja_int_arg(run, args, 0, "width", 4);
    bool first = jinja_truth(jinja_arg(args, 1, "first"));
    bool blank = jinja_truth(jinja_arg(args, 2, "blank"));
    struct jinja_text text = jinja_str(run, input);
    struct jinja_builder out;
    jinja_builder_init(&out, run);
    if (width < 0 || width > (int64_t)sizeof(spaces) - 1)
        return jinja_fail(run, TD_UNSUPPORTED, "an indentation of 0 to 64 is supported");
    for (size_t from = 0; from < text.len && run->status == TD_OK;) {
        size_t end = str_find(jinja_view(text), STR("\n"), from);
        end = end == SIZE_MAX ? text.len : end + 1;
        bool empty = text.data[from] == '\n';
        if (from == 0 ? first : blank || !empty)
            jinja_build_bytes(&out, spaces, (size_t)width, true);
        jinja_build_text(&out, jinja_slice(text, from, end));
        from = end;
    }
    return jinja_from_text(jinja_built(&out));
}

static struct jinja_value filter_tojson(struct jinja_run *run, struct jinja_value input,
                                        const struct jinja_args *args)
{
    int64_t indent = jinja_int_arg(run, args, 1, "indent", -1);
    if (args->count > 0 &&
        args->names[0].data == NULL) /* tojson(4): in Jinja the first argument is the indentation */
        indent = jinja_int_arg(run, args, 0, "indent", -1);
    struct jinja_json_style style = {
        .indent = indent > 32 ? 32 : indent,
        .sort_keys = jinja_truth(jinja_arg(args, SIZE_MAX, "sort_keys")),
        .item_separator = indent < 0 ? STR(", ") : STR(","),
        .key_separator = STR(": "),
    };
    struct jinja_value separators = jinja_arg(args, SIZE_MAX, "separators");
    if (separators.kind == JINJA_LIST && separators.list->count == 2 &&
        separators.list->items[0].kind == JINJA_TEXT &&
        separators.list->items[1].kind == JINJA_TEXT) {
        style.item_separator = jinja_view(separators.list->items[0].text);
        style.key_separator = jinja_view(separators.list->items[1].text);
    }
    struct jinja_builder out;
    jinja_builder_init(&out, run);
    jinja_build_json(&out, input, &style);
    return jinja_from_text(jinja_built(&out));
}

/* --- numbers and anything --- */

static struct jinja_value filter_default(struct jinja_run *run, struct jinja_value input,
                                         const struct jinja_args *args)
{
    (void)run;
    bool also_false = jinja_truth(jinja_arg(args, 1, "boolean"));
    if (input.kind != JINJA_UNDEFINED && !(also_false && !jinja_truth(input)))
        return input;
    return jinja_has_arg(args, 0, "default_value") ? jinja_arg(args, 0, "default_value")
                                                   : jinja_word("");
}

static struct jinja_value filter_length(struct jinja_run *run, struct jinja_value input,
                                        const struct jinja_args *args)
{
    (void)args;
    switch (input.kind) {
    case JINJA_UNDEFINED:
        return jinja_int(0);
    case JINJA_TEXT:
        jinja_charge(run, input.text.len);
        return jinja_int((int64_t)jinja_text_length(input.text));
    case JINJA_LIST:
        return jinja_int((int64_t)input.list->count);
    case JINJA_DICT:
        return jinja_int((int64_t)input.dict->count);
    default:
        return jinja_fail(run, TD_UNSUPPORTED, "%s has no length", jinja_kind_name(input.kind));
    }
}

static struct jinja_value filter_int(struct jinja_run *run, struct jinja_value input,
                                     const struct jinja_args *args)
{
    int64_t integer, otherwise = jinja_int_arg(run, args, 0, "default", 0);
    double number;
    if (jinja_as_int(input, &integer))
        return jinja_int(integer);
    if (input.kind == JINJA_TEXT && str_to_i64(str_trim(jinja_view(input.text)), &integer))
        return jinja_int(integer);
    bool known = input.kind == JINJA_TEXT ? str_to_double(str_trim(jinja_view(input.text)), &number)
                                          : jinja_as_number(input, &number);
    return jinja_int(known && fabs(number) < 9e18 ? (int64_t)number : otherwise);
}

static struct jinja_value filter_float(struct jinja_run *run, struct jinja_value input,
                                       const struct jinja_args *args)
{
    double number, otherwise = 0;
    (void)run;
    jinja_as_number(jinja_arg(args, 0, "default"), &otherwise);
    bool known = input.kind == JINJA_TEXT ? str_to_double(str_trim(jinja_view(input.text)), &number)
                                          : jinja_as_number(input, &number);
    return jinja_float(known ? number : otherwise);
}

static struct jinja_value filter_abs(struct jinja_run *run, struct jinja_value input,
                                     const struct jinja_args *args)
{
    int64_t integer;
    (void)args;
    if (jinja_as_int(input, &integer) && integer > INT64_MIN)
        return jinja_int(integer < 0 ? -integer : integer);
    if (input.kind == JINJA_FLOAT)
        return jinja_float(fabs(input.number));
    return jinja_fail(run, TD_UNSUPPORTED, "%s has no absolute value", jinja_kind_name(input.kind));
}

static struct jinja_value filter_round(struct jinja_run *run, struct jinja_value input,
                                       const struct jinja_args *args)
{
    double number;
    int64_t digits = jinja_int_arg(run, args, 0, "precision", 0);
    if (!jinja_as_number(input, &number) || digits < 0 || digits > 15)
        return jinja_fail(run, TD_UNSUPPORTED, "this cannot be rounded");
    double scale = pow(10, (double)digits);
    return jinja_float(nearbyint(number * scale) / scale);
}

static struct jinja_value filter_same(struct jinja_run *run, struct jinja_value input,
                                      const struct jinja_args *args)
{
    (void)run, (void)args;
    return input;
}

jinja_filter_fn *jinja_filter_find(struct td_str name)
{
    static const struct {
        const char *name;
        jinja_filter_fn *apply;
    } rows[] = {
        {"abs", filter_abs},         {"capitalize", filter_capitalize},
        {"count", filter_length},    {"d", filter_default},
        {"default", filter_default}, {"float", filter_float},
        {"format", filter_format},   {"indent", filter_indent},
        {"int", filter_int},         {"length", filter_length},
        {"lower", filter_lower},     {"replace", filter_replace},
        {"round", filter_round},     {"safe", filter_same},
        {"string", filter_string},   {"title", filter_title},
        {"tojson", filter_tojson},   {"trim", filter_trim},
        {"upper", filter_upper},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (str_equal(name, str_from(rows[i].name)))
            return rows[i].apply;
    return jinja_list_filter_find(name);
}
