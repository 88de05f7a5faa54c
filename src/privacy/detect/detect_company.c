/* Firms by their legal form: "Expert Data Inc.", "Müller & Söhne GmbH", "Acme, LLC". The words with
 * a capital, the numbers and the & before it are the name. */
#include "privacy/detect/detect.h"

#include "base/core/str.h"
#include "privacy/words/lexicon.h"

#define WORDS_MAX 6

/* Between two words of a name: blanks, a hyphen, an &; before the legal form a comma too. */
static bool joins(struct td_str text, size_t from, size_t to, bool last)
{
    for (size_t i = from; i < to; i++) {
        char c = text.data[i];
        if (c != ' ' && c != '-' && c != '&' && c != '\'' && !(c == ',' && last))
            return false;
    }
    return true;
}

static bool find_company(const struct place *place, struct privacy_span *out)
{
    size_t end = place->word_end;
    if (!place->memory->names)
        return false;
    struct td_str text = place->text;
    struct word form = word_after(text, place->begin, 0);
    size_t begin = place->begin;
    if (!form.capital && !word_in(text, &form, "gmbh llc llp plc"))
        return false;
    for (int i = 0; i < WORDS_MAX; i++) {
        size_t at = begin; /* over "& " */
        while (at > 0 && begin - at < 3 && (text.data[at - 1] == ' ' || text.data[at - 1] == '&'))
            at--;
        struct word word = word_before(text, at, 2);
        bool small = word.capital && i > 0 && (word.roles & ROLE_LITTLE) &&
                     word_in(text, &word, "the at for from in by with and of to is my our i");
        if (word.begin == word.end || !(word.capital || word.digits) || small ||
            !joins(text, word.end, begin, i == 0))
            break;
        begin = word.begin;
    }
    if (begin == place->begin)
        return false;
    *out = span_of(PRIVACY_ORGANIZATION, begin, end, 0.95f);
    out->data_class = place->memory->name_class;
    out->guessed = true;
    return true;
}

const struct detector detector_company = {
    .kinds = {PRIVACY_ORGANIZATION, KINDS_END},
    .triggers = ON(LISTED),
    .any = ROLE_COMPANY,
    .find = find_company,
};
