/* The rules for a surrogate in an answer. Separators: a rewriting may put markdown, spaces and the
 * punctuation of numbers into it. Endings: a name takes those of its language. Case: the value
 * takes the case in which the answer wrote the surrogate. They are rules of writing, not of any
 * kind of data, so they hold for values in a text as well (known_values.c). */
#include "privacy/pseudonym/restore_spell.h"

#include "base/core/str.h"
#include "privacy/pseudonym/word_list.h"
#include "privacy/text/spell.h"

#include <stdio.h>

#define ESCAPE_RUN_MAX 8 /* backslashes before an escape's letter: JSON four deep */

/* --- separators --- */

struct gap {
    uint32_t marks[8]; /* all but spaces and markdown, however they are escaped */
    size_t count;
    size_t bytes;
    bool space, other, overflow; /* other: a mark beyond ASCII; overflow: more marks than those */
};

static void gap_add(struct gap *gap, const struct sign *sign)
{
    gap->bytes += sign->end - sign->begin;
    uint32_t c = sign->c;
    if (c == '*' || c == '`' || c == '\\' || c == '_' || c == '>')
        return; /* markdown: emphasis, code, an escape, a quoted line */
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == 0xa0 || c == 0x202f) {
        gap->space = true;
        return;
    }
    if (c >= 0x2010 && c <= 0x2014)
        c = '-';
    gap->other |= c >= 0x80;
    if (gap->count < sizeof gap->marks / sizeof *gap->marks)
        gap->marks[gap->count++] = c;
    else
        gap->overflow = true;
}

/* Reads the separators from the offset on. Returns the sign after them. */
static struct sign read_gap(struct td_str text, size_t offset, struct gap *gap)
{
    *gap = (struct gap){0};
    for (;;) {
        struct sign sign = spell_at(text, offset, false);
        if (sign.kind == SIGN_END || spell_is_significant(&sign))
            return sign;
        if (sign.kind == SIGN_GAP)
            gap_add(gap, &sign);
        offset = sign.end;
    }
}

static bool same_marks(const struct gap *own, const struct gap *raw)
{
    return own->count == raw->count &&
           memcmp(own->marks, raw->marks, own->count * sizeof *own->marks) == 0;
}

static bool gap_fits(enum surrogate_form form, const struct gap *own, const struct gap *raw)
{
    if (raw->overflow || raw->bytes > RESTORE_GAP_BYTES_MAX)
        return raw->bytes == own->bytes && (own->other || own->overflow);
    switch (form) {
    case SURROGATE_WORD:
        return raw->bytes == 0;
    case SURROGATE_LOOSE:
        for (size_t i = 0; i < raw->count; i++)
            if (raw->marks[i] >= 0x80 || !strchr("-./(),+:'", (int)raw->marks[i]))
                return same_marks(own, raw);
        return true;
    default:
        return same_marks(own, raw) && (own->count > 0 || own->space == raw->space);
    }
}

bool restore_gaps_fit(const struct vault_entry *entry, struct td_str raw)
{
    struct gap own_gap, raw_gap;
    if (str_equal(raw, entry->surrogate)) /* a number that a detector found with more around it */
        return true;
    struct sign own = read_gap(entry->surrogate, 0, &own_gap);
    struct sign other = read_gap(raw, 0, &raw_gap);
    for (;;) {
        own = read_gap(entry->surrogate, own.end, &own_gap);
        other = read_gap(raw, other.end, &raw_gap);
        if (own.kind == SIGN_END || other.kind == SIGN_END)
            return own.kind == other.kind;
        if (!gap_fits(entry->form, &own_gap, &raw_gap))
            return false;
    }
}

/* --- the end --- */

/* Endings that a name takes in a sentence: English and German s; Polish, Czech and other Slavic
 * cases; Swedish s; Turkish and Hungarian put theirs after an apostrophe, or are not read. */
static const char latin_endings[] = " s es n en a u i y e em om ov owi ovi ie iem ami ach mi om ou "
                                    "ovou ovi ova ové ą ę ego emu ym ów ům ům ";
static const char other_endings[] =
    " а у ом е ы и ой ою ей ею ем ым ого ому ым ов ова овы ами ах ю я ям ями ях ια ος ου ον ε ";

#define ENDING_LETTERS_MAX 4

static enum restore_edge ending_at(struct td_str text, size_t offset, bool latin, bool more)
{
    struct buf letters;
    buf_init(&letters, 64);
    enum restore_edge edge = EDGE_NO;
    for (size_t count = 0; count <= ENDING_LETTERS_MAX; count++) {
        struct sign sign = spell_at(text, offset, more);
        if (sign.kind == SIGN_CUT || (sign.kind == SIGN_END && more)) {
            edge = EDGE_UNKNOWN;
            break;
        }
        if (!spell_is_significant(&sign)) {
            const char *endings = latin ? latin_endings : other_endings;
            edge = word_list_has(endings, buf_view(&letters)) ? EDGE_YES : EDGE_NO;
            break;
        }
        spell_fold(str_slice(text, sign.begin, sign.end), &letters);
        offset = sign.end;
    }
    buf_deinit(&letters);
    return edge;
}

enum restore_edge restore_edge_at(const struct vault_entry *entry, struct td_str text, size_t end,
                                  bool more)
{
    struct sign sign = spell_at(text, end, more);
    while (sign.kind == SIGN_NOTHING)
        sign = spell_at(text, sign.end, more);
    if (sign.kind == SIGN_CUT || (sign.kind == SIGN_END && more))
        return EDGE_UNKNOWN;
    if (!spell_is_significant(&sign) || sign.unspaced)
        return EDGE_YES;
    struct sign first = spell_at(entry->surrogate, 0, false);
    if (first.unspaced)
        return EDGE_YES;
    if (entry->form != SURROGATE_WORD || entry->kind != PRIVACY_PERSON)
        return EDGE_NO;
    return ending_at(text, end, first.c < 0x250, more);
}

/* --- the value --- */

static bool is_escape(struct td_str text, size_t backslash)
{
    return backslash + 1 < text.len && text.data[backslash + 1] != '\0' &&
           strchr("\"\\/bfnrtu", text.data[backslash + 1]) != NULL;
}

/* What a string of JSON has, as a string around it in which it stands writes that: each level
 * doubles the backslashes, and a quote gets one more. */
static void put_at_depth(struct td_str text, size_t depth, struct buf *out)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        size_t backslashes = c == '\\' || c == '"' ? ((size_t)1 << (depth - 1)) - 1 : 0;
        for (size_t k = 0; k < backslashes; k++)
            buf_append_char(out, '\\');
        buf_append_char(out, c);
    }
}

/* What was a JSON string's text stays as it is, all other text becomes one. depth: of strings of
 * JSON in each other, from 1. */
static void append_escaped(struct td_str text, size_t depth, struct buf *out)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.data[i];
        char written[8];
        if (c == '\\' && is_escape(text, i))
            snprintf(written, sizeof written, "\\%c", text.data[++i]);
        else if (c == '"' || c == '\\')
            snprintf(written, sizeof written, "\\%c", c);
        else if (c == '\n')
            snprintf(written, sizeof written, "\\n");
        else if (c < ' ')
            snprintf(written, sizeof written, "\\u%04x", c);
        else
            snprintf(written, sizeof written, "%c", c);
        put_at_depth(str_from(written), depth, out);
    }
}

static void append_value(struct td_str original, size_t depth, struct buf *out)
{
    if (depth > 0)
        append_escaped(original, depth, out);
    else
        buf_append_str(out, original);
}

void restore_exactly(struct td_str original, bool json, struct buf *out)
{
    append_value(original, json, out);
}

/* How deep raw stands in strings of JSON, by its escapes: \n, \\n, \\\\n, or \", \\\", and so on.
 * 0: it has none. */
static size_t depth_of_escapes(struct td_str raw)
{
    size_t depth = 0;
    for (size_t i = 0; i < raw.len; i++) {
        size_t run = 0, own = 0;
        while (i < raw.len && raw.data[i] == '\\')
            run++, i++;
        if (run == 0 || run > ESCAPE_RUN_MAX || !is_escape(raw, i - 1))
            continue;
        for (; run > 0; run /= 2)
            own++;
        depth = own > depth ? own : depth;
    }
    return depth;
}

void restore_respell(const struct vault_entry *entry, struct td_str raw, bool json, struct buf *out)
{
    size_t depth = depth_of_escapes(raw);
    if (json && depth == 0)
        depth = 1;
    if (entry->form == SURROGATE_LOOSE &&
        spell_count(entry->surrogate) == spell_count(entry->original)) {
        spell_fill(raw, entry->original, out);
        return;
    }
    enum spell_case form = spell_case_of(raw), own = spell_case_of(entry->surrogate);
    bool changes = form != own && (form == SPELL_UPPER || form == SPELL_LOWER ||
                                   (form == SPELL_TITLE && own == SPELL_LOWER));
    if (!changes || entry->form == SURROGATE_STRICT) {
        append_value(entry->original, depth, out);
        return;
    }
    struct buf spelled;
    buf_init(&spelled, entry->original.len * 2 + 16);
    spell_in_case(entry->original, form, &spelled);
    append_value(buf_view(&spelled), depth, out);
    buf_deinit(&spelled);
}
