/* The whole test framework: RUN(test) names a case, CHECK(condition) fails it. Each program prints
 * "N passed, N failed" and exits non-zero when anything failed. */
#ifndef TESTS_TEST_H
#define TESTS_TEST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int test_passed_count, test_failed_count, test_skipped_count, test_case_failed;

#define CHECK(condition)                                                                          \
    do {                                                                                          \
        if (!(condition)) {                                                                       \
            fprintf(stderr, "%s:%d: %s: failed: %s\n", __FILE__, __LINE__, __func__, #condition); \
            test_case_failed = 1;                                                                 \
        }                                                                                         \
    } while (0)

/* As CHECK, but leaves the test: for what the rest of it needs. */
#define REQUIRE(condition)    \
    do {                      \
        CHECK(condition);     \
        if (test_case_failed) \
            return;           \
    } while (0)

#define RUN(test)                                                     \
    do {                                                              \
        test_case_failed = 0;                                         \
        test();                                                       \
        if (test_case_failed)                                         \
            test_failed_count++, fprintf(stderr, "FAIL %s\n", #test); \
        else                                                          \
            test_passed_count++;                                      \
    } while (0)

/* A case that needs data which is not here: named, counted, never silent. */
#define SKIP(name, why)                     \
    do {                                    \
        test_skipped_count++;               \
        printf("SKIP %s: %s\n", name, why); \
    } while (0)

static inline int test_finish(void)
{
    printf("%d passed, %d failed, %d skipped\n", test_passed_count, test_failed_count,
           test_skipped_count);
    return test_failed_count != 0;
}

#endif
