/* Wall time and monotonic time as functions in a struct, so that tests can replace them. Any
 * thread. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

struct clock {
    uint64_t (*monotonic_ns)(void *ctx);
    uint64_t (*wall_ms)(void *ctx); /* since the Unix epoch */
    void *ctx;
};

extern const struct clock clock_system;

uint64_t clock_monotonic_ns(const struct clock *clock); /* NULL = clock_system */
double clock_monotonic_ms(const struct clock *clock);
uint64_t clock_wall_ms(const struct clock *clock);

/* The system's monotonic clock in `ms` milliseconds, for pthread_cond_timedwait on a condition of
 * clock_cond_init, which a clock that is set does not disturb. */
struct timespec clock_deadline(uint32_t ms);
void clock_cond_init(pthread_cond_t *condition);

/* Writes "2026-11-21T09:30:00.123Z" to out[25]. */
void clock_format_iso8601(uint64_t wall_ms, char out[static 25]);

#endif
