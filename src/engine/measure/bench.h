/* Measures the speed of the engine on a model, for `tandem bench engine`. One thread. */
#ifndef ENGINE_BENCH_H
#define ENGINE_BENCH_H

#include "tandem/engine.h"

struct bench_options {
    uint32_t prompt_tokens; /* 0 = do not measure prefill */
    uint32_t decode_tokens; /* 0 = do not measure decoding */
    uint32_t depth;         /* cached positions before either */
    uint32_t thread_count;  /* 0 = one for each fast core */
    enum td_kv_type kv_type;
    uint32_t repetitions; /* 0 = 3; the result is their median */
};

struct bench_result {
    double prefill_tokens_per_s; /* prompt_tokens at once, with logits of the last */
    double decode_tokens_per_s;  /* decode_tokens one by one */
    uint32_t thread_count;
};

/* Runs random token ids from a fixed seed. TD_LIMIT when the counts do not fit the model's
 * context. */
TD_MUST_CHECK enum td_status bench_engine(const struct td_model *model,
                                          const struct bench_options *options,
                                          struct bench_result *result, struct td_error *err);

#endif
