/* Bodies that a client has compressed, by zlib and libzstd.
 *
 * A few kilobytes can stand for gigabytes. So the output is made in small pieces, and before each
 * the maximum and the room for all bodies are looked at. What one piece costs is bounded, too: a
 * zstd stream may ask for a window of gigabytes, and RFC 9659 lets a reader refuse more than 8 MB.
 * Several members of gzip, or frames of zstd, after each other are one body, as their formats
 * say. */
#include "net/server/content_coding.h"

#include "base/core/assertion.h"
#include "base/core/shortage.h"
#include "base/core/str.h"

#include <string.h>
#define ZLIB_CONST /* zlib reads its input and does not write it */
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#define PIECE_BYTES ((size_t)16 * 1024)
#define WINDOW_LOG_MAX 23     /* 8 MB: RFC 9659, section 3 */
#define GZIP_WINDOW (15 + 16) /* zlib's number for gzip's format and every window of it */
#define ZLIB_WINDOW 15
#define BARE_WINDOW (-15) /* deflate without a header */

enum content_coding content_coding_of(const char *header)
{
    static const struct {
        struct td_str name;
        enum content_coding coding;
    } names[] = {
        {{"", 0}, CODING_NONE},       {{"identity", 8}, CODING_NONE},   {{"gzip", 4}, CODING_GZIP},
        {{"x-gzip", 6}, CODING_GZIP}, {{"deflate", 7}, CODING_DEFLATE}, {{"zstd", 4}, CODING_ZSTD},
    };
    struct td_str name = str_trim(str_from(header ? header : ""));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_equal_nocase(name, names[i].name))
            return names[i].coding;
    return CODING_UNKNOWN;
}

/* Takes a piece of the output, or says why not. */
struct sink {
    content_room_fn *room;
    void *ctx;
    struct buf *out;
};

static enum content_result put(const struct sink *sink, const void *piece, size_t len)
{
    if (len > sink->out->bytes_max - sink->out->len)
        return CONTENT_TOO_LARGE;
    if (len > 0 && sink->room && !sink->room(sink->ctx, len))
        return CONTENT_NO_ROOM;
    buf_append(sink->out, piece, len);
    return sink->out->failed ? CONTENT_NO_MEMORY : CONTENT_OK;
}

/* --- gzip and deflate --- */

/* RFC 1950, section 2.2: the method 8, and a check of the first two bytes. */
static bool has_zlib_header(struct td_str bytes)
{
    if (bytes.len < 2)
        return false;
    unsigned first = (unsigned char)bytes.data[0], second = (unsigned char)bytes.data[1];
    return (first & 0x0f) == 8 && (first * 256 + second) % 31 == 0;
}

/* Goes on after the end of a member; only gzip's may follow each other. */
static enum content_result next_member(z_stream *stream, bool gzip)
{
    if (stream->avail_in == 0)
        return CONTENT_OK;
    return gzip && inflateReset(stream) == Z_OK ? CONTENT_OK : CONTENT_DAMAGED;
}

static enum content_result inflate_all(z_stream *stream, bool gzip, const struct sink *sink)
{
    unsigned char piece[PIECE_BYTES];
    for (;;) {
        stream->next_out = piece;
        stream->avail_out = sizeof piece;
        int code = inflate(stream, Z_NO_FLUSH);
        if (code == Z_MEM_ERROR)
            return CONTENT_NO_MEMORY;
        if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
            return CONTENT_DAMAGED;
        size_t made = sizeof piece - stream->avail_out;
        enum content_result result = put(sink, piece, made);
        if (result == CONTENT_OK && code == Z_STREAM_END)
            result = next_member(stream, gzip);
        if (result != CONTENT_OK || (code == Z_STREAM_END && stream->avail_in == 0))
            return result;
        if (code == Z_BUF_ERROR || (stream->avail_in == 0 && stream->avail_out > 0))
            return CONTENT_TRUNCATED;
    }
}

static enum content_result decode_deflate(struct td_str bytes, bool gzip, const struct sink *sink)
{
    z_stream stream = {0};
    if (bytes.len > UINT32_MAX)
        return CONTENT_TOO_LARGE;
    int window = gzip ? GZIP_WINDOW : has_zlib_header(bytes) ? ZLIB_WINDOW : BARE_WINDOW;
    if (inflateInit2(&stream, window) != Z_OK) {
        shortage_note();
        return CONTENT_NO_MEMORY;
    }
    stream.next_in = (const Bytef *)bytes.data;
    stream.avail_in = (uInt)bytes.len;
    enum content_result result = inflate_all(&stream, gzip, sink);
    inflateEnd(&stream);
    return result;
}

/* --- zstd --- */

static enum content_result zstd_failure(size_t code)
{
    switch (ZSTD_getErrorCode(code)) {
    case ZSTD_error_memory_allocation:
        shortage_note();
        return CONTENT_NO_MEMORY;
    case ZSTD_error_frameParameter_windowTooLarge:
        return CONTENT_WINDOW;
    default:
        return CONTENT_DAMAGED;
    }
}

static enum content_result decode_frames(ZSTD_DCtx *context, struct td_str bytes,
                                         const struct sink *sink)
{
    char piece[PIECE_BYTES];
    ZSTD_inBuffer in = {bytes.data, bytes.len, 0};
    for (;;) {
        ZSTD_outBuffer out = {piece, sizeof piece, 0};
        size_t before = in.pos, left = ZSTD_decompressStream(context, &out, &in);
        if (ZSTD_isError(left))
            return zstd_failure(left);
        enum content_result result = put(sink, piece, out.pos);
        if (result != CONTENT_OK || (left == 0 && in.pos == in.size))
            return result;
        if (in.pos == in.size && in.pos == before && out.pos == 0)
            return CONTENT_TRUNCATED;
    }
}

static enum content_result decode_zstd(struct td_str bytes, const struct sink *sink)
{
    ZSTD_DCtx *context = ZSTD_createDCtx();
    if (!context) {
        shortage_note();
        return CONTENT_NO_MEMORY;
    }
    size_t set = ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
    enum content_result result =
        ZSTD_isError(set) ? CONTENT_NO_MEMORY : decode_frames(context, bytes, sink);
    ZSTD_freeDCtx(context);
    return result;
}

enum content_result content_decode(enum content_coding coding, struct td_str bytes,
                                   content_room_fn *room, void *ctx, struct buf *out)
{
    ASSERT(out != NULL && out->len == 0);
    const struct sink sink = {room, ctx, out};
    if (bytes.len == 0) /* nobody's stream, and nobody's body */
        return CONTENT_OK;
    switch (coding) {
    case CODING_NONE:
        return put(&sink, bytes.data, bytes.len);
    case CODING_GZIP:
    case CODING_DEFLATE:
        return decode_deflate(bytes, coding == CODING_GZIP, &sink);
    case CODING_ZSTD:
        return decode_zstd(bytes, &sink);
    default:
        return CONTENT_DAMAGED;
    }
}
