/* The reference of the element-wise operations and logit statistics, and the reference table. Plain
 * loops in double, never optimised. */
#include <math.h>

#include "kernels/formats.h"
#include "kernels/variants.h"

void rms_norm_ref(const float *x, const float *w, size_t n, float eps, float *y)
{
    double squares = 0;
    for (size_t i = 0; i < n; i++)
        squares += (double)x[i] * (double)x[i];
    double scale = 1.0 / sqrt(squares / (double)n + (double)eps);
    for (size_t i = 0; i < n; i++)
        y[i] = (float)((double)x[i] * scale * (double)w[i]);
}

void layer_norm_ref(const float *x, const float *w, const float *b, size_t n, float eps, float *y)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)x[i];
    double mean = sum / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += ((double)x[i] - mean) * ((double)x[i] - mean);
    double scale = 1.0 / sqrt(squares / (double)n + (double)eps);
    for (size_t i = 0; i < n; i++)
        y[i] = (float)(((double)x[i] - mean) * scale * (double)w[i] + (double)b[i]);
}

/* gelu(x) = x Phi(x), Phi(x) = erfc(-x / sqrt(2)) / 2 (Hendrycks & Gimpel 2016, section 2). */
void gelu_ref(float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = (float)(0.5 * (double)x[i] * erfc(-0.70710678118654752440 * (double)x[i]));
}

/* silu(x) = x / (1 + exp(-x)) (Elfwing et al. 2017, eq. 5) */
void silu_multiply_ref(float *gate, const float *up, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double x = (double)gate[i];
        gate[i] = (float)(x / (1.0 + exp(-x)) * (double)up[i]);
    }
}

/* gelu(x) = x / 2 (1 + tanh(u)), u = sqrt(2 / pi) (x + 0.044715 x^3) (Hendrycks & Gimpel 2016,
 * section 2), and (1 + tanh(u)) / 2 = 1 / (1 + exp(-2u)). */
void gelu_multiply_ref(float *gate, const float *up, size_t n)
{
    const double twice_root = 1.5957691216057307118; /* 2 sqrt(2 / pi) */
    for (size_t i = 0; i < n; i++) {
        double x = (double)gate[i];
        double twice_u = twice_root * x * (1.0 + 0.044715 * x * x);
        gate[i] = (float)(x / (1.0 + exp(-twice_u)) * (double)up[i]);
    }
}

void add_ref(float *x, const float *y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] += y[i];
}

void add_scaled_ref(float *x, const float *y, float factor, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = (float)((double)x[i] + (double)factor * (double)y[i]);
}

void scale_ref(float *x, float factor, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] *= factor;
}

static double capped(double x, double cap)
{
    return cap * tanh(x / cap);
}

void soft_cap_ref(float *x, float cap, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = (float)capped((double)x[i], (double)cap);
}

void rope_ref(float *head, const float *cos_sin, size_t n_rot, bool interleaved)
{
    for (size_t i = 0; i < n_rot / 2; i++) {
        float *a = interleaved ? head + 2 * i : head + i;
        float *b = interleaved ? a + 1 : a + n_rot / 2;
        double cosine = (double)cos_sin[2 * i], sine = (double)cos_sin[2 * i + 1];
        double from_a = (double)*a, from_b = (double)*b;
        *a = (float)(from_a * cosine - from_b * sine);
        *b = (float)(from_a * sine + from_b * cosine);
    }
}

/* A logit of minus infinity has probability zero and adds nothing; NaN makes both sums NaN. */
void logit_stats_ref(const float *logits, size_t n, struct logit_stats *out)
{
    *out = (struct logit_stats){.max = -INFINITY, .second = -INFINITY};
    for (size_t i = 0; i < n; i++) {
        if (logits[i] > out->max) {
            out->second = out->max;
            out->max = logits[i];
            out->argmax = (uint32_t)i;
        } else if (logits[i] > out->second) {
            out->second = logits[i];
        }
    }
    for (size_t i = 0; i < n; i++) {
        double x = (double)logits[i] - (double)out->max;
        double e = exp(x);
        out->sum_exp += e;
        out->sum_exp_x += e == 0 ? 0 : e * x;
    }
}

void block_maxima_ref(const float *logits, size_t n, float *maxima)
{
    for (size_t i = 0; i < n; i++)
        if (i % LOGIT_BLOCK == 0 || logits[i] > maxima[i / LOGIT_BLOCK])
            maxima[i / LOGIT_BLOCK] = logits[i];
}

void block_exp_sums_ref(const float *logits, size_t n, float max, float factor, float *sums)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += exp(((double)logits[i] - (double)max) * (double)factor);
        if ((i + 1) % LOGIT_BLOCK == 0 || i + 1 == n) {
            sums[i / LOGIT_BLOCK] = (float)sum;
            sum = 0;
        }
    }
}

void ssm_step_ref(const struct ssm_task *task)
{
    for (size_t r = 0; r < task->rows; r++) {
        float *state = task->state + r * task->size;
        double sum = 0, added = (double)task->dt * (double)task->x[r];
        for (size_t i = 0; i < task->size; i++) {
            state[i] = (float)((double)task->decay * (double)state[i] + added * (double)task->b[i]);
            sum += (double)state[i] * (double)task->c[i];
        }
        task->y[r] = (float)sum;
    }
}

const struct kernels kernels_ref = {
    .name = "ref",
    .form_of = activation_form_of,
    .activation_bytes = activation_form_bytes,
    .activation_prepare = activation_prepare_ref,
    .matmul = matmul_ref,
    .dequantize = dequantize_ref,
    .rms_norm = rms_norm_ref,
    .layer_norm = layer_norm_ref,
    .gelu = gelu_ref,
    .silu_multiply = silu_multiply_ref,
    .gelu_multiply = gelu_multiply_ref,
    .add = add_ref,
    .add_scaled = add_scaled_ref,
    .scale = scale_ref,
    .soft_cap = soft_cap_ref,
    .rope = rope_ref,
    .ssm_step = ssm_step_ref,
    .attend = attend_ref,
    .kv_store = kv_store_ref,
    .kv_load = kv_load_ref,
    .logit_stats = logit_stats_ref,
    .block_maxima = block_maxima_ref,
    .block_exp_sums = block_exp_sums_ref,
};
