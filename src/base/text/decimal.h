/* A double as text, as printf's "%.15g" writes it, for most numbers in a tenth of its time. Pure;
 * any thread. */
#ifndef BASE_DECIMAL_H
#define BASE_DECIMAL_H

#include <stddef.h>

#define DECIMAL_BYTES 24

/* Writes no NUL. Returns how many bytes; 0 = not for us: printf has to do it. */
size_t decimal_write(double value, char out[static DECIMAL_BYTES]);

#endif
