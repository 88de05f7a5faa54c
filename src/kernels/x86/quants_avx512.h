/* Products of quantised weights with a few tokens, for matmul_avx512.c. */
#ifndef KERNELS_QUANTS_AVX512_H
#define KERNELS_QUANTS_AVX512_H

#include "kernels/kernels.h"
#include "kernels/tiles.h"

/* `whole` describes the first of `rows` rows and of `tokens` tokens. */
void quants_multiply_avx512(enum tensor_type type, const struct tile *whole, size_t rows,
                            size_t tokens);

#endif
