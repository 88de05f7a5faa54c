/* The tagger of names: reading words, the file's checks, the chain's sums, and what the file that
 * is shipped finds. */
#include "scanners.h"
#include "test.h"

#include "base/bytes/buf.h"
#include "base/core/str.h"
#include "base/crypto/hash.h"
#include "base/text/unicode.h"
#include "base/text/utf8.h"
#include "privacy/scan/privacy.h"

#include <math.h>
#include <stdbool.h>
#include <unistd.h>

#define FILE_BYTES (TAGGER_HEADER_BYTES + GAP_COUNT * 64 + 256 * 4 + 256 * 8)

static struct td_str view(const char *text)
{
    return (struct td_str){text, strlen(text)};
}

/* A whole small file: weights zero, no words. */
static void make_file(uint32_t out[FILE_BYTES / 4])
{
    unsigned char *data = (unsigned char *)out;
    const uint32_t head[] = {TAGGER_VERSION, 256, 256};
    const float scales[] = {0.03f, 0.03f, 1, 0}, costs[] = {1, 1, 1.5f, 1};
    memset(data, 0, FILE_BYTES);
    memcpy(data, TAGGER_MAGIC, 8);
    memcpy(data + 8, head, sizeof head);
    memcpy(data + 20, scales, sizeof scales);
    memcpy(data + 48, costs, sizeof costs);
    uint64_t hash = hash_words64(data + TAGGER_HEADER_BYTES, FILE_BYTES - TAGGER_HEADER_BYTES);
    memcpy(data + 40, &hash, 8);
}

static const char *open_changed(size_t offset, uint32_t value, size_t len, enum td_status *status)
{
    static uint32_t data[FILE_BYTES / 4];
    static struct td_error err;
    struct tagger *tagger = NULL;
    make_file(data);
    if (offset != SIZE_MAX)
        memcpy((unsigned char *)data + offset, &value, sizeof value);
    memset(&err, 0, sizeof err);
    *status = tagger_open_memory(data, len, "here", &tagger, &err);
    tagger_close(tagger);
    return err.message;
}

static void test_a_damaged_file_is_refused_and_says_why(void)
{
    static const struct {
        size_t offset;
        uint32_t value;
        size_t len;
        enum td_status status;
        const char *words;
    } cases[] = {
        {0, 0, FILE_BYTES, TD_CORRUPT, "is not a names file"},
        {8, 99, FILE_BYTES, TD_UNSUPPORTED, "version 99"},
        {12, 255, FILE_BYTES, TD_CORRUPT, "powers of two"},
        {16, 1u << 30, FILE_BYTES, TD_CORRUPT, "powers of two"},
        {16, 512, FILE_BYTES, TD_CORRUPT, "bytes where its header says"},
        {20, 0x7f800000, FILE_BYTES, TD_CORRUPT, "scales"},
        {24, 0, FILE_BYTES, TD_CORRUPT, "scales"},
        {28, 0x7fc00000, FILE_BYTES, TD_CORRUPT, "scales"},
        {28, 0xbe800000, FILE_BYTES, TD_CORRUPT, "scales"}, /* -0.25: the surer, the less */
        {40, 1, FILE_BYTES, TD_CORRUPT, "hash"},
        {56, 0, FILE_BYTES, TD_CORRUPT, "scales"},
        {60, 0x7fc00000, FILE_BYTES, TD_CORRUPT, "scales"},
        {2000, 1, FILE_BYTES, TD_CORRUPT, "hash"},
        {SIZE_MAX, 0, FILE_BYTES - 4, TD_CORRUPT, "bytes where its header says"},
        {SIZE_MAX, 0, 63, TD_CORRUPT, "is not a names file"},
        {SIZE_MAX, 0, 0, TD_CORRUPT, "is not a names file"},
    };
    enum td_status status;
    open_changed(SIZE_MAX, 0, FILE_BYTES, &status);
    CHECK(status == TD_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *message = open_changed(cases[i].offset, cases[i].value, cases[i].len, &status);
        CHECK(status == cases[i].status);
        CHECK(strstr(message, cases[i].words) != NULL);
    }
}

static void check_words(const char *text, const char *expected)
{
    char got[512] = "";
    struct tagger_reader reader;
    struct tagger_word word;
    tagger_reader_init(&reader, view(text));
    while (tagger_read(&reader, &word)) {
        size_t used = strlen(got);
        snprintf(got + used, sizeof got - used, "%s%.*s/%d/%d", used ? " " : "",
                 (int)(word.end - word.begin), text + word.begin, word.gap, word.shape);
    }
    if (strcmp(got, expected) != 0)
        fprintf(stderr, "%s -> %s\n", text, got);
    CHECK(strcmp(got, expected) == 0);
}

static void test_words_and_gaps(void)
{
    check_words("", "");
    check_words(" .,!", "");
    check_words("John Smith", "John/7/1 Smith/0/1");
    check_words("J. R. O'Brien's dog", "J/7/3 R/3/3 O'Brien/3/4 dog/9/0");
    check_words("don't I'm", "don't/7/0 I/0/3");
    check_words("Anne-Marie, NASA; iPhone 12 B2B",
                "Anne/7/1 Marie/1/1 NASA/5/2 iPhone/10/5 12/0/6 B2B/0/7");
    check_words("a\nb\n\nc (d) \"e\" x@y", "a/7/0 b/6/0 c/7/0 d/11/0 e/11/0 x/11/0 y/14/0");
    check_words("\xc3\x89milie \xc5\x81\xc3\xb3"
                "d\xc5\xba",
                "\xc3\x89milie/7/1 \xc5\x81\xc3\xb3"
                "d\xc5\xba/0/1");
    check_words("\xff\xfe"
                "ab\xc3",
                "ab/7/0");
}

static uint32_t hash_of(const char *text)
{
    struct tagger_reader reader;
    struct tagger_word word = {0};
    tagger_reader_init(&reader, view(text));
    return tagger_read(&reader, &word) ? word.hash : 0;
}

static void test_case_accents_and_hiding_do_not_change_a_word(void)
{
    CHECK(hash_of("zoe") == hash_of("ZO\xc3\x8b"));
    CHECK(hash_of("obrien") == hash_of("O\xe2\x80\x99"
                                       "Brien"));
    CHECK(hash_of("john") == hash_of("jo\xe2\x80\x8bhn"));
    CHECK(hash_of("john") ==
          hash_of("\xef\xbc\xaa\xef\xbd\x8f\xef\xbd\x88\xef\xbd\x8e")); /* full width */
    CHECK(hash_of("zoe") == hash_of("zoe\xcc\x88"));                    /* e and a combining mark */
    CHECK(hash_of("john") != hash_of("joan"));
    for (uint32_t c = 0x80; c < 0xE1000; c++) {
        char hidden[16] = "jo";
        if (!unicode_is_invisible(c))
            continue;
        size_t len = 2 + utf8_encode(c, hidden + 2);
        memcpy(hidden + len, "hn", sizeof "hn");
        CHECK(hash_of(hidden) == hash_of("john"));
    }
}

/* All labellings of three words, one by one, against the chain's sums. */
static void test_chain_agrees_with_counting_all_labellings(void)
{
    static struct chain chain;
    static struct chain_steps steps;
    double score[3][LABEL_COUNT], marginal[3][LABEL_COUNT] = {{0}}, total = 0;
    uint64_t seed = 1;
    for (size_t g = 0; g < GAP_COUNT; g++)
        for (size_t k = 0; k < LABEL_COUNT; k++)
            for (size_t l = 0; l < LABEL_COUNT; l++)
                chain_steps_set(&steps, g, (enum tagger_label)k, (enum tagger_label)l,
                                (float)(hash_mix64(seed++) % 400) / 100 - 2);
    chain.count = 3;
    for (size_t i = 0; i < 3; i++) {
        chain.gap[i] = (uint8_t)(i * 5);
        for (size_t l = 0; l < LABEL_COUNT; l++)
            score[i][l] = (double)(chain.score[i][l] = (float)(hash_mix64(seed++) % 600) / 100 - 3);
    }
    chain.gap[3] = GAP_COUNT - 1;
    for (size_t a = 0; a < LABEL_COUNT; a++)
        for (size_t b = 0; b < LABEL_COUNT; b++)
            for (size_t c = 0; c < LABEL_COUNT; c++) {
                double p = exp(score[0][a] + score[1][b] + score[2][c]) *
                           (double)steps.forward[0][LABEL_O][a] * (double)steps.forward[5][a][b] *
                           (double)steps.forward[10][b][c] *
                           (double)steps.forward[GAP_COUNT - 1][c][LABEL_O];
                total += p;
                marginal[0][a] += p;
                marginal[1][b] += p;
                marginal[2][c] += p;
            }
    chain_run(&chain, &steps);
    CHECK(fabs(chain_likelihood(&chain, &steps) - log(total)) < 1e-4);
    for (size_t i = 0; i < 3; i++)
        for (size_t l = 0; l < LABEL_COUNT; l++)
            CHECK(fabs((double)chain.marginal[i][l] - marginal[i][l] / total) < 1e-5);
}

static struct tagger *shipped;

static bool found(const char *text, const char *name, enum tagger_type type)
{
    struct tagger_cursor cursor;
    struct tagger_span span;
    tagger_begin(&cursor, shipped, view(text), 0.5f);
    while (tagger_next(&cursor, &span))
        if (span.type == type && span.end - span.begin == strlen(name) &&
            memcmp(text + span.begin, name, strlen(name)) == 0)
            return true;
    return false;
}

static size_t count_of(const char *text, float min_score)
{
    struct tagger_cursor cursor;
    struct tagger_span span;
    size_t count = 0, end = 0;
    tagger_begin(&cursor, shipped, view(text), min_score);
    while (tagger_next(&cursor, &span)) {
        CHECK(span.begin >= end && span.end > span.begin && span.end <= strlen(text));
        CHECK(span.score >= min_score && span.score <= 1);
        end = span.end;
        count++;
    }
    return count;
}

static void test_names_in_sentences(void)
{
    CHECK(found("My name is Kaarlo Virtaniemi.", "Kaarlo Virtaniemi", TAGGER_PERSON));
    CHECK(found("hi, i am tracy mcallister from leeds", "tracy mcallister", TAGGER_PERSON));
    CHECK(found("hi, i am tracy mcallister from leeds", "leeds", TAGGER_PLACE));
    CHECK(found("Please call Dr. O'Brien-Novotn\xc3\xa1 today.", "O'Brien-Novotn\xc3\xa1",
                TAGGER_PERSON));
    CHECK(
        found("She works for Halvorsen Energy GmbH in Oslo.", "Halvorsen Energy GmbH", TAGGER_ORG));
    CHECK(found("She works for Halvorsen Energy GmbH in Oslo.", "Oslo", TAGGER_PLACE));
    CHECK(found("She moved to New Zealand in May.", "New Zealand", TAGGER_PLACE));
    CHECK(found("We bought it from Novak Stroje s.r.o. last year.", "Novak Stroje s.r.o",
                TAGGER_ORG));
    CHECK(found("He is a nurse at Wexford Memorial Hospital.", "Wexford Memorial Hospital",
                TAGGER_ORG));
    CHECK(found("Shares of Quillmark & Sons fell.", "Quillmark & Sons", TAGGER_ORG));
}

static void test_streets_with_their_numbers(void)
{
    CHECK(found("She lives at 23 Wexcombe Road in Leeds.", "23 Wexcombe Road", TAGGER_STREET));
    CHECK(found("Wir ziehen in die Lindenstra\xc3\x9f"
                "e 14b nach Berlin.",
                "Lindenstra\xc3\x9f"
                "e 14b",
                TAGGER_STREET));
    CHECK(count_of("We sold 23 chairs and 14 tables on 12 days.", 0.5f) == 0);
}

static void test_texts_without_names(void)
{
    static const char *const texts[] = {
        "",
        "The quick brown fox jumps over the lazy dog.",
        "Can you explain how a hash table works and what it costs?",
        "On Monday we will send the invoice. It is due in March.",
        "i will frank the letter and bill you in may",
        "import os\nfrom collections import Counter\nfor i in range(10): print(i)",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (count_of(texts[i], 0.5f) != 0)
            fprintf(stderr, "found a name in: %s\n", texts[i]);
        CHECK(count_of(texts[i], 0.5f) == 0);
    }
}

/* The lexicon knows few words of these languages: where most are unknown, that alone makes no
 * name. */
static void test_other_languages_without_names(void)
{
    static const char *const texts[] = {
        "\u0421\u044a\u0435\u0448\u044c \u0436\u0435 \u0435\u0449\u0451 "
        "\u044d\u0442\u0438\u0445 \u043c\u044f\u0433\u043a\u0438\u0445 "
        "\u0444\u0440\u0430\u043d\u0446\u0443\u0437\u0441\u043a\u0438\u0445 "
        "\u0431\u0443\u043b\u043e\u043a, \u0434\u0430 \u0432\u044b\u043f\u0435\u0439 "
        "\u0447\u0430\u044e. ",
        "Le boulanger ouvre sa boutique avant l'aube et referme les volets au cr\u00e9puscule. ",
        "Der Handwerker reparierte gestern die undichte Leitung und strich danach die Wand. ",
        "Las golondrinas vuelven cada primavera y anidan bajo los aleros mojados. ",
        "Uczniowie sprz\u0105tali podw\u00f3rko, a p\u00f3\u017aniej grali w pi\u0142k\u0119. ",
        "Marangoz dolaplar\u0131 boyad\u0131 ve kap\u0131lar\u0131 onard\u0131. ",
    };
    static char text[1 << 14];
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (size_t times = 1; times <= 30; times += 29) {
            size_t len = 0;
            for (size_t k = 0; k < times; k++)
                len += (size_t)snprintf(text + len, sizeof text - len, "%s", texts[i]);
            if (count_of(text, 0.5f) != 0)
                fprintf(stderr, "found a name in %zu times: %s\n", times, texts[i]);
            CHECK(count_of(text, 0.5f) == 0);
        }
    CHECK(found("Gestern reparierte Ottokar Brandlhuber die undichte Leitung.",
                "Ottokar Brandlhuber", TAGGER_PERSON));
}

static void test_a_lower_threshold_finds_more(void)
{
    const char *text =
        "Napoleon met Rose at the Bank; Hope and Mark sold Apple, Delta and Orange. Paris "
        "Hilton, Jordan, Chase Bank, Austin Reed, Virginia Woolf, Will and Grace.";
    size_t strict = count_of(text, 0.95f), middle = count_of(text, 0.5f),
           loose = count_of(text, 0.05f);
    CHECK(strict <= middle);
    CHECK(middle > 0);
    CHECK(loose >= strict);
}

/* Longer than a chunk, names at every place of it: none is lost or found twice at a seam. */
static void test_seams_of_chunks_lose_nothing(void)
{
    for (size_t shift = 0; shift < 40; shift++) {
        static char text[1 << 16];
        size_t len = 0, wanted = 0;
        for (size_t i = 0; i < shift; i++)
            len += (size_t)snprintf(text + len, sizeof text - len, "and so on ");
        for (size_t i = 0; i < 300; i++) {
            len += (size_t)snprintf(text + len, sizeof text - len,
                                    "My name is Anna Kowalska. We went home and it was late. ");
            wanted++;
        }
        CHECK(count_of(text, 0.5f) == wanted);
    }
}

static void test_a_long_row_of_capitals_ends(void)
{
    static char text[1 << 20];
    for (size_t i = 0; i + 8 < sizeof text; i += 8)
        memcpy(text + i, "Xqzvbar ", 8);
    text[sizeof text - 1] = '\0';
    count_of(text, 0.01f);
}

static void test_a_scan_reports_names_beside_other_kinds(void)
{
    const char *text = "Anna Kowalska <anna.kowalska@acmeltd.com> lives in Gdansk";
    struct privacy_span spans[8];
    enum td_data_class class_of_name = TD_CLASS_SENSITIVE;
    struct privacy_scanner *scanner = privacy_scanner_new(&(struct privacy_scanner_parts){
        .tagger = shipped, .name_min_score = 0.5f, .name_class = class_of_name});
    REQUIRE(scanner != NULL);
    size_t count = privacy_scan(scanner, view(text), spans, 8);
    CHECK(count == 3);
    CHECK(spans[0].kind == PRIVACY_PERSON && spans[0].data_class == class_of_name);
    CHECK(spans[0].begin == 0 && spans[0].end == 13);
    CHECK(spans[1].kind == PRIVACY_EMAIL);
    CHECK(spans[2].kind == PRIVACY_PLACE);
    privacy_scanner_free(scanner); /* closes the tagger */
    shipped = NULL;
    CHECK(privacy_scan(plain_scanner(), view(text), spans, 8) == 1);
}

/* The tagger takes what follows for streets; a number's shape and a table's say that they are
 * none. */
static void test_what_no_house_number_looks_like_is_no_street(void)
{
    static const char *const texts[] = {"    For N = 1000, the sum of digits",
                                        "name, age, height (cm), weight (kg) Louis, 7, 50, 11 "
                                        "Bernard, 5, 80, 13 Vincent, 9, 60, 11",
                                        "536-22-8745 \xc3\xb1"
                                        "and\xc3\xba ann@orbit.de"};
    struct privacy_span spans[16];
    struct tagger *tagger = NULL;
    struct td_error err = {0};
    REQUIRE(tagger_open(NAMES_FILE, &tagger, &err) == TD_OK);
    struct privacy_scanner *scanner = scanner_with(NULL, tagger);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        size_t count = privacy_scan(scanner, view(texts[i]), spans, 16);
        for (size_t k = 0; k < count; k++)
            CHECK(spans[k].kind != PRIVACY_ADDRESS);
    }
    CHECK(privacy_scan(scanner, view(texts[2]), spans, 16) == 2);
    CHECK(spans[0].kind == PRIVACY_US_SSN && spans[0].end == 11);
    CHECK(spans[1].kind == PRIVACY_EMAIL);
    privacy_scanner_free(scanner);
}

static bool has_span(const struct privacy_span *spans, size_t count, const char *text,
                     const char *value)
{
    for (size_t i = 0; i < count; i++)
        if (str_equal(str_slice(view(text), spans[i].begin, spans[i].end), view(value)))
            return true;
    return false;
}

/* Recall first: what was a name once is one wherever it stands, and unknown numbers count. */
static void test_a_strict_scan_finds_names_again_and_codes(void)
{
    const char *text = "John Quennell called about case C1203345678. What did quennell want? The "
                       "number 20394857 was his; 1999 and 12 apples are not.";
    struct privacy_span spans[16];
    struct tagger *tagger = NULL;
    struct td_error err = {0};
    REQUIRE(tagger_open(NAMES_FILE, &tagger, &err) == TD_OK);
    struct privacy_scanner *scanner = scanner_with(NULL, tagger);
    size_t count = privacy_scan_strict(scanner, view(text), spans, 16);
    CHECK(count <= 16 && has_span(spans, count, text, "John Quennell"));
    CHECK(has_span(spans, count, text, "quennell"));
    CHECK(has_span(spans, count, text, "C1203345678") && has_span(spans, count, text, "20394857"));
    CHECK(!has_span(spans, count, text, "1999") && !has_span(spans, count, text, "12"));
    for (size_t i = 0; i < count; i++) {
        CHECK(spans[i].data_class >= privacy_kind_class(spans[i].kind));
        CHECK(i == 0 || spans[i - 1].end <= spans[i].begin);
        CHECK(spans[i].kind != PRIVACY_PERSON || spans[i].data_class == TD_CLASS_SENSITIVE);
    }
    count = privacy_scan(scanner, view(text), spans, 16);
    CHECK(has_span(spans, count, text, "John Quennell"));
    CHECK(!has_span(spans, count, text, "C1203345678") &&
          !has_span(spans, count, text, "20394857"));
    CHECK(privacy_classify(scanner, view(text), NULL) ==
          TD_CLASS_PUBLIC); /* strict says nothing of classes */
    privacy_scanner_free(scanner);
}

/* What is denser in possible names than any text is not judged word by word, but nothing hides in
 * it. */
static void test_what_is_too_dense_to_be_judged_counts_as_names(void)
{
    struct tagger_cursor cursor;
    struct tagger_span span;
    struct buf text;
    buf_init(&text, 1 << 20);
    for (size_t i = 0; i < 40000; i++)
        buf_append_str(&text, STR("Xi Yu "));
    size_t hidden = text.len;
    buf_append_str(&text, STR("Jon Smi Xi Yu"));
    REQUIRE(!text.failed);
    size_t covered = hidden, unjudged = 0;
    tagger_begin(&cursor, shipped, buf_view(&text), 0.5f);
    while (tagger_next(&cursor, &span)) {
        CHECK(span.score >= 0.5f && span.score <= 1);
        unjudged += span.end - span.begin > 100 && span.score <= 0.5f;
        if (span.end > hidden && span.begin <= covered + 1)
            covered = span.end;
    }
    CHECK(unjudged > 0);
    CHECK(covered == text.len);
    buf_deinit(&text);
}

/* All spans of a text, as numbers. */
static uint64_t digest_of(const struct tagger *tagger, const char *text, float min_score)
{
    struct tagger_cursor cursor;
    struct tagger_span span;
    uint64_t digest = HASH_FNV1A64_BASIS;
    tagger_begin(&cursor, tagger, view(text), min_score);
    while (tagger_next(&cursor, &span)) {
        digest = hash_fnv1a64(&span.begin, sizeof span.begin, digest);
        digest = hash_fnv1a64(&span.end, sizeof span.end, digest);
        digest = hash_fnv1a64(&span.score, sizeof span.score, digest);
        digest = hash_fnv1a64_byte(digest, (uint8_t)span.type);
    }
    return digest;
}

/* What was remembered of one text is given to another only where it is the same there: each text is
 * read by a tagger that has read all the others and by one that has read nothing. */
static void test_what_was_read_before_changes_nothing(void)
{
    static const char *const heads[] = {
        "",    "I met ",        "i met mr ",       "Yes. ",
        "of ", "The House of ", "qwrt zxcv plmk ", "IT IS SAID THAT "};
    static const char *const names[] = {
        "Anna Kowalska", "anna kowalska", "Rose",     "12 Elm Street",
        "O'Brien",       "Hull",          "Mark May", "Novak Stroje s.r.o."};
    static const char *const tails[] = {
        "", ".", " today", "'s house", ", Bergen", " and Sons Ltd", "\n\nNext", " of York"};
    static const float scores[] = {0.5f, 0.05f};
    const size_t texts = 8 * 8 * 8;
    for (size_t i = 0; i < 4 * texts; i++) { /* twice with each score: new, then remembered */
        char text[200];
        struct tagger *fresh = NULL;
        const float score = scores[i / texts % 2];
        snprintf(text, sizeof text, "%s%s%s", heads[i % 8], names[i / 8 % 8], tails[i / 64 % 8]);
        if (i >= 2 * texts) { /* a tagger is opened for some only, because that takes long */
            if (i % 7 != 0)
                continue;
            REQUIRE(tagger_open(NAMES_FILE, &fresh, NULL) == TD_OK);
        }
        const uint64_t known = digest_of(shipped, text, score);
        if (fresh && digest_of(fresh, text, score) != known) {
            fprintf(stderr, "remembered otherwise: %s\n", text);
            CHECK(false);
        }
        tagger_close(fresh);
    }
}

int main(void)
{
    RUN(test_a_damaged_file_is_refused_and_says_why);
    RUN(test_words_and_gaps);
    RUN(test_case_accents_and_hiding_do_not_change_a_word);
    RUN(test_chain_agrees_with_counting_all_labellings);
    struct td_error err = {0};
    if (tagger_open(NAMES_FILE, &shipped, &err) != TD_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    RUN(test_names_in_sentences);
    RUN(test_streets_with_their_numbers);
    RUN(test_texts_without_names);
    RUN(test_other_languages_without_names);
    RUN(test_a_lower_threshold_finds_more);
    RUN(test_seams_of_chunks_lose_nothing);
    RUN(test_a_long_row_of_capitals_ends);
    RUN(test_what_was_read_before_changes_nothing);
    RUN(test_what_is_too_dense_to_be_judged_counts_as_names);
    RUN(test_a_scan_reports_names_beside_other_kinds);
    RUN(test_what_no_house_number_looks_like_is_no_street);
    RUN(test_a_strict_scan_finds_names_again_and_codes);
    tagger_close(shipped);
    return test_finish();
}
