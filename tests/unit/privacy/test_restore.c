/* Masking and restoring together: what an answer echoes comes back byte for byte wherever the
 * stream is cut, and so does what it spells otherwise. */
#include "masked.h"

#include "base/crypto/rng.h"
#include "privacy/pseudonym/date_forms.h"
#include "privacy/text/spell.h"

static const char letter[] =
    "Dear Dr. John Smith,\n\nMary Smith (mary.smith@acme-corp.com, +1 (415) 867-5309) paid with "
    "card "
    "4111 1111 1111 1111 and IBAN DE89 3704 0044 0532 0130 00 from 81.2.69.160. Her SSN is "
    "536-22-1234. J. Smith lives at 221 Baker Street. Write to John.Smith@ACME-corp.com; the key "
    "is "
    "sk-abcdefghijklmnopqrstuvwx1234567890ABCD. Call 415-867-5309. SMITH out.";

static void test_nothing_private_is_left_in_a_masked_text(void)
{
    struct world world;
    REQUIRE(world_init(&world, letter));
    static const char *const private[] = {"mary.smith", "acme",      "867-5309", "4111",
                                          "DE89",       "3704",      "81.2.69",  "536-22",
                                          "Baker",      "sk-abcdef", "Smith",    "SMITH"};
    for (size_t i = 0; i < sizeof private / sizeof *private; i++) {
        if (strstr(world.masked.data, private[i]))
            printf("%s in: %s\n", private[i], world.masked.data);
        CHECK(strstr(world.masked.data, private[i]) == NULL);
    }
    CHECK(world.rest == TD_CLASS_PUBLIC);
    world_deinit(&world);
}

static void test_an_echo_comes_back_byte_for_byte_at_every_cut(void)
{
    struct world world;
    REQUIRE(world_init(&world, letter));
    struct td_str masked = buf_view(&world.masked);
    struct restore_counts counts;
    CHECK(strcmp(restore(&world, masked, SIZE_MAX, false, &counts), letter) == 0);
    CHECK(counts.seen == counts.restored && counts.restored >= 12);
    for (size_t step = 1; step <= 40; step++)
        CHECK(strcmp(restore(&world, masked, step, false, NULL), letter) == 0);
    struct restorer restorer;
    for (size_t cut = 0; cut <= masked.len; cut++) { /* in two pieces */
        struct buf out;
        buf_init(&out, 1 << 20);
        REQUIRE(restorer_init(&restorer, world.table, false));
        restorer_feed(&restorer, str_slice(masked, 0, cut), &out);
        restorer_feed(&restorer, str_slice(masked, cut, masked.len), &out);
        restorer_end(&restorer, &out);
        CHECK(strcmp(out.data, letter) == 0);
        restorer_deinit(&restorer);
        buf_deinit(&out);
    }
    world_deinit(&world);
}

static void test_other_spellings_of_a_name_are_restored(void)
{
    struct world world;
    char answer[1024], upper[64] = "", lower[64] = "";
    REQUIRE(world_init(&world, "I met John Smith yesterday."));
    const char *first = surrogate_of(&world, "John"), *last = surrogate_of(&world, "Smith");
    REQUIRE(*first && *last);
    for (size_t i = 0; last[i] && i < 60; i++) {
        upper[i] = (char)(last[i] & ~0x20);
        lower[i] = (char)(last[i] | 0x20);
    }
    snprintf(answer, sizeof answer,
             "**%s** _%s_ %s's %ss' `%s`, %s\n%s; %s %s. (%s) \"%s\" %s\xe2\x80\x99s %sman %s",
             first, last, last, last, last, first, last, upper, lower, last, last, last, last,
             last);
    char expected[1024];
    snprintf(
        expected, sizeof expected,
        "**John** _Smith_ Smith's Smiths' `Smith`, John\nSmith; SMITH smith. (Smith) \"Smith\" "
        "Smith\xe2\x80\x99s %sman Smith",
        last);
    check_answer(&world, answer, expected, false);
    struct restore_counts counts;
    (void)restore(&world, view(answer), SIZE_MAX, false, &counts);
    CHECK(counts.seen == counts.restored + 1); /* the word that only begins like one */
    world_deinit(&world);
}

static void test_numbers_are_restored_with_the_answers_separators(void)
{
    struct world world;
    REQUIRE(world_init(&world, "card 4111 1111 1111 1111, call (415) 867-5309"));
    const char *card = surrogate_of(&world, "4111 1111 1111 1111");
    const char *phone = surrogate_of(&world, "(415) 867-5309");
    char digits[32] = "", dashed[32] = "", plain[32] = "", answer[256];
    size_t n = 0, m = 0;
    for (size_t i = 0; card[i]; i++) {
        dashed[i] = card[i] == ' ' ? '-' : card[i];
        if (card[i] != ' ')
            digits[n++] = card[i];
    }
    for (size_t i = 0; phone[i]; i++)
        if (phone[i] >= '0' && phone[i] <= '9')
            plain[m++] = phone[i];
    snprintf(answer, sizeof answer, "%s %s %s **%s** tel:%s", digits, dashed, card, card, plain);
    check_answer(&world, answer,
                 "4111111111111111 4111-1111-1111-1111 4111 1111 1111 1111 **4111 1111 1111 1111** "
                 "tel:4158675309",
                 false);
    snprintf(answer, sizeof answer, "%s1 x%s", digits, digits); /* another number, another word */
    check_answer(&world, answer, answer, false);
    world_deinit(&world);
}

static void test_json_escapes_are_read_and_written(void)
{
    struct world world;
    REQUIRE(world_init(
        &world,
        "\xd0\x98\xd0\xb2\xd0\xb0\xd0\xbd \xd0\x9f\xd0\xb5\xd1\x82\xd1\x80\xd0\xbe\xd0\xb2, "
        "e-mail ivan@acme.ru, 12 Baker Street"));
    const char *mail = surrogate_of(&world, "ivan@acme.ru");
    char answer[512], expected[512];
    snprintf(answer, sizeof answer, "{\"to\":\"%s\",\"n\":\"a\\/%s\\n%s\"}", mail, mail, mail);
    snprintf(expected, sizeof expected, "{\"to\":\"%s\",\"n\":\"a\\/%s\\n%s\"}", "ivan@acme.ru",
             "ivan@acme.ru", "ivan@acme.ru");
    check_answer(&world, answer, expected, true);
    /* A name in \uXXXX, as Python writes it. */
    const char *last = surrogate_of(&world, "\xd0\x9f\xd0\xb5\xd1\x82\xd1\x80\xd0\xbe\xd0\xb2");
    if (*last) {
        size_t at = 0, n = 0;
        while (last[at]) {
            struct sign sign = spell_at(view(last), at, false);
            n += (size_t)snprintf(answer + n, sizeof answer - n, "\\u%04x",
                                  sign.upper ? spell_upper(sign.c) : sign.c);
            at = sign.end;
        }
        check_answer(&world, answer, "\xd0\x9f\xd0\xb5\xd1\x82\xd1\x80\xd0\xbe\xd0\xb2", true);
    }
    world_deinit(&world);
}

/* What looks like an escape of JSON may be a path. */
static void test_a_name_behind_a_backslash_is_masked_and_restored(void)
{
    struct world world;
    static const char *const names[] = {"Nina", "Rita", "Tara"};
    for (size_t i = 0; i < 3; i++) {
        char text[256], answer[256], expected[256];
        snprintf(text, sizeof text, "Dear %s Kowalska, see C:\\Users\\%s\\t and C:\\n%s.", names[i],
                 names[i], names[i]);
        REQUIRE(world_init(&world, text));
        CHECK(strstr(world.masked.data, names[i]) == NULL);
        check_answer(&world, world.masked.data, text, false);
        const char *name = surrogate_of(&world, names[i]);
        REQUIRE(*name);
        /* A line's end of a program that stands in the text. */
        snprintf(answer, sizeof answer, "print(\"a\\n%s\\n\") \\t%s \\\\n%s", name, name, name);
        snprintf(expected, sizeof expected, "print(\"a\\n%s\\n\") \\t%s \\\\n%s", names[i],
                 names[i], names[i]);
        check_answer(&world, answer, expected, false);
        check_answer(&world, answer, expected, true);
        world_deinit(&world);
    }
}

static void test_only_a_literal_backslash_makes_a_letter_of_jsons_n(void)
{
    struct world world = {.vault = vault_with_key(key), .uses = calloc(1, sizeof *world.uses)};
    const struct vault_entry entry = {.kind = PRIVACY_PERSON,
                                      .form = SURROGATE_WORD,
                                      .surrogate = STR("Nora"),
                                      .original = STR("Ada")};
    buf_init(&world.masked, 64);
    REQUIRE(vault_put(world.vault, &entry, NULL) == TD_OK);
    REQUIRE(vault_uses_all(world.vault, world.uses, NULL) == TD_OK);
    world.table = restore_table_new(world.vault, world.uses);
    check_answer(&world, "{\"p\":\"C:\\\\nora\\\\x\"}", "{\"p\":\"C:\\\\ada\\\\x\"}", true);
    check_answer(&world, "{\"p\":\"one\\nora\"}", "{\"p\":\"one\\nora\"}", true); /* ora */
    check_answer(&world, "C:\\nora\\x", "C:\\ada\\x", false);
    check_answer(&world, "a\\nNora, \\\\nNora", "a\\nAda, \\\\nAda", true);
    check_answer(&world, "annora \\xnora", "annora \\xnora", false);
    world_deinit(&world);
}

static void world_of_dates(struct world *world, const char *const pairs[][2], size_t count)
{
    *world = (struct world){.vault = vault_with_key(key), .uses = calloc(1, sizeof *world->uses)};
    buf_init(&world->masked, 64);
    for (size_t i = 0; i < count; i++) {
        const struct vault_entry entry = {.kind = PRIVACY_DATE,
                                          .form = surrogate_form_of(PRIVACY_DATE),
                                          .surrogate = view(pairs[i][0]),
                                          .original = view(pairs[i][1])};
        CHECK(vault_put(world->vault, &entry, NULL) == TD_OK);
    }
    CHECK(vault_uses_all(world->vault, world->uses, NULL) == TD_OK);
    world->table = restore_table_new(world->vault, world->uses);
}

static void test_a_date_that_is_written_otherwise_is_restored_where_the_day_is_certain(void)
{
    struct world world;
    static const char *const one[][2] = {{"12 March 1987", "2 July 1985"}};
    world_of_dates(&world, one, 1);
    check_answer(&world, "1987-03-12, 12.03.1987; 03/12/1987 3/12/1987 (12.3.1987) 1987/03/12!",
                 "1985-07-02, 02.07.1985; 07/02/1985 7/2/1985 (2.7.1985) 1985/07/02!", false);
    check_answer(&world,
                 "12 March 1987. March 12, 1987; Mar 12, 1987, 12 Mar 1987, March 12th, 1987.",
                 "2 July 1985. July 2, 1985; Jul 2, 1985, 2 Jul 1985, July 2nd, 1985.", false);
    check_answer(&world, "{\"born\":\"1987-03-12\"}", "{\"born\":\"1985-07-02\"}", true);
    check_answer(&world, "1987-03-1 11987-03-12 1987-03-123 March 1987 in 1987",
                 "1987-03-1 11987-03-12 1987-03-123 March 1987 in 1987", false);
    world_deinit(&world);
    /* Day and month the other way round: 03/12 is of both and of neither. */
    static const char *const both[][2] = {{"12 March 1987", "2 July 1985"},
                                          {"3 December 1987", "25 March 1986"}};
    world_of_dates(&world, both, 2);
    check_answer(&world, "03/12/1987 12/3/1987 12.03.1987 1987-03-12 1987-12-03",
                 "03/12/1987 12/3/1987 02.07.1985 1985-07-02 1986-03-25", false);
    world_deinit(&world);
    /* Nobody knows whether that is April or March; and this has no year. */
    static const char *const unsure[][2] = {{"05/20/1985", "03/04/1987"}, {"12 May", "1 April"}};
    world_of_dates(&world, unsure, 2);
    check_answer(&world, "1985-05-20, May 20, 1985; 05/20/1985. 12 May",
                 "1985-05-20, May 20, 1985; 03/04/1987. 1 April", false);
    world_deinit(&world);
}

static void test_a_value_with_quotes_is_escaped_in_json(void)
{
    struct world world = {.vault = vault_with_key(key), .uses = calloc(1, sizeof *world.uses)};
    struct td_error err = {0};
    buf_init(&world.masked, 4096);
    REQUIRE(vault_replace(world.vault, PRIVACY_CUSTOM, STR("pro\"ject\nAlpha\\x12"), NULL,
                          world.uses, &world.masked, &err) == TD_OK);
    world.table = restore_table_new(world.vault, world.uses);
    CHECK(strcmp(restore(&world, buf_view(&world.masked), 1, true, NULL),
                 "pro\\\"ject\\nAlpha\\\\x12") == 0);
    CHECK(strcmp(restore(&world, buf_view(&world.masked), 1, false, NULL),
                 "pro\"ject\nAlpha\\x12") == 0);
    world_deinit(&world);
}

static void test_only_what_may_be_a_surrogates_beginning_is_held_back(void)
{
    struct world world;
    struct restorer restorer;
    struct buf out;
    REQUIRE(world_init(&world, "Ask John Smith."));
    const char *last = surrogate_of(&world, "Smith");
    REQUIRE(restorer_init(&restorer, world.table, false));
    buf_init(&out, 4096);
    restorer_feed(&restorer, STR("The answer is this "), &out);
    CHECK(restorer_held(&restorer) == 0);
    restorer_feed(&restorer, str_slice(view(last), 0, 3), &out);
    CHECK(restorer_held(&restorer) == 3);
    restorer_feed(&restorer, STR("!"), &out); /* not a surrogate after all */
    CHECK(restorer_held(&restorer) == 0);
    restorer_feed(&restorer, view(" "), &out);
    restorer_feed(&restorer, view(last), &out); /* its end is not known yet */
    CHECK(restorer_held(&restorer) == strlen(last));
    restorer_feed(&restorer, STR(" "), &out);
    CHECK(restorer_held(&restorer) == 0);
    CHECK(str_ends_with(buf_view(&out), STR(" Smith ")));
    restorer_deinit(&restorer);
    buf_deinit(&out);
    world_deinit(&world);
}

static void test_a_surrogate_is_never_a_word_of_the_text(void)
{
    struct world world;
    REQUIRE(world_init(&world, "Ask John Smith."));
    char last[64];
    snprintf(last, sizeof last, "%s", surrogate_of(&world, "Smith"));
    /* The next turn has that very word as somebody's own. */
    char text[256];
    snprintf(text, sizeof text, "Ask John Smith about the town of %s, also about the %s.", last,
             last);
    memset(world.uses->seen, 0, sizeof world.uses->seen);
    world.uses->count = 0;
    REQUIRE(mask_text(&world, text));
    CHECK(strcmp(restore(&world, buf_view(&world.masked), SIZE_MAX, false, NULL), text) == 0);
    world_deinit(&world);
}

static void test_the_same_value_keeps_its_surrogate(void)
{
    struct world world;
    char first[64];
    REQUIRE(world_init(&world, "Mail ann.lee@acme.com now"));
    snprintf(first, sizeof first, "%s", surrogate_of(&world, "ann.lee@acme.com"));
    REQUIRE(mask_text(&world, "Again: ann.lee@acme.com, and bob@acme.com"));
    CHECK(strstr(world.masked.data, first) != NULL);
    CHECK(strstr(world.masked.data, "bob@") == NULL);
    world_deinit(&world);
}

static void test_strict_rules_replace_unknown_numbers_too(void)
{
    struct world world;
    REQUIRE(world_init(&world, "Case C1203345678 of ann@acme.com"));
    CHECK(strstr(world.masked.data, "C1203345678") != NULL);
    world_deinit(&world);
    static const struct mask_rules strict = {.strict = true,
                                             .classes = {[TD_CLASS_SENSITIVE] = true}};
    struct td_error err = {0};
    const struct td_str text = view("Case C1203345678 of ann@acme.com");
    REQUIRE(world_init(&world, "nothing"));
    struct mask *mask = world_mask(&world, strict);
    buf_clear(&world.masked);
    REQUIRE(mask_one(mask, text, &world.masked, &world.rest, &err) == TD_OK);
    CHECK(strstr(world.masked.data, "C1203345678") == NULL);
    CHECK(world.rest == TD_CLASS_PUBLIC);
    mask_free(mask);
    restore_table_free(world.table);
    world.table = restore_table_new(world.vault, world.uses);
    CHECK(strstr(restore(&world, buf_view(&world.masked), 1, false, NULL), "C1203345678") != NULL);
    world_deinit(&world);
}

/* A tool call's arguments in a text: what is escaped is replaced whole, and no escape is cut in
 * two. */
static void test_escaped_values_are_masked_whole(void)
{
    struct world world;
    REQUIRE(world_init(&world, "{\"to\": \"ann\\u0040acme.com\", \"note\": \"line\\nbob@acme.com\\n"
                               "\\u0020carl@acme.com\"} or plain ann@acme.com"));
    const char *masked = world.masked.data;
    CHECK(strstr(masked, "ann") == NULL && strstr(masked, "bob") == NULL);
    CHECK(strstr(masked, "carl") == NULL && strstr(masked, "acme") == NULL);
    CHECK(strstr(masked, "line\\n") != NULL && strstr(masked, "\\n\\u0020") != NULL);
    CHECK(world.rest == TD_CLASS_PUBLIC);
    const char *plain = surrogate_of(&world, "ann@acme.com");
    const char *first = strstr(masked, plain);
    CHECK(first != NULL && strstr(first + 1, plain) != NULL); /* escaped or not, it is the same */
    CHECK(strstr(restore(&world, buf_view(&world.masked), 3, true, NULL), "ann@acme.com\", ") !=
          NULL);
    world_deinit(&world);
}

/* Random texts of the kinds of values with random words, echoed with random cuts. */
static size_t append_value(struct rng *rng, char *out, size_t size)
{
    static const char *const given[] = {"John", "Maria", "Wolfgang", "Agnieszka", "Omar", "Liz"};
    static const char *const family[] = {"Smith",  "Garcia",  "Kowalska",
                                         "Nguyen", "O'Brien", "de Vries"};
    static const char *const words[] = {"the",  "and",  "invoice", "for",   "was", "sent",
                                        "to",   "from", "re:",     "(see)", "\n",  "**",
                                        "code", "in",   "a",       "note;"};
    unsigned a = (unsigned)rng_below(rng, 1000), b = (unsigned)rng_below(rng, 10000);
    switch (rng_below(rng, 9)) {
    case 0:
        return (size_t)snprintf(out, size, "%s.%u@firm%u.com ", given[a % 6], b, a);
    case 1:
        return (size_t)snprintf(out, size, "+1 415 8%02u %04u ", a % 100, b);
    case 2:
        return (size_t)snprintf(out, size, "%u.%u.%u.%u ", 11 + a % 80, b % 256, a % 256,
                                1 + b % 250);
    case 3:
        return (size_t)snprintf(out, size, "ssn 5%02u-%02u-%04u ", a % 100, 1 + a % 98,
                                1 + b % 9998);
    case 4:
        return (size_t)snprintf(out, size, "Mr. %s %s ", given[a % 6], family[b % 6]);
    case 5:
        return (size_t)snprintf(out, size, "key sk-%04uabcdEFGHijklMNOP%04uqrstUVWX ", b, a);
    default:
        return (size_t)snprintf(out, size, "%s ", words[a % 16]);
    }
}

static void test_random_texts_come_back_whole(void)
{
    struct rng rng;
    size_t texts = 0, whole = 0, positions = 0, restored = 0;
    rng_init(&rng, 20261122);
    for (; texts < 300; texts++) {
        char text[2048];
        size_t len = 0;
        for (int i = 0; i < 24 && len < sizeof text - 128; i++)
            len += append_value(&rng, text + len, 128);
        struct world world;
        REQUIRE(world_init(&world, text));
        struct restore_counts counts = {0};
        const char *back =
            restore(&world, buf_view(&world.masked), 1 + rng_below(&rng, 9), false, &counts);
        bool same = strcmp(back, text) == 0;
        if (!same && texts - whole < 3)
            printf("text   %s\nmasked %s\nback   %s\n", text, world.masked.data, back);
        whole += same;
        positions += counts.seen;
        restored += counts.restored;
        CHECK(world.rest == TD_CLASS_PUBLIC);
        world_deinit(&world);
    }
    printf("%zu of %zu texts whole, %zu of %zu positions restored\n", whole, texts, restored,
           positions);
    CHECK(whole == texts);
    CHECK(restored == positions);
}

/* Pieces of an answer: surrogates as it may spell them, beginnings of them, and what may stand
 * around them. %s: a surrogate. */
static const char *const spellings[] = {
    "%s",     "%s's",   "%ss",        "**%s**",         "`%s`", "\\n%s",         "\\u0020%s",
    "C:\\%s", "%%20%s", "\xc3\xa9%s", "%s\xe2\x80\x8b", "%s.",  "(%s",           "%s-",
    "/%s/",   "%s%%",   "%s\\",       "\\\\%s",         "%s@",  "\xe2\x80\x99%s"};
static const char *const between[] = {
    " ",  "",      "\n",     ", ",   "-",        "x", "\\",
    "\"", "\\u00", "\\u004", "\xc3", "\xe2\x80", "4", "\xf0\x9f\x99\x82"};

static size_t append_spelling(struct rng *rng, const struct world *world, char *out, size_t size)
{
    struct vault_entry entry =
        vault_at(world->vault, (uint32_t)rng_below(rng, vault_count(world->vault)));
    char surrogate[256], escaped[300];
    size_t count = sizeof spellings / sizeof *spellings, len;
    snprintf(surrogate, sizeof surrogate, STR_FMT, STR_ARG(entry.surrogate));
    if (rng_below(rng, 4) == 0) /* only its beginning */
        surrogate[1 + rng_below(rng, strlen(surrogate))] = '\0';
    for (char *c = surrogate; *c && rng_below(rng, 5) == 0; c++)
        *c = (char)(*c >= 'a' && *c <= 'z' ? *c - 32 : *c);
    snprintf(escaped, sizeof escaped, "%s", surrogate);
    if (rng_below(rng, 4) == 0)
        snprintf(escaped, sizeof escaped, "\\u%04x%s", (unsigned char)surrogate[0], surrogate + 1);
    const char *form = spellings[rng_below(rng, count)];
    const char *at = strstr(form, "%s");
    len = (size_t)snprintf(out, size, "%.*s%s%s", (int)(at - form), form, escaped, at + 2);
    len += (size_t)snprintf(out + len, size - len, "%s",
                            between[rng_below(rng, sizeof between / sizeof *between)]);
    return len;
}

/* Wherever the stream is cut, also within an escape, a character or a surrogate, the same comes
 * out, and the same is counted. */
static void test_what_comes_out_does_not_depend_on_where_the_stream_is_cut(void)
{
    struct rng rng;
    struct world world;
    size_t differ = 0;
    rng_init(&rng, 20261123);
    REQUIRE(world_init(&world, letter));
    for (int text = 0; text < 120; text++) {
        char answer[700], whole[4096];
        size_t len = 0;
        struct restore_counts once = {0}, counts = {0};
        bool json = text % 2;
        for (int i = 0; i < 4; i++)
            len += append_spelling(&rng, &world, answer + len, sizeof answer - len);
        struct td_str all = {answer, len};
        snprintf(whole, sizeof whole, "%s", restore(&world, all, SIZE_MAX, json, &once));
        for (size_t cut = 1; cut < len; cut++) {
            struct restorer restorer;
            struct buf out;
            buf_init(&out, 1 << 16);
            REQUIRE(restorer_init(&restorer, world.table, json));
            restorer_feed(&restorer, str_slice(all, 0, cut), &out);
            restorer_feed(&restorer, str_slice(all, cut, len), &out);
            restorer_end(&restorer, &out);
            buf_append_char(&out, '\0');
            bool same = strcmp(out.data, whole) == 0 && restorer.counts.seen == once.seen &&
                        restorer.counts.restored == once.restored;
            if (!same && differ++ < 3)
                printf("cut at %zu: %s\n  gave  %s\n  whole %s\n", cut, answer, out.data, whole);
            restorer_deinit(&restorer);
            buf_deinit(&out);
        }
        for (size_t step = 1; step <= 7; step++) {
            bool same = strcmp(restore(&world, all, step, json, &counts), whole) == 0;
            differ += !same || counts.seen != once.seen || counts.restored != once.restored;
        }
    }
    CHECK(differ == 0);
    world_deinit(&world);
}

/* A surrogate as a text of the conversation's next turn could have it by chance. */
static void date_as_iso(const char *surrogate, char *out, size_t size)
{
    struct date_form forms[DATE_FORMS];
    REQUIRE(date_forms_write(view(surrogate), view(surrogate), forms) > 0);
    snprintf(out, size, "%s", forms[0].surrogate);
}

static void date_in_a_form_of_its_own(const char *surrogate, char *out, size_t size)
{
    int day = 0, year = 0;
    char month[32] = "";
    REQUIRE(sscanf(surrogate, "%d %31s %d", &day, month, &year) == 3);
    snprintf(out, size, "%02d. %.3s %d", day, month, year);
}

static void name_with_an_ending(const char *surrogate, char *out, size_t size)
{
    snprintf(out, size, "%sa", surrogate);
}

static void digits_in_pairs(const char *surrogate, char *out, size_t size)
{
    size_t digits = 0, len = 0;
    for (const char *p = surrogate; *p && len + 2 < size; p++) {
        if (*p < '0' || *p > '9')
            continue;
        out[len++] = *p;
        if (++digits % 2 == 0)
            out[len++] = '-';
    }
    out[len - (digits % 2 == 0)] = '\0';
}

static void local_part_alone(const char *surrogate, char *out, size_t size)
{
    snprintf(out, size, "%.*s", (int)strcspn(surrogate, "@"), surrogate);
}

/* The later text has the surrogate in another form: read as an answer it would have been
 * replaced. */
static void test_what_later_stands_in_a_text_is_no_surrogate_any_more(void)
{
    static const struct {
        const char *text, *value;
        void (*write)(const char *surrogate, char *out, size_t size);
    } cases[] = {
        {"She was born on 12 March 1987 in a village.", "12 March 1987", date_as_iso},
        {"She was born on 12 March 1987 in a village.", "12 March 1987", date_in_a_form_of_its_own},
        {"Dear Mr. Kowalski, thank you.", "Kowalski", name_with_an_ending},
        {"Pay with card 4111 1111 1111 1111 please.", "4111 1111 1111 1111", digits_in_pairs},
        {"IBAN DE89 3704 0044 0532 0130 00 it is.", "DE89 3704 0044 0532 0130 00", digits_in_pairs},
        {"Mail jane.doe@acme.com now.", "jane.doe@acme.com", local_part_alone},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world world;
        char first[256], form[256], text[600];
        REQUIRE(world_init(&world, cases[i].text));
        snprintf(first, sizeof first, "%s", surrogate_of(&world, cases[i].value));
        cases[i].write(first, form, sizeof form);
        snprintf(text, sizeof text, "%s Unlike it, lot %s is for sale.", cases[i].text, form);
        vault_uses_clear(world.uses);
        REQUIRE(mask_text(&world, text));
        const char *back = restore(&world, buf_view(&world.masked), 5, false, NULL);
        CHECK(strcmp(back, text) == 0);
        CHECK(strstr(world.masked.data, cases[i].value) == NULL);
        world_deinit(&world);
    }
}

/* The same where the text comes first: whatever day the surrogate is, the text may have it. */
static void test_a_surrogate_is_no_day_of_the_text(void)
{
    struct world world;
    struct buf text;
    buf_init(&text, 1 << 20);
    buf_append_str(&text, STR("She was born on 12 March 1987. Days off:"));
    for (int year = 1982; year <= 1992; year++)
        for (int month = 1; month <= 12; month++)
            for (int day = 1; day <= 28; day += 1 + (month & 1))
                buf_printf(&text, " %04d-%02d-%02d,", year, month, day);
    buf_append_str(&text, STR(" that is all."));
    REQUIRE(!text.failed && world_init(&world, text.data));
    char day[DATE_DAY_BYTES];
    REQUIRE(date_forms_day(view(surrogate_of(&world, "12 March 1987")), day));
    char iso[16];
    snprintf(iso, sizeof iso, "%.4s-%.2s-%.2s", day + 3, day + 7, day + 9);
    CHECK(strstr(text.data, iso) == NULL);
    buf_deinit(&text);
    world_deinit(&world);
}

static void test_a_mail_addresss_local_part_is_restored_alone(void)
{
    struct world world;
    char local[128], answer[400];
    REQUIRE(world_init(&world, "Mail jane.doe@acme.com, not jane.doe@corp.org."));
    local_part_alone(surrogate_of(&world, "jane.doe@acme.com"), local, sizeof local);
    snprintf(answer, sizeof answer, "Write to %s (%s), or to %s@elsewhere.org.", local,
             surrogate_of(&world, "jane.doe@acme.com"), local);
    CHECK(strcmp(restore(&world, view(answer), 3, false, NULL),
                 "Write to jane.doe (jane.doe@acme.com), or to jane.doe@elsewhere.org.") == 0);
    world_deinit(&world);
}

/* However a text has ended, the next one is read as if it were the first. */
static void test_a_restorer_serves_another_text_after_whatever_end(void)
{
    struct world world;
    REQUIRE(world_init(&world, "Ask John Smith."));
    const char *last = surrogate_of(&world, "Smith");
    char half[64], whole[64];
    snprintf(half, sizeof half, "so %.2s", last);
    snprintf(whole, sizeof whole, "so %s", last);
    const struct {
        const char *first, *expected;
    } ends[] = {
        {"", ""},
        {"in a wor", "in a wor"},
        {"a word.", "a word."},
        {"a gap   ", "a gap   "},
        {"C:\\", "C:\\"},
        {"C:\\n", "C:\\n"},
        {half, half},
        {whole, "so Smith"},
        {"caf\xc3", "caf\xc3"},
        {"a \xe2\x80", "a \xe2\x80"},
        {"\xe4\xb8\xad", "\xe4\xb8\xad"},
    };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        for (int json = 0; json < 2; json++) {
            struct restorer restorer;
            struct buf out;
            buf_init(&out, 4096);
            REQUIRE(restorer_init(&restorer, world.table, json));
            restorer_feed(&restorer, view(ends[i].first), &out);
            restorer_end(&restorer, &out);
            CHECK(str_equal(buf_view(&out), view(ends[i].expected)));
            CHECK(restorer_held(&restorer) == 0);
            const size_t seen = restorer.counts.seen;
            buf_clear(&out);
            restorer_feed(&restorer, view(last + 2), &out); /* half of it stays half of it */
            restorer_end(&restorer, &out);
            CHECK(str_equal(buf_view(&out), view(last + 2)) && restorer.counts.seen == seen);
            buf_clear(&out);
            restorer_feed(&restorer, view(last), &out);
            restorer_end(&restorer, &out);
            if (!str_equal(buf_view(&out), STR("Smith")))
                printf("after \"%s\": " STR_FMT "\n", ends[i].first, STR_ARG(buf_view(&out)));
            CHECK(str_equal(buf_view(&out), STR("Smith")));
            restorer_deinit(&restorer);
            buf_deinit(&out);
        }
    world_deinit(&world);
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
    RUN(test_nothing_private_is_left_in_a_masked_text);
    RUN(test_an_echo_comes_back_byte_for_byte_at_every_cut);
    RUN(test_other_spellings_of_a_name_are_restored);
    RUN(test_numbers_are_restored_with_the_answers_separators);
    RUN(test_json_escapes_are_read_and_written);
    RUN(test_a_name_behind_a_backslash_is_masked_and_restored);
    RUN(test_only_a_literal_backslash_makes_a_letter_of_jsons_n);
    RUN(test_a_date_that_is_written_otherwise_is_restored_where_the_day_is_certain);
    RUN(test_a_value_with_quotes_is_escaped_in_json);
    RUN(test_only_what_may_be_a_surrogates_beginning_is_held_back);
    RUN(test_a_restorer_serves_another_text_after_whatever_end);
    RUN(test_a_surrogate_is_never_a_word_of_the_text);
    RUN(test_the_same_value_keeps_its_surrogate);
    RUN(test_escaped_values_are_masked_whole);
    RUN(test_strict_rules_replace_unknown_numbers_too);
    RUN(test_what_later_stands_in_a_text_is_no_surrogate_any_more);
    RUN(test_a_surrogate_is_no_day_of_the_text);
    RUN(test_a_mail_addresss_local_part_is_restored_alone);
    RUN(test_what_comes_out_does_not_depend_on_where_the_stream_is_cut);
    RUN(test_random_texts_come_back_whole);
    privacy_scanner_free(with_names);
    return test_finish();
}
