/* The door: every byte that is sent to a tier on a server passes here. No other code hands bytes
 * for a tier to the HTTP client (tests/structure/test_structure.py checks it). The door either
 * refuses, or records and then sends. It fails closed. It refuses a request that has no pass, that
 * was not scanned, or whose class or place is unknown. Nothing leaves when the record cannot be
 * written.
 *
 * Any thread; a transfer belongs to the loop of its client. */
#ifndef TIER_DOOR_H
#define TIER_DOOR_H

#include "base/text/names.h"
#include "ledger/egress/egress_log.h"
#include "net/client/client.h"
#include "router/plan/facts.h"

enum egress_purpose {
    EGRESS_ATTEMPT,
    EGRESS_RETRY,        /* the same bytes again after a failure */
    EGRESS_HEDGE,        /* a second attempt, while the first is slow */
    EGRESS_SHADOW,       /* for comparison; nobody waits for the answer */
    EGRESS_VERIFICATION, /* checks an answer that was given */
    EGRESS_HEALTH_CHECK, /* holds no data of a user */
    EGRESS_CONTINUATION, /* goes on with what another tier has begun, which it holds */
    EGRESS_DOCUMENT,     /* asks what the device shall read of documents that stay there */
};

/* What the exchange knows of the bytes that a tier will send for it. Borrowed until the attempt
 * ends. */
struct egress_pass {
    enum egress_purpose purpose;
    enum td_data_class data_class;          /* of the text as sent, after replacements */
    enum td_data_class asked_class;         /* before them */
    bool scanned;                           /* by a scanner (privacy/scan/scanner.h) */
    const char *exchange;                   /* id, or NULL */
    const char *span, *traceparent;         /* of the attempt (base/time/trace.h), or NULL */
    const char *tracestate;                 /* the client's own, where it may go; or NULL */
    const struct egress_replaced *replaced; /* [replaced_count] */
    size_t replaced_count;
};

/* Where the bytes go, and who records them. */
struct door {
    const struct tier_facts *facts;
    const char *host; /* "api.example.com:443" */
    /* NULL: the operator has switched the record off */
    struct egress_log *log;
};

/* Whether data of this class may be sent to the tier (router/plan/reach.h). A class or place
 * outside its enum is refused, except for the device itself. */
bool egress_allowed(enum td_data_class data_class, const struct tier_facts *facts);

/* Refuses with TD_DENIED, or records the request and starts it. A tier with place "device" must
 * have a loopback address. A tier on the device or on the premises is reached without a proxy.
 * TD_INTERNAL: it could not be recorded, which is no fault of the tier; the log says why. Other
 * failures are those of client_start. */
TD_MUST_CHECK enum td_status door_send(const struct door *door, const struct egress_pass *pass,
                                       struct client *client, const struct client_request *request,
                                       struct client_transfer **out, struct td_error *err);

/* "host:port" of an http or https URL. **returns new** (free); NULL without memory. */
char *door_host(const char *url);
/* Of what door_host made: without the port. **borrows** */
struct td_str door_host_name(const char *host);

#endif
