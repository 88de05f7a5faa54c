/* What of a terminal's output is harmless, and what happens without memory for it. */
#include "app/cli/command.h"
#include "app/cli/text_decode.h"
#include "base/core/str.h"
#include "test.h"

#include <errno.h>

/* In place of the C library's own: as in a process without memory. */
FILE *open_memstream(char **text, size_t *size)
{
    (void)text;
    (void)size;
    errno = ENOMEM;
    return NULL;
}

static void test_without_memory_nothing_that_may_steer_is_printed(void)
{
    int ends[2], code = 0;
    char seen[256] = "";
    REQUIRE(pipe(ends) == 0);
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        command_harmless_begin();
        printf("\033[31mred");
        exit(!command_harmless_end(false));
    }
    close(ends[1]);
    CHECK(read(ends[0], seen, sizeof seen - 1) == 0);
    close(ends[0]);
    CHECK(waitpid(child, &code, 0) == child && WIFEXITED(code) && WEXITSTATUS(code) == 1);
}

static enum td_status decode(struct td_str bytes, size_t bytes_max, struct td_error *err)
{
    struct buf out;
    buf_init(&out, bytes_max);
    enum td_status status = text_decode(bytes, &out, err);
    buf_deinit(&out);
    return status;
}

static void test_a_text_that_is_too_large_is_not_taken_for_no_text(void)
{
    struct td_error err = {0};
    CHECK(decode(STR("M\xFCller"), 64, &err) == TD_OK);
    CHECK(decode(STR("\xFC\x01\x02"), 64, &err) == TD_UNSUPPORTED && !*err.message);
    CHECK(decode(STR("M\xFCller"), 6, &err) == TD_LIMIT && strstr(err.message, "6 bytes"));
}

int main(void)
{
    RUN(test_without_memory_nothing_that_may_steer_is_printed);
    RUN(test_a_text_that_is_too_large_is_not_taken_for_no_text);
    return test_finish();
}
