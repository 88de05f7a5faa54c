/* Results of shadows since the process began (exchange/parts/shadow_pool.h), for GET /metrics. The
 * ledger has more: GET /tandem/v1/shadows gives them by tiers and tasks, with intervals. */
#include "api/http/metrics.h"
#include "api/metrics/metric_writers.h"
#include "exchange/parts/shadow_pool.h"

static void write_family(struct buf *out, const char *name, const char *help,
                         const double values[static SHADOW_PLACE_COUNT])
{
    static const char *const places[] = {"device", "elsewhere"};
    metrics_write_head(out, name, help);
    for (int i = 0; i < SHADOW_PLACE_COUNT; i++)
        buf_printf(out, "%s{place=\"%s\"} %.10g\n", name, places[i], values[i]);
}

void shadows_write_metrics(const struct api_host *host, const struct exchange_services *services,
                           struct buf *out)
{
    (void)host;
    if (!services->shadow_pool)
        return;
    static const struct {
        const char *name, *help;
    } families[] = {
        {"tandem_shadows_compared_total", "Answers of a tier in the shadow that were compared"},
        {"tandem_shadows_same_total", "Of these, those that said the same"},
        {"tandem_shadows_agreement_total",
         "Agreement (0 to 1) of those that were compared, added up"},
        {"tandem_shadows_failed_total", "Shadows that gave no answer"},
        {"tandem_shadows_dropped_total",
         "Shadows without room, time or money, or with nothing to compare"},
        {"tandem_shadows_cost_usd_total", "What shadows cost, in USD"},
    };
    struct shadow_numbers numbers;
    shadow_pool_numbers(services->shadow_pool, &numbers);
    double values[sizeof families / sizeof *families][SHADOW_PLACE_COUNT];
    for (int i = 0; i < SHADOW_PLACE_COUNT; i++) {
        const struct shadow_count *of = &numbers.of[i];
        values[0][i] = (double)of->compared;
        values[1][i] = (double)of->same;
        values[2][i] = of->agreement_sum;
        values[3][i] = (double)of->failed;
        values[4][i] = (double)of->dropped;
        values[5][i] = of->cost_usd;
    }
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        write_family(out, families[i].name, families[i].help, values[i]);
    metrics_write_value(out, "tandem_shadows_running", "Shadows that run now", numbers.running);
}
