/* Policies that never ran, judged from logs whose truth is known. */
#include "api/evidence/off_policy.h"

#include "base/crypto/rng.h"
#include "test.h"

#include <math.h>

enum { LOCAL, CLOUD, ROWS = 1000, LOGS = 60 };

static struct off_policy_row rows[ROWS];

/* What each start is worth: the device is right as often as the classifier says, the cloud nearly
 * always, and it costs money. */
static double right_at(size_t tier, double p_local)
{
    return tier == LOCAL ? p_local * p_local : 0.9;
}

struct log {
    double share;        /* that was drawn */
    double judged;       /* share of answers with a reward */
    double starts_above; /* the other policy starts on the cloud under this p_local */
    bool lies;           /* the recorded probabilities are wrong */
};

/* The policy that ran starts on the device when p_local is at least a half. Returns the truth of
 * the other one. */
static double draw_log(const struct log *log, struct rng *rng)
{
    double truth = 0;
    for (size_t i = 0; i < ROWS; i++) {
        double p = rng_double(rng);
        size_t usual = p >= 0.5 ? LOCAL : CLOUD, other = p >= log->starts_above ? LOCAL : CLOUD;
        size_t start = rng_double(rng) < log->share ? 1 - usual : usual;
        double share = log->lies ? 0.5 : log->share;
        bool judged = rng_double(rng) < log->judged * (start == LOCAL ? 1 : 0.5);
        bool right = rng_double(rng) < right_at(start, p);
        rows[i] = (struct off_policy_row){
            .start = start,
            .end = start == LOCAL ? END_DEVICE : END_ELSEWHERE,
            .p_local = (float)p,
            .reward = {start == CLOUD ? 0.001 : 0, start == CLOUD ? 900 : 100 + 50 * p,
                       start == LOCAL, judged ? right : (double)NAN},
        };
        rows[i].ran[usual] = (float)(1 - share);
        rows[i].ran[1 - usual] = (float)share;
        rows[i].other[other] = 1;
    }
    /* The integral over p_local, which is even in [0, 1). */
    for (int i = 0; i < 10000; i++) {
        double p = (i + 0.5) / 10000;
        truth += right_at(p >= log->starts_above ? LOCAL : CLOUD, p) / 10000;
    }
    return truth;
}

static bool covers(const struct bootstrap_interval *interval, double truth)
{
    return interval->low <= truth && truth <= interval->high;
}

struct coverage {
    int ips, robust;
    double ips_width, robust_width, ips_mean, robust_mean, truth;
};

static struct coverage cover(const struct log *log, uint64_t seed)
{
    struct rng rng;
    struct coverage coverage = {0};
    rng_init(&rng, seed);
    for (int i = 0; i < LOGS; i++) {
        struct off_policy got;
        coverage.truth = draw_log(log, &rng);
        CHECK(off_policy_estimate(rows, ROWS, &got, NULL) == TD_OK);
        const struct off_policy_column *right = &got.columns[REWARD_RIGHT];
        CHECK(right->enough && got.supported == ROWS && got.drawn == ROWS);
        coverage.ips += covers(&right->ips, coverage.truth);
        coverage.robust += covers(&right->robust, coverage.truth);
        coverage.ips_width += (right->ips.high - right->ips.low) / LOGS;
        coverage.robust_width += (right->robust.high - right->robust.low) / LOGS;
        coverage.ips_mean += right->ips.mean / LOGS;
        coverage.robust_mean += right->robust.mean / LOGS;
    }
    return coverage;
}

/* 95 %, less what so few logs may deviate by chance (three standard deviations). */
static const int covered_min = LOGS * 86 / 100;

static void test_intervals_cover_the_truth_of_policies_that_never_ran(void)
{
    static const struct log logs[] = {
        {.share = 0.4, .judged = 1, .starts_above = 0.8},   /* more goes to the cloud */
        {.share = 0.2, .judged = 1, .starts_above = 0.1},   /* less */
        {.share = 0.5, .judged = 1, .starts_above = 1},     /* all */
        {.share = 0.5, .judged = 0.6, .starts_above = 0.8}, /* the device is judged more often */
    };
    for (size_t i = 0; i < sizeof logs / sizeof *logs; i++) {
        struct coverage got = cover(&logs[i], 11 + i);
        CHECK(got.ips >= covered_min && got.robust >= covered_min);
        CHECK(fabs(got.ips_mean - got.truth) < 0.02 && fabs(got.robust_mean - got.truth) < 0.02);
        CHECK(got.robust_width < got.ips_width); /* what is known of the tiers is worth something */
    }
}

/* The check itself: with wrong probabilities the truth is missed. (The doubly robust estimate has
 * what was seen of the tiers to lean on.) */
static void test_wrong_probabilities_are_seen(void)
{
    const struct log log = {.share = 0.2, .judged = 1, .starts_above = 0.8, .lies = true};
    struct coverage got = cover(&log, 5);
    CHECK(got.ips < covered_min);
}

static void test_the_policy_that_ran_has_its_own_value(void)
{
    const struct log log = {.share = 0, .judged = 1, .starts_above = 0.5};
    struct rng rng;
    struct off_policy got;
    rng_init(&rng, 3);
    draw_log(&log, &rng);
    CHECK(off_policy_estimate(rows, ROWS, &got, NULL) == TD_OK);
    CHECK(got.moved == 0 && got.drawn == 0 && got.effective == ROWS);
    for (int r = 0; r < REWARD_COUNT; r++) {
        const struct off_policy_column *column = &got.columns[r];
        CHECK(column->enough && column->ips.mean == column->ran.mean);
        if (r != REWARD_RIGHT) /* of which not all are known */
            CHECK(fabs(column->robust.mean - column->ran.mean) < 1e-9 * (1 + column->ran.mean));
    }
}

static void test_too_little_is_said(void)
{
    const struct log log = {.share = 0.2, .judged = 1, .starts_above = 0.8};
    struct rng rng;
    struct off_policy got;
    rng_init(&rng, 4);
    draw_log(&log, &rng);
    CHECK(off_policy_estimate(rows, 200, &got, NULL) == TD_OK);
    CHECK(got.moved > 0 && !got.columns[REWARD_COST].enough);
    CHECK(off_policy_estimate(rows, 0, &got, NULL) == TD_OK && !got.columns[REWARD_COST].enough);
    for (size_t i = 0; i < ROWS; i++) /* nobody judged one */
        rows[i].reward[REWARD_RIGHT] = NAN;
    CHECK(off_policy_estimate(rows, ROWS, &got, NULL) == TD_OK);
    CHECK(got.columns[REWARD_COST].enough && !got.columns[REWARD_RIGHT].enough);
    for (size_t i = 0; i < ROWS; i++) { /* no start but the one that was */
        rows[i].ran[LOCAL] = rows[i].start == LOCAL;
        rows[i].ran[CLOUD] = rows[i].start == CLOUD;
    }
    CHECK(off_policy_estimate(rows, ROWS, &got, NULL) == TD_OK);
    CHECK(got.supported < ROWS && got.moved == 0 && got.drawn == 0);
}

int main(void)
{
    RUN(test_intervals_cover_the_truth_of_policies_that_never_ran);
    RUN(test_wrong_probabilities_are_seen);
    RUN(test_the_policy_that_ran_has_its_own_value);
    RUN(test_too_little_is_said);
    return test_finish();
}
