/* What people type to be let in, after the word that says so: "my password is ...", "Passwort
 * lautet ...", "PIN: ...", "CVV ...". Most sentences with these words hold none, so a sign or a
 * verb must stand between, and the value must look like no word. `password = ...` of code and
 * configurations is in detect_assignment.c. */
#include "privacy/detect/detect.h"

#include "base/core/str.h"
#include "privacy/text/entropy.h"

#define PIN_REACH 24 /* bytes between the word and the number */
#define CARD_REACH 96
#define PASSWORD_MIN 5
#define PASSWORD_MAX 128

static const char being[] =
    "is was lautet ist est es \xc3\xa8 \xc3\xa9 \xc3\xa4r er jest to on je este";
/* After these signs are those of code, too: detect_assignment.c judges them. */
static const char of_assignments[] = "password passwd passphrase passcode passwort passe";
static const char numbering[] = "code number no nr nummer kod codice";

enum { SAID_NOT, SAID_BY_SIGN, SAID_BY_VERB };

/* What leads on from the word's end, if nothing else stands between. *offset: after what was read.
 */
static int how_said(struct td_str text, size_t *offset, size_t limit)
{
    int said = SAID_NOT;
    while (*offset < limit) {
        struct plain next = plain_at(text, *offset);
        if (is_word(next.c)) {
            struct word word = spelled_after(text, next.begin, 0);
            bool verb = word_in(text, &word, being);
            if (said || word.end == word.begin || (!verb && !word_in(text, &word, numbering)))
                return said;
            if (verb)
                said = SAID_BY_VERB;
            *offset = word.end;
            continue;
        }
        if (next.c <= 0 || next.c >= PLAIN_OTHER || strchr(" \t:=\"'`*_-.", next.c) == NULL)
            return said;
        if (said == SAID_NOT && (next.c == ':' || next.c == '='))
            said = SAID_BY_SIGN;
        *offset = next.end;
    }
    return said;
}

/* Is the number whole: nothing that would make it part of another one? */
static bool stands_alone(const struct place *place, const struct window *window)
{
    int behind = window->c[window->run];
    struct plain after = plain_at(place->text, window->end[window->run - 1]);
    bool joins = behind == '-' || behind == '.' || behind == '/' || behind == ',';
    bool piece = place->before == '.' || place->before == ',' || place->before == '/';
    return !is_word(behind) && !(joins && ascii_is_digit(plain_at(place->text, after.end).c)) &&
           !(piece && ascii_is_digit(place->before2));
}

static bool number_is_said(const struct place *place, int kind)
{
    size_t offset = place->context->ended[kind] - 1;
    return how_said(place->text, &offset, place->begin) != SAID_NOT && offset == place->begin;
}

/* Of a card: three digits, four of American Express. "CID" is much else where no card is spoken of.
 */
static bool is_verification(const struct place *place, const struct window *window)
{
    if (window->run > 4 || !place_context(place, PRIVACY_CVV, PIN_REACH))
        return false;
    size_t end = place->context->ended[PRIVACY_CVV] - 1;
    struct word word = word_before(place->text, end, 0);
    return number_is_said(place, PRIVACY_CVV) && (!word_in(place->text, &word, "cid csc") ||
                                                  place_context(place, PRIVACY_CARD, CARD_REACH));
}

/* India's "PIN code" has six digits and is a place's. */
static bool is_pin(const struct place *place, const struct window *window)
{
    if (window->run < 4)
        return false;
    if (script_announces(place, PRIVACY_PIN))
        return true;
    return place_context(place, PRIVACY_PIN, PIN_REACH) && number_is_said(place, PRIVACY_PIN) &&
           !(window->run == 6 &&
             place->context->ended[PRIVACY_ZIP] >= place->context->ended[PRIVACY_PIN]);
}

static bool find_pin(const struct place *place, struct privacy_span *out)
{
    const struct window *window = place->window;
    if (window->run < 3 || window->run > 8 || place->context == NULL ||
        !stands_alone(place, window))
        return false;
    bool verification = is_verification(place, window);
    if (!verification && !is_pin(place, window))
        return false;
    *out = span_of(verification ? PRIVACY_CVV : PRIVACY_PIN, place->begin,
                   window->end[window->run - 1], 0.9f);
    return true;
}

/* "12-character", "3rd", "SHA-256", "$PASSWORD", an address: said about passwords. */
static bool says_about(struct td_str value)
{
    static const char *const ciphers[] = {"sha",  "md5",    "md4",    "base",  "utf",
                                          "aes",  "argon2", "pbkdf2", "rot13", "rsa",
                                          "fips", "oauth2", "ascii",  NULL};
    size_t digits = 0;
    while (digits < value.len && ascii_is_digit((unsigned char)value.data[digits]))
        digits++;
    bool words = digits > 0;
    for (size_t i = digits; i < value.len; i++)
        words &= value.data[i] == '-' || (value.data[i] >= 'a' && value.data[i] <= 'z');
    if (words && digits < value.len && (digits <= 2 || value.data[digits] == '-'))
        return true;
    for (size_t i = 0; ciphers[i] != NULL; i++) {
        size_t len = strlen(ciphers[i]);
        if (value.len > len && str_equal_nocase(str_slice(value, 0, len), str_from(ciphers[i])) &&
            !ascii_is_letter((unsigned char)value.data[len]))
            return true;
    }
    return strchr("$<{%*([/", value.data[0]) != NULL || str_find(value, STR("://"), 0) != SIZE_MAX;
}

static bool is_password(struct td_str text, struct td_str value, size_t end)
{
    if (value.len < PASSWORD_MIN || says_about(value))
        return false;
    size_t digits = 0;
    for (size_t i = 0; i < value.len; i++)
        digits += ascii_is_digit((unsigned char)value.data[i]);
    if (digits == value.len) { /* an amount of something, when a word follows */
        struct word next = spelled_after(text, end, 1);
        return digits >= 6 && next.begin == next.end;
    }
    bool sign = false;
    for (size_t i = 0; i + 1 < value.len; i++)
        sign |= strchr("!@#$%^&*?+~=|", value.data[i]) != NULL;
    return sign || entropy_is_mixed(value) || entropy_classes(value) >= 3;
}

static bool find_password(const struct place *place, struct privacy_span *out)
{
    size_t word_end = place->word_end;
    char body[PASSWORD_MAX];
    struct td_str text = place->text;
    size_t begin = word_end, len = 0;
    int said = how_said(text, &begin, text.len);
    struct word word = {.begin = place->begin, .end = word_end};
    if (said == SAID_NOT || (said == SAID_BY_SIGN && word_in(text, &word, of_assignments)))
        return false;
    size_t end = begin;
    for (struct plain next = plain_at(text, begin);
         next.c > ' ' && next.c < 0x80 && len < sizeof body && next.c != '"' && next.c != '`';
         next = plain_at(text, next.end)) {
        body[len++] = (char)next.c;
        end = next.end;
    }
    while (len > 0 && strchr(".,;:)'?", body[len - 1]) != NULL) {
        len--;
        end--;
    }
    if (len == sizeof body || !is_password(text, (struct td_str){body, len}, end))
        return false;
    *out = span_of(PRIVACY_API_KEY, begin, end, 0.8f);
    return true;
}

const struct detector detector_pin = {
    .kinds = {PRIVACY_PIN, PRIVACY_CVV, KINDS_END},
    .triggers = ON(NUMBER),
    .any = NUMBER_RUNS(3, 8),
    .find = find_pin,
};

const struct detector detector_password = {
    .kinds = {PRIVACY_API_KEY, KINDS_END},
    .triggers = ON(LISTED),
    .any = LISTED_PASSWORD,
    .find = find_password,
};
