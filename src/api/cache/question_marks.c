/* One pass over the words. A word is what stands between white space, without the punctuation
 * around it. When in doubt it is a name: a hit too few costs a call, a hit too many is a wrong
 * answer.
 *
 * A capital at the beginning of a sentence says nothing, so the common words that begin
 * questions are listed; another one counts as a name ("Paris weather?"). The lists are English,
 * with negations of some other languages; bench/bench_similar_cache.py measures what they are
 * worth. */
#include "api/cache/question_marks.h"

#include "base/core/str.h"
#include "base/crypto/hash.h"
#include "base/text/unicode.h"
#include "base/text/utf8.h"
#include "privacy/scan/privacy.h"

#include <stdlib.h>
#include <string.h>

#define SPANS_MAX 64
#define LOWER_BYTES (2 * QUESTION_BYTES_MAX + 8) /* lower case may take more bytes */

/* clang-format off */
static const char numbers[] =
    " april august billion daily day december double dozen eight eighteen eighty eleven february "
    "fifteen fifth fifty first five forty four fourteen fourth friday half hourly hundred "
    "january july june last march million monday month monthly next nine nineteen ninety "
    "november october once one quarter saturday second september seven seventeen seventy single "
    "six sixteen sixty sunday ten third thirteen thirty thousand three thursday today tomorrow "
    "tonight triple tuesday twelve twenty twice two wednesday week weekly year yearly yesterday "
    "zero ";
static const char negations[] =
    " aucun aucune barely cannot except hardly jamais kein keine keinen neither never nicht nie "
    "no nobody none nor not nothing nowhere nunca ohne pas sans sin unless without ";
/* Of two opposites one is enough, the rarer one: "turn on" has none where "turn off" has one. */
static const char opposites[] =
    " after always before below biggest block both cheapest close closed cold deactivate decline "
    "decode decrease decrypt delete deny descending disable disabled down download earliest "
    "early end ended expensive export false fastest fewer fewest higher highest import increase "
    "largest late latest least left lend less lock locked lose low lower lowest max maximum min "
    "minimum newest off old oldest only out over pause pull receive received reject remove "
    "removed resume rightmost sell sender shorter shortest slow slower slowest small smaller "
    "smallest start stop stopped unblock under uninstall unlock unsafe upload worse worst ";
static const char beginnings[] =
    " a about add after also am an and any are as at because before but by calculate can check "
    "compare convert could create define describe did do does during every explain find for from "
    "generate get give good had has have he hello help hey hi how i if in into is it just let "
    "list look made make may maybe me my name need new now of oh ok okay on or our perhaps "
    "please recently remind rewrite say set shall she should show since so some someone "
    "something sorry suggest summarise summarize tell thank thanks that the their there these "
    "they this those to translate try turn under use want was we well were what whats when where "
    "whether which while who whom whose why will with would write yes you your ";
/* clang-format on */

/* Words with a blank on either side: a pointer for each would take more than its letters. */
static bool is_in(struct td_str list, struct td_str word)
{
    for (size_t at = 0; word.len > 0 && (at = str_find(list, word, at)) != SIZE_MAX; at++)
        if (list.data[at - 1] == ' ' && list.data[at + word.len] == ' ')
            return true; /* no word has a blank, so both lie within the list */
    return false;
}

struct reading {
    struct question_marks *out;
    struct td_str text;
    struct privacy_span spans[SPANS_MAX];
    size_t span_count;
    size_t words;
    bool begins; /* the next word begins a sentence */
};

static void mark(struct reading *reading, enum question_mark kind, struct td_str what)
{
    uint64_t hash = hash_fnv1a64(what.data, what.len, reading->out->hashes[kind]);
    reading->out->hashes[kind] = hash_fnv1a64_byte(hash, 0);
}

/* --- a word --- */

struct word {
    struct td_str as_written, lower;
    bool number, capital, inner_capital, inner_sign, sign_alone;
};

static bool is_letter(uint32_t c)
{
    return unicode_class_of(c) & (UNICODE_LETTER | UNICODE_NUMBER);
}

static void look_at(struct td_str text, char lower[static LOWER_BYTES], struct word *out)
{
    size_t len = 0;
    bool letters = false, sign = false;
    *out = (struct word){.as_written = text, .sign_alone = true};
    for (size_t at = 0; at < text.len && len + 4 <= LOWER_BYTES;) {
        uint32_t c = utf8_next(text, &at);
        uint16_t class = unicode_class_of(c);
        if (c == 0x2019) /* an apostrophe of print */
            c = '\'';
        out->number |= (class & UNICODE_NUMBER) != 0;
        if (class & UNICODE_UPPER) {
            out->inner_capital |= letters;
            out->capital |= !letters;
        }
        if (is_letter(c)) {
            out->inner_sign |= letters && sign;
            out->sign_alone = false;
            letters = true;
            sign = false;
        } else if (c != '\'' && c != '-') {
            sign = true;
        }
        len += utf8_encode(unicode_lower(c), lower + len);
    }
    out->lower = (struct td_str){lower, len};
}

static bool is_negation(struct td_str lower)
{
    return str_ends_with(lower, STR("n't")) || str_starts_with(lower, STR("non-")) ||
           is_in(STR(negations), lower);
}

static bool is_found(const struct reading *reading, struct td_str word)
{
    size_t begin = (size_t)(word.data - reading->text.data), end = begin + word.len;
    for (size_t i = 0; i < reading->span_count; i++)
        if (reading->spans[i].begin < end && begin < reading->spans[i].end)
            return true;
    return false;
}

static bool is_name(const struct reading *reading, const struct word *word)
{
    size_t stem = str_find(word->lower, STR("'"), 0); /* of "I'm", "What's" */
    struct td_str first = str_slice(word->lower, 0, stem);
    if (word->inner_sign || word->inner_capital || is_found(reading, word->as_written))
        return true;
    return word->capital && !str_equal(first, STR("i")) &&
           !(reading->begins && is_in(STR(beginnings), first));
}

static void read_word(struct reading *reading, struct td_str text)
{
    char lower[LOWER_BYTES];
    struct word word;
    look_at(text, lower, &word);
    if (word.sign_alone || word.number || is_in(STR(numbers), word.lower)) {
        mark(reading, MARK_NUMBERS, word.lower);
    } else if (is_negation(word.lower)) {
        /* "cannot", "can't" and "can not" are one; a word of its own meaning is itself. */
        bool plain = str_ends_with(word.lower, STR("n't")) ||
                     str_equal(word.lower, STR("cannot")) || str_equal(word.lower, STR("not"));
        mark(reading, MARK_NEGATIONS, plain ? STR("not") : word.lower);
    } else {
        if (is_in(STR(opposites), word.lower))
            mark(reading, MARK_NEGATIONS, word.lower);
        if (is_name(reading, &word))
            mark(reading, MARK_NAMES, word.lower);
    }
    reading->words += !word.sign_alone;
}

/* --- words --- */

/* Signs of currencies, percent and operators say something; these do not. */
static bool is_around(uint32_t c)
{
    return (c < 0x80 && c != 0 && strchr(".,;:!?()[]{}\"'`*_", (int)c)) ||
           (c >= 0x2010 && c <= 0x201f) || c == 0x2026 || c == 0xab || c == 0xbb || c == 0xa1 ||
           c == 0xbf;
}

/* The word without what stands around it. */
static struct td_str bare(struct td_str word, bool *ends_sentence)
{
    size_t begin = 0, end = 0;
    *ends_sentence = false;
    for (size_t at = 0; at < word.len;) {
        size_t before = at;
        uint32_t c = utf8_next(word, &at);
        if (!is_around(c)) {
            end = at;
            *ends_sentence = false;
        } else if (before == begin && end == 0) {
            begin = at;
        }
        if (c == '.' || c == '!' || c == '?' || c == ':')
            *ends_sentence = true;
    }
    return str_slice(word, begin, end > begin ? end : begin);
}

static void read_words(struct reading *reading)
{
    struct td_str text = reading->text;
    size_t begin = 0;
    reading->begins = true;
    for (size_t at = 0; at <= text.len;) {
        size_t before = at;
        uint32_t c = at < text.len ? utf8_next(text, &at) : ' ';
        if (before == text.len)
            at++;
        if (!(unicode_class_of(c) & UNICODE_SPACE))
            continue;
        bool ends;
        struct td_str word = bare(str_slice(text, begin, before), &ends);
        if (word.len > 0) {
            read_word(reading, word);
            reading->begins = false;
        }
        reading->begins |= ends || c == '\n';
        begin = at;
    }
}

/* --- quotations --- */

static uint32_t closing_of(uint32_t opening)
{
    switch (opening) {
    case '"':
    case '\'':
    case '`':
        return opening;
    case 0x201c: /* “ ” */
        return 0x201d;
    case 0x201e: /* „ “ */
        return 0x201c;
    case 0x2018: /* ‘ ’ */
        return 0x2019;
    case 0xab: /* « » */
        return 0xbb;
    default:
        return 0;
    }
}

/* Where the quotation ends that begins at `from`; SIZE_MAX = nowhere. An apostrophe within a word
 * ends none. */
static size_t end_of(struct td_str text, size_t from, uint32_t closing)
{
    for (size_t at = from; at < text.len;) {
        size_t before = at;
        uint32_t c = utf8_next(text, &at);
        size_t after = at;
        bool within = c == '\'' || c == 0x2019
                          ? after < text.len && is_letter(utf8_next(text, &after))
                          : false;
        if (c == closing && !within)
            return before;
    }
    return SIZE_MAX;
}

static void read_quotes(struct reading *reading)
{
    struct td_str text = reading->text;
    bool after_letter = false;
    for (size_t at = 0; at < text.len;) {
        uint32_t c = utf8_next(text, &at), closing = closing_of(c);
        bool apostrophe = (c == '\'' || c == 0x2018) && after_letter;
        after_letter = is_letter(c);
        if (!closing || apostrophe)
            continue;
        size_t end = end_of(text, at, closing);
        if (end == SIZE_MAX && c == '\'')
            continue; /* "the users' names" */
        mark(reading, MARK_QUOTES, str_slice(text, at, end));
        if (end == SIZE_MAX)
            return;
        at = end;
        utf8_next(text, &at);
    }
}

/* --- the whole --- */

/* Letters of a script without capitals: of names in it only a scanner's findings would be seen. The
 * first ones of Unicode, such as the ordinal signs, stand in Latin texts. */
static bool has_capitals(struct td_str text)
{
    for (size_t at = 0; at < text.len;) {
        uint32_t c = utf8_next(text, &at);
        uint16_t class = unicode_class_of(c);
        if (c > 0x24f && (class & UNICODE_LETTER) && !(class & (UNICODE_UPPER | UNICODE_LOWER)))
            return false;
    }
    return true;
}

bool question_marks_read(const struct privacy_scanner *scanner, struct td_str text,
                         struct question_marks *out)
{
    struct reading reading = {.out = out, .text = text};
    for (size_t i = 0; i < MARK_COUNT; i++)
        out->hashes[i] = HASH_FNV1A64_BASIS;
    if (text.len > QUESTION_BYTES_MAX || !has_capitals(text))
        return false;
    if (scanner) /* without one, a scan takes the whole text for a finding */
        reading.span_count = privacy_scan(scanner, text, reading.spans, SPANS_MAX);
    if (reading.span_count > SPANS_MAX)
        return false;
    read_words(&reading);
    read_quotes(&reading);
    return reading.words >= QUESTION_WORDS_MIN;
}

enum question_mark question_marks_differ(const struct question_marks *one,
                                         const struct question_marks *other)
{
    enum question_mark mark = 0;
    while (mark < MARK_COUNT && one->hashes[mark] == other->hashes[mark])
        mark++;
    return mark;
}

const char *question_mark_name(enum question_mark mark)
{
    static const char *const names[MARK_COUNT] = {"numbers", "negations", "quotations", "names"};
    return names[mark];
}
