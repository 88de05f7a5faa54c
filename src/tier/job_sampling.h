/* Sampling members of a request's body under llama.cpp's names that td_sampling does not hold
 * (dry_sequence_breakers, dry_penalty_last_n, ignore_eos), and the model's recommended settings for
 * what the body leaves open. No state; any thread. */
#ifndef TIER_JOB_SAMPLING_H
#define TIER_JOB_SAMPLING_H

#include "base/json.h"
#include "engine/session/scheduler.h"

/* Reads them into job->dry and job->options; body may be NULL. On TD_INVALID, *member (unless NULL)
 * is the name of the faulty member. */
TD_MUST_CHECK enum td_status job_sampling_read(const struct json *body, struct job_request *job,
                                               const char **member, struct td_error *err);

/* A copy of the members that concern sampling. A request that goes on without its body keeps them,
 * so that the model's recommendations still fill only what the body left open. **returns new**
 * (json_free); NULL for NULL or without memory. */
struct json *job_sampling_members(const struct json *body);

/* Writes the model's recommended settings to *sampling, except those that the body sets. With body
 * NULL nothing is written: the settings then come from a program, which means all of them. */
void job_sampling_recommend(const struct json *body, const struct td_sampling *recommended,
                            struct td_sampling *sampling);

#endif
