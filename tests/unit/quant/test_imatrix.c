/* Importance matrices: both forms are read, what is written is read again, damage is refused. */
#include "quant/measure/imatrix.h"

#include "base/bytes/buf.h"
#include "base/core/str.h"
#include "test.h"

#include <math.h>

static void put_i32(struct buf *out, int32_t value)
{
    buf_append(out, &value, sizeof value);
}

static void put_entry(struct buf *out, const char *name, int32_t calls, int32_t count, float value)
{
    put_i32(out, (int32_t)strlen(name));
    buf_append(out, name, strlen(name));
    put_i32(out, calls);
    put_i32(out, count);
    for (int32_t i = 0; i < count; i++) {
        float each = value * (float)(i + 1);
        buf_append(out, &each, sizeof each);
    }
}

static void make_dat(struct buf *out)
{
    buf_init(out, 1 << 20);
    put_i32(out, 2);
    put_entry(out, "blk.0.attn_q.weight", 10, 4, 1);
    put_entry(out, "blk.0.attn_k.weight", 10, 3, 2);
    put_i32(out, 5); /* chunks, and a name of no bytes */
    put_i32(out, 0);
}

static void test_the_older_form_is_read(void)
{
    struct buf file;
    struct imatrix *imatrix = NULL;
    struct td_error err = {0};
    make_dat(&file);
    REQUIRE(imatrix_read_dat(file.data, file.len, "dat", &imatrix, &err) == TD_OK);
    const struct imatrix_entry *entry = imatrix_find(imatrix, STR("blk.0.attn_q.weight"));
    CHECK(imatrix_count(imatrix) == 2 && entry && entry->cols == 4);
    /* 1, 2, 3, 4 divided by their mean */
    CHECK(fabsf(entry->importance[0] - 0.4f) < 1e-6f && fabsf(entry->importance[3] - 1.6f) < 1e-6f);
    CHECK(imatrix_find(imatrix, STR("blk.9.attn_q.weight")) == NULL);
    imatrix_free(imatrix);
    buf_deinit(&file);
}

static void test_a_file_that_is_cut_off_anywhere_is_refused(void)
{
    struct buf file;
    make_dat(&file);
    for (size_t len = 0; len + 8 < file.len; len++) {
        struct imatrix *imatrix = NULL;
        struct td_error err = {0};
        char *exact = malloc(len + 1);
        memcpy(exact, file.data, len);
        CHECK(imatrix_read_dat(exact, len, "cut", &imatrix, &err) == TD_CORRUPT);
        CHECK(imatrix == NULL && err.message[0] != '\0');
        free(exact);
    }
    buf_deinit(&file);
}

static void test_counts_that_lie_cost_nothing(void)
{
    struct buf file;
    struct imatrix *imatrix = NULL;
    buf_init(&file, 1 << 16);
    put_i32(&file, 1);
    put_i32(&file, 1);
    buf_append_char(&file, 'a');
    put_i32(&file, 1);
    put_i32(&file, INT32_MAX);
    CHECK(imatrix_read_dat(file.data, file.len, "lie", &imatrix, NULL) == TD_CORRUPT);
    buf_deinit(&file);
}

static void test_values_that_are_no_numbers_are_refused(void)
{
    static const float bad[] = {NAN, INFINITY, -1};
    for (int i = 0; i < 3; i++) {
        struct buf file;
        struct imatrix *imatrix = NULL;
        struct td_error err = {0};
        buf_init(&file, 1 << 16);
        put_i32(&file, 1);
        put_entry(&file, "token_embd.weight", 1, 3, bad[i]);
        CHECK(imatrix_read_dat(file.data, file.len, "bad", &imatrix, &err) == TD_CORRUPT);
        CHECK(strstr(err.message, "token_embd.weight") != NULL);
        buf_deinit(&file);
    }
}

static void test_what_is_written_is_read_again(void)
{
    static const char *const names[] = {"a.txt", "b.txt"};
    const struct imatrix_origin origin = {names, 2, 7, 512};
    char path[] = "/tmp/tandem-imatrix-XXXXXX";
    int fd = mkstemp(path);
    REQUIRE(fd >= 0);
    close(fd);
    struct imatrix *made = imatrix_new(), *again = NULL;
    struct imatrix_entry *entry = imatrix_add(made, STR("blk.3.ffn_down_exps.weight"), 3, 2);
    for (int i = 0; i < 6; i++)
        entry->sums[i] = i;
    entry->counts[0] = 9; /* the second expert was never used */
    struct td_error err = {0};
    REQUIRE(imatrix_settle(made, &err) == TD_OK);
    REQUIRE(imatrix_write(made, &origin, path, &err) == TD_OK);
    REQUIRE(imatrix_read(path, &again, &err) == TD_OK);
    const struct imatrix_entry *back = imatrix_at(again, 0);
    CHECK(back && back->cols == 3 && back->experts == 2 && back->counts[0] == 9);
    CHECK(memcmp(back->sums, entry->sums, 6 * sizeof *back->sums) == 0);
    CHECK(back->importance[0] > 0 && back->importance[1] == 1.0f && back->importance[4] == 1.0f);
    imatrix_free(made);
    imatrix_free(again);
    unlink(path);
}

static void test_an_entry_keeps_its_shape(void)
{
    struct imatrix *imatrix = imatrix_new();
    CHECK(imatrix_add(imatrix, STR("a"), 4, 1) == imatrix_add(imatrix, STR("a"), 4, 1));
    CHECK(imatrix_add(imatrix, STR("a"), 5, 1) == NULL);
    CHECK(imatrix_add(imatrix, STR("b"), 0, 1) == NULL);
    CHECK(imatrix_add(imatrix, STR("c"), UINT32_MAX, UINT32_MAX) == NULL);
    imatrix_free(imatrix);
}

int main(void)
{
    RUN(test_the_older_form_is_read);
    RUN(test_a_file_that_is_cut_off_anywhere_is_refused);
    RUN(test_counts_that_lie_cost_nothing);
    RUN(test_values_that_are_no_numbers_are_refused);
    RUN(test_what_is_written_is_read_again);
    RUN(test_an_entry_keeps_its_shape);
    return test_finish();
}
