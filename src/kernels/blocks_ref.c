/* The reference of the block formats, as formats.h defines them: one function for each family, in
 * plain loops. */
#include "kernels/blocks_ref.h"

#include "base/core/assertion.h"

/* ---- blocks of 32 --------------------------------------------------------------------------- */

static int nibble_32(const uint8_t *quants, size_t i)
{
    return i < 16 ? quants[i] & 15 : quants[i - 16] >> 4;
}

static void set_factors(struct block_ref *out, int factor, int minimum)
{
    for (size_t i = 0; i < BLOCK_32 / 16; i++) {
        out->factors[i] = (int16_t)factor;
        out->minimums[i] = (int16_t)minimum;
    }
}

static void unpack_q8_0(const uint8_t *block, struct block_ref *out)
{
    out->d = f16_to_f32(load_u16(block));
    memcpy(out->quants, block + Q8_0_QUANTS_AT, BLOCK_32);
}

static void unpack_q4(const uint8_t *block, const uint8_t *quants, int offset,
                      struct block_ref *out)
{
    out->d = f16_to_f32(load_u16(block));
    for (size_t i = 0; i < BLOCK_32; i++)
        out->quants[i] = (int8_t)(nibble_32(quants, i) - offset);
}

static void unpack_q5(const uint8_t *block, uint32_t high, const uint8_t *quants, int offset,
                      struct block_ref *out)
{
    out->d = f16_to_f32(load_u16(block));
    for (size_t i = 0; i < BLOCK_32; i++)
        out->quants[i] = (int8_t)(nibble_32(quants, i) + (int)(high >> i & 1) * 16 - offset);
}

/* Q4_1 and Q5_1 add m; here a minimum is subtracted. */
static void unpack_minimum_32(const uint8_t *block, struct block_ref *out)
{
    out->has_minimum = true;
    out->d_min = f16_to_f32(load_u16(block + MIN_32_AT));
    set_factors(out, 1, -1);
}

static void unpack_table(float d, const uint8_t *quants, const int8_t values[16],
                         struct block_ref *out)
{
    out->d = d;
    for (size_t i = 0; i < BLOCK_32; i++)
        out->quants[i] = values[nibble_32(quants, i)];
}

/* ---- super-blocks of 256 -------------------------------------------------------------------- */

/* Two bits of weight i, as Q2_K, Q3_K and the upper part of Q6_K store them. */
static int two_bits(const uint8_t *quants, size_t i)
{
    return quants[i / 128 * 32 + i % 32] >> i % 128 / 32 * 2 & 3;
}

static void unpack_q2_k(const uint8_t *block, struct block_ref *out)
{
    out->d = f16_to_f32(load_u16(block + Q2_K_SCALE_AT));
    out->d_min = f16_to_f32(load_u16(block + Q2_K_MIN_AT));
    out->has_minimum = true;
    for (size_t i = 0; i < 16; i++) {
        out->factors[i] = block[i] & 15;
        out->minimums[i] = block[i] >> 4;
    }
    for (size_t i = 0; i < SUPER_BLOCK; i++)
        out->quants[i] = (int8_t)two_bits(block + Q2_K_QUANTS_AT, i);
}

static void unpack_q3_k(const uint8_t *block, struct block_ref *out)
{
    uint8_t scales[16];
    q3_k_scales(block + Q3_K_SCALES_AT, scales);
    out->d = f16_to_f32(load_u16(block + Q3_K_SCALE_AT));
    for (size_t i = 0; i < 16; i++)
        out->factors[i] = (int16_t)(scales[i] - 32);
    for (size_t i = 0; i < SUPER_BLOCK; i++) {
        int high = block[i % 32] >> i / 32 & 1;
        out->quants[i] = (int8_t)(two_bits(block + Q3_K_QUANTS_AT, i) + high * 4 - 4);
    }
}

/* Q4_K and, with the upper bits in `high`, Q5_K. */
static void unpack_q4_k(const uint8_t *block, const uint8_t *quants, const uint8_t *high,
                        struct block_ref *out)
{
    uint8_t scales[16];
    q4_k_scales(block + Q4_K_SCALES_AT, scales);
    out->d = f16_to_f32(load_u16(block));
    out->d_min = f16_to_f32(load_u16(block + Q4_K_MIN_AT));
    out->has_minimum = true;
    for (size_t i = 0; i < 16; i++) {
        out->factors[i] = scales[i / 2];
        out->minimums[i] = scales[8 + i / 2];
    }
    for (size_t i = 0; i < SUPER_BLOCK; i++) {
        uint8_t byte = quants[i / 64 * 32 + i % 32];
        int quant = i % 64 < 32 ? byte & 15 : byte >> 4;
        if (high != NULL)
            quant += (high[i % 32] >> i / 32 & 1) * 16;
        out->quants[i] = (int8_t)quant;
    }
}

static void unpack_q6_k(const uint8_t *block, struct block_ref *out)
{
    out->d = f16_to_f32(load_u16(block + Q6_K_SCALE_AT));
    for (size_t i = 0; i < 16; i++)
        out->factors[i] = (int8_t)block[Q6_K_SCALES_AT + i];
    for (size_t i = 0; i < SUPER_BLOCK; i++) {
        uint8_t byte = block[i / 128 * 64 + i % 64];
        int low = i % 128 < 64 ? byte & 15 : byte >> 4;
        out->quants[i] = (int8_t)((low | two_bits(block + Q6_K_HIGH_AT, i) << 4) - 32);
    }
}

static void unpack_iq4_xs(const uint8_t *block, struct block_ref *out)
{
    unsigned high = load_u16(block + IQ4_XS_HIGH_AT);
    out->d = f16_to_f32(load_u16(block));
    for (size_t i = 0; i < 16; i++) {
        size_t j = i / 2;
        unsigned low = (unsigned)block[IQ4_XS_LOW_AT + j / 2] >> j % 2 * 4 & 15;
        out->factors[i] = (int16_t)((int)(low | (high >> 2 * j & 3) << 4) - 32);
    }
    for (size_t i = 0; i < SUPER_BLOCK; i++)
        out->quants[i] =
            iq4_values[nibble_32(block + IQ4_XS_QUANTS_AT + i / 32 * 16, i % BLOCK_32)];
}

/* ---- choice --------------------------------------------------------------------------------- */

static void unpack_32(enum tensor_type type, const uint8_t *block, struct block_ref *out)
{
    set_factors(out, 1, 0);
    switch (type) {
    case TENSOR_Q8_0:
        unpack_q8_0(block, out);
        return;
    case TENSOR_Q4_0:
        unpack_q4(block, block + Q4_0_QUANTS_AT, 8, out);
        return;
    case TENSOR_Q4_1:
        unpack_q4(block, block + Q4_1_QUANTS_AT, 0, out);
        unpack_minimum_32(block, out);
        return;
    case TENSOR_Q5_0:
        unpack_q5(block, load_u32(block + Q5_0_HIGH_AT), block + Q5_0_QUANTS_AT, 16, out);
        return;
    case TENSOR_Q5_1:
        unpack_q5(block, load_u32(block + Q5_1_HIGH_AT), block + Q5_1_QUANTS_AT, 0, out);
        unpack_minimum_32(block, out);
        return;
    case TENSOR_IQ4_NL:
        unpack_table(f16_to_f32(load_u16(block)), block + IQ4_NL_QUANTS_AT, iq4_values, out);
        return;
    case TENSOR_MXFP4:
        unpack_table(e8m0_half(block[0]), block + MXFP4_QUANTS_AT, mxfp4_values, out);
        return;
    default:
        ASSERT(false); /* a tensor type without a kernel */
    }
}

void block_ref_unpack(enum tensor_type type, const uint8_t *block, struct block_ref *out)
{
    out->d_min = 0;
    out->has_minimum = false;
    memset(out->minimums, 0, sizeof out->minimums);
    switch (type) {
    case TENSOR_Q2_K:
        unpack_q2_k(block, out);
        return;
    case TENSOR_Q3_K:
        unpack_q3_k(block, out);
        return;
    case TENSOR_Q4_K:
        unpack_q4_k(block, block + Q4_K_QUANTS_AT, NULL, out);
        return;
    case TENSOR_Q5_K:
        unpack_q4_k(block, block + Q5_K_QUANTS_AT, block + Q5_K_HIGH_AT, out);
        return;
    case TENSOR_Q6_K:
        unpack_q6_k(block, out);
        return;
    case TENSOR_IQ4_XS:
        unpack_iq4_xs(block, out);
        return;
    default:
        unpack_32(type, block, out);
    }
}
