/* A small table of addresses that have shown wrong keys lately. Where it is full, the address whose
 * failures are the longest ago makes room: somebody with many addresses gains tries, but no memory.
 * Keys that tandem makes have 192 random bits, so the limit is for those that people made up. */
#include "api/http/login_limit.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ADDRESSES 256
#define ADDRESS_BYTES 64

struct failing {
    char peer[ADDRESS_BYTES];
    uint32_t failures;  /* 0 = the place is free */
    uint64_t begins_ms; /* of its window */
};

struct login_limit {
    pthread_mutex_t lock;
    struct failing table[ADDRESSES];
};

struct login_limit *login_limit_new(void)
{
    struct login_limit *limit = calloc(1, sizeof *limit);
    if (limit)
        pthread_mutex_init(&limit->lock, NULL);
    return limit;
}

void login_limit_free(struct login_limit *limit)
{
    if (!limit)
        return;
    pthread_mutex_destroy(&limit->lock);
    free(limit);
}

/* The address's place, or the one that it would take. */
static struct failing *find_locked(struct login_limit *limit, const char *peer, uint64_t now_ms)
{
    struct failing *oldest = &limit->table[0];
    for (size_t i = 0; i < ADDRESSES; i++) {
        struct failing *at = &limit->table[i];
        if (at->failures && now_ms - at->begins_ms >= (uint64_t)LOGIN_WINDOW_S * 1000)
            *at = (struct failing){.failures = 0};
        if (at->failures && strncmp(at->peer, peer, ADDRESS_BYTES - 1) == 0)
            return at;
        if (oldest->failures && (!at->failures || at->begins_ms < oldest->begins_ms))
            oldest = at;
    }
    return oldest;
}

uint32_t login_limit_wait_s(struct login_limit *limit, const char *peer, uint64_t now_ms)
{
    uint32_t wait_s = 0;
    pthread_mutex_lock(&limit->lock);
    const struct failing *at = find_locked(limit, peer, now_ms);
    if (at->failures >= LOGIN_FAILURES_MAX && strncmp(at->peer, peer, ADDRESS_BYTES - 1) == 0)
        wait_s = LOGIN_WINDOW_S - (uint32_t)((now_ms - at->begins_ms) / 1000);
    pthread_mutex_unlock(&limit->lock);
    return wait_s;
}

void login_limit_note(struct login_limit *limit, const char *peer, uint64_t now_ms)
{
    pthread_mutex_lock(&limit->lock);
    struct failing *at = find_locked(limit, peer, now_ms);
    if (!at->failures || strncmp(at->peer, peer, ADDRESS_BYTES - 1) != 0) {
        *at = (struct failing){.begins_ms = now_ms};
        snprintf(at->peer, sizeof at->peer, "%s", peer);
    }
    at->failures++;
    pthread_mutex_unlock(&limit->lock);
}
