#include "api/drill/stand_in.h"

#include "base/core/error.h"
#include "base/core/str.h"
#include "tier/door.h"

#include <stdlib.h>

#define CONTEXT_TOKENS 4096 /* of a tier that does not say how much it takes */

struct tier_attempt {
    struct drill_tier *owner;
    struct tier_sink sink;
    struct loop *loop;
    struct loop_timer *timer;
    bool spoke, in_piece, cancelled;
};

static const struct model_fault no_model = {.code = "failed", .text = "a drill has no model here"};

/* What the tier says of its end, in the words of the code that says them of a real one. */
static const struct outcome {
    enum td_status status;
    int http;
    bool speaks; /* text comes before it */
    enum tier_reach reach;
    const char *words;
} outcomes[DRILL_FAULT_COUNT] = {
    [DRILL_ENGINE_KILLED] = {TD_UNAVAILABLE, 0, true, TIER_REACHED,
                             "the confined worker ended; see the server's log"},
    [DRILL_OVERFLOW] = {TD_LIMIT, 0, false, TIER_REACHED, "the prompt exceeds its limit"},
    [DRILL_TIMEOUT] = {TD_TIMEOUT, 0, false, TIER_REACHED, "no first byte of an answer in time"},
    [DRILL_HTTP_429] = {TD_BUSY, 429, false, TIER_REACHED, "HTTP 429"},
    [DRILL_HTTP_5XX] = {TD_UNAVAILABLE, 503, false, TIER_REACHED, "HTTP 503"},
    [DRILL_MALFORMED] = {TD_CORRUPT, 200, false, TIER_REACHED, "malformed answer"},
    [DRILL_CUT] = {TD_CORRUPT, 200, true, TIER_REACHED, "the answer was cut before its end"},
    [DRILL_UNREACHED] = {TD_UNAVAILABLE, 0, false, TIER_UNREACHED, "no connection"},
    [DRILL_OFFLINE] = {TD_UNAVAILABLE, 0, false, TIER_UNREACHED, "no connection"},
};

static void attempt_free(struct tier_attempt *attempt)
{
    loop_timer_free(attempt->loop, attempt->timer);
    free(attempt);
}

/* False: the attempt was cancelled meanwhile, and is gone. */
static bool speak(struct tier_attempt *attempt, struct td_str text)
{
    const struct tier_piece piece = {.text = text};
    attempt->in_piece = true;
    attempt->sink.on_piece(attempt->sink.ctx, &piece);
    attempt->in_piece = false;
    if (!attempt->cancelled)
        return true;
    attempt_free(attempt);
    return false;
}

static void step(void *ctx)
{
    struct tier_attempt *attempt = ctx;
    const struct drill *drill = attempt->owner->drill;
    bool hit = drill_hits(drill, &attempt->owner->tier.facts);
    const struct outcome *outcome = &outcomes[drill->fault];
    struct tier_result result = {.finish = TD_FINISH_STOP, .unbilled = true, .usage.exact = true};
    if (!attempt->spoke && (!hit || outcome->speaks)) {
        attempt->spoke = true;
        if (speak(attempt, hit ? STR("A ") : STR("A drill.")))
            loop_timer_start(attempt->loop, attempt->timer, 0);
        return;
    }
    if (hit) {
        result.status = error_set(&result.err, outcome->status, "%s", outcome->words);
        result.http_status = outcome->http;
        result.reach = outcome->reach;
    }
    struct tier_sink sink = attempt->sink;
    attempt_free(attempt);
    sink.on_done(sink.ctx, &result);
}

/* What the door would refuse is noted: nothing may have tried it. */
static enum td_status refuse(struct drill_tier *stand_in, const struct tier_sink *sink,
                             struct td_error *err)
{
    const struct tier_facts *facts = &stand_in->tier.facts;
    struct drill *drill = stand_in->drill;
    if (facts->provider && (!sink->pass || !egress_allowed(sink->pass->data_class, facts))) {
        drill->breach = facts->name;
        return error_set(err, TD_DENIED, "a drill's data may not be sent to it");
    }
    if (facts->people)
        return error_set(err, TD_UNAVAILABLE, "people are not asked in a drill");
    if (drill->fault == DRILL_DISK_FULL && drill_hits(drill, facts))
        return error_set(err, TD_INTERNAL,
                         "the record of what leaves this machine cannot be written");
    return TD_OK;
}

static enum td_status stand_in_start(struct tier *tier, struct loop *loop,
                                     const struct td_request *request, const struct tier_sink *sink,
                                     struct tier_attempt **out, struct td_error *err)
{
    (void)request;
    struct drill_tier *stand_in = (struct drill_tier *)tier;
    enum td_status status = refuse(stand_in, sink, err);
    if (status != TD_OK)
        return status;
    struct tier_attempt *attempt = calloc(1, sizeof *attempt);
    struct loop_timer *timer = attempt ? loop_timer_new(loop, step, attempt) : NULL;
    if (!timer) {
        free(attempt);
        return error_set(err, TD_NO_MEMORY, "no memory for an attempt");
    }
    *attempt =
        (struct tier_attempt){.owner = stand_in, .sink = *sink, .loop = loop, .timer = timer};
    loop_timer_start(loop, timer, 0);
    *out = attempt;
    return TD_OK;
}

static void stand_in_cancel(struct tier_attempt *attempt)
{
    if (attempt->in_piece)
        attempt->cancelled = true;
    else
        attempt_free(attempt);
}

static uint32_t stand_in_count(struct tier *tier, const struct td_request *request)
{
    const struct drill_tier *stand_in = (const struct drill_tier *)tier;
    bool over =
        stand_in->drill->fault == DRILL_OVERFLOW && drill_hits(stand_in->drill, &tier->facts);
    return over ? tier->facts.context_tokens + 1 : tier_estimate_prompt(request);
}

static void stand_in_free(struct tier *tier)
{
    (void)tier; /* it is a member of its drill */
}

static const struct tier_ops stand_in_ops = {
    .start = stand_in_start,
    .cancel = stand_in_cancel,
    .count_prompt = stand_in_count,
    .free = stand_in_free,
};

void stand_in_init(struct drill_tier *stand_in, struct drill *drill, const struct tier_facts *facts)
{
    *stand_in =
        (struct drill_tier){.tier = {.ops = &stand_in_ops, .facts = *facts}, .drill = drill};
    struct tier_facts *own = &stand_in->tier.facts;
    if (drill->fault == DRILL_UNLOADED && drill_hits(drill, own))
        own->model_fault = &no_model;
    if (drill->fault == DRILL_OVERFLOW && own->context_tokens == 0 && drill_hits(drill, own))
        own->context_tokens = own->tools_context_tokens = CONTEXT_TOKENS;
}
