/* One token's products with four rows in blocks of 32, for matmul_neon_body.h, which says what
 * dot_16() is; and how it sums.
 *
 * Nothing is shared among tokens here, so what is around the products counts: the pointers to the
 * rows go forward with the loads, and four blocks of the token are four loads. */
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

/* A block of the token, and its scale in all lanes. */
struct token_block {
    int8x16_t low, high;
    int32x4_t start; /* of the sums of products: offset_32() times the activations */
    float32x4_t scale;
};

/* Keeps a value in its register, and in order. Compilers would rather move loads of scales than
 * let them move the pointer. */
#define KEEP_POINTER(pointer) __asm__("" : "+r"(pointer))
#define KEEP_BOTH(pointer, vector) __asm__("" : "+r"(pointer), "+w"(vector))

/* Types of 32 columns whose blocks begin with their scale, and which have no minimum. */
TILE_INLINE bool begins_with_scale(enum tensor_type type)
{
    return type == TENSOR_Q4_0 || type == TENSOR_Q5_0 || type == TENSOR_Q8_0 ||
           type == TENSOR_IQ4_NL;
}

/* The activations' bias times what a type needs of it. */
TILE_INLINE int32x4_t start_32(enum tensor_type type, int32x4_t bias)
{
    return offset_32(type) == 16 ? vaddq_s32(bias, bias) : bias;
}

/* Loads the scale at `at` into lane r, and takes `at` behind it. */
#define TAKE_SCALE(at, halves, r)                                                      \
    do {                                                                               \
        const uint16_t *scale_ = (const void *)(at);                                   \
        (halves) = r == 0 ? vld1_dup_u16(scale_) : vld1_lane_u16(scale_, (halves), r); \
        (at) += sizeof *scale_;                                                        \
        KEEP_BOTH(at, halves);                                                         \
    } while (0)

/* The products of a block whose scale was taken; takes `at` to the next block. */
TILE_INLINE int32x4_t take_dots(enum tensor_type type, const uint8_t **at,
                                const struct token_block *x)
{
    struct block_32 w = unpack_32(type, *at - sizeof(uint16_t));
    *at += tile_block_bytes(type) - sizeof(uint16_t);
    KEEP_POINTER(*at);
    return dot_16(dot_16(x->start, w.low, x->low), w.high, x->high);
}

/* Adds the products of a block of four rows. */
TILE_INLINE float32x4_t take_block(enum tensor_type type, const uint8_t *at[ROWS_MAX],
                                   const struct token_block *x, float32x4_t sum)
{
    uint16x4_t halves;
    int32x4_t dots[ROWS_MAX];
    TAKE_SCALE(at[0], halves, 0);
    dots[0] = take_dots(type, &at[0], x);
    TAKE_SCALE(at[1], halves, 1);
    dots[1] = take_dots(type, &at[1], x);
    TAKE_SCALE(at[2], halves, 2);
    dots[2] = take_dots(type, &at[2], x);
    TAKE_SCALE(at[3], halves, 3);
    dots[3] = take_dots(type, &at[3], x);
    float32x4_t scale = vcvt_f32_f16(vreinterpret_f16_u16(halves));
    return add_block(sum, sum_lanes(dots, ROWS_MAX), vmulq_f32(scale, x->scale));
}

/* Adds the products of four blocks, and takes `act` to the next four. */
TILE_INLINE float32x4_t take_group(enum tensor_type type, const uint8_t *at[ROWS_MAX],
                                   const uint8_t **act, size_t ahead, float32x4_t sum)
{
    int32x4x4_t bias = {0};
    int8x16x4_t low = vld1q_s8_x4((const void *)*act);
    *act += ACT32_HIGH_AT;
    KEEP_POINTER(*act);
    int8x16x4_t high = vld1q_s8_x4((const void *)*act);
    *act += ACT32_BIAS_AT - ACT32_HIGH_AT;
    KEEP_POINTER(*act);
    if (offset_32(type) != 0)
        bias = vld1q_s32_x4((const void *)*act);
    *act += ACT32_SCALE_AT - ACT32_BIAS_AT;
    KEEP_POINTER(*act);
    float32x4x4_t scales = vld1q_f32_x4((const void *)*act);
    *act += ACT32_BYTES - ACT32_SCALE_AT;
#pragma GCC unroll 4
    for (int b = 0; b < 4; b++) {
        struct token_block x = {low.val[b], high.val[b], start_32(type, bias.val[b]),
                                scales.val[b]};
#pragma GCC unroll 4
        for (int r = 0; r < ROWS_MAX; r++) /* each line of 64 bytes once or twice */
            if (b % 2 == 0 || (type == TENSOR_Q8_0 && b == 3))
                __builtin_prefetch(at[r] + ahead);
        sum = take_block(type, at, &x, sum);
    }
    return sum;
}

TILE_INLINE void tile_32_one(const struct tile *tile, enum tensor_type type)
{
    const uint8_t *act = tile->acts, *at[ROWS_MAX];
    size_t blocks = tile->cols / BLOCK_32, ahead = ROWS_MAX * tile->row_bytes;
    float32x4_t sum = vdupq_n_f32(0);
#pragma GCC unroll 4
    for (size_t r = 0; r < ROWS_MAX; r++)
        at[r] = tile->rows + r * tile->row_bytes;
    KEEP_POINTER(ahead);
#pragma GCC unroll 1
    for (; blocks >= 4; blocks -= 4)
        sum = take_group(type, at, &act, ahead, sum);
#pragma GCC unroll 1
    for (; blocks > 0; blocks--, act += 16) {
        int32x4_t bias = vld1q_s32((const void *)(act + ACT32_BIAS_AT));
        struct token_block x = {vld1q_s8((const void *)act),
                                vld1q_s8((const void *)(act + ACT32_HIGH_AT)),
                                offset_32(type) == 0 ? vdupq_n_s32(0) : start_32(type, bias),
                                vld1q_f32((const void *)(act + ACT32_SCALE_AT))};
        sum = take_block(type, at, &x, sum);
    }
    vst1q_f32(tile->y, sum);
}

#endif
