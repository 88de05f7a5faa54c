/* Weight blocks as GGUF stores them, and the small floats in them. Little-endian. Blocks have no
 * padding between them, so a row may be unaligned and every field is read by memcpy. Source: the
 * GGUF specification and its block definitions; MXFP4: OCP Microscaling Formats (MX) v1.0, sections
 * 5.2 and 5.4.
 *
 *   Q8_0   32 weights, 34 bytes            Q4_0   32 weights, 18 bytes
 *     0  f16     d                           0  f16     d
 *     2  int8    q[32]                       2  uint8   q[16]   low nibble: weight i, high: i + 16
 *     w[i] = d * q[i]                        w[i] = d * (nibble - 8)
 *
 *   Q4_1   32 weights, 20 bytes            IQ4_NL 32 weights, 18 bytes
 *     0  f16     d                           0  f16     d
 *     2  f16     m                           2  uint8   q[16]   nibbles as in Q4_0
 *     4  uint8   q[16]   as in Q4_0          w[i] = d * iq4_values[nibble]
 *     w[i] = d * nibble + m
 *
 *   Q5_0   32 weights, 22 bytes            Q5_1   32 weights, 24 bytes
 *     0  f16     d                           0  f16     d
 *     2  uint32  high   bit i: weight i      2  f16     m
 *     6  uint8   q[16]  as in Q4_0           4  uint32  high    bit i: weight i
 *     w[i] = d * (nibble + 16 bit - 16)      8  uint8   q[16]   as in Q4_0
 *                                            w[i] = d * (nibble + 16 bit) + m
 *
 *   MXFP4  32 weights, 17 bytes
 *     0  uint8   e       scale 2^(e - 127)
 *     1  uint8   q[16]   nibbles as in Q4_0: a sign, two bits of exponent, one of fraction
 *     w[i] = 2^(e - 128) * mxfp4_values[nibble], the table holding twice the values
 *
 *   Q2_K   256 weights, 84 bytes, 16 sub-blocks of 16; halves h of 128 weights
 *     0  uint8   scales[16]   low nibble scale, high nibble minimum of each sub-block
 *    16  uint8   q[64]        byte 32h + i: bits 2k..2k+1 are weight i + 32k of it
 *    80  f16     d
 *    82  f16     dmin
 *     w = d * scale * q - dmin * minimum
 *
 *   Q3_K   256 weights, 110 bytes, 16 sub-blocks of 16
 *     0  uint8   high[32]     byte i: bit k is the upper bit of weight i + 32k
 *    32  uint8   q[64]        two lower bits, as in Q2_K
 *    96  uint8   scales[12]   6-bit scale of each sub-block, see q3_k_scales()
 *   108  f16     d
 *     w = d * (scale - 32) * (q - 4)
 *
 *   Q4_K   256 weights, 144 bytes, 8 sub-blocks of 32
 *     0  f16     d
 *     2  f16     dmin
 *     4  uint8   scales[12]   6-bit scale and minimum of each sub-block, see q4_k_scales()
 *    16  uint8   q[128]       byte 32j + i: low nibble sub-block 2j, high nibble sub-block 2j + 1
 *     w = d * scale * nibble - dmin * minimum
 *
 *   Q5_K   256 weights, 176 bytes, 8 sub-blocks of 32
 *     0  f16     d
 *     2  f16     dmin
 *     4  uint8   scales[12]   as in Q4_K
 *    16  uint8   high[32]     byte i: bit j is the upper bit of weight i of sub-block j
 *    48  uint8   q[128]       nibbles as in Q4_K
 *     w = d * scale * (nibble + 16 bit) - dmin * minimum
 *
 *   IQ4_XS 256 weights, 136 bytes, 8 sub-blocks of 32
 *     0  f16     d
 *     2  uint16  high         bits 2j..2j+1: upper bits of the scale of sub-block j
 *     4  uint8   low[4]       byte j / 2, low nibble for even j: its four lower bits
 *     8  uint8   q[128]       byte 16j + i: low nibble weight i, high nibble i + 16 of sub-block j
 *     w = d * (scale - 32) * iq4_values[nibble]
 *
 *   Q6_K   256 weights, 210 bytes, 16 sub-blocks of 16; halves h of 128 weights
 *     0  uint8   ql[128]      byte 64h + i: low nibble weight i, high nibble weight i + 64 of it
 *   128  uint8   qh[64]       byte 32h + i: bits 2k..2k+1 are the upper bits of weight i + 32k
 *   192  int8    scales[16]
 *   208  f16     d
 *     w = d * scale * (q - 32)
 *
 *   F32, F16, BF16: each element is one weight. */
#ifndef KERNELS_FORMATS_H
#define KERNELS_FORMATS_H

#include <stdint.h>
#include <string.h>

enum {
    BLOCK_32 = 32,
    Q8_0_BYTES = 34,
    Q8_0_QUANTS_AT = 2,
    Q4_0_BYTES = 18,
    Q4_0_QUANTS_AT = 2,
    Q4_1_BYTES = 20,
    Q4_1_QUANTS_AT = 4,
    Q5_0_BYTES = 22,
    Q5_0_HIGH_AT = 2,
    Q5_0_QUANTS_AT = 6,
    Q5_1_BYTES = 24,
    Q5_1_HIGH_AT = 4,
    Q5_1_QUANTS_AT = 8,
    MIN_32_AT = 2, /* of Q4_1 and Q5_1 */
    IQ4_NL_BYTES = 18,
    IQ4_NL_QUANTS_AT = 2,
    MXFP4_BYTES = 17,
    MXFP4_QUANTS_AT = 1,
    SUPER_BLOCK = 256,
    Q2_K_BYTES = 84,
    Q2_K_QUANTS_AT = 16,
    Q2_K_SCALE_AT = 80,
    Q2_K_MIN_AT = 82,
    Q3_K_BYTES = 110,
    Q3_K_QUANTS_AT = 32,
    Q3_K_SCALES_AT = 96,
    Q3_K_SCALE_AT = 108,
    Q5_K_BYTES = 176,
    Q5_K_HIGH_AT = 16,
    Q5_K_QUANTS_AT = 48,
    IQ4_XS_BYTES = 136,
    IQ4_XS_HIGH_AT = 2,
    IQ4_XS_LOW_AT = 4,
    IQ4_XS_QUANTS_AT = 8,
    Q4_K_BYTES = 144,
    Q4_K_MIN_AT = 2,
    Q4_K_SCALES_AT = 4,
    Q4_K_QUANTS_AT = 16,
    Q6_K_BYTES = 210,
    Q6_K_HIGH_AT = 128,
    Q6_K_SCALES_AT = 192,
    Q6_K_SCALE_AT = 208,
    /* blocks_low.h has the layouts of these */
    IQ1_S_BYTES = 50,
    IQ1_S_HIGH_AT = 34,
    IQ1_M_BYTES = 56,
    IQ1_M_HIGH_AT = 32,
    IQ1_M_SCALES_AT = 48,
    IQ2_XXS_BYTES = 66,
    IQ2_XS_BYTES = 74,
    IQ2_XS_SCALES_AT = 66,
    IQ2_S_BYTES = 82,
    IQ2_S_SIGNS_AT = 34,
    IQ2_S_HIGH_AT = 66,
    IQ2_S_SCALES_AT = 74,
    IQ3_XXS_BYTES = 98,
    IQ3_XXS_SIGNS_AT = 66,
    IQ3_S_BYTES = 110,
    IQ3_S_HIGH_AT = 66,
    IQ3_S_SIGNS_AT = 74,
    IQ3_S_SCALES_AT = 106,
    TQ1_0_BYTES = 54,
    TQ1_0_SCALE_AT = 52,
    TQ2_0_BYTES = 66,
    TQ2_0_SCALE_AT = 64,
    NVFP4_BLOCK = 64,
    NVFP4_BYTES = 36,
    NVFP4_QUANTS_AT = 4,
    Q1_0_BLOCK = 128,
    Q1_0_BYTES = 18,
    Q2_0_BLOCK = 64,
    Q2_0_BYTES = 18
};

/* The values of the nibbles of IQ4_NL and IQ4_XS. The steps are finer near zero. */
static const int8_t iq4_values[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                      1,    13,   25,  38,  53,  69,  89,  113};

/* Twice the values of the four-bit float E2M1 (0, 0.5, 1, 1.5, 2, 3, 4, 6), so that they are
 * integers. */
static const int8_t mxfp4_values[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

static inline uint16_t load_u16(const void *at)
{
    uint16_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline uint32_t load_u32(const void *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline float load_f32(const void *at)
{
    float value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline float float_from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t float_to_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* bfloat16 is the upper half of a float. */
static inline float bf16_to_f32(uint16_t bits)
{
    return float_from_bits((uint32_t)bits << 16);
}

/* IEEE 754 binary16 to binary32, exact for every input including subnormals, infinities and NaN. */
static inline float f16_to_f32(uint16_t bits)
{
    uint32_t sign = (uint32_t)(bits & 0x8000u) << 16;
    uint32_t exponent = bits >> 10 & 0x1fu;
    uint32_t fraction = bits & 0x3ffu;
    if (exponent == 0) {
        /* fraction * 2^-24, exact: ten bits. */
        float magnitude = (float)fraction * 0x1p-24f;
        return float_from_bits(sign | float_to_bits(magnitude));
    }
    if (exponent == 31) {
        uint32_t quiet = fraction != 0 ? 0x400000u : 0; /* hardware makes a signalling NaN quiet */
        return float_from_bits(sign | 0x7f800000u | quiet | fraction << 13);
    }
    return float_from_bits(sign | (exponent + 127 - 15) << 23 | fraction << 13);
}

/* binary32 to binary16, round to nearest even; too large becomes infinity, NaN stays NaN. */
static inline uint16_t f32_to_f16(float value)
{
    uint32_t bits = float_to_bits(value);
    uint32_t sign = bits >> 16 & 0x8000u;
    uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u)
        return (uint16_t)(sign | 0x7e00u | (magnitude >> 13 & 0x3ffu));
    if (magnitude >= 0x477ff000u) /* 65520: halfway between the largest half and 2^16 */
        return (uint16_t)(sign | 0x7c00u);
    if (magnitude < 0x38800000u) {
        /* Below 2^-14: adding 0.5 leaves value * 2^24 in the low bits, rounded by the addition. */
        float shifted = float_from_bits(magnitude) + 0.5f;
        return (uint16_t)(sign | (float_to_bits(shifted) - float_to_bits(0.5f)));
    }
    uint32_t odd = magnitude >> 13 & 1u;
    uint32_t rounded = magnitude - ((127u - 15u) << 23) + 0xfffu + odd;
    return (uint16_t)(sign | rounded >> 13);
}

/* 2^(e - 128): half of the E8M0 scale e, subnormal for e < 2. In E8M0 255 is NaN. Files do not have
 * it; here it is the next power of two, as in other readers. */
static inline float e8m0_half(uint8_t e)
{
    return float_from_bits(e < 2 ? 0x00200000u << e : (e - 1u) << 23);
}

/* Unpacks the 12 bytes of Q3_K scales: out[0..15], 6 bits each; the scale is that minus 32. Nibbles
 * of bytes 0..7 (low: sub-blocks 0..7, high: 8..15) have the lower bits; bits 2k..2k+1 of byte 8 +
 * i are the upper bits of sub-block 4k + i. */
static inline void q3_k_scales(const uint8_t *packed, uint8_t out[16])
{
    uint32_t a = load_u32(packed), b = load_u32(packed + 4), c = load_u32(packed + 8);
    uint32_t words[4] = {
        (a & 0x0f0f0f0fu) | (c & 0x03030303u) << 4,
        (b & 0x0f0f0f0fu) | (c >> 2 & 0x03030303u) << 4,
        (a >> 4 & 0x0f0f0f0fu) | (c >> 4 & 0x03030303u) << 4,
        (b >> 4 & 0x0f0f0f0fu) | (c >> 6 & 0x03030303u) << 4,
    };
    memcpy(out, words, sizeof words);
}

/* Unpacks the 12 bytes of Q4_K and Q5_K scales: out[0..7] scales, out[8..15] minimums, 6 bits each.
 * Sub-blocks 0..3 have the low six bits of bytes 0..3 (scale) and 4..7 (minimum); sub-blocks 4..7
 * have their low four bits in the nibbles of bytes 8..11 and their upper two bits on top of the
 * bytes of sub-blocks 0..3. Done on four bytes at a time. */
static inline void q4_k_scales(const uint8_t *packed, uint8_t out[16])
{
    uint32_t a = load_u32(packed), b = load_u32(packed + 4), c = load_u32(packed + 8);
    uint32_t words[4] = {
        a & 0x3f3f3f3fu,
        (c & 0x0f0f0f0fu) | (a >> 6 & 0x03030303u) << 4,
        b & 0x3f3f3f3fu,
        (c >> 4 & 0x0f0f0f0fu) | (b >> 6 & 0x03030303u) << 4,
    };
    memcpy(out, words, sizeof words);
}

#endif
