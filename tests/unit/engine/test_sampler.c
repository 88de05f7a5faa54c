/* Choosing tokens: filters, penalty, seed, statistics, and logits that are not numbers. */
#include "engine/sampling/sampler.h"

#include "variants.h"

#include <math.h>

#define VOCAB 1000

static const struct kernels *kernels;
static float logits[VOCAB];
static struct sampler_candidate candidates[VOCAB];

static void fill_logits(uint64_t seed)
{
    struct rng rng;
    rng_init(&rng, seed);
    for (int i = 0; i < VOCAB; i++)
        logits[i] = (float)(rng_double(&rng) * 8 - 4);
}

static struct sampler make_sampler(struct td_sampling sampling)
{
    struct sampler sampler;
    struct td_error err = {0};
    sampling.seed_set = true;
    CHECK(sampler_init(&sampler, &sampling, &err) == TD_OK);
    return sampler;
}

static struct sampler_choice choose(struct sampler *sampler)
{
    struct sampler_choice choice = {.id = -1};
    struct td_error err = {0};
    CHECK(sampler_choose(sampler, kernels, logits, VOCAB, 7, candidates, &choice, &err) == TD_OK);
    CHECK(choice.id >= 0 && choice.id < VOCAB);
    return choice;
}

static double probability(int id, double temperature)
{
    double sum = 0;
    for (int i = 0; i < VOCAB; i++)
        sum += exp((double)logits[i] / temperature);
    return exp((double)logits[id] / temperature) / sum;
}

/* Number of tokens with a larger logit. */
static int rank_of(int id)
{
    int rank = 0;
    for (int i = 0; i < VOCAB; i++)
        rank += logits[i] > logits[id];
    return rank;
}

static void test_temperature_zero_takes_the_largest(void)
{
    fill_logits(1);
    logits[123] = 9;
    struct td_sampling sampling = td_sampling_default();
    sampling.temperature = 0;
    struct sampler sampler = make_sampler(sampling);
    CHECK(choose(&sampler).id == 123);
    logits[45] = 9; /* a tie goes to the lower id */
    CHECK(choose(&sampler).id == 45);
    sampler_deinit(&sampler);
}

static void test_statistics_are_those_of_the_plain_distribution(void)
{
    fill_logits(2);
    struct td_sampling sampling = td_sampling_default();
    sampling.temperature = 0.3f;
    sampling.top_k = 5;
    sampling.repetition_penalty = 1.5f;
    struct sampler sampler = make_sampler(sampling);
    for (int i = 0; i < VOCAB; i++)
        sampler_accept(&sampler, i);
    struct sampler_choice choice = choose(&sampler);
    double entropy = 0, first = 0, second = 0;
    for (int i = 0; i < VOCAB; i++) {
        double p = probability(i, 1);
        entropy -= p * log(p);
        if (p > first)
            second = first, first = p;
        else if (p > second)
            second = p;
    }
    CHECK(fabs((double)choice.stats.logprob - log(probability(choice.id, 1))) < 1e-4);
    CHECK(fabs((double)choice.stats.margin - (first - second)) < 1e-5);
    CHECK(fabs((double)choice.stats.entropy - entropy) < 1e-3);
    CHECK(fabs((double)choice.stats.not_mine - probability(7, 1)) < 1e-6);
    sampler_deinit(&sampler);
}

static void test_top_k_keeps_the_k_largest(void)
{
    fill_logits(3);
    struct td_sampling sampling = td_sampling_default();
    sampling.temperature = 5;
    sampling.top_k = 4;
    struct sampler sampler = make_sampler(sampling);
    bool seen[4] = {false};
    for (int i = 0; i < 400; i++) {
        int rank = rank_of(choose(&sampler).id);
        CHECK(rank < 4);
        seen[rank < 4 ? rank : 0] = true;
    }
    CHECK(seen[0] && seen[1] && seen[2] && seen[3]);
    sampler_deinit(&sampler);
}

static void test_top_p_keeps_the_smallest_sufficient_set(void)
{
    fill_logits(4);
    struct td_sampling sampling = td_sampling_default();
    sampling.top_p = 0.3f;
    sampling.temperature = 50; /* nearly uniform over what is kept */
    struct sampler sampler = make_sampler(sampling);
    double mass[VOCAB]; /* mass before the token of each rank */
    double by_rank[VOCAB];
    for (int i = 0; i < VOCAB; i++)
        by_rank[rank_of(i)] = probability(i, 1);
    mass[0] = 0;
    int kept = 1;
    for (int r = 1; r < VOCAB; r++) {
        mass[r] = mass[r - 1] + by_rank[r - 1];
        kept += mass[r] < 0.3;
    }
    bool seen[VOCAB] = {false};
    for (int i = 0; i < 20000; i++)
        seen[rank_of(choose(&sampler).id)] = true;
    for (int r = 0; r < VOCAB; r++)
        CHECK(r < kept ? seen[r] : !seen[r]);
    sampler_deinit(&sampler);
}

static void test_min_p_keeps_what_is_near_the_best(void)
{
    fill_logits(5);
    struct td_sampling sampling = td_sampling_default();
    sampling.min_p = 0.5f;
    sampling.temperature = 10;
    struct sampler sampler = make_sampler(sampling);
    double best = 0;
    for (int i = 0; i < VOCAB; i++)
        best = fmax(best, probability(i, 1));
    for (int i = 0; i < 1000; i++)
        CHECK(probability(choose(&sampler).id, 1) >= 0.4999 * best);
    sampler_deinit(&sampler);
}

static void test_filters_that_keep_one_leave_the_best(void)
{
    fill_logits(6);
    for (int way = 0; way < 3; way++) {
        struct td_sampling sampling = td_sampling_default();
        sampling.temperature = 3;
        if (way == 0)
            sampling.top_p = 0;
        else if (way == 1)
            sampling.top_k = 1;
        else
            sampling.min_p = 1;
        struct sampler sampler = make_sampler(sampling);
        for (int i = 0; i < 20; i++)
            CHECK(rank_of(choose(&sampler).id) == 0);
        sampler_deinit(&sampler);
    }
}

static void test_draws_follow_the_distribution(void)
{
    for (int i = 0; i < VOCAB; i++)
        logits[i] = -INFINITY;
    logits[10] = 0;
    logits[20] = logf(3);
    for (int filtered = 0; filtered < 2; filtered++) {
        struct td_sampling sampling = td_sampling_default();
        sampling.top_k = filtered ? 10 : 0;
        struct sampler sampler = make_sampler(sampling);
        int count = 0;
        for (int i = 0; i < 10000; i++) {
            int id = choose(&sampler).id;
            CHECK(id == 10 || id == 20);
            count += id == 20;
        }
        CHECK(count > 7300 && count < 7700);
        sampler_deinit(&sampler);
    }
}

static void test_same_seed_gives_the_same_tokens(void)
{
    fill_logits(8);
    struct td_sampling sampling = td_sampling_default();
    sampling.seed = 42;
    struct sampler a = make_sampler(sampling), b = make_sampler(sampling);
    sampling.seed = 43;
    struct sampler c = make_sampler(sampling);
    int differences = 0;
    for (int i = 0; i < 50; i++) {
        int id = choose(&a).id;
        CHECK(id == choose(&b).id);
        differences += id != choose(&c).id;
    }
    CHECK(differences > 25);
    sampler_deinit(&a);
    sampler_deinit(&b);
    sampler_deinit(&c);
}

static void test_repetition_penalty_covers_the_last_64_tokens(void)
{
    fill_logits(9);
    logits[5] = 6;
    logits[6] = 5.5f;
    logits[900] = -1;
    struct td_sampling sampling = td_sampling_default();
    sampling.temperature = 0;
    sampling.repetition_penalty = 2;
    struct sampler sampler = make_sampler(sampling);
    sampler_accept(&sampler, 5);
    sampler_accept(&sampler, 5); /* twice counts once: 6 / 2 is still above 5.5 / 2 */
    sampler_accept(&sampler, 900);
    CHECK(choose(&sampler).id == 6);
    CHECK(logits[5] == 6 && logits[900] == -1); /* put back */
    for (uint32_t i = 0; i < SAMPLER_RECENT_TOKENS; i++)
        sampler_accept(&sampler, 900);
    CHECK(choose(&sampler).id == 5);
    sampler_deinit(&sampler);
}

/* The tokens whose surprise is nearest to the entropy, until they hold the mass. */
static void test_typical_p_keeps_what_is_near_the_entropy(void)
{
    for (int i = 0; i < VOCAB; i++)
        logits[i] = -20;
    /* One likely token and sixteen unlikely ones of equal size: these are the typical ones. */
    logits[0] = logf(0.3f);
    for (int i = 1; i <= 16; i++)
        logits[i] = logf(0.7f / 16);
    struct td_sampling sampling = td_sampling_default();
    sampling.typical_p = 0.6f;
    struct sampler sampler = make_sampler(sampling);
    for (int i = 0; i < 500; i++) {
        int id = choose(&sampler).id;
        CHECK(id >= 1 && id <= 16);
    }
    sampling.typical_p = 0.6f;
    sampling.top_k = 1;
    sampler_deinit(&sampler);
    sampler = make_sampler(sampling);
    CHECK(choose(&sampler).id == 1);
    sampler_deinit(&sampler);
}

static void test_penalties_count_the_answer_and_not_the_prompt(void)
{
    fill_logits(12);
    logits[5] = 10;
    logits[6] = 9;
    logits[7] = 7.6f;
    struct td_sampling sampling = td_sampling_default();
    sampling.temperature = 0;
    sampling.presence_penalty = 1.5f;
    struct sampler sampler = make_sampler(sampling);
    sampler_accept(&sampler, 5); /* the prompt's */
    CHECK(choose(&sampler).id == 5);
    sampler_accept_answer(&sampler, 5);
    sampler_accept_answer(&sampler, 5); /* once is as good as twice */
    CHECK(choose(&sampler).id == 6);
    sampler_accept_answer(&sampler, 6);
    CHECK(choose(&sampler).id == 5);
    CHECK(logits[5] == 10 && logits[6] == 9); /* put back */
    sampler_deinit(&sampler);
    sampling.presence_penalty = 0;
    sampling.frequency_penalty = 0.75f;
    sampler = make_sampler(sampling);
    sampler_accept_answer(&sampler, 5);
    CHECK(choose(&sampler).id == 5);
    sampler_accept_answer(&sampler, 5);
    CHECK(choose(&sampler).id == 6);
    for (int i = 0; i < 500; i++) /* many tokens: the list grows */
        sampler_accept_answer(&sampler, 100 + i % 400);
    sampler_accept_answer(&sampler, 6);
    sampler_accept_answer(&sampler, 6);
    sampler_accept_answer(&sampler, 5);
    sampler_accept_answer(&sampler, 5);
    CHECK(choose(&sampler).id == 7);
    sampler_deinit(&sampler);
}

/* A token's bias counts always, its penalties only when it was written. */
static void test_biases_and_penalties_add_up_for_each_token(void)
{
    static const struct {
        float bias, presence, frequency;
        int written;
        float change; /* of the logit */
    } cases[] = {
        {0, 0, 0, 3, 0},     {2, 0, 0, 0, 2},    {2, 0, 0, 3, 2},    {0, 1, 0, 0, 0},
        {0, 1, 0, 1, -1},    {0, 1, 0, 3, -1},   {0, 0, 1, 0, 0},    {0, 0, 1, 3, -3},
        {2, 1, 0, 0, 2},     {2, 1, 0, 1, 1},    {2, 0, 0.5f, 0, 2}, {2, 0, 0.5f, 2, 1},
        {2, 1, 0.5f, 0, 2},  {2, 1, 0.5f, 2, 0}, {-2, 1, 1, 0, -2},  {-2, -1, -1, 1, 0},
        {1, -1, 0.5f, 2, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int side = -1; side <= 1; side += 2) { /* a rival a little below, a little above */
            fill_logits(12);
            logits[5] = 20;
            logits[6] = 20 + cases[i].change + 0.1f * (float)side;
            struct td_logit_bias bias = {5, cases[i].bias};
            struct td_sampling sampling = td_sampling_default();
            sampling.temperature = 0;
            sampling.presence_penalty = cases[i].presence;
            sampling.frequency_penalty = cases[i].frequency;
            sampling.biases = &bias;
            sampling.bias_count = cases[i].bias != 0;
            struct sampler sampler = make_sampler(sampling);
            for (int k = 0; k < cases[i].written; k++)
                sampler_accept_answer(&sampler, 5);
            int32_t chosen = choose(&sampler).id;
            if (chosen != (side < 0 ? 5 : 6))
                printf("row %zu, %d: token %d\n", i, side, chosen);
            CHECK(chosen == (side < 0 ? 5 : 6));
            CHECK(logits[5] == 20); /* put back */
            sampler_deinit(&sampler);
        }
}

static void test_biases_ban_and_force_tokens(void)
{
    fill_logits(13);
    struct td_logit_bias biases[] = {{40, 100}, {41, -100}};
    struct td_sampling sampling = td_sampling_default();
    sampling.biases = biases;
    sampling.bias_count = 2;
    struct sampler sampler = make_sampler(sampling);
    float before = logits[40];
    for (int i = 0; i < 50; i++)
        CHECK(choose(&sampler).id == 40);
    CHECK(logits[40] == before);
    sampler_deinit(&sampler);
    biases[0].bias = NAN;
    struct td_error err = {0};
    CHECK(sampler_init(&sampler, &sampling, &err) == TD_INVALID);
    sampler_deinit(&sampler);
}

/* The mean surprise of the draws becomes tau, whatever the temperature would have given. */
static void test_mirostat_keeps_the_surprise_at_its_target(void)
{
    fill_logits(14);
    static const float targets[] = {2, 4, 6};
    for (int t = 0; t < 3; t++) {
        struct td_sampling sampling = td_sampling_default();
        sampling.mirostat_tau = targets[t];
        struct sampler sampler = make_sampler(sampling);
        double sum = 0;
        for (int i = 0; i < 4000; i++) {
            double before = sampler.surprise_max;
            choose(&sampler);
            double surprise = (double)targets[t] - (sampler.surprise_max - before) / 0.1;
            sum += i >= 1000 ? surprise : 0;
        }
        CHECK(fabs(sum / 3000 - (double)targets[t]) < 0.2);
        sampler_deinit(&sampler);
    }
}

static void test_settings_out_of_range_are_refused_by_name(void)
{
    struct sampler sampler;
    struct td_error err = {0};
    struct td_sampling sampling = td_sampling_default();
    sampling.temperature = NAN;
    CHECK(sampler_init(&sampler, &sampling, &err) == TD_INVALID &&
          strstr(err.message, "temperature"));
    sampling = td_sampling_default();
    sampling.top_p = 1.5f;
    err = (struct td_error){0};
    CHECK(sampler_init(&sampler, &sampling, &err) == TD_INVALID && strstr(err.message, "top_p"));
    sampling = td_sampling_default();
    sampling.min_p = -1;
    err = (struct td_error){0};
    CHECK(sampler_init(&sampler, &sampling, &err) == TD_INVALID && strstr(err.message, "min_p"));
    sampling = td_sampling_default();
    sampling.repetition_penalty = 0;
    err = (struct td_error){0};
    CHECK(sampler_init(&sampler, &sampling, &err) == TD_INVALID &&
          strstr(err.message, "repetition_penalty"));
}

static void test_logits_that_are_no_numbers_are_an_error(void)
{
    static const float bad[] = {NAN, INFINITY};
    for (int b = 0; b < 2; b++)
        for (int way = 0; way < 3; way++) {
            struct td_sampling sampling = td_sampling_default();
            sampling.temperature = way == 0 ? 0 : 1;
            sampling.top_p = way == 2 ? 0.5f : 1;
            struct sampler sampler = make_sampler(sampling);
            struct sampler_choice choice;
            struct td_error err = {0};
            fill_logits(10);
            logits[500] = bad[b];
            CHECK(sampler_choose(&sampler, kernels, logits, VOCAB, -1, candidates, &choice, &err) ==
                  TD_CORRUPT);
            err = (struct td_error){0};
            for (int i = 0; i < VOCAB; i++)
                logits[i] = NAN;
            CHECK(sampler_choose(&sampler, kernels, logits, VOCAB, -1, candidates, &choice, &err) ==
                  TD_CORRUPT);
            sampler_deinit(&sampler);
        }
}

static void test_top_logprobs_are_sorted_and_exact(void)
{
    fill_logits(11);
    logits[3] = logits[4] = 7;
    struct td_top_logprob top[TD_TOP_LOGPROBS_MAX];
    CHECK(sampler_top_logprobs(kernels, logits, VOCAB, 0, top) == 0);
    CHECK(sampler_top_logprobs(kernels, logits, VOCAB, 20, top) == 20);
    CHECK(top[0].id == 3 && top[1].id == 4);
    for (int i = 2; i < 20; i++)
        CHECK(rank_of(top[i].id) == i);
    for (int i = 0; i < 20; i++)
        CHECK(fabs((double)top[i].logprob - log(probability(top[i].id, 1))) < 1e-4);
    CHECK(sampler_top_logprobs(kernels, logits, 5, 20, top) == 5); /* fewer tokens than asked */
}

static void run_all(void)
{
    RUN(test_temperature_zero_takes_the_largest);
    RUN(test_statistics_are_those_of_the_plain_distribution);
    RUN(test_top_k_keeps_the_k_largest);
    RUN(test_top_p_keeps_the_smallest_sufficient_set);
    RUN(test_min_p_keeps_what_is_near_the_best);
    RUN(test_filters_that_keep_one_leave_the_best);
    RUN(test_draws_follow_the_distribution);
    RUN(test_same_seed_gives_the_same_tokens);
    RUN(test_repetition_penalty_covers_the_last_64_tokens);
    RUN(test_typical_p_keeps_what_is_near_the_entropy);
    RUN(test_penalties_count_the_answer_and_not_the_prompt);
    RUN(test_biases_and_penalties_add_up_for_each_token);
    RUN(test_biases_ban_and_force_tokens);
    RUN(test_mirostat_keeps_the_surprise_at_its_target);
    RUN(test_settings_out_of_range_are_refused_by_name);
    RUN(test_logits_that_are_no_numbers_are_an_error);
    RUN(test_top_logprobs_are_sorted_and_exact);
}

int main(void)
{
    for (const struct variant *v = NULL; (v = variant_next(v, "sampling")) != NULL;) {
        kernels = kernels_get(v->cpu, NULL);
        run_all();
    }
    return test_finish();
}
