/* Takes blocks of blocks_low.h apart. The products of all variants use this, so unlike the other
 * references it has to be quick: a point of a grid is one load, and so are eight signs. */
#include "kernels/blocks_low.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/core/assertion.h"
#include "kernels/grids_table.h" /* generated in the build */

#define BYTES(value) (0x0101010101010101u * (uint64_t)(value)) /* the same in all eight bytes */

/* ---- grids ---------------------------------------------------------------------------------- */

/* The grids of IQ1 and IQ2 take 30 KB. The program has them with 2 bits a coordinate, and they
 * become eight bytes a point once. */
static uint64_t spread(uint64_t digits)
{
    digits = (digits | digits << 24) & 0x000000ff000000ffu;
    digits = (digits | digits << 12) & 0x000f000f000f000fu;
    return (digits | digits << 6) & 0x0303030303030303u;
}

/* Digits 0, 1, 2 stand for 8, 25, 43. */
static void expand_magnitudes(const uint16_t *packed, size_t count, uint64_t *grid)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t digits = spread(packed[i]);
        grid[i] = BYTES(8) + 17 * digits + (digits >> 1 & BYTES(1));
    }
}

/* Byte i of sign_masks[signs] is 0xff where bit i is set; even_masks: for indices of 7 bits. */
static uint64_t sign_masks[256], even_masks[128];

static void expand_signs(void)
{
    for (unsigned signs = 0; signs < 256; signs++) {
        uint64_t bits = BYTES(signs) & 0x8040201008040201u; /* byte i has bit i alone */
        sign_masks[signs] = ((bits + BYTES(0x7f)) >> 7 & BYTES(1)) * 0xff;
        if (__builtin_parity(signs) == 0)
            even_masks[signs & 127] = sign_masks[signs];
    }
}

/* In units of 2^-9, the smallest step of E4M3: exponent e > 0 means (8 + m) * 2^(e - 10), e = 0
 * means m * 2^-9. */
static int32_t e4m3_steps(uint8_t byte)
{
    int32_t exponent = byte >> 3 & 15, fraction = byte & 7;
    if (byte == 0x7f) /* a NaN */
        return 0;
    return exponent == 0 ? fraction : (8 + fraction) << (exponent - 1);
}

/* Scales of NVFP4, half a step each, as its values are doubled. */
static float nvfp4_scales[256];

static atomic_bool grids_expanded;

static __attribute__((cold)) void expand_grids(void)
{
#define COUNT(grid) (sizeof(grid) / sizeof *(grid))
    expand_signs();
    for (size_t i = 0; i < COUNT(nvfp4_scales); i++)
        nvfp4_scales[i] = 0x1p-10f * (float)e4m3_steps((uint8_t)i);
    for (size_t i = 0; i < COUNT(iq1_s_grid); i++)
        iq1_s_grid[i] = 8 * spread(iq1_s_packed[i]) | BYTES(0x80); /* see put_shifted() */
    expand_magnitudes(iq2_xxs_packed, COUNT(iq2_xxs_grid), iq2_xxs_grid);
    expand_magnitudes(iq2_xs_packed, COUNT(iq2_xs_grid), iq2_xs_grid);
    expand_magnitudes(iq2_s_packed, COUNT(iq2_s_grid), iq2_s_grid);
#undef COUNT
    atomic_store_explicit(&grids_expanded, true, memory_order_release);
}

void block_low_prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (!atomic_load_explicit(&grids_expanded, memory_order_acquire))
        pthread_once(&once, expand_grids);
}

/* Eight magnitudes, none zero, negated where the mask is set. */
static void put_signed(uint64_t point, uint64_t mask, int8_t *out)
{
    uint64_t quants = (point ^ mask) + (mask & BYTES(1));
    memcpy(out, &quants, sizeof quants);
}

/* Eight quants 8 * coordinate +- 1. The grid holds 8 * (coordinate + 1), with the upper bits set so
 * that a byte takes nothing from its neighbour. Signs are random, so there is no branch. */
static void put_shifted(uint64_t point, bool minus, int8_t *out)
{
    uint64_t quants = (point - BYTES(7) - minus * BYTES(2)) ^ BYTES(0x80);
    memcpy(out, &quants, sizeof quants);
}

static float odd(unsigned scale)
{
    return (float)(2 * scale + 1);
}

static unsigned nibble(const uint8_t *bytes, size_t i)
{
    return (unsigned)bytes[i / 2] >> i % 2 * 4 & 15;
}

static void set_scales_32(float d, unsigned scale, size_t sub, float *scales)
{
    scales[2 * sub] = scales[2 * sub + 1] = d * odd(scale);
}

static void unpack_iq1_s(const uint8_t *restrict block, int8_t *restrict quants,
                         float *restrict scales)
{
    const float d = f16_to_f32(load_u16(block)) / 8;
    for (size_t sub = 0; sub < 8; sub++) {
        unsigned high = load_u16(block + IQ1_S_HIGH_AT + 2 * sub);
        set_scales_32(d, high >> 12 & 7, sub, scales);
        for (size_t j = 0; j < 4; j++) {
            unsigned index = block[2 + 4 * sub + j] | (high >> 3 * j & 7) << 8;
            put_shifted(iq1_s_grid[index], high >> 15, quants + 32 * sub + 8 * j);
        }
    }
}

static void unpack_iq1_m(const uint8_t *restrict block, int8_t *restrict quants,
                         float *restrict scales)
{
    unsigned half = 0;
    for (size_t i = 0; i < 4; i++)
        half |= (unsigned)load_u16(block + IQ1_M_SCALES_AT + 2 * i) >> 12 << 4 * i;
    const float d = f16_to_f32((uint16_t)half) / 8;
    for (size_t i = 0; i < 16; i++)
        scales[i] =
            d * odd((unsigned)load_u16(block + IQ1_M_SCALES_AT + i / 4 * 2) >> i % 4 * 3 & 7);
    for (size_t i = 0; i < 16; i++) {
        unsigned high = block[IQ1_M_HIGH_AT + i];
        put_shifted(iq1_s_grid[block[2 * i] | (high & 7) << 8], high & 8, quants + 16 * i);
        put_shifted(iq1_s_grid[block[2 * i + 1] | (high & 0x70) << 4], high & 0x80,
                    quants + 16 * i + 8);
    }
}

static void unpack_iq2_xxs(const uint8_t *restrict block, int8_t *restrict quants,
                           float *restrict scales)
{
    const float d = f16_to_f32(load_u16(block)) / 8;
    for (size_t sub = 0; sub < 8; sub++) {
        const uint8_t *at = block + 2 + 8 * sub;
        uint32_t signs = load_u32(at + 4);
        set_scales_32(d, signs >> 28, sub, scales);
        for (size_t j = 0; j < 4; j++)
            put_signed(iq2_xxs_grid[at[j]], even_masks[signs >> 7 * j & 127],
                       quants + 32 * sub + 8 * j);
    }
}

static void unpack_iq2_xs(const uint8_t *restrict block, int8_t *restrict quants,
                          float *restrict scales)
{
    const float d = f16_to_f32(load_u16(block)) / 8;
    for (size_t i = 0; i < 16; i++)
        scales[i] = d * odd(nibble(block + IQ2_XS_SCALES_AT, i));
    for (size_t j = 0; j < 32; j++) {
        unsigned q = load_u16(block + 2 + 2 * j);
        put_signed(iq2_xs_grid[q & 511], even_masks[q >> 9], quants + 8 * j);
    }
}

static void unpack_iq2_s(const uint8_t *restrict block, int8_t *restrict quants,
                         float *restrict scales)
{
    const float d = f16_to_f32(load_u16(block)) / 8;
    for (size_t i = 0; i < 16; i++)
        scales[i] = d * odd(nibble(block + IQ2_S_SCALES_AT, i));
    for (size_t sub = 0; sub < 8; sub++) {
        unsigned high = block[IQ2_S_HIGH_AT + sub];
        for (size_t j = 4 * sub; j < 4 * sub + 4; j++, high >>= 2)
            put_signed(iq2_s_grid[block[2 + j] | (high & 3) << 8],
                       sign_masks[block[IQ2_S_SIGNS_AT + j]], quants + 8 * j);
    }
}

static void unpack_iq3_xxs(const uint8_t *restrict block, int8_t *restrict quants,
                           float *restrict scales)
{
    const float d = f16_to_f32(load_u16(block)) / 4;
    for (size_t sub = 0; sub < 8; sub++) {
        uint32_t signs = load_u32(block + IQ3_XXS_SIGNS_AT + 4 * sub);
        set_scales_32(d, signs >> 28, sub, scales);
        for (size_t j = 0; j < 4; j++) {
            const uint8_t *q = block + 2 + 8 * sub + 2 * j;
            uint64_t point = iq3_xxs_grid[q[0]] | (uint64_t)iq3_xxs_grid[q[1]] << 32;
            put_signed(point, even_masks[signs >> 7 * j & 127], quants + 32 * sub + 8 * j);
        }
    }
}

static void unpack_iq3_s(const uint8_t *restrict block, int8_t *restrict quants,
                         float *restrict scales)
{
    const float d = f16_to_f32(load_u16(block));
    for (size_t sub = 0; sub < 8; sub++)
        set_scales_32(d, nibble(block + IQ3_S_SCALES_AT, sub), sub, scales);
    for (size_t sub = 0; sub < 8; sub++) {
        unsigned high = block[IQ3_S_HIGH_AT + sub];
        for (size_t j = 0; j < 4; j++, high >>= 2) {
            const uint8_t *q = block + 2 + 8 * sub + 2 * j;
            uint64_t point = iq3_s_grid[q[0] | (high & 1) << 8] |
                             (uint64_t)iq3_s_grid[q[1] | (high & 2) << 7] << 32;
            put_signed(point, sign_masks[block[IQ3_S_SIGNS_AT + 4 * sub + j]],
                       quants + 32 * sub + 8 * j);
        }
    }
}

/* ---- ternary, binary ------------------------------------------------------------------------ */

static void set_scales(float d, size_t weights, float *scales)
{
    for (size_t i = 0; i < weights / 16; i++)
        scales[i] = d;
}

/* `digits` base-3 digits of each of `count` bytes; the first digits of all bytes come first. */
static inline __attribute__((always_inline)) void
unpack_digits(const uint8_t *restrict bytes, size_t count, size_t digits, int8_t *restrict out)
{
    uint8_t power = 1;
#pragma GCC unroll 1
    for (size_t n = 0; n < digits; n++, power = (uint8_t)(3 * power))
        for (size_t i = 0; i < count; i++) {
            uint8_t fraction = (uint8_t)(bytes[i] * power);
            out[n * count + i] = (int8_t)((3 * fraction >> 8) - 1);
        }
}

static void unpack_tq1_0(const uint8_t *restrict block, int8_t *restrict quants,
                         float *restrict scales)
{
    set_scales(f16_to_f32(load_u16(block + TQ1_0_SCALE_AT)), SUPER_BLOCK, scales);
    unpack_digits(block, 32, 5, quants);
    unpack_digits(block + 32, 16, 5, quants + 160);
    unpack_digits(block + 48, 4, 4, quants + 240);
}

static void unpack_tq2_0(const uint8_t *restrict block, int8_t *restrict quants,
                         float *restrict scales)
{
    set_scales(f16_to_f32(load_u16(block + TQ2_0_SCALE_AT)), SUPER_BLOCK, scales);
#pragma GCC unroll 1
    for (size_t part = 0; part < 8; part++) /* 32 quants have the same bits of 32 bytes */
        for (size_t i = 0; i < 32; i++)
            quants[32 * part + i] = (int8_t)((block[part / 4 * 32 + i] >> part % 4 * 2 & 3) - 1);
}

static void unpack_q2_0(const uint8_t *restrict block, int8_t *restrict quants,
                        float *restrict scales)
{
    set_scales(f16_to_f32(load_u16(block)), Q2_0_BLOCK, scales);
    for (size_t i = 0; i < Q2_0_BLOCK; i += 8) {
        uint64_t digits = spread(load_u16(block + 2 + i / 4));
        digits = ((digits | BYTES(0x80)) - BYTES(1)) ^ BYTES(0x80);
        memcpy(quants + i, &digits, sizeof digits);
    }
}

static void unpack_q1_0(const uint8_t *restrict block, int8_t *restrict quants,
                        float *restrict scales)
{
    set_scales(f16_to_f32(load_u16(block)), Q1_0_BLOCK, scales);
    for (size_t i = 0; i < Q1_0_BLOCK; i += 8) {
        uint64_t signs = ~sign_masks[block[2 + i / 8]] | BYTES(1);
        memcpy(quants + i, &signs, sizeof signs);
    }
}

/* ---- NVFP4 ---------------------------------------------------------------------------------- */

/* mxfp4_values[nibble] (magnitudes 0, 1, 2, 3, 4, 6, 8, 12), with operations that compilers make
 * vectors of. */
static int8_t fp4_value(uint8_t nibble)
{
    uint8_t low = nibble & 7, over = low > 4 ? (uint8_t)(low - 4) : 0, last = low == 7 ? 2 : 0;
    uint8_t sign = nibble & 8 ? 0xff : 0;
    return (int8_t)(uint8_t)(((low + over + last) ^ sign) - sign);
}

static void unpack_nvfp4(const uint8_t *restrict block, int8_t *restrict quants,
                         float *restrict scales)
{
    int8_t low[NVFP4_BLOCK / 2], high[NVFP4_BLOCK / 2];
    for (size_t i = 0; i < NVFP4_BLOCK / 2; i++) {
        uint8_t byte = block[NVFP4_QUANTS_AT + i];
        low[i] = fp4_value(byte & 15);
        high[i] = fp4_value(byte >> 4);
    }
    for (size_t sub = 0; sub < 4; sub++) {
        scales[sub] = nvfp4_scales[block[sub]];
        memcpy(quants + 16 * sub, low + 8 * sub, 8);
        memcpy(quants + 16 * sub + 8, high + 8 * sub, 8);
    }
}

const struct low_tables low_tables = {
    .iq1_s = iq1_s_grid,
    .iq2_xxs = iq2_xxs_grid,
    .iq2_xs = iq2_xs_grid,
    .iq2_s = iq2_s_grid,
    .iq3_xxs = iq3_xxs_grid,
    .iq3_s = iq3_s_grid,
};

/* ---- choice --------------------------------------------------------------------------------- */

typedef void unpack_fn(const uint8_t *restrict block, int8_t *restrict quants,
                       float *restrict scales);

static unpack_fn *const unpackers[TENSOR_TYPE_COUNT] = {
    [TENSOR_IQ1_S] = unpack_iq1_s,     [TENSOR_IQ1_M] = unpack_iq1_m,
    [TENSOR_IQ2_XXS] = unpack_iq2_xxs, [TENSOR_IQ2_XS] = unpack_iq2_xs,
    [TENSOR_IQ2_S] = unpack_iq2_s,     [TENSOR_IQ3_XXS] = unpack_iq3_xxs,
    [TENSOR_IQ3_S] = unpack_iq3_s,     [TENSOR_TQ1_0] = unpack_tq1_0,
    [TENSOR_TQ2_0] = unpack_tq2_0,     [TENSOR_NVFP4] = unpack_nvfp4,
    [TENSOR_Q1_0] = unpack_q1_0,       [TENSOR_Q2_0] = unpack_q2_0,
};

bool block_low_has(enum tensor_type type)
{
    return unpackers[type] != NULL;
}

void block_low_unpack(enum tensor_type type, const uint8_t *blocks, size_t cols,
                      struct low_span *out)
{
    const struct tensor_traits *traits = tensor_traits_get(type);
    ASSERT(unpackers[type] != NULL && cols <= SUPER_BLOCK);
    for (size_t c = 0; c < cols; c += traits->block_elements, blocks += traits->block_bytes)
        unpackers[type](blocks, out->quants + c, out->scales + c / 16);
}
