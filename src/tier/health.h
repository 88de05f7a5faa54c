/* Which tiers rest, and why: so that at most one request pays for finding out that a tier is not
 * there, and its wish to be left alone holds for everybody.
 *
 * Whoever sends a request to a tier enters before and leaves afterwards, with what it came to. A
 * tier that rests lets nobody in. When its rest is over it lets in one, alone, and the others still
 * see it rest. One that cannot be reached at all is found again by a health check (the prober of a
 * server, which `wake` calls), not by a request.
 *
 * Thread-safe. now_ms is monotonic. The record of a tier may be shared by two sets, so that a
 * reload forgets nothing. Calls for an index that there is not do nothing. */
#ifndef TIER_HEALTH_H
#define TIER_HEALTH_H

#include "router/plan/facts.h"
#include "tier/limits.h"

#include <stddef.h>

struct tier_health;
struct tier_result;

/* wake: a tier wants to be probed (tier_health_probe_due); any thread calls it, no lock is held.
 * NULL: there is no prober, and then one request tries after each rest. **returns new**
 * (tier_health_free); NULL without memory. */
struct tier_health *tier_health_new(size_t tier_count, void (*wake)(void *ctx), void *ctx);
void tier_health_free(struct tier_health *health);
/* The tier `to_index` of `to` goes on with the record of a tier of `from`. Before `to` is used. */
void tier_health_share(struct tier_health *from, size_t from_index, struct tier_health *to,
                       size_t to_index);
void tier_health_set_limits(struct tier_health *health, size_t tier, struct tier_limits limits);

/* The tier's limits are those of several nodes together. **borrows** both for the life of the
 * process. */
void tier_health_set_shared(struct tier_health *health, size_t tier,
                            const struct shared_limits *shared, struct shared_limit *of);

/* Whether limits are shared with other nodes and nobody can say what those use: then this node has
 * its share of *nodes. */
bool tier_health_is_alone(struct tier_health *health, uint32_t *nodes);

struct tier_entry {
    uint64_t caller; /* a hash of who asks: the failures of one alone do not count for all */
    uint32_t prompt_tokens;
    uint64_t sharer; /* whose share of the tier's places it uses (tier/places.h); 0 = nobody's */
    uint32_t weight; /* of that; 0 = 1 */
};

/* Fills in whether the tier may be asked now, and if not, why and for how long. */
void tier_health_look_for(struct tier_health *health, size_t tier, const struct tier_entry *entry,
                          uint64_t now_ms, struct tier_state *out);
/* The same for somebody whom no other stands in the way of. */
void tier_health_look(struct tier_health *health, size_t tier, uint64_t now_ms,
                      struct tier_state *out);
bool tier_health_usable(struct tier_health *health, size_t tier, uint64_t now_ms);
/* A request would have gone to the tier, but for its rest: probing is worth while, and where it was
 * full, the next place is for the entry's key if it has had less than others. entry may be NULL. */
void tier_health_want(struct tier_health *health, size_t tier, const struct tier_entry *entry,
                      uint64_t now_ms);
/* What the machine knows of its network. A change is a reason to look at once for what rests. */
void tier_health_note_network(struct tier_health *health, enum td_network network, uint64_t now_ms);

/* --- a request --- */

struct tier_ticket {
    bool inside;
    bool alone; /* tries a tier that rested: it is not to be repeated */
    uint64_t since_ms, caller, sharer;
    double paid_ms; /* by the sharer */
};
/* False when the tier may not be asked; *why then says it as tier_health_look does. */
bool tier_health_enter(struct tier_health *health, size_t tier, const struct tier_entry *entry,
                       uint64_t now_ms, struct tier_ticket *ticket, struct tier_state *why);
/* Whether anything limits how much the tier is asked. */
bool tier_health_is_limited(struct tier_health *health, size_t tier);
/* The first of an answer has come: whoever tried the tier alone need not end before others may. */
void tier_health_answered(struct tier_health *health, size_t tier, struct tier_ticket *ticket,
                          uint64_t now_ms);
/* result NULL: it was left before it ended, which says nothing of the tier. A ticket that is not
 * inside is ignored. */
void tier_health_leave(struct tier_health *health, size_t tier, struct tier_ticket *ticket,
                       const struct tier_result *result, uint64_t now_ms);

/* --- its connection; health may be NULL --- */

/* How long connecting may take: what is usual for the tier, and never more than configured. */
uint32_t tier_health_connect_ms(struct tier_health *health, size_t tier, uint32_t configured_ms);
void tier_health_connecting(struct tier_health *health, size_t tier, uint64_t now_ms);
/* ok: there is a connection after waited_ms; else it was given up, or there is none. */
void tier_health_connected(struct tier_health *health, size_t tier, bool ok, uint64_t waited_ms,
                           uint64_t now_ms);
/* Whether a request that has been connecting since then gives up, because others have found that
 * nobody is there, or because together they have waited for as long as one of them may. elsewhere:
 * another tier can be asked. */
bool tier_health_gives_up(struct tier_health *health, size_t tier, uint64_t since_ms,
                          bool elsewhere, uint64_t now_ms);
/* The same of one that has had a connection since then and nothing else. It may wait for a server
 * that thinks, or for one that is not there any more: a health check tells them apart. */
bool tier_health_is_mute(struct tier_health *health, size_t tier, uint64_t since_ms, bool elsewhere,
                         uint64_t now_ms);
/* Something of an answer has come. */
void tier_health_heard(struct tier_health *health, size_t tier, uint64_t now_ms);
/* Takes one from the budget of retries, if one is left. */
bool tier_health_may_retry(struct tier_health *health, size_t tier, uint64_t now_ms);

/* --- the prober --- */

struct tier_probe_wish {
    bool due;           /* now; tier_health_probed has to follow */
    uint64_t wait_ms;   /* else: when to ask again, UINT64_MAX = after the next wake */
    uint32_t within_ms; /* a user waits for what comes of it; 0 = take the usual time */
};
void tier_health_probe_due(struct tier_health *health, size_t tier, uint64_t now_ms,
                           struct tier_probe_wish *out);
void tier_health_probed(struct tier_health *health, size_t tier, bool reached, uint64_t now_ms);

#endif
