/* Two answers are compared as lists of hashes: of words, or of the leaves of JSON. Hashes make
 * every comparison a merge of two sorted lists, whatever the language, and bound the memory. */
#include "router/watch/agreement.h"

#include "base/core/assertion.h"
#include "base/core/str.h"
#include "base/crypto/hash.h"
#include "base/json/json.h"
#include "base/text/utf8.h"
#include "router/judge/fold.h"

#include <stdlib.h>
#include <string.h>

/* Words, or leaves, as hashes; numbers among the words apart, too. */
struct word_list {
    uint64_t word[AGREEMENT_WORDS_MAX];
    uint64_t number[AGREEMENT_WORDS_MAX];
    size_t count, number_count, max;
    size_t unspaced; /* words of one character */
    size_t negations;
    bool negated; /* while reading: the words up to the next punctuation mark are denied */
};

const char *agreement_kind_name(enum agreement_kind kind)
{
    ASSERT((unsigned)kind <= AGREEMENT_JSON);
    static const char *const names[] = {"label", "text", "json"};
    return names[kind];
}

/* --- words --- */

enum letter { LETTER_NONE, LETTER_OF_WORD, LETTER_ALONE };

/* Beyond ASCII, by the blocks of Unicode. Scripts that put no space between words (Han, kana, Thai,
 * Lao, Burmese, Khmer) give one word for each character; punctuation gives none. Of folded
 * characters. */
static enum letter letter_of(uint32_t c)
{
    static const struct {
        uint32_t first, last;
        enum letter letter;
    } blocks[] = {
        {0x00A1, 0x00A1, LETTER_NONE},    {0x00BF, 0x00BF, LETTER_NONE},
        {0x0E00, 0x0EFF, LETTER_ALONE},   {0x1000, 0x109F, LETTER_ALONE},
        {0x1780, 0x17FF, LETTER_ALONE},   {0x2010, 0x205E, LETTER_NONE},
        {0x3001, 0x3004, LETTER_NONE},    {0x3005, 0x3007, LETTER_ALONE},
        {0x3008, 0x3020, LETTER_NONE},    {0x3030, 0x3030, LETTER_NONE},
        {0x303D, 0x303F, LETTER_NONE},    {0x3041, 0x309F, LETTER_ALONE},
        {0x30A0, 0x30A0, LETTER_NONE},    {0x30A1, 0x30FA, LETTER_ALONE},
        {0x30FB, 0x30FB, LETTER_NONE},    {0x30FC, 0x30FF, LETTER_ALONE},
        {0x31F0, 0x31FF, LETTER_ALONE},   {0x3400, 0x4DBF, LETTER_ALONE},
        {0x4E00, 0x9FFF, LETTER_ALONE},   {0xF900, 0xFAFF, LETTER_ALONE},
        {0x20000, 0x3FFFF, LETTER_ALONE},
    };
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        if (c >= blocks[i].first && c <= blocks[i].last)
            return blocks[i].letter;
    return LETTER_OF_WORD;
}

static bool is_word_byte(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c >= 0x80;
}

/* English, German, French and Spanish ("no" is two of them), as they are folded. */
static const char *const negations[] = {
    "not",   "no",     "never", "without", "nor",  "neither", "nicht",  "kein",
    "keine", "keinen", "nie",   "niemals", "ohne", "pas",     "jamais", "sans",
    "aucun", "aucune", "nunca", "sin",     "不",   "没",      "未",     "无",
};

/* Two words in one, less the apostrophe, and the first of the two. */
static const char *const contracted[][2] = {
    {"isnt", "is"},         {"arent", "are"},     {"wasnt", "was"}, {"werent", "were"},
    {"dont", "do"},         {"doesnt", "does"},   {"didnt", "did"}, {"cant", "can"},
    {"cannot", "can"},      {"couldnt", "could"}, {"wont", "will"}, {"wouldnt", "would"},
    {"shouldnt", "should"}, {"mustnt", "must"},   {"hasnt", "has"}, {"havent", "have"},
    {"hadnt", "had"},
};

static bool is_negation(struct td_str word)
{
    for (size_t i = 0; i < sizeof negations / sizeof *negations; i++)
        if (str_equal(word, str_from(negations[i])))
            return true;
    return false;
}

static void add_word(struct word_list *list, struct td_str word)
{
    if (list->count == list->max)
        return;
    uint64_t hash = hash_fnv1a64(word.data, word.len, HASH_FNV1A64_BASIS);
    list->word[list->count++] = list->negated ? hash_mix64(hash) : hash;
    if (word.data[0] >= '0' && word.data[0] <= '9')
        list->number[list->number_count++] = hash;
}

/* A word between a negation and the next punctuation mark is another word than the same one outside
 * (Das and Chen 2001, "Yahoo! for Amazon: Extracting market sentiment from stock message boards").
 * Else "it is safe" and "it is not safe" would have all words but one in common. A second negation
 * takes the first one back. */
static void add_negation(struct word_list *list, struct td_str word)
{
    bool before = list->negated;
    list->negations++;
    list->negated = false;
    add_word(list, word);
    list->negated = !before;
}

static void end_word(struct word_list *list, const char *data, size_t len)
{
    struct td_str word = {data, len};
    bool article =
        str_equal(word, STR("a")) || str_equal(word, STR("an")) || str_equal(word, STR("the"));
    if (len == 0 || (list->count == 0 && article))
        return;
    for (size_t i = 0; i < sizeof contracted / sizeof *contracted; i++) {
        if (str_equal(word, str_from(contracted[i][0]))) {
            add_word(list, str_from(contracted[i][1]));
            add_negation(list, STR("not"));
            return;
        }
    }
    if (is_negation(word))
        add_negation(list, word);
    else
        add_word(list, word);
}

/* Of a script without spaces: a word, which ends the one before it as a space would. */
static void end_words(struct word_list *list, const char *word, size_t len, struct td_str alone)
{
    end_word(list, word, len);
    size_t before = list->count;
    end_word(list, alone.data, alone.len);
    list->unspaced += list->count - before;
}

static enum letter letter_of_folded(struct td_str folded)
{
    size_t at = 0;
    bool ascii = folded.len == 0 || (unsigned char)folded.data[0] < 0x80;
    return ascii ? LETTER_OF_WORD : letter_of(utf8_next(folded, &at));
}

/* How far a negation reaches. */
static bool ends_clause(unsigned char c)
{
    return c == '.' || c == ',' || c == ';' || c == ':' || c == '!' || c == '?' || c == '\n';
}

/* Letters and digits, and a point or comma between digits: "3.14" is a word. */
static void read_words(struct td_str text, size_t max, struct word_list *out)
{
    char word[64], folded[FOLD_BYTES_MAX];
    size_t len = 0;
    out->count = out->number_count = out->unspaced = out->negations = 0;
    out->max = max;
    out->negated = false;
    for (size_t at = 0; at < text.len && out->count < max;) {
        unsigned char byte = (unsigned char)text.data[at];
        size_t folded_len = 1;
        if (byte < 0x80) {
            folded[0] = (char)(byte >= 'A' && byte <= 'Z' ? byte + 32 : byte);
            at++;
        } else {
            folded_len = fold_character(utf8_next(text, &at), folded);
        }
        enum letter letter = letter_of_folded((struct td_str){folded, folded_len});
        if (letter != LETTER_OF_WORD) {
            end_words(out, word, len,
                      (struct td_str){folded, letter == LETTER_ALONE ? folded_len : 0});
            out->negated = out->negated && letter == LETTER_ALONE;
            len = folded_len = 0;
        }
        for (size_t i = 0; i < folded_len; i++) {
            unsigned char c = (unsigned char)folded[i];
            bool point = (c == '.' || c == ',') && len > 0 && word[0] >= '0' && word[0] <= '9' &&
                         at < text.len && text.data[at] >= '0' && text.data[at] <= '9';
            if (point && c == ',')
                continue; /* 1,000 is 1000 */
            if (c >= 'A' && c <= 'Z')
                c = (unsigned char)(c + 32);
            if (is_word_byte(c) || point) {
                if (len < sizeof word)
                    word[len++] = (char)c;
            } else if (c != '\'') {
                end_word(out, word, len);
                len = 0;
                out->negated = out->negated && !ends_clause(c);
            }
        }
    }
    end_word(out, word, len);
}

static int compare_hashes(const void *a, const void *b)
{
    const uint64_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

/* Of two sorted multisets. */
static size_t common(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count)
{
    size_t found = 0;
    for (size_t i = 0, j = 0; i < a_count && j < b_count;) {
        int order = compare_hashes(&a[i], &b[j]);
        found += order == 0;
        i += order <= 0;
        j += order >= 0;
    }
    return found;
}

/* Characters of a script without spaces count half: a word has about two. */
static bool is_label(const struct word_list *list)
{
    return list->count - list->unspaced / 2 <= AGREEMENT_LABEL_WORDS;
}

static bool same_label(const struct word_list *a, const struct word_list *b)
{
    return a->count == b->count && memcmp(a->word, b->word, a->count * sizeof *a->word) == 0;
}

static void sort(struct word_list *list)
{
    qsort(list->word, list->count, sizeof *list->word, compare_hashes);
    qsort(list->number, list->number_count, sizeof *list->number, compare_hashes);
}

/* --- JSON --- */

/* Without the white space and the fence that models like to put around JSON. */
static struct td_str unwrap(struct td_str text)
{
    text = str_trim(text);
    if (!str_starts_with(text, STR("```")) || !str_ends_with(text, STR("```")) || text.len < 6)
        return text;
    text = str_slice(text, 3, text.len - 3);
    if (str_starts_with(text, STR("json")))
        text = str_slice(text, 4, text.len);
    return str_trim(text);
}

static void add_leaf(struct word_list *list, uint64_t path, char kind, const void *data, size_t len)
{
    if (list->count < list->max)
        list->word[list->count++] = hash_fnv1a64(data, len, hash_fnv1a64(&kind, 1, path));
}

/* json_parse has bounded the depth. */
static void read_leaves(const struct json *value, uint64_t path, struct word_list *out)
{
    enum json_kind kind = json_kind_of(value);
    uint64_t inner = hash_mix64(path + (kind == JSON_KIND_ARRAY ? 1 : 2));
    if (kind == JSON_KIND_ARRAY && json_count(value) > 0) {
        for (size_t i = 0; i < json_count(value); i++)
            read_leaves(json_at(value, i), hash_fnv1a64(&i, sizeof i, inner), out);
    } else if (kind == JSON_KIND_OBJECT && json_count(value) > 0) {
        const struct json *member;
        const char *key;
        void *iterator = NULL;
        while (json_next(value, &iterator, &key, &member))
            read_leaves(member, hash_fnv1a64(key, strlen(key), inner), out);
    } else if (kind == JSON_KIND_TEXT) {
        struct td_str text = json_text(value);
        add_leaf(out, path, 't', text.data, text.len);
    } else if (kind == JSON_KIND_INT || kind == JSON_KIND_DOUBLE) {
        double number = json_number(value, 0) + 0.0; /* 1 and 1.0, -0 and 0 are one */
        add_leaf(out, path, 'n', &number, sizeof number);
    } else { /* null, false, true, [] and {} */
        char which[2] = {(char)kind, json_bool(value, false)};
        add_leaf(out, path, 'k', which, sizeof which);
    }
}

static bool read_json(struct td_str text, struct word_list *out)
{
    struct td_error err = {0};
    struct json *value = NULL;
    text = unwrap(text);
    if (text.len == 0 || (text.data[0] != '{' && text.data[0] != '[') ||
        json_parse(text, &value, &err) != TD_OK)
        return false;
    out->count = out->number_count = 0;
    out->max = AGREEMENT_WORDS_MAX;
    read_leaves(value, HASH_FNV1A64_BASIS, out);
    json_free(value);
    return true;
}

/* --- the comparison --- */

static double f1(const struct word_list *a, const struct word_list *b)
{
    size_t both = common(a->word, a->count, b->word, b->count);
    return 2.0 * (double)both / (double)(a->count + b->count);
}

static double text_score(struct word_list *a, struct word_list *b)
{
    sort(a);
    sort(b);
    size_t numbers = common(a->number, a->number_count, b->number, b->number_count);
    bool other_numbers = a->number_count > 0 && b->number_count > 0 &&
                         (numbers < a->number_count || numbers < b->number_count);
    return other_numbers ? f1(a, b) / 2 : f1(a, b);
}

bool agreement_compare(struct td_str a, struct td_str b, enum agreement_end b_end,
                       struct agreement *out)
{
    struct word_list left, right;
    if (read_json(a, &left) && read_json(b, &right)) {
        sort(&left);
        sort(&right);
        *out = (struct agreement){.kind = AGREEMENT_JSON, .score = f1(&left, &right)};
        out->same = out->score >= 1;
        return true;
    }
    read_words(a, AGREEMENT_WORDS_MAX, &left);
    read_words(b, AGREEMENT_WORDS_MAX, &right);
    if (b_end == AGREEMENT_CUT_SHORT && right.count < AGREEMENT_CUT_WORDS_MIN &&
        (right.count == 0 || right.count < left.count))
        return false;
    if (b_end != AGREEMENT_END_OWN && right.count > 0 && right.count < left.count)
        read_words(a, right.count, &left);
    if (is_label(&left) || is_label(&right)) {
        out->kind = AGREEMENT_LABEL;
        out->same = left.count + right.count > 0 ? same_label(&left, &right)
                                                 : str_equal(str_trim(a), str_trim(b));
        out->score = out->same ? 1 : 0;
        return true;
    }
    out->kind = AGREEMENT_TEXT;
    out->score = text_score(&left, &right);
    out->same = out->score >= AGREEMENT_SAME_TEXT;
    return true;
}

/* --- by the rule of a policy --- */

const char *const compare_names[] = {"meaning", "exact", "normalised", "structure", NULL};

static bool has(const struct word_list *list, uint64_t hash)
{
    return bsearch(&hash, list->word, list->count, sizeof hash, compare_hashes) != NULL;
}

/* A word that one affirms and never denies, and the other one the other way round. */
static bool denies(const struct word_list *a, const struct word_list *b)
{
    for (size_t i = 0; i < a->count; i++) {
        uint64_t denied = hash_mix64(a->word[i]);
        if (has(b, denied) && !has(b, a->word[i]) && !has(a, denied))
            return true;
    }
    return false;
}

/* Words that carry no content of their own, in English, German, French and Spanish. */
static const char common_words[] =
    " a an the of to in on at by for from with as is are was were be been being am it its this "
    "that "
    "these those and or but so if then than also there here which who whom whose what when where "
    "how do does did has have had will would can could may might shall should must very just only "
    "i you he she we they me him her us them my your his our their "
    "der die das den dem des ein eine einen einem einer eines und oder aber ist sind war waren "
    "sein "
    "hat haben hatte wird werden wurde in im an am auf zu zum zur von vom mit als wie es er sie "
    "wir "
    "ihr ich du auch noch nur so dass "
    "le la les un une des du de et ou mais est sont etait que qui dans sur pour par avec au aux ce "
    "cette ces il elle ils elles on nous vous je se "
    "el los las uno unos unas y o pero es son era en con por para del al lo su sus que ";

static bool is_common(uint64_t hash)
{
    struct td_str rest = str_from(common_words), word;
    while (str_next(&rest, ' ', &word))
        if (word.len > 0 && hash_fnv1a64(word.data, word.len, HASH_FNV1A64_BASIS) == hash)
            return true;
    for (size_t i = 0; i < sizeof negations / sizeof *negations; i++)
        if (hash_fnv1a64(negations[i], strlen(negations[i]), HASH_FNV1A64_BASIS) == hash)
            return true;
    return false;
}

/* Has a word of content that b has not, denied or affirmed? */
static bool has_own(const struct word_list *a, const struct word_list *b)
{
    for (size_t i = 0; i < a->count; i++) {
        bool found = has(b, a->word[i]) || has(b, hash_mix64(a->word[i])) || is_common(a->word[i]);
        for (size_t j = 0; j < b->count && !found; j++)
            found = hash_mix64(b->word[j]) == a->word[i];
        for (struct td_str rest = str_from(common_words), word;
             !found && str_next(&rest, ' ', &word);)
            found = word.len > 0 &&
                    hash_mix64(hash_fnv1a64(word.data, word.len, HASH_FNV1A64_BASIS)) == a->word[i];
        if (!found)
            return true;
    }
    return false;
}

static bool same_numbers(const struct word_list *a, const struct word_list *b)
{
    return a->number_count == b->number_count &&
           memcmp(a->number, b->number, a->number_count * sizeof *a->number) == 0;
}

/* With as many negations on both sides, words may only stand elsewhere ("no refund is due", "a
 * refund is not due"), and the score decides. One answer may say more than the other. But when each
 * has a word of content that the other one has not ("is Sydney", "is Canberra"), nobody knows here
 * whether the two words mean the same, and a check that is not sure does not confirm. */
static bool same_meaning(struct td_str a, struct td_str b, bool b_cut)
{
    struct agreement found;
    struct word_list left, right;
    if (!agreement_compare(a, b, b_cut ? AGREEMENT_CUT_AS_ASKED : AGREEMENT_END_OWN, &found) ||
        !found.same || found.kind == AGREEMENT_JSON)
        return found.same;
    read_words(a, AGREEMENT_WORDS_MAX, &left);
    read_words(b, AGREEMENT_WORDS_MAX, &right);
    sort(&left);
    sort(&right);
    bool other_numbers =
        !b_cut && left.number_count > 0 && right.number_count > 0 && !same_numbers(&left, &right);
    if (found.kind == AGREEMENT_TEXT && has_own(&left, &right) && has_own(&right, &left))
        return false;
    return !other_numbers &&
           (left.negations == right.negations || !(denies(&left, &right) || denies(&right, &left)));
}

static bool same_structure(struct td_str a, struct td_str b)
{
    struct word_list left, right;
    bool json = read_json(a, &left);
    if (json != read_json(b, &right))
        return false;
    if (json) {
        sort(&left);
        sort(&right);
        return same_label(&left, &right);
    }
    read_words(a, AGREEMENT_WORDS_MAX, &left);
    read_words(b, AGREEMENT_WORDS_MAX, &right);
    return left.number_count + right.number_count > 0 ? same_numbers(&left, &right)
                                                      : same_label(&left, &right);
}

bool answers_agree(enum compare_by by, struct td_str a, struct td_str b, bool b_cut)
{
    struct word_list left, right;
    bool same = str_equal(str_trim(a), str_trim(b));
    if (same || by == COMPARE_EXACT)
        return same;
    if (by == COMPARE_MEANING)
        return same_meaning(a, b, b_cut);
    if (by == COMPARE_STRUCTURE)
        return same_structure(a, b);
    read_words(a, AGREEMENT_WORDS_MAX, &left);
    read_words(b, AGREEMENT_WORDS_MAX, &right);
    return left.count > 0 && same_label(&left, &right);
}
