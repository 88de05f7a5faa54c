/* What a restorer looks for. Each used surrogate is an entry; some have more than one:
 *   - with \n in it, as a program writes it and as a line's end;
 *   - with a line's end or a tab in it, as JSON writes it inside a text: \n, \t;
 *   - a date, in the other forms in which people write dates (date_forms.h);
 *   - a mail address, by the part before the @ alone.
 * Entries with the same letters and digits share a node of the automaton and are linked. The
 * vault's own entries come first, so that a derived one never takes the place of a real
 * surrogate. */
#include "privacy/pseudonym/restore_table.h"

#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "base/text/utf8.h"

#include <stdlib.h>
#include <string.h>

#define NODES_MAX (1u << 21)
#define DATES_MAX 32      /* dates of a request that are known in other forms, too */
#define LOCALS_MAX 256    /* mail addresses that are known by their local parts, too */
#define LOCAL_SIGNS_MIN 5 /* a family name of three letters and two digits */

/* How the line's ends and tabs of a surrogate are read. */
enum reading_of_ends {
    ENDS_AS_THEY_ARE, /* "\n" as JSON does */
    ENDS_SPLIT,       /* "\n" as in a text that is not JSON: a backslash and a letter */
    ENDS_ESCAPED,     /* a true one as a backslash and a letter: an answer in text quotes JSON */
};

/* The letter that JSON writes for the sign, after a backslash. 0: it writes no letter. */
static char letter_of(const struct sign *sign)
{
    static const char ends[] = "\n\t\r", letters[] = "ntr";
    const char *end =
        sign->c < 0x80 && sign->c > 0 && !sign->escaped ? strchr(ends, (int)sign->c) : NULL;
    return end ? letters[end - ends] : '\0';
}

/* The surrogate folded, and after which of its bytes a separator may stand. */
static bool fold_with_gaps(const struct vault_entry *entry, enum reading_of_ends ends,
                           struct buf *folded, bool *gaps)
{
    struct backslashes backslashes = {0};
    struct sign sign = spell_at(entry->surrogate, 0, false);
    while (sign.kind != SIGN_END) {
        if (ends == ENDS_SPLIT)
            spell_split(&backslashes, entry->surrogate, false, &sign);
        struct sign next = spell_at(entry->surrogate, sign.end, false);
        if (spell_is_significant(&sign)) {
            char bytes[4];
            buf_append(folded, bytes, utf8_encode(sign.c, bytes));
            if (folded->failed)
                return false;
            gaps[folded->len - 1] = entry->form == SURROGATE_LOOSE;
        } else if (sign.kind == SIGN_GAP && folded->len > 0 && entry->form != SURROGATE_WORD) {
            gaps[folded->len - 1] = true;
            if (ends == ENDS_ESCAPED && letter_of(&sign)) {
                buf_append_char(folded, letter_of(&sign));
                if (folded->failed)
                    return false;
                gaps[folded->len - 1] = true;
            }
        }
        sign = next;
    }
    return folded->len > 0;
}

/* Where the first letter or digit begins, and where the last one ends. */
static size_t leading(struct td_str text)
{
    struct sign sign = spell_at(text, 0, false);
    while (sign.kind != SIGN_END && !spell_is_significant(&sign))
        sign = spell_at(text, sign.end, false);
    return sign.begin;
}

static size_t trailing(struct td_str text)
{
    size_t end = 0;
    for (struct sign sign = spell_at(text, 0, false); sign.kind != SIGN_END;
         sign = spell_at(text, sign.end, false))
        if (spell_is_significant(&sign))
            end = sign.end;
    return end;
}

/* A match begins and ends with a letter or digit. What surrogate and value both have around those
 * is left out of the entry: it stays in the answer as it is. */
static struct vault_entry without_frame(struct vault_entry entry)
{
    size_t begin = leading(entry.surrogate), end = trailing(entry.surrogate);
    struct td_str head = str_slice(entry.surrogate, 0, begin);
    struct td_str tail = str_slice(entry.surrogate, end, entry.surrogate.len);
    if (end <= begin)
        return entry;
    if (str_ends_with(entry.original, tail) && entry.original.len >= head.len + tail.len) {
        entry.original.len -= tail.len;
        entry.surrogate.len -= tail.len;
    }
    if (str_starts_with(entry.original, head)) {
        entry.original = str_slice(entry.original, begin, entry.original.len);
        entry.surrogate = str_slice(entry.surrogate, begin, entry.surrogate.len);
    }
    return entry;
}

static bool add_reading(struct restore_table *table, const struct vault_entry *entry,
                        uint32_t owner, enum reading_of_ends ends)
{
    struct buf folded;
    buf_init(&folded, VAULT_VALUE_BYTES_MAX * 8);
    bool *gaps = calloc(entry->surrogate.len * 4 + 1, sizeof *gaps);
    uint32_t index = (uint32_t)table->count, first = index;
    bool ok = gaps && fold_with_gaps(entry, ends, &folded, gaps) &&
              automaton_add(table->automaton, buf_view(&folded), gaps, &first);
    if (ok) {
        table->entries[index] = *entry;
        table->owners[index] = owner;
        table->next_alike[index] = AUTOMATON_NONE;
        if (first != index) { /* after the first entry of the same letters and digits */
            table->next_alike[index] = table->next_alike[first];
            table->next_alike[first] = index;
        }
        table->count++;
    }
    free(gaps);
    buf_deinit(&folded);
    return ok;
}

static bool has_letter(struct td_str text)
{
    for (struct sign sign = spell_at(text, 0, false); sign.kind != SIGN_END;
         sign = spell_at(text, sign.end, false))
        if (letter_of(&sign))
            return true;
    return false;
}

/* A line's end that is written \n in the surrogate may be a real one in the answer, or stay \n; and
 * a real one may be written so. */
static bool add_entry(struct restore_table *table, const struct vault_entry *entry, uint32_t owner)
{
    return add_reading(table, entry, owner, ENDS_AS_THEY_ARE) &&
           (str_find(entry->surrogate, STR("\\"), 0) == SIZE_MAX ||
            add_reading(table, entry, owner, ENDS_SPLIT)) &&
           (!has_letter(entry->surrogate) || add_reading(table, entry, owner, ENDS_ESCAPED));
}

/* --- dates in other forms --- */

/* Does the form mean another day, too? Two dates with day and month exchanged can share a form. */
static bool means_another_day(const struct restore_table *table, const struct date_form *form)
{
    for (size_t i = 0; i < table->date_count; i++)
        if (strcmp(table->dates[i].surrogate, form->surrogate) == 0 &&
            strcmp(table->dates[i].original, form->original) != 0)
            return true;
    return false;
}

static bool write_dates(struct restore_table *table, const struct vault *vault,
                        const struct vault_uses *uses, size_t days)
{
    if (days == 0)
        return true;
    table->dates = calloc(days * DATE_FORMS, sizeof *table->dates);
    for (size_t i = 0; table->dates && i < uses->count && days > 0; i++) {
        struct vault_entry entry = vault_at(vault, uses->entries[i]);
        if (entry.kind != PRIVACY_DATE)
            continue;
        days--;
        struct date_form *forms = table->dates + table->date_count;
        size_t count = date_forms_write(entry.surrogate, entry.original, forms);
        for (size_t k = 0; k < count; k++)
            forms[k].owner = (uint32_t)i;
        table->date_count += count;
    }
    return table->dates != NULL;
}

static bool add_dates(struct restore_table *table)
{
    bool ok = true;
    for (size_t i = 0; ok && i < table->date_count; i++) {
        const struct date_form *form = &table->dates[i];
        const struct vault_entry entry = {
            .kind = PRIVACY_DATE,
            .form = i % DATE_FORMS < DATE_FORMS_NUMERIC ? SURROGATE_STRICT : SURROGATE_LOOSE,
            .surrogate = str_from(form->surrogate),
            .original = str_from(form->original)};
        if (!means_another_day(table, form))
            ok = add_entry(table, &entry, form->owner);
    }
    return ok;
}

/* --- mail addresses by what stands before the @ --- */

static struct td_str local_part(struct td_str address)
{
    size_t at = str_find(address, STR("@"), 0);
    return at == SIZE_MAX ? (struct td_str){NULL, 0} : str_slice(address, 0, at);
}

/* Does the surrogate of another used address have the same local part? */
static bool is_shared(const struct restore_table *table, size_t own_count, uint32_t owner,
                      struct td_str local)
{
    for (size_t i = 0; i < own_count; i++)
        if (table->entries[i].kind == PRIVACY_EMAIL && table->owners[i] != owner &&
            str_equal(local_part(table->entries[i].surrogate), local))
            return true;
    return false;
}

/* "write to emily.carter123": without its host an address still means its owner. */
static bool add_locals(struct restore_table *table, size_t own_count)
{
    bool ok = true;
    size_t left = LOCALS_MAX;
    for (size_t i = 0; ok && i < own_count && left > 0; i++) {
        struct vault_entry entry = table->entries[i];
        entry.surrogate = local_part(entry.surrogate);
        entry.original = local_part(entry.original);
        bool again = i > 0 && table->owners[i] == table->owners[i - 1]; /* its other reading */
        if (again || entry.kind != PRIVACY_EMAIL ||
            spell_count(entry.surrogate) < LOCAL_SIGNS_MIN || entry.original.len == 0 ||
            is_shared(table, own_count, table->owners[i], entry.surrogate))
            continue;
        left--;
        ok = add_entry(table, &entry, table->owners[i]);
    }
    return ok;
}

static bool make_room(struct restore_table *table, size_t capacity)
{
    table->automaton = automaton_new(NODES_MAX);
    table->entries = calloc(capacity, sizeof *table->entries);
    table->next_alike = calloc(capacity, sizeof *table->next_alike);
    table->owners = calloc(capacity, sizeof *table->owners);
    return table->automaton && table->entries && table->next_alike && table->owners;
}

static bool add_uses(struct restore_table *table, const struct vault *vault,
                     const struct vault_uses *uses)
{
    bool ok = true;
    for (size_t i = 0; ok && i < uses->count; i++) {
        struct vault_entry entry = without_frame(vault_at(vault, uses->entries[i]));
        ok = add_entry(table, &entry, (uint32_t)i);
    }
    return ok;
}

struct restore_table *restore_table_new(const struct vault *vault, const struct vault_uses *uses)
{
    struct restore_table *table = calloc(1, sizeof *table);
    if (table == NULL)
        return NULL;
    size_t days = vault_uses_count(vault, uses, PRIVACY_DATE, DATES_MAX);
    /* A surrogate and its local part have at most three readings each. */
    bool ok = make_room(table, 6 * uses->count + days * DATE_FORMS + 1) &&
              add_uses(table, vault, uses) && add_locals(table, table->count) &&
              write_dates(table, vault, uses, days) &&
              add_dates(table); /* after the vault's own entries, which take precedence */
    if (!ok || !automaton_seal(table->automaton)) {
        restore_table_free(table);
        return NULL;
    }
    table->ring = 16;
    while (table->ring < automaton_depth_max(table->automaton) + 8)
        table->ring *= 2;
    return table;
}

void restore_table_free(struct restore_table *table)
{
    if (table == NULL)
        return;
    automaton_free(table->automaton);
    if (table->dates)
        crypto_wipe(table->dates, table->date_count * sizeof *table->dates);
    free(table->dates);
    free(table->entries);
    free(table->next_alike);
    free(table->owners);
    free(table);
}
