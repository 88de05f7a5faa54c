/* tandem tco: when does local inference save money (app/evidence/tco.h)? Reads amounts with units,
 * and prints the result at the volume given and at others. */
#define HELP_OF 23
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/quantity.h"
#include "app/cli/verb.h"
#include "app/config/packed_help.h"
#include "app/evidence/tco.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"

#include <math.h>
#include <stdio.h>

/* An amount with a unit: its option, its kind and where its value goes. */
struct amount {
    const char *name;
    enum quantity_kind kind;
    double *value;
    const char *argument, *help;
    bool needed;
    const char *missing; /* what is not counted without it, for the warning; NULL = nothing */
    const char *text;    /* as it was typed; NULL = not given */
    char help_with_example[96];
};

/* One row for each amount, with an example of its unit. Returns how many there are. */
static size_t amounts_to_options(struct amount *amounts, struct option *options)
{
    size_t count = 0;
    for (struct amount *amount = amounts; amount->name; amount++) {
        snprintf(amount->help_with_example, sizeof amount->help_with_example, "%s: \"%s\"",
                 amount->help, quantity_example(amount->kind));
        options[count++] = (struct option){amount->name,
                                           0,
                                           OPTION_TEXT,
                                           &amount->text,
                                           amount->argument,
                                           amount->help_with_example,
                                           0,
                                           0};
    }
    return count;
}

static enum td_status read_amounts(struct amount *amounts, struct td_error *err)
{
    for (struct amount *amount = amounts; amount->name; amount++) {
        if (!amount->text && amount->needed)
            return error_set(err, TD_INVALID, "--%s is required, as in --%s \"%s\"", amount->name,
                             amount->name, quantity_example(amount->kind));
        if (!amount->text)
            continue;
        enum td_status status =
            quantity_read(str_from(amount->text), amount->kind, amount->value, err);
        if (status != TD_OK) {
            error_prefix(err, "--%s", amount->name);
            return status;
        }
    }
    return TD_OK;
}

static struct json *omitted_json(const struct amount *amounts, bool breaches)
{
    struct json *list = json_new_array();
    for (const struct amount *amount = amounts; amount->name; amount++)
        if (!amount->text && amount->missing)
            json_push(list, json_new_cstr(amount->missing));
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

/* What cannot be done costs nothing that could be compared. */
static enum td_status check_load(const struct tco_input *input, const struct tco *tco,
                                 struct td_error *err)
{
    if (!(tco->busy_share > 1))
        return TD_OK;
    double machines = fmax(1, input->machines);
    return error_set(
        err, TD_LIMIT,
        "%.0f queries a month are %.0f %% of what %.0f machine%s can do at that speed: "
        "it takes at least %.0f (--machines, with their price as --hardware)",
        input->queries_per_month, 100 * tco->busy_share, machines, machines > 1 ? "s" : "",
        ceil(tco->busy_share * machines));
}

static void put(struct json *object, const char *name, double value)
{
    json_put(object, name, json_new_double(value)); /* infinity becomes null */
}

/* What would be saved at other shares and volumes. */
static const double shares[] = {0.5, 0.6, 0.7, 0.8, 0.9, 1},
                    volume_factors[] = {0.1, 0.5, 1, 2, 10};
enum {
    SHARE_COUNT = sizeof shares / sizeof *shares,
    VOLUME_COUNT = sizeof volume_factors / sizeof *volume_factors
};

struct variant {
    struct tco_input input;
    struct tco tco;
};

static void compute_variants(const struct tco_input *input,
                             struct variant out[static SHARE_COUNT][VOLUME_COUNT])
{
    for (size_t s = 0; s < SHARE_COUNT; s++)
        for (size_t v = 0; v < VOLUME_COUNT; v++) {
            struct variant *variant = &out[s][v];
            variant->input = *input;
            variant->input.share_local = shares[s];
            variant->input.queries_per_month *= volume_factors[v];
            tco_compute(&variant->input, &variant->tco);
        }
}

static struct json *sensitivity_json(const struct tco_input *input)
{
    struct variant variants[SHARE_COUNT][VOLUME_COUNT];
    struct json *list = json_new_array();
    compute_variants(input, variants);
    for (size_t i = 0; i < SHARE_COUNT * VOLUME_COUNT; i++) {
        const struct variant *variant = &variants[i / VOLUME_COUNT][i % VOLUME_COUNT];
        struct json *row = json_new_object();
        put(row, "share_local", variant->input.share_local);
        put(row, "queries_per_month", variant->input.queries_per_month);
        bool can = variant->tco.busy_share <= 1;
        put(row, "saving_usd_per_month",
            can ? variant->tco.saving_usd_per_month : (double)INFINITY);
        put(row, "payback_months", can ? variant->tco.payback_months : (double)INFINITY);
        json_push(list, row);
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
    struct variant variants[SHARE_COUNT][VOLUME_COUNT];
    compute_variants(input, variants);
    printf("\nsaving in USD a month, by share that stays local and queries a month:\n%12s", "");
    for (size_t v = 0; v < VOLUME_COUNT; v++)
        printf(" %12.0f", variants[0][v].input.queries_per_month);
    printf("\n");
    for (size_t s = 0; s < SHARE_COUNT; s++) {
        printf("%11.0f%%", 100 * shares[s]);
        for (size_t v = 0; v < VOLUME_COUNT; v++)
            if (variants[s][v].tco.busy_share > 1)
                printf(" %12s", "too much");
            else
                printf(" %12.2f", variants[s][v].tco.saving_usd_per_month);
        printf("\n");
    }
}

static void print_breaches(const struct tco_input *input, const struct tco *tco)
{
    double all = tco->breach_usd * input->queries_per_month;
    if (input->breach_usd <= 0)
        return;
    printf("breaches: %.6f USD expected for every query that leaves (%.10g USD x %.6g per "
           "million); a month: %.2f USD all-cloud, %.2f USD hybrid\n",
           tco->breach_usd, input->breach_usd, input->breach_per_million, all,
           (1 - input->share_local) * all);
    if (isinf(tco->breakeven_per_million))
        printf("at this volume local saves no money, however often there are breaches\n");
    else if (tco->breakeven_per_million <= 0)
        printf("at this volume local saves money even without breaches\n");
    else
        printf("at this volume local saves money above %.6g breaches per million queries that "
               "leave; at %.6g %s is cheaper\n",
               tco->breakeven_per_million, input->breach_per_million,
               tco->pays ? "local" : "the cloud");
}

static bool print_text(const struct tco_input *input, const struct tco *tco, struct json *omitted)
{
    printf("a query: %.6f USD in the cloud, %.6f USD of energy on the device (%.1f J); saving %.6f "
           "USD (%.1f %%)\n",
           tco->cloud_usd, tco->local_usd, tco->energy_j, tco->saving_usd, 100 * tco->saving_share);
    print_breaches(input, tco);
    printf("fixed costs a month: %.2f USD (hardware and development %.2f, idle power %.2f)\n",
           tco->fixed_usd_per_month, tco->hardware_usd_per_month, tco->idle_usd_per_month);
    if (!tco->routing_can_pay)
        printf(
            "local saves no money at any volume: its answers save less than its attempts cost\n");
    else
        printf("crossover: local saves money from %.0f queries a month on\n",
               tco->crossover_queries_per_month);
    printf(
        "at %.0f queries a month: all-cloud %.2f USD, hybrid %.2f USD, saving %.2f USD a month\n",
        input->queries_per_month, tco->all_cloud_usd_per_month, tco->hybrid_usd_per_month,
        tco->saving_usd_per_month);
    if (isinf(tco->payback_months))
        printf("hardware and development never pay for themselves\n");
    else
        printf("hardware and development pay for themselves in %.1f months\n", tco->payback_months);
    if (input->prefill_per_s > 0 && input->decode_per_s > 0)
        printf("utilisation %.1f %%; ", 100 * tco->busy_share);
    else
        printf("utilisation not known without --prefill and --decode; ");
    printf("local tokens cost %.4f USD/Mtok\n", tco->usd_per_mtok);
    for (size_t i = 0; i < json_count(omitted); i++)
        printf("not counted: %s\n", json_cstr(json_at(omitted, i)));
    print_sensitivity(input);
    json_free(omitted);
    return fflush(stdout) == 0;
}

static int run(struct tco_input *input, struct amount *amounts, const char *pattern, bool json)
{
    struct td_error err = {0};
    struct tco tco;
    bool split = strcmp(pattern, "split") == 0;
    input->pattern = split ? TCO_SPLIT : TCO_EDGE_FIRST;
    if (!split && strcmp(pattern, "edge-first") != 0)
        return options_misuse("tco", "--pattern is edge-first or split, not '%.40s'", pattern);
    enum td_status status = read_amounts(amounts, &err);
    if (status == TD_OK)
        status = check_breach(input, &err);
    if (status != TD_OK) {
        command_fail("tco", &err);
        return 2;
    }
    tco_compute(input, &tco);
    if (check_load(input, &tco, &err) != TD_OK) {
        command_fail("tco", &err);
        return 3;
    }
    struct json *omitted = omitted_json(amounts, tco.breach_usd <= 0);
    bool printed = json ? print_json(input, &tco, omitted) : print_text(input, &tco, omitted);
    return printed ? 0 : 1;
}

#define OPTIONS_MAX 32

static int cmd_tco(int argc, char **argv)
{
    struct tco_input input = {.machines = 1,
                              .prompt_tokens = 500,
                              .answer_tokens = 200,
                              .share_local = 0.8,
                              .lifetime_s = 36 * TCO_MONTH_S};
    const char *pattern = "edge-first";
    bool json = false;
    struct amount amounts[] = {
        {"price-in", QUANTITY_MONEY_PER_TOKEN, &input.in_usd_per_token, "PRICE",
         "what the cloud charges for prompt tokens", .needed = true},
        {"price-out", QUANTITY_MONEY_PER_TOKEN, &input.out_usd_per_token, "PRICE",
         "what the cloud charges for answer tokens", .needed = true},
        {"volume", QUANTITY_QUERIES_PER_MONTH, &input.queries_per_month, "RATE",
         "how many queries there are", .needed = true},
        {"hardware", QUANTITY_MONEY, &input.hardware_usd, "MONEY", "price of all machines",
         .needed = true},
        {"development", QUANTITY_MONEY, &input.development_usd, "MONEY",
         "cost of development, once", .missing = "development"},
        {"operations", QUANTITY_MONEY_PER_MONTH, &input.operations_usd_per_month, "RATE",
         "cost of operations", .missing = "operations"},
        {"lifetime", QUANTITY_TIME, &input.lifetime_s, "TIME",
         "how long the hardware is used (default)", .missing = NULL},
        {"power", QUANTITY_POWER, &input.busy_watt, "POWER", "power while it answers",
         .missing = "energy of answers"},
        {"idle-power", QUANTITY_POWER, &input.idle_watt, "POWER", "power while it waits",
         .missing = "energy of waiting"},
        {"tariff", QUANTITY_MONEY_PER_ENERGY, &input.energy_usd_per_joule, "PRICE",
         "price of energy", .missing = "price of energy"},
        {"prefill", QUANTITY_TOKENS_PER_SECOND, &input.prefill_per_s, "RATE",
         "speed of reading a prompt", .missing = "time to read prompts"},
        {"decode", QUANTITY_TOKENS_PER_SECOND, &input.decode_per_s, "RATE",
         "speed of writing an answer", .missing = "time to write answers"},
        {"bandwidth", QUANTITY_MONEY_PER_BYTE, &input.bandwidth_usd_per_byte, "PRICE",
         "price of network traffic", .missing = "bandwidth"},
        {.name = NULL},
    };
    const struct option numbers[] = {
        {"machines", 0, OPTION_NUMBER, &input.machines, "N",
         HELP_TEXT("machines that share the local queries; default 1"), 1, 1e9},
        {"query-bytes", 0, OPTION_NUMBER, &input.query_bytes, "N",
         HELP_TEXT("bytes of a query to the cloud and back"), 0, 1e12},
        {"prompt-tokens", 0, OPTION_NUMBER, &input.prompt_tokens, "N",
         HELP_TEXT("prompt tokens of a query; default 500"), 0, 1e9},
        {"answer-tokens", 0, OPTION_NUMBER, &input.answer_tokens, "N",
         HELP_TEXT("answer tokens of a query; default 200"), 0, 1e9},
        {"share-local", 0, OPTION_NUMBER, &input.share_local, "S",
         HELP_TEXT("share of the queries that stays local; default 0.8"), 0, 1},
        {"pattern", 0, OPTION_TEXT, &pattern, "PATTERN",
         HELP_TEXT(
             "edge-first (default): the device tries every query; split: a router decides before"),
         0, 0},
        {"breach-usd", 0, OPTION_NUMBER, &input.breach_usd, "X",
         HELP_TEXT("cost of one data breach in USD"), 0, 1e15},
        {"breach-per-million", 0, OPTION_NUMBER, &input.breach_per_million, "P",
         HELP_TEXT("breaches expected in a million queries that leave, as 0.001"), 0, 1e6},
        OPTION_ROW_JSON(json),
    };
    struct option options[OPTIONS_MAX];
    size_t count = amounts_to_options(amounts, options);
    memcpy(options + count, numbers, sizeof numbers);
    count += sizeof numbers / sizeof *numbers;
    const struct option_spec spec = {
        .verb = "tco",
        .summary = HELP_TEXT(
            "Estimates when local inference saves money: from how many queries a month a "
            "local tier is cheaper than a cloud, after hardware, development, operations, "
            "energy and idle time. Amounts need a unit, as in \"0.15 USD/Mtok\" or \"1.65 "
            "ct/query\".\n"
            "A data breach can be counted too. If a breach costs X and is expected P times "
            "in a million queries that leave, each of these queries costs X P / 1e6 more. "
            "At Q queries a month, local then saves money if P is above 1e6 ((F / Q + d v) "
            "/ s - c) / X, with F the fixed costs a month, v the energy cost of a local "
            "query, c the price of a cloud query, s the share that stays local, and d the "
            "share that is tried locally (1 for edge-first, s for split)."),
        .example =
            HELP_TEXT("  tandem tco --price-in \"0.15 USD/Mtok\" --price-out \"0.60 USD/Mtok\" \\\n"
                      "    --volume \"200000 queries/month\" --hardware \"2400 USD\""),
        .json = HELP_TEXT("{crossover_queries_per_month, payback_months, pays, ...}"),
        .options = options,
        .option_count = count,
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, NULL, NULL);
    return run(&input, amounts, pattern, json);
}

const struct verb verb_tco = {"tco", cmd_tco,
                              HELP_TEXT("estimate when local inference saves money")};
