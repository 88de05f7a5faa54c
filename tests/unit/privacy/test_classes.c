#include "base/core/str.h"
#include "base/crypto/keyed.h"
#include "privacy/scan/class_file.h"
#include "privacy/scan/forgotten.h"
#include "privacy/scan/privacy.h"

#include "scanners.h"
#include "test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void test_names_are_presidios(void)
{
    CHECK(strcmp(privacy_kind_name(PRIVACY_EMAIL), "EMAIL_ADDRESS") == 0);
    CHECK(strcmp(privacy_kind_name(PRIVACY_PHONE), "PHONE_NUMBER") == 0);
    CHECK(strcmp(privacy_kind_name(PRIVACY_CARD), "CREDIT_CARD") == 0);
    CHECK(strcmp(privacy_kind_name(PRIVACY_IBAN), "IBAN_CODE") == 0);
    CHECK(strcmp(privacy_kind_name(PRIVACY_US_SSN), "US_SSN") == 0);
    CHECK(strcmp(privacy_kind_name(PRIVACY_IP), "IP_ADDRESS") == 0);
    CHECK(strcmp(privacy_kind_name(PRIVACY_API_KEY), "API_KEY") == 0);
    CHECK(strcmp(privacy_kind_name(PRIVACY_PRIVATE_KEY), "PRIVATE_KEY") == 0);
}

static void test_the_rule_for_every_class_and_place(void)
{
    static const bool allowed[4][4] = {
        /* device, premises, region, cloud */
        [TD_CLASS_PUBLIC] = {true, true, true, true},
        [TD_CLASS_SENSITIVE] = {true, true, false, false},
        [TD_CLASS_CONTRACTUAL] = {true, true, false, false},
        [TD_CLASS_RESTRICTED] = {true, false, false, false},
    };
    for (int c = 0; c < 4; c++)
        for (int p = 0; p < 4; p++)
            CHECK(privacy_may_reach((enum td_data_class)c, (enum td_place)p) == allowed[c][p]);
    CHECK(!privacy_may_reach((enum td_data_class)9, TD_PLACE_CLOUD)); /* unknown: protected most */
    CHECK(!privacy_may_reach(TD_CLASS_SENSITIVE, (enum td_place)9));
}

/* A turn of the conversation `key`, of an owner, that is its first one. */
static enum td_data_class begin(struct conversation_classes *classes, const char *owner,
                                uint64_t key, enum td_data_class seen)
{
    const struct conversation conversation = {.key = key, .owner = owner};
    return conversation_classes_raise(classes, &conversation, seen);
}

/* A later turn. */
static enum td_data_class go_on(struct conversation_classes *classes, const char *owner,
                                uint64_t key, enum td_data_class seen)
{
    const struct conversation conversation = {.key = key, .owner = owner, .goes_on = true};
    return conversation_classes_raise(classes, &conversation, seen);
}

static enum td_data_class see(struct conversation_classes *classes, uint64_t key,
                              enum td_data_class seen)
{
    return begin(classes, NULL, key, seen);
}

static void test_a_class_only_rises(void)
{
    struct conversation_classes *classes = conversation_classes_new(8);
    REQUIRE(classes != NULL);
    CHECK(see(classes, 1, TD_CLASS_PUBLIC) == TD_CLASS_PUBLIC);
    CHECK(see(classes, 1, TD_CLASS_RESTRICTED) == TD_CLASS_RESTRICTED);
    CHECK(see(classes, 1, TD_CLASS_PUBLIC) == TD_CLASS_RESTRICTED);
    CHECK(see(classes, 2, TD_CLASS_SENSITIVE) == TD_CLASS_SENSITIVE);
    CHECK(see(classes, 1, TD_CLASS_SENSITIVE) == TD_CLASS_RESTRICTED);
    conversation_classes_free(classes);
}

static void test_the_least_recently_used_conversation_leaves(void)
{
    struct conversation_classes *classes = conversation_classes_new(3);
    REQUIRE(classes != NULL);
    for (uint64_t key = 1; key <= 3; key++)
        see(classes, key, TD_CLASS_RESTRICTED);
    see(classes, 1, TD_CLASS_PUBLIC); /* used: 2 is now the oldest */
    see(classes, 4, TD_CLASS_RESTRICTED);
    CHECK(see(classes, 1, TD_CLASS_PUBLIC) == TD_CLASS_RESTRICTED);
    CHECK(see(classes, 3, TD_CLASS_PUBLIC) == TD_CLASS_RESTRICTED);
    CHECK(see(classes, 4, TD_CLASS_PUBLIC) == TD_CLASS_RESTRICTED);
    CHECK(see(classes, 2, TD_CLASS_PUBLIC) == TD_CLASS_PUBLIC);
    conversation_classes_free(classes);
}

static void test_many_conversations_agree_with_a_plain_model(void)
{
    enum { KEYS = 5000, CAPACITY = 5000 };
    struct conversation_classes *classes = conversation_classes_new(CAPACITY);
    REQUIRE(classes != NULL);
    static uint8_t model[KEYS];
    uint64_t x = 1;
    for (int i = 0; i < 200000; i++) {
        x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        size_t key = (size_t)(x >> 33) % KEYS;
        uint8_t seen = (uint8_t)((x >> 20) % 3);
        model[key] = seen > model[key] ? seen : model[key];
        CHECK(see(classes, key * 4096, (enum td_data_class)seen) == model[key]);
    }
    conversation_classes_free(classes);
    CHECK(conversation_classes_new(0) == NULL);
    conversation_classes_free(NULL);
}

static void test_lower_classes_leave_first_and_public_is_not_kept(void)
{
    struct conversation_classes *classes = conversation_classes_new(4);
    REQUIRE(classes != NULL);
    see(classes, 1, TD_CLASS_RESTRICTED);
    see(classes, 2, TD_CLASS_CONTRACTUAL);
    for (uint64_t key = 10; key < 100; key++)
        see(classes, key, key % 2 ? TD_CLASS_PUBLIC : TD_CLASS_SENSITIVE);
    CHECK(see(classes, 1, TD_CLASS_PUBLIC) == TD_CLASS_RESTRICTED);
    CHECK(see(classes, 2, TD_CLASS_PUBLIC) == TD_CLASS_CONTRACTUAL);
    for (uint64_t key = 200; key < 204; key++)
        see(classes, key, TD_CLASS_RESTRICTED);
    CHECK(see(classes, 2, TD_CLASS_SENSITIVE) == TD_CLASS_SENSITIVE);
    CHECK(see(classes, 2, TD_CLASS_PUBLIC) == TD_CLASS_PUBLIC);
    conversation_classes_free(classes);
}

static void test_what_was_given_up_is_known_when_it_goes_on(void)
{
    enum { CAPACITY = 64, MANY = 16 * CAPACITY };
    static const enum td_data_class seen[] = {TD_CLASS_SENSITIVE, TD_CLASS_CONTRACTUAL,
                                              TD_CLASS_RESTRICTED};
    struct conversation_classes *classes = conversation_classes_new(CAPACITY);
    REQUIRE(classes != NULL);
    for (uint64_t key = 0; key < MANY; key++)
        begin(classes, "anna", key, seen[key % 3]);
    unsigned mistaken = 0, begun = 0;
    for (uint64_t key = 1000000; key < 1002000; key++) {
        begun += begin(classes, "anna", key, TD_CLASS_PUBLIC) != TD_CLASS_PUBLIC;
        mistaken += go_on(classes, "anna", key, TD_CLASS_PUBLIC) != TD_CLASS_PUBLIC;
    }
    CHECK(begun == 0);      /* what begins has nothing to remember */
    CHECK(mistaken < 1400); /* 1024 added to 4096 bits, three classes: about half */
    for (uint64_t key = 0; key < MANY; key++)
        CHECK(go_on(classes, "anna", key, TD_CLASS_PUBLIC) >= seen[key % 3]);
    conversation_classes_free(classes);
}

/* The filter as a file of so many days ago has it: the time of its newer half stands first. */
static struct forgotten *aged(struct forgotten *forgotten, uint64_t days)
{
    uint64_t since_ms = 0;
    struct buf bytes;
    buf_init(&bytes, 1 << 20);
    forgotten_write(forgotten, &bytes);
    free(forgotten);
    if (bytes.failed || bytes.len < sizeof since_ms)
        abort();
    memcpy(&since_ms, bytes.data, sizeof since_ms);
    since_ms -= days * 86400000;
    memcpy(bytes.data, &since_ms, sizeof since_ms);
    struct td_str text = buf_view(&bytes);
    forgotten = forgotten_new(64);
    CHECK(forgotten != NULL && forgotten_read(forgotten, &text) && text.len == 0);
    buf_deinit(&bytes);
    return forgotten;
}

/* One is given up after each pause. What was given up is known for a whole period at least, and
 * after two of them it is not. */
static void test_what_was_given_up_is_known_for_one_to_two_periods(void)
{
    enum { PAUSES = 12 };
    static const uint64_t days[] = {
        0, 1, 4, FORGOTTEN_DAYS - 1, FORGOTTEN_DAYS, 2 * FORGOTTEN_DAYS};
    for (size_t d = 0; d < sizeof days / sizeof *days; d++) {
        struct forgotten *forgotten = forgotten_new(64);
        REQUIRE(forgotten != NULL);
        for (uint64_t now = 0; now < PAUSES; now++) {
            forgotten = aged(forgotten, days[d]);
            forgotten_add(forgotten, now, TD_CLASS_RESTRICTED);
            for (uint64_t then = 0; then <= now; then++) {
                uint64_t age = (now - then) * days[d];
                enum td_data_class known = forgotten_find(forgotten, then);
                if (age < FORGOTTEN_DAYS)
                    CHECK(known == TD_CLASS_RESTRICTED);
                else if (age > 2 * FORGOTTEN_DAYS + days[d])
                    CHECK(known == TD_CLASS_PUBLIC);
            }
        }
        free(forgotten);
    }
}

static size_t bytes_of(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 ? (size_t)info.st_size : 0;
}

#define PATH "test_classes.bin"

/* As a server opens it, and as its end, kill -9 included, leaves it. */
struct kept {
    struct conversation_classes *classes;
    struct class_file *file;
};

static struct kept open_kept(size_t capacity)
{
    struct td_error err = {0};
    struct kept kept = {.classes = conversation_classes_new(capacity)};
    CHECK(kept.classes && class_file_open(PATH, kept.classes, &kept.file, &err) == TD_OK);
    CHECK(err.message[0] == '\0'); /* also at the first start, without a file */
    return kept;
}

static void close_kept(struct kept *kept)
{
    class_file_close(kept->file);
    conversation_classes_free(kept->classes);
}

static void append(const char *text, size_t len)
{
    FILE *file = fopen(PATH, "ab");
    REQUIRE(file && fwrite(text, 1, len, file) == len && fclose(file) == 0);
}

static void write_whole(const char *text, size_t len)
{
    (void)remove(PATH);
    append(text, len);
}

static void test_classes_above_public_outlive_their_process(void)
{
    (void)remove(PATH);
    for (int round = 0; round < 3; round++) {
        struct kept kept = open_kept(8);
        CHECK(see(kept.classes, 1, round ? TD_CLASS_PUBLIC : TD_CLASS_RESTRICTED) ==
              TD_CLASS_RESTRICTED);
        CHECK(see(kept.classes, 2, TD_CLASS_PUBLIC) == TD_CLASS_PUBLIC);
        for (uint64_t key = 100; key < 1000; key++)
            see(kept.classes, key, TD_CLASS_SENSITIVE);
        CHECK(class_file_flush(kept.file, 10000, NULL) == TD_OK);
        close_kept(&kept);
        CHECK(bytes_of(PATH) > 0 && bytes_of(PATH) < 32768); /* bounded */
    }
    append("1234", 4); /* half a record, as a process that was killed leaves it */
    struct kept kept = open_kept(8);
    CHECK(see(kept.classes, 1, TD_CLASS_PUBLIC) == TD_CLASS_RESTRICTED);
    close_kept(&kept);
    (void)remove(PATH);
}

static void test_what_was_given_up_outlives_the_process_and_a_change_of_the_capacity(void)
{
    static const size_t capacities[] = {64, 1024, 16, 64};
    (void)remove(PATH);
    struct kept kept = open_kept(64);
    for (uint64_t key = 0; key < 256; key++)
        begin(kept.classes, "anna", key, TD_CLASS_RESTRICTED);
    close_kept(&kept);
    for (size_t i = 0; i < sizeof capacities / sizeof *capacities; i++) {
        kept = open_kept(capacities[i]);
        for (uint64_t key = 0; key < 256; key++)
            CHECK(go_on(kept.classes, "anna", key, TD_CLASS_PUBLIC) == TD_CLASS_RESTRICTED);
        CHECK(begin(kept.classes, "bert", 5000, TD_CLASS_PUBLIC) == TD_CLASS_PUBLIC);
        close_kept(&kept);
    }
    (void)remove(PATH);
}

static void test_a_record_that_power_took_is_dropped_and_those_after_it_are_read(void)
{
    struct buf text;
    buf_init(&text, 1 << 20);
    (void)remove(PATH);
    struct kept kept = open_kept(64);
    close_kept(&kept);
    const size_t before = bytes_of(PATH);
    kept = open_kept(64);
    for (uint64_t key = 1; key <= 3; key++)
        see(kept.classes, key, TD_CLASS_RESTRICTED);
    CHECK(class_file_flush(kept.file, 10000, NULL) == TD_OK);
    REQUIRE(buf_read_file(&text, PATH, NULL) == TD_OK);
    close_kept(&kept);
    REQUIRE(text.len == before + 3 * (size_t)CONVERSATION_RECORD_BYTES);
    memset(text.data + before + CONVERSATION_RECORD_BYTES, 0, CONVERSATION_RECORD_BYTES);
    write_whole(text.data, text.len);
    kept = open_kept(64);
    CHECK(see(kept.classes, 1, TD_CLASS_PUBLIC) == TD_CLASS_RESTRICTED);
    CHECK(see(kept.classes, 2, TD_CLASS_PUBLIC) == TD_CLASS_PUBLIC);
    CHECK(see(kept.classes, 3, TD_CLASS_PUBLIC) == TD_CLASS_RESTRICTED);
    close_kept(&kept);
    buf_deinit(&text);
    (void)remove(PATH);
}

static void test_a_file_of_something_else_is_refused_and_stays(void)
{
    struct td_error err = {0};
    struct class_file *file = NULL;
    struct conversation_classes *classes = conversation_classes_new(8);
    REQUIRE(classes != NULL);
    write_whole("something else", 14);
    CHECK(class_file_open(PATH, classes, &file, &err) == TD_CORRUPT);
    CHECK(bytes_of(PATH) == 14);
    conversation_classes_free(classes);
    (void)remove(PATH);
}

static void test_the_first_version_of_the_file_is_read(void)
{
    char text[17 + 32 + 9 + 9] = "tandem classes 1\n";
    uint8_t mac[KEYED_MAC_BYTES];
    const uint64_t key = 7;
    memset(text + 17, 5, 32);
    keyed_mac((const uint8_t *)text + 17, &key, sizeof key, mac);
    memcpy(text + 49, mac, 8);
    text[57] = TD_CLASS_RESTRICTED;
    write_whole(text, sizeof text - 4); /* the last one half */
    for (int round = 0; round < 2; round++) {
        struct kept kept = open_kept(8);
        CHECK(begin(kept.classes, "anna", key, TD_CLASS_PUBLIC) == TD_CLASS_RESTRICTED);
        CHECK(begin(kept.classes, "anna", 8, TD_CLASS_PUBLIC) == TD_CLASS_PUBLIC);
        close_kept(&kept);
    }
    (void)remove(PATH);
}

static void test_a_file_that_is_removed_is_written_again(void)
{
    (void)remove(PATH);
    struct kept kept = open_kept(8);
    see(kept.classes, 1, TD_CLASS_RESTRICTED);
    CHECK(class_file_check(kept.file, NULL) == TD_OK);
    REQUIRE(remove(PATH) == 0);
    CHECK(class_file_check(kept.file, NULL) == TD_IO);
    for (int i = 0; i < 600 && class_file_check(kept.file, NULL) != TD_OK; i++)
        usleep(100000);
    CHECK(class_file_check(kept.file, NULL) == TD_OK);
    close_kept(&kept);
    kept = open_kept(8);
    CHECK(see(kept.classes, 1, TD_CLASS_PUBLIC) == TD_CLASS_RESTRICTED);
    close_kept(&kept);
    (void)remove(PATH);
}

static void *rise_many(void *ctx)
{
    static atomic_uint_fast64_t next = 1;
    for (int i = 0; i < 3000; i++)
        see(ctx, atomic_fetch_add(&next, 1), TD_CLASS_RESTRICTED);
    return NULL;
}

/* The thread rewrites the file all the time meanwhile. */
static void test_no_rise_is_lost_while_the_file_is_rewritten(void)
{
    enum { KEYS = 4 * 3000 };
    (void)remove(PATH);
    struct kept kept = open_kept(64);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        REQUIRE(pthread_create(&threads[i], NULL, rise_many, kept.classes) == 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    close_kept(&kept);
    CHECK(bytes_of(PATH) < 131072); /* two thirds of what all take */
    kept = open_kept(64);
    for (uint64_t key = 1; key <= KEYS; key++)
        CHECK(go_on(kept.classes, NULL, key, TD_CLASS_PUBLIC) == TD_CLASS_RESTRICTED);
    close_kept(&kept);
    (void)remove(PATH);
}

static void *raise_many(void *ctx)
{
    for (uint64_t i = 0; i < 20000; i++)
        see(ctx, i % 97, (enum td_data_class)(i % 3));
    return NULL;
}

static void test_threads_may_share_it(void)
{
    struct conversation_classes *classes = conversation_classes_new(50); /* evicts all the time */
    REQUIRE(classes != NULL);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        REQUIRE(pthread_create(&threads[i], NULL, raise_many, classes) == 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    CHECK(see(classes, 1000, TD_CLASS_SENSITIVE) == TD_CLASS_SENSITIVE);
    conversation_classes_free(classes);
}

/* The arguments of a tool call are JSON in a string: escapes there hide the words that announce. */
static void test_what_stands_behind_escapes_counts(void)
{
    static const struct {
        const char *text;
        enum td_data_class expected;
    } cases[] = {
        {"My f\xc3\xb8"
         "dselsnummer is 07028869910.",
         TD_CLASS_RESTRICTED},
        {"{\"text\": \"My f\\u00f8dselsnummer is 07028869910.\"}", TD_CLASS_RESTRICTED},
        {"{\\\"text\\\": \\\"My f\\\\u00F8dselsnummer is 07028869910.\\\"}", TD_CLASS_RESTRICTED},
        {"{\"mail\": \"ann\\u0040acmeltd.com\"}", TD_CLASS_SENSITIVE},
        {"\\u0034111 1111 1111 1111", TD_CLASS_RESTRICTED},
        {"C:\\users\\new \\u12 \\ud83d\\ude00 \\ud83d \\u", TD_CLASS_PUBLIC},
        {"\\u", TD_CLASS_PUBLIC},
        {"", TD_CLASS_PUBLIC},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK(privacy_classify(plain_scanner(),
                               (struct td_str){cases[i].text, strlen(cases[i].text)},
                               NULL) == cases[i].expected);
}

int main(void)
{
    RUN(test_names_are_presidios);
    RUN(test_the_rule_for_every_class_and_place);
    RUN(test_a_class_only_rises);
    RUN(test_the_least_recently_used_conversation_leaves);
    RUN(test_many_conversations_agree_with_a_plain_model);
    RUN(test_lower_classes_leave_first_and_public_is_not_kept);
    RUN(test_what_was_given_up_is_known_when_it_goes_on);
    RUN(test_what_was_given_up_is_known_for_one_to_two_periods);
    RUN(test_classes_above_public_outlive_their_process);
    RUN(test_what_was_given_up_outlives_the_process_and_a_change_of_the_capacity);
    RUN(test_a_record_that_power_took_is_dropped_and_those_after_it_are_read);
    RUN(test_a_file_of_something_else_is_refused_and_stays);
    RUN(test_the_first_version_of_the_file_is_read);
    RUN(test_a_file_that_is_removed_is_written_again);
    RUN(test_no_rise_is_lost_while_the_file_is_rewritten);
    RUN(test_threads_may_share_it);
    RUN(test_what_stands_behind_escapes_counts);
    return test_finish();
}
