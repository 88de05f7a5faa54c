/* Penalties that look back: the window of the repetition penalty, and DRY against its rule in plain
 * code. */
#include "engine/sampling/sampler.h"

#include "engine/sampling/sampler_repeat.h"
#include "engine/tokenizer/tokenizer.h"
#include "test.h"
#include "tiny_model.h"

#include "engine/model/model.h"

#include <math.h>

#define VOCAB 50

static float logits[VOCAB];
static struct repeat_changes changes;

static struct sampler make_sampler(struct td_sampling sampling)
{
    struct sampler sampler;
    struct td_error err = {0};
    sampling.seed_set = true;
    CHECK(sampler_init(&sampler, &sampling, &err) == TD_OK);
    return sampler;
}

static void set_logits(void)
{
    for (int i = 0; i < VOCAB; i++)
        logits[i] = (float)(i % 7) - 3;
}

static void test_the_repetition_window_is_as_wide_as_asked(void)
{
    struct td_sampling sampling = td_sampling_default();
    sampling.repetition_penalty = 2;
    sampling.repetition_window = 1000;
    struct sampler sampler = make_sampler(sampling);
    sampler_accept(&sampler, 6);
    for (int i = 0; i < 999; i++)
        sampler_accept(&sampler, 13);
    set_logits();
    repeat_apply(&sampler, logits, VOCAB, &changes);
    CHECK(changes.count == 2 && logits[6] == 1.5f && logits[13] == 1.5f);
    repeat_restore(logits, &changes);
    CHECK(logits[6] == 3 && logits[13] == 3);
    sampler_accept(&sampler, 13); /* 6 is out of sight now */
    repeat_apply(&sampler, logits, VOCAB, &changes);
    CHECK(changes.count == 1 && logits[6] == 3);
    sampler_deinit(&sampler);
}

/* The rule, read plainly: for each token of the history, the longest run of tokens before it that
 * are also the last ones. */
static double penalty_by_rule(const int32_t *history, int count, int32_t next, double multiplier,
                              double base, int allowed)
{
    int longest = 0;
    for (int i = 1; i < count; i++) {
        int len = 0;
        while (history[i] == next && len < i && history[i - 1 - len] == history[count - 1 - len])
            len++;
        longest = len > longest ? len : longest;
    }
    return longest >= allowed ? multiplier * pow(base, longest - allowed) : 0;
}

static void test_going_on_with_a_repetition_costs_more_the_longer_it_is(void)
{
    struct rng rng;
    rng_init(&rng, 7);
    for (int round = 0; round < 300; round++) {
        struct td_sampling sampling = td_sampling_default();
        sampling.dry_multiplier = 0.5f;
        sampling.dry_base = 1.5f;
        sampling.dry_allowed = 1 + (uint32_t)rng_below(&rng, 3);
        struct sampler sampler = make_sampler(sampling);
        int32_t history[200];
        int count = (int)rng_below(&rng, 200);
        for (int i = 0; i < count; i++) {
            history[i] = (int32_t)rng_below(&rng, round % 2 ? 2 : 5);
            sampler_accept(&sampler, history[i]);
        }
        set_logits();
        repeat_apply(&sampler, logits, VOCAB, &changes);
        for (int32_t id = 0; id < 6; id++) {
            double before = id % 7 - 3;
            double penalty =
                penalty_by_rule(history, count, id, 0.5, 1.5, (int)sampling.dry_allowed);
            CHECK(fabs((double)logits[id] - (before - fmin(penalty, 1e6))) <=
                  1e-6 * (1 + fmin(penalty, 1e6)));
        }
        repeat_restore(logits, &changes);
        for (int32_t id = 0; id < VOCAB; id++)
            CHECK(logits[id] == (float)(id % 7) - 3);
        sampler_deinit(&sampler);
    }
}

static void test_both_penalties_are_taken_back_together(void)
{
    struct td_sampling sampling = td_sampling_default();
    sampling.dry_multiplier = 1;
    sampling.repetition_penalty = 1.5f;
    struct sampler sampler = make_sampler(sampling);
    for (int i = 0; i < 6000; i++) /* more than the history holds */
        sampler_accept(&sampler, i % 3);
    set_logits();
    repeat_apply(&sampler, logits, VOCAB, &changes);
    CHECK((double)logits[6000 % 3] < -1e5);
    CHECK(logits[1] == -2 * 1.5f);
    repeat_restore(logits, &changes);
    for (int32_t id = 0; id < VOCAB; id++)
        CHECK(logits[id] == (float)(id % 7) - 3);
    sampler_deinit(&sampler);
}

static void test_a_line_s_end_breaks_a_repetition(void)
{
    struct td_model *model = tiny_model(1);
    REQUIRE(model != NULL);
    const int32_t newline = 4 + '\n', a = 261, b = 262; /* "ab", "abc" */
    struct sampler asked = make_sampler(td_sampling_default());
    asked.tokenizer = model->tokenizer;
    CHECK(repeat_is_broken_by(&asked, newline));
    CHECK(repeat_is_broken_by(&asked, 4 + ':'));
    CHECK(repeat_is_broken_by(&asked, 1)); /* a control token */
    CHECK(!repeat_is_broken_by(&asked, a));
    sampler_deinit(&asked);
    static float row[TINY_VOCAB];
    for (int with = 0; with < 2; with++) {
        struct td_sampling sampling = td_sampling_default();
        sampling.dry_multiplier = 1;
        struct sampler sampler = make_sampler(sampling);
        sampler.tokenizer = model->tokenizer;
        const int32_t text[] = {a, with ? newline : a, b, 300, a, with ? newline : a, b};
        for (size_t i = 0; i < sizeof text / sizeof *text; i++)
            sampler_accept(&sampler, text[i]);
        memset(row, 0, sizeof row);
        repeat_apply(&sampler, row, TINY_VOCAB, &changes);
        /* "b" alone is one repeated token after the break, below the two that are allowed. */
        CHECK(with ? changes.count == 0 : row[300] == -1.75f);
        repeat_restore(row, &changes);
        sampler_deinit(&sampler);
    }
    td_model_close(model);
}

/* The caller's texts replace the default ones, within a token and across several, also for tokens
 * that were accepted before. */
static void test_breakers_of_the_caller_s_own_hold(void)
{
    struct td_model *model = tiny_model(1);
    REQUIRE(model != NULL);
    struct td_sampling sampling = td_sampling_default();
    sampling.dry_multiplier = 1;
    struct sampler sampler = make_sampler(sampling);
    sampler.tokenizer = model->tokenizer;
    /* "abc", "ab" "c", "x" "y" "z", a newline, and "a" alone */
    const int32_t text[] = {262,     261,      4 + 'c', 4 + 'x', 4 + 'y',
                            4 + 'z', 4 + '\n', 4 + 'a', 1,       4 + 'y'};
    const bool breaks[] = {true, false, true, false, false, true, false, false, true, false};
    const size_t count = sizeof text / sizeof *text;
    const struct sampler_dry dry = {.breakers = "bc\0xyz\0"};
    for (size_t i = 0; i < count; i++)
        sampler_accept(&sampler, text[i]);
    CHECK(!sampler.recent_breaks[0] && sampler.recent_breaks[6]);
    sampler_set_dry(&sampler, &dry);
    for (size_t i = 0; i < count; i++)
        sampler_accept(&sampler, text[i]);
    for (size_t i = 0; i < 2 * count; i++)
        CHECK(sampler.recent_breaks[i] == breaks[i % count]);
    /* The longest and the most that there can be. */
    struct sampler_dry full;
    memset(full.breakers, 'y', sizeof full.breakers);
    full.breakers[SAMPLER_BREAKER_BYTES_MAX] = '\0';
    full.window = UINT32_MAX;
    sampler_set_dry(&sampler, &full);
    for (int i = 0; i < 70; i++)
        sampler_accept(&sampler, 4 + 'y');
    for (int i = 0; i < 70; i++) /* the text ended with one already */
        CHECK(sampler.recent_breaks[2 * count + (size_t)i] == (i >= SAMPLER_BREAKER_BYTES_MAX - 2));
    sampler_deinit(&sampler);
    td_model_close(model);
}

static void test_dry_looks_back_as_far_as_asked(void)
{
    struct td_sampling sampling = td_sampling_default();
    sampling.dry_multiplier = 1;
    struct sampler sampler = make_sampler(sampling);
    static const int32_t text[] = {5, 6, 7, 8, 9, 10, 11, 5, 6, 7};
    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        sampler_accept(&sampler, text[i]);
    for (uint32_t window = 7; window <= 11; window++) {
        const struct sampler_dry dry = {.window = window == 11 ? 0 : window};
        sampler_set_dry(&sampler, &dry);
        set_logits();
        repeat_apply(&sampler, logits, VOCAB, &changes);
        CHECK(changes.count == (window >= 9)); /* "6 7" and what followed it */
        repeat_restore(logits, &changes);
    }
    sampler_deinit(&sampler);
}

int main(void)
{
    RUN(test_the_repetition_window_is_as_wide_as_asked);
    RUN(test_going_on_with_a_repetition_costs_more_the_longer_it_is);
    RUN(test_both_penalties_are_taken_back_together);
    RUN(test_a_line_s_end_breaks_a_repetition);
    RUN(test_breakers_of_the_caller_s_own_hold);
    RUN(test_dry_looks_back_as_far_as_asked);
    return test_finish();
}
