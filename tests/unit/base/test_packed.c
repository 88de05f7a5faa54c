/* Data that the build has compressed come back byte for byte, for all threads the same. */
#include "base/bytes/packed.h"
#include "packed_text.h"
#include "test.h"

#include <pthread.h>

enum { THREADS = 8 };

static void *open_text(void *out)
{
    *(const char **)out = packed_open(&packed_text);
    return NULL;
}

static void test_threads_that_ask_at_once_get_the_same_text(void)
{
    pthread_t threads[THREADS];
    const char *texts[THREADS] = {0};
    for (int i = 0; i < THREADS; i++)
        REQUIRE(pthread_create(&threads[i], NULL, open_text, &texts[i]) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        CHECK(texts[i] && texts[i] == packed_text.room);
}

static void test_each_string_is_whole(void)
{
    const char *first = packed_open(&packed_text), *second = packed_next(first);
    CHECK(packed_text.len == 2 * (strlen(first) + 1) && strcmp(first, second) == 0);
    CHECK(first[packed_text.len] == 0 && packed_text.packed_len < packed_text.len / 4);
    char line[128];
    const char *at = first;
    for (unsigned i = 0; i < 400; i++) {
        int len = snprintf(line, sizeof line,
                           "line %u of a text that the build packs twice: %u \xe2\x80\x93 "
                           "gr\xc3\xb6\xc3\x9f"
                           "er\n",
                           i, i * i * 7919 % 1000003);
        REQUIRE(strncmp(at, line, (size_t)len) == 0);
        at += len;
    }
    CHECK(*at == 0);
}

int main(void)
{
    RUN(test_threads_that_ask_at_once_get_the_same_text);
    RUN(test_each_string_is_whole);
    return test_finish();
}
