/* Gives two kinds of figures. The limit is that of the machine: the bytes that must be read divided
 * by the read bandwidth, and the operations divided by the peak of the multiply-add. The prediction
 * is that of the engine. One and two layers of the model are run alone, so that their weights stay
 * in the cache; this gives the time of a layer's arithmetic. A whole token then takes, for each
 * layer and for the output matrix, the longer of that time and the time to read the weights. If the
 * measured figure is below the prediction, something else is slow: other programs, or code between
 * the parts. */
#include "engine/measure/roofline.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/sort.h"
#include "base/crypto/rng.h"
#include "base/time/clock.h"
#include "engine/model/memory.h"
#include "engine/session/session.h"
#include "kernels/peak.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* The test reads as many bytes as the model's weights have, again and again as decoding does, so
 * that the caches help as much as there. For a large model it reads this much, far more than caches
 * hold. */
#define READ_BYTES_MAX (UINT64_C(512) << 20)
#define READ_BYTES_MIN (UINT64_C(4) << 20)
#define READ_STREAMS 8 /* one stream waits for its own misses; more than 8 were not faster */
#define READ_ITEM_BYTES (UINT64_C(1) << 20)
#define READ_PASSES 5
#define PEAK_ROUNDS 20000 /* about 0.1 ms for an item */
#define PEAK_ITEMS 256
#define PEAK_PASSES 5
#define PROBE_PASSES 5
#define PROBE_DECODE_TOKENS 16

/* --- the machine --- */

typedef uint64_t lane __attribute__((vector_size(64)));

struct machine_job {
    const uint8_t *block;
    const struct kernels *kernels;
    bool peak_is_float;
    uint32_t item_count;
    atomic_uint next;
    _Atomic uint64_t sum; /* operations; or a sum that makes the reads necessary */
};

/* Reads READ_STREAMS streams at once, each with prefetches. */
static uint64_t read_item(const uint8_t *item)
{
    enum { STRIDE = READ_ITEM_BYTES / READ_STREAMS };
    lane sums[READ_STREAMS] = {{0}};
    for (size_t at = 0; at < STRIDE; at += sizeof(lane)) {
#pragma GCC unroll 8
        for (int s = 0; s < READ_STREAMS; s++) {
            lane value;
            const uint8_t *from = item + s * STRIDE + at;
            __builtin_prefetch(from + 1024, 0, 3);
            memcpy(&value, from, sizeof value);
            sums[s] ^= value;
        }
    }
    uint64_t all = 0;
    for (int s = 0; s < READ_STREAMS; s++)
        for (int i = 0; i < 8; i++)
            all ^= sums[s][i];
    return all;
}

static void read_items(void *ctx)
{
    struct machine_job *job = ctx;
    for (uint32_t i; (i = atomic_fetch_add(&job->next, 1)) < job->item_count;)
        atomic_fetch_xor(&job->sum, read_item(job->block + i * READ_ITEM_BYTES));
}

static void peak_items(void *ctx)
{
    struct machine_job *job = ctx;
    while (atomic_fetch_add(&job->next, 1) < job->item_count)
        atomic_fetch_add(&job->sum, job->peak_is_float
                                        ? kernels_peak_float(job->kernels, PEAK_ROUNDS)
                                        : kernels_peak_int8(job->kernels, PEAK_ROUNDS));
}

/* The shortest time of some passes, in seconds: what the machine can do when nothing disturbs
 * it. */
static double best_seconds(struct thread_pool *threads, thread_pool_fn *fn, struct machine_job *job,
                           int passes)
{
    double best = 0;
    for (int i = 0; i < passes; i++) {
        atomic_store(&job->next, 0);
        atomic_store(&job->sum, 0);
        double begin_ms = clock_monotonic_ms(NULL);
        thread_pool_run(threads, fn, job);
        double seconds = (clock_monotonic_ms(NULL) - begin_ms) / 1000.0;
        if (i == 0 || seconds < best)
            best = seconds;
    }
    return best;
}

static enum td_status measure_machine(const struct td_model *model, struct thread_pool *threads,
                                      struct roofline *out, struct td_error *err)
{
    uint64_t bytes = model->info.file_bytes;
    bytes = bytes > READ_BYTES_MAX ? READ_BYTES_MAX : bytes;
    bytes = bytes < READ_BYTES_MIN ? READ_BYTES_MIN : bytes;
    while (bytes > memory_ram_bytes() / 8 && bytes > READ_BYTES_MIN)
        bytes /= 2;
    bytes -= bytes % READ_ITEM_BYTES;
    uint8_t *block = memory_map(bytes);
    if (block == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory to measure the bandwidth: %llu bytes",
                         (unsigned long long)bytes);
    madvise(block, bytes, MADV_HUGEPAGE); /* without huge pages the figure changes little */
    memset(block, 1, bytes);
    struct machine_job job = {.block = block,
                              .kernels = model->kernels,
                              .peak_is_float = out->peak_is_float,
                              .item_count = (uint32_t)(bytes / READ_ITEM_BYTES)};
    out->read_bytes_per_s = (double)bytes / best_seconds(threads, read_items, &job, READ_PASSES);
    memory_unmap(block, bytes);
    job.item_count = PEAK_ITEMS;
    double seconds = best_seconds(threads, peak_items, &job, PEAK_PASSES);
    out->peak_ops_per_s = (double)atomic_load(&job.sum) / seconds;
    return TD_OK;
}

/* --- the model --- */

/* The bytes and elements that one token reads. */
struct reads {
    double bytes, elements;
};

static void add_weight(struct reads *reads, const struct weight *weight, double times)
{
    reads->bytes += times * (double)weight->rows * (double)weight->row_bytes;
    reads->elements += times * (double)weight->rows * (double)weight->cols;
}

static struct reads layer_reads(const struct td_model *model, struct layer *layer)
{
    struct reads reads = {0};
    const struct weight *weight;
    for (size_t i = 0; (weight = model_layer_weight(layer, i)) != NULL; i++)
        add_weight(&reads, weight, weight->expert_bytes ? model->expert_used_count : 1);
    return reads;
}

/* Bytes of the keys and values of one position, with two bytes for each element. */
static double cache_bytes(const struct td_model *model)
{
    double elements = 0;
    for (int kind = 0; kind < HEAD_KIND_COUNT; kind++)
        elements += (double)model->kv_heads[kind] * model_head_size(model, (enum head_kind)kind);
    return 2.0 * 2.0 * elements;
}

/* --- parts of the model, alone --- */

/* Milliseconds for a prompt of `count` tokens after `depth` positions; with step_by_step, the mean
 * for one token. */
static enum td_status time_pass(struct td_session *session, const int32_t *ids, uint32_t depth,
                                uint32_t count, bool step_by_step, bool logits, double *ms,
                                struct td_error *err)
{
    double times[PROBE_PASSES];
    float *row = logits ? session->workspace->logits : NULL;
    enum td_status status = TD_OK;
    for (int pass = 0; pass < PROBE_PASSES; pass++) {
        td_session_truncate(session, depth);
        double begin_ms = clock_monotonic_ms(NULL);
        for (uint32_t at = 0; status == TD_OK && at < count; at += step_by_step ? 1 : count)
            status =
                td_session_forward(session, ids + at, step_by_step ? 1 : count, row, logits, err);
        times[pass] = (clock_monotonic_ms(NULL) - begin_ms) / (step_by_step ? count : 1);
        if (status != TD_OK)
            return status;
    }
    sort_doubles(times, PROBE_PASSES);
    *ms = times[PROBE_PASSES / 2];
    return TD_OK;
}

/* The time of parts in milliseconds, with their weights in the cache if they fit it. */
struct parts {
    double prompt_ms; /* of the whole prompt */
    double token_ms;
    double output_ms;
};

static enum td_status probe_layers(const struct td_model *model, uint32_t layer_count,
                                   const struct roofline_options *options, const int32_t *ids,
                                   struct parts *parts, struct td_error *err)
{
    /* The same model, cut off after a few layers. It borrows everything. */
    struct td_model cut = *model;
    cut.layer_count = layer_count;
    uint32_t most =
        options->prompt_tokens > PROBE_DECODE_TOKENS ? options->prompt_tokens : PROBE_DECODE_TOKENS;
    struct td_session_options session_options = {.context_tokens = options->depth + most,
                                                 .thread_count = options->thread_count};
    struct td_session *session = NULL;
    double with_output_ms = 0;
    *parts = (struct parts){0};
    enum td_status status = td_session_new(&cut, &session_options, &session, err);
    if (status == TD_OK && options->depth)
        status = td_session_forward(session, ids, options->depth, NULL, 0, err);
    if (status == TD_OK && options->prompt_tokens)
        status = time_pass(session, ids, options->depth, options->prompt_tokens, false, false,
                           &parts->prompt_ms, err);
    if (status == TD_OK)
        status = time_pass(session, ids, options->depth, PROBE_DECODE_TOKENS, true, false,
                           &parts->token_ms, err);
    if (status == TD_OK)
        status = time_pass(session, ids, options->depth, PROBE_DECODE_TOKENS, true, true,
                           &with_output_ms, err);
    parts->output_ms = with_output_ms > parts->token_ms ? with_output_ms - parts->token_ms : 0;
    td_session_free(session);
    return status;
}

/* The time of all layers from that of one and two: the difference is one layer. */
static double extrapolate(double one, double two, uint32_t layer_count, double *layer)
{
    *layer = two > one ? two - one : one;
    double fixed = one > *layer ? one - *layer : 0;
    return fixed + *layer * layer_count;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static void judge_decode(struct roofline *out, double layers_ms, double read_ms, double total_ms)
{
    struct roofline_phase *phase = &out->decode;
    phase->predicted_tokens_per_s = 1000.0 / total_ms;
    bool memory = read_ms >= layers_ms;
    phase->bottleneck = memory ? "memory" : "compute";
    phase->reason = memory ? "reading the weights takes longer than working on them"
                           : "working on the weights takes longer than reading them";
}

static enum td_status predict(const struct td_model *model, const struct roofline_options *options,
                              const int32_t *ids, struct roofline *out, struct td_error *err)
{
    struct parts one, two;
    uint32_t layers = model->layer_count;
    enum td_status status = probe_layers(model, 1, options, ids, &one, err);
    if (status == TD_OK)
        status = probe_layers(model, layers > 1 ? 2 : 1, options, ids, &two, err);
    if (status != TD_OK)
        return status;
    struct reads sum = {0}, output = {0};
    for (uint32_t i = 0; i < layers; i++) {
        struct reads layer = layer_reads(model, &model->layers[i]);
        sum.bytes += layer.bytes;
        sum.elements += layer.elements;
    }
    add_weight(&output, &model->output, 1);
    double middle = options->depth + options->decode_tokens / 2.0;
    double kv_bytes = cache_bytes(model) * middle;
    double second_ms = 1000.0 / out->read_bytes_per_s, layer_ms, prompt_layer_ms;
    out->bytes_per_token = sum.bytes + output.bytes + kv_bytes;
    out->ops_per_token = 2 * sum.elements;
    double layers_ms = extrapolate(one.token_ms, two.token_ms, layers, &layer_ms);
    double read_ms = (sum.bytes + kv_bytes) * second_ms;
    double total_ms = larger(layers_ms, read_ms) + larger(one.output_ms, output.bytes * second_ms);
    out->decode.limit_tokens_per_s = 1000.0 / (out->bytes_per_token * second_ms);
    judge_decode(out, layers_ms + one.output_ms, out->bytes_per_token * second_ms, total_ms);
    if (options->prompt_tokens == 0)
        return TD_OK;
    double prompt_ms = extrapolate(one.prompt_ms, two.prompt_ms, layers, &prompt_layer_ms);
    double peak_ms = out->ops_per_token / out->peak_ops_per_s * 1000.0;
    double count = options->prompt_tokens;
    struct roofline_phase *prefill = &out->prefill;
    /* The weights must be read at least once, and all products computed. */
    double limit_ms = larger(peak_ms * count, out->bytes_per_token * second_ms);
    prefill->limit_tokens_per_s = 1000.0 * count / limit_ms;
    prefill->predicted_tokens_per_s = 1000.0 * count / (prompt_ms + one.output_ms);
    bool compute = peak_ms * count >= 0.15 * prompt_ms;
    prefill->bottleneck = compute ? "compute" : "overhead";
    prefill->reason = compute ? "products fill most of the time; unpacking, scales and attention "
                                "keep them from the peak"
                              : "other work than products takes most of the time";
    return TD_OK;
}

/* Whether most of the layers' weights multiply as floats. */
static bool multiplies_floats(const struct td_model *model)
{
    const struct layer *layer = &model->layers[0];
    return layer->gate.form == ACTIVATION_F32 && layer->q.form == ACTIVATION_F32;
}

enum td_status roofline_measure(const struct td_model *model,
                                const struct roofline_options *options, struct roofline *out,
                                struct td_error *err)
{
    ASSERT(!model->vocab_only && model->encoder == NULL);
    *out = (struct roofline){.peak_is_float = multiplies_floats(model)};
    struct thread_pool *threads = thread_pool_new(options->thread_count);
    uint32_t most = options->depth + options->prompt_tokens + PROBE_DECODE_TOKENS;
    int32_t *ids = malloc(most * sizeof *ids);
    if (threads == NULL || ids == NULL) {
        thread_pool_free(threads);
        free(ids);
        return error_set(err, TD_NO_MEMORY, "no memory to measure the machine");
    }
    struct rng rng;
    rng_init(&rng, 2);
    for (uint32_t i = 0; i < most; i++)
        ids[i] = (int32_t)rng_below(&rng, model->vocab_count);
    out->thread_count = thread_pool_count(threads);
    enum td_status status = measure_machine(model, threads, out, err);
    thread_pool_free(threads); /* before the sessions make theirs: spinning threads would disturb */
    if (status == TD_OK)
        status = predict(model, options, ids, out, err);
    free(ids);
    return status;
}
