/* The numbers of a classifier file between its header and its rows, as its reader and its trainer
 * share them. The offset table is in classifier.h. */
#ifndef ROUTER_CLASSIFIER_FORMAT_H
#define ROUTER_CLASSIFIER_FORMAT_H

#include "router/judge/classifier.h"

#define CLASSIFIER_MAGIC "TDROUTER"
#define CLASSIFIER_VERSION 2u
#define CLASSIFIER_HEADER_BYTES 64
#define CLASSIFIER_HASHED_FROM 24
#define CLASSIFIER_ROW_ALIGN 16
#define CLASSIFIER_BITS_MIN 8
#define STACK_INPUTS (2 * OUTCOME_COUNT) /* and a bias */

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "classifier files are little-endian and mapped as they are"
#endif

struct classifier_header {
    char magic[8];
    uint32_t version, features_version;
    uint64_t hash;
    uint32_t bits, row_bytes, outputs, tasks, dense, trained;
    uint64_t lines, seed;
};
_Static_assert(sizeof(struct classifier_header) == CLASSIFIER_HEADER_BYTES, "as in the file");

struct classifier_parameters {
    float scale[CLASSIFIER_OUTPUTS_MAX + 1]; /* of the rows' columns; [0]: idf² */
    float bias[CLASSIFIER_OUTPUTS_MAX];
    float dense[CLASSIFIER_OUTPUTS_MAX][FEATURE_COUNT];
    float stack[OUTCOME_COUNT][STACK_INPUTS + 1]; /* the last is the bias */
    float platt[OUTCOME_COUNT][2];                /* slope, offset */
    float task_slope;
    float task_offset[CLASSIFIER_TASKS_MAX];
    float task_mean[CLASSIFIER_TASKS_MAX][OUTCOME_COUNT];
    char task_name[CLASSIFIER_TASKS_MAX][CLASSIFIER_TASK_BYTES];
};

/* Number of floats in a file with these numbers of outputs and tasks. */
static inline size_t classifier_float_count(size_t outputs, size_t tasks)
{
    return (outputs + 1) + outputs + outputs * FEATURE_COUNT + OUTCOME_COUNT * (STACK_INPUTS + 1) +
           OUTCOME_COUNT * 2 + 1 + tasks + tasks * OUTCOME_COUNT;
}

/* Bytes before the rows. */
static inline size_t classifier_rows_at(size_t outputs, size_t tasks)
{
    size_t end = CLASSIFIER_HEADER_BYTES + classifier_float_count(outputs, tasks) * sizeof(float) +
                 tasks * CLASSIFIER_TASK_BYTES;
    return (end + 63) / 64 * 64;
}

static inline uint32_t classifier_row_bytes(size_t outputs)
{
    return (uint32_t)((1 + outputs + CLASSIFIER_ROW_ALIGN - 1) / CLASSIFIER_ROW_ALIGN *
                      CLASSIFIER_ROW_ALIGN);
}

/* What the second layer makes of the first one's outputs. task_p: room for `tasks`. The trainer
 * fits it with these, so that both compute the same. */
void classifier_task_probabilities(const struct classifier_parameters *p, size_t tasks,
                                   const float *scores, float *task_p);
void classifier_stack_inputs(const struct classifier_parameters *p, size_t tasks,
                             const float *scores, const float *task_p,
                             float inputs[static STACK_INPUTS]);

/* Writes a whole file. The path appears only when the file is complete. `rows`
 * [2^bits][row_bytes]. */
TD_MUST_CHECK enum td_status classifier_write(const char *path, struct classifier_header *header,
                                              const struct classifier_parameters *parameters,
                                              const int8_t *rows, struct td_error *err);

#endif
