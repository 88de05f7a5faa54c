/* Speed of the engine on a model, for `tandem bench engine`. */
#ifndef ENGINE_BENCH_H
#define ENGINE_BENCH_H

#include "tandem/engine.h"

struct bench_options {
    uint32_t prompt_tokens; /* 0 = leave prefill out */
    uint32_t decode_tokens; /* 0 = leave decoding out */
    uint32_t depth;         /* positions in the cache before either */
    uint32_t thread_count;  /* 0 = one a fast core */
    enum td_kv_type kv_type;
    uint32_t repetitions; /* 0 = 3; the median is given */
};

struct bench_result {
    double
        prefill_tokens_per_s; /* prompt_tokens at once behind `depth` others, logits of the last */
    double decode_tokens_per_s; /* decode_tokens one by one behind `depth` others */
    uint32_t thread_count;
};

/* Random token ids from a fixed seed. TD_LIMIT when the counts do not fit the model's context. */
TD_MUST_CHECK enum td_status bench_engine(const struct td_model *model,
                                          const struct bench_options *options,
                                          struct bench_result *result, struct td_error *err);

#endif
