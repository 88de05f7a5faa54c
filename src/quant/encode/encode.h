/* Writes weights in the tensor types that GGUF files have: the other direction of
 * kernels->dequantize. The layouts are the table of kernels/formats.h. Pure; any thread. */
#ifndef QUANT_ENCODE_H
#define QUANT_ENCODE_H

#include "kernels/kernels.h"

struct gguf_tensor;

/* Whether encode_row writes this type. */
bool encode_knows(enum tensor_type type);

/* One row of `cols` weights, a multiple of the type's block, to `out`. All of x are finite.
 *
 * importance: [cols], how much a squared error of a weight of that column costs, all >= 0; NULL =
 * every column the same. What counts is the ratio within a row. It is the mean square of the inputs
 * that the column is multiplied with (imatrix.h). */
void encode_row(enum tensor_type type, const float *x, const float *importance, size_t cols,
                void *out);

/* All weights of a tensor as floats, row after row and expert after expert. **returns new** (free);
 * NULL without memory. */
float *encode_to_floats(const struct gguf_tensor *tensor);

/* The importance of each of `count` weights of a block: what rounding must spare.
 *   without importance  mean |x| + |x|           : large weights carry more of the output
 *   with importance     importance * sqrt(mean x^2 + x^2)
 * as llama.cpp weighs them (ggml-quants.c). row_square: the mean of x^2 that stands for the
 * neighbourhood. */
void encode_weigh(const float *x, const float *importance, unsigned count, float row_square,
                  float *out);

#endif
