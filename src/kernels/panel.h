/* Panels: the prepared activations of sixteen tokens, one token in each lane of a vector. A
 * register with the same weights in all lanes then multiplies sixteen tokens without a shuffle.
 * Prompts and larger batches use panels; the results are the same bits as with rows (activation.h).
 * A panel replaces sixteen rows and is smaller than they are. Missing tokens of the last panel are
 * zero.
 *
 * A panel is read only by the variant that made it. With AVX-512 quants are stored plus 128,
 * because vpdpbusd has one unsigned operand; weights are the signed one. AVX2 has signed quants,
 * and the bias as int32. A "four" k is the quants 4k .. 4k + 3 of a block.
 *
 * ACTIVATION_Q8_32, a block of 32, 640 bytes:
 *     0  uint8  quants[8][16][4]   fours by tokens; AVX2: int8
 *   512  float  scale[16]
 *   576  float  bias[16]           -8 * sum of the quants; AVX2: int32
 *
 * ACTIVATION_Q8_256, a super-block of 256, 4928 bytes:
 *     0  uint8  quants[64][16][4]   AVX2: int8
 *  4096  float  scale[16]
 *  4160  int16  totals[8][16][2]   sums of sixteen quants, a pair of neighbours in a lane
 *  4672  int16  totals32[4][16][2] sums of 32 */
#ifndef KERNELS_PANEL_H
#define KERNELS_PANEL_H

#include "kernels/activation.h"

enum {
    PANEL32_BYTES = 640,
    PANEL32_SCALE_AT = 512,
    PANEL32_BIAS_AT = 576,
    PANEL256_BYTES = 4928,
    PANEL256_SCALE_AT = 4096,
    PANEL256_TOTALS_AT = 4160,
    PANEL256_TOTALS32_AT = 4672
};

#endif
