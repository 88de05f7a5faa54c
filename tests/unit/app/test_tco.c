/* Amounts with units, and what owning a tier costs. */
#include "app/cli/quantity.h"
#include "app/evidence/tco.h"
#include "base/core/str.h"
#include "base/crypto/rng.h"
#include "test.h"

#include <math.h>

static bool reads(const char *text, enum quantity_kind kind, double wanted)
{
    double got = -1;
    struct td_error err = {0};
    if (quantity_read(str_from(text), kind, &got, &err) != TD_OK) {
        fprintf(stderr, "  %s\n", err.message);
        return false;
    }
    return fabs(got - wanted) <= 1e-12 + 1e-12 * fabs(wanted);
}

static bool refused(const char *text, enum quantity_kind kind)
{
    double got;
    struct td_error err = {0};
    return quantity_read(str_from(text), kind, &got, &err) == TD_INVALID && *err.message;
}

static void test_cents_are_not_dollars(void)
{
    CHECK(reads("1.65 USD", QUANTITY_MONEY, 1.65) && reads("$1.65", QUANTITY_MONEY, 1.65));
    CHECK(reads("1.65 ct", QUANTITY_MONEY, 0.0165) &&
          reads("1.65 \xc2\xa2", QUANTITY_MONEY, 0.0165));
    CHECK(reads("165cents", QUANTITY_MONEY, 1.65));
    CHECK(reads("15 ct/Mtok", QUANTITY_MONEY_PER_TOKEN, 0.15e-6));
    CHECK(reads("$0.60/Mtok", QUANTITY_MONEY_PER_TOKEN, 0.6e-6));
}

static void test_units_are_converted(void)
{
    CHECK(reads("0.30 USD/kWh", QUANTITY_MONEY_PER_ENERGY, 0.3 / 3.6e6));
    CHECK(reads("1.5 kW", QUANTITY_POWER, 1500) && reads("2 h", QUANTITY_TIME, 7200));
    CHECK(reads("3 years", QUANTITY_TIME, 36 * TCO_MONTH_S));
    CHECK(reads("1 queries/s", QUANTITY_QUERIES_PER_MONTH, TCO_MONTH_S));
    CHECK(reads("1200 USD/year", QUANTITY_MONEY_PER_MONTH, 100));
    CHECK(reads("1e3 tok/s", QUANTITY_TOKENS_PER_SECOND, 1000));
    CHECK(reads("0.09 USD/GB", QUANTITY_MONEY_PER_BYTE, 0.09e-9));
}

static void test_what_has_no_or_another_unit_is_refused(void)
{
    CHECK(refused("1.65", QUANTITY_MONEY) && refused("", QUANTITY_MONEY));
    CHECK(refused("1.65 EUR", QUANTITY_MONEY) && refused("USD", QUANTITY_MONEY));
    CHECK(refused("0.15 USD", QUANTITY_MONEY_PER_TOKEN));
    CHECK(refused("0.15 USD/kWh", QUANTITY_MONEY_PER_TOKEN));
    CHECK(refused("-1 USD", QUANTITY_MONEY) && refused("1e999 USD", QUANTITY_MONEY));
    CHECK(refused("1 USD/", QUANTITY_MONEY) && refused("$1 USD", QUANTITY_MONEY));
    CHECK(refused("nan USD", QUANTITY_MONEY) && refused("1.2.3 USD", QUANTITY_MONEY));
    CHECK(refused("5 W/h", QUANTITY_POWER));
    for (int kind = 0; kind < QUANTITY_COUNT_KINDS; kind++) {
        double got;
        CHECK(quantity_read(str_from(quantity_example((enum quantity_kind)kind)),
                            (enum quantity_kind)kind, &got, NULL) == TD_OK);
    }
}

/* --- tco --- */

static struct tco_input plain(void)
{
    return (struct tco_input){.in_usd_per_token = 1e-6,
                              .out_usd_per_token = 5e-6,
                              .prompt_tokens = 500,
                              .answer_tokens = 100,
                              .queries_per_month = 100000,
                              .share_local = 0.8,
                              .pattern = TCO_SPLIT,
                              .hardware_usd = 2400,
                              .lifetime_s = 24 * TCO_MONTH_S,
                              .prefill_per_s = 1000,
                              .decode_per_s = 50};
}

static void test_savings_of_an_80_20_split_are_exact(void)
{
    static const double ratios[] = {0, 0.03, 0.1}, wanted[] = {0.8, 0.776, 0.72};
    for (size_t i = 0; i < 3; i++) {
        struct tco_input input = plain();
        struct tco tco;
        double cloud = 500 * 1e-6 + 100 * 5e-6; /* a query takes 2.5 s on the device */
        input.busy_watt = 100;
        input.energy_usd_per_joule = ratios[i] * cloud / 250;
        tco_compute(&input, &tco);
        CHECK(fabs(tco.saving_share - wanted[i]) < 1e-12);
        CHECK(fabs(tco.cloud_usd - cloud) < 1e-15 && fabs(tco.energy_j - 250) < 1e-9);
    }
}

static void test_the_crossover_is_the_closed_form_and_the_saving_there_is_nothing(void)
{
    struct rng rng;
    rng_init(&rng, 2);
    for (int i = 0; i < 20; i++) {
        struct tco_input input = plain();
        struct tco tco, there;
        input.pattern = i % 2 ? TCO_SPLIT : TCO_EDGE_FIRST;
        input.share_local = 0.3 + 0.7 * rng_double(&rng);
        input.hardware_usd = 5000 * rng_double(&rng);
        input.operations_usd_per_month = 100 * rng_double(&rng);
        input.busy_watt = 300 * rng_double(&rng);
        input.energy_usd_per_joule = 0.3 / 3.6e6;
        tco_compute(&input, &tco);
        double tried = i % 2 ? input.share_local : 1;
        double saving = input.share_local * tco.cloud_usd - tried * tco.local_usd;
        double fixed = input.hardware_usd / 24 + input.operations_usd_per_month;
        CHECK(fabs(tco.crossover_queries_per_month - fixed / saving) < 1e-6 * fixed / saving);
        input.queries_per_month = tco.crossover_queries_per_month;
        tco_compute(&input, &there);
        CHECK(fabs(there.saving_usd_per_month) < 1e-6 * fixed + 1e-9);
        CHECK(fabs(there.hybrid_usd_per_month - there.all_cloud_usd_per_month) <
              1e-6 * fixed + 1e-9);
    }
}

static void test_routing_that_cannot_pay_is_said(void)
{
    struct tco_input input = plain();
    struct tco tco;
    input.pattern = TCO_EDGE_FIRST; /* tries cost half a cloud query, and 40 % stay */
    input.share_local = 0.4;
    input.busy_watt = 100;
    input.energy_usd_per_joule = 0.5 * 0.001 / 250;
    tco_compute(&input, &tco);
    CHECK(!tco.routing_can_pay && isinf(tco.crossover_queries_per_month) && !tco.pays);
    CHECK(isinf(tco.payback_months));
    input.share_local = 0.6;
    tco_compute(&input, &tco);
    CHECK(tco.routing_can_pay);
}

static void test_idle_hardware_is_charged_by_utilisation(void)
{
    struct tco_input input = plain();
    struct tco low, high;
    input.share_local = 1;
    input.queries_per_month = 0.1 * TCO_MONTH_S / 2.5;
    tco_compute(&input, &low);
    input.queries_per_month *= 9;
    tco_compute(&input, &high);
    CHECK(fabs(low.busy_share - 0.1) < 1e-9 && fabs(high.busy_share - 0.9) < 1e-9);
    CHECK(fabs(low.usd_per_mtok / high.usd_per_mtok - 9) < 1e-9);
    input.idle_watt = 10;
    input.energy_usd_per_joule = 1e-6;
    tco_compute(&input, &high);
    CHECK(fabs(high.idle_usd_per_month - 0.1 * TCO_MONTH_S * 10 * 1e-6) < 1e-6);
}

static struct tco_input with_breaches(struct rng *rng, enum tco_pattern pattern)
{
    struct tco_input input = plain();
    input.pattern = pattern;
    input.share_local = 0.3 + 0.7 * rng_double(rng);
    input.hardware_usd = 24 * 200 * (1 + rng_double(rng)); /* more than the cloud's bill of 100 */
    input.busy_watt = 300 * rng_double(rng);
    input.idle_watt = 30 * rng_double(rng);
    input.energy_usd_per_joule = 0.3 / 3.6e6;
    input.breach_usd = 1e6 + 1e7 * rng_double(rng);
    return input;
}

static void test_the_advice_changes_at_the_closed_form_of_the_breach_rate(void)
{
    struct rng rng;
    rng_init(&rng, 3);
    for (int i = 0; i < 40; i++) {
        struct tco_input input = with_breaches(&rng, i % 2 ? TCO_SPLIT : TCO_EDGE_FIRST);
        struct tco none, below, above;
        tco_compute(&input, &none);
        double tried = i % 2 ? input.share_local : 1;
        double fixed = none.fixed_usd_per_month / input.queries_per_month;
        double wanted =
            1e6 * ((fixed + tried * none.local_usd) / input.share_local - 0.001) / input.breach_usd;
        CHECK(wanted > 0 && fabs(none.breakeven_per_million - wanted) < 1e-9 * wanted);
        CHECK(!none.pays && none.breach_usd == 0);
        input.breach_per_million = wanted * (1 - 1e-6);
        tco_compute(&input, &below);
        input.breach_per_million = wanted * (1 + 1e-6);
        tco_compute(&input, &above);
        CHECK(!below.pays && above.pays);
        CHECK(fabs(above.breakeven_per_million - wanted) < 1e-9 * wanted); /* whatever P is */
    }
}

static void test_only_queries_that_leave_cost_breaches(void)
{
    for (int pattern = TCO_SPLIT; pattern <= TCO_EDGE_FIRST; pattern++) {
        struct tco_input input = plain();
        struct tco without, with;
        input.pattern = (enum tco_pattern)pattern;
        input.breach_usd = 4e6;
        tco_compute(&input, &without);
        input.breach_per_million = 0.001; /* 0.004 USD a query, 400 USD for all 100000 a month */
        tco_compute(&input, &with);
        CHECK(fabs(with.breach_usd - 0.004) < 1e-15);
        CHECK(fabs(with.cloud_usd - without.cloud_usd - 0.004) < 1e-15);
        CHECK(fabs(with.all_cloud_usd_per_month - without.all_cloud_usd_per_month - 400) < 1e-9);
        CHECK(fabs(with.hybrid_usd_per_month - without.hybrid_usd_per_month - 80) < 1e-9);
        CHECK(fabs(without.crossover_queries_per_month - 5 * with.crossover_queries_per_month) <
              1e-6); /* 0.005 instead of 0.001 USD a query: a fifth of the volume */
    }
}

static void test_a_breach_rate_that_decides_nothing_is_said(void)
{
    struct tco_input input = plain();
    struct tco tco;
    tco_compute(&input, &tco); /* no cost of a breach */
    CHECK(isinf(tco.breakeven_per_million));
    input.breach_usd = 1e6;
    input.share_local = 0; /* everything leaves in any case */
    tco_compute(&input, &tco);
    CHECK(isinf(tco.breakeven_per_million));
    input.share_local = 0.8;
    input.queries_per_month = 0;
    tco_compute(&input, &tco);
    CHECK(isinf(tco.breakeven_per_million));
    input = plain();
    input.breach_usd = 1e-6; /* it would take more than one breach a query */
    tco_compute(&input, &tco);
    CHECK(!tco.pays && isinf(tco.breakeven_per_million));
    input.breach_usd = 1e6;
    input.hardware_usd = 0; /* pays without any breach */
    tco_compute(&input, &tco);
    CHECK(tco.pays && tco.breakeven_per_million == 0);
}

static void test_nothing_at_all_divides_by_zero(void)
{
    struct tco_input input = {0};
    struct tco tco;
    tco_compute(&input, &tco);
    CHECK(tco.saving_share == 0 && tco.usd_per_mtok == 0 && !tco.pays && tco.payback_months == 0);
}

int main(void)
{
    RUN(test_cents_are_not_dollars);
    RUN(test_units_are_converted);
    RUN(test_what_has_no_or_another_unit_is_refused);
    RUN(test_savings_of_an_80_20_split_are_exact);
    RUN(test_the_crossover_is_the_closed_form_and_the_saving_there_is_nothing);
    RUN(test_routing_that_cannot_pay_is_said);
    RUN(test_idle_hardware_is_charged_by_utilisation);
    RUN(test_the_advice_changes_at_the_closed_form_of_the_breach_rate);
    RUN(test_only_queries_that_leave_cost_breaches);
    RUN(test_a_breach_rate_that_decides_nothing_is_said);
    RUN(test_nothing_at_all_divides_by_zero);
    return test_finish();
}
