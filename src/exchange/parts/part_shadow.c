/* Decides which exchanges a second tier answers too, in their shadow, and which tier that is.
 *
 * The device answers some of what a cloud answered, as spare work of the engine. A cloud answers
 * some of what the device answered, but only where a route says so, and only if the exchange's own
 * plan allowed it. It gets the request as it went or would have gone; a request that would have to
 * be masked is not sent. It draws on the same budgets and on a cap of its own. Three sorts of
 * requests have no shadow: those with tools, formats, adapters or text to complete, because their
 * answers cannot be compared as texts; those that may not be kept; and classes from contractual on.
 * A shadow begins after the exchange's last word. */
#include "base/crypto/hash.h"
#include "base/json/json.h"
#include "device/device.h"
#include "exchange/limits/cost.h"
#include "exchange/limits/spending.h"
#include "exchange/machine/exchange_core.h"
#include "exchange/parts/part_budget.h"
#include "exchange/parts/part_verify.h"
#include "exchange/parts/shadow_run.h"

#include <math.h>
#include <string.h>

_Static_assert(SHADOW_ID_BYTES == EXCHANGE_ID_BYTES, "a shadow has its exchange's id");

struct shadow_state {
    bool wanted;  /* shadowed, if it is answered */
    bool sampled; /* by the route's verification, for a client that does not wait for it */
};

/* --- which --- */

static bool on_device(const struct exchange *ex, size_t tier)
{
    return ex->facts[tier].place == TD_PLACE_DEVICE;
}

/* Of the two tiers of the route's ramp the one that did not answer. NULL when the ramp did not
 * draw, or another tier answered. */
static const char *ramp_other(const struct exchange *ex)
{
    const struct route *route = ex->plan.route;
    const char *answered = ex->facts[ex->current->tier].name;
    if (!ex->services->ramp_table || !ex->plan.decision.ramp.on)
        return NULL;
    if (strcmp(answered, route->ramp_to) == 0)
        return policy_start_of(route);
    return strcmp(answered, policy_start_of(route)) == 0 ? route->ramp_to : NULL;
}

/* Of the tiers that the plan allowed, the first on the other side, or the ramp's other tier if it
 * is there. For the device also one that the plan did not have because of a route's kind or a mode:
 * these say where the answer comes from, and what stays on the device may be compared there. */
static size_t tier_beside(const struct exchange *ex, bool device)
{
    const char *wanted = ramp_other(ex);
    size_t first = SIZE_MAX, others = device ? ex->services->tier_count : 0;
    for (size_t i = 0; i < ex->plan.rung_count + others; i++) {
        size_t tier = i < ex->plan.rung_count ? ex->plan.rungs[i] : i - ex->plan.rung_count;
        if (on_device(ex, tier) != device || ex->facts[tier].people)
            continue;
        if (!wanted || strcmp(ex->facts[tier].name, wanted) == 0)
            return tier;
        if (first == SIZE_MAX)
            first = tier;
    }
    return first;
}

static bool fits(const struct exchange *ex, size_t tier)
{
    uint32_t limit = ex->facts[tier].context_tokens, prompt = ex->states[tier].prompt_tokens;
    return ex->states[tier].reachable && ex->facts[tier].has_key &&
           (limit == 0 || (prompt < limit && limit - prompt > SHADOW_TOKENS_MAX));
}

/* Exchanges' ids are random, so that their hashes draw the lot. */
static bool is_drawn(const struct exchange *ex, double share)
{
    return hash_draw(ex->id, "shadow") < share;
}

/* Calls of tools in the conversation, too, are more than its words. */
static bool is_words_alone(const struct td_request *request)
{
    for (size_t i = 0; i < request->message_count; i++)
        if (request->messages[i].role == TD_ROLE_TOOL)
            return false;
    return !request->has_calls && !request->completion;
}

/* The shown text is then kept until the end, to compare. */
static void planned(struct exchange *ex, void *state)
{
    struct shadow_state *own = state;
    const struct route *route = ex->plan.route;
    double most = fmax(route->shadow_edge_share, route->shadow_cloud_share);
    own->sampled = part_verify_is_sampled(ex) && !(ex->request.corrections && ex->request.streamed);
    own->wanted = ex->services->shadow_pool && !ex->staying && !ex->request.keep_nothing &&
                  ex->signals.needs == 0 && is_words_alone(&ex->request) &&
                  ex->signals.data_class < TD_CLASS_CONTRACTUAL &&
                  (own->sampled || is_drawn(ex, most));
    ex->answer.keeps_text = ex->answer.keeps_text || own->wanted;
}

/* --- the beginning --- */

/* Room for one? On battery, or hot, the device does no spare work, and a metered network carries
 * none. */
static bool reserve(const struct exchange *ex, enum shadow_place place)
{
    if (place != SHADOW_ON_DEVICE && ex->signals.moment.network == TD_NETWORK_METERED)
        return false;
    if (ex->services->device && place == SHADOW_ON_DEVICE) {
        struct device_state device;
        device_read(ex->services->device, &device);
        if (device.on_battery || device.level != DEVICE_USUAL)
            return false;
    }
    return shadow_pool_reserve(ex->services->shadow_pool);
}

/* What it may come to cost goes into the task. False when the shadows have had their money of the
 * day, or when it is more than a budget of the exchange has left. */
static bool is_affordable(const struct exchange *ex, struct shadow_task *task)
{
    struct spending *spending = ex->services->spending;
    const struct tier_usage most = {.prompt_tokens = task->prompt_tokens,
                                    .completion_tokens = SHADOW_TOKENS_MAX};
    double usd = cost_usd(&ex->facts[task->tier], &most);
    uint64_t own = shadow_pool_budget_key();
    if (!spending || !(usd > 0))
        return true;
    if (spending_today(spending, own) + usd > ex->services->shadow_usd_per_day ||
        !part_budget_has_room(ex, usd))
        return false;
    task->promised_usd = usd;
    part_budget_keys(ex, task->budget_keys);
    task->budget_keys[BUDGETS_MAX] = own;
    return true;
}

/* Only what the ramp may draw lots for, and only its own two tiers beside each other. */
static void join_ramp(const struct exchange *ex, struct shadow_task *task)
{
    const char *other = ramp_other(ex);
    if (!other || strcmp(ex->facts[task->tier].name, other) != 0)
        return;
    task->ramp_route = ex->plan.route;
    task->is_candidate = strcmp(other, ex->plan.route->ramp_to) == 0;
}

static void begin(const struct exchange *ex, size_t tier, enum shadow_place place)
{
    struct shadow_pool *pool = ex->services->shadow_pool;
    struct shadow_task task = {
        .services = ex->services,
        .loop = ex->loop,
        .id = ex->id,
        .trace = &ex->trace,
        .place = place,
        .tier = tier,
        .answerer = ex->current->tier,
        .answerer_identity = ex->current->server_identity,
        .data_class = policy_class_for(ex->plan.route, &ex->signals, &ex->facts[tier]),
        .request = outgoing_plain(ex, &ex->facts[tier]),
        .caller = exchange_caller(ex),
        .prompt_tokens = ex->states[tier].prompt_tokens,
        .shown = buf_view(&ex->answer.text),
    };
    bool reserved = reserve(ex, place);
    join_ramp(ex, &task);
    if (reserved && is_affordable(ex, &task) && shadow_run_start(&task))
        return;
    if (reserved)
        shadow_pool_give_back(pool);
    shadow_pool_count(pool, place, &(struct shadow_count){.dropped = 1});
}

/* Only answered exchanges have something to compare with. */
static void ended(struct exchange *ex, void *state, enum exchange_end how)
{
    const struct shadow_state *own = state;
    if (!own->wanted || how != ENDED_OK)
        return;
    const struct route *route = ex->plan.route;
    enum shadow_place place =
        on_device(ex, ex->current->tier) ? SHADOW_ELSEWHERE : SHADOW_ON_DEVICE;
    double share = place == SHADOW_ON_DEVICE ? route->shadow_edge_share : route->shadow_cloud_share;
    size_t tier = tier_beside(ex, place == SHADOW_ON_DEVICE);
    bool drawn = is_drawn(ex, share) || (own->sampled && place == SHADOW_ELSEWHERE);
    if (tier == SIZE_MAX || !drawn || !fits(ex, tier) || ex->answer.text.failed ||
        policy_sends_masked(route, &ex->signals, &ex->facts[tier]))
        return;
    begin(ex, tier, place);
}

const struct exchange_part part_shadow = {
    .name = "shadow",
    .state_bytes = sizeof(struct shadow_state),
    .planned = planned,
    .ended = ended,
};
