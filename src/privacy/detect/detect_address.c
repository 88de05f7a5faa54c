/* Street addresses, found from their numbers: "12 Oak Street", "Hauptstrasse 5", "Rua do Arenque
 * 1634", "Apt. 595", "P.O. Box 211", and after one of them whatever goes on over commas and line
 * ends to a state, a postal code or a country. Where a word says that a place of living follows, a
 * capital word and a number are enough. And postal codes that their form or a word announces. */
#include "privacy/detect/detect.h"

#include "base/core/str.h"
#include "privacy/words/lexicon.h"

#define HOME_REACH 48
#define ZIP_REACH 20
#define NAME_WORDS_MAX 5 /* between the number and the word for a street */
#define TAIL_WORDS_MAX 12

#define ENDING(text, name_min)           \
    {                                    \
        text, sizeof(text) - 1, name_min \
    }

/* Most words end in another letter than any of these. */
static bool ends_street(char last)
{
    static const char letters[] = "egzmtnduajrofl";
    uint32_t set = 0;
    for (size_t i = 0; i < sizeof letters - 1; i++)
        set |= UINT32_C(1) << (letters[i] - 'a');
    return last >= 'a' && last <= 'z' && (set >> (last - 'a') & 1);
}

/* "Koskikatu", "Hauptstraße", "Storgatan": the word for a street at the end of the name. */
static bool has_street_ending(struct td_str text, const struct word *word)
{
    static const struct {
        const char *ending;
        uint8_t len, name_min;
    } endings[] = {ENDING("strasse", 2),
                   ENDING("stra\xc3\x9f"
                          "e",
                          2),
                   ENDING("str", 4),
                   ENDING("gasse", 2),
                   ENDING("weg", 4),
                   ENDING("platz", 2),
                   ENDING("allee", 2),
                   ENDING("damm", 3),
                   ENDING("ufer", 3),
                   ENDING("straat", 2),
                   ENDING("laan", 3),
                   ENDING("plein", 2),
                   ENDING("gracht", 2),
                   ENDING("kade", 3),
                   ENDING("gatan", 2),
                   ENDING("v\xc3\xa4gen", 2),
                   ENDING("gata", 3),
                   ENDING("vegen", 2),
                   ENDING("veien", 2),
                   ENDING("gade", 3),
                   ENDING("vej", 2),
                   ENDING("katu", 2),
                   ENDING("tie", 4),
                   ENDING("kuja", 2),
                   ENDING("polku", 3),
                   ENDING("rinne", 3),
                   ENDING("vegur", 2),
                   ENDING("gr\xc3\xa4nd", 2),
                   ENDING("all\xc3\xa9n", 2),
                   ENDING("ring", 4),
                   ENDING("singel", 2),
                   ENDING("hof", 4)};
    size_t len = word->end - word->begin;
    const char *end = text.data + word->end;
    if (!word->capital || word->digits || !ends_street(end[-1]))
        return false;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t ending = endings[i].len;
        if (endings[i].ending[ending - 1] == end[-1] && len >= ending + endings[i].name_min &&
            memcmp(end - ending, endings[i].ending, ending) == 0)
            return true;
    }
    return false;
}

/* "Avenue NW", "Street West": with the point of the compass. */
static size_t with_direction(struct td_str text, size_t end)
{
    struct word word = word_after(text, end, 1);
    bool direction = word_in(text, &word, "n s e w ne nw se sw north south east west");
    return word.capital && direction ? word.end : end;
}

/* "Hauptstr." and "Berliner Str.": the point is the abbreviation's, not the sentence's. */
static bool is_abbreviated(struct td_str text, const struct word *word)
{
    size_t len = word->end - word->begin;
    const char *end = text.data + word->end;
    return len >= 3 && word->end < text.len && *end == '.' &&
           (memcmp(end - 3, "str", 3) == 0 || memcmp(end - 3, "Str", 3) == 0);
}

/* A word for a street that stands before its name. "av" is "of" in other languages: it has a point
 * or a capital; after "Im", "Am" and "An" stand German nouns of all kinds, and their numbers are no
 * houses. name: the word after it; NULL where the number comes first, which no German one does ("9
 * am"). */
static bool stands_first(struct td_str text, const struct word *word, const struct word *name)
{
    if (!(word->roles & (ROLE_STREET_FIRST | ROLE_STREET_SURE)))
        return false;
    if (word_in(text, word, "al os pl"))
        return word->end < text.len && text.data[word->end] == '.';
    if (word_is(text, word, "av"))
        return word->capital || (word->end < text.len && text.data[word->end] == '.');
    if (!word_in(text, word, "am im an"))
        return true;
    return name != NULL &&
           !word_in(text, name,
                    "jahr jahre kapitel abschnitt fall monat tag punkt schritt absatz teil band "
                    "heft ende anfang "
                    "rahmen schnitt zeitraum artikel paragraph quartal halbjahr sommer winter "
                    "herbst alter raum "
                    "zimmer bild vergleich spiel");
}

/* "C/ Mayor", "V.le Monza", "P.zza Navona", "C.so Como": where what is the short word before the
 * name begins, or SIZE_MAX. word: the last piece of it. */
static size_t short_first(struct td_str text, const struct word *word)
{
    if (word->end < text.len && text.data[word->end] == '/' && word_is(text, word, "c"))
        return word->begin;
    if (word->begin < 2 || text.data[word->begin - 1] != '.')
        return SIZE_MAX;
    static const char *const tails[][2] = {{"le", "V."}, {"zza", "P."}, {"so", "C."}};
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++)
        if (word_is(text, word, tails[i][0]) &&
            memcmp(text.data + word->begin - 2, tails[i][1], 2) == 0)
            return word->begin - 2;
    return SIZE_MAX;
}

/* "XX Settembre", "IV Novembre": a street's name with a date in it. */
static bool is_dated_name(struct td_str text, const struct word *month)
{
    struct word day = spelled_before(text, month->begin, 1);
    return (month->roles & ROLE_MONTH) && day.begin < day.end && text.data[day.begin] >= 'I' &&
           text.data[day.begin] <= 'X' &&
           word_in(text, &day, "i ii iii iv v vi viii ix x xi xii xv xx xxiv xxv xxvi xxvii xxix");
}

/* Gaps are short: a call would take longer. */
static inline bool gap_has(struct td_str text, size_t from, size_t to, char c)
{
    for (; from < to; from++)
        if (text.data[from] == c)
            return true;
    return false;
}

static inline bool is_gap_line(struct td_str text, size_t from, size_t to)
{
    return gap_has(text, from, to, '\n');
}

static bool ends_sentence(struct td_str text, size_t from, const struct word *word)
{
    return from < word->begin && text.data[from] == '.';
}

/* A house number's own letter or range: "221B", "12-14", "7/2". */
static size_t number_end(struct td_str text, const struct window *window, size_t run)
{
    size_t end = window->end[run - 1];
    if (end < text.len && ascii_is_letter((unsigned char)text.data[end]) &&
        (end + 1 >= text.len || !plain_is_word_byte((unsigned char)text.data[end + 1])))
        return end + 1;
    if (window->c[run] == '/' && ascii_is_letter(window->c[run + 1]) && end + 1 < text.len &&
        (end + 2 >= text.len || !plain_is_word_byte((unsigned char)text.data[end + 2])))
        return end + 2; /* "4/b" */
    if ((window->c[run] == '-' || window->c[run] == '/') && ascii_is_digit(window->c[run + 1])) {
        size_t second = window_digits(window, run + 1);
        if (second <= 4)
            return window->end[run + second];
    }
    return end;
}

/* "Lindenweg 5 b": one small letter, after which the address ends or goes on after a sign. */
static size_t with_house_letter(struct td_str text, size_t end)
{
    if (end + 1 >= text.len || text.data[end] != ' ' || text.data[end + 1] < 'a' ||
        text.data[end + 1] > 'h')
        return end;
    return end + 2 == text.len || strchr(",.;)\n", text.data[end + 2]) != NULL ? end + 2 : end;
}

/* Is it surely a word for a street, also after a comma? "place" is when "de" or its like follows.
 */
static bool goes_before_name(struct td_str text, const struct word *word)
{
    struct word particle = word_after(text, word->end, 1);
    return (word->roles & ROLE_STREET_SURE) ||
           (word_is(text, word, "place") && (particle.roles & ROLE_PARTICLE));
}

static inline bool ends_part(char c)
{
    return c == ',' || c == ';' || c == ':' || c == '!' || c == '?' || c == '\n' || c == '\0';
}

/* Number first: the end of the street's words, or 0. first: the word after the number. large: a
 * number as long roads have them. */
static size_t street_after(struct td_str text, size_t offset, const struct word *first,
                           bool at_home, bool large, float *score)
{
    size_t names = 0, end = 0, at = offset;
    bool first_form = false, particle = false;
    for (size_t i = 0; i <= NAME_WORDS_MAX; i++) {
        struct word word = i == 0 && first->begin < first->end && first->begin - at <= 2
                               ? *first
                               : word_after(text, at, 2);
        bool comma = word.begin > at && text.data[at] == ',';
        if (word.begin == word.end || (word.begin > at && is_gap_line(text, at, word.begin)) ||
            (word.begin > at && text.data[word.begin - 1] == '-' && i == 0) ||
            (i == 0 && word.begin - at > 1 && !(comma && goes_before_name(text, &word))))
            break; /* "3, rue Pasteur", but not "3, Pasteur" */
        uint32_t roles = word.roles;
        bool rare = (roles & ROLE_STREET_RARE) && (large || at_home) && word.capital;
        bool ordinal = ascii_is_digit((unsigned char)text.data[word.begin]) && !word.digits;
        if (i == 0 && (roles & ROLE_STREET_FIRST) && stands_first(text, &word, NULL)) {
            first_form = true;
        } else if (names > 0 && !first_form && ((roles & ROLE_STREET) || rare) &&
                   (word.capital || at_home)) {
            *score = word.capital ? 0.85f : 0.6f;
            return with_direction(text, word.end);
        } else if (!first_form && has_street_ending(text, &word)) {
            *score = 0.85f;
            return word.end;
        } else if (word.capital || ordinal || particle ||
                   (at_home && names < 2 && !word.digits && word.end - word.begin > 2)) {
            if (roles & (ROLE_MONTH | ROLE_UNIT | ROLE_BOX) && !particle)
                break;
            if ((word.roles & ROLE_PARTICLE)) {
                particle = true;
            } else {
                names++;
                particle = false;
                if (word.capital || first_form)
                    end = word.end;
            }
        } else if ((word.roles & ROLE_PARTICLE) && (first_form || names > 0)) {
            particle = true;
        } else {
            break;
        }
        if (word.end < text.len && ends_part(text.data[word.end]))
            break;
        if (word.end < text.len && text.data[word.end] == '.' && word.end - word.begin > 3)
            break;
        at = word.end;
    }
    *score = first_form ? 0.8f : 0.5f;
    return (first_form && names > 0) || (at_home && names > 0) ? end : 0;
}

static bool is_for_street(struct td_str text, const struct word *word)
{
    return (word->roles & (ROLE_STREET | ROLE_STREET_FIRST | ROLE_STREET_RARE)) ||
           has_street_ending(text, word);
}

/* Is there a word for a street among those that street_after would read, the first of which this
 * is? Rows of numbers share the answer: no word is asked twice. */
static bool has_street_near(struct streets *streets, struct td_str text, const struct word *first)
{
    size_t reach = first->end + NAME_WORDS_MAX * (2 + LEXICON_WORD_BYTES_MAX);
    if (first->begin < first->end && is_for_street(text, first))
        return true;
    if (streets->next < first->end)
        streets->next = 0;
    if (streets->read < first->end)
        streets->read = first->end;
    while (streets->next == 0 && streets->read < reach && streets->read < text.len) {
        struct word word = word_after(text, streets->read, 0);
        if (word.begin < word.end && is_for_street(text, &word))
            streets->next = word.begin;
        streets->read = word.end;
        while (streets->read < text.len && word.begin == word.end &&
               plain_is_word_byte((unsigned char)text.data[streets->read]))
            streets->read++; /* over one that is too long */
        streets->read++;     /* what parts it from the next */
    }
    return streets->next != 0 && streets->next < reach;
}

/* "No. 5", "N\xc2\xb0 5", "nr 5": where the sign before the number begins, else the number. */
static size_t before_number_sign(struct td_str text, size_t number)
{
    static const char *const signs[] = {
        "N\xc2\xb0", "n\xc2\xb0", "N\xc2\xba", "n\xc2\xba", "No.", "no.",        "Nr.",       "nr.",
        "nr",        "Nr",        "\xc4\x8d.", "#",         "n.",  "n.\xc2\xb0", "n.\xc2\xba"};
    size_t at = number;
    while (at > 0 && number - at < 2 && text.data[at - 1] == ' ')
        at--;
    char last = at == 0 ? ' ' : text.data[at - 1];
    if (last != '.' && last != 'r' && last != '#' && last != '\xb0' && last != '\xba')
        return number;
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        size_t len = strlen(signs[i]);
        if (at > len + 1 && memcmp(text.data + at - len, signs[i], len) == 0 &&
            text.data[at - len - 1] == ' ')
            return at - len;
    }
    return number;
}

/* Number last: where the street before it begins, or SIZE_MAX. A comma before the number asks for a
 * word for a street before the name ("Viale Bernardi, 92"). */
static size_t street_before(const struct place *place, bool at_home, float *score)
{
    struct td_str text = place->text;
    size_t at = before_number_sign(text, place->begin), begin = SIZE_MAX, names = 0;
    struct word name = {0}; /* the last one that was read */
    bool comma = at > 1 && text.data[at - 2] == ',';
    for (size_t i = 0; i <= NAME_WORDS_MAX; i++) {
        struct word word = at == place->begin ? *place->previous : word_before(text, at, 2);
        if (word.begin == word.end || is_gap_line(text, word.end, at) ||
            (i > 0 && gap_has(text, word.end, at, ',')) ||
            (text.data[word.end] == '.' && word.end - word.begin > 5 &&
             !(i == 0 && is_abbreviated(text, &word))))
            break;
        uint32_t roles = word.roles;
        if (names == 0 && i == 0 &&
            (has_street_ending(text, &word) || (word.capital && (word.roles & ROLE_STREET_LAST)))) {
            struct word first = word_before(text, word.begin, 1);
            bool own = has_street_ending(text, &word);
            *score = 0.85f;
            if (!own && (!first.capital || first.begin == first.end))
                return SIZE_MAX;
            return own ? word.begin : first.begin;
        }
        if (names > 0 && short_first(text, &word) != SIZE_MAX) {
            *score = 0.85f;
            return short_first(text, &word);
        }
        if (names > 0 && stands_first(text, &word, &name) &&
            (word.capital || at_home || (roles & ROLE_STREET_SURE))) {
            *score = 0.85f;
            return word.begin;
        }
        if (word.capital && !word.digits &&
            (!(roles & (ROLE_MONTH | ROLE_MONTH_SHORT | ROLE_WEEKDAY)) ||
             is_dated_name(text, &word))) {
            names++;
            name = word;
            begin = word.begin;
        } else if (!(names > 0 && (word.roles & ROLE_PARTICLE))) {
            break;
        }
        at = word.begin;
    }
    *score = 0.5f;
    return at_home && !comma && names > 0 && names <= 3 ? begin : SIZE_MAX;
}

/* "Apt. 595", "PO Box 12", "Unit 5146 Box 1772": where the word before the number begins, or
 * SIZE_MAX. alone: is it an address by itself? */
static size_t unit_before(struct td_str text, struct word word, size_t number, bool *alone)
{
    uint32_t roles = word.roles;
    *alone = false;
    if (word.begin == word.end || (!word.capital && !(roles & ROLE_BOX)) ||
        is_gap_line(text, word.end, number))
        return SIZE_MAX;
    if (roles & ROLE_UNIT) {
        *alone = (word.roles & ROLE_NUMBER_ALONE) != 0;
        return word.begin;
    }
    if (!(roles & ROLE_BOX))
        return SIZE_MAX;
    struct word office = word_before(text, word.begin, 2);
    if (word_is(text, &word, "box")) {
        if (word_in(text, &office, "po pob")) {
            *alone = true;
            return office.begin;
        }
        struct word post = word_before(text, office.begin, 2);
        if (word_is(text, &office, "o") && word_is(text, &post, "p")) {
            *alone = true;
            return post.begin;
        }
        if (word_is(text, &office, "office"))
            return post.begin;
        struct word unit = word_before(text, office.begin, 2);
        *alone = office.digits && (unit.roles & (ROLE_UNIT | ROLE_BOX));
        return *alone ? unit.begin : word.capital ? word.begin : SIZE_MAX;
    }
    *alone = true;
    return word.begin;
}

static bool is_state(struct td_str text, const struct word *word)
{
    if (!(word->roles & ROLE_STATE))
        return false;
    for (size_t i = word->begin; i < word->end && word->end - word->begin <= 3; i++)
        if (text.data[i] < 'A' || text.data[i] > 'Z')
            return false;
    return word->capital;
}

/* Two or more further groups of digits after a number: a telephone number, no postal code. */
static bool is_long_row(struct td_str text, const struct word *word)
{
    if (!word->digits)
        return false;
    struct word second = word_after(text, word->end, 1);
    struct word third = word_after(text, second.end, 1);
    bool line = is_gap_line(text, word->end, third.begin);
    return !line && second.digits && third.digits && second.end > second.begin &&
           third.end > third.begin;
}

/* Goes on after a street over units, places, states and postal codes; only what ends in one of
 * the last two, a unit or a country is taken. */
static size_t address_tail(struct td_str text, size_t end)
{
    size_t at = end, taken = end, words = 0, names = 0;
    bool unit = false, sure = false;
    while (words++ < TAIL_WORDS_MAX) {
        struct word word = word_after(text, at, 8);
        if (word.begin == word.end)
            break;
        bool line = is_gap_line(text, at, word.begin) || gap_has(text, at, word.begin, ',');
        bool blank_line = word.begin - at > 1 &&
                          str_find(str_slice(text, at, word.begin), STR("\n\n"), 0) != SIZE_MAX;
        bool sentence = ends_sentence(text, at, &word) && word.begin - at > 1 && !unit &&
                        !(at > end && at - end < 4);
        if (blank_line || (sentence && !line))
            break;
        uint32_t roles = word.roles;
        bool bracket = gap_has(text, at, word.begin, '(');
        if (bracket || (word.entry != NULL && word.entry->context == PRIVACY_PHONE) ||
            is_long_row(text, &word))
            break;
        bool has_digit = ascii_is_digit((unsigned char)text.data[word.begin]);
        if (unit) {
            taken = word.end;
            unit = false;
        } else if ((roles & (ROLE_UNIT | ROLE_BOX)) && word.capital) {
            unit = true;
        } else if (is_state(text, &word)) {
            taken = word.end;
            sure = true;
            names = 0;
        } else if ((roles & ROLE_COUNTRY) && word.capital && line) {
            taken = word.end;
            sure = true;
            names = 0;
        } else if (has_digit && word.digits && word.end - word.begin >= 3 &&
                   word.end - word.begin <= 6 && (line || names > 0 || sure)) {
            struct word more = word_after(text, word.end, 1);
            taken = word.end;
            if (more.digits && more.end - more.begin <= 4 && more.end > more.begin &&
                text.data[word.end] != '\n')
                taken = more.end;
            sure = true;
            word.end = taken;
        } else if (has_digit && word.end - word.begin <= 4) {
            taken = taken == at && names == 0 ? word.end : taken; /* "Koskikatu 25" */
        } else if ((word.capital || (word.roles & ROLE_PARTICLE)) && (line || names > 0 || sure) &&
                   ++names <= 4) {
            if (roles & (ROLE_MONTH | ROLE_WEEKDAY | ROLE_TITLE))
                break;
        } else {
            break;
        }
        at = word.end;
    }
    return taken;
}

static bool give(enum privacy_kind kind, size_t begin, size_t end, float score,
                 struct privacy_span *out)
{
    *out = (struct privacy_span){.kind = kind, .begin = begin, .end = end, .score = score};
    return true;
}

/* Military post of the United States (USPS Publication 28, section 225): "USNS Lewis\nFPO AE
 * 09517". From the code back over the office to the ship. */
static size_t military_begin(struct td_str text, const struct word *state)
{
    struct word office = spelled_before(text, state->begin, 1);
    if (!word_in(text, state, "aa ae ap") || !word_in(text, &office, "apo fpo dpo"))
        return SIZE_MAX;
    struct word name = spelled_before(text, office.begin, 3),
                ship = spelled_before(text, name.begin, 1);
    return word_in(text, &ship, "uss usns usnv uscgc usav usaf") && ship.begin < ship.end
               ? ship.begin
               : office.begin;
}

/* ZIP codes after a state, with four more digits, or announced. */
static bool detect_zip(const struct place *place, const struct window *window, size_t run,
                       struct privacy_span *out)
{
    struct td_str text = place->text;
    struct word before = *place->previous;
    size_t end = window->end[run - 1];
    size_t more =
        window->c[run] == '-' || window->c[run] == ' ' ? window_digits(window, run + 1) : 0;
    bool piece = window->c[run] == '-' && ascii_is_letter(window->c[run + 1]); /* AB-12345-XL */
    bool plus = run == 5 && window->c[run] == '-' && more == 4;
    size_t military = run == 5 ? military_begin(text, &before) : SIZE_MAX;
    if (military != SIZE_MAX)
        return give(PRIVACY_ADDRESS, military, plus ? window->end[run + more] : end, 0.9f, out);
    if (place_context(place, PRIVACY_ZIP, ZIP_REACH) && run >= 3 && run <= 7) {
        if (more >= 2 && more <= 4)
            end = window->end[run + more];
        struct word letters = word_after(text, end, 1);
        if (run == 4 && letters.end - letters.begin == 2 && letters.capital && !letters.digits)
            end = letters.end; /* 7412 SL */
        return give(PRIVACY_ZIP, place->begin, end, 0.9f, out);
    }
    if (run == 5 && before.capital && !piece &&
        (is_state(text, &before) ||
         ((before.roles & ROLE_COUNTRY) && !(place->next->roles & ROLE_COUNTED))))
        return give(PRIVACY_ZIP, place->begin, plus ? window->end[run + more] : end, 0.8f, out);
    return plus && give(PRIVACY_ZIP, place->begin, window->end[run + more], 0.5f, out);
}

static bool read_address(const struct place *place, struct privacy_span *out)
{
    const struct window *window = place->window;
    struct streets *streets = &place->memory->streets;
    struct td_str text = place->text;
    size_t run = window->run;
    bool alone;
    float score = 0.7f;
    bool joined_point = place->before == '.' && is_abbreviated(text, place->previous) &&
                        place->previous->end + 1 == place->begin;
    if (run == 0 || run > 6 || is_word(place->before) || place->before == '$' ||
        (place->before == '.' && !joined_point) ||
        (place->before == ',' && ascii_is_digit(place->before2)))
        return false;
    if (place->previous->digits && place->next->digits && window->c[run] != '-' &&
        !place_context(place, PRIVACY_ZIP, ZIP_REACH))
        return false; /* numbers on both sides */
    bool at_home = place_context(place, CONTEXT_HOME, HOME_REACH);
    size_t begin = unit_before(text, *place->previous, place->begin, &alone),
           end = number_end(text, window, run);
    struct plain next = plain_at(text, end);
    if (is_word(next.c) &&
        !(run <= 4 && ascii_is_digit((unsigned char)text.data[end - 1]) == false))
        end = window->end[run - 1];
    if (begin != SIZE_MAX && (alone || at_home))
        return give(PRIVACY_ADDRESS, begin, address_tail(text, end), 0.75f, out);
    if (is_word(plain_at(text, end).c) || next.c == '%' || next.c == ':')
        return detect_zip(place, window, run, out);
    size_t name = end;
    if (word_in(text, place->next, "bis ter quater")) {
        struct word kind = word_after(text, place->next->end, 1);
        name = kind.roles & ROLE_STREET_SURE ? place->next->end : end; /* "5 bis rue Pasteur" */
    }
    size_t street =
        run <= 5 && !place->next->digits && (at_home || has_street_near(streets, text, place->next))
            ? street_after(text, name, place->next, at_home, run >= 3, &score)
            : 0;
    if (street != 0) {
        struct word before = word_before(text, place->begin, 1);
        bool joined = before.digits && before.end > before.begin &&
                      before.end - before.begin <= 5 && before.end + 1 == place->begin &&
                      text.data[before.end] == ' ';
        size_t tail = address_tail(text, street);
        return give(PRIVACY_ADDRESS, joined ? before.begin : place->begin, tail,
                    tail > street ? 0.9f : score, out);
    }
    begin = run <= 5 && (place->before == ' ' || place->before == '#' || joined_point) &&
                    !place->previous->digits
                ? street_before(place, at_home, &score)
                : SIZE_MAX;
    if (begin != SIZE_MAX) {
        struct word before = word_before(text, begin, 1);
        if (before.digits && before.end > before.begin && before.end + 1 == begin)
            begin = before.begin; /* "6750 Koskikatu 25" */
        end = with_house_letter(text, end);
        return give(PRIVACY_ADDRESS, begin, address_tail(text, end), score, out);
    }
    return detect_zip(place, window, run, out);
}

/* At the first digit of a house number, a ZIP code, a box or a flat. */
static bool find_address(const struct place *place, struct privacy_span *out)
{
    struct detect_memory *memory = place->memory;
    if (place->begin < memory->address_end || !read_address(place, out))
        return false;
    memory->address_end = out->end;
    return true;
}

/* SW1A 1AA (Royal Mail: PAF) and B0J 2H0 (Canada Post), in capitals. */
static bool find_postcode(const struct place *place, struct privacy_span *out)
{
    char form[9];
    size_t len = 0, offset = place->begin, end = offset, space = 0;
    if (is_word(place->before) || place->before == '-' || place->before == '_')
        return false;
    for (; len < 8; len++) {
        struct plain next = plain_at(place->text, offset);
        if (next.c == ' ' && space == 0 && len >= 2) {
            space = len;
            next = plain_at(place->text, next.end);
        }
        if (!ascii_is_digit(next.c) && !(next.c >= 'A' && next.c <= 'Z'))
            break;
        form[len] = ascii_is_digit(next.c) ? '9' : 'A';
        end = offset = next.end;
        if (space != 0 && len - space == 2) {
            len++;
            break;
        }
    }
    form[len] = '\0';
    if (space == 0 || is_word(plain_at(place->text, end).c))
        return false;
    static const char *const forms[] = {"A99AA",  "AA99AA",  "A999AA", "AA999AA",
                                        "A9A9AA", "AA9A9AA", "A9A9A9"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(form, forms[i]) == 0)
            return give(PRIVACY_ZIP, place->begin, end, 0.8f, out);
    return false;
}

const struct detector detector_address = {
    .kinds = {PRIVACY_ADDRESS, PRIVACY_ZIP, KINDS_END},
    .triggers = ON(NUMBER),
    .find = find_address,
};

const struct detector detector_postcode = {
    .kinds = {PRIVACY_ZIP, KINDS_END},
    .triggers = ON(WORD),
    .any = WORD_HAS_DIGIT,
    .find = find_postcode,
};
