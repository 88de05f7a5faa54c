/* Chooses names that replace names, and owns their lists.
 *
 * A reader, and a model, should not stumble over a surrogate: it has the name's script, and the
 * language and gender that its spelling suggests. These are guesses from letters, endings and the
 * commonest given names; a wrong guess only makes a less natural text. */
#include "privacy/pseudonym/surrogate_names.h"

#include "base/bytes/packed.h"
#include "base/core/assertion.h"
#include "base/core/str.h"
#include "base/text/utf8.h"
#include "privacy/pseudonym/word_list.h"
#include "privacy/surrogate_names_table.h" /* generated in the build: surrogate_names_packed */
#include "privacy/text/spell.h"

/* The lists of words/surrogate_names.txt, in its order. These come first. */
enum word_list { WORDS_WOMEN, WORDS_MEN, WORDS_PARTICLES, WORD_LIST_COUNT };

static bool is_among(enum word_list list, struct td_str word)
{
    return word_list_has(packed_string(&surrogate_names_packed, list), word);
}

/* The names of a group, with a space before, between and after them. */
static struct td_str names_of(enum name_group group, enum name_part part)
{
    ASSERT((unsigned)group < NAMES_GROUP_COUNT && (unsigned)part < NAME_PART_COUNT);
    size_t number = WORD_LIST_COUNT + (size_t)group * NAME_PART_COUNT + part;
    struct td_str names = str_from(packed_string(&surrogate_names_packed, number));
    return str_slice(names, 1, names.len - 1);
}

bool surrogate_names_is_particle(struct td_str word)
{
    return is_among(WORDS_PARTICLES, word);
}

static bool ends_with_any(struct td_str folded, const char *const *endings)
{
    for (; *endings; endings++)
        if (str_ends_with(folded, str_from(*endings)))
            return true;
    return false;
}

/* Latin spellings that tell a language: by a letter beyond ASCII, or by the phrase's ending. The
 * first row that fits counts. */
static const struct spelling {
    enum name_group group;
    const char *letters;
    const char *endings[12]; /* the last is NULL */
} spellings[] = {
    {NAMES_SLAVIC,
     "ąćčďęěłńňřśšťůźżžđ",
     {"ski", "ska", "cki", "cka", "wicz", "czyk", "ova", "ovic", "enko", "vic"}},
    {NAMES_TURKISH, "ğış", {NULL}},
    {NAMES_NORDIC, "åæø", {"sson", "ssen", "nsen", "rsen", "gaard", "strom", "qvist"}},
    {NAMES_GERMAN,
     "äöüß",
     {"mann", "stein", "berger", "bauer", "huber", "schmidt", "müller", "meier", "meyer", "maier"}},
    {NAMES_SPANISH, "ñãõíóáú", {"ez", "eira", "ção", "illo"}},
    {NAMES_ITALIAN, "", {"ini", "elli", "etti", "ucci", "ione", "aldi", "ossi"}},
    {NAMES_FRENCH, "èéêëçâôîï", {"eau", "eaux", "ier", "oux", "ois"}},
};

static bool has_any_letter(struct td_str folded, const char *letters)
{
    struct td_str text = str_from(letters);
    for (size_t at = 0; at < text.len;) {
        size_t begin = at;
        (void)utf8_next(text, &at);
        if (str_find(folded, str_slice(text, begin, at), 0) != SIZE_MAX)
            return true;
    }
    return false;
}

static enum name_group latin_group(struct td_str folded)
{
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++)
        if (has_any_letter(folded, spellings[i].letters) ||
            ends_with_any(folded, spellings[i].endings))
            return spellings[i].group;
    return NAMES_ENGLISH;
}

/* NAMES_GROUP_COUNT: Latin, or no script of ours. */
static enum name_group script_group(uint32_t c)
{
    static const struct {
        uint32_t first, last;
        enum name_group group;
    } scripts[] = {
        {0x370, 0x3FF, NAMES_GREEK},       {0x400, 0x52F, NAMES_CYRILLIC},
        {0x5D0, 0x5FF, NAMES_HEBREW},      {0x620, 0x6FF, NAMES_ARABIC},
        {0x900, 0x97F, NAMES_DEVANAGARI},  {0x3041, 0x30FF, NAMES_KANA},
        {0xAC00, 0xD7AF, NAMES_KOREAN},    {0x3400, 0x9FFF, NAMES_CHINESE},
        {0x20000, 0x3134F, NAMES_CHINESE},
    };
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
        if (c >= scripts[i].first && c <= scripts[i].last)
            return scripts[i].group;
    return NAMES_GROUP_COUNT;
}

enum name_group surrogate_names_group_of(struct td_str phrase)
{
    enum name_group group = NAMES_GROUP_COUNT;
    for (struct sign sign = spell_at(phrase, 0, false);
         sign.kind != SIGN_END && group == NAMES_GROUP_COUNT;
         sign = spell_at(phrase, sign.end, false))
        if (sign.kind == SIGN_LETTER)
            group = script_group(sign.c);
    if (group != NAMES_GROUP_COUNT)
        return group;
    struct buf folded;
    buf_init(&folded, phrase.len * 4 + 16);
    spell_fold(phrase, &folded);
    group = latin_group(buf_view(&folded));
    buf_deinit(&folded);
    return group;
}

enum name_part surrogate_names_part_of(struct td_str word)
{
    return is_among(WORDS_WOMEN, word) ? NAME_FEMALE
           : is_among(WORDS_MEN, word) ? NAME_MALE
                                       : NAME_FAMILY;
}

enum name_part surrogate_names_gender_of(struct td_str word)
{
    enum name_part known = surrogate_names_part_of(word);
    if (known != NAME_FAMILY)
        return known;
    struct buf folded;
    buf_init(&folded, 256);
    spell_fold(word, &folded);
    static const char *const female[] = {"a", "elle", "ine", "ette", "а", "я", "α", "η", NULL};
    bool is_female = ends_with_any(buf_view(&folded), female);
    buf_deinit(&folded);
    return is_female ? NAME_FEMALE : NAME_MALE;
}

size_t surrogate_names_count(enum name_group group, enum name_part part)
{
    size_t count = 0;
    struct td_str rest = names_of(group, part), word;
    while (str_next(&rest, ' ', &word))
        count++;
    return count;
}

struct td_str surrogate_names_at(enum name_group group, enum name_part part, size_t index)
{
    struct td_str rest = names_of(group, part), word = {NULL, 0};
    for (size_t i = 0; i <= index; i++)
        if (!str_next(&rest, ' ', &word))
            return (struct td_str){NULL, 0};
    return word;
}

void surrogate_names_invent(uint64_t number, struct buf *out)
{
    static const char *const onsets[] = {"B", "Br", "D", "Dr", "F", "G", "Gr", "H",
                                         "K", "Kl", "L", "M",  "N", "P", "Pr", "R",
                                         "S", "Sk", "T", "Tr", "V", "W", "Z",  "Qu"};
    static const char *const vowels[] = {"a", "e", "i", "o", "u", "ae", "oa"};
    static const char *const middles[] = {"ld", "lm", "lv", "mb", "nd", "ndr", "nv", "rb",
                                          "rk", "rl", "rm", "rv", "sk", "st",  "vr", "zd"};
    static const char *const endings[] = {"an", "aris", "ek", "el",  "eris", "ik",  "ira",
                                          "is", "on",   "or", "oso", "um",   "une", "ys"};
#define PICK(list)                                                                    \
    (buf_append_str(out, str_from((list)[number % (sizeof(list) / sizeof *(list))])), \
     number /= sizeof(list) / sizeof *(list))
    PICK(onsets);
    PICK(vowels);
    PICK(middles);
    PICK(vowels);
    PICK(middles);
    PICK(endings);
#undef PICK
}
