/* Any bytes as kept pieces: they are read to their end or refused, and what is read and written
 * again says the same. */
#include "api/cache/kept_pieces.h"

#include "base/core/str.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

struct sum {
    size_t text, token, raw, stats;
};

static struct sum read_all(struct td_str bytes, struct buf *again)
{
    struct piece_reader reader = {.from = bytes};
    struct piece_writer writer = {.out = again};
    struct tier_piece piece;
    struct sum sum = {0};
    while (piece_reader_next(&reader, &piece)) {
        sum.text += piece.text.len;
        sum.token += piece.token_text.len;
        sum.raw += piece.raw_delta != NULL;
        sum.stats += piece.has_stats;
        if (again)
            piece_writer_add(&writer, &piece);
    }
    if (reader.at > bytes.len || writer.unfit)
        abort();
    piece_reader_deinit(&reader);
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct buf again;
    buf_init(&again, 1 << 20);
    struct sum first = read_all((struct td_str){(const char *)data, len}, &again);
    if (!again.failed) {
        struct sum second = read_all(buf_view(&again), NULL);
        if (second.text != first.text || second.token != first.token || second.raw != first.raw ||
            second.stats != first.stats)
            abort();
    }
    buf_deinit(&again);
    return 0;
}
