/* The system's clocks behind struct clock. Every function takes the clock as its first argument,
 * and NULL means the system's, so code under test can be given any time. */
#include "base/time/clock.h"

#include <stddef.h>
#include <stdio.h>

static uint64_t system_monotonic_ns(void *ctx)
{
    (void)ctx;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static uint64_t system_wall_ms(void *ctx)
{
    (void)ctx;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

const struct clock clock_system = {system_monotonic_ns, system_wall_ms, NULL};

uint64_t clock_monotonic_ns(const struct clock *clock)
{
    clock = clock ? clock : &clock_system;
    return clock->monotonic_ns(clock->ctx);
}

double clock_monotonic_ms(const struct clock *clock)
{
    return (double)clock_monotonic_ns(clock) / 1e6;
}

uint64_t clock_wall_ms(const struct clock *clock)
{
    clock = clock ? clock : &clock_system;
    return clock->wall_ms(clock->ctx);
}

struct timespec clock_deadline(uint32_t ms)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_sec += ms / 1000;
    at.tv_nsec += (long)(ms % 1000) * 1000000;
    if (at.tv_nsec >= 1000000000) {
        at.tv_sec++;
        at.tv_nsec -= 1000000000;
    }
    return at;
}

void clock_cond_init(pthread_cond_t *condition)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

void clock_format_iso8601(uint64_t wall_ms, char out[static 25])
{
    time_t seconds = (time_t)(wall_ms / 1000);
    struct tm tm;
    char date[32] = "";
    gmtime_r(&seconds, &tm);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(out, 25, "%.19s.%03uZ", date, (unsigned)(wall_ms % 1000));
}
