/* Cuts a product into tiles, for the vector variants.
 *
 * A tile multiplies a few rows with 1, 2, 4 or 8 tokens and keeps every sum in a register. A weight
 * block is unpacked once for all tokens of the tile. Each (row, token) has one vector of partial
 * sums, which goes through the blocks in order in every tile shape. So a result depends neither on
 * the number of tokens nor on the row range.
 *
 * Rows are taken in blocks that stay in the second-level cache while all tokens use them. */
#ifndef KERNELS_TILES_H
#define KERNELS_TILES_H

#include <stddef.h>
#include <stdint.h>

#define TILE_INLINE static inline __attribute__((always_inline))

enum {
    TILE_SHAPES = 4,      /* 1, 2, 4, 8 tokens */
    TILE_ROWS_BLOCK = 64, /* 64 rows of 8192 Q4 weights are 0.3 MB */
    TILE_ANY_ROWS = 8
};

struct tile {
    const uint8_t *rows; /* first row; the others row_bytes apart */
    size_t row_bytes;
    size_t row_count; /* only for tiles with any number of rows; and these for quants_avx2.c: */
    size_t row_step;  /* the tile has every row_step-th row */
    const uint8_t *at[TILE_ANY_ROWS]; /* the rows; after the last one it is the last one again */
    size_t cols;
    const uint8_t *acts; /* first token; the others act_stride apart */
    size_t act_stride;
    float *y; /* of the first row and token */
    size_t y_stride;
};

typedef void tile_fn(const struct tile *tile);

/* Tiles of rows[shape] rows and 1 << shape tokens, and tiles of one row for the remaining rows. */
struct tile_set {
    tile_fn *wide[TILE_SHAPES];
    size_t rows[TILE_SHAPES];
    tile_fn *narrow[TILE_SHAPES];
};

/* Runs a tile set over `rows` rows; `whole` describes the first row and token. */
static inline void tiles_run(const struct tile_set *set, const struct tile *whole, size_t rows,
                             size_t tokens)
{
    for (size_t begin = 0; begin < rows; begin += TILE_ROWS_BLOCK) {
        size_t end = rows - begin < TILE_ROWS_BLOCK ? rows : begin + TILE_ROWS_BLOCK;
        for (size_t t = 0; t < tokens;) {
            size_t left = tokens - t;
            size_t shape = left >= 8 ? 3 : left >= 4 ? 2 : left >= 2 ? 1 : 0;
            struct tile tile = *whole;
            tile.acts += t * whole->act_stride;
            for (size_t r = begin; r < end;) {
                size_t count = end - r >= set->rows[shape] ? set->rows[shape] : 1;
                tile.rows = whole->rows + r * whole->row_bytes;
                tile.y = whole->y + t * whole->y_stride + r;
                (count > 1 || set->rows[shape] == 1 ? set->wide : set->narrow)[shape](&tile);
                r += count;
            }
            t += (size_t)1 << shape;
        }
    }
}

/* Defines the function of one tile shape around the inlined body, with constant row and token
 * counts. */
#define TILE_DEFINE(body, kind, row_count, token_count)                              \
    static void body##_##kind##_##row_count##x##token_count(const struct tile *tile) \
    {                                                                                \
        body(tile, kind, row_count, token_count);                                    \
    }

#endif
