/* Compressed bodies: what is decoded, and what is refused and why. */
#include "base/core/str.h"
#include "net/server/content_coding.h"
#include "test.h"

#define ZLIB_CONST
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#define TEXT "{\"model\": \"auto\", \"messages\": [{\"role\": \"user\", \"content\": \"hello\"}]}"

static unsigned char coded[1 << 20];

static struct td_str deflated(struct td_str text, int window)
{
    z_stream stream = {.next_in = (const Bytef *)text.data, .avail_in = (uInt)text.len};
    CHECK(deflateInit2(&stream, 9, Z_DEFLATED, window, 9, Z_DEFAULT_STRATEGY) == Z_OK);
    stream.next_out = coded;
    stream.avail_out = sizeof coded;
    CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
    size_t len = sizeof coded - stream.avail_out;
    deflateEnd(&stream);
    return (struct td_str){(const char *)coded, len};
}

static struct td_str framed(struct td_str text, int window_log)
{
    ZSTD_CCtx *context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window_log);
    ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
    ZSTD_inBuffer in = {text.data, text.len, 0};
    ZSTD_outBuffer out = {coded, sizeof coded, 0};
    while (ZSTD_compressStream2(context, &out, &in, ZSTD_e_end) != 0)
        CHECK(out.pos < out.size);
    ZSTD_freeCCtx(context);
    return (struct td_str){(const char *)coded, out.pos};
}

static enum content_result decode(enum content_coding coding, struct td_str bytes, size_t bytes_max,
                                  struct buf *out)
{
    buf_init(out, bytes_max);
    return content_decode(coding, bytes, NULL, NULL, out);
}

static bool gives(enum content_coding coding, struct td_str bytes, struct td_str text)
{
    struct buf out;
    bool same =
        decode(coding, bytes, text.len, &out) == CONTENT_OK && str_equal(buf_view(&out), text);
    buf_deinit(&out);
    return same;
}

static enum content_result result_of(enum content_coding coding, struct td_str bytes,
                                     size_t bytes_max)
{
    struct buf out;
    enum content_result result = decode(coding, bytes, bytes_max, &out);
    CHECK(out.len <= bytes_max);
    buf_deinit(&out);
    return result;
}

static void test_a_header_names_one_coding(void)
{
    CHECK(content_coding_of(NULL) == CODING_NONE && content_coding_of("") == CODING_NONE);
    CHECK(content_coding_of("Identity") == CODING_NONE);
    CHECK(content_coding_of("gzip") == CODING_GZIP && content_coding_of("X-GZIP") == CODING_GZIP);
    CHECK(content_coding_of("deflate") == CODING_DEFLATE);
    CHECK(content_coding_of(" zstd") == CODING_ZSTD);
    CHECK(content_coding_of("br") == CODING_UNKNOWN);
    CHECK(content_coding_of("gzip, gzip") == CODING_UNKNOWN);
}

static void test_each_coding_gives_the_text_back(void)
{
    CHECK(gives(CODING_GZIP, deflated(STR(TEXT), 31), STR(TEXT)));
    CHECK(gives(CODING_DEFLATE, deflated(STR(TEXT), 15), STR(TEXT)));
    CHECK(gives(CODING_DEFLATE, deflated(STR(TEXT), -15), STR(TEXT)));
    CHECK(gives(CODING_ZSTD, framed(STR(TEXT), 20), STR(TEXT)));
    CHECK(gives(CODING_NONE, STR(TEXT), STR(TEXT)));
    CHECK(gives(CODING_GZIP, STR(""), STR("")));
}

static void test_parts_after_each_other_are_one_body(void)
{
    static char twice[4096];
    for (int zstd = 0; zstd < 2; zstd++) {
        struct td_str one = zstd ? framed(STR(TEXT), 20) : deflated(STR(TEXT), 31);
        memcpy(twice, one.data, one.len);
        memcpy(twice + one.len, one.data, one.len);
        struct td_str both = {twice, 2 * one.len};
        CHECK(gives(zstd ? CODING_ZSTD : CODING_GZIP, both, STR(TEXT TEXT)));
        both.len -= 1;
        CHECK(result_of(zstd ? CODING_ZSTD : CODING_GZIP, both, 4096) == CONTENT_TRUNCATED);
    }
}

static void test_every_cut_is_noticed(void)
{
    static const enum content_coding codings[] = {CODING_GZIP, CODING_DEFLATE, CODING_ZSTD};
    for (size_t i = 0; i < 3; i++) {
        struct td_str whole = i == 2 ? framed(STR(TEXT), 20) : deflated(STR(TEXT), i ? 15 : 31);
        for (size_t len = 1; len < whole.len; len++) {
            enum content_result result =
                result_of(codings[i], str_slice(whole, 0, len), sizeof TEXT);
            /* One byte of zlib's header may also be read as the bare stream. */
            CHECK(result == CONTENT_TRUNCATED || (len == 1 && result == CONTENT_DAMAGED));
        }
    }
}

static void test_what_is_damaged_or_goes_on_is_refused(void)
{
    struct td_str whole = deflated(STR(TEXT), 31);
    coded[whole.len] = 'x';
    CHECK(result_of(CODING_GZIP, (struct td_str){whole.data, whole.len + 1}, 4096) != CONTENT_OK);
    coded[whole.len - 6] ^= 1; /* the check sum */
    CHECK(result_of(CODING_GZIP, whole, 4096) == CONTENT_DAMAGED);
    whole = deflated(STR(TEXT), 15);
    coded[whole.len] = 'x';
    CHECK(result_of(CODING_DEFLATE, (struct td_str){whole.data, whole.len + 1}, 4096) ==
          CONTENT_DAMAGED);
    CHECK(result_of(CODING_GZIP, STR(TEXT), 4096) == CONTENT_DAMAGED);
    CHECK(result_of(CODING_ZSTD, STR(TEXT), 4096) == CONTENT_DAMAGED);
}

static void test_a_bomb_ends_at_the_maximum(void)
{
    size_t bytes = (size_t)32 << 20;
    char *zeros = calloc(1, bytes);
    REQUIRE(zeros);
    struct td_str text = {zeros, bytes};
    CHECK(result_of(CODING_GZIP, deflated(text, 31), bytes - 1) == CONTENT_TOO_LARGE);
    CHECK(result_of(CODING_GZIP, deflated(text, 31), 100) == CONTENT_TOO_LARGE);
    CHECK(result_of(CODING_GZIP, deflated(text, 31), bytes) == CONTENT_OK);
    CHECK(result_of(CODING_ZSTD, framed(text, 20), bytes - 1) == CONTENT_TOO_LARGE);
    CHECK(result_of(CODING_ZSTD, framed(text, 23), bytes) == CONTENT_OK);
    CHECK(result_of(CODING_ZSTD, framed(text, 24), bytes) == CONTENT_WINDOW);
    free(zeros);
}

static bool no_room(void *ctx, size_t bytes)
{
    size_t *left = ctx;
    bool fits = bytes <= *left;
    *left -= fits ? bytes : 0;
    return fits;
}

static void test_without_room_it_stops(void)
{
    static char text[100000];
    size_t left = 50000;
    struct buf out;
    buf_init(&out, sizeof text);
    struct td_str bytes = deflated((struct td_str){text, sizeof text}, 31);
    CHECK(content_decode(CODING_GZIP, bytes, no_room, &left, &out) == CONTENT_NO_ROOM);
    CHECK(out.len <= 50000);
    buf_deinit(&out);
}

int main(void)
{
    RUN(test_a_header_names_one_coding);
    RUN(test_each_coding_gives_the_text_back);
    RUN(test_parts_after_each_other_are_one_body);
    RUN(test_every_cut_is_noticed);
    RUN(test_what_is_damaged_or_goes_on_is_refused);
    RUN(test_a_bomb_ends_at_the_maximum);
    RUN(test_without_room_it_stops);
    return test_finish();
}
