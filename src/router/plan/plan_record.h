/* All that a plan was made from, as JSON, and back: with the same policy the record gives the same
 * plan. Beside it a record has members of its own that people read (class, mode, task, ...); what
 * is written here is what they leave out. Only what differs from the usual is written.
 *
 * Pure; any thread. */
#ifndef ROUTER_PLAN_RECORD_H
#define ROUTER_PLAN_RECORD_H

#include "base/json/json_writer.h"
#include "router/plan/policy.h"

struct plan_record_input {
    const struct signals *signals;    /* after policy_apply_rules */
    enum td_mode mode;                /* that the request asked for */
    const struct td_weights *weights; /* that the request brought */
    const struct tier_facts *facts;   /* [tier_count] */
    const struct tier_state *states;  /* [tier_count] */
    size_t tier_count;
    bool keep_nothing; /* no words of the request */
};

/* As the member `name` of what is being written. */
void plan_record_write(const struct plan_record_input *input, const char *name,
                       struct json_writer *to);

/* What the lists of the signals point to. */
struct plan_record_lists {
    const char *tags[TD_TAGS_MAX];
    const char *regions[TD_REGIONS_MAX + 1];
};

/* Puts the record over the signals (as they are before policy_apply_rules), the facts and the
 * states. Tiers that the record does not have stay as they are. *signals borrows from record and
 * *lists. */
void plan_record_read(const struct json *record, struct plan_record_lists *lists,
                      struct signals *signals, struct td_weights *weights, struct tier_facts *facts,
                      struct tier_state *states, size_t tier_count);

#endif
