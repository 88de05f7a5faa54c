/* Speed of the kernels, one thread: every weight type and variant on decode (one token) and prefill
 * shapes, with the measured read bandwidth beside it.
 *
 *   bench_kernels [variant] [type]      e.g. bench_kernels avx512 Q4_0; without arguments all
 *
 * Decode walks over DECODE_BYTES of weights, far more than the inner caches, and reports GB/s of
 * weights. Prefill reports GOPS (a multiply-add is two). Medians of several runs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text/names.h"
#include "kernels/kernels.h"
#include "kernels/kv_page.h"

enum { RUNS = 7 };
#define DECODE_BYTES ((size_t)512 << 20)

/* Of this thread's processor time: what other programs take does not count. */
static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values)
{
    qsort(values, RUNS, sizeof *values, compare_doubles);
    return values[RUNS / 2];
}

static void *allocate(size_t bytes)
{
    void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (memory == NULL) {
        fprintf(stderr, "bench_kernels: no memory for %zu bytes\n", bytes);
        exit(1);
    }
    return memory;
}

static uint64_t random_state = 1;
static uint64_t random_u64(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return random_state;
}

/* Random bits with the exponent's top bit of every 16-bit word clear: no infinity or NaN as a
 * scale. */
static void fill_weights(uint8_t *weights, size_t bytes)
{
    for (size_t i = 0; i + 8 <= bytes; i += 8) {
        uint64_t value = random_u64() & 0xbfbfbfbfbfbfbfbfu;
        memcpy(weights + i, &value, sizeof value);
    }
}

/* Exponents of trained weights: with random ones most products are subnormal or infinite, and
 * slow. */
static void fill_exponents(uint8_t *weights, size_t bytes, size_t block_bytes)
{
    for (size_t i = 0; i < bytes; i += block_bytes)
        weights[i] = (uint8_t)(112 + random_u64() % 16);
}

static double read_bandwidth(const uint8_t *memory)
{
    double seconds[RUNS];
    volatile uint64_t sink = 0;
    for (int run = 0; run < RUNS; run++) {
        uint64_t sums[8] = {0};
        double start = now_s();
        for (size_t i = 0; i < DECODE_BYTES; i += 64) {
            uint64_t line[8];
            memcpy(line, memory + i, sizeof line);
            for (size_t j = 0; j < 8; j++)
                sums[j] += line[j];
        }
        seconds[run] = now_s() - start;
        for (size_t j = 0; j < 8; j++)
            sink += sums[j];
    }
    (void)sink;
    return (double)DECODE_BYTES / median(seconds) * 1e-9;
}

struct shape {
    enum tensor_type type;
    size_t rows, cols, tokens;
};

/* Seconds of one product. `span` bytes of weights are walked through, so that small matrices come
 * from memory as they do in a model; prefill uses the one matrix again. */
static double time_matmul(const struct kernels *kernels, struct shape shape, const uint8_t *weights,
                          size_t span)
{
    const struct tensor_traits *traits = tensor_traits_get(shape.type);
    size_t row_bytes = shape.cols / traits->block_elements * traits->block_bytes;
    size_t matrix = row_bytes * shape.rows, at = 0;
    enum activation_form form = kernels->form_of(shape.type);
    size_t stride = kernels->activation_bytes(form, shape.cols);
    uint8_t *acts = allocate(stride * (shape.tokens + KERNELS_PANEL_TOKENS));
    float *x = allocate(shape.cols * KERNELS_PANEL_TOKENS * sizeof *x),
          *y = allocate(shape.rows * shape.tokens * sizeof *y);
    size_t in_panels = kernels_panel_tokens(kernels, form, shape.tokens);
    for (size_t i = 0; i < shape.cols * KERNELS_PANEL_TOKENS; i++)
        x[i] = (float)(int64_t)(random_u64() >> 40) / (1 << 23) - 1.0f;
    for (size_t t = 0; t < in_panels; t += KERNELS_PANEL_TOKENS)
        kernels->panel_prepare(form, x, shape.cols, shape.cols,
                               in_panels - t < KERNELS_PANEL_TOKENS ? in_panels - t
                                                                    : KERNELS_PANEL_TOKENS,
                               acts + t * stride);
    for (size_t t = in_panels; t < shape.tokens; t++)
        kernels->activation_prepare(form, x, shape.cols, acts + t * stride);
    size_t repeats = span / matrix > 0 ? span / matrix : 1;
    double seconds[RUNS];
    for (int run = 0; run < RUNS; run++) {
        double start = now_s();
        for (size_t i = 0; i < repeats; i++) {
            if (in_panels)
                kernels->matmul_panels(shape.type, weights + at, row_bytes, shape.cols, 0,
                                       shape.rows, acts, stride, in_panels, y, shape.rows);
            kernels->matmul(shape.type, weights + at, row_bytes, shape.cols, 0, shape.rows,
                            acts + in_panels * stride, stride, shape.tokens - in_panels,
                            y + in_panels * shape.rows, shape.rows);
            at = span > matrix && at + 2 * matrix <= span ? at + matrix : 0;
        }
        seconds[run] = (now_s() - start) / (double)repeats;
    }
    free(acts);
    free(x);
    free(y);
    return median(seconds);
}

static void bench_type(const struct kernels *kernels, enum tensor_type type, uint8_t *weights)
{
    static const size_t sizes[][2] = {{576, 576},   {1536, 576},  {576, 1536},
                                      {2048, 2048}, {8192, 2048}, {2048, 8192}};
    const struct tensor_traits *traits = tensor_traits_get(type);
    bool reference = strcmp(kernels->name, "ref") == 0;
    if (type == TENSOR_MXFP4)
        fill_exponents(weights, DECODE_BYTES, traits->block_bytes);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct shape shape = {type, sizes[i][0], sizes[i][1], 1};
        if (shape.cols % traits->block_elements)
            continue;
        double bytes =
            (double)(shape.rows * (shape.cols / traits->block_elements) * traits->block_bytes);
        double work = 2.0 * (double)shape.rows * (double)shape.cols;
        double decode = time_matmul(kernels, shape, weights, reference ? 0 : DECODE_BYTES);
        printf("%-7s %-5s [%5zu, %5zu] decode %6.2f GB/s %7.1f GOPS", kernels->name, traits->name,
               shape.rows, shape.cols, bytes / decode * 1e-9, work / decode * 1e-9);
        for (shape.tokens = 2; shape.tokens <= (reference ? 2u : 256u); shape.tokens *= 2)
            printf(" %zu: %.1f", shape.tokens,
                   work * (double)shape.tokens * 1e-9 / time_matmul(kernels, shape, weights, 0));
        printf("\n");
        fflush(stdout);
    }
}

/* `rows` queries (heads that share a kv head, of one token or more) against 4096 positions. */
static void bench_attend(const struct kernels *kernels, uint8_t *memory, enum td_kv_type kv_type,
                         size_t rows, float cap)
{
    enum { HEAD_SIZE = 64, COUNT = 4096, KV_HEADS = 8, ROWS_MAX = 96 };
    static float q[ROWS_MAX * HEAD_SIZE], sums[ROWS_MAX * HEAD_SIZE];
    static float keys[HEAD_SIZE * KV_PAGE_TOKENS], values[HEAD_SIZE * KV_PAGE_TOKENS];
    struct attend_state states[ROWS_MAX];
    size_t key_bytes = kv_keys_bytes(kv_type, HEAD_SIZE);
    size_t page_bytes = key_bytes + kv_values_bytes(kv_type, HEAD_SIZE);
    double seconds[RUNS];
    memset(memory, 0x11, page_bytes * KV_HEADS * COUNT / KV_PAGE_TOKENS); /* small numbers */
    for (int run = 0; run < RUNS; run++) {
        double start = now_s();
        for (size_t h = 0; h < KV_HEADS; h++) {
            for (size_t row = 0; row < rows; row++)
                states[row] = (struct attend_state){-INFINITY, 0};
            memset(sums, 0, sizeof sums);
            for (size_t page = 0; page < COUNT / KV_PAGE_TOKENS; page++) {
                const uint8_t *at = memory + (page * KV_HEADS + h) * page_bytes;
                struct attend_task task = {.keys = at,
                                           .values = at + key_bytes,
                                           .next_keys = at + KV_HEADS * page_bytes,
                                           .kv_type = kv_type,
                                           .head_size = HEAD_SIZE,
                                           .end = KV_PAGE_TOKENS,
                                           .scale = 0.125f,
                                           .cap = cap,
                                           .q = q,
                                           .rows = rows,
                                           .states = states,
                                           .sums = sums};
                if (rows > 8 || !kv_type_is_read_directly(kv_type)) {
                    kernels->kv_load(kv_type, at, at + key_bytes, HEAD_SIZE, KV_PAGE_TOKENS, keys,
                                     values);
                    task.keys = keys;
                    task.values = values;
                    task.kv_type = TD_KV_F32;
                }
                kernels->attend(&task);
            }
        }
        seconds[run] = now_s() - start;
    }
    double work = 4.0 * HEAD_SIZE * COUNT * KV_HEADS * (double)rows;
    double bytes = (double)page_bytes * KV_HEADS * COUNT / KV_PAGE_TOKENS;
    printf(
        "%-7s attend %s %2zu rows x %d kv heads of %d over %d positions%s: %.2f ms, %.1f GFLOPS, "
        "%.1f GB/s\n",
        kernels->name, names_kv_type(kv_type), rows, KV_HEADS, HEAD_SIZE, COUNT,
        cap > 0 ? ", capped" : "", median(seconds) * 1e3, work / median(seconds) * 1e-9,
        bytes / median(seconds) * 1e-9);
}

/* Values a nanosecond of the activations and of the cap on logits. */
static void bench_elements(const struct kernels *kernels)
{
    enum { COUNT = 8192, TIMES = 200 };
    static float from[COUNT], x[COUNT], y[COUNT];
    static const char *const names[] = {"silu", "gelu", "soft cap", "exact gelu"};
    for (size_t i = 0; i < COUNT; i++) {
        from[i] = (float)(i % 97) * 0.1f - 5.0f;
        y[i] = 1.0f;
    }
    for (int op = 0; op < 4; op++) {
        double seconds[RUNS];
        for (int run = 0; run < RUNS; run++) {
            double start = now_s();
            for (int time = 0; time < TIMES; time++) {
                memcpy(x, from, sizeof x);
                if (op == 0)
                    kernels->silu_multiply(x, y, COUNT);
                else if (op == 1)
                    kernels->gelu_multiply(x, y, COUNT);
                else if (op == 2)
                    kernels->soft_cap(x, 30.0f, COUNT);
                else
                    kernels->gelu(x, COUNT);
            }
            seconds[run] = now_s() - start;
        }
        printf("%-7s %s: %.2f values/ns\n", kernels->name, names[op],
               COUNT * (double)TIMES / (median(seconds) * 1e9));
    }
}

/* A step of the states of a Mamba-2 layer: 64 heads of 64 rows of 128, as in a model of 3B. They
 * are 2 MiB, which are read and written. */
static void bench_ssm(const struct kernels *kernels)
{
    enum { HEADS = 64, HEAD = 64, SIZE = 128, TIMES = 20 };
    static float state[HEADS][HEAD * SIZE], x[HEAD], y[HEAD], b[SIZE], c[SIZE];
    double seconds[RUNS];
    for (int i = 0; i < SIZE; i++)
        b[i] = c[i] = x[i % HEAD] = (float)(i % 13) * 0.1f;
    for (int run = 0; run < RUNS; run++) {
        double start = now_s();
        for (int i = 0; i < TIMES * HEADS; i++) {
            const struct ssm_task task = {state[i % HEADS], HEAD, SIZE, x, b, c, 0.9f, 0.1f, y};
            kernels->ssm_step(&task);
        }
        seconds[run] = (now_s() - start) / TIMES;
    }
    printf("%-7s ssm step of a layer: %.0f us\n", kernels->name, median(seconds) * 1e6);
}

int main(int argc, char **argv)
{
    static const enum td_cpu variants[] = {TD_CPU_REF, TD_CPU_AVX2, TD_CPU_AVX512, TD_CPU_NEON};
    uint8_t *weights = allocate(DECODE_BYTES + 64);
    fill_weights(weights, DECODE_BYTES);
    printf("read bandwidth, one stream: %.2f GB/s\n", read_bandwidth(weights));
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        const struct kernels *kernels = kernels_get(variants[i], NULL);
        if (kernels == NULL || (argc > 1 && strcmp(argv[1], kernels->name) != 0))
            continue;
        for (uint32_t type = 0; type < TENSOR_TYPE_COUNT; type++) {
            const struct tensor_traits *traits = tensor_traits_get(type);
            if (traits != NULL && (argc < 3 || strcmp(argv[2], traits->name) == 0))
                bench_type(kernels, (enum tensor_type)type, weights);
        }
        /* decode, then prefill */
        for (size_t rows = 1; rows <= 96; rows = rows == 4 ? 96 : rows + 1) {
            bench_attend(kernels, weights, TD_KV_F16, rows, 0);
            bench_attend(kernels, weights, TD_KV_Q8_0, rows, 0);
            bench_attend(kernels, weights, TD_KV_Q4_0, rows, 0);
        }
        bench_attend(kernels, weights, TD_KV_F16, 4, 50.0f);
        bench_elements(kernels);
        bench_ssm(kernels);
    }
    free(weights);
    return 0;
}
