#include "app/terminal/history_file.h"
#include "base/core/str.h"
#include "test.h"

#include <errno.h>
#include <sys/stat.h>

static char folder[64], path[96];
static char seen[8192];
static size_t seen_count;

static void take(void *ctx, struct td_str text)
{
    (void)ctx;
    seen_count++;
    size_t len = strlen(seen);
    snprintf(seen + len, sizeof seen - len, "<" STR_FMT ">", STR_ARG(text));
}

static enum td_status read_again(struct td_error *err)
{
    *seen = '\0';
    seen_count = 0;
    return history_file_read(path, take, NULL, err);
}

static void begin(void)
{
    snprintf(folder, sizeof folder, "/tmp/tandem-history-XXXXXX");
    REQUIRE(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/chat_history", folder);
}

static void end(void)
{
    unlink(path);
    rmdir(folder);
}

static void write_file(const char *text, mode_t mode)
{
    FILE *file = fopen(path, "w");
    REQUIRE(file);
    fputs(text, file);
    fclose(file);
    chmod(path, mode);
}

static void test_what_was_added_comes_back(void)
{
    struct td_error err = {0};
    struct stat info;
    begin();
    CHECK(read_again(&err) == TD_OK && seen_count == 0);
    CHECK(history_file_add(path, STR("one"), &err) == TD_OK);
    CHECK(history_file_add(path, STR("two\nlines \\n with a backslash \\"), &err) == TD_OK);
    CHECK(read_again(&err) == TD_OK);
    CHECK(strcmp(seen, "<one><two\nlines \\n with a backslash \\>") == 0);
    CHECK(stat(path, &info) == 0 && (info.st_mode & 0777) == 0600);
    end();
}

static void test_a_file_that_others_may_read_is_closed_to_them(void)
{
    struct td_error err = {0};
    struct stat info;
    begin();
    write_file("one\n", 0644);
    CHECK(read_again(&err) == TD_OK && seen_count == 1);
    CHECK(stat(path, &info) == 0 && (info.st_mode & 0777) == 0600);
    end();
}

static void test_a_file_of_another_user_is_refused(void)
{
    struct td_error err = {0};
    begin();
    write_file("one\n", 0644);
    if (chown(path, 12345, 12345) != 0) {
        end();
        return; /* only root can make such a file; the end-to-end test says so */
    }
    CHECK(read_again(&err) == TD_DENIED && seen_count == 0);
    CHECK(strstr(err.message, "belongs to another user"));
    CHECK(history_file_add(path, STR("two"), NULL) == TD_DENIED);
    struct stat info;
    CHECK(stat(path, &info) == 0 && info.st_size == 4 && (info.st_mode & 0777) == 0644);
    end();
}

static void test_links_and_folders_are_refused(void)
{
    struct td_error err = {0};
    begin();
    REQUIRE(symlink("/etc/hostname", path) == 0);
    CHECK(read_again(&err) == TD_IO && strstr(err.message, "it is a link"));
    CHECK(history_file_add(path, STR("two"), NULL) == TD_IO);
    unlink(path);
    REQUIRE(mkfifo(path, 0600) == 0);
    CHECK(read_again(NULL) == TD_IO);
    CHECK(history_file_add(path, STR("two"), NULL) == TD_IO);
    unlink(path);
    REQUIRE(mkdir(path, 0700) == 0);
    CHECK(read_again(NULL) == TD_IO);
    rmdir(path);
    end();
}

static void test_lines_that_are_no_texts_are_passed_over(void)
{
    begin();
    write_file("good\nbad \\x\nends with \\\n\nlast", 0600);
    CHECK(read_again(NULL) == TD_OK);
    CHECK(strcmp(seen, "<good><last>") == 0);
    end();
}

static void test_a_long_history_is_made_shorter(void)
{
    struct stat before, after;
    begin();
    FILE *file = fopen(path, "w");
    REQUIRE(file);
    for (int i = 0; i < 2 * HISTORY_TEXTS_MAX + 1; i++)
        fprintf(file, "text %d\n", i);
    fclose(file);
    REQUIRE(stat(path, &before) == 0);
    CHECK(read_again(NULL) == TD_OK && seen_count == HISTORY_TEXTS_MAX);
    CHECK(strstr(seen, "<text 1001>") && !strstr(seen, "<text 1000>"));
    CHECK(stat(path, &after) == 0 && after.st_size < before.st_size);
    CHECK((after.st_mode & 0777) == 0600);
    CHECK(read_again(NULL) == TD_OK && seen_count == HISTORY_TEXTS_MAX);
    end();
}

static void test_a_text_that_is_too_long_is_not_kept(void)
{
    static char text[HISTORY_TEXT_BYTES_MAX + 2];
    memset(text, 'x', sizeof text - 1);
    begin();
    CHECK(history_file_add(path, str_from(text), NULL) == TD_OK);
    CHECK(access(path, F_OK) != 0);
    text[HISTORY_TEXT_BYTES_MAX] = '\0';
    CHECK(history_file_add(path, str_from(text), NULL) == TD_OK);
    CHECK(read_again(NULL) == TD_OK && seen_count == 1);
    end();
}

int main(void)
{
    RUN(test_what_was_added_comes_back);
    RUN(test_a_file_that_others_may_read_is_closed_to_them);
    RUN(test_a_file_of_another_user_is_refused);
    RUN(test_links_and_folders_are_refused);
    RUN(test_lines_that_are_no_texts_are_passed_over);
    RUN(test_a_long_history_is_made_shorter);
    RUN(test_a_text_that_is_too_long_is_not_kept);
    return test_finish();
}
