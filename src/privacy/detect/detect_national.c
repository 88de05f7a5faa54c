/* National numbers of people (and some of firms): a row for each form in which one is written. A
 * row fits when the characters have its shape and the check digits hold. Where the shape alone
 * would fit many numbers (nine digits, one check digit), a word near it must announce it. */
#include "base/core/assertion.h"
#include "privacy/detect/detect.h"

#include "base/core/str.h"
#include "privacy/detect/national_checks.h"
#include "privacy/words/lexicon.h"

#include <pthread.h>
#include <string.h>

#define NUMBER_MAX 20 /* characters of the longest number */
#define REACH 64      /* bytes between the announcing word and the number */
#define REACH_ANY 40  /* the same for words that could mean another country's */

/* shape: d a digit, l a letter, n either, ? any sign or letter that is kept (Finland's century),
 * everything else itself. bare: the score without a word near it, 0 when it needs one. */
struct form {
    uint8_t kind;
    const char *shape;
    national_check *check;
    float bare;
};

static const struct form digit_forms[] = {
    {PRIVACY_UK_NHS, "ddd ddd dddd", check_uk_nhs, 0},
    {PRIVACY_UK_NHS, "dddddddddd", check_uk_nhs, 0},
    {PRIVACY_UK_NHS, "ddd-ddd-dddd", check_uk_nhs, 0},
    {PRIVACY_DE_TAX_ID, "ddddddddddd", check_de_tax_id, 0},
    {PRIVACY_DE_TAX_ID, "dd ddd ddd ddd", check_de_tax_id, 0.7f},
    {PRIVACY_DE_TAX_ID, "dd/ddd/ddd/ddd", check_de_tax_id, 0.7f},
    {PRIVACY_FR_NIR, "dddddnndddddddd", check_fr_nir, 0.8f},
    {PRIVACY_FR_NIR, "d dd dd nn ddd ddd dd", check_fr_nir, 0.95f},
    {PRIVACY_FR_NIR, "d dd dd nn ddd ddd-dd", check_fr_nir, 0.95f},
    {PRIVACY_FR_NIR, "dddddnndddddd dd", check_fr_nir, 0.9f},
    {PRIVACY_ES_NIF, "ddddddddl", check_es_nif, 0.8f},
    {PRIVACY_ES_NIF, "dddddddd-l", check_es_nif, 0.85f},
    {PRIVACY_ES_NIF, "dddddddd l", check_es_nif, 0},
    {PRIVACY_ES_NIF, "dd.ddd.ddd-l", check_es_nif, 0.95f},
    {PRIVACY_ES_NIF, "dd.ddd.dddl", check_es_nif, 0.9f},
    {PRIVACY_NL_BSN, "ddddddddd", check_nl_bsn, 0},
    {PRIVACY_NL_BSN, "dddd.dd.ddd", check_nl_bsn, 0.8f},
    {PRIVACY_NL_BSN, "dddd dd ddd", check_nl_bsn, 0},
    {PRIVACY_NL_BSN, "ddd ddd ddd", check_nl_bsn, 0},
    {PRIVACY_PL_PESEL, "ddddddddddd", check_pl_pesel, 0},
    {PRIVACY_SE_PERSONNUMMER, "dddddd-dddd", check_se_personnummer, 0.75f},
    {PRIVACY_SE_PERSONNUMMER, "dddddd+dddd", check_se_personnummer, 0.75f},
    {PRIVACY_SE_PERSONNUMMER, "dddddddd-dddd", check_se_personnummer, 0.9f},
    {PRIVACY_SE_PERSONNUMMER, "dddddddddddd", check_se_personnummer, 0},
    {PRIVACY_SE_PERSONNUMMER, "dddddddddd", check_se_personnummer, 0},
    {PRIVACY_FI_HETU, "dddddd?dddn", check_fi_hetu, 0.9f},
    {PRIVACY_DK_CPR, "dddddd-dddd", check_dk_cpr, 0},
    {PRIVACY_DK_CPR, "dddddddddd", check_dk_cpr, 0},
    {PRIVACY_NO_FNR, "ddddddddddd", check_no_fnr, 0},
    {PRIVACY_NO_FNR, "dddddd ddddd", check_no_fnr, 0.8f},
    {PRIVACY_BE_NN, "dd.dd.dd-ddd.dd", check_be_nn, 0.95f},
    {PRIVACY_BE_NN, "ddddddddddd", check_be_nn, 0},
    {PRIVACY_BE_NN, "dddddd-ddd-dd", check_be_nn, 0.8f},
    {PRIVACY_BE_NN, "dd.dd.dd-ddd-dd", check_be_nn, 0.9f},
    {PRIVACY_PT_NIF, "ddddddddd", check_pt_nif, 0},
    {PRIVACY_PT_NIF, "ddd ddd ddd", check_pt_nif, 0},
    {PRIVACY_CH_AHV, "ddd.dddd.dddd.dd", check_ch_ahv, 0.95f},
    {PRIVACY_CH_AHV, "ddddddddddddd", check_ch_ahv, 0.7f},
    {PRIVACY_AT_SVNR, "dddd dddddd", check_at_svnr, 0},
    {PRIVACY_AT_SVNR, "dddddddddd", check_at_svnr, 0},
    {PRIVACY_AT_SVNR, "dddd-dddddd", check_at_svnr, 0},
    {PRIVACY_IE_PPS, "dddddddl", check_ie_pps, 0.7f},
    {PRIVACY_IE_PPS, "dddddddll", check_ie_pps, 0.75f},
    {PRIVACY_CZ_RC, "dddddd/dddd", check_cz_rc, 0.85f},
    {PRIVACY_CZ_RC, "dddddddddd", check_cz_rc, 0},
    {PRIVACY_RO_CNP, "ddddddddddddd", check_ro_cnp, 0},
    {PRIVACY_BG_EGN, "dddddddddd", check_bg_egn, 0},
    {PRIVACY_HR_OIB, "ddddddddddd", check_iso7064_11_10, 0},
    {PRIVACY_EE_IK, "ddddddddddd", check_ee_ik, 0},
    {PRIVACY_GR_AMKA, "ddddddddddd", check_gr_amka, 0},
    {PRIVACY_TR_TCKN, "ddddddddddd", check_tr_tckn, 0},
    {PRIVACY_BR_CPF, "ddd.ddd.ddd-dd", check_br_cpf, 0.95f},
    {PRIVACY_BR_CPF, "ddddddddddd", check_br_cpf, 0},
    {PRIVACY_BR_CPF, "ddddddddd-dd", check_br_cpf, 0.85f},
    {PRIVACY_BR_CNPJ, "dd.ddd.ddd/dddd-dd", check_br_cnpj, 0.95f},
    {PRIVACY_BR_CNPJ, "dddddddddddddd", check_br_cnpj, 0},
    {PRIVACY_CL_RUT, "dd.ddd.ddd-n", check_cl_rut, 0.9f},
    {PRIVACY_CL_RUT, "d.ddd.ddd-n", check_cl_rut, 0.85f},
    {PRIVACY_CL_RUT, "dddddddd-n", check_cl_rut, 0},
    {PRIVACY_CL_RUT, "ddddddd-n", check_cl_rut, 0},
    {PRIVACY_AR_CUIT, "dd-dddddddd-d", check_ar_cuit, 0.85f},
    {PRIVACY_AR_CUIT, "ddddddddddd", check_ar_cuit, 0},
    {PRIVACY_IN_AADHAAR, "dddd dddd dddd", check_in_aadhaar, 0.75f},
    {PRIVACY_IN_AADHAAR, "dddd-dddd-dddd", check_in_aadhaar, 0.75f},
    {PRIVACY_IN_AADHAAR, "dddddddddddd", check_in_aadhaar, 0},
    {PRIVACY_AU_TFN, "ddd ddd ddd", check_au_tfn, 0},
    {PRIVACY_AU_TFN, "ddddddddd", check_au_tfn, 0},
    {PRIVACY_AU_MEDICARE, "dddd ddddd d", check_au_medicare, 0.75f},
    {PRIVACY_AU_MEDICARE, "dddddddddd", check_au_medicare, 0},
    {PRIVACY_AU_MEDICARE, "dddd-ddddd-d", check_au_medicare, 0.75f},
    {PRIVACY_AU_ABN, "dd ddd ddd ddd", check_au_abn, 0.7f},
    {PRIVACY_AU_ABN, "ddddddddddd", check_au_abn, 0},
    {PRIVACY_CA_SIN, "ddd-ddd-ddd", check_ca_sin, 0.7f},
    {PRIVACY_CA_SIN, "ddd ddd ddd", check_ca_sin, 0},
    {PRIVACY_CA_SIN, "ddddddddd", check_ca_sin, 0},
    {PRIVACY_KR_RRN, "dddddd-ddddddd", check_kr_rrn, 0.8f},
    {PRIVACY_CN_ID, "dddddddddddddddddn", check_cn_id, 0.95f},
    {PRIVACY_CN_ID, "dddddd dddddddd dddn", check_cn_id, 0.95f},
    {PRIVACY_JP_MY_NUMBER, "dddd dddd dddd", check_jp_my_number, 0},
    {PRIVACY_JP_MY_NUMBER, "dddddddddddd", check_jp_my_number, 0},
    {PRIVACY_JP_MY_NUMBER, "dddd-dddd-dddd", check_jp_my_number, 0},
    {PRIVACY_TH_TNIN, "d-dddd-ddddd-dd-d", check_th_tnin, 0.95f},
    {PRIVACY_TH_TNIN, "d dddd ddddd dd d", check_th_tnin, 0.95f},
    {PRIVACY_TH_TNIN, "ddddddddddddd", check_th_tnin, 0},
    {PRIVACY_ZA_ID, "ddddddddddddd", check_za_id, 0},
    {PRIVACY_ZA_ID, "dddddd dddd ddd", check_za_id, 0.75f},
    {PRIVACY_IL_ID, "ddddddddd", check_il_id, 0},
    {PRIVACY_IL_ID, "d-ddddddd-d", check_il_id, 0},
    {PRIVACY_US_ITIN, "ddd-dd-dddd", check_us_itin, 0.9f},
    {PRIVACY_US_ITIN, "ddd dd dddd", check_us_itin, 0.6f},
    {PRIVACY_US_ITIN, "ddddddddd", check_us_itin, 0},
    {PRIVACY_US_MBI, "dlndlndlldd", check_us_mbi, 0.8f},
    {PRIVACY_US_MBI, "dlnd-lnd-lldd", check_us_mbi, 0.9f},
    {PRIVACY_US_NPI, "dddddddddd", check_us_npi, 0},
    {PRIVACY_RU_SNILS, "ddd-ddd-ddd dd", check_ru_snils, 0.95f},
    {PRIVACY_RU_SNILS, "ddddddddddd", check_ru_snils, 0},
    {PRIVACY_RU_SNILS, "ddd-ddd-ddd-dd", check_ru_snils, 0.8f},
    {PRIVACY_RU_INN, "dddddddddddd", check_ru_inn, 0},
    {PRIVACY_RU_INN, "dddddddddd", check_ru_inn, 0},
    {PRIVACY_MX_CLABE, "dddddddddddddddddd", check_mx_clabe, 0},
    {PRIVACY_IMEI, "ddddddddddddddd", check_luhn, 0},
    {PRIVACY_IMEI, "dd-dddddd-dddddd-d", check_luhn, 0.8f},
    {PRIVACY_VIN, "dnnnnnnnnnnnndddd", check_vin, 0.8f},
};
static const struct form letter_forms[] = {
    {PRIVACY_UK_NINO, "llddddddl", check_uk_nino, 0.85f},
    {PRIVACY_UK_NINO, "ll dd dd dd l", check_uk_nino, 0.95f},
    {PRIVACY_UK_NINO, "ll dddddd l", check_uk_nino, 0.9f},
    {PRIVACY_UK_NINO, "ll-dd-dd-dd-l", check_uk_nino, 0.9f},
    {PRIVACY_ES_NIE, "ldddddddl", check_es_nie, 0.9f},
    {PRIVACY_ES_NIE, "l-ddddddd-l", check_es_nie, 0.95f},
    {PRIVACY_ES_NIE, "lddddddd-l", check_es_nie, 0.9f},
    {PRIVACY_IT_FISCAL_CODE, "llllllnnlnnlnnnl", check_it_fiscal_code, 0.95f},
    {PRIVACY_IT_FISCAL_CODE, "lll lll nnlnn lnnnl", check_it_fiscal_code, 0.95f},
    {PRIVACY_MX_CURP, "llllddddddllllllnd", check_mx_curp, 0.95f},
    {PRIVACY_IN_PAN, "lllllddddl", check_in_pan, 0.75f},
    {PRIVACY_SG_NRIC, "ldddddddl", check_sg_nric, 0.9f},
    {PRIVACY_TW_ID, "lddddddddd", check_tw_id, 0.75f},
    {PRIVACY_HK_ID, "ldddddd(n)", check_hk_id, 0.9f},
    {PRIVACY_HK_ID, "lddddddn", check_hk_id, 0},
    {PRIVACY_DEA, "llddddddd", check_dea, 0},
    {PRIVACY_DE_KVNR, "lddddddddd", check_de_kvnr, 0},
    {PRIVACY_VIN, "lnnnnnnnnnnnndddd", check_vin, 0.8f},
};

static bool shape_takes(char shape, int c)
{
    switch (shape) {
    case 'd':
        return ascii_is_digit(c);
    case 'l':
        return ascii_is_letter(c);
    case 'n':
        return ascii_is_alnum(c);
    case '?':
        return ascii_is_letter(c) || c == '-' || c == '+';
    default:
        return c == shape;
    }
}

/* A number that was read, in capitals and without what parts it. */
struct reading {
    char number[NUMBER_MAX + 1];
    size_t end;
    bool capitals; /* all its letters are */
};

/* Reads the shape at the place. */
static bool read_shape(const struct place *place, const char *shape, struct reading *reading)
{
    size_t offset = place->begin, count = 0;
    bool separated = false;
    reading->capitals = true;
    for (; *shape; shape++) {
        struct plain next = plain_at(place->text, offset);
        if (!shape_takes(*shape, next.c))
            return false;
        if (*shape == 'd' || *shape == 'l' || *shape == 'n' || *shape == '?') {
            reading->capitals &= !(next.c >= 'a' && next.c <= 'z');
            reading->number[count++] = (char)(ascii_is_letter(next.c) ? next.c & ~0x20 : next.c);
        } else if (*shape == ' ') {
            separated = true;
        }
        offset = next.end;
    }
    reading->end = offset;
    reading->number[count] = '\0';
    struct plain next = plain_at(place->text, offset);
    if (is_word(next.c))
        return false;
    int after = plain_at(place->text, next.end).c;
    if ((next.c == '-' || next.c == '.' || next.c == '/' || next.c == '+') && ascii_is_alnum(after))
        return false; /* it goes on */
    return !(separated && next.c == ' ' && ascii_is_digit(after));
}

/* Does a word that could mean any country's number stand near, and none for a telephone after it?
 */
static bool announced_as_any(const struct place *place)
{
    return place_context(place, CONTEXT_IDENTITY, REACH_ANY) &&
           place->context->ended[PRIVACY_PHONE] <= place->context->ended[CONTEXT_IDENTITY];
}

static bool try_form(const struct place *place, const struct form *form,
                     const struct reading *reading, struct privacy_span *out)
{
    if (!form->check(reading->number))
        return false;
    bool own = place_context(place, form->kind, REACH) ||
               place_context_after(place, reading->end, form->kind) ||
               script_announces(place, form->kind);
    bool any = !own && announced_as_any(place);
    if (!own && !any && (form->bare == 0 || !reading->capitals))
        return false;
    float score = own ? 1.0f : any ? 0.95f : form->bare;
    if (out->end != 0 && out->score >= score)
        return false;
    *out = (struct privacy_span){
        .kind = form->kind, .begin = place->begin, .end = reading->end, .score = score};
    return true;
}

/* Forms of one shape are read once; shapes are found by the digits that they begin with and what
 * follows these, so that a number tries a handful. */
#define RUN_MAX 18
#define SHAPES_MAX 96
#define FORMS_PER_SHAPE 20
#define SHAPES_PER_RUN 12
enum {
    AFTER_OTHER,
    AFTER_SPACE,
    AFTER_DASH,
    AFTER_DOT,
    AFTER_SLASH,
    AFTER_PLUS,
    AFTER_LETTER,
    AFTER_COUNT
};
struct shape {
    const char *text;
    uint8_t second;                 /* digits after the first sign, 0 any */
    uint8_t forms[FORMS_PER_SHAPE]; /* index + 1, 0 ends */
};
static struct shape shapes[SHAPES_MAX];
static uint8_t by_run[RUN_MAX + 1][AFTER_COUNT][SHAPES_PER_RUN]; /* index + 1, 0 ends */
static pthread_once_t indexed = PTHREAD_ONCE_INIT;
static uint8_t kinds[CONTEXTS_MAX], kind_count; /* that a form has, each once */

static unsigned after_of(int c)
{
    switch (c) {
    case ' ':
        return AFTER_SPACE;
    case '-':
        return AFTER_DASH;
    case '.':
        return AFTER_DOT;
    case '/':
        return AFTER_SLASH;
    case '+':
        return AFTER_PLUS;
    default:
        return ascii_is_letter(c) ? AFTER_LETTER : AFTER_OTHER;
    }
}

/* Appends to a list that ends in zeros. */
static void list_add(uint8_t *list, size_t capacity, size_t index)
{
    size_t i = 0;
    while (list[i] != 0 && list[i] != index + 1)
        i++;
    ASSERT(i + 1 < capacity && index < UINT8_MAX);
    list[i] = (uint8_t)(index + 1);
}

/* May a number go on like this where its shape does so? */
static bool after_fits(unsigned after, char shape)
{
    switch (shape) {
    case '\0':
        return after != AFTER_LETTER;
    case 'l':
    case 'n':
        return after == AFTER_LETTER;
    case '?':
        return after == AFTER_LETTER || after == AFTER_DASH || after == AFTER_PLUS;
    default:
        return after == after_of(shape);
    }
}

/* For numbers of `run` digits, which the shape's next character follows. */
static void index_run(size_t run, char next, size_t shape)
{
    for (unsigned after = 0; after < AFTER_COUNT; after++)
        if (after_fits(after, next))
            list_add(by_run[run][after], SHAPES_PER_RUN, shape);
}

/* Digits after the sign that follows the first ones; 0: other signs may stand there. */
static uint8_t second_of(const char *shape, size_t run)
{
    if (shape[run] == '\0' || strchr(" -./", shape[run]) == NULL)
        return 0;
    size_t second = strspn(shape + run + 1, "d");
    return shape[run + 1 + second] == 'n' ? 0 : (uint8_t)second;
}

/* How a number begins that has letters in front: letters, a sign or none, digits. */
struct opening {
    uint8_t letters, digits;
    char sign;
    bool open; /* it may go on with more of the last ones: the shape's next takes both */
};
#define LETTER_FORMS (sizeof letter_forms / sizeof *letter_forms)
static struct opening openings[LETTER_FORMS];
static uint32_t forms_by_letters[NUMBER_MAX + 2]; /* bit i: form i may begin with n letters */
_Static_assert(LETTER_FORMS <= 32, "a bit each");

static struct opening opening_of(const char *shape)
{
    size_t letters = strspn(shape, "l"), at = letters;
    char sign = shape[at] == ' ' || shape[at] == '-' ? shape[at++] : '\0';
    size_t digits = strspn(shape + at, "d");
    bool open = shape[at + digits] == 'n' || (digits == 0 && shape[at] == 'l');
    return (struct opening){(uint8_t)letters, (uint8_t)digits, sign, open};
}

static void list_kind(uint8_t kind)
{
    if (memchr(kinds, kind, kind_count) == NULL)
        kinds[kind_count++] = kind;
}

static void index_build(void)
{
    size_t count = 0;
    for (size_t i = 0; i < LETTER_FORMS; i++)
        list_kind(letter_forms[i].kind);
    for (size_t i = 0; i < sizeof digit_forms / sizeof *digit_forms; i++)
        list_kind(digit_forms[i].kind);
    for (size_t i = 0; i < LETTER_FORMS; i++) {
        openings[i] = opening_of(letter_forms[i].shape);
        for (size_t letters = openings[i].letters; letters < NUMBER_MAX + 2; letters++)
            if (letters == openings[i].letters || openings[i].open)
                forms_by_letters[letters] |= UINT32_C(1) << i;
    }
    for (size_t i = 0; i < sizeof digit_forms / sizeof *digit_forms; i++) {
        const char *text = digit_forms[i].shape;
        size_t shape = 0, run = strspn(text, "d");
        while (shape < count && strcmp(shapes[shape].text, text) != 0)
            shape++;
        ASSERT(shape < SHAPES_MAX);
        shapes[shape].text = text;
        shapes[shape].second = second_of(text, run);
        count += shape == count;
        list_add(shapes[shape].forms, FORMS_PER_SHAPE, i);
        index_run(run, text[run], shape);
        for (; text[run] == 'n' || text[run] == 'd'; run++) /* 'n' may be a digit too */
            if (text[run + 1] != 'd')
                index_run(run + 1, text[run + 1], shape);
    }
}

void detect_national_init(void)
{
    pthread_once(&indexed, index_build);
}

/* The beginning of the shape that the window can refuse: most forms end here. */
static bool may_fit(const char *shape, const struct window *window)
{
    bool spaced = false;
    size_t i = 0;
    for (; shape[i] != '\0' && shape[i] != 'l' && shape[i] != 'n' && shape[i] != '?'; i++) {
        if (i > window->count ||
            (shape[i] == 'd' ? !ascii_is_digit(window->c[i]) : window->c[i] != shape[i]))
            return false;
        spaced |= shape[i] == ' ';
    }
    if (shape[i] != '\0' || i > window->count)
        return shape[i] != '\0';
    int after = window->c[i]; /* it must not go on, as in a row of numbers */
    return !is_word(after) &&
           !(ascii_is_digit(window->c[i + 1]) &&
             (after == '-' || after == '.' || after == '/' || (spaced && after == ' ')));
}

static bool stands_alone(const struct place *place)
{
    bool piece =
        place->before == ',' ? ascii_is_digit(place->before2) : ascii_is_alnum(place->before2);
    return !is_word(place->before) && place->before != '_' &&
           !((place->before == '.' || place->before == '-' || place->before == '/' ||
              place->before == ',') &&
             piece);
}

/* The characters of a shape in groups of any size, with one kind of sign between them. */
static bool read_groups(const struct place *place, const char *shape, struct reading *reading)
{
    size_t offset = place->begin, count = 0;
    int sign = 0;
    for (; *shape; shape++) {
        if (strchr("dln?", *shape) == NULL)
            continue;
        struct plain next = plain_at(place->text, offset);
        if (count > 0 && !shape_takes(*shape, next.c) && next.c > 0 && next.c < PLAIN_OTHER &&
            strchr(" -./", next.c) != NULL && (sign == 0 || sign == next.c)) {
            sign = next.c;
            next = plain_at(place->text, next.end);
        }
        if (!shape_takes(*shape, next.c))
            return false;
        reading->number[count++] = (char)(ascii_is_letter(next.c) ? next.c & ~0x20 : next.c);
        offset = next.end;
    }
    reading->end = offset;
    reading->number[count] = '\0';
    struct plain next = plain_at(place->text, offset);
    return !is_word(next.c) &&
           (next.c != '-' || !ascii_is_alnum(plain_at(place->text, next.end).c));
}

/* A number whose own word stands before it may be written as one likes, and other numbers may
 * follow: "NHS number 943 476 591 9 42 years old". */
static bool find_announced(const struct place *place, const struct form *forms, size_t form_count,
                           struct privacy_span *out)
{
    struct reading reading;
    bool announced = place_context(place, CONTEXT_NATIONAL, REACH), script = script_before(place);
    for (size_t k = 0; (announced || script) && k < kind_count; k++) {
        bool nearest =
            announced && place->context->ended[kinds[k]] == place->context->ended[CONTEXT_NATIONAL];
        if (!nearest && !(script && script_announces(place, kinds[k])))
            continue;
        for (size_t i = 0; i < form_count; i++) {
            if (forms[i].kind != kinds[k] || !read_groups(place, forms[i].shape, &reading) ||
                !forms[i].check(reading.number))
                continue;
            *out = span_of(kinds[k], place->begin, reading.end, 1.0f);
            return true;
        }
    }
    return false;
}

static bool find_number(const struct place *place, struct privacy_span *out)
{
    const struct window *window = place->window;
    bool found = false;
    *out = (struct privacy_span){0};
    if (window->run > RUN_MAX)
        return false;
    const uint8_t *shape = by_run[window->run][after_of(window->c[window->run])];
    if (!stands_alone(place))
        return false;
    size_t second = window->run < window->count ? window_digits(window, window->run + 1) : 0;
    for (; *shape != 0; shape++) {
        const struct shape *asked = &shapes[*shape - 1];
        struct reading reading;
        if ((asked->second != 0 && asked->second != second) || !may_fit(asked->text, window) ||
            !read_shape(place, asked->text, &reading))
            continue;
        for (const uint8_t *form = asked->forms; *form != 0; form++)
            found |= try_form(place, &digit_forms[*form - 1], &reading, out);
    }
    return found ||
           find_announced(place, digit_forms, sizeof digit_forms / sizeof *digit_forms, out);
}

static struct opening read_opening(const struct place *place)
{
    struct opening opening = {0};
    struct plain next = plain_at(place->text, place->begin);
    for (; ascii_is_letter(next.c) && opening.letters <= NUMBER_MAX; opening.letters++)
        next = plain_at(place->text, next.end);
    if (next.c == ' ' || next.c == '-') {
        opening.sign = (char)next.c;
        next = plain_at(place->text, next.end);
    }
    for (; ascii_is_digit(next.c) && opening.digits <= NUMBER_MAX; opening.digits++)
        next = plain_at(place->text, next.end);
    return opening;
}

static bool opening_fits(const struct opening *asked, const struct opening *own)
{
    if (asked->open && asked->sign == '\0' && asked->digits == 0)
        return own->letters >= asked->letters;
    return own->letters == asked->letters && own->sign == asked->sign &&
           (own->digits == asked->digits || (asked->open && own->digits >= asked->digits));
}

/* A short word of letters alone begins a number when digits follow, or letters after three. */
static bool goes_on_as_number(const struct place *place)
{
    struct td_str text = place->text;
    size_t len = place->run_end - place->begin;
    int next = place->run_end + 1 < text.len ? (unsigned char)text.data[place->run_end + 1] : 0;
    return (place->shape & WORD_HAS_DIGIT) || len == 0 || len > 3 || next >= 0x80 ||
           (len == 3 ? ascii_is_letter(next) : ascii_is_digit(next));
}

static bool find_word(const struct place *place, struct privacy_span *out)
{
    bool found = false;
    struct reading reading;
    if (!goes_on_as_number(place))
        return false;
    struct opening opening = read_opening(place);
    *out = (struct privacy_span){0};
    if (!stands_alone(place))
        return false;
    for (uint32_t left = forms_by_letters[opening.letters]; left != 0; left &= left - 1) {
        size_t i = (size_t)__builtin_ctz(left);
        if (opening_fits(&openings[i], &opening) &&
            read_shape(place, letter_forms[i].shape, &reading))
            found |= try_form(place, &letter_forms[i], &reading, out);
    }
    return found || find_announced(place, letter_forms, LETTER_FORMS, out);
}

const struct detector detector_national_number = {
    .kinds = {KINDS_NATIONAL, KINDS_END},
    .triggers = ON(NUMBER),
    .any = NUMBER_7_DIGITS | NUMBER_LETTER | NUMBER_PLUS,
    .find = find_number,
};

const struct detector detector_national_word = {
    .kinds = {KINDS_NATIONAL, KINDS_END},
    .triggers = ON(WORD),
    .any = WORD_NUMBERED,
    .find = find_word,
};
