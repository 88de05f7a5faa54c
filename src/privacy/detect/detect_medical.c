/* Diagnoses as ICD-10 codes and doses of medicines. */
#include "privacy/detect/detect.h"

#include "base/core/str.h"
#include "privacy/words/lexicon.h"

#include <string.h>

#define REACH 64
#define NAME_REACH 128 /* three words of the longest kind before a dose */

/* ICD-10(-CM): a letter (U is reserved), a digit, a digit or A or B, then maybe a dot and one to
 * four more. With a dot the form says much, but so do parts lists; a word of medicine must stand
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
    if (!ascii_is_digit(next.c))
        return false;
    next = plain_at(place->text, next.end);
    if (!ascii_is_digit(next.c) && next.c != 'A' && next.c != 'B')
        return false;
    size_t end = next.end, more = 0;
    next = plain_at(place->text, end);
    bool dotted = next.c == '.';
    if (dotted) {
        for (next = plain_at(place->text, next.end); ascii_is_alnum(next.c) && more < 5; more++) {
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

/* Stems of international nonproprietary names (WHO, "The use of stems in the selection of INN",
 * 2018), which every language keeps while the ending changes: metformina, bisoprololo,
 * sinvastatina, omeprazol. Those are left out that other words end in as well. */
static bool has_inn_stem(struct td_str text, const struct word *word)
{
    static const char *const stems[] = {
        "pril",    "sartan",   "olol",      "statin",  "prazol",   "dipin",    "cillin",
        "cilin",   "cylin",    "floxacin",  "mycin",   "micin",    "azepam",   "zolam",
        "oxetin",  "gliptin",  "gliflozin", "glutid",  "tinib",    "parin",    "xaban",
        "triptan", "setron",   "conazol",   "nidazol", "cyclin",   "ciclin",   "profen",
        "coxib",   "thiazid",  "tiazid",    "semid",   "formin",   "glitazon", "lukast",
        "terol",   "tidin",    "dronat",    "fibrat",  "gabalin",  "gapentin", "thyroxin",
        "tiroxin", "tyroxin",  "thyrox",    "cetamol", "pirin",    "codon",    "morphin",
        "morfin",  "fentanil", "caine",     "vudin",   "ciclovir", "tadin",    "rizin",
        "trexat",  "azapin",   "apin",      "peridon", "piprazol", "zodon",    "prazin",
        "tripty",  "pramin",   "lisinop",   "predni",  "metason",  "sonid",    "kort",
        "insulin", "mab"};
    static const char *const endings[] = {"",   "a",  "e",  "o",   "i",   "um", "na",
                                          "ne", "an", "en", "yna", "ina", "in"};
    size_t len = word->end - word->begin;
    char lower[40];
    if (word->digits || len < 6 || len >= sizeof lower)
        return false;
    for (size_t i = 0; i < len; i++)
        lower[i] = (char)ascii_lower((unsigned char)text.data[word->begin + i]);
    lower[len] = '\0';
    for (size_t i = 0; i < sizeof stems / sizeof *stems; i++) {
        const char *at = strstr(lower, stems[i]);
        size_t stem = strlen(stems[i]);
        for (; at != NULL; at = strstr(at + 1, stems[i]))
            for (size_t e = 0; e < sizeof endings / sizeof *endings; e++)
                if ((at >= lower + 2 || stem >= 7) && strcmp(at + stem, endings[e]) == 0)
                    return true;
    }
    return false;
}

/* Does a decimal comma or a unit that is no ASCII word ("µg") follow the number? */
static bool is_comma_or_sign(const struct place *place)
{
    const struct window *window = place->window;
    struct td_str text = place->text;
    size_t end = window->end[window->run - 1];
    if (end + 3 >= text.len)
        return false;
    if (text.data[end] == ',')
        return ascii_is_digit((unsigned char)text.data[end + 1]);
    end += text.data[end] == ' ';
    unsigned char c = (unsigned char)text.data[end];
    return c == 0xC2 || c == 0xCE;
}

/* "mcg" by its sign, U+00B5 or U+03BC, which no word of the lexicon begins with. */
static size_t micrograms_end(struct td_str text, size_t offset)
{
    static const struct td_str signs[] = {{"\xc2\xb5g", 3}, {"\xce\xbcg", 3}};
    offset += offset < text.len && text.data[offset] == ' ';
    for (size_t i = 0; i < 2; i++)
        if (str_starts_with(str_slice(text, offset, text.len), signs[i]))
            return offset + 3;
    return 0;
}

/* "metformin 500 mg", "500mg of metformin": the medicine's name and the dose are one finding. */
static bool find_dose(const struct place *place, struct privacy_span *out)
{
    const struct window *window = place->window;
    size_t run = window->run, at = run;
    if (!(place->shape & (NUMBER_WORD_AFTER | NUMBER_DOT | NUMBER_SLASH)) &&
        !is_comma_or_sign(place))
        return false;
    if (run == 0 || run > 5 || (place->before == '.' && ascii_is_digit(place->before2)))
        return false;
    if ((window->c[at] == '.' || window->c[at] == '/') && ascii_is_digit(window->c[at + 1]))
        at += 1 + window_digits(window, at + 1);
    size_t end = window->end[at - 1];
    if (at == run && end + 1 < place->text.len && place->text.data[end] == ',' &&
        ascii_is_digit((unsigned char)place->text.data[end + 1]))
        end = spelled_after(place->text, end + 1, 0).end; /* "2,5 mg", "2,5mg" */
    if (place->before == ',' && ascii_is_digit(place->before2))
        return false; /* the fraction of such a number */
    while (end > window->end[run - 1] && !ascii_is_digit((unsigned char)place->text.data[end - 1]))
        end--;
    struct word unit =
        at == run && end == window->end[run - 1] ? *place->next : word_after(place->text, end, 1);
    size_t micrograms = micrograms_end(place->text, end);
    if (micrograms != 0)
        unit.end = micrograms;
    else if (!(unit.roles & ROLE_DOSE))
        return false;
    struct word name = *place->previous;
    if (has_inn_stem(place->text, &name)) {
        if (name.begin >= 2 && place->text.data[name.begin - 1] == '-' &&
            ascii_is_letter((unsigned char)place->text.data[name.begin - 2]))
            name.begin -= 2; /* "L-Thyroxin" */
        *out = span_of(PRIVACY_MEDICATION, name.begin, unit.end, 0.85f);
        return true;
    }
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

const struct detector detector_dose = {
    .kinds = {PRIVACY_MEDICATION, KINDS_END},
    .triggers = ON(NUMBER),
    .any = NUMBER_WORD_AFTER | NUMBER_DOT | NUMBER_SLASH | NUMBER_COMMA | NUMBER_OTHER,
    .find = find_dose,
};

const struct detector detector_icd10 = {
    .kinds = {PRIVACY_ICD10, KINDS_END},
    .triggers = ON(WORD),
    .any = WORD_HAS_DIGIT,
    .find = detect_icd10,
};
