/* The filters of a sampler: typical-p on the distribution at temperature 1, then top-k, top-p and min-p on
 * what it kept. One thread. */
#ifndef ENGINE_SAMPLER_FILTER_H
#define ENGINE_SAMPLER_FILTER_H

#include "engine/sampler.h"

/* Whether a comes before b: larger logit, then smaller id. */
bool sampler_before(struct sampler_candidate a, struct sampler_candidate b);

bool sampler_filters(const struct td_sampling *sampling); /* whether any filter is on */

/* Fills `candidates` ([vocab_count]) with what the filters keep, best first; returns the number, at least 1. */
uint32_t sampler_filter(const struct td_sampling *sampling, const float *logits,
                        uint32_t vocab_count, const struct logit_stats *stats,
                        struct sampler_candidate *candidates);

#endif
