/* A scanner is read by many threads at once, while others are made and freed: what a reload
 * does. */
#include "privacy/scan/scanner.h"

#include "base/core/str.h"
#include "privacy/scan/privacy.h"
#include "scanners.h"
#include "test.h"

#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 4, ROUNDS = 200 };

#define TEXT "EMP-12345 of Anna Kowalska, card 4111 1111 1111 1111 and bsn 111222333, 3 May 2024"

static struct privacy_scanner *make(void)
{
    struct td_error err = {0};
    struct privacy_rules *rules = privacy_rules_new();
    struct tagger *tagger = NULL;
    if (privacy_rules_add_pattern(rules, "STAFF_ID", "EMP-\\d{5}", TD_CLASS_SENSITIVE, 0.8, &err) !=
            TD_OK ||
        tagger_open(NAMES_FILE, &tagger, &err) != TD_OK)
        fprintf(stderr, "%s\n", err.message);
    return scanner_with(rules, tagger);
}

struct work {
    const struct privacy_scanner *scanner;
    atomic_bool *go;
    bool same;
};

static bool is_complete(const struct privacy_scanner *scanner)
{
    struct privacy_span spans[8];
    return privacy_scan(scanner, STR(TEXT), spans, 8) == 5 && spans[0].kind == PRIVACY_CUSTOM &&
           strcmp(span_name(&spans[0]), "STAFF_ID") == 0 && spans[1].kind == PRIVACY_PERSON &&
           spans[2].kind == PRIVACY_CARD && spans[3].kind == PRIVACY_NL_BSN &&
           spans[4].kind == PRIVACY_DATE;
}

static void *scan_again_and_again(void *ctx)
{
    struct work *work = ctx;
    while (!atomic_load(work->go))
        ;
    for (int i = 0; i < ROUNDS && work->same; i++)
        work->same = is_complete(work->scanner);
    return NULL;
}

static void test_threads_share_a_scanner_while_others_come_and_go(void)
{
    struct privacy_scanner *scanner = make();
    pthread_t threads[THREADS];
    struct work work[THREADS];
    atomic_bool go = false;
    for (int i = 0; i < THREADS; i++) {
        work[i] = (struct work){scanner, &go, true};
        REQUIRE(pthread_create(&threads[i], NULL, scan_again_and_again, &work[i]) == 0);
    }
    atomic_store(&go, true); /* the first scans of the process are at the same time */
    for (int i = 0; i < 5; i++) {
        struct privacy_scanner *other = make();
        CHECK(is_complete(other));
        privacy_scanner_free(other);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        CHECK(work[i].same);
    }
    privacy_scanner_free(scanner);
}

/* A guess that lies half in a user's text is about what the user sent. */
static void test_a_guess_is_set_aside_only_where_it_lies_whole_in_instructions(void)
{
    static const struct {
        enum reading_from first, second;
        enum td_data_class data_class;
    } rows[] = {{READING_SYSTEM, READING_SYSTEM, TD_CLASS_PUBLIC},
                {READING_SYSTEM, READING_REQUEST, TD_CLASS_SENSITIVE},
                {READING_REQUEST, READING_SYSTEM, TD_CLASS_SENSITIVE},
                {READING_SYSTEM, READING_TOOLS, TD_CLASS_SENSITIVE},
                {READING_REQUEST, READING_REQUEST, TD_CLASS_SENSITIVE}};
    struct td_error err = {0};
    struct tagger *tagger = NULL;
    REQUIRE(tagger_open(NAMES_FILE, &tagger, &err) == TD_OK);
    struct privacy_scanner *scanner = privacy_scanner_new(
        &(struct privacy_scanner_parts){.tagger = tagger,
                                        .name_min_score = 0.5f,
                                        .name_class = TD_CLASS_SENSITIVE,
                                        .guesses_aside = {[READING_SYSTEM] = true}});
    REQUIRE(scanner != NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct reading reading;
        struct privacy_span span;
        reading_init(&reading);
        reading.from = rows[i].first;
        reading_add(&reading, STR("we work for Acme Tools"), READING_LINE);
        reading.from = rows[i].second;
        reading_add(&reading, STR("Ltd."), READING_LINE);
        CHECK(privacy_scan_reading(scanner, &reading, false, &span, 1) == 1);
        CHECK(span.guessed && span.begin < reading.parts[0].end &&
              span.end > reading.parts[1].begin);
        CHECK(span.data_class == rows[i].data_class);
        CHECK(privacy_classify_reading(scanner, &reading, STR("a"), NULL) == rows[i].data_class);
        reading_deinit(&reading);
    }
    privacy_scanner_free(scanner);
}

int main(void)
{
    RUN(test_threads_share_a_scanner_while_others_come_and_go);
    RUN(test_a_guess_is_set_aside_only_where_it_lies_whole_in_instructions);
    return test_finish();
}
