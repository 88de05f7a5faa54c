/* What ledger and metrics have of a call that a model of this device answers and that is no
 * exchange. Its texts are not recorded even where prompts are, because they are bulk data. One
 * loop's thread. */
#ifndef API_LOCAL_RECORD_H
#define API_LOCAL_RECORD_H

#include "api/http/access.h"
#include "api/http/api_internal.h"
#include "ledger/record/ledger.h"

struct local_record {
    struct api *api;
    const char *route; /* a literal */
    const char *model; /* these three borrow the call's own */
    const char *requested_model, *user;
    char tier[64];
    enum td_data_class data_class;
    double start_ms;                /* monotonic; the handler sets it */
    char tenant[AUTH_TENANT_BYTES]; /* "" = none is told apart */
    char id[28];
    struct tracing tracing;
    uint64_t token_count; /* once it has ended */
    struct meter_hold meters;
};

/* Takes from `api` who asks. prefix: two letters, for the id. */
TD_MUST_CHECK enum td_status local_record_begin(struct local_record *record, struct api *api,
                                                const char *route, const char *prefix,
                                                struct td_error *err);
/* Lets the request in by the terms and limits of its key (quota.h), of which local_record_end
 * settles the limits; false with the fault. The record has the tier and the class that are known.
 * model: that the request names, or NULL. */
bool local_record_enter(struct local_record *record, struct api *api, struct http_request *http,
                        const char *model, struct fault *fault);
/* The terms again, for a class that is found later. */
bool local_record_may(const struct local_record *record, struct api *api, struct fault *fault);
/* For a call that ends without local_record_end. */
void local_record_leave(struct local_record *record);
void local_record_raise(struct local_record *record, enum td_data_class data_class);
/* The class that server and client declare; false with the fault. */
bool local_record_declare(struct local_record *record, struct http_request *http,
                          enum td_data_class of_server, struct fault *fault);
/* Writes it. error: why it failed, or NULL. */
void local_record_end(struct local_record *record, enum td_status status, uint64_t token_count,
                      const char *error);
/* The x-tandem-* headers. */
void local_record_headers(const struct local_record *record, struct http_request *http);

#endif
