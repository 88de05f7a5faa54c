/* A stream that has read the words is kept and copied for each text: the copy takes some 3 us,
 * reading the words anew three times as long. A window of 8 KiB holds the words and a usual text;
 * smaller tables than zlib's own are quicker to copy and pack such texts as well. */
#include "base/bytes/deflater.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#define ZLIB_CONST
#include <zlib.h>

#define RAW_WINDOW (-13) /* zlib's number for a stream without a header and a window of 8 KiB */
#define TABLES 6         /* zlib's memLevel */
#define LEVEL 6

struct deflater {
    z_stream primed; /* has read the words */
    z_stream inflating;
    size_t words_len;
    Bytef words[];
};

struct deflater *deflater_new(struct td_str words)
{
    struct deflater *deflater = calloc(1, sizeof *deflater + words.len);
    if (!deflater)
        return NULL;
    memcpy(deflater->words, words.data, words.len);
    deflater->words_len = words.len;
    bool ready = inflateInit2(&deflater->inflating, RAW_WINDOW) == Z_OK;
    ready = deflateInit2(&deflater->primed, LEVEL, Z_DEFLATED, RAW_WINDOW, TABLES,
                         Z_DEFAULT_STRATEGY) == Z_OK &&
            ready;
    if (ready && deflateSetDictionary(&deflater->primed, deflater->words, (uInt)words.len) == Z_OK)
        return deflater;
    deflater_free(deflater);
    return NULL;
}

void deflater_free(struct deflater *deflater)
{
    if (!deflater)
        return;
    inflateEnd(&deflater->inflating);
    deflateEnd(&deflater->primed);
    free(deflater);
}

size_t deflater_bound(size_t len)
{
    return len + len / 8 + 64; /* as zlib's deflateBound, whatever the settings */
}

size_t deflater_pack(struct deflater *deflater, struct td_str first, struct td_str second,
                     void *out)
{
    z_stream stream;
    size_t room = deflater_bound(first.len + second.len), len = 0;
    if (room > UINT_MAX || deflateCopy(&stream, &deflater->primed) != Z_OK)
        return 0;
    stream.next_out = out;
    stream.avail_out = (uInt)room;
    stream.next_in = (const Bytef *)first.data;
    stream.avail_in = (uInt)first.len;
    bool going = first.len == 0 || deflate(&stream, Z_NO_FLUSH) == Z_OK;
    stream.next_in = (const Bytef *)second.data;
    stream.avail_in = (uInt)second.len;
    if (going && deflate(&stream, Z_FINISH) == Z_STREAM_END)
        len = room - stream.avail_out;
    deflateEnd(&stream);
    return len;
}

bool deflater_unpack(struct deflater *deflater, struct td_str packed, void *out, size_t len)
{
    z_stream *stream = &deflater->inflating;
    Bytef nothing;
    if (packed.len > UINT_MAX || len > UINT_MAX || inflateReset(stream) != Z_OK ||
        inflateSetDictionary(stream, deflater->words, (uInt)deflater->words_len) != Z_OK)
        return false;
    stream->next_in = (const Bytef *)packed.data;
    stream->avail_in = (uInt)packed.len;
    stream->next_out = len ? out : &nothing;
    stream->avail_out = (uInt)len;
    return inflate(stream, Z_FINISH) == Z_STREAM_END && stream->avail_out == 0 &&
           stream->avail_in == 0;
}
