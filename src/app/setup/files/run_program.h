/* Runs another program for what it prints: without a shell, without input, and with those variables
 * of this process that it may need. Others may hold keys. Any thread; blocks. */
#ifndef APP_RUN_PROGRAM_H
#define APP_RUN_PROGRAM_H

#include "base/bytes/buf.h"

struct program_limits {
    uint32_t run_ms;
    size_t memory_bytes_max; /* of addresses; 0 = none */
};

/* words: the program, looked for in PATH, and its arguments; the last is NULL. What it prints is
 * appended to *out, whose bytes_max is its limit. TD_NOT_FOUND: there is no such program.
 * TD_TIMEOUT: it ran for too long or printed too much, and was killed. TD_INVALID: it did not end
 * with 0. */
TD_MUST_CHECK enum td_status program_run(const char *const *words,
                                         const struct program_limits *limits, struct buf *out,
                                         struct td_error *err);

#endif
