/* Tests of a policy are YAML maps, read with the tables of keys like the configuration itself. A
 * case becomes the signals that a request would have had, and goes through the same functions as
 * a request. */
#define HELP_OF 7
#include "app/evidence/policy_cases.h"

#include "app/config/keys.h"
#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/text/names.h"
#include "device/device.h"
#include "exchange/private/classify.h"
#include "router/plan/model_names.h"
#include "router/plan/signals.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

/* --- the file --- */

#define COUNT(table) (sizeof(table) / sizeof *(table))
#define TEXT(key, member, text)                                    \
    {                                                              \
        key, CONFIG_KEY_TEXT, AT(member), NULL, .help = HELP(text) \
    }
#define NUMBER(key, member, least, most, text)                                    \
    {                                                                             \
        key, CONFIG_KEY_NUMBER, AT(member), NULL, least, most, .help = HELP(text) \
    }
#define CHOICE(key, member, names, text)                                               \
    {                                                                                  \
        key, CONFIG_KEY_CHOICE, AT(member), NULL, .choices = names, .help = HELP(text) \
    }

#define AT(member) offsetof(struct policy_measured, member)
static const struct config_key measured_keys[] = {
    {"tier", CONFIG_KEY_TEXT, AT(tier), NULL, .required = true, .help = HELP("its name")},
    {"ttft_p95_ms", CONFIG_KEY_NUMBER, AT(ttft_p95_ms), "0", 0, 1e9,
     .help = HELP("of the first text")},
    {"total_p50_ms", CONFIG_KEY_NUMBER, AT(total_p50_ms), "0", 0, 1e9,
     .help = HELP("of the answer")},
    {"total_p95_ms", CONFIG_KEY_NUMBER, AT(total_p95_ms), "0", 0, 1e9,
     .help = HELP("of the answer")},
};
static const struct config_section measured_section = {measured_keys, COUNT(measured_keys),
                                                       sizeof(struct policy_measured), AT(line)};
#undef AT

#define AT(member) offsetof(struct policy_case, member)
static const struct config_key weight_keys[] = {
    NUMBER("latency", given.weights.latency, 0, 1, "of waiting"),
    NUMBER("privacy", given.weights.privacy, 0, 1, "of travelling"),
    NUMBER("cost", given.weights.cost, 0, 1, "of money"),
};
static const struct config_section weight_section = {weight_keys, COUNT(weight_keys), 0, 0};

static const struct config_key given_keys[] = {
    TEXT("text", given.text, "the user's message"),
    TEXT("route", given.route, "what the request names as its model; default auto"),
    TEXT("user", given.user, "who asks"),
    TEXT("app", given.app, "whose key it came with"),
    TEXT("task", given.task, "kind of task, instead of the classifier's"),
    {"tags", CONFIG_KEY_WORDS, AT(given.tags), NULL, 0, TD_TAGS_MAX, .help = HELP("tandem.tags")},
    CHOICE("class", given.data_class, names_classes, "data class; detectors may raise it"),
    CHOICE("mode", given.mode, names_modes, "tandem.mode"),
    CHOICE("network", given.network, names_networks, "the device's network"),
    CHOICE("language", given.language, config_languages, "instead of the text's"),
    CHOICE("priority", given.priority, config_priorities, "tandem.priority"),
    CHOICE("day", given.day, config_days, "local time"),
    NUMBER("hour", given.hour, 0, 23, "local time"),
    NUMBER("tokens", given.tokens, 0, 1e9, "of the prompt, at every tier"),
    NUMBER("answer_tokens", given.answer_tokens, 1, 1e9, "max_tokens"),
    NUMBER("messages", given.messages, 1, 1e9, "how many"),
    NUMBER("gain", given.gain, -1, 1, "instead of the classifier's"),
    NUMBER("p_local", given.p_local, 0, 1, "instead of the classifier's"),
    NUMBER("p_strong", given.p_strong, 0, 1, "instead of the classifier's"),
    NUMBER("slo_ms", given.slo_ms, 1, 1e9, "tandem.slo_ms"),
    NUMBER("slo_ttft_ms", given.slo_ttft_ms, 1, 1e9, "tandem.slo_ttft_ms"),
    NUMBER("battery", given.battery, 0, 100, "percent"),
    NUMBER("budget_used", given.budget_used, 0, 1000, "share; 1 = spent"),
    NUMBER("day_tokens", given.day_tokens, 0, 1e15, "this server's in 24 hours"),
    CHOICE("media", given.media, config_yes_no, "an image"),
    CHOICE("on_battery", given.on_battery, config_yes_no, "no charger"),
    {"down", CONFIG_KEY_WORDS, AT(given.down), NULL, 0, RUNGS_MAX,
     .help = HELP("tiers that cannot be reached")},
    {"weights", CONFIG_KEY_SECTION, 0, NULL, .section = &weight_section,
     .help = HELP("tandem.weights")},
    {"measured", CONFIG_KEY_SECTIONS, AT(given.measured), NULL, 0, RUNGS_MAX,
     .section = &measured_section, .help = HELP("how long tiers took lately"),
     .count_offset = AT(given.measured_count)},
};
static const struct config_section given_section = {given_keys, COUNT(given_keys), 0, 0};

static const struct config_key expect_keys[] = {
    TEXT("tier", expect.tier, "where it begins; none"),
    TEXT("rule", expect.rule, "that matches; none"),
    TEXT("by", expect.by, "rule, mode, score, slo, gate, route, denied or none"),
    TEXT("reason", expect.reason, "a code that is among the reasons"),
    CHOICE("denied", expect.denied, config_yes_no, "no tier may answer"),
    CHOICE("reduced", expect.reduced, config_yes_no, "a better tier is away"),
    {"removed", CONFIG_KEY_WORDS, AT(expect.removed), NULL, 0, RUNGS_MAX,
     .help = HELP("tiers that are not on the ladder")},
};
static const struct config_section expect_section = {expect_keys, COUNT(expect_keys), 0, 0};

static const struct config_key case_keys[] = {
    {"name", CONFIG_KEY_TEXT, AT(name), NULL, .required = true, .help = HELP("what it asserts")},
    {"given", CONFIG_KEY_SECTION, 0, NULL, .section = &given_section, .help = HELP("the request")},
    {"expect", CONFIG_KEY_SECTION, 0, NULL, .section = &expect_section, .required = true,
     .help = HELP("the decision")},
};
static const struct config_section case_section = {case_keys, COUNT(case_keys),
                                                   sizeof(struct policy_case), AT(line)};
#undef AT

#define AT(member) offsetof(struct policy_cases, member)
static const struct config_key file_keys[] = {
    TEXT("config", config, "configuration, from this file's folder"),
    {"tests", CONFIG_KEY_SECTIONS, AT(cases), NULL, 0, POLICY_CASES_MAX, .section = &case_section,
     .required = true, .help = HELP("the assertions"), .count_offset = AT(count)},
};
static const struct config_section file_section = {file_keys, COUNT(file_keys), 0, 0};
#undef AT

enum td_status policy_cases_read(const char *label, struct td_str text, struct arena *arena,
                                 struct policy_cases *out, struct td_error *err)
{
    struct yaml_node *tree;
    *out = (struct policy_cases){NULL, NULL, 0};
    enum td_status status = yaml_tree_read(label, text, arena, &tree, err);
    if (status != TD_OK)
        return status;
    if (!tree || tree->kind != YAML_MAP)
        return error_set(err, TD_INVALID, "%s:1: the file must be a map with the key 'tests'",
                         label);
    status = keys_read_own(label, &file_section, tree, arena, out, err);
    for (size_t i = 0; i < out->count && status == TD_OK; i++) {
        const struct policy_case *c = &out->cases[i];
        if (!c->expect.tier && !c->expect.rule && !c->expect.by && !c->expect.reason &&
            c->expect.denied < 0 && c->expect.reduced < 0 && !c->expect.removed.count)
            status = error_set(err, TD_INVALID, "%s:%u: test '%.60s' expects nothing", label,
                               c->line, c->name);
    }
    return status;
}

/* --- deciding --- */

struct world {
    struct tier_facts facts[CONFIG_TIERS_MAX];
    struct tier_state states[CONFIG_TIERS_MAX];
    struct td_message message;
    struct td_request request;
    struct signals signals;
    size_t named;
};

static bool is_listed(const struct config_texts *texts, const char *name)
{
    for (size_t i = 0; i < texts->count; i++)
        if (strcmp(texts->items[i], name) == 0)
            return true;
    return false;
}

static void fill_tiers(const struct config *config, const struct policy_case *c,
                       struct world *world)
{
    for (size_t i = 0; i < config->tier_count; i++) {
        const struct config_tier *tier = &config->tiers[i];
        world->facts[i] = policy_tier_facts(config, tier);
        size_t bytes = world->message.content.len;
        world->states[i] = (struct tier_state){
            .reachable = !is_listed(&c->given.down, tier->name),
            .prompt_tokens =
                isfinite(c->given.tokens) ? (uint32_t)c->given.tokens : (uint32_t)(bytes / 4 + 4),
        };
    }
}

static enum td_status check_names(const struct config *config, const struct policy_case *c,
                                  struct world *world, struct td_error *err)
{
    const struct {
        const char *what;
        const struct config_texts *names;
    } lists[] = {{"down", &c->given.down}, {"removed", &c->expect.removed}};
    for (size_t l = 0; l < COUNT(lists); l++) {
        for (size_t i = 0; i < lists[l].names->count; i++) {
            size_t tier = 0;
            while (tier < config->tier_count &&
                   strcmp(config->tiers[tier].name, lists[l].names->items[i]) != 0)
                tier++;
            if (tier == config->tier_count)
                return error_set(err, TD_INVALID,
                                 "line %u: test '%.60s': %s names an unknown tier '%.60s'", c->line,
                                 c->name, lists[l].what, lists[l].names->items[i]);
        }
    }
    for (size_t i = 0; i < c->given.measured_count; i++) {
        const struct policy_measured *m = &c->given.measured[i];
        size_t tier = 0;
        while (tier < config->tier_count && strcmp(config->tiers[tier].name, m->tier) != 0)
            tier++;
        if (tier == config->tier_count)
            return error_set(err, TD_INVALID,
                             "line %u: test '%.60s': measured names an unknown tier '%.60s'",
                             m->line, c->name, m->tier);
        world->states[tier].ttft_p95_ms = m->ttft_p95_ms;
        world->states[tier].forecast_ttft_ms = m->ttft_p95_ms;
        world->states[tier].forecast_total_ms = m->total_p95_ms;
        world->states[tier].total_p50_ms = m->total_p50_ms;
        world->states[tier].total_p95_ms = m->total_p95_ms;
    }
    return TD_OK;
}

static void take(double given, double *out)
{
    if (isfinite(given))
        *out = given;
}

/* What is given goes before what the text shows. */
static void fill_signals(const struct policy_case *c, const struct route *route,
                         const struct privacy_scanner *scanner, enum td_data_class media_class,
                         struct world *world)
{
    struct signals *signals = &world->signals;
    enum td_data_class found = classify_request(scanner, &world->request, NULL);
    if (found > signals->data_class)
        signals->data_class = found;
    if (route->data_class > signals->data_class)
        signals->data_class = route->data_class;
    if (world->request.media.kinds && media_class > signals->data_class)
        signals->data_class = media_class;
    if (isfinite(c->given.gain) || isfinite(c->given.p_local) || isfinite(c->given.p_strong)) {
        if (!signals->judged)
            signals->gain = signals->p_local = signals->p_strong = (double)NAN;
        signals->judged = true;
    }
    take(c->given.gain, &signals->gain);
    take(c->given.p_local, &signals->p_local);
    take(c->given.p_strong, &signals->p_strong);
    if (c->given.task)
        snprintf(signals->task, sizeof signals->task, "%s", c->given.task);
    if (c->given.language >= 0)
        signals->language = (enum rule_language)c->given.language;
    if (isfinite(c->given.messages))
        signals->message_count = (uint32_t)c->given.messages;
    signals->app = c->given.app;
    signals->prompt_tokens = world->states[0].prompt_tokens;
    signals->moment.hour = isfinite(c->given.hour) ? (int)c->given.hour : -1;
    signals->moment.weekday = c->given.day;
    signals->moment.on_battery = c->given.on_battery == 1;
    take(c->given.battery, &signals->moment.battery);
    signals->moment.battery_low =
        signals->moment.on_battery && signals->moment.battery <= DEVICE_BATTERY_LOW;
    take(c->given.day_tokens, &signals->moment.day_tokens);
    take(c->given.budget_used, &signals->budget_used);
    if (isfinite(c->given.budget_used))
        signals->budget = "given";
}

static uint32_t whole(double number)
{
    return isfinite(number) ? (uint32_t)number : 0;
}

static void fill_request(const struct policy_case *c, struct world *world)
{
    world->message =
        (struct td_message){TD_ROLE_USER, c->given.text ? str_from(c->given.text) : STR("")};
    world->request = (struct td_request){
        .messages = &world->message,
        .message_count = 1,
        .model = c->given.route,
        .tokens_max = whole(c->given.answer_tokens),
        .mode = c->given.mode < 0 ? TD_MODE_AUTO : (enum td_mode)c->given.mode,
        .data_class =
            c->given.data_class < 0 ? TD_CLASS_PUBLIC : (enum td_data_class)c->given.data_class,
        .priority =
            c->given.priority < 0 ? TD_PRIORITY_INTERACTIVE : (enum td_priority)c->given.priority,
        .network = c->given.network < 0 ? TD_NETWORK_UNKNOWN : (enum td_network)c->given.network,
        .slo_ms = whole(c->given.slo_ms),
        .slo_ttft_ms = whole(c->given.slo_ttft_ms),
        .weights = config_weights_read(&c->given.weights),
        .user = c->given.user,
        .media = {.kinds = c->given.media == 1 ? REQUEST_IMAGE : 0u},
    };
    for (size_t i = 0; i < c->given.tags.count && i < TD_TAGS_MAX; i++)
        world->request.tags[world->request.tag_count++] = c->given.tags.items[i];
}

/* --- comparing --- */

TD_PRINTF(2, 3) static void differ(struct policy_outcome *out, const char *format, ...)
{
    size_t len = strlen(out->mismatch);
    va_list args;
    if (len) {
        snprintf(out->mismatch + len, sizeof out->mismatch - len, "; ");
        len = strlen(out->mismatch);
    }
    va_start(args, format);
    vsnprintf(out->mismatch + len, sizeof out->mismatch - len, format, args);
    va_end(args);
}

static void compare_text(struct policy_outcome *out, const char *what, const char *expected,
                         const char *got)
{
    if (expected && strcmp(expected, got) != 0)
        differ(out, "%s: expected %.60s, got %.60s", what, expected, got);
}

static void compare_bool(struct policy_outcome *out, const char *what, int expected, bool got)
{
    if (expected >= 0 && (expected == 1) != got)
        differ(out, "%s: expected %s, got %s", what, config_yes_no[expected], config_yes_no[got]);
}

static void compare(const struct policy_case *c, const struct tier_facts *facts,
                    struct policy_outcome *out)
{
    compare_text(out, "tier", c->expect.tier, out->tier);
    compare_text(out, "rule", c->expect.rule, out->rule);
    compare_text(out, "by", c->expect.by, out->by);
    compare_bool(out, "denied", c->expect.denied, out->denied);
    compare_bool(out, "reduced", c->expect.reduced, out->reduced);
    bool has_reason = false;
    for (size_t i = 0; c->expect.reason && i < out->plan.reason_count; i++)
        has_reason = has_reason ||
                     strcmp(c->expect.reason, reason_code_name(out->plan.reasons[i].code)) == 0;
    if (c->expect.reason && !has_reason)
        differ(out, "reason: expected %.60s among the reasons", c->expect.reason);
    for (size_t i = 0; i < c->expect.removed.count; i++)
        for (size_t r = 0; r < out->plan.rung_count; r++)
            if (strcmp(c->expect.removed.items[i], facts[out->plan.rungs[r]].name) == 0)
                differ(out, "removed: expected %.60s not to be on the ladder",
                       c->expect.removed.items[i]);
}

enum td_status policy_case_run(const struct policy_subject *subject, const struct policy_case *c,
                               struct policy_outcome *out, struct td_error *err)
{
    const struct config *config = subject->config;
    const struct policy *policy = subject->policy;
    ASSERT(config->tier_count <= CONFIG_TIERS_MAX);
    struct world world = {.named = SIZE_MAX};
    *out = (struct policy_outcome){.tier = "none", .rule = "none", .by = "none"};
    fill_request(c, &world);
    fill_tiers(config, c, &world);
    enum td_status status = check_names(config, c, &world, err);
    if (status != TD_OK)
        return status;
    const struct model_names names = {
        .policy = policy, .facts = world.facts, .tier_count = config->tier_count};
    struct model_choice choice;
    if (!model_names_find(&names, c->given.route, &choice))
        return error_set(err, TD_INVALID, "line %u: test '%.60s': there is no route '%.60s'",
                         c->line, c->name, c->given.route);
    const struct route *route = choice.route;
    world.named = choice.tier;
    signals_extract(&world.request, subject->classifier, NULL, &world.signals);
    fill_signals(c, route, subject->scanner, (enum td_data_class)config->privacy.media_class,
                 &world);
    const struct td_weights *app = NULL;
    for (size_t i = 0; c->given.app && i < policy->app_count; i++)
        if (strcmp(policy->apps[i].name, c->given.app) == 0)
            app = &policy->apps[i].weights;
    policy_apply_rules(policy, route, &world.request.weights, app, &world.signals);
    plan_make(route, world.named, &world.signals, world.facts, world.states, config->tier_count,
              &out->plan);
    if (out->plan.rung_count)
        out->tier = config->tiers[out->plan.rungs[0]].name;
    if (world.signals.rule)
        out->rule = world.signals.rule->name;
    if (out->plan.decision.by != DECIDED_NOT)
        out->by = decided_by_name(out->plan.decision.by);
    out->denied = out->plan.rung_count == 0;
    out->reduced = out->plan.reduced;
    compare(c, world.facts, out);
    return TD_OK;
}
