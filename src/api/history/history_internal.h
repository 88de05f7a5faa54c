/* What the files of history/ share. For these files alone. */
#ifndef API_HISTORY_INTERNAL_H
#define API_HISTORY_INTERNAL_H

#include "api/history/history.h"

#include <stdatomic.h>

/* Lists of one record: above it nothing is added. */
#define HISTORY_LISTS_MAX 8192
/* What a record takes beside its texts. */
#define HISTORY_RECORD_BYTES 512
#define HISTORY_LIST_BYTES 64

struct history_text {
    atomic_uint holders;
    int64_t row, version; /* of a list in the database that nodes share; row 0 = it is in none */
    size_t len;
    char data[];
};

#endif
