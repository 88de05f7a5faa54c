#include "privacy/mask.h"

#include "base/error.h"
#include "base/str.h"
#include "privacy/automaton.h"
#include "privacy/date_forms.h"
#include "privacy/escaped.h"
#include "privacy/restore.h"
#include "privacy/restore_spell.h"
#include "privacy/spell.h"

#include <stdlib.h>

#define KNOWN_NODES_MAX (1u << 20)
#define KNOWN_SIGNS_MIN 4 /* a shorter value, found elsewhere, may be anything */
#define TEXT_BYTES_MAX ((size_t)64 << 20)

struct span_list {
    struct privacy_span *spans;
    size_t count, capacity;
    bool failed;
};

struct text_spans {
    struct td_str text;
    size_t first, count;
};

struct mask {
    struct vault *vault;
    struct mask_rules rules;
    struct vault_uses *uses;
    struct word_set words;
    struct span_list found;   /* of all texts, one behind the other */
    struct text_spans *texts; /* [text_count] */
    size_t text_count, text_capacity, next_text;
    struct automaton *known;
    struct privacy_tally replaced;
    uint16_t *rule_of; /* [VAULT_ENTRIES_MAX] that found an entry's value; NULL: none */
};

struct mask *mask_new(struct vault *vault, const struct mask_rules *rules, struct vault_uses *uses)
{
    struct mask *mask = calloc(1, sizeof *mask);
    if (mask == NULL)
        return NULL;
    mask->vault = vault;
    mask->rules = *rules;
    mask->uses = uses;
    return mask;
}

void mask_free(struct mask *mask)
{
    if (mask == NULL)
        return;
    word_set_deinit(&mask->words);
    automaton_free(mask->known);
    free(mask->found.spans);
    free(mask->texts);
    free(mask->rule_of);
    free(mask);
}

void mask_read(struct mask *mask, struct td_str text)
{
    word_set_add(&mask->words, text);
}

/* --- finding --- */

static bool push(struct span_list *list, struct privacy_span span)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 32;
        struct privacy_span *spans =
            list->count < MASK_SPANS_MAX ? realloc(list->spans, capacity * sizeof *spans) : NULL;
        if (spans == NULL)
            return false;
        list->spans = spans;
        list->capacity = capacity;
    }
    list->spans[list->count++] = span;
    return true;
}

static enum td_status scan(struct td_str text, bool strict, struct span_list *out,
                           struct td_error *err)
{
    size_t capacity = 64;
    *out = (struct span_list){0};
    for (;;) {
        struct privacy_span *spans = realloc(out->spans, capacity * sizeof *spans);
        if (spans == NULL)
            break;
        out->spans = spans;
        out->count = strict ? privacy_scan_strict(text, spans, capacity)
                            : privacy_scan(text, spans, capacity);
        if (out->count <= capacity)
            return TD_OK;
        if (out->count > MASK_SPANS_MAX)
            break;
        capacity = out->count;
    }
    free(out->spans);
    return error_set(err, TD_LIMIT, "a text has more private values than can be replaced (%u)",
                     MASK_SPANS_MAX);
}

static bool is_wanted(const struct mask *mask, const struct privacy_span *span)
{
    return mask->rules.classes[span->data_class <= TD_CLASS_RESTRICTED ? span->data_class
                                                                       : TD_CLASS_RESTRICTED] ||
           mask->rules.kinds[span->kind];
}

static enum td_status replace(struct mask *mask, enum privacy_kind kind, struct td_str value,
                              struct buf *out, struct td_error *err)
{
    if (mask->words.failed)
        return error_set(err, TD_NO_MEMORY, "no memory for surrogates");
    if (escaped_next(value, 0) == SIZE_MAX)
        return vault_replace(mask->vault, kind, value, &mask->words, mask->uses, out, err);
    struct buf plain; /* "M\u00fcller" is who else stands there as M\xc3\xbcller */
    buf_init(&plain, value.len + 1);
    escaped_value(value, &plain);
    enum td_status status = plain.failed ? error_set(err, TD_NO_MEMORY, "no memory for surrogates")
                                         : vault_replace(mask->vault, kind, buf_view(&plain),
                                                         &mask->words, mask->uses, out, err);
    buf_deinit(&plain);
    return status;
}

static bool begin_text(struct mask *mask, struct td_str text)
{
    if (mask->text_count == mask->text_capacity) {
        size_t capacity = mask->text_capacity ? 2 * mask->text_capacity : 16;
        struct text_spans *texts = realloc(mask->texts, capacity * sizeof *texts);
        if (texts == NULL)
            return false;
        mask->texts = texts;
        mask->text_capacity = capacity;
    }
    mask->texts[mask->text_count++] = (struct text_spans){.text = text, .first = mask->found.count};
    return true;
}

/* Where the character before the offset begins: one of UTF-8, or one that is written \u00f8, with all
 * backslashes before it. */
static size_t character_before(struct td_str text, size_t offset)
{
    if (escaped_ends_at(text, offset)) {
        size_t before = offset >= 6 ? offset - 6 : 0;
        while (before > 0 && text.data[before - 1] == '\\')
            before--;
        return before;
    }
    size_t before = offset - 1;
    while (before > 0 && offset - before < 4 && ((unsigned char)text.data[before] & 0xc0) == 0x80)
        before--;
    return before;
}

/* Where a finding begins that has the digits of "%3D" or "%40" before the value: behind them. A
 * surrogate in their place could be read as the digits of another one. */
static size_t behind_percent(struct td_str text, struct privacy_span span)
{
    size_t begin = span.begin, at = begin - (begin > 0 && text.data[begin - 1] == '%');
    while (at + 3 < span.end && text.data[at] == '%' && spell_at(text, at, false).end == at + 3)
        begin = at += 3;
    return begin;
}

/* The word's edges around the finding: what was seen through an encoding may end in the middle of a
 * word, and a surrogate there would not be known again. */
static struct privacy_span whole_words(struct td_str text, struct privacy_span span)
{
    struct sign last = {0}, sign = {.end = span.begin};
    while (sign.end < span.end) {
        sign = spell_at(text, sign.end, false);
        last = sign;
    }
    while (spell_is_significant(&last) && !last.unspaced) {
        sign = spell_at(text, span.end, false);
        if (!spell_is_significant(&sign) || sign.unspaced)
            break;
        span.end = sign.end;
    }
    /* A quoted local part begins with no letter, but its surrogate does. */
    sign = spell_at(text, span.begin, false);
    if ((!spell_is_significant(&sign) && span.kind != PRIVACY_EMAIL) || sign.unspaced)
        return span;
    while (span.begin > 0) {
        size_t before = character_before(text, span.begin);
        sign = spell_at(str_slice(text, before, span.begin), 0, false);
        if (!spell_is_significant(&sign) || sign.unspaced || sign.end != span.begin - before)
            break;
        span.begin = before;
    }
    span.begin = behind_percent(text, span);
    return span;
}

/* One more finding of the last text; what overlaps the one before it becomes one with it. */
static bool keep(struct mask *mask, struct privacy_span span)
{
    struct text_spans *spans = &mask->texts[mask->text_count - 1];
    struct privacy_span *last = spans->count > 0 ? &mask->found.spans[mask->found.count - 1] : NULL;
    if (last && span.begin < last->end) {
        last->end = span.end > last->end ? span.end : last->end;
        return true;
    }
    spans->count++;
    return push(&mask->found, span);
}

/* The entry that was used last has a value of this rule. */
static bool note_rule(struct mask *mask, uint16_t rule)
{
    if (mask->rule_of == NULL)
        mask->rule_of = calloc(VAULT_ENTRIES_MAX, sizeof *mask->rule_of);
    if (mask->rule_of != NULL)
        mask->rule_of[mask->uses->last] = rule;
    return mask->rule_of != NULL;
}

/* Gives every finding of a text its surrogate. */
static enum td_status replace_found(struct mask *mask, const struct text_spans *of,
                                    struct td_error *err)
{
    enum td_status status = TD_OK;
    struct buf surrogate;
    buf_init(&surrogate, TEXT_BYTES_MAX);
    for (size_t i = 0; status == TD_OK && i < of->count; i++) {
        const struct privacy_span *span = &mask->found.spans[of->first + i];
        buf_clear(&surrogate);
        status =
            replace(mask, span->kind, str_slice(of->text, span->begin, span->end), &surrogate, err);
        if (status == TD_OK && span->kind == PRIVACY_CUSTOM && !note_rule(mask, span->rule))
            status = error_set(err, TD_NO_MEMORY, "no memory for surrogates");
    }
    buf_deinit(&surrogate);
    return status;
}

enum td_status mask_find(struct mask *mask, struct td_str text, struct td_error *err)
{
    struct span_list all;
    enum td_status status = scan(text, mask->rules.strict, &all, err);
    if (status != TD_OK)
        return status;
    if (!begin_text(mask, text))
        status = error_set(err, TD_NO_MEMORY, "no memory for surrogates");
    for (size_t i = 0; i < all.count && status == TD_OK; i++) {
        const struct privacy_span *span = &all.spans[i];
        char day[DATE_DAY_BYTES];
        if (is_wanted(mask, span)) {
            if (!keep(mask, whole_words(text, *span)))
                status = error_set(err, TD_LIMIT, "more private values than can be replaced (%u)",
                                   MASK_SPANS_MAX);
        } else if (span->kind == PRIVACY_DATE &&
                   date_forms_day(str_slice(text, span->begin, span->end), day)) {
            word_set_add(&mask->words, str_from(day)); /* it is sent as it is, in whatever form */
        }
    }
    free(all.spans);
    return status == TD_OK ? replace_found(mask, &mask->texts[mask->text_count - 1], err) : status;
}

/* --- what stands in the texts already --- */

#define ROUNDS_MAX 8

/* Is a day that the surrogate names in one of the texts, however it is written there? */
static bool is_day_of_texts(const struct mask *mask, const struct vault_entry *entry)
{
    char day[DATE_DAY_BYTES];
    return entry->kind == PRIVACY_DATE && date_forms_day(entry->surrogate, day) &&
           word_set_has(&mask->words, str_from(day));
}

/* Retires the surrogates that an answer could have from the texts themselves. *count: how many. */
static enum td_status retire_met(struct mask *mask, size_t *count, struct td_error *err)
{
    struct vault_uses *uses = mask->uses;
    struct restore_table *table = restore_table_new(mask->vault, uses);
    bool *met = calloc(uses->count + 1, sizeof *met);
    bool ok = table != NULL && met != NULL;
    for (size_t i = 0; ok && i < mask->text_count; i++)
        ok = restore_meet(table, mask->texts[i].text, met);
    restore_table_free(table);
    *count = 0;
    for (size_t i = 0; ok && i < uses->count; i++) {
        struct vault_entry entry = vault_at(mask->vault, uses->entries[i]);
        if (!met[i] && !is_day_of_texts(mask, &entry))
            continue;
        vault_retire(mask->vault, uses->entries[i]);
        ++*count;
    }
    free(met);
    return ok ? TD_OK : error_set(err, TD_NO_MEMORY, "no memory for surrogates");
}

/* Words cannot be the texts' (word_set.h), but a name's ending, a number's grouping and a day's form
 * are an answer's to choose: read as an answer, the texts must have no surrogate either. */
static enum td_status settle(struct mask *mask, struct td_error *err)
{
    for (int round = 0; round < ROUNDS_MAX; round++) {
        size_t count;
        enum td_status status =
            mask->uses->count > 0 ? retire_met(mask, &count, err) : (count = 0, TD_OK);
        if (status != TD_OK || count == 0)
            return status;
        vault_uses_clear(mask->uses);
        for (size_t i = 0; i < mask->text_count && status == TD_OK; i++)
            status = replace_found(mask, &mask->texts[i], err);
        if (status != TD_OK)
            return status;
    }
    return error_set(err, TD_LIMIT,
                     "no surrogates are left that the texts do not have: ask a tier that may see "
                     "the values");
}

/* --- what is known by now --- */

/* Names that are ordinary words or first in many sentences: elsewhere they may be just that. */
static bool is_ordinary(struct td_str word)
{
    static const char *const words[] = {
        "will",   "mark",   "grace",     "hope",    "rose",   "april",  "june",    "july",
        "august", "bill",   "jack",      "frank",   "rich",   "dean",   "grant",   "chase",
        "hunter", "mason",  "young",     "long",    "brown",  "white",  "black",   "green",
        "king",   "price",  "wood",      "woods",   "hill",   "field",  "banks",   "stone",
        "rice",   "page",   "park",      "parks",   "lane",   "best",   "good",    "bush",
        "cook",   "baker",  "carter",    "miller",  "taylor", "smart",  "strong",  "sharp",
        "swift",  "short",  "small",     "little",  "north",  "west",   "east",    "south",
        "summer", "autumn", "winter",    "church",  "bishop", "knight", "major",   "pearl",
        "ruby",   "daisy",  "violet",    "heather", "joy",    "faith",  "charity", "dawn",
        "star",   "angel",  "christian", "pierce",  "drew",   "wade",   "sage",    "reed",
        "rivers", "brooks", "forest",    "glass",   "gold",   "silver", "love",    "moon",
        "noble",  "powers", "wise",      "case"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_equal_nocase(word, str_from(words[i])))
            return true;
    return false;
}

static bool can_stand_alone(const struct vault_entry *entry)
{
    if (entry->retired || spell_count(entry->original) < KNOWN_SIGNS_MIN)
        return false;
    if (entry->form == SURROGATE_WORD)
        return entry->kind == PRIVACY_PERSON && spell_case_of(entry->original) != SPELL_LOWER &&
               !is_ordinary(entry->original);
    return spell_count(entry->original) >= 6;
}

enum td_status mask_seal(struct mask *mask, struct td_error *err)
{
    enum td_status status = settle(mask, err);
    if (status != TD_OK)
        return status;
    mask->known = automaton_new(KNOWN_NODES_MAX);
    bool ok = mask->known != NULL;
    struct buf folded;
    buf_init(&folded, VAULT_VALUE_BYTES_MAX * 8);
    for (size_t i = 0; ok && i < mask->uses->count; i++) {
        uint32_t index = mask->uses->entries[i];
        struct vault_entry entry = vault_at(mask->vault, index);
        buf_clear(&folded);
        spell_fold(entry.original, &folded);
        if (can_stand_alone(&entry) && folded.len > 0)
            ok = automaton_add(mask->known, buf_view(&folded), NULL, &index);
    }
    buf_deinit(&folded);
    return ok && automaton_seal(mask->known)
               ? TD_OK
               : error_set(err, TD_LIMIT, "the private values are too long to be looked for");
}

/* A value as an entry for restore_spell's questions, which are about surrogates. */
static struct vault_entry turned(const struct vault_entry *entry)
{
    struct vault_entry other = *entry;
    other.surrogate = entry->original;
    other.original = entry->surrogate;
    return other;
}

/* Does the known value stand here, and not only its letters? */
static bool is_known_at(const struct vault_entry *entry, struct td_str text, size_t begin,
                        size_t end)
{
    struct td_str raw = str_slice(text, begin, end);
    struct vault_entry value = turned(entry);
    if (restore_edge_at(&value, text, end, false) != EDGE_YES || !restore_gaps_fit(&value, raw))
        return false;
    enum spell_case form = spell_case_of(raw);
    return entry->form != SURROGATE_WORD || str_equal(raw, entry->original) ||
           form == SPELL_UPPER || form == SPELL_TITLE;
}

struct known_pass {
    struct mask *mask;
    struct td_str text;
    const struct privacy_span *found; /* of this text */
    size_t found_count, found_next;
    struct span_list merged;
};

static void merge_found(struct known_pass *pass, size_t up_to)
{
    while (pass->found_next < pass->found_count && pass->found[pass->found_next].begin < up_to)
        pass->merged.failed |= !push(&pass->merged, pass->found[pass->found_next++]);
}

static void add_known(struct known_pass *pass, uint32_t index, size_t begin, size_t end)
{
    enum privacy_kind kind = vault_at(pass->mask->vault, index).kind;
    merge_found(pass, begin + 1);
    const struct privacy_span *last =
        pass->merged.count ? &pass->merged.spans[pass->merged.count - 1] : NULL;
    if (last && last->end > begin)
        return;
    if (pass->found_next < pass->found_count && pass->found[pass->found_next].begin < end)
        return;
    struct privacy_span span = {.kind = kind, .begin = begin, .end = end, .score = 1};
    if (kind == PRIVACY_CUSTOM && pass->mask->rule_of)
        span.rule = pass->mask->rule_of[index];
    pass->merged.failed |= !push(&pass->merged, span);
}

#define RING 8192 /* of the folded bytes' places; longer values are found by the detectors only */
#define WORD_FIRST ((size_t)1 << (8 * sizeof(size_t) - 1))

/* Offsets of the last folded bytes, with WORD_FIRST on a word's first. */
struct places {
    size_t *begins;
    size_t total;
};

static void find_known(struct known_pass *pass, struct places *places)
{
    const struct automaton *known = pass->mask->known;
    uint32_t state = AUTOMATON_ROOT;
    bool after_sign = false;
    struct backslashes backslashes = {0};
    for (struct sign sign = spell_at(pass->text, 0, false); sign.kind != SIGN_END;
         sign = spell_at(pass->text, sign.end, false)) {
        after_sign = after_sign && !backslashes.behind_letter;
        spell_split(&backslashes, pass->text, false, &sign);
        if (!spell_is_significant(&sign)) {
            after_sign = after_sign && sign.kind == SIGN_NOTHING;
            continue;
        }
        struct buf folded;
        char bytes[8];
        buf_init(&folded, sizeof bytes);
        spell_fold(str_slice(pass->text, sign.begin, sign.end), &folded);
        for (size_t i = 0; i < folded.len; i++) {
            places->begins[places->total++ % RING] =
                sign.begin | (i == 0 && (!after_sign || sign.unspaced) ? WORD_FIRST : 0);
            state = automaton_step(known, state, (unsigned char)folded.data[i]);
        }
        buf_deinit(&folded);
        after_sign = true;
        uint32_t whole = automaton_value(known, state) != AUTOMATON_NONE
                             ? state
                             : automaton_next_whole(known, state);
        for (; whole != AUTOMATON_NONE; whole = automaton_next_whole(known, whole)) {
            uint32_t depth = automaton_depth(known, whole);
            size_t begin = depth < RING ? places->begins[(places->total - depth) % RING] : 0;
            uint32_t index = automaton_value(known, whole);
            struct vault_entry entry = vault_at(pass->mask->vault, index);
            if ((begin & WORD_FIRST) == 0 ||
                !is_known_at(&entry, pass->text, begin & ~WORD_FIRST, sign.end))
                continue;
            add_known(pass, index, begin & ~WORD_FIRST, sign.end);
            break;
        }
    }
}

/* --- writing --- */

/* What the written text still has. A finding that touches a surrogate is its own: what stands beside
 * it stood there before, and was no finding then. */
static enum td_status judge_rest(struct td_str text, const struct span_list *replaced,
                                 enum td_data_class *rest, struct td_error *err)
{
    struct span_list all;
    enum td_status status = scan(text, false, &all, err);
    if (status != TD_OK)
        return status;
    size_t next = 0;
    for (size_t i = 0; i < all.count; i++) {
        while (next < replaced->count && replaced->spans[next].end <= all.spans[i].begin)
            next++;
        bool touches = next < replaced->count && replaced->spans[next].begin < all.spans[i].end;
        if (!touches && all.spans[i].data_class > *rest)
            *rest = all.spans[i].data_class;
    }
    free(all.spans);
    return TD_OK;
}

static enum td_status write_spans(struct mask *mask, struct td_str text, struct span_list *spans,
                                  struct buf *out, struct td_error *err)
{
    size_t done = 0, base = out->len;
    for (size_t i = 0; i < spans->count; i++) {
        struct privacy_span *span = &spans->spans[i];
        buf_append_str(out, str_slice(text, done, span->begin));
        size_t begin = out->len - base;
        enum td_status status =
            replace(mask, span->kind, str_slice(text, span->begin, span->end), out, err);
        if (status != TD_OK)
            return status;
        privacy_tally_add(&mask->replaced, span->kind, span->rule);
        done = span->end;
        span->begin = begin;
        span->end = out->len - base;
    }
    buf_append_str(out, str_slice(text, done, text.len));
    return out->failed ? error_set(err, TD_LIMIT, "a text with its surrogates is too large")
                       : TD_OK;
}

enum td_status mask_write(struct mask *mask, struct td_str text, struct buf *out,
                          enum td_data_class *rest, struct td_error *err)
{
    if (mask->next_text >= mask->text_count)
        return error_set(err, TD_INTERNAL, "a text is written that was not looked at");
    const struct text_spans *spans = &mask->texts[mask->next_text++];
    struct known_pass pass = {.mask = mask,
                              .text = text,
                              .found = spans->count > 0 ? mask->found.spans + spans->first : NULL,
                              .found_count = spans->count};
    struct places places = {.begins = calloc(RING, sizeof *places.begins)};
    size_t base = out->len;
    enum td_status status = TD_OK;
    if (places.begins)
        find_known(&pass, &places);
    merge_found(&pass, SIZE_MAX);
    if (!places.begins || pass.merged.failed)
        status = error_set(err, TD_LIMIT, "more private values than can be replaced (%u)",
                           MASK_SPANS_MAX);
    if (status == TD_OK)
        status = write_spans(mask, text, &pass.merged, out, err);
    if (status == TD_OK)
        status = judge_rest(str_slice(buf_view(out), base, out->len), &pass.merged, rest, err);
    free(places.begins);
    free(pass.merged.spans);
    return status;
}

const struct privacy_tally *mask_replaced(const struct mask *mask)
{
    return &mask->replaced;
}
