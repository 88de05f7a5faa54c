/* A stretch of text as it reads another way: decoded, or a number without what stands between its
 * digits. It is scanned like any text. Findings cover the bytes that it was read from. One owner;
 * any thread. */
#ifndef PRIVACY_PIECE_H
#define PRIVACY_PIECE_H

#include "privacy/detect/detect.h"

#define PIECE_BYTES_MAX 3072
#define PIECE_LEVELS 2 /* text in base64 in base64: each level multiplies a hostile text's cost */

/* Which findings count: what is read another way may be something else by chance. */
enum piece_asks {
    PIECE_ALL,
    PIECE_CERTAIN, /* where check digits hold, or a word announces the value */
    PIECE_WHOLE    /* and from the first to the last byte */
};

struct piece {
    size_t len, base;
    enum piece_asks asks;
    const struct place *place;
    span_fn *emit;
    void *ctx;
    char data[PIECE_BYTES_MAX];
    uint32_t origin[PIECE_BYTES_MAX + 1]; /* from base */
};

/* Text from `base` on. The words that announce something at the place announce it inside, too. */
void piece_begin(struct piece *piece, const struct place *place, size_t base, enum piece_asks asks,
                 span_fn *emit, void *ctx);
/* A byte that was read at the offset; a full piece takes no more. */
static inline void piece_put(struct piece *piece, char c, size_t offset)
{
    if (piece->len == PIECE_BYTES_MAX)
        return;
    piece->origin[piece->len] = (uint32_t)(offset - piece->base);
    piece->data[piece->len++] = c;
}
/* end: after the last byte that was read. */
void piece_scan(struct piece *piece, size_t end);
/* Begins the piece after a full one, at the offset of its byte `from`, which is answered. */
static inline size_t piece_follow(struct piece *piece, size_t from)
{
    piece->base += piece->origin[from];
    piece->len = 0;
    return piece->base;
}

#endif
