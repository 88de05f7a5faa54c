/* The rules for a surrogate in an answer. Separators: a rewriting may put markdown, spaces and the
 * punctuation of numbers into it. Endings: a name takes those of its language. Case: the value
 * takes the case in which the answer wrote the surrogate. They are rules of writing, not of any
 * kind of data, so they hold for values in a text as well (known_values.c). */
#include "privacy/pseudonym/restore_spell.h"

#include "base/str.h"
#include "privacy/pseudonym/word_list.h"
#include "privacy/text/spell.h"

/* --- separators --- */

struct gap {
    char marks[8]; /* punctuation that a surrogate may consist of */
    size_t count;
    size_t bytes;
    bool space, other; /* other: a character that no surrogate has and no rewriting puts there */
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
    if (c < 0x80 && gap->count < sizeof gap->marks)
        gap->marks[gap->count++] = (char)c;
    else
        gap->other = true;
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

static bool gap_fits(enum surrogate_form form, const struct gap *own, const struct gap *raw)
{
    if (raw->other || raw->bytes > RESTORE_GAP_BYTES_MAX)
        return raw->bytes == own->bytes && own->other;
    switch (form) {
    case SURROGATE_WORD:
        return raw->bytes == 0;
    case SURROGATE_LOOSE:
        for (size_t i = 0; i < raw->count; i++)
            if (!strchr("-./(),+:'", raw->marks[i]))
                return false;
        return true;
    default:
        if (own->count != raw->count || memcmp(own->marks, raw->marks, own->count) != 0)
            return false;
        return own->count > 0 || own->space == raw->space;
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

/* What was a JSON string's text stays as it is, all other text becomes one. */
static void append_escaped(struct td_str text, struct buf *out)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (c == '\\' && is_escape(text, i)) {
            buf_append(out, text.data + i, 2);
            i++;
        } else if (c == '"' || c == '\\') {
            buf_append_char(out, '\\');
            buf_append_char(out, (char)c);
        } else if (c == '\n') {
            buf_append_str(out, STR("\\n"));
        } else if (c < ' ') {
            buf_printf(out, "\\u%04x", c);
        } else {
            buf_append_char(out, (char)c);
        }
    }
}

void restore_exactly(struct td_str original, bool json, struct buf *out)
{
    if (json)
        append_escaped(original, out);
    else
        buf_append_str(out, original);
}

static bool has_escape(struct td_str raw)
{
    for (struct sign sign = spell_at(raw, 0, false); sign.kind != SIGN_END;
         sign = spell_at(raw, sign.end, false))
        if (sign.escaped && raw.data[sign.begin] == '\\')
            return true;
    return false;
}

void restore_respell(const struct vault_entry *entry, struct td_str raw, bool json, struct buf *out)
{
    bool escaped = json || has_escape(raw);
    if (entry->form == SURROGATE_LOOSE &&
        spell_count(entry->surrogate) == spell_count(entry->original)) {
        spell_fill(raw, entry->original, out);
        return;
    }
    enum spell_case form = spell_case_of(raw), own = spell_case_of(entry->surrogate);
    bool changes = form != own && (form == SPELL_UPPER || form == SPELL_LOWER ||
                                   (form == SPELL_TITLE && own == SPELL_LOWER));
    if (!changes || entry->form == SURROGATE_STRICT) {
        restore_exactly(entry->original, escaped, out);
        return;
    }
    struct buf spelled;
    buf_init(&spelled, entry->original.len * 2 + 16);
    spell_in_case(entry->original, form, &spelled);
    restore_exactly(buf_view(&spelled), escaped, out);
    buf_deinit(&spelled);
}
