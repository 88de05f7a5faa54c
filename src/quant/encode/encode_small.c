/* Types in blocks of 32 weights. */
#include "kernels/formats.h"
#include "quant/encode/encode.h"
#include "quant/encode/encode_blocks.h"
#include "quant/encode/search.h"

#include <math.h>

static void load(struct search *search, const float *x, const float *importance)
{
    float weights[BLOCK_32], square = 0;
    for (int i = 0; i < BLOCK_32; i++)
        square += x[i] * x[i];
    encode_weigh(x, importance, BLOCK_32, square / BLOCK_32, weights);
    search_load(search, x, weights, BLOCK_32);
}

/* Nibbles of weight i and i + 16 in one byte; bit 4 of q goes to *high. */
static void pack_nibbles(const int8_t *q, int offset, uint8_t *out, uint32_t *high)
{
    *high = 0;
    for (int i = 0; i < 16; i++) {
        uint32_t a = (uint32_t)(q[i] + offset), b = (uint32_t)(q[i + 16] + offset);
        out[i] = (uint8_t)((a & 15u) | (b & 15u) << 4);
        *high |= (a >> 4 & 1u) << i | (b >> 4 & 1u) << (i + 16);
    }
}

static void store_u32(uint8_t *at, uint32_t value)
{
    encode_store_u16(at, (uint16_t)value);
    encode_store_u16(at + 2, (uint16_t)(value >> 16));
}

/* Finds the scale, rounds it to f16 and then rounds the weights with what is stored. */
static void round_scaled(const float *x, const float *importance, struct search_range range,
                         uint8_t *scale_at, int8_t *q)
{
    struct search search;
    load(&search, x, importance);
    uint16_t half = encode_half(search_scale(&search, range));
    encode_store_u16(scale_at, half);
    search_round(&search, range, f16_to_f32(half), 0, q);
}

static void round_line(const float *x, const float *importance, int high, uint8_t *out, int8_t *q)
{
    struct search search;
    float scale, minimum;
    load(&search, x, importance);
    search_line(&search, high, 1, &scale, &minimum);
    uint16_t half = encode_half(scale), half_minimum = encode_half(-minimum);
    encode_store_u16(out, half);
    encode_store_u16(out + MIN_32_AT, half_minimum);
    search_round(&search, (struct search_range){0, high, 0}, f16_to_f32(half),
                 -f16_to_f32(half_minimum), q);
}

void encode_q8_0(const float *x, const float *importance, uint8_t *out)
{
    float widest = 0;
    (void)importance; /* at 8 bits there is nothing to win by sparing some weights */
    for (int i = 0; i < BLOCK_32; i++)
        widest = fabsf(x[i]) > widest ? fabsf(x[i]) : widest;
    uint16_t half = encode_half(widest / 127.0f);
    float scale = f16_to_f32(half), inverse = scale > 0 ? 1.0f / scale : 0;
    encode_store_u16(out, half);
    for (int i = 0; i < BLOCK_32; i++) {
        /* Halves away from zero, as roundf(), which is a call here: exact in double. */
        double scaled = (double)(x[i] * inverse), away = scaled + copysign(0.5, scaled);
        out[Q8_0_QUANTS_AT + i] = (uint8_t)(int8_t)(away > 127 ? 127 : away < -127 ? -127 : away);
    }
}

void encode_q4_0(const float *x, const float *importance, uint8_t *out)
{
    int8_t q[BLOCK_32];
    uint32_t high;
    round_scaled(x, importance, (struct search_range){-8, 7, 0}, out, q);
    pack_nibbles(q, 8, out + Q4_0_QUANTS_AT, &high);
}

void encode_q5_0(const float *x, const float *importance, uint8_t *out)
{
    int8_t q[BLOCK_32];
    uint32_t high;
    round_scaled(x, importance, (struct search_range){-16, 15, 0}, out, q);
    pack_nibbles(q, 16, out + Q5_0_QUANTS_AT, &high);
    store_u32(out + Q5_0_HIGH_AT, high);
}

void encode_q4_1(const float *x, const float *importance, uint8_t *out)
{
    int8_t q[BLOCK_32];
    uint32_t high;
    round_line(x, importance, 15, out, q);
    pack_nibbles(q, 0, out + Q4_1_QUANTS_AT, &high);
}

void encode_q5_1(const float *x, const float *importance, uint8_t *out)
{
    int8_t q[BLOCK_32];
    uint32_t high;
    round_line(x, importance, 31, out, q);
    pack_nibbles(q, 0, out + Q5_1_QUANTS_AT, &high);
    store_u32(out + Q5_1_HIGH_AT, high);
}

void encode_iq4_nl(const float *x, const float *importance, uint8_t *out)
{
    int8_t q[BLOCK_32];
    uint32_t high;
    round_scaled(x, importance, (struct search_range){0, 15, 1}, out, q);
    pack_nibbles(q, 0, out + IQ4_NL_QUANTS_AT, &high);
}

/* The scale is a power of two, so there are only a few to try: those that bring the largest weight
 * to 3..12 of the table's doubled values. */
void encode_mxfp4(const float *x, const float *importance, uint8_t *out)
{
    float weights[BLOCK_32], widest = 0, square = 0;
    for (int i = 0; i < BLOCK_32; i++) {
        widest = fabsf(x[i]) > widest ? fabsf(x[i]) : widest;
        square += x[i] * x[i];
    }
    encode_weigh(x, importance, BLOCK_32, square / BLOCK_32, weights);
    int exponent = widest > 0 ? ilogbf(widest) : -127;
    double best = INFINITY;
    for (int e = exponent + 127 - 4; e <= exponent + 127 + 1; e++) {
        if (e < 0 || e > 254)
            continue;
        uint8_t packed[16] = {0};
        float scale = e8m0_half((uint8_t)e);
        double error = 0;
        for (int i = 0; i < BLOCK_32; i++) {
            int nearest = 0;
            float least = INFINITY;
            for (int v = 0; v < 16; v++) {
                float off = fabsf(x[i] - scale * (float)mxfp4_values[v]);
                if (off < least)
                    least = off, nearest = v;
            }
            error += (double)(weights[i] * least * least);
            packed[i % 16] |= (uint8_t)(nearest << (i < 16 ? 0 : 4));
        }
        if (error < best) {
            best = error;
            out[0] = (uint8_t)e;
            for (int i = 0; i < 16; i++)
                out[MXFP4_QUANTS_AT + i] = packed[i];
        }
    }
    if (best == INFINITY)
        for (int i = 0; i < MXFP4_BYTES; i++)
            out[i] = 0;
}
