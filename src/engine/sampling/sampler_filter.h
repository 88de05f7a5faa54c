/* The filters of a sampler: top-n-sigma and typical-p on the distribution at temperature 1, then
 * top-k, top-p and min-p on what these keep. One thread. */
#ifndef ENGINE_SAMPLER_FILTER_H
#define ENGINE_SAMPLER_FILTER_H

#include "engine/sampling/sampler.h"

/* Whether a comes before b: larger logit, then smaller id. */
bool sampler_before(struct sampler_candidate a, struct sampler_candidate b);

/* Whether a candidate list is needed at all. */
bool sampler_filters(const struct td_sampling *sampling);

/* Fills row->candidates, in order of id, with the tokens whose logits are at least `cut`. Returns
 * their number. cut -INFINITY: all tokens whose probability is not 0. row->blocks must hold the
 * maxima of the blocks. */
uint32_t sampler_collect(const struct sampler_row *row, float cut);

/* Fills row->candidates with the tokens that the filters keep; returns their number, at least 1.
 * With top-k or top-p they are sorted, the best one first. */
uint32_t sampler_filter(const struct td_sampling *sampling, const struct sampler_row *row,
                        const struct logit_stats *stats);

#endif
