/* The only code that hands bytes for a tier to the HTTP client. One place makes the rule checkable:
 * a request leaves when its class may reach the tier's place and the egress ledger has its record,
 * and otherwise not at all. What cannot be decided (no pass, no scan, no record) counts as a
 * refusal, because data that has left cannot be called back. */
#include "tier/door.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/shortage.h"
#include "base/core/str.h"
#include "base/text/names.h"
#include "base/time/clock.h"
#include "base/time/log.h"
#include "net/client/loopback.h"
#include "router/plan/reach.h"

#include <stdio.h>
#include <stdlib.h>

bool egress_allowed(enum td_data_class data_class, const struct tier_facts *facts)
{
    ASSERT(facts != NULL);
    return reach_allowed(facts, data_class);
}

static const char *purpose_name(enum egress_purpose purpose)
{
    static const char *const names[] = {"attempt",      "retry",        "hedge",
                                        "shadow",       "verification", "health_check",
                                        "continuation", "document",     NULL};
    return names_table_name(names, (size_t)purpose);
}

/* Whether these bytes may leave. A health check holds no text, so it needs no scan. */
static enum td_status judge(const struct door *door, const struct egress_pass *pass,
                            const struct client_request *request, struct td_error *err)
{
    const struct tier_facts *facts = door->facts;
    struct td_str body = request->body;
    if (!pass)
        return error_set(err, TD_DENIED, "the class of its data is not known");
    if (pass->purpose == EGRESS_HEALTH_CHECK && body.len > 0)
        return error_set(err, TD_DENIED, "a health check may not hold data");
    if (pass->purpose != EGRESS_HEALTH_CHECK && !pass->scanned)
        return error_set(err, TD_DENIED, "the detectors of private data are not loaded");
    if (!egress_allowed(pass->data_class, facts))
        return error_set(err, TD_DENIED, "%s data may not be sent to it",
                         names_class(pass->data_class));
    if (facts->place == TD_PLACE_DEVICE && !loopback_is_url(str_from(request->url)))
        return error_set(err, TD_DENIED, "a tier with place device must have a loopback address");
    return TD_OK;
}

static enum td_status put_on_record(const struct door *door, const struct egress_pass *pass,
                                    struct td_str body, struct td_error *err)
{
    if (!door->log)
        return TD_OK;
    const struct egress_entry entry = {
        .wall_ms = clock_wall_ms(NULL),
        .exchange = pass->exchange,
        .purpose = purpose_name(pass->purpose),
        .tier = door->facts->name,
        .place = names_place(door->facts->place),
        .region = door->facts->region,
        .certified = door->facts->certified,
        .host = door->host,
        .data_class = names_class(pass->data_class),
        .payload = body,
        .replaced = pass->replaced,
        .replaced_count = pass->replaced_count,
    };
    return egress_log_append(door->log, &entry, err);
}

enum td_status door_send(const struct door *door, const struct egress_pass *pass,
                         struct client *client, const struct client_request *request,
                         struct client_transfer **out, struct td_error *err)
{
    ASSERT(door != NULL && door->facts != NULL && door->host != NULL);
    ASSERT(request != NULL && out != NULL);
    struct td_error cause = {0};
    uint32_t shortages = shortage_count();
    enum td_status status = judge(door, pass, request, &cause);
    bool recorded = true;
    if (status == TD_OK) {
        status = put_on_record(door, pass, request->body, &cause);
        recorded = status == TD_OK;
    }
    /* A tier on the device or the premises may see data that a proxy elsewhere may not. */
    struct client_request sent = *request;
    sent.direct = door->facts->place == TD_PLACE_DEVICE || door->facts->place == TD_PLACE_PREMISES;
    if (status == TD_OK)
        return client_start(client, &sent, out, err);
    status = shortage_judge(shortages, status, &cause); /* what was found may not be so */
    log_event(LOG_LEVEL_WARN, "egress_refused", "exchange=%s tier=%s purpose=%s reason=\"%s\"",
              pass && pass->exchange ? pass->exchange : "-", door->facts->name,
              pass ? purpose_name(pass->purpose) : "-", cause.message);
    return recorded ? error_set(err, status, "%s", cause.message)
                    : error_set(err, TD_INTERNAL,
                                "the record of what leaves this machine cannot be written");
}

struct td_str door_host_name(const char *host)
{
    const char *colon = strrchr(host, ':');
    return (struct td_str){host, colon ? (size_t)(colon - host) : strlen(host)};
}

char *door_host(const char *url)
{
    ASSERT(url != NULL);
    struct td_str text = str_from(url);
    size_t begin = str_find(text, STR("://"), 0);
    bool https = str_starts_with(text, STR("https"));
    begin = begin == SIZE_MAX ? 0 : begin + 3;
    size_t end = begin + strcspn(url + begin, "/?#");
    struct td_str host = str_slice(text, begin, end);
    const char *bracket = memrchr(host.data, ']', host.len), *colon;
    colon = bracket ? memchr(bracket, ':', (size_t)(host.data + host.len - bracket))
                    : memchr(host.data, ':', host.len);
    char *out = NULL;
    return asprintf(&out, STR_FMT "%s", STR_ARG(host),
                    colon   ? ""
                    : https ? ":443"
                            : ":80") < 0
               ? NULL
               : out;
}
