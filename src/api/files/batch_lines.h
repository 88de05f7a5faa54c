/* The lines of a batch's input: {"custom_id", "method", "url", "body"} each. Empty lines count for
 * nothing. One owner; any thread. */
#ifndef API_BATCH_LINES_H
#define API_BATCH_LINES_H

#include "base/bytes/buf.h"

#include <stdio.h>

#define BATCH_LINES_MAX 50000 /* OpenAI's limit */
#define BATCH_CUSTOM_ID_BYTES_MAX 512

struct json;

struct batch_lines {
    FILE *file;
    struct buf line;
    uint64_t number;  /* of the line that was read last, from 0 */
    uint64_t in_file; /* its number in the file, from 1 */
    bool begun;
};

/* **takes** fd. False without memory. */
bool batch_lines_open(struct batch_lines *lines, int fd, size_t line_bytes_max);
void batch_lines_close(struct batch_lines *lines); /* also of one that is all zero */
/* The next line, which stands in lines->line; lines->line.failed when it is too long. False at the
 * end. */
bool batch_lines_next(struct batch_lines *lines);

/* What is wrong with a line; code and param are literals. */
struct batch_line_fault {
    const char *code, *param;
    char message[256];
};
/* **returns new** (json_free), or NULL with *fault. */
struct json *batch_line_read(struct td_str text, const char *endpoint,
                             struct batch_line_fault *fault);

/* A line_names_fn (ledger/store/file_store.h). One that is no JSON asks for whoever stands in
 * it. */
bool batch_line_names_user(struct td_str text, const char *user);

#endif
