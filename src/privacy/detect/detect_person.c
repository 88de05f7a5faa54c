/* What somebody is: a form of address, an occupation, a nationality or religion.
 *
 * Occupations: "Court clerk" on a line of its own, "as a nurse", "Position: bus driver", "Ann Lee,
 * the mayor, said". A noun of an occupation ends it, and something before it must say that a person
 * is meant; the noun alone names nobody. */
#include "privacy/detect/detect.h"

#include "base/core/str.h"
#include "privacy/words/lexicon.h"

#define WORDS_MAX 7 /* "Court, municipal, and license clerk" has five */

/* What stands between two words of one title, or at its edge. */
enum edge { EDGE_INSIDE, EDGE_COMMA, EDGE_LINE, EDGE_OTHER };

static enum edge edge_between(struct td_str text, size_t from, size_t to)
{
    enum edge edge = EDGE_INSIDE;
    for (size_t i = from; i < to; i++) {
        char c = text.data[i];
        if (c == '\n' || c == '\r')
            return EDGE_LINE;
        if (c == ',')
            edge = EDGE_COMMA;
        else if (c != ' ' && c != '-' && c != '\'' && c != '/')
            return EDGE_OTHER;
    }
    return edge;
}

/* Does only what marks a line stand between its beginning and the offset? */
static bool begins_line(struct td_str text, size_t offset)
{
    while (offset > 0 && strchr(" \t>*-|?.#", text.data[offset - 1]) != NULL)
        offset--;
    return offset == 0 || text.data[offset - 1] == '\n' || text.data[offset - 1] == '\r';
}

static bool ends_line(struct td_str text, size_t offset)
{
    while (offset < text.len && (text.data[offset] == ' ' || text.data[offset] == '\r' ||
                                 text.data[offset] == '.' || text.data[offset] == ','))
        offset++;
    return offset == text.len || text.data[offset] == '\n' || text.data[offset] == '|';
}

static bool is_article(struct td_str text, const struct word *word)
{
    return (word->roles & ROLE_LITTLE) && word_in(text, word, "a an the");
}

/* "worked as", "she is", "became", "hired as": the words before an article or the title itself. */
static bool says_work(struct td_str text, const struct word *word)
{
    struct word subject = word_before(text, word->begin, 1);
    if (word_in(text, word, "as"))
        return true;
    if (word_in(text, word, "am is was m s"))
        return word_in(text, &subject, "i he she who") || (subject.capital && subject.begin > 0);
    return word_in(text, word, "become becomes became appointed promoted");
}

/* "Job title:", "Occupation -". */
static bool is_label(struct td_str text, const struct word *word, size_t title)
{
    return memchr(text.data + word->end, ':', title - word->end) != NULL &&
           word_in(text, word,
                   "job title position occupation profession role designation beruf position "
                   "poste puesto cargo professione stanowisko");
}

/* Is what begins at `begin` and ends at `end` said of somebody? before: the word before it. */
static bool is_said(struct td_str text, size_t begin, size_t end, const struct word *before,
                    enum edge edge, bool capital)
{
    bool closed = end < text.len && text.data[end] == ',';
    if (begins_line(text, begin) && ends_line(text, end))
        return true;
    if (before->begin == before->end || edge == EDGE_LINE)
        return false;
    if (is_label(text, before, begin))
        return true;
    if (edge == EDGE_COMMA)
        return closed && before->capital && !capital;
    if (edge != EDGE_INSIDE)
        return false;
    if (capital && word_in(text, before, "as"))
        return true;
    if (!is_article(text, before))
        return false;
    struct word cue = word_before(text, before->begin, 2);
    enum edge gap = edge_between(text, cue.end, before->begin);
    return gap == EDGE_COMMA ? closed && cue.capital : gap == EDGE_INSIDE && says_work(text, &cue);
}

static bool find_job(const struct place *place, struct privacy_span *out)
{
    size_t end = place->word_end;
    struct td_str text = place->text;
    size_t begin = place->begin, found = SIZE_MAX;
    for (int i = 0; i < WORDS_MAX; i++) {
        struct word before = word_before(text, begin, 3);
        enum edge edge = edge_between(text, before.end, begin);
        unsigned char first = (unsigned char)text.data[begin];
        if (is_said(text, begin, end, &before, edge, first >= 'A' && first <= 'Z'))
            found = begin;
        /* other little words than these are in no title */
        if (before.begin == before.end || edge > EDGE_COMMA || before.digits ||
            ((before.roles & ROLE_LITTLE) && !word_in(text, &before, "and of")))
            break;
        begin = before.begin;
    }
    if (found == SIZE_MAX)
        return false;
    *out = span_of(PRIVACY_TITLE, found, end, 0.8f);
    return true;
}

/* Forms of address before a name: "Mr. Smith", "dr. Jones", "Frau Müller". */
static bool find_title(const struct place *place, struct privacy_span *out)
{
    size_t end = place->word_end;
    struct td_str text = place->text;
    struct word self = word_after(text, place->begin, 0);
    bool dot = end < text.len && text.data[end] == '.';
    struct word name = word_after(text, end + dot, 1);
    bool brief = word_in(text, &self, "mr mrs ms mx dr prof mme mlle sr sra rev hon");
    bool named = name.capital && name.begin > end;
    /* "Miss", "General", "St." need a name; "Mr." says it alone */
    if (!(named && (self.capital || brief)) && !(brief && dot && self.capital))
        return false;
    struct word before = word_before(text, place->begin, 1);
    if (word_in(text, &self, "dr st") && before.capital && !dot && before.end > before.begin &&
        !(before.roles & ROLE_TITLE) && place->before == ' ' && name.capital == false)
        return false; /* "12 Oak Dr" */
    bool number = false;
    for (size_t i = end; i < text.len && i < end + 3; i++)
        number |= ascii_is_digit((unsigned char)text.data[i]);
    if (number)
        return false;
    *out = (struct privacy_span){
        .kind = PRIVACY_TITLE, .begin = place->begin, .end = end + dot, .score = 0.85f};
    return true;
}

/* Nationality, religion, political group: "Polish", "New Zealander". */
static bool find_group(const struct place *place, struct privacy_span *out)
{
    bool two = place->entry->previous != NULL;
    *out = span_of(PRIVACY_NRP, place->entry_begin, place->word_end,
                   two              ? 0.95f
                   : place->capital ? 0.8f
                                    : 0.5f);
    return true;
}

const struct detector detector_group = {
    .kinds = {PRIVACY_NRP, KINDS_END},
    .triggers = ON(LISTED),
    .any = ROLE_NRP,
    .find = find_group,
};

const struct detector detector_title = {
    .kinds = {PRIVACY_TITLE, KINDS_END},
    .triggers = ON(LISTED),
    .any = ROLE_TITLE,
    .find = find_title,
};

const struct detector detector_job = {
    .kinds = {PRIVACY_TITLE, KINDS_END},
    .triggers = ON(LISTED),
    .any = ROLE_JOB,
    .find = find_job,
};
