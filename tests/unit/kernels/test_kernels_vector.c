/* The checker of element-wise operations and logit statistics: every variant that this
 * CPU has against the reference, which computes in double.
 *
 * Bounds, u = 2^-24. The exponential of the variants is within 2e-7 of the true one, relative, for
 * normal results (vector_body.h). A sum of n floats in lanes is within (n / lanes + 8) u of the sum
 * of magnitudes. Each check says what it composes from these. */
#include <math.h>

#include "kernels/formats.h"
#include "kernels_fixture.h"

#define ULP 0x1p-24

static float *random_row(size_t n, float size)
{
    float *x = malloc((n ? n : 1) * sizeof *x);
    if (x == NULL)
        abort();
    for (size_t i = 0; i < n; i++)
        x[i] = random_float() * size;
    return x;
}

static float *copy_row(const float *x, size_t n)
{
    float *copy = random_row(n, 0);
    memcpy(copy, x, n * sizeof *x);
    return copy;
}

static const size_t lengths[] = {1,  2,  7,  8,   9,   15,  16,  17,  31,
                                 32, 33, 64, 100, 511, 512, 513, 2048};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

static bool near(double got, double expected, double bound)
{
    return fabs(got - expected) <= bound;
}

/* Roundings of a sum of floats in parts of 512: those that meet in a lane, and the lanes. */
static double sum_roundings(const struct kernels *kernels, size_t n)
{
    size_t part = n < 512 ? n : 512;
    return (double)(part / variant_lanes(kernels) + 8);
}

/* The mean of the squares is off by the sum's roundings; half of that after the root, and three
 * roundings of the scale and the two products, one of the reference. */
static void check_rms_norm(const struct kernels *kernels)
{
    static const float sizes[] = {1.0f, 1e-18f, 1e15f, 0.0f};
    for (size_t l = 0; l < LENGTHS; l++)
        for (size_t s = 0; s < 4; s++) {
            size_t n = lengths[l], wrong = 0;
            float *x = random_row(n, sizes[s]), *w = random_row(n, 2), *y = random_row(n, 0);
            float *expected = random_row(n, 0);
            double roundings = sum_roundings(kernels, n) / 2 + 4;
            reference()->rms_norm(x, w, n, 1e-5f, expected);
            kernels->rms_norm(x, w, n, 1e-5f, y);
            for (size_t i = 0; i < n; i++)
                wrong += !near((double)y[i], (double)expected[i],
                               roundings * ULP * fabs((double)expected[i]) + 1e-44);
            kernels->rms_norm(x, w, n, 1e-5f, x); /* in place */
            CHECK(wrong == 0 && memcmp(x, y, n * sizeof *x) == 0);
            free(x);
            free(w);
            free(y);
            free(expected);
        }
}

static void test_rms_norm_agrees_and_works_in_place(void)
{
    with_variants(check_rms_norm);
}

/* The mean is off by the sum's roundings of the mean distance to the first element and two of its
 * own, the scale by half the sum's and two of each difference, and four more roundings follow. */
static double layer_norm_bound(double roundings, const float *x, size_t n, float eps, double w,
                               double b, size_t at)
{
    double sum = 0, squares = 0, distance = 0;
    for (size_t i = 0; i < n; i++) {
        sum += (double)x[i];
        distance += fabs((double)x[i] - (double)x[0]) / (double)n;
    }
    double mean = sum / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += ((double)x[i] - mean) * ((double)x[i] - mean);
    double scale = 1 / sqrt(squares / (double)n + (double)eps);
    double off =
        roundings * distance + 2 * fabs(mean) + (roundings / 2 + 6) * fabs((double)x[at] - mean);
    return ULP * (off * scale * fabs(w) + 2 * fabs(b)) + 1e-44;
}

static void check_layer_norm(const struct kernels *kernels)
{
    static const float sizes[] = {1.0f, 1e-15f, 1e15f, 0.0f}, shifts[] = {0, 0, 0, 100.0f};
    for (size_t l = 0; l < LENGTHS; l++)
        for (size_t s = 0; s < 4; s++) {
            size_t n = lengths[l], wrong = 0;
            float *x = random_row(n, sizes[s]), *w = random_row(n, 2), *b = random_row(n, 3);
            float *y = random_row(n, 0), *expected = random_row(n, 0);
            for (size_t i = 0; i < n; i++)
                x[i] += shifts[s];
            reference()->layer_norm(x, w, b, n, 1e-5f, expected);
            kernels->layer_norm(x, w, b, n, 1e-5f, y);
            for (size_t i = 0; i < n; i++)
                wrong += !near((double)y[i], (double)expected[i],
                               layer_norm_bound(sum_roundings(kernels, n), x, n, 1e-5f,
                                                (double)w[i], (double)b[i], i));
            kernels->layer_norm(x, w, b, n, 1e-5f, x); /* in place */
            CHECK(wrong == 0 && memcmp(x, y, n * sizeof *x) == 0);
            free(x);
            free(w);
            free(b);
            free(y);
            free(expected);
        }
}

static void test_layer_norm_agrees_and_works_in_place(void)
{
    with_variants(check_layer_norm);
}

/* The approximation is within 1.5e-7 of erfc, of which half counts, the exponential within 2e-7 of
 * at most a half, and six roundings. */
static void check_exact_gelu(const struct kernels *kernels)
{
    for (size_t l = 0; l < LENGTHS; l++) {
        size_t n = lengths[l], wrong = 0;
        float *x = random_row(n, l % 2 ? 4.0f : 30.0f);
        x[0] = l % 3 == 0 ? 0.0f : l % 3 == 1 ? -1e30f : 1e30f;
        float *got = copy_row(x, n), *before = copy_row(x, n);
        reference()->gelu(x, n);
        kernels->gelu(got, n);
        for (size_t i = 0; i < n; i++)
            wrong += !near((double)got[i], (double)x[i],
                           (0.75e-7 + 1e-7 + 6 * ULP) * fmin(fabs((double)before[i]), 1e30));
        CHECK(wrong == 0);
        free(x);
        free(got);
        free(before);
    }
}

static void test_exact_gelu_agrees_over_the_whole_range(void)
{
    with_variants(check_exact_gelu);
}

/* A state has two roundings of its size; y is a sum of `size` products. */
static void check_ssm_rows(const struct kernels *kernels, size_t rows, size_t size)
{
    size_t wrong = 0, count = rows * size;
    float *state = random_row(count, 3), *x = random_row(rows, 5), *b = random_row(size, 2);
    float *c = random_row(size, 2), *got = copy_row(state, count), *before = copy_row(state, count);
    float *y = copy_row(x, rows);
    struct ssm_task task = {.state = state,
                            .rows = rows,
                            .size = size,
                            .x = x,
                            .b = b,
                            .c = c,
                            .decay = 0.7f,
                            .dt = 0.3f,
                            .y = random_row(rows, 1)};
    reference()->ssm_step(&task);
    float *exact = task.y;
    task.state = got;
    task.x = task.y = y; /* in place */
    kernels->ssm_step(&task);
    for (size_t r = 0; r < rows; r++) {
        double sum = 0;
        for (size_t i = 0; i < size; i++) {
            size_t at = r * size + i;
            double parts = fabs(0.7 * (double)before[at]) + fabs(0.3 * (double)x[r] * (double)b[i]);
            wrong += !near((double)got[at], (double)state[at], 4 * ULP * parts);
            sum += parts * fabs((double)c[i]);
        }
        wrong += !near((double)y[r], (double)exact[r], (double)(size + 4) * ULP * sum);
    }
    CHECK(wrong == 0);
    float *const rest[] = {state, x, b, c, got, before, y, exact};
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
        free(rest[i]);
}

static void check_ssm(const struct kernels *kernels)
{
    static const size_t rows[] = {1, 3, 4, 7, 64};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (size_t size = 1; size <= 70; size++)
            check_ssm_rows(kernels, rows[r], size);
    check_ssm_rows(kernels, 64, 128);
}

static void test_a_step_of_a_recurrent_state_agrees(void)
{
    with_variants(check_ssm);
}

/* exp 2e-7, then an addition, a division and a product. */
static void check_silu(const struct kernels *kernels)
{
    for (size_t l = 0; l < LENGTHS; l++) {
        size_t n = lengths[l], wrong = 0;
        float *x = random_row(n, l % 2 ? 8.0f : 200.0f), *up = random_row(n, 5);
        x[0] = l % 3 == 0 ? 0.0f : l % 3 == 1 ? -1e30f : 1e30f;
        float *got = copy_row(x, n);
        reference()->silu_multiply(x, up, n);
        kernels->silu_multiply(got, up, n);
        for (size_t i = 0; i < n; i++)
            wrong += !near((double)got[i], (double)x[i],
                           (2e-7 + 4 * ULP) * fabs((double)x[i]) + 1e-35 + (x[i] == 0 ? 1e-6 : 0));
        CHECK(wrong == 0);
        free(x);
        free(up);
        free(got);
    }
}

static void test_silu_agrees_over_the_whole_range(void)
{
    with_variants(check_silu);
}

/* As silu, and the argument of the exponential is off by 5 roundings of its size. */
static void check_gelu(const struct kernels *kernels)
{
    for (size_t l = 0; l < LENGTHS; l++) {
        size_t n = lengths[l], wrong = 0;
        float *x = random_row(n, l % 2 ? 4.0f : 30.0f), *up = random_row(n, 5);
        x[0] = l % 3 == 0 ? 0.0f : l % 3 == 1 ? -1e30f : 1e30f;
        float *got = copy_row(x, n), *before = copy_row(x, n);
        reference()->gelu_multiply(x, up, n);
        kernels->gelu_multiply(got, up, n);
        for (size_t i = 0; i < n; i++) {
            double at = (double)before[i];
            double argument = at > 0 ? 0 : fmin(104, -1.6 * at * (1 + 0.044715 * at * at));
            double relative = 2e-7 + (5 + 5 * argument) * ULP;
            wrong += !near((double)got[i], (double)x[i],
                           relative * fabs((double)x[i]) + 1e-35 + (x[i] == 0 ? 1e-6 : 0));
        }
        CHECK(wrong == 0);
        free(x);
        free(up);
        free(got);
        free(before);
    }
}

static void test_gelu_agrees_over_the_whole_range(void)
{
    with_variants(check_gelu);
}

/* The tanh is within 8e-7 (vector_body.h); the division and the product add a rounding each. */
static void check_soft_cap(const struct kernels *kernels)
{
    static const float sizes[] = {1e-3f, 1, 12, 40, 500, 1e30f};
    for (size_t l = 0; l < LENGTHS; l++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            size_t n = lengths[l], wrong = 0;
            float cap = l % 2 ? 30.0f : 0.7f;
            float *x = random_row(n, sizes[s]), *got = copy_row(x, n);
            reference()->soft_cap(x, cap, n);
            kernels->soft_cap(got, cap, n);
            for (size_t i = 0; i < n; i++)
                wrong += !near((double)got[i], (double)x[i],
                               (8e-7 + 3 * ULP) * fabs((double)x[i]) + 1e-44);
            CHECK(wrong == 0);
            free(x);
            free(got);
        }
    float bad[3] = {NAN, INFINITY, -INFINITY};
    kernels->soft_cap(bad, 5, 3);
    CHECK(isnan(bad[0]) && bad[1] == 5 && bad[2] == -5);
}

static void test_soft_cap_agrees_and_keeps_what_is_not_a_number(void)
{
    check_soft_cap(reference());
    with_variants(check_soft_cap);
}

static void check_scaling(const struct kernels *kernels)
{
    for (size_t l = 0; l < LENGTHS; l++) {
        size_t n = lengths[l], wrong = 0;
        float *x = random_row(n, 3), *y = random_row(n, 5), *got = copy_row(x, n);
        reference()->add_scaled(x, y, 0.7f, n);
        kernels->add_scaled(got, y, 0.7f, n);
        for (size_t i = 0; i < n; i++)
            wrong += !near((double)got[i], (double)x[i], 2 * ULP * 8);
        reference()->scale(y, 1.3f, n);
        memcpy(got, y, n * sizeof *got);
        reference()->scale(y, -0.3f, n);
        kernels->scale(got, -0.3f, n);
        CHECK(wrong == 0 && memcmp(got, y, n * sizeof *y) == 0);
        free(x);
        free(y);
        free(got);
    }
}

static void test_scaled_addition_agrees_and_scaling_is_exact(void)
{
    with_variants(check_scaling);
}

static void check_add(const struct kernels *kernels)
{
    for (size_t l = 0; l < LENGTHS; l++) {
        size_t n = lengths[l];
        float *x = random_row(n, 3), *y = random_row(n, 5), *got = copy_row(x, n);
        reference()->add(x, y, n);
        kernels->add(got, y, n);
        CHECK(memcmp(got, x, n * sizeof *x) == 0);
        free(x);
        free(y);
        free(got);
    }
}

static void test_add_is_exact(void)
{
    with_variants(check_add);
}

/* Two products and a sum: three roundings of at most |a| + |b|, cos and sin being at most 1. */
static void check_rope(const struct kernels *kernels)
{
    static const size_t sizes[] = {2, 4, 6, 8, 14, 16, 18, 32, 34, 64, 80, 128, 256};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int interleaved = 0; interleaved < 2; interleaved++) {
            size_t n = sizes[s], wrong = 0;
            float *head = random_row(n, 10), *angles = random_row(n, 3);
            for (size_t i = 0; i < n / 2; i++) {
                float angle = angles[i];
                angles[2 * i] = cosf(angle);
                angles[2 * i + 1] = sinf(angle);
            }
            float *got = copy_row(head, n);
            reference()->rope(head, angles, n, interleaved);
            kernels->rope(got, angles, n, interleaved);
            for (size_t i = 0; i < n; i++)
                wrong += !near((double)got[i], (double)head[i], 3 * ULP * 20);
            CHECK(wrong == 0);
            free(head);
            free(angles);
            free(got);
        }
}

static void test_rope_agrees_in_both_pairings(void)
{
    with_variants(check_rope);
}

/* float sums of a block of 64 vectors, each term within 2e-7 plus the rounding of x - max (|x| u);
 * (64 + 8 + 2) u for the additions, doubles between blocks. */
static void check_stats_case(const struct kernels *kernels, const float *logits, size_t n)
{
    struct logit_stats expected, got;
    reference()->logit_stats(logits, n, &expected);
    kernels->logit_stats(logits, n, &got);
    CHECK(got.argmax == expected.argmax && got.max == expected.max);
    CHECK(got.second == expected.second);
    double relative = 2e-7 + 80 * ULP;
    CHECK(near(got.sum_exp, expected.sum_exp, relative * expected.sum_exp));
    CHECK(near(got.sum_exp_x, expected.sum_exp_x,
               2 * relative * fabs(expected.sum_exp_x) + 1e-6 * expected.sum_exp));
}

static void check_stats(const struct kernels *kernels)
{
    static const size_t counts[] = {1,   2,   3,   7,    8,    15,   16,   17,
                                    511, 512, 513, 1024, 1025, 5000, 32000};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        size_t n = counts[c];
        float *logits = random_row(n, c % 2 ? 5.0f : 60.0f);
        check_stats_case(kernels, logits, n);
        logits[n - 1] = 100; /* the last, then the first as well: the lowest index wins */
        check_stats_case(kernels, logits, n);
        logits[0] = 100;
        check_stats_case(kernels, logits, n);
        if (n > 2) {
            logits[0] = logits[n / 2] = -INFINITY;
            check_stats_case(kernels, logits, n);
        }
        for (size_t i = 0; i < n; i++)
            logits[i] = (float)i * 0.5f; /* the maximum grows in every block */
        check_stats_case(kernels, logits, n);
        for (size_t i = 0; i < n; i++)
            logits[i] = -7.0f;
        check_stats_case(kernels, logits, n);
        for (size_t i = 0; i + 1 < n; i++)
            logits[i] = -INFINITY; /* a grammar leaves one token, behind whole blocks of others */
        check_stats_case(kernels, logits, n);
        free(logits);
    }
}

static void test_logit_statistics_agree_with_ties_growth_and_masked_logits(void)
{
    with_variants(check_stats);
}

/* Each term within 2e-7 for the exponential and |x| 2 u for the argument's roundings, |x| <= 88 as
 * what is below exp(-87) counts as nothing; then the additions into a lane and over the lanes, and
 * the reference's rounding. */
static void check_blocks_case(const struct kernels *kernels, const float *logits, size_t n,
                              float factor)
{
    size_t count = (n + LOGIT_BLOCK - 1) / LOGIT_BLOCK;
    float expected[600], got[600], max = -INFINITY;
    double relative = 2e-7 + (double)(2 * 88 + LOGIT_BLOCK / variant_lanes(kernels) + 6) * ULP;
    CHECK(count <= 600);
    reference()->block_maxima(logits, n, expected);
    kernels->block_maxima(logits, n, got);
    for (size_t b = 0; b < count; b++) {
        CHECK(got[b] == expected[b]);
        max = expected[b] > max ? expected[b] : max;
    }
    reference()->block_exp_sums(logits, n, max, factor, expected);
    kernels->block_exp_sums(logits, n, max, factor, got);
    for (size_t b = 0; b < count; b++)
        CHECK(near(got[b], expected[b], relative * expected[b] + 64 * 2e-38));
}

static void check_blocks(const struct kernels *kernels)
{
    static const size_t counts[] = {1, 2, 15, 16, 17, 63, 64, 65, 127, 128, 1000, 32000};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        size_t n = counts[c];
        float *logits = random_row(n, c % 2 ? 5.0f : 60.0f);
        check_blocks_case(kernels, logits, n, 1);
        check_blocks_case(kernels, logits, n, 1.25f);
        check_blocks_case(kernels, logits, n, 0.01f);
        for (size_t i = 0; i + 1 < n; i++)
            logits[i] = -INFINITY;
        check_blocks_case(kernels, logits, n, 10);
        free(logits);
    }
}

static void test_blocks_of_logits_agree_with_masked_logits(void)
{
    with_variants(check_blocks);
}

static void check_bad_logits(const struct kernels *kernels)
{
    struct logit_stats stats;
    float logits[100];
    for (size_t at = 0; at < 100; at += 33) {
        for (size_t i = 0; i < 100; i++)
            logits[i] = random_float();
        logits[at] = NAN;
        kernels->logit_stats(logits, 100, &stats);
        CHECK(isnan(stats.sum_exp));
        logits[at] = INFINITY;
        kernels->logit_stats(logits, 100, &stats);
        CHECK(!isfinite(stats.max));
    }
}

static void test_logits_that_are_not_numbers_show_in_the_statistics(void)
{
    check_bad_logits(reference());
    with_variants(check_bad_logits);
}

int main(void)
{
    RUN(test_rms_norm_agrees_and_works_in_place);
    RUN(test_a_step_of_a_recurrent_state_agrees);
    RUN(test_silu_agrees_over_the_whole_range);
    RUN(test_layer_norm_agrees_and_works_in_place);
    RUN(test_exact_gelu_agrees_over_the_whole_range);
    RUN(test_gelu_agrees_over_the_whole_range);
    RUN(test_soft_cap_agrees_and_keeps_what_is_not_a_number);
    RUN(test_scaled_addition_agrees_and_scaling_is_exact);
    RUN(test_add_is_exact);
    RUN(test_rope_agrees_in_both_pairings);
    RUN(test_logit_statistics_agree_with_ties_growth_and_masked_logits);
    RUN(test_blocks_of_logits_agree_with_masked_logits);
    RUN(test_logits_that_are_not_numbers_show_in_the_statistics);
    return test_finish();
}
