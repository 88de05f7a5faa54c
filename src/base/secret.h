/* A secret such as an API key. It has a type of its own, so that it cannot be printed or logged by
 * accident. Immutable; any thread. */
#ifndef BASE_SECRET_H
#define BASE_SECRET_H

#include "tandem/types.h"

struct secret; /* cannot be printed; NULL means "none" */

struct secret *secret_new(struct td_str value); /* **returns new** (secret_free); copies */
void secret_free(struct secret *secret);        /* wipes */
/* The only access: **borrows** until secret_free. Use it where the bytes go on the wire and nowhere
 * else. */
struct td_str secret_reveal(const struct secret *secret);

#endif
