/* Keys of rules, applications, budgets and the policy. */
#define HELP_OF 4
#include "app/config/keys.h"

#include "base/text/names.h"

/* Each in the order of its enum: the index is the value. */
const char *const config_yes_no[] = {"false", "true", NULL};
static const char *const only_names[] = {"local", "cloud", NULL};
static const char *const per_names[] = {"all", "user", "app", "route", "key", NULL};
const char *const config_languages[] = {"other", "en", "de", "fr", "es", NULL};
const char *const config_priorities[] = {"interactive", "batch", NULL};
const char *const config_days[] = {"mon", "tue", "wed", "thu", "fri", "sat", "sun", NULL};

/* --- rules[] --- */

#define AT(member) offsetof(struct config_rule, member)
#define NAMED(key, choice, text)                                                              \
    {                                                                                         \
        key, CONFIG_KEY_WORDS, AT(named[choice]), NULL, 0, RULE_NAMES_MAX, .help = HELP(text) \
    }
#define BOUNDS(key, number, most, text)                                     \
    {key "_over",                                                           \
     CONFIG_KEY_NUMBER,                                                     \
     AT(over[number]),                                                      \
     NULL,                                                                  \
     -1,                                                                    \
     most,                                                                  \
     .help = HELP(text " is greater")},                                     \
    {                                                                       \
        key "_under", CONFIG_KEY_NUMBER, AT(under[number]), NULL, -1, most, \
            .help = HELP(text " is less")                                   \
    }
#define FLAG(key, member, text)                                                                \
    {                                                                                          \
        key, CONFIG_KEY_CHOICE, AT(member), NULL, .choices = config_yes_no, .help = HELP(text) \
    }

static const struct config_key device_keys[] = {
    BOUNDS("battery", RULE_BATTERY, 101, "the charge of the battery in percent"),
    FLAG("on_battery", on_battery, "the device runs on its battery"),
    {"network", CONFIG_KEY_MASK, AT(networks), NULL, .choices = names_networks,
     .help = HELP("network of the device; a request may say it with x-tandem-network")},
};
static const struct config_section device_section = KEYS_MAP(device_keys);

static const struct config_key when_keys[] = {
    NAMED("task", RULE_TASK, "the classifier says that the task is one of these"),
    NAMED("route", RULE_ROUTE, "the route of the request is one of these"),
    NAMED("app", RULE_APP, "the API key of the request belongs to one of these apps"),
    NAMED("user", RULE_USER, "the user of the request is one of these"),
    NAMED("tag", RULE_TAG, "the request has one of these words in tandem.tags or x-tandem-tags"),
    {"class", CONFIG_KEY_MASK, AT(classes), NULL, .choices = names_classes,
     .help = HELP("the data class is one of these")},
    {"language", CONFIG_KEY_MASK, AT(languages), NULL, .choices = config_languages,
     .help = HELP("the language of the user's own words is one of these")},
    {"priority", CONFIG_KEY_MASK, AT(priorities), NULL, .choices = config_priorities,
     .help = HELP("the priority in x-tandem-priority is one of these")},
    {"hours", CONFIG_KEY_WORDS, AT(hours), NULL, 0, 24,
     .help = HELP("hours of local time: 9, 9-17 (until 16:59) or 22-6")},
    {"days", CONFIG_KEY_MASK, AT(days), NULL, .choices = config_days,
     .help = HELP("days of local time")},
    BOUNDS("tokens", RULE_TOKENS, 1e9,
           "the number of prompt tokens, counted by the route's first tier,"),
    BOUNDS("answer_tokens", RULE_ANSWER_TOKENS, 1e9, "max_tokens"),
    BOUNDS("messages", RULE_MESSAGES, 1e9, "the number of messages"),
    BOUNDS("gain", RULE_GAIN, 1, "the expected gain of the next tier"),
    BOUNDS("p_local", RULE_P_LOCAL, 1.01, "the probability that the local tier is right"),
    BOUNDS("p_strong", RULE_P_STRONG, 1.01, "the probability that the next tier is right"),
    BOUNDS("slo_ttft_ms", RULE_SLO_TTFT_MS, 1e9,
           "the time that the request allows until the first text"),
    BOUNDS("slo_ms", RULE_SLO_MS, 1e9, "the time that the request allows for the whole answer"),
    BOUNDS("budget_used", RULE_BUDGET, 1000,
           "the share that is spent of the budget that is nearest to its end"),
    BOUNDS("day_tokens", RULE_DAY_TOKENS, 1e15,
           "the number of tokens of this server in the last 24 hours"),
    FLAG("code", code, "the prompt contains code"),
    FLAG("maths", maths, "the prompt contains mathematics"),
    FLAG("question", question, "the prompt is a question"),
    FLAG("multi_step", multi_step, "the prompt asks for several steps"),
    FLAG("fresh", fresh, "the prompt asks for recent facts"),
    FLAG("jailbreak", jailbreak, "the prompt looks like an attempt to get around rules"),
    FLAG("tools", tools, "the request offers tools"),
    FLAG("media", media, "the request has images, audio or files"),
    {"device", CONFIG_KEY_SECTION, 0, NULL, .section = &device_section,
     .help = HELP("the state of this device")},
};
static const struct config_section when_section = KEYS_MAP(when_keys);

static const struct config_key rule_weight_keys[] = {KEYS_WEIGHTS};
static const struct config_section rule_weights_section = KEYS_MAP(rule_weight_keys);

static const struct config_key then_keys[] = {
    {"deny", CONFIG_KEY_TEXT, AT(deny), NULL, .help = HELP("refuse the request for this reason")},
    {"only", CONFIG_KEY_CHOICE, AT(only), NULL, .choices = only_names,
     .help = HELP("local: only tiers on the device; cloud: only tiers elsewhere")},
    {"tiers", CONFIG_KEY_WORDS, AT(tiers), NULL, 0, RUNGS_MAX, .help = HELP("only these tiers")},
    {"places", CONFIG_KEY_MASK, AT(places), NULL, .choices = names_places,
     .help = HELP("only tiers at these places")},
    {"start", CONFIG_KEY_TEXT, AT(start), NULL,
     .help = HELP(
         "tier to start on; local and cloud mean the first on the device and the first elsewhere")},
    {"escalate", CONFIG_KEY_CHOICE, AT(escalate), NULL, .choices = config_yes_no,
     .help = HELP("false: the request stays on the tier that it starts on")},
    {"class", CONFIG_KEY_CHOICE, AT(data_class), NULL, .choices = names_classes,
     .help = HELP("the request has at least this class")},
    {"weights", CONFIG_KEY_SECTION, 0, NULL, .section = &rule_weights_section,
     .help = HELP("what counts, for requests that bring no weights")},
};
static const struct config_section then_section = KEYS_MAP(then_keys);

static const struct config_key rule_keys[] = {
    {"name", CONFIG_KEY_TEXT, AT(name), NULL, .required = true,
     .help = HELP("unique name; records and explanations show it")},
    {"when", CONFIG_KEY_SECTION, 0, NULL, .section = &when_section,
     .help = HELP("conditions, which must all hold; without them the rule always matches")},
    {"then", CONFIG_KEY_SECTION, 0, NULL, .section = &then_section, .required = true,
     .help = HELP("what happens when the rule matches")},
};
const struct config_section keys_rule = KEYS_LIST(rule_keys, struct config_rule);
#undef AT

/* --- apps[] --- */

#define AT(member) offsetof(struct config_app, member)
static const struct config_key app_weight_keys[] = {KEYS_WEIGHTS};
static const struct config_section app_weights_section = KEYS_MAP(app_weight_keys);
static const struct config_key app_keys[] = {
    {"name", CONFIG_KEY_TEXT, AT(name), NULL, .required = true, .help = HELP("unique name")},
    {"key_env", CONFIG_KEY_TEXT, AT(key_env), NULL,
     .help = HELP("environment variable with its API key")},
    {"key_file", CONFIG_KEY_TEXT, AT(key_file), NULL, .help = HELP("file with its API key")},
    {"key_sha256", CONFIG_KEY_TEXT, AT(key_sha256), NULL,
     .help = HELP("SHA-256 of its API key, in hexadecimal digits")},
    {"certificate", CONFIG_KEY_TEXT, AT(certificate), NULL,
     .help =
         HELP("instead of a key: the name in its client certificate (the first DNS name or URI, "
              "otherwise the common name); needs server.tls.client_ca_file")},
    {"tenant", CONFIG_KEY_TEXT, AT(tenant), NULL,
     .help =
         HELP("apps with the same one share what their keys own; default: each key is its own")},
    {"weights", CONFIG_KEY_SECTION, 0, NULL, .section = &app_weights_section,
     .help = HELP("what counts, for its requests that bring no weights")},
    {"escalations_per_hour", CONFIG_KEY_UINT, AT(escalations_per_hour), "0", 0, 1000000,
     .help = HELP("its own cap instead of watch.escalations_per_hour; 0 = that one")},
    {"models", CONFIG_KEY_WORDS, AT(models), NULL, 0, CONFIG_NAMES_MAX,
     .help =
         HELP("names of routes, tiers, models and adapters that its key may ask for, and sees in "
              "/v1/models; * stands for any text. Default: all")},
};
const struct config_section keys_app = KEYS_LIST(app_keys, struct config_app);
#undef AT

/* --- budgets[] --- */

#define AT(member) offsetof(struct config_budget, member)
#define NO_UNIT "a budget needs its unit: write usd_per_day, US dollars for a day"
static const struct config_key budget_keys[] = {
    {"name", CONFIG_KEY_TEXT, AT(name), NULL, .required = true,
     .help = HELP("unique name; answers show it")},
    {"per", CONFIG_KEY_CHOICE, AT(per), "all", .choices = per_names,
     .help =
         HELP("one budget for all together, or one for each user, app, route or API key; users are "
              "named by the client, keys cannot be")},
    {"usd_per_day", CONFIG_KEY_NUMBER, AT(usd_per_day), NULL, 0.000001, 1e9, .required = true,
     .help =
         HELP("US dollars for a day of local time; after a restart the ledger says what is spent")},
    {"usd", CONFIG_KEY_REFUSED, 0, NULL, .help = HELP(NO_UNIT)},
    {"per_day", CONFIG_KEY_REFUSED, 0, NULL, .help = HELP(NO_UNIT)},
    {"limit", CONFIG_KEY_REFUSED, 0, NULL, .help = HELP(NO_UNIT)},
};
const struct config_section keys_budget = KEYS_LIST(budget_keys, struct config_budget);
#undef AT

/* --- webhooks[] --- */

#define AT(member) offsetof(struct config_webhook, member)
static const struct config_key webhook_keys[] = {
    {"name", CONFIG_KEY_TEXT, AT(name), NULL, .required = true,
     .help = HELP("unique name; the log shows it")},
    {"url", CONFIG_KEY_TEXT, AT(url), NULL, .required = true,
     .help = HELP("https address that events are posted to; redirects are not followed")},
    {"secret_env", CONFIG_KEY_TEXT, AT(secret_env), NULL,
     .help = HELP(
         "environment variable with the secret of its signatures: whsec_ and base64, or a text")},
    {"secret_file", CONFIG_KEY_TEXT, AT(secret_file), NULL, .help = HELP("file with that secret")},
    {"events", CONFIG_KEY_WORDS, AT(events), NULL, 0, 32,
     .help = HELP(
         "the events that it is told of, as in [answer.corrected, \"review.*\"]; default: all")},
    {"allow_private", CONFIG_KEY_BOOL, AT(allow_private), "false",
     .help = HELP("the address may be this machine or in a private network, and may be http")},
};
const struct config_section keys_webhook = KEYS_LIST(webhook_keys, struct config_webhook);
#undef AT

/* --- policy --- */

#define AT(member) offsetof(struct config, policy.member)
static const struct config_key policy_weight_keys[] = {KEYS_WEIGHTS};
static const struct config_section policy_weights_section = KEYS_MAP(policy_weight_keys);
static const struct config_key policy_keys[] = {
    {"preset", CONFIG_KEY_TEXT, AT(preset), NULL,
     .help = HELP(
         "rules that are tried after those of the file: s0-lists, s2-matrix, s2-slo or s3-rule")},
    {"weights", CONFIG_KEY_SECTION, 0, NULL, .section = &policy_weights_section,
     .help = HELP("what counts, where neither request, app, rule nor route says it")},
    {"second_usd", CONFIG_KEY_NUMBER, AT(worth.second_usd), "0.001", 0, 1000,
     .help = HELP("what it is worth to wait a second less")},
    {"exposure_usd", CONFIG_KEY_NUMBER, AT(worth.exposure_usd), "0.001", 0, 1000,
     .help = HELP("what it is worth that a prompt does not go to the cloud")},
    {"error_usd", CONFIG_KEY_NUMBER, AT(worth.error_usd), "0", 0, 1000000,
     .help = HELP("what a wrong answer costs")},
};
const struct config_section keys_policy = KEYS_MAP(policy_keys);
#undef AT
