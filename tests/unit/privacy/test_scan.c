/* The pass as a whole: canaries in sentences, overlaps, capacity, hiding, and megabytes of what is
 * hard to read. */
#include "privacy/scan/tally.h"
#include "privacy/text/disguise.h"

#include "base/str.h"
#include "scanners.h"
#include "test.h"

#include "canary.h"

static const char *const carriers[][2] = {
    {"My data: ", ", please check it."},
    {"", ""},
    {"Hello,\nplease write to ", " by 2026-11-21.\n"},
    {"{\"note\": \"", "\", \"n\": 3}"},
    {"(", ")"},
    {"Order 4711 of 12.05.2024 for 99,90 EUR belongs to ", "; ship it soon"},
    {"| name | ", " | 12 |"},
    {"\xe5\x8d\xa1\xe5\x8f\xb7\xef\xbc\x9a", "\xe3\x80\x82"},
    {"<td>", "</td>"},
    {"value=", "\n"},
    {"Caf\xc3\xa9 \xe2\x80\x9c", "\xe2\x80\x9d \xf0\x9f\x99\x82"},
    {"line one\r\n\t", "\r\nline three"},
};
#define CARRIER_COUNT (sizeof carriers / sizeof carriers[0])

/* The carriers hold dates, which are public. */
static size_t scan_private(struct td_str text, struct privacy_span *spans, size_t capacity)
{
    struct privacy_span all[32];
    size_t found = privacy_scan(plain_scanner(), text, all, 32), count = 0;
    for (size_t i = 0; i < found && i < 32; i++)
        if (all[i].data_class != TD_CLASS_PUBLIC && count < capacity)
            spans[count++] = all[i];
    return count;
}

static void find_canaries(enum privacy_kind kind)
{
    struct rng rng;
    rng_init(&rng, 20261121 + (uint64_t)kind);
    for (int i = 0; i < 200; i++) {
        char canary[CANARY_BYTES], text[2 * CANARY_BYTES];
        canary_make(&rng, kind, canary);
        const char *const *carrier = carriers[rng_below(&rng, CARRIER_COUNT)];
        int len = snprintf(text, sizeof text, "%s%s%s", carrier[0], canary, carrier[1]);
        struct privacy_span spans[4];
        size_t count = scan_private((struct td_str){text, (size_t)len}, spans, 4);
        size_t begin = strlen(carrier[0]), end = begin + strlen(canary);
        bool exact =
            count == 1 && spans[0].kind == kind && spans[0].begin == begin && spans[0].end == end;
        if (!exact)
            fprintf(stderr, "canary not found exactly: %s (%zu findings; first %s %zu..%zu)\n",
                    text, count, count ? privacy_kind_name(spans[0].kind) : "-",
                    count ? spans[0].begin : 0, count ? spans[0].end : 0);
        CHECK(exact);
    }
}

static void test_every_email_canary_is_found_exactly(void)
{
    find_canaries(PRIVACY_EMAIL);
}
static void test_every_phone_canary_is_found_exactly(void)
{
    find_canaries(PRIVACY_PHONE);
}
static void test_every_card_canary_is_found_exactly(void)
{
    find_canaries(PRIVACY_CARD);
}
static void test_every_iban_canary_is_found_exactly(void)
{
    find_canaries(PRIVACY_IBAN);
}
static void test_every_ssn_canary_is_found_exactly(void)
{
    find_canaries(PRIVACY_US_SSN);
}
static void test_every_ip_canary_is_found_exactly(void)
{
    find_canaries(PRIVACY_IP);
}
static void test_every_api_key_canary_is_found_exactly(void)
{
    find_canaries(PRIVACY_API_KEY);
}
static void test_every_private_key_canary_is_found_exactly(void)
{
    find_canaries(PRIVACY_PRIVATE_KEY);
}

static void test_many_findings_come_in_order_and_apart(void)
{
    struct rng rng;
    rng_init(&rng, 7);
    static char text[200000];
    size_t len = 0, planted = 0;
    while (len < sizeof text - 2 * CANARY_BYTES) {
        char canary[CANARY_BYTES];
        canary_make(&rng, (enum privacy_kind)rng_below(&rng, PRIVACY_KIND_COUNT), canary);
        len += (size_t)snprintf(text + len, sizeof text - len, "%s;\n", canary);
        planted++;
    }
    static struct privacy_span spans[10000];
    size_t count = privacy_scan(plain_scanner(), (struct td_str){text, len}, spans, 10000);
    CHECK(count == planted);
    for (size_t i = 1; i < count && i < 10000; i++)
        CHECK(spans[i].begin >= spans[i - 1].end && spans[i].begin < spans[i].end);
}

static void test_a_small_array_gets_the_first_and_the_true_count(void)
{
    struct privacy_span spans[2] = {{0}};
    struct td_str text = STR("a1@example.com b2@example.com c3@example.com");
    CHECK(privacy_scan(plain_scanner(), text, spans, 1) == 3);
    CHECK(spans[0].begin == 0 && spans[0].end == 14 && spans[1].end == 0);
    CHECK(privacy_scan(plain_scanner(), text, NULL, 0) == 3);
    CHECK(privacy_scan(plain_scanner(), (struct td_str){NULL, 0}, NULL, 0) == 0);
}

static void test_overlapping_findings_become_one_of_the_higher_class(void)
{
    struct privacy_span spans[4];
    struct td_str text = STR("write to 123-45-6789@example.com now");
    REQUIRE(privacy_scan(plain_scanner(), text, spans, 4) == 1);
    CHECK(spans[0].kind == PRIVACY_US_SSN && spans[0].begin == 9 && spans[0].end == 32);
}

static void test_a_card_behind_a_phone_number_is_not_swallowed(void)
{
    struct privacy_span spans[4];
    struct td_str text = STR("+1 415 555 9671 4111 1111 1111 1111");
    REQUIRE(privacy_scan(plain_scanner(), text, spans, 4) == 2);
    CHECK(spans[0].kind == PRIVACY_PHONE && spans[0].end == 15);
    CHECK(spans[1].kind == PRIVACY_CARD && spans[1].begin == 16);
}

static void test_tokens_are_covered_to_their_end_however_long(void)
{
    static const char *const heads[] = {"Bearer ", "password: ", "sk-"};
    static char text[8000];
    for (size_t h = 0; h < 3; h++) {
        size_t head = strlen(heads[h]);
        memcpy(text, heads[h], head);
        for (size_t i = head; i < sizeof text; i++)
            text[i] = CANARY_ALNUM[i * 7 % (sizeof CANARY_ALNUM - 1)];
        struct privacy_span span;
        REQUIRE(privacy_scan(plain_scanner(), (struct td_str){text, sizeof text}, &span, 1) == 1);
        CHECK(span.kind == PRIVACY_API_KEY && span.end == sizeof text);
    }
}

static void test_classify_gives_the_highest_class_and_adds_to_counts(void)
{
    struct privacy_tally found = {.kinds = {[PRIVACY_EMAIL] = 5}};
    CHECK(privacy_classify(plain_scanner(), STR("nothing here"), NULL) == TD_CLASS_PUBLIC);
    CHECK(privacy_classify(plain_scanner(), STR("a@example.com, b@example.com"), &found) ==
          TD_CLASS_SENSITIVE);
    CHECK(found.kinds[PRIVACY_EMAIL] == 7);
    CHECK(privacy_classify(plain_scanner(), STR("a@example.com 4111111111111111"), &found) ==
          TD_CLASS_RESTRICTED);
    CHECK(found.kinds[PRIVACY_EMAIL] == 8 && found.kinds[PRIVACY_CARD] == 1);
}

/* What the pass finds in a repeated text repeats: nothing is lost behind a limit, nothing depends
 * on how much came before. (bench_privacy prints the time; a quadratic step would take many minutes
 * here.) */
static void test_hostile_megabytes_are_read_to_their_end(void)
{
    static const char *const units[] = {
        "@",
        "1",
        "a.a.a.",
        "-----BEGIN ",
        "-----BEGIN RSA PRIVATE KEY",
        "a@a@",
        "4111 ",
        "4111-1111-1111-1111 ",
        "sk-",
        "sk-a1",
        "eyJ.",
        "eyJhbGciOiJIUzI1NiJ9.",
        "bearer ",
        "password is ",
        "password=",
        "a:",
        "::",
        "1::",
        "fe80:",
        "1.1.1.1.",
        "1.1.1.1 ",
        "+1",
        "+ 1 ",
        "(1",
        "DE89 ",
        "GB29NWBK",
        "secret ",
        "api_key=",
        "\"@",
        "://a:",
        "x..@",
        "a-",
        "\xe2\x80\x8b",
        "1\xe2\x80\x8b",
        "\xef\xbc\x91",
        "@a.",
        "aa.aa@aa.aa-",
        "\xff",
        "tel 1",
        "-----END ",
        "123-45-6789-",
        "\"",
        "a=b ",
        "password=1",
        "pwd=",
        "auth=1",
        "token=abc9",
        "%41%",
        "QUFBQUFBQUFB/",
        "12 Oak ",
        "10:30 ",
        "415 ",
        "(0)1/",
        "12345678901 ",
        "May 1 ",
        "Rue 5, ",
        "A B1 ",
        "\\u0031",
        "\\\\n1",
        "\\u00e94111 ",
        "eyJ-",
        "eyJ_a",
        "SG.",
        "s\xe2\x80\x8bk-",
        "http://a.bc/",
        "a.com/,",
        "e\xcc\x81",
        "1\xcc\x81",
        "a\xd0\xb6",
        "DE1---2---",
        "nurse ",
        "A Ltd ",
    };
    enum { BYTES = 1 << 20 };
    char *text = malloc(BYTES);
    REQUIRE(text != NULL);
    for (size_t u = 0; u < sizeof units / sizeof units[0]; u++) {
        size_t unit_len = strlen(units[u]);
        for (size_t i = 0; i < BYTES; i++)
            text[i] = units[u][i % unit_len];
        size_t len = BYTES / 2 / unit_len * unit_len;
        size_t half = privacy_scan(plain_scanner(), (struct td_str){text, len}, NULL, 0);
        size_t whole = privacy_scan(plain_scanner(), (struct td_str){text, 2 * len}, NULL, 0);
        if (whole > 2 * half + 2 || whole + 2 < 2 * half)
            fprintf(stderr, "1 MB of '%s': %zu findings, half of it %zu\n", units[u], whole, half);
        CHECK(whole <= 2 * half + 2 && whole + 2 >= 2 * half);
    }
    free(text);
}

static void test_a_finding_has_whole_characters(void)
{
    static const char text[] = "\xe6\x9d\x8e\xe6\x98\x8ejohn at acme dot com";
    struct privacy_span spans[4];
    REQUIRE(privacy_scan(plain_scanner(), STR(text), spans, 4) == 1);
    CHECK(spans[0].begin == 6 && spans[0].end == sizeof text - 1);
}

/* Texts in a text, and texts that look like another: brackets of 0x01 and 0x02
 * stand around what must be found, as it is written. */
static void test_what_escapes_and_disguises_hide_is_found_where_it_stands(void)
{
    static const struct {
        enum privacy_kind kind;
        const char *text;
    } rows[] = {
        {PRIVACY_EMAIL, "{\"to\": \"\x01"
                        "ann\\u0040example.com\x02\"}"},
        {PRIVACY_CARD, "\x01\\u0034111 1111 1111 111\\u0031\x02 is mine"},
        {PRIVACY_EMAIL, "said:\\n\x01"
                        "bob@example.com\x02\\nand left"},
        {PRIVACY_NO_FNR, "My f\\u00f8dselsnummer is \x01"
                         "07028869910\x02."},
        {PRIVACY_NO_FNR, "{\\\"a\\\": \\\"f\\\\u00F8dselsnummer \x01"
                         "07028869910\x02\\\"}"},
        {PRIVACY_CARD, "\\ud83d\\ude00\x01"
                       "4111\\u00a01111 1111\\u00a01111\x02"},
        {PRIVACY_IBAN, "\\u0020\x01"
                       "\\u0044E89 3704 0044 0532 0130 00\x02"},
        /* character references */
        {PRIVACY_EMAIL, "to \x01"
                        "ann&#64;example&period;com\x02 &amp; so on"},
        {PRIVACY_EMAIL, "\x01&#x61;nn&commat;ex&#97;mple.com\x02"},
        {PRIVACY_US_SSN, "ssn \x01&#49;23&#45;45&#x2d;6789\x02."},
        {PRIVACY_EMAIL, "&lt;\x01"
                        "ann&amp;#64;example.com\x02&gt;"},
        /* invisible characters, odd spaces, other letters */
        {PRIVACY_DATE, "born \x01"
                       "12\xc2\xa0"
                       "Mar\xe2\x80\x8b"
                       "ch 1971\x02"},
        {PRIVACY_EMAIL, "\x01\xd0\xb0nn@ex\xd0\xb0mple.com\x02"},
        {PRIVACY_EMAIL, "\x01\xf0\x9d\x97\xae\xf0\x9d\x97\xbb\xf0\x9d\x97\xbb@example.com\x02"},
        {PRIVACY_CRYPTO, "\x01"
                         "bc1qar0s\xe2\x80\x8brrr7xfkvy5l643lydnw9re59gtzzwf5mdq\x02"},
        {PRIVACY_EMAIL, "\x01"
                        "ann[@]example[.]com\x02"},
        {PRIVACY_IP, "from \x01"
                     "10[.]20[.]30[.]40\x02"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[256];
        size_t len = 0, begin = 0, end = 0;
        for (const char *p = rows[i].text; *p; p++)
            if (*p == 1)
                begin = len;
            else if (*p == 2)
                end = len;
            else
                text[len++] = *p;
        struct privacy_span spans[8];
        size_t count = scan_private((struct td_str){text, len}, spans, 8);
        CHECK(count == 1 && spans[0].kind == rows[i].kind && spans[0].begin == begin &&
              spans[0].end == end);
        if (count != 1 || spans[0].begin != begin || spans[0].end != end)
            fprintf(stderr, "%s: %zu findings, %zu..%zu for %zu..%zu\n", rows[i].text, count,
                    spans[0].begin, spans[0].end, begin, end);
    }
}

/* Each character of a value in turn, and all of them, in each notation that texts have for one. */
static void test_a_character_in_any_notation_hides_nothing(void)
{
    static const char *const notations[] = {"&#%u;",  "&#%05u;",  "&#x%x;",  "&#x%X;",
                                            "&#X%x;", "&#X%04X;", "\\u%04x", "\\u%04X"};
    static const struct {
        enum privacy_kind kind;
        const char *value;
    } values[] = {{PRIVACY_CARD, "4111 1111 1111 1111"},
                  {PRIVACY_US_SSN, "536-22-1234"},
                  {PRIVACY_EMAIL, "john@example.com"},
                  {PRIVACY_IP, "83.20.30.40"}};
    for (size_t n = 0; n < sizeof notations / sizeof *notations; n++)
        for (size_t v = 0; v < sizeof values / sizeof *values; v++)
            for (size_t at = 0; at <= strlen(values[v].value); at++) { /* the last: all of them */
                char text[256] = "it is ";
                size_t begin = strlen(text), len = begin;
                for (size_t i = 0; values[v].value[i]; i++)
                    len += (size_t)snprintf(text + len, sizeof text - len,
                                            i == at || !values[v].value[at] ? notations[n] : "%c",
                                            (unsigned)values[v].value[i]);
                size_t end = len;
                len += (size_t)snprintf(text + len, sizeof text - len, ", right");
                struct privacy_span spans[4];
                size_t count = scan_private((struct td_str){text, len}, spans, 4);
                bool covered = count == 1 && spans[0].kind == values[v].kind &&
                               spans[0].begin == begin && spans[0].end == end;
                if (!covered)
                    fprintf(stderr, "%s: %zu findings\n", text, count);
                CHECK(covered);
            }
}

static size_t write_base64(struct td_str bytes, char *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t len = 0;
    for (size_t i = 0; i + 3 <= bytes.len; i += 3) {
        unsigned three = (unsigned)(unsigned char)bytes.data[i] << 16 |
                         (unsigned)(unsigned char)bytes.data[i + 1] << 8 |
                         (unsigned char)bytes.data[i + 2];
        for (int shift = 18; shift >= 0; shift -= 6)
            out[len++] = digits[three >> shift & 63];
    }
    return len;
}

/* Long encoded texts are read in pieces: a value is found on every place of a piece's border. */
static void test_a_value_anywhere_in_a_long_base64_text_is_found(void)
{
    enum { BYTES = 9600, STEP = 7 };
    static const char value[] = " john.doe@example.com, ";
    char plain[BYTES], encoded[BYTES / 3 * 4];
    for (size_t at = 0; at + sizeof value < BYTES; at += STEP) {
        for (size_t i = 0; i < BYTES; i++)
            plain[i] = "so it goes, "[i % 12];
        memcpy(plain + at, value, sizeof value - 1);
        struct td_str text = {encoded, write_base64((struct td_str){plain, BYTES}, encoded)};
        struct privacy_span spans[4];
        size_t count = scan_private(text, spans, 4);
        bool covered = count == 1 && spans[0].kind == PRIVACY_EMAIL &&
                       spans[0].begin <= (at + 1) * 4 / 3 + 1 &&
                       spans[0].end >= (at + sizeof value - 3) * 4 / 3;
        if (!covered)
            fprintf(stderr, "base64 of a value at byte %zu: %zu findings\n", at, count);
        CHECK(covered);
    }
}

/* What typographers and programmers write is read once and hides nothing. */
static void test_usual_signs_are_no_disguise(void)
{
    static const char *const texts[] = {"AT&amp;T &lt;b&gt; R&D",
                                        "a[i] = b[.5]",
                                        "caf\xc3\xa9 \xe2\x80\x94 na\xc3\xafve",
                                        "10\xe2\x80\x93"
                                        "12 pages",
                                        "\xd0\xbf\xd1\x80\xd0\xb8\xd0\xb2\xd0\xb5\xd1\x82",
                                        "50\xc2\xa0\xe2\x82\xac"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct disguise_cursor cursor = {0};
        CHECK(disguise_next(&cursor, str_from(texts[i]), 0) == SIZE_MAX);
    }
}

/* Escapes all along a text of several pieces: a value is found wherever it stands. */
static void test_escapes_all_along_a_text_hide_nothing(void)
{
    enum { TIMES = 20000 };
    static const char unit[] = "\\u00e9 bob\\u0040example.com ";
    size_t unit_len = sizeof unit - 1;
    char *text = malloc(TIMES * unit_len);
    struct privacy_span *spans = malloc((TIMES + 1) * sizeof *spans);
    REQUIRE(text != NULL && spans != NULL);
    for (size_t i = 0; i < TIMES; i++)
        memcpy(text + i * unit_len, unit, unit_len);
    size_t count =
        privacy_scan(plain_scanner(), (struct td_str){text, TIMES * unit_len}, spans, TIMES + 1);
    CHECK(count == TIMES);
    for (size_t i = 0; i < TIMES && i < count; i++)
        if (spans[i].begin != i * unit_len + 7 || spans[i].end != (i + 1) * unit_len - 1) {
            CHECK(spans[i].begin == i * unit_len + 7 && spans[i].end == (i + 1) * unit_len - 1);
            break;
        }
    free(spans);
    free(text);
}

static void test_a_long_value_is_covered_to_its_end(void)
{
    char text[400] = "see token=a1B2";
    for (size_t i = strlen(text); i < 300; i++)
        text[i] = (char)('a' + i * 7 % 26);
    memcpy(text + 300, ").", 3);
    struct privacy_span span;
    CHECK(privacy_scan(plain_scanner(), str_from(text), &span, 1) == 1);
    CHECK(span.begin == 10 && span.end == 300);
}

static void test_every_cut_of_a_text_is_safe(void)
{
    /* Exact-size copies, so that a sanitizer sees a byte read too many. */
    static const char text[] =
        "a@example.com +1 415 555 2671 4111-1111-1111-1111 gb29 nwbk 6016 1331 9268 19 "
        "2001:db8::1 ::ffff:1.2.3.4 123-45-6789 sk-proj-abcdefghijklmnop1234567890 "
        "password: hunter2! bearer abcdef0123456789abcdef -----BEGIN PRIVATE KEY-----";
    for (size_t from = 0; from < sizeof text; from++)
        for (size_t len = 0; len < sizeof text - from; len += 3) {
            char *copy = malloc(len + (len == 0));
            REQUIRE(copy != NULL);
            memcpy(copy, text + from, len);
            struct privacy_span spans[16];
            size_t count = privacy_scan(plain_scanner(), (struct td_str){copy, len}, spans, 16);
            for (size_t i = 0; i < count && i < 16; i++)
                CHECK(spans[i].begin < spans[i].end && spans[i].end <= len);
            free(copy);
        }
}

int main(void)
{
    RUN(test_every_email_canary_is_found_exactly);
    RUN(test_every_phone_canary_is_found_exactly);
    RUN(test_every_card_canary_is_found_exactly);
    RUN(test_every_iban_canary_is_found_exactly);
    RUN(test_every_ssn_canary_is_found_exactly);
    RUN(test_every_ip_canary_is_found_exactly);
    RUN(test_every_api_key_canary_is_found_exactly);
    RUN(test_every_private_key_canary_is_found_exactly);
    RUN(test_many_findings_come_in_order_and_apart);
    RUN(test_a_small_array_gets_the_first_and_the_true_count);
    RUN(test_overlapping_findings_become_one_of_the_higher_class);
    RUN(test_a_card_behind_a_phone_number_is_not_swallowed);
    RUN(test_tokens_are_covered_to_their_end_however_long);
    RUN(test_classify_gives_the_highest_class_and_adds_to_counts);
    RUN(test_hostile_megabytes_are_read_to_their_end);
    RUN(test_a_finding_has_whole_characters);
    RUN(test_what_escapes_and_disguises_hide_is_found_where_it_stands);
    RUN(test_a_character_in_any_notation_hides_nothing);
    RUN(test_a_value_anywhere_in_a_long_base64_text_is_found);
    RUN(test_usual_signs_are_no_disguise);
    RUN(test_escapes_all_along_a_text_hide_nothing);
    RUN(test_a_long_value_is_covered_to_its_end);
    RUN(test_every_cut_of_a_text_is_safe);
    return test_finish();
}
