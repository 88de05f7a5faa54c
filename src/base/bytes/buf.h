/* A growing byte buffer with a maximum. A failure is remembered, so a writer checks once at the
 * end. One owner; not thread-safe. */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include "tandem/types.h"

struct buf {
    char *data; /* after the first append NUL-terminated; len does not count the NUL */
    size_t len;
    size_t capacity;
    size_t bytes_max;
    bool failed; /* over bytes_max or out of memory: the contents are incomplete */
};

void buf_init(struct buf *buf, size_t bytes_max);
void buf_deinit(struct buf *buf);
void buf_clear(struct buf *buf); /* keeps the memory; clears `failed` */

void buf_append(struct buf *buf, const void *data, size_t len);
void buf_append_str(struct buf *buf, struct td_str text);
void buf_append_char(struct buf *buf, char c);
void buf_printf(struct buf *buf, const char *format, ...) TD_PRINTF(2, 3);

/* Appends a whole file, which must be a regular one; with path NULL, standard input. TD_NOT_FOUND,
 * TD_IO, TD_LIMIT. */
TD_MUST_CHECK enum td_status buf_read_file(struct buf *buf, const char *path, struct td_error *err);

/* Goes back to an earlier length; `failed` stays. */
void buf_truncate(struct buf *buf, size_t len);

/* Removes `len` bytes from the front. */
void buf_consume(struct buf *buf, size_t len);

struct td_str buf_view(const struct buf *buf);

/* **returns new** (free): the contents, NUL-terminated; NULL if the buffer failed. The buffer is
 * empty afterwards. */
char *buf_take(struct buf *buf);

#endif
