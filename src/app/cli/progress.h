/* A line of progress on standard error, with the time that is left; nothing where that is no
 * terminal. One at a time; main thread. */
#ifndef APP_PROGRESS_H
#define APP_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    const char *what; /* "quantising" */
    bool silent;      /* --json, say */
    double begin_ms, shown_ms;
    bool shown;
};

void progress_begin(struct progress *progress, const char *what, bool silent);
/* Shows it at most ten times a second. */
void progress_show(struct progress *progress, uint64_t done, uint64_t total);
/* The same as a callback; ctx: the struct progress. */
void progress_report(void *ctx, uint64_t done, uint64_t total);
/* From now on lines are also shown by those that asked for silence: what they print as JSON is read
 * by this program. */
void progress_always(void);
/* Takes the line away. Returns the seconds since the beginning. */
double progress_end(struct progress *progress);

#endif
