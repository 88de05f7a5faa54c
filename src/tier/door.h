/* The door that every byte for another place passes. It is the only code that hands bytes for a tier
 * to the HTTP client (tests/structure/test_structure.py looks), and it refuses, or records and then
 * sends. It fails closed: without a pass, with detectors that were not loaded, with a class or place
 * outside its enum, or when the record cannot be written, nothing leaves. */
#ifndef TIER_DOOR_H
#define TIER_DOOR_H

#include "base/names.h"
#include "ledger/egress_log.h"
#include "net/client.h"
#include "router/plan/facts.h"

enum egress_purpose {
    EGRESS_ATTEMPT,
    EGRESS_RETRY,        /* the same bytes again after a failure */
    EGRESS_HEDGE,        /* beside another attempt that is slow */
    EGRESS_SHADOW,       /* to compare; nobody waits for the answer */
    EGRESS_VERIFICATION, /* of an answer that was given */
    EGRESS_HEALTH_CHECK, /* holds nothing of a user */
};

/* What an exchange says about the bytes that a tier will make of it. Borrowed until the attempt
 * ends. */
struct egress_pass {
    enum egress_purpose purpose;
    enum td_data_class data_class;          /* of what is sent, so after anything was replaced */
    const char *exchange;                   /* id; NULL: of none */
    const struct egress_replaced *replaced; /* [replaced_count] */
    size_t replaced_count;
};

/* Where a door leads. */
struct door {
    const struct tier_facts *facts;
    const char *host; /* "api.example.com:443" */
    /* NULL: the operator wants no record. */
    struct egress_log *log;
};

/* May the tier be sent data of this class (router/plan/reach.h)? A class or place outside its enum is
 * refused, but for the device itself. */
bool egress_allowed(enum td_data_class data_class, const struct tier_facts *facts);

const char *egress_purpose_name(enum egress_purpose purpose);

/* A tier whose place is the device is reached at a loopback address alone; that one and one on the premises
 * through no proxy. TD_DENIED: it may not leave; else as egress_log_append and client_start. */
TD_MUST_CHECK enum td_status door_send(const struct door *door, const struct egress_pass *pass,
                                       struct client *client, const struct client_request *request,
                                       struct client_transfer **out, struct td_error *err);

/* "HOST:PORT" of an http or https URL. **returns new** (free); NULL without memory. */
char *door_host(const char *url);

#endif
