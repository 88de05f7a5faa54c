/* Scans what was read another way, and gives its findings the places of the text. */
#include "privacy/scan/piece.h"

#include "base/core/assertion.h"
#include "privacy/scan/scan.h"

#define CERTAIN 0.9f /* a checksum holds, or a word announces the value */

void piece_begin(struct piece *piece, const struct place *place, size_t base, enum piece_asks asks,
                 span_fn *emit, void *ctx)
{
    piece->len = 0;
    piece->base = base;
    piece->asks = asks;
    piece->place = place;
    piece->emit = emit;
    piece->ctx = ctx;
}

static void emit_mapped(void *ctx, const struct privacy_span *span)
{
    const struct piece *piece = ctx;
    bool whole = span->begin == 0 && span->end == piece->len;
    if (span->data_class == TD_CLASS_PUBLIC ||
        (piece->asks >= PIECE_CERTAIN && span->score < CERTAIN) ||
        (piece->asks == PIECE_WHOLE && !whole))
        return;
    struct privacy_span mapped = *span;
    mapped.begin = piece->base + piece->origin[span->begin];
    mapped.end = piece->base + piece->origin[span->end];
    piece->emit(piece->ctx, &mapped);
}

void piece_scan(struct piece *piece, size_t end)
{
    ASSERT(end >= piece->base);
    piece->origin[piece->len] = (uint32_t)(end - piece->base);
    const struct rereader *rereader = piece->place->memory->rereader;
    struct td_str plain = {piece->data, piece->len};
    if (rereader != NULL)
        rereader->see(rereader->ctx, plain, piece->origin, piece->base);
    scan_plain(plain, piece->place, emit_mapped, piece);
}
