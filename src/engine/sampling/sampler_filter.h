/* The filters of a sampler: top-n-sigma, typical-p on the distribution at temperature 1, then
 * top-k, top-p and min-p on what they kept. Most of the vocabulary is passed over in blocks. One
 * thread. */
#ifndef ENGINE_SAMPLER_FILTER_H
#define ENGINE_SAMPLER_FILTER_H

#include "engine/sampling/sampler.h"

/* Whether a comes before b: larger logit, then smaller id. */
bool sampler_before(struct sampler_candidate a, struct sampler_candidate b);

/* Whether a candidate list is needed at all. */
bool sampler_filters(const struct td_sampling *sampling);

/* Fills row->candidates with the tokens whose logits are at least `cut` (-INFINITY: all that have
 * any probability), by id; returns their number. row->blocks: the blocks' maxima. */
uint32_t sampler_collect(const struct sampler_row *row, float cut);

/* Fills row->candidates with what the filters keep, best first where top-k or top-p is on; returns
 * the number, at least 1. */
uint32_t sampler_filter(const struct td_sampling *sampling, const struct sampler_row *row,
                        const struct logit_stats *stats);

#endif
