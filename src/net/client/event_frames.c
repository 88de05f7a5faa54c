/* Lengths are checked before anything is waited for: a frame that says it is larger than the
 * maximum ends the stream with its first twelve bytes, and so does one whose first checksum is
 * wrong. */
#include "net/client/event_frames.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"

enum { PRELUDE_BYTES = 12, CRC_BYTES = 4, FRAME_BYTES_MIN = PRELUDE_BYTES + CRC_BYTES };

/* Types of a header's value: a number is its bytes, -1 = two bytes of length before it. */
static const int value_bytes[] = {0, 0, 1, 2, 4, 8, -1, -1, 8, 16};
enum { VALUE_TEXT = 7 };

static uint32_t read_u32(const char *at)
{
    const unsigned char *bytes = (const unsigned char *)at;
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* CRC-32 of IEEE 802.3 (polynomial 0xedb88320, reflected), four bits at a time. */
static uint32_t crc32_of(struct td_str bytes)
{
    static const uint32_t table[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac,
                                       0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
                                       0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                       0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
    uint32_t crc = 0xffffffff;
    for (size_t i = 0; i < bytes.len; i++) {
        crc ^= (unsigned char)bytes.data[i];
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return ~crc;
}

void frame_reader_init(struct frame_reader *reader, size_t frame_bytes_max)
{
    ASSERT(reader && frame_bytes_max >= FRAME_BYTES_MIN);
    buf_init(&reader->frame, frame_bytes_max);
}

void frame_reader_deinit(struct frame_reader *reader)
{
    buf_deinit(&reader->frame);
}

bool frame_reader_is_inside(const struct frame_reader *reader)
{
    return reader->frame.len > 0;
}

static void take_header(struct td_str name, struct td_str value, struct event_frame *out)
{
    if (str_equal(name, STR(":message-type")))
        out->message_type = value;
    else if (str_equal(name, STR(":event-type")) || str_equal(name, STR(":exception-type")) ||
             str_equal(name, STR(":error-code")))
        out->event_type = value;
    else if (str_equal(name, STR(":error-message")))
        out->error_message = value;
}

/* False when the headers end in the middle of one, or one has an unknown type. */
static bool read_headers(struct td_str headers, struct event_frame *out)
{
    size_t at = 0;
    while (at < headers.len) {
        size_t name_len = (unsigned char)headers.data[at++];
        if (name_len == 0 || headers.len - at < name_len + 1)
            return false;
        struct td_str name = str_slice(headers, at, at + name_len);
        at += name_len;
        size_t type = (unsigned char)headers.data[at++];
        if (type >= sizeof value_bytes / sizeof *value_bytes)
            return false;
        size_t len = value_bytes[type] < 0 ? 0 : (size_t)value_bytes[type];
        if (value_bytes[type] < 0) {
            if (headers.len - at < 2)
                return false;
            len =
                (size_t)(unsigned char)headers.data[at] << 8 | (unsigned char)headers.data[at + 1];
            at += 2;
        }
        if (headers.len - at < len)
            return false;
        if (type == VALUE_TEXT)
            take_header(name, str_slice(headers, at, at + len), out);
        at += len;
    }
    return true;
}

static enum td_status damaged(struct td_error *err, const char *what)
{
    return error_set(err, TD_CORRUPT, "a frame of the event stream %s", what);
}

/* The prelude is there. Gives the frame's length. */
static enum td_status check_prelude(const struct buf *frame, size_t *bytes, struct td_error *err)
{
    size_t total = read_u32(frame->data), headers = read_u32(frame->data + 4);
    if (crc32_of((struct td_str){frame->data, 8}) != read_u32(frame->data + 8))
        return damaged(err, "has a wrong checksum of its lengths");
    if (total > frame->bytes_max)
        return error_set(err, TD_LIMIT, "a frame of the event stream is larger than %zu bytes",
                         frame->bytes_max);
    if (total < FRAME_BYTES_MIN || headers > total - FRAME_BYTES_MIN)
        return damaged(err, "has lengths that contradict each other");
    *bytes = total;
    return TD_OK;
}

static enum td_status read_frame(struct td_str frame, frame_fn *fn, void *ctx, struct td_error *err)
{
    struct event_frame out = {.payload = {"", 0}};
    size_t headers = read_u32(frame.data + 4), end = frame.len - CRC_BYTES;
    if (crc32_of(str_slice(frame, 0, end)) != read_u32(frame.data + end))
        return damaged(err, "has a wrong checksum");
    if (!read_headers(str_slice(frame, PRELUDE_BYTES, PRELUDE_BYTES + headers), &out))
        return damaged(err, "has headers that cannot be read");
    out.payload = str_slice(frame, PRELUDE_BYTES + headers, end);
    fn(ctx, &out);
    return TD_OK;
}

/* Takes what is still missing to `bytes`; false when there is not enough. */
static bool fill(struct buf *frame, size_t bytes, struct td_str *rest)
{
    size_t missing = frame->len < bytes ? bytes - frame->len : 0;
    size_t taken = rest->len < missing ? rest->len : missing;
    buf_append_str(frame, str_slice(*rest, 0, taken));
    *rest = str_slice(*rest, taken, rest->len);
    return frame->len >= bytes;
}

enum td_status frame_reader_feed(struct frame_reader *reader, struct td_str bytes, frame_fn *fn,
                                 void *ctx, struct td_error *err)
{
    ASSERT(reader && fn);
    struct buf *frame = &reader->frame;
    enum td_status status = TD_OK;
    size_t total = 0;
    while (bytes.len > 0 && status == TD_OK) {
        if (!fill(frame, PRELUDE_BYTES, &bytes))
            break;
        status = check_prelude(frame, &total, err);
        if (status != TD_OK || !fill(frame, total, &bytes))
            break;
        status = read_frame(buf_view(frame), fn, ctx, err);
        buf_clear(frame);
    }
    return frame->failed ? error_set(err, TD_NO_MEMORY, "no memory for a frame") : status;
}
