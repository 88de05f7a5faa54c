#include "privacy/scan/conversation.h"
#include "privacy/scan/privacy.h"

#include "scanners.h"
#include "test.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>

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

static void test_a_class_only_rises(void)
{
    struct conversation_classes *classes = conversation_classes_new(8);
    REQUIRE(classes != NULL);
    CHECK(conversation_classes_raise(classes, 1, TD_CLASS_PUBLIC) == TD_CLASS_PUBLIC);
    CHECK(conversation_classes_raise(classes, 1, TD_CLASS_RESTRICTED) == TD_CLASS_RESTRICTED);
    CHECK(conversation_classes_raise(classes, 1, TD_CLASS_PUBLIC) == TD_CLASS_RESTRICTED);
    CHECK(conversation_classes_raise(classes, 2, TD_CLASS_SENSITIVE) == TD_CLASS_SENSITIVE);
    CHECK(conversation_classes_raise(classes, 1, TD_CLASS_SENSITIVE) == TD_CLASS_RESTRICTED);
    conversation_classes_free(classes);
}

static void test_the_least_recently_used_conversation_leaves(void)
{
    struct conversation_classes *classes = conversation_classes_new(3);
    REQUIRE(classes != NULL);
    for (uint64_t key = 1; key <= 3; key++)
        conversation_classes_raise(classes, key, TD_CLASS_RESTRICTED);
    conversation_classes_raise(classes, 1, TD_CLASS_PUBLIC); /* used: 2 is now the oldest */
    conversation_classes_raise(classes, 4, TD_CLASS_RESTRICTED);
    CHECK(conversation_classes_raise(classes, 1, TD_CLASS_PUBLIC) == TD_CLASS_RESTRICTED);
    CHECK(conversation_classes_raise(classes, 3, TD_CLASS_PUBLIC) == TD_CLASS_RESTRICTED);
    CHECK(conversation_classes_raise(classes, 4, TD_CLASS_PUBLIC) == TD_CLASS_RESTRICTED);
    CHECK(conversation_classes_raise(classes, 2, TD_CLASS_PUBLIC) == TD_CLASS_PUBLIC);
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
        CHECK(conversation_classes_raise(classes, key * 4096, (enum td_data_class)seen) ==
              model[key]);
    }
    conversation_classes_free(classes);
    CHECK(conversation_classes_new(0) == NULL);
    conversation_classes_free(NULL);
}

static void test_lower_classes_leave_first_and_public_is_not_kept(void)
{
    struct conversation_classes *classes = conversation_classes_new(4);
    REQUIRE(classes != NULL);
    conversation_classes_raise(classes, 1, TD_CLASS_RESTRICTED);
    conversation_classes_raise(classes, 2, TD_CLASS_CONTRACTUAL);
    for (uint64_t key = 10; key < 100; key++)
        conversation_classes_raise(classes, key, key % 2 ? TD_CLASS_PUBLIC : TD_CLASS_SENSITIVE);
    CHECK(conversation_classes_raise(classes, 1, TD_CLASS_PUBLIC) == TD_CLASS_RESTRICTED);
    CHECK(conversation_classes_raise(classes, 2, TD_CLASS_PUBLIC) == TD_CLASS_CONTRACTUAL);
    for (uint64_t key = 200; key < 204; key++)
        conversation_classes_raise(classes, key, TD_CLASS_RESTRICTED);
    CHECK(conversation_classes_raise(classes, 2, TD_CLASS_SENSITIVE) == TD_CLASS_SENSITIVE);
    CHECK(conversation_classes_raise(classes, 2, TD_CLASS_PUBLIC) == TD_CLASS_PUBLIC);
    conversation_classes_free(classes);
}

static size_t bytes_of(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 ? (size_t)info.st_size : 0;
}

static void test_classes_above_public_outlive_their_process(void)
{
    const char *path = "test_classes.bin";
    struct td_error err = {0};
    (void)remove(path);
    for (int round = 0; round < 3; round++) {
        struct conversation_classes *classes = conversation_classes_new(8);
        REQUIRE(classes && conversation_classes_keep(classes, path, &err) == TD_OK);
        CHECK(err.message[0] == '\0'); /* also at the first start, without a file */
        CHECK(
            conversation_classes_raise(classes, 1, round ? TD_CLASS_PUBLIC : TD_CLASS_RESTRICTED) ==
            TD_CLASS_RESTRICTED);
        CHECK(conversation_classes_raise(classes, 2, TD_CLASS_PUBLIC) == TD_CLASS_PUBLIC);
        for (uint64_t key = 100; key < 1000; key++)
            conversation_classes_raise(classes, key, TD_CLASS_SENSITIVE);
        CHECK(bytes_of(path) > 0 && bytes_of(path) < 1024); /* bounded */
        conversation_classes_free(classes);
    }
    FILE *file = fopen(path, "ab"); /* half a record, as a process that was killed leaves it */
    REQUIRE(file && fputs("1234", file) >= 0 && fclose(file) == 0);
    struct conversation_classes *classes = conversation_classes_new(8);
    REQUIRE(classes && conversation_classes_keep(classes, path, &err) == TD_OK);
    CHECK(conversation_classes_raise(classes, 1, TD_CLASS_PUBLIC) == TD_CLASS_RESTRICTED);
    conversation_classes_free(classes);
    file = fopen(path, "wb");
    REQUIRE(file && fputs("something else", file) >= 0 && fclose(file) == 0);
    classes = conversation_classes_new(8);
    REQUIRE(classes != NULL);
    CHECK(conversation_classes_keep(classes, path, &err) == TD_CORRUPT);
    conversation_classes_free(classes);
    (void)remove(path);
}

static void *raise_many(void *ctx)
{
    for (uint64_t i = 0; i < 20000; i++)
        conversation_classes_raise(ctx, i % 97, (enum td_data_class)(i % 3));
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
    CHECK(conversation_classes_raise(classes, 1000, TD_CLASS_SENSITIVE) == TD_CLASS_SENSITIVE);
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
        {"{\"mail\": \"ann\\u0040example.com\"}", TD_CLASS_SENSITIVE},
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
    RUN(test_classes_above_public_outlive_their_process);
    RUN(test_threads_may_share_it);
    RUN(test_what_stands_behind_escapes_counts);
    return test_finish();
}
