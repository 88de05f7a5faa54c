/* A secret (API key): a type of its own, so that it cannot be printed or logged by accident. */
#ifndef BASE_SECRET_H
#define BASE_SECRET_H

#include "tandem/types.h"

struct secret; /* no printed form; NULL means "none" */

struct secret *secret_new(struct td_str value); /* **returns new** (secret_free), copies */
void secret_free(struct secret *secret);        /* wipes */
/* The only door: **borrows** until secret_free. Use it where the bytes go on the wire, nowhere
 * else. */
struct td_str secret_reveal(const struct secret *secret);

#endif
