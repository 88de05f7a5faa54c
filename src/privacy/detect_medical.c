/* Diagnoses as ICD-10 codes and doses of medicines. */
#include "privacy/detect.h"

#include "privacy/lexicon.h"

#define REACH 64
#define NAME_REACH 128 /* three words of the longest kind before a dose */

/* ICD-10(-CM): a letter (U is reserved), a digit, a digit or A or B, then maybe a dot and one to four
 * more. With a dot the form says much, but so do parts lists; a word of medicine must stand
 * near. */
bool detect_icd10(const struct place *place, struct privacy_span *out)
{
    struct plain next = plain_at(place->text, place->begin);
    if (is_word(place->before) || place->before == '.' || place->before == '-' ||
        !(next.c >= 'A' && next.c <= 'Z'))
        return false;
    bool own = place_context(place, PRIVACY_ICD10, REACH);
    if (!own && !place_context(place, CONTEXT_HEALTH, REACH))
        return false;
    next = plain_at(place->text, next.end);
    if (!is_digit(next.c))
        return false;
    next = plain_at(place->text, next.end);
    if (!is_digit(next.c) && next.c != 'A' && next.c != 'B')
        return false;
    size_t end = next.end, more = 0;
    next = plain_at(place->text, end);
    bool dotted = next.c == '.';
    if (dotted) {
        for (next = plain_at(place->text, next.end); is_alnum(next.c) && more < 5; more++) {
            end = next.end;
            next = plain_at(place->text, end);
        }
        if (more > 4)
            return false;
    }
    if (is_word(next.c) || (more == 0 && !own))
        return false;
    *out = (struct privacy_span){
        .kind = PRIVACY_ICD10, .begin = place->begin, .end = end, .score = own ? 0.95f : 0.75f};
    return true;
}

/* "metformin 500 mg", "500mg of metformin": the medicine's name and the dose are one finding. */
bool detect_dose(const struct place *place, const struct window *window, struct privacy_span *out)
{
    size_t run = window->run, at = run;
    if (run == 0 || run > 5 || (place->before == '.' && is_digit(place->before2)))
        return false;
    if ((window->c[at] == '.' || window->c[at] == '/') && is_digit(window->c[at + 1]))
        at += 1 + window_digits(window, at + 1);
    size_t end = window->end[at - 1];
    struct word unit = at == run ? *place->next : word_after(place->text, end, 1);
    if (!(unit.roles & ROLE_DOSE))
        return false;
    struct word name = *place->previous;
    bool named = place_context(place, CONTEXT_MEDICINE, NAME_REACH);
    for (int back = 0; named && back < 3 && name.end > name.begin; back++) {
        if (name.roles & ROLE_MEDICINE) {
            *out = (struct privacy_span){
                .kind = PRIVACY_MEDICATION, .begin = name.begin, .end = unit.end, .score = 0.9f};
            return true;
        }
        name = word_before(place->text, name.begin, 2);
    }
    struct word after = word_after(place->text, unit.end, 2);
    if ((after.roles & (ROLE_OF | ROLE_PARTICLE)))
        after = word_after(place->text, after.end, 1);
    if (!(after.roles & ROLE_MEDICINE))
        return false;
    *out = (struct privacy_span){
        .kind = PRIVACY_MEDICATION, .begin = place->begin, .end = after.end, .score = 0.9f};
    return true;
}
