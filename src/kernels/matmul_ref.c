/* Reference of quantisation, dequantisation and the matrix product: the definition that the other
 * variants are checked against. Never optimised. */
#include <assert.h>
#include <float.h>
#include <math.h>

#include "kernels/activation.h"
#include "kernels/formats.h"
#include "kernels/variants.h"

/* ---- dequantisation ------------------------------------------------------------------------- */

static void dequantize_q8_0(const uint8_t *row, size_t cols, float *out)
{
    for (size_t c = 0; c < cols; c++) {
        const uint8_t *block = row + c / BLOCK_32 * Q8_0_BYTES;
        int8_t quant = (int8_t)block[Q8_0_QUANTS_AT + c % BLOCK_32];
        out[c] = f16_to_f32(load_u16(block)) * (float)quant;
    }
}

static int q4_0_quant(const uint8_t *block, size_t i)
{
    uint8_t byte = block[Q4_0_QUANTS_AT + i % 16];
    return (i < 16 ? byte & 15 : byte >> 4) - 8;
}

static void dequantize_q4_0(const uint8_t *row, size_t cols, float *out)
{
    for (size_t c = 0; c < cols; c++) {
        const uint8_t *block = row + c / BLOCK_32 * Q4_0_BYTES;
        out[c] = f16_to_f32(load_u16(block)) * (float)q4_0_quant(block, c % BLOCK_32);
    }
}

static int q4_k_quant(const uint8_t *block, size_t i)
{
    uint8_t byte = block[Q4_K_QUANTS_AT + i / 64 * 32 + i % 32];
    return i % 64 < 32 ? byte & 15 : byte >> 4;
}

static void dequantize_q4_k(const uint8_t *row, size_t cols, float *out)
{
    for (size_t c = 0; c < cols; c++) {
        const uint8_t *block = row + c / SUPER_BLOCK * Q4_K_BYTES;
        size_t i = c % SUPER_BLOCK;
        uint8_t scales[16];
        q4_k_scales(block + Q4_K_SCALES_AT, scales);
        float scale = f16_to_f32(load_u16(block)) * (float)scales[i / 32];
        float minimum = f16_to_f32(load_u16(block + Q4_K_MIN_AT)) * (float)scales[8 + i / 32];
        out[c] = scale * (float)q4_k_quant(block, i) - minimum;
    }
}

static int q6_k_quant(const uint8_t *block, size_t i)
{
    size_t half = i / 128, within = i % 128;
    uint8_t low = block[half * 64 + within % 64];
    uint8_t high = block[Q6_K_HIGH_AT + half * 32 + within % 32];
    int low_bits = within < 64 ? low & 15 : low >> 4;
    int high_bits = high >> within / 32 * 2 & 3;
    return (low_bits | high_bits << 4) - 32;
}

static void dequantize_q6_k(const uint8_t *row, size_t cols, float *out)
{
    for (size_t c = 0; c < cols; c++) {
        const uint8_t *block = row + c / SUPER_BLOCK * Q6_K_BYTES;
        size_t i = c % SUPER_BLOCK;
        int8_t scale = (int8_t)block[Q6_K_SCALES_AT + i / 16];
        out[c] = f16_to_f32(load_u16(block + Q6_K_SCALE_AT)) * (float)scale *
                 (float)q6_k_quant(block, i);
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
    case TENSOR_Q8_0:
        dequantize_q8_0(bytes, cols, out);
        return;
    case TENSOR_Q4_0:
        dequantize_q4_0(bytes, cols, out);
        return;
    case TENSOR_Q4_K:
        dequantize_q4_k(bytes, cols, out);
        return;
    case TENSOR_Q6_K:
        dequantize_q6_k(bytes, cols, out);
        return;
    default:
        assert(false && "tensor type without a kernel");
    }
}

/* ---- activations ---------------------------------------------------------------------------- */

/* Quantises n values, returns the block's scale. See activation.h for the rule. */
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
            memcpy(out + ACT256_SUMS_AT + 4 * part, &scaled, sizeof scaled);
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

static double dot_32(enum tensor_type type, const uint8_t *row, size_t cols, const uint8_t *act)
{
    size_t block_bytes = type == TENSOR_Q4_0 ? Q4_0_BYTES : Q8_0_BYTES;
    double sum = 0;
    for (size_t c = 0; c < cols; c += BLOCK_32, row += block_bytes) {
        const uint8_t *group = act + c / ACT32_GROUP * ACT32_BYTES;
        size_t block = c % ACT32_GROUP / BLOCK_32;
        int dot = 0;
        for (size_t i = 0; i < BLOCK_32; i++) {
            int weight = type == TENSOR_Q4_0 ? q4_0_quant(row, i) : (int8_t)row[Q8_0_QUANTS_AT + i];
            size_t at = (i < 16 ? 0 : ACT32_HIGH_AT) + 16 * block + i % 16;
            dot += weight * (int8_t)group[at];
        }
        float scale = load_f32(group + ACT32_SCALE_AT + 16 * block);
        sum += (double)f16_to_f32(load_u16(row)) * (double)scale * dot;
    }
    return sum;
}

static double dot_q4_k(const uint8_t *row, size_t cols, const uint8_t *act)
{
    double sum = 0;
    for (size_t c = 0; c < cols; c += SUPER_BLOCK, row += Q4_K_BYTES, act += ACT256_BYTES) {
        uint8_t scales[16];
        q4_k_scales(row + Q4_K_SCALES_AT, scales);
        int dot = 0, minimum = 0;
        for (size_t i = 0; i < SUPER_BLOCK; i++) {
            dot += scales[i / 32] * q4_k_quant(row, i) * (int8_t)act[i];
            minimum += scales[8 + i / 32] * (int8_t)act[i];
        }
        double scale = (double)load_f32(act + ACT256_SCALE_AT);
        sum += scale * ((double)f16_to_f32(load_u16(row)) * dot -
                        (double)f16_to_f32(load_u16(row + Q4_K_MIN_AT)) * minimum);
    }
    return sum;
}

static double dot_q6_k(const uint8_t *row, size_t cols, const uint8_t *act)
{
    double sum = 0;
    for (size_t c = 0; c < cols; c += SUPER_BLOCK, row += Q6_K_BYTES, act += ACT256_BYTES) {
        int dot = 0;
        for (size_t i = 0; i < SUPER_BLOCK; i++)
            dot += (int8_t)row[Q6_K_SCALES_AT + i / 16] * q6_k_quant(row, i) * (int8_t)act[i];
        double scale = (double)load_f32(act + ACT256_SCALE_AT);
        sum += scale * (double)f16_to_f32(load_u16(row + Q6_K_SCALE_AT)) * dot;
    }
    return sum;
}

static double dot_row(enum tensor_type type, const uint8_t *row, size_t cols, const void *act)
{
    switch (type) {
    case TENSOR_F32:
    case TENSOR_F16:
    case TENSOR_BF16:
        return dot_float(type, row, cols, act);
    case TENSOR_Q8_0:
    case TENSOR_Q4_0:
        return dot_32(type, row, cols, act);
    case TENSOR_Q4_K:
        return dot_q4_k(row, cols, act);
    case TENSOR_Q6_K:
        return dot_q6_k(row, cols, act);
    default:
        assert(false && "tensor type without a kernel");
        return 0;
    }
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
