/* Which scales are good cannot be computed: the expected error of a group's outputs falls by 1 to
 * 10 %, and rounding anew moves the model's predictions by as much in either direction. So the
 * expected error only ranks scales. The best few are written into the quantised file, and the whole
 * model's divergence from the original is measured with each.
 *
 * The tokens of the text are in three parts. One chooses among a group's scales. Another one, which
 * did not choose, must agree that the group's best is better than no scales. The third is for the
 * end: if the model with all scales is no better on it, all are taken back. */
#include "quant/quantize/scaling.h"

#include "base/core/error.h"
#include "base/core/str.h"
#include "quant/encode/encode.h"
#include "quant/quantize/scaling_groups.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define POWERS 11      /* 0, 0.1, ... 1 */
#define ROWS_LOOKED 96 /* rows of each matrix that the expected error is computed of */
#define TRIES 3        /* scales of a group that are measured */
/* Scales stay in this range, so that nothing leaves what F16 holds. */
#define SCALE_LIMIT 64.0f
/* Consecutive tokens that belong to the same part: all parts see all of the text. */
#define STRIPE 64

enum part { CHOOSES, JUDGES, CHECKS, PARTS };

struct work {
    struct quantize_plan *plan;
    const struct scaling_options *options;
    struct scaling *scaling;
    struct scaling_result *result;
    /* The quantised file, shared with the models that are opened from it. */
    uint8_t *map;
    size_t map_bytes;
    struct gguf *written;
    /* [token_count] KLD of each token: of the file as it was, as it is, and with a trial's scales
     */
    float *first, *now, *tried;
    uint64_t token_count;
};

/* --- expected errors --- */

/* Mean size of the inputs, sqrt(E[x^2]), and of the weights, for each row of the maker. */
struct sizes {
    float *inputs, *weights; /* [count] */
    size_t count, cols;
};

static void measure_sizes(const struct quantize_plan *plan, const struct scaling_group *group,
                          struct sizes *sizes, float *row)
{
    const float *importance = plan->items[group->users[0]].importance;
    for (size_t i = 0; i < sizes->cols; i++)
        sizes->inputs[scaling_group_row(group, i)] += importance[i] / (float)group->shared;
    for (size_t i = 0; i < sizes->count; i++)
        sizes->inputs[i] = sqrtf(sizes->inputs[i]);
    for (unsigned u = 0; u < group->user_count; u++) {
        const struct quantize_item *item = &plan->items[group->users[u]];
        uint64_t rows = item->tensor->dims[1], step = rows / ROWS_LOOKED + 1;
        for (uint64_t r = 0; r < rows; r += step) {
            quantize_read_row(item, r, row);
            for (size_t i = 0; i < sizes->cols; i++)
                sizes->weights[scaling_group_row(group, i)] += fabsf(row[i]);
        }
    }
}

/* s[col] = inputs^p, or inputs^p / weights^(1 - p) for the numbers behind POWERS, divided by their
 * geometric mean; p grows with `number`. */
static void make_scales(const struct scaling_group *group, const struct sizes *sizes, int number,
                        float *scales)
{
    float power = (float)(number % POWERS) / (POWERS - 1);
    bool by_weights = number >= POWERS;
    double logs = 0;
    for (size_t i = 0; i < sizes->cols; i++) {
        size_t row = scaling_group_row(group, i);
        float input = sizes->inputs[row] + 1e-6f, weight = sizes->weights[row] + 1e-6f;
        scales[i] = powf(input, power) * (by_weights ? powf(weight, power - 1) : 1.0f);
        logs += (double)logf(scales[i]);
    }
    float mean = (float)exp(logs / (double)sizes->cols);
    for (size_t i = 0; i < sizes->cols; i++) {
        scales[i] /= mean;
        scales[i] = scales[i] > SCALE_LIMIT       ? SCALE_LIMIT
                    : scales[i] < 1 / SCALE_LIMIT ? 1 / SCALE_LIMIT
                                                  : scales[i];
    }
}

/* One trial of scales, whose rows threads divide. */
struct trial {
    const struct quantize_plan *plan;
    const struct scaling_group *group;
    const float *scales; /* NULL = all 1 */
    size_t cols;
    uint64_t looked[SCALING_USERS_MAX]; /* rows of each user */
    uint64_t total;
    atomic_ullong next, failed;
    double *errors; /* [total] */
};

/* Expected error of one row's output: sum of E[x^2] (w - stored(w s) / s)^2. */
static double row_error(const struct trial *trial, const struct quantize_item *item, uint64_t row,
                        float *x, float *back, float *importance, uint8_t *bytes)
{
    size_t cols = trial->cols;
    quantize_read_row(item, row, x);
    for (size_t i = 0; trial->scales && i < cols; i++) {
        x[i] *= trial->scales[i];
        importance[i] = item->importance[i] / (trial->scales[i] * trial->scales[i]);
    }
    const float *weights = trial->scales ? importance : item->importance;
    encode_row(item->type, x, weights, cols, bytes);
    kernels_get(TD_CPU_AUTO, NULL)->dequantize(item->type, bytes, cols, back);
    double error = 0;
    for (size_t i = 0; i < cols; i++) {
        float off = x[i] - back[i];
        error += (double)(weights[i] * off * off);
    }
    return error;
}

static void try_rows(void *ctx)
{
    struct trial *trial = ctx;
    float *memory = malloc(4 * trial->cols * sizeof *memory);
    if (memory == NULL) {
        atomic_store(&trial->failed, 1);
        return;
    }
    for (uint64_t i; (i = atomic_fetch_add(&trial->next, 1)) < trial->total;) {
        uint64_t index = i;
        unsigned user = 0;
        while (index >= trial->looked[user])
            index -= trial->looked[user++];
        const struct quantize_item *item = &trial->plan->items[trial->group->users[user]];
        uint64_t step = item->tensor->dims[1] / ROWS_LOOKED + 1;
        trial->errors[i] =
            row_error(trial, item, index * step, memory, memory + trial->cols,
                      memory + 2 * trial->cols, (uint8_t *)(memory + 3 * trial->cols));
    }
    free(memory);
}

static double run_trial(struct trial *trial, const float *scales, struct thread_pool *threads)
{
    trial->scales = scales;
    atomic_init(&trial->next, 0);
    thread_pool_run(threads, try_rows, trial);
    double sum = 0;
    for (uint64_t i = 0; i < trial->total; i++)
        sum += trial->errors[i];
    return sum;
}

/* The powers whose scales have the least expected error, the best first. */
static bool rank(const struct work *work, const struct scaling_group *group,
                 const struct sizes *sizes, float *scales, int best[TRIES])
{
    struct trial trial = {.plan = work->plan, .group = group, .cols = sizes->cols};
    double least[TRIES];
    for (int i = 0; i < TRIES; i++)
        least[i] = INFINITY;
    for (unsigned u = 0; u < group->user_count; u++) {
        uint64_t rows = work->plan->items[group->users[u]].tensor->dims[1];
        uint64_t step = rows / ROWS_LOOKED + 1;
        trial.looked[u] = (rows + step - 1) / step;
        trial.total += trial.looked[u];
    }
    trial.errors = calloc(trial.total, sizeof *trial.errors);
    for (int power = 1; trial.errors && power < 2 * POWERS; power++) {
        make_scales(group, sizes, power, scales);
        double error = run_trial(&trial, scales, work->options->threads);
        int at = TRIES;
        while (at > 0 && error < least[at - 1])
            at--;
        for (int i = TRIES - 1; i > at; i--) {
            least[i] = least[i - 1];
            best[i] = best[i - 1];
        }
        if (at < TRIES) {
            least[at] = error;
            best[at] = power;
        }
    }
    bool done = trial.errors && !atomic_load(&trial.failed);
    free(trial.errors);
    return done;
}

/* --- the file --- */

/* The rows of some items, to be written into the file. */
struct putting {
    const struct work *work;
    const struct quantize_item *item;
    uint8_t *to;
    size_t row_bytes;
    atomic_ullong next, failed;
};

static void put_rows(void *ctx)
{
    struct putting *putting = ctx;
    const struct quantize_item *item = putting->item;
    const uint64_t *dims = item->tensor->dims;
    float *row = malloc((size_t)dims[0] * sizeof *row);
    if (row == NULL) {
        atomic_store(&putting->failed, 1);
        return;
    }
    for (uint64_t i; (i = atomic_fetch_add(&putting->next, 1)) < dims[1];) {
        quantize_read_row(item, i, row);
        encode_row(item->type, row, item->importance, (size_t)dims[0],
                   putting->to + i * putting->row_bytes);
    }
    free(row);
}

static bool put_item(const struct work *work, size_t index)
{
    const struct gguf_tensor *tensor = gguf_tensor_at(work->written, index);
    struct putting putting = {.work = work,
                              .item = &work->plan->items[index],
                              .to = work->map + ((const uint8_t *)tensor->data - work->map),
                              .row_bytes = tensor->bytes / (size_t)tensor->dims[1]};
    thread_pool_run(work->options->threads, put_rows, &putting);
    return !atomic_load(&putting.failed);
}

/* Writes a group as the plan has it. */
static bool put_group(const struct work *work, const struct scaling_group *group)
{
    bool done = put_item(work, group->maker) &&
                (group->maker_bias == SIZE_MAX || put_item(work, group->maker_bias));
    for (unsigned u = 0; done && u < group->user_count; u++)
        done = put_item(work, group->users[u]);
    return done;
}

/* The divergence of each token with the file as it is. */
static enum td_status measure(const struct work *work, float *each, struct td_error *err)
{
    struct td_model *model = NULL;
    struct divergence_result result;
    enum td_status status = td_model_open(work->options->path, NULL, &model, err);
    const struct divergence_subject subject = {.model = model, .kv_type = TD_KV_F32};
    if (status == TD_OK)
        status = divergence_measure(work->options->divergence, &subject, &result, each, err);
    td_model_close(model);
    return status;
}

static double part_mean(const struct work *work, const float *each, enum part part)
{
    double sum = 0;
    uint64_t count = 0;
    for (uint64_t i = 0; i < work->token_count; i++)
        if (i / STRIPE % PARTS == part) {
            sum += (double)each[i];
            count++;
        }
    return count ? sum / (double)count : 0;
}

static bool is_better(const struct work *work, const float *each, const float *than, enum part part)
{
    return part_mean(work, each, part) < part_mean(work, than, part);
}

/* --- the search --- */

/* What a group changes, to be taken back. */
struct kept {
    struct quantize_item users[SCALING_USERS_MAX], maker, bias;
    size_t owned_count;
};

static void keep(const struct work *work, const struct scaling_group *group, struct kept *kept)
{
    const struct quantize_item *items = work->plan->items;
    kept->owned_count = work->scaling->owned_count;
    kept->maker = items[group->maker];
    if (group->maker_bias != SIZE_MAX)
        kept->bias = items[group->maker_bias];
    for (unsigned u = 0; u < group->user_count; u++)
        kept->users[u] = items[group->users[u]];
}

static void take_back(struct work *work, const struct scaling_group *group, const struct kept *kept)
{
    struct quantize_item *items = work->plan->items;
    items[group->maker] = kept->maker;
    if (group->maker_bias != SIZE_MAX)
        items[group->maker_bias] = kept->bias;
    for (unsigned u = 0; u < group->user_count; u++)
        items[group->users[u]] = kept->users[u];
    scaling_forget(work->scaling, kept->owned_count);
}

/* The scales of a power go into the plan and the file. */
static bool put_scales(struct work *work, const struct scaling_group *group,
                       const struct sizes *sizes, int power, float *scales)
{
    make_scales(group, sizes, power, scales);
    return scaling_fold(work->scaling, work->plan, group, scales, sizes->cols) &&
           put_group(work, group);
}

static enum td_status no_memory(struct td_error *err)
{
    return error_set(err, TD_NO_MEMORY, "no memory for scales");
}

static void exchange(float **a, float **b)
{
    float *kept = *a;
    *a = *b;
    *b = kept;
}

/* Measures the powers and leaves the plan and the file with the best one, or as they were. */
static enum td_status try_powers(struct work *work, const struct scaling_group *group,
                                 const struct sizes *sizes, const int *powers, float *scales,
                                 struct td_error *err)
{
    struct kept kept;
    float *best = malloc((size_t)work->token_count * sizeof *best);
    int chosen = 0;
    bool done = best != NULL;
    enum td_status status = TD_OK;
    keep(work, group, &kept);
    for (int i = 0; done && status == TD_OK && i < TRIES; i++) {
        done = put_scales(work, group, sizes, powers[i], scales);
        if (done)
            status = measure(work, work->tried, err);
        take_back(work, group, &kept);
        if (status == TD_OK && done &&
            is_better(work, work->tried, chosen ? best : work->now, CHOOSES)) {
            exchange(&best, &work->tried);
            chosen = powers[i];
        }
    }
    if (status == TD_OK && done && chosen && is_better(work, best, work->now, JUDGES)) {
        done = put_scales(work, group, sizes, chosen, scales);
        exchange(&best, &work->now);
        work->result->scaled++;
    } else if (status == TD_OK && done) {
        done = put_group(work, group);
    }
    free(best);
    return status == TD_OK && !done ? no_memory(err) : status;
}

static enum td_status scale_group(struct work *work, const struct scaling_group *group,
                                  struct td_error *err)
{
    size_t cols = (size_t)work->plan->items[group->users[0]].tensor->dims[0];
    float *memory = calloc(4 * cols, sizeof *memory);
    if (memory == NULL)
        return no_memory(err);
    struct sizes sizes = {.inputs = memory,
                          .weights = memory + cols,
                          .count = scaling_group_row(group, cols - 1) + 1,
                          .cols = cols};
    float *row = memory + 2 * cols, *scales = memory + 3 * cols;
    int powers[TRIES] = {0};
    measure_sizes(work->plan, group, &sizes, row);
    enum td_status status = rank(work, group, &sizes, scales, powers)
                                ? try_powers(work, group, &sizes, powers, scales, err)
                                : no_memory(err);
    work->result->groups++;
    free(memory);
    return status;
}

static enum td_status scale_layers(struct work *work, struct td_error *err)
{
    const struct scaling_options *options = work->options;
    struct mix_model model;
    enum td_status status = TD_OK;
    mix_model_read(work->plan->gguf, true, &model);
    for (unsigned layer = 0; status == TD_OK && layer < model.layer_count; layer++)
        for (unsigned kind = 0; status == TD_OK && kind < SCALING_KINDS; kind++) {
            struct scaling_group group;
            if (scaling_group_find(work->plan, &model, layer, kind, &group))
                status = scale_group(work, &group, err);
            if (options->progress)
                options->progress(options->progress_ctx, layer * SCALING_KINDS + kind + 1,
                                  (uint64_t)model.layer_count * SCALING_KINDS);
        }
    return status;
}

static enum td_status open_work(struct work *work, struct td_error *err)
{
    const char *path = work->options->path;
    size_t count = (size_t)work->token_count;
    work->scaling = calloc(1, sizeof *work->scaling);
    work->first = calloc(count, sizeof *work->first);
    work->now = calloc(count, sizeof *work->now);
    work->tried = calloc(count, sizeof *work->tried);
    if (!work->scaling || !work->first || !work->now || !work->tried)
        return no_memory(err);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    off_t end = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
    void *map =
        end <= 0 ? MAP_FAILED : mmap(NULL, (size_t)end, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    enum td_status status = TD_OK;
    if (map == MAP_FAILED) {
        status = error_set(err, TD_IO, "%s: %s", path, strerror(errno));
    } else {
        work->map = map;
        work->map_bytes = (size_t)end;
        status = gguf_open_memory(map, work->map_bytes, path, false, &work->written, err);
    }
    if (fd >= 0)
        close(fd);
    return status;
}

static void close_work(struct work *work)
{
    gguf_close(work->written);
    if (work->map)
        munmap(work->map, work->map_bytes);
    free(work->first);
    free(work->now);
    free(work->tried);
}

/* The last word has the part that neither chose nor judged. */
static void check(struct work *work)
{
    struct scaling_result *result = work->result;
    result->kld_plain = part_mean(work, work->first, CHECKS);
    result->kld = part_mean(work, work->now, CHECKS);
    result->refused = result->scaled && result->kld >= result->kld_plain;
    if (!result->refused)
        return;
    result->scaled = 0;
    scaling_clear(work->plan);
}

void scaling_clear(struct quantize_plan *plan)
{
    for (size_t i = 0; i < plan->item_count; i++) {
        struct quantize_item *item = &plan->items[i];
        if (item->col_scale && item->importance)
            item->importance = imatrix_find(plan->imatrix, item->tensor->name)->importance;
        item->col_scale = item->row_scale = NULL;
    }
}

enum td_status scaling_search(struct quantize_plan *plan, const struct scaling_options *options,
                              struct scaling **out, struct scaling_result *result,
                              struct td_error *err)
{
    struct work work = {.plan = plan,
                        .options = options,
                        .result = result,
                        .token_count = divergence_tokens(options->divergence)};
    *result = (struct scaling_result){0};
    if (work.token_count < PARTS * STRIPE)
        return error_set(err, TD_INVALID,
                         "scales are chosen and judged with at least %d tokens, and the text and "
                         "--tokens allow %llu",
                         PARTS * STRIPE, (unsigned long long)work.token_count);
    enum td_status status = open_work(&work, err);
    if (status == TD_OK)
        status = measure(&work, work.now, err);
    if (status == TD_OK) {
        memcpy(work.first, work.now, (size_t)work.token_count * sizeof *work.first);
        status = scale_layers(&work, err);
    }
    if (status == TD_OK)
        check(&work);
    close_work(&work);
    if (status == TD_OK) {
        *out = work.scaling;
        return TD_OK;
    }
    scaling_clear(plan);
    scaling_free(work.scaling);
    return status;
}
