/* The training lines as rows of a sparse matrix, as the first layer sees them, with the numbers of
 * it that a classifier file keeps. */
#ifndef ROUTER_MATRIX_H
#define ROUTER_MATRIX_H

#include "router/learn/examples.h"
#include "router/learn/ridge.h"

enum column_part { PART_WORDS, PART_BYTES, PART_DENSE, PART_COUNT };

struct matrix {
    struct sparse x;
    size_t *begin;
    uint32_t *column;
    float *value;
    unsigned bits;      /* of a bucket in the file */
    int8_t *idf_square; /* [2^bits], in units of idf_scale; 0: too rare to count */
    float idf_scale;
    uint32_t *column_of;  /* [2^bits]; UINT32_MAX: none */
    uint32_t *bucket_of;  /* [columns of n-grams] */
    size_t ngram_columns; /* then FEATURE_COUNT dense ones, then a constant 1 */
    float mean[FEATURE_COUNT], deviation[FEATURE_COUNT];
};

/* Fills *out, to be freed with matrix_deinit also when it failed. TD_NO_MEMORY. */
TD_MUST_CHECK enum td_status matrix_make(const struct examples *examples, unsigned bits,
                                         struct matrix *out, struct td_error *err);
void matrix_deinit(struct matrix *matrix);
enum column_part matrix_part_of(const struct matrix *matrix, size_t column);

#endif
