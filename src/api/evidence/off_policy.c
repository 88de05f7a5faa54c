/* The rows become one number each, for each reward and estimator; their means are the estimates,
 * and the bootstrap has the intervals. */
#include "api/evidence/off_policy.h"

#include "base/core/error.h"

#include <math.h>
#include <stdlib.h>

enum { FOLDS = 5, CONTEXTS = 5 };
enum { OF_RAN, OF_IPS, OF_ROBUST, ESTIMATORS };

/* So many exchanges count as much as the mean of what is less particular. */
static const double prior_count = 5;

struct sum {
    double count, total;
};

/* What was seen of one reward. By fold, so that a fold can be left out. */
struct seen {
    struct sum all[FOLDS], start[FOLDS][RUNGS_MAX], cell[FOLDS][RUNGS_MAX][CONTEXTS];
    double known_share[END_COUNT]; /* of the answers from there; 0 = of none */
};

/* --- one row --- */

static size_t context_of(const struct off_policy_row *row)
{
    float p = row->p_local;
    return isnan(p) ? CONTEXTS - 1 : p < 0.25f ? 0 : p < 0.5f ? 1 : p < 0.75f ? 2 : 3;
}

/* Of a row that the policy that ran could have started wherever the other one does. */
static bool is_supported(const struct off_policy_row *row)
{
    float mass = 0;
    for (size_t i = 0; i < RUNGS_MAX; i++) {
        if (row->other[i] > 0 && !(row->ran[i] > 0))
            return false;
        mass += row->other[i];
    }
    return mass > 0 && row->start < RUNGS_MAX && row->ran[row->start] > 0;
}

static double weight_of(const struct off_policy_row *row)
{
    return (double)row->other[row->start] / (double)row->ran[row->start];
}

static size_t likeliest(const float shares[static RUNGS_MAX])
{
    size_t best = 0;
    for (size_t i = 1; i < RUNGS_MAX; i++)
        if (shares[i] > shares[best])
            best = i;
    return best;
}

static bool is_moved(const struct off_policy_row *row)
{
    return likeliest(row->other) != likeliest(row->ran);
}

static bool is_matched(const struct off_policy_row *row)
{
    return is_moved(row) && row->start == likeliest(row->other);
}

/* --- what was seen --- */

static void add(struct sum *sum, double value)
{
    sum->count++;
    sum->total += value;
}

static void see(const struct off_policy_row *rows, size_t count, enum off_policy_reward reward,
                struct seen *seen)
{
    double ends[END_COUNT] = {0}, known[END_COUNT] = {0};
    *seen = (struct seen){.known_share = {0}};
    for (size_t i = 0; i < count; i++) {
        const struct off_policy_row *row = &rows[i];
        double value = row->reward[reward];
        if (!is_supported(row))
            continue;
        ends[row->end]++;
        if (!isfinite(value))
            continue;
        known[row->end]++;
        add(&seen->all[i % FOLDS], value);
        add(&seen->start[i % FOLDS][row->start], value);
        add(&seen->cell[i % FOLDS][row->start][context_of(row)], value);
    }
    for (size_t e = 0; e < END_COUNT; e++)
        seen->known_share[e] = ends[e] > 0 ? known[e] / ends[e] : 0;
}

/* The mean of the particular, drawn towards the mean of what is less so. */
static double drawn_towards(struct sum sum, double mean)
{
    return (sum.total + prior_count * mean) / (sum.count + prior_count);
}

/* What a start on the tier is expected to come to, from the other folds. */
static double expected(const struct seen *seen, size_t fold, size_t tier, size_t context)
{
    struct sum all = {0}, start = {0}, cell = {0};
    for (size_t f = 0; f < FOLDS; f++) {
        if (f == fold)
            continue;
        all.count += seen->all[f].count;
        all.total += seen->all[f].total;
        start.count += seen->start[f][tier].count;
        start.total += seen->start[f][tier].total;
        cell.count += seen->cell[f][tier][context].count;
        cell.total += seen->cell[f][tier][context].total;
    }
    double mean = all.count > 0 ? all.total / all.count : 0;
    return drawn_towards(cell, drawn_towards(start, mean));
}

/* --- the estimates --- */

static void estimate_row(const struct off_policy_row *row, size_t index, double value,
                         const struct seen *seen, double out[static ESTIMATORS])
{
    size_t fold = index % FOLDS, context = context_of(row);
    /* 1 over the probability that the reward is known, for rows of which it is. */
    double known = isfinite(value) ? 1 / seen->known_share[row->end] : 0;
    double given = isfinite(value) ? value : 0, weight = weight_of(row) * known;
    out[OF_RAN] = known * given;
    out[OF_IPS] = weight * given;
    out[OF_ROBUST] = weight * (given - expected(seen, fold, row->start, context));
    for (size_t i = 0; i < RUNGS_MAX; i++)
        if (row->other[i] > 0)
            out[OF_ROBUST] += (double)row->other[i] * expected(seen, fold, i, context);
}

static enum td_status estimate_column(const struct off_policy_row *rows, size_t count,
                                      enum off_policy_reward reward, double *values,
                                      struct seen *seen, struct off_policy *out,
                                      struct td_error *err)
{
    struct off_policy_column *column = &out->columns[reward];
    struct bootstrap_interval intervals[ESTIMATORS];
    size_t used = 0;
    see(rows, count, reward, seen);
    for (size_t i = 0; i < count; i++) {
        if (!is_supported(&rows[i]))
            continue;
        bool known = isfinite(rows[i].reward[reward]);
        column->known += known;
        column->matched += known && is_matched(&rows[i]);
        estimate_row(&rows[i], i, rows[i].reward[reward], seen, values + ESTIMATORS * used++);
    }
    column->enough = column->known >= OFF_POLICY_MATCHED_MIN &&
                     (out->moved == 0 || column->matched >= OFF_POLICY_MATCHED_MIN);
    if (!column->enough)
        return TD_OK;
    enum td_status status = bootstrap_means(values, used, ESTIMATORS, 0.95, 1, intervals, err);
    if (status == TD_OK) {
        column->ran = intervals[OF_RAN];
        column->ips = intervals[OF_IPS];
        column->robust = intervals[OF_ROBUST];
    }
    return status;
}

static void count_rows(const struct off_policy_row *rows, size_t count, struct off_policy *out)
{
    double weights = 0, squares = 0;
    for (size_t i = 0; i < count; i++) {
        const struct off_policy_row *row = &rows[i];
        if (!is_supported(row))
            continue;
        out->supported++;
        out->drawn += row->ran[row->start] < 1;
        out->moved += is_moved(row);
        weights += weight_of(row);
        squares += weight_of(row) * weight_of(row);
    }
    out->effective = squares > 0 ? weights * weights / squares : 0;
}

enum td_status off_policy_estimate(const struct off_policy_row *rows, size_t count,
                                   struct off_policy *out, struct td_error *err)
{
    *out = (struct off_policy){.exchanges = count};
    double *values = calloc(count + 1, ESTIMATORS * sizeof *values);
    struct seen *seen = calloc(1, sizeof *seen);
    enum td_status status = TD_OK;
    if (!values || !seen)
        status = error_set(err, TD_NO_MEMORY, "no memory for the estimates of %zu rows", count);
    if (status == TD_OK)
        count_rows(rows, count, out);
    for (int reward = 0; status == TD_OK && reward < REWARD_COUNT; reward++)
        status =
            estimate_column(rows, count, (enum off_policy_reward)reward, values, seen, out, err);
    free(values);
    free(seen);
    return status;
}
