/* An exchange and what is remembered of earlier ones (consistency.h): read before the plan, written when the answer stands. Nothing is
 * looked up or kept of classes whose text is not stored either. */
#include "base/crypto.h"
#include "exchange/machine/exchange_internal.h"
#include "exchange/memory/consistency.h"
#include "exchange/private/egress.h"

#include <math.h>
#include <string.h>

static bool is_on(const struct exchange *ex)
{
    return ex->services->consistency && !ex->request.keep_nothing && ex->named == SIZE_MAX &&
           ex->signals.data_class < TD_CLASS_CONTRACTUAL;
}

static bool continues(const struct td_request *request)
{
    for (size_t i = 0; i < request->message_count; i++)
        if (request->messages[i].role == TD_ROLE_ASSISTANT)
            return true;
    return false;
}

/* By what it begins with, which no later turn changes. */
static void conversation_bits(const struct exchange *ex, uint64_t bits[static 2])
{
    uint8_t digest[CRYPTO_SHA256_BYTES], owner[CRYPTO_SHA256_BYTES];
    egress_conversation_digest(&ex->request, digest, owner);
    memcpy(bits, digest, 2 * sizeof *bits);
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
        if (consistency_tier_hash(ex->facts[i].name) != tier)
            continue;
        remembered->tier = i;
        remembered->by =
            kind == CONSISTENCY_CONVERSATIONS ? REMEMBERED_CONVERSATION : REMEMBERED_SIMILAR;
    }
    return remembered->by != REMEMBERED_NOTHING; /* a tier that is no longer configured */
}

void remember_read(struct exchange *ex, const struct route *route)
{
    const struct exchange_services *services = ex->services;
    struct remembered *remembered = &ex->signals.remembered;
    uint64_t bits[2];
    bool found = false;
    if (!is_on(ex))
        return;
    if (continues(&ex->request)) {
        conversation_bits(ex, bits);
        found = find(ex, route, CONSISTENCY_CONVERSATIONS, bits, 0);
    }
    if (!found && ex->signals.sketch.known)
        found = find(ex, route, CONSISTENCY_QUESTIONS, ex->signals.sketch.bits, SIMILARITY_NEAR);
    if (!found)
        return;
    remembered->margin = services->keeping.margin;
    remembered->no_money =
        consistency_usd_today(services->consistency) >= services->keeping.usd_per_day;
    remembered->no_loss = !consistency_may_lose(services->consistency, services->keeping.loss_max);
}

/* --- the end --- */

/* The gates or the weights chose it, with others to choose from, and nothing stood in for it. */
static bool was_free(const struct exchange *ex)
{
    const char *by = ex->plan.decision.by;
    return by && ex->plan.rung_count > 1 && !ex->plan.reduced &&
           (strcmp(by, "route") == 0 || strcmp(by, "gate") == 0 || strcmp(by, "score") == 0 ||
            strcmp(by, "similar") == 0 || strcmp(by, "conversation") == 0);
}

static void count(struct exchange *ex)
{
    const struct decision *decision = &ex->plan.decision;
    if (decision->keeping == KEEPING_NONE)
        return;
    struct consistency_count counted = {
        .conversation = ex->signals.remembered.by == REMEMBERED_CONVERSATION,
        .result = (enum consistency_result)(decision->keeping - KEEPING_SAME),
    };
    if (decision->keeping == KEEPING_KEPT && ex->attempt_count > 0) {
        const struct tier_usage *usage = &ex->attempts[0].usage;
        counted.usd = exchange_cost(&ex->facts[decision->start], usage) -
                      exchange_cost(&ex->facts[decision->fresh], usage);
        counted.dearer = counted.usd > 0;
        counted.gain = counted.dearer || decision->scored ? 0 : decision->given_up;
        ex->kept_usd = fmax(counted.usd, 0);
    }
    consistency_count(ex->services->consistency, &counted);
}

void remember_end(struct exchange *ex, bool answered)
{
    struct consistency *consistency = ex->services->consistency;
    const struct decision *decision = &ex->plan.decision;
    struct consistency_person person;
    uint64_t bits[2];
    if (!is_on(ex))
        return;
    consistency_count_request(consistency);
    count(ex);
    if (!answered || !was_free(ex) || decision->keeping == KEEPING_BARRED)
        return;
    const char *route = ex->plan.route->name, *user = ex->request.user;
    if (ex->signals.sketch.known && strcmp(decision->by, "conversation") != 0) {
        consistency_identify(consistency, CONSISTENCY_QUESTIONS, &ex->request, route, &person);
        /* What moved takes its likes along; what did not is an entry among them. */
        unsigned likes = decision->keeping == KEEPING_MOVED ? SIMILARITY_NEAR : 0;
        consistency_put(consistency, &person, ex->signals.sketch.bits, likes, user,
                        consistency_tier_hash(ex->facts[decision->start].name));
    }
    if (ex->current->fallback || ex->current->purpose == EGRESS_HEDGE)
        return; /* it stood in: the next turn tries the other one again */
    conversation_bits(ex, bits);
    consistency_identify(consistency, CONSISTENCY_CONVERSATIONS, &ex->request, route, &person);
    consistency_put(consistency, &person, bits, 0, user,
                    consistency_tier_hash(ex->facts[ex->current->tier].name));
}
