/* Fitting the second layer of a classifier: first the softmax of the tasks, then each task's means,
 * then the stack that joins both, then the sigmoid. Labels are few and noisy, so everything is held
 * near a sensible prior. A line's own label never takes part in what it is judged by. */
#include "router/learn/calibrate.h"

#include "router/learn/solve.h"

#include <math.h>
#include <string.h>

#define TASK_STEPS 300
#define TASK_RATE 0.3f
/* The mean over all tasks counts as this many lines in the mean of each task. Outcomes vary about
 * five times as much inside a task as between tasks, so a task needs that many lines before its own
 * mean is as trustworthy. */
#define MEAN_PRIOR 25.0f
/* How much the stack is held to the first layer's own prediction, by the inputs' variance. */
#define STACK_PRIOR 0.02
#define NEWTON_STEPS 50

static const struct example *example_of(const struct held_out *held, size_t i)
{
    return &held->examples->items[held->rows[i]];
}

static const float *scores_of(const struct held_out *held, size_t i)
{
    return held->scores + i * held->stride;
}

/* Slope and offsets of the softmax by gradient ascent on the mean log-likelihood with steps after
 * Duchi et al. 2011 (AdaGrad). */
static void fit_tasks(const struct held_out *held, struct classifier_parameters *p)
{
    size_t tasks = held->examples->task_count, labelled = 0;
    float square[CLASSIFIER_TASKS_MAX + 1] = {0}, task_p[CLASSIFIER_TASKS_MAX];
    p->task_slope = 5;
    for (size_t i = 0; i < held->count; i++)
        labelled += example_of(held, i)->task >= 0;
    for (int step = 0; step < TASK_STEPS && labelled > 0; step++) {
        float gradient[CLASSIFIER_TASKS_MAX + 1] = {0};
        for (size_t i = 0; i < held->count; i++) {
            int32_t task = example_of(held, i)->task;
            if (task < 0)
                continue;
            const float *scores = scores_of(held, i);
            classifier_task_probabilities(p, tasks, scores, task_p);
            for (size_t t = 0; t < tasks; t++) {
                float miss = (t == (size_t)task) - task_p[t];
                gradient[t] += miss;
                gradient[tasks] += miss * scores[OUTCOME_COUNT + t];
            }
        }
        for (size_t t = 0; t <= tasks; t++) {
            float g = gradient[t] / (float)labelled;
            square[t] += g * g;
            float move = square[t] > 0 ? TASK_RATE * g / sqrtf(square[t]) : 0;
            if (t < tasks)
                p->task_offset[t] += move;
            else
                p->task_slope += move;
        }
    }
}

struct means {
    double sum[CLASSIFIER_TASKS_MAX][OUTCOME_COUNT], count[CLASSIFIER_TASKS_MAX][OUTCOME_COUNT];
    double all[OUTCOME_COUNT];
};

static void find_means(const struct held_out *held, struct means *means)
{
    double count[OUTCOME_COUNT] = {0};
    memset(means, 0, sizeof *means);
    for (size_t i = 0; i < held->count; i++) {
        const struct example *example = example_of(held, i);
        for (size_t o = 0; o < OUTCOME_COUNT; o++) {
            if (isnan(example->outcome[o]))
                continue;
            means->all[o] += (double)example->outcome[o];
            count[o]++;
            if (example->task >= 0) {
                means->sum[example->task][o] += (double)example->outcome[o];
                means->count[example->task][o]++;
            }
        }
    }
    for (size_t o = 0; o < OUTCOME_COUNT; o++)
        means->all[o] = count[o] > 0 ? means->all[o] / count[o] : 0;
}

/* The task's shrunken mean, without one line's own value when it has a label (`own`, else NAN). */
static float mean_of(const struct means *means, size_t task, size_t outcome, float own)
{
    bool without = !isnan(own);
    double sum = means->sum[task][outcome] - (without ? (double)own : 0);
    double count = means->count[task][outcome] - without;
    return (float)((sum + (double)MEAN_PRIOR * means->all[outcome]) / (count + (double)MEAN_PRIOR));
}

/* The stack's inputs for a line whose own label must not be in them. */
static void inputs_of(const struct held_out *held, size_t i, const struct means *means,
                      const struct classifier_parameters *p, float inputs[static STACK_INPUTS])
{
    size_t tasks = held->examples->task_count;
    const struct example *example = example_of(held, i);
    float task_p[CLASSIFIER_TASKS_MAX];
    classifier_task_probabilities(p, tasks, scores_of(held, i), task_p);
    classifier_stack_inputs(p, tasks, scores_of(held, i), task_p, inputs);
    if (example->task < 0)
        return;
    for (size_t o = 0; o < OUTCOME_COUNT; o++) {
        float with = p->task_mean[example->task][o];
        float without = mean_of(means, (size_t)example->task, o, example->outcome[o]);
        inputs[OUTCOME_COUNT + o] += task_p[example->task] * (without - with);
    }
}

#define UNKNOWNS (STACK_INPUTS + 1)

/* Least squares of what the outcome's own score leaves, held near zero: with few labels the stack
 * is that score alone. */
static void fit_stack(const struct held_out *held, enum outcome outcome, const struct means *means,
                      struct classifier_parameters *p)
{
    double a[UNKNOWNS][UNKNOWNS] = {{0}}, b[UNKNOWNS] = {0}, x[UNKNOWNS], sum[UNKNOWNS] = {0};
    double count = 0;
    for (size_t i = 0; i < held->count; i++) {
        float inputs[UNKNOWNS];
        float wanted = example_of(held, i)->outcome[outcome];
        if (isnan(wanted))
            continue;
        inputs_of(held, i, means, p, inputs);
        inputs[STACK_INPUTS] = 1;
        double left = (double)(wanted - inputs[outcome]);
        count++;
        for (int r = 0; r < UNKNOWNS; r++) {
            for (int c = 0; c < UNKNOWNS; c++)
                a[r][c] += (double)inputs[r] * (double)inputs[c];
            b[r] += (double)inputs[r] * left;
            sum[r] += (double)inputs[r];
        }
    }
    if (count == 0)
        return;
    for (int i = 0; i < STACK_INPUTS; i++)
        a[i][i] += STACK_PRIOR * (a[i][i] - sum[i] * sum[i] / count) + 1e-6;
    solve_definite(UNKNOWNS, &a[0][0], b, x);
    for (int i = 0; i < UNKNOWNS; i++)
        p->stack[outcome][i] = (float)x[i] + (i == (int)outcome);
}

static double stack_of(const struct classifier_parameters *p, enum outcome outcome,
                       const float *inputs)
{
    double z = (double)p->stack[outcome][STACK_INPUTS];
    for (size_t i = 0; i < STACK_INPUTS; i++)
        z += (double)p->stack[outcome][i] * (double)inputs[i];
    return z;
}

/* One step of Newton's method for slope and offset; the gradient of the log-likelihood and its
 * curvature are summed before. */
static void newton(const double gradient[2], const double curvature[3], double out[2])
{
    double a = curvature[0] + 1e-6, b = curvature[1], c = curvature[2] + 1e-6;
    double determinant = a * c - b * b;
    if (determinant < 1e-12)
        return;
    double move[2] = {(c * gradient[0] - b * gradient[1]) / determinant,
                      (a * gradient[1] - b * gradient[0]) / determinant};
    for (int i = 0; i < 2; i++)
        out[i] += move[i] > 2 ? 2 : move[i] < -2 ? -2 : move[i];
}

/* How far a target keeps from 0 and 1, so that labels that are all the same give no endless slope:
 * 1 / (n + 2) (Platt 1999, "Probabilistic outputs for support vector machines"). */
static double margin_of(const struct held_out *held, enum outcome outcome)
{
    double count = 0;
    for (size_t i = 0; i < held->count; i++)
        count += !isnan(example_of(held, i)->outcome[outcome]);
    return 1 / (count + 2);
}

/* A sigmoid of slope and offset by Newton's method (Platt 1999). */
static void fit_platt(const struct held_out *held, enum outcome outcome, const struct means *means,
                      struct classifier_parameters *p)
{
    double line[2] = {4, -2}, margin = margin_of(held, outcome);
    for (int step = 0; step < NEWTON_STEPS; step++) {
        double gradient[2] = {0}, curvature[3] = {0};
        for (size_t i = 0; i < held->count; i++) {
            float inputs[STACK_INPUTS];
            float wanted = example_of(held, i)->outcome[outcome];
            if (isnan(wanted))
                continue;
            inputs_of(held, i, means, p, inputs);
            double z = stack_of(p, outcome, inputs);
            double probability = 1 / (1 + exp(-(line[0] * z + line[1])));
            double target = margin + (1 - 2 * margin) * (double)wanted;
            double miss = target - probability, slack = probability * (1 - probability);
            gradient[0] += miss * z;
            gradient[1] += miss;
            curvature[0] += slack * z * z;
            curvature[1] += slack * z;
            curvature[2] += slack;
        }
        newton(gradient, curvature, line);
    }
    p->platt[outcome][0] = (float)line[0];
    p->platt[outcome][1] = (float)line[1];
}

void calibrate(const struct held_out *held, struct classifier_parameters *parameters)
{
    struct means means;
    fit_tasks(held, parameters);
    find_means(held, &means);
    for (size_t t = 0; t < held->examples->task_count; t++)
        for (size_t o = 0; o < OUTCOME_COUNT; o++)
            parameters->task_mean[t][o] = mean_of(&means, t, o, NAN);
    for (int o = 0; o < OUTCOME_COUNT; o++)
        fit_stack(held, (enum outcome)o, &means, parameters);
    fit_platt(held, OUTCOME_LOCAL, &means, parameters);
    fit_platt(held, OUTCOME_STRONG, &means, parameters);
}
