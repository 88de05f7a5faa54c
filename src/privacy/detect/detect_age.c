/* Ages: a number of 1 to 120 that the words around call one. */
#include "privacy/detect/detect.h"

#include "privacy/words/lexicon.h"

static bool pronoun_is(struct td_str text, const struct word *verb)
{
    struct word subject = spelled_before(text, verb->begin, 1);
    if (word_in(text, verb, "m s re")) /* I'm, he's, they're */
        return word_in(text, &subject, "i he she they you we");
    return word_in(text, verb, "am is was are were be") &&
           word_in(text, &subject,
                   "i he she they who and you son daughter mother mom mum dad father wife husband "
                   "partner "
                   "patient sister brother child boy girl grandmother grandfather grandma grandpa");
}

/* "years old", "yrs old", "y/o", "yo", "year-old", "years of age", "ans", "Jahre alt". */
static bool years_follow(struct td_str text, size_t end, struct word unit)
{
    if (!(unit.roles & ROLE_YEARS))
        return false;
    if (word_in(text, &unit, "yo yrs y"))
        return true;
    if (word_in(text, &unit, "year years yr")) {
        struct word next = spelled_after(text, unit.end, 1);
        struct word last = spelled_after(text, next.end, 1);
        return word_in(text, &next, "old young") ||
               (word_in(text, &next, "of") && word_in(text, &last, "age"));
    }
    if (word_in(text, &unit, "jahre j\xc3\xa4hrige j\xc3\xa4hriger")) {
        struct word next = spelled_after(text, unit.end, 1);
        return word_in(text, &next, "alt") || !word_is(text, &unit, "jahre");
    }
    if (word_in(text, &unit, "ans a\xc3\xb1os anni anos jaar")) {
        struct word next = spelled_after(text, unit.end, 1);
        struct word before = spelled_before(text, end, 0),
                    verb = spelled_before(text, before.begin, 1);
        return word_in(text, &next, "oud de") ||
               word_in(text, &verb,
                       "ai a avait as tengo tiene ho ha tenho tem de di \xc3\xa2ge ben is");
    }
    if (word_in(text, &unit, "lat let \xc3\xa5r")) {
        struct word next = spelled_after(text, unit.end, 1);
        struct word before = spelled_before(text, end, 0),
                    verb = spelled_before(text, before.begin, 1);
        return word_in(text, &next, "gammal gammel gamle gamla") ||
               word_in(text, &verb,
                       "\xc3\xa4r er mam ma mia\xc5\x82 mia\xc5\x82"
                       "a wieku patient pacjent "
                       "pacjentka fyllde fyller fylte kvinna kvinde man mand je m\xc3\xa1");
    }
    return false;
}

static bool age_precedes(struct td_str text, struct word before, size_t end)
{
    int first = before.begin < before.end ? (unsigned char)text.data[before.begin] | 0x20 : 0;
    if (before.begin == before.end || before.digits ||
        (!(before.roles & (ROLE_AGE_BEFORE | ROLE_VERB_BEING)) && first != 't' && first != 'o' &&
         first != 'i' && first != 'w' && first != 's' && first != 'g'))
        return false;
    struct word second = spelled_before(text, before.begin, 1);
    if ((before.roles & ROLE_AGE_BEFORE))
        return true;
    if (word_in(text, &before, "sex gender") && word_in(text, &second, "age"))
        return true; /* Age/Sex: 82/F */
    if (word_in(text, &before, "turn turns") &&
        word_in(text, &second, "ll i will he she to who soon"))
        return true;
    if (word_in(text, &before, "of is was") && word_in(text, &second, "age ages"))
        return true;
    if (!(before.roles & ROLE_VERB_BEING))
        return false;
    struct plain next = plain_at(text, end);
    struct word joint = spelled_after(text, end, 1);
    bool stops = word_in(text, &joint, "and but") || next.c == '.' || next.c == ',' ||
                 next.c == '!' || next.c == ';' || next.c == ')' || next.c == '\n' ||
                 next.c == PLAIN_END;
    return stops && !ascii_is_digit(plain_at(text, next.end).c) && pronoun_is(text, &before);
}

/* "Ann Lee, 45, was" and "The patient, 45, has": a number between commas after a word, before what
 * somebody does. */
static bool stands_in_commas(const struct place *place, size_t run, size_t end)
{
    struct td_str text = place->text;
    const struct word *before = place->previous, *after = place->next;
    if (run != 2 || place->before != ' ' || place->before2 != ',' || end >= text.len ||
        text.data[end] != ',' || before->digits || before->begin == before->end ||
        (before->roles & (ROLE_MONTH | ROLE_MONTH_SHORT | ROLE_STREET)))
        return false;
    return word_in(text, after,
                   "was is has had who from of said says told tells lives lived died and were of a "
                   "an the presented presents complains came went works worked denied admitted "
                   "faces pleaded married single divorced male female");
}

/* "her 30th birthday". */
static bool is_birthday(const struct place *place, size_t end)
{
    struct td_str text = place->text;
    if (end >= text.len || !ascii_is_letter((unsigned char)text.data[end]))
        return false;
    struct word tail = spelled_after(text, end, 0), next = spelled_after(text, tail.end, 1);
    return word_in(text, &tail, "st nd rd th") && word_in(text, &next, "birthday");
}

static bool find_age(const struct place *place, struct privacy_span *out)
{
    const struct window *window = place->window;
    size_t run = window->run;
    int age = 0;
    if (run > 3 || place->before == '.' || place->before == '$')
        return false;
    for (size_t i = 0; i < run; i++)
        age = age * 10 + window->c[i] - '0';
    size_t end = window->end[run - 1];
    bool after = age >= 1 && age <= 120 && is_birthday(place, end);
    if (age < 1 || age > 120 || (!after && is_word(plain_at(place->text, end).c)) ||
        plain_at(place->text, end).c == '%')
        return false;
    after =
        after || years_follow(place->text, end, *place->next) || stands_in_commas(place, run, end);
    if (!after && !age_precedes(place->text, *place->previous, end))
        return false;
    *out = (struct privacy_span){
        .kind = PRIVACY_AGE, .begin = place->begin, .end = end, .score = after ? 0.9f : 0.7f};
    return true;
}

const struct detector detector_age = {
    .kinds = {PRIVACY_AGE, KINDS_END},
    .triggers = ON(NUMBER),
    .any = NUMBER_WORD_BEFORE | NUMBER_WORD_AFTER,
    .find = find_age,
};
