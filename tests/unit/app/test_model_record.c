/* What is remembered of model files: quarantine, and the one that last worked. */
#include "app/setup/model/model_record.h"

#include "base/bytes/buf.h"

#include "test.h"

#include <fcntl.h>
#include <sys/stat.h>

static char folder[64], file[128];

static void write_file(const char *path, const char *text)
{
    FILE *out = fopen(path, "w");
    if (out == NULL || fputs(text, out) < 0 || fclose(out) != 0)
        abort();
}

static void begin(void)
{
    snprintf(folder, sizeof folder, "/tmp/tandem-record-XXXXXX");
    if (mkdtemp(folder) == NULL)
        abort();
    snprintf(file, sizeof file, "%s/a.gguf", folder);
    write_file(file, "not a model");
}

static void end(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0)
        abort();
}

static void test_a_file_is_in_quarantine_until_it_changes(void)
{
    char why[TD_ERROR_BYTES] = "";
    begin();
    CHECK(!model_record_is_quarantined(folder, file, why));
    model_record_quarantine(folder, file, "it is \"broken\"");
    CHECK(model_record_is_quarantined(folder, file, why) && strcmp(why, "it is \"broken\"") == 0);
    const struct timespec times[2] = {{1, 0}, {1, 0}};
    REQUIRE(utimensat(AT_FDCWD, file, times, 0) == 0);
    CHECK(!model_record_is_quarantined(folder, file, why));
    write_file(file, "longer than it was before");
    CHECK(!model_record_is_quarantined(folder, file, why));
    end();
}

static void test_a_file_that_works_leaves_quarantine(void)
{
    char why[TD_ERROR_BYTES], path[256];
    begin();
    model_record_quarantine(folder, file, "broken");
    CHECK(!model_record_find_good(folder, "local", path, sizeof path));
    model_record_set_good(folder, "local", file);
    CHECK(!model_record_is_quarantined(folder, file, why));
    CHECK(model_record_find_good(folder, "local", path, sizeof path) && strcmp(path, file) == 0);
    CHECK(!model_record_find_good(folder, "other", path, sizeof path));
    CHECK(!model_record_find_good(folder, "local", path, 4));
    end();
}

static void test_failures_on_this_hardware_are_counted_until_it_works(void)
{
    char why[TD_ERROR_BYTES] = "", path[256];
    begin();
    CHECK(model_record_failures(folder, file, why) == 0);
    model_record_failure(folder, file, "no memory");
    model_record_quarantine(folder, file, "broken"); /* neither list harms the other */
    model_record_failure(folder, file, "no memory for 3 GB");
    CHECK(model_record_failures(folder, file, why) == 2);
    CHECK(strcmp(why, "no memory for 3 GB") == 0);
    CHECK(model_record_is_quarantined(folder, file, why));
    model_record_set_good(folder, "local", file);
    CHECK(model_record_failures(folder, file, why) == 0);
    CHECK(model_record_find_good(folder, "local", path, sizeof path));
    model_record_failure(folder, file, "again");
    CHECK(model_record_find_good(folder, "local", path, sizeof path));
    write_file(file, "another file");
    CHECK(model_record_failures(folder, file, why) == 0);
    end();
}

static void test_failures_elsewhere_do_not_count(void)
{
    char why[TD_ERROR_BYTES], hardware[MODEL_HARDWARE_BYTES], path[256];
    struct buf text;
    begin();
    model_record_hardware(hardware);
    CHECK(strstr(hardware, "cores") && strstr(hardware, "GB"));
    model_record_failure(folder, file, "no memory");
    snprintf(path, sizeof path, "%s/models.json", folder);
    buf_init(&text, 1 << 16);
    REQUIRE(buf_read_file(&text, path, NULL) == TD_OK);
    char *at = strstr(text.data, hardware);
    REQUIRE(at != NULL);
    at[0] ^= 1; /* another machine */
    write_file(path, text.data);
    CHECK(model_record_failures(folder, file, why) == 0);
    buf_deinit(&text);
    end();
}

static void test_the_quarantine_is_bounded_and_a_damaged_record_is_empty(void)
{
    char why[TD_ERROR_BYTES], other[128], record[128];
    begin();
    for (int i = 0; i < 100; i++) {
        snprintf(other, sizeof other, "%s/%d.gguf", folder, i);
        write_file(other, "x");
        model_record_quarantine(folder, other, "broken");
    }
    CHECK(model_record_is_quarantined(folder, other, why));
    snprintf(other, sizeof other, "%s/0.gguf", folder);
    CHECK(!model_record_is_quarantined(folder, other, why));
    snprintf(record, sizeof record, "%s/models.json", folder);
    write_file(record, "{\"quarantine\": 7, \"good\": [1]}");
    CHECK(!model_record_is_quarantined(folder, other, why));
    CHECK(!model_record_find_good(folder, "local", other, sizeof other));
    model_record_set_good(folder, "local", file);
    write_file(record, "\x01{{{{");
    model_record_quarantine(folder, file, "broken");
    CHECK(model_record_is_quarantined(folder, file, why));
    end();
}

int main(void)
{
    RUN(test_a_file_is_in_quarantine_until_it_changes);
    RUN(test_a_file_that_works_leaves_quarantine);
    RUN(test_failures_on_this_hardware_are_counted_until_it_works);
    RUN(test_failures_elsewhere_do_not_count);
    RUN(test_the_quarantine_is_bounded_and_a_damaged_record_is_empty);
    return test_finish();
}
