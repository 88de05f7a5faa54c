#include "quant/measure/flips.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/ratio.h"

#include <math.h>
#include <stdlib.h>

static double log_factorial(size_t n)
{
    int sign;
    return lgamma_r((double)n + 1, &sign); /* lgamma itself writes to a global */
}

static double log_choose(size_t n, size_t k)
{
    return log_factorial(n) - log_factorial(k) - log_factorial(n - k);
}

double flips_draw_tail(size_t total, size_t marked, size_t count, size_t from)
{
    ASSERT(marked <= total && count <= total);
    size_t unmarked = total - marked, least = count > unmarked ? count - unmarked : 0;
    size_t most = marked < count ? marked : count;
    if (from <= least)
        return 1;
    double sum = 0, all = log_choose(total, count);
    for (size_t k = from; k <= most; k++)
        sum += exp(log_choose(marked, k) + log_choose(unmarked, count - k) - all);
    return sum < 1 ? sum : 1;
}

double flips_binomial_tail(size_t count, double share, size_t from)
{
    if (from == 0 || share >= 1)
        return 1;
    if (share <= 0 || from > count)
        return 0;
    double sum = 0;
    for (size_t k = from; k <= count; k++)
        sum += exp(log_choose(count, k) + (double)k * log(share) +
                   (double)(count - k) * log1p(-share));
    return sum < 1 ? sum : 1;
}

/* Holm: the i-th smallest of m p-values is multiplied by m - i, and is not below the one before. */
static void adjust(double **values, size_t count)
{
    /* Insertion sort: there are at most some hundred groups. */
    for (size_t i = 1; i < count; i++)
        for (size_t j = i; j > 0 && *values[j] < *values[j - 1]; j--) {
            double *swapped = values[j];
            values[j] = values[j - 1];
            values[j - 1] = swapped;
        }
    double before = 0;
    for (size_t i = 0; i < count; i++) {
        double adjusted = fmin(1, *values[i] * (double)(count - i));
        before = fmax(before, adjusted);
        *values[i] = before;
    }
}

static void ask(struct flips_group *group, const struct flips_group *all, double limit)
{
    ASSERT(group->flips <= group->count);
    group->p = flips_draw_tail(all->count, all->flips, group->count, group->flips);
    group->p_limit = isnan(limit) ? 1 : flips_binomial_tail(group->count, limit, group->flips);
    ratio_share_interval((double)group->flips, (double)group->count, &group->low, &group->high);
}

enum td_status flips_judge(struct flips_group *groups, size_t group_count, struct flips_group *all,
                           double limit, struct td_error *err)
{
    double **values = calloc(group_count + 1, sizeof *values);
    if (values == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for %zu groups", group_count);
    ask(all, all, limit);
    all->stands_out = false;
    all->over_limit = all->p_limit <= FLIPS_ALPHA;
    for (size_t i = 0; i < group_count; i++) {
        ask(&groups[i], all, limit);
        values[i] = &groups[i].p;
    }
    adjust(values, group_count);
    for (size_t i = 0; i < group_count; i++)
        values[i] = &groups[i].p_limit;
    adjust(values, group_count);
    for (size_t i = 0; i < group_count; i++) {
        groups[i].stands_out = groups[i].p <= FLIPS_ALPHA;
        groups[i].over_limit = groups[i].p_limit <= FLIPS_ALPHA;
    }
    free(values);
    return TD_OK;
}
