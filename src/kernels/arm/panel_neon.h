/* Panels for NEON: the prepared activations of sixteen tokens, in groups of the columns that an
 * instruction multiplies. panel_neon_body.h says how they are used. A panel replaces sixteen rows
 * of activations (activation.h) and is smaller than they are. Missing tokens of the last panel are
 * zero.
 *
 * Column c of token t is at 16 * (c - c % group) + group * t + c % group. A group has sixteen
 * columns, for processors with i8mm eight: smmla multiplies two rows by two tokens, eight columns
 * each, so its four results belong to a pair of tokens. For it the floats of a pair are stored as
 * (t, t, t + 1, t + 1).
 *
 * ACTIVATION_Q8_32, a block of 32:
 *     0  int8   quants[16 * 32]
 *   512  float  scale[16] or [32]
 *        float  share[16] or [32]   scale * -8 * sum of the quants, for minimums
 *
 * ACTIVATION_Q8_256, a super-block of 256. The sums of sixteen and of 32 quants stand behind the
 * quants as further columns, so that minimums are multiplied with them like weights. A sum has up
 * to thirteen bits and is stored as two numbers, 64 * high + low:
 *     0  int8   quants[16 * 256]
 *  4096  int8   columns 256..263: high of sums of 32; 264..271: low
 *  4352  int8   columns 272..287: high of sums of sixteen; 288..303: low
 *  4864  float  scale[16] or [32] */
#ifndef KERNELS_PANEL_NEON_H
#define KERNELS_PANEL_NEON_H

#include "kernels/activation.h"

enum {
    PANEL_SUMS_BITS = 6, /* of the low part */
    PANEL32_FLOATS_AT = KERNELS_PANEL_TOKENS * BLOCK_32,
    PANEL256_SUMS32 = SUPER_BLOCK, /* a column */
    PANEL256_SUMS16 = SUPER_BLOCK + 16,
    PANEL256_COLS = SUPER_BLOCK + 48,
    PANEL256_SCALE_AT = KERNELS_PANEL_TOKENS * PANEL256_COLS,
    /* Bytes of sixteen floats; PAIRED: of the same in pairs. */
    PANEL_FLOATS = KERNELS_PANEL_TOKENS * sizeof(float),
    PANEL_FLOATS_PAIRED = 2 * PANEL_FLOATS
};

#endif
