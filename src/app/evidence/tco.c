/* The formulas of the header, and what follows from them at the given volume. A number that does
 * not exist is infinite, and printed as such. */
#include "app/evidence/tco.h"

#include "base/core/assertion.h"

#include <math.h>

static double over(double a, double b)
{
    return b > 0 ? a / b : 0;
}

/* Share of the queries that the device works at. */
static double share_tried(const struct tco_input *input)
{
    return input->pattern == TCO_EDGE_FIRST ? 1 : input->share_local;
}

/* The rate of breaches that makes the saving of a month nothing: solved for P in
 * Q (s (c + X P / 1e6) - d v) = fixed. The fixed costs do not depend on P. */
static double breakeven_per_million(const struct tco_input *input, const struct tco *tco)
{
    double share = input->share_local, volume = input->queries_per_month;
    if (!(input->breach_usd > 0 && share > 0 && volume > 0))
        return (double)INFINITY;
    double price = tco->cloud_usd - tco->breach_usd;
    double local = tco->fixed_usd_per_month / volume + share_tried(input) * tco->local_usd;
    double rate = 1e6 * (local / share - price) / input->breach_usd;
    return rate > 1e6 ? (double)INFINITY : fmax(0, rate);
}

void tco_compute(const struct tco_input *input, struct tco *out)
{
    ASSERT(input->share_local >= 0 && input->share_local <= 1);
    double seconds = over(input->prompt_tokens, input->prefill_per_s) +
                     over(input->answer_tokens, input->decode_per_s);
    double months = input->lifetime_s / TCO_MONTH_S;
    double traffic = input->query_bytes * input->bandwidth_usd_per_byte;
    *out = (struct tco){0};
    out->breach_usd = input->breach_usd * input->breach_per_million / 1e6;
    out->cloud_usd = input->prompt_tokens * input->in_usd_per_token +
                     input->answer_tokens * input->out_usd_per_token + traffic + out->breach_usd;
    out->energy_j = seconds * input->busy_watt;
    out->local_usd = out->energy_j * input->energy_usd_per_joule;
    out->saving_usd = input->share_local * out->cloud_usd - share_tried(input) * out->local_usd;
    out->saving_share = over(out->saving_usd, out->cloud_usd);
    out->hardware_usd_per_month = over(input->hardware_usd + input->development_usd, months);
    double tries = share_tried(input) * input->queries_per_month;
    double machines = fmax(1, input->machines);
    out->busy_share = tries * seconds / TCO_MONTH_S / machines;
    double idle_s = fmax(0, 1 - out->busy_share) * TCO_MONTH_S * machines;
    out->idle_usd_per_month = idle_s * input->idle_watt * input->energy_usd_per_joule;
    out->fixed_usd_per_month =
        out->hardware_usd_per_month + input->operations_usd_per_month + out->idle_usd_per_month;
    out->routing_can_pay = out->saving_usd > 0;
    out->crossover_queries_per_month =
        out->routing_can_pay ? out->fixed_usd_per_month / out->saving_usd : (double)INFINITY;
    out->all_cloud_usd_per_month = input->queries_per_month * out->cloud_usd;
    out->saving_usd_per_month =
        input->queries_per_month * out->saving_usd - out->fixed_usd_per_month;
    out->hybrid_usd_per_month = out->all_cloud_usd_per_month - out->saving_usd_per_month;
    out->pays = out->saving_usd_per_month > 0;
    out->breakeven_per_million = breakeven_per_million(input, out);
    double earned = out->saving_usd_per_month + out->hardware_usd_per_month;
    double invested = input->hardware_usd + input->development_usd;
    out->payback_months = earned > 0 ? invested / earned : invested > 0 ? (double)INFINITY : 0;
    double tokens = tries * (input->prompt_tokens + input->answer_tokens);
    out->usd_per_mtok = 1e6 * over(out->fixed_usd_per_month + tries * out->local_usd, tokens);
}
