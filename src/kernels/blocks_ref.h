/* Takes any weight block apart into the terms of its formula, for the reference. No state; any
 * thread. */
#ifndef KERNELS_BLOCKS_REF_H
#define KERNELS_BLOCKS_REF_H

#include "kernels/formats.h"
#include "kernels/kernels.h"

/* w[i] = d * factors[i / 16] * quants[i] - d_min * minimums[i / 16]. */
struct block_ref {
    float d, d_min;
    bool has_minimum; /* else d_min and minimums are zero and nothing is subtracted (not even 0) */
    int16_t factors[SUPER_BLOCK / 16];
    int16_t minimums[SUPER_BLOCK / 16];
    int8_t quants[SUPER_BLOCK]; /* block_elements of the type are set */
};

/* `type` must not be F32, F16 or BF16, nor one of blocks_low.h. */
void block_ref_unpack(enum tensor_type type, const uint8_t *block, struct block_ref *out);

#endif
