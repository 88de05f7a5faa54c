/* tandem policy pareto: which pattern of gates, with which threshold, is worth its cost
 * (router/learn/pareto.h). */
#define HELP_OF 13
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/verb.h"
#include "app/config/packed_help.h"
#include "app/evidence/front_svg.h"
#include "base/bytes/file.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "router/learn/bootstrap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SVG_BYTES_MAX (1u << 20)

struct found {
    struct outcomes outcomes;
    struct pareto pareto;
    struct bootstrap_interval quality[PARETO_PLANS_MAX]; /* of the best */
};

static struct json *plan_json(const struct pareto_plan *plan,
                              const struct bootstrap_interval *quality)
{
    struct json *object = json_new_object();
    json_put(object, "plan", json_new_cstr(pareto_pattern_name(plan->pattern)));
    json_put(object, "g0", json_new_double(plan->g0));
    json_put(object, "g1", json_new_double(plan->g1));
    json_put(object, "g3", json_new_double(plan->g3));
    json_put(object, "share_local", json_new_double(plan->share_local));
    json_put(object, "cost_usd", json_new_double(plan->cost_usd));
    json_put(object, "right", json_new_double(plan->right));
    if (plan->best) {
        json_put(object, "right_low", json_new_double(quality->low));
        json_put(object, "right_high", json_new_double(quality->high));
    }
    json_put(object, "ms", json_new_double(plan->ms));
    json_put(object, "ms_p95", json_new_double(plan->ms_p95));
    json_put(object, "best", json_new_bool(plan->best));
    return object;
}

static bool print_json(const struct found *found, const char *svg)
{
    struct json *object = json_new_object(), *list = json_new_array();
    for (size_t i = 0; i < found->pareto.count; i++)
        json_push(list, plan_json(&found->pareto.plans[i], &found->quality[i]));
    json_put(object, "questions", json_new_int((int64_t)found->outcomes.count));
    json_put(object, "plans", list);
    json_put(object, "svg", json_new_cstr(svg));
    return command_print_json(object);
}

static void print_threshold(double threshold)
{
    if (isnan(threshold))
        printf(" %7s", "-");
    else
        printf(" %7.4f", threshold);
}

/* The best plans by cost. */
static bool print_text(const struct found *found, bool all, const char *svg)
{
    const struct pareto *pareto = &found->pareto;
    bool shown[PARETO_PLANS_MAX] = {false};
    printf("%zu questions, %zu plans%s\n\n%-6s %7s %7s %7s %7s %12s %7s %17s %8s %8s\n",
           found->outcomes.count, pareto->count, all ? "" : "; those that no other beats", "plan",
           "g0", "g1", "g3", "local", "USD each", "right", "95 % interval", "ms", "ms p95");
    for (;;) {
        size_t next = SIZE_MAX;
        for (size_t i = 0; i < pareto->count; i++)
            if (!shown[i] && (all || pareto->plans[i].best) &&
                (next == SIZE_MAX || pareto->plans[i].cost_usd < pareto->plans[next].cost_usd))
                next = i;
        if (next == SIZE_MAX)
            break;
        const struct pareto_plan *plan = &pareto->plans[next];
        shown[next] = true;
        printf("%-6s", pareto_pattern_name(plan->pattern));
        print_threshold(plan->g0);
        print_threshold(plan->g1);
        print_threshold(plan->g3);
        printf(" %6.1f%% %12.8f %7.4f ", 100 * plan->share_local, plan->cost_usd, plan->right);
        if (plan->best)
            printf(" [%.4f, %.4f]", found->quality[next].low, found->quality[next].high);
        else
            printf(" %16s", "");
        printf(" %8.1f %8.1f\n", plan->ms, plan->ms_p95);
    }
    if (svg)
        printf("\n%s\n", svg);
    return fflush(stdout) == 0;
}

static enum td_status find_intervals(struct found *found, struct td_error *err)
{
    double *right = calloc(found->outcomes.count + 1, sizeof *right);
    enum td_status status =
        right ? TD_OK : error_set(err, TD_NO_MEMORY, "no memory for the intervals");
    for (size_t i = 0; i < found->pareto.count && status == TD_OK; i++) {
        if (!found->pareto.plans[i].best)
            continue;
        pareto_quality(&found->outcomes, &found->pareto.plans[i], right);
        status = bootstrap_means(right, found->outcomes.count, 1, 0.95, 1, &found->quality[i], err);
    }
    free(right);
    return status;
}

static enum td_status find(const char *file, const char *svg, struct found *out,
                           struct td_error *err)
{
    struct buf text = {0}, picture = {0};
    enum td_status status = command_read_all(file, &text, err);
    if (status == TD_OK) {
        status = outcomes_read(buf_view(&text), &out->outcomes, err);
        error_prefix(err, "%s", file);
    }
    if (status == TD_OK)
        status = pareto_find(&out->outcomes, &out->pareto, err);
    if (status == TD_OK)
        status = find_intervals(out, err);
    if (status == TD_OK && svg) {
        buf_init(&picture, SVG_BYTES_MAX);
        front_svg_write(&out->pareto, &picture);
        status = picture.failed ? error_set(err, TD_NO_MEMORY, "no memory for %s", svg)
                                : file_replace(svg, buf_view(&picture), 0666, err);
    }
    buf_deinit(&text);
    buf_deinit(&picture);
    return status;
}

static int cmd_policy_pareto(int argc, char **argv)
{
    const char *file = NULL, *svg = NULL;
    bool json = false, all = false;
    const struct option options[] = {
        {"output", 'o', OPTION_TEXT, &svg, "FILE.svg",
         HELP_TEXT("also draw all plans into this file"), 0, 0},
        {"all", 0, OPTION_FLAG, &all, NULL, HELP_TEXT("also print plans that another plan beats"),
         0, 0},
        OPTION_ROW_JSON(json),
    };
    const struct option_spec spec = {
        .verb = "policy pareto",
        .arguments = "OUTCOMES.jsonl",
        .summary =
            HELP_TEXT("Tries each pattern of gates (one tier; g0; g1; g3; g0 with g3) with many "
                      "thresholds on a table of outcomes. It prints the plans that no other plan "
                      "beats in cost, quality and time.\n"
                      "A line of the table: {\"p_local\", \"probe\", \"local\": {\"right\", "
                      "\"cost_usd\", \"ms\", \"confidence\"}, \"cloud\": {\"right\", \"cost_usd\", "
                      "\"ms\"}}."),
        .json = HELP_TEXT("{questions, plans, svg}"),
        OPTION_TABLE(options),
        .positional_max = 1,
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, &file, NULL);
    if (!file)
        return options_misuse("policy pareto", "name a table of outcomes");
    struct td_error err = {0};
    struct found *found = calloc(1, sizeof *found);
    enum td_status status =
        found ? find(file, svg, found, &err) : error_set(&err, TD_NO_MEMORY, "no memory");
    bool printed = status == TD_OK && (json ? print_json(found, svg) : print_text(found, all, svg));
    if (found)
        outcomes_deinit(&found->outcomes);
    free(found);
    return status == TD_OK ? !printed : command_fail("policy pareto", &err);
}

const struct verb verb_policy_pareto = {"pareto", cmd_policy_pareto,
                                        HELP_TEXT("find the thresholds that are worth their cost")};
