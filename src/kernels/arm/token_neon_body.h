/* One token's products with eight rows in blocks of 32, for matmul_neon_body.h, which says what
 * dot_16() is; and how it sums.
 *
 * Nothing is shared among tokens here, so what is around the products counts: the pointers to the
 * rows go forward with the loads, and four blocks of the token are four loads for all rows. */
#ifndef KERNELS_TOKEN_NEON_BODY_H
#define KERNELS_TOKEN_NEON_BODY_H

#include "kernels/activation.h"
#include "kernels/arm/unpack_neon.h"
#include "kernels/formats.h"
#include "kernels/tile_sums_body.h"
#include "kernels/tile_types.h"
#include "kernels/tiles.h"

/* The sum of the lanes of each of `count` vectors, 1, 2 or 4, in the first lanes. */
TILE_INLINE int32x4_t sum_lanes(const int32x4_t *vectors, int count)
{
    if (count == 4)
        return vpaddq_s32(vpaddq_s32(vectors[0], vectors[1]), vpaddq_s32(vectors[2], vectors[3]));
    int32x4_t pairs = vpaddq_s32(vectors[0], vectors[count - 1]);
    return vpaddq_s32(pairs, pairs);
}

/* sums + totals * factors: what every quantised product here and in panels does with the whole
 * numbers of a block. */
TILE_INLINE float32x4_t add_block(float32x4_t sums, int32x4_t totals, float32x4_t factors)
{
    return vfmaq_f32(sums, vcvtq_f32_s32(totals), factors);
}

/* Four accumulators, and the sums of their lanes when they were last looked at. What they begin
 * with does not matter, because it is taken off again. So they run through all rows and blocks, and
 * one subtraction takes the place of four zeroes. Whole numbers may overflow on the way: the
 * differences are right all the same. */
struct running {
    int32x4_t dots[ROWS_MAX], before;
};

/* What was added to each accumulator since the last time. */
TILE_INLINE int32x4_t take_running(struct running *running)
{
    int32x4_t now = sum_lanes(running->dots, ROWS_MAX);
    int32x4_t added = vsubq_s32(now, running->before);
    running->before = now;
    return added;
}

TILE_INLINE struct running begin_running(void)
{
    const int32x4_t zero = vdupq_n_s32(0);
    return (struct running){{zero, zero, zero, zero}, zero};
}

/* A block of the token, and its scale in all lanes. */
struct token_block {
    int8x16_t low, high;
    float32x4_t scale;
    int32_t bias; /* offset_32() times the activations */
};

/* Keeps a value in its register, and in order. Compilers would rather move loads of scales than
 * let them move the pointer, and sums between registers than leave them where they are. */
#define KEEP_POINTER(pointer) __asm__("" : "+r"(pointer))
#define KEEP_VECTOR(vector) __asm__("" : "+w"(vector))
#define KEEP_BOTH(pointer, vector) __asm__("" : "+r"(pointer), "+w"(vector))

/* The activations' bias times what a type needs of it. */
TILE_INLINE int32x4_t start_32(enum tensor_type type, int32x4_t bias)
{
    return offset_32(type) == 16 ? vaddq_s32(bias, bias) : bias;
}

/* ---- scales ---------------------------------------------------------------------------------- */

/* Types with blocks of 18 bytes. The scale of block i stands in 16-bit lane i of the i-th sixteen
 * bytes of a row. So the scales of four blocks are loaded with one instruction, with the quants
 * among them. */
TILE_INLINE bool has_scales_in_lanes(enum tensor_type type)
{
    return tile_block_bytes(type) == 18;
}

enum { BLOCKS_AT_ONCE = 4 };

/* Where the scales of blocks 0..3 or 4..7 of a row are in 64 bytes, and where they go: to the even
 * or to the odd lanes. */
/* clang-format off */
static const uint8_t scale_places[2][2][16] = {
    {{0, 1, 255, 255, 18, 19, 255, 255, 36, 37, 255, 255, 54, 55, 255, 255},
     {255, 255, 0, 1, 255, 255, 18, 19, 255, 255, 36, 37, 255, 255, 54, 55}},
    {{8, 9, 255, 255, 26, 27, 255, 255, 44, 45, 255, 255, 62, 63, 255, 255},
     {255, 255, 8, 9, 255, 255, 26, 27, 255, 255, 44, 45, 255, 255, 62, 63}},
};
/* clang-format on */

/* The scales of blocks 0..3 (odd: 4..7) of the rows `at` and `second`, side by side. Takes both 64
 * bytes on. */
TILE_INLINE uint32x4_t take_scales(int odd, const uint8_t **first, const uint8_t **second)
{
    uint8x16x4_t bytes = vld1q_u8_x4(*first);
    uint8x16_t both = vqtbl4q_u8(bytes, vld1q_u8(scale_places[odd][0]));
    *first += sizeof bytes;
    KEEP_BOTH(*first, both);
    bytes = vld1q_u8_x4(*second);
    both = vqtbx4q_u8(both, bytes, vld1q_u8(scale_places[odd][1]));
    *second += sizeof bytes;
    KEEP_BOTH(*second, both);
    return vreinterpretq_u32_u8(both);
}

/* Scales of four blocks of four rows: [b / 2] has those of block b, in its lower or upper half. */
TILE_INLINE void take_scales_of_rows(int odd, const uint8_t *at[ROWS_MAX], float16x8_t scales[2])
{
    uint32x4_t a = take_scales(odd, &at[0], &at[1]), b = take_scales(odd, &at[2], &at[3]);
    scales[0] = vreinterpretq_f16_u32(vzip1q_u32(a, b));
    scales[1] = vreinterpretq_f16_u32(vzip2q_u32(a, b));
}

/* Loads the scale at `at` into lane r, and takes `at` behind it. */
#define TAKE_SCALE(at, halves, r)                                                      \
    do {                                                                               \
        const uint16_t *scale_ = (const void *)(at);                                   \
        (halves) = r == 0 ? vld1_dup_u16(scale_) : vld1_lane_u16(scale_, (halves), r); \
        (at) += sizeof *scale_;                                                        \
        KEEP_BOTH(at, halves);                                                         \
    } while (0)

/* ---- products -------------------------------------------------------------------------------- */

/* Adds the products of a block whose scale was taken; takes `at` to the next block. */
TILE_INLINE int32x4_t take_dots(enum tensor_type type, const uint8_t **at,
                                const struct token_block *x, int32x4_t dots)
{
    struct block_32 w = unpack_32(type, *at - sizeof(uint16_t));
    *at += tile_block_bytes(type) - sizeof(uint16_t);
    KEEP_POINTER(*at);
    return dot_16(dot_16(dots, w.low, x->low), w.high, x->high);
}

/* Rows that go side by side, in quads, and their sums. */
enum { QUADS = 2 };
struct token_rows {
    const uint8_t *at[QUADS][ROWS_MAX];
    float32x4_t sums[QUADS];
    struct running running;
};

/* Adds to the sums of a quad what its accumulators have of a block. */
TILE_INLINE void end_block(enum tensor_type type, struct token_rows *rows, int quad,
                           float32x4_t scale, const struct token_block *x)
{
    int32x4_t added = take_running(&rows->running);
    if (offset_32(type) != 0)
        added = vmlaq_n_s32(added, vdupq_n_s32(1), x->bias);
    rows->sums[quad] = add_block(rows->sums[quad], added, vmulq_f32(scale, x->scale));
}

/* Adds the products of a block of four rows. */
TILE_INLINE void take_block(enum tensor_type type, struct token_rows *rows, int quad,
                            const struct token_block *x)
{
    const uint8_t **at = rows->at[quad];
    int32x4_t *dots = rows->running.dots;
    uint16x4_t halves;
    TAKE_SCALE(at[0], halves, 0);
    dots[0] = take_dots(type, &at[0], x, dots[0]);
    TAKE_SCALE(at[1], halves, 1);
    dots[1] = take_dots(type, &at[1], x, dots[1]);
    TAKE_SCALE(at[2], halves, 2);
    dots[2] = take_dots(type, &at[2], x, dots[2]);
    TAKE_SCALE(at[3], halves, 3);
    dots[3] = take_dots(type, &at[3], x, dots[3]);
    end_block(type, rows, quad, vcvt_f32_f16(vreinterpret_f16_u16(halves)), x);
}

/* The same of four blocks, where scales are in lanes. */
TILE_INLINE void take_blocks(enum tensor_type type, struct token_rows *rows, int quad, int odd,
                             const struct token_block x[BLOCKS_AT_ONCE])
{
    const uint8_t **at = rows->at[quad];
    float16x8_t scales[2];
    take_scales_of_rows(odd, at, scales);
#pragma GCC unroll 4
    for (int b = 0; b < BLOCKS_AT_ONCE; b++) {
#pragma GCC unroll 4
        for (int r = 0; r < ROWS_MAX; r++) {
            const int passed = odd ? 128 - 72 : 64; /* bytes of these blocks; eight have 144 */
            struct block_32 w = unpack_32(type, at[r] + (18 * b - passed));
            if (odd && b == BLOCKS_AT_ONCE - 1)
                at[r] += 144 - 128;
            int32x4_t dots = rows->running.dots[r];
            dots = dot_16(dots, w.low, x[b].low);
            dots = dot_16(dots, w.high, x[b].high);
            KEEP_VECTOR(dots);
            rows->running.dots[r] = dots;
        }
        float32x4_t scale =
            b % 2 ? vcvt_high_f32_f16(scales[b / 2]) : vcvt_f32_f16(vget_low_f16(scales[b / 2]));
        end_block(type, rows, quad, scale, &x[b]);
    }
}

/* Adds the products of four blocks, and takes `act` to the next four. */
TILE_INLINE void take_group(enum tensor_type type, struct token_rows *rows, int odd,
                            const uint8_t **act)
{
    struct token_block x[BLOCKS_AT_ONCE];
    int32x4_t totals = vdupq_n_s32(0);
    int8x16x4_t low = vld1q_s8_x4((const void *)*act);
    *act += ACT32_HIGH_AT;
    KEEP_POINTER(*act);
    int8x16x4_t high = vld1q_s8_x4((const void *)*act);
    *act += ACT32_BIAS_AT - ACT32_HIGH_AT;
    KEEP_POINTER(*act);
    if (offset_32(type) != 0) {
        int32x4x4_t bias = vld1q_s32_x4((const void *)*act);
        totals = start_32(type, sum_lanes(bias.val, BLOCKS_AT_ONCE));
    }
    *act += ACT32_SCALE_AT - ACT32_BIAS_AT;
    KEEP_POINTER(*act);
    float32x4x4_t scales = vld1q_f32_x4((const void *)*act);
    *act += ACT32_BYTES - ACT32_SCALE_AT;
#pragma GCC unroll 4
    for (int b = 0; b < BLOCKS_AT_ONCE; b++)
        x[b] = (struct token_block){low.val[b], high.val[b], scales.val[b], totals[b]};
#pragma GCC unroll 2
    for (int q = 0; q < QUADS; q++) {
        if (has_scales_in_lanes(type)) {
            take_blocks(type, rows, q, odd, x);
            continue;
        }
#pragma GCC unroll 4
        for (int b = 0; b < BLOCKS_AT_ONCE; b++)
            take_block(type, rows, q, &x[b]);
    }
}

/* Adds the blocks behind the last group. */
TILE_INLINE void take_rest(enum tensor_type type, struct token_rows *rows, const uint8_t *act,
                           size_t blocks)
{
#pragma GCC unroll 1
    for (; blocks > 0; blocks--, act += 16) {
        struct token_block x = {vld1q_s8((const void *)act),
                                vld1q_s8((const void *)(act + ACT32_HIGH_AT)),
                                vld1q_f32((const void *)(act + ACT32_SCALE_AT)),
                                vaddvq_s32(vld1q_s32((const void *)(act + ACT32_BIAS_AT)))};
        if (offset_32(type) == 16)
            x.bias *= 2;
#pragma GCC unroll 2
        for (int q = 0; q < QUADS; q++)
            take_block(type, rows, q, &x);
    }
}

/* One token with QUADS * 4 rows, row_step apart. */
TILE_INLINE void tile_32_one(const struct tile *tile, enum tensor_type type,
                             struct running *running)
{
    const uint8_t *act = tile->acts;
    size_t blocks = tile->cols / BLOCK_32;
    struct token_rows rows = {.running = *running};
#pragma GCC unroll 8
    for (size_t r = 0; r < ROWS_MAX * QUADS; r++)
        rows.at[r / ROWS_MAX][r % ROWS_MAX] = tile->rows + r * tile->row_step * tile->row_bytes;
#pragma GCC unroll 2
    for (int q = 0; q < QUADS; q++)
        rows.sums[q] = vdupq_n_f32(0);
    while (blocks >= 8 || (blocks >= 4 && !has_scales_in_lanes(type))) {
        take_group(type, &rows, 0, &act);
        blocks -= 4;
        if (has_scales_in_lanes(type)) {
            take_group(type, &rows, 1, &act);
            blocks -= 4;
        }
    }
    take_rest(type, &rows, act, blocks < 4 ? blocks : 4);
    if (blocks > 4)
        take_rest(type, &rows, act + ACT32_BYTES, blocks - 4);
    *running = rows.running;
#pragma GCC unroll 8
    for (size_t r = 0; r < ROWS_MAX * QUADS; r++)
        tile->y[r * tile->row_step] = rows.sums[r / ROWS_MAX][r % ROWS_MAX];
}

/* Multiplies one token with all rows but the last few; returns how many. The rows of a tile are not
 * neighbours: the tiles take one row after another from eight stretches. So each stretch is read
 * from its begin to its end, and the processor fetches ahead by itself. */
TILE_INLINE size_t rows_32_one(const struct tile *whole, enum tensor_type type, size_t rows)
{
    struct tile tile = *whole;
    tile.row_step = rows / (ROWS_MAX * QUADS);
    struct running running = begin_running();
    for (size_t row = 0; row < tile.row_step; row++, tile.rows += tile.row_bytes, tile.y++)
        tile_32_one(&tile, type, &running);
    return tile.row_step * ROWS_MAX * QUADS;
}

#endif
