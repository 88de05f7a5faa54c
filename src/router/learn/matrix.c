/* Two passes over the lines: the first counts in how many lines each bucket occurs, the second
 * writes the rows. Buckets that occur in one line only get no column, because they say nothing
 * about other lines. */
#include "router/learn/matrix.h"

#include "base/core/assertion.h"
#include "base/core/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What occurs in one line alone says nothing about others. */
#define LINES_MIN 2
#define IDF_STEPS 127.0f

static enum td_status no_memory(struct td_error *err)
{
    return error_set(err, TD_NO_MEMORY, "no memory for the training matrix");
}

static uint32_t bucket_at(const struct examples *examples, const struct matrix *matrix, size_t i)
{
    return examples->buckets[i] >> (NGRAM_BITS_MAX - matrix->bits);
}

/* Lines in which each bucket occurs; `last` remembers the line that was counted, since halving
 * buckets can join two of a line. */
static void count_lines(const struct examples *examples, const struct matrix *matrix,
                        uint32_t *lines, uint32_t *last)
{
    for (size_t row = 0; row < examples->count; row++) {
        for (size_t i = examples->items[row].begin; i < examples->items[row].end; i++) {
            uint32_t bucket = bucket_at(examples, matrix, i);
            lines[bucket] += last[bucket] != row + 1;
            last[bucket] = (uint32_t)row + 1;
        }
    }
}

/* idf = 1 + ln((1 + lines) / (1 + lines with it)), squared and rounded as the file keeps it. */
static void set_idf(struct matrix *matrix, const uint32_t *lines, size_t line_count)
{
    size_t buckets = (size_t)1 << matrix->bits;
    float highest = 1 + logf((1 + (float)line_count) / (1 + LINES_MIN));
    matrix->idf_scale = highest * highest / IDF_STEPS;
    for (size_t bucket = 0; bucket < buckets; bucket++) {
        matrix->column_of[bucket] = UINT32_MAX;
        if (lines[bucket] < LINES_MIN)
            continue;
        float idf = 1 + logf((1 + (float)line_count) / (1 + (float)lines[bucket]));
        float steps = roundf(idf * idf / matrix->idf_scale);
        matrix->idf_square[bucket] = (int8_t)(steps < 1           ? 1
                                              : steps > IDF_STEPS ? IDF_STEPS
                                                                  : steps);
        matrix->bucket_of[matrix->ngram_columns] = (uint32_t)bucket;
        matrix->column_of[bucket] = (uint32_t)matrix->ngram_columns++;
    }
}

static enum td_status find_columns(const struct examples *examples, struct matrix *matrix,
                                   struct td_error *err)
{
    size_t buckets = (size_t)1 << matrix->bits;
    uint32_t *lines = calloc(buckets, sizeof *lines), *last = calloc(buckets, sizeof *last);
    matrix->idf_square = calloc(buckets, 1);
    matrix->column_of = calloc(buckets, sizeof *matrix->column_of);
    matrix->bucket_of = calloc(buckets, sizeof *matrix->bucket_of);
    enum td_status status = TD_OK;
    if (!lines || !last || !matrix->idf_square || !matrix->column_of || !matrix->bucket_of) {
        status = no_memory(err);
    } else {
        count_lines(examples, matrix, lines, last);
        set_idf(matrix, lines, examples->count);
    }
    free(lines);
    free(last);
    return status;
}

static void measure_features(const struct examples *examples, struct matrix *matrix)
{
    for (size_t f = 0; f < FEATURE_COUNT; f++) {
        double sum = 0, square = 0;
        for (size_t i = 0; i < examples->count; i++) {
            double value = (double)examples->items[i].features.value[f];
            sum += value;
            square += value * value;
        }
        double mean = sum / (double)examples->count;
        double variance = square / (double)examples->count - mean * mean;
        matrix->mean[f] = (float)mean;
        matrix->deviation[f] =
            variance > 1e-8 ? (float)sqrt(variance) : 0; /* 0: the same everywhere */
    }
}

/* The columns of one part of a row, each once, as idf over the part's length. */
static void add_ngrams(const struct examples *examples, struct matrix *matrix, size_t from,
                       size_t to, uint32_t *last, uint32_t mark)
{
    size_t begin = matrix->begin[0],
           at = begin; /* begin[0] is the fill mark while rows are added */
    float squares = 0;
    for (size_t i = from; i < to; i++) {
        uint32_t bucket = bucket_at(examples, matrix, i), column = matrix->column_of[bucket];
        if (column == UINT32_MAX || last[column] == mark)
            continue;
        last[column] = mark;
        float square = (float)matrix->idf_square[bucket] * matrix->idf_scale;
        squares += square;
        matrix->column[at] = column;
        matrix->value[at++] = sqrtf(square);
    }
    for (size_t i = begin; i < at; i++)
        matrix->value[i] /= sqrtf(squares);
    matrix->begin[0] = at;
}

static void add_dense(const struct features *features, struct matrix *matrix)
{
    size_t at = matrix->begin[0];
    float unit =
        1 / sqrtf(FEATURE_COUNT); /* the part's length is 1 in the mean, like the others' */
    for (size_t f = 0; f < FEATURE_COUNT; f++) {
        if (matrix->deviation[f] <= 0)
            continue;
        matrix->column[at] = (uint32_t)(matrix->ngram_columns + f);
        matrix->value[at++] = unit * (features->value[f] - matrix->mean[f]) / matrix->deviation[f];
    }
    matrix->column[at] = (uint32_t)(matrix->ngram_columns + FEATURE_COUNT);
    matrix->value[at++] = 1;
    matrix->begin[0] = at;
}

static enum td_status fill(const struct examples *examples, struct matrix *matrix,
                           struct td_error *err)
{
    size_t most = examples->bucket_count + examples->count * (FEATURE_COUNT + 1);
    uint32_t *last = calloc(matrix->ngram_columns + 1, sizeof *last);
    matrix->begin = calloc(examples->count + 1, sizeof *matrix->begin);
    matrix->column = malloc(most * sizeof *matrix->column);
    matrix->value = malloc(most * sizeof *matrix->value);
    enum td_status status = TD_OK;
    if (!last || !matrix->begin || !matrix->column || !matrix->value)
        status = no_memory(err);
    for (size_t row = 0; status == TD_OK && row < examples->count; row++) {
        const struct example *example = &examples->items[row];
        add_ngrams(examples, matrix, example->begin, example->words_end, last, (uint32_t)row + 1);
        add_ngrams(examples, matrix, example->words_end, example->end, last, (uint32_t)row + 1);
        add_dense(&example->features, matrix);
        matrix->begin[row + 1] = matrix->begin[0];
    }
    if (status == TD_OK)
        matrix->begin[0] = 0;
    free(last);
    return status;
}

enum td_status matrix_make(const struct examples *examples, unsigned bits, struct matrix *out,
                           struct td_error *err)
{
    ASSERT(bits >= 8 && bits <= NGRAM_BITS_MAX);
    memset(out, 0, sizeof *out);
    out->bits = bits;
    enum td_status status = find_columns(examples, out, err);
    if (status == TD_OK) {
        measure_features(examples, out);
        status = fill(examples, out, err);
    }
    out->x = (struct sparse){.begin = out->begin,
                             .column = out->column,
                             .value = out->value,
                             .rows = examples->count,
                             .columns = out->ngram_columns + FEATURE_COUNT + 1};
    return status;
}

void matrix_deinit(struct matrix *matrix)
{
    free(matrix->begin);
    free(matrix->column);
    free(matrix->value);
    free(matrix->idf_square);
    free(matrix->column_of);
    free(matrix->bucket_of);
    memset(matrix, 0, sizeof *matrix);
}

enum column_part matrix_part_of(const struct matrix *matrix, size_t column)
{
    if (column >= matrix->ngram_columns)
        return PART_DENSE;
    return matrix->bucket_of[column] < 1u << (matrix->bits - 2) ? PART_WORDS : PART_BYTES;
}
