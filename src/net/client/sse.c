/* Server-sent events, as the WHATWG's HTML standard interprets an event stream (section 9.2.6).
 *
 * The reader is a state machine over bytes, so it does not matter where the network cut the stream.
 * CR, LF and CRLF all end a line; after a CR at the end of a chunk, an LF at the start of the next
 * one is skipped. `id` and `retry` matter only to browsers that reconnect, and are dropped. Data is
 * passed on unchecked: NULs and broken UTF-8 are for the reader of the payload to judge. */
#include "net/client/sse.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"

#include <string.h>

static const char utf8_bom[3] = {'\xef', '\xbb', '\xbf'};

void sse_reader_init(struct sse_reader *reader, size_t event_bytes_max)
{
    ASSERT(reader != NULL);
    *reader = (struct sse_reader){0};
    buf_init(&reader->line, event_bytes_max);
    buf_init(&reader->data, event_bytes_max);
    buf_init(&reader->event, event_bytes_max);
}

void sse_reader_deinit(struct sse_reader *reader)
{
    buf_deinit(&reader->line);
    buf_deinit(&reader->data);
    buf_deinit(&reader->event);
}

/* An empty line: gives out the event if it has data. */
static void dispatch(struct sse_reader *reader, sse_fn *fn, void *ctx)
{
    struct td_str data = buf_view(&reader->data);
    if (data.len > 0) {
        data.len--; /* the line feed after the last line */
        struct td_str event = reader->event.len ? buf_view(&reader->event) : STR("message");
        fn(ctx, event, data);
    }
    buf_clear(&reader->data);
    buf_clear(&reader->event);
}

static void take_line(struct sse_reader *reader, struct td_str line, sse_fn *fn, void *ctx)
{
    if (!reader->started) {
        reader->started = true;
        if (str_starts_with(line, (struct td_str){utf8_bom, sizeof utf8_bom}))
            line = str_slice(line, sizeof utf8_bom, line.len);
    }
    if (line.len == 0) {
        dispatch(reader, fn, ctx);
    } else {
        const char *colon = memchr(line.data, ':', line.len);
        size_t name_len = colon ? (size_t)(colon - line.data) : line.len;
        struct td_str name = {line.data, name_len};
        struct td_str value = str_slice(line, colon ? name_len + 1 : line.len, line.len);
        if (value.len > 0 && value.data[0] == ' ')
            value = str_slice(value, 1, value.len);
        if (str_equal(name, STR("data"))) { /* a comment has an empty name and matches none */
            buf_append_str(&reader->data, value);
            buf_append_char(&reader->data, '\n');
        } else if (str_equal(name, STR("event"))) {
            buf_clear(&reader->event);
            buf_append_str(&reader->event, value);
        }
    }
}

enum td_status sse_reader_feed(struct sse_reader *reader, struct td_str bytes, sse_fn *fn,
                               void *ctx, struct td_error *err)
{
    ASSERT(fn != NULL);
    size_t offset = 0;
    while (offset < bytes.len) {
        if (reader->skip_lf) {
            reader->skip_lf = false;
            if (bytes.data[offset] == '\n') {
                offset++;
                continue;
            }
        }
        size_t end = offset;
        while (end < bytes.len && bytes.data[end] != '\n' && bytes.data[end] != '\r')
            end++;
        bool ends = end < bytes.len;
        struct td_str line = str_slice(bytes, offset, end);
        /* Only a line that was cut is copied, and one that is too large, which this refuses. */
        if (!ends || reader->line.len > 0 || line.len > reader->line.bytes_max) {
            buf_append_str(&reader->line, line);
            line = buf_view(&reader->line);
        }
        if (!reader->line.failed && ends) {
            reader->skip_lf = bytes.data[end] == '\r';
            take_line(reader, line, fn, ctx);
            buf_clear(&reader->line);
        }
        if (reader->line.failed || reader->data.failed || reader->event.failed)
            return error_set(err, TD_LIMIT, "an event of the stream is larger than %zu bytes",
                             reader->line.bytes_max);
        offset = ends ? end + 1 : end;
    }
    return TD_OK;
}

void sse_begin(struct buf *out, const char *name)
{
    if (name) {
        buf_append_str(out, STR("event: "));
        buf_append_str(out, str_from(name));
        buf_append_char(out, '\n');
    }
    buf_append_str(out, STR("data: "));
}

void sse_end(struct buf *out)
{
    buf_append_str(out, STR("\n\n"));
}
