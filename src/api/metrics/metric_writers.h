/* What GET /metrics tells beyond the counters of api/http/metrics.h: one writer a source. The table
 * is in metrics_handler.c. A source that is not there writes nothing. */
#ifndef API_METRIC_WRITERS_H
#define API_METRIC_WRITERS_H

#include "api/http/api_host.h"
#include "base/bytes/buf.h"

typedef void metric_writer_fn(const struct api_host *host, const struct exchange_services *services,
                              struct buf *out);

metric_writer_fn account_write_metrics;     /* account_metrics.c */
metric_writer_fn cache_write_metrics;       /* cache_metrics.c */
metric_writer_fn alarms_write_metrics;      /* alarms_handler.c */
metric_writer_fn consistency_write_metrics; /* consistency_metrics.c */
metric_writer_fn ramps_write_metrics;       /* ramps_handler.c */
metric_writer_fn shadows_write_metrics;     /* shadow_metrics.c */
metric_writer_fn hedging_write_metrics;     /* hedging_metrics.c */
metric_writer_fn otlp_write_metrics;        /* otlp_metrics.c */
metric_writer_fn tiers_write_metrics;       /* tier_metrics.c */
metric_writer_fn engine_write_metrics;      /* engine_metrics.c */
metric_writer_fn device_write_metrics;      /* device_metrics.c */
metric_writer_fn keys_write_metrics;        /* key_metrics.c */
metric_writer_fn reviews_write_metrics;     /* review_metrics.c */

#endif
