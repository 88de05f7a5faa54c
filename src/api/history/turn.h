/* Where a request stands among what is kept: what it goes on from, and whether its own answer will
 * be. Zero: nothing. Plain data of one request. */
#ifndef API_TURN_H
#define API_TURN_H

#include "api/history/history.h"

struct history_turn {
    bool store;      /* the answer is kept */
    bool background; /* the answer is not waited for */
    char previous[HISTORY_ID_BYTES], conversation[HISTORY_ID_BYTES]; /* "" = none */
    struct history_class data_class;                                 /* of what it goes on from */
    struct history_text *own; /* the items that it adds itself; NULL: not needed. Owned */
    const uint8_t *key;       /* of compactions (responses_compact.h); NULL = none. Borrowed */
};

#endif
