/* An Aho-Corasick automaton over the values' letters and digits, as restore.c has one over surrogates'; what
 * it finds is looked at as closely as an answer's surrogates are. */
#include "privacy/known.h"

#include "base/buf.h"
#include "base/str.h"
#include "base/utf8.h"
#include "privacy/automaton.h"
#include "privacy/restore_spell.h"
#include "privacy/spell.h"

#include <stdlib.h>

#define NODES_MAX (1u << 20)
#define SIGNS_MIN 4 /* a shorter value, found elsewhere, may be anything */
#define RING 8192   /* of the folded bytes' places; longer values are found by the detectors only */
#define WORD_FIRST ((size_t)1 << (8 * sizeof(size_t) - 1))

struct known {
    const struct vault *vault;
    const uint16_t *rule_of;
    struct automaton *automaton;
    size_t begins[RING]; /* where the last folded bytes stand, with WORD_FIRST on a word's first */
};

/* --- what is looked for --- */

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
    if (entry->retired || spell_count(entry->original) < SIGNS_MIN)
        return false;
    if (entry->form == SURROGATE_WORD)
        return entry->kind == PRIVACY_PERSON && spell_case_of(entry->original) != SPELL_LOWER &&
               !is_ordinary(entry->original);
    return spell_count(entry->original) >= 6;
}

struct known *known_new(const struct vault *vault, const struct vault_uses *uses,
                        const uint16_t *rule_of)
{
    struct known *known = calloc(1, sizeof *known);
    if (known == NULL)
        return NULL;
    known->vault = vault;
    known->rule_of = rule_of;
    known->automaton = automaton_new(NODES_MAX);
    bool ok = known->automaton != NULL;
    struct buf folded;
    buf_init(&folded, VAULT_VALUE_BYTES_MAX * 8);
    for (size_t i = 0; ok && i < uses->count; i++) {
        uint32_t index = uses->entries[i];
        struct vault_entry entry = vault_at(vault, index);
        buf_clear(&folded);
        spell_fold(entry.original, &folded);
        if (can_stand_alone(&entry) && folded.len > 0)
            ok = automaton_add(known->automaton, buf_view(&folded), NULL, &index);
    }
    buf_deinit(&folded);
    if (ok && automaton_seal(known->automaton))
        return known;
    known_free(known);
    return NULL;
}

void known_free(struct known *known)
{
    if (known == NULL)
        return;
    automaton_free(known->automaton);
    free(known);
}

/* --- one text --- */

struct pass {
    struct known *known;
    struct td_str text;
    const struct spans *found;
    size_t found_next, folded;
    struct spans *all;
};

static void add_found(struct pass *pass, size_t up_to)
{
    const struct spans *found = pass->found;
    while (pass->found_next < found->count && found->spans[pass->found_next].begin < up_to)
        spans_add(pass->all, &found->spans[pass->found_next++]);
}

/* What was found goes before what is known. */
static void add_known(struct pass *pass, uint32_t index, size_t begin, size_t end)
{
    add_found(pass, begin + 1);
    const struct privacy_span *last =
        pass->all->count ? &pass->all->spans[pass->all->count - 1] : NULL;
    if (last && last->end > begin)
        return;
    if (pass->found_next < pass->found->count && pass->found->spans[pass->found_next].begin < end)
        return;
    enum privacy_kind kind = vault_at(pass->known->vault, index).kind;
    struct privacy_span span = {.kind = kind, .begin = begin, .end = end, .score = 1};
    if (kind == PRIVACY_CUSTOM && pass->known->rule_of)
        span.rule = pass->known->rule_of[index];
    spans_add(pass->all, &span);
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

/* The automaton's state behind a letter or digit. */
static uint32_t take_sign(struct pass *pass, const struct sign *sign, bool first, uint32_t state)
{
    char bytes[4];
    size_t count = utf8_encode(sign->c, bytes);
    for (size_t i = 0; i < count; i++) {
        pass->known->begins[pass->folded++ % RING] =
            sign->begin | (i == 0 && first ? WORD_FIRST : 0);
        state = automaton_step(pass->known->automaton, state, (unsigned char)bytes[i]);
    }
    return state;
}

/* The longest value that ends with the last sign. */
static void look(struct pass *pass, uint32_t state, size_t end)
{
    const struct automaton *automaton = pass->known->automaton;
    if (automaton_value(automaton, state) == AUTOMATON_NONE)
        state = automaton_next_whole(automaton, state);
    for (; state != AUTOMATON_NONE; state = automaton_next_whole(automaton, state)) {
        uint32_t depth = automaton_depth(automaton, state);
        size_t begin = depth < RING ? pass->known->begins[(pass->folded - depth) % RING] : 0;
        uint32_t index = automaton_value(automaton, state);
        struct vault_entry entry = vault_at(pass->known->vault, index);
        if ((begin & WORD_FIRST) == 0 || !is_known_at(&entry, pass->text, begin & ~WORD_FIRST, end))
            continue;
        add_known(pass, index, begin & ~WORD_FIRST, end);
        break;
    }
}

bool known_find(struct known *known, struct td_str text, const struct spans *found,
                size_t count_max, struct spans *all)
{
    struct pass pass = {.known = known, .text = text, .found = found, .all = all};
    uint32_t state = AUTOMATON_ROOT;
    bool after_sign = false;
    struct backslashes backslashes = {0};
    for (struct sign sign = spell_at(text, 0, false);
         sign.kind != SIGN_END && all->count <= count_max; sign = spell_at(text, sign.end, false)) {
        after_sign = after_sign && !backslashes.behind_letter;
        spell_split(&backslashes, text, false, &sign);
        if (!spell_is_significant(&sign)) {
            after_sign = after_sign && sign.kind == SIGN_NOTHING;
            continue;
        }
        state = take_sign(&pass, &sign, !after_sign || sign.unspaced, state);
        after_sign = true;
        look(&pass, state, sign.end);
    }
    add_found(&pass, SIZE_MAX);
    return !all->failed && all->count <= count_max;
}
