/* Numbers without a check digit that only a word near them makes what they are: passports, driving
 * licences, medical records, licence plates, bank accounts, NHS-like patient numbers. */
#include "privacy/detect/detect.h"

#include "privacy/words/lexicon.h"

#include <string.h>

#define TOKEN_MAX 24
#define RUSSIAN_GAPS 10 /* characters in a passport's number that are no digits */
#define NEXT_TO 4       /* bytes between a word and what it announces: "MRN: ", "no. " */

struct token {
    char text[TOKEN_MAX + 1]; /* capitals, without separators */
    size_t len, digits, letters, end;
    bool small; /* lower-case letters in it */
};

/* Letters and digits from the place; one '-' or ' ' between groups when `parted` and a digit
 * follows. */
static bool read_token(const struct place *place, bool parted, struct token *token)
{
    size_t offset = place->begin;
    *token = (struct token){0};
    for (;;) {
        struct plain next = plain_at(place->text, offset);
        if (!ascii_is_alnum(next.c)) {
            struct plain after = plain_at(place->text, next.end);
            bool joins = next.c == '-' || next.c == ' ' || next.c == '.';
            if (!parted || token->len == 0 || !joins || !ascii_is_alnum(after.c) ||
                (next.c != '-' && !ascii_is_digit(after.c)))
                break;
            next = after;
        }
        if (token->len == TOKEN_MAX)
            return false;
        token->small |= next.c >= 'a' && next.c <= 'z';
        token->digits += ascii_is_digit(next.c);
        token->letters += ascii_is_letter(next.c);
        token->text[token->len++] = (char)(ascii_is_letter(next.c) ? next.c & ~0x20 : next.c);
        token->end = offset = next.end;
    }
    return token->len > 0 && !is_word(plain_at(place->text, token->end).c);
}

static size_t leading_letters(const struct token *token)
{
    size_t count = 0;
    while (count < token->len && ascii_is_letter(token->text[count]))
        count++;
    return count;
}

/* The states' forms (AAMVA, 2016 and later): one letter and 3 to 14 digits, two letters and 3 to 7,
 * digits alone 6 to 12, and those with letters at the end or in a pattern of their own. */
static bool is_us_license(const struct token *t)
{
    size_t first = leading_letters(t), rest = t->len - first;
    bool digits_after = t->digits == rest;
    if (first == 0 && t->letters == 0)
        return t->digits >= 5 && t->digits <= 14;
    if (digits_after && first == 1)
        return rest >= 4 && rest <= 14;
    if (digits_after && (first == 2 || first == 3))
        return rest >= 3 && rest <= 9;
    /* Iowa 111AA1111, Missouri 8 digits and 2 letters, Kansas K1A1A, New Hampshire 11ABC11111,
     * Washington 5 letters and 7 others, Arkansas and Vermont digits and one letter */
    return t->len >= 5 && t->len <= 14 && t->digits >= 3 && t->letters <= 8;
}

/* The DVLA's: five of the surname (9 fills), six digits of the birth date, initials, check. */
static bool is_uk_license(const struct token *t)
{
    if (t->len != 16 && t->len != 18)
        return false;
    for (size_t i = 5; i < 11; i++)
        if (!ascii_is_digit(t->text[i]))
            return false;
    return ascii_is_letter(t->text[0]) && ascii_is_letter(t->text[11]);
}

static bool found(const struct place *place, const struct token *token, enum privacy_kind kind,
                  float score, struct privacy_span *out)
{
    *out = (struct privacy_span){
        .kind = kind, .begin = place->begin, .end = token->end, .score = score};
    return true;
}

/* Kinds whose words announce a number of their own. */
static bool announces_number(int kind)
{
    return privacy_kind_is_national(kind) || kind == PRIVACY_US_SSN || kind == PRIVACY_PHONE ||
           kind == CONTEXT_BIRTH || kind == PRIVACY_US_PASSPORT || kind == PRIVACY_US_LICENSE ||
           kind == PRIVACY_MEDICAL_RECORD || kind == PRIVACY_PLATE || kind == PRIVACY_BANK_ACCOUNT;
}

/* Which of the documents was announced last, within reach; 0 when there is none, or when a word for
 * another number came after it ("MRN: 12345678   DOB: 10/19/1993"). *gap: bytes between. */
static int nearest_document(const struct place *place, size_t *gap)
{
    static const int documents[] = {PRIVACY_US_PASSPORT,    PRIVACY_US_LICENSE,
                                    PRIVACY_MEDICAL_RECORD, PRIVACY_PLATE,
                                    PRIVACY_BANK_ACCOUNT,   PRIVACY_VIN};
    size_t last = 0;
    int nearest = 0;
    if (place->context == NULL)
        return 0;
    const size_t *ended = place->context->ended;
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++)
        if (place_context(place, documents[i], DOCUMENT_REACH) && ended[documents[i]] > last) {
            nearest = documents[i];
            last = ended[nearest];
        }
    if (nearest == 0)
        return 0;
    bool digit = ascii_is_digit((unsigned char)place->text.data[place->begin]);
    for (int kind = 0; kind < CONTEXT_COUNT; kind++)
        if (ended[kind] > last && announces_number(kind) &&
            (digit || (kind != PRIVACY_PHONE && kind != CONTEXT_BIRTH)))
            return 0;
    *gap = place->begin - (last - 1);
    return nearest;
}

/* --- licence plates ---
 *
 * The series that countries issue, letters and digits in groups. Beside a word that announces one
 * other series are taken too; here is what says where a plate ends, for "AB12 CDE was" goes on in
 * capitals or does not. */

#define CHARACTERS_MAX 11
#define GROUPS_MAX 4

static const char *const series[] = {
    "LLDDLLL",                                          /* United Kingdom, Romania */
    "LDDDLLL",   "LLLDDDL",                             /* United Kingdom until 2001 */
    "LLDDDLL",                                          /* France, Italy */
    "DDDDLLL",                                          /* Spain */
    "LLDDLDDDD", "LLDDLLDDDD", "LLDDLLLDDDD",           /* India */
    "LLDDDL",    "DDLLLD",     "LDDDLL",      "DLLLDD", /* Netherlands */
    "LLDDLL",    "DDLLDD",     "DDDDLL",      "LLDDDD", /* Portugal */
    "LLDDDDD",   "LLDDDDDD",   "LLLDDDDD",              /* Poland, Norway, Denmark, Switzerland */
    "LLDDDDL",   "LLLDDLL",                             /* Poland, Austria */
    "LLLDDD",    "LLLDDL",     "LLLLDDD",               /* Sweden, Finland, Hungary, Australia */
    "DLLDLL",    "DDDLLL",     "DLLLDDD",               /* Australia; United States, Belgium */
    "LLLDDDD",   "LLLDLDD",                             /* United States, Germany, Brazil */
    "LLLLDDDD",  "LLLLLDDDD",  "LLLLLDDD",              /* Germany */
    "DLDDDDD",   "DLLDDDD",                             /* Czechia */
};

static bool is_series(const char *form)
{
    for (size_t i = 0; i < sizeof series / sizeof *series; i++)
        if (strcmp(series[i], form) == 0)
            return true;
    return false;
}

/* The end of the longest licence plate of a known series that begins at the place, 0 none. */
static size_t plate_end(const struct place *place)
{
    char form[CHARACTERS_MAX + 1] = "";
    size_t count = 0, end = 0, offset = place->begin;
    for (size_t group = 0; group < GROUPS_MAX; group++) {
        struct plain next = plain_at(place->text, offset);
        size_t begin = count;
        for (; ascii_is_digit(next.c) || (next.c >= 'A' && next.c <= 'Z');
             next = plain_at(place->text, next.end)) {
            if (count == CHARACTERS_MAX)
                return end;
            form[count++] = ascii_is_digit(next.c) ? 'D' : 'L';
            form[count] = '\0';
            offset = next.end;
        }
        if (count == begin || is_word(next.c))
            break;
        if (is_series(form))
            end = offset;
        if (next.c != ' ' && next.c != '-')
            break;
        offset = next.end;
    }
    return end;
}

/* --- documents --- */

static bool find_passport(const struct place *place, const struct token *solid,
                          const struct token *whole, struct privacy_span *out)
{
    if (solid->digits >= 6 && solid->len <= 10 && solid->letters <= 3) {
        size_t letters = leading_letters(solid);
        bool us = (solid->len == 9 && solid->digits == 9) ||
                  (solid->len == 9 && letters == 1 && solid->digits == 8);
        return found(place, solid, us ? PRIVACY_US_PASSPORT : PRIVACY_PASSPORT, 0.85f, out);
    }
    /* Germany's are nine of digits and consonants, the first a consonant */
    bool german = leading_letters(solid) > 0 && solid->digits >= 1;
    for (size_t i = 0; i < solid->len; i++)
        german &= strchr("ABDEIOQSU", solid->text[i]) == NULL;
    if (solid->len == 9 && !solid->small && (solid->digits >= 3 || german))
        return found(place, solid, PRIVACY_PASSPORT, 0.8f, out);
    /* "S 4921756": India's, with a space */
    if (solid->len <= 2 && solid->letters == solid->len && !solid->small && whole->digits >= 6 &&
        whole->digits <= 8 && whole->letters == solid->letters)
        return found(place, whole, PRIVACY_PASSPORT, 0.8f, out);
    return false;
}

static bool find_license(const struct place *place, const struct token *solid,
                         const struct token *whole, struct privacy_span *out)
{
    if (is_uk_license(solid))
        return found(place, solid, PRIVACY_LICENSE, 0.95f, out);
    /* India: state, office, year, seven digits; Italy: two letters or U1, seven, a letter */
    if (whole->len == 15 && leading_letters(whole) == 2 && whole->digits == 13)
        return found(place, whole, PRIVACY_LICENSE, 0.9f, out);
    if (solid->len == 10 && !solid->small && solid->digits >= 1 &&
        ascii_is_letter(solid->text[0]) && ascii_is_letter(solid->text[9]) &&
        (solid->text[1] == '1' || ascii_is_letter(solid->text[1])))
        return found(place, solid, PRIVACY_LICENSE, 0.8f, out);
    if (whole->digits >= 4 && is_us_license(whole))
        return found(place, whole, PRIVACY_US_LICENSE, 0.8f, out);
    return solid->digits >= 3 && is_us_license(solid) &&
           found(place, solid, PRIVACY_US_LICENSE, 0.8f, out);
}

static bool find_record(const struct place *place, const struct token *solid,
                        const struct token *whole, size_t gap, struct privacy_span *out)
{
    struct privacy_span diagnosis;
    size_t digits_min = gap <= NEXT_TO ? 4 : 5; /* four digits afar are a year or a price */
    if (detect_icd10(place, &diagnosis))
        return false;
    if (whole->digits >= digits_min && whole->letters <= 5 && whole->len <= 16)
        return found(place, whole, PRIVACY_MEDICAL_RECORD, 0.9f, out);
    return solid->digits >= digits_min && solid->letters <= 5 &&
           found(place, solid, PRIVACY_MEDICAL_RECORD, 0.85f, out);
}

static bool find_account(const struct place *place, const struct token *solid,
                         const struct token *whole, size_t gap, struct privacy_span *out)
{
    /* Reserve Bank of India: bank, 0, branch */
    if (solid->len == 11 && leading_letters(solid) == 4 && solid->text[4] == '0')
        return found(place, solid, PRIVACY_BANK_ACCOUNT, 0.9f, out);
    /* Nobody counts as far as eight digits: "4820117365 and ..." goes on with something else. */
    bool counted = whole->digits < 8 && place->next != NULL && (place->next->roles & ROLE_COUNTED);
    return whole->letters == 0 && whole->digits >= (gap <= NEXT_TO ? 5 : 6) &&
           whole->digits <= 17 && !counted && found(place, whole, PRIVACY_BANK_ACCOUNT, 0.8f, out);
}

/* Russia's: four digits of the series, six of the number, "4509 123456" or "45 09 No 123456". */
static bool find_russian_passport(const struct place *place, struct privacy_span *out)
{
    size_t digits = 0, skipped = 0;
    struct plain next = plain_at(place->text, place->begin);
    for (; digits < 10; next = plain_at(place->text, next.end)) {
        if (ascii_is_digit(next.c)) {
            digits++;
            *out = span_of(PRIVACY_PASSPORT, place->begin, next.end, 0.9f);
        } else if (next.c == PLAIN_END || next.c == '\n' || skipped++ == RUSSIAN_GAPS ||
                   (digits != 4 && !(digits == 2 && next.c == ' '))) {
            return false;
        }
    }
    return !is_word(next.c);
}

/* ISO 3779: seventeen letters and digits without I, O and Q, the last four digits. */
static bool find_vehicle(const struct place *place, const struct token *solid,
                         struct privacy_span *out)
{
    if (solid->len != 17 || solid->digits < 4 || strpbrk(solid->text, "IOQ") != NULL)
        return false;
    for (size_t i = 13; i < 17; i++)
        if (!ascii_is_digit(solid->text[i]))
            return false;
    return found(place, solid, PRIVACY_VIN, 0.95f, out);
}

/* RFC 9562, section 4: groups of 8, 4, 4, 4 and 12 hex digits. One in some thirty has a first group
 * of decimal digits alone, and programs call them "account_uuid" or "record id". */
static bool in_uuid(struct td_str text, size_t at)
{
    static const char form[] = "hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh";
    size_t begin = at, len = sizeof form - 1, i = 0;
    while (begin > 0 && at - begin < len &&
           (ascii_is_hex((unsigned char)text.data[begin - 1]) || text.data[begin - 1] == '-'))
        begin--;
    while (i < len && begin + i < text.len &&
           (form[i] == '-' ? text.data[begin + i] == '-'
                           : ascii_is_hex((unsigned char)text.data[begin + i])))
        i++;
    return i == len && (begin + i == text.len || !is_word((unsigned char)text.data[begin + i]));
}

/* At a word with a digit in it. */
static bool find_document(const struct place *place, struct privacy_span *out)
{
    const struct stretch *date = &place->memory->date;
    bool dated = date->end > place->begin && date->begin == place->begin; /* one begins here */
    if (place->in_date)
        return false;
    size_t gap = 0;
    if (is_word(place->before) || place->before == '$')
        return false;
    if (script_announces(place, PRIVACY_US_PASSPORT) && find_russian_passport(place, out))
        return true;
    int kind = nearest_document(place, &gap);
    if (kind == 0 || (dated && gap > NEXT_TO) || in_uuid(place->text, place->begin))
        return false;
    struct token whole, solid;
    if (!read_token(place, false, &solid))
        solid.len = solid.digits = solid.letters = 0;
    if (!read_token(place, true, &whole))
        whole = solid;
    if (whole.len == 0)
        return false;
    switch (kind) {
    case PRIVACY_US_PASSPORT:
        return find_passport(place, &solid, &whole, out);
    case PRIVACY_US_LICENSE:
        return find_license(place, &solid, &whole, out);
    case PRIVACY_MEDICAL_RECORD:
        return find_record(place, &solid, &whole, gap, out);
    case PRIVACY_PLATE: {
        size_t end = plate_end(place);
        if (end > 0) {
            *out = span_of(PRIVACY_PLATE, place->begin, end, 0.85f);
            return true;
        }
        return !whole.small && whole.len >= 4 && whole.len <= 9 && whole.digits >= 1 &&
               whole.letters >= 1 && found(place, &whole, PRIVACY_PLATE, 0.75f, out);
    }
    case PRIVACY_VIN:
        return find_vehicle(place, &solid, out);
    default:
        return find_account(place, &solid, &whole, gap, out);
    }
}

/* ISO 9362: four letters of the institution, a country, two of the place, maybe three of the
 * branch. */
static bool find_swift(const struct place *place, struct privacy_span *out)
{
    static const char countries[] = "ADAEAFAGALAMAOARATAUAZBABBBDBEBFBGBHBIBJBMBNBOBRBSBTBWBYBZCACD"
                                    "CFCGCHCICLCMCNCOCRCUCVCYCZDEDJDK"
                                    "DMDODZECEEEGERESETFIFJFOFRGAGBGDGEGFGGGHGIGLGMGNGPGQGRGTGUGWGY"
                                    "HKHNHRHTHUIDIEILIMINIQIRISITJEJM"
                                    "JOJPKEKGKHKIKMKNKPKRKWKYKZLALBLCLILKLRLSLTLULVLYMAMCMDMEMGMKML"
                                    "MMMNMOMQMRMTMUMVMWMXMYMZNANCNENGNI"
                                    "NLNONPNZOMPAPEPFPGPHPKPLPSPTPYQARERORSRURWSASBSCSDSESGSISKSLSM"
                                    "SNSOSRSSSTSVSYSZTCTDTGTHTJTLTMTNTO"
                                    "TRTTTWTZUAUGUSUYUZVAVCVEVGVNVUWSXKYEZAZMZW";
    struct token token;
    if (!place_context(place, PRIVACY_SWIFT, DOCUMENT_REACH) || is_word(place->before) ||
        !read_token(place, false, &token) || token.small || token.end != place->run_end ||
        leading_letters(&token) < 6)
        return false;
    for (const char *p = countries; *p; p += 2)
        if (p[0] == token.text[4] && p[1] == token.text[5])
            return found(place, &token, PRIVACY_SWIFT, 0.9f, out);
    return false;
}

const struct detector detector_document_number = {
    .kinds = {PRIVACY_US_PASSPORT, PRIVACY_PASSPORT, PRIVACY_US_LICENSE, PRIVACY_LICENSE,
              PRIVACY_MEDICAL_RECORD, PRIVACY_PLATE, PRIVACY_BANK_ACCOUNT, PRIVACY_VIN, KINDS_END},
    .triggers = ON(NUMBER),
    .find = find_document,
};

const struct detector detector_document_word = {
    .kinds = {PRIVACY_US_PASSPORT, PRIVACY_PASSPORT, PRIVACY_US_LICENSE, PRIVACY_LICENSE,
              PRIVACY_MEDICAL_RECORD, PRIVACY_PLATE, PRIVACY_BANK_ACCOUNT, PRIVACY_VIN, KINDS_END},
    .triggers = ON(WORD),
    .any = WORD_NUMBERED,
    .find = find_document,
};

const struct detector detector_swift = {
    .kinds = {PRIVACY_SWIFT, KINDS_END},
    .triggers = ON(WORD),
    .all = WORD_CAPITAL,
    .any = WORD_LENGTH(8) | WORD_LENGTH(11),
    .find = find_swift,
};
