/* The root of the configuration: one row for each section, and the small sections themselves.
 * keys.h says how to add a key. */
#define HELP_OF 0
#include "app/config/keys.h"

#include "exchange/limits/watch.h"
#include "net/client/webhook.h"

/* --- router --- */

#define AT(member) offsetof(struct config, router.consistency.member)

static const struct config_key consistency_keys[] = {
    {"on", CONFIG_KEY_BOOL, AT(on), "true",
     .help = HELP(
         "remember where questions started, as keyed hashes; off with privacy.zero_retention")},
    {"margin", CONFIG_KEY_NUMBER, AT(margin), "0.7", 0, 1,
     .help = HELP(
         "most that one repeated start may give up: a difference in the probability of a right "
         "answer, or a share of the weights' score")},
    {"loss_max", CONFIG_KEY_NUMBER, AT(loss_max), "0.02", 0, 1,
     .help =
         HELP("most that a day may give up: right answers lost for each request; the first two are "
              "free")},
    {"usd_per_day", CONFIG_KEY_NUMBER, AT(usd_per_day), "1", 0, 1000000,
     .help = HELP("most that staying on expensive tiers may cost in a day (UTC), for all users")},
    {"ttl_days", CONFIG_KEY_UINT, AT(ttl_days), "30", 1, 3660,
     .help = HELP("entries that were not used for this many days are forgotten; needs a restart")},
    {"entries_max", CONFIG_KEY_UINT, AT(entries_max), "100000", 16, 1000000,
     .help = HELP("most questions and conversations to remember; needs a restart")},
    {"table", CONFIG_KEY_TEXT, AT(table), NULL,
     .help =
         HELP("file with similar words; default: the one beside the program; none: exact words")},
};
static const struct config_section consistency_section = KEYS_MAP(consistency_keys);
#undef AT

#define AT(member) offsetof(struct config, member)

static const struct config_key router_keys[] = {
    {"classifier", CONFIG_KEY_TEXT, AT(router.classifier), NULL,
     .help =
         HELP("file that 'tandem router train' wrote; default: the one beside the program; none: "
              "prompts are not judged")},
    {"confidence", CONFIG_KEY_TEXT, AT(router.confidence), NULL,
     .help = HELP("file that 'tandem router confidence' wrote for the local model")},
    {"consistency", CONFIG_KEY_SECTION, 0, NULL, .section = &consistency_section,
     .help = HELP(
         "keeps the questions of a conversation, and similar questions of a user, on one tier")},
};
static const struct config_section router_section = KEYS_MAP(router_keys);

/* --- watch, shadow, device --- */

static const struct config_key watch_keys[] = {
    {"escalations_per_hour", CONFIG_KEY_UINT, AT(watch.escalations_per_hour), "0", 0, 1000000,
     .help =
         HELP("cap for one caller; above it the caller's requests stay on the device; 0 = no cap")},
    {"escalation_share", CONFIG_KEY_NUMBER, AT(watch.escalation_share), "0", 0, 0.8,
     .help = HELP("share of escalations that is usual; 0 = learn it from the first 500 exchanges")},
    {"objective", CONFIG_KEY_NUMBER, AT(watch.objective), "0.99", 0, WATCH_OBJECTIVE_MAX,
     .help = HELP(
         "share of the answers to requests with slo_ms or slo_ttft_ms that should be in time")},
    {"resting_s", CONFIG_KEY_UINT, AT(watch.resting_s), "300", 1, 86400,
     .help = HELP("a tier that fails and has not answered for this many seconds is an alarm")},
    {"webhook", CONFIG_KEY_TEXT, AT(watch.webhook), NULL,
     .help = HELP("address that is sent every alarm as JSON; https, or http to this machine")},
    {"webhook_key_env", CONFIG_KEY_TEXT, AT(watch.webhook_key_env), NULL,
     .help = HELP("variable with the key that the webhook gets as 'Authorization: Bearer'")},
};
static const struct config_section watch_section = KEYS_MAP(watch_keys);

static const struct config_key shadow_keys[] = {
    {"running_max", CONFIG_KEY_UINT, AT(shadow.running_max), "1", 1, 64,
     .help = HELP("most shadow answers at once; further ones are dropped; needs a restart")},
    {"usd_per_day", CONFIG_KEY_NUMBER, AT(shadow.usd_per_day), "1", 0, 1e6,
     .help = HELP("most that shadow answers of clouds may cost in a day, for all routes")},
};
static const struct config_section shadow_section = KEYS_MAP(shadow_keys);

static const struct config_key device_keys[] = {
    {"root", CONFIG_KEY_TEXT, AT(device.root), "/sys",
     .help = HELP(
         "folder like /sys, or like / with a folder sys in it, that the state of the machine is "
         "read from; needs a restart")},
    {"metered", CONFIG_KEY_TEXTS, AT(device.metered), NULL, 0, 16,
     .help = HELP(
         "network interfaces that cost by volume, as in [wlan0]; modems and phones are known to "
         "be; needs a restart")},
    {"heat", CONFIG_KEY_BOOL, AT(device.heat), "true",
     .help = HELP(
         "before the kernel slows a hot machine: fewer threads, shorter answers, other tiers")},
    {"battery", CONFIG_KEY_BOOL, AT(device.battery), "true",
     .help = HELP("the same for a battery that is nearly empty")},
    {"memory", CONFIG_KEY_BOOL, AT(device.memory), "true",
     .help =
         HELP("while memory is short: cached prompts and idle models go, then requests start on "
              "other tiers")},
};
static const struct config_section device_section = KEYS_MAP(device_keys);

/* --- the root --- */

static const struct config_key root_keys[] = {
    {"state_dir", CONFIG_KEY_TEXT, AT(state_dir), NULL,
     .help = HELP("folder for the ledger and other state; default: tandem in XDG_STATE_HOME. "
                  "TANDEM_STATE_DIR overrides it")},
    {"state", CONFIG_KEY_TEXT, AT(state), NULL,
     .help =
         HELP("postgresql://USER@HOST/DATABASE: what several nodes share stands there, and not in "
              "files of state_dir: the ledger, API keys, files, batches and consents. TANDEM_STATE "
              "overrides it; needs a restart")},
    {"server", CONFIG_KEY_SECTION, 0, NULL, .section = &keys_server,
     .help = HELP("the HTTP server")},
    {"engine", CONFIG_KEY_SECTION, 0, NULL, .section = &keys_engine,
     .help = HELP("the engine of the local tiers")},
    {"tiers", CONFIG_KEY_SECTIONS, AT(tiers), NULL, 0, CONFIG_TIERS_MAX, .section = &keys_tier,
     .help = HELP("where inference runs; default: local and openai"),
     .count_offset = AT(tier_count)},
    {"routes", CONFIG_KEY_SECTIONS, AT(routes), NULL, 0, CONFIG_ROUTES_MAX, .section = &keys_route,
     .help = HELP(
         "which tiers may answer, and when a request moves on to the next; default: one hybrid "
         "route over all tiers"),
     .count_offset = AT(route_count)},
    {"rules", CONFIG_KEY_SECTIONS, AT(rules), NULL, 0, CONFIG_RULES_MAX, .section = &keys_rule,
     .help = HELP("exceptions, tried from the top; the first that matches decides"),
     .count_offset = AT(rule_count)},
    {"apps", CONFIG_KEY_SECTIONS, AT(apps), NULL, 0, CONFIG_APPS_MAX, .section = &keys_app,
     .help = HELP("applications that send requests, told apart by their API keys"),
     .count_offset = AT(app_count)},
    {"budgets", CONFIG_KEY_SECTIONS, AT(budgets), NULL, 0, BUDGETS_MAX, .section = &keys_budget,
     .help = HELP("money for a day; when it is spent, only free tiers answer"),
     .count_offset = AT(budget_count)},
    {"webhooks", CONFIG_KEY_SECTIONS, AT(webhooks), NULL, 0, WEBHOOKS_MAX, .section = &keys_webhook,
     .help = HELP(
         "addresses that are told of events, signed as Standard Webhooks says; needs a restart"),
     .count_offset = AT(webhook_count)},
    {"device", CONFIG_KEY_SECTION, 0, NULL, .section = &device_section,
     .help =
         HELP("heat, battery, memory and network of this machine, and what is done about them")},
    {"policy", CONFIG_KEY_SECTION, 0, NULL, .section = &keys_policy,
     .help = HELP("presets, and what waiting, privacy and errors are worth")},
    {"models", CONFIG_KEY_SECTION, 0, NULL, .section = &keys_models,
     .help = HELP("what 'tandem models pull' downloads")},
    {"router", CONFIG_KEY_SECTION, 0, NULL, .section = &router_section,
     .help = HELP("what judges prompts before inference")},
    {"shadow", CONFIG_KEY_SECTION, 0, NULL, .section = &shadow_section,
     .help = HELP("limits of answers that are only compared (routes[].shadow)")},
    {"watch", CONFIG_KEY_SECTION, 0, NULL, .section = &watch_section,
     .help = HELP("alarms about unusual traffic (GET /tandem/v1/alarms)")},
    {"privacy", CONFIG_KEY_SECTION, 0, NULL, .section = &keys_privacy,
     .help = HELP("what may leave the device")},
    {"ledger", CONFIG_KEY_SECTION, 0, NULL, .section = &keys_ledger,
     .help = HELP("the record of every exchange")},
    {"cluster", CONFIG_KEY_SECTION, 0, NULL, .section = &keys_cluster,
     .help = HELP("several nodes that share a database; needs a restart")},
    {"responses", CONFIG_KEY_SECTION, 0, NULL, .section = &keys_responses,
     .help =
         HELP("responses and conversations that clients come back to, in memory; needs a restart")},
    {"cache", CONFIG_KEY_SECTION, 0, NULL, .section = &keys_cache,
     .help = HELP("answers that are given again to the same request, in memory; off with "
                  "privacy.zero_retention")},
    {"files", CONFIG_KEY_SECTION, 0, NULL, .section = &keys_files,
     .help = HELP("files that clients upload, and batches; needs a restart; off with "
                  "privacy.zero_retention")},
    {"deferral", CONFIG_KEY_SECTION, 0, NULL, .section = &keys_deferral,
     .help = HELP("questions that wait for a connection instead of getting a poor answer; needs a "
                  "restart; off with privacy.zero_retention")},
    {"otlp", CONFIG_KEY_SECTION, 0, NULL, .section = &keys_otlp,
     .help = HELP("traces and metrics for an OpenTelemetry collector; needs a restart")},
    {"log", CONFIG_KEY_SECTION, 0, NULL, .section = &keys_log,
     .help = HELP("log lines on standard error")},
};
const struct config_section keys_root = {root_keys, sizeof root_keys / sizeof *root_keys, 0,
                                         AT(line)};
