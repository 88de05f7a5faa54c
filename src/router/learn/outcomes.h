/* A table of outcomes: what each tier makes of a question, JSON objects, one a line:
 *
 *   {"id": "ex_1", "p_local": 0.7, "probe": 0.6,
 *    "local": {"right": 1, "cost_usd": 0, "ms": 120, "confidence": 0.83},
 *    "cloud": {"right": 0.9, "cost_usd": 0.002, "ms": 900}}
 *
 * "local" and "cloud" are required, each with right (true, false, 0 to 1), cost_usd and ms (0 or
 * more). confidence (of the local answer), p_local, probe and id are optional. A broken line
 * refuses the whole file; the message has its number. */
#ifndef ROUTER_OUTCOMES_H
#define ROUTER_OUTCOMES_H

#include "tandem/types.h"

#define OUTCOMES_MAX 1000000u
#define OUTCOMES_ID_BYTES 64

struct tier_outcome {
    double right, cost_usd, ms;
};

struct outcome_row {
    char id[OUTCOMES_ID_BYTES]; /* "" = none */
    struct tier_outcome local, cloud;
    double confidence, probe, p_local; /* NAN = none */
};

struct outcomes {
    struct outcome_row *rows;
    size_t count, capacity;
};

/* Fills *out, to be freed with outcomes_deinit also after a failure. TD_INVALID names the line. */
TD_MUST_CHECK enum td_status outcomes_read(struct td_str jsonl, struct outcomes *out,
                                           struct td_error *err);
void outcomes_deinit(struct outcomes *outcomes);

#endif
