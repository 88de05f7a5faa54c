/* Prints values as Python's str(), repr() and json.dumps() do. Text inside strings keeps its
 * provenance. The punctuation around it counts as message text, so that no value and its brackets
 * together can spell a control token. */
#include "engine/template/jinja_value.h"

#include "base/text/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void build_plain(struct jinja_builder *builder, const char *text)
{
    jinja_build_bytes(builder, text, strlen(text), false);
}

/* The shortest decimal that reads back as the same double, written as Python's repr() does:
 * exponent form below 1e-4 and from 1e16 on, always with a point or an exponent. */
static void format_double(double value, char out[static 40])
{
    if (isnan(value) || isinf(value)) {
        snprintf(out, 40, "%s", isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
        return;
    }
    char digits[40];
    int precision = 0;
    do
        snprintf(digits, sizeof(digits), "%.*e", precision, value);
    while (precision++ < 17 && strtod(digits, NULL) != value);
    int exponent = atoi(strchr(digits, 'e') + 1);
    if (exponent < -4 || exponent >= 16) {
        snprintf(out, 40, "%s", digits);
        return;
    }
    int decimals = precision - 1 - exponent;
    snprintf(out, 40, "%.*f", decimals > 1 ? decimals : 1, value);
}

static void build_number(struct jinja_builder *builder, struct jinja_value value, bool mark)
{
    char text[40];
    if (value.kind == JINJA_INT)
        snprintf(text, sizeof(text), "%" PRId64, value.integer);
    else
        format_double(value.number, text);
    jinja_build_bytes(builder, text, strlen(text), mark);
}

void jinja_build_str(struct jinja_builder *builder, struct jinja_value value)
{
    switch (value.kind) {
    case JINJA_UNDEFINED:
        break;
    case JINJA_NONE:
        jinja_build_bytes(builder, "None", 4, true);
        break;
    case JINJA_BOOL:
        jinja_build_bytes(builder, value.boolean ? "True" : "False", value.boolean ? 4 : 5, true);
        break;
    case JINJA_INT:
    case JINJA_FLOAT:
        build_number(builder, value, true);
        break;
    case JINJA_TEXT:
        jinja_build_text(builder, value.text);
        break;
    case JINJA_LIST:
    case JINJA_DICT:
        jinja_build_repr(builder, value);
        break;
    default:
        jinja_fail(builder->run, TD_UNSUPPORTED, "%s cannot be printed",
                   jinja_kind_name(value.kind));
    }
}

struct jinja_text jinja_str(struct jinja_run *run, struct jinja_value value)
{
    if (value.kind == JINJA_TEXT)
        return value.text;
    struct jinja_builder builder;
    jinja_builder_init(&builder, run);
    jinja_build_str(&builder, value);
    return jinja_built(&builder);
}

/* Appends the text. A byte for which `escape` returns a text is replaced by that text. */
static void build_escaped(struct jinja_builder *builder, struct jinja_text text,
                          const char *(*escape)(unsigned char c, char quote, char room[static 8]),
                          char quote)
{
    size_t from = 0;
    char room[8];
    for (size_t i = 0; i < text.len; i++) {
        const char *words = escape((unsigned char)text.data[i], quote, room);
        if (words == NULL)
            continue;
        jinja_build_text(builder, jinja_slice(text, from, i));
        build_plain(builder, words);
        from = i + 1;
    }
    jinja_build_text(builder, jinja_slice(text, from, text.len));
}

static const char *escape_repr(unsigned char c, char quote, char room[static 8])
{
    switch (c) {
    case '\\':
        return "\\\\";
    case '\n':
        return "\\n";
    case '\r':
        return "\\r";
    case '\t':
        return "\\t";
    default:
        if (c == (unsigned char)quote)
            snprintf(room, 8, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            snprintf(room, 8, "\\x%02x", c);
        else
            return NULL;
        return room;
    }
}

static const char *escape_json(unsigned char c, char quote, char room[static 8])
{
    (void)quote;
    switch (c) {
    case '"':
        return "\\\"";
    case '\\':
        return "\\\\";
    case '\n':
        return "\\n";
    case '\r':
        return "\\r";
    case '\t':
        return "\\t";
    case '\b':
        return "\\b";
    case '\f':
        return "\\f";
    default:
        if (c >= 0x20)
            return NULL;
        snprintf(room, 8, "\\u%04x", c);
        return room;
    }
}

static void build_text_repr(struct jinja_builder *builder, struct jinja_text text)
{
    bool single = text.len && memchr(text.data, '\'', text.len) != NULL;
    bool twofold = text.len && memchr(text.data, '"', text.len) != NULL;
    char quote = single && !twofold ? '"' : '\'';
    const char around[] = {quote, '\0'};
    build_plain(builder, around);
    build_escaped(builder, text, escape_repr, quote);
    build_plain(builder, around);
}

static bool enter(struct jinja_run *run)
{
    if (++run->depth > JINJA_DEPTH_MAX)
        jinja_fail(run, TD_LIMIT, "values are nested too deep");
    return jinja_charge(run, 0);
}

static void build_list_repr(struct jinja_builder *builder, const struct jinja_list *list)
{
    build_plain(builder, list->tuple ? "(" : "[");
    for (size_t i = 0; i < list->count && builder->run->status == TD_OK; i++) {
        if (i > 0)
            build_plain(builder, ", ");
        jinja_build_repr(builder, list->items[i]);
    }
    build_plain(builder, !list->tuple ? "]" : list->count == 1 ? ",)" : ")");
}

static void build_dict_repr(struct jinja_builder *builder, const struct jinja_dict *dict)
{
    build_plain(builder, "{");
    for (size_t i = 0; i < dict->count && builder->run->status == TD_OK; i++) {
        if (i > 0)
            build_plain(builder, ", ");
        build_text_repr(builder, dict->entries[i].key);
        build_plain(builder, ": ");
        jinja_build_repr(builder, dict->entries[i].value);
    }
    build_plain(builder, "}");
}

void jinja_build_repr(struct jinja_builder *builder, struct jinja_value value)
{
    if (enter(builder->run)) {
        if (value.kind == JINJA_TEXT)
            build_text_repr(builder, value.text);
        else if (value.kind == JINJA_LIST)
            build_list_repr(builder, value.list);
        else if (value.kind == JINJA_DICT)
            build_dict_repr(builder, value.dict);
        else if (value.kind == JINJA_UNDEFINED)
            build_plain(builder, "Undefined");
        else
            jinja_build_str(builder, value);
    }
    builder->run->depth--;
}

/* --- JSON --- */

struct json_writer {
    struct jinja_builder *builder;
    const struct jinja_json_style *style;
    int64_t level;
};

static void write_value(struct json_writer *writer, struct jinja_value value);

static void write_break(const struct json_writer *writer)
{
    static const char spaces[] = "                                ";
    if (writer->style->indent < 0)
        return;
    build_plain(writer->builder, "\n");
    for (int64_t left = writer->level * writer->style->indent; left > 0;) {
        size_t some = left < 32 ? (size_t)left : 32;
        jinja_build_bytes(writer->builder, spaces, some, false);
        left -= (int64_t)some;
    }
}

static void write_separator(const struct json_writer *writer, size_t index)
{
    struct td_str separator = writer->style->item_separator;
    if (index > 0)
        jinja_build_bytes(writer->builder, separator.data, separator.len, false);
    write_break(writer);
}

static void write_text(struct json_writer *writer, struct jinja_text text)
{
    build_plain(writer->builder, "\"");
    build_escaped(writer->builder, text, escape_json, '"');
    build_plain(writer->builder, "\"");
}

static void write_list(struct json_writer *writer, const struct jinja_list *list)
{
    build_plain(writer->builder, "[");
    writer->level++;
    for (size_t i = 0; i < list->count && writer->builder->run->status == TD_OK; i++) {
        write_separator(writer, i);
        write_value(writer, list->items[i]);
    }
    writer->level--;
    if (list->count > 0)
        write_break(writer);
    build_plain(writer->builder, "]");
}

/* The entries sorted by their keys. NULL = the run has failed. */
static const struct jinja_entry *sorted_entries(struct jinja_run *run,
                                                const struct jinja_dict *dict)
{
    struct jinja_entry *sorted = jinja_alloc(run, dict->count + 1, sizeof(*sorted));
    for (size_t i = 0; sorted && i < dict->count; i++) {
        size_t at = i;
        while (at > 0 && jinja_compare(run, jinja_from_text(sorted[at - 1].key),
                                       jinja_from_text(dict->entries[i].key)) > 0) {
            sorted[at] = sorted[at - 1];
            at--;
        }
        sorted[at] = dict->entries[i];
    }
    return sorted;
}

static void write_dict(struct json_writer *writer, const struct jinja_dict *dict)
{
    struct td_str colon = writer->style->key_separator;
    const struct jinja_entry *entries =
        writer->style->sort_keys ? sorted_entries(writer->builder->run, dict) : dict->entries;
    build_plain(writer->builder, "{");
    writer->level++;
    for (size_t i = 0; i < dict->count && writer->builder->run->status == TD_OK; i++) {
        write_separator(writer, i);
        write_text(writer, entries[i].key);
        jinja_build_bytes(writer->builder, colon.data, colon.len, false);
        write_value(writer, entries[i].value);
    }
    writer->level--;
    if (dict->count > 0)
        write_break(writer);
    build_plain(writer->builder, "}");
}

static void write_value(struct json_writer *writer, struct jinja_value value)
{
    struct jinja_builder *builder = writer->builder;
    if (enter(builder->run)) {
        switch (value.kind) {
        case JINJA_NONE:
            build_plain(builder, "null");
            break;
        case JINJA_BOOL:
            build_plain(builder, value.boolean ? "true" : "false");
            break;
        case JINJA_INT:
        case JINJA_FLOAT:
            build_number(builder, value, false);
            break;
        case JINJA_TEXT:
            write_text(writer, value.text);
            break;
        case JINJA_LIST:
            write_list(writer, value.list);
            break;
        case JINJA_DICT:
            write_dict(writer, value.dict);
            break;
        default:
            jinja_fail(builder->run, TD_UNSUPPORTED, "%s has no JSON form",
                       jinja_kind_name(value.kind));
        }
    }
    builder->run->depth--;
}

void jinja_build_json(struct jinja_builder *builder, struct jinja_value value,
                      const struct jinja_json_style *style)
{
    struct json_writer writer = {builder, style, 0};
    write_value(&writer, value);
}
