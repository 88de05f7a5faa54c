/* What leaves for an attempt, and with which class.
 *
 * Three requests can stand side by side: the one that came, a smaller one for tiers off the device,
 * and a masked one. Which of them an attempt sends follows from the tier and the route, and the
 * door is told the class of that very request. */
#include "exchange/machine/outgoing.h"

#include "base/core/assertion.h"
#include "base/text/names.h"
#include "base/time/log.h"
#include "exchange/machine/exchange_core.h"
#include "exchange/private/classify.h"
#include "exchange/private/consents.h"
#include "exchange/private/conversation_id.h"
#include "exchange/private/pseudonyms.h"

#include <stdio.h>

/* Where the operator allows it, a request may bring the consent itself: the id under which an
 * application keeps it, and what it holds for. A consent that is there already is not extended. */
static void take_consent(struct exchange *ex, uint64_t now_ms)
{
    const struct request_consent *brought = &ex->request.brought;
    struct td_error err = {0};
    char id[CONSENT_ID_BYTES_MAX + 1];
    const struct consent consent = {.id = brought->id,
                                    .scope = brought->scope,
                                    .user = ex->request.user,
                                    .caller = ex->request.caller,
                                    .expires_ms = brought->expires_ms};
    if (!ex->services->consents_in_requests || !consent.id || !consent.scope)
        return;
    if (consents_grant(ex->services->consents, &consent, now_ms, id, &err) != TD_OK)
        log_event(LOG_LEVEL_INFO, "consent_refused", "exchange=%s error=\"%s\"", ex->id,
                  err.message);
}

void outgoing_read_consent(struct exchange *ex, const struct route *route)
{
    uint64_t now_ms = clock_wall_ms(ex->services->clock);
    const struct consent_use use = {ex->request.consent, route->name, ex->request.user,
                                    ex->request.caller};
    enum consent_state state = CONSENT_NONE;
    if (!route->consent)
        return;
    if (ex->services->consents) {
        take_consent(ex, now_ms);
        state = consents_check(ex->services->consents, &use, now_ms);
    }
    if (state != CONSENT_VALID)
        ex->signals.consent_missing = consent_state_text(state);
}

/* May the request as it is go to every tier there is? Then nothing has to be masked. */
static bool goes_anywhere(const struct exchange *ex)
{
    for (size_t i = 0; i < ex->services->tier_count; i++)
        if (!egress_allowed(ex->signals.data_class, &ex->facts[i]))
            return false;
    return true;
}

/* What is asked, before anything is left out or masked. */
static const struct td_request *asked(const struct exchange *ex)
{
    return ex->outgoing.asked ? ex->outgoing.asked : &ex->request;
}

/* The same of tiers elsewhere, for whom it may be masked. */
static const struct td_request *leaving(const struct exchange *ex)
{
    return ex->staying ? &ex->staying->request : asked(ex);
}

void outgoing_prepare(struct exchange *ex, const struct route *route, enum td_data_class declared)
{
    const struct pseudonym_settings *settings = ex->services->pseudonyms;
    struct td_error err = {0};
    if (minimised_new(leaving(ex), &ex->services->minimise, &ex->outgoing.minimised, &err) != TD_OK)
        log_event(LOG_LEVEL_WARN, "minimising_failed", "exchange=%s error=\"%s\"", ex->id,
                  err.message);
    err = (struct td_error){0};
    if (!settings || !route->pseudonyms || goes_anywhere(ex))
        return;
    struct mask_rules rules = settings->rules;
    rules.scanner = ex->services->scanner;
    rules.strict = route->strict;
    if (pseudonyms_new(settings->vaults, &rules, (uint64_t)exchange_now_ms(ex), &ex->request,
                       ex->outgoing.minimised ? minimised_request(ex->outgoing.minimised)
                                              : leaving(ex),
                       &ex->outgoing.pseudonyms, &err) != TD_OK) {
        snprintf(ex->outgoing.masking_error, sizeof ex->outgoing.masking_error, "%.*s",
                 (int)sizeof ex->outgoing.masking_error - 1, err.message);
        log_event(LOG_LEVEL_WARN, "masking_failed", "exchange=%s error=\"%s\"", ex->id,
                  err.message);
    }
    /* What could not be masked is left as it is, also for the rest of the conversation. */
    enum td_data_class left = classify_higher(
        declared, ex->outgoing.pseudonyms ? pseudonyms_class(ex->outgoing.pseudonyms)
                                          : ex->signals.data_class);
    left =
        conversation_id_raise(ex->services->classes, &ex->request, &ex->conversation, true, left);
    if (!ex->outgoing.pseudonyms)
        return;
    ex->signals.masked = true;
    ex->signals.masked_class = left;
}

static void send_instead(struct exchange *ex, const struct td_request *asked,
                         const struct td_request *fresh)
{
    const struct route *route = ex->plan.route;
    struct outgoing before = ex->outgoing;
    struct privacy_tally found = {0};
    enum td_data_class data_class = classify_higher(
        ex->signals.data_class, classify_request(ex->services->scanner, fresh, &found));
    ex->signals.data_class = conversation_id_raise(ex->services->classes, &ex->request,
                                                   &ex->conversation, false, data_class);
    ex->signals.masked = false;
    ex->outgoing = (struct outgoing){.asked = asked};
    outgoing_prepare(ex, route, classify_higher(ex->request.data_class, route->data_class));
    outgoing_deinit(&before); /* after the new one has taken the same conversation */
}

void outgoing_continue(struct exchange *ex, const struct td_request *request)
{
    send_instead(ex, request, request);
}

void outgoing_renew(struct exchange *ex, const struct td_request *grown)
{
    ASSERT(ex->staying && grown == &ex->staying->request);
    send_instead(ex, ex->outgoing.asked, grown);
}

void outgoing_explain(struct exchange *ex)
{
    if (ex->outgoing.masking_error[0])
        plan_add_reason(&ex->plan, REASON_REMOVED_CLASS, "", "nothing could be replaced: %s",
                        ex->outgoing.masking_error);
}

/* What was left out of the request for tiers elsewhere is left out for this one. */
static bool is_minimised(const struct exchange *ex, const struct tier_facts *facts)
{
    if (ex->staying && !staying_from(ex, facts))
        return false;
    return ex->outgoing.minimised && facts->place != TD_PLACE_DEVICE && !facts->people;
}

const struct td_request *outgoing_plain(const struct exchange *ex, const struct tier_facts *facts)
{
    if (is_minimised(ex, facts))
        return minimised_request(ex->outgoing.minimised);
    return staying_from(ex, facts) ? &ex->staying->request : asked(ex);
}

/* Each lane has a restorer of its own. */
static size_t lane_of(const struct exchange *ex)
{
    return (size_t)(ex->lane - ex->lanes);
}

const struct td_request *outgoing_request(struct exchange *ex, const struct tier_facts *facts)
{
    ex->current->masked = policy_sends_masked(ex->plan.route, &ex->signals, facts);
    ex->lane->pass = (struct egress_pass){
        .purpose = ex->current->purpose,
        .data_class = policy_class_for(ex->plan.route, &ex->signals, facts),
        .asked_class = ex->signals.data_class,
        .scanned = ex->services->scanner != NULL,
        .exchange = ex->id,
        .span = ex->current->span,
        .traceparent = ex->lane->traceparent,
        .tracestate = facts->place <= TD_PLACE_PREMISES ? ex->request.trace_state : NULL,
    };
    trace_write(&ex->trace, ex->current->span, ex->lane->traceparent);
    if (is_minimised(ex, facts))
        ex->current->left_out = minimised_left_out(ex->outgoing.minimised);
    if (!ex->current->masked)
        return outgoing_plain(ex, facts);
    ASSERT(ex->outgoing.pseudonyms); /* only a masked request is sent masked */
    pseudonyms_begin(ex->outgoing.pseudonyms, lane_of(ex));
    ex->lane->pass.replaced =
        pseudonyms_replaced(ex->outgoing.pseudonyms, &ex->lane->pass.replaced_count);
    return pseudonyms_request(ex->outgoing.pseudonyms);
}

static void take_counts(struct exchange *ex)
{
    ex->current->pseudonyms = pseudonyms_count(ex->outgoing.pseudonyms, lane_of(ex));
}

const struct tier_piece *outgoing_piece(struct exchange *ex, const struct tier_piece *piece)
{
    if (!ex->current->masked)
        return piece;
    const struct tier_piece *restored =
        pseudonyms_restore(ex->outgoing.pseudonyms, lane_of(ex), piece);
    take_counts(ex);
    return restored->text.len > 0 || restored->has_stats || restored->raw_delta ? restored : NULL;
}

const struct tier_piece *outgoing_end(struct exchange *ex)
{
    if (!ex->current->masked)
        return NULL;
    const struct tier_piece *rest = pseudonyms_end(ex->outgoing.pseudonyms, lane_of(ex));
    take_counts(ex);
    return rest;
}

void outgoing_deinit(struct outgoing *outgoing)
{
    pseudonyms_free(outgoing->pseudonyms);
    minimised_free(outgoing->minimised);
}
