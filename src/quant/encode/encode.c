#include "quant/encode/encode.h"

#include "base/core/assertion.h"
#include "engine/gguf/gguf.h"
#include "kernels/formats.h"
#include "quant/encode/encode_blocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static encode_block_fn *const blocks[TENSOR_TYPE_COUNT] = {
    [TENSOR_Q4_0] = encode_q4_0,   [TENSOR_Q4_1] = encode_q4_1,     [TENSOR_Q5_0] = encode_q5_0,
    [TENSOR_Q5_1] = encode_q5_1,   [TENSOR_Q8_0] = encode_q8_0,     [TENSOR_Q2_K] = encode_q2_k,
    [TENSOR_Q3_K] = encode_q3_k,   [TENSOR_Q4_K] = encode_q4_k,     [TENSOR_Q5_K] = encode_q5_k,
    [TENSOR_Q6_K] = encode_q6_k,   [TENSOR_IQ4_NL] = encode_iq4_nl, [TENSOR_IQ4_XS] = encode_iq4_xs,
    [TENSOR_MXFP4] = encode_mxfp4,
};

bool encode_knows(enum tensor_type type)
{
    return type == TENSOR_F32 || type == TENSOR_F16 || type == TENSOR_BF16 || blocks[type] != NULL;
}

uint16_t encode_half(float value)
{
    uint16_t half = f32_to_f16(value);
    return (half & 0x7fffu) == 0x7c00u ? (uint16_t)(half - 1u) : half;
}

void encode_store_u16(uint8_t *at, uint16_t value)
{
    memcpy(at, &value, sizeof value);
}

/* Rounds to nearest even. x is finite; what is too large becomes infinity, as in bfloat16 of all
 * makers. */
static uint16_t to_bf16(float x)
{
    uint32_t bits = float_to_bits(x);
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

void encode_weigh(const float *x, const float *importance, unsigned count, float row_square,
                  float *out)
{
    if (importance) {
        for (unsigned i = 0; i < count; i++)
            out[i] = importance[i] * sqrtf(row_square + x[i] * x[i]);
        return;
    }
    float sum = 0;
    for (unsigned i = 0; i < count; i++)
        sum += x[i] * x[i];
    float mean = sqrtf(sum / (float)count);
    for (unsigned i = 0; i < count; i++)
        out[i] = mean + fabsf(x[i]);
}

/* Squares of what is larger overflow. No type in blocks reaches it but MXFP4, and no model has such
 * weights. */
#define WEIGHT_MAX 1e15f

static void encode_block(enum tensor_type type, const float *x, const float *importance,
                         unsigned count, uint8_t *out)
{
    float limited[SUPER_BLOCK], widest = 0;
    for (unsigned i = 0; i < count; i++)
        widest = fabsf(x[i]) > widest ? fabsf(x[i]) : widest;
    if (widest > WEIGHT_MAX) {
        for (unsigned i = 0; i < count; i++)
            limited[i] = fabsf(x[i]) > WEIGHT_MAX ? copysignf(WEIGHT_MAX, x[i]) : x[i];
        x = limited;
    }
    blocks[type](x, importance, out);
}

void encode_row(enum tensor_type type, const float *x, const float *importance, size_t cols,
                void *out)
{
    ASSERT(encode_knows(type));
    uint8_t *to = out;
    if (type == TENSOR_F32) {
        memcpy(to, x, cols * sizeof *x);
    } else if (type == TENSOR_F16 || type == TENSOR_BF16) {
        for (size_t i = 0; i < cols; i++)
            encode_store_u16(to + 2 * i, type == TENSOR_F16 ? encode_half(x[i]) : to_bf16(x[i]));
    } else {
        const struct tensor_traits *traits = tensor_traits_get(type);
        ASSERT(cols % traits->block_elements == 0);
        for (size_t i = 0; i < cols; i += traits->block_elements, to += traits->block_bytes)
            encode_block(type, x + i, importance ? importance + i : NULL, traits->block_elements,
                         to);
    }
}

float *encode_to_floats(const struct gguf_tensor *tensor)
{
    size_t cols = (size_t)tensor->dims[0], rows = (size_t)(tensor->dims[1] * tensor->dims[2]);
    float *out = malloc(cols * rows * sizeof *out);
    for (size_t r = 0; out && r < rows; r++)
        kernels_get(TD_CPU_AUTO, NULL)
            ->dequantize((enum tensor_type)tensor->type,
                         (const uint8_t *)tensor->data + r * (tensor->bytes / rows), cols,
                         out + r * cols);
    return out;
}
