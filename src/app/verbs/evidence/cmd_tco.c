/* tandem tco: from which volume on a local tier pays (app/evidence/tco.h). */
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/quantity.h"
#include "app/evidence/tco.h"
#include "base/error.h"
#include "base/json.h"
#include "base/str.h"

#include <math.h>
#include <stdio.h>

/* An amount as it was typed, its kind and where it goes. */
struct amount {
    const char *name, *text;
    enum quantity_kind kind;
    double *value;
    bool needed;
    const char *missing; /* what leaving it out means, for the warning; NULL = nothing */
};

static enum td_status read_amounts(struct amount *amounts, size_t count, struct td_error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (!amounts[i].text && amounts[i].needed)
            return error_set(err, TD_INVALID, "--%s is needed, as in --%s \"%s\"", amounts[i].name,
                             amounts[i].name, quantity_example(amounts[i].kind));
        if (!amounts[i].text)
            continue;
        enum td_status status =
            quantity_read(str_from(amounts[i].text), amounts[i].kind, amounts[i].value, err);
        if (status != TD_OK) {
            error_prefix(err, "--%s", amounts[i].name);
            return status;
        }
    }
    return TD_OK;
}

static struct json *omitted_json(const struct amount *amounts, size_t count, bool breaches)
{
    struct json *list = json_new_array();
    for (size_t i = 0; i < count; i++)
        if (!amounts[i].text && amounts[i].missing)
            json_push(list, json_new_cstr(amounts[i].missing));
    if (breaches)
        json_push(list, json_new_cstr("breaches"));
    return list;
}

/* The rate alone prices nothing; the cost alone still gives the rate to compare with. */
static enum td_status check_breach(const struct tco_input *input, struct td_error *err)
{
    if (input->breach_per_million > 0 && input->breach_usd <= 0)
        return error_set(err, TD_INVALID,
                         "--breach-per-million needs --breach-usd, what one breach costs");
    return TD_OK;
}

static void put(struct json *object, const char *name, double value)
{
    json_put(object, name, json_new_double(value)); /* infinity becomes null */
}

/* Crossover and payback at other shares and volumes. */
static struct json *sensitivity_json(const struct tco_input *input)
{
    static const double shares[] = {0.5, 0.6, 0.7, 0.8, 0.9, 1}, volumes[] = {0.1, 0.5, 1, 2, 10};
    struct json *list = json_new_array();
    for (size_t s = 0; s < sizeof shares / sizeof *shares; s++) {
        for (size_t v = 0; v < sizeof volumes / sizeof *volumes; v++) {
            struct tco_input other = *input;
            struct tco result;
            other.share_local = shares[s];
            other.queries_per_month *= volumes[v];
            tco_compute(&other, &result);
            struct json *row = json_new_object();
            put(row, "share_local", shares[s]);
            put(row, "queries_per_month", other.queries_per_month);
            put(row, "saving_usd_per_month", result.saving_usd_per_month);
            put(row, "payback_months", result.payback_months);
            json_push(list, row);
        }
    }
    return list;
}

static bool print_json(const struct tco_input *input, const struct tco *tco, struct json *omitted)
{
    struct json *object = json_new_object();
    put(object, "cloud_usd_per_query", tco->cloud_usd);
    put(object, "breach_usd_per_cloud_query", tco->breach_usd);
    put(object, "breakeven_breaches_per_million", tco->breakeven_per_million);
    put(object, "local_usd_per_query", tco->local_usd);
    put(object, "energy_j_per_query", tco->energy_j);
    put(object, "saving_usd_per_query", tco->saving_usd);
    put(object, "saving_share", tco->saving_share);
    put(object, "fixed_usd_per_month", tco->fixed_usd_per_month);
    put(object, "hardware_usd_per_month", tco->hardware_usd_per_month);
    put(object, "idle_usd_per_month", tco->idle_usd_per_month);
    put(object, "crossover_queries_per_month", tco->crossover_queries_per_month);
    put(object, "all_cloud_usd_per_month", tco->all_cloud_usd_per_month);
    put(object, "hybrid_usd_per_month", tco->hybrid_usd_per_month);
    put(object, "saving_usd_per_month", tco->saving_usd_per_month);
    put(object, "payback_months", tco->payback_months);
    put(object, "utilisation", tco->busy_share);
    put(object, "local_usd_per_mtok", tco->usd_per_mtok);
    json_put(object, "pays", json_new_bool(tco->pays));
    json_put(object, "routing_can_pay", json_new_bool(tco->routing_can_pay));
    json_put(object, "not_counted", omitted);
    json_put(object, "sensitivity", sensitivity_json(input));
    return command_print_json(object);
}

static void print_sensitivity(const struct tco_input *input)
{
    static const double shares[] = {0.5, 0.6, 0.7, 0.8, 0.9, 1}, volumes[] = {0.1, 0.5, 1, 2, 10};
    printf("\nsaving a month (USD) by share local and volume:\n%12s", "");
    for (size_t v = 0; v < sizeof volumes / sizeof *volumes; v++)
        printf(" %12.0f", volumes[v] * input->queries_per_month);
    printf("\n");
    for (size_t s = 0; s < sizeof shares / sizeof *shares; s++) {
        printf("%11.0f%%", 100 * shares[s]);
        for (size_t v = 0; v < sizeof volumes / sizeof *volumes; v++) {
            struct tco_input other = *input;
            struct tco result;
            other.share_local = shares[s];
            other.queries_per_month *= volumes[v];
            tco_compute(&other, &result);
            printf(" %12.2f", result.saving_usd_per_month);
        }
        printf("\n");
    }
}

static void print_breaches(const struct tco_input *input, const struct tco *tco)
{
    double all = tco->breach_usd * input->queries_per_month;
    if (input->breach_usd <= 0)
        return;
    printf("breaches: %.6f USD expected in every query that leaves (%.10g USD x %.6g per million), "
           "a month %.2f USD all-cloud, %.2f USD hybrid\n",
           tco->breach_usd, input->breach_usd, input->breach_per_million, all,
           (1 - input->share_local) * all);
    if (isinf(tco->breakeven_per_million))
        printf("at this volume no rate of breaches makes local pay\n");
    else if (tco->breakeven_per_million <= 0)
        printf("at this volume local pays even without breaches\n");
    else
        printf("at this volume local pays above %.6g breaches per million queries that leave; at "
               "%.6g %s is cheaper\n",
               tco->breakeven_per_million, input->breach_per_million,
               tco->pays ? "local" : "the cloud");
}

static bool print_text(const struct tco_input *input, const struct tco *tco, struct json *omitted)
{
    printf("a query: %.6f USD in the cloud, %.6f USD of energy on the device (%.1f J); saving %.6f "
           "USD (%.1f %%)\n",
           tco->cloud_usd, tco->local_usd, tco->energy_j, tco->saving_usd, 100 * tco->saving_share);
    print_breaches(input, tco);
    printf("fixed a month: %.2f USD (hardware and development %.2f, idle power %.2f)\n",
           tco->fixed_usd_per_month, tco->hardware_usd_per_month, tco->idle_usd_per_month);
    if (!tco->routing_can_pay)
        printf(
            "routing cannot pay at any volume: what the device answers saves less than its tries "
            "cost\n");
    else
        printf("crossover: %.0f queries a month\n", tco->crossover_queries_per_month);
    printf(
        "at %.0f queries a month: all-cloud %.2f USD, hybrid %.2f USD, saving %.2f USD a month\n",
        input->queries_per_month, tco->all_cloud_usd_per_month, tco->hybrid_usd_per_month,
        tco->saving_usd_per_month);
    if (isinf(tco->payback_months))
        printf("hardware and development are never earned back\n");
    else
        printf("hardware and development are earned back in %.1f months\n", tco->payback_months);
    printf("utilisation %.1f %%%s; local tokens cost %.4f USD/Mtok\n", 100 * tco->busy_share,
           tco->busy_share > 1 ? " (more than one machine can do)" : "", tco->usd_per_mtok);
    for (size_t i = 0; i < json_count(omitted); i++)
        printf("not counted: %s\n", json_cstr(json_at(omitted, i)));
    print_sensitivity(input);
    json_free(omitted);
    return fflush(stdout) == 0;
}

#define AMOUNT_COUNT 13

int cmd_tco(int argc, char **argv)
{
    struct tco_input input = {.prompt_tokens = 500,
                              .answer_tokens = 200,
                              .share_local = 0.8,
                              .lifetime_s = 36 * TCO_MONTH_S};
    const char *pattern = "edge-first";
    bool json = false;
    struct amount a[AMOUNT_COUNT] = {
        {"price-in", NULL, QUANTITY_MONEY_PER_TOKEN, &input.in_usd_per_token, true, NULL},
        {"price-out", NULL, QUANTITY_MONEY_PER_TOKEN, &input.out_usd_per_token, true, NULL},
        {"volume", NULL, QUANTITY_QUERIES_PER_MONTH, &input.queries_per_month, true, NULL},
        {"hardware", NULL, QUANTITY_MONEY, &input.hardware_usd, false, "hardware"},
        {"development", NULL, QUANTITY_MONEY, &input.development_usd, false, "development"},
        {"operations", NULL, QUANTITY_MONEY_PER_MONTH, &input.operations_usd_per_month, false,
         "operations"},
        {"lifetime", NULL, QUANTITY_TIME, &input.lifetime_s, false, NULL},
        {"power", NULL, QUANTITY_POWER, &input.busy_watt, false, "energy of answers"},
        {"idle-power", NULL, QUANTITY_POWER, &input.idle_watt, false, "energy of waiting"},
        {"tariff", NULL, QUANTITY_MONEY_PER_ENERGY, &input.energy_usd_per_joule, false,
         "price of energy"},
        {"prefill", NULL, QUANTITY_TOKENS_PER_SECOND, &input.prefill_per_s, false,
         "time to read prompts"},
        {"decode", NULL, QUANTITY_TOKENS_PER_SECOND, &input.decode_per_s, false,
         "time to write answers"},
        {"bandwidth", NULL, QUANTITY_MONEY_PER_BYTE, &input.bandwidth_usd_per_byte, false,
         "bandwidth"},
    };
    const struct option options[] = {
        {"price-in", 0, OPTION_TEXT, &a[0].text, "PRICE", "of the cloud: \"0.15 USD/Mtok\"", 0, 0},
        {"price-out", 0, OPTION_TEXT, &a[1].text, "PRICE", "of its answers: \"0.60 USD/Mtok\"", 0,
         0},
        {"volume", 0, OPTION_TEXT, &a[2].text, "RATE", "\"200000 queries/month\"", 0, 0},
        {"prompt-tokens", 0, OPTION_NUMBER, &input.prompt_tokens, "N", "of a query; default 500", 0,
         1e9},
        {"answer-tokens", 0, OPTION_NUMBER, &input.answer_tokens, "N", "default 200", 0, 1e9},
        {"share-local", 0, OPTION_NUMBER, &input.share_local, "S", "that stays; default 0.8", 0, 1},
        {"pattern", 0, OPTION_TEXT, &pattern, "edge-first|split",
         "the device tries every query (default), or a router decides before", 0, 0},
        {"hardware", 0, OPTION_TEXT, &a[3].text, "MONEY", "\"2400 USD\"", 0, 0},
        {"development", 0, OPTION_TEXT, &a[4].text, "MONEY", "once", 0, 0},
        {"operations", 0, OPTION_TEXT, &a[5].text, "RATE", "\"500 USD/month\"", 0, 0},
        {"lifetime", 0, OPTION_TEXT, &a[6].text, "TIME", "of the hardware; default \"36 months\"",
         0, 0},
        {"power", 0, OPTION_TEXT, &a[7].text, "POWER", "while it answers: \"350 W\"", 0, 0},
        {"idle-power", 0, OPTION_TEXT, &a[8].text, "POWER", "while it waits", 0, 0},
        {"tariff", 0, OPTION_TEXT, &a[9].text, "PRICE", "\"0.30 USD/kWh\"", 0, 0},
        {"prefill", 0, OPTION_TEXT, &a[10].text, "RATE", "\"800 tok/s\"", 0, 0},
        {"decode", 0, OPTION_TEXT, &a[11].text, "RATE", "\"40 tok/s\"", 0, 0},
        {"bandwidth", 0, OPTION_TEXT, &a[12].text, "PRICE", "\"0.09 USD/GB\"", 0, 0},
        {"query-bytes", 0, OPTION_NUMBER, &input.query_bytes, "N", "to the cloud and back", 0,
         1e12},
        {"breach-usd", 0, OPTION_NUMBER, &input.breach_usd, "X", "what one breach costs, in USD", 0,
         1e15},
        {"breach-per-million", 0, OPTION_NUMBER, &input.breach_per_million, "P",
         "breaches expected in a million queries that leave, as 0.001", 0, 1e6},
        OPTION_ROW_JSON(json),
    };
    const struct option_spec spec = {
        "tco",
        "",
        "Computes from which volume on a local tier pays against a cloud, with hardware,\n"
        "development, operations, energy and idle time. Amounts have units; cents are not\n"
        "dollars. With --json: {crossover_queries_per_month, payback_months, pays, ...}.\n"
        "A breach that costs X, expected P times in a million queries that leave, adds\n"
        "X P / 1e6 to each of them; at Q queries a month local pays where P is above\n"
        "1e6 ((F / Q + d v) / s - c) / X: F fixed costs a month, v energy of a local query,\n"
        "c price of a cloud query, s share local, d share tried there (1 edge-first, s split).",
        options,
        sizeof options / sizeof *options,
        0};
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, NULL, NULL);
    struct td_error err = {0};
    struct tco tco;
    bool split = str_equal(str_from(pattern), STR("split"));
    input.pattern = split ? TCO_SPLIT : TCO_EDGE_FIRST;
    enum td_status status = read_amounts(a, AMOUNT_COUNT, &err);
    if (status == TD_OK && !split && !str_equal(str_from(pattern), STR("edge-first")))
        status = error_set(&err, TD_INVALID, "--pattern is edge-first or split");
    if (status == TD_OK)
        status = check_breach(&input, &err);
    if (status != TD_OK) {
        command_fail("tco", &err);
        return 2;
    }
    tco_compute(&input, &tco);
    struct json *omitted = omitted_json(a, AMOUNT_COUNT, tco.breach_usd <= 0);
    bool printed = json ? print_json(&input, &tco, omitted) : print_text(&input, &tco, omitted);
    return printed ? 0 : 1;
}
