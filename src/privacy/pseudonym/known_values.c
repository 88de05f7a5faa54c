/* An Aho-Corasick automaton over the letters and digits of the values, as restore_table.c has one
 * over those of surrogates. Each hit is then looked at as closely as a surrogate in an answer: with
 * the same rules for separators and endings (restore_spell.h).
 *
 * Not every value is looked for. A short one, or a name that is an ordinary word, would be found in
 * places where it means something else. What a detector found takes precedence over what is known,
 * and of known values the longest wins. */
#include "privacy/pseudonym/known_values.h"

#include "base/bytes/buf.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "base/text/utf8.h"
#include "privacy/detect/detect.h"
#include "privacy/pseudonym/date_forms.h"
#include "privacy/pseudonym/identifying_words.h"
#include "privacy/pseudonym/restore_spell.h"
#include "privacy/scan/privacy.h"
#include "privacy/scan/scanner.h"
#include "privacy/text/automaton.h"
#include "privacy/text/spell.h"

#include <stdlib.h>
#include <string.h>

#define NODES_MAX (1u << 20)
#define SIGNS_MIN 4      /* a shorter value may mean anything at another place */
#define LONE_SIGNS_MIN 6 /* the same for values that are no words of a name */
#define RING 8192        /* folded bytes whose places are kept; longer values are not looked for */
#define NUMBER_DIGITS_MIN 8 /* shorter ones in other groups may be amounts and years */
#define DATES_MAX 256       /* that are known in other forms, too */
#define WORD_FIRST ((size_t)1 << (8 * sizeof(size_t) - 1))
#define WORD_SECOND (WORD_FIRST >> 1)
#define JOINED_BYTES_MAX 16384
#define INITIAL_SIGNS_MIN 5 /* of a name with an initial joined to it */

/* A value that is looked for. */
struct value {
    struct vault_entry entry;
    const char *rule; /* that found it, of kind PRIVACY_CUSTOM */
    bool handle; /* a word that is the name where it is joined to others, however it is written */
    bool joined_only;    /* and only there */
    uint32_t next_alike; /* another of the same letters and digits: a date with other separators */
};

struct known_values {
    struct value *values;
    size_t count, capacity;
    struct date_form *dates; /* [date_count] that values point to */
    size_t date_count;
    struct automaton *automaton;
    const struct privacy_scanner *scanner;
    char joined[JOINED_BYTES_MAX]; /* names of two words as one, which values point into */
    size_t joined_len;
    size_t begins[RING]; /* where the last folded bytes stand, with WORD_FIRST on a word's first,
                          * WORD_SECOND on its second */
};

/* --- what is looked for --- */

static bool can_stand_alone(const struct vault_entry *entry)
{
    if (entry->retired || spell_count(entry->original) < SIGNS_MIN)
        return false;
    if (entry->form == SURROGATE_WORD)
        return entry->kind == PRIVACY_PERSON && spell_case_of(entry->original) != SPELL_LOWER &&
               !identifying_words_is_common(entry->original);
    return spell_count(entry->original) >= LONE_SIGNS_MIN;
}

/* Of values with the same letters and digits only the first is kept. Dates are all kept: their
 * separators tell them apart. */
static bool add_value(struct known_values *known, const struct value *value)
{
    if (known->count == known->capacity) {
        size_t capacity = known->capacity ? 2 * known->capacity : 64;
        struct value *values = realloc(known->values, capacity * sizeof *values);
        if (values == NULL)
            return false;
        known->values = values;
        known->capacity = capacity;
    }
    struct buf folded;
    buf_init(&folded, VAULT_VALUE_BYTES_MAX * 8);
    spell_fold(value->entry.original, &folded);
    uint32_t index = (uint32_t)known->count;
    bool ok = folded.len == 0 || automaton_add(known->automaton, buf_view(&folded), NULL, &index);
    bool first = index == known->count;
    if (ok && folded.len > 0 && (first || value->entry.kind == PRIVACY_DATE)) {
        struct value *own = &known->values[known->count], *alike = &known->values[index];
        *own = *value;
        own->next_alike = first ? AUTOMATON_NONE : alike->next_alike;
        if (!first)
            alike->next_alike = (uint32_t)known->count;
        known->count++;
    }
    buf_deinit(&folded);
    return ok;
}

/* Is the number so long that it is the same one however its digits are grouped? */
static bool is_long_number(const struct vault_entry *entry)
{
    size_t digits = 0;
    for (struct sign sign = spell_at(entry->original, 0, false); sign.kind != SIGN_END;
         sign = spell_at(entry->original, sign.end, false)) {
        if (sign.kind == SIGN_LETTER)
            return false;
        digits += sign.kind == SIGN_DIGIT;
    }
    return digits >= NUMBER_DIGITS_MIN && entry->kind != PRIVACY_IP && entry->kind != PRIVACY_DATE;
}

static bool add_entry(struct known_values *known, const struct name_finder *names,
                      const struct vault_entry *entry, const char *rule)
{
    bool word = entry->form == SURROGATE_WORD;
    struct value value = {.entry = *entry,
                          .rule = rule,
                          .handle = word && identifying_words_is_handle(names, entry->original)};
    if (is_long_number(entry))
        value.entry.form = SURROGATE_LOOSE;
    return !can_stand_alone(entry) || add_value(known, &value);
}

/* The part of a mail address before the @ names its owner at other places, too, and so do its
 * words. */
static bool add_local(struct known_values *known, const struct name_finder *names,
                      const struct vault_entry *mail)
{
    struct td_str parts[IDENTIFYING_PARTS_MAX];
    size_t count = identifying_words_of_mail(names, mail->original, parts);
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++) {
        bool word = identifying_words_is_one(parts[i]);
        ok = add_value(known,
                       &(struct value){.entry = {.kind = PRIVACY_PERSON,
                                                 .form = word ? SURROGATE_WORD : SURROGATE_LOOSE,
                                                 .original = parts[i]},
                                       .handle = word,
                                       .joined_only = word});
    }
    return ok;
}

/* "ninakowalczyk": the words of a name come one after the other. */
static bool add_joined(struct known_values *known, const struct name_finder *names,
                       const struct vault_entry *first, const struct vault_entry *second)
{
    char *both = known->joined + known->joined_len;
    size_t len = first->original.len + second->original.len;
    if (first->kind != PRIVACY_PERSON || second->kind != PRIVACY_PERSON ||
        first->form != SURROGATE_WORD || second->form != SURROGATE_WORD ||
        !identifying_words_is_handle(names, first->original) ||
        !identifying_words_is_handle(names, second->original) ||
        len > sizeof known->joined - known->joined_len)
        return true;
    memcpy(both, first->original.data, first->original.len);
    memcpy(both + first->original.len, second->original.data, second->original.len);
    known->joined_len += len;
    return add_value(known, &(struct value){.entry = {.kind = PRIVACY_PERSON,
                                                      .form = SURROGATE_STRICT,
                                                      .original = {both, len}}});
}

/* A day is the same in whatever form it is written. */
static bool add_dates(struct known_values *known, const struct vault *vault,
                      const struct vault_uses *uses)
{
    size_t days = vault_uses_count(vault, uses, PRIVACY_DATE, DATES_MAX);
    bool ok = days == 0 || (known->dates = calloc(days * DATE_FORMS, sizeof *known->dates));
    for (size_t i = 0; ok && i < uses->count && days > 0; i++) {
        struct vault_entry entry = vault_at(vault, uses->entries[i]);
        if (entry.kind != PRIVACY_DATE)
            continue;
        days--;
        struct date_form *forms = known->dates + known->date_count;
        size_t count = date_forms_write(entry.original, entry.original, forms);
        known->date_count += count;
        for (size_t k = 0; ok && k < count; k++)
            ok = add_value(
                known, &(struct value){.entry = {.kind = PRIVACY_DATE,
                                                 .form = k < DATE_FORMS_NUMERIC ? SURROGATE_STRICT
                                                                                : SURROGATE_LOOSE,
                                                 .original = str_from(forms[k].original)}});
    }
    return ok;
}

struct known_values *known_values_new(const struct privacy_scanner *scanner,
                                      const struct vault *vault, const struct vault_uses *uses,
                                      const char *const *rule_of)
{
    struct known_values *known = calloc(1, sizeof *known);
    const struct name_finder *names = privacy_scanner_names(scanner);
    if (known == NULL)
        return NULL;
    known->scanner = scanner;
    known->automaton = automaton_new(NODES_MAX);
    bool ok = known->automaton != NULL;
    for (size_t i = 0; ok && i < uses->count; i++) {
        uint32_t index = uses->entries[i];
        struct vault_entry entry = vault_at(vault, index);
        ok = add_entry(known, names, &entry, rule_of ? rule_of[index] : NULL);
    }
    for (size_t i = 1; ok && i < uses->count; i++) {
        struct vault_entry first = vault_at(vault, uses->entries[i - 1]);
        struct vault_entry second = vault_at(vault, uses->entries[i]);
        ok = add_joined(known, names, &first, &second);
    }
    for (size_t i = 0; ok && i < uses->count; i++) {
        struct vault_entry entry = vault_at(vault, uses->entries[i]);
        ok = entry.kind != PRIVACY_EMAIL || entry.retired || add_local(known, names, &entry);
    }
    ok = ok && add_dates(known, vault, uses);
    if (ok && automaton_seal(known->automaton))
        return known;
    known_values_free(known);
    return NULL;
}

void known_values_free(struct known_values *known)
{
    if (known == NULL)
        return;
    automaton_free(known->automaton);
    crypto_wipe(known->joined, known->joined_len);
    if (known->dates)
        crypto_wipe(known->dates, known->date_count * sizeof *known->dates);
    free(known->dates);
    free(known->values);
    free(known);
}

/* --- one text --- */

struct pass {
    struct known_values *known;
    struct td_str text;
    const struct spans *found;
    size_t found_next, found_end, folded;
    struct spans *all;
};

static void add_found(struct pass *pass, size_t up_to)
{
    const struct spans *found = pass->found;
    while (pass->found_next < found->count && found->spans[pass->found_next].begin < up_to) {
        pass->found_end = found->spans[pass->found_next].end;
        spans_add(pass->all, &found->spans[pass->found_next++]);
    }
}

/* What was found goes before what is known, and of that the longer before its parts. */
static void add_known(struct pass *pass, const struct value *value, size_t begin, size_t end)
{
    add_found(pass, begin + 1);
    struct spans *all = pass->all;
    if (pass->found_end > begin ||
        (pass->found_next < pass->found->count && pass->found->spans[pass->found_next].begin < end))
        return;
    while (all->count > 0 && all->spans[all->count - 1].begin >= begin)
        all->count--;
    if (all->count > 0 && all->spans[all->count - 1].end > begin)
        return;
    struct privacy_span span = {
        .kind = value->entry.kind, .begin = begin, .end = end, .score = 1, .rule = value->rule};
    spans_add(all, &span);
}

/* The entry with value and surrogate exchanged, for the functions of restore_spell.h, which look
 * for surrogates. */
static struct vault_entry turned(const struct vault_entry *entry)
{
    struct vault_entry other = *entry;
    other.surrogate = entry->original;
    other.original = entry->surrogate;
    return other;
}

/* "84-57-12-33": hosts are named after addresses like that. */
static bool is_host_of_address(const struct vault_entry *entry, struct td_str raw)
{
    if (entry->kind != PRIVACY_IP || raw.len != entry->original.len)
        return false;
    for (size_t i = 0; i < raw.len; i++) {
        char own = entry->original.data[i], c = raw.data[i];
        if (c != own && (own != '.' || (c != '-' && c != '_')))
            return false;
    }
    return true;
}

/* May a name with an initial before or after it be this one's? */
static bool takes_initial(const struct value *known)
{
    return known->handle && spell_count(known->entry.original) >= INITIAL_SIGNS_MIN;
}

/* Does a word end here? "NinaKowalczyk" is two, and an initial may follow: "kowalczykn", which sets
 * *initial. */
static bool ends_at(const struct value *known, const struct vault_entry *value, struct td_str text,
                    size_t end, bool *initial)
{
    struct sign next = spell_at(text, end, false), after = spell_at(text, next.end, false);
    bool letter = known->entry.form == SURROGATE_WORD && next.kind == SIGN_LETTER;
    if (letter && !spell_is_significant(&after) && takes_initial(known))
        *initial = true;
    return restore_edge_at(value, text, end, false) == EDGE_YES ||
           (letter && (next.upper || *initial));
}

/* Does the known value stand here, or only its letters by chance? initial: one letter stands before
 * it. */
static bool is_known_at(const struct value *known, struct td_str text, size_t begin, size_t end,
                        bool initial)
{
    const struct vault_entry *entry = &known->entry;
    struct td_str raw = str_slice(text, begin, end);
    struct vault_entry value = turned(entry);
    if (!ends_at(known, &value, text, end, &initial) ||
        !(restore_gaps_fit(&value, raw) || is_host_of_address(entry, raw)))
        return false;
    if (initial)
        return takes_initial(known);
    if (entry->form != SURROGATE_WORD ||
        (known->handle && identifying_words_is_joined(text, begin, end)))
        return true;
    enum spell_case form = spell_case_of(raw);
    return !known->joined_only &&
           (str_equal(raw, entry->original) || form == SPELL_UPPER || form == SPELL_TITLE);
}

/* The automaton's state after a letter or digit. mark: WORD_FIRST, WORD_SECOND or none. */
static uint32_t take_sign(struct pass *pass, const struct sign *sign, size_t mark, uint32_t state)
{
    char bytes[4];
    size_t count = utf8_encode(sign->c, bytes);
    for (size_t i = 0; i < count; i++) {
        pass->known->begins[pass->folded++ % RING] = sign->begin | (i == 0 ? mark : 0);
        state = automaton_step(pass->known->automaton, state, (unsigned char)bytes[i]);
    }
    return state;
}

/* Which of the values of the same letters and digits stands here? NULL: none. */
static const struct value *known_at(const struct pass *pass, uint32_t index, size_t begin,
                                    size_t end, bool initial)
{
    for (; index != AUTOMATON_NONE; index = pass->known->values[index].next_alike)
        if (is_known_at(&pass->known->values[index], pass->text, begin, end, initial))
            return &pass->known->values[index];
    return NULL;
}

/* The longest value that ends with the last sign. */
static void look(struct pass *pass, uint32_t state, size_t end)
{
    const struct automaton *automaton = pass->known->automaton;
    if (automaton_value(automaton, state) == AUTOMATON_NONE)
        state = automaton_next_whole(automaton, state);
    for (; state != AUTOMATON_NONE; state = automaton_next_whole(automaton, state)) {
        uint32_t depth = automaton_depth(automaton, state);
        size_t mark = depth < RING ? pass->known->begins[(pass->folded - depth) % RING] : 0;
        size_t begin = mark & ~(WORD_FIRST | WORD_SECOND);
        bool initial = (mark & WORD_FIRST) == 0;
        const struct value *value =
            (mark & (WORD_FIRST | WORD_SECOND)) == 0
                ? NULL
                : known_at(pass, automaton_value(automaton, state), begin, end, initial);
        if (value == NULL)
            continue;
        add_known(pass, value, initial ? utf8_character_begin(pass->text, begin - 1) : begin, end);
        break;
    }
}

static bool find_plain(struct known_values *known, struct td_str text, const struct spans *found,
                       size_t count_max, struct spans *all)
{
    struct pass pass = {.known = known, .text = text, .found = found, .all = all};
    uint32_t state = AUTOMATON_ROOT;
    size_t signs = 0; /* of the word so far */
    bool lower = false;
    struct backslashes backslashes = {0};
    for (struct sign sign = spell_at(text, 0, false);
         sign.kind != SIGN_END && all->count <= count_max; sign = spell_at(text, sign.end, false)) {
        if (backslashes.after_letter)
            signs = 0;
        spell_split(&backslashes, text, false, &sign);
        if (!spell_is_significant(&sign)) {
            signs = sign.kind == SIGN_NOTHING ? signs : 0;
            continue;
        }
        if (sign.unspaced || (lower && sign.upper)) /* "NinaKowalczyk" */
            signs = 0;
        size_t mark = signs == 0 ? WORD_FIRST : signs == 1 ? WORD_SECOND : 0;
        state = take_sign(&pass, &sign, mark, state);
        signs++;
        lower = sign.kind == SIGN_LETTER && !sign.upper;
        look(&pass, state, sign.end);
    }
    add_found(&pass, SIZE_MAX);
    return !all->failed && all->count <= count_max;
}

/* --- what shows only in another form --- */

struct hidden {
    struct known_values *known;
    struct td_str text;
    size_t count_max;
    struct spans spans;
};

/* Known values in a stretch that reads another way. What reads the same there is not hidden. */
static void see_hidden(void *ctx, struct td_str plain, const uint32_t *origin, size_t base)
{
    struct hidden *hidden = ctx;
    struct spans none = {0}, all = {0};
    if (!find_plain(hidden->known, plain, &none, hidden->count_max, &all))
        hidden->spans.failed = true;
    for (size_t i = 0; i < all.count; i++) {
        struct privacy_span span = all.spans[i];
        struct td_str value = str_slice(plain, span.begin, span.end);
        span.begin = base + origin[span.begin];
        span.end = base + origin[span.end];
        span.kind = PRIVACY_ID;
        if (!str_equal(str_slice(hidden->text, span.begin, span.end), value))
            spans_add(&hidden->spans, &span);
    }
    free(all.spans);
}

static int by_begin(const void *a, const void *b)
{
    const struct privacy_span *first = a, *second = b;
    return first->begin < second->begin ? -1 : first->begin > second->begin;
}

/* What was found goes before what is hidden, and of that what begins first. */
static void merge(const struct spans *found, struct spans *hidden, struct spans *out)
{
    size_t next = 0, end = 0;
    if (hidden->count > 1)
        qsort(hidden->spans, hidden->count, sizeof *hidden->spans, by_begin);
    for (size_t i = 0; i <= hidden->count; i++) {
        size_t begin = i < hidden->count ? hidden->spans[i].begin : SIZE_MAX;
        for (; next < found->count && found->spans[next].begin <= begin; next++) {
            spans_add(out, &found->spans[next]);
            end = found->spans[next].end;
        }
        if (i == hidden->count || begin < end ||
            (next < found->count && found->spans[next].begin < hidden->spans[i].end))
            continue;
        spans_add(out, &hidden->spans[i]);
        end = hidden->spans[i].end;
    }
}

bool known_values_find(struct known_values *known, struct td_str text, const struct spans *found,
                       size_t count_max, struct spans *all)
{
    struct hidden hidden = {.known = known, .text = text, .count_max = count_max};
    struct spans both = {0};
    if (known->count > 0)
        privacy_reread(known->scanner, text, &(struct rereader){see_hidden, &hidden});
    merge(found, &hidden.spans, &both);
    bool ok =
        !hidden.spans.failed && !both.failed && find_plain(known, text, &both, count_max, all);
    free(hidden.spans.spans);
    free(both.spans);
    return ok;
}
