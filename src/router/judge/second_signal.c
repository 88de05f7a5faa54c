#include "router/judge/second_signal.h"

#include <math.h>
#include <stddef.h>

const char *const second_names[] = {"off", "p_true", "agreement", NULL};
const struct td_str second_labels[SECOND_LABELS] = {{"yes", 3}, {"no", 2}};

#define SURE 1e-7

double second_p_true(const float scores[static SECOND_LABELS])
{
    return 1 / (1 + exp((double)scores[1] - (double)scores[0]));
}

double second_agreement(uint32_t agreed, uint32_t count)
{
    return (agreed + 0.5) / (count + 1.0);
}

double second_log_odds(double p)
{
    double clear = fmin(fmax(p, SURE), 1 - SURE);
    return log(clear / (1 - clear));
}

double second_combine(const struct second_scale *scale, double first, double second)
{
    if (!(first > 0))
        return 0;
    double odds = scale->bias + scale->first * second_log_odds(first) +
                  scale->second * second_log_odds(second);
    return 1 / (1 + exp(-odds));
}
