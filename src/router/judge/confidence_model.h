/* From what the decode loop knows for free to the probability that an answer is right: a logistic
 * model over a few features, then isotonic calibration. Two heads: `whole` for an answer that has
 * ended, `running` for the beginning of one (gate G2, abandoning early).
 *
 *   p(x) = sigma(bias + sum_i weight_i (x_i - mean_i) / scale_i),  y = knots(p)
 *
 * knots: a line through points that rise, from isotonic regression (Zadrozny and Elkan 2002,
 * "Transforming classifier scores into accurate multiclass probability estimates", section 3).
 * Quantiles, margins and length as features: Gupta et al. 2024, "Language Model Cascades:
 * Token-level uncertainty and beyond", section 4.
 *
 * The distribution of such features belongs to a model, its quantisation, its chat template and
 * its tokenizer, so a file is bound to them (struct confidence_binding) and used with nothing else.
 * A JSON text of some kilobytes; immutable once read; any thread. */
#ifndef ROUTER_CONFIDENCE_MODEL_H
#define ROUTER_CONFIDENCE_MODEL_H

#include "base/bytes/buf.h"
#include "router/judge/second_signal.h"

#define CONFIDENCE_KNOTS_MAX 64
#define CONFIDENCE_DIGEST_BYTES 17
/* Risks for which a calibration has thresholds: 2, 5 and 10 %. */
#define CONFIDENCE_RISK_COUNT 3

enum confidence_feature {
    CONFIDENCE_MIN_LOGPROB, /* quantiles of the tokens' log-probabilities, by nearest rank */
    CONFIDENCE_Q05_LOGPROB,
    CONFIDENCE_Q10_LOGPROB,
    CONFIDENCE_Q25_LOGPROB,
    CONFIDENCE_MEAN_LOGPROB,
    CONFIDENCE_FIRST_LOGPROB,
    CONFIDENCE_MEAN_MARGIN, /* p(best) - p(second) */
    CONFIDENCE_MIN_MARGIN,
    CONFIDENCE_MEAN_ENTROPY, /* nats */
    CONFIDENCE_LENGTH,       /* log(1 + tokens) */
    CONFIDENCE_ENDED,        /* 1 = by itself, 0 = cut or still running */
    CONFIDENCE_MINE,         /* log(1 - p(not mine)) at the first token */
    CONFIDENCE_PROBE,        /* log-odds of the probe; 0 where the model has none */
    CONFIDENCE_FEATURE_COUNT
};

struct confidence_features {
    double value[CONFIDENCE_FEATURE_COUNT]; /* finite */
};

struct confidence_head {
    double mean[CONFIDENCE_FEATURE_COUNT], scale[CONFIDENCE_FEATURE_COUNT]; /* scale > 0 */
    double weight[CONFIDENCE_FEATURE_COUNT], bias;
    double knot_p[CONFIDENCE_KNOTS_MAX], knot_y[CONFIDENCE_KNOTS_MAX]; /* rising, in [0, 1] */
    uint32_t knot_count;                                               /* at least 1 */
};

/* What the features belong to. Each a name or a digest of 16 hex digits. */
struct confidence_binding {
    char model[64];
    char quantization[16];
    char fingerprint[CONFIDENCE_DIGEST_BYTES]; /* of metadata and tensor directory */
    char weights[CONFIDENCE_DIGEST_BYTES];     /* of samples of the weights' bytes */
    char template[CONFIDENCE_DIGEST_BYTES];    /* of what it makes of a fixed conversation */
    char tokenizer[CONFIDENCE_DIGEST_BYTES];   /* of what it makes of a fixed text */
};

struct confidence_model {
    struct confidence_binding binding;
    struct confidence_head whole, running;
    uint32_t samples;
    /* At or above threshold[i], a whole answer may be kept: at most the share
     * confidence_risks[i] of all questions is then kept and wrong (learn/risk.h). INFINITY: nothing
     * may. Written by `tandem calibrate`. */
    bool has_thresholds;
    double threshold[CONFIDENCE_RISK_COUNT];
    struct second_scale second;           /* of a second signal; SECOND_OFF: it was not measured */
    char digest[CONFIDENCE_DIGEST_BYTES]; /* of the heads: what tuned thresholds belong to */
};

extern const double confidence_risks[CONFIDENCE_RISK_COUNT];

double confidence_head_value(const struct confidence_head *head,
                             const struct confidence_features *features); /* 0..1 */
/* The logistic part alone. */
double confidence_head_raw(const struct confidence_head *head,
                           const struct confidence_features *features);
/* A line through the knots, level beyond the first and last. */
double confidence_knots_value(const double *knot_p, const double *knot_y, size_t count, double p);

/* NULL when both are the same, else the name of the first member that differs. */
const char *confidence_binding_difference(const struct confidence_binding *a,
                                          const struct confidence_binding *b);

/* Of all members. */
void confidence_binding_digest(const struct confidence_binding *binding,
                               char out[static CONFIDENCE_DIGEST_BYTES]);

/* TD_INVALID with the member and what is wrong. */
TD_MUST_CHECK enum td_status confidence_model_read(struct td_str text, struct confidence_model *out,
                                                   struct td_error *err);
void confidence_model_write(const struct confidence_model *model, struct buf *out);

#endif
