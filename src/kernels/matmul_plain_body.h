/* Products of the types of blocks_low.h with ACTIVATION_Q8_PLAIN. Each variant compiles it with its
 * flags, after it has defined MATMUL_PLAIN, the function's name: the compiler makes vectors of the
 * loops. Weights are unpacked once for PLAIN_TOKENS tokens. For a single token the unpacking takes
 * most of the time, so products in registers would gain little.
 *
 * A token has sixteen sums, lane i for the products of weights 16k + i, which go through the row in
 * order. So a result depends neither on the number of tokens nor on the row range. */
#ifndef KERNELS_MATMUL_PLAIN_BODY_H
#define KERNELS_MATMUL_PLAIN_BODY_H

#include "kernels/activation.h"
#include "kernels/blocks_low.h"
#include "kernels/matmul_plain.h"

enum { PLAIN_LANES = 16, PLAIN_TOKENS = 64 };

/* 256 weights, the last span of a row zero after its end. */
struct plain_span {
    int8_t quants[SUPER_BLOCK];
    float scales[SUPER_BLOCK / PLAIN_LANES];
};

static void unpack_span(enum tensor_type type, const uint8_t *blocks, size_t cols,
                        struct plain_span *out)
{
    const struct tensor_traits *traits = tensor_traits_get(type);
    struct block_ref block;
    if (cols < SUPER_BLOCK)
        memset(out, 0, sizeof *out);
    for (size_t c = 0; c < cols && c < SUPER_BLOCK; c += traits->block_elements) {
        block_low_unpack(type, blocks, &block);
        memcpy(out->quants + c, block.quants, traits->block_elements);
        for (size_t i = 0; i < traits->block_elements / PLAIN_LANES; i++)
            out->scales[c / PLAIN_LANES + i] = block.d * (float)block.factors[i];
        blocks += traits->block_bytes;
    }
}

static void multiply_span(const struct plain_span *span, const uint8_t *act,
                          float sums[PLAIN_LANES])
{
    float local[PLAIN_LANES];
    memcpy(local, sums, sizeof local);
    for (size_t k = 0; k < SUPER_BLOCK / PLAIN_LANES; k++) {
        const int8_t *w = span->quants + PLAIN_LANES * k;
        const int8_t *x = (const void *)(act + PLAIN_LANES * k);
        float scale = span->scales[k] * load_f32(act + ACT_PLAIN_SCALE_AT + k / 2 * 4);
        for (size_t i = 0; i < PLAIN_LANES; i++)
            local[i] += scale * (float)(w[i] * x[i]);
    }
    memcpy(sums, local, sizeof local);
}

static float add_lanes(const float sums[PLAIN_LANES])
{
    float half[PLAIN_LANES / 2];
    for (size_t i = 0; i < PLAIN_LANES / 2; i++)
        half[i] = sums[i] + sums[i + PLAIN_LANES / 2];
    return ((half[0] + half[4]) + (half[1] + half[5])) +
           ((half[2] + half[6]) + (half[3] + half[7]));
}

void MATMUL_PLAIN(enum tensor_type type, const struct tile *whole, size_t rows, size_t tokens)
{
    const struct tensor_traits *traits = tensor_traits_get(type);
    const size_t span_bytes = SUPER_BLOCK / traits->block_elements * traits->block_bytes;
    float sums[PLAIN_TOKENS][PLAIN_LANES];
    struct plain_span span;
    block_low_prepare();
    for (size_t first = 0; first < tokens; first += PLAIN_TOKENS) {
        size_t count = tokens - first < PLAIN_TOKENS ? tokens - first : PLAIN_TOKENS;
        for (size_t r = 0; r < rows; r++) {
            const uint8_t *row = whole->rows + r * whole->row_bytes;
            memset(sums, 0, count * sizeof *sums);
            for (size_t c = 0; c < whole->cols; c += SUPER_BLOCK, row += span_bytes) {
                unpack_span(type, row, whole->cols - c, &span);
                const uint8_t *act = whole->acts + c / SUPER_BLOCK * ACT_PLAIN_BYTES;
                for (size_t t = 0; t < count; t++)
                    multiply_span(&span, act + (first + t) * whole->act_stride, sums[t]);
            }
            for (size_t t = 0; t < count; t++)
                whole->y[(first + t) * whole->y_stride + r] = add_lanes(sums[t]);
        }
    }
}

#endif
