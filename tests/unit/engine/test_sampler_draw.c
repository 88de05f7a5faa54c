/* How often each token is drawn by the samplers beyond the usual filters, against the distributions
 * of their papers, which are computed here in the plainest way. */
#include "engine/sampling/sampler.h"

#include "variants.h"

#include <math.h>

#define VOCAB 700 /* eleven blocks, the last one short */
#define DRAWS 5000

static const struct kernels *kernels;
static float logits[VOCAB];
static struct sampler_candidate candidates[VOCAB];

static void fill_logits(uint64_t seed, double spread)
{
    struct rng rng;
    rng_init(&rng, seed);
    for (int i = 0; i < VOCAB; i++)
        logits[i] = (float)(rng_double(&rng) * spread);
}

static int32_t choose(struct sampler *sampler)
{
    struct sampler_choice choice = {.id = -1};
    struct td_error err = {0};
    CHECK(sampler_choose(sampler, kernels, logits, VOCAB, -1, candidates, &choice, &err) == TD_OK);
    CHECK(choice.id >= 0 && choice.id < VOCAB);
    return choice.id;
}

/* Draws and counts. The counts must be in proportion to the weights: Pearson's chi-squared over
 * tokens with at least 20 expected draws, and the others together. A token of weight 0 must never
 * come. */
static void check_draws(struct td_sampling sampling, const double *weights)
{
    static uint32_t counts[VOCAB];
    struct sampler sampler;
    struct td_error err = {0};
    double sum = 0, squared = 0, rest_expected = 0, rest_seen = 0, cells = 0;
    memset(counts, 0, sizeof counts);
    sampling.seed_set = true;
    REQUIRE(sampler_init(&sampler, &sampling, &err) == TD_OK);
    for (int i = 0; i < DRAWS; i++)
        counts[choose(&sampler)]++;
    sampler_deinit(&sampler);
    for (int i = 0; i < VOCAB; i++)
        sum += weights[i];
    for (int i = 0; i < VOCAB; i++) {
        double expected = weights[i] / sum * DRAWS, difference = counts[i] - expected;
        CHECK(weights[i] > 0 || counts[i] == 0);
        if (expected < 20) {
            rest_expected += expected;
            rest_seen += counts[i];
        } else {
            squared += difference * difference / expected;
            cells++;
        }
    }
    if (rest_expected >= 20) {
        squared += (rest_seen - rest_expected) * (rest_seen - rest_expected) / rest_expected;
        cells++;
    }
    /* Five standard deviations above the mean of the distribution with cells - 1 degrees of
     * freedom. */
    CHECK(squared <= cells - 1 + 5 * sqrt(2 * cells) + 1);
}

static void set_weights(double *weights, double temperature)
{
    for (int i = 0; i < VOCAB; i++)
        weights[i] = exp((double)logits[i] / temperature);
}

static double weights[VOCAB];

static void test_plain_draws_follow_the_distribution_at_any_temperature(void)
{
    static const float temperatures[] = {0.2f, 1, 3};
    fill_logits(1, 12);
    for (int t = 0; t < 3; t++) {
        struct td_sampling sampling = td_sampling_default();
        sampling.temperature = temperatures[t];
        set_weights(weights, (double)temperatures[t]);
        check_draws(sampling, weights);
    }
}

static void test_tokens_that_are_ruled_out_are_never_drawn(void)
{
    fill_logits(2, 3);
    for (int i = 0; i < VOCAB; i++)
        if (i % 20 != 7)
            logits[i] = -INFINITY;
    struct td_sampling sampling = td_sampling_default();
    set_weights(weights, 1);
    check_draws(sampling, weights);
    sampling.top_k = 30; /* fewer have a probability in a block than blocks have maxima */
    double least = 0;
    for (int kept = 0; kept < VOCAB / 20 - 30; kept++) { /* drop the least likely one by one */
        int worst = -1;
        for (int i = 7; i < VOCAB; i += 20)
            if (weights[i] > least && (worst < 0 || weights[i] < weights[worst]))
                worst = i;
        weights[worst] = 0;
    }
    check_draws(sampling, weights);
}

static int compare_descending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

static void test_top_k_is_exact_for_any_k(void)
{
    static const uint32_t ks[] = {1, 2, 10, 11, 12, 300, VOCAB - 1, VOCAB, VOCAB + 5};
    fill_logits(3, 8);
    for (size_t k = 0; k < sizeof ks / sizeof *ks; k++) {
        struct td_sampling sampling = td_sampling_default();
        sampling.top_k = ks[k];
        static double sorted[VOCAB];
        set_weights(weights, 1);
        memcpy(sorted, weights, sizeof sorted);
        qsort(sorted, VOCAB, sizeof *sorted, compare_descending);
        for (int i = 0; i < VOCAB && ks[k] < VOCAB; i++)
            weights[i] = weights[i] >= sorted[ks[k] - 1] ? weights[i] : 0;
        check_draws(sampling, weights);
    }
}

static void test_top_n_sigma_keeps_what_is_near_the_best_in_deviations(void)
{
    fill_logits(4, 10);
    double sum = 0, squares = 0, max = -INFINITY;
    for (int i = 0; i < VOCAB; i++) {
        sum += (double)logits[i];
        squares += (double)logits[i] * (double)logits[i];
        max = fmax(max, (double)logits[i]);
    }
    double sigma = sqrt(squares / VOCAB - sum / VOCAB * (sum / VOCAB));
    struct td_sampling sampling = td_sampling_default();
    sampling.top_n_sigma = 0.5f;
    set_weights(weights, 1);
    for (int i = 0; i < VOCAB; i++)
        weights[i] = (double)logits[i] >= max - 0.5 * sigma ? weights[i] : 0;
    check_draws(sampling, weights);
}

static void test_xtc_leaves_the_least_of_the_likely_ones(void)
{
    for (int i = 0; i < VOCAB; i++)
        logits[i] = -INFINITY;
    static const float likely[] = {0.4f, 0.3f, 0.2f, 0.06f, 0.04f};
    for (int i = 0; i < 5; i++)
        logits[i * 100] = logf(likely[i]);
    struct td_sampling sampling = td_sampling_default();
    sampling.xtc_probability = 1;
    sampling.xtc_threshold = 0.1f;
    set_weights(weights, 1);
    weights[0] = weights[100] = 0; /* 0.2 is the least that reaches 0.1 */
    check_draws(sampling, weights);
    sampling.xtc_threshold = 0.35f; /* one alone stays */
    set_weights(weights, 1);
    check_draws(sampling, weights);
    sampling.xtc_threshold = 0.1f; /* half of the time */
    sampling.xtc_probability = 0.5f;
    double kept = 0.2 + 0.06 + 0.04;
    weights[0] = 0.5 * 0.4;
    weights[100] = 0.5 * 0.3;
    weights[200] = 0.5 * 0.2 + 0.5 * 0.2 / kept;
    weights[300] = 0.5 * 0.06 + 0.5 * 0.06 / kept;
    weights[400] = 0.5 * 0.04 + 0.5 * 0.04 / kept;
    check_draws(sampling, weights);
}

static void test_the_temperature_moves_with_the_entropy(void)
{
    fill_logits(5, 6);
    double sum = 0, entropy = 0;
    set_weights(weights, 1);
    for (int i = 0; i < VOCAB; i++)
        sum += weights[i];
    for (int i = 0; i < VOCAB; i++)
        entropy -= weights[i] / sum * log(weights[i] / sum);
    struct td_sampling sampling = td_sampling_default();
    sampling.temperature = 0.8f;
    sampling.dynamic_range = 0.6f;
    sampling.dynamic_exponent = 2;
    double share = entropy / log(VOCAB);
    set_weights(weights, 0.2 + 1.2 * share * share);
    check_draws(sampling, weights);
}

/* Zipf's law, which the paper's equations assume; then the mean surprise among the kept settles at
 * tau. */
static void test_mirostat_1_keeps_the_surprise_near_its_target(void)
{
    static const float targets[] = {2, 3, 5};
    for (int i = 0; i < VOCAB; i++)
        logits[i] = -1.2f * logf((float)(i + 1));
    for (int t = 0; t < 3; t++) {
        struct td_sampling sampling = td_sampling_default();
        sampling.mirostat_tau = targets[t];
        sampling.mirostat_version = 1;
        sampling.seed_set = true;
        struct sampler sampler;
        struct td_error err = {0};
        REQUIRE(sampler_init(&sampler, &sampling, &err) == TD_OK);
        double corrected = 0;
        for (int i = 0; i < 4000; i++) {
            double bound = sampler.surprise_max;
            choose(&sampler);
            if (i >= 1000) /* it has settled */
                corrected += (double)targets[t] - (sampler.surprise_max - bound) / 0.1;
        }
        sampler_deinit(&sampler);
        CHECK(fabs(corrected / 3000 - (double)targets[t]) < 0.2);
    }
}

static void run_all(void)
{
    RUN(test_plain_draws_follow_the_distribution_at_any_temperature);
    RUN(test_tokens_that_are_ruled_out_are_never_drawn);
    RUN(test_top_k_is_exact_for_any_k);
    RUN(test_top_n_sigma_keeps_what_is_near_the_best_in_deviations);
    RUN(test_xtc_leaves_the_least_of_the_likely_ones);
    RUN(test_the_temperature_moves_with_the_entropy);
    RUN(test_mirostat_1_keeps_the_surprise_near_its_target);
}

int main(void)
{
    for (const struct variant *v = NULL; (v = variant_next(v, "draws")) != NULL;) {
        kernels = kernels_get(v->cpu, NULL);
        run_all();
    }
    return test_finish();
}
