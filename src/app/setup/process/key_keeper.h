/* Keeps a server's keys, and consents that nodes share, as the store has them: what `tandem keys`
 * and the admin API change is in force within a quarter of a second, and a new key in a file at
 * once. No request with a known key waits for the store. It also keeps what keys have spent, every
 * second, and when they were used last, every half minute. One thread of its own; the main thread
 * starts and stops it. */
#ifndef APP_KEY_KEEPER_H
#define APP_KEY_KEEPER_H

#include "app/setup/process/runtime.h"

struct auth;
struct key_keeper;

/* Loads the keys, so that they are known when it returns. A store that is there and cannot be read
 * is an error. Without a state folder *out is NULL. */
TD_MUST_CHECK enum td_status key_keeper_start(struct runtime *runtime, struct auth *auth,
                                              struct key_keeper **out, struct td_error *err);
/* Writes what is not kept yet. Accepts NULL. */
void key_keeper_stop(struct key_keeper *keeper);

#endif
