/* Exchanges as spans in OTLP's JSON encoding
 * (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding), by the conventions for
 * generative models. Names of the configuration, fixed words, numbers and ids; never a word of a
 * request or an answer, nor who asked. Pure functions; any thread. */
#ifndef API_OTLP_JSON_H
#define API_OTLP_JSON_H

#include "api/telemetry/otlp_histograms.h"
#include "base/bytes/buf.h"
#include "exchange/machine/exchange.h"

/* Appends {"key": ..., "value": {"stringValue": ...}}, after a comma unless it is the first of
 * `out` or of a list. */
void otlp_json_text(struct buf *out, const char *key, struct td_str value);

/* A span for the exchange and one for each attempt, as elements of a list "spans". wall_ms: when it
 * ended. Returns their number. */
uint32_t otlp_json_spans(const struct exchange_summary *summary, uint64_t wall_ms, struct buf *out);
/* What it adds to the histograms. */
void otlp_json_measure(const struct exchange_summary *summary, struct otlp_histograms *histograms);

#endif
