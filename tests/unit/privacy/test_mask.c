/* Masking: nothing that was found is left, and whatever stands around a value, its echo comes
 * back. */
#include "masked.h"

#include "privacy/scan/privacy.h"
#include "privacy/text/escaped.h"

static void test_values_with_unusual_edges_come_back_whole(void)
{
    static const struct {
        const char *text, *value, *left; /* masked; not masked */
    } cases[] = {
        /* The value begins with a quote, its surrogate with a letter. */
        {"Mail to\"jo nas\"@acme-corp.org now.", "acme-corp", "now"},
        {"a@b.com, I\"t t\"@acme-corp.org and x\"u\"@acme-corp.org", "acme-corp", "and"},
        {"-----BEGIN RSA PRIVATE KEY---\n**********************************\n--\n"
         "MIIEpssn 536-22-1234A",
         "536-22", ""},
        /* Of the escape no part may become another one's. */
        {"{\"to\":\"%3Djoe7%40acme-corp.org\"}", "acme-corp", "%3D"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world world;
        REQUIRE(world_init(&world, cases[i].text));
        CHECK(!strstr(world.masked.data, cases[i].value));
        CHECK(strstr(world.masked.data, cases[i].left));
        check_answer(&world, world.masked.data, cases[i].text, false);
        world_deinit(&world);
    }
}

static void test_what_is_found_behind_a_private_key_is_no_part_of_its_frame(void)
{
    /* The end line is broken, so that the finding goes on. */
    static const char *const texts[] = {
        "-----BEGIN RSA PRIVATE KEY-----\nMIICAQEA7bqXyZ01\n-----END RSA PRIVATE\xa0KEY-----\n"
        "12 Baker Street, London NW1 6XE",
        "-----BEGIN RSA PRIVATE KEY-----\nMIICAQEA7bqXyZ01\n-----END RSA PRIVATE KEY-----\n"
        "12 Baker Street, London NW1 6XE",
        "-----BEGIN RSA PRIVATE KEY-----\nMIICAQEA7bqXyZ01\n-----END RSA PRIVATE KEY-- "
        "12 Baker Street, London NW1 6XE"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct world world;
        REQUIRE(world_init(&world, texts[i]));
        CHECK(strstr(world.masked.data, "Baker") == NULL);
        CHECK(strstr(world.masked.data, "MIICAQEA") == NULL);
        check_answer(&world, world.masked.data, texts[i], false);
        world_deinit(&world);
    }
}

static void test_a_value_behind_an_escaped_letter_is_restored(void)
{
    static const char text[] = "{\"t\": \"f\\u00f8dselsnummam9obkBhY21lLmNvbSBepcyCr\"}";
    struct world world;
    REQUIRE(world_init(&world, text));
    CHECK(strstr(world.masked.data, "dselsnumma") == NULL);
    CHECK(strstr(restore(&world, buf_view(&world.masked), 4, false, NULL),
                 "dselsnummam9obkBhY21lLmNvbSBepcyCr") != NULL);
    world_deinit(&world);
}

/* What is joined to a value on either side is read with its surrogate. */
static void test_a_value_whose_surrogate_is_not_known_where_it_stands_comes_back(void)
{
    static const struct {
        const char *text, *value;
    } cases[] = {
        /* With half an escape before it the surrogate's first letters could be another's digits. */
        {"tea vpfl%12user@acme-corp.org now", "acme-corp"},
        {"{\"%7QOIZVSAPFG2W9ysenub2pnu01prapkra\"}", "QOIZVSAPFG2W9"},
        {"\\\\u0041%40acme-corp.org", "acme-corp"},
        /* Letters of one script inside another's, and bytes that are no letters. */
        {"\xef\xbc\x94"
         "b at acme dot com, and \xef\xbc\x94"
         "1111 1111 1111 1111",
         "acme"},
        {"to \xc3n\\u0040acme-corp.org\xff\xff\xff", "acme-corp"},
        /* Frames of a private key that are none. */
        {"-----BEGIN RSA PRIVATE KEY---\\u0041\x10\\n\\u0040acme-corp.co'", "acme-corp"},
        {"-----BEGIN RSA PRIVATE KEY---A\\n\\n\\\\n\\u0022acme-corp-key n\\u0040example.co' and so "
         "on",
         "acme-corp"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world world;
        REQUIRE(world_init(&world, cases[i].text));
        CHECK(!strstr(world.masked.data, cases[i].value));
        struct buf expected;
        buf_init(&expected, 1 << 16);
        for (size_t step = 1; step <= 5; step++) {
            const char *back = restore(&world, buf_view(&world.masked), step, false, NULL);
            buf_clear(&expected);
            escaped_value(view(cases[i].text), &expected);
            struct buf plain;
            buf_init(&plain, 1 << 16);
            escaped_value(view(back), &plain);
            CHECK(str_equal(buf_view(&plain), buf_view(&expected)));
            buf_deinit(&plain);
        }
        buf_deinit(&expected);
        world_deinit(&world);
    }
}

/* The next turn has the text again. */
static void test_a_word_for_a_value_that_would_be_lost_is_the_same_in_the_next_turn(void)
{
    static const char text[] = "tea vpfl%12user@acme-corp.org now";
    struct world world;
    REQUIRE(world_init(&world, text));
    char first[256];
    snprintf(first, sizeof first, "%s", world.masked.data);
    REQUIRE(mask_text(&world, text));
    CHECK(strcmp(world.masked.data, first) == 0);
    world_deinit(&world);
}

/* In a tool call's arguments a key's lines end with \n; an answer may have them so, or as lines. */
static void test_a_private_key_with_escaped_lines_is_restored_both_ways(void)
{
    static const char text[] =
        "{\"key\": \"-----BEGIN RSA PRIVATE KEY-----\\nMIICAQEA7bqXyZ01\\n-----END RSA PRIVATE "
        "KEY-----\\n\"}";
    struct world world;
    REQUIRE(world_init(&world, text));
    CHECK(!strstr(world.masked.data, "MIICAQEA"));
    CHECK(strstr(world.masked.data, "-----BEGIN RSA PRIVATE KEY-----\\n"));
    check_answer(&world, world.masked.data, text, false);
    char answer[512];
    size_t len = 0;
    for (const char *p = world.masked.data; *p && len + 1 < sizeof answer; p++) {
        bool line = p[0] == '\\' && p[1] == 'n';
        answer[len++] = line ? '\n' : *p;
        p += line;
    }
    answer[len] = '\0';
    CHECK(strstr(restore(&world, view(answer), 3, false, NULL), "MIICAQEA7bqXyZ01"));
    world_deinit(&world);
}

/* An escape is what it was: a text that is JSON stays JSON, an address stays one. */
static void test_escapes_inside_a_value_stay_escapes(void)
{
    struct world world;
    REQUIRE(world_init(&world, "?mail=john%40acme-corp.org&q=1"));
    CHECK(strstr(world.masked.data, "%40") && !strstr(world.masked.data, "acme"));
    check_answer(&world, world.masked.data, "?mail=john%40acme-corp.org&q=1", false);
    world_deinit(&world);
}

/* As a tool call's argument a line's end has two bytes and a control character six. */
static void test_control_characters_inside_a_value_are_no_part_of_its_surrogate(void)
{
    static const char text[] =
        "-----BEGIN RSA PRIVATE KEY---\x01\x01\x01\x01\x01\x01\x01\x01MIICAQEA7bqXyZ01";
    static const char wanted[] = "-----BEGIN RSA PRIVATE KEY---\\u0001\\u0001\\u0001\\u0001\\u0001"
                                 "\\u0001\\u0001\\u0001MIICAQEA7bqXyZ01";
    struct world world;
    REQUIRE(world_init(&world, text));
    CHECK(!strchr(world.masked.data, 1));
    check_answer(&world, world.masked.data, text, false);
    check_answer(&world, world.masked.data, wanted, true);
    world_deinit(&world);
}

/* Nothing separates it from what stands before, and with that it is longer than any surrogate's
 * value. */
static void test_what_cannot_be_made_to_come_back_is_refused(void)
{
    size_t refused = 0;
    for (int i = 0; i < 64; i++) {
        struct world world = {.vault = vault_with_key(key), .uses = calloc(1, sizeof *world.uses)};
        struct td_error err = {0};
        struct buf text;
        buf_init(&text, 1 << 16);
        buf_init(&world.masked, 1 << 16);
        for (int k = 0; k < 5000; k++)
            buf_append_char(&text, '\\');
        buf_printf(&text, "%%7QOIZVSAPFG2W9ysenub2pnu%02dprapkra", i);
        struct mask *mask = world_mask(&world, rules);
        enum td_status status = mask_one(mask, buf_view(&text), &world.masked, &world.rest, &err);
        CHECK(status == TD_OK || status == TD_LIMIT);
        refused += status == TD_LIMIT;
        if (status == TD_OK) {
            CHECK(!strstr(world.masked.data, "QOIZVSAPFG"));
            world.table = restore_table_new(world.vault, world.uses);
            check_answer(&world, world.masked.data, text.data, false);
        }
        mask_free(mask);
        buf_deinit(&text);
        world_deinit(&world);
    }
    CHECK(refused > 0 && refused < 64);
}

/* What is encoded has findings in the middle of a word, each of which is the whole word's. */
static void test_a_word_of_a_megabyte_that_is_full_of_findings_is_one_value(void)
{
    static const char unit[] =
        "am9obkBhY21lLmNvbSBpcyBtZSBhbmQgbW9yZSB0ZXh0"; /* john@acme.com is me */
    struct world world = {.vault = vault_with_key(key), .uses = calloc(1, sizeof *world.uses)};
    struct td_error err = {0};
    struct buf text;
    buf_init(&text, 2 << 20);
    buf_init(&world.masked, 2 << 20);
    while (text.len < 1 << 20)
        buf_append_str(&text, STR(unit));
    struct mask *mask = world_mask(&world, rules);
    CHECK(mask_one(mask, buf_view(&text), &world.masked, &world.rest, &err) ==
          TD_LIMIT); /* longer than what is replaced */
    CHECK(vault_count(world.vault) == 0);
    mask_free(mask);
    buf_deinit(&text);
    world_deinit(&world);
}

static void check_gone(const char *text, const char *const values[], size_t count)
{
    struct world world;
    REQUIRE(world_init(&world, text));
    for (size_t i = 0; i < count; i++) {
        if (strstr(world.masked.data, values[i]))
            printf("%s is left in %s\n", values[i], world.masked.data);
        CHECK(!strstr(world.masked.data, values[i]));
    }
    check_answer(&world, world.masked.data, text, false);
    world_deinit(&world);
}

static void test_a_masked_name_in_a_path_a_host_or_a_handle_is_masked_too(void)
{
    static const char *const values[] = {"nnabelle", "owalczyk", "orfmeister"};
    static const char *const texts[] = {
        "Mrs. Annabelle Kowalczyk is ill. See @kowalczyk and #kowalczyk, orbitmail.de/annabelle, "
        "/home/kowalczyk/x, kowalczyk.pdf, user=kowalczyk, x_kowalczyk_final, "
        "kowalczyk@orbitmail.de.",
        "Mr. Dorfmeister called. C:\\Users\\dorfmeister\\a; https://x.com/dorfmeister",
        "mail annabelle.kowalczyk@orbitmail.de. Login annabelle.kowalczyk. Url "
        "https://orbitmail.de/u/annabelle.kowalczyk, /home/kowalczyk/x, @kowalczyk",
        "mail kowalczyk@orbitmail.de, see /home/kowalczyk/x and kowalczyk.pdf"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check_gone(texts[i], values, sizeof values / sizeof *values);
}

static void test_an_ordinary_word_in_a_path_is_no_name(void)
{
    static const char *const texts[] = {
        "Mr. Wolf called. src/wolf/main.c and #wolf",
        "mail sales.team@orbitmail.de, see /home/sales/team and sales.pdf",
        "mail support@orbitmail.de, see /support/x"};
    static const char *const left[] = {"src/wolf/main.c and #wolf",
                                       "/home/sales/team and sales.pdf", "/support/x"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct world world;
        REQUIRE(world_init(&world, texts[i]));
        CHECK(strstr(world.masked.data, left[i]));
        check_answer(&world, world.masked.data, texts[i], false);
        world_deinit(&world);
    }
}

/* The turns stand far apart, so that nothing announces the second date. */
static void test_a_masked_day_is_masked_in_whatever_form_it_is_written(void)
{
    static const char filler[] =
        "\n\nThe weather was good and nobody spoke of anything else.\n\nThen the report came. ";
    static const char *const forms[] = {
        "25 March 1987", "1987-03-25", "March 25, 1987", "25.03.1987", "25-03-1987",
        "03/25/1987",    "25.3.1987",  "25 Mar 1987",    "1987/03/25", "March 25th, 1987"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        char text[512];
        snprintf(text, sizeof text, "DOB: 25/03/1987%s%s%s was when, and 26 March 1987 was not.",
                 filler, filler, forms[i]);
        check_gone(text, &forms[i], 1);
    }
}

static void test_another_day_and_a_day_that_is_not_certain_stay(void)
{
    static const char text[] =
        "DOB: 03/12/1987. The weather was good and nobody spoke of anything else.\n\nThe report "
        "of 26 March 1999 came on 1999-03-27, as version 2503.1987.";
    struct world world;
    REQUIRE(world_init(&world, text));
    CHECK(strstr(world.masked.data, "26 March 1999 came on 1999-03-27, as version 2503.1987"));
    check_answer(&world, world.masked.data, text, false);
    world_deinit(&world);
}

static void test_an_address_and_a_number_are_masked_with_other_separators_too(void)
{
    static const char *const addresses[] = {"84.57.12.33", "84-57-12-33", "84_57_12_33"};
    static const char *const numbers[] = {"00123456", "0012-3456", "0012 3456"};
    static const char text[] = "IP 84.57.12.33. Hosts ip-84-57-12-33.ec2.internal and "
                               "h_84_57_12_33, versions 84-57-12 and 84571233.";
    check_gone(text, addresses, sizeof addresses / sizeof *addresses);
    check_gone("MRN: 00123456, filed as scan-0012-3456.pdf and as 0012 3456.", numbers,
               sizeof numbers / sizeof *numbers);
    struct world world;
    REQUIRE(world_init(&world, text));
    CHECK(strstr(world.masked.data, "versions 84-57-12 and 84571233."));
    char dashes[64];
    snprintf(dashes, sizeof dashes, "ip-%s", surrogate_of(&world, "84.57.12.33"));
    for (char *c = dashes; *c; c++)
        *c = *c == '.' ? '-' : *c;
    CHECK(strstr(world.masked.data, dashes)); /* the host is still the address's */
    world_deinit(&world);
}

/* With rules that want cards alone: what else is found stays, and its class with it. */
static void test_what_is_not_replaced_keeps_its_class(void)
{
    static const struct {
        const char *text;
        enum td_data_class rest;
    } cases[] = {
        {"The weather was good.", TD_CLASS_PUBLIC},
        {"Paid with 4111 1111 1111 1111.", TD_CLASS_PUBLIC},
        {"Paid with 4111 1111 1111 1111 by Mrs. Annabelle Kowalczyk.", TD_CLASS_SENSITIVE},
        {"Mrs. Annabelle Kowalczyk 4111 1111 1111 1111", TD_CLASS_SENSITIVE},
        {"4111 1111 1111 1111 Annabelle Kowalczyk", TD_CLASS_SENSITIVE},
        {"4111 1111 1111 1111, ann.lee@acme-corp.org", TD_CLASS_SENSITIVE},
        {"ann.lee@acme-corp.org:4111111111111111", TD_CLASS_SENSITIVE},
        {"call +1 415 867 5309 about 4111-1111-1111-1111", TD_CLASS_SENSITIVE},
        {"MRN: 00123456, card 4111111111111111", TD_CLASS_RESTRICTED},
    };
    struct tagger *tagger = NULL;
    REQUIRE(tagger_open(NAMES_FILE, &tagger, NULL) == TD_OK);
    struct privacy_scanner *names = privacy_scanner_new(&(struct privacy_scanner_parts){
        .tagger = tagger, .name_min_score = 0.5f, .name_class = TD_CLASS_SENSITIVE});
    const struct mask_rules cards = {.scanner = names, .kinds = {[PRIVACY_CARD] = true}};
    REQUIRE(names);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world world = {.vault = vault_with_key(key), .uses = calloc(1, sizeof *world.uses)};
        struct td_error err = {0};
        buf_init(&world.masked, 1 << 16);
        struct mask *mask = mask_new(world.vault, &cards, world.uses);
        CHECK(mask_one(mask, view(cases[i].text), &world.masked, &world.rest, &err) == TD_OK);
        if (world.rest != cases[i].rest)
            printf("%s: class %d\n", cases[i].text, (int)world.rest);
        CHECK(world.rest == cases[i].rest);
        CHECK(strstr(world.masked.data, "1111111") == NULL);
        mask_free(mask);
        world_deinit(&world);
    }
    privacy_scanner_free(names);
}

/* A name that stays may look like a part of the surrogate beside it: it was found before. */
static void test_a_name_beside_a_replaced_place_keeps_its_class(void)
{
    static const char *const names[] = {"Kowalczyk", "Annabelle", "Dorfmeister", "Nguyen",
                                        "Fatima",    "Svensson",  "Okafor",      "Tanaka"};
    static const char *const places[] = {"Warszawa", "Berlin", "Lisbon", "Osaka", "Lagos", "Porto"};
    static const char *const forms[] = {"%s %s",    "%s, %s",        "Mr. %s %s",     "%s-%s",
                                        "%s of %s", "from %s to %s", "ask %s %s now", "%s/%s"};
    struct tagger *tagger = NULL;
    REQUIRE(tagger_open(NAMES_FILE, &tagger, NULL) == TD_OK);
    struct privacy_scanner *finder = privacy_scanner_new(&(struct privacy_scanner_parts){
        .tagger = tagger, .name_min_score = 0.5f, .name_class = TD_CLASS_SENSITIVE});
    const struct mask_rules only_places = {.scanner = finder, .kinds = {[PRIVACY_PLACE] = true}};
    size_t seen = 0;
    REQUIRE(finder);
    for (size_t i = 0; i < 8 * 6 * 8; i++) {
        char text[128];
        struct privacy_span spans[8];
        const char *name = names[i % 8], *place = places[i / 8 % 6];
        snprintf(text, sizeof text, forms[i / 48], name, place);
        size_t count = privacy_scan(finder, view(text), spans, 8), persons = 0;
        for (size_t k = 0; k < count && k < 8; k++)
            persons += spans[k].kind == PRIVACY_PERSON;
        if (persons == 0)
            continue;
        seen++;
        struct world world = {.vault = vault_with_key(key), .uses = calloc(1, sizeof *world.uses)};
        struct td_error err = {0};
        buf_init(&world.masked, 1 << 16);
        struct mask *mask = mask_new(world.vault, &only_places, world.uses);
        CHECK(mask_one(mask, view(text), &world.masked, &world.rest, &err) == TD_OK);
        if (world.rest != TD_CLASS_SENSITIVE)
            printf("%s: %s\n", text, world.masked.data);
        CHECK(world.rest == TD_CLASS_SENSITIVE);
        mask_free(mask);
        world_deinit(&world);
    }
    CHECK(seen > 100);
    privacy_scanner_free(finder);
}

/* Only mails are replaced here, and a part of the password is a replaced mail's owner. Each row is
 * a secret of which something is left. */
static void test_a_finding_of_which_a_part_is_replaced_is_still_left(void)
{
    static const char *const secrets[] = {
        "x7Q!-nina.kowalczyk-9Qz!", /* its middle is replaced */
        "nina.kowalczyk-9Qz!x7Q!",  /* its beginning */
        "x7Q!9Qz!-nina.kowalczyk",  /* its end */
    };
    struct mask_rules mails = {.classes = {[TD_CLASS_SENSITIVE] = true}};
    for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++) {
        char text[256];
        struct world world;
        struct td_error err = {0};
        snprintf(text, sizeof text, "Mail nina.kowalczyk@acme-corp.com; password: %s now",
                 secrets[i]);
        REQUIRE(world_init(&world, "nothing"));
        struct mask *mask = world_mask(&world, mails);
        buf_clear(&world.masked);
        world.rest = TD_CLASS_PUBLIC;
        REQUIRE(mask_one(mask, view(text), &world.masked, &world.rest, &err) == TD_OK);
        CHECK(strstr(world.masked.data, "kowalczyk") == NULL); /* a part was replaced */
        CHECK(world.rest == TD_CLASS_RESTRICTED);
        mask_free(mask);
        world_deinit(&world);
    }
}

/* Half a card is no card: what stands for it looks like none. */
static void test_a_value_over_two_texts_is_replaced_by_what_looks_like_no_such_value(void)
{
    static const struct {
        const char *first, *second;
        enum privacy_kind kind;
    } cases[] = {
        {"my card is 4111 1111", "1111 1111, please", PRIVACY_CARD},
        {"my card is 4111 1111 1111", "1111, please", PRIVACY_CARD},
        {"my card is 4111", "1111 1111 1111, please", PRIVACY_CARD},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world world = {.vault = vault_with_key(key), .uses = calloc(1, sizeof *world.uses)};
        struct td_error err = {0};
        struct reading reading;
        buf_init(&world.masked, 64);
        reading_init(&reading);
        reading_add(&reading, view(cases[i].first), READING_LINE);
        reading_add(&reading, view(cases[i].second), READING_GOES_ON);
        struct mask *mask = world_mask(&world, rules);
        CHECK(mask_find(mask, &reading, &err) == TD_OK && mask_seal(mask, &err) == TD_OK);
        for (uint32_t k = 0; k < vault_count(world.vault); k++)
            CHECK(vault_at(world.vault, k).kind != cases[i].kind);
        CHECK(vault_count(world.vault) == 2);
        mask_free(mask);
        reading_deinit(&reading);
        world_deinit(&world);
    }
}

int main(void)
{
    struct tagger *tagger = NULL;
    struct td_error err = {0};
    if (tagger_open(NAMES_FILE, &tagger, &err) != TD_OK) {
        printf("%s\n", err.message);
        return 1;
    }
    struct privacy_scanner *with_names = scanner_with(NULL, tagger);
    scanner = with_names;
    RUN(test_values_with_unusual_edges_come_back_whole);
    RUN(test_what_is_found_behind_a_private_key_is_no_part_of_its_frame);
    RUN(test_a_value_behind_an_escaped_letter_is_restored);
    RUN(test_a_value_whose_surrogate_is_not_known_where_it_stands_comes_back);
    RUN(test_a_word_for_a_value_that_would_be_lost_is_the_same_in_the_next_turn);
    RUN(test_a_private_key_with_escaped_lines_is_restored_both_ways);
    RUN(test_escapes_inside_a_value_stay_escapes);
    RUN(test_control_characters_inside_a_value_are_no_part_of_its_surrogate);
    RUN(test_a_word_of_a_megabyte_that_is_full_of_findings_is_one_value);
    RUN(test_what_cannot_be_made_to_come_back_is_refused);
    RUN(test_a_masked_name_in_a_path_a_host_or_a_handle_is_masked_too);
    RUN(test_an_ordinary_word_in_a_path_is_no_name);
    RUN(test_a_masked_day_is_masked_in_whatever_form_it_is_written);
    RUN(test_another_day_and_a_day_that_is_not_certain_stay);
    RUN(test_an_address_and_a_number_are_masked_with_other_separators_too);
    RUN(test_a_value_over_two_texts_is_replaced_by_what_looks_like_no_such_value);
    RUN(test_what_is_not_replaced_keeps_its_class);
    RUN(test_a_name_beside_a_replaced_place_keeps_its_class);
    RUN(test_a_finding_of_which_a_part_is_replaced_is_still_left);
    privacy_scanner_free(with_names);
    return test_finish();
}
