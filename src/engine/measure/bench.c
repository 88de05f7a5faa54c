/* Measures prefill and decoding speed on random tokens. Speed does not depend on the tokens, so the
 * figures need no text and no tokenizer. The median of a few repetitions is given, because other
 * programs disturb single runs. The first run is not counted: it maps the weights. */
#include "engine/measure/bench.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/sort.h"
#include "base/crypto/rng.h"
#include "base/time/clock.h"
#include "engine/session/session.h"

#include <stdlib.h>

#define REPETITIONS_DEFAULT 3
#define REPETITIONS_MAX 64

static double median(double *values, uint32_t count)
{
    sort_doubles(values, count);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* Seconds for `count` tokens in steps of `step`, after `depth` cached positions. */
static enum td_status time_tokens(struct td_session *session, const int32_t *ids, uint32_t depth,
                                  uint32_t count, uint32_t step, double *seconds,
                                  struct td_error *err)
{
    td_session_truncate(session, depth);
    double begin_ms = clock_monotonic_ms(NULL);
    for (uint32_t at = 0; at < count; at += step) {
        uint32_t tokens = count - at < step ? count - at : step;
        enum td_status status =
            td_session_forward(session, ids + at, tokens, session->workspace->logits, 1, err);
        if (status != TD_OK)
            return status;
    }
    *seconds = (clock_monotonic_ms(NULL) - begin_ms) / 1000.0;
    return TD_OK;
}

static enum td_status measure(struct td_session *session, const int32_t *ids,
                              const struct bench_options *options, uint32_t count, uint32_t step,
                              double *tokens_per_s, struct td_error *err)
{
    uint32_t repetitions = options->repetitions ? options->repetitions : REPETITIONS_DEFAULT;
    double seconds[REPETITIONS_MAX], warm_up;
    *tokens_per_s = 0;
    if (count == 0)
        return TD_OK;
    /* A warm-up: the first pass maps the weights. */
    uint32_t warm_count = step == 1 && count > 4 ? 4 : count;
    enum td_status status =
        time_tokens(session, ids, options->depth, warm_count, step, &warm_up, err);
    for (uint32_t i = 0; status == TD_OK && i < repetitions; i++)
        status = time_tokens(session, ids, options->depth, count, step, &seconds[i], err);
    if (status == TD_OK)
        *tokens_per_s = count / median(seconds, repetitions);
    return status;
}

static enum td_status run(struct td_session *session, const int32_t *ids, uint32_t most,
                          const struct bench_options *options, struct bench_result *result,
                          struct td_error *err)
{
    enum td_status status = TD_OK;
    result->thread_count = thread_pool_count(session->threads);
    if (options->depth)
        status = td_session_forward(session, ids, options->depth, NULL, 0, err);
    if (status == TD_OK)
        status = measure(session, ids, options, options->prompt_tokens, most,
                         &result->prefill_tokens_per_s, err);
    if (status == TD_OK)
        status = measure(session, ids, options, options->decode_tokens, 1,
                         &result->decode_tokens_per_s, err);
    return status;
}

enum td_status bench_engine(const struct td_model *model, const struct bench_options *options,
                            struct bench_result *result, struct td_error *err)
{
    ASSERT(options != NULL && result != NULL);
    *result = (struct bench_result){0};
    uint32_t most = options->prompt_tokens > options->decode_tokens ? options->prompt_tokens
                                                                    : options->decode_tokens;
    uint32_t positions;
    if (most == 0 || options->repetitions > REPETITIONS_MAX)
        return error_set(err, TD_INVALID, "nothing to measure, or more than %d repetitions",
                         REPETITIONS_MAX);
    if (__builtin_add_overflow(most, options->depth, &positions) ||
        (positions > model->context_size && !model->vocab_only))
        return error_set(err, TD_LIMIT,
                         "%u tokens after %u others do not fit the model's context of %u", most,
                         options->depth, model->context_size);
    struct td_session *session;
    struct td_session_options session_options = {.context_tokens = positions,
                                                 .thread_count = options->thread_count,
                                                 .kv_type = options->kv_type};
    enum td_status status = td_session_new(model, &session_options, &session, err);
    if (status != TD_OK)
        return status;
    int32_t *ids = malloc(positions * sizeof *ids);
    struct rng rng;
    rng_init(&rng, 1);
    for (uint32_t i = 0; ids && i < positions; i++)
        ids[i] = (int32_t)rng_below(&rng, model->vocab_count);
    status = ids ? run(session, ids, most, options, result, err)
                 : error_set(err, TD_NO_MEMORY, "no memory for %u ids", positions);
    free(ids);
    td_session_free(session);
    return status;
}
