/* What owning a local tier costs and saves against a cloud, over its life.
 *
 * A query of p prompt and a answer tokens costs c = p in + a out in the cloud. On the device it
 * takes t = p / prefill + a / decode seconds and v = t W tariff of energy; what moves between
 * device and cloud costs bandwidth. One breach costs X, and P breaches are expected in a million
 * queries that leave, so each of these costs b = X P / 1e6 more. A share s of the queries stays
 * local.
 *   split       the router decides before:      saving of a query  s (c + b - v)
 *   edge-first  the device tries every query:   saving of a query  s (c + b) - v
 * Fixed costs a month: hardware and development over the lifetime, operations, and the power of
 * an idle machine. Crossover: fixed / saving queries a month; when the saving is not above zero,
 * no volume pays. At Q queries a month, with a share d tried on the device (s, or 1 for
 * edge-first), local pays when P is above 1e6 ((fixed / Q + d v) / s - c) / X. Pure. */
#ifndef APP_TCO_H
#define APP_TCO_H

#include "tandem/types.h"

enum tco_pattern { TCO_SPLIT, TCO_EDGE_FIRST };

struct tco_input {
    double in_usd_per_token, out_usd_per_token;
    double prompt_tokens, answer_tokens;
    double queries_per_month;
    double share_local;
    enum tco_pattern pattern;
    double machines;     /* that share the local queries; 0 = one */
    double hardware_usd; /* of all machines */
    double development_usd, lifetime_s;
    double operations_usd_per_month;
    double busy_watt, idle_watt; /* of one machine */
    double energy_usd_per_joule;
    double prefill_per_s, decode_per_s;
    double bandwidth_usd_per_byte, query_bytes;
    double breach_usd;         /* one breach */
    double breach_per_million; /* expected in a million queries that leave */
};

struct tco {
    double cloud_usd;  /* a query, all in the cloud, with breach_usd */
    double breach_usd; /* of it: the expected cost of a breach */
    double local_usd;  /* a query that the device answers: energy alone */
    double saving_usd; /* a query on average, before fixed costs */
    double fixed_usd_per_month, hardware_usd_per_month, idle_usd_per_month;
    double crossover_queries_per_month; /* INFINITY: never */
    double all_cloud_usd_per_month, hybrid_usd_per_month, saving_usd_per_month;
    double saving_share;   /* of the cloud's bill, before fixed costs */
    double payback_months; /* of hardware and development; INFINITY: never */
    double busy_share;     /* of the machines' time; above 1: they cannot keep up */
    double usd_per_mtok;   /* of local tokens, everything counted, at this utilisation */
    double energy_j;       /* a local query */
    /* Breaches per million queries that leave above which this volume pays; 0: it does without
     * any; INFINITY: not at any rate up to one a query */
    double breakeven_per_million;
    bool pays;            /* at this volume */
    bool routing_can_pay; /* at any volume */
};

#define TCO_MONTH_S (30.4375 * 86400)

void tco_compute(const struct tco_input *input, struct tco *out);

#endif
