/* Checks that one row of the tables of keys cannot make: names that must exist, keys that
 * exclude each other, and values that can never take effect. Each mistake is refused with its
 * line, so that it is found when the file is read and not when the first request meets it. */
#include "app/config/config_check.h"

#include "app/config/config_listen.h"
#include "app/config/config_ramp.h"
#include "app/config/config_reach.h"
#include "app/config/config_together.h"
#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "cluster/redis.h"
#include "net/client/loopback.h"
#include "net/client/webhook.h"
#include "net/transport/address_set.h"
#include "tandem/engine.h"
#include "tier/openai/openai_headers.h"
#include "tier/openai/openai_wire.h"
#include "tier/servers.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* In names of rows and fields. */
#define NODE_BYTES_MAX 100

TD_PRINTF(4, 5)
static enum td_status refuse(const struct config *config, uint32_t line, struct td_error *err,
                             const char *format, ...)
{
    char what[TD_ERROR_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return error_set(err, TD_INVALID, "%s:%u: %s", config->label, line, what);
}

static enum td_status check_name(const struct config *config, uint32_t line, const char *name,
                                 struct td_error *err)
{
    size_t len = strlen(name);
    bool plain = len > 0 && len <= 64;
    for (size_t i = 0; i < len && plain; i++)
        plain = name[i] > ' ' && name[i] < 0x7f && name[i] != '"' && name[i] != '\\';
    return plain ? TD_OK
                 : refuse(config, line, err,
                          "a name must be 1 to 64 visible ASCII characters without quotes, spaces "
                          "and backslashes, not '%.60s'",
                          name);
}

/* --- tiers --- */

/* "sha256//BASE64" of 32 bytes, or several joined by ';'. As strict as can be: the HTTP library
 * compares texts, so that another spelling of a right key would be a wrong one. */
static bool pin_is_valid(struct td_str pin)
{
    static const struct td_str prefix = {"sha256//", 8};
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    static const char last_letters[] = "AEIMQUYcgkosw048"; /* of which four bits are used */
    enum { HASH_LETTERS = 43, PIN_BYTES = 8 + HASH_LETTERS + 1 };
    for (;;) {
        const char *hash = pin.data + prefix.len;
        if (pin.len < PIN_BYTES || !str_equal(str_slice(pin, 0, prefix.len), prefix))
            return false;
        for (size_t i = 0; i < HASH_LETTERS; i++)
            if (!memchr(i + 1 < HASH_LETTERS ? letters : last_letters, hash[i],
                        i + 1 < HASH_LETTERS ? 64 : 16))
                return false;
        if (hash[HASH_LETTERS] != '=')
            return false;
        if (pin.len == PIN_BYTES)
            return true;
        if (pin.data[PIN_BYTES] != ';')
            return false;
        pin = str_slice(pin, PIN_BYTES + 1, pin.len);
    }
}

static enum td_status check_pin(const struct config *config, const struct config_tier *tier,
                                struct td_error *err)
{
    if (!tier->pinned_key)
        return TD_OK;
    if (!pin_is_valid(str_from(tier->pinned_key)))
        return refuse(
            config, tier->line, err,
            "pinned_key must be sha256// and the 44 characters of a SHA-256 in base64, or "
            "several of these joined by ';', not '%.60s'; docs/egress.md says how to get "
            "it",
            tier->pinned_key);
    if (strncmp(tier->base_url, "https://", 8) != 0)
        return refuse(config, tier->line, err,
                      "pinned_key needs https://, because plain http shows no key; the "
                      "address is '%.60s'",
                      tier->base_url);
    return TD_OK;
}

static enum td_status check_local(const struct config *config, const struct config_tier *tier,
                                  struct td_error *err)
{
    if (tier->place != TD_PLACE_DEVICE)
        return refuse(config, tier->line, err,
                      "a local tier is always on the device: remove place from tier '%.60s'",
                      tier->name);
    if (tier->base_url || tier->api_key_env || tier->api_key_file || tier->pinned_key ||
        tier->api_version || tier->header_count || tier->key_count || tier->token_command.count)
        return refuse(config, tier->line, err,
                      "a local tier has no server: remove base_url, api_version, headers, keys and "
                      "pinned_key from tier '%.60s'",
                      tier->name);
    if (tier->model_count)
        return refuse(config, tier->line, err,
                      "a local tier runs one model: make a tier of each of the models of '%.60s'",
                      tier->name);
    if (tier->confidence)
        return refuse(config, tier->line, err,
                      "the confidence model of the local tier is router.confidence: write '%.60s' "
                      "there, not in the tier",
                      tier->confidence);
    return TD_OK;
}

static enum td_status check_review(const struct config *config, const struct config_tier *tier,
                                   struct td_error *err)
{
    if (tier->place != TD_PLACE_PREMISES || tier->model || tier->base_url || tier->api_key_env ||
        tier->api_key_file || tier->pinned_key || tier->api_version || tier->header_count ||
        tier->key_count || tier->token_command.count || tier->model_count || tier->confidence)
        return refuse(config, tier->line, err,
                      "people have no server: remove place, model, base_url, api_version, headers, "
                      "keys, confidence and pinned_key from tier '%.60s'",
                      tier->name);
    if (!config->state && !config->state_dir)
        return refuse(config, tier->line, err,
                      "the tickets of tier '%.60s' are kept in the state folder, and there is "
                      "none: set state_dir or TANDEM_STATE_DIR",
                      tier->name);
    if (tier->review.cost_of_error > 0 && !(tier->review.usd_hour > 0))
        return refuse(config, tier->line, err,
                      "tier '%.60s' weighs review.cost_of_error against the cost of a review: give "
                      "review.usd_hour, too",
                      tier->name);
    return TD_OK;
}

static bool is_route(const struct config *config, const char *name)
{
    for (size_t i = 0; i < config->route_count; i++)
        if (strcmp(config->routes[i].name, name) == 0)
            return true;
    return strcmp(name, "auto") == 0;
}

/* A name that means something else already would never reach the model. */
static enum td_status check_models(const struct config *config, const struct config_tier *tier,
                                   struct td_error *err)
{
    for (size_t i = 0; i < tier->model_count; i++) {
        const struct config_tier *model = &tier->models[i];
        enum td_status status = check_name(config, model->line, model->name, err);
        if (status != TD_OK)
            return status;
        if (is_route(config, model->name) || config_tier_find(config, model->name))
            return refuse(config, model->line, err,
                          "a model of tier '%.60s' shares the name '%.60s' with a route or tier",
                          tier->name, model->name);
        bool twice = strcmp(tier->model, model->name) == 0;
        for (size_t j = 0; j < i; j++)
            twice = twice || strcmp(tier->models[j].name, model->name) == 0;
        if (twice)
            return refuse(config, model->line, err, "tier '%.60s' has the model '%.60s' twice",
                          tier->name, model->name);
    }
    return TD_OK;
}

static enum td_status check_keys(const struct config *config, const struct config_tier *tier,
                                 struct td_error *err)
{
    if (tier->key_count && (tier->api_key_env || tier->api_key_file))
        return refuse(
            config, tier->line, err,
            "tier '%.60s' has keys beside api_key_env or api_key_file: put that key among "
            "them",
            tier->name);
    for (size_t i = 0; i < tier->key_count; i++) {
        const struct config_tier_key *key = &tier->keys[i];
        enum td_status status = check_name(config, key->line, key->name, err);
        if (status != TD_OK)
            return status;
        if (!key->env == !key->file)
            return refuse(config, key->line, err,
                          "the key '%.60s' of tier '%.60s' needs an env or a file, and not both",
                          key->name, tier->name);
        for (size_t j = 0; j < i; j++)
            if (strcmp(tier->keys[j].name, key->name) == 0)
                return refuse(config, key->line, err, "tier '%.60s' has two keys named '%.60s'",
                              tier->name, key->name);
    }
    return TD_OK;
}

static enum td_status check_headers(const struct config *config, const struct config_tier *tier,
                                    struct td_error *err)
{
    for (size_t i = 0; i < tier->header_count; i++) {
        const struct config_header *header = &tier->headers[i];
        if (!openai_header_may_be_set(header->name))
            return refuse(config, header->line, err,
                          "tier '%.60s' may not set the header '%.60s': it is no header's name, or "
                          "the connection, the body, the trace or the key needs it",
                          tier->name, header->name);
        if (!header->value == !header->env)
            return refuse(
                config, header->line, err,
                "the header '%.60s' of tier '%.60s' needs a value or an env, and not both",
                header->name, tier->name);
        for (size_t j = 0; j < i; j++)
            if (str_equal_nocase(str_from(header->name), str_from(tier->headers[j].name)))
                return refuse(config, header->line, err,
                              "tier '%.60s' has the header '%.60s' twice", tier->name,
                              header->name);
    }
    return TD_OK;
}

static enum td_status check_server(const struct config *config, const struct config_tier *tier,
                                   struct td_error *err)
{
    struct td_error why = {0};
    if (tier->token_command.count && (tier->api_key_env || tier->api_key_file || tier->key_count))
        return refuse(config, tier->line, err,
                      "tier '%.60s' has token_command beside another key: give one of them",
                      tier->name);
    if (tier->api_key_env && tier->api_key_file)
        return refuse(config, tier->line, err,
                      "tier '%.60s' has api_key_env and api_key_file: give one of them, not both",
                      tier->name);
    if (strncmp(tier->base_url, "https://", 8) != 0 && strncmp(tier->base_url, "http://", 7) != 0)
        return refuse(config, tier->line, err,
                      "base_url must begin with https:// or http://, not '%.60s'", tier->base_url);
    /* Nothing is kept back from the device: the word alone must not make one of another machine. */
    if (tier->place == TD_PLACE_DEVICE && !loopback_is_url(str_from(tier->base_url)))
        return refuse(config, tier->line, err,
                      "tier '%.64s' is elsewhere (%.100s): place: device is only for 127.0.0.1, "
                      "[::1] and localhost; write place: premises, region or cloud",
                      tier->name, tier->base_url);
    if (tier->api_version && !config_tier_server(tier)->has_api_version)
        return refuse(config, tier->line, err,
                      "api_version is of tiers of kind azure: remove it from tier '%.60s'",
                      tier->name);
    if (config_tier_server(tier)->dialect && tier->stream == 1)
        return refuse(config, tier->line, err,
                      "tier '%.60s' is always asked for a stream: remove stream: as_asked",
                      tier->name);
    enum td_status status = check_models(config, tier, err);
    if (status == TD_OK)
        status = check_keys(config, tier, err);
    if (status == TD_OK)
        status = check_headers(config, tier, err);
    if (status == TD_OK)
        status = check_pin(config, tier, err);
    if (status == TD_OK &&
        openai_check_url(str_from(tier->base_url), tier->allow_http, &why) != TD_OK)
        status = refuse(config, tier->line, err, "tier '%.60s': %s", tier->name, why.message);
    return status;
}

static enum td_status check_tier(const struct config *config, size_t index, struct td_error *err)
{
    const struct config_tier *tier = &config->tiers[index];
    enum td_status status = check_name(config, tier->line, tier->name, err);
    for (size_t i = 0; i < index && status == TD_OK; i++) {
        const struct config_tier *before = &config->tiers[i];
        if (strcmp(before->name, tier->name) == 0)
            return refuse(config, tier->line, err, "two tiers have the name '%.60s'", tier->name);
        if (config_tier_runs_engine_model(tier) && config_tier_runs_engine_model(before))
            return refuse(config, tier->line, err,
                          "the local tiers '%.60s' and '%.60s' both run engine.model: give one of "
                          "them a model of its own",
                          before->name, tier->name);
    }
    if (status != TD_OK)
        return status;
    return tier->kind == CONFIG_TIER_LOCAL    ? check_local(config, tier, err)
           : tier->kind == CONFIG_TIER_REVIEW ? check_review(config, tier, err)
                                              : check_server(config, tier, err);
}

/* --- routes --- */

static enum td_status check_ladder(const struct config *config, const struct config_route *route,
                                   struct td_error *err)
{
    for (size_t i = 0; i < route->tiers.count; i++) {
        const char *name = route->tiers.items[i];
        if (!config_tier_find(config, name))
            return refuse(config, route->line, err, "route '%s' names an unknown tier '%.60s'%s",
                          route->name, name, config_suggest_tier(config, name).text);
        for (size_t j = 0; j < i; j++)
            if (strcmp(route->tiers.items[j], name) == 0)
                return refuse(config, route->line, err, "route '%s' names the tier '%.60s' twice",
                              route->name, name);
        if (config_tier_find(config, name)->kind == CONFIG_TIER_REVIEW &&
            i + 1 < route->tiers.count)
            return refuse(config, route->line, err,
                          "people are the last to ask: put tier '%.60s' at the end of route '%s'",
                          name, route->name);
    }
    if (route->tiers.count == 0)
        return refuse(config, route->line, err, "route '%s' needs at least one tier", route->name);
    if (route->start && !config_route_lists(route, route->start))
        return refuse(config, route->line, err,
                      "start of route '%s' must be one of its tiers, not '%.60s'", route->name,
                      route->start);
    return TD_OK;
}

static bool has_alias(const struct config_route *route, const char *alias, size_t count)
{
    for (size_t i = 0; i < route->aliases.count && i < count; i++)
        if (strcmp(route->aliases.items[i], alias) == 0)
            return true;
    return false;
}

/* An alias that another name hides would never be used. */
static enum td_status check_aliases(const struct config *config, size_t index, struct td_error *err)
{
    const struct config_route *route = &config->routes[index];
    for (size_t i = 0; i < route->aliases.count; i++) {
        const char *alias = route->aliases.items[i];
        enum td_status status = check_name(config, route->line, alias, err);
        if (status != TD_OK)
            return status;
        if (is_route(config, alias) || config_tier_find(config, alias))
            return refuse(config, route->line, err,
                          "the alias '%.60s' of route '%.60s' is the name of a route or tier",
                          alias, route->name);
        bool taken = has_alias(route, alias, i);
        for (size_t j = 0; j < index; j++)
            taken = taken || has_alias(&config->routes[j], alias, SIZE_MAX);
        if (taken)
            return refuse(config, route->line, err, "the alias '%.60s' is given twice", alias);
    }
    return TD_OK;
}

/* What tiers a route has: on the device, and elsewhere. */
struct reach {
    bool on_device, elsewhere;
};

static struct reach reach_of(const struct config *config, const struct config_route *route)
{
    struct reach reach = {false, false};
    for (size_t i = 0; i < route->tiers.count; i++) {
        bool device = config_tier_find(config, route->tiers.items[i])->place == TD_PLACE_DEVICE;
        reach.on_device |= device;
        reach.elsewhere |= !device;
    }
    return reach;
}

/* A share of shadow answers that can never be drawn is a mistake that nobody would notice. */
static enum td_status check_shadow(const struct config *config, const struct config_route *route,
                                   struct reach reach, struct td_error *err)
{
    bool any_device = false;
    for (size_t i = 0; i < config->tier_count; i++)
        any_device = any_device || config->tiers[i].place == TD_PLACE_DEVICE;
    if (route->shadow_edge_share > 0 && !(any_device && reach.elsewhere))
        return refuse(config, route->line, err,
                      "shadow.edge_share of route '%s' needs a tier on the device, and a tier "
                      "elsewhere on the route",
                      route->name);
    if (route->shadow_cloud_share > 0 && !(reach.on_device && reach.elsewhere))
        return refuse(config, route->line, err,
                      "shadow.cloud_share of route '%s' needs a tier on the device and one "
                      "elsewhere, both on the route",
                      route->name);
    if ((route->shadow_edge_share > 0 || route->shadow_cloud_share > 0) &&
        (route->zero_retention || config->privacy.zero_retention))
        return refuse(config, route->line, err,
                      "route '%s' has a shadow and zero_retention, which leaves nothing to compare",
                      route->name);
    return TD_OK;
}

/* The declared kind must be possible with the ladder, or no tier would be left for any request. */
static enum td_status check_kind(const struct config *config, const struct config_route *route,
                                 struct reach reach, struct td_error *err)
{
    if (route->kind == ROUTE_LOCAL_ONLY && reach.elsewhere)
        return refuse(config, route->line, err,
                      "route '%s' is local-only and may list only tiers on the device",
                      route->name);
    if (route->kind == ROUTE_CLOUD_ONLY && reach.on_device)
        return refuse(config, route->line, err,
                      "route '%s' is cloud-only and may not list a tier on the device",
                      route->name);
    return TD_OK;
}

static enum td_status check_route(const struct config *config, size_t index, struct td_error *err)
{
    const struct config_route *route = &config->routes[index];
    enum td_status status = check_name(config, route->line, route->name, err);
    if (status != TD_OK)
        return status;
    for (size_t i = 0; i < index; i++)
        if (strcmp(config->routes[i].name, route->name) == 0)
            return refuse(config, route->line, err, "two routes have the name '%.60s'",
                          route->name);
    if (index > 0 && strcmp(route->name, "auto") == 0)
        return refuse(config, route->line, err, "only the first route may have the name 'auto'");
    if (config_tier_find(config, route->name))
        return refuse(config, route->line, err,
                      "a route and a tier share the name '%.60s'; rename one of them", route->name);
    status = check_ladder(config, route, err);
    if (status == TD_OK)
        status = check_aliases(config, index, err);
    if (status == TD_OK)
        status = config_together_check(config, route, err);
    if (status != TD_OK)
        return status;
    struct reach reach = reach_of(config, route);
    status = check_kind(config, route, reach, err);
    if (status == TD_OK)
        status = check_shadow(config, route, reach, err);
    return status == TD_OK ? config_ramp_check(config, route, err) : status;
}

/* --- adapters, apps, budgets --- */

static enum td_status check_adapter(const struct config *config, size_t index, struct td_error *err)
{
    const struct config_adapter *adapter = &config->engine.adapters[index];
    uint32_t always = 0;
    enum td_status status = check_name(config, adapter->line, adapter->name, err);
    if (status != TD_OK)
        return status;
    for (size_t i = 0; i < index; i++)
        if (strcmp(config->engine.adapters[i].name, adapter->name) == 0)
            return refuse(config, adapter->line, err, "two adapters have the name '%.60s'",
                          adapter->name);
    for (size_t i = 0; i <= index; i++)
        always += config->engine.adapters[i].always;
    if (always > TD_ADAPTERS_MAX)
        return refuse(config, adapter->line, err,
                      "at most %d adapters may have always: true; '%.60s' is one more",
                      TD_ADAPTERS_MAX, adapter->name);
    bool taken = is_route(config, adapter->name) || config_tier_find(config, adapter->name);
    return taken ? refuse(config, adapter->line, err,
                          "an adapter shares the name '%.60s' with a route or tier; rename one of "
                          "them",
                          adapter->name)
                 : TD_OK;
}

static enum td_status check_app(const struct config *config, size_t index, struct td_error *err)
{
    const struct config_app *app = &config->apps[index];
    enum td_status status = check_name(config, app->line, app->name, err);
    if (status != TD_OK)
        return status;
    if (app->tenant && (status = check_name(config, app->line, app->tenant, err)) != TD_OK)
        return status;
    for (size_t i = 0; i < index; i++)
        if (strcmp(config->apps[i].name, app->name) == 0)
            return refuse(config, app->line, err, "two apps have the name '%.60s'", app->name);
    if (!!app->key_env + !!app->key_file + !!app->key_sha256 + !!app->certificate != 1)
        return refuse(config, app->line, err,
                      "app '%.60s' needs exactly one of key_env, key_file, key_sha256 and "
                      "certificate",
                      app->name);
    if (app->certificate && !config->server.tls.client_ca_file)
        return refuse(config, app->line, err,
                      "app '%.60s' is known by a certificate, and server.tls.client_ca_file, which "
                      "says whose certificates are believed, is missing",
                      app->name);
    if (app->key_sha256 &&
        (strlen(app->key_sha256) != 64 || strspn(app->key_sha256, "0123456789abcdef") != 64))
        return refuse(config, app->line, err,
                      "key_sha256 of app '%.60s' must be 64 hexadecimal digits in lower case",
                      app->name);
    return TD_OK;
}

static enum td_status check_budget(const struct config *config, size_t index, struct td_error *err)
{
    const struct config_budget *budget = &config->budgets[index];
    enum td_status status = check_name(config, budget->line, budget->name, err);
    for (size_t i = 0; i < index && status == TD_OK; i++)
        if (strcmp(config->budgets[i].name, budget->name) == 0)
            return refuse(config, budget->line, err, "two budgets have the name '%.60s'",
                          budget->name);
    return status;
}

/* --- all --- */

/* Alarms name budgets and tiers, which are nobody else's business on the way. */
static enum td_status check_webhook(const struct config *config, struct td_error *err)
{
    const char *url = config->watch.webhook;
    if (url && (strchr(url, '@') ||
                (strncmp(url, "https://", 8) != 0 &&
                 (strncmp(url, "http://", 7) != 0 || !loopback_is_url(str_from(url))))))
        return refuse(config, config->line, err,
                      "watch.webhook must be an https address, or http on this machine, without "
                      "user and password; a key goes into watch.webhook_key_env");
    return TD_OK;
}

/* What the program tells webhooks of (docs/operations.md). */
static const char *const webhook_events[] = {
    "answer.committed", "answer.corrected", "answer.timeout", "answer.failed",
    "review.created",   "review.ended",     "deferred.ended"};
#define WEBHOOK_EVENT_COUNT (sizeof webhook_events / sizeof *webhook_events)

static enum td_status check_events(const struct config *config,
                                   const struct config_webhook *webhook, struct td_error *err)
{
    for (size_t i = 0; i < webhook->events.count; i++) {
        const char *name = webhook->events.items[i];
        size_t known = 0;
        while (known < WEBHOOK_EVENT_COUNT && !webhook_takes(name, webhook_events[known]))
            known++;
        if (known == WEBHOOK_EVENT_COUNT)
            return refuse(config, webhook->line, err,
                          "webhook '%.64s' waits for '%.64s', which is no event%s", webhook->name,
                          name,
                          error_suggest(str_from(name), webhook_events, WEBHOOK_EVENT_COUNT).text);
    }
    return TD_OK;
}

static enum td_status check_webhooks(const struct config *config, struct td_error *err)
{
    for (size_t i = 0; i < config->webhook_count; i++) {
        const struct config_webhook *webhook = &config->webhooks[i];
        struct td_error why = {0};
        enum td_status status = check_name(config, webhook->line, webhook->name, err);
        if (status != TD_OK)
            return status;
        if (!webhook->secret_env == !webhook->secret_file)
            return refuse(config, webhook->line, err,
                          "webhook '%.64s' needs secret_env or secret_file, and one of them only",
                          webhook->name);
        if (webhook_check_url(webhook->url, webhook->allow_private, &why) != TD_OK)
            return refuse(config, webhook->line, err, "%s", why.message);
        if (!webhook->allow_private && webhook_is_private(webhook->url))
            return refuse(config, webhook->line, err,
                          "the url of webhook '%.64s' leads to this machine or its own network: "
                          "that is for allow_private alone",
                          webhook->name);
        status = check_events(config, webhook, err);
        if (status != TD_OK)
            return status;
        for (size_t j = 0; j < i; j++)
            if (strcmp(webhook->name, config->webhooks[j].name) == 0)
                return refuse(config, webhook->line, err, "two webhooks are named '%.64s'",
                              webhook->name);
    }
    return TD_OK;
}

static enum td_status check_listen(const struct config *config, struct td_error *err)
{
    struct address_set proxies;
    const char *bad = NULL;
    mode_t mode;
    if (!config_listen_mode(config, &mode))
        return refuse(config, config->line, err,
                      "server.unix_mode must be a mode in octal digits, such as 0660, not '%.20s'",
                      config->server.unix_mode);
    if (!config_listen_proxies(config, &proxies, &bad))
        return refuse(config, config->line, err,
                      "server.proxy_protocol_from: '%.60s' is no address, no network such as "
                      "10.0.0.0/8 (with zeros behind its prefix), and not the word unix",
                      bad);
    return TD_OK;
}

static enum td_status check_tls(const struct config *config, struct td_error *err)
{
    if (!config->server.tls.certificate_file &&
        (config->server.tls.key_file || config->server.tls.client_ca_file ||
         config->server.tls.more_count))
        return refuse(config, config->line, err, "server.tls has %s without certificate_file",
                      config->server.tls.key_file         ? "key_file"
                      : config->server.tls.client_ca_file ? "client_ca_file"
                                                          : "more");
    return TD_OK;
}

static enum td_status check_sections(const struct config *config, struct td_error *err)
{
    if (config->server.api_keys_env && config->server.api_keys_file)
        return refuse(config, config->line, err,
                      "server has api_keys_env and api_keys_file: give one of them, not both");
    if (config->server.operator_keys_env && config->server.operator_keys_file)
        return refuse(config, config->line, err,
                      "server has operator_keys_env and operator_keys_file: give one of them, not "
                      "both");
    if ((config->engine.speculation == TD_SPECULATION_DRAFT) !=
        (config->engine.draft_model != NULL))
        return refuse(config, config->line, err,
                      "engine.speculation: draft and engine.draft_model: FILE go together: give "
                      "both or none");
    return TD_OK;
}

static enum td_status check_cache(const struct config *config, struct td_error *err)
{
    if (config->cache.similar && config->cache.answers == 0)
        return refuse(config, config->line, err,
                      "cache.similar needs cache.answers: deterministic or all, as no answer is "
                      "kept without it");
    if (config->cache.similar && !config->engine.embedding_model)
        return refuse(config, config->line, err,
                      "cache.similar compares questions by a model of embeddings, and none is "
                      "configured: add engine.embedding_model: FILE.gguf, such as "
                      "all-MiniLM-L6-v2 or bge-small-en-v1.5, or leave cache.similar out");
    return TD_OK;
}

static enum td_status check_cluster(const struct config *config, struct td_error *err)
{
    struct td_error why = {0};
    if (!*config->cluster.node || strlen(config->cluster.node) > NODE_BYTES_MAX)
        return refuse(config, config->line, err, "cluster.node must have 1 to %d bytes",
                      NODE_BYTES_MAX);
    if (config->cluster.redis && redis_check_url(config->cluster.redis, &why) != TD_OK)
        return refuse(config, config->line, err, "%s", why.message);
    if (config->state && !config->cluster.key_env && !config->cluster.key_file)
        return refuse(config, config->line, err,
                      "state needs cluster.key_env or cluster.key_file: under one key all nodes "
                      "know each other's API keys and files; 'openssl rand -hex 32' prints one");
    return TD_OK;
}

static enum td_status check_retention(const struct config *config, struct td_error *err)
{
    if (config->ledger.database && config->ledger.keep_mb > 0)
        return refuse(config, config->line, err,
                      "ledger.keep_mb is for a file: a database gets no smaller by what is removed "
                      "from it; use keep_days");
    return config->privacy.zero_retention && config->ledger.store_prompts
               ? refuse(config, config->line, err,
                        "privacy.zero_retention and ledger.store_prompts exclude each other")
               : TD_OK;
}

/* One mistake of each part: a second one may follow from the first. */
static bool take(struct config_mistakes *mistakes, enum td_status status, struct td_error *err)
{
    if (status != TD_OK)
        config_mistakes_add(mistakes, "%s", err->message);
    *err = (struct td_error){0};
    return status == TD_OK;
}

typedef enum td_status check_fn(const struct config *config, struct td_error *err);
typedef enum td_status check_entry_fn(const struct config *config, size_t index,
                                      struct td_error *err);

void config_check(const struct config *config, struct config_mistakes *mistakes)
{
    ASSERT(config->tier_count > 0 && config->route_count > 0); /* config_defaults_fill made them */
    static check_fn *const checks[] = {check_sections, check_listen,   check_tls,
                                       check_cache,    check_webhooks, check_webhook,
                                       check_cluster,  check_retention};
    const struct {
        check_entry_fn *check;
        size_t count;
    } lists[] = {
        {check_tier, config->tier_count},
        {check_route, config->route_count},
        {check_adapter, config->engine.adapter_count},
        {check_app, config->app_count},
        {check_budget, config->budget_count},
    };
    struct td_error err = {0};
    bool sound = true;
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        sound = take(mistakes, checks[i](config, &err), &err) && sound;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (size_t j = 0; j < lists[i].count; j++)
            sound = take(mistakes, lists[i].check(config, j, &err), &err) && sound;
    if (sound)
        take(mistakes, config_reach_check(config, &err), &err);
}
