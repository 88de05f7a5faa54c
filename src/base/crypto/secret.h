/* A secret such as an API key. It has a type of its own, so that it cannot be printed or logged by
 * accident. Any thread. */
#ifndef BASE_SECRET_H
#define BASE_SECRET_H

#include "tandem/types.h"

struct secret; /* cannot be printed; NULL means "none" */

struct secret *secret_new(struct td_str value); /* **returns new** (secret_free); copies */
void secret_free(struct secret *secret);        /* wipes */
/* In the place of the value that it had, which others may just be reading: that one is wiped with
 * the replacement after the next, which is to come minutes later. Such a token is renewed every
 * some minutes at most, and read for microseconds. One thread at a time. False without memory. */
bool secret_replace(struct secret *secret, struct td_str value);
/* The only access: **borrows** until secret_free, or the second replacement. Use it where the bytes
 * go on the wire and nowhere else. */
struct td_str secret_reveal(const struct secret *secret);

#endif
