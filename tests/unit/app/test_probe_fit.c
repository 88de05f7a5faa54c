/* Probes learn what can be learned, say so on lines that they have not seen, and nothing else. */
#include "app/evidence/probe_fit.h"

#include "base/crypto/rng.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 600
#define WIDTH 12

static float states[COUNT * WIDTH];
static bool right[COUNT];

/* Entries of very different sizes, as residual streams have them; the last never changes. */
static void fill_states(uint64_t seed)
{
    struct rng rng;
    rng_init(&rng, seed);
    for (size_t i = 0; i < COUNT; i++)
        for (size_t c = 0; c < WIDTH; c++)
            states[i * WIDTH + c] =
                c == WIDTH - 1 ? 7
                               : (float)((rng_double(&rng) * 2 - 1) * pow(10, (double)c / 3) +
                                         100 * (double)c);
}

static double side(size_t line, size_t entry)
{
    return ((double)states[line * WIDTH + entry] - 100 * (double)entry) /
           pow(10, (double)entry / 3);
}

static void label_by_one_entry(void)
{
    for (size_t i = 0; i < COUNT; i++)
        right[i] = side(i, 4) > 0.2;
}

/* Right where two entries have the same sign: no line divides that. */
static void label_by_two_entries(void)
{
    for (size_t i = 0; i < COUNT; i++)
        right[i] = side(i, 2) * side(i, 7) > 0;
}

static struct probe_fit fit_of(size_t count, uint32_t hidden)
{
    const struct probe_data data = {states, right, count, WIDTH};
    const struct probe_fit_options options = {hidden, 1};
    struct probe_fit fit;
    struct td_error err = {0};
    CHECK(probe_fit(&data, &options, &fit, &err) == TD_OK);
    return fit;
}

/* The fit on states as they are. */
static double log_odds(const struct probe_fit *fit, uint32_t hidden, const float *state)
{
    double sum = hidden ? (double)*fit->biases[1] : 0;
    for (uint32_t r = 0; r < (hidden ? hidden : 1); r++) {
        double y = (double)fit->biases[0][r];
        for (size_t c = 0; c < WIDTH; c++)
            y += (double)fit->weights[0][r * WIDTH + c] * (double)state[c];
        if (!hidden)
            return y;
        sum += y > 0 ? y * (double)fit->weights[1][r] : 0;
    }
    return sum;
}

static void check_learned(uint32_t hidden)
{
    struct probe_fit fit = fit_of(COUNT, hidden);
    static double scores[COUNT];
    size_t agreed = 0;
    for (size_t i = 0; i < COUNT; i++) {
        scores[i] = log_odds(&fit, hidden, states + i * WIDTH);
        agreed += (scores[i] > 0) == right[i];
    }
    CHECK(fit.auroc > 0.9);
    CHECK(probe_auroc(scores, right, COUNT) > 0.95);
    CHECK(agreed > COUNT * 85 / 100); /* probabilities, and not only an order */
    probe_fit_free(&fit);
}

static void test_what_one_entry_tells_is_learned_with_and_without_a_hidden_layer(void)
{
    fill_states(1);
    label_by_one_entry();
    check_learned(0);
    check_learned(16);
}

static void test_what_no_line_divides_needs_a_hidden_layer(void)
{
    fill_states(2);
    label_by_two_entries();
    check_learned(32);
    struct probe_fit fit = fit_of(COUNT, 0);
    CHECK(fit.auroc < 0.65);
    probe_fit_free(&fit);
}

static void test_chance_is_not_taken_for_knowledge(void)
{
    struct rng rng;
    fill_states(3);
    rng_init(&rng, 4);
    for (size_t i = 0; i < COUNT; i++)
        right[i] = rng_below(&rng, 2) == 1;
    struct probe_fit fit = fit_of(COUNT, 16);
    CHECK(fit.auroc > 0.4 && fit.auroc < 0.6);
    probe_fit_free(&fit);
}

static void test_the_same_seed_gives_the_same_numbers(void)
{
    fill_states(5);
    label_by_one_entry();
    struct probe_fit a = fit_of(200, 8), b = fit_of(200, 8);
    CHECK(memcmp(a.weights[0], b.weights[0], 8 * WIDTH * sizeof(float)) == 0);
    CHECK(*a.biases[1] == *b.biases[1] && a.auroc == b.auroc);
    probe_fit_free(&a);
    probe_fit_free(&b);
}

static void check_refused(size_t count, enum td_status status, const char *words)
{
    const struct probe_data data = {states, right, count, WIDTH};
    const struct probe_fit_options options = {8, 1};
    struct probe_fit fit;
    struct td_error err = {0};
    CHECK(probe_fit(&data, &options, &fit, &err) == status);
    CHECK(strstr(err.message, words) != NULL);
}

static void test_too_few_or_one_sided_lines_are_refused_with_what_is_needed(void)
{
    fill_states(6);
    label_by_one_entry();
    check_refused(PROBE_LINES_MIN - 1, TD_INVALID, "49 lines are too few for a probe: at least 50");
    check_refused(0, TD_INVALID, "at least 50");
    for (size_t i = 0; i < COUNT; i++)
        right[i] = i >= PROBE_OUTCOME_MIN - 1;
    check_refused(COUNT, TD_INVALID, "586 right and 14 wrong answers: a probe needs at least 15");
    for (size_t i = 0; i < COUNT; i++)
        right[i] = i % 2;
    states[3 * WIDTH + 1] = NAN;
    check_refused(COUNT, TD_CORRUPT, "line 4");
}

static void test_auroc_counts_ties_half(void)
{
    static const double scores[] = {0.1, 0.4, 0.4, 0.8, 0.9};
    static const bool truth[] = {false, false, true, true, true};
    CHECK(fabs(probe_auroc(scores, truth, 5) - 5.5 / 6) < 1e-12);
    CHECK(isnan(probe_auroc(scores, truth, 2)) && isnan(probe_auroc(scores, truth, 0)));
}

int main(void)
{
    RUN(test_what_one_entry_tells_is_learned_with_and_without_a_hidden_layer);
    RUN(test_what_no_line_divides_needs_a_hidden_layer);
    RUN(test_chance_is_not_taken_for_knowledge);
    RUN(test_the_same_seed_gives_the_same_numbers);
    RUN(test_too_few_or_one_sided_lines_are_refused_with_what_is_needed);
    RUN(test_auroc_counts_ties_half);
    return test_finish();
}
