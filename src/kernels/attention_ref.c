/* The reference of attention and of the pages that it reads: the definition that the other variants
 * are checked against. Plain loops in double, never optimised. */
#include <math.h>
#include <string.h>

#include "kernels/formats.h"
#include "kernels/kv_page.h"
#include "kernels/variants.h"

/* Scale and quants of one block of the parts' types. Q8_0: scale = max |x| / 127. Q4_0: scale = m /
 * -8, m being the x that is largest without its sign, so that m is -8 and 7 the other side's most;
 * source: the GGUF block definitions. The scale is f16, q = round-half-even(x / scale) with that
 * rounded scale. A block with an infinity or NaN gets the scale NaN, so that every result that uses
 * it is NaN. */
static uint16_t quantise(enum td_kv_type part, const float *x, size_t count, int8_t *quants)
{
    const float low = part == TD_KV_Q8_0 ? -127 : -8, high = part == TD_KV_Q8_0 ? 127 : 7;
    float most = 0;
    for (size_t i = 0; i < count; i++)
        most = fabsf(x[i]) <= fabsf(most) ? most : x[i]; /* NaN stays */
    most = part == TD_KV_Q8_0 ? fabsf(most) : -most;
    uint16_t scale = f32_to_f16(isfinite(most) ? most / (part == TD_KV_Q8_0 ? 127.0f : 8.0f) : NAN);
    float step = f16_to_f32(scale);
    for (size_t i = 0; i < count; i++) {
        float q = fabsf(step) > 0 && isfinite(step) ? rintf(x[i] / step) : 0;
        quants[i] = (int8_t)(q > high ? high : q < low ? low : q);
    }
    return scale;
}

/* One part of a page. Element i of position `at` stands at i * element_stride + at * at_stride. */
struct part {
    enum td_kv_type type;
    uint8_t *data;
    size_t columns; /* with those that fill up */
    size_t element_stride, at_stride;
    uint16_t *scales; /* [blocks, KV_PAGE_TOKENS] */
};

static struct part keys_of(enum td_kv_type kv_type, const void *keys, size_t head_size)
{
    enum td_kv_type type = kv_type_of_keys(kv_type);
    uint8_t *data = (uint8_t *)(uintptr_t)keys;
    size_t bytes = kv_elements_bytes(type, head_size) * KV_PAGE_TOKENS;
    return (struct part){type, data, head_size, KV_PAGE_TOKENS, 1, (void *)(data + bytes)};
}

static struct part values_of(enum td_kv_type kv_type, const void *values, size_t head_size)
{
    enum td_kv_type type = kv_type_of_values(kv_type);
    uint8_t *data = (uint8_t *)(uintptr_t)values;
    size_t columns = kv_value_columns(head_size), bytes = kv_elements_bytes(type, columns);
    return (struct part){type,
                         data,
                         columns,
                         1,
                         type == TD_KV_Q4_0 ? columns / 2 : columns,
                         (void *)(data + bytes * KV_PAGE_TOKENS)};
}

/* Of Q4_0: the byte of an element, counted as elements are, and the shift of its nibble. */
static size_t nibble_of(size_t columns, size_t i, unsigned *shift)
{
    size_t block = i / KV_SCALE_BLOCK, in_block = i % KV_SCALE_BLOCK;
    size_t rest = columns - block * KV_SCALE_BLOCK;
    size_t half = ((rest < KV_SCALE_BLOCK ? rest : KV_SCALE_BLOCK) + 1) / 2;
    *shift = in_block < half ? 0 : 4;
    return block * (KV_SCALE_BLOCK / 2) + (in_block < half ? in_block : in_block - half);
}

static void put_nibble(const struct part *part, size_t i, size_t at, int8_t quant)
{
    unsigned shift;
    size_t byte = nibble_of(part->columns, i, &shift) * part->element_stride;
    uint8_t *to = part->data + byte + at * part->at_stride;
    *to = (uint8_t)((*to & 0xf0 >> shift) | (unsigned)(quant + 8) << shift);
}

/* Blocks with a scale; columns beyond head_size are zero. */
static void store_blocks(const struct part *part, const float *x, size_t head_size, size_t at)
{
    for (size_t block = 0, begin = 0; begin < head_size; block++, begin += KV_SCALE_BLOCK) {
        size_t rest = head_size - begin, end = begin + KV_SCALE_BLOCK;
        int8_t quants[KV_SCALE_BLOCK] = {0};
        part->scales[block * KV_PAGE_TOKENS + at] =
            quantise(part->type, x + begin, rest < KV_SCALE_BLOCK ? rest : KV_SCALE_BLOCK, quants);
        for (size_t i = begin; i < end && i < part->columns; i++)
            if (part->type == TD_KV_Q8_0)
                part->data[i * part->element_stride + at * part->at_stride] =
                    (uint8_t)quants[i - begin];
            else
                put_nibble(part, i, at, quants[i - begin]);
    }
}

static void store_part(const struct part *part, const float *x, size_t head_size, size_t at)
{
    if (part->type != TD_KV_F32 && part->type != TD_KV_F16) {
        store_blocks(part, x, head_size, at);
        return;
    }
    for (size_t i = 0; i < part->columns; i++) {
        size_t where = i * part->element_stride + at * part->at_stride;
        float v = i < head_size ? x[i] : 0;
        if (part->type == TD_KV_F32)
            ((float *)(void *)part->data)[where] = v;
        else
            ((uint16_t *)(void *)part->data)[where] = f32_to_f16(v);
    }
}

void kv_store_ref(const float *key, const float *value, size_t head_size, enum td_kv_type kv_type,
                  size_t at, void *keys, void *values)
{
    const struct part of_keys = keys_of(kv_type, keys, head_size);
    const struct part of_values = values_of(kv_type, values, head_size);
    store_part(&of_keys, key, head_size, at);
    store_part(&of_values, value, head_size, at);
}

static float element_at(const struct part *part, size_t i, size_t at)
{
    size_t where = i * part->element_stride + at * part->at_stride;
    if (part->type == TD_KV_F32)
        return ((const float *)(const void *)part->data)[where];
    if (part->type == TD_KV_F16)
        return f16_to_f32(((const uint16_t *)(const void *)part->data)[where]);
    float scale = f16_to_f32(part->scales[i / KV_SCALE_BLOCK * KV_PAGE_TOKENS + at]);
    if (part->type == TD_KV_Q8_0)
        return scale * (float)(int8_t)part->data[where];
    unsigned shift;
    size_t element = nibble_of(part->columns, i, &shift);
    unsigned byte = part->data[element * part->element_stride + at * part->at_stride];
    return scale * (float)((int)(byte >> shift & 15) - 8);
}

void kv_load_ref(enum td_kv_type kv_type, const void *keys, const void *values, size_t head_size,
                 size_t count, float *keys_out, float *values_out)
{
    const struct part of_keys = keys_of(kv_type, keys, head_size);
    const struct part of_values = values_of(kv_type, values, head_size);
    size_t columns = of_values.columns;
    for (size_t at = 0; at < count; at++) {
        for (size_t i = 0; i < head_size; i++)
            keys_out[i * KV_PAGE_TOKENS + at] = element_at(&of_keys, i, at);
        for (size_t i = 0; i < columns; i++)
            values_out[at * columns + i] = i < head_size ? element_at(&of_values, i, at) : 0;
    }
}

static double score(const struct attend_task *task, const float *q, size_t at)
{
    const struct part keys = keys_of(task->kv_type, task->keys, task->head_size);
    double dot = 0;
    for (size_t i = 0; i < task->head_size; i++)
        dot += (double)q[i] * (double)element_at(&keys, i, at);
    dot *= (double)task->scale;
    return task->cap > 0 ? (double)task->cap * tanh(dot / (double)task->cap) : dot;
}

/* softmax(cap(q K^T * scale)) V, one row */
static void attend_row(const struct attend_task *task, const float *q, struct attend_state *state,
                       float *sums)
{
    const struct part values = values_of(task->kv_type, task->values, task->head_size);
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
            sum += scores[at] * (double)element_at(&values, i, at);
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
