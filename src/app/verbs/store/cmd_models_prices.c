/* tandem models prices: what each configured model costs and can, where that is known from, and
 * what is wrong with it. A price that nobody wrote down and no table knows counts as nothing, and
 * nobody would notice. */
#define HELP_OF 77
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/server_check.h"
#include "app/cli/verb.h"
#include "app/config/config.h"
#include "app/config/packed_help.h"
#include "app/setup/credentials/server_secrets.h"
#include "app/setup/policy/policy_build.h"
#include "app/setup/privacy/egress_setup.h"
#include "base/json/json.h"
#include "base/text/names.h"
#include "base/time/clock.h"
#include "ledger/egress/egress_log.h"
#include "tier/cards/model_cards.h"
#include "tier/cards/model_listed.h"
#include "tier/servers.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Providers change prices some times a year. */
#define OLD_DAYS 120
/* Prices are written with few digits. */
#define SAME_SHARE 0.01

struct asked {
    struct egress_log *egress;
    bool wanted; /* the providers' lists are asked for */
    const char *today;
    int problem_count, warning_count;
};

/* --- days --- */

/* Days since 1970 of "2026-11-27"; -1 for no day. */
static long day_number(const char *day)
{
    struct tm date = {0};
    const char *end = day ? strptime(day, "%Y-%m-%d", &date) : NULL;
    return end && !*end ? (long)(timegm(&date) / 86400) : -1;
}

/* --- one model --- */

static const char *source_of(const struct config_tier *model)
{
    if (model->priced_by_card)
        return "table";
    if (model->priced_by_tier)
        return "tier";
    return model->input_usd_per_mtok > 0 || model->output_usd_per_mtok > 0 ? "configuration"
                                                                           : "none";
}

static struct json *abilities_json(unsigned abilities)
{
    static const char *const names[] = {"tools",     "image",    "audio", "file",    "schema",
                                        "reasoning", "adaptive", "fixed", "logprobs"};
    struct json *list = json_new_array();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (abilities >> i & 1)
            json_push(list, json_new_cstr(names[i]));
    return list;
}

TD_PRINTF(3, 4)
static void note(struct asked *asked, struct json *notes, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    asked->warning_count++;
    json_push(notes, json_new_cstr(text));
}

static bool differs(double a, double b)
{
    return !isnan(a) && !isnan(b) && fabs(a - b) > SAME_SHARE * fmax(fabs(a), fabs(b));
}

static void compare_card(struct asked *asked, const struct config_tier *model,
                         const struct model_card *card, struct json *notes)
{
    if (!model->priced_by_card && model->input_usd_per_mtok > 0 &&
        (differs(model->input_usd_per_mtok, card->input_usd) ||
         differs(model->output_usd_per_mtok, card->output_usd)))
        note(asked, notes, "the table of %s says %g / %g", model_cards_day(), card->input_usd,
             card->output_usd);
    char words[MODEL_CARD_END_BYTES];
    if (model_card_ends(card, clock_wall_ms(NULL), words))
        note(asked, notes, "%s", words);
}

static void compare_list(struct asked *asked, const struct config_tier *model,
                         const struct model_listed *listed, struct json *notes)
{
    if (!listed->found) {
        note(asked, notes, "the server does not list it");
        return;
    }
    if (differs(model->input_usd_per_mtok, listed->input_usd) ||
        differs(model->output_usd_per_mtok, listed->output_usd))
        note(asked, notes, "the server's list says %g / %g", listed->input_usd, listed->output_usd);
    if (listed->context_tokens && model->context_tokens > listed->context_tokens)
        note(asked, notes, "the server's list says %u tokens of context", listed->context_tokens);
}

/* The list wins where it speaks. */
static unsigned abilities_of(const struct model_card *card, const struct model_listed *listed)
{
    unsigned known = card ? card->abilities : 0;
    return listed ? (known & ~listed->said) | listed->abilities : known;
}

static struct json *describe(struct asked *asked, const struct config_tier *tier,
                             const struct config_tier *model, const struct json *list)
{
    const struct tier_server *server = config_tier_server(tier);
    const char *name = model == tier ? tier->model : model->name;
    const struct model_card *card = model_card_find(server->name, name);
    struct model_listed listed = model_listed_read(list, name);
    struct json *out = json_new_object(), *notes = json_new_array();
    const char *source = source_of(model);
    uint32_t context = model->context_tokens ? model->context_tokens : listed.context_tokens;
    json_put(out, "tier", json_new_cstr(tier->name));
    json_put(out, "kind", json_new_cstr(server->name));
    json_put(out, "model", json_new_cstr(name));
    json_put(out, "input_usd_per_mtok", json_new_double(model->input_usd_per_mtok));
    json_put(out, "output_usd_per_mtok", json_new_double(model->output_usd_per_mtok));
    json_put(out, "cached_input_usd_per_mtok",
             json_new_double(isnan(model->cached_input_usd_per_mtok)
                                 ? model->input_usd_per_mtok
                                 : model->cached_input_usd_per_mtok));
    json_put(out, "source", json_new_cstr(source));
    json_put(out, "context_tokens", json_new_int(context));
    json_put(out, "abilities", abilities_json(abilities_of(card, list ? &listed : NULL)));
    if (strcmp(source, "none") == 0 && tier->place == TD_PLACE_CLOUD) {
        note(asked, notes, "no price is known: it counts as free; write price into the tier");
        asked->problem_count++;
    }
    if (strcmp(source, "tier") == 0 && tier->priced_by_card)
        note(asked, notes, "no price of its own is known: it counts as %s", tier->model);
    if (card)
        compare_card(asked, model, card, notes);
    if (list)
        compare_list(asked, model, &listed, notes);
    json_put(out, "notes", notes);
    return out;
}

/* --- all --- */

/* The list of a tier's server, or NULL. **returns new** */
static struct json *list_of(struct asked *asked, const struct config *config,
                            const struct config_tier *tier)
{
    struct server_secrets secrets = {0};
    struct server_finding finding;
    const struct tier_facts facts = policy_tier_facts(config, tier);
    struct json *list = NULL;
    const struct server_check check = {
        .tier = tier, .facts = &facts, .secrets = &secrets, .egress = asked->egress};
    if (asked->wanted && server_secrets_open(tier, &secrets, NULL) == TD_OK) {
        list = server_check_list(&check, &finding);
        if (!list)
            fprintf(stderr, "tandem models prices: %s: %s\n", tier->name, finding.text);
    }
    server_secrets_close(&secrets);
    return list;
}

static struct json *describe_all(struct asked *asked, const struct config *config)
{
    struct json *out = json_new_array();
    for (size_t i = 0; i < config->tier_count; i++) {
        const struct config_tier *tier = &config->tiers[i];
        if (tier->kind < CONFIG_TIER_SERVER)
            continue;
        struct json *list = list_of(asked, config, tier);
        json_push(out, describe(asked, tier, tier, list));
        for (size_t m = 0; m < tier->model_count; m++)
            json_push(out, describe(asked, tier, &tier->models[m], list));
        json_free(list);
    }
    return out;
}

static void print_row(const struct json *row)
{
    const struct json *notes = json_get(row, "notes"), *able = json_get(row, "abilities");
    printf("%-14s %-32s %8g %8g %8g  %-13s %9lld ", json_cstr(json_get(row, "tier")),
           json_cstr(json_get(row, "model")), json_number(json_get(row, "input_usd_per_mtok"), 0),
           json_number(json_get(row, "output_usd_per_mtok"), 0),
           json_number(json_get(row, "cached_input_usd_per_mtok"), 0),
           json_cstr(json_get(row, "source")),
           (long long)json_int(json_get(row, "context_tokens"), 0));
    for (size_t i = 0; i < json_count(able); i++)
        printf("%s%s", i ? "," : " ", json_cstr(json_at(able, i)));
    printf("\n");
    for (size_t i = 0; i < json_count(notes); i++)
        printf("  ! %s\n", json_cstr(json_at(notes, i)));
}

static bool print_all(const struct asked *asked, struct json *models, bool json)
{
    long age = day_number(asked->today) - day_number(model_cards_day());
    if (json) {
        struct json *out = json_new_object();
        json_put(out, "as_of", json_new_cstr(model_cards_day()));
        json_put(out, "source", json_new_cstr(model_cards_source()));
        json_put(out, "age_days", json_new_int(age));
        json_put(out, "model_count", json_new_int((int64_t)model_cards_count()));
        json_put(out, "models", models);
        return command_print_json(out);
    }
    printf("%-14s %-32s %8s %8s %8s  %-13s %9s  %s\n", "tier", "model", "in", "out", "cached",
           "known from", "context", "abilities");
    for (size_t i = 0; i < json_count(models); i++)
        print_row(json_at(models, i));
    printf("\nUS dollars for a million tokens. Table: %zu models, %s, %ld days old, from %s.\n",
           model_cards_count(), model_cards_day(), age, model_cards_source());
    if (age > OLD_DAYS)
        printf("It is old: compare with the providers' pages, or update the program.\n");
    json_free(models);
    return true;
}

static int cmd_models_prices(int argc, char **argv)
{
    const char *config_path = NULL;
    bool json = false;
    struct asked asked = {0};
    const struct option options[] = {
        OPTION_ROW_CONFIG(config_path),
        {"ask", 'a', OPTION_FLAG, &asked.wanted, NULL,
         HELP_TEXT("ask each server for its list of models, and compare"), 0, 0},
        OPTION_ROW_JSON(json),
    };
    const struct option_spec spec = {
        .verb = "models prices",
        .summary = HELP_TEXT(
            "Shows what each model of the configured tiers costs and can, and where that is "
            "known from: the configuration, or the table that came with the program. Ends "
            "with 1 when a model in the cloud has no known price."),
        .json =
            HELP_TEXT("{as_of, source, age_days, model_count, models: [{tier, kind, model, "
                      "input_usd_per_mtok, output_usd_per_mtok, cached_input_usd_per_mtok, source, "
                      "context_tokens, abilities, notes}]}"),
        OPTION_TABLE(options),
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, NULL, NULL);
    struct td_error err = {0};
    struct config *config = NULL;
    char today[25];
    clock_format_iso8601(clock_wall_ms(NULL), today);
    today[10] = '\0';
    asked.today = today;
    enum td_status status = config_load(config_path, &config, &err);
    if (status == TD_OK && asked.wanted)
        status = egress_setup_open(config, &asked.egress, &err);
    if (status != TD_OK) {
        config_free(config);
        return command_fail("models prices", &err);
    }
    bool printed = print_all(&asked, describe_all(&asked, config), json);
    egress_log_close(asked.egress);
    config_free(config);
    return printed && asked.problem_count == 0 ? 0 : 1;
}

const struct verb verb_models_prices = {
    "prices", cmd_models_prices, HELP_TEXT("show and check what configured models cost and can")};
