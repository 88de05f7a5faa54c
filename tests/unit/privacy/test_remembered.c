/* A scan that remembers finds what a whole scan finds, while conversations grow, are cut and are
 * changed. */
#include "privacy/scan/remembered.h"

#include "base/core/str.h"
#include "base/crypto/rng.h"
#include "privacy/scan/privacy.h"
#include "privacy/scan/rules.h"
#include "privacy/scan/tally.h"
#include "scanners.h"
#include "test.h"

#define MESSAGES_MAX 48
#define MESSAGE_BYTES_MAX 9000

/* Values, words that announce values, halves of values, and ordinary text. */
static const char *const pieces[] = {
    "the build is green again and ",
    "int main(void)\n{\n    return 0;\n}\n",
    "my card is ",
    "4111 1111",
    " 1111 1111 ",
    "4111 1111 1111 1111\n",
    "DE89 3704 0044 0532 0130 00\n",
    "a.b@acmeltd.com ",
    "john at acmeltd dot com, ",
    "password: ",
    "hunter2Zz9 ",
    "account number ",
    "33448712 ",
    "telephone ",
    "+49 30 1234 5678 ",
    "ssn ",
    "536-90-4399 ",
    "NDExMTExMTExMTExMTExMSBpcyBteSBjYXJk ",
    "NDExMTEx\n",
    "MTExMTExMTEx\n",
    "\\u0034111\\u0020111\\u0031 1111 1111 ",
    "ann\\u0040acmeltd.com ",
    "{\\\"mail\\\": \\\"ann@acmeltd.com\\\"}\\n",
    "%41%6e%6e%40acmeltd.com ",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAzq1\nq8sH2kd9\n",
    "-----END RSA PRIVATE KEY-----\n",
    "sk-proj-abcdEFGH1234abcdEFGH1234abcdEFGH1234abcd ",
    "12 Baker Street, Springfield ",
    "Anna Kowalska of Gdansk ",
    "EMP-12345 ",
    "52 49 49 ",
    "born on ",
    "3 May 1984 ",
    "\xef\xbc\x94\xef\xbc\x91\xef\xbc\x91\xef\xbc\x91 ",
    "gr\xc3\xbc\xc3\x9f dich ",
    "192.0.2.7 and 84.57.12.33 ",
    "legal winner thank year wave sausage worth useful legal winner thank yellow ",
    "src/base/bytes/buf.c:120: ",
};

struct conversation {
    struct buf messages[MESSAGES_MAX];
    size_t count;
};

static void write_message(struct rng *rng, struct buf *out)
{
    size_t most = rng_below(rng, 4) ? 1 + rng_below(rng, 400) : 1 + rng_below(rng, 7000);
    bool prose = rng_below(rng, 3) > 0;
    buf_clear(out);
    while (out->len < most) {
        uint64_t which = prose && rng_below(rng, 40)
                             ? rng_below(rng, 2)
                             : rng_below(rng, sizeof pieces / sizeof *pieces);
        buf_append_str(out, str_from(pieces[which]));
    }
}

static void read_all(const struct conversation *conversation, struct reading *reading)
{
    reading_init(reading);
    for (size_t i = 0; i < conversation->count; i++)
        reading_add(reading, buf_view(&conversation->messages[i]),
                    i % 7 == 3 ? READING_GOES_ON : READING_LINE);
    reading_pause(reading);
    reading_add_fixed(reading, STR("messages"), READING_LINE);
    for (size_t i = 0; i < conversation->count; i += 2) {
        reading_add_fixed(reading, STR("account_number"), READING_LINE);
        reading_add(reading, buf_view(&conversation->messages[i]), READING_VALUE);
    }
    reading_pause(reading);
    reading_add_fixed(reading, STR("tools"), READING_LINE);
    for (size_t i = 0; i < 40; i++)
        reading_add(reading, str_from(pieces[i % 3]), READING_VALUE);
}

static bool same_span(const struct privacy_span *a, const struct privacy_span *b)
{
    return a->kind == b->kind && a->begin == b->begin && a->end == b->end &&
           a->data_class == b->data_class && a->guessed == b->guessed && a->rule == b->rule &&
           !(a->score < b->score) && !(b->score < a->score);
}

/* Rules have a time limit, which a busy machine reaches by chance. */
static bool ran_out(const struct privacy_span *spans, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(span_name(&spans[i]), PRIVACY_RULE_OVER_LIMIT) == 0)
            return true;
    return false;
}

/* With memory and without: the same, in each detail. */
static bool same_findings(const struct privacy_scanner *scanner, const struct reading *reading,
                          const char *caller)
{
    struct spans known = {0}, fresh = {0};
    bool same = privacy_find_reading(scanner, reading, str_from(caller), &known) &&
                privacy_find_reading(scanner, reading, (struct td_str){NULL, 0}, &fresh) &&
                known.count == fresh.count;
    for (size_t i = 0; same && i < known.count; i++)
        same = same_span(&known.spans[i], &fresh.spans[i]);
    same |= ran_out(known.spans, known.count) || ran_out(fresh.spans, fresh.count);
    free(known.spans);
    free(fresh.spans);
    return same;
}

static struct privacy_span whole[20000];

/* Everything private that one scan of all finds lies in something private that is found by units,
 * and the other way round. Names that are but likely may differ, because the tagger looks at the
 * words of a whole stretch. */
static bool all_within(const struct privacy_span *of, size_t of_count,
                       const struct privacy_span *in, size_t in_count)
{
    for (size_t i = 0, k = 0; i < of_count; i++) {
        if (of[i].data_class == TD_CLASS_PUBLIC || of[i].kind == PRIVACY_ADDRESS)
            continue;
        while (k < in_count && in[k].end <= of[i].begin)
            k++;
        bool within = k < in_count && in[k].begin < of[i].end;
        for (size_t n = k; within && n < in_count && in[n].begin < of[i].end; n++)
            if (in[n].data_class >= of[i].data_class)
                goto next;
        fprintf(stderr, "%s %zu-%zu %.3f is missing\n", span_name(&of[i]), of[i].begin, of[i].end,
                (double)of[i].score);
        return false;
    next:;
    }
    return true;
}

static bool finds_what_one_scan_finds(const struct privacy_scanner *scanner,
                                      const struct reading *reading)
{
    struct spans units = {0};
    size_t count = privacy_scan_reading(scanner, reading, false, whole, 20000);
    bool all = privacy_find_reading(scanner, reading, STR("caller"), &units) && count < 20000 &&
               all_within(whole, count, units.spans, units.count) &&
               all_within(units.spans, units.count, whole, count);
    all |= ran_out(units.spans, units.count) || (count < 20000 && ran_out(whole, count));
    free(units.spans);
    return all;
}

/* One turn more, or a change somewhere before. */
static void change(struct rng *rng, struct conversation *conversation)
{
    if (rng_below(rng, 8) == 0 && conversation->count > 2) {
        write_message(rng, &conversation->messages[rng_below(rng, conversation->count)]);
        return;
    }
    for (size_t more = 1 + rng_below(rng, 3); more > 0 && conversation->count < MESSAGES_MAX;
         more--)
        write_message(rng, &conversation->messages[conversation->count++]);
}

static struct privacy_scanner *scanner_of_all(void)
{
    struct privacy_rules *rules = privacy_rules_new();
    struct tagger *tagger = NULL;
    struct td_error err = {0};
    if (privacy_rules_add_pattern(rules, "STAFF_ID", "EMP-\\d{5}", TD_CLASS_SENSITIVE, 0.8, &err) !=
            TD_OK ||
        privacy_rules_add_pattern(rules, "WHOLE", "\\Aint main(?s:.)*green", TD_CLASS_RESTRICTED,
                                  0.8, &err) != TD_OK ||
        tagger_open(NAMES_FILE, &tagger, &err) != TD_OK)
        fprintf(stderr, "%s\n", err.message);
    return scanner_with(rules, tagger);
}

static void test_a_growing_conversation_has_the_findings_of_a_whole_scan(void)
{
    struct privacy_scanner *scanner = scanner_of_all();
    static struct conversation conversation;
    struct rng rng;
    rng_init(&rng, 20);
    for (size_t i = 0; i < MESSAGES_MAX; i++)
        buf_init(&conversation.messages[i], MESSAGE_BYTES_MAX);
    for (int round = 0; round < 8; round++) {
        conversation.count = 0;
        for (int turn = 0; turn < 20; turn++) {
            struct reading reading;
            change(&rng, &conversation);
            read_all(&conversation, &reading);
            CHECK(same_findings(scanner, &reading, "caller"));
            CHECK(finds_what_one_scan_finds(scanner, &reading));
            reading_deinit(&reading);
        }
    }
    struct scan_memory_counts counts = scan_memory_count(privacy_scanner_memory(scanner));
    CHECK(counts.remembered > counts.scanned / 3);
    for (size_t i = 0; i < MESSAGES_MAX; i++)
        buf_deinit(&conversation.messages[i]);
    privacy_scanner_free(scanner);
}

/* --- whose it is, and for how long --- */

static void fill(struct reading *reading, const char *last)
{
    reading_init(reading);
    for (int i = 0; i < 1000; i++)
        reading_add(reading, STR("the build is green again and nothing is wrong"), READING_LINE);
    reading_add(reading, str_from(last), READING_LINE);
}

static uint64_t scanned_for(struct privacy_scanner *scanner, const char *caller, const char *last)
{
    struct reading reading;
    struct scan_memory *memory = privacy_scanner_memory(scanner);
    uint64_t before = scan_memory_count(memory).scanned;
    fill(&reading, last);
    CHECK(same_findings(scanner, &reading, caller));
    reading_deinit(&reading);
    return scan_memory_count(memory).scanned - before;
}

static void test_what_one_caller_sent_is_not_remembered_for_another(void)
{
    struct privacy_scanner *scanner = scanner_with(privacy_rules_new(), NULL);
    uint64_t all = scanned_for(scanner, "a", "one");
    CHECK(all > 40000);
    CHECK(scanned_for(scanner, "a", "one") == 0);
    CHECK(scanned_for(scanner, "b", "one") == all);
    CHECK(scanned_for(scanner, "a", "card 4111 1111 1111 1111") < 24000);
    scan_memory_clear(privacy_scanner_memory(scanner));
    CHECK(scanned_for(scanner, "a", "one") == all);
    privacy_scanner_free(scanner);
}

static void test_a_question_before_announces_what_a_new_text_says(void)
{
    struct privacy_scanner *scanner = scanner_with(privacy_rules_new(), NULL);
    struct privacy_tally found = {0};
    struct reading reading;
    fill(&reading, "What is your account number?");
    CHECK(privacy_classify_reading(scanner, &reading, STR("a"), &found) == TD_CLASS_PUBLIC);
    reading_add(&reading, STR("33448712"), READING_LINE);
    CHECK(privacy_classify_reading(scanner, &reading, STR("a"), &found) > TD_CLASS_PUBLIC);
    reading_deinit(&reading);
    privacy_scanner_free(scanner);
}

/* A long text that ends with one piece, and a text after it. */
static bool follows_rightly(const struct privacy_scanner *scanner, const char *last,
                            const char *next)
{
    struct reading reading;
    struct buf text;
    buf_init(&text, 4 * MESSAGE_BYTES_MAX);
    while (text.len < MESSAGE_BYTES_MAX)
        buf_append_str(&text, str_from(pieces[0]));
    buf_append_str(&text, str_from(last));
    reading_init(&reading);
    reading_add(&reading, buf_view(&text), READING_LINE);
    reading_add(&reading, str_from(next), READING_LINE);
    bool same = same_findings(scanner, &reading, "caller");
    reading_deinit(&reading);
    buf_deinit(&text);
    return same;
}

/* What was found in a text beside the one that followed says nothing beside another one. */
static void test_a_text_is_read_again_when_another_one_follows_it(void)
{
    static const char *const rows[][3] = {
        {"my card is 4111 1111", "1111 1111", "that is all"}, /* each lies over the border */
        {"my IBAN is DE89 3704 0044 0532", "0130 00", "that is all"},
        {"it is in 12 Baker Street", "Springfield, IL 62701", "that is all"},
        {"born on 3 May", "1984", "that is all"},
        {"write to ann", "@acmeltd.com", "that is all"},
    };
    struct privacy_scanner *scanner = scanner_of_all();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int order = 0; order < 2; order++) {
            scan_memory_clear(privacy_scanner_memory(scanner));
            bool right = follows_rightly(scanner, rows[i][0], rows[i][1 + order]) &&
                         follows_rightly(scanner, rows[i][0], rows[i][2 - order]);
            CHECK(right);
            if (!right)
                fprintf(stderr, "  row %zu, order %d\n", i, order);
        }
    privacy_scanner_free(scanner);
}

/* --- what is not remembered --- */

struct reads {
    size_t count;
    const char *rule; /* of the finding; NULL: there is none */
    bool whole;
};

static bool read_range(void *ctx, size_t begin, size_t end, struct spans *found)
{
    struct reads *reads = ctx;
    const struct privacy_span span = {.kind = PRIVACY_CUSTOM,
                                      .begin = begin,
                                      .end = end,
                                      .data_class = TD_CLASS_RESTRICTED,
                                      .rule = reads->rule};
    reads->count++;
    if (reads->rule)
        spans_add(found, &span);
    return reads->whole;
}

/* A machine that was busy for a moment must not keep a conversation here for good. */
static void test_what_could_not_be_looked_at_is_looked_at_again(void)
{
    static const struct {
        const char *rule;
        bool whole, again;
    } rows[] = {{NULL, true, false},
                {"STAFF_ID", true, false},
                {PRIVACY_RULE_OVER_LIMIT, true, true},
                {NULL, false, true}};
    struct reading reading;
    fill(&reading, "one");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct scan_memory *memory = scan_memory_new();
        struct reads reads = {.rule = rows[i].rule, .whole = rows[i].whole};
        struct spans found = {0};
        REQUIRE(memory != NULL);
        CHECK(scan_memory_find(memory, &reading, STR("a"), read_range, &reads, &found));
        const size_t units = reads.count, findings = found.count;
        CHECK(units > 1);
        found.count = 0;
        CHECK(scan_memory_find(memory, &reading, STR("a"), read_range, &reads, &found));
        CHECK(reads.count == (rows[i].again ? 2 * units : units));
        CHECK(found.count == findings);
        free(found.spans);
        scan_memory_free(memory);
    }
    reading_deinit(&reading);
}

static void test_the_table_is_bounded(void)
{
    struct privacy_scanner *scanner = scanner_with(privacy_rules_new(), NULL);
    char last[32];
    for (int i = 0; i < 3000; i++) {
        struct reading reading;
        reading_init(&reading);
        for (int k = 0; k < 20; k++) {
            snprintf(last, sizeof last, "%d and %d", i, k);
            for (int n = 0; n < 50; n++)
                reading_add(&reading, str_from(last), READING_LINE);
        }
        (void)privacy_classify_reading(scanner, &reading, STR("a"), NULL);
        reading_deinit(&reading);
    }
    CHECK(scanned_for(scanner, "a", "one") > 0);
    CHECK(scanned_for(scanner, "a", "one") == 0);
    privacy_scanner_free(scanner);
}

int main(void)
{
    RUN(test_a_growing_conversation_has_the_findings_of_a_whole_scan);
    RUN(test_what_one_caller_sent_is_not_remembered_for_another);
    RUN(test_a_question_before_announces_what_a_new_text_says);
    RUN(test_a_text_is_read_again_when_another_one_follows_it);
    RUN(test_what_could_not_be_looked_at_is_looked_at_again);
    RUN(test_the_table_is_bounded);
    return test_finish();
}
