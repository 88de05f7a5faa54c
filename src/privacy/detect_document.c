/* Numbers without a check digit that only a word near them makes what they are: passports, driving
 * licences, medical records, licence plates, bank accounts, NHS-like patient numbers. */
#include "privacy/detect.h"

#include "privacy/lexicon.h"

#define TOKEN_MAX 24
#define REACH 40

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
        if (!is_alnum(next.c)) {
            struct plain after = plain_at(place->text, next.end);
            bool joins = next.c == '-' || next.c == ' ' || next.c == '.';
            if (!parted || token->len == 0 || !joins || !is_alnum(after.c) ||
                (next.c != '-' && !is_digit(after.c)))
                break;
            next = after;
        }
        if (token->len == TOKEN_MAX)
            return false;
        token->small |= next.c >= 'a' && next.c <= 'z';
        token->digits += is_digit(next.c);
        token->letters += is_alpha(next.c);
        token->text[token->len++] = (char)(is_alpha(next.c) ? next.c & ~0x20 : next.c);
        token->end = offset = next.end;
    }
    return token->len > 0 && !is_word(plain_at(place->text, token->end).c);
}

static size_t leading_letters(const struct token *token)
{
    size_t count = 0;
    while (count < token->len && is_alpha(token->text[count]))
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
        if (!is_digit(t->text[i]))
            return false;
    return is_alpha(t->text[0]) && is_alpha(t->text[11]);
}

static bool found(const struct place *place, const struct token *token, enum privacy_kind kind,
                  float score, struct privacy_span *out)
{
    *out = (struct privacy_span){
        .kind = kind, .begin = place->begin, .end = token->end, .score = score};
    return true;
}

bool detect_document(const struct place *place, struct privacy_span *out)
{
    bool passport = place_context(place, PRIVACY_US_PASSPORT, REACH);
    bool license = place_context(place, PRIVACY_US_LICENSE, REACH);
    bool record = place_context(place, PRIVACY_MEDICAL_RECORD, REACH);
    bool plate = place_context(place, PRIVACY_PLATE, REACH);
    bool bank = place_context(place, PRIVACY_BANK_ACCOUNT, REACH);
    if ((!passport && !license && !record && !plate && !bank) || is_word(place->before) ||
        place->before == '$')
        return false;
    struct token whole, solid;
    bool has_whole = read_token(place, true, &whole), has_solid = read_token(place, false, &solid);
    if (has_solid && passport && solid.digits >= 6 && solid.len <= 10 && solid.letters <= 3) {
        size_t letters = leading_letters(&solid);
        bool us = (solid.len == 9 && solid.digits == 9) ||
                  (solid.len == 9 && letters == 1 && solid.digits == 8);
        return found(place, &solid, us ? PRIVACY_US_PASSPORT : PRIVACY_PASSPORT, 0.85f, out);
    }
    /* Germany's passports are nine of digits and consonants */
    if (has_solid && passport && solid.len == 9 && solid.digits >= 3 && !solid.small)
        return found(place, &solid, PRIVACY_PASSPORT, 0.8f, out);
    if (license && has_solid && is_uk_license(&solid))
        return found(place, &solid, PRIVACY_LICENSE, 0.95f, out);
    if (license && has_whole && whole.digits >= 4 && is_us_license(&whole))
        return found(place, &whole, PRIVACY_US_LICENSE, 0.8f, out);
    if (license && has_solid && solid.digits >= 3 && is_us_license(&solid))
        return found(place, &solid, PRIVACY_US_LICENSE, 0.8f, out);
    if (record && has_whole && whole.digits >= 4 && whole.letters <= 5 && whole.len <= 16)
        return found(place, &whole, PRIVACY_MEDICAL_RECORD, 0.9f, out);
    if (record && has_solid && solid.digits >= 4 && solid.letters <= 5)
        return found(place, &solid, PRIVACY_MEDICAL_RECORD, 0.85f, out);
    if (plate && has_whole && !whole.small && whole.len >= 4 && whole.len <= 9 &&
        whole.digits >= 1 && whole.letters >= 1)
        return found(place, &whole, PRIVACY_PLATE, 0.75f, out);
    if (bank && has_whole && whole.letters == 0 && whole.digits >= 6 && whole.digits <= 17)
        return found(place, &whole, PRIVACY_BANK_ACCOUNT, 0.8f, out);
    return false;
}

/* ISO 9362: four letters of the institution, a country, two of the place, maybe three of the
 * branch. */
bool detect_swift(const struct place *place, size_t word_end, struct privacy_span *out)
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
    size_t bytes = word_end - place->begin;
    if ((bytes != 8 && bytes != 11) || !place_context(place, PRIVACY_SWIFT, REACH) ||
        is_word(place->before) || !read_token(place, false, &token) || token.small ||
        token.end != word_end || leading_letters(&token) < 6)
        return false;
    for (const char *p = countries; *p; p += 2)
        if (p[0] == token.text[4] && p[1] == token.text[5])
            return found(place, &token, PRIVACY_SWIFT, 0.9f, out);
    return false;
}
