/* Writing a classifier file, in the order in which classifier.c reads it. */
#include "router/judge/classifier_format.h"

#include "base/bytes/file.h"
#include "base/core/error.h"
#include "base/crypto/hash.h"

#include <stdlib.h>
#include <string.h>

static unsigned char *put(unsigned char *at, const void *data, size_t bytes)
{
    memcpy(at, data, bytes);
    return at + bytes;
}

static void put_parameters(unsigned char *at, const struct classifier_header *header,
                           const struct classifier_parameters *p)
{
    size_t outputs = header->outputs, tasks = header->tasks;
    at = put(at, p->scale, (outputs + 1) * sizeof(float));
    at = put(at, p->bias, outputs * sizeof(float));
    at = put(at, p->dense, outputs * sizeof p->dense[0]);
    at = put(at, p->stack, sizeof p->stack);
    at = put(at, p->platt, sizeof p->platt);
    at = put(at, &p->task_slope, sizeof(float));
    at = put(at, p->task_offset, tasks * sizeof(float));
    at = put(at, p->task_mean, tasks * sizeof p->task_mean[0]);
    put(at, p->task_name, tasks * sizeof p->task_name[0]);
}

enum td_status classifier_write(const char *path, struct classifier_header *header,
                                const struct classifier_parameters *parameters, const int8_t *rows,
                                struct td_error *err)
{
    size_t rows_at = classifier_rows_at(header->outputs, header->tasks);
    size_t row_bytes = (size_t)header->row_bytes << header->bits;
    size_t bytes = rows_at + row_bytes;
    unsigned char *file = calloc(1, bytes);
    if (!file)
        return error_set(err, TD_NO_MEMORY, "no memory for a classifier file");
    put_parameters(file + CLASSIFIER_HEADER_BYTES, header, parameters);
    memcpy(file + rows_at, rows, row_bytes);
    memcpy(file, header, sizeof *header);
    header->hash = hash_words64(file + CLASSIFIER_HASHED_FROM, bytes - CLASSIFIER_HASHED_FROM);
    memcpy(file, header, sizeof *header);
    enum td_status status =
        file_replace(path, (struct td_str){(const char *)file, bytes}, 0644, err);
    free(file);
    return status;
}
