/* tandem report: sums over the ledger, printed as tables. The sums are the ledger's
 * (ledger/record/ledger.h). */
#define HELP_OF 32
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/since_option.h"
#include "app/cli/verb.h"
#include "app/config/config.h"
#include "app/config/packed_help.h"
#include "app/setup/files/key_file.h"
#include "app/terminal/terminal.h"
#include "app/verbs/inspect/report_groups.h"
#include "app/verbs/inspect/report_money.h"
#include "base/json/json.h"
#include "ledger/record/ledger.h"
#include "ledger/store/key_store.h"

#include <stdio.h>
#include <string.h>

static double member(const struct json *object, const char *name)
{
    return json_number(json_get(object, name), 0);
}

static void print_percentiles(const struct json *of)
{
    static const char *const names[] = {"p50", "p95", "p99"};
    for (size_t i = 0; i < 3; i++) {
        const struct json *value = json_get(of, names[i]);
        if (json_kind_of(value) == JSON_KIND_NULL || !value)
            printf(" %8s", "-");
        else
            printf(" %8.1f", json_number(value, 0));
    }
}

static void print_consistency(const struct json *of)
{
    double similar = member(of, "similar"), turns = member(of, "turns");
    if (similar > 0)
        printf("\n%.0f questions were similar to an earlier one of the same user; %.0f of them "
               "started on another tier (flip rate %.1f%%)\n",
               similar, member(of, "flipped"), 100 * member(of, "flip_rate"));
    const struct json *days = json_get(of, "days");
    for (size_t i = 0; similar > 0 && i < json_count(days); i++) {
        const struct json *day = json_at(days, i);
        printf("  %s: %.0f of %.0f\n", json_cstr(json_get(day, "day")), member(day, "flipped"),
               member(day, "similar"));
    }
    if (turns > 0)
        printf("\n%.0f requests continued a conversation; %.0f of them moved to another tier\n",
               turns, member(of, "turns_moved"));
    if (similar + turns > 0)
        printf("staying on a tier (%.0f times) cost %.3f right answers and %.6f USD\n",
               member(of, "kept"), member(of, "given_up"), member(of, "usd"));
}

static void print_same(const struct json *of)
{
    printf("%.0f of %.0f the same (%.1f%%, 95%% interval %.1f..%.1f%%)", member(of, "same"),
           member(of, "compared"), 100 * member(of, "same_share"), 100 * member(of, "same_low"),
           100 * member(of, "same_high"));
}

static void print_shadows(const struct json *list)
{
    for (size_t i = 0; i < json_count(list); i++) {
        const struct json *of = json_at(list, i), *examples = json_get(of, "examples");
        const struct json *tasks = json_get(of, "tasks");
        const char *tier = json_cstr(json_get(of, "tier"));
        printf("\nshadow answers of %s beside %s: ", json_cstr(json_get(of, "shadow")),
               tier ? tier : "-");
        print_same(of);
        printf(", mean agreement %.3f, %.0f failed, %.6f USD\n", member(of, "agreement"),
               member(of, "failed"), member(of, "cost_usd"));
        for (size_t j = 0; j < json_count(tasks); j++) {
            const char *name = json_cstr(json_get(json_at(tasks, j), "task"));
            printf("  %-16s ", name && *name ? name : "(not judged)");
            print_same(json_at(tasks, j));
            printf("\n");
        }
        for (size_t j = 0; j < json_count(examples); j++)
            printf("  a different answer: %s\n", json_cstr(json_at(examples, j)));
    }
}

/* What people did after answers: seen, not said. */
static void print_reactions(const struct json *list)
{
    for (size_t i = 0; i < json_count(list); i++) {
        const struct json *of = json_at(list, i);
        const char *tier = json_cstr(json_get(of, "tier"));
        printf("%safter answers of %s: went on %.0f, asked again %.0f, changed the question %.0f, "
               "left %.0f\n",
               i ? "" : "\n", tier ? tier : "(none)", member(of, "continued"),
               member(of, "regenerated"), member(of, "edited"), member(of, "abandoned"));
    }
}

/* Beside the ids of keys, which `member` has in a list of the report, their names; a store that is
 * away has none. */
static void name_keys(const struct config *config, struct json *report, const char *name,
                      const char *member)
{
    const struct json *list = json_get(report, name);
    struct json *named = json_new_array();
    struct key_store *store = NULL;
    struct stored_key key;
    bool open = key_file_open(config, false, &store, NULL) == TD_OK;
    for (size_t i = 0; i < json_count(list); i++) {
        struct json *row = json_clone(json_at(list, i));
        const char *id = json_cstr(json_get(row, member));
        if (open && id && key_store_find(store, id, &key, NULL) == TD_OK)
            json_put(row, "key_name", json_new_cstr(key.name));
        json_push(named, row);
    }
    if (list)
        json_put(report, name, named);
    else
        json_free(named);
    key_store_close(store);
}

static void print_keys(const struct json *list, const char *fold)
{
    if (json_count(list) > 0)
        printf("\nAPI keys:\n%-16s %-20s%s %9s %12s %11s\n", "id", "name", fold, "exchanges",
               "tokens", "cost USD");
    for (size_t i = 0; i < json_count(list); i++) {
        const struct json *key = json_at(list, i);
        const char *name = json_cstr(json_get(key, "key_name"));
        printf("%-16s %-20s%s %9.0f %12.0f %11.6f\n", json_cstr(json_get(key, "key_id")),
               name ? name : "-", fold, member(key, "exchanges"), member(key, "tokens"),
               member(key, "cost_usd"));
    }
}

/* Two tables, because one is wider than a terminal. */
static void print_tiers(const struct json *tiers, const char *fold)
{
    printf("%-14s %9s %-21s%s %10s %10s %11s\n", "tier", "exchanges", " share, 95% interval", fold,
           "prompt tok", "answer tok", "cost USD");
    for (size_t i = 0; i < json_count(tiers); i++) {
        const struct json *tier = json_at(tiers, i);
        const char *name = json_cstr(json_get(tier, "tier"));
        printf("%-14s %9.0f %5.1f%% %5.1f..%5.1f%%%s %10.0f %10.0f %11.6f\n",
               name ? name : "(none)", member(tier, "exchanges"), 100 * member(tier, "share"),
               100 * member(tier, "share_low"), 100 * member(tier, "share_high"), fold,
               member(tier, "prompt_tokens"), member(tier, "completion_tokens"),
               member(tier, "cost_usd"));
    }
}

static void print_times(const struct json *tiers, const char *fold)
{
    if (json_count(tiers) > 0)
        printf("\n%-14s %27s%s   %27s\n", "", "first text ms p50  p95  p99", fold,
               "whole answer ms p50 p95 p99");
    for (size_t i = 0; i < json_count(tiers); i++) {
        const struct json *tier = json_at(tiers, i);
        const char *name = json_cstr(json_get(tier, "tier"));
        printf("%-14s", name ? name : "(none)");
        print_percentiles(json_get(tier, "ttft_ms"));
        printf("%s   ", fold);
        print_percentiles(json_get(tier, "total_ms"));
        printf("\n");
    }
}

static void print_report(const struct json *report, const char *since)
{
    printf("Exchanges of the last %s: %.0f (%.0f escalated, %.0f degraded, %.0f failed)\n\n", since,
           member(report, "exchanges"), member(report, "escalations"), member(report, "degraded"),
           member(report, "failures"));
    const struct json *tiers = json_get(report, "tiers");
    const char *fold = terminal_fold();
    print_tiers(tiers, fold);
    print_times(tiers, fold);
    if (member(report, "feedback") > 0) {
        printf("\nfeedback on %.0f answers, mean score %.3f:", member(report, "feedback"),
               member(report, "score"));
        for (size_t i = 0; i < json_count(tiers); i++) {
            const struct json *tier = json_at(tiers, i);
            if (member(tier, "feedback") > 0)
                printf(" %s %.3f (%.0f)", json_cstr(json_get(tier, "tier")), member(tier, "score"),
                       member(tier, "feedback"));
        }
        printf("\n");
    }
    print_keys(json_get(report, "keys"), fold);
    print_reactions(json_get(report, "reactions"));
    report_money_print(report);
    print_consistency(json_get(report, "consistency"));
    print_shadows(json_get(report, "shadows"));
}

/* --by: as a number. */
static bool take_by(void *ctx, const char *text)
{
    int *by = ctx;
    for (*by = 0; ledger_by_names[*by]; ++*by)
        if (strcmp(ledger_by_names[*by], text) == 0)
            return true;
    return false;
}

static int cmd_report(int argc, char **argv)
{
    int by = LEDGER_BY_COUNT;
    struct option_each by_each = {take_by, &by, "app, user, route, model, tier, class, day or key"};
    bool csv = false;
    const char *config_path = NULL, *key_id = NULL;
    struct since_option since;
    bool json = false;
    enum td_cpu cpu = TD_CPU_AUTO;
    since_option_init(&since, "24h");
    const struct option options[] = {
        OPTION_ROW_CONFIG(config_path),
        OPTION_ROW_SINCE(since, "24h"),
        {"by", 0, OPTION_EACH, &by_each, "WHAT",
         HELP_TEXT("a line for each app, user, route, model, tier, class, day or key"), 0, 0},
        {"key", 0, OPTION_TEXT, &key_id, "ID", HELP_TEXT("of --by: what this key asked alone"), 0,
         0},
        {"csv", 0, OPTION_FLAG, &csv, NULL, HELP_TEXT("print these lines as CSV"), 0, 0},
        OPTION_ROW_CPU(cpu),
        OPTION_ROW_JSON(json),
    };
    const struct option_spec spec = {
        .verb = "report",
        .summary = HELP_TEXT(
            "Summarises the ledger: exchanges by tier, their cost, what was saved against "
            "sending everything to the cloud, and latency."),
        OPTION_TABLE(options),
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, NULL, NULL);
    if ((csv || key_id) && by == LEDGER_BY_COUNT)
        return options_misuse("report", csv ? "--csv needs --by" : "--key needs --by");
    const struct ledger_scope scope = {.since_wall_ms = since.wall_ms, .key_id = key_id};
    struct td_error err = {0};
    struct config *config = NULL;
    struct ledger_reader *reader = NULL;
    struct json *report = NULL;
    enum td_status status = config_load(config_path, &config, &err);
    if (status == TD_OK)
        status = command_open_ledger(config, &reader, &err);
    if (status == TD_OK)
        status = by == LEDGER_BY_COUNT
                     ? ledger_reader_report(reader, since.wall_ms, &report, &err)
                     : ledger_reader_groups(reader, &scope, (enum ledger_by)by, &report, &err);
    if (status == TD_OK && (by == LEDGER_BY_COUNT || by == LEDGER_BY_KEY))
        name_keys(config, report, by == LEDGER_BY_KEY ? "groups" : "keys",
                  by == LEDGER_BY_KEY ? "name" : "key_id");
    if (status == TD_OK && by == LEDGER_BY_COUNT)
        report_money_add_prices(report, config);
    bool printed = true;
    if (status == TD_OK && json)
        printed = command_print_json(report);
    else if (status == TD_OK && csv)
        report_groups_print_csv(report);
    else if (status == TD_OK) {
        command_harmless_begin();
        (by != LEDGER_BY_COUNT ? report_groups_print : print_report)(report, since.text);
        printed = command_harmless_end(by == LEDGER_BY_COUNT);
    }
    if (!json)
        json_free(report);
    ledger_reader_close(reader);
    config_free(config);
    return status == TD_OK ? !printed : command_fail("report", &err);
}

const struct verb verb_report = {"report", cmd_report,
                                 HELP_TEXT("summarise requests, costs, savings and latency")};
