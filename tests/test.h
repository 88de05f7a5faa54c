/* The whole test framework: RUN(test) names a case, CHECK(condition) fails it. Each program prints
 * "N passed, N failed, N skipped" and exits non-zero when anything failed.
 *
 * A case that crashes loses only itself. Before main() the program forks: the parent waits, and the
 * child runs the cases. When the child dies inside a case, the parent counts that case as failed
 * and forks again; the new child passes over the cases that were already run. The counts stand in
 * memory that both share. This costs one fork in a program without crashes, and a sanitizer's
 * report ends a case as a crash does. A debugger that starts the program gets no fork, and neither
 * does a program run with TEST_NO_FORK=1: there the first crash ends everything, at the place where
 * it happens. */
#ifndef TESTS_TEST_H
#define TESTS_TEST_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* What outlives a child that dies. */
struct test_counts {
    int passed, failed, skipped;
    int begun;            /* the number of the last case or skip outside of a case, from 1 */
    const char *case_now; /* the case that runs, else NULL; the program's text is at one place */
    int finished;         /* test_finish() was called */
};

static struct test_counts test_counts_without_fork;
static struct test_counts *test_counts = &test_counts_without_fork;
static int test_step;        /* as `begun`, counted anew by each child */
static int test_case_failed; /* by the case that runs */

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

#define RUN(test)                \
    do {                         \
        if (test_begin(#test)) { \
            test();              \
            test_end();          \
        }                        \
    } while (0)

/* A case that needs data which is not here: named, counted, never silent. */
#define SKIP(name, why)                         \
    do {                                        \
        if (test_skip()) {                      \
            printf("SKIP %s: %s\n", name, why); \
        }                                       \
    } while (0)

/* False for a step that an earlier child has made. */
static inline int test_is_new_step(void)
{
    if (++test_step <= test_counts->begun)
        return 0;
    test_counts->begun = test_step;
    return 1;
}

static inline int test_begin(const char *name)
{
    if (!test_is_new_step())
        return 0;
    test_case_failed = 0;
    test_counts->case_now = name;
    return 1;
}

static inline void test_end(void)
{
    if (test_case_failed) {
        test_counts->failed++;
        fprintf(stderr, "FAIL %s\n", test_counts->case_now);
    } else {
        test_counts->passed++;
    }
    test_counts->case_now = NULL;
}

static inline int test_skip(void)
{
    if (test_counts->case_now == NULL && !test_is_new_step())
        return 0;
    test_counts->skipped++;
    return 1;
}

/* The cases that failed so far. */
static inline int test_failures(void)
{
    return test_counts->failed;
}

static inline int test_print_counts(void)
{
    printf("%d passed, %d failed, %d skipped\n", test_counts->passed, test_counts->failed,
           test_counts->skipped);
    fflush(stdout);
    return test_counts->failed != 0;
}

static inline int test_finish(void)
{
    test_counts->finished = 1;
    return test_print_counts();
}

/* A process may have one tracer only: a debugger wants to be it. */
static inline int test_is_traced(void)
{
    char line[128];
    int tracer = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "TracerPid: %d", &tracer) == 1)
            break;
    if (status)
        fclose(status);
    return tracer != 0;
}

/* Waits for one child; the parent's part after it. Returns when another child is to go on. */
static inline void test_judge_child(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        ;
    if (test_counts->finished && WIFEXITED(status))
        _exit(WEXITSTATUS(status)); /* with a leak checker's own status, when it found a leak */
    const char *name = test_counts->case_now ? test_counts->case_now : "outside of the cases";
    if (WIFSIGNALED(status))
        fprintf(stderr, "FAIL %s: crashed: %s\n", name, strsignal(WTERMSIG(status)));
    else
        fprintf(stderr, "FAIL %s: ended the program with status %d\n", name, WEXITSTATUS(status));
    test_counts->failed++;
    if (test_counts->case_now == NULL) { /* it would do so again */
        test_print_counts();
        _exit(1);
    }
    test_counts->case_now = NULL;
}

/* Before main(), where the program has one thread and nothing to lose. */
__attribute__((constructor)) static void test_run_in_children(void)
{
    if (getenv("TEST_NO_FORK") || test_is_traced())
        return;
    void *shared =
        mmap(NULL, sizeof *test_counts, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return;
    test_counts = shared;
    for (;;) {
        pid_t child = fork();
        if (child < 0)
            return;
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);      /* who ends the parent means the test */
            setvbuf(stdout, NULL, _IOLBF, BUFSIZ); /* what was printed is not lost in a crash */
            return;
        }
        test_judge_child(child);
    }
}

#endif
