/* The importance of a model's columns: for each matrix the mean square of the inputs that each of
 * its columns is multiplied with, E[x^2], over a text. It is the diagonal of the Hessian of the
 * output's squared error, so a rounding error e of a weight of column j costs E[x_j^2] e^2.
 *
 * Files are llama.cpp's: GGUF (tensors NAME.in_sum2 and NAME.counts) and the older .dat, which is
 * only read. Immutable after it was read or collected; any thread. */
#ifndef QUANT_IMATRIX_H
#define QUANT_IMATRIX_H

#include "tandem/types.h"

struct imatrix;
struct imatrix_entry {
    char name[65];
    uint32_t cols, experts; /* experts: 1 for a plain matrix */
    double *sums;           /* [experts, cols]: sums of x^2 */
    uint64_t *counts;       /* [experts]: inputs */
    /* [experts, cols]: means, divided by their mean over the columns of the expert, and at least a
     * little: what encode_row takes. */
    float *importance;
};

/* **returns new** (imatrix_free). TD_CORRUPT (with name and reason), TD_IO, TD_LIMIT. */
TD_MUST_CHECK enum td_status imatrix_read(const char *path, struct imatrix **out,
                                          struct td_error *err);
TD_MUST_CHECK enum td_status imatrix_read_dat(const void *data, size_t len, const char *label,
                                              struct imatrix **out, struct td_error *err);
void imatrix_free(struct imatrix *imatrix);

/* Empty, to be filled. NULL without memory. */
struct imatrix *imatrix_new(void);
/* The entry of that name, made if it is not there. NULL without memory, or when it is there with
 * another shape. */
struct imatrix_entry *imatrix_add(struct imatrix *imatrix, struct td_str name, uint32_t cols,
                                  uint32_t experts);
/* The same while it is gathered, until the next imatrix_add. */
struct imatrix_entry *imatrix_entry_at(struct imatrix *imatrix, size_t index);
/* After the last sum: makes `importance` of each entry. */
TD_MUST_CHECK enum td_status imatrix_settle(struct imatrix *imatrix, struct td_error *err);

const struct imatrix_entry *imatrix_find(const struct imatrix *imatrix, struct td_str name);
size_t imatrix_count(const struct imatrix *imatrix);
const struct imatrix_entry *imatrix_at(const struct imatrix *imatrix, size_t index);

/* What the file says of its making. */
struct imatrix_origin {
    const char *const *datasets; /* names of the texts */
    size_t dataset_count;
    uint32_t chunk_count, chunk_size; /* chunks of so many tokens */
};

TD_MUST_CHECK enum td_status imatrix_write(const struct imatrix *imatrix,
                                           const struct imatrix_origin *origin, const char *path,
                                           struct td_error *err);

#endif
