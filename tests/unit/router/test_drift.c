#include "router/watch/drift.h"

#include "base/core/str.h"
#include "base/crypto/rng.h"
#include "router/watch/phrases.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>

#define RUNS 401

static int ascending(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* Queries until the alarm when the share steps from .20 to .35 after a thousand quiet ones. */
static int delay_of(struct rng *rng)
{
    struct drift_share share;
    drift_share_init(&share, 0.20, 0.35);
    for (int i = 0; i < 1000; i++)
        drift_share_add(&share, rng_double(rng) < 0.20);
    if (share.cusum.alarm)
        return -1; /* a false one */
    int delay = 1;
    while (!drift_share_add(&share, rng_double(rng) < 0.35))
        delay++;
    return delay;
}

static void test_a_step_of_the_share_is_seen_within_200_queries(void)
{
    struct rng rng;
    int delays[RUNS], count = 0;
    rng_init(&rng, 3);
    while (count < RUNS) {
        int delay = delay_of(&rng);
        if (delay > 0)
            delays[count++] = delay;
    }
    qsort(delays, RUNS, sizeof *delays, ascending);
    printf("share .20 to .35: median %d, 95 %% within %d queries\n", delays[RUNS / 2],
           delays[RUNS * 95 / 100]);
    CHECK(delays[RUNS / 2] <= 200);
}

static int false_alarms(double usual, double feared, double true_share, int queries, uint64_t seed)
{
    struct rng rng;
    struct drift_share share;
    int alarms = 0;
    bool before = false;
    rng_init(&rng, seed);
    drift_share_init(&share, usual, feared);
    for (int i = 0; i < queries; i++) {
        bool alarm = drift_share_add(&share, rng_double(&rng) < true_share);
        alarms += alarm && !before;
        before = alarm;
    }
    return alarms;
}

static void test_a_quiet_share_gives_at_most_one_false_alarm_in_10000(void)
{
    int alarms = false_alarms(0.20, 0.35, 0.20, 1000000, 5);
    printf("share .20: %d false alarms in 1,000,000 queries\n", alarms);
    CHECK(alarms <= 100);
}

static void test_an_alarm_ends_when_its_cause_does(void)
{
    struct drift_share share;
    drift_share_init(&share, 0.20, 0.35);
    for (int i = 0; i < 500; i++)
        drift_share_add(&share, i % 2); /* a half */
    CHECK(share.cusum.alarm);
    int quiet = 0;
    while (drift_share_add(&share, quiet % 5 == 0) && quiet < 2000)
        quiet++;
    CHECK(quiet > 20 && quiet < 500);
}

static void test_extreme_shares_make_no_endless_ratios(void)
{
    static const double shares[] = {-1, 0, 1e-9, 0.5, 0.98, 1, 2};
    for (size_t i = 0; i < 7; i++) {
        struct drift_share share;
        drift_share_init(&share, shares[i], shares[i] + 0.15);
        for (int n = 0; n < 200; n++)
            drift_share_add(&share, n % 3 == 0);
        CHECK(isfinite(share.yes) && isfinite(share.no) && share.yes > 0 && share.no < 0);
        CHECK(isfinite(share.cusum.sum));
    }
}

/* Answers right with probability c, whose confidence says c + shift. */
static int calibration_delay(double shift, uint64_t seed, bool *above)
{
    struct rng rng;
    struct drift_mean mean;
    rng_init(&rng, seed);
    drift_mean_init(&mean, 0.2, 0.25);
    for (int i = 1; i <= 3000; i++) {
        double right = 0.3 + 0.4 * rng_double(&rng);
        drift_mean_add(&mean, right + shift - (rng_double(&rng) < right));
        if (mean.above.alarm || mean.below.alarm) {
            *above = mean.above.alarm;
            return i;
        }
    }
    return 0;
}

static void test_confidences_that_are_off_are_seen_within_300_in_their_direction(void)
{
    int late = 0, wrong_way = 0, false_ones = 0;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        bool above = false;
        int delay = calibration_delay(0.2, seed, &above);
        late += delay == 0 || delay > 300;
        wrong_way += !above;
        delay = calibration_delay(-0.2, seed, &above);
        late += delay == 0 || delay > 300;
        wrong_way += above;
        false_ones += calibration_delay(0, seed, &above) != 0;
    }
    printf(
        "confidences .2 off: %d of 200 later than 300 answers, %d in the wrong direction, %d false "
        "in 300,000\n",
        late, wrong_way, false_ones);
    CHECK(late <= 10 && wrong_way == 0);
    CHECK(false_ones <= 10); /* in 300,000 answers */
}

static void test_the_stability_index_is_that_of_the_formula(void)
{
    uint32_t same[DRIFT_BINS], moved[DRIFT_BINS];
    for (int i = 0; i < DRIFT_BINS; i++) {
        same[i] = 1000;
        moved[i] = i < 5 ? 500 : 1500;
    }
    CHECK(drift_psi(same, same) == 0);
    /* 5 (.05 - .1) ln .5 + 5 (.15 - .1) ln 1.5, up to the half observation a bin */
    CHECK(fabs(drift_psi(same, moved) - 0.25 * (log(2) + log(1.5))) < 1e-3);
    uint32_t none[DRIFT_BINS] = {0};
    CHECK(isfinite(drift_psi(same, none)));
}

static void feed(struct drift_scores *scores, struct rng *rng, double power, int count)
{
    for (int i = 0; i < count; i++)
        drift_scores_add(scores, pow(rng_double(rng), power));
}

static void test_another_distribution_of_scores_is_an_alarm_with_an_end(void)
{
    static struct drift_scores scores;
    struct rng rng;
    rng_init(&rng, 9);
    memset(&scores, 0, sizeof scores);
    feed(&scores, &rng, 1, 500);
    CHECK(scores.learnt && scores.psi == 0);
    for (int window = 0; window < 40; window++) {
        feed(&scores, &rng, 1, 500);
        CHECK(!scores.alarm && scores.psi < 0.1);
    }
    feed(&scores, &rng, 3, 500);
    CHECK(scores.alarm && scores.psi > 0.25);
    feed(&scores, &rng, 1, 500);
    CHECK(!scores.alarm);
    CHECK(!drift_scores_add(&scores, NAN) && !drift_scores_add(&scores, -1));
    for (int i = 0; i < 2000; i++) /* all the same: one bin takes them */
        drift_scores_add(&scores, 0.5);
    CHECK(isfinite(scores.psi));
}

/* --- phrases --- */

static struct phrases phrases;

static void ask(const char *text, bool escalated)
{
    struct utterance utterance;
    utterance_read_text(str_from(text), &utterance);
    phrases_add(&phrases, &utterance, escalated);
}

static void test_the_phrase_that_raises_escalation_is_found(void)
{
    static const char *const words[] = {"alarm", "weather", "balance", "music", "timer", "news"};
    struct phrase_lift top[5];
    struct rng rng;
    rng_init(&rng, 21);
    memset(&phrases, 0, sizeof phrases);
    char text[128];
    for (int i = 0; i < 5000; i++) {
        bool trick = rng_below(&rng, 20) == 0;
        snprintf(text, sizeof text, "what about the %s in room %u%s", words[rng_below(&rng, 6)],
                 (unsigned)rng_below(&rng, 200), trick ? " think really hard" : "");
        ask(text, rng_double(&rng) < (trick ? 0.9 : 0.2));
    }
    size_t count = phrases_top(&phrases, top, 5);
    REQUIRE(count >= 3 && count <= 5);
    for (size_t i = 0; i < 3; i++)
        CHECK(strstr("think really hard", top[i].text) && top[i].lift > 2.5);
    for (size_t i = 3; i < count; i++) /* or pairs over the edge of the trick */
        CHECK(strstr("think really hard", top[i].text) || strstr(top[i].text, "think"));
}

static void test_a_full_table_keeps_what_comes_often(void)
{
    struct phrase_lift top[1];
    char text[64];
    memset(&phrases, 0, sizeof phrases);
    for (int i = 0; i < 60000; i++) {
        snprintf(text, sizeof text, "word%c%c%c%c", 'a' + i % 26, 'a' + i / 26 % 26,
                 'a' + i / 676 % 26, 'a' + i / 17576 % 26);
        ask(text, i % 5 == 0);
        if (i % 10 == 0)
            ask("magic", true);
    }
    CHECK(phrases.used < PHRASES_MAX);
    REQUIRE(phrases_top(&phrases, top, 1) == 1);
    CHECK(strcmp(top[0].text, "magic") == 0 && top[0].lift > 2);
    memset(&phrases, 0, sizeof phrases);
    CHECK(phrases_top(&phrases, top, 1) == 0);
}

int main(void)
{
    RUN(test_a_step_of_the_share_is_seen_within_200_queries);
    RUN(test_a_quiet_share_gives_at_most_one_false_alarm_in_10000);
    RUN(test_an_alarm_ends_when_its_cause_does);
    RUN(test_extreme_shares_make_no_endless_ratios);
    RUN(test_confidences_that_are_off_are_seen_within_300_in_their_direction);
    RUN(test_the_stability_index_is_that_of_the_formula);
    RUN(test_another_distribution_of_scores_is_an_alarm_with_an_end);
    RUN(test_the_phrase_that_raises_escalation_is_found);
    RUN(test_a_full_table_keeps_what_comes_often);
    return test_finish();
}
