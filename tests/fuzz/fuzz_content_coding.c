/* Any bytes as a compressed body. The output is never larger than its maximum or than the room that
 * was asked for, and what is decoded with little room is decoded the same with much. */
#include "base/core/str.h"
#include "net/server/content_coding.h"

#include <stdlib.h>
#include <string.h>

#define BYTES_MAX ((size_t)1 << 20)

struct room {
    size_t left, given;
};

static bool take(void *ctx, size_t bytes)
{
    struct room *room = ctx;
    if (bytes > room->left)
        return false;
    room->left -= bytes;
    room->given += bytes;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    enum content_coding coding = (enum content_coding)(CODING_GZIP + data[0] % 3);
    struct td_str bytes = {(const char *)data + 2, size - 2};
    struct buf out, small;
    buf_init(&out, BYTES_MAX);
    buf_init(&small, BYTES_MAX);
    struct room much = {.left = 2 * BYTES_MAX}, little = {.left = (size_t)data[1] << 8};
    enum content_result result = content_decode(coding, bytes, take, &much, &out);
    enum content_result again = content_decode(coding, bytes, take, &little, &small);
    if (out.len > BYTES_MAX || out.len != much.given || small.len != little.given)
        abort();
    if (again != CONTENT_NO_ROOM && (again != result || small.len != out.len))
        abort();
    if (again == CONTENT_OK && out.len > 0 && memcmp(out.data, small.data, out.len) != 0)
        abort();
    buf_deinit(&out);
    buf_deinit(&small);
    return 0;
}
