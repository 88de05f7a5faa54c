/* The file of the ramps' states: a JSON array,
 *
 *   [{"route": "auto", "plan": "16 hex digits", "step": 1, "stopped": false, "cause": 0,
 *     "cause_loss": 0.0, "changed_ms": 0,
 *     "bets": [{"judged": 3, "loss_sum": 1.0, "over": [5 numbers], "under": [5 numbers],
 *               "waiting": [2 numbers]}, ... 3 of them]}]
 *
 * It is read as if somebody else had written it. Types, counts and ranges are checked here; what a
 * state may be is checked by ramp_state_is_sound. */
#ifndef EXCHANGE_RAMP_FILE_H
#define EXCHANGE_RAMP_FILE_H

#include "exchange/memory/ramp_table.h"

#define RAMP_FILE_MAX 256 /* ramps */

struct ramp_saved {
    char route[RAMP_NAME_BYTES];
    uint64_t plan; /* hash of what it was configured to be */
    uint64_t changed_wall_ms;
    struct ramp_state state;
};

/* *out **returns new** (free). No file: none. TD_CORRUPT, TD_INVALID: it is something else. */
TD_MUST_CHECK enum td_status ramp_file_read(const char *path, struct ramp_saved **out,
                                            size_t *count, struct td_error *err);
/* For what a file holds: the same. */
TD_MUST_CHECK enum td_status ramp_file_parse(struct td_str text, struct ramp_saved **out,
                                             size_t *count, struct td_error *err);
TD_MUST_CHECK enum td_status ramp_file_write(const char *path, const struct ramp_saved *list,
                                             size_t count, struct td_error *err);

#endif
