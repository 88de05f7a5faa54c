/* Types in super-blocks of 256 weights whose sub-blocks have a scale and no minimum: w = d * scale
 * * v, v being q or a value of the table of IQ4_NL. The way is that of encode_lines.c: each
 * sub-block's own scale, the integers beside it, d fitted anew. */
#include "kernels/formats.h"
#include "quant/encode/encode.h"
#include "quant/encode/encode_blocks.h"
#include "quant/encode/search.h"

#include <math.h>
#include <string.h>

#define SUBS_MAX 16
#define ROUNDS 2

struct scales_format {
    unsigned subs, sub_size;
    struct search_range range;
    int scale_low, scale_high;
};

struct scales_sub {
    int scale;
    double vv, vx; /* the sums of its rounded weights (search.h) */
};

struct scales_stored {
    uint16_t d; /* f16 */
    struct scales_sub sub[SUBS_MAX];
    double error;
};

struct scales {
    struct search search[SUBS_MAX];
    float scale[SUBS_MAX];
};

static int clamp(int scale, const struct scales_format *format)
{
    return scale < format->scale_low    ? format->scale_low
           : scale > format->scale_high ? format->scale_high
                                        : scale;
}

static void load(struct scales *scales, const struct scales_format *format, const float *x,
                 const float *importance)
{
    float weights[SEARCH_MAX], square = 0;
    for (unsigned i = 0; i < SUPER_BLOCK; i++)
        square += x[i] * x[i];
    square *= 2.0f / SUPER_BLOCK;
    for (unsigned j = 0; j < format->subs; j++) {
        const float *part = x + j * format->sub_size;
        encode_weigh(part, importance ? importance + j * format->sub_size : NULL, format->sub_size,
                     square, weights);
        search_load(&scales->search[j], part, weights, format->sub_size);
        scales->scale[j] = search_scale(&scales->search[j], format->range);
    }
}

/* Chooses the scale of a sub-block for a given d: the nearest, or one of those beside. */
static double choose_sub(const struct search *search, const struct scales_format *format, float d,
                         int nearest, struct scales_sub *chosen)
{
    struct search_tries tries = {.count = SEARCH_LANES};
    int scales[SEARCH_LANES];
    double best = INFINITY;
    for (int i = 0; i < SEARCH_LANES; i++) {
        scales[i] = clamp(nearest + i - SEARCH_LANES / 2, format);
        float step = d * (float)scales[i];
        tries.inverse[i] = step != 0 ? 1.0f / step : 0;
    }
    search->sums(search, format->range, &tries);
    for (unsigned i = 0; i < SEARCH_LANES; i++) {
        double error = search_error(search, &tries, i, d * (float)scales[i], 0);
        if (error >= best)
            continue;
        best = error;
        *chosen = (struct scales_sub){scales[i], (double)tries.vv[i], (double)tries.vx[i]};
    }
    return best;
}

static void choose(const struct scales *scales, const struct scales_format *format,
                   struct scales_stored *stored)
{
    float d = f16_to_f32(stored->d);
    stored->error = 0;
    for (unsigned j = 0; j < format->subs; j++) {
        float wanted = d != 0 ? roundf(scales->scale[j] / d) : 0;
        int nearest = clamp(wanted > 1000 ? 1000 : wanted < -1000 ? -1000 : (int)wanted, format);
        stored->error += choose_sub(&scales->search[j], format, d, nearest, &stored->sub[j]);
    }
}

/* The d that fits the rounded weights best. */
static float refit(const struct scales_format *format, const struct scales_stored *stored)
{
    double vv = 0, vx = 0;
    for (unsigned j = 0; j < format->subs; j++) {
        double s = stored->sub[j].scale;
        vv += s * s * stored->sub[j].vv;
        vx += s * stored->sub[j].vx;
    }
    return vv > 0 ? (float)(vx / vv) : 0;
}

static void quantize(const struct scales *scales, const struct scales_format *format,
                     struct scales_stored *stored)
{
    float widest = 0;
    for (unsigned j = 0; j < format->subs; j++)
        widest = fabsf(scales->scale[j]) > fabsf(widest) ? scales->scale[j] : widest;
    stored->d = encode_half(widest / (float)format->scale_low);
    choose(scales, format, stored);
    for (int i = 0; i < ROUNDS; i++) {
        struct scales_stored next = {.d = encode_half(refit(format, stored))};
        if (next.d == stored->d)
            break;
        choose(scales, format, &next);
        if (next.error >= stored->error)
            break;
        *stored = next;
    }
}

static void encode(const float *x, const float *importance, const struct scales_format *format,
                   struct scales_stored *stored, int8_t *q)
{
    struct scales scales;
    memset(stored, 0, sizeof *stored);
    load(&scales, format, x, importance);
    quantize(&scales, format, stored);
    for (unsigned j = 0; j < format->subs; j++)
        search_round(&scales.search[j], format->range,
                     f16_to_f32(stored->d) * (float)stored->sub[j].scale, 0,
                     q + j * format->sub_size);
}

void encode_q6_k(const float *x, const float *importance, uint8_t *out)
{
    static const struct scales_format format = {16, 16, {-32, 31, 0}, -128, 127};
    struct scales_stored stored;
    int8_t q[SUPER_BLOCK];
    encode(x, importance, &format, &stored, q);
    memset(out, 0, Q6_K_BYTES);
    for (int i = 0; i < SUPER_BLOCK; i++) {
        int half = i / 128, in = i % 128, value = q[i] + 32;
        out[64 * half + in % 64] |= (uint8_t)((value & 15) << (in < 64 ? 0 : 4));
        out[Q6_K_HIGH_AT + 32 * half + in % 32] |= (uint8_t)(value >> 4 << in / 32 * 2);
    }
    for (int j = 0; j < 16; j++)
        out[Q6_K_SCALES_AT + j] = (uint8_t)stored.sub[j].scale;
    encode_store_u16(out + Q6_K_SCALE_AT, stored.d);
}

/* The twelve bytes that q3_k_scales() unpacks. */
static void pack_q3_k_scales(const struct scales_stored *stored, uint8_t *out)
{
    memset(out, 0, 12);
    for (int j = 0; j < 16; j++) {
        int scale = stored->sub[j].scale + 32;
        out[j % 8] |= (uint8_t)((scale & 15) << (j < 8 ? 0 : 4));
        out[8 + j % 4] |= (uint8_t)(scale >> 4 << j / 4 * 2);
    }
}

void encode_q3_k(const float *x, const float *importance, uint8_t *out)
{
    static const struct scales_format format = {16, 16, {-4, 3, 0}, -32, 31};
    struct scales_stored stored;
    int8_t q[SUPER_BLOCK];
    encode(x, importance, &format, &stored, q);
    memset(out, 0, Q3_K_BYTES);
    for (int i = 0; i < SUPER_BLOCK; i++) {
        int value = q[i] + 4;
        out[i % 32] |= (uint8_t)((value >> 2) << i / 32);
        out[Q3_K_QUANTS_AT + i / 128 * 32 + i % 32] |= (uint8_t)((value & 3) << i % 128 / 32 * 2);
    }
    pack_q3_k_scales(&stored, out + Q3_K_SCALES_AT);
    encode_store_u16(out + Q3_K_SCALE_AT, stored.d);
}

void encode_iq4_xs(const float *x, const float *importance, uint8_t *out)
{
    static const struct scales_format format = {8, 32, {0, 15, 1}, -32, 31};
    struct scales_stored stored;
    int8_t q[SUPER_BLOCK];
    encode(x, importance, &format, &stored, q);
    memset(out, 0, IQ4_XS_BYTES);
    encode_store_u16(out, stored.d);
    uint16_t high = 0;
    for (int j = 0; j < 8; j++) {
        int scale = stored.sub[j].scale + 32;
        high = (uint16_t)(high | scale >> 4 << 2 * j);
        out[IQ4_XS_LOW_AT + j / 2] |= (uint8_t)((scale & 15) << (j % 2 * 4));
        for (int i = 0; i < 16; i++)
            out[IQ4_XS_QUANTS_AT + 16 * j + i] = (uint8_t)(q[32 * j + i] | q[32 * j + 16 + i] << 4);
    }
    encode_store_u16(out + IQ4_XS_HIGH_AT, high);
}
