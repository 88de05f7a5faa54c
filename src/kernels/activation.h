/* Activation rows as the products read them. All variants use these layouts, which are made for the
 * 512-bit int8 dot product. Padding up to whole groups is zero.
 *
 * ACTIVATION_F32: float[cols], padded to a multiple of 16.
 *
 * ACTIVATION_Q8_32, groups of four blocks of 32 (128 activations), 256 bytes:
 *     0  int8   low[4][16]    quants 0..15 of each block  } so that four loads of 16 packed bytes
 *    64  int8   high[4][16]   quants 16..31 of each block } of Q4_0 become two operands of 64 bytes
 *   128  int32  bias[16]      lane 4b + i: -8 * (sum of low[b][4i..4i+3] + high[b][4i..4i+3]): what
 *                             an accumulator of unsigned nibbles starts with, to come out signed
 *                             (offset 8; shifted left for 16 and 128); times a block's
 *                             minimum / -8, the minimum's share
 *   192  float  scale[16]     lane 4b + i: scale of block b
 *
 * ACTIVATION_Q8_256, super-blocks of 256, 384 bytes:
 *     0  int8   q[256]
 *   256  float  sums[16]      scale * sum of each 16 quants, for minimums and offsets
 *   320  float  scale         then 28 bytes of zero
 *   352  int16  totals[16]    sum of each 16 quants, where minimums are taken off as whole numbers
 *
 * Quantisation, with the block maximum m = max |x|: scale = m / 127, q = round-half-even(x * (127 /
 * m)). A block whose m is below ACTIVATION_TINY becomes zero, because 127 / m must not overflow. A
 * block with an infinity or NaN gets the scale NaN, so that every result that uses it is NaN. */
#ifndef KERNELS_ACTIVATION_H
#define KERNELS_ACTIVATION_H

#include "kernels/formats.h"
#include "kernels/kernels.h"

#define ACTIVATION_TINY 1e-36f /* 127 / this is finite */

enum {
    ACT32_GROUP = 128, /* activations */
    ACT32_BYTES = 256,
    ACT32_HIGH_AT = 64,
    ACT32_BIAS_AT = 128,
    ACT32_SCALE_AT = 192,
    ACT256_BYTES = 384,
    ACT256_SUMS_AT = 256,
    ACT256_SCALE_AT = 320,
    ACT256_TOTALS_AT = 352
};

/* The scale of a block whose largest |x| has these bits. *inverse: the factor for its values, 0 if
 * all quants are zero. The bits of magnitudes, as integers, are ordered like the floats, with
 * infinity and NaN on top. */
static inline float activation_scale(uint32_t maximum_bits, float *inverse)
{
    float maximum = float_from_bits(maximum_bits);
    *inverse = 0;
    if (maximum_bits >= 0x7f800000u)
        return __builtin_nanf("");
    if (maximum < ACTIVATION_TINY)
        return 0;
    *inverse = 127.0f / maximum;
    return maximum / 127.0f;
}

#endif
