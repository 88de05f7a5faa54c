/* Exchanges of the ledger under another policy, without running anything.
 *
 * The record of a request says what was known of it (signals, tokens by tier), and that gives
 * the plan that the other policy makes. The tiers of the plan are then walked. A tier on the
 * device is left when the recorded confidence or probe is below the other policy's gates, or
 * when its first token said "not mine". The time and the cost of a tier are what it took in this
 * exchange. If it was not asked, its cost is that of the exchange's tokens at the new prices,
 * and its time is the mean of the tier's answers. Whether a device answer that was never made
 * would be kept is not known: it counts in part, by the share of the recorded confidences that
 * reach the gate.
 *
 * Quality is a table of outcomes if one is given, else feedback if the answering tier is the
 * same, else the classifier's probabilities. An exchange with none of these has no quality. */
#ifndef API_REPLAY_H
#define API_REPLAY_H

#include "api/evidence/off_policy.h"
#include "ledger/record/ledger.h"
#include "router/learn/outcomes.h"
#include "router/plan/policy.h"

#define REPLAY_EXCHANGES_MAX 1000000u

/* One exchange, before and after. */
struct replay_row {
    double cost_before, cost_after; /* USD */
    double ms_before, ms_after;
    double local_before, local_after; /* answered on the device: 0 or 1, between for "in part" */
    double right_before, right_after; /* NAN = not known */
    bool start_changed;
    bool refused; /* the other policy has no tier for it */
};

struct replay {
    const struct policy *policy;
    const struct tier_facts *facts; /* of the other policy's tiers */
    size_t tier_count;
    const struct outcomes *outcomes; /* sorted by id (replay_sort_outcomes), or NULL */
    struct replay_row *rows;
    size_t count, capacity;
    size_t skipped; /* records without signals, or not answered */
    /* Where exchanges started and what came of it, also of those that failed. */
    struct off_policy_row *starts;
    size_t start_count, start_capacity;
    /* Over all records, by tier of the other policy. */
    double ms_sum[RUNGS_MAX], ms_count[RUNGS_MAX];
    double *confidences; /* of device answers, ascending after replay_prepare */
    size_t confidence_count, confidence_capacity;
};

void replay_sort_outcomes(struct outcomes *outcomes);
/* A ledger_history_fn with a struct replay: the first pass, which learns times and confidences. */
enum td_status replay_learn(void *ctx, const struct ledger_history *row, struct td_error *err);
void replay_prepare(struct replay *replay);
/* The second pass: appends a row. */
enum td_status replay_add(void *ctx, const struct ledger_history *row, struct td_error *err);
void replay_deinit(struct replay *replay);

#endif
