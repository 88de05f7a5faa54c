/* Copies the configuration into the router's terms and computes the policy's version: a hash
 * over everything that decides. So a file that differs only in comments has the same version,
 * and a record can name the policy that it was decided by. */
#include "app/setup/policy/policy_build.h"

#include "api/http/auth.h"
#include "app/config/config_ramp.h"
#include "app/config/config_reach.h"
#include "app/setup/files/secret_source.h"
#include "app/setup/policy/classifier_file.h"
#include "app/setup/policy/threshold_file.h"
#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "base/crypto/secret.h"
#include "exchange/limits/gates.h"
#include "net/download/download_url.h"
#include "router/judge/classifier.h"
#include "router/plan/model_names.h"

#include "tier/servers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* --- the version --- */

/* Ends the line. */
static void write_weights(const struct td_weights *weights, struct buf *out)
{
    buf_printf(out, " weights %d %.17g %.17g %.17g\n", weights->set, weights->latency,
               weights->privacy, weights->cost);
}

/* The ledger keeps this text, and must be able to forget a user: so that one stands as a hash. */
static void write_name(enum rule_choice choice, const char *name, struct buf *out)
{
    char hash[17];
    uint8_t digest[CRYPTO_SHA256_BYTES];
    if (choice == RULE_USER) {
        crypto_sha256(name, strlen(name), digest);
        crypto_hex(digest, 8, hash);
        name = hash;
    }
    buf_printf(out, "name %s %s\n", rule_choice_name(choice), name);
}

/* Of each choice the bits that match; a start that is no tier's number is negative. */
static void write_rule(const struct routing_rule *rule, struct buf *out)
{
    buf_printf(out, "rule %s when", rule->name);
    for (size_t c = 0; c < RULE_CHOICE_COUNT; c++)
        if (rule->any[c] != RULE_WHATEVER)
            buf_printf(out, " %s %llx", rule_choice_name((enum rule_choice)c),
                       (unsigned long long)rule->any[c]);
    for (size_t n = 0; n < RULE_NUMBER_COUNT; n++)
        if (rule->asked >> n & 1)
            buf_printf(out, " %s %.17g %.17g", rule_number_name((enum rule_number)n),
                       rule->range[n].over, rule->range[n].under);
    buf_printf(
        out, " yes %x no %x then deny '%s' only %d tiers %x places %x start %zd stays %d class %d",
        rule->yes, rule->no, rule->deny ? rule->deny : "", rule->only, rule->tiers, rule->places,
        (ssize_t)rule->start, rule->stays, rule->data_class);
    write_weights(&rule->weights, out);
}

static void write_rules(const struct routing_rules *set, struct buf *out)
{
    for (size_t choice = 0; choice < RULE_NAMED_COUNT; choice++)
        for (size_t i = 0; i < set->names[choice].count; i++)
            write_name((enum rule_choice)choice, set->names[choice].items[i], out);
    for (size_t i = 0; i < set->count; i++)
        write_rule(&set->rules[i], out);
}

/* Where the tier is and what it may see and do. */
static void write_reach(const struct tier_facts *facts, struct buf *out)
{
    buf_printf(out, "reach region '%s' ruled %d sees %x lacks %x pseudonyms %d",
               facts->region ? facts->region : "", facts->ruled, facts->sees, facts->lacks,
               facts->pseudonyms);
    for (size_t i = 0; facts->certified && facts->certified[i]; i++)
        buf_printf(out, " %s", facts->certified[i]);
    buf_append_char(out, '\n');
}

/* Less what may be a secret in it. */
static void write_url(const char *url, struct buf *out)
{
    bool cut;
    char *shown = url ? download_url_public(url, &cut) : NULL;
    buf_append_str(out, str_from(shown ? shown : ""));
    free(shown);
}

static void write_model(const struct tier_model *model, struct buf *out)
{
    buf_printf(out, "model '%s' context %u usd %.17g %.17g %.17g lacks %x\n", model->name,
               model->context_tokens, model->input_usd_per_mtok, model->output_usd_per_mtok,
               model->cached_input_usd_per_mtok, model->lacks);
}

static void write_texts(const char *what, const struct config_texts *texts, struct buf *out)
{
    if (texts->items)
        buf_printf(out, "%s", what);
    for (size_t i = 0; i < texts->count; i++)
        buf_printf(out, " '%s'", texts->items[i]);
    if (texts->items)
        buf_append_char(out, '\n');
}

static void write_tiers(const struct config *config, struct buf *out)
{
    for (size_t i = 0; i < config->tier_count; i++) {
        const struct config_tier *tier = &config->tiers[i];
        if (tier->confidence)
            buf_printf(out, "confidence %s\n", tier->confidence);
        buf_printf(out, "tier %s kind %d place %d model '%s' url '", tier->name, tier->kind,
                   tier->place, tier->model ? tier->model : "");
        write_url(tier->base_url, out);
        buf_printf(out, "' context %u usd %.17g %.17g\n", tier->context_tokens,
                   tier->input_usd_per_mtok, tier->output_usd_per_mtok);
        if (!isnan(tier->cached_input_usd_per_mtok))
            buf_printf(out, "cached %.17g\n", tier->cached_input_usd_per_mtok);
        const struct tier_facts facts = policy_tier_facts(config, tier);
        write_reach(&facts, out);
        if (facts.people)
            buf_printf(out, "people sla %u queue %u review %.17g error %.17g\n", facts.sla_s,
                       facts.tickets_max, facts.review_usd, facts.cost_of_error);
        for (size_t m = 0; m < facts.model_count; m++)
            write_model(&facts.models[m], out);
    }
    for (size_t i = 0; i < config->engine.adapter_count; i++) {
        const struct config_adapter *adapter = &config->engine.adapters[i];
        buf_printf(out, "adapter %s %s %.17g %d\n", adapter->name, adapter->file, adapter->scale,
                   adapter->always);
    }
}

static void write_routes(const struct config *config, const struct policy_learned *learned,
                         struct buf *out)
{
    for (size_t i = 0; i < config->route_count; i++) {
        const struct config_route *route = &config->routes[i];
        struct td_weights weights = config_weights_read(&route->weights);
        write_texts("aliases", &route->aliases, out);
        if (route->g4.by)
            write_texts("high", &route->g4.high_tasks, out);
        buf_printf(out, "route %s kind %d start '%s' class %d mode %d gates", route->name,
                   route->kind, route->start ? route->start : "", route->data_class, route->mode);
        gates_write(&route->gates, out);
        if (route->g4.by && route->g4.high_p_local_under > 0)
            buf_printf(out, " high under %.17g", route->g4.high_p_local_under);
        if (route->g4.by)
            buf_printf(out, " g4 %d '%s' %d %d %.17g %u %d", route->g4.by,
                       route->g4.tier ? route->g4.tier : "", route->g4.stakes, route->g4.high_from,
                       route->g4.share, route->g4.deadline_ms, route->g4.compare);
        if (route->documents.stay)
            buf_printf(out, " documents %d %u %u %.17g", route->documents.stay,
                       route->documents.bytes_min, route->documents.rounds,
                       route->documents.share_max);
        if (route->climb == 2)
            buf_printf(out, " race %d %d", route->settle, route->g4.compare);
        if (route->climb == 1)
            buf_printf(out, " hedge %u %u %.17g", route->hedge_percentile, route->hedge_after_ms,
                       route->hedge_share);
        if (route->overflow_after_ms)
            buf_printf(out, " overflow %u", route->overflow_after_ms);
        if (route->explore_share > 0)
            buf_printf(out, " explore %.17g", route->explore_share);
        if (route->region)
            buf_printf(out, " region %s", route->region);
        if (route->ramp.to)
            buf_printf(out, " ramp %s", route->ramp.to);
        buf_printf(out, " asks %d %d %d %d %d %d tiers", route->consent, route->no_train,
                   route->no_retention, route->pseudonyms, route->strict, route->zero_retention);
        for (size_t t = 0; t < route->tiers.count; t++)
            buf_printf(out, " %s", route->tiers.items[t]);
        write_weights(&weights, out);
        for (int gate = 0; learned->thresholds && gate < THRESHOLD_GATE_COUNT; gate++)
            if (learned->thresholds[i][gate])
                thresholds_write(learned->thresholds[i][gate], out);
    }
}

static void write_calibration(const char *tier, const struct confidence_model *model,
                              struct buf *out)
{
    buf_printf(out, "calibration %s %s", tier, model->digest);
    for (size_t i = 0; i < CONFIDENCE_RISK_COUNT; i++)
        buf_printf(out, " %.17g", model->threshold[i]);
    if (model->second.by != SECOND_OFF)
        buf_printf(out, " second %d %.17g %.17g %.17g", model->second.by, model->second.bias,
                   model->second.first, model->second.second);
    buf_append_char(out, '\n');
}

/* Everything that decides: the same file with other comments gives the same text. */
static void write_policy(const struct config *config, const struct policy *policy,
                         const struct policy_learned *learned, struct buf *out)
{
    write_tiers(config, out);
    write_routes(config, learned, out);
    write_rules(&config->rule_set, out);
    for (size_t i = 0; i < policy->app_count; i++) {
        /* Without its key: the ledger is no place for a hash that a short key can be found from. */
        buf_printf(out, "app %s escalations %u", policy->apps[i].name,
                   policy->apps[i].escalations_per_hour);
        write_weights(&policy->apps[i].weights, out);
        write_texts("models", &config->apps[i].models, out);
    }
    for (size_t i = 0; i < policy->budget_count; i++)
        buf_printf(out, "budget %s per %d usd %.17g\n", policy->budgets[i].name,
                   policy->budgets[i].per, policy->budgets[i].usd_per_day);
    buf_append_str(out, STR("policy"));
    write_weights(&policy->weights, out);
    buf_printf(out, "worth %.17g %.17g %.17g\n", policy->worth.second_usd,
               policy->worth.exposure_usd, policy->worth.error_usd);
    buf_printf(out, "classifier %016llx\n",
               learned->classifier ? (unsigned long long)classifier_hash(learned->classifier) : 0);
    if (learned->confidence)
        buf_printf(out, "confidence %s\n", learned->confidence->digest);
    for (size_t i = 0; learned->calibrations && i < config->tier_count; i++)
        if (learned->calibrations[i])
            write_calibration(config->tiers[i].name, learned->calibrations[i], out);
    buf_printf(out, "pseudonyms %d\n", config->privacy.pseudonyms.on);
    buf_printf(out, "class %d media %d prompts %d\n", config->privacy.data_class,
               config->privacy.media_class, config->ledger.store_prompts);
    buf_printf(out, "instructions %d %d\n", config->privacy.instructions.system,
               config->privacy.instructions.tools);
}

static enum td_status write_version(const struct config *config,
                                    const struct policy_learned *learned, struct policy_parts *out,
                                    struct td_error *err)
{
    struct buf text;
    uint8_t digest[CRYPTO_SHA256_BYTES];
    buf_init(&text, 1u << 20);
    write_policy(config, &out->policy, learned, &text);
    crypto_sha256(text.data, text.len, digest);
    crypto_hex(digest, 8, out->version);
    out->text = text.failed ? NULL : arena_copy(config->arena, buf_view(&text));
    buf_deinit(&text);
    return out->text ? TD_OK : error_set(err, TD_NO_MEMORY, "no memory for the policy's text");
}

/* --- what the classifier must say --- */

static enum td_status check_gates(const struct config *config, const struct classifier *classifier,
                                  struct td_error *err)
{
    for (size_t i = 0; i < config->route_count; i++) {
        const struct config_route *route = &config->routes[i];
        bool asks = route->gates.g0_gain_over > 0 || route->gates.g0_p_local_under > 0 ||
                    route->thresholds[THRESHOLD_G0];
        if (asks && !classifier)
            return error_set(err, TD_INVALID,
                             "%s:%u: route '%s' has a gate that needs a classifier, and there is "
                             "none: name one with router.classifier",
                             config->label, route->line, route->name);
        if (classifier && route->gates.hopeless_under > 0 &&
            !classifier_has(classifier, OUTCOME_STRONG))
            return error_set(err, TD_INVALID,
                             "%s:%u: route '%s' has hopeless_under, and the classifier has not "
                             "learnt what other tiers get right: train one with strong_ok",
                             config->label, route->line, route->name);
    }
    return TD_OK;
}

static bool knows_task(const struct classifier *classifier, const char *name)
{
    for (size_t t = 0; classifier && t < classifier_task_count(classifier); t++)
        if (strcmp(classifier_task_name(classifier, t), name) == 0)
            return true;
    return false;
}

static struct error_suggestion suggest_task(const struct classifier *classifier, const char *name)
{
    const char *names[CLASSIFIER_TASKS_MAX];
    size_t count = classifier ? classifier_task_count(classifier) : 0;
    for (size_t t = 0; t < count; t++)
        names[t] = classifier_task_name(classifier, t);
    return error_suggest(str_from(name), names, count);
}

/* A rule on what nobody predicts would never match, and nobody would know. */
static enum td_status check_rule(const struct config *config, const struct config_rule *rule,
                                 const struct classifier *classifier, struct td_error *err)
{
    const struct config_texts *tasks = &rule->named[RULE_TASK];
    const uint32_t judged = 1u << RULE_GAIN | 1u << RULE_P_LOCAL | 1u << RULE_P_STRONG;
    const struct routing_rule *compiled = &config->rule_set.rules[rule - config->rules];
    if (!rule->line)
        return TD_OK; /* a preset may name more tasks than this classifier knows */
    if (!classifier && (tasks->count || compiled->asked & judged))
        return error_set(err, TD_INVALID,
                         "%s:%u: rule '%.60s' needs a classifier, and there is none: name one with "
                         "router.classifier",
                         config->label, rule->line, rule->name);
    if (compiled->asked >> RULE_P_STRONG & 1 && !classifier_has(classifier, OUTCOME_STRONG))
        return error_set(err, TD_INVALID,
                         "%s:%u: rule '%.60s' asks for p_strong, and the classifier has not learnt "
                         "what other tiers get right: train one with strong_ok",
                         config->label, rule->line, rule->name);
    for (size_t i = 0; i < tasks->count; i++) {
        if (knows_task(classifier, tasks->items[i]))
            continue;
        return error_set(err, TD_INVALID,
                         "%s:%u: rule '%.60s' names a task that the classifier does not know: "
                         "'%.40s'%s",
                         config->label, rule->line, rule->name, tasks->items[i],
                         suggest_task(classifier, tasks->items[i]).text);
    }
    return TD_OK;
}

/* The same of stakes. */
static enum td_status check_stakes(const struct config *config, const struct config_route *route,
                                   const struct classifier *classifier, struct td_error *err)
{
    const struct config_texts *tasks = &route->g4.high_tasks;
    if (!classifier && (tasks->count || route->g4.high_p_local_under > 0))
        return error_set(err, TD_INVALID,
                         "%s:%u: the stakes of route '%.60s' need a classifier, and there is none: "
                         "name one with router.classifier",
                         config->label, route->line, route->name);
    for (size_t i = 0; i < tasks->count; i++)
        if (!knows_task(classifier, tasks->items[i]))
            return error_set(err, TD_INVALID,
                             "%s:%u: gates.g4.high_tasks of route '%.60s' names a task that the "
                             "classifier does not know: '%.40s'%s",
                             config->label, route->line, route->name, tasks->items[i],
                             suggest_task(classifier, tasks->items[i]).text);
    return TD_OK;
}

/* The default classifier may be missing as long as nothing asks for one; a named one may not. */
enum td_status policy_open_classifier(const struct config *config, struct classifier **out,
                                      struct td_error *err)
{
    const char *path = config->router.classifier;
    *out = NULL;
    if (path && strcmp(path, "none") == 0)
        return TD_OK;
    return path || classifier_file_has_default() ? classifier_file_open(path, out, err) : TD_OK;
}

/* --- filling in --- */

static void fill_route(const struct config *config, const struct config_route *from,
                       struct route *to)
{
    int data_class = from->data_class > config->privacy.data_class ? from->data_class
                                                                   : config->privacy.data_class;
    *to = (struct route){
        .name = from->name,
        .aliases = from->aliases.items      ? from->aliases.items
                   : from == config->routes ? model_names_common
                                            : NULL,
        .kind = (enum route_kind)from->kind,
        .tier_count = from->tiers.count,
        .start = from->start,
        .data_class = (enum td_data_class)data_class,
        .needs = (from->no_train ? CAPABILITY_NO_TRAIN : 0u) |
                 (from->no_retention ? CAPABILITY_NO_RETENTION : 0u),
        .region = from->region,
        .consent = from->consent == 1,
        .pseudonyms = from->pseudonyms,
        .strict = from->strict || config->privacy.pseudonyms.strict,
        .zero_retention = from->zero_retention,
        .mode = (enum td_mode)from->mode,
        .shadow_edge_share = from->shadow_edge_share,
        .shadow_cloud_share = from->shadow_cloud_share,
        .ramp_to = from->ramp.to,
        .ramp_slo_ms = from->ramp.slo_ms,
        .gates = from->gates,
        .race = from->climb == 2,
        .settle = (enum settle)from->settle,
        .verify = {.by = (enum verify_by)from->g4.by,
                   .tier = from->g4.tier,
                   .stakes = (enum td_stakes)(from->g4.stakes + 1),
                   .high_class = from->g4.high_from,
                   .high_tasks = (const char *const *)from->g4.high_tasks.items,
                   .high_p_local_under = from->g4.high_p_local_under,
                   .share = from->g4.share,
                   .deadline_ms = from->g4.deadline_ms,
                   .compare = (enum compare_by)from->g4.compare},
        .documents = {.on = from->documents.stay > 0,
                      .place = (enum td_place)(from->documents.stay - 1),
                      .bytes_min = from->documents.bytes_min,
                      .rounds = from->documents.rounds,
                      .share_max = from->documents.share_max},
        .hedge = {.on = from->climb == 1 || (from->climb == 2 && from->settle == SETTLE_FIRST_GOOD),
                  .at_once = from->climb == 2,
                  .percentile = from->hedge_percentile,
                  .after_ms = from->hedge_after_ms,
                  .share = from->climb == 2 ? 1 : from->hedge_share},
        .overflow_after_ms = from->overflow_after_ms,
        .explore_share = from->explore_share,
        .weights = config_weights_read(&from->weights),
    };
    to->gates.g1_on = from->gates.g1_probe_min > 0;
    to->gates.g2_on = from->gates.g2_tokens > 0 && from->gates.g2_confidence_min > 0;
    to->gates.g3_on = from->gates.g3_confidence_min > 0;
    config_ramp_read(config, from, &to->ramp);
    for (size_t t = 0; t < from->tiers.count && t < RUNGS_MAX; t++)
        to->tiers[t] = from->tiers.items[t];
}

/* An application is known by the SHA-256 of its key (api/http/auth.h). */
static enum td_status fill_app(const struct config_app *from, struct app *to,
                               char digest[static 65], struct td_error *err)
{
    struct secret *key = NULL;
    *to = (struct app){.name = from->name,
                       .key = digest,
                       .tenant = from->tenant,
                       .certificate = from->certificate,
                       .models = from->models.items,
                       .model_count = from->models.count,
                       .weights = config_weights_read(&from->weights),
                       .escalations_per_hour = from->escalations_per_hour};
    if (from->certificate) {
        auth_certificate_digest(from->certificate, digest);
        return TD_OK;
    }
    if (from->key_sha256) {
        snprintf(digest, 65, "%s", from->key_sha256);
        return TD_OK;
    }
    digest[0] = '\0'; /* a key that is not there: nobody is this application */
    enum td_status status = secret_source_read(from->key_env, from->key_file, &key, err);
    if (status == TD_OK && key) {
        struct td_str text = secret_reveal(key);
        uint8_t hash[CRYPTO_SHA256_BYTES];
        crypto_sha256(text.data, text.len, hash);
        crypto_hex(hash, sizeof hash, digest);
    }
    secret_free(key);
    return status;
}

/* The queue is on this device, and who may see what in it is a matter of its reviewers' clearance.
 * Only out of one that nodes share, which is not sealed, contractual and restricted data stay. */
static void set_people(const struct config *config, const struct config_tier *tier,
                       struct tier_facts *facts)
{
    unsigned lower = 1u << TD_CLASS_RESTRICTED;
    unsigned sees = facts->ruled ? facts->sees & (lower - 1) : lower - 1;
    facts->people = true;
    facts->ruled = true;
    if (config->state)
        sees &= ~(1u << TD_CLASS_CONTRACTUAL);
    facts->sees = sees == lower - 1 && !config->state ? sees | lower : sees;
    facts->loopback = !config->state;
    facts->provider = "review";
    facts->model = "people";
    facts->sla_s = tier->review.sla_minutes * 60;
    facts->tickets_max = tier->review.queue_max;
    facts->review_usd = tier->review.minutes / 60 * tier->review.usd_hour;
    facts->cost_of_error = tier->review.cost_of_error;
    facts->lacks = CAPABILITY_TOOLS | CAPABILITY_FOREIGN_TOOLS | CAPABILITY_WHOLE_TOOLS |
                   CAPABILITY_FORMATS | CAPABILITY_ADAPTERS | CAPABILITY_COMPLETION |
                   CAPABILITY_INFILL | CAPABILITY_PROMPT_IDS | CAPABILITY_MEDIA |
                   CAPABILITY_NO_RETENTION | (tier->no_train ? 0u : CAPABILITY_NO_TRAIN);
}

struct tier_facts policy_tier_facts(const struct config *config, const struct config_tier *tier)
{
    bool local = tier->kind == CONFIG_TIER_LOCAL;
    uint32_t context = tier->context_tokens, slot = config->engine.context_tokens;
    struct tier_facts facts = {
        .name = tier->name,
        .model = tier->model ? tier->model : "",
        .model_assumed = tier->model_assumed,
        .models = tier->served,
        .model_count = tier->model_count,
        .place = (enum td_place)tier->place,
        .context_tokens = context || !local ? context
                          : slot            ? slot
                                            : POLICY_CONTEXT_TOKENS,
        .input_usd_per_mtok = tier->input_usd_per_mtok,
        .output_usd_per_mtok = tier->output_usd_per_mtok,
        .cache_write_factor =
            config_tier_server(tier) ? config_tier_server(tier)->cache_write_factor : 0,
        .cached_input_usd_per_mtok = isnan(tier->cached_input_usd_per_mtok)
                                         ? tier->input_usd_per_mtok
                                         : tier->cached_input_usd_per_mtok,
        .has_key = true,
        .pseudonyms = tier->pseudonyms,
        .prefill = tier->prefill < 0 ? PREFILL_NONE : (enum prefill)tier->prefill,
        .streams_as_asked = tier->stream == 1,
        .key_hint = tier->key_count     ? "one of its keys"
                    : tier->api_key_env ? tier->api_key_env
                                        : tier->api_key_file,
    };
    if (!local)
        facts.lacks = (tier->completions == 1 ? 0u : CAPABILITY_COMPLETION) |
                      config_modalities_lack(tier->modalities) |
                      (tier->calls_no_tools ? CAPABILITY_TOOLS : 0u) |
                      (tier->no_train ? 0u : CAPABILITY_NO_TRAIN) |
                      (tier->no_retention ? 0u : CAPABILITY_NO_RETENTION);
    config_reach_apply(config, tier, &facts);
    if (tier->kind == CONFIG_TIER_REVIEW)
        set_people(config, tier, &facts);
    return facts;
}

enum td_status
policy_read_thresholds(const struct config *config,
                       struct thresholds *out[static CONFIG_ROUTES_MAX][THRESHOLD_GATE_COUNT],
                       struct td_error *err)
{
    for (size_t i = 0; i < config->route_count; i++) {
        for (int gate = 0; gate < THRESHOLD_GATE_COUNT; gate++) {
            if (!config->routes[i].thresholds[gate])
                continue;
            enum td_status status = threshold_file_read(
                config->routes[i].thresholds[gate], (enum threshold_gate)gate, &out[i][gate], err);
            if (status != TD_OK) {
                error_prefix(err, "%s:%u: route '%s'", config->label, config->routes[i].line,
                             config->routes[i].name);
                return status;
            }
        }
    }
    return TD_OK;
}

enum td_status policy_build(const struct config *config, const struct policy_learned *learned,
                            struct policy_parts *out, struct td_error *err)
{
    ASSERT(config->route_count <= CONFIG_ROUTES_MAX && config->app_count <= CONFIG_APPS_MAX);
    const struct classifier *classifier = learned->classifier;
    bool decides = !learned->confined;
    enum td_status status = decides ? check_gates(config, classifier, err) : TD_OK;
    for (size_t i = 0; decides && i < config->rule_count && status == TD_OK; i++)
        status = check_rule(config, &config->rules[i], classifier, err);
    for (size_t i = 0; decides && i < config->route_count && status == TD_OK; i++)
        status = check_stakes(config, &config->routes[i], classifier, err);
    for (size_t i = 0; i < config->route_count; i++) {
        fill_route(config, &config->routes[i], &out->routes[i]);
        for (int gate = 0; learned->thresholds && gate < THRESHOLD_GATE_COUNT; gate++)
            out->routes[i].gates.thresholds[gate] = learned->thresholds[i][gate];
    }
    for (size_t i = 0; decides && i < config->app_count && status == TD_OK; i++)
        status = fill_app(&config->apps[i], &out->apps[i], out->digests[i], err);
    for (size_t i = 0; i < config->budget_count; i++)
        out->budgets[i] = (struct budget){.name = config->budgets[i].name,
                                          .per = (enum budget_per)config->budgets[i].per,
                                          .usd_per_day = config->budgets[i].usd_per_day};
    out->policy = (struct policy){
        .version = out->version,
        .routes = out->routes,
        .route_count = config->route_count,
        .rules = decides ? &config->rule_set : NULL,
        .apps = out->apps,
        .app_count = decides && status == TD_OK ? config->app_count : 0,
        .budgets = out->budgets,
        .budget_count = decides ? config->budget_count : 0,
        .weights = decides ? config_weights_read(&config->policy.weights)
                           : (struct td_weights){.set = false},
        .worth = config->policy.worth,
    };
    return status == TD_OK ? write_version(config, learned, out, err) : status;
}
