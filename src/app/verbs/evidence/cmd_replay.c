/* tandem replay: the ledger's exchanges under another policy (api/evidence/replay.h). */
#define HELP_OF 16
#include "api/evidence/replay.h"
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/since_option.h"
#include "app/cli/verb.h"
#include "app/config/config.h"
#include "app/config/packed_help.h"
#include "app/evidence/policy_opened.h"
#include "base/core/error.h"
#include "base/json/json.h"
#include "base/time/clock.h"
#include "router/learn/bootstrap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum column { COST, MS, LOCAL, RIGHT, COLUMN_COUNT };
_Static_assert((int)COLUMN_COUNT == (int)REWARD_COUNT, "a reward has a column");

struct call {
    const char *policy, *config, *outcomes;
    struct since_option since;
    bool json;
};

/* The other policy, and what is found. */
struct work {
    struct config *config;
    struct policy_opened other;
    struct tier_facts facts[CONFIG_TIERS_MAX];
    struct outcomes outcomes;
    struct replay replay;
    struct bootstrap_interval before[COLUMN_COUNT], after[COLUMN_COUNT], change[COLUMN_COUNT];
    size_t changed, refused;
    struct off_policy starts;
    double seconds;
};

static enum td_status open_other(const struct call *call, struct work *work, struct td_error *err)
{
    enum td_status status = policy_opened_read(call->policy, &work->other, err);
    if (status != TD_OK)
        return status;
    for (size_t i = 0; i < work->other.config->tier_count; i++)
        work->facts[i] = policy_tier_facts(work->other.config, &work->other.config->tiers[i]);
    return TD_OK;
}

static enum td_status read_outcomes(const struct call *call, struct work *work,
                                    struct td_error *err)
{
    struct buf text = {0};
    if (!call->outcomes)
        return TD_OK;
    enum td_status status = command_read_all(call->outcomes, &text, err);
    if (status == TD_OK) {
        status = outcomes_read(buf_view(&text), &work->outcomes, err);
        error_prefix(err, "%s", call->outcomes);
    }
    buf_deinit(&text);
    if (status == TD_OK) {
        replay_sort_outcomes(&work->outcomes);
        work->replay.outcomes = &work->outcomes;
    }
    return status;
}

static enum td_status run_replay(const struct call *call, struct work *work, struct td_error *err)
{
    struct ledger_reader *reader = NULL;
    double begin_ms = clock_monotonic_ms(NULL);
    work->replay.policy = &work->other.parts->policy;
    work->replay.facts = work->facts;
    work->replay.tier_count = work->other.config->tier_count;
    enum td_status status = command_open_ledger(work->config, &reader, err);
    if (status == TD_OK)
        status =
            ledger_reader_history(reader, call->since.wall_ms, replay_learn, &work->replay, err);
    if (status == TD_OK) {
        replay_prepare(&work->replay);
        status = ledger_reader_history(reader, call->since.wall_ms, replay_add, &work->replay, err);
    }
    ledger_reader_close(reader);
    work->seconds = (clock_monotonic_ms(NULL) - begin_ms) / 1000;
    if (status == TD_OK && work->replay.count == 0)
        status =
            error_set(err, TD_NOT_FOUND,
                      "the ledger has no answered exchange in this time; choose a longer --since");
    return status;
}

/* Means before and after, and of the paired differences. */
static enum td_status find_intervals(struct work *work, struct td_error *err)
{
    size_t count = work->replay.count;
    double *numbers = calloc(count, 3 * COLUMN_COUNT * sizeof *numbers);
    if (!numbers)
        return error_set(err, TD_NO_MEMORY, "no memory for the intervals");
    double *before = numbers, *after = before + count * COLUMN_COUNT,
           *change = after + count * COLUMN_COUNT;
    for (size_t i = 0; i < count; i++) {
        const struct replay_row *row = &work->replay.rows[i];
        const double b[COLUMN_COUNT] = {row->cost_before, row->ms_before, row->local_before,
                                        row->right_before};
        const double a[COLUMN_COUNT] = {row->cost_after, row->ms_after, row->local_after,
                                        row->right_after};
        bool known = isfinite(row->right_before) && isfinite(row->right_after);
        for (size_t c = 0; c < COLUMN_COUNT; c++) {
            bool use = c != RIGHT || known;
            before[i * COLUMN_COUNT + c] = use ? b[c] : (double)NAN;
            after[i * COLUMN_COUNT + c] = use ? a[c] : (double)NAN;
            change[i * COLUMN_COUNT + c] = use ? a[c] - b[c] : (double)NAN;
        }
        work->changed += row->start_changed;
        work->refused += row->refused;
    }
    enum td_status status =
        bootstrap_means(before, count, COLUMN_COUNT, 0.95, 1, work->before, err);
    if (status == TD_OK)
        status = bootstrap_means(after, count, COLUMN_COUNT, 0.95, 1, work->after, err);
    if (status == TD_OK)
        status = bootstrap_means(change, count, COLUMN_COUNT, 0.95, 1, work->change, err);
    free(numbers);
    return status;
}

static const char *const column_names[COLUMN_COUNT] = {"cost_usd", "ms", "share_local", "right"};

static struct json *interval_json(const struct bootstrap_interval *interval)
{
    struct json *object = json_new_object();
    json_put(object, "mean", json_new_double(interval->mean));
    json_put(object, "low", json_new_double(interval->low));
    json_put(object, "high", json_new_double(interval->high));
    return object;
}

/* Columns of which too little is known are null. */
static struct json *starts_json(const struct off_policy *starts)
{
    struct json *object = json_new_object();
    json_put(object, "exchanges", json_new_int((int64_t)starts->exchanges));
    json_put(object, "supported", json_new_int((int64_t)starts->supported));
    json_put(object, "drawn", json_new_int((int64_t)starts->drawn));
    json_put(object, "moved", json_new_int((int64_t)starts->moved));
    json_put(object, "effective", json_new_double(starts->effective));
    for (size_t c = 0; c < REWARD_COUNT; c++) {
        const struct off_policy_column *column = &starts->columns[c];
        struct json *row = json_new_object();
        json_put(row, "known", json_new_int((int64_t)column->known));
        json_put(row, "matched", json_new_int((int64_t)column->matched));
        json_put(row, "ran", column->enough ? interval_json(&column->ran) : json_new_null());
        json_put(row, "ips", column->enough ? interval_json(&column->ips) : json_new_null());
        json_put(row, "doubly_robust",
                 column->enough ? interval_json(&column->robust) : json_new_null());
        json_put(object, column_names[c], row);
    }
    return object;
}

static bool print_json(const struct work *work)
{
    struct json *object = json_new_object();
    json_put(object, "exchanges", json_new_int((int64_t)work->replay.count));
    json_put(object, "skipped", json_new_int((int64_t)work->replay.skipped));
    json_put(object, "policy_version", json_new_cstr(work->other.parts->policy.version));
    json_put(object, "start_changed", json_new_int((int64_t)work->changed));
    json_put(object, "refused", json_new_int((int64_t)work->refused));
    json_put(object, "seconds", json_new_double(work->seconds));
    json_put(object, "starts", starts_json(&work->starts));
    for (size_t c = 0; c < COLUMN_COUNT; c++) {
        struct json *column = json_new_object();
        json_put(column, "before", interval_json(&work->before[c]));
        json_put(column, "after", interval_json(&work->after[c]));
        json_put(column, "change", interval_json(&work->change[c]));
        json_put(object, column_names[c], column);
    }
    return command_print_json(object);
}

static const char *const titles[COLUMN_COUNT] = {"cost, USD each", "time, ms", "share local",
                                                 "share right"};

/* Why nothing can be said of a reward. */
static void print_lack(const struct off_policy *starts, const struct off_policy_column *column)
{
    if (column->known < OFF_POLICY_MATCHED_MIN)
        printf("too little: known of %zu exchanges, %d are needed\n", column->known,
               OFF_POLICY_MATCHED_MIN);
    else
        printf("too little: of %zu that start elsewhere under it, %zu were drawn to start there, "
               "%d are needed\n",
               starts->moved, column->matched, OFF_POLICY_MATCHED_MIN);
}

/* What starts that were drawn say of the other policy. */
static void print_starts(const struct off_policy *starts)
{
    if (starts->drawn == 0) {
        printf("\nno start was drawn (routes[].explore_share), so the figures above are a model's; "
               "draws would measure them\n");
        return;
    }
    printf("\nby %zu exchanges whose start was open to a draw; of %zu, %zu can be judged, as much "
           "as %.0f without weights\n%-16s %12s %12s %-27s %12s   95 %% interval\n",
           starts->drawn, starts->exchanges, starts->supported, starts->effective, "", "as it ran",
           "IPS", "  95 % interval", "doubly robust");
    for (size_t c = 0; c < REWARD_COUNT; c++) {
        const struct off_policy_column *column = &starts->columns[c];
        char interval[64];
        printf("%-16s ", titles[c]);
        if (!column->enough) {
            print_lack(starts, column);
            continue;
        }
        snprintf(interval, sizeof interval, "  [%.6g, %.6g]", column->ips.low, column->ips.high);
        printf("%12.6g %12.6g %-27s %13.6g   [%.6g, %.6g]\n", column->ran.mean, column->ips.mean,
               interval, column->robust.mean, column->robust.low, column->robust.high);
    }
}

static bool print_text(const struct work *work)
{
    printf("%zu exchanges under policy %s in %.2f s; %zu begin on another tier, %zu would be "
           "refused, %zu could not be replayed\n\n%-16s %12s %12s %12s   95 %% interval\n",
           work->replay.count, work->other.parts->policy.version, work->seconds, work->changed,
           work->refused, work->replay.skipped, "", "before", "after", "change");
    for (size_t c = 0; c < COLUMN_COUNT; c++) {
        if (isnan(work->change[c].mean)) {
            printf("%-16s not known: these exchanges have no outcomes, feedback or classifier\n",
                   titles[c]);
            continue;
        }
        printf("%-16s %12.6g %12.6g %+12.6g   [%+.6g, %+.6g]\n", titles[c], work->before[c].mean,
               work->after[c].mean, work->change[c].mean, work->change[c].low,
               work->change[c].high);
    }
    print_starts(&work->starts);
    return fflush(stdout) == 0;
}

static void work_free(struct work *work)
{
    replay_deinit(&work->replay);
    outcomes_deinit(&work->outcomes);
    policy_opened_free(&work->other);
    config_free(work->config);
    free(work);
}

static int run(const struct call *call)
{
    struct td_error err = {0};
    struct work *work = calloc(1, sizeof *work);
    if (!work) {
        error_set(&err, TD_NO_MEMORY, "no memory for a replay");
        return command_fail("replay", &err);
    }
    enum td_status status = config_load(call->config, &work->config, &err);
    if (status == TD_OK)
        status = open_other(call, work, &err);
    if (status == TD_OK)
        status = read_outcomes(call, work, &err);
    if (status == TD_OK)
        status = run_replay(call, work, &err);
    if (status == TD_OK)
        status = find_intervals(work, &err);
    if (status == TD_OK)
        status =
            off_policy_estimate(work->replay.starts, work->replay.start_count, &work->starts, &err);
    bool printed = status == TD_OK && (call->json ? print_json(work) : print_text(work));
    work_free(work);
    return status == TD_OK ? !printed : command_fail("replay", &err);
}

static int cmd_replay(int argc, char **argv)
{
    struct call call = {.json = false};
    since_option_init(&call.since, "24h");
    const struct option options[] = {
        {"policy", 'p', OPTION_TEXT, &call.policy, "FILE",
         HELP_TEXT("the other configuration; required"), 0, 0},
        OPTION_ROW_CONFIG(call.config),
        OPTION_ROW_SINCE(call.since, "24h"),
        {"outcomes", 0, OPTION_TEXT, &call.outcomes, "FILE.jsonl",
         HELP_TEXT("how right each tier is for these exchanges, by id"), 0, 0},
        OPTION_ROW_JSON(call.json),
    };
    const struct option_spec spec = {
        .verb = "replay",
        .summary = HELP_TEXT(
            "Decides the exchanges in the ledger again with another policy, and prints how "
            "cost, time, share of local answers and quality would change, with 95 % "
            "intervals of the paired differences. No model runs. Where starts were drawn "
            "(routes[].explore_share), it also estimates by inverse propensity scores and "
            "doubly robust what the other policy comes to."),
        .json = HELP_TEXT("{exchanges, start_changed, cost_usd, ms, share_local, right, starts}"),
        OPTION_TABLE(options),
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, NULL, NULL);
    if (!call.policy)
        return options_misuse("replay", "name the other configuration with --policy FILE");
    return run(&call);
}

const struct verb verb_replay = {"replay", cmd_replay,
                                 HELP_TEXT("show what another policy would have changed")};
