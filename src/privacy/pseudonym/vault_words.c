/* Names, places, organisations and addresses. Every word has a surrogate of its own in the whole
 * conversation, so that a part of a name still means the same person. Words that are no secret stay
 * ("von", "Street", "GmbH"). A phrase becomes a pair of its own only when a part of it means
 * nothing outside the phrase: an initial, a house number. */
#include "base/core/error.h"
#include "base/core/str.h"
#include "privacy/pseudonym/surrogate_names.h"
#include "privacy/pseudonym/surrogate_writers.h"
#include "privacy/pseudonym/vault_internal.h"
#include "privacy/pseudonym/word_list.h"
#include "privacy/text/spell.h"
#include "privacy/words/lexicon.h"

#define WORDS_MAX 64
#define LIST_TRIES 12u /* of a list, before words are invented */

struct token {
    size_t begin, end;
    bool digits, letters, unspaced;
    size_t count; /* letters and digits */
};

struct phrase {
    struct td_str value;
    enum privacy_kind kind;
    enum name_group group;
    struct token tokens[WORDS_MAX];
    size_t count;
};

/* False when it has more words than a phrase can have. */
static bool read_tokens(struct phrase *phrase)
{
    size_t offset = 0;
    while (offset < phrase->value.len) {
        struct token token = {.begin = offset};
        struct sign sign = spell_at(phrase->value, offset, false);
        while (spell_is_significant(&sign) || (sign.kind == SIGN_NOTHING && token.count > 0)) {
            token.digits |= sign.kind == SIGN_DIGIT;
            token.letters |= sign.kind == SIGN_LETTER;
            token.unspaced |= sign.unspaced;
            token.count += spell_is_significant(&sign);
            token.end = sign.end;
            sign = spell_at(phrase->value, sign.end, false);
        }
        offset = sign.end;
        if (token.count == 0)
            continue;
        if (phrase->count == WORDS_MAX)
            return false;
        phrase->tokens[phrase->count++] = token;
    }
    return true;
}

static struct td_str token_text(const struct phrase *phrase, size_t i)
{
    return str_slice(phrase->value, phrase->tokens[i].begin, phrase->tokens[i].end);
}

/* --- one word --- */

struct word_wish {
    enum name_group group;
    enum name_part part;  /* NAME_PART_COUNT: an invented word */
    bool feminine;        /* a family name that shows its gender */
    struct td_str ending; /* stays: "straße" */
    bool whole_name;      /* family and given name without a space (Chinese, Korean) */
};

static void append_feminine(struct td_str name, struct buf *out)
{
    static const char *const plain[] = {"ов", "ев", "ёв", "ин", NULL};
    buf_append_str(out, name);
    for (size_t i = 0; plain[i]; i++)
        if (str_ends_with(name, str_from(plain[i])))
            buf_append_str(out, STR("а"));
    if (str_ends_with(name, STR("ий")) && !out->failed) { /* Каменский, Каменская */
        out->len -= strlen("ий");
        out->data[out->len] = '\0';
        buf_append_str(out, STR("ая"));
    }
}

static void write_word(const struct vault_question *question, const uint8_t *key,
                       struct td_str canonical, uint32_t salt, struct buf *out)
{
    const struct word_wish *wish = question->ctx;
    struct draw draw;
    struct buf word;
    buf_init(&word, 256);
    draw_init(&draw, key, "word", canonical, salt);
    if (wish->part == NAME_PART_COUNT || salt % (UINT32_MAX / 2) >= LIST_TRIES) {
        surrogate_names_invent(draw_u64(&draw), &word);
    } else {
        size_t count = surrogate_names_count(wish->group, wish->part);
        struct td_str name =
            surrogate_names_at(wish->group, wish->part, draw_below(&draw, (uint32_t)count));
        if (wish->feminine)
            append_feminine(name, &word);
        else
            buf_append_str(&word, name);
        if (wish->whole_name) {
            count = surrogate_names_count(wish->group, NAME_FEMALE);
            buf_append_str(&word, surrogate_names_at(wish->group, NAME_FEMALE,
                                                     draw_below(&draw, (uint32_t)count)));
        }
    }
    buf_append_str(&word, wish->ending);
    enum spell_case form = spell_case_of(question->value);
    bool capital_alone = form == SPELL_TITLE && spell_count(question->value) == 1;
    spell_in_case(
        buf_view(&word),
        form == SPELL_LOWER || (form == SPELL_UPPER && !capital_alone) ? form : SPELL_TITLE, out);
    buf_deinit(&word);
}

static enum td_status replace_word(const struct vault_job *job, const struct phrase *phrase,
                                   struct td_str word, const struct word_wish *wish,
                                   struct buf *out)
{
    struct buf canonical;
    buf_init(&canonical, VAULT_VALUE_BYTES_MAX * 4);
    spell_fold(word, &canonical);
    struct vault_question question = {.space = VAULT_SPACE_WORD,
                                      .kind = phrase->kind,
                                      .form = SURROGATE_WORD,
                                      .value = word,
                                      .canonical = buf_view(&canonical),
                                      .write = write_word,
                                      .ctx = wish};
    enum td_status status = vault_pair(job, &question, out);
    buf_deinit(&canonical);
    return status;
}

/* --- names of people --- */

static bool follows_comma(const struct phrase *phrase, size_t i)
{
    return i > 0 &&
           str_find(str_slice(phrase->value, phrase->tokens[i - 1].end, phrase->tokens[i].begin),
                    STR(","), 0) != SIZE_MAX;
}

/* "John Smith", "Smith, John", "Smith": which of the words is this? */
static enum name_part part_in(const struct phrase *phrase, size_t i)
{
    size_t first = SIZE_MAX, last = 0, comma = SIZE_MAX;
    for (size_t k = 0; k < phrase->count; k++) {
        if (surrogate_names_is_particle(token_text(phrase, k)))
            continue;
        first = first == SIZE_MAX ? k : first;
        last = k;
        if (follows_comma(phrase, k))
            comma = k;
    }
    struct td_str word = token_text(phrase, i);
    if (first == last)
        return surrogate_names_part_of(word);
    bool family = comma != SIZE_MAX ? i < comma : i == last;
    return family ? NAME_FAMILY : surrogate_names_gender_of(word);
}

static struct word_wish wish_of_person(const struct phrase *phrase, size_t i)
{
    struct word_wish wish = {.group = phrase->group, .part = part_in(phrase, i)};
    struct td_str word = token_text(phrase, i);
    wish.whole_name = phrase->tokens[i].unspaced && phrase->tokens[i].count >= 2 &&
                      (phrase->group == NAMES_CHINESE || phrase->group == NAMES_KOREAN);
    wish.feminine = wish.part == NAME_FAMILY && phrase->group == NAMES_CYRILLIC &&
                    (str_ends_with(word, STR("а")) || str_ends_with(word, STR("ая")));
    if (wish.whole_name)
        wish.part = NAME_FAMILY;
    return wish;
}

/* An initial is the first letter of the other name where that is known. */
static void append_initial(const struct vault_job *job, struct td_str letter, uint32_t salt,
                           struct buf *out)
{
    struct sign wanted = spell_at(letter, 0, false);
    char c = 0;
    for (uint32_t i = 0; i < vault_count(job->vault) && c == 0 && salt == 0; i++) {
        struct vault_entry entry = vault_at(job->vault, i);
        struct sign first = spell_at(entry.original, 0, false);
        if (entry.form == SURROGATE_WORD && entry.kind == PRIVACY_PERSON && !entry.retired &&
            first.c == wanted.c && (unsigned char)entry.surrogate.data[0] < 0x80)
            c = entry.surrogate.data[0];
    }
    if (c == 0) {
        struct draw draw;
        draw_init(&draw, vault_key(job->vault), "initial", letter, salt);
        do /* not the letter itself */
            c = (char)('A' + (char)draw_below(&draw, 26));
        while ((uint32_t)(c | 0x20) == wanted.c);
    }
    char text[2] = {c, '\0'};
    spell_in_case((struct td_str){text, 1}, wanted.upper ? SPELL_UPPER : SPELL_LOWER, out);
}

/* --- places, firms, addresses --- */

static const char kept_in_firms[] = " inc incorporated ltd limited llc llp lp gmbh ag kg ohg ug se "
                                    "corp corporation co company plc sa sas "
                                    "sarl srl spa bv nv ab as asa aps oy oyj kft zrt doo sro pty "
                                    "pte group holding holdings bank university hospital "
                                    "school college institute foundation association ministry "
                                    "department agency council church club hotel "
                                    "insurance international national royal federal the of and for "
                                    "at de la le und der die das fur y del & ";
static const char kept_in_places[] = " the of upon on am an im in der die das de la le les du des "
                                     "sur sous el los las san saint st santa north "
                                     "south east west new old great upper lower ";
static const char *const street_endings[] = {
    "straße", "strasse", "str",    "weg",  "platz", "gasse", "allee", "damm",
    "ring",   "ufer",    "straat", "laan", "plein", "gatan", "vägen", "gata",
    "veien",  "gade",    "vej",    "katu", "tie",   NULL};

/* Words that make an address one, and those that name a country or state. */
static bool stays_in_address(struct td_str word)
{
    uint64_t hash = lexicon_hash(word.data, word.len);
    lexicon_init();
    for (const struct lexicon_entry *entry = lexicon_find(hash, word.data, word.len); entry;
         entry = lexicon_next(entry))
        if (entry->roles & (ROLE_STREET | ROLE_STREET_FIRST | ROLE_STREET_LAST | ROLE_UNIT |
                            ROLE_BOX | ROLE_STATE | ROLE_COUNTRY | ROLE_PARTICLE))
            return true;
    return word_list_has(kept_in_places, word);
}

static struct td_str street_ending(struct td_str word)
{
    for (size_t i = 0; street_endings[i]; i++) {
        size_t len = strlen(street_endings[i]);
        if (word.len > len + 2 && str_equal_nocase(str_slice(word, word.len - len, word.len),
                                                   str_from(street_endings[i])))
            return str_slice(word, word.len - len, word.len);
    }
    return (struct td_str){NULL, 0};
}

/* --- a phrase --- */

static bool stays(const struct phrase *phrase, size_t i)
{
    struct td_str word = token_text(phrase, i);
    switch (phrase->kind) {
    case PRIVACY_PERSON: /* a name's "Le" or "St" alone is the name */
        return phrase->count > 1 && surrogate_names_is_particle(word);
    case PRIVACY_ORGANIZATION:
        return phrase->count > 1 && word_list_has(kept_in_firms, word);
    case PRIVACY_PLACE:
        return phrase->count > 1 && word_list_has(kept_in_places, word);
    default:
        return !phrase->tokens[i].digits && stays_in_address(word);
    }
}

/* Sets *alone when the part means nothing outside this phrase. */
static enum td_status replace_token(const struct vault_job *job, const struct phrase *phrase,
                                    size_t i, uint32_t salt, bool *alone, struct buf *out)
{
    const struct token *token = &phrase->tokens[i];
    struct td_str word = token_text(phrase, i);
    if (stays(phrase, i)) {
        buf_append_str(out, word);
        return TD_OK;
    }
    if (token->digits) {
        struct draw draw;
        draw_init(&draw, vault_key(job->vault), "number", word, salt);
        surrogate_write_shape(word, &draw, out);
        *alone = true;
        return TD_OK;
    }
    if (token->count == 1 && !token->unspaced) {
        append_initial(job, word, salt, out);
        *alone = true;
        return TD_OK;
    }
    struct word_wish wish = {.group = phrase->group, .part = NAME_PART_COUNT};
    if (phrase->kind == PRIVACY_PERSON)
        wish = wish_of_person(phrase, i);
    if (phrase->kind == PRIVACY_ADDRESS)
        wish.ending = street_ending(word);
    return replace_word(job, phrase, word, &wish, out);
}

/* A phrase of which nothing changed, or that has no words at all, still has to become another; so
 * has one whose parts are all another's ("2"). */
static void write_phrase_shape(const struct vault_question *question, const uint8_t *key,
                               struct td_str canonical, uint32_t salt, struct buf *out)
{
    struct draw draw;
    draw_init(&draw, key, "phrase", canonical, salt);
    surrogate_write_shape(question->value, &draw, out);
}

enum td_status vault_replace_words(const struct vault_job *job, enum privacy_kind kind,
                                   struct td_str value, struct buf *out)
{
    uint32_t known = vault_find(job, VAULT_SPACE_PHRASE, value);
    if (known != VAULT_NONE) {
        buf_append_str(out, vault_at(job->vault, known).surrogate);
        return vault_use(job, known);
    }
    struct phrase phrase = {.value = value, .kind = kind, .group = surrogate_names_group_of(value)};
    bool alone = !read_tokens(&phrase);
    uint32_t salt = vault_salt(job, VAULT_SPACE_PHRASE, value);
    enum td_status status = TD_OK;
    struct buf surrogate;
    buf_init(&surrogate, VAULT_VALUE_BYTES_MAX * 4);
    size_t done = 0;
    for (size_t i = 0; i < phrase.count && status == TD_OK && phrase.count < WORDS_MAX; i++) {
        buf_append_str(&surrogate, str_slice(value, done, phrase.tokens[i].begin));
        status = replace_token(job, &phrase, i, salt, &alone, &surrogate);
        done = phrase.tokens[i].end;
    }
    buf_append_str(&surrogate, str_slice(value, done, value.len));
    bool same = str_equal(buf_view(&surrogate), value);
    bool taken = alone && !vault_is_free(job, buf_view(&surrogate));
    if (status == TD_OK && (same || taken)) {
        struct vault_question question = {.space = VAULT_SPACE_PHRASE,
                                          .kind = kind,
                                          .form = SURROGATE_STRICT,
                                          .value = value,
                                          .canonical = value,
                                          .write = write_phrase_shape};
        status = vault_pair(job, &question, out);
    } else if (status == TD_OK) {
        struct vault_entry entry = {.kind = kind,
                                    .form = SURROGATE_LOOSE,
                                    .surrogate = buf_view(&surrogate),
                                    .original = value};
        buf_append_str(out, buf_view(&surrogate));
        if (alone)
            status = surrogate.failed
                         ? error_set(job->err, TD_NO_MEMORY, "no memory for surrogates")
                         : vault_add(job, VAULT_SPACE_PHRASE, &entry);
    }
    buf_deinit(&surrogate);
    return status;
}
