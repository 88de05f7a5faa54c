/* What a request says of sampling, as the engine's scheduler takes it. No state. */
#ifndef TIER_JOB_SAMPLING_H
#define TIER_JOB_SAMPLING_H

#include "engine/session/scheduler.h"
#include "request/request.h"

/* Into job->options.sampling, job->options.ignore_eos and job->dry. What the request leaves to the
 * model is what the model's file recommends. */
void job_sampling_set(const struct td_request *request, const struct td_sampling *recommended,
                      struct job_request *job);

#endif
