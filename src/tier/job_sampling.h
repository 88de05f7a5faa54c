/* What a body says of sampling under llama.cpp's names, beyond the numbers of td_sampling
 * (dry_sequence_breakers, dry_penalty_last_n and ignore_eos), and what it leaves to the model. No
 * state. */
#ifndef TIER_JOB_SAMPLING_H
#define TIER_JOB_SAMPLING_H

#include "base/json.h"
#include "engine/session/scheduler.h"

/* Into job->dry and job->options; body may be NULL. TD_INVALID with *member (unless NULL) the name of
 * the one at fault. */
TD_MUST_CHECK enum td_status job_sampling_read(const struct json *body, struct job_request *job,
                                               const char **member, struct td_error *err);

/* The members of a body that speak of sampling, so that a request of which nothing else goes on still leaves to the model what its body did.
 * **returns new**; NULL for NULL, or without memory. */
struct json *job_sampling_members(const struct json *body);

/* Into *sampling what the model recommends of the settings that the body does not name. body NULL:
 * nothing, for then the settings come from a program that means all of them. */
void job_sampling_recommend(const struct json *body, const struct td_sampling *recommended,
                            struct td_sampling *sampling);

#endif
