/* Classes of code points, decompositions and lower case, and the sets that privacy reads by. */
#include "base/text/unicode.h"

#include "test.h"

static void test_classes_of_well_known_characters(void)
{
    CHECK(unicode_class_of('a') & UNICODE_LETTER && unicode_class_of('Z') & UNICODE_LETTER);
    CHECK(unicode_class_of('7') == UNICODE_NUMBER);
    CHECK(unicode_class_of(' ') == UNICODE_SPACE);
    CHECK(unicode_class_of('\n') == (UNICODE_SPACE | UNICODE_CONTROL));
    CHECK(unicode_class_of('!') & UNICODE_PUNCTUATION);
    CHECK(!(unicode_class_of('+') & UNICODE_PUNCTUATION)); /* a symbol */
    CHECK(unicode_class_of(0x00E9) & UNICODE_LETTER);      /* é */
    CHECK(unicode_class_of(0x4E16) & UNICODE_LETTER);      /* 世 */
    CHECK(unicode_class_of(0x0664) & UNICODE_NUMBER);      /* Arabic-Indic digit four */
    CHECK(unicode_class_of(0x00BD) & UNICODE_NUMBER);      /* ½ */
    CHECK(unicode_class_of(0x3000) == UNICODE_SPACE);
    CHECK(unicode_class_of(0x85) == (UNICODE_SPACE | UNICODE_CONTROL));
    CHECK(unicode_class_of(0x200B) == UNICODE_CONTROL); /* zero width space is no white space */
    /* A combining mark is no letter. */
    CHECK(unicode_class_of(0x0301) == (UNICODE_MARK | UNICODE_ANY_MARK));
    CHECK(unicode_class_of(0x0940) == UNICODE_ANY_MARK); /* a vowel sign that takes room */
    CHECK(unicode_class_of(0x1F600) == UNICODE_SYMBOL);
    CHECK(unicode_class_of(0x01C5) == (UNICODE_LETTER | UNICODE_UPPER | UNICODE_DEEPSEEK_WORD));
    CHECK(unicode_class_of('a') & UNICODE_LOWER && !(unicode_class_of('a') & UNICODE_UPPER));
}

static void test_code_points_at_and_beyond_the_ends_have_a_class(void)
{
    CHECK(unicode_class_of(0) == UNICODE_CONTROL);
    CHECK(unicode_class_of(0x10FFFF) == 0);
    CHECK(unicode_class_of(0x110000) == 0);
    CHECK(unicode_class_of(UINT32_MAX) == 0);
    CHECK(unicode_class_of(0x1E943) & UNICODE_DEEPSEEK_WORD);
    CHECK(!(unicode_class_of(0x561) &
            UNICODE_DEEPSEEK_WORD)); /* Armenian small letters are not listed */
}

static void check_parts(uint32_t code_point, const uint32_t *expected, size_t count)
{
    uint32_t parts[UNICODE_PARTS_MAX];
    CHECK(unicode_decompose(code_point, parts) == count);
    CHECK(memcmp(parts, expected, count * sizeof(*expected)) == 0);
}

static void test_characters_decompose_fully_and_hangul_by_arithmetic(void)
{
    check_parts('a', (uint32_t[]){'a'}, 1);
    check_parts(0xE9, (uint32_t[]){'e', 0x301}, 2);                   /* é */
    check_parts(0x1F82, (uint32_t[]){0x3B1, 0x313, 0x300, 0x345}, 4); /* in three steps */
    check_parts(0x212B, (uint32_t[]){'A', 0x30A}, 2);                 /* the Angstrom sign */
    check_parts(0xAC00, (uint32_t[]){0x1100, 0x1161}, 2);             /* 가 */
    check_parts(0xD7A3, (uint32_t[]){0x1112, 0x1175, 0x11C2}, 3);
    check_parts(0xD7A4, (uint32_t[]){0xD7A4}, 1);
    check_parts(0x2FA1D, (uint32_t[]){0x2A600}, 1); /* the last of the table */
    check_parts(0x2FA1E, (uint32_t[]){0x2FA1E}, 1);
    check_parts(0xFB01, (uint32_t[]){0xFB01}, 1); /* a ligature is a compatibility matter */
    check_parts(0x110000, (uint32_t[]){0x110000}, 1);
    check_parts(UINT32_MAX, (uint32_t[]){UINT32_MAX}, 1);
}

static void test_lower_case_is_found_in_runs_and_between_them(void)
{
    static const uint32_t pairs[][2] = {
        {'A', 'a'},         {'Z', 'z'},         {'a', 'a'},         {'[', '['},
        {0xC9, 0xE9},       {0xD7, 0xD7},       {0x100, 0x101},     {0x101, 0x101},
        {0x178, 0xFF},      {0x130, 0x130},     {0x3A3, 0x3C3},     {0x410, 0x430},
        {0x1E9E, 0xDF},     {0x10A0, 0x2D00},   {0x13A0, 0xAB70},   {0x24B6, 0x24D0},
        {0x10400, 0x10428}, {0x1E921, 0x1E943}, {0x1E922, 0x1E922}, {UINT32_MAX, UINT32_MAX}};
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        CHECK(unicode_lower(pairs[i][0]) == pairs[i][1]);
}

static void test_every_invisible_character_is_in_its_class(void)
{
    /* The union of the three lists that this set replaced. */
    static const uint32_t once[][2] = {{0xAD, 0xAD},     {0x300, 0x36F},   {0x180E, 0x180E},
                                       {0x200B, 0x200F}, {0x202A, 0x202E}, {0x2060, 0x2064},
                                       {0xFE00, 0xFE0F}, {0xFEFF, 0xFEFF}};
    for (size_t i = 0; i < sizeof once / sizeof *once; i++)
        for (uint32_t c = once[i][0]; c <= once[i][1]; c++)
            CHECK(unicode_is_invisible(c));
    static const uint32_t other[] = {0x61C,   0x115F,  0x17B4,  0x180B,  0x2066,  0x2069,
                                     0x206F,  0x20D0,  0x3164,  0xFFA0,  0xFFF9,  0x1BCA0,
                                     0x1D173, 0xE0000, 0xE0020, 0xE007F, 0xE0100, 0xE0FFF};
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        CHECK(unicode_is_invisible(other[i]));
}

static void test_what_is_drawn_is_not_invisible(void)
{
    for (uint32_t c = 0; c < 0x300; c++)
        CHECK(unicode_is_invisible(c) == (c == 0xAD));
    static const uint32_t drawn[] = {
        0x370,  0x600,  0x61B,  0x61D,   0x6DD,   0x115E,  0x1161,   0x180A,   0x2010,    0x2029,
        0x202F, 0x205F, 0x2070, 0x20DD,  0x20E3,  0x2800,  0x3000,   0x3165,   0xAC00,    0xFE10,
        0xFF01, 0xFFFC, 0xFFFD, 0x1F600, 0xDFFFF, 0xE1000, 0x10FFFF, 0x110000, UINT32_MAX};
    for (size_t i = 0; i < sizeof drawn / sizeof *drawn; i++)
        CHECK(!unicode_is_invisible(drawn[i]));
    for (uint32_t c = 0; c < 0x110000; c++)
        CHECK(!(unicode_is_invisible(c) && (unicode_is_space(c) || unicode_is_dash(c))));
}

static void test_spaces_dashes_and_full_width_forms_beyond_ascii(void)
{
    CHECK(unicode_is_space(0xA0) && unicode_is_space(0x2009) && unicode_is_space(0x3000));
    CHECK(!unicode_is_space(' ') && !unicode_is_space(0x200B) && !unicode_is_space(0x2028));
    for (uint32_t c = 0x80; c < 0x110000; c++) /* White_Space without its line ends */
        CHECK(unicode_is_space(c) ==
              (unicode_class_of(c) & UNICODE_SPACE && c != 0x85 && c != 0x2028 && c != 0x2029));
    CHECK(unicode_is_dash(0x2010) && unicode_is_dash(0x2014) && unicode_is_dash(0x2212));
    CHECK(!unicode_is_dash('-') && !unicode_is_dash(0x2016));
    CHECK(unicode_narrow(0xFF01) == '!' && unicode_narrow(0xFF14) == '4');
    CHECK(unicode_narrow(0xFF5E) == '~' && unicode_narrow(0xFF5F) == 0xFF5F);
    CHECK(unicode_narrow('a') == 'a' && unicode_narrow(0xFF00) == 0xFF00);
}

int main(void)
{
    RUN(test_classes_of_well_known_characters);
    RUN(test_characters_decompose_fully_and_hangul_by_arithmetic);
    RUN(test_lower_case_is_found_in_runs_and_between_them);
    RUN(test_code_points_at_and_beyond_the_ends_have_a_class);
    RUN(test_every_invisible_character_is_in_its_class);
    RUN(test_what_is_drawn_is_not_invisible);
    RUN(test_spaces_dashes_and_full_width_forms_beyond_ascii);
    return test_finish();
}
