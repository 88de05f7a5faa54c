/* Saved sessions: the restored positions are the saved ones, for every cache type and any range.
 * Files of another model, and files that are cut off, damaged or lie, are refused and change
 * nothing. */
#include "engine/session/session.h"
#include "engine/session/session_file.h"

#include "test.h"
#include "tiny_model.h"

#include <sys/stat.h>

enum { LENGTH = 150 };

static struct td_model *model, *other_model;
static int32_t ids[LENGTH + 50];
static char path[64];

static struct td_session *open_session(const struct td_model *of, enum td_kv_type kv_type)
{
    struct td_session *session = NULL;
    const struct td_session_options options = {.thread_count = 1, .kv_type = kv_type};
    CHECK(td_session_new(of, &options, &session, NULL) == TD_OK);
    return session;
}

static void run(struct td_session *session, uint32_t begin, uint32_t end, float *logits)
{
    CHECK(td_session_forward(session, ids + begin, end - begin, logits, logits ? 1 : 0, NULL) ==
          TD_OK);
}

static uint8_t *exported(const struct td_session *session, uint32_t begin, uint32_t count,
                         size_t *bytes)
{
    CHECK(td_session_export(session, begin, count, NULL, 0, bytes, NULL) == TD_LIMIT);
    uint8_t *data = malloc(*bytes);
    if (data == NULL)
        abort();
    CHECK(td_session_export(session, begin, count, data, *bytes, bytes, NULL) == TD_OK);
    return data;
}

static void test_a_saved_session_goes_on_where_it_was(void)
{
    static const enum td_kv_type types[] = {TD_KV_F16, TD_KV_F32, TD_KV_Q8_0, TD_KV_Q4_0,
                                            TD_KV_Q8_0_Q4_0};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        float expected[TINY_VOCAB], got[TINY_VOCAB];
        struct td_error err = {0};
        struct stat stat_of;
        struct td_session *session = open_session(model, types[t]);
        run(session, 0, LENGTH, NULL);
        CHECK(td_session_save(session, path, &err) == TD_OK);
        CHECK(stat(path, &stat_of) == 0 && (stat_of.st_mode & 0777) == 0600);
        run(session, LENGTH, LENGTH + 50, expected);
        td_session_free(session);
        struct td_session *again = open_session(model, types[t]);
        run(again, 7, 20, NULL); /* what it held is replaced */
        CHECK(td_session_load(again, path, &err) == TD_OK);
        CHECK(td_session_length(again) == LENGTH);
        CHECK(sequence_common_prefix(&again->sequence, NULL, ids, LENGTH) == LENGTH);
        run(again, LENGTH, LENGTH + 50, got);
        CHECK(memcmp(expected, got, sizeof got) == 0);
        td_session_free(again);
    }
}

/* In pieces that end at, before and after the ends of pages. */
static void test_any_range_of_positions_can_be_moved(void)
{
    static const uint32_t cuts[] = {0, 1, 60, 64, 65, 128, 129, LENGTH};
    float expected[TINY_VOCAB], got[TINY_VOCAB];
    struct td_session *from = open_session(model, TD_KV_F16), *to = open_session(model, TD_KV_F16);
    run(from, 0, LENGTH, NULL);
    for (size_t i = 0; i + 1 < sizeof cuts / sizeof *cuts; i++) {
        size_t bytes;
        struct td_error err = {0};
        uint8_t *data = exported(from, cuts[i], cuts[i + 1] - cuts[i], &bytes);
        CHECK(td_session_import(to, data, bytes, &err) == TD_OK);
        CHECK(td_session_length(to) == cuts[i + 1]);
        err = (struct td_error){0};
        CHECK(td_session_import(to, data, bytes, &err) == TD_INVALID); /* it belongs elsewhere */
        CHECK(strstr(err.message, "begin at") != NULL);
        free(data);
    }
    run(from, LENGTH, LENGTH + 1, expected);
    run(to, LENGTH, LENGTH + 1, got);
    CHECK(memcmp(expected, got, sizeof got) == 0);
    size_t bytes;
    struct td_error err = {0};
    CHECK(td_session_export(from, LENGTH, 2, NULL, 0, &bytes, &err) == TD_INVALID && bytes == 0);
    CHECK(td_session_export(from, UINT32_MAX, 2, NULL, 0, &bytes, NULL) == TD_INVALID);
    td_session_free(from);
    td_session_free(to);
}

static void expect_refusal(struct td_session *session, const uint8_t *data, size_t bytes,
                           enum td_status status, const char *words)
{
    struct td_error err = {0};
    uint32_t length = td_session_length(session);
    enum td_status got = td_session_import(session, data, bytes, &err);
    CHECK(got == status && strstr(err.message, words) != NULL);
    if (got != status || strstr(err.message, words) == NULL)
        fprintf(stderr, "  %d instead of %d: %s (%s)\n", (int)got, (int)status, err.message, words);
    CHECK(td_session_length(session) == length);
}

static void put_u32(uint8_t *data, size_t bytes, size_t at, uint32_t value)
{
    for (size_t i = 0; i < 4; i++)
        data[at + i] = (uint8_t)(value >> 8 * i);
    session_file_seal(data, bytes);
}

static void test_lies_in_the_header_are_refused_by_name(void)
{
    static const struct {
        size_t at;
        uint32_t value;
        enum td_status status;
        const char *words;
    } lies[] = {{0, 0x20202020, TD_CORRUPT, "not a saved session"},
                {8, 2, TD_UNSUPPORTED, "version 2"},
                {12, TD_KV_F32, TD_INVALID, "type f32"},
                {12, 77, TD_INVALID, "type unknown"},
                {16, 0x0a0a0a0a, TD_INVALID, "another model (fingerprint ????"},
                {32, 3, TD_CORRUPT, "3 layers"},
                {36, 0, TD_CORRUPT, "0 heads"},
                {40, 0x80000000, TD_CORRUPT, "2147483648"},
                {44, 1, TD_INVALID, "begin at 1"},
                {48, 0xffffffff, TD_LIMIT, "do not fit"},
                {48, TINY_CONTEXT + 1, TD_LIMIT, "do not fit the context of 512"},
                {48, LENGTH - 1, TD_CORRUPT, "bytes"},
                {52, 1, TD_INVALID, "context"},
                {64, 9, TD_INVALID, "the weights differ"},
                {80, TINY_VOCAB, TD_CORRUPT, "saved token 0 is 320"},
                {84, 0xffffffff, TD_CORRUPT, "saved token 1"}};
    size_t bytes;
    struct td_session *session = open_session(model, TD_KV_F16);
    run(session, 0, LENGTH, NULL);
    uint8_t *data = exported(session, 0, LENGTH, &bytes), *copy = malloc(bytes + 1);
    td_session_truncate(session, 0);
    for (size_t i = 0; copy && i < sizeof lies / sizeof *lies; i++) {
        memcpy(copy, data, bytes);
        put_u32(copy, bytes, lies[i].at, lies[i].value);
        expect_refusal(session, copy, bytes, lies[i].status, lies[i].words);
    }
    struct td_session *other = open_session(other_model, TD_KV_F16);
    expect_refusal(other, data, bytes, TD_INVALID, "another model of the same shape");
    CHECK(td_session_import(session, data, bytes, NULL) == TD_OK); /* it was right all the time */
    td_session_free(other);
    td_session_free(session);
    free(data);
    free(copy);
}

static void test_cut_off_and_damaged_sessions_are_refused(void)
{
    size_t bytes;
    struct td_session *session = open_session(model, TD_KV_F16);
    run(session, 0, 20, NULL);
    uint8_t *data = exported(session, 0, 20, &bytes);
    td_session_truncate(session, 0);
    for (size_t cut = 0; cut < bytes; cut += cut < 200 ? 1 : 997) {
        uint8_t *part = malloc(cut ? cut : 1); /* exact, so that reading beyond it shows */
        if (part == NULL)
            abort();
        memcpy(part, data, cut);
        expect_refusal(session, part, cut, TD_CORRUPT, "bytes");
        free(part);
    }
    for (size_t at = 56; at < bytes; at += at < 100 ? 1 : 501) {
        data[at] ^= 0x10;
        expect_refusal(session, data, bytes, at / 8 == 8 ? TD_INVALID : TD_CORRUPT,
                       at < 64   ? "bytes"
                       : at < 72 ? "weights"
                                 : "checksum");
        data[at] ^= 0x10;
    }
    td_session_free(session);
    free(data);
}

static void write_file(const uint8_t *data, size_t bytes)
{
    FILE *file = fopen(path, "wb");
    CHECK(file != NULL && fwrite(data, 1, bytes, file) == bytes && fclose(file) == 0);
}

static void test_bad_files_leave_the_session_as_it_was(void)
{
    size_t bytes;
    struct td_error err = {0};
    struct td_session *session = open_session(model, TD_KV_F16);
    run(session, 0, 30, NULL);
    uint8_t *data = exported(session, 0, 30, &bytes);
    CHECK(td_session_load(session, "/nowhere/session", &err) == TD_NOT_FOUND);
    err = (struct td_error){0};
    CHECK(td_session_load(session, "/tmp", &err) == TD_IO);
    err = (struct td_error){0};
    CHECK(td_session_save(session, "/nowhere/session", &err) == TD_IO);
    write_file(data, bytes - 1);
    err = (struct td_error){0};
    CHECK(td_session_load(session, path, &err) == TD_CORRUPT && strstr(err.message, "cut off"));
    write_file(data, 10);
    err = (struct td_error){0};
    CHECK(td_session_load(session, path, &err) == TD_CORRUPT && strstr(err.message, path));
    data[bytes - 1] ^= 1;
    write_file(data, bytes);
    err = (struct td_error){0};
    CHECK(td_session_load(session, path, &err) == TD_CORRUPT && strstr(err.message, "checksum"));
    CHECK(td_session_length(session) == 30);
    td_session_free(session);
    free(data);
}

/* Opening one would wait for a writer. */
static void test_a_fifo_is_refused_and_not_waited_for(void)
{
    struct td_error err = {0};
    struct td_session *session = open_session(model, TD_KV_F16);
    run(session, 0, 30, NULL);
    remove(path);
    REQUIRE(mkfifo(path, 0600) == 0);
    CHECK(td_session_load(session, path, &err) == TD_IO);
    CHECK(strstr(err.message, "not a regular file") && strstr(err.message, path));
    CHECK(td_session_length(session) == 30);
    remove(path);
    td_session_free(session);
}

static void test_a_load_without_pages_leaves_the_session_as_it_was(void)
{
    float expected[TINY_VOCAB], got[TINY_VOCAB];
    uint32_t taken[64], count = 0;
    struct td_error err = {0};
    struct td_session *session = open_session(model, TD_KV_F16);
    run(session, 0, LENGTH, NULL);
    CHECK(td_session_save(session, path, NULL) == TD_OK);
    td_session_truncate(session, 30);
    run(session, 30, 31, expected);
    while (count < 64 && (taken[count] = kv_page_take(session->kv_pool)) != KV_NO_PAGE)
        count++;
    CHECK(td_session_load(session, path, &err) == TD_BUSY && strstr(err.message, "pages"));
    CHECK(td_session_length(session) == 31);
    td_session_truncate(session, 30);
    run(session, 30, 31, got);
    CHECK(memcmp(expected, got, sizeof got) == 0);
    while (count > 0)
        kv_page_release(session->kv_pool, taken[--count]);
    CHECK(td_session_load(session, path, NULL) == TD_OK && td_session_length(session) == LENGTH);
    td_session_free(session);
}

int main(void)
{
    struct rng rng;
    model = tiny_model(1);
    other_model = tiny_model(2);
    snprintf(path, sizeof path, "/tmp/tandem_test_session_%d", (int)getpid());
    if (model == NULL || other_model == NULL)
        return 1;
    rng_init(&rng, 5);
    for (int i = 0; i < LENGTH + 50; i++)
        ids[i] = (int32_t)rng_below(&rng, TINY_VOCAB);
    RUN(test_a_saved_session_goes_on_where_it_was);
    RUN(test_any_range_of_positions_can_be_moved);
    RUN(test_lies_in_the_header_are_refused_by_name);
    RUN(test_cut_off_and_damaged_sessions_are_refused);
    RUN(test_bad_files_leave_the_session_as_it_was);
    RUN(test_a_fifo_is_refused_and_not_waited_for);
    RUN(test_a_load_without_pages_leaves_the_session_as_it_was);
    unlink(path);
    td_model_close(model);
    td_model_close(other_model);
    return test_finish();
}
