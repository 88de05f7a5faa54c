/* The line that shows how far a download is. It is never wider than the terminal. */
#ifndef APP_PULL_BAR_H
#define APP_PULL_BAR_H

#include "tandem/types.h"

struct pull_bar {
    const char *what, *name; /* "pulling", "qwen3-4b.gguf" */
    uint64_t bytes, total;   /* total: 0 or UINT64_MAX = not known */
    uint64_t not_counted;    /* of `bytes`: there before it began */
    double seconds;          /* since then */
};

#define PULL_BAR_BYTES 512

/* The line for so many columns, without a line end. */
void pull_bar_write(const struct pull_bar *bar, unsigned columns, char out[static PULL_BAR_BYTES]);
/* Writes it over the line on standard error; false where that is no terminal. */
bool pull_bar_show(const struct pull_bar *bar);

#endif
