/* The pass as a whole: canaries in sentences, overlaps, capacity, hiding, and megabytes of what is
 * hard to read. */
#include "privacy/scan/tally.h"
#include "privacy/text/disguise.h"

#include "base/core/str.h"
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
    struct td_str text = STR("a1@acmeltd.com b2@acmeltd.com c3@acmeltd.com");
    CHECK(privacy_scan(plain_scanner(), text, spans, 1) == 3);
    CHECK(spans[0].begin == 0 && spans[0].end == 14 && spans[1].end == 0);
    CHECK(privacy_scan(plain_scanner(), text, NULL, 0) == 3);
    CHECK(privacy_scan(plain_scanner(), (struct td_str){NULL, 0}, NULL, 0) == 0);
}

static void test_overlapping_findings_become_one_of_the_higher_class(void)
{
    struct privacy_span spans[4];
    struct td_str text = STR("write to 123-45-6789@acmeltd.com now");
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
    CHECK(privacy_classify(plain_scanner(), STR("a@acmeltd.com, b@acmeltd.com"), &found) ==
          TD_CLASS_SENSITIVE);
    CHECK(found.kinds[PRIVACY_EMAIL] == 7);
    CHECK(privacy_classify(plain_scanner(), STR("a@acmeltd.com 4111111111111111"), &found) ==
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
                        "ann\\u0040acmeltd.com\x02\"}"},
        {PRIVACY_CARD, "\x01\\u0034111 1111 1111 111\\u0031\x02 is mine"},
        {PRIVACY_EMAIL, "said:\\n\x01"
                        "bob@acmeltd.com\x02\\nand left"},
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
                        "ann&#64;acmeltd&period;com\x02 &amp; so on"},
        {PRIVACY_EMAIL, "\x01&#x61;nn&commat;acm&#101;ltd.com\x02"},
        {PRIVACY_US_SSN, "ssn \x01&#49;23&#45;45&#x2d;6789\x02."},
        {PRIVACY_EMAIL, "&lt;\x01"
                        "ann&amp;#64;acmeltd.com\x02&gt;"},
        /* invisible characters, odd spaces, other letters */
        {PRIVACY_DATE, "born \x01"
                       "12\xc2\xa0"
                       "Mar\xe2\x80\x8b"
                       "ch 1971\x02"},
        {PRIVACY_EMAIL, "\x01\xd0\xb0nn@ex\xd0\xb0mple.com\x02"},
        {PRIVACY_EMAIL, "\x01\xf0\x9d\x97\xae\xf0\x9d\x97\xbb\xf0\x9d\x97\xbb@acmeltd.com\x02"},
        {PRIVACY_CRYPTO, "\x01"
                         "bc1qar0s\xe2\x80\x8brrr7xfkvy5l643lydnw9re59gtzzwf5mdq\x02"},
        {PRIVACY_EMAIL, "\x01"
                        "ann[@]acmeltd[.]com\x02"},
        {PRIVACY_IP, "from \x01"
                     "11[.]20[.]30[.]40\x02"},
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
                  {PRIVACY_EMAIL, "john@acmeltd.com"},
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

struct alphabet_way {
    const char *name, *digits;
    unsigned bits;
};

static const struct alphabet_way base64 = {
    "base64", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", 6};

/* line: characters of a line, 0 = all; end: what stands between two lines. */
static size_t write_encoded(const struct alphabet_way *way, struct td_str bytes, size_t line,
                            const char *end, char *out)
{
    size_t len = 0, in_line = 0;
    unsigned bits = 0, held = 0;
    for (size_t i = 0; i < bytes.len; i++) {
        bits = bits << 8 | (unsigned char)bytes.data[i];
        for (held += 8; held >= way->bits;) {
            if (line && in_line++ == line) {
                memcpy(out + len, end, strlen(end));
                len += strlen(end);
                in_line = 1;
            }
            held -= way->bits;
            out[len++] = way->digits[bits >> held & ((1u << way->bits) - 1)];
        }
    }
    return len;
}

static size_t write_base64(struct td_str bytes, char *out)
{
    return write_encoded(&base64, bytes, 0, "", out);
}

/* Long encoded texts are read in pieces: a value is found on every place of a piece's border,
 * whatever the alphabet, and however mail wraps it. */
static void test_a_value_anywhere_in_a_long_encoded_text_is_found(void)
{
    enum { BYTES = 3600, FIRST = 2900, STEP = 29 };
    static const struct alphabet_way ways[] = {{"hex", "0123456789abcdef", 4},
                                               {"base32", "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 5}};
    static const struct {
        size_t line;
        const char *end;
    } wraps[] = {{0, ""}, {76, "\n"}, {64, "\r\n"}, {72, "\n> "}};
    static const char *const values[] = {
        " john.doe@acmeltd.com, ",
        " john.jacob.jingleheimer.schmidt.of.the.upper.valley@the.very.long.name.acmeltd.com, "};
    static char plain[BYTES], encoded[BYTES * 3], before[BYTES * 3];
    for (size_t c = 0; c < 3 * 4 * 2; c++) {
        const struct alphabet_way *way = c % 3 == 2 ? &base64 : &ways[c % 3];
        const char *value = values[c / 12];
        size_t w = c / 3 % 4, missed = 0;
        for (size_t at = FIRST; at + strlen(value) < BYTES; at += STEP) {
            for (size_t i = 0; i < BYTES; i++)
                plain[i] = "so it goes, "[i % 12];
            memcpy(plain + at, value, strlen(value));
            struct td_str bytes = {plain, BYTES};
            struct td_str text = {encoded,
                                  write_encoded(way, bytes, wraps[w].line, wraps[w].end, encoded)};
            size_t begin = write_encoded(way, str_slice(bytes, 0, at + 1), wraps[w].line,
                                         wraps[w].end, before);
            struct privacy_span spans[4];
            size_t count = scan_private(text, spans, 4);
            missed += count != 1 || spans[0].kind != PRIVACY_EMAIL ||
                      spans[0].begin > begin + strlen(wraps[w].end);
        }
        if (missed)
            fprintf(stderr, "%s in lines of %zu, a value of %zu: missed %zu times\n", way->name,
                    wraps[w].line, strlen(value), missed);
        CHECK(missed == 0);
    }
}

/* The same of texts in which each byte is escaped, or is the number of its character. */
static void test_a_value_anywhere_in_a_long_escaped_text_is_found(void)
{
    enum { BYTES = 3600, FIRST = 2930, STEP = 13 };
    static const char *const forms[] = {"%%%02X", "=%02X",  "%d, ",    "0x%02x, ", "%03o ",
                                        "&#%d;",  "&#x%x;", "\\x%02x", "\\u%04x",  "\\%03o"};
    static const char *const values[] = {
        " john.doe@acmeltd.com, ",
        " john.jacob.jingleheimer.schmidt.of.the.upper.valley@the.very.long.name.acmeltd.com, "};
    static char encoded[BYTES * 6 + 2];
    for (size_t c = 0; c < 10 * 2; c++) {
        const char *form = forms[c % 10], *value = values[c / 10];
        size_t missed = 0, places = 0;
        for (size_t at = FIRST; at + strlen(value) < BYTES; at += STEP, places++) {
            size_t len = 0, begin = 0;
            for (size_t i = 0; i < BYTES; i++) {
                bool inside = i >= at && i < at + strlen(value);
                begin = i == at ? len : begin;
                len += (size_t)snprintf(encoded + len, 7, form,
                                        inside ? value[i - at] : "so it goes, "[i % 12]);
            }
            struct privacy_span spans[4];
            size_t count = scan_private((struct td_str){encoded, len}, spans, 4);
            missed += count != 1 || spans[0].kind != PRIVACY_EMAIL || spans[0].begin < begin ||
                      spans[0].begin > begin + 7;
        }
        if (missed)
            fprintf(stderr, "as \"%s\", a value of %zu: missed at %zu of %zu places\n", form,
                    strlen(value), missed, places);
        CHECK(missed == 0);
    }
}

/* One in eight of these is text in base64 by chance. */
static void test_a_number_glued_to_its_name_is_found_whatever_it_decodes_to(void)
{
    char text[64];
    for (unsigned i = 0; i < 1000; i++) {
        snprintf(text, sizeof text, "Look up SSN%03u%02u%04u please.", 100 + i * 7 % 500,
                 1 + i % 99, 1 + i * 13 % 9999);
        struct privacy_span spans[4];
        size_t count = scan_private(str_from(text), spans, 4);
        bool found = count == 1 && spans[0].kind == PRIVACY_US_SSN && spans[0].begin == 11 &&
                     spans[0].end == 20;
        if (!found)
            fprintf(stderr, "%s: %zu findings\n", text, count);
        CHECK(found);
    }
    struct privacy_span span; /* hex of text has long rows of digits, which are no number */
    CHECK(scan_private(STR("Hash 686f7720617265207930752033353337 of it"), &span, 1) == 0);
}

/* Letters of every script stand before a number without a space. */
static void test_a_number_glued_to_a_word_of_any_script_is_found(void)
{
    static const char *const texts[] = {
        "Моя карта4111111111111111", "Моя карта4111111111111111, вот", "Número4111111111111111",
        "Numéro é4111111111111111",  "Kärte4111111111111111 bitte",    "κάρτα4111111111111111",
        "卡号4111111111111111谢谢",  "カード4111111111111111です",     "카드4111111111111111입니다",
        "بطاقة4111111111111111",     "הכרטיס4111111111111111",         "บัตร4111111111111111",
        "कार्ड4111111111111111",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct privacy_span spans[2];
        struct td_str text = str_from(texts[i]);
        size_t count = scan_private(text, spans, 2), begin = str_find(text, STR("4111"), 0);
        bool found = count == 1 && spans[0].kind == PRIVACY_CARD && spans[0].begin == begin &&
                     spans[0].end == begin + 16;
        if (!found)
            fprintf(stderr, "%s: %zu findings\n", texts[i], count);
        CHECK(found);
    }
    struct privacy_span span; /* no check digits, and nothing announces it */
    CHECK(scan_private(STR("Заказ4111111111111112"), &span, 1) == 0);
}

/* Letters beyond ASCII stand between the word that announces a number and the number, or within
 * the word. Nine digits without check digits are one only beside such a word. */
static void test_a_word_that_letters_cut_announces_the_number_glued_to_it(void)
{
    static const struct {
        const char *word;
        bool announces;
    } rows[] = {
        {"SSNé", true},          {"ssnMün", true},   {"ssn_Mün", true}, {"éSSN", true},
        {"SSNéé", true},         {"SSNéaé", true},   {"SSNя", true},    {"mySsnDeÉlise", true},
        {"ñcustomerSsnñ", true}, {"xssnMün", false}, {"é", false},      {"Mün", false},
        {"messné", false},       {"ssneé", false},
    };
    static const char *const around[][2] = {{"", ""}, {"see ", " now"}, {"\"", "\","}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t k = 0; k < sizeof around / sizeof *around; k++) {
            char text[128];
            struct privacy_span spans[2];
            snprintf(text, sizeof text, "%s%s536904399%s", around[k][0], rows[i].word,
                     around[k][1]);
            size_t count = scan_private(str_from(text), spans, 2);
            size_t begin = strlen(around[k][0]) + strlen(rows[i].word);
            bool found = count == 1 && spans[0].kind == PRIVACY_US_SSN && spans[0].begin == begin &&
                         spans[0].end == begin + 9;
            CHECK(rows[i].announces ? found : count == 0);
            if (rows[i].announces ? !found : count != 0)
                fprintf(stderr, "%s: %zu findings\n", text, count);
        }
    /* a word of its own that has such a letter */
    static const char *const whole[] = {"fødselsnummer07028869910", "Fødselsnummer07028869910",
                                        "kundeFødselsnummer07028869910"};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        struct privacy_span span;
        CHECK(scan_private(str_from(whole[i]), &span, 1) == 1 && span.kind == PRIVACY_NO_FNR);
    }
}

/* Eleven bytes in base64 are fifteen characters, at times letters only, and a sign of padding. */
static void test_a_number_in_short_base64_is_found_whatever_its_letters_are(void)
{
    char plain[16], text[96];
    for (unsigned i = 0; i < 1000; i++) {
        snprintf(plain, sizeof plain, "%03u-%02u-%04u", 100 + i * 7 % 500, 1 + i % 99,
                 1 + i * 13 % 9999);
        char *end = stpcpy(text, "My social security number is ");
        end += write_base64((struct td_str){plain, sizeof "000-00-0000"}, end);
        snprintf(end - 1, sizeof text - (size_t)(end - 1 - text), "= and so on.");
        struct privacy_span span;
        bool found = scan_private(str_from(text), &span, 1) == 1 && span.kind == PRIVACY_US_SSN;
        if (!found)
            fprintf(stderr, "%s: nothing found\n", text);
        CHECK(found);
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
    static const char unit[] = "\\u00e9 bob\\u0040acmeltd.com ";
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
        "a@acmeltd.com +1 415 555 2671 4111-1111-1111-1111 gb29 nwbk 6016 1331 9268 19 "
        "2001:db9::1 ::ffff:1.2.3.4 123-45-6789 sk-proj-abcdefghijklmnop1234567890 "
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
    RUN(test_a_value_anywhere_in_a_long_encoded_text_is_found);
    RUN(test_a_value_anywhere_in_a_long_escaped_text_is_found);
    RUN(test_a_number_glued_to_its_name_is_found_whatever_it_decodes_to);
    RUN(test_a_number_glued_to_a_word_of_any_script_is_found);
    RUN(test_a_word_that_letters_cut_announces_the_number_glued_to_it);
    RUN(test_a_number_in_short_base64_is_found_whatever_its_letters_are);
    RUN(test_usual_signs_are_no_disguise);
    RUN(test_escapes_all_along_a_text_hide_nothing);
    RUN(test_a_long_value_is_covered_to_its_end);
    RUN(test_every_cut_of_a_text_is_safe);
    return test_finish();
}
