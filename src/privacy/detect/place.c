/* The words around a place that say what stands there. */
#include "privacy/detect/detect.h"

#include <string.h>

static bool context_in(const char *data, size_t len, const char *const *words)
{
    for (; *words != NULL; words++)
        for (size_t i = 0; i < len; i++) {
            if (i > 0 && ascii_is_alnum((unsigned char)data[i - 1]))
                continue;
            size_t matched = 0;
            while ((*words)[matched] != '\0' && i + matched < len &&
                   ascii_lower((unsigned char)data[i + matched]) == (*words)[matched])
                matched++;
            if ((*words)[matched] == '\0')
                return true;
        }
    return false;
}

bool context_before(struct td_str text, size_t offset, size_t reach, const char *const *words)
{
    size_t begin = offset > reach ? offset - reach : 0;
    return context_in(text.data + begin, offset - begin, words);
}

bool place_context_after(const struct place *place, size_t end, int kind)
{
    size_t at = end;
    for (int i = 0; i < 5; i++) {
        struct word word = word_after(place->text, at, 3);
        if (word.begin == word.end || word.digits)
            return false;
        for (const struct lexicon_entry *e = word.entry; e != NULL; e = lexicon_next(e))
            if (e->context == kind && e->previous == NULL)
                return true;
        at = word.end;
    }
    return false;
}

/* --- words of other scripts that announce a number ---
 *
 * The pass looks up words that begin with an ASCII letter, because most text is made of them. Words
 * of other scripts stand right before what they announce, without a space between in Chinese,
 * Japanese and Thai. So they are looked for from a number backwards, and only where a byte of such
 * a script stands there. */

#define SCRIPT_REACH 24 /* bytes: a word of eight characters of three bytes */

static const char *const phone[] = {"\xe2\x98\x8e", /* U+260E, a telephone */
                                    "\xf0\x9f\x93\x9e",
                                    "\xf0\x9f\x93\xb1",
                                    "電話",
                                    "电话",
                                    "手机",
                                    "手機",
                                    "携帯",
                                    "전화",
                                    "연락처",
                                    "телефон",
                                    "тел",
                                    "моб",
                                    "τηλ",
                                    "τηλέφωνο",
                                    "κινητό",
                                    "טלפון",
                                    "נייד",
                                    "هاتف",
                                    "جوال",
                                    "फोन",
                                    "โทร",
                                    NULL};
static const char *const jp_my_number[] = {"マイナンバー", "個人番号", NULL};
static const char *const cn_id[] = {"身份证", "身份證", NULL};
static const char *const tw_id[] = {"身分證", "身份證", NULL};
static const char *const hk_id[] = {"身份證", NULL};
static const char *const kr_rrn[] = {"주민", NULL};
static const char *const th_id[] = {"ประชาชน", NULL};
static const char *const il_id[] = {"ת.ז", "ת\"ז", "תעודת זהות", NULL};
static const char *const gr_amka[] = {"ΑΜΚΑ", "αμκα", NULL};
static const char *const bg_egn[] = {"ЕГН", "егн", NULL};
static const char *const in_aadhaar[] = {"आधार", NULL};
static const char *const password[] = {"пароль",   "Пароль",      "密码",  "密碼", "パスワード",
                                       "비밀번호", "كلمة المرور", "סיסמה", NULL};
static const char *const pin[] = {"ПИН", "Пин-код", "пин-код", "暗証番号", NULL};
static const char *const ru_snils[] = {"СНИЛС", "снилс", NULL};
static const char *const ru_inn[] = {"ИНН", "инн", NULL};
static const char *const passport[] = {"паспорт", "Паспорт", "ПАСПОРТ", "серия", "Серия", NULL};

static const struct {
    int kind;
    const char *const *words;
} lists[] = {
    {PRIVACY_PHONE, phone},           {PRIVACY_JP_MY_NUMBER, jp_my_number},
    {PRIVACY_CN_ID, cn_id},           {PRIVACY_TW_ID, tw_id},
    {PRIVACY_HK_ID, hk_id},           {PRIVACY_KR_RRN, kr_rrn},
    {PRIVACY_TH_TNIN, th_id},         {PRIVACY_IL_ID, il_id},
    {PRIVACY_GR_AMKA, gr_amka},       {PRIVACY_BG_EGN, bg_egn},
    {PRIVACY_IN_AADHAAR, in_aadhaar}, {PRIVACY_RU_SNILS, ru_snils},
    {PRIVACY_RU_INN, ru_inn},         {PRIVACY_US_PASSPORT, passport},
    {CONTEXT_PASSWORD, password},     {PRIVACY_PIN, pin},
};

/* Is a byte of another script among the eight before the place? */
bool script_before(const struct place *place)
{
    uint64_t before = 0;
    size_t count = place->begin < 8 ? place->begin : 8;
    memcpy(&before, place->text.data + place->begin - count, count);
    return (before & UINT64_C(0x8080808080808080)) != 0;
}

static bool stands_before(const struct place *place, const char *const *words)
{
    size_t begin = place->begin < SCRIPT_REACH ? 0 : place->begin - SCRIPT_REACH;
    bool has[256] = {false}; /* bytes: full-width digits are of another script and of no word */
    for (size_t i = begin; i < place->begin; i++)
        has[(unsigned char)place->text.data[i]] = true;
    for (const char *const *word = words; *word != NULL; word++)
        if (has[(unsigned char)**word] &&
            memmem(place->text.data + begin, place->begin - begin, *word, strlen(*word)) != NULL)
            return true;
    return false;
}

bool script_announces(const struct place *place, int kind)
{
    if (!script_before(place))
        return false;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (lists[i].kind == kind)
            return stands_before(place, lists[i].words);
    return false;
}
