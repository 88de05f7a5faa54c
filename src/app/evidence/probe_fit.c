/* States are standardised first (mean 0, variance 1 of each entry). The last step folds that
 * into the first stage, so that the probe reads states as they are. Weights decay, because
 * states have more entries than a file usually has lines. Rejected: choosing the number of
 * passes by a held-out part, which cost a tenth of the lines and changed the AUROC by less than
 * folds differ. */
#include "app/evidence/probe_fit.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/crypto/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BATCH 64
/* Over the lines, and updates that few lines make at least. */
#define PASSES 30
#define STEPS_MIN 2000
#define PEAK_RATE 2e-3
/* Decoupled, a step at the peak rate (Loshchilov, Hutter 2019, arXiv 1711.05101). */
#define DECAY 0.1
/* Adam, Kingma and Ba 2015, arXiv 1412.6980, section 2. */
#define BETA_1 0.9
#define BETA_2 0.999
#define ADAM_EPSILON 1e-8

/* All numbers of a fit: W1 [rows, width], b1 [rows], W2 [rows], b2. Without a hidden layer rows
 * is 1, and W2 and b2 are not used. */
struct network {
    size_t rows, width, count; /* count: numbers of all */
    bool deep;
    float *values, *gradient, *mean, *square; /* [count] */
    float *batch;                             /* [BATCH, width] standardised */
    float *active;                            /* [BATCH, rows] */
};

static float *first_bias(const struct network *net, float *numbers)
{
    return numbers + net->rows * net->width;
}

static float *second(const struct network *net, float *numbers)
{
    return first_bias(net, numbers) + net->rows;
}

static bool network_init(struct network *net, size_t width, const struct probe_fit_options *options,
                         struct rng *rng)
{
    *net = (struct network){
        .rows = options->hidden ? options->hidden : 1, .width = width, .deep = options->hidden > 0};
    net->count = net->rows * (width + 1) + (net->deep ? net->rows + 1 : 0);
    net->values = calloc(net->count * 4, sizeof(float));
    net->batch = calloc(BATCH * (width + net->rows), sizeof(float));
    if (net->values == NULL || net->batch == NULL)
        return false;
    net->gradient = net->values + net->count;
    net->mean = net->gradient + net->count;
    net->square = net->mean + net->count;
    net->active = net->batch + BATCH * width;
    if (!net->deep)
        return true; /* a logistic regression starts at 0 */
    for (size_t i = 0; i < net->rows * width; i++)
        net->values[i] = (float)((rng_double(rng) * 2 - 1) * sqrt(3.0 / (double)width));
    for (size_t i = 0; i < net->rows; i++)
        second(net, net->values)[i] =
            (float)((rng_double(rng) * 2 - 1) * sqrt(3.0 / (double)net->rows));
    return true;
}

static void network_deinit(struct network *net)
{
    free(net->values);
    free(net->batch);
}

struct scale {
    float *mean, *factor; /* [width]; factor 0 where an entry never changes */
};

static void measure(const struct probe_data *data, const size_t *order, size_t count,
                    const struct scale *scale)
{
    for (size_t c = 0; c < data->width; c++) {
        double sum = 0, squares = 0;
        for (size_t i = 0; i < count; i++)
            sum += (double)data->states[order[i] * data->width + c];
        double mean = sum / (double)count;
        for (size_t i = 0; i < count; i++) {
            double away = (double)data->states[order[i] * data->width + c] - mean;
            squares += away * away;
        }
        double deviation = sqrt(squares / (double)count);
        scale->mean[c] = (float)mean;
        scale->factor[c] = deviation > 1e-6 ? (float)(1 / deviation) : 0;
    }
}

static void standardise(const struct probe_data *data, size_t line, const struct scale *scale,
                        float *out)
{
    const float *state = data->states + line * data->width;
    for (size_t c = 0; c < data->width; c++)
        out[c] = (state[c] - scale->mean[c]) * scale->factor[c];
}

static float dot(const float *a, const float *b, size_t count)
{
    float lanes[8] = {0}, sum = 0; /* so that compilers may use vectors */
    size_t i = 0;
    for (; i + 8 <= count; i += 8)
        for (size_t l = 0; l < 8; l++)
            lanes[l] += a[i + l] * b[i + l];
    for (; i < count; i++)
        sum += a[i] * b[i];
    for (size_t l = 0; l < 8; l++)
        sum += lanes[l];
    return sum;
}

/* Log-odds of one standardised state; active [rows] keeps what the second stage reads. */
static float forward(const struct network *net, const float *state, float *active)
{
    const float *bias = first_bias(net, net->values), *top = second(net, net->values);
    float sum = net->deep ? top[net->rows] : 0;
    for (size_t r = 0; r < net->rows; r++) {
        float y = dot(net->values + r * net->width, state, net->width) + bias[r];
        if (!net->deep)
            return y;
        active[r] = y > 0 ? y : 0;
        sum += top[r] * active[r];
    }
    return sum;
}

/* Adds the gradient of one line; slope: d loss / d log-odds. */
static void backward(struct network *net, const float *state, const float *active, float slope)
{
    float *bias = first_bias(net, net->gradient), *top = second(net, net->gradient);
    const float *weights = second(net, net->values);
    if (net->deep)
        top[net->rows] += slope;
    for (size_t r = 0; r < net->rows; r++) {
        float mine = slope;
        if (net->deep) {
            top[r] += slope * active[r];
            mine = active[r] > 0 ? slope * weights[r] : 0;
        }
        if (mine == 0)
            continue;
        bias[r] += mine;
        float *row = net->gradient + r * net->width;
        for (size_t c = 0; c < net->width; c++)
            row[c] += mine * state[c];
    }
}

static void update(struct network *net, double step, double share)
{
    double rate = PEAK_RATE * share;
    double first = 1 - pow(BETA_1, step), other = 1 - pow(BETA_2, step);
    for (size_t i = 0; i < net->count; i++) {
        double g = (double)net->gradient[i];
        net->mean[i] = (float)(BETA_1 * (double)net->mean[i] + (1 - BETA_1) * g);
        net->square[i] = (float)(BETA_2 * (double)net->square[i] + (1 - BETA_2) * g * g);
        double move =
            (double)net->mean[i] / first / (sqrt((double)net->square[i] / other) + ADAM_EPSILON);
        net->values[i] -= (float)(rate * (move + DECAY * (double)net->values[i]));
    }
}

static void shuffle(size_t *order, size_t count, struct rng *rng)
{
    for (size_t i = count; i > 1; i--) {
        size_t j = (size_t)rng_below(rng, i), kept = order[i - 1];
        order[i - 1] = order[j];
        order[j] = kept;
    }
}

static void train(struct network *net, const struct probe_data *data, const struct scale *scale,
                  size_t *order, size_t count, struct rng *rng)
{
    size_t of_pass = (count + BATCH - 1) / BATCH, step = 0;
    size_t passes = of_pass * PASSES < STEPS_MIN ? STEPS_MIN / of_pass : PASSES;
    for (size_t pass = 0, steps = of_pass * passes; pass < passes; pass++) {
        shuffle(order, count, rng);
        for (size_t at = 0; at < count; at += BATCH) {
            size_t lines = count - at < BATCH ? count - at : BATCH;
            memset(net->gradient, 0, net->count * sizeof *net->gradient);
            for (size_t i = 0; i < lines; i++) {
                float *state = net->batch + i * net->width, *active = net->active + i * net->rows;
                standardise(data, order[at + i], scale, state);
                double p = 1 / (1 + exp(-(double)forward(net, state, active)));
                double wanted = data->right[order[at + i]] ? 1 : 0;
                backward(net, state, active, (float)((p - wanted) / (double)lines));
            }
            update(net, (double)(step + 1), 1 - (double)step / (double)steps);
            step++;
        }
    }
}

/* One network on the lines of `order`; its scores of `others` go to scores[line]. */
static bool fit_part(const struct probe_data *data, const struct probe_fit_options *options,
                     size_t *order, size_t count, const size_t *others, size_t other_count,
                     double *scores, struct network *net, struct scale *scale)
{
    struct rng rng;
    rng_init(&rng, options->seed);
    if (!network_init(net, data->width, options, &rng))
        return false;
    measure(data, order, count, scale);
    train(net, data, scale, order, count, &rng);
    for (size_t i = 0; i < other_count; i++) {
        standardise(data, others[i], scale, net->batch);
        scores[others[i]] = (double)forward(net, net->batch, net->active);
    }
    return true;
}

struct scored {
    double score;
    bool right;
};

static int by_score(const void *a, const void *b)
{
    double x = ((const struct scored *)a)->score, y = ((const struct scored *)b)->score;
    return (x > y) - (x < y);
}

double probe_auroc(const double *scores, const bool *right, size_t count)
{
    struct scored *sorted = malloc((count ? count : 1) * sizeof *sorted);
    double above = 0, wrong_below = 0, right_count = 0;
    if (sorted == NULL)
        return NAN;
    for (size_t i = 0; i < count; i++)
        sorted[i] = (struct scored){scores[i], right[i]};
    qsort(sorted, count, sizeof *sorted, by_score);
    for (size_t i = 0, end; i < count; i = end) {
        double rights = 0, wrongs = 0;
        for (end = i; end < count && sorted[end].score <= sorted[i].score; end++)
            *(sorted[end].right ? &rights : &wrongs) += 1;
        if (end == i) /* a score that is no number */
            break;
        above += rights * (wrong_below + wrongs / 2);
        wrong_below += wrongs;
        right_count += rights;
    }
    free(sorted);
    return right_count > 0 && wrong_below > 0 ? above / (right_count * wrong_below) : NAN;
}

/* The standardisation folded into the first stage: W (x - m) f = (W f) x - (W f) m. */
static bool take(const struct network *net, const struct scale *scale, struct probe_fit *out)
{
    size_t width = net->width;
    out->weights[0] = malloc(net->rows * width * sizeof(float));
    out->biases[0] = malloc(net->rows * sizeof(float));
    out->weights[1] = net->deep ? malloc(net->rows * sizeof(float)) : NULL;
    out->biases[1] = net->deep ? malloc(sizeof(float)) : NULL;
    if (!out->weights[0] || !out->biases[0] || (net->deep && (!out->weights[1] || !out->biases[1])))
        return false;
    for (size_t r = 0; r < net->rows; r++) {
        double bias = (double)first_bias(net, net->values)[r];
        for (size_t c = 0; c < width; c++) {
            float weight = net->values[r * width + c] * scale->factor[c];
            out->weights[0][r * width + c] = weight;
            bias -= (double)weight * (double)scale->mean[c];
        }
        out->biases[0][r] = (float)bias;
    }
    if (net->deep) {
        memcpy(out->weights[1], second(net, net->values), net->rows * sizeof(float));
        *out->biases[1] = second(net, net->values)[net->rows];
    }
    return true;
}

static enum td_status check(const struct probe_data *data, struct td_error *err)
{
    size_t right = 0;
    for (size_t i = 0; i < data->count; i++)
        right += data->right[i];
    if (data->count < PROBE_LINES_MIN)
        return error_set(err, TD_INVALID, "%zu lines are too few for a probe: at least %d",
                         data->count, PROBE_LINES_MIN);
    if (right < PROBE_OUTCOME_MIN || data->count - right < PROBE_OUTCOME_MIN)
        return error_set(err, TD_INVALID,
                         "%zu right and %zu wrong answers: a probe needs at least %d of each",
                         right, data->count - right, PROBE_OUTCOME_MIN);
    for (size_t i = 0; i < data->count * data->width; i++)
        if (!isfinite(data->states[i]))
            return error_set(err, TD_CORRUPT, "a state of line %zu is no number",
                             i / data->width + 1);
    return TD_OK;
}

/* Line `place` of the shuffled lines belongs to fold place % PROBE_FOLDS. */
static bool cross_validate(const struct probe_data *data, const struct probe_fit_options *options,
                           const size_t *shuffled, size_t *parts, double *scores,
                           struct scale *scale)
{
    bool done = true;
    for (size_t fold = 0; done && fold < PROBE_FOLDS; fold++) {
        size_t seen = 0, unseen = data->count;
        for (size_t place = 0; place < data->count; place++)
            parts[place % PROBE_FOLDS == fold ? --unseen : seen++] = shuffled[place];
        struct network net;
        done = fit_part(data, options, parts, seen, parts + seen, data->count - seen, scores, &net,
                        scale);
        network_deinit(&net);
    }
    return done;
}

enum td_status probe_fit(const struct probe_data *data, const struct probe_fit_options *options,
                         struct probe_fit *out, struct td_error *err)
{
    ASSERT(data->width > 0 && (data->states || data->count == 0));
    *out = (struct probe_fit){.auroc = NAN};
    enum td_status status = check(data, err);
    if (status != TD_OK)
        return status;
    size_t *order = calloc(2 * data->count, sizeof *order);
    double *scores = calloc(data->count, sizeof *scores);
    struct scale scale = {.mean = calloc(2 * data->width, sizeof(float))};
    struct network net = {0};
    struct rng rng;
    bool done = order && scores && scale.mean;
    if (done) {
        scale.factor = scale.mean + data->width;
        for (size_t i = 0; i < data->count; i++)
            order[i] = i;
        rng_init(&rng, options->seed);
        shuffle(order, data->count, &rng);
        done = cross_validate(data, options, order, order + data->count, scores, &scale);
    }
    if (done)
        out->auroc = probe_auroc(scores, data->right, data->count);
    done = done && fit_part(data, options, order, data->count, NULL, 0, NULL, &net, &scale) &&
           take(&net, &scale, out);
    network_deinit(&net);
    free(order);
    free(scores);
    free(scale.mean);
    if (done)
        return TD_OK;
    probe_fit_free(out);
    return error_set(err, TD_NO_MEMORY, "no memory for a probe of %zu lines", data->count);
}

void probe_fit_free(struct probe_fit *fit)
{
    for (int i = 0; i < 2; i++) {
        free(fit->weights[i]);
        free(fit->biases[i]);
    }
    *fit = (struct probe_fit){.auroc = fit->auroc};
}
