/* Masking a request of several texts: in each its values alone are replaced, up to its edges, and
 * what may not be changed keeps its class. */
#include "masked.h"

enum { PARTS = 4 };

/* Of a part: '@' stands for the mail. ":" before it: the value of what stands before it; "!": it is
 * a name or a number, which cannot be replaced. */
#define MAIL "nina.kowalczyk@acme-corp.com"

static void put(struct buf *out, const char *text, const char *mail)
{
    for (; *text; text++)
        if (*text == '@')
            buf_append_str(out, view(mail));
        else
            buf_append_char(out, *text);
    buf_append_char(out, '\0');
}

static void test_each_text_has_its_own_values_replaced_and_nothing_else(void)
{
    static const struct {
        const char *parts[PARTS];
        enum td_data_class rest;
        uint32_t replaced;
    } cases[] = {
        {{"@"}, TD_CLASS_PUBLIC, 1},
        {{"@", "@"}, TD_CLASS_PUBLIC, 2},
        {{"write to @", "or to @ at once", "@ it is"}, TD_CLASS_PUBLIC, 3},
        {{"nothing", "@", "nothing", "@"}, TD_CLASS_PUBLIC, 2},
        {{"@ and @, @", "", "@"}, TD_CLASS_PUBLIC, 4},
        {{"user", ":@", "x"}, TD_CLASS_PUBLIC, 1},
        {{"!@"}, TD_CLASS_SENSITIVE, 0},
        {{"@", "!@"}, TD_CLASS_SENSITIVE, 1},
        {{"!@", "@", "!b"}, TD_CLASS_SENSITIVE, 1},
        {{"!a", "@", "!b"}, TD_CLASS_PUBLIC, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world world = {.vault = vault_with_key(key), .uses = calloc(1, sizeof *world.uses)};
        struct reading reading, masked;
        struct buf texts[PARTS];
        size_t count = 0;
        buf_init(&world.masked, 64);
        reading_init(&reading);
        reading_init(&masked);
        for (; count < PARTS && cases[i].parts[count]; count++) {
            const char *part = cases[i].parts[count];
            buf_init(&texts[count], 1 << 16);
            put(&texts[count], part + strspn(part, "!:"), MAIL);
            (*part == '!' ? reading_add_fixed : reading_add)(
                &reading, view(texts[count].data), *part == ':' ? READING_VALUE : READING_LINE);
        }
        struct mask *mask = world_mask(&world, rules);
        REQUIRE(mask_find(mask, &reading, NULL) == TD_OK && mask_seal(mask, NULL) == TD_OK);
        REQUIRE(mask_write(mask, &masked, &world.rest, NULL) == TD_OK);
        CHECK(world.rest == cases[i].rest && masked.count == reading.count);
        CHECK(mask_replaced(mask)->kinds[PRIVACY_EMAIL] == cases[i].replaced);
        const char *surrogate = surrogate_of(&world, MAIL);
        CHECK((strchr(surrogate, '@') != NULL) == (cases[i].replaced > 0));
        for (size_t k = 0; k < masked.count; k++) {
            struct buf expected;
            struct td_str text = reading_part_text(&masked, k);
            buf_init(&expected, 1 << 16);
            const char *part = cases[i].parts[k];
            put(&expected, part + strspn(part, "!:"), *part == '!' ? MAIL : surrogate);
            if (!str_equal(text, view(expected.data)))
                printf("case %zu: " STR_FMT " instead of %s\n", i, STR_ARG(text), expected.data);
            CHECK(str_equal(text, view(expected.data)));
            CHECK(masked.parts[k].source == reading.parts[k].source);
            buf_deinit(&expected);
        }
        mask_free(mask);
        reading_deinit(&reading);
        reading_deinit(&masked);
        for (size_t k = 0; k < count; k++)
            buf_deinit(&texts[k]);
        world_deinit(&world);
    }
}

/* What the rules name is replaced. What is left: a mail is sensitive, a card restricted. */
static void test_what_the_rules_name_is_replaced_and_the_rest_keeps_its_class(void)
{
#define CARD "4111 1111 1111 1111"
    static const struct {
        struct mask_rules rules;
        bool mail, card;
        enum td_data_class rest;
    } cases[] = {
        {{.strict = false}, false, false, TD_CLASS_RESTRICTED},
        {{.classes = {[TD_CLASS_PUBLIC] = true}}, false, false, TD_CLASS_RESTRICTED},
        {{.classes = {[TD_CLASS_SENSITIVE] = true}}, true, false, TD_CLASS_RESTRICTED},
        {{.classes = {[TD_CLASS_RESTRICTED] = true}}, false, true, TD_CLASS_SENSITIVE},
        {{.kinds = {[PRIVACY_EMAIL] = true}}, true, false, TD_CLASS_RESTRICTED},
        {{.kinds = {[PRIVACY_CARD] = true}}, false, true, TD_CLASS_SENSITIVE},
        {{.classes = {[TD_CLASS_SENSITIVE] = true}, .kinds = {[PRIVACY_CARD] = true}},
         true,
         true,
         TD_CLASS_PUBLIC},
        {{.strict = true, .kinds = {[PRIVACY_CARD] = true}}, false, true, TD_CLASS_SENSITIVE},
        {{.strict = true, .classes = {[TD_CLASS_SENSITIVE] = true}},
         true,
         false,
         TD_CLASS_RESTRICTED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int strict = 0; strict < 2; strict++) {
            struct world world;
            struct mask_rules own = cases[i].rules;
            own.strict |= strict;
            REQUIRE(world_init(&world, "nothing"));
            struct mask *mask = world_mask(&world, own);
            buf_clear(&world.masked);
            world.rest = TD_CLASS_PUBLIC;
            REQUIRE(mask_one(mask, view("Paid with " CARD " by " MAIL "."), &world.masked,
                             &world.rest, NULL) == TD_OK);
            buf_append_char(&world.masked, '\0');
            CHECK((strstr(world.masked.data, MAIL) == NULL) == cases[i].mail);
            CHECK((strstr(world.masked.data, CARD) == NULL) == cases[i].card);
            CHECK(world.rest == cases[i].rest);
            CHECK(mask_replaced(mask)->kinds[PRIVACY_EMAIL] == cases[i].mail);
            CHECK(mask_replaced(mask)->kinds[PRIVACY_CARD] == cases[i].card);
            mask_free(mask);
            world_deinit(&world);
        }
}

/* A number that only a strict scan takes keeps nothing on the device where it is not replaced. */
static void test_what_only_a_strict_scan_finds_is_not_left(void)
{
    static const char text[] = "Number 73920158 it is.";
    for (int wanted = 0; wanted < 2; wanted++) {
        struct world world;
        const struct mask_rules own = {.strict = true, .kinds = {[PRIVACY_ID] = wanted}};
        REQUIRE(world_init(&world, "nothing"));
        struct mask *mask = world_mask(&world, own);
        buf_clear(&world.masked);
        world.rest = TD_CLASS_PUBLIC;
        REQUIRE(mask_one(mask, view(text), &world.masked, &world.rest, NULL) == TD_OK);
        CHECK(str_equal(buf_view(&world.masked), view(text)) == !wanted);
        CHECK(world.rest == TD_CLASS_PUBLIC);
        mask_free(mask);
        world_deinit(&world);
    }
}

/* A number within a word is replaced with the whole word, whatever its letters are made of. */
static void test_a_number_within_a_word_takes_the_word_with_it(void)
{
    static const char *const words[] = {"customerSsn536904399", "M\xc3\xbcnSsn536904399",
                                        "\xc3\xa9xSsn536904399", "M\\u00fcnSsn536904399",
                                        "M\\\\u00fcnSsn536904399"};
    static const char *const around[][2] = {{"", ""}, {"see ", " now"}, {"a=", ";"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        for (size_t k = 0; k < sizeof around / sizeof *around; k++) {
            struct world world;
            char text[128];
            snprintf(text, sizeof text, "%s%s%s", around[k][0], words[i], around[k][1]);
            REQUIRE(world_init(&world, text));
            CHECK(world.rest == TD_CLASS_PUBLIC && vault_count(world.vault) == 1);
            CHECK(strstr(world.masked.data, "536904399") == NULL);
            CHECK(strstr(world.masked.data, "Ssn") == NULL);
            CHECK(str_starts_with(view(world.masked.data), view(around[k][0])));
            CHECK(str_ends_with(view(world.masked.data), view(around[k][1])));
            if (!strchr(words[i], '\\')) /* else without its escapes */
                check_answer(&world, world.masked.data, text, false);
            world_deinit(&world);
        }
}

int main(void)
{
    RUN(test_each_text_has_its_own_values_replaced_and_nothing_else);
    RUN(test_what_the_rules_name_is_replaced_and_the_rest_keeps_its_class);
    RUN(test_what_only_a_strict_scan_finds_is_not_left);
    RUN(test_a_number_within_a_word_takes_the_word_with_it);
    return test_finish();
}
