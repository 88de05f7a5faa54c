/* All columns share the drawn rows of a round, so that differences between columns stay paired. */
#include "router/learn/bootstrap.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/sort.h"
#include "base/crypto/rng.h"

#include <math.h>
#include <stdlib.h>

struct sums {
    double sum[BOOTSTRAP_COLUMNS_MAX], count[BOOTSTRAP_COLUMNS_MAX];
};

static void add_row(struct sums *sums, const double *row, size_t columns)
{
    for (size_t c = 0; c < columns; c++) {
        if (isnan(row[c]))
            continue;
        sums->sum[c] += row[c];
        sums->count[c]++;
    }
}

/* Of the means of one column that are there. */
static void set_interval(double *means, double share, struct bootstrap_interval *out)
{
    size_t count = 0;
    for (size_t i = 0; i < BOOTSTRAP_ROUNDS; i++)
        if (!isnan(means[i]))
            means[count++] = means[i];
    out->low = out->high = NAN;
    if (count == 0)
        return;
    sort_doubles(means, count);
    size_t cut = (size_t)((1 - share) / 2 * (double)count);
    out->low = means[cut];
    out->high = means[count - 1 - cut];
}

enum td_status bootstrap_means(const double *values, size_t count, size_t columns, double share,
                               uint64_t seed, struct bootstrap_interval *out, struct td_error *err)
{
    ASSERT(columns > 0 && columns <= BOOTSTRAP_COLUMNS_MAX && share > 0 && share < 1);
    double *means = calloc(BOOTSTRAP_ROUNDS * columns + 1, sizeof *means);
    if (!means || columns > BOOTSTRAP_COLUMNS_MAX) {
        free(means);
        return error_set(err, TD_NO_MEMORY, "no memory for the intervals of %zu rows", count);
    }
    struct rng rng;
    struct sums all = {{0}, {0}};
    rng_init(&rng, seed);
    for (size_t i = 0; i < count; i++)
        add_row(&all, values + i * columns, columns);
    for (size_t round = 0; round < BOOTSTRAP_ROUNDS; round++) {
        struct sums sums = {{0}, {0}};
        for (size_t i = 0; i < count; i++)
            add_row(&sums, values + rng_below(&rng, count) * columns, columns);
        for (size_t c = 0; c < columns; c++)
            means[c * BOOTSTRAP_ROUNDS + round] =
                sums.count[c] > 0 ? sums.sum[c] / sums.count[c] : (double)NAN;
    }
    for (size_t c = 0; c < columns; c++) {
        out[c].mean = all.count[c] > 0 ? all.sum[c] / all.count[c] : (double)NAN;
        set_interval(means + c * BOOTSTRAP_ROUNDS, share, &out[c]);
    }
    free(means);
    return TD_OK;
}
