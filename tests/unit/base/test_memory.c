/* arena and buf: limits hold, failures stick. */
#include "base/bytes/arena.h"
#include "base/bytes/buf.h"
#include "base/core/str.h"
#include "base/crypto/secret.h"
#include "test.h"

#include <limits.h>

#include <unistd.h>

static void test_arena_memory_is_zeroed_aligned_and_limited(void)
{
    struct arena *arena = arena_new(100000);
    REQUIRE(arena != NULL);
    for (size_t size = 1; size < 300; size++) {
        unsigned char *p = arena_alloc(arena, size);
        REQUIRE(p != NULL);
        CHECK((uintptr_t)p % _Alignof(max_align_t) == 0);
        for (size_t i = 0; i < size; i++)
            CHECK(p[i] == 0);
        memset(p, 0xff, size);
    }
    CHECK(arena_alloc(arena, 100000) == NULL);
    CHECK(arena_alloc(arena, SIZE_MAX) == NULL);
    CHECK(arena_alloc_array(arena, SIZE_MAX / 2, 4) == NULL);
    char *big = arena_alloc(arena, 50000);
    CHECK(big != NULL);
    CHECK(arena_alloc(arena, 100000 - 299 * 300 / 2 - 50000 + 1) == NULL); /* counts exactly */
    arena_free(arena);
    arena_free(NULL);
}

static void test_arena_texts_end_with_nul(void)
{
    struct arena *arena = arena_new(1000);
    char *copy = arena_copy(arena, (struct td_str){"abcdef", 3});
    CHECK(strcmp(copy, "abc") == 0);
    CHECK(strcmp(arena_printf(arena, "%s-%d", copy, 7), "abc-7") == 0);
    CHECK(arena_printf(arena, "%2000d", 1) == NULL);
    arena_free(arena);
}

static void test_buffer_failure_sticks_until_cleared(void)
{
    struct buf buf;
    buf_init(&buf, 10);
    buf_append(&buf, "12345", 5);
    buf_append(&buf, "1234567", 7);
    CHECK(buf.failed && buf.len == 5);
    buf_append(&buf, "x", 1);
    CHECK(buf.len == 5);
    CHECK(buf_take(&buf) == NULL);
    buf_clear(&buf);
    buf_printf(&buf, "%d", 1234567890);
    CHECK(!buf.failed && strcmp(buf.data, "1234567890") == 0);
    buf_consume(&buf, 4);
    CHECK(strcmp(buf.data, "567890") == 0);
    buf_consume(&buf, 100);
    CHECK(buf.len == 0);
    char *taken = buf_take(&buf);
    CHECK(taken && *taken == '\0');
    free(taken);
    buf_deinit(&buf);
}

/* What has no width is written without the library, and all of a format or nothing of it. */
static void test_formats_are_written_as_the_library_writes_them(void)
{
    struct buf buf;
    char expected[256];
    buf_init(&buf, 200);
#define SAME(...)                                                                     \
    do {                                                                              \
        buf_clear(&buf);                                                              \
        buf_printf(&buf, __VA_ARGS__);                                                \
        snprintf(expected, sizeof expected, __VA_ARGS__);                             \
        CHECK(!buf.failed && buf.len == strlen(expected) && buf.data[buf.len] == 0 && \
              strcmp(buf.data, expected) == 0);                                       \
    } while (0)
    SAME("no conversion");
    SAME("%s", "");
    SAME("[%s] %d %d %d %u", "text", INT_MIN, 0, INT_MAX, UINT_MAX);
    SAME("%zu %llu %lld %lld %c", SIZE_MAX, ULLONG_MAX, LLONG_MIN, LLONG_MAX, 'x');
    SAME("%s %5d %d", "first", 12, 13); /* the library's after one that is not */
    SAME("%s%%%.2f%x%.*s", "a", 1.5, 255u, 2, "bcd");
    SAME("%ld %hhu", -5L, (unsigned char)200);
#undef SAME
    buf_clear(&buf);
    buf_append(&buf, "kept", 4);
    buf_printf(&buf, "%d %s", 1, expected);
    buf_printf(&buf, "%d%0200d", 1, 2);
    CHECK(buf.failed && buf.len >= 4 && memcmp(buf.data, "kept", 4) == 0);
    buf_deinit(&buf);
}

static void test_buffer_grows_to_any_size_below_the_limit(void)
{
    struct buf buf;
    buf_init(&buf, 1 << 20);
    for (int i = 0; i < 1 << 20; i++)
        buf_append_char(&buf, (char)('a' + i % 26));
    CHECK(!buf.failed && buf.len == 1 << 20 && buf.data[25] == 'z' && buf.data[buf.len] == '\0');
    buf_append_char(&buf, 'x');
    CHECK(buf.failed);
    buf_deinit(&buf);
}

static void test_files_are_read_whole_or_refused_with_their_name(void)
{
    char path[] = "/tmp/tandem-buf-XXXXXX";
    int fd = mkstemp(path);
    REQUIRE(fd >= 0);
    CHECK(write(fd, "abc\0def", 7) == 7 && close(fd) == 0);
    struct buf buf;
    struct td_error err = {0};
    buf_init(&buf, 7);
    CHECK(buf_read_file(&buf, path, &err) == TD_OK && buf.len == 7 && buf.data[6] == 'f');
    CHECK(buf_read_file(&buf, path, &err) == TD_LIMIT && strstr(err.message, path));
    buf_deinit(&buf);
    unlink(path);
    err = (struct td_error){0};
    CHECK(buf_read_file(&buf, path, &err) == TD_NOT_FOUND && strstr(err.message, path));
    CHECK(buf_read_file(&buf, "/", NULL) == TD_IO);
    buf_deinit(&buf);
}

static void test_secret_gives_its_bytes_only_by_reveal(void)
{
    struct secret *secret = secret_new(STR("sk-test"));
    CHECK(str_equal(secret_reveal(secret), STR("sk-test")));
    CHECK(secret_reveal(NULL).len == 0);
    secret_free(secret);
    secret_free(NULL);
}

int main(void)
{
    RUN(test_formats_are_written_as_the_library_writes_them);
    RUN(test_arena_memory_is_zeroed_aligned_and_limited);
    RUN(test_arena_texts_end_with_nul);
    RUN(test_buffer_failure_sticks_until_cleared);
    RUN(test_files_are_read_whole_or_refused_with_their_name);
    RUN(test_buffer_grows_to_any_size_below_the_limit);
    RUN(test_secret_gives_its_bytes_only_by_reveal);
    return test_finish();
}
