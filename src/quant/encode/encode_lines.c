/* Types in super-blocks of 256 weights whose sub-blocks have a scale and a minimum: w = d * scale *
 * q - dmin * minimum. Scale and minimum are small integers that share d and dmin.
 *
 * Each sub-block's own best line comes first (search.c). Rounding it to the integers moves it, so
 * then each sub-block tries the integers beside, and d and dmin are fitted anew to what came of it
 * (weighted least squares in two unknowns). The second part is what llama.cpp's quantiser does not
 * do, and a third of the error of Q4_K goes by it. */
#include "kernels/formats.h"
#include "quant/encode/encode.h"
#include "quant/encode/encode_blocks.h"
#include "quant/encode/search.h"

#include <math.h>
#include <string.h>

#define SUBS_MAX 16
#define ROUNDS 2

struct lines_format {
    unsigned subs, sub_size;
    int high;      /* of q */
    int scale_max; /* of scale and minimum */
};

struct lines {
    struct search search[SUBS_MAX];
    float scale[SUBS_MAX], minimum[SUBS_MAX]; /* of each sub-block alone */
};

/* What is stored. */
struct lines_sub {
    int scale, minimum;
    double v, vv, vx; /* the sums of its rounded weights (search.h) */
};

struct lines_stored {
    uint16_t d, d_min; /* f16 */
    struct lines_sub sub[SUBS_MAX];
    double error;
};

static int clamp(int value, int high)
{
    return value < 0 ? 0 : value > high ? high : value;
}

static int clamp_round(float value, int high)
{
    return value >= (float)high ? high : clamp((int)(value + 0.5f), high);
}

static void load(struct lines *lines, struct lines_format format, const float *x,
                 const float *importance)
{
    float weights[SEARCH_MAX], square = 0;
    for (unsigned i = 0; i < SUPER_BLOCK; i++)
        square += x[i] * x[i];
    square *= 2.0f / SUPER_BLOCK;
    for (unsigned j = 0; j < format.subs; j++) {
        const float *part = x + j * format.sub_size;
        encode_weigh(part, importance ? importance + j * format.sub_size : NULL, format.sub_size,
                     square, weights);
        search_load(&lines->search[j], part, weights, format.sub_size);
        search_line(&lines->search[j], format.high, 0, &lines->scale[j], &lines->minimum[j]);
    }
}

/* The integers beside (scale, minimum) that are tried: without those that move the line's ends
 * apart most. */
static const int beside[SEARCH_LANES][2] = {{0, 0}, {-1, 0},  {1, 0}, {0, -1},
                                            {0, 1}, {-1, -1}, {1, 1}, {-1, 1}};

/* Chooses scale and minimum of a sub-block for given d and dmin: the nearest, or one beside. */
static double choose_sub(const struct search *search, struct lines_format format, float d,
                         float d_min, int scale, int minimum, struct lines_sub *chosen)
{
    const struct search_range range = {0, format.high, 0};
    struct search_tries tries = {.count = SEARCH_LANES};
    int scales[SEARCH_LANES], minimums[SEARCH_LANES];
    double best = INFINITY;
    for (int i = 0; i < SEARCH_LANES; i++) {
        scales[i] = clamp(scale + beside[i][0], format.scale_max);
        minimums[i] = clamp(minimum + beside[i][1], format.scale_max);
        float step = d * (float)scales[i];
        tries.offset[i] = d_min * (float)minimums[i];
        tries.inverse[i] = step > 0 ? 1.0f / step : 0;
    }
    search->sums(search, range, &tries);
    for (unsigned i = 0; i < SEARCH_LANES; i++) {
        double error = search_error(search, &tries, i, d * (float)scales[i], tries.offset[i]);
        if (error >= best)
            continue;
        best = error;
        *chosen = (struct lines_sub){scales[i], minimums[i], (double)tries.v[i],
                                     (double)tries.vv[i], (double)tries.vx[i]};
    }
    return best;
}

static void choose(const struct lines *lines, struct lines_format format,
                   struct lines_stored *stored)
{
    float d = f16_to_f32(stored->d), d_min = f16_to_f32(stored->d_min);
    stored->error = 0;
    for (unsigned j = 0; j < format.subs; j++) {
        int scale = d > 0 ? clamp_round(lines->scale[j] / d, format.scale_max) : 0;
        int minimum = d_min > 0 ? clamp_round(lines->minimum[j] / d_min, format.scale_max) : 0;
        stored->error +=
            choose_sub(&lines->search[j], format, d, d_min, scale, minimum, &stored->sub[j]);
    }
}

/* d and dmin that fit the rounded weights best. Minimises the sum of w (x - d s q + dmin m)^2. */
static void refit(const struct lines *lines, struct lines_format format,
                  const struct lines_stored *stored, float *d, float *d_min)
{
    double aa = 0, ab = 0, bb = 0, ax = 0, bx = 0;
    for (unsigned j = 0; j < format.subs; j++) {
        const struct lines_sub *sub = &stored->sub[j];
        double s = sub->scale, m = sub->minimum;
        aa += s * s * sub->vv;
        ab += s * m * sub->v;
        bb += m * m * lines->search[j].sum_w;
        ax += s * sub->vx;
        bx += m * lines->search[j].sum_wx;
    }
    double determinant = aa * bb - ab * ab;
    if (determinant > 1e-9 * aa * bb) {
        *d = (float)((ax * bb - bx * ab) / determinant);
        *d_min = (float)((ax * ab - bx * aa) / determinant);
    } else if (aa > 0) {
        *d = (float)(ax / aa);
    }
}

static void quantize(const struct lines *lines, struct lines_format format,
                     struct lines_stored *stored)
{
    float most_scale = 0, most_minimum = 0;
    for (unsigned j = 0; j < format.subs; j++) {
        most_scale = lines->scale[j] > most_scale ? lines->scale[j] : most_scale;
        most_minimum = lines->minimum[j] > most_minimum ? lines->minimum[j] : most_minimum;
    }
    stored->d = encode_half(most_scale / (float)format.scale_max);
    stored->d_min = encode_half(most_minimum / (float)format.scale_max);
    choose(lines, format, stored);
    for (int i = 0; i < ROUNDS; i++) {
        float d = f16_to_f32(stored->d), d_min = f16_to_f32(stored->d_min);
        refit(lines, format, stored, &d, &d_min);
        struct lines_stored next = {.d = encode_half(d > 0 ? d : 0),
                                    .d_min = encode_half(d_min > 0 ? d_min : 0)};
        if (next.d == stored->d && next.d_min == stored->d_min)
            break;
        choose(lines, format, &next);
        if (next.error >= stored->error)
            break;
        *stored = next;
    }
}

/* The gain of a super-block that was rounded with d and dmin. Scales with the least error are too
 * small, as what is stored is a projection of x: the sum of i x stored(x), i being the importance,
 * is less than that of i x^2. So all products of a matrix come out too small, by 4 % at 2 bits, and
 * more so with each layer. With the gain they are right in the mean, for a few per cent of error
 * (EDEN, 2108.08842, section 3). From 4 bits on there is nothing to win. */
static float gain(const struct lines *lines, const struct lines_stored *stored,
                  const float *importance, const int8_t *q)
{
    float d = f16_to_f32(stored->d), d_min = f16_to_f32(stored->d_min), whole = 0, kept = 0;
    for (unsigned i = 0; i < SUPER_BLOCK; i++) {
        const struct lines_sub *sub = &stored->sub[i / 16];
        float x = lines->search[i / 16].x[i % 16], weighed = importance ? x * importance[i] : x;
        whole += weighed * x;
        kept += weighed * (d * (float)(sub->scale * q[i]) - d_min * (float)sub->minimum);
    }
    return kept > whole / 2 ? whole / kept : 1;
}

/* Encodes a super-block up to the layout: q [256] and what is stored. */
static void encode(const float *x, const float *importance, struct lines_format format,
                   struct lines_stored *stored, int8_t *q)
{
    struct lines lines;
    memset(stored, 0, sizeof *stored);
    load(&lines, format, x, importance);
    quantize(&lines, format, stored);
    float d = f16_to_f32(stored->d), d_min = f16_to_f32(stored->d_min);
    for (unsigned j = 0; j < format.subs; j++)
        search_round(&lines.search[j], (struct search_range){0, format.high, 0},
                     d * (float)stored->sub[j].scale, d_min * (float)stored->sub[j].minimum,
                     q + j * format.sub_size);
    if (format.high > 3)
        return;
    float more = gain(&lines, stored, importance, q);
    stored->d = encode_half(d * more);
    stored->d_min = encode_half(d_min * more);
}

/* The twelve bytes that q4_k_scales() unpacks. */
static void pack_scales(const struct lines_stored *stored, uint8_t *out)
{
    for (int j = 0; j < 4; j++) {
        int s = stored->sub[j].scale, m = stored->sub[j].minimum;
        int s_up = stored->sub[j + 4].scale, m_up = stored->sub[j + 4].minimum;
        out[j] = (uint8_t)(s | s_up >> 4 << 6);
        out[j + 4] = (uint8_t)(m | m_up >> 4 << 6);
        out[j + 8] = (uint8_t)((s_up & 15) | (m_up & 15) << 4);
    }
}

static void pack_nibbles(const int8_t *q, uint8_t *out)
{
    for (int j = 0; j < 4; j++)
        for (int i = 0; i < 32; i++)
            out[32 * j + i] = (uint8_t)((q[64 * j + i] & 15) | (q[64 * j + 32 + i] & 15) << 4);
}

void encode_q4_k(const float *x, const float *importance, uint8_t *out)
{
    struct lines_stored stored;
    int8_t q[SUPER_BLOCK];
    encode(x, importance, (struct lines_format){8, 32, 15, 63}, &stored, q);
    encode_store_u16(out, stored.d);
    encode_store_u16(out + Q4_K_MIN_AT, stored.d_min);
    pack_scales(&stored, out + Q4_K_SCALES_AT);
    pack_nibbles(q, out + Q4_K_QUANTS_AT);
}

void encode_q5_k(const float *x, const float *importance, uint8_t *out)
{
    struct lines_stored stored;
    int8_t q[SUPER_BLOCK];
    encode(x, importance, (struct lines_format){8, 32, 31, 63}, &stored, q);
    encode_store_u16(out, stored.d);
    encode_store_u16(out + Q4_K_MIN_AT, stored.d_min);
    pack_scales(&stored, out + Q4_K_SCALES_AT);
    pack_nibbles(q, out + Q5_K_QUANTS_AT);
    memset(out + Q5_K_HIGH_AT, 0, 32);
    for (int i = 0; i < SUPER_BLOCK; i++)
        out[Q5_K_HIGH_AT + i % 32] |= (uint8_t)((q[i] >> 4 & 1) << i / 32);
}

void encode_q2_k(const float *x, const float *importance, uint8_t *out)
{
    struct lines_stored stored;
    int8_t q[SUPER_BLOCK];
    encode(x, importance, (struct lines_format){16, 16, 3, 15}, &stored, q);
    for (int j = 0; j < 16; j++)
        out[j] = (uint8_t)(stored.sub[j].scale | stored.sub[j].minimum << 4);
    memset(out + Q2_K_QUANTS_AT, 0, 64);
    for (int i = 0; i < SUPER_BLOCK; i++)
        out[Q2_K_QUANTS_AT + i / 128 * 32 + i % 32] |= (uint8_t)(q[i] << i % 128 / 32 * 2);
    encode_store_u16(out + Q2_K_SCALE_AT, stored.d);
    encode_store_u16(out + Q2_K_MIN_AT, stored.d_min);
}
