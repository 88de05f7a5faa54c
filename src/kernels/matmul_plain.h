/* Products of the types of blocks_low.h, for the variants' matmul: see matmul_plain_body.h. */
#ifndef KERNELS_MATMUL_PLAIN_H
#define KERNELS_MATMUL_PLAIN_H

#include "kernels/kernels.h"
#include "kernels/tiles.h"

/* `whole` describes the first of `rows` rows and of `tokens` tokens. */
void matmul_plain_avx2(enum tensor_type type, const struct tile *whole, size_t rows, size_t tokens);
void matmul_plain_avx512(enum tensor_type type, const struct tile *whole, size_t rows,
                         size_t tokens);
void matmul_plain_neon(enum tensor_type type, const struct tile *whole, size_t rows, size_t tokens);

#endif
