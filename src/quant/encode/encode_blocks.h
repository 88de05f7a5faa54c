/* The encoders of one block each, for encode.c. */
#ifndef QUANT_ENCODE_BLOCKS_H
#define QUANT_ENCODE_BLOCKS_H

#include <stdint.h>

/* x and importance are those of the block; importance NULL = none. */
typedef void encode_block_fn(const float *x, const float *importance, uint8_t *out);

/* 32 weights: encode_small.c */
encode_block_fn encode_q8_0, encode_q4_0, encode_q4_1, encode_q5_0, encode_q5_1, encode_iq4_nl,
    encode_mxfp4;
/* 256 weights with scale and minimum for each sub-block: encode_lines.c */
encode_block_fn encode_q2_k, encode_q4_k, encode_q5_k;
/* 256 weights with a scale for each sub-block: encode_scales.c */
encode_block_fn encode_q3_k, encode_q6_k, encode_iq4_xs;

/* The nearest f16 that is finite. */
uint16_t encode_half(float value);
void encode_store_u16(uint8_t *at, uint16_t value);

#endif
