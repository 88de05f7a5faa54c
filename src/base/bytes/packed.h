/* Constant data that the build has compressed, and that is expanded when it is first asked for.
 *
 * It is for texts and tables of some kilobytes that are read seldom, or once: the program has a
 * size limit. tools/pack.py writes a header with the compressed bytes, the room for the data, and a
 * struct packed that names both; the room is memory only from the first packed_open() on. zlib is
 * inside. Expanding cannot fail: it asks for no memory, and its input is part of the program. Any
 * thread. */
#ifndef BASE_PACKED_H
#define BASE_PACKED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct packed {
    const unsigned char *bytes; /* raw deflate (RFC 1951) */
    size_t packed_len;
    char *room; /* [len + 1]; the last byte stays NUL */
    size_t len;
    atomic_bool open;
};

/* The data, [len], with a NUL behind them. They stay until the program ends. */
const char *packed_open(struct packed *packed);

/* The string behind this one, where the data are strings that each end with NUL. */
const char *packed_next(const char *text);
/* The string with this number, from 0, of such data; there must be one. */
const char *packed_string(struct packed *packed, size_t number);

#endif
