/* Gives back what a server that has nothing to do does not need. Main thread. */
#ifndef APP_SETUP_PROCESS_MEMORY_REST_H
#define APP_SETUP_PROCESS_MEMORY_REST_H

#include <stdint.h>

/* All zero at the start. Times in nanoseconds. */
struct memory_rest {
    uint64_t looked_ns, looked_cpu_ns; /* at the last look */
    uint64_t rested_cpu_ns;            /* of the process when memory was last given back */
    uint64_t next_ms;                  /* monotonic */
};

/* Gives it back at the end of the start. */
void memory_rest_begin(struct memory_rest *rest);
/* The same when the process has worked and is quiet again. Returns when to look again, in ms. */
uint64_t memory_rest_look(struct memory_rest *rest);

#endif
