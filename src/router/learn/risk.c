/* One walk from the best score down: the loss of what is kept grows with each sample, and the
 * lowest bar that still holds the bound is the answer. */
#include "router/learn/risk.h"

#include "base/core/assertion.h"

#include <math.h>
#include <stdlib.h>

/* Sums of a million losses differ from the exact one by less; a sample's weight is far above. */
#define SLACK 1e-9

static int best_first(const void *a, const void *b)
{
    double x = ((const struct risk_sample *)a)->score, y = ((const struct risk_sample *)b)->score;
    return (x < y) - (x > y);
}

size_t risk_count_min(double risk, double loss)
{
    if (!(risk - loss > 0))
        return SIZE_MAX;
    double count = ceil((1 - risk) / (risk - loss) - SLACK);
    return count < (double)(SIZE_MAX / 2) ? (size_t)count : SIZE_MAX;
}

void risk_find_bar(struct risk_sample *samples, size_t count, double risk, struct risk_bar *out)
{
    ASSERT(risk > 0 && risk < 1);
    *out = (struct risk_bar){
        .threshold = INFINITY,
        .count = count,
        .count_min = risk_count_min(risk, 0),
    };
    out->outcome = count < out->count_min ? RISK_TOO_FEW : RISK_TOO_WEAK;
    qsort(samples, count, sizeof *samples, best_first);
    double sum = 0, sum_kept = 0, allowed = risk * ((double)count + 1) - 1 + SLACK;
    for (size_t i = 0; i < count; i++) {
        sum += samples[i].loss;
        bool last_of_score = i + 1 == count || samples[i + 1].score < samples[i].score;
        if (!last_of_score || sum > allowed)
            continue;
        out->kept = i + 1;
        out->threshold = samples[i].score;
        sum_kept = sum;
    }
    if (out->kept > 0)
        out->outcome = RISK_REACHED;
    if (count > 0) {
        out->loss_kept = sum_kept / (double)count;
        out->loss_all = sum / (double)count;
    }
}
