/* What was spent and saved, in sentences. Each figure stands beside what it rests on: prices,
 * counts of tokens, and how many exchanges were judged. */
#include "app/verbs/inspect/report_money.h"

#include "app/config/config.h"
#include "base/json/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double member(const struct json *object, const char *name)
{
    return json_number(json_get(object, name), 0);
}

static const char *text_of(const struct json *object, const char *name)
{
    const char *text = json_cstr(json_get(object, name));
    return text ? text : "none";
}

static bool is_known(const struct json *object, const char *name)
{
    const struct json *value = json_get(object, name);
    return value && json_kind_of(value) != JSON_KIND_NULL;
}

void report_money_add_prices(struct json *report, const struct config *config)
{
    struct json *list = json_new_array();
    const char *cloud = NULL;
    for (size_t i = 0; i < config->tier_count; i++) {
        const struct config_tier *tier = &config->tiers[i];
        struct json *object = json_new_object();
        double cached = tier->cached_input_usd_per_mtok;
        if (!cloud && tier->place == TD_PLACE_CLOUD)
            cloud = tier->name;
        json_put(object, "tier", json_new_cstr(tier->name));
        json_put(object, "input_usd_per_mtok", json_new_double(tier->input_usd_per_mtok));
        json_put(object, "cached_input_usd_per_mtok",
                 json_new_double(isnan(cached) ? tier->input_usd_per_mtok : cached));
        json_put(object, "output_usd_per_mtok", json_new_double(tier->output_usd_per_mtok));
        json_push(list, object);
    }
    json_put(report, "prices", list);
    json_put(report, "all_cloud_tier", json_new_cstr(cloud));
}

static void print_saving(const struct json *report)
{
    printf(
        "\ncost %.6f USD, with shadows %.6f USD; the cloud alone would have charged %.6f USD for "
        "the %.0f whole answers\n",
        member(report, "cost_usd"), member(report, "cost_usd") + member(report, "shadow_cost_usd"),
        member(report, "all_cloud_cost_usd"), member(report, "answered"));
    printf("saved %.6f USD", member(report, "saving_usd"));
    if (!(member(report, "all_cloud_cost_usd") > 0))
        printf(": there was nothing to save on");
    else
        printf(" (%.1f%%", 100 * member(report, "saving_share"));
    if (is_known(report, "saving_low"))
        printf(", 95%% interval %.1f..%.1f%%", 100 * member(report, "saving_low"),
               100 * member(report, "saving_high"));
    printf("%s\n", member(report, "all_cloud_cost_usd") > 0 ? ")" : "");
    if (member(report, "degraded") > 0)
        printf(
            "%.0f degraded answers stand apart: they cost %.6f USD, the cloud would have charged "
            "%.6f USD, and they save nothing\n",
            member(report, "degraded"), member(report, "degraded_cost_usd"),
            member(report, "degraded_all_cloud_cost_usd"));
    if (member(report, "unanswered") > 0)
        printf(
            "%.0f exchanges without an answer (failed, cancelled or empty) cost %.6f USD and save "
            "nothing\n",
            member(report, "unanswered"), member(report, "unanswered_cost_usd"));
}

static void print_cached(const struct json *report)
{
    if (member(report, "cache_lookups") > 0)
        printf("%.0f of %.0f answers that a cache was asked for came from the cache; without it "
               "they would have cost %.6f USD more\n",
               member(report, "cache_hits"), member(report, "cache_lookups"),
               member(report, "cache_saved_usd"));
}

static void print_accepted(const struct json *list)
{
    for (size_t i = 0; i < json_count(list); i++) {
        const struct json *of = json_at(list, i);
        printf("%s%s: %.0f of %.0f judged answers were accepted (%.1f..%.1f%% at 95%%; by feedback "
               "%.0f, review %.0f, shadow %.0f)",
               i ? "" : "\n", text_of(of, "tier"), member(of, "accepted"), member(of, "judged"),
               100 * member(of, "share_low"), 100 * member(of, "share_high"),
               member(of, "by_feedback"), member(of, "by_review"), member(of, "by_shadow"));
        if (is_known(of, "cost_per_accepted_usd"))
            printf("; an accepted one cost %.6f USD (%.6f..%.6f)",
                   member(of, "cost_per_accepted_usd"), member(of, "cost_per_accepted_low"),
                   member(of, "cost_per_accepted_high"));
        printf("\n");
    }
}

static void print_basis(const struct json *bases)
{
    static const struct {
        const char *name, *words;
    } table[] = {
        {"cloud", "counted by the cloud itself"},
        {"ratio", "estimated by the learnt ratio of tokens"},
        {"prior", "estimated at four bytes a token, before a ratio was learnt"},
        {"older", "recorded by an older version"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const struct json *of = json_get(bases, table[i].name);
        if (of)
            printf("  the cloud's price of %.0f answers (%.6f USD) is %s\n",
                   member(of, "exchanges"), member(of, "usd"), table[i].words);
    }
}

static void print_ratio(const char *what, const struct json *ratio)
{
    printf("%s %.3f", what, member(ratio, "ratio"));
    if (is_known(ratio, "low"))
        printf(" (%.3f..%.3f)", member(ratio, "low"), member(ratio, "high"));
}

/* The anchors: who wants to check a claim begins here. */
static void print_anchors(const struct json *report)
{
    printf("\nThis rests on:\n");
    const struct json *prices = json_get(report, "prices");
    for (size_t i = 0; i < json_count(prices); i++) {
        const struct json *of = json_at(prices, i);
        bool cloud = strcmp(text_of(of, "tier"), text_of(report, "all_cloud_tier")) == 0;
        printf("  %s: %g USD a million prompt tokens (%g cached), %g a million answer tokens%s\n",
               text_of(of, "tier"), member(of, "input_usd_per_mtok"),
               member(of, "cached_input_usd_per_mtok"), member(of, "output_usd_per_mtok"),
               cloud ? "; stands for the cloud alone" : "");
    }
    print_basis(json_get(report, "all_cloud_basis"));
    const struct json *counts = json_get(report, "token_counts");
    for (size_t i = 0; i < json_count(counts); i++) {
        const struct json *of = json_at(counts, i);
        printf("  %s told %.0f usages: tokens for four bytes are", text_of(of, "tier"),
               member(of, "usages"));
        print_ratio(" prompt", json_get(of, "prompt"));
        print_ratio(", answer", json_get(of, "answer"));
        printf("; %.1f%% of the prompts were cached\n", 100 * member(of, "cached_share"));
    }
    if (member(report, "estimated_attempts") > 0)
        printf("  %.0f attempts told no usage; their cost of %.6f USD is an estimate\n",
               member(report, "estimated_attempts"), member(report, "estimated_cost_usd"));
}

void report_money_print(const struct json *report)
{
    print_saving(report);
    print_cached(report);
    print_accepted(json_get(report, "accepted"));
    print_anchors(report);
}
