/* Takes blocks of blocks_low.h apart. The products of all variants use this, so unlike the other
 * references it has to be quick: a point of a grid is one load, and eight signs are set at once. */
#include "kernels/blocks_low.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/assertion.h"
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

static atomic_bool grids_expanded;

static void expand_grids(void)
{
#define COUNT(grid) (sizeof(grid) / sizeof *(grid))
    for (size_t i = 0; i < COUNT(iq1_s_grid); i++)
        iq1_s_grid[i] = 8 * spread(iq1_s_packed[i]); /* put_shifted wants 8 * (coordinate + 1) */
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

/* Eight magnitudes, none zero, negated where the bit of `signs` is set. */
static void put_signed(uint64_t point, unsigned signs, int8_t *out)
{
    uint64_t bits = BYTES(signs) & 0x8040201008040201u;       /* byte i has bit i alone */
    uint64_t negative = (bits + BYTES(0x7f)) >> 7 & BYTES(1); /* 1 where it is set */
    uint64_t quants = (point ^ negative * 0xff) + negative;
    memcpy(out, &quants, sizeof quants);
}

/* Eight quants 8 * coordinate +- 1. The grid holds 8 * (coordinate + 1). */
static void put_shifted(uint64_t point, bool minus, int8_t *out)
{
    uint64_t quants = ((point | BYTES(0x80)) - BYTES(minus ? 9 : 7)) ^ BYTES(0x80);
    memcpy(out, &quants, sizeof quants);
}

static unsigned signs_of(unsigned index)
{
    return index | (unsigned)__builtin_parity(index) << 7;
}

static int16_t odd(unsigned scale)
{
    return (int16_t)(2 * scale + 1);
}

static unsigned nibble(const uint8_t *bytes, size_t i)
{
    return (unsigned)bytes[i / 2] >> i % 2 * 4 & 15;
}

static void set_scales_32(struct block_ref *out, size_t sub, unsigned scale)
{
    out->factors[2 * sub] = out->factors[2 * sub + 1] = odd(scale);
}

static void unpack_iq1_s(const uint8_t *block, struct block_ref *out)
{
    out->d = f16_to_f32(load_u16(block)) / 8;
    for (size_t sub = 0; sub < 8; sub++) {
        unsigned high = load_u16(block + IQ1_S_HIGH_AT + 2 * sub);
        set_scales_32(out, sub, high >> 12 & 7);
        for (size_t j = 0; j < 4; j++) {
            unsigned index = block[2 + 4 * sub + j] | (high >> 3 * j & 7) << 8;
            put_shifted(iq1_s_grid[index], high >> 15, out->quants + 32 * sub + 8 * j);
        }
    }
}

static void unpack_iq1_m(const uint8_t *block, struct block_ref *out)
{
    unsigned d = 0;
    for (size_t i = 0; i < 4; i++)
        d |= (unsigned)load_u16(block + IQ1_M_SCALES_AT + 2 * i) >> 12 << 4 * i;
    out->d = f16_to_f32((uint16_t)d) / 8;
    for (size_t i = 0; i < 16; i++)
        out->factors[i] =
            odd((unsigned)load_u16(block + IQ1_M_SCALES_AT + i / 4 * 2) >> i % 4 * 3 & 7);
    for (size_t j = 0; j < 32; j++) {
        unsigned high = nibble(block + IQ1_M_HIGH_AT, j);
        put_shifted(iq1_s_grid[block[j] | (high & 7) << 8], high & 8, out->quants + 8 * j);
    }
}

static void unpack_iq2_xxs(const uint8_t *block, struct block_ref *out)
{
    out->d = f16_to_f32(load_u16(block)) / 8;
    for (size_t sub = 0; sub < 8; sub++) {
        const uint8_t *at = block + 2 + 8 * sub;
        uint32_t signs = load_u32(at + 4);
        set_scales_32(out, sub, signs >> 28);
        for (size_t j = 0; j < 4; j++)
            put_signed(iq2_xxs_grid[at[j]], signs_of(signs >> 7 * j & 127),
                       out->quants + 32 * sub + 8 * j);
    }
}

static void unpack_iq2_xs(const uint8_t *block, struct block_ref *out)
{
    out->d = f16_to_f32(load_u16(block)) / 8;
    for (size_t i = 0; i < 16; i++)
        out->factors[i] = odd(nibble(block + IQ2_XS_SCALES_AT, i));
    for (size_t j = 0; j < 32; j++) {
        unsigned q = load_u16(block + 2 + 2 * j);
        put_signed(iq2_xs_grid[q & 511], signs_of(q >> 9), out->quants + 8 * j);
    }
}

static void unpack_iq2_s(const uint8_t *block, struct block_ref *out)
{
    out->d = f16_to_f32(load_u16(block)) / 8;
    for (size_t i = 0; i < 16; i++)
        out->factors[i] = odd(nibble(block + IQ2_S_SCALES_AT, i));
    for (size_t j = 0; j < 32; j++) {
        unsigned high = (unsigned)block[IQ2_S_HIGH_AT + j / 4] >> j % 4 * 2 & 3;
        put_signed(iq2_s_grid[block[2 + j] | high << 8], block[IQ2_S_SIGNS_AT + j],
                   out->quants + 8 * j);
    }
}

static void unpack_iq3_xxs(const uint8_t *block, struct block_ref *out)
{
    out->d = f16_to_f32(load_u16(block)) / 4;
    for (size_t sub = 0; sub < 8; sub++) {
        uint32_t signs = load_u32(block + IQ3_XXS_SIGNS_AT + 4 * sub);
        set_scales_32(out, sub, signs >> 28);
        for (size_t j = 0; j < 4; j++) {
            const uint8_t *q = block + 2 + 8 * sub + 2 * j;
            uint64_t point = iq3_xxs_grid[q[0]] | (uint64_t)iq3_xxs_grid[q[1]] << 32;
            put_signed(point, signs_of(signs >> 7 * j & 127), out->quants + 32 * sub + 8 * j);
        }
    }
}

static void unpack_iq3_s(const uint8_t *block, struct block_ref *out)
{
    out->d = f16_to_f32(load_u16(block));
    for (size_t sub = 0; sub < 8; sub++)
        set_scales_32(out, sub, nibble(block + IQ3_S_SCALES_AT, sub));
    for (size_t j = 0; j < 32; j++) {
        const uint8_t *q = block + 2 + 2 * j;
        unsigned high = (unsigned)block[IQ3_S_HIGH_AT + j / 4] >> j % 4 * 2;
        uint64_t point =
            iq3_s_grid[q[0] | (high & 1) << 8] | (uint64_t)iq3_s_grid[q[1] | (high & 2) << 7] << 32;
        put_signed(point, block[IQ3_S_SIGNS_AT + j], out->quants + 8 * j);
    }
}

/* ---- ternary, binary ------------------------------------------------------------------------ */

static void set_factors(struct block_ref *out)
{
    for (size_t i = 0; i < SUPER_BLOCK / 16; i++)
        out->factors[i] = 1;
}

/* `digits` base-3 digits of each of `count` bytes; the first digits of all bytes come first. */
static void unpack_digits(const uint8_t *bytes, size_t count, size_t digits, int8_t *out)
{
    for (size_t n = 0, power = 1; n < digits; n++, power *= 3)
        for (size_t i = 0; i < count; i++)
            out[n * count + i] = (int8_t)((uint8_t)(bytes[i] * power) * 3 / 256 - 1);
}

static void unpack_tq1_0(const uint8_t *block, struct block_ref *out)
{
    out->d = f16_to_f32(load_u16(block + TQ1_0_SCALE_AT));
    unpack_digits(block, 32, 5, out->quants);
    unpack_digits(block + 32, 16, 5, out->quants + 160);
    unpack_digits(block + 48, 4, 4, out->quants + 240);
}

static void unpack_tq2_0(const uint8_t *block, struct block_ref *out)
{
    out->d = f16_to_f32(load_u16(block + TQ2_0_SCALE_AT));
    for (size_t half = 0; half < 2; half++)
        for (size_t shift = 0; shift < 4; shift++)
            for (size_t i = 0; i < 32; i++)
                out->quants[128 * half + 32 * shift + i] =
                    (int8_t)((block[32 * half + i] >> 2 * shift & 3) - 1);
}

static void unpack_q2_0(const uint8_t *block, struct block_ref *out)
{
    out->d = f16_to_f32(load_u16(block));
    for (size_t i = 0; i < Q2_0_BLOCK; i++)
        out->quants[i] = (int8_t)((block[2 + i / 4] >> i % 4 * 2 & 3) - 1);
}

static void unpack_q1_0(const uint8_t *block, struct block_ref *out)
{
    out->d = f16_to_f32(load_u16(block));
    for (size_t i = 0; i < Q1_0_BLOCK; i++)
        out->quants[i] = (int8_t)((block[2 + i / 8] >> i % 8 & 1) * 2 - 1);
}

/* ---- NVFP4 ---------------------------------------------------------------------------------- */

/* In units of 2^-9, the smallest step of E4M3: exponent e > 0 means (8 + m) * 2^(e - 10), e = 0
 * means m * 2^-9. */
static int32_t e4m3_steps(uint8_t byte)
{
    int32_t exponent = byte >> 3 & 15, fraction = byte & 7;
    if (byte == 0x7f) /* a NaN */
        return 0;
    return exponent == 0 ? fraction : (8 + fraction) << (exponent - 1);
}

static void unpack_nvfp4(const uint8_t *block, struct block_ref *out)
{
    out->d = 0x1p-10f; /* half a step: mxfp4_values are doubled */
    for (size_t sub = 0; sub < 4; sub++) {
        const uint8_t *quants = block + NVFP4_QUANTS_AT + 8 * sub;
        out->factors[sub] = e4m3_steps(block[sub]);
        for (size_t i = 0; i < 8; i++) {
            out->quants[16 * sub + i] = mxfp4_values[quants[i] & 15];
            out->quants[16 * sub + 8 + i] = mxfp4_values[quants[i] >> 4];
        }
    }
}

/* ---- choice --------------------------------------------------------------------------------- */

typedef void unpack_fn(const uint8_t *block, struct block_ref *out);

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

void block_low_unpack(enum tensor_type type, const uint8_t *block, struct block_ref *out)
{
    ASSERT(unpackers[type] != NULL);
    out->d_min = 0;
    out->has_minimum = false;
    set_factors(out);
    unpackers[type](block, out);
}
