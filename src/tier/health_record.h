/* What health.c and health_contact.c know of a tier. Only for these two. Functions that end in
 * _locked need the record's lock. */
#ifndef TIER_HEALTH_RECORD_H
#define TIER_HEALTH_RECORD_H

#include "tier/health.h"
#include "tier/limits.h"
#include "tier/places.h"
#include "tier/witness.h"

#include <pthread.h>
#include <stdatomic.h>

/* Health checks: soon at first, so that a short break is short, then every five seconds, which the
 * network hardly notices; and none when for five minutes no request would have gone there. */
#define PROBE_MS_MIN 500
#define PROBE_MS_MAX 5000
#define WANTED_MS 300000

struct record {
    pthread_mutex_t lock;
    atomic_uint users;
    struct tier_limits limits;
    const struct shared_limits *shared; /* NULL: the limits are this node's own */
    struct shared_limit *of;
    struct minute requests, tokens;
    struct retry_budget retries;
    struct places places;
    uint32_t inside;
    double ceiling;     /* on `inside` after it was overloaded; 0 = none */
    uint64_t slowed_ms; /* when it was, last */

    enum tier_rest why;
    bool found;   /* of REST_UNREACHED: a time-out or refusal, not only a slow handshake */
    bool captive; /* of the same: something else answers in its place */
    bool mute;    /* of the same: it takes connections, but does not answer */
    int http_status;
    uint64_t since_ms, until_ms, length_ms;
    uint64_t trial_until_ms;     /* somebody tries it alone until then; 0 = nobody */
    uint32_t failures, refusals; /* in a row */
    struct witnesses witnesses;  /* of both */
    double counted, failed;      /* lately */
    uint64_t faded_ms;

    uint32_t connecting, connect_count, connect_limit_ms;
    uint64_t waited_ms, updated_ms; /* all together, since the last connection came about */
    uint64_t contact_ms;            /* which was then */
    double usual_ms;

    bool suspected; /* somebody has waited in silence: a health check is due or on its way */
    uint64_t heard_ms, vouched_ms;

    bool probed, probing; /* health checks end the rest, not time; one is on its way */
    bool to_wake;         /* the prober does not know yet when the next is due */
    uint64_t probe_at_ms, probe_wait_ms, wanted_ms;
};

struct tier_health {
    void (*wake)(void *ctx);
    void *ctx;
    _Atomic int network;
    size_t tier_count;
    struct record *records[];
};

/* The tier's record, locked; NULL when there is none. */
struct record *health_lock(struct tier_health *health, size_t tier);
void health_unlock(struct record *record);
/* Health checks are needed: the prober is told, without the lock. */
void health_unlock_and_wake(struct tier_health *health, struct record *record);
/* Ends the rest. */
void health_wake_locked(struct record *record);
/* found: a time-out or refusal, not only a slow handshake. */
void health_unreached_locked(struct tier_health *health, struct record *record, bool found,
                             uint64_t now_ms);
/* 0.8 to 1.2 times as long, so that the checks of many machines do not come together. */
uint64_t health_jittered_ms(uint64_t ms);
/* The places that nobody has; UINT32_MAX: there is no limit. */
uint32_t health_free_locked(const struct record *record, uint64_t now_ms);

#endif
