/* The key table's part for rules, applications and the policy. */
#include "app/config/keys.h"

#include "base/names.h"

const char *const config_yes_no[] = {"false", "true", NULL};
static const char *const only_names[] = {"local", "cloud", NULL};
const char *const config_languages[] = {"other", "en", "de", "fr", "es", NULL};
const char *const config_priorities[] = {"interactive", "batch", NULL};
const char *const config_days[] = {"mon", "tue", "wed", "thu", "fri", "sat", "sun", NULL};

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* Weights in whatever struct AT names. */
#define WEIGHT_ROWS                                                                        \
    {"latency", CONFIG_KEY_NUMBER, AT(weights.latency), NULL, 0, 1, .help = "of waiting"}, \
        {"privacy",                                                                        \
         CONFIG_KEY_NUMBER,                                                                \
         AT(weights.privacy),                                                              \
         NULL,                                                                             \
         0,                                                                                \
         1,                                                                                \
         .help = "of how far the prompt travels"},                                         \
    {                                                                                      \
        "cost", CONFIG_KEY_NUMBER, AT(weights.cost), NULL, 0, 1,                           \
            .help = "of what answers and errors cost"                                      \
    }

#define AT(member) offsetof(struct config_route, member)
static const struct config_key route_weight_keys[] = {WEIGHT_ROWS};
const struct config_section config_route_weights_section = {route_weight_keys,
                                                            COUNT(route_weight_keys), 0, 0};
#undef AT

/* --- router.consistency --- */

#define AT(member) offsetof(struct config, router.consistency.member)

static const struct config_key consistency_keys[] = {
    {"on", CONFIG_KEY_BOOL, AT(on), "true",
     .help = "remember where exchanges began, as keyed hashes; not with privacy.zero_retention"},
    {"margin", CONFIG_KEY_NUMBER, AT(margin), "0.7", 0, 1,
     .help = "most that keeping may give up at once: probability of a right answer beyond a gate's "
             "bound, or share of the weights' score"},
    {"loss_max", CONFIG_KEY_NUMBER, AT(loss_max), "0.02", 0, 1,
     .help = "and over a day: expected right answers a request (the first two are free)"},
    {"usd_per_day", CONFIG_KEY_NUMBER, AT(usd_per_day), "1", 0, 1000000,
     .help = "most that keeping dearer tiers may cost in a day (UTC), of all users together"},
    {"ttl_days", CONFIG_KEY_UINT, AT(ttl_days), "30", 1, 3660,
     .help = "what was not used for so long is forgotten; a change needs a restart"},
    {"entries_max", CONFIG_KEY_UINT, AT(entries_max), "100000", 16, 1000000,
     .help = "questions and conversations that are remembered; a change needs a restart"},
    {"table", CONFIG_KEY_TEXT, AT(table), NULL,
     .help = "another table of similar words than the one beside the program; none = exact words"},
};
const struct config_section config_consistency_section = {consistency_keys, COUNT(consistency_keys),
                                                          0, 0};
#undef AT

/* --- rules[] --- */

#define AT(member) offsetof(struct config_rule, member)
#define NAMED(key, choice, text)                                                        \
    {                                                                                   \
        key, CONFIG_KEY_WORDS, AT(named[choice]), NULL, 0, RULE_NAMES_MAX, .help = text \
    }
#define BOUNDS(key, number, most, text)                                                          \
    {key "_over", CONFIG_KEY_NUMBER, AT(over[number]), NULL, -1, most, .help = text " is more"}, \
    {                                                                                            \
        key "_under", CONFIG_KEY_NUMBER, AT(under[number]), NULL, -1, most,                      \
            .help = text " is less"                                                              \
    }
#define FLAG(key, member, text)                                                          \
    {                                                                                    \
        key, CONFIG_KEY_CHOICE, AT(member), NULL, .choices = config_yes_no, .help = text \
    }

static const struct config_key device_keys[] = {
    BOUNDS("battery", RULE_BATTERY, 101, "the battery's charge in percent"),
    FLAG("on_battery", on_battery, "no charger is connected"),
    {"network", CONFIG_KEY_MASK, AT(networks), NULL, .choices = names_networks,
     .help = "the device's network; a request may say it with x-tandem-network"},
};
static const struct config_section device_section = {device_keys, COUNT(device_keys), 0, 0};

static const struct config_key when_keys[] = {
    NAMED("task", RULE_TASK, "the classifier's kind of task is one of these"),
    NAMED("route", RULE_ROUTE, "the request's route is one of these"),
    NAMED("app", RULE_APP, "the key that it came with belongs to one of these apps"),
    NAMED("user", RULE_USER, "the request's user is one of these"),
    NAMED("tag", RULE_TAG, "the request has one of these words in tandem.tags or x-tandem-tags"),
    {"class", CONFIG_KEY_MASK, AT(classes), NULL, .choices = names_classes,
     .help = "the data class is one of these"},
    {"language", CONFIG_KEY_MASK, AT(languages), NULL, .choices = config_languages,
     .help = "of the user's own words"},
    {"priority", CONFIG_KEY_MASK, AT(priorities), NULL, .choices = config_priorities,
     .help = "as x-tandem-priority says"},
    {"hours", CONFIG_KEY_WORDS, AT(hours), NULL, 0, 24,
     .help = "local time: 9, 9-17 (to 16:59) or 22-6"},
    {"days", CONFIG_KEY_MASK, AT(days), NULL, .choices = config_days, .help = "local time"},
    BOUNDS("tokens", RULE_TOKENS, 1e9, "the prompt, in tokens of the route's first tier,"),
    BOUNDS("answer_tokens", RULE_ANSWER_TOKENS, 1e9, "max_tokens"),
    BOUNDS("messages", RULE_MESSAGES, 1e9, "the number of messages"),
    BOUNDS("gain", RULE_GAIN, 1, "the expected gain of the next tier"),
    BOUNDS("p_local", RULE_P_LOCAL, 1.01, "the probability that the local tier is right"),
    BOUNDS("p_strong", RULE_P_STRONG, 1.01, "the probability that the next tier is right"),
    BOUNDS("slo_ttft_ms", RULE_SLO_TTFT_MS, 1e9, "the time that the first text may take"),
    BOUNDS("slo_ms", RULE_SLO_MS, 1e9, "the time that the whole answer may take"),
    BOUNDS("budget_used", RULE_BUDGET, 1000, "the share of the fullest budget that is spent"),
    BOUNDS("day_tokens", RULE_DAY_TOKENS, 1e15, "this server's tokens of the last 24 hours"),
    FLAG("code", code, "the prompt has code"),
    FLAG("maths", maths, "the prompt has mathematics"),
    FLAG("question", question, "the prompt asks"),
    FLAG("multi_step", multi_step, "the prompt asks for several steps"),
    FLAG("fresh", fresh, "the prompt asks for what is new"),
    FLAG("jailbreak", jailbreak, "the prompt looks like an attempt to get around rules"),
    FLAG("tools", tools, "the request brings tools"),
    {"device", CONFIG_KEY_SECTION, 0, NULL, .section = &device_section,
     .help = "the state of this device"},
};
static const struct config_section when_section = {when_keys, COUNT(when_keys), 0, 0};

static const struct config_key rule_weight_keys[] = {WEIGHT_ROWS};
static const struct config_section rule_weights_section = {rule_weight_keys,
                                                           COUNT(rule_weight_keys), 0, 0};

static const struct config_key then_keys[] = {
    {"deny", CONFIG_KEY_TEXT, AT(deny), NULL, .help = "refuse the request for this reason"},
    {"only", CONFIG_KEY_CHOICE, AT(only), NULL, .choices = only_names,
     .help = "no tier off (on) the device"},
    {"tiers", CONFIG_KEY_WORDS, AT(tiers), NULL, 0, RUNGS_MAX, .help = "no tier but these"},
    {"places", CONFIG_KEY_MASK, AT(places), NULL, .choices = names_places,
     .help = "no tier but at these places"},
    {"start", CONFIG_KEY_TEXT, AT(start), NULL,
     .help = "tier to start on; local and cloud mean the first on and off the device"},
    {"escalate", CONFIG_KEY_CHOICE, AT(escalate), NULL, .choices = config_yes_no,
     .help = "false: no gate leaves the start"},
    {"class", CONFIG_KEY_CHOICE, AT(data_class), NULL, .choices = names_classes,
     .help = "the request is at least of this class"},
    {"weights", CONFIG_KEY_SECTION, 0, NULL, .section = &rule_weights_section,
     .help = "what counts, for requests that bring no weights"},
};
static const struct config_section then_section = {then_keys, COUNT(then_keys), 0, 0};

static const struct config_key rule_keys[] = {
    {"name", CONFIG_KEY_TEXT, AT(name), NULL, .required = true,
     .help = "unique; records and explanations say it"},
    {"when", CONFIG_KEY_SECTION, 0, NULL, .section = &when_section,
     .help = "all of it must hold; left out: always"},
    {"then", CONFIG_KEY_SECTION, 0, NULL, .section = &then_section, .required = true,
     .help = "what follows"},
};
const struct config_section config_rule_section = {rule_keys, COUNT(rule_keys),
                                                   sizeof(struct config_rule), AT(line)};
#undef AT

/* --- apps[] --- */

#define AT(member) offsetof(struct config_app, member)
static const struct config_key app_weight_keys[] = {WEIGHT_ROWS};
static const struct config_section app_weights_section = {app_weight_keys, COUNT(app_weight_keys),
                                                          0, 0};
static const struct config_key app_keys[] = {
    {"name", CONFIG_KEY_TEXT, AT(name), NULL, .required = true, .help = "unique name"},
    {"key_env", CONFIG_KEY_TEXT, AT(key_env), NULL,
     .help = "environment variable with the API key that it sends"},
    {"key_file", CONFIG_KEY_TEXT, AT(key_file), NULL, .help = "file with that key"},
    {"key_sha256", CONFIG_KEY_TEXT, AT(key_sha256), NULL,
     .help = "that key's SHA-256 in hex digits"},
    {"weights", CONFIG_KEY_SECTION, 0, NULL, .section = &app_weights_section,
     .help = "what counts, for its requests that bring no weights"},
};
const struct config_section config_app_section = {app_keys, COUNT(app_keys),
                                                  sizeof(struct config_app), AT(line)};
#undef AT

/* --- budgets[] --- */

static const char *const per_names[] = {"all", "user", "app", "route", NULL};
#define AT(member) offsetof(struct config_budget, member)
#define NO_UNIT "a budget needs its unit: usd_per_day, US dollars for a day from midnight on"
static const struct config_key budget_keys[] = {
    {"name", CONFIG_KEY_TEXT, AT(name), NULL, .required = true, .help = "unique; answers say it"},
    {"per", CONFIG_KEY_CHOICE, AT(per), "all", .choices = per_names,
     .help = "one for all together, or one for each of these"},
    {"usd_per_day", CONFIG_KEY_NUMBER, AT(usd_per_day), NULL, 0.000001, 1e9, .required = true,
     .help =
         "US dollars for a day from midnight on; after a restart the ledger tells what is spent"},
    {"usd", CONFIG_KEY_REFUSED, 0, NULL, .help = NO_UNIT},
    {"per_day", CONFIG_KEY_REFUSED, 0, NULL, .help = NO_UNIT},
    {"limit", CONFIG_KEY_REFUSED, 0, NULL, .help = NO_UNIT},
};
const struct config_section config_budget_section = {budget_keys, COUNT(budget_keys),
                                                     sizeof(struct config_budget), AT(line)};
#undef AT

/* --- policy --- */

#define AT(member) offsetof(struct config, policy.member)
static const struct config_key policy_weight_keys[] = {WEIGHT_ROWS};
static const struct config_section policy_weights_section = {policy_weight_keys,
                                                             COUNT(policy_weight_keys), 0, 0};
static const struct config_key policy_keys[] = {
    {"preset", CONFIG_KEY_TEXT, AT(preset), NULL,
     .help = "rules that follow the file's own: s0-lists, s2-matrix, s2-slo, s3-rule"},
    {"weights", CONFIG_KEY_SECTION, 0, NULL, .section = &policy_weights_section,
     .help = "what counts, where nothing nearer says it"},
    {"second_usd", CONFIG_KEY_NUMBER, AT(worth.second_usd), "0.001", 0, 1000,
     .help = "what a second of waiting is worth"},
    {"exposure_usd", CONFIG_KEY_NUMBER, AT(worth.exposure_usd), "0.001", 0, 1000,
     .help = "what it is worth that a prompt does not travel to the cloud"},
    {"error_usd", CONFIG_KEY_NUMBER, AT(worth.error_usd), "0", 0, 1000000,
     .help = "what a wrong answer costs"},
};
const struct config_section config_policy_section = {policy_keys, COUNT(policy_keys), 0, 0};
#undef AT

/* --- device --- */

#define AT(member) offsetof(struct config, device.member)
static const struct config_key machine_keys[] = {
    {"root", CONFIG_KEY_TEXT, AT(root), "/sys",
     .help = "where class/power_supply and class/net are; a change needs a restart"},
};
const struct config_section config_device_section = {machine_keys, COUNT(machine_keys), 0, 0};
#undef AT
