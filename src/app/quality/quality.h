/* What a compressed model costs beside its reference, on texts and on prompts such as one's own
 * traffic: the results of an evaluation, and how it is made. One thread; blocks.
 *
 * A flip is a prompt to which a candidate's answer is another one than the reference's. Both answer
 * greedily, and answers are compared as those of shadows are (router/watch/agreement.h): in case,
 * marks and wording they may differ. With labels, the answer is the likeliest label.
 *
 * The divergence of answers is measured on the tokens of the reference's answer, after the same
 * prompt and the same tokens before. So one other token at the beginning does not make all that
 * follow differ. */
#ifndef APP_QUALITY_H
#define APP_QUALITY_H

#include "app/quality/quality_cases.h"
#include "engine/measure/bench.h"
#include "engine/measure/divergence.h"
#include "quant/measure/flips.h"

#include <stdatomic.h>

#define QUALITY_MODELS_MAX 16
#define QUALITY_GROUPS_MAX 64
#define QUALITY_NAME_BYTES 64

/* Prompts of one task, or of one cluster of similar ones. */
struct quality_group {
    bool is_task;
    char name[QUALITY_NAME_BYTES];
    size_t count;
};

/* A candidate on the prompts of a group. */
struct quality_score {
    struct flips_group flips;
    double kld, kld_error; /* nats a token, its standard error; NAN = not known */
};

struct quality_model {
    const char *path; /* borrowed */
    char name[QUALITY_NAME_BYTES];
    char quantization[16];
    uint64_t parameter_count, file_bytes;
    uint64_t memory_bytes; /* of the weights and of a cache of context_tokens */
    uint32_t context_tokens;
    struct bench_result speed; /* of random tokens; 0 = not measured */
    size_t right_count;        /* of the prompts with a known answer */
    /* Of candidates: */
    struct divergence_result texts, answers; /* token_count 0 = not measured */
    struct flips_group flips;                /* of all prompts */
    size_t lost_count;                       /* the reference's answer was right, and this is not */
    struct quality_score *scores;            /* [group_count] */
};

struct quality {
    struct quality_model models[QUALITY_MODELS_MAX + 1]; /* the reference, then the candidates */
    size_t model_count;
    struct quality_cases cases;
    size_t known_count; /* prompts with a known answer */
    struct quality_group groups[QUALITY_GROUPS_MAX];
    size_t group_count;
    uint64_t text_tokens;
};

struct quality_options {
    const char *const *paths; /* [path_count] the reference, then candidates */
    size_t path_count;
    enum td_cpu cpu;
    enum td_kv_type kv_type;  /* of the candidates' cache; the reference has F16 */
    const char *const *texts; /* [text_count] files */
    size_t text_count;
    struct td_str lines;    /* of prompts */
    const char *lines_name; /* in messages */
    size_t cases_max;
    uint32_t answer_tokens;   /* of an answer, at most */
    uint32_t context_tokens;  /* most tokens of a prompt and its answer */
    uint32_t text_tokens_max; /* of the texts, to predict; 0 = all */
    uint32_t threads;
    bool speed;           /* measure it */
    double cluster_flips; /* the limit that a gate has; NAN = none */
    const struct similarity *similarity;
    const atomic_bool *cancel;
    void (*progress)(void *ctx, const char *what, uint64_t done, uint64_t total); /* or NULL */
    void *progress_ctx;
};

/* quality_deinit also after a failure. TD_INVALID: a candidate has another vocabulary, or a line is
 * wrong; TD_CANCELLED. */
TD_MUST_CHECK enum td_status quality_measure(const struct quality_options *options,
                                             struct quality *out, struct td_error *err);
void quality_deinit(struct quality *quality);

#endif
