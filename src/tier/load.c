/* How long a request would wait at a tier. The engine's queue is read (tier_ops.forecast). That of
 * a server is inferred: where the time to the first text grows with the number of requests that it
 * was given before, it answers only some at once. That growth is a regression line over the last
 * requests, and its slope is the wait that each request under way adds. A cloud that answers any
 * number at once has no slope, whatever its latency is. The wait is in proportion to what is under
 * way, so a server that is spared is found idle at once and needs no probe. */
#include "base/core/assertion.h"
#include "tier/tier.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* The weight of what was learnt before, at each new request: the last 32 or so count. */
#define KEEP (31.0 / 32)
/* Fewer requests, or a line that explains less than half of the differences, say nothing. */
#define KNOWN_MIN 5.0
#define EXPLAINED_MIN 0.5

/* Sums over requests: others under way (x) and ms to the first text (y). */
struct line {
    double count, x, y, xx, xy, yy;
};

struct record {
    atomic_uint expected, under_way;
    struct line line;
};

struct tier_load {
    pthread_mutex_t lock; /* guards the lines */
    size_t tier_count;
    struct record records[];
};

struct tier_load *tier_load_new(size_t tier_count)
{
    if (tier_count > (SIZE_MAX - sizeof(struct tier_load)) / sizeof(struct record))
        return NULL;
    struct tier_load *load = calloc(1, sizeof *load + tier_count * sizeof load->records[0]);
    if (!load)
        return NULL;
    load->tier_count = tier_count;
    pthread_mutex_init(&load->lock, NULL);
    return load;
}

void tier_load_free(struct tier_load *load)
{
    if (!load)
        return;
    pthread_mutex_destroy(&load->lock);
    free(load);
}

void tier_load_expect(struct tier_load *load, size_t tier_index)
{
    ASSERT(load != NULL && tier_index < load->tier_count);
    atomic_fetch_add(&load->records[tier_index].expected, 1);
}

void tier_load_drop(struct tier_load *load, size_t tier_index)
{
    ASSERT(load != NULL && tier_index < load->tier_count);
    atomic_fetch_sub(&load->records[tier_index].expected, 1);
}

uint32_t tier_load_begin(struct tier_load *load, size_t tier_index)
{
    ASSERT(load != NULL && tier_index < load->tier_count);
    return atomic_fetch_add(&load->records[tier_index].under_way, 1);
}

void tier_load_end(struct tier_load *load, size_t tier_index)
{
    ASSERT(load != NULL && tier_index < load->tier_count);
    atomic_fetch_sub(&load->records[tier_index].under_way, 1);
}

uint32_t tier_load_count(struct tier_load *load, size_t tier_index)
{
    ASSERT(load != NULL && tier_index < load->tier_count);
    const struct record *record = &load->records[tier_index];
    return atomic_load(&record->under_way) + atomic_load(&record->expected);
}

void tier_load_learn(struct tier_load *load, size_t tier_index, uint32_t others, double first_ms)
{
    ASSERT(load != NULL && tier_index < load->tier_count);
    double x = others, y = first_ms;
    pthread_mutex_lock(&load->lock);
    struct line *line = &load->records[tier_index].line;
    *line = (struct line){.count = KEEP * line->count + 1,
                          .x = KEEP * line->x + x,
                          .y = KEEP * line->y + y,
                          .xx = KEEP * line->xx + x * x,
                          .xy = KEEP * line->xy + x * y,
                          .yy = KEEP * line->yy + y * y};
    pthread_mutex_unlock(&load->lock);
}

/* Least squares; 0 when the times do not depend on the load. */
static double slope_of(const struct line *line)
{
    if (line->count < KNOWN_MIN)
        return 0;
    double xx = line->xx - line->x * line->x / line->count;
    double xy = line->xy - line->x * line->y / line->count;
    double yy = line->yy - line->y * line->y / line->count;
    if (!(xx > line->count) || !(xy > 0) || !(xy * xy >= EXPLAINED_MIN * xx * yy))
        return 0; /* a load that hardly changed explains nothing */
    return xy / xx;
}

static void forecast_server(struct tier_load *load, size_t tier_index, struct tier_state *state)
{
    pthread_mutex_lock(&load->lock);
    double slope = slope_of(&load->records[tier_index].line);
    pthread_mutex_unlock(&load->lock);
    state->wait_ms = slope * tier_load_count(load, tier_index);
    state->forecast_ttft_ms = fmax(state->ttft_p95_ms, state->wait_ms);
    state->forecast_total_ms = state->total_p95_ms > 0
                                   ? fmax(state->total_p95_ms, state->total_p50_ms + state->wait_ms)
                                   : 0;
}

void tier_load_forecast(struct tier_load *load, size_t tier_index, struct tier *tier,
                        const struct tier_ask *ask, struct tier_state *state)
{
    ASSERT(load != NULL && tier != NULL && tier_index < load->tier_count);
    if (tier->ops->forecast)
        tier->ops->forecast(tier, ask, atomic_load(&load->records[tier_index].expected), state);
    else
        forecast_server(load, tier_index, state);
}

void tier_load_copy(struct tier_load *from, size_t from_index, struct tier_load *to,
                    size_t to_index)
{
    ASSERT(from != NULL && to != NULL && from != to);
    if (from_index >= from->tier_count || to_index >= to->tier_count)
        return;
    pthread_mutex_lock(&from->lock);
    struct line line = from->records[from_index].line;
    pthread_mutex_unlock(&from->lock);
    pthread_mutex_lock(&to->lock);
    to->records[to_index].line = line;
    pthread_mutex_unlock(&to->lock);
}
