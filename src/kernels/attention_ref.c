/* The reference of attention and of the pages that it reads: the definition that the other variants
 * are checked against. Plain loops in double, never optimised. */
#include <math.h>
#include <string.h>

#include "kernels/formats.h"
#include "kernels/kv_page.h"
#include "kernels/variants.h"

/* Scale and quants of one block: scale = max |x| / 127 as f16, q = round-half-even(x / scale) with
 * that rounded scale. A block with an infinity or NaN gets the scale NaN, so that every result that
 * uses it is NaN. */
static uint16_t quantise(const float *x, size_t count, int8_t *quants)
{
    float most = 0;
    for (size_t i = 0; i < count; i++)
        most = fabsf(x[i]) <= most ? most : fabsf(x[i]); /* NaN stays */
    uint16_t scale = f32_to_f16(isfinite(most) ? most / 127.0f : NAN);
    float step = f16_to_f32(scale);
    for (size_t i = 0; i < count; i++) {
        float q = step > 0 && isfinite(step) ? rintf(x[i] / step) : 0;
        quants[i] = (int8_t)(q > 127 ? 127 : q < -127 ? -127 : q);
    }
    return scale;
}

static void store_q8_0(const float *key, const float *value, size_t head_size, size_t at,
                       int8_t *keys, int8_t *values)
{
    size_t blocks = kv_scale_blocks(head_size), columns = kv_value_columns(head_size);
    uint16_t *key_scales = (void *)(keys + head_size * KV_PAGE_TOKENS);
    uint16_t *value_scales = (void *)(values + columns * KV_PAGE_TOKENS);
    memset(values + at * columns, 0, columns);
    for (size_t block = 0; block < blocks; block++) {
        size_t begin = block * KV_SCALE_BLOCK, rest = head_size - begin;
        size_t count = rest < KV_SCALE_BLOCK ? rest : KV_SCALE_BLOCK;
        int8_t quants[KV_SCALE_BLOCK];
        key_scales[block * KV_PAGE_TOKENS + at] = quantise(key + begin, count, quants);
        for (size_t i = 0; i < count; i++)
            keys[(begin + i) * KV_PAGE_TOKENS + at] = quants[i];
        value_scales[block * KV_PAGE_TOKENS + at] =
            quantise(value + begin, count, values + at * columns + begin);
    }
}

void kv_store_ref(const float *key, const float *value, size_t head_size, enum td_kv_type kv_type,
                  size_t at, void *keys, void *values)
{
    size_t columns = kv_value_columns(head_size);
    if (kv_type == TD_KV_Q8_0) {
        store_q8_0(key, value, head_size, at, keys, values);
        return;
    }
    for (size_t i = 0; i < columns; i++) {
        float v = i < head_size ? value[i] : 0;
        if (kv_type == TD_KV_F32)
            ((float *)values)[at * columns + i] = v;
        else
            ((uint16_t *)values)[at * columns + i] = f32_to_f16(v);
    }
    for (size_t i = 0; i < head_size; i++) {
        if (kv_type == TD_KV_F32)
            ((float *)keys)[i * KV_PAGE_TOKENS + at] = key[i];
        else
            ((uint16_t *)keys)[i * KV_PAGE_TOKENS + at] = f32_to_f16(key[i]);
    }
}

static float key_at(enum td_kv_type kv_type, const void *keys, size_t head_size, size_t i,
                    size_t at)
{
    size_t where = i * KV_PAGE_TOKENS + at;
    if (kv_type == TD_KV_F32)
        return ((const float *)keys)[where];
    if (kv_type == TD_KV_F16)
        return f16_to_f32(((const uint16_t *)keys)[where]);
    const int8_t *quants = keys;
    const uint16_t *scales = (const void *)(quants + head_size * KV_PAGE_TOKENS);
    return f16_to_f32(scales[i / KV_SCALE_BLOCK * KV_PAGE_TOKENS + at]) * (float)quants[where];
}

static float value_at(enum td_kv_type kv_type, const void *values, size_t head_size, size_t i,
                      size_t at)
{
    size_t columns = kv_value_columns(head_size), where = at * columns + i;
    if (kv_type == TD_KV_F32)
        return ((const float *)values)[where];
    if (kv_type == TD_KV_F16)
        return f16_to_f32(((const uint16_t *)values)[where]);
    const int8_t *quants = values;
    const uint16_t *scales = (const void *)(quants + columns * KV_PAGE_TOKENS);
    return f16_to_f32(scales[i / KV_SCALE_BLOCK * KV_PAGE_TOKENS + at]) * (float)quants[where];
}

void kv_load_ref(enum td_kv_type kv_type, const void *keys, const void *values, size_t head_size,
                 size_t count, float *keys_out, float *values_out)
{
    size_t columns = kv_value_columns(head_size);
    for (size_t at = 0; at < count; at++) {
        for (size_t i = 0; i < head_size; i++)
            keys_out[i * KV_PAGE_TOKENS + at] = key_at(kv_type, keys, head_size, i, at);
        for (size_t i = 0; i < columns; i++)
            values_out[at * columns + i] =
                i < head_size ? value_at(kv_type, values, head_size, i, at) : 0;
    }
}

static double score(const struct attend_task *task, const float *q, size_t at)
{
    double dot = 0;
    for (size_t i = 0; i < task->head_size; i++)
        dot += (double)q[i] * (double)key_at(task->kv_type, task->keys, task->head_size, i, at);
    dot *= (double)task->scale;
    return task->cap > 0 ? (double)task->cap * tanh(dot / (double)task->cap) : dot;
}

/* softmax(cap(q K^T * scale)) V, one row */
static void attend_row(const struct attend_task *task, const float *q, struct attend_state *state,
                       float *sums)
{
    double scores[KV_PAGE_TOKENS], maximum = (double)state->maximum;
    for (size_t at = task->begin; at < task->end; at++) {
        scores[at] = score(task, q, at);
        maximum = fmax(maximum, scores[at]);
    }
    double kept = exp((double)state->maximum - maximum), total = (double)state->total * kept;
    for (size_t at = task->begin; at < task->end; at++) {
        scores[at] = exp(scores[at] - maximum);
        total += scores[at];
    }
    for (size_t i = 0; i < kv_value_columns(task->head_size); i++) {
        double sum = (double)sums[i] * kept;
        for (size_t at = task->begin; at < task->end && i < task->head_size; at++)
            sum +=
                scores[at] * (double)value_at(task->kv_type, task->values, task->head_size, i, at);
        sums[i] = (float)sum;
    }
    *state = (struct attend_state){(float)maximum, (float)total};
}

void attend_ref(const struct attend_task *task)
{
    for (size_t row = 0; row < task->rows; row++)
        attend_row(task, task->q + row * task->head_size, &task->states[row],
                   task->sums + row * kv_value_columns(task->head_size));
}
