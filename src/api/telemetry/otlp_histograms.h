/* The histograms of OpenTelemetry's conventions for generative models
 * (https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-metrics): how long operations take,
 * how many tokens they use, and when the first comes. Since the start of the process. Any
 * thread. */
#ifndef API_OTLP_HISTOGRAMS_H
#define API_OTLP_HISTOGRAMS_H

#include "base/bytes/buf.h"

enum otlp_histogram {
    OTLP_OPERATION_SECONDS, /* gen_ai.client.operation.duration */
    OTLP_TOKENS,            /* gen_ai.client.token.usage */
    OTLP_FIRST_SECONDS,     /* gen_ai.server.time_to_first_token */
    OTLP_HISTOGRAM_COUNT
};

struct otlp_histograms;

struct otlp_histograms *otlp_histograms_new(uint64_t start_wall_ms); /* **returns new**, or NULL */
void otlp_histograms_free(struct otlp_histograms *histograms);       /* accepts NULL */

/* attributes: elements of a JSON list, as otlp_json.h writes them; of names that the configuration
 * has. Beyond 256 different ones of a histogram, the rest counts as one without attributes. */
void otlp_histograms_add(struct otlp_histograms *histograms, enum otlp_histogram which,
                         struct td_str attributes, double value);
/* Appends the elements of a list "metrics". Nothing where nothing was added. */
void otlp_histograms_write(struct otlp_histograms *histograms, uint64_t wall_ms, struct buf *out);

#endif
