/* Conjugate gradients for all outputs at once. The passes over the rows are the cost, and all
 * outputs share them; each output has its own step and stops moving when it is solved. */
#include "router/learn/ridge.h"

#include "base/core/assertion.h"
#include "base/core/error.h"

#include <stdlib.h>
#include <string.h>

/* Four outputs at a time, eight in a step: what every machine has registers for. */
typedef float lanes __attribute__((vector_size(16)));
#define LANES 4
#define STEP_OUTPUTS 8
#define OUTPUTS_MAX 64

struct solver {
    const struct ridge *ridge;
    float *residual, *direction, *product; /* [columns, outputs] */
    bool *active;                          /* [rows] the mask has something of it */
    double residual_square[OUTPUTS_MAX];
};

static inline lanes load(const float *from)
{
    lanes out;
    memcpy(&out, from, sizeof out);
    return out;
}

static inline void store(float *to, lanes value)
{
    memcpy(to, &value, sizeof value);
}

void ridge_apply(const struct sparse *x, size_t row, const float *weights, size_t outputs,
                 float *out)
{
    for (size_t part = 0; part < outputs; part += STEP_OUTPUTS) {
        lanes low = {0}, high = {0};
        for (size_t i = x->begin[row]; i < x->begin[row + 1]; i++) {
            const float *at = weights + x->column[i] * outputs + part;
            low += x->value[i] * load(at);
            high += x->value[i] * load(at + LANES);
        }
        store(out + part, low);
        store(out + part + LANES, high);
    }
}

static void add_row(const struct sparse *x, size_t row, const float *by, size_t outputs,
                    float *weights)
{
    for (size_t part = 0; part < outputs; part += STEP_OUTPUTS) {
        lanes low = load(by + part), high = load(by + part + LANES);
        for (size_t i = x->begin[row]; i < x->begin[row + 1]; i++) {
            float *at = weights + x->column[i] * outputs + part;
            store(at, load(at) + x->value[i] * low);
            store(at + LANES, load(at + LANES) + x->value[i] * high);
        }
    }
}

/* product = Xᵀ (m · (X direction)) + λ direction */
static void multiply(struct solver *solver)
{
    const struct ridge *ridge = solver->ridge;
    size_t outputs = ridge->outputs;
    float by[OUTPUTS_MAX];
    for (size_t column = 0; column < ridge->x.columns; column++)
        for (size_t k = 0; k < outputs; k++)
            solver->product[column * outputs + k] =
                ridge->lambda[ridge->part[column] * outputs + k] *
                solver->direction[column * outputs + k];
    for (size_t row = 0; row < ridge->x.rows; row++) {
        if (!solver->active[row])
            continue;
        ridge_apply(&ridge->x, row, solver->direction, outputs, by);
        for (size_t k = 0; k < outputs; k++)
            by[k] *= ridge->mask[row * outputs + k];
        add_row(&ridge->x, row, by, outputs, solver->product);
    }
}

/* residual = Xᵀ (m · (y − X w)) − λ w */
static void begin(struct solver *solver, const float *weights)
{
    const struct ridge *ridge = solver->ridge;
    size_t outputs = ridge->outputs, size = ridge->x.columns * outputs;
    float by[OUTPUTS_MAX];
    for (size_t column = 0; column < ridge->x.columns; column++)
        for (size_t k = 0; k < outputs; k++)
            solver->residual[column * outputs + k] =
                -ridge->lambda[ridge->part[column] * outputs + k] * weights[column * outputs + k];
    for (size_t row = 0; row < ridge->x.rows; row++) {
        if (!solver->active[row])
            continue;
        ridge_apply(&ridge->x, row, weights, outputs, by);
        for (size_t k = 0; k < outputs; k++)
            by[k] = ridge->mask[row * outputs + k] * (ridge->target[row * outputs + k] - by[k]);
        add_row(&ridge->x, row, by, outputs, solver->residual);
    }
    memcpy(solver->direction, solver->residual, size * sizeof(float));
}

static void column_products(const float *a, const float *b, size_t size, size_t outputs,
                            double *out)
{
    memset(out, 0, OUTPUTS_MAX * sizeof *out);
    for (size_t i = 0; i < size; i += outputs)
        for (size_t k = 0; k < outputs; k++)
            out[k] += (double)a[i + k] * (double)b[i + k];
}

static void step(struct solver *solver, float *weights)
{
    size_t outputs = solver->ridge->outputs, size = solver->ridge->x.columns * outputs;
    double curvature[OUTPUTS_MAX], square[OUTPUTS_MAX];
    float alpha[OUTPUTS_MAX], beta[OUTPUTS_MAX];
    multiply(solver);
    column_products(solver->direction, solver->product, size, outputs, curvature);
    for (size_t k = 0; k < outputs; k++) /* a solved output stands still */
        alpha[k] = curvature[k] > 1e-20 ? (float)(solver->residual_square[k] / curvature[k]) : 0;
    for (size_t i = 0; i < size; i += outputs) {
        for (size_t k = 0; k < outputs; k++) {
            weights[i + k] += alpha[k] * solver->direction[i + k];
            solver->residual[i + k] -= alpha[k] * solver->product[i + k];
        }
    }
    column_products(solver->residual, solver->residual, size, outputs, square);
    for (size_t k = 0; k < outputs; k++) {
        beta[k] = solver->residual_square[k] > 1e-20
                      ? (float)(square[k] / solver->residual_square[k])
                      : 0;
        solver->residual_square[k] = square[k];
    }
    for (size_t i = 0; i < size; i += outputs)
        for (size_t k = 0; k < outputs; k++)
            solver->direction[i + k] = solver->residual[i + k] + beta[k] * solver->direction[i + k];
}

enum td_status ridge_solve(const struct ridge *ridge, float *weights, struct td_error *err)
{
    ASSERT(ridge->outputs % 8 == 0 && ridge->steps > 0);
    size_t size = ridge->x.columns * ridge->outputs;
    if (ridge->outputs > OUTPUTS_MAX || ridge->outputs % STEP_OUTPUTS != 0)
        return error_set(err, TD_INVALID, "%zu outputs: a multiple of %d up to %d is needed",
                         ridge->outputs, STEP_OUTPUTS, OUTPUTS_MAX);
    struct solver solver = {.ridge = ridge};
    solver.residual = malloc(size * sizeof(float));
    solver.direction = malloc(size * sizeof(float));
    solver.product = malloc(size * sizeof(float));
    solver.active = calloc(ridge->x.rows + 1, sizeof(bool));
    enum td_status status = TD_OK;
    if (!solver.residual || !solver.direction || !solver.product || !solver.active) {
        status = error_set(err, TD_NO_MEMORY, "no memory to train %zu columns with %zu outputs",
                           ridge->x.columns, ridge->outputs);
    } else {
        for (size_t i = 0; i < ridge->x.rows * ridge->outputs; i++)
            solver.active[i / ridge->outputs] |= ridge->mask[i] > 0;
        begin(&solver, weights);
        column_products(solver.residual, solver.residual, size, ridge->outputs,
                        solver.residual_square);
        for (int i = 0; i < ridge->steps; i++)
            step(&solver, weights);
    }
    free(solver.residual);
    free(solver.direction);
    free(solver.product);
    free(solver.active);
    return status;
}
