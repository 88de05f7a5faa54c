/* A gate: a YAML file of limits that a compressed model must keep, so that a script promotes it or
 * does not. Each key is optional:
 *
 *   max_kld, max_kld_p99      divergence, nats a token, on texts and on answers
 *   min_same_top              share of tokens whose likeliest token is the reference's, on both
 *   max_perplexity_ratio      on texts, to the reference's perplexity
 *   max_flips                 share of prompts whose answer is another one
 *   max_cluster_flips         the same for each task and cluster; refused when chance does not
 *                             explain what is above it (quant/measure/flips.h)
 *   max_right_loss            share of known answers that the reference has right and this one not
 *   min_prompts               fewer are not enough for a verdict on flips; default 100
 *   max_bytes, max_memory_bytes, min_prefill_tokens_per_s, min_decode_tokens_per_s
 */
#ifndef APP_QUALITY_GATE_H
#define APP_QUALITY_GATE_H

#include "app/quality/quality.h"
#include "base/bytes/arena.h"

#define QUALITY_REASONS_MAX 24
#define QUALITY_REASON_BYTES 192

/* NAN: the file does not have the key. */
struct quality_gate {
    double max_kld, max_kld_p99, min_same_top, max_perplexity_ratio;
    double max_flips, max_cluster_flips, max_right_loss, min_prompts;
    double max_bytes, max_memory_bytes, min_prefill, min_decode;
};

/* What an evaluation will measure. */
struct quality_gate_means {
    bool texts, prompts, speed;
};

struct quality_verdict {
    char reasons[QUALITY_REASONS_MAX][QUALITY_REASON_BYTES]; /* why it is refused */
    size_t reason_count;                                     /* 0 = promoted */
    char notes[QUALITY_REASONS_MAX][QUALITY_REASON_BYTES];   /* what is not clear */
    size_t note_count;
};

/* TD_INVALID names the line, or a limit of what will not be measured. */
TD_MUST_CHECK enum td_status quality_gate_read(const char *label, struct td_str text,
                                               const struct quality_gate_means *means,
                                               struct quality_gate *out, struct td_error *err);
/* Whether it limits what a model says, and not only its size or speed. */
bool quality_gate_is_about_answers(const struct quality_gate *gate);
/* Judges one of the candidates. */
void quality_gate_judge(const struct quality_gate *gate, const struct quality *quality,
                        size_t number, struct quality_verdict *out);

#endif
