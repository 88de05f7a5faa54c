/* The rules of national numbers inside: check digits, dates of birth, ranges that were never given.
 * Each function is one register's, with its source where there is one. They say whether a number
 * can be true, never whether it is somebody's. */
#include "privacy/detect/national_checks.h"

#include <stdint.h>
#include <string.h>

static int at(const char *s, int i)
{
    return s[i] - '0';
}

static int two(const char *s, int i)
{
    return at(s, i) * 10 + at(s, i + 1);
}

static int weighted(const char *s, const char *weights)
{
    int sum = 0;
    for (int i = 0; weights[i]; i++)
        sum += at(s, i) * (weights[i] - '0');
    return sum;
}

static bool is_digit_at(const char *s, int i)
{
    return s[i] >= '0' && s[i] <= '9';
}

static bool all_same(const char *s)
{
    for (int i = 1; s[i]; i++)
        if (s[i] != s[0])
            return false;
    return true;
}

/* Day, month and year of two decimal digits each; a year of 0 to 99. */
static bool check_date(int year, int month, int day)
{
    static const int days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    (void)year; /* two digits do not say whether it leaps */
    return month >= 1 && month <= 12 && day >= 1 && day <= days[month - 1];
}

/* ISO/IEC 7812-1, annex B. */
bool check_luhn(const char *s)
{
    int sum = 0, len = (int)strlen(s);
    for (int i = 0; i < len; i++) {
        int digit = at(s, len - 1 - i);
        if (i % 2 == 1)
            digit = digit > 4 ? 2 * digit - 9 : 2 * digit;
        sum += digit;
    }
    return sum % 10 == 0 && !all_same(s);
}

bool check_iso7064_11_10(const char *s)
{
    int product = 10, len = (int)strlen(s);
    for (int i = 0; i < len - 1; i++) {
        int sum = (at(s, i) + product) % 10;
        product = (sum == 0 ? 10 : sum) * 2 % 11;
    }
    return (11 - product) % 10 == at(s, len - 1);
}

/* NHS Data Dictionary: weights 10 to 2, 11 minus the rest; 10 is not issued. */
bool check_uk_nhs(const char *s)
{
    int sum = 0;
    for (int i = 0; i < 9; i++)
        sum += at(s, i) * (10 - i);
    int check = (11 - sum % 11) % 11;
    return check != 10 && check == at(s, 9) && !all_same(s);
}

/* HMRC NIM39110: letters and pairs that are not used; the suffix is A to D. */
bool check_uk_nino(const char *s)
{
    static const char *const unused[] = {"BG", "GB", "KN", "NK", "NT", "TN", "ZZ"};
    for (unsigned i = 0; i < sizeof unused / sizeof *unused; i++)
        if (strncmp(s, unused[i], 2) == 0)
            return false;
    return strchr("DFIQUV", s[0]) == NULL && strchr("DFIQUVO", s[1]) == NULL && s[8] >= 'A' &&
           s[8] <= 'D';
}

/* Bundeszentralamt für Steuern: no leading zero; of the first ten digits exactly one occurs two or
 * three times. */
bool check_de_tax_id(const char *s)
{
    int counts[10] = {0}, repeated = 0, missing = 0;
    for (int i = 0; i < 10; i++)
        counts[at(s, i)]++;
    for (int i = 0; i < 10; i++) {
        repeated += counts[i] > 1;
        missing += counts[i] == 0;
        if (counts[i] > 3)
            return false;
    }
    return s[0] != '0' && repeated == 1 && missing >= 1 && check_iso7064_11_10(s);
}

/* INSEE: sex, year, month (20..42 and 50..99: unknown), department with 2A and 2B; the key is
 * 97 - n mod 97. */
bool check_fr_nir(const char *s)
{
    uint64_t n = 0;
    int month = two(s, 3);
    if (strchr("123478", s[0]) == NULL || month == 0 || (month > 12 && month < 20) ||
        (month > 42 && month < 50))
        return false;
    for (int i = 0; i < 13; i++) {
        char c = s[i];
        if (i == 6 && (c == 'A' || c == 'B'))
            c = '0';
        else if (c < '0' || c > '9')
            return false;
        n = n * 10 + (uint64_t)(c - '0');
    }
    if (s[6] == 'A')
        n -= 1000000;
    else if (s[6] == 'B')
        n -= 2000000;
    if (s[6] == 'A' || s[6] == 'B') {
        /* 2A counts as 19 and 2B as 18; the digit read was 20 */
        if (s[5] != '2')
            return false;
    }
    return is_digit_at(s, 13) && 97 - (int)(n % 97) == two(s, 13);
}

static bool es_letter(int number, char letter)
{
    return "TRWAGMYFPDXBNJZSQVHLCKE"[number % 23] == letter;
}

bool check_es_nif(const char *s)
{
    int number = 0;
    for (int i = 0; i < 8; i++)
        number = number * 10 + at(s, i);
    return es_letter(number, s[8]) && number > 0;
}

bool check_es_nie(const char *s)
{
    if (s[0] < 'X' || s[0] > 'Z')
        return false;
    int number = s[0] - 'X';
    for (int i = 1; i < 8; i++)
        number = number * 10 + at(s, i);
    return es_letter(number, s[8]);
}

/* Decreto 23 dicembre 1976; digits may be letters where two people would share a code
 * (omocodia). */
bool check_it_fiscal_code(const char *s)
{
    static const uint8_t odd[] = {1,  0,  5, 7, 9, 13, 15, 17, 19, 21, 2,  4,  18,
                                  20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23};
    static const char places[] = {6, 7, 9, 10, 12, 13, 14};
    for (unsigned i = 0; i < sizeof places; i++)
        if (!is_digit_at(s, places[i]) && strchr("LMNPQRSTUV", s[(int)places[i]]) == NULL)
            return false;
    if (strchr("ABCDEHLMPRST", s[8]) == NULL)
        return false;
    int sum = 0;
    for (int i = 0; i < 15; i++) {
        int value = is_digit_at(s, i) ? at(s, i) : s[i] - 'A';
        sum += i % 2 == 0 ? odd[value] : value;
    }
    return sum % 26 == s[15] - 'A';
}

/* Elfproef. */
bool check_nl_bsn(const char *s)
{
    return (weighted(s, "98765432") - at(s, 8)) % 11 == 0 && !all_same(s);
}

bool check_pl_pesel(const char *s)
{
    int month = two(s, 2) % 20;
    return check_date(two(s, 0), month, two(s, 4)) &&
           (weighted(s, "1379137913") + at(s, 10)) % 10 == 0;
}

/* Ten or twelve digits; the day of a co-ordination number is 60 higher. */
bool check_se_personnummer(const char *s)
{
    if (strlen(s) == 12) {
        if (two(s, 0) < 18 || two(s, 0) > 20)
            return false;
        s += 2;
    }
    int day = two(s, 4);
    return check_date(two(s, 0), two(s, 2), day > 60 ? day - 60 : day) && check_luhn(s);
}

/* ddmmyy, century sign, three digits, control character: the nine digits mod 31. */
bool check_fi_hetu(const char *s)
{
    const char *sign = "+-ABCDEFUVWXY";
    const char *rest = s + 6;
    if (!is_digit_at(s, 6)) {
        if (strchr(sign, s[6]) == NULL)
            return false;
        rest = s + 7;
    }
    int n = 0;
    for (int i = 0; i < 6; i++)
        n = n * 10 + at(s, i);
    for (int i = 0; i < 3; i++)
        n = n * 10 + at(rest, i);
    return check_date(two(s, 4), two(s, 2), two(s, 0)) &&
           "0123456789ABCDEFHJKLMNPRSTUVWXY"[n % 31] == rest[3];
}

bool check_dk_cpr(const char *s) /* check digits were given up in 2007 */
{
    return check_date(two(s, 4), two(s, 2), two(s, 0));
}

bool check_no_fnr(const char *s)
{
    int day = two(s, 0) % 40, month = two(s, 2) % 40; /* D- and H-numbers add 40 */
    return check_date(two(s, 4), month, day) && (weighted(s, "376189452") + at(s, 9)) % 11 == 0 &&
           (weighted(s, "5432765432") + at(s, 10)) % 11 == 0;
}

/* 97 less the first nine digits mod 97; a 2 stands before them for those born from 2000 on. */
bool check_be_nn(const char *s)
{
    int64_t n = 0;
    int month = two(s, 2) % 20;
    for (int i = 0; i < 9; i++)
        n = n * 10 + at(s, i);
    if (month > 12 || two(s, 4) > 31)
        return false;
    return 97 - n % 97 == two(s, 9) || 97 - (n + 2000000000) % 97 == two(s, 9);
}

bool check_pt_nif(const char *s)
{
    int check = 11 - weighted(s, "98765432") % 11;
    return strchr("1235689", s[0]) != NULL && (check > 9 ? 0 : check) == at(s, 8);
}

bool check_ch_ahv(const char *s) /* EAN-13 with the country 756 */
{
    return strncmp(s, "756", 3) == 0 && (weighted(s, "131313131313") + at(s, 12)) % 10 == 0;
}

bool check_at_svnr(const char *s)
{
    static const int weights[] = {3, 7, 9, 0, 5, 8, 4, 2, 1, 6};
    int sum = 0;
    for (int i = 0; i < 10; i++)
        sum += at(s, i) * weights[i];
    return s[0] != '0' && sum % 11 == at(s, 3) && two(s, 4) >= 1 && two(s, 4) <= 31;
}

/* A second letter counts nine times its place in the alphabet. */
bool check_ie_pps(const char *s)
{
    int sum = weighted(s, "8765432");
    if (s[8])
        sum += (s[8] - 'A' + 1) * 9;
    return (sum % 23 == 0 ? 'W' : 'A' + sum % 23 - 1) == s[7];
}

bool check_cz_rc(const char *s)
{
    int64_t n = 0;
    int month = two(s, 2) % 50;
    for (int i = 0; i < 10; i++)
        n = n * 10 + at(s, i);
    return check_date(two(s, 0), month > 20 ? month - 20 : month, two(s, 4)) && n % 11 == 0;
}

bool check_ro_cnp(const char *s)
{
    int check = weighted(s, "279146358279") % 11;
    return s[0] != '0' && check_date(two(s, 1), two(s, 3), two(s, 5)) &&
           (check == 10 ? 1 : check) == at(s, 12);
}

bool check_bg_egn(const char *s)
{
    static const int weights[] = {2, 4, 8, 5, 10, 9, 7, 3, 6};
    int sum = 0;
    for (int i = 0; i < 9; i++)
        sum += at(s, i) * weights[i];
    return check_date(two(s, 0), two(s, 2) % 20, two(s, 4)) && sum % 11 % 10 == at(s, 9);
}

bool check_ee_ik(const char *s) /* Estonia and Lithuania */
{
    int check = weighted(s, "1234567891") % 11;
    if (check == 10)
        check = weighted(s, "3456789123") % 11 % 10;
    return strchr("123456", s[0]) != NULL && check_date(two(s, 1), two(s, 3), two(s, 5)) &&
           check == at(s, 10);
}

bool check_gr_amka(const char *s)
{
    return check_date(two(s, 4), two(s, 2), two(s, 0)) && check_luhn(s);
}

bool check_tr_tckn(const char *s)
{
    int odd = 0, even = 0, all = 0;
    for (int i = 0; i < 9; i++)
        *(i % 2 == 0 ? &odd : &even) += at(s, i);
    for (int i = 0; i < 10; i++)
        all += at(s, i);
    return s[0] != '0' && ((odd * 7 - even) % 10 + 10) % 10 == at(s, 9) && all % 10 == at(s, 10);
}

/* Receita Federal: two digits mod 11, a rest below 2 gives 0. */
static bool br_digit(const char *s, int count, int weight)
{
    int sum = 0;
    for (int i = 0; i < count; i++) {
        sum += at(s, i) * weight;
        weight = weight == 2 ? 9 : weight - 1;
    }
    int check = 11 - sum % 11;
    return (check > 9 ? 0 : check) == at(s, count);
}

static bool br_cpf_digit(const char *s, int count)
{
    int sum = 0;
    for (int i = 0; i < count; i++)
        sum += at(s, i) * (count + 1 - i);
    int check = 11 - sum % 11;
    return (check > 9 ? 0 : check) == at(s, count);
}

bool check_br_cpf(const char *s)
{
    return !all_same(s) && br_cpf_digit(s, 9) && br_cpf_digit(s, 10);
}

bool check_br_cnpj(const char *s)
{
    return !all_same(s) && br_digit(s, 12, 5) && br_digit(s, 13, 6);
}

/* Diario Oficial 18-10-2021: values in the alphabet with Ñ after N, weights 18 to 2. */
bool check_mx_curp(const char *s)
{
    int sum = 0;
    if (!check_date(two(s, 4), two(s, 6), two(s, 8)) || strchr("HMX", s[10]) == NULL)
        return false;
    for (int i = 0; i < 17; i++) {
        int value = is_digit_at(s, i) ? at(s, i) : s[i] - 'A' + 10 + (s[i] > 'N');
        sum += value * (18 - i);
    }
    return (10 - sum % 10) % 10 == at(s, 17);
}

/* Seven or eight digits and a digit or K. */
bool check_cl_rut(const char *s)
{
    int len = (int)strlen(s), sum = 0, weight = 2;
    for (int i = len - 2; i >= 0; i--) {
        sum += at(s, i) * weight;
        weight = weight == 7 ? 2 : weight + 1;
    }
    int check = 11 - sum % 11;
    return s[len - 1] == (check == 11 ? '0' : check == 10 ? 'K' : '0' + check);
}

bool check_ar_cuit(const char *s)
{
    static const char *const types[] = {"20", "23", "24", "27", "30", "33", "34"};
    int check = 11 - weighted(s, "5432765432") % 11;
    for (unsigned i = 0; i < sizeof types / sizeof *types; i++)
        if (strncmp(s, types[i], 2) == 0)
            return (check == 11 ? 0 : check) == at(s, 10);
    return false;
}

/* Verhoeff 1969: the dihedral group of the pentagon and a permutation for each place. */
bool check_in_aadhaar(const char *s)
{
    static const uint8_t product[10][10] = {
        {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 2, 3, 4, 0, 6, 7, 8, 9, 5},
        {2, 3, 4, 0, 1, 7, 8, 9, 5, 6}, {3, 4, 0, 1, 2, 8, 9, 5, 6, 7},
        {4, 0, 1, 2, 3, 9, 5, 6, 7, 8}, {5, 9, 8, 7, 6, 0, 4, 3, 2, 1},
        {6, 5, 9, 8, 7, 1, 0, 4, 3, 2}, {7, 6, 5, 9, 8, 2, 1, 0, 4, 3},
        {8, 7, 6, 5, 9, 3, 2, 1, 0, 4}, {9, 8, 7, 6, 5, 4, 3, 2, 1, 0}};
    static const uint8_t permutation[10] = {1, 5, 7, 6, 2, 8, 3, 0, 9, 4};
    uint8_t check = 0;
    if (s[0] < '2')
        return false;
    for (int i = 0; i < 12; i++) {
        uint8_t digit = (uint8_t)at(s, 11 - i);
        for (int k = 0; k < i % 8; k++)
            digit = permutation[digit];
        check = product[check][digit];
    }
    return check == 0 && !all_same(s);
}

bool check_in_pan(const char *s) /* the fourth letter says what the holder is */
{
    return strchr("ABCFGHJLPT", s[3]) != NULL;
}

bool check_au_tfn(const char *s)
{
    return (weighted(s, "14375869") + at(s, 8) * 10) % 11 == 0;
}

bool check_au_medicare(const char *s)
{
    return s[0] >= '2' && s[0] <= '6' && weighted(s, "13791379") % 10 == at(s, 8);
}

bool check_au_abn(const char *s)
{
    static const int weights[] = {10, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19};
    int sum = -weights[0]; /* one is taken from the first digit */
    for (int i = 0; i < 11; i++)
        sum += at(s, i) * weights[i];
    return s[0] != '0' && sum % 89 == 0;
}

bool check_ca_sin(const char *s)
{
    return s[0] != '8' && check_luhn(s); /* 0 is not issued but stands in all examples */
}

bool check_sg_nric(const char *s)
{
    static const int weights[] = {2, 7, 6, 5, 4, 3, 2};
    int sum = s[0] == 'T' || s[0] == 'G' ? 4 : s[0] == 'M' ? 3 : 0;
    for (int i = 0; i < 7; i++)
        sum += at(s, i + 1) * weights[i];
    const char *letters = s[0] == 'S' || s[0] == 'T'   ? "JZIHGFEDCBA"
                          : s[0] == 'F' || s[0] == 'G' ? "XWUTRQPNMLK"
                          : s[0] == 'M'                ? "XWUTRQPNJLK"
                                                       : NULL;
    if (letters == NULL)
        return false;
    /* The M series counts from the other end: its table is the F one with J for M. */
    int index = s[0] == 'M' ? 10 - sum % 11 : sum % 11;
    return (s[0] == 'M' ? "KLJNPQRTUWX" : letters)[index] == s[8];
}

/* Numbers given since October 2020 have no check digit; the date and the century digit stay. */
bool check_kr_rrn(const char *s)
{
    return check_date(two(s, 0), two(s, 2), two(s, 4)) && s[6] >= '1' && s[6] <= '8';
}

/* GB 11643-1999: date of birth with the century, ISO 7064 mod 11-2. */
bool check_cn_id(const char *s)
{
    static const int weights[] = {7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2};
    int sum = 0;
    if (s[0] == '0' || (two(s, 6) != 19 && two(s, 6) != 20) ||
        !check_date(two(s, 8), two(s, 10), two(s, 12)))
        return false;
    for (int i = 0; i < 17; i++)
        sum += at(s, i) * weights[i];
    return "10X98765432"[sum % 11] == s[17];
}

bool check_tw_id(const char *s)
{
    static const int codes[] = {10, 11, 12, 13, 14, 15, 16, 17, 34, 18, 19, 20, 21,
                                22, 35, 23, 24, 25, 26, 27, 28, 29, 32, 30, 31, 33};
    int code = codes[s[0] - 'A'], sum = code / 10 + code % 10 * 9;
    for (int i = 1; i < 9; i++)
        sum += at(s, i) * (9 - i);
    return strchr("1289", s[1]) != NULL && (sum + at(s, 9)) % 10 == 0;
}

/* One letter and six digits; a missing first letter counts as a space (36). */
bool check_hk_id(const char *s)
{
    int sum = 36 * 9 + (s[0] - 'A' + 10) * 8;
    for (int i = 1; i < 7; i++)
        sum += at(s, i) * (8 - i);
    int check = (11 - sum % 11) % 11;
    return s[7] == (check == 10 ? 'A' : '0' + check);
}

bool check_jp_my_number(const char *s)
{
    int rest = weighted(s, "65432765432") % 11;
    return (rest <= 1 ? 0 : 11 - rest) == at(s, 11);
}

bool check_th_tnin(const char *s)
{
    int sum = 0;
    for (int i = 0; i < 12; i++)
        sum += at(s, i) * (13 - i);
    return s[0] >= '1' && s[0] <= '8' && (11 - sum % 11) % 10 == at(s, 12);
}

bool check_za_id(const char *s)
{
    return check_date(two(s, 0), two(s, 2), two(s, 4)) && s[10] <= '2' && check_luhn(s);
}

bool check_il_id(const char *s)
{
    return check_luhn(s);
}

/* IRS: 9xx with a fourth and fifth digit of 50 to 65, 70 to 88, 90 to 92, 94 to 99. */
bool check_us_itin(const char *s)
{
    int group = two(s, 3);
    return s[0] == '9' && group >= 50 && !(group > 65 && group < 70) && group != 89 && group != 93;
}

/* CMS: eleven places; letters but S, L, O, I, B, Z. */
bool check_us_mbi(const char *s)
{
    for (int i = 0; s[i]; i++)
        if (strchr("SLOIBZ", s[i]) != NULL)
            return false;
    return s[0] >= '1' && s[0] <= '9';
}

bool check_us_npi(const char *s) /* Luhn with the prefix 80840 before it */
{
    char full[16] = "80840";
    memcpy(full + 5, s, 11);
    return (s[0] == '1' || s[0] == '2') && check_luhn(full);
}

bool check_dea(const char *s)
{
    int sum = at(s, 2) + at(s, 4) + at(s, 6) + 2 * (at(s, 3) + at(s, 5) + at(s, 7));
    return strchr("ABCDEFGHJKLMPRSTUX", s[0]) != NULL && sum % 10 == at(s, 8);
}

/* Weights 9 to 1; 100 and 101 are written 00. Numbers up to 001-001-998 have no check digits. */
bool check_ru_snils(const char *s)
{
    int check = weighted(s, "987654321") % 101;
    return !all_same(s) && check % 100 == two(s, 9);
}

/* Ten digits of a firm, twelve of a person. */
bool check_ru_inn(const char *s)
{
    static const int weights[] = {3, 7, 2, 4, 10, 3, 5, 9, 4, 6, 8};
    int len = (int)strlen(s), checks = len == 12 ? 2 : 1;
    for (int check = len - checks; check < len; check++) {
        int sum = 0;
        for (int i = 0; i < check; i++)
            sum += at(s, i) * weights[11 - check + i];
        if (sum % 11 % 10 != at(s, check))
            return false;
    }
    return !all_same(s);
}

/* The unchanging part of the health insurance number (SGB V, section 290): the letter counts as two
 * digits, every second digit doubled, its own digits added up. */
bool check_de_kvnr(const char *s)
{
    int letter = s[0] - 'A' + 1, sum = letter / 10;
    for (int i = 0; i < 9; i++) {
        int value = (i == 0 ? letter % 10 : at(s, i)) * (i % 2 == 0 ? 2 : 1);
        sum += value / 10 + value % 10;
    }
    return sum % 10 == at(s, 9);
}

/* Weights 3, 7, 1, of each product the last digit. */
bool check_mx_clabe(const char *s)
{
    static const int weights[] = {3, 7, 1};
    int sum = 0;
    for (int i = 0; i < 17; i++)
        sum += at(s, i) * weights[i % 3] % 10;
    return (10 - sum % 10) % 10 == at(s, 17) && !all_same(s);
}

/* ISO 3779's letters and the digits at its end; the check digit at the ninth place of 49 CFR 565,
 * which America and China ask for. */
bool check_vin(const char *s)
{
    static const char letters[] = "ABCDEFGHJKLMNPRSTUVWXYZ", values[] = "12345678123457923456789";
    static const int weights[] = {8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2};
    int sum = 0;
    for (int i = 0; i < 17; i++) {
        const char *letter = strchr(letters, s[i]);
        if (!is_digit_at(s, i) && (letter == NULL || i >= 13))
            return false;
        sum += (is_digit_at(s, i) ? at(s, i) : values[letter - letters] - '0') * weights[i];
    }
    return s[8] == (sum % 11 == 10 ? 'X' : '0' + sum % 11) && !all_same(s);
}
