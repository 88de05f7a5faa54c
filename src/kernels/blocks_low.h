/* Blocks of the types below four bits that choose points of a grid (IQ1, IQ2, IQ3), of the ternary
 * and binary types (TQ1_0, TQ2_0, Q2_0, Q1_0), and of NVFP4. Little-endian. Source: the GGUF block
 * definitions; NVFP4's scale is an unsigned E4M3 float (OCP 8-bit floating point, section 5).
 *
 * A grid point is 8 (IQ3: 4) magnitudes, found by an index; grids.txt has them. A sign index s of 7
 * bits stands for 8 signs: its bits, and their parity, so that an even number is negative.
 *
 *   IQ1_S   256 weights, 50 bytes          IQ1_M   256 weights, 56 bytes
 *     0  f16     d                           0  uint8   q[32]
 *     2  uint8   q[32]                      32  uint8   high[16]    nibble j: 3 upper bits of the
 *    34  uint16  high[8]   of 32 weights:                           index of point j, and a sign
 *          3 upper bits of 4 indices;       48  uint16  scales[4]   3 bits for 16 weights, four a
 *          3 bits scale; a sign                                     word; the top nibbles make d
 *     w = d * (2 scale + 1) * (point +- 1/8), the sign's bit set: minus
 *
 *   IQ2_XXS 256 weights, 66 bytes          IQ2_XS  256 weights, 74 bytes
 *     0  f16     d                           0  f16     d
 *     2  8 times, for 32 weights:            2  uint16  q[32]       9 bits index, 7 bits signs
 *          uint8   q[4]                     66  uint8   scales[8]   nibbles, for 16 weights each
 *          uint32  7 bits signs 4 times,   IQ2_S   256 weights, 82 bytes
 *                  4 bits scale              0  f16     d
 *     w = d / 8 * (2 scale + 1) * point      2  uint8   q[32]
 *                                           34  uint8   signs[32]   a bit each
 *                                           66  uint8   high[8]     2 upper bits of 4 indices
 *                                           74  uint8   scales[8]   as in IQ2_XS
 *
 *   IQ3_XXS 256 weights, 98 bytes          IQ3_S   256 weights, 110 bytes
 *     0  f16     d                           0  f16     d
 *     2  uint8   q[64]                       2  uint8   q[64]
 *    66  uint32  [8] as in IQ2_XXS          66  uint8   high[8]     upper bit of 8 indices
 *     w = d / 4 * (2 scale + 1) * point     74  uint8   signs[32]   a bit each
 *                                          106  uint8   scales[4]   nibbles, for 32 weights each
 *                                            w = d * (2 scale + 1) * point
 *
 *   TQ1_0   256 weights, 54 bytes          TQ2_0   256 weights, 66 bytes
 *     0  uint8   q[48]     5 digits a byte   0  uint8   q[64]   as in Q2_K
 *    48  uint8   last[4]   4 digits a byte  64  f16     d
 *    52  f16     d                           w = d * (q - 1)
 *     w = d * (digit - 1); digit n of a byte b is ((b * 3^n mod 256) * 3) / 256
 *
 *   Q1_0    128 weights, 18 bytes          Q2_0    64 weights, 18 bytes
 *     0  f16     d                           0  f16     d
 *     2  uint8   q[16]   bits in order       2  uint8   q[16]   two bits each, in order
 *     w = bit set ? d : -d                   w = d * (q - 1)
 *
 *   NVFP4   64 weights, 36 bytes
 *     0  uint8   scales[4]   E4M3 without a sign, for 16 weights each; 0x7f is 0
 *     4  uint8   q[32]       8 bytes for 16 weights: low nibble weight i, high i + 8
 *     w = scale / 2 * mxfp4_values[nibble] */
#ifndef KERNELS_BLOCKS_LOW_H
#define KERNELS_BLOCKS_LOW_H

#include "kernels/formats.h"
#include "kernels/kernels.h"

/* Some blocks in a row: w[i] = scales[i / 16] * quants[i]. Scales are exact as floats. */
struct low_span {
    int8_t quants[SUPER_BLOCK];
    float scales[SUPER_BLOCK / 16];
};

/* Whether a type is one of these. */
bool block_low_has(enum tensor_type type);
/* Required once before the next; any thread, and cheap when it is called again. */
void block_low_prepare(void);
/* For unpackers that look points up themselves, after block_low_prepare(). A point of eight or four
 * bytes is a number; those of iq1_s are 8 * (coordinate + 1) + 128. */
struct low_tables {
    const uint64_t *iq1_s, *iq2_xxs, *iq2_xs, *iq2_s;
    const uint32_t *iq3_xxs, *iq3_s;
};
extern const struct low_tables low_tables;

/* `cols` weights, at most SUPER_BLOCK. */
void block_low_unpack(enum tensor_type type, const uint8_t *blocks, size_t cols,
                      struct low_span *out);

#endif
