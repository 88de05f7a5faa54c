/* An exchange and what is remembered of earlier ones (memory/consistency.h).
 *
 * Before the plan, the tier of the same conversation or of a similar question is looked up; the
 * plan decides whether to keep it (router/plan/earlier_start.c). At the end the tier is remembered,
 * but only where the router was free to choose it. Nothing is looked up or kept of classes whose
 * text is not stored either. */
#include "exchange/parts/part_consistency.h"

#include "base/crypto/crypto.h"
#include "exchange/limits/cost.h"
#include "exchange/machine/exchange_core.h"
#include "exchange/memory/consistency.h"
#include "exchange/private/conversation_id.h"

#include <math.h>
#include <string.h>

struct consistency_state {
    double kept_usd; /* more than the fresh start's tier would have charged */
};

static bool is_on(const struct exchange *ex)
{
    return ex->services->consistency && !ex->request.keep_nothing && ex->named == SIZE_MAX &&
           ex->signals.data_class < TD_CLASS_CONTRACTUAL;
}

/* By what it begins with, which no later turn changes, and its first answer: others may begin
 * alike. */
static void conversation_bits(const struct exchange *ex, uint64_t conversation,
                              uint64_t bits[static 2])
{
    uint8_t digest[CRYPTO_SHA256_BYTES], owner[CRYPTO_SHA256_BYTES];
    conversation_id_digest(&ex->request, digest, owner);
    memcpy(bits, digest, 2 * sizeof *bits);
    bits[0] ^= conversation;
}

static bool find(struct exchange *ex, const struct route *route, enum consistency_kind kind,
                 const uint64_t bits[static 2], unsigned distance)
{
    struct consistency_person person;
    struct remembered *remembered = &ex->signals.remembered;
    uint64_t tier;
    consistency_identify(ex->services->consistency, kind, &ex->request, route->name, &person);
    if (!consistency_find(ex->services->consistency, &person, bits, distance, &tier))
        return false;
    for (size_t i = 0; i < ex->services->tier_count; i++) {
        if (consistency_tier_hash(ex->facts[i].name) != tier || ex->facts[i].people)
            continue;
        remembered->tier = i;
        remembered->by =
            kind == CONSISTENCY_CONVERSATIONS ? REMEMBERED_CONVERSATION : REMEMBERED_SIMILAR;
    }
    return remembered->by != REMEMBERED_NOTHING; /* a tier that is no longer configured */
}

static void prepare(struct exchange *ex, void *state, const struct route *route)
{
    (void)state;
    const struct exchange_services *services = ex->services;
    struct remembered *remembered = &ex->signals.remembered;
    uint64_t bits[2];
    bool found = false;
    if (!is_on(ex))
        return;
    if (ex->conversation.answered) {
        conversation_bits(ex, ex->conversation.conversation, bits);
        found = find(ex, route, CONSISTENCY_CONVERSATIONS, bits, 0);
    }
    if (!found && ex->signals.sketch.known)
        found = find(ex, route, CONSISTENCY_QUESTIONS, ex->signals.sketch.bits, SIMILARITY_NEAR);
    if (!found)
        return;
    remembered->margin = services->consistency_limits.margin;
    remembered->no_money =
        consistency_usd_today(services->consistency) >= services->consistency_limits.usd_per_day;
    remembered->no_loss =
        !consistency_may_lose(services->consistency, services->consistency_limits.loss_max);
}

/* --- the end --- */

/* The gates or the weights chose it, with others to choose from, and nothing stood in for it. */
static bool was_free(const struct exchange *ex)
{
    switch (ex->plan.decision.by) {
    case DECIDED_BY_ROUTE:
    case DECIDED_BY_GATE:
    case DECIDED_BY_SCORE:
    case DECIDED_BY_SIMILAR:
    case DECIDED_BY_CONVERSATION:
    case DECIDED_BY_SKEW:
        return ex->plan.rung_count > 1 && !ex->plan.reduced;
    default:
        return false;
    }
}

static void count(struct exchange *ex, struct consistency_state *own)
{
    const struct decision *decision = &ex->plan.decision;
    if (decision->keeping == KEEPING_NONE)
        return;
    struct consistency_count counted = {
        .conversation = ex->signals.remembered.by == REMEMBERED_CONVERSATION,
        .result = (enum consistency_result)(decision->keeping - KEEPING_SAME),
    };
    if (decision->keeping == KEEPING_KEPT && ex->attempt_count > 0) {
        const struct tier_usage *usage = &ex->attempts[0]->usage;
        counted.usd = cost_usd(&ex->facts[decision->start], usage) -
                      cost_usd(&ex->facts[decision->fresh], usage);
        counted.dearer = counted.usd > 0;
        counted.gain = counted.dearer || decision->scored ? 0 : decision->given_up;
        own->kept_usd = fmax(counted.usd, 0);
    }
    consistency_count(ex->services->consistency, &counted);
}

static void ended(struct exchange *ex, void *state, enum exchange_end how)
{
    struct consistency *consistency = ex->services->consistency;
    const struct decision *decision = &ex->plan.decision;
    struct consistency_person person;
    uint64_t bits[2];
    if (!is_on(ex))
        return;
    consistency_count_request(consistency);
    count(ex, state);
    if (how != ENDED_OK || !was_free(ex) || decision->keeping == KEEPING_BARRED)
        return;
    const char *route = ex->plan.route->name;
    if (ex->signals.sketch.known && decision->by != DECIDED_BY_CONVERSATION) {
        consistency_identify(consistency, CONSISTENCY_QUESTIONS, &ex->request, route, &person);
        /* What moved takes its likes along; what did not is an entry among them. */
        unsigned likes = decision->keeping == KEEPING_MOVED ? SIMILARITY_NEAR : 0;
        consistency_put(consistency, &person, ex->signals.sketch.bits, likes, &ex->request,
                        consistency_tier_hash(ex->facts[decision->start].name));
    }
    if (ex->current->fallback || ex->current->purpose == EGRESS_HEDGE)
        return; /* it stood in: the next turn tries the other one again */
    conversation_bits(ex, conversation_id_next(&ex->conversation, ex->answer.heard), bits);
    consistency_identify(consistency, CONSISTENCY_CONVERSATIONS, &ex->request, route, &person);
    consistency_put(consistency, &person, bits, 0, &ex->request,
                    consistency_tier_hash(ex->facts[ex->current->tier].name));
}

double part_consistency_kept_usd(const struct exchange *ex)
{
    const struct consistency_state *own = part_state(ex, &part_consistency);
    return own->kept_usd;
}

const struct exchange_part part_consistency = {
    .name = "consistency",
    .state_bytes = sizeof(struct consistency_state),
    .prepare = prepare,
    .ended = ended,
};
