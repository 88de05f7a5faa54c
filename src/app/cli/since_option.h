/* --since SPAN: how far back a verb reads the records. */
#ifndef APP_SINCE_OPTION_H
#define APP_SINCE_OPTION_H

#include "app/cli/options.h"

struct since_option {
    const char *text; /* as it was given */
    uint64_t wall_ms; /* when the span began */
    struct option_each each;
};

/* "90s", "15m", "24h", "7d" in milliseconds. */
bool since_option_span(struct td_str text, uint64_t *ms);

/* Before the option table is parsed; the table keeps pointing here. `otherwise` is the default. */
void since_option_init(struct since_option *since, const char *otherwise);

#define OPTION_ROW_SINCE(variable, otherwise)                                          \
    {                                                                                  \
        "since", 's', OPTION_EACH, &(variable).each, "SPAN",                           \
            "how far back to look: 90s, 15m, 24h, 7d or all; default " otherwise, 0, 0 \
    }

#endif
