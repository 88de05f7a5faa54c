/* Writing a classifier file, in the order in which classifier.c reads it. */
#include "router/judge/classifier_format.h"

#include "base/error.h"
#include "base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static enum td_status write_all(int fd, const unsigned char *data, size_t bytes, const char *path,
                                struct td_error *err)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t written = write(fd, data + done, bytes - done);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return error_set(err, TD_IO, "%s: %s", path, strerror(written < 0 ? errno : EIO));
        done += (size_t)written;
    }
    return TD_OK;
}

/* Under another name first, so that a reader never sees a part. */
static enum td_status write_file(const char *path, const unsigned char *data, size_t bytes,
                                 struct td_error *err)
{
    char part[4096];
    if (snprintf(part, sizeof part, "%s.part", path) >= (int)sizeof part)
        return error_set(err, TD_INVALID, "the path is too long: %.80s...", path);
    int fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0)
        return error_set(err, TD_IO, "%s: %s", part, strerror(errno));
    enum td_status status = write_all(fd, data, bytes, part, err);
    if (close(fd) != 0 && status == TD_OK)
        status = error_set(err, TD_IO, "%s: %s", part, strerror(errno));
    if (status == TD_OK && rename(part, path) != 0)
        status = error_set(err, TD_IO, "%s: %s", path, strerror(errno));
    if (status != TD_OK)
        unlink(part);
    return status;
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
    enum td_status status = write_file(path, file, bytes, err);
    free(file);
    return status;
}
