/* What `tandem doctor` says of routes and of tiers elsewhere: whether a server is there, takes the
 * key, has the model, and whether gates can judge its answers. */
#include "app/cli/server_check.h"
#include "app/evidence/policy_opened.h"
#include "app/setup/credentials/server_secrets.h"
#include "app/setup/model/retirement.h"
#include "app/setup/policy/policy_build.h"
#include "app/setup/privacy/egress_setup.h"
#include "app/verbs/run/doctor.h"
#include "base/core/str.h"
#include "base/text/names.h"
#include "base/time/clock.h"
#include "privacy/scan/scanner.h"
#include "router/plan/model_names.h"
#include "router/plan/reach.h"

#include <stdio.h>

/* Where a tier is the configuration says, and nobody can look: so the words say who said it. */
static void describe_reach(const struct doctor *doctor, const struct config_tier *tier,
                           char words[static 96])
{
    const struct tier_facts facts = policy_tier_facts(doctor->config, tier);
    char seen[64] = "";
    for (int c = TD_CLASS_PUBLIC; c <= TD_CLASS_RESTRICTED; c++)
        if (reach_allowed(&facts, (enum td_data_class)c))
            snprintf(seen + strlen(seen), sizeof seen - strlen(seen), "%s%s", *seen ? ", " : "",
                     names_class((enum td_data_class)c));
    snprintf(words, 96, "place %s%s, sees %s data", names_place(facts.place),
             facts.place == TD_PLACE_DEVICE ? "" : " as configured", *seen ? seen : "no");
}

/* ", models a, b": what its server is asked for. */
static void describe_models(const struct config_tier *tier, char words[static 160])
{
    size_t used =
        (size_t)snprintf(words, 160, ", model%s %.40s", tier->model_count ? "s" : "", tier->model);
    for (size_t i = 0; i < tier->model_count && used < 160; i++)
        used += (size_t)snprintf(words + used, 160 - used, ", %.40s", tier->models[i].name);
}

static bool has_gate(const struct config_route *route)
{
    const struct gate_settings *gates = &route->gates;
    return gates->g1_probe_min > 0 || gates->g2_abandon_under > 0 ||
           (gates->g2_tokens > 0 && gates->g2_confidence_min > 0) || gates->g3_confidence_min > 0;
}

static void add_finding(struct doctor *doctor, const char *name,
                        const struct server_finding *finding, const char *reach)
{
    static const enum health healths[] = {
        [SERVER_OK] = HEALTH_OK, [SERVER_WARN] = HEALTH_WARN, [SERVER_FAIL] = HEALTH_FAIL};
    doctor_add(doctor, name, healths[finding->verdict], finding->advice, "%s%s%s", finding->text,
               *reach ? ", " : "", reach);
}

/* Whether a gate of some route decides if the answers of the tier are kept. */
static bool is_judged(const struct config *config, const struct config_tier *tier)
{
    for (size_t i = 0; i < config->route_count; i++) {
        const struct config_route *route = &config->routes[i];
        for (size_t t = 0; has_gate(route) && t + 1 < route->tiers.count; t++)
            if (strcmp(route->tiers.items[t], tier->name) == 0)
                return true;
    }
    return false;
}

/* With tiers before it and behind it: those behind it are asked only when somebody judges it. */
static bool is_in_the_middle(const struct config *config, const struct config_tier *tier)
{
    for (size_t i = 0; i < config->route_count; i++) {
        const struct config_texts *tiers = &config->routes[i].tiers;
        for (size_t t = 1; t + 1 < tiers->count; t++)
            if (strcmp(tiers->items[t], tier->name) == 0)
                return true;
    }
    return false;
}

/* What costs money or leaves the premises is not asked for anything but its list. */
static bool may_ask(const struct config_tier *tier)
{
    return tier->input_usd_per_mtok <= 0 && tier->output_usd_per_mtok <= 0 &&
           (tier->place == TD_PLACE_DEVICE || tier->place == TD_PLACE_PREMISES);
}

/* One of several keys. */
static void check_key(struct doctor *doctor, const struct server_check *check, const char *name)
{
    char key[160];
    struct server_finding finding;
    snprintf(key, sizeof key, "%.60s key %.64s", name, check->secrets->keys[check->key].name);
    server_check_reach(check, &finding);
    add_finding(doctor, key, &finding, "");
}

static void check_server(struct doctor *doctor, const struct config_tier *tier,
                         const struct server_secrets *secrets, const char *name, const char *reach)
{
    const struct tier_facts facts = policy_tier_facts(doctor->config, tier);
    struct server_check check = {
        .tier = tier, .facts = &facts, .secrets = secrets, .egress = doctor->egress};
    struct server_finding finding;
    for (check.key = secrets->key_count; check.key-- > 1;) /* the first one at last */
        check_key(doctor, &check, name);
    check.key = 0;
    server_check_reach(&check, &finding);
    add_finding(doctor, name, &finding, finding.verdict == SERVER_OK ? reach : "");
    if (finding.verdict == SERVER_FAIL || !is_judged(doctor->config, tier) || !may_ask(tier))
        return;
    server_check_logprobs(&check, &finding);
    if (finding.verdict == SERVER_WARN && is_in_the_middle(doctor->config, tier)) {
        finding.verdict = SERVER_FAIL;
        snprintf(finding.advice, sizeof finding.advice,
                 "put it last in the route, or use a server that gives them (docs/runtimes.md)");
    }
    add_finding(doctor, name, &finding, "");
}

static void check_tier(struct doctor *doctor, const struct config_tier *tier)
{
    char name[64], advice[256], reach[96], models[160];
    snprintf(name, sizeof name, "tier %.50s", tier->name);
    describe_reach(doctor, tier, reach);
    describe_models(tier, models);
    struct td_error err = {0};
    struct server_secrets secrets = {0};
    if (server_secrets_open(tier, &secrets, &err) != TD_OK) {
        doctor_add(doctor, name, HEALTH_FAIL,
                   tier->api_key_file || tier->key_count
                       ? "write the API key into that file"
                       : "docs/providers.md says where credentials are looked for",
                   "%s", err.message);
    } else if (secrets.missing.status != TD_OK) {
        doctor_add(
            doctor, name, HEALTH_FAIL,
            "docs/providers.md says where credentials are looked for; a server goes on trying",
            "no credentials: %.400s", secrets.missing.message);
    } else if (!server_secrets_suffice(&secrets, tier)) {
        snprintf(advice, sizeof advice, "set %.200s; until then only the other tiers answer",
                 tier->key_count     ? "the variable of one of its keys"
                 : tier->api_key_env ? tier->api_key_env
                                     : "its key");
        /* The default configuration has a cloud for those who give a key. */
        doctor_add(doctor, name, tier->model_assumed ? HEALTH_WARN : HEALTH_FAIL, advice,
                   "no API key: the tier is not used");
    } else if (doctor->offline) {
        doctor_add(doctor, name, HEALTH_OK, NULL,
                   "the API key is there (server not contacted), %s%s", reach, models);
    } else if (egress_setup_open(doctor->config, &doctor->egress, &err) != TD_OK) {
        doctor_add(doctor, name, HEALTH_FAIL, "check ledger.egress", "%s", err.message);
    } else {
        check_server(doctor, tier, &secrets, name, reach);
    }
    server_secrets_close(&secrets);
}

static void add_retirement(void *ctx, const struct config_tier *tier, const char *model,
                           const char *words)
{
    char name[64], advice[160];
    snprintf(name, sizeof name, "model of %.50s", tier->name);
    snprintf(advice, sizeof advice,
             "name another model; 'tandem models prices' shows what is known of one");
    doctor_add(ctx, name, HEALTH_WARN, advice, "model %.100s: %s", model, words);
}

void doctor_check_retirement(struct doctor *doctor)
{
    retirement_each(doctor->config, clock_wall_ms(NULL), add_retirement, doctor);
}

/* By which names clients come to the route beside its own. */
static void check_names(struct doctor *doctor, const struct config_route *route)
{
    char name[64], list[480] = "";
    bool first = route == doctor->config->routes;
    const char *const *aliases = route->aliases.items ? route->aliases.items
                                 : first              ? model_names_common
                                                      : NULL;
    size_t used = 0;
    for (; aliases && *aliases && used < sizeof list - 1; aliases++)
        used +=
            (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", *aliases);
    snprintf(name, sizeof name, "names of %.50s", route->name);
    if (used)
        doctor_add(doctor, name, HEALTH_OK, NULL, "it also takes requests for %s", list);
}

void doctor_check_routes(struct doctor *doctor)
{
    const struct config *config = doctor->config;
    struct policy_opened opened = {.config = doctor->config, .keys_apart = true};
    struct td_error err = {0};
    if (policy_opened_check_start(&opened, &err) != TD_OK)
        doctor_add(doctor, "files", HEALTH_FAIL,
                   "mend it or take it out of the configuration, or a server does not start", "%s",
                   err.message);
    else
        doctor_add(doctor, "configuration", HEALTH_OK, NULL, "%s: %zu tier%s, %zu route%s",
                   config->label, config->tier_count, PLURAL(config->tier_count),
                   config->route_count, PLURAL(config->route_count));
    privacy_scanner_free(opened.scanner);
    for (size_t i = 0; i < config->route_count; i++) {
        const struct config_route *route = &config->routes[i];
        char name[64];
        snprintf(name, sizeof name, "route %.50s", route->name);
        if (route->tiers.count > 2 && !has_gate(route))
            doctor_add(doctor, name, HEALTH_FAIL,
                       "give it gates, as in 'gates: {risk: 5%}', or leave the middle tiers out",
                       "no gate judges its answers, so that %s is asked only when all before it "
                       "fail",
                       route->tiers.items[route->tiers.count - 1]);
        else if (route->tiers.count > 1 && !has_gate(route))
            doctor_add(doctor, name, HEALTH_OK, NULL,
                       "no gate judges its answers: a further tier is asked only when one fails");
        check_names(doctor, route);
    }
}

static void check_price(struct doctor *doctor, const struct config_tier *tier)
{
    char name[64];
    snprintf(name, sizeof name, "price of %.50s", tier->name);
    if (tier->place >= TD_PLACE_REGION && !(tier->input_usd_per_mtok > 0) &&
        !(tier->output_usd_per_mtok > 0))
        doctor_add(doctor, name, HEALTH_WARN,
                   "write price into the tier; 'tandem models prices' shows what is known",
                   "none is known: it counts as free, and no budget in USD ever ends");
}

void doctor_check_tiers(struct doctor *doctor)
{
    for (size_t i = 0; i < doctor->config->tier_count; i++) {
        const struct config_tier *tier = &doctor->config->tiers[i];
        if (tier->kind < CONFIG_TIER_SERVER)
            continue;
        check_tier(doctor, tier);
        check_price(doctor, tier);
    }
}
