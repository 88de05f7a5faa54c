/* Sends traces and metrics to an OpenTelemetry collector: OTLP over HTTP, in JSON.
 *
 * A thread with a loop of its own sends what the workers leave in a bounded queue. A collector that
 * is slow or away holds nobody up: what does not fit is dropped and counted. Any thread may call
 * otlp_exchange and otlp_read. */
#ifndef API_OTLP_H
#define API_OTLP_H

#include "exchange/machine/exchange.h"

struct otlp;

struct otlp_options {
    const char *traces_url, *metrics_url; /* NULL = these are not sent */
    const char *const *headers;           /* "Name: value", NULL-terminated; may be secrets */
    const char *ca_file;                  /* NULL = the system's certificates */
    const char *resource;                 /* elements of the resource's attributes (otlp_json.h) */
    uint32_t metrics_interval_ms;
};

struct otlp_counts {
    uint64_t spans, dropped; /* sent, and not */
    uint64_t failures;       /* of transfers, also those that were repeated */
};

/* Copies the options. **returns new** (otlp_free). */
TD_MUST_CHECK enum td_status otlp_new(const struct otlp_options *options, struct otlp **out,
                                      struct td_error *err);
/* Sends what is there, for two seconds at most. Accepts NULL. */
void otlp_free(struct otlp *otlp);

/* An exchange has ended. Nothing is told of one whose caller did not want its trace sampled, or
 * whose route keeps nothing; the histograms count it all the same. Accepts NULL. */
void otlp_exchange(struct otlp *otlp, const struct exchange_summary *summary);
void otlp_read(struct otlp *otlp, struct otlp_counts *out);

#endif
