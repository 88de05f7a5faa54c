/* The reference of quantisation, dequantisation and the matrix product: the definition that the
 * other variants are checked against. Plain loops, never optimised. */
#include <float.h>
#include <math.h>

#include "kernels/activation.h"
#include "kernels/blocks_low.h"
#include "kernels/blocks_ref.h"
#include "kernels/formats.h"
#include "kernels/variants.h"

/* ---- dequantisation ------------------------------------------------------------------------- */

/* Except in Q6_K, the product of scale and quant is exact in float, so only the subtraction
 * rounds. */
static void dequantize_blocks(enum tensor_type type, const uint8_t *row, size_t cols, float *out)
{
    const struct tensor_traits *traits = tensor_traits_get(type);
    struct block_ref block;
    for (size_t c = 0; c < cols; c += traits->block_elements, row += traits->block_bytes) {
        block_ref_unpack(type, row, &block);
        for (size_t i = 0; i < traits->block_elements; i++) {
            float scale = block.d * (float)block.factors[i / 16];
            float weight = scale * (float)block.quants[i];
            if (block.has_minimum)
                weight -= block.d_min * (float)block.minimums[i / 16];
            out[c + i] = weight;
        }
    }
}

/* Products are exact. */
static void dequantize_low(enum tensor_type type, const uint8_t *row, size_t cols, float *out)
{
    const struct tensor_traits *traits = tensor_traits_get(type);
    struct low_span span;
    block_low_prepare();
    for (size_t c = 0; c < cols; c += traits->block_elements, row += traits->block_bytes) {
        block_low_unpack(type, row, traits->block_elements, &span);
        for (size_t i = 0; i < traits->block_elements; i++)
            out[c + i] = span.scales[i / 16] * (float)span.quants[i];
    }
}

void dequantize_ref(enum tensor_type type, const void *row, size_t cols, float *out)
{
    const uint8_t *bytes = row;
    switch (type) {
    case TENSOR_F32:
        memcpy(out, row, cols * sizeof *out);
        return;
    case TENSOR_F16:
        for (size_t c = 0; c < cols; c++)
            out[c] = f16_to_f32(load_u16(bytes + 2 * c));
        return;
    case TENSOR_BF16:
        for (size_t c = 0; c < cols; c++)
            out[c] = bf16_to_f32(load_u16(bytes + 2 * c));
        return;
    default:
        (block_low_has(type) ? dequantize_low : dequantize_blocks)(type, bytes, cols, out);
    }
}

/* ---- activations ---------------------------------------------------------------------------- */

/* Quantises n values by the rule in activation.h; returns the scale of the block. */
static float quantize_block(const float *x, size_t n, int8_t *quants)
{
    float maximum = 0;
    bool finite = true;
    for (size_t i = 0; i < n; i++) {
        finite = finite && isfinite(x[i]);
        maximum = fmaxf(maximum, fabsf(x[i]));
    }
    if (!finite || maximum < ACTIVATION_TINY) {
        memset(quants, 0, n);
        return finite ? 0.0f : NAN;
    }
    float inverse = 127.0f / maximum;
    for (size_t i = 0; i < n; i++)
        quants[i] = (int8_t)nearbyintf(x[i] * inverse);
    return maximum / 127.0f;
}

static void prepare_32(const float *x, size_t cols, uint8_t *out)
{
    memset(out, 0, activation_form_bytes(ACTIVATION_Q8_32, cols));
    for (size_t c = 0; c < cols; c += BLOCK_32) {
        uint8_t *group = out + c / ACT32_GROUP * ACT32_BYTES;
        size_t block = c % ACT32_GROUP / BLOCK_32;
        int8_t quants[BLOCK_32];
        float scale = quantize_block(x + c, BLOCK_32, quants);
        memcpy(group + 16 * block, quants, 16);
        memcpy(group + ACT32_HIGH_AT + 16 * block, quants + 16, 16);
        for (size_t lane = 0; lane < 4; lane++) {
            int32_t bias = 0;
            for (size_t i = 4 * lane; i < 4 * lane + 4; i++)
                bias -= 8 * (quants[i] + quants[16 + i]);
            size_t at = (4 * block + lane) * 4;
            memcpy(group + ACT32_BIAS_AT + at, &bias, sizeof bias);
            memcpy(group + ACT32_SCALE_AT + at, &scale, sizeof scale);
        }
    }
}

static void prepare_256(const float *x, size_t cols, uint8_t *out)
{
    memset(out, 0, activation_form_bytes(ACTIVATION_Q8_256, cols));
    for (size_t c = 0; c < cols; c += SUPER_BLOCK, out += ACT256_BYTES) {
        int8_t quants[SUPER_BLOCK];
        float scale = quantize_block(x + c, SUPER_BLOCK, quants);
        memcpy(out, quants, sizeof quants);
        memcpy(out + ACT256_SCALE_AT, &scale, sizeof scale);
        for (size_t part = 0; part < 16; part++) {
            int sum = 0;
            for (size_t i = 0; i < 16; i++)
                sum += quants[16 * part + i];
            float scaled = scale * (float)sum;
            int16_t total = (int16_t)sum;
            memcpy(out + ACT256_SUMS_AT + 4 * part, &scaled, sizeof scaled);
            memcpy(out + ACT256_TOTALS_AT + 2 * part, &total, sizeof total);
        }
    }
}

void activation_prepare_ref(enum activation_form form, const float *x, size_t cols, void *out)
{
    switch (form) {
    case ACTIVATION_Q8_32:
        prepare_32(x, cols, out);
        return;
    case ACTIVATION_Q8_256:
        prepare_256(x, cols, out);
        return;
    default:
        memset(out, 0, activation_form_bytes(form, cols));
        memcpy(out, x, cols * sizeof *x);
    }
}

/* ---- products ------------------------------------------------------------------------------- */

static double dot_float(enum tensor_type type, const uint8_t *row, size_t cols, const float *x)
{
    double sum = 0;
    for (size_t c = 0; c < cols; c++) {
        float weight = type == TENSOR_F32   ? load_f32(row + 4 * c)
                       : type == TENSOR_F16 ? f16_to_f32(load_u16(row + 2 * c))
                                            : bf16_to_f32(load_u16(row + 2 * c));
        sum += (double)weight * (double)x[c];
    }
    return sum;
}

/* Quant i of the activations of a block that begins at column c; its scale goes to *scale. */
static int activation_quant(enum activation_form form, const uint8_t *act, size_t c, size_t i,
                            double *scale)
{
    if (form == ACTIVATION_Q8_256) {
        act += c / SUPER_BLOCK * ACT256_BYTES;
        *scale = (double)load_f32(act + ACT256_SCALE_AT);
        return (int8_t)act[i];
    }
    act += c / ACT32_GROUP * ACT32_BYTES;
    size_t at = c % ACT32_GROUP / BLOCK_32 * 16;
    *scale = (double)load_f32(act + ACT32_SCALE_AT + at);
    return (int8_t)act[(i < 16 ? 0 : ACT32_HIGH_AT) + at + i % 16];
}

static double dot_blocks(enum tensor_type type, const uint8_t *row, size_t cols, const uint8_t *act)
{
    const struct tensor_traits *traits = tensor_traits_get(type);
    enum activation_form form = activation_form_of(type);
    struct block_ref block;
    double sum = 0;
    for (size_t c = 0; c < cols; c += traits->block_elements, row += traits->block_bytes) {
        int dot = 0, minimum = 0; /* at most 256 * 128 * 32 * 127 in magnitude */
        double scale = 0;
        block_ref_unpack(type, row, &block);
        for (size_t i = 0; i < traits->block_elements; i++) {
            int quant = activation_quant(form, act, c, i, &scale);
            dot += block.factors[i / 16] * block.quants[i] * quant;
            minimum += block.minimums[i / 16] * quant;
        }
        sum += scale * ((double)block.d * dot - (double)block.d_min * minimum);
    }
    return sum;
}

/* Of a type of blocks_low.h: sixteen weights have a scale, and 32 activations. */
static double dot_low(enum tensor_type type, const uint8_t *row, size_t cols, const uint8_t *act)
{
    const struct tensor_traits *traits = tensor_traits_get(type);
    struct low_span span;
    double sum = 0, scale = 0;
    block_low_prepare();
    for (size_t c = 0; c < cols; c += 16) {
        size_t at = c % traits->block_elements;
        if (at == 0)
            block_low_unpack(type, row + c / traits->block_elements * traits->block_bytes,
                             traits->block_elements, &span);
        int dot = 0;
        for (size_t i = 0; i < 16; i++)
            dot += span.quants[at + i] *
                   activation_quant(ACTIVATION_Q8_32, act, c, c % BLOCK_32 + i, &scale);
        sum += (double)span.scales[at / 16] * dot * scale;
    }
    return sum;
}

static double dot_row(enum tensor_type type, const uint8_t *row, size_t cols, const void *act)
{
    if (activation_form_of(type) == ACTIVATION_F32)
        return dot_float(type, row, cols, act);
    return block_low_has(type) ? dot_low(type, row, cols, act) : dot_blocks(type, row, cols, act);
}

void matmul_ref(enum tensor_type type, const void *weights, size_t row_bytes, size_t cols,
                size_t row_begin, size_t row_end, const void *activations, size_t act_stride,
                size_t tokens, float *y, size_t y_stride)
{
    for (size_t t = 0; t < tokens; t++)
        for (size_t r = row_begin; r < row_end; r++)
            y[t * y_stride + r] =
                (float)dot_row(type, (const uint8_t *)weights + r * row_bytes, cols,
                               (const uint8_t *)activations + t * act_stride);
}
