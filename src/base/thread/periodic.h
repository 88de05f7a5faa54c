/* A thread that looks at something, waits, and looks again, until it is stopped. It embeds into its
 * owner, whose data the same lock may guard. */
#ifndef BASE_PERIODIC_H
#define BASE_PERIODIC_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct periodic {
    pthread_mutex_t lock;
    pthread_cond_t wake; /* by clock_deadline */
    pthread_t thread;
    bool started, stop; /* stop: under the lock */
};

void periodic_init(struct periodic *periodic);
/* False = the system gives no thread. run ends when periodic_pause returns true. */
bool periodic_start(struct periodic *periodic, void *(*run)(void *ctx), void *ctx);

/* Waits for `ms`; true, at once, when the thread is to end. */
bool periodic_pause(struct periodic *periodic, uint32_t ms);

/* Stops the thread, if one was started, waits for its end, and releases the lock. */
void periodic_end(struct periodic *periodic);

#endif
