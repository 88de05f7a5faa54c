/* The GGUF reader against whole, damaged and absurd files. */
#include "engine/gguf/gguf_split.h"

#include "gguf_builder.h"
#include "shared_data.h"
#include "test.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static enum td_status open_bytes(const void *data, size_t len, struct gguf **gguf,
                                 struct td_error *err)
{
    *err = (struct td_error){0};
    return gguf_open_memory(data, len, "memory", false, gguf, err);
}

/* Opens a copy of exactly `len` bytes, so that ASan sees a read after the end. True when it was
 * refused with words, or opened and everything in it could be read. */
static bool survives(const char *data, size_t len)
{
    char *copy = malloc(len ? len : 1);
    memcpy(copy, data, len);
    struct gguf *gguf;
    struct td_error err;
    enum td_status status = open_bytes(copy, len, &gguf, &err);
    bool fine = status == TD_OK ? gguf != NULL : gguf == NULL && err.message[0] != '\0';
    unsigned sum = 0;
    for (size_t i = 0; status == TD_OK && i < gguf_tensor_count(gguf); i++) {
        const struct gguf_tensor *tensor = gguf_tensor_at(gguf, i);
        sum += tensor->bytes ? ((const unsigned char *)tensor->data)[tensor->bytes - 1] : 0;
    }
    char value[64];
    struct td_str key, text;
    enum gguf_type type;
    for (size_t i = 0; status == TD_OK && gguf_describe(gguf, i, &key, &type, value, sizeof value);
         i++)
        sum += (unsigned char)value[0];
    const void *cursor = NULL;
    while (status == TD_OK && gguf_next_string(gguf, "strings", &cursor, &text))
        sum += (unsigned)text.len;
    gguf_close(gguf);
    free(copy);
    return fine && sum < UINT32_MAX;
}

/* One of everything. */
static void build_whole(struct buf *file)
{
    struct gguf_builder builder;
    struct rng rng;
    rng_init(&rng, 7);
    builder_init(&builder);
    builder_string(&builder, "general.architecture", "llama");
    builder_u32(&builder, "number", 4000000000u);
    builder_key(&builder, "small", GGUF_I8);
    buf_append_char(&builder.pairs, -3);
    builder_key(&builder, "big", GGUF_U64);
    builder_put_u64(&builder.pairs, UINT64_C(1) << 40);
    builder_f32(&builder, "float", 0.25f);
    builder_bool(&builder, "flag", true);
    builder_array(&builder, "strings", GGUF_STRING, 3);
    builder_put_string(&builder.pairs, STR("one"));
    builder_put_string(&builder.pairs, STR(""));
    builder_put_string(&builder.pairs, STR("three"));
    builder_array(&builder, "empty", GGUF_STRING, 0);
    builder_array(&builder, "numbers", GGUF_I32, 2);
    builder_put_u32(&builder.pairs, 5);
    builder_put_u32(&builder.pairs, 6);
    builder_tensor(&builder, "a.weight", 3, 5, 1.0f, &rng);
    builder_tensor(&builder, "b.weight", 0, 7, 1.0f, &rng);
    builder_finish(&builder, file);
    builder_deinit(&builder);
}

static void test_whole_file_is_read(void)
{
    struct buf file;
    struct gguf *gguf;
    struct td_error err;
    build_whole(&file);
    CHECK(open_bytes(file.data, file.len, &gguf, &err) == TD_OK);
    REQUIRE(gguf != NULL);
    uint32_t number = 0;
    float real = 0;
    bool flag = false;
    struct td_str text;
    CHECK(gguf_get_u32(gguf, "number", &number) && number == 4000000000u);
    CHECK(!gguf_get_u32(gguf, "small", &number)); /* negative */
    CHECK(!gguf_get_u32(gguf, "big", &number));   /* does not fit */
    CHECK(!gguf_get_u32(gguf, "float", &number) && !gguf_get_u32(gguf, "absent", &number));
    CHECK(gguf_get_f32(gguf, "float", &real) && real == 0.25f);
    CHECK(gguf_get_bool(gguf, "flag", &flag) && flag);
    CHECK(gguf_get_string(gguf, "general.architecture", &text) && str_equal(text, STR("llama")));
    const void *cursor = NULL, *data;
    uint64_t count;
    enum gguf_type type;
    CHECK(gguf_next_string(gguf, "strings", &cursor, &text) && str_equal(text, STR("one")));
    CHECK(gguf_next_string(gguf, "strings", &cursor, &text) && text.len == 0);
    CHECK(gguf_next_string(gguf, "strings", &cursor, &text) && str_equal(text, STR("three")));
    CHECK(!gguf_next_string(gguf, "strings", &cursor, &text));
    cursor = NULL;
    CHECK(!gguf_next_string(gguf, "empty", &cursor, &text) && gguf_has(gguf, "empty"));
    CHECK(gguf_array_count(gguf, "strings") == 3 && gguf_array_count(gguf, "number") == 0);
    CHECK(gguf_get_array(gguf, "numbers", &type, &data, &count) && type == GGUF_I32 && count == 2);
    CHECK(!gguf_get_array(gguf, "strings", &type, &data, &count));
    const struct gguf_tensor *tensor = gguf_find_tensor(gguf, "a.weight");
    REQUIRE(tensor != NULL);
    CHECK(tensor->dims[0] == 5 && tensor->dims[1] == 3 && tensor->bytes == 60);
    CHECK((const char *)tensor->data == file.data + file.len - 28 - 64);
    CHECK(gguf_find_tensor(gguf, "c.weight") == NULL && gguf_tensor_count(gguf) == 2);
    CHECK(gguf_file_bytes(gguf) == file.len);
    gguf_close(gguf);
    buf_deinit(&file);
}

static void test_every_truncation_is_refused(void)
{
    struct buf file;
    struct gguf *gguf;
    struct td_error err;
    build_whole(&file);
    for (size_t len = 0; len < file.len; len++) {
        CHECK(survives(file.data, len));
        CHECK(open_bytes(file.data, len, &gguf, &err) != TD_OK);
        gguf_close(gguf);
    }
    buf_deinit(&file);
}

static void test_every_flipped_bit_is_refused_or_harmless(void)
{
    struct buf file;
    build_whole(&file);
    for (size_t at = 0; at < file.len; at++)
        for (int bit = 0; bit < 8; bit++) {
            file.data[at] = (char)(file.data[at] ^ (1 << bit));
            CHECK(survives(file.data, file.len));
            file.data[at] = (char)(file.data[at] ^ (1 << bit));
        }
    buf_deinit(&file);
}

/* Every place that may hold a count, a length, an offset or a type gets every extreme. */
static void test_absurd_numbers_at_every_offset_are_refused_or_harmless(void)
{
    static const uint64_t extremes[] = {
        0,         1, UINT32_MAX, UINT64_C(1) << 32, INT64_MAX, UINT64_C(1) << 63, UINT64_MAX - 7,
        UINT64_MAX};
    struct buf file;
    build_whole(&file);
    for (size_t at = 4; at + 8 <= file.len; at++)
        for (size_t e = 0; e < sizeof extremes / sizeof *extremes; e++) {
            char saved[8];
            memcpy(saved, file.data + at, 8);
            memcpy(file.data + at, &extremes[e], 8);
            CHECK(survives(file.data, file.len));
            memcpy(file.data + at, saved, 4); /* and as a 32-bit number */
            memcpy(file.data + at + 4, saved + 4, 4);
        }
    buf_deinit(&file);
}

/* Builds a file with one directory entry and expects it to be refused with `word` in the
 * message. */
static void expect_refused_tensor(const char *name, uint32_t type, uint32_t dim_count,
                                  const uint64_t *dims, uint64_t offset, const char *word)
{
    struct gguf_builder builder;
    struct buf file;
    struct gguf *gguf;
    struct td_error err;
    builder_init(&builder);
    builder_string(&builder, "general.architecture", "llama");
    builder_entry(&builder, name, type, dim_count, dims, offset);
    for (int i = 0; i < 4096; i++)
        buf_append_char(&builder.data, 0);
    builder_finish(&builder, &file);
    CHECK(open_bytes(file.data, file.len, &gguf, &err) != TD_OK);
    CHECK(strstr(err.message, "memory: ") == err.message);
    if (strstr(err.message, word) == NULL)
        fprintf(stderr, "no '%s' in: %s\n", word, err.message);
    CHECK(strstr(err.message, word) != NULL);
    gguf_close(gguf);
    builder_deinit(&builder);
    buf_deinit(&file);
}

static void test_bad_tensors_are_refused_with_name_and_reason(void)
{
    const uint64_t fine[] = {32, 1, 1, 1}, huge[] = {UINT64_C(1) << 63, 2}, zero[] = {32, 0};
    const uint64_t product[] = {UINT64_C(1) << 31, UINT64_C(1) << 31, 4}, odd[] = {33, 1};
    const uint64_t wrap[] = {UINT64_C(1) << 32, UINT64_C(1) << 30};
    char long_name[80];
    memset(long_name, 'n', sizeof long_name);
    long_name[65] = '\0';
    expect_refused_tensor("t", TENSOR_F32, 2, huge, 0, "'t'");
    expect_refused_tensor("t", TENSOR_F32, 2, zero, 0, "zero");
    expect_refused_tensor("t", TENSOR_F32, 3, product, 0, "overflows");
    expect_refused_tensor("t", TENSOR_F32, 2, wrap, 0, "does not fit");
    expect_refused_tensor("t", TENSOR_F32, 0, fine, 0, "0 dimensions");
    expect_refused_tensor("t", TENSOR_F32, 5, (const uint64_t[]){1, 1, 1, 1, 1}, 0, "5 dimensions");
    expect_refused_tensor("t", TENSOR_Q8_0, 2, odd, 0, "multiple of 32");
    expect_refused_tensor("t", 15, 1, (const uint64_t[]){256}, 0, "Q8_K");
    expect_refused_tensor("t", 15, 1, (const uint64_t[]){256}, 0, "supported types: F32");
    expect_refused_tensor("t", 4000000000u, 1, fine, 0, "unknown");
    expect_refused_tensor("t", TENSOR_F32, 1, fine, 8, "alignment");
    expect_refused_tensor("t", TENSOR_F32, 1, fine, 4096, "after the file");
    expect_refused_tensor("t", TENSOR_F32, 1, fine, UINT64_MAX - 31, "after the file");
    expect_refused_tensor("", TENSOR_F32, 1, fine, 0, "name");
    expect_refused_tensor("a\nb", TENSOR_F32, 1, fine, 0, "name");
    expect_refused_tensor(long_name, TENSOR_F32, 1, fine, 0, "longer than 64");
}

/* Finishes a builder and expects the file to be refused with `word`. */
static void expect_refused(struct gguf_builder *builder, const char *word)
{
    struct buf file;
    struct gguf *gguf;
    struct td_error err;
    builder_finish(builder, &file);
    CHECK(open_bytes(file.data, file.len, &gguf, &err) != TD_OK);
    if (strstr(err.message, word) == NULL)
        fprintf(stderr, "no '%s' in: %s\n", word, err.message);
    CHECK(strstr(err.message, word) != NULL);
    gguf_close(gguf);
    builder_deinit(builder);
    buf_deinit(&file);
}

static void test_duplicates_and_overlaps_are_refused(void)
{
    struct gguf_builder builder;
    const uint64_t dims[] = {32};
    builder_init(&builder);
    builder_u32(&builder, "key", 1);
    builder_u32(&builder, "key", 2);
    expect_refused(&builder, "'key' appears twice");
    builder_init(&builder);
    builder_tensor(&builder, "t", 0, 32, 1, NULL);
    builder_tensor(&builder, "t", 0, 32, 1, NULL);
    expect_refused(&builder, "'t' appears twice");
    builder_init(&builder);
    builder_tensor(&builder, "t", 0, 64, 1, NULL);
    builder_entry(&builder, "u", TENSOR_F32, 1, dims, 32);
    expect_refused(&builder, "overlap");
}

static void test_bad_metadata_is_refused_with_key_and_reason(void)
{
    struct gguf_builder builder;
    builder_init(&builder);
    builder_array(&builder, "nested", GGUF_ARRAY, 1);
    builder_put_u32(&builder.pairs, GGUF_U32);
    builder_put_u64(&builder.pairs, 0);
    expect_refused(&builder, "'nested' is an array of arrays");
    builder_init(&builder);
    builder_array(&builder, "many", GGUF_U64, UINT64_C(1) << 61);
    expect_refused(&builder, "'many' claims");
    builder_init(&builder);
    builder_array(&builder, "many", GGUF_STRING, UINT64_MAX);
    expect_refused(&builder, "'many' claims");
    builder_init(&builder);
    builder_key(&builder, "typed", (enum gguf_type)13);
    expect_refused(&builder, "unknown value type 13");
    builder_init(&builder);
    builder_key(&builder, "flag", GGUF_BOOL);
    buf_append_char(&builder.pairs, 2);
    expect_refused(&builder, "'flag' is a bool of value 2");
    for (uint32_t bad = 0; bad < 5; bad++) {
        static const uint32_t alignments[] = {0, 1, 4, 48, UINT32_MAX};
        builder_init(&builder);
        builder_u32(&builder, "general.alignment", alignments[bad]);
        expect_refused(&builder, "general.alignment");
    }
    builder_init(&builder);
    builder_string(&builder, "general.alignment", "32");
    expect_refused(&builder, "general.alignment");
    builder_init(&builder);
    builder_u32(&builder, "", 1);
    expect_refused(&builder, "metadata key");
}

static void test_bad_headers_are_refused(void)
{
    struct gguf_builder builder;
    builder_init(&builder);
    builder.version = 1;
    expect_refused(&builder, "version 1");
    builder_init(&builder);
    builder.version = 0x03000000;
    expect_refused(&builder, "big-endian");
    builder_init(&builder);
    builder.tensor_count = UINT64_MAX;
    expect_refused(&builder, "tensors");
    builder_init(&builder);
    builder.pair_count = UINT64_C(1) << 60;
    expect_refused(&builder, "metadata pairs");
    struct gguf *gguf;
    struct td_error err = {0};
    CHECK(open_bytes("GGML1234", 8, &gguf, &err) == TD_CORRUPT && strstr(err.message, "magic"));
    err = (struct td_error){0};
    CHECK(gguf_open("/nonexistent/x.gguf", false, &gguf, &err) == TD_NOT_FOUND);
    err = (struct td_error){0};
    CHECK(gguf_open("/tmp", false, &gguf, &err) != TD_OK && strstr(err.message, "/tmp"));
}

static void test_vocab_only_ignores_tensor_data(void)
{
    struct gguf_builder builder;
    struct buf file;
    struct gguf *gguf;
    struct td_error err = {0};
    const uint64_t dims[] = {1 << 20};
    builder_init(&builder);
    builder_entry(&builder, "t", 13, 1, dims, 1 << 30);
    builder_finish(&builder, &file);
    CHECK(gguf_open_memory(file.data, file.len, "memory", true, &gguf, &err) == TD_OK);
    CHECK(gguf && gguf_tensor_at(gguf, 0)->data == NULL);
    gguf_close(gguf);
    builder_deinit(&builder);
    buf_deinit(&file);
}

/* A real small model: each byte of everything before the tensor data, truncated there and flipped
 * there. */
static void test_damaged_real_file_is_refused_or_harmless(void)
{
    char path[512];
    if (!shared_path(path, sizeof path, "golden/real/stories260K-q8_0.gguf")) {
        SKIP("damaged_real_file", "no golden data");
        return;
    }
    int fd = open(path, O_RDONLY);
    REQUIRE(fd >= 0);
    struct stat info;
    REQUIRE(fstat(fd, &info) == 0);
    char *data = mmap(NULL, (size_t)info.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    close(fd);
    REQUIRE(data != MAP_FAILED);
    struct gguf *gguf;
    struct td_error err;
    REQUIRE(open_bytes(data, (size_t)info.st_size, &gguf, &err) == TD_OK);
    size_t directory_end = (size_t)((const char *)gguf_tensor_at(gguf, 0)->data - data);
    gguf_close(gguf);
    for (size_t at = 0; at < directory_end; at++) {
        CHECK(open_bytes(data, at, &gguf, &err) != TD_OK);
        data[at] = (char)(data[at] ^ (1 << at % 8));
        if (open_bytes(data, (size_t)info.st_size, &gguf, &err) == TD_OK)
            gguf_close(gguf);
        else
            CHECK(err.message[0] != '\0');
        data[at] = (char)(data[at] ^ (1 << at % 8));
    }
    munmap(data, (size_t)info.st_size);
}

/* ---- models in several files ---- */

static struct gguf *open_part(struct buf *file, uint32_t number, uint32_t count, uint32_t tensors,
                              const char *name)
{
    struct gguf_builder builder;
    struct gguf *gguf = NULL;
    struct td_error err;
    builder_init(&builder);
    builder_u32(&builder, "split.no", number);
    builder_u32(&builder, "split.count", count);
    builder_u32(&builder, "split.tensors.count", tensors);
    builder_tensor(&builder, name, 0, 8, 1.0f + (float)number, NULL);
    builder_finish(&builder, file);
    builder_deinit(&builder);
    CHECK(open_bytes(file->data, file->len, &gguf, &err) == TD_OK);
    return gguf;
}

/* Joins two parts; **returns new** or NULL, and then *err says why. */
static struct gguf *join_two(struct buf files[2], const uint32_t numbers[2], uint32_t count,
                             uint32_t tensors, const char *const names[2], struct td_error *err)
{
    struct gguf *parts[2], *whole = NULL;
    *err = (struct td_error){0};
    for (size_t i = 0; i < 2; i++)
        parts[i] = open_part(&files[i], numbers[i], count, tensors, names[i]);
    CHECK((gguf_join(parts, 2, &whole, err) == TD_OK) == (whole != NULL));
    return whole;
}

static void test_parts_become_one_model(void)
{
    struct buf files[2];
    struct td_error err;
    struct gguf *whole =
        join_two(files, (const uint32_t[]){0, 1}, 2, 2, (const char *const[]){"a", "b"}, &err);
    REQUIRE(whole != NULL);
    const struct gguf_tensor *a = gguf_find_tensor(whole, "a"), *b = gguf_find_tensor(whole, "b");
    CHECK(gguf_tensor_count(whole) == 2 && gguf_file_bytes(whole) == files[0].len + files[1].len);
    CHECK(a && b && *(const float *)a->data == 1.0f && *(const float *)b->data == 2.0f);
    gguf_close(whole);
    buf_deinit(&files[0]);
    buf_deinit(&files[1]);
}

static void test_parts_that_do_not_belong_together_are_refused(void)
{
    static const struct {
        uint32_t numbers[2], count, tensors;
        const char *names[2], *words;
    } cases[] = {
        {{0, 1}, 2, 2, {"a", "a"}, "tensor 'a' is in memory as well"},
        {{0, 1}, 2, 3, {"a", "b"}, "the model has 3 tensors, but its 2 parts have 2"},
        {{1, 0}, 2, 2, {"a", "b"}, "is to be part 1 of 2 of a model, but its metadata says part 2"},
        {{0, 0}, 2, 2, {"a", "b"}, "is to be part 2 of 2 of a model, but its metadata says part 1"},
        {{0, 1}, 3, 2, {"a", "b"}, "says part 1 of 3"},
        {{0, UINT32_MAX}, 2, 2, {"a", "b"}, "says part 4294967296 of 2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf files[2];
        struct td_error err;
        struct gguf *whole = join_two(files, cases[i].numbers, cases[i].count, cases[i].tensors,
                                      cases[i].names, &err);
        CHECK(whole == NULL && strstr(err.message, cases[i].words) != NULL);
        gguf_close(whole);
        buf_deinit(&files[0]);
        buf_deinit(&files[1]);
    }
}

static void test_names_of_parts_are_read_and_written(void)
{
    static const char *const others[] = {
        "a.gguf",
        "-00001-of-00002.gguf",
        "a-00000-of-00002.gguf",
        "a-00003-of-00002.gguf",
        "a-0001-of-00002.gguf",
        "a-00001-of-00002.gguf.part",
        "a-00001_of-00002.gguf",
        "a-00001-of-02000.gguf",
    };
    struct gguf_part_name part;
    char name[40];
    REQUIRE(gguf_part_parse("x/a-b-00002-of-00013.gguf", &part));
    CHECK(part.number == 2 && part.count == 13 && part.stem_len == 5);
    CHECK(gguf_part_format(name, sizeof name, "x/a-b-00002-of-00013.gguf", &part, 13) &&
          strcmp(name, "x/a-b-00013-of-00013.gguf") == 0);
    CHECK(!gguf_part_format(name, 25, "x/a-b-00002-of-00013.gguf", &part, 13));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        CHECK(!gguf_part_parse(others[i], &part));
}

int main(void)
{
    RUN(test_whole_file_is_read);
    RUN(test_every_truncation_is_refused);
    RUN(test_every_flipped_bit_is_refused_or_harmless);
    RUN(test_absurd_numbers_at_every_offset_are_refused_or_harmless);
    RUN(test_bad_tensors_are_refused_with_name_and_reason);
    RUN(test_duplicates_and_overlaps_are_refused);
    RUN(test_bad_metadata_is_refused_with_key_and_reason);
    RUN(test_bad_headers_are_refused);
    RUN(test_vocab_only_ignores_tensor_data);
    RUN(test_damaged_real_file_is_refused_or_harmless);
    RUN(test_parts_become_one_model);
    RUN(test_parts_that_do_not_belong_together_are_refused);
    RUN(test_names_of_parts_are_read_and_written);
    return test_finish();
}
