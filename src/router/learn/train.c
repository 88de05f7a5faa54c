/* Training in four steps. The lines become a sparse matrix (matrix.h). Cross-validated ridge
 * regression chooses how strongly weights are held (ridge.h). The scores of lines that were held
 * out fit the second layer (calibrate.h): scores of lines that were trained on would be too sure.
 * Then all lines are solved once more, and the weights are rounded to bytes for the file. */
#include "router/learn/train.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/crypto/rng.h"
#include "router/learn/calibrate.h"
#include "router/learn/matrix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FOLDS 4
/* Cross-validation on this many lines chooses as well as on all lines, and takes seconds. */
#define HELD_OUT_MAX 4000
#define STEPS_CHOOSING 6
#define STEPS_FINAL 24
/* A classifier stays under CLASSIFIER_BYTES_MAX. */
#define ROWS_BYTES_MAX (4u << 20)
#define PART_CONSTANT PART_COUNT /* the bias: held by LAMBDA_CONSTANT only */
#define LAMBDA_CONSTANT 0.1f
#define LABELS_MIN 20

/* The strengths that are tried. The strongest comes first, so that each solution begins at the one
 * before. Byte n-grams repeat what the words say, and are held three times as strongly. Dense
 * features tell the kind of data more than the difficulty, and are held thirty times as strongly.
 * Both factors were chosen on MMLU with 1,500 labels (APGR 0.664; bytes fifty times 0.652; dense
 * features ten times 0.649). */
static const float word_strengths[] = {15, 5, 1.5f, 0.5f};
#define BYTE_RATIO 3.0f
/* Of settings with nearly the same error the strongest is taken. Outcomes are mostly noise, and
 * lines of the same task are often alike in ways in which others will not be. */
#define OUTCOME_TOLERANCE 0.003
#define TASK_TOLERANCE 0.05
#define DENSE_RATIO 30.0f
#define SETTING_COUNT (sizeof word_strengths / sizeof *word_strengths)

struct training {
    const struct examples *examples;
    struct matrix matrix;
    size_t outputs, stride; /* stride: outputs rounded up to 8 */
    float *target, *mask;   /* [lines, stride] */
    uint8_t *part;          /* [columns] */
    uint32_t *held_rows;    /* [held_count] labelled lines in random order */
    size_t held_count;
    float *held_scores; /* [SETTING_COUNT, held_count, stride] */
    size_t setting[CLASSIFIER_OUTPUTS_MAX + 8];
    float *weights; /* [columns, stride] */
    struct td_error *err;
};

static enum td_status no_memory(struct td_error *err)
{
    return error_set(err, TD_NO_MEMORY, "no memory to train");
}

static bool has_label(const struct example *example)
{
    bool any = example->task >= 0;
    for (size_t o = 0; o < OUTCOME_COUNT; o++)
        any = any || !isnan(example->outcome[o]);
    return any;
}

/* As many buckets as fit the file. */
static unsigned bits_for(size_t outputs)
{
    unsigned bits = NGRAM_BITS_MAX;
    while (((size_t)classifier_row_bytes(outputs) << bits) > ROWS_BYTES_MAX)
        bits--;
    return bits;
}

static float lambda_of(size_t setting, enum column_part part)
{
    float words = word_strengths[setting];
    if (part == PART_BYTES)
        return words * BYTE_RATIO;
    return part == PART_DENSE ? words * DENSE_RATIO : words;
}

static void set_lambdas(const struct training *training, float *lambda)
{
    for (size_t k = 0; k < training->stride; k++) {
        for (int part = 0; part < PART_COUNT; part++)
            lambda[(size_t)part * training->stride + k] =
                lambda_of(training->setting[k], (enum column_part)part);
        lambda[PART_CONSTANT * training->stride + k] = LAMBDA_CONSTANT;
    }
}

static void set_targets(struct training *training)
{
    const struct examples *examples = training->examples;
    for (size_t i = 0; i < examples->count; i++) {
        const struct example *example = &examples->items[i];
        float *target = training->target + i * training->stride,
              *mask = training->mask + i * training->stride;
        for (size_t o = 0; o < OUTCOME_COUNT; o++) {
            mask[o] = isnan(example->outcome[o]) ? 0.0f : 1.0f;
            target[o] = isnan(example->outcome[o]) ? 0 : example->outcome[o];
        }
        for (size_t t = 0; t < examples->task_count; t++) {
            mask[OUTCOME_COUNT + t] = example->task >= 0;
            target[OUTCOME_COUNT + t] = example->task == (int32_t)t;
        }
    }
}

static void shuffle_labelled(struct training *training, uint64_t seed)
{
    struct rng rng;
    rng_init(&rng, seed);
    size_t count = 0;
    for (size_t i = 0; i < training->examples->count; i++)
        if (has_label(&training->examples->items[i]))
            training->held_rows[count++] = (uint32_t)i;
    for (size_t i = count; i > 1; i--) {
        size_t other = rng_below(&rng, i);
        uint32_t row = training->held_rows[i - 1];
        training->held_rows[i - 1] = training->held_rows[other];
        training->held_rows[other] = row;
    }
    training->held_count = count < HELD_OUT_MAX ? count : HELD_OUT_MAX;
}

static enum td_status prepare(struct training *training, uint64_t seed)
{
    size_t lines = training->examples->count;
    training->outputs = OUTCOME_COUNT + training->examples->task_count;
    training->stride = (training->outputs + 7) / 8 * 8;
    enum td_status status = matrix_make(training->examples, bits_for(training->outputs),
                                        &training->matrix, training->err);
    if (status != TD_OK)
        return status;
    size_t columns = training->matrix.x.columns;
    training->target = calloc(lines * training->stride, sizeof(float));
    training->mask = calloc(lines * training->stride, sizeof(float));
    training->held_rows = calloc(lines, sizeof(uint32_t));
    training->part = calloc(columns, 1);
    training->weights = calloc(columns * training->stride, sizeof(float));
    if (!training->target || !training->mask || !training->held_rows || !training->part ||
        !training->weights)
        return no_memory(training->err);
    set_targets(training);
    shuffle_labelled(training, seed);
    training->held_scores =
        calloc(SETTING_COUNT * training->held_count * training->stride + 1, sizeof(float));
    if (!training->held_scores)
        return no_memory(training->err);
    for (size_t column = 0; column < columns; column++)
        training->part[column] = (uint8_t)matrix_part_of(&training->matrix, column);
    training->part[columns - 1] = PART_CONSTANT;
    return TD_OK;
}

static enum td_status solve(struct training *training, const float *mask, int steps)
{
    float lambda[(PART_COUNT + 1) * (CLASSIFIER_OUTPUTS_MAX + 8)];
    set_lambdas(training, lambda);
    struct ridge ridge = {.x = training->matrix.x,
                          .outputs = training->stride,
                          .target = training->target,
                          .mask = mask,
                          .lambda = lambda,
                          .part = training->part,
                          .steps = steps};
    return ridge_solve(&ridge, training->weights, training->err);
}

/* Solves for all settings without the lines of a fold, and scores those. */
static enum td_status hold_out(struct training *training, size_t fold, float *mask)
{
    size_t stride = training->stride, lines = training->examples->count;
    enum td_status status = TD_OK;
    memset(mask, 0, lines * stride * sizeof *mask);
    memset(training->weights, 0, training->matrix.x.columns * stride * sizeof(float));
    for (size_t i = 0; i < training->held_count; i++)
        if (i % FOLDS != fold)
            memcpy(mask + training->held_rows[i] * stride,
                   training->mask + training->held_rows[i] * stride, stride * sizeof *mask);
    for (size_t setting = 0; status == TD_OK && setting < SETTING_COUNT; setting++) {
        for (size_t k = 0; k < stride; k++)
            training->setting[k] = setting;
        status = solve(training, mask, STEPS_CHOOSING);
        float *scores = training->held_scores + setting * training->held_count * stride;
        for (size_t i = fold; i < training->held_count; i += FOLDS)
            ridge_apply(&training->matrix.x, training->held_rows[i], training->weights, stride,
                        scores + i * stride);
    }
    return status;
}

static bool any_label(const struct training *training, size_t output)
{
    bool any = false;
    for (size_t i = 0; i < training->held_count; i++)
        any = any || training->mask[training->held_rows[i] * training->stride + output] > 0;
    return any;
}

static double error_of(const struct training *training, size_t setting, size_t output,
                       double *count)
{
    double sum = 0;
    size_t stride = training->stride;
    const float *scores = training->held_scores + setting * training->held_count * stride;
    *count = 0;
    for (size_t i = 0; i < training->held_count; i++) {
        size_t at = training->held_rows[i] * stride + output;
        double miss = (double)(scores[i * stride + output] - training->target[at]);
        sum += (double)training->mask[at] * miss * miss;
        *count += (double)training->mask[at];
    }
    return sum;
}

/* What the scores of a setting leave unexplained of the targets: 1 - r², where r is their
 * correlation; 1 without labels. Correlation ignores the scale, which calibration sets. When `less`
 * is another output, it is the difference output - less that is looked at. */
static double unexplained(const struct training *training, size_t setting, size_t output,
                          size_t less)
{
    double n = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0;
    size_t stride = training->stride;
    const float *scores = training->held_scores + setting * training->held_count * stride;
    for (size_t i = 0; i < training->held_count; i++) {
        size_t row = training->held_rows[i] * stride;
        if (training->mask[row + output] <= 0 || training->mask[row + less] <= 0)
            continue;
        double score = (double)scores[i * stride + output];
        double target = (double)training->target[row + output];
        score -= less != output ? (double)scores[i * stride + less] : 0;
        target -= less != output ? (double)training->target[row + less] : 0;
        n++, x += score, y += target;
        xx += score * score, yy += target * target, xy += score * target;
    }
    double covariance = n * xy - x * y, spread = (n * xx - x * x) * (n * yy - y * y);
    return spread > 1e-12 && covariance > 0 ? 1 - covariance * covariance / spread : 1;
}

/* The strongest setting that leaves nearly as little unexplained as the best one. */
static size_t strongest_of(const double rest[SETTING_COUNT], double tolerance)
{
    double least = INFINITY;
    for (size_t setting = 0; setting < SETTING_COUNT; setting++)
        least = rest[setting] < least ? rest[setting] : least;
    size_t setting = 0;
    while (setting + 1 < SETTING_COUNT && rest[setting] > least * (1 + tolerance))
        setting++;
    return setting;
}

/* Both outcomes share one strength, and all tasks share one. Where both outcomes are known, their
 * difference matters: probabilities that were shrunk differently cannot be subtracted (on MMLU the
 * APGR falls from 0.66 to 0.60). */
static void choose_settings(struct training *training)
{
    double rest[SETTING_COUNT], of_tasks[SETTING_COUNT];
    bool has_local = any_label(training, OUTCOME_LOCAL),
         has_strong = any_label(training, OUTCOME_STRONG);
    size_t output = has_strong ? OUTCOME_STRONG : OUTCOME_LOCAL;
    size_t less = has_local ? OUTCOME_LOCAL : output;
    for (size_t setting = 0; setting < SETTING_COUNT; setting++) {
        rest[setting] = unexplained(training, setting, output, less);
        of_tasks[setting] = 0;
        for (size_t k = OUTCOME_COUNT; k < training->outputs; k++)
            of_tasks[setting] += unexplained(training, setting, k, k);
    }
    for (size_t k = 0; k < training->stride; k++)
        training->setting[k] = k < OUTCOME_COUNT ? strongest_of(rest, OUTCOME_TOLERANCE)
                                                 : strongest_of(of_tasks, TASK_TOLERANCE);
}

/* Moves the scores of the chosen settings into the place of the first setting's. */
static void gather_scores(struct training *training)
{
    size_t stride = training->stride, size = training->held_count * stride;
    for (size_t i = 0; i < training->held_count; i++)
        for (size_t k = 0; k < training->outputs; k++)
            training->held_scores[i * stride + k] =
                training->held_scores[training->setting[k] * size + i * stride + k];
}

static enum td_status choose(struct training *training)
{
    float *mask = malloc(training->examples->count * training->stride * sizeof *mask);
    if (!mask)
        return no_memory(training->err);
    enum td_status status = TD_OK;
    for (size_t fold = 0; status == TD_OK && fold < FOLDS; fold++)
        status = hold_out(training, fold, mask);
    free(mask);
    if (status == TD_OK) {
        choose_settings(training);
        gather_scores(training);
    }
    return status;
}

/* --- what goes into the file --- */

static int8_t in_steps(float value, float scale)
{
    float steps = scale > 0 ? roundf(value / scale) : 0;
    return (int8_t)(steps < -127 ? -127 : steps > 127 ? 127 : steps);
}

/* Writes the rows: idf times the weights, rounded to bytes. The largest value of each output
 * becomes 127. The first pass finds it, the second writes. */
static void fill_rows(const struct training *training, struct classifier_parameters *p,
                      size_t row_bytes, int8_t *rows)
{
    const struct matrix *matrix = &training->matrix;
    float largest[CLASSIFIER_OUTPUTS_MAX] = {0};
    for (int writing = 0; writing < 2; writing++) {
        for (size_t column = 0; column < matrix->ngram_columns; column++) {
            uint32_t bucket = matrix->bucket_of[column];
            float idf = sqrtf((float)matrix->idf_square[bucket] * matrix->idf_scale);
            int8_t *row = rows + bucket * row_bytes;
            row[0] = matrix->idf_square[bucket];
            for (size_t k = 0; k < training->outputs; k++) {
                float value = idf * training->weights[column * training->stride + k];
                largest[k] = fmaxf(largest[k], fabsf(value));
                if (writing)
                    row[1 + k] = in_steps(value, p->scale[1 + k]);
            }
        }
        p->scale[0] = matrix->idf_scale;
        for (size_t k = 0; k < training->outputs; k++)
            p->scale[1 + k] = largest[k] / 127;
    }
}

/* Undoes the standardisation, so that the classifier takes features as they are. */
static void fill_dense(const struct training *training, struct classifier_parameters *p)
{
    const struct matrix *matrix = &training->matrix;
    float unit = 1 / sqrtf(FEATURE_COUNT);
    for (size_t k = 0; k < training->outputs; k++) {
        const float *weights = training->weights + matrix->ngram_columns * training->stride + k;
        p->bias[k] = weights[FEATURE_COUNT * training->stride];
        for (size_t f = 0; f < FEATURE_COUNT; f++) {
            float weight = matrix->deviation[f] > 0
                               ? unit * weights[f * training->stride] / matrix->deviation[f]
                               : 0;
            p->dense[k][f] = weight;
            p->bias[k] -= weight * matrix->mean[f];
        }
    }
}

static enum td_status write_result(const struct training *training, struct classifier_parameters *p,
                                   uint64_t seed, const char *path)
{
    struct classifier_header header = {.magic = {'T', 'D', 'R', 'O', 'U', 'T', 'E', 'R'},
                                       .version = CLASSIFIER_VERSION,
                                       .features_version = FEATURES_VERSION,
                                       .bits = training->matrix.bits,
                                       .row_bytes = classifier_row_bytes(training->outputs),
                                       .outputs = (uint32_t)training->outputs,
                                       .tasks = (uint32_t)training->examples->task_count,
                                       .dense = FEATURE_COUNT,
                                       .lines = training->examples->count,
                                       .seed = seed};
    for (size_t i = 0; i < training->held_count; i++)
        for (int o = 0; o < OUTCOME_COUNT; o++)
            if (!isnan(training->examples->items[training->held_rows[i]].outcome[o]))
                header.trained |= 1u << o;
    int8_t *rows = calloc((size_t)1 << header.bits, header.row_bytes);
    if (!rows)
        return no_memory(training->err);
    fill_rows(training, p, header.row_bytes, rows);
    fill_dense(training, p);
    memcpy(p->task_name, training->examples->task_name, sizeof p->task_name);
    enum td_status status = classifier_write(path, &header, p, rows, training->err);
    free(rows);
    return status;
}

static float task_accuracy(const struct training *training, const struct classifier_parameters *p)
{
    size_t right = 0, labelled = 0, tasks = training->examples->task_count;
    float task_p[CLASSIFIER_TASKS_MAX];
    for (size_t i = 0; i < training->held_count; i++) {
        int32_t task = training->examples->items[training->held_rows[i]].task;
        if (task < 0)
            continue;
        classifier_task_probabilities(p, tasks, training->held_scores + i * training->stride,
                                      task_p);
        size_t best = 0;
        for (size_t t = 1; t < tasks; t++)
            best = task_p[t] > task_p[best] ? t : best;
        right += best == (size_t)task;
        labelled++;
    }
    return labelled ? (float)right / (float)labelled : NAN;
}

static void fill_report(const struct training *training, const struct classifier_parameters *p,
                        struct train_report *report)
{
    const struct examples *examples = training->examples;
    *report = (struct train_report){.lines = examples->count,
                                    .columns = training->matrix.x.columns,
                                    .bits = training->matrix.bits};
    for (size_t i = 0; i < examples->count; i++) {
        report->with_task += examples->items[i].task >= 0;
        for (size_t o = 0; o < OUTCOME_COUNT; o++)
            report->labelled[o] += !isnan(examples->items[i].outcome[o]);
    }
    for (size_t o = 0; o < OUTCOME_COUNT; o++) {
        double count, sum = error_of(training, 0, o, &count);
        report->error[o] = count > 0 ? (float)(sum / count) : NAN;
        report->lambda[o] = count > 0 ? lambda_of(training->setting[o], PART_WORDS) : NAN;
    }
    report->task_accuracy = task_accuracy(training, p);
    report->task_lambda =
        report->with_task ? lambda_of(training->setting[OUTCOME_COUNT], PART_WORDS) : NAN;
}

static enum td_status run(struct training *training, const struct train_options *options,
                          const char *path, struct train_report *report)
{
    enum td_status status = prepare(training, options->seed);
    if (status != TD_OK)
        return status;
    if (training->held_count < LABELS_MIN)
        return error_set(training->err, TD_INVALID,
                         "%zu lines have a label, at least %d are needed", training->held_count,
                         LABELS_MIN);
    status = choose(training);
    if (status != TD_OK)
        return status;
    struct classifier_parameters *parameters = calloc(1, sizeof *parameters);
    if (!parameters)
        return no_memory(training->err);
    struct held_out held = {training->examples, training->held_rows, training->held_count,
                            training->held_scores, training->stride};
    calibrate(&held, parameters);
    fill_report(training, parameters, report);
    memset(training->weights, 0, training->matrix.x.columns * training->stride * sizeof(float));
    status = solve(training, training->mask, STEPS_FINAL);
    if (status == TD_OK)
        status = write_result(training, parameters, options->seed, path);
    free(parameters);
    return status;
}

enum td_status train_classifier(const struct examples *examples,
                                const struct train_options *options, const char *path,
                                struct train_report *report, struct td_error *err)
{
    ASSERT(path != NULL);
    struct training training = {.examples = examples, .err = err};
    enum td_status status = run(&training, options, path, report);
    matrix_deinit(&training.matrix);
    free(training.target);
    free(training.mask);
    free(training.part);
    free(training.held_rows);
    free(training.held_scores);
    free(training.weights);
    return status;
}
