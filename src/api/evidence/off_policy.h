/* What a policy that never ran would have been worth, from exchanges whose start was drawn with a
 * known probability (router/plan/explore.c).
 *
 * With p the probability of the start a under the policy that ran, t under the other one, and r
 * what came of it, the value of the other policy is estimated in two ways:
 *
 *   IPS            mean of t(a) / p(a) * r
 *   doubly robust  mean of sum_b t(b) q(b) + t(a) / p(a) * (r - q(a))
 *
 * (Horvitz and Thompson 1952, "A Generalization of Sampling Without Replacement from a Finite
 * Universe"; Dudik, Langford and Li 2011, "Doubly Robust Policy Evaluation and Learning"). Neither
 * is biased when p is right. q is what was seen of other exchanges that started on a tier, by the
 * classifier's p_local; the better it is, the narrower the second interval. It is learnt from other
 * folds than the one that it is used in.
 *
 * Where a reward is known of a share of the answers only, that share divides, too: by where the
 * answer came from, who is judged is taken to be chance. An exchange that the policy that ran could
 * not have started where the other one does says nothing and is left out. */
#ifndef API_OFF_POLICY_H
#define API_OFF_POLICY_H

#include "router/learn/bootstrap.h"
#include "router/plan/policy.h"

/* Fewer exchanges than that which began where only the other policy begins say nothing. */
#define OFF_POLICY_MATCHED_MIN 30

enum off_policy_reward { REWARD_COST, REWARD_MS, REWARD_LOCAL, REWARD_RIGHT, REWARD_COUNT };
/* Where the answer came from. */
enum off_policy_end { END_DEVICE, END_ELSEWHERE, END_FAILED, END_COUNT };

struct off_policy_row {
    size_t start;           /* tier */
    float ran[RUNGS_MAX];   /* probabilities of all starts under the policy that ran */
    float other[RUNGS_MAX]; /* and under the other one; all 0: it refuses */
    enum off_policy_end end;
    float p_local;               /* NAN = not judged */
    double reward[REWARD_COUNT]; /* NAN = not known */
};

struct off_policy {
    size_t exchanges;
    size_t supported; /* of which something can be said */
    size_t drawn;     /* of which another start was possible */
    size_t moved;     /* that start elsewhere under the other policy */
    double effective; /* exchanges that would say as much without weights (Kish) */
    struct off_policy_column {
        size_t known;   /* exchanges with this reward */
        size_t matched; /* of moved: those that a draw started where the other policy does */
        bool enough;
        struct bootstrap_interval ran, ips, robust;
    } columns[REWARD_COUNT];
};

/* TD_NO_MEMORY. */
TD_MUST_CHECK enum td_status off_policy_estimate(const struct off_policy_row *rows, size_t count,
                                                 struct off_policy *out, struct td_error *err);

#endif
