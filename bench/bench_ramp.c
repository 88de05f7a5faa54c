/* Ramps on simulated traffic (tests/unit/router/ramp_simulation.h): how many good ones are stopped,
 * how many bad ones, and how soon. Prints one JSON object for each kind of candidate.
 *
 *     bench_ramp RAMPS */
#include "../tests/unit/router/ramp_simulation.h"

#include <stdio.h>
#include <stdlib.h>

enum { RAMPS_MAX = 100000 };

static int compare(const void *a, const void *b)
{
    const uint32_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

static void measure(const char *name, const struct ramp_world *world, uint32_t ramps,
                    uint32_t *exchanges, uint32_t *taken)
{
    uint32_t stopped = 0, ended = 0, passed = 0;
    for (uint32_t i = 0; i < ramps; i++) {
        struct ramp_outcome out = ramp_simulate(&ramp_usual, world, 1 + i, false);
        exchanges[i] = out.exchanges;
        taken[i] = out.taken;
        stopped += out.state.stopped;
        ended += !out.state.stopped && out.state.step + 1 == ramp_usual.step_count;
        passed += out.steps_while_worse > 0;
    }
    qsort(exchanges, ramps, sizeof *exchanges, compare);
    qsort(taken, ramps, sizeof *taken, compare);
    printf(
        "{\"name\": \"%s\", \"ramps\": %u, \"stopped\": %.5f, \"ended\": %.5f, \"passed\": %.5f, "
        "\"exchanges_median\": %u, \"exchanges_p95\": %u, \"taken_median\": %u}\n",
        name, ramps, (double)stopped / ramps, (double)ended / ramps, (double)passed / ramps,
        exchanges[ramps / 2], exchanges[ramps * 95 / 100], taken[ramps / 2]);
}

int main(int argc, char **argv)
{
    static uint32_t exchanges[RAMPS_MAX], taken[RAMPS_MAX];
    static const struct {
        const char *name;
        double differs, old_loss, new_loss;
    } kinds[] = {
        {"as good: 10 % differ, both fail in 3 %", 0.1, 0.03, 0.03},
        {"as good, much fails: both in 20 %", 0.1, 0.2, 0.2},
        {"at the bound: 20 % differ", 0.2, 0.03, 0.03},
        {"40 % differ, 20 % may", 0.4, 0.03, 0.03},
        {"30 % differ, 20 % may", 0.3, 0.03, 0.03},
        {"it fails in 20 %, the old one in 3 %", 0.1, 0.03, 0.2},
    };
    uint32_t ramps = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1000;
    if (ramps < 1 || ramps > RAMPS_MAX)
        return 1;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const struct ramp_world world = {.differs = kinds[i].differs,
                                         .shadow_share = 0.1,
                                         .old_loss = kinds[i].old_loss,
                                         .new_loss = kinds[i].new_loss,
                                         .exchanges_max = 200000};
        measure(kinds[i].name, &world, ramps, exchanges, taken);
    }
    return 0;
}
