/* The tier is opened as `tandem serve` would open it. A question to another process passes the
 * door: it is scanned, may go only where data of its class may go, and is on record as a
 * verification. A question to the engine here stays in this process, and no ledger has it: the
 * runtime is the one of the confined worker. */
#include "app/evidence/tier_answers.h"

#include "app/config/config.h"
#include "app/setup/credentials/server_secrets.h"
#include "app/setup/policy/policy_build.h"
#include "app/setup/privacy/egress_setup.h"
#include "app/setup/privacy/privacy_setup.h"
#include "app/setup/process/runtime.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/crypto/secret.h"
#include "base/text/names.h"
#include "exchange/private/classify.h"
#include "ledger/egress/egress_log.h"
#include "net/client/loop_event.h"
#include "privacy/scan/scanner.h"
#include "privacy/scan/tally.h"
#include "tier/door.h"
#include "tier/servers.h"

#include <stdlib.h>
#include <string.h>

#define MESSAGES_MAX 256

struct tier_answers {
    struct config *config;
    struct tier *tier;
    struct loop *loop;
    /* Of a server. */
    struct privacy_scanner *scanner;
    struct egress_log *egress;
    struct server_secrets secrets;
    uint64_t identity;
    /* Of a local tier. */
    struct runtime *runtime;
    struct exchange_services *services;
};

/* One question. */
struct asking {
    struct tier_answers *from;
    bool (*on_token)(void *ctx, const struct td_token *token, struct td_str text);
    void *ctx;
    bool stopped, other_server;
    struct tier_result result;
};

/* --- opening --- */

static enum td_status open_server(struct tier_answers *tier, const struct config_tier *from,
                                  struct td_error *err)
{
    enum td_status status = privacy_setup(tier->config, &tier->scanner, err);
    if (status == TD_OK)
        status = egress_setup_open(tier->config, &tier->egress, err);
    if (status == TD_OK)
        status = server_secrets_open(from, &tier->secrets, err);
    if (status != TD_OK)
        return status;
    const struct tier_facts facts = policy_tier_facts(tier->config, from);
    struct tier_server_options options = config_tier_options(from);
    server_secrets_give(&tier->secrets, &options);
    options.egress = tier->egress;
    return config_tier_server(from)->open(&facts, &options, &tier->tier, err);
}

static enum td_status open_local(struct tier_answers *tier, const struct config_tier *from,
                                 const struct runtime_options *options, struct td_error *err)
{
    enum td_status status = runtime_open(options, &tier->runtime, err);
    if (status != TD_OK)
        return status;
    tier->services = runtime_acquire(tier->runtime);
    for (size_t i = 0; i < tier->services->tier_count; i++)
        if (strcmp(tier->services->tiers[i]->facts.name, from->name) == 0)
            tier->tier = tier->services->tiers[i];
    const struct model_fault *fault = tier->tier ? tier->tier->facts.model_fault : NULL;
    if (!tier->tier || !tier_facts_usable(&tier->tier->facts))
        return error_set(err, TD_UNAVAILABLE, "tier %s has no model that could answer%s%s",
                         from->name, fault ? ": " : "", fault ? fault->text : "");
    return TD_OK;
}

static const struct config_tier *find_tier(const struct config *config, const char *name)
{
    if (name)
        return config_tier_find(config, name);
    for (size_t i = 0; i < config->tier_count; i++)
        if (policy_tier_facts(config, &config->tiers[i]).place == TD_PLACE_DEVICE)
            return &config->tiers[i];
    return NULL;
}

enum td_status tier_answers_open(const char *config_path, const char *name, char *const *arguments,
                                 struct tier_answers **out, struct td_error *err)
{
    struct tier_answers *tier = calloc(1, sizeof *tier);
    *out = tier;
    if (!tier)
        return error_set(err, TD_NO_MEMORY, "no memory for a tier");
    enum td_status status = config_load(config_path, &tier->config, err);
    const struct config_tier *from = status == TD_OK ? find_tier(tier->config, name) : NULL;
    bool local = from && from->kind == CONFIG_TIER_LOCAL;
    if (status == TD_OK && !name && !from)
        status = error_set(err, TD_NOT_FOUND, "the configuration has no tier on the device");
    else if (status == TD_OK &&
             (!from || from->kind == CONFIG_TIER_REVIEW || (local && !arguments)))
        status = error_set(err, TD_NOT_FOUND, "the configuration has no tier '%.60s'%s%s", name,
                           arguments ? "" : " with a server",
                           config_suggest_tier(tier->config, name).text);
    if (status == TD_OK)
        status = loop_event_new(&tier->loop, err);
    const struct runtime_options options = {
        .config_path = config_path, .confined = true, .arguments = arguments};
    if (status == TD_OK)
        status = local ? open_local(tier, from, &options, err) : open_server(tier, from, err);
    return status;
}

void tier_answers_close(struct tier_answers *tier)
{
    if (!tier)
        return;
    if (tier->services)
        runtime_release(tier->runtime, tier->services);
    else if (tier->tier)
        tier_free(tier->tier);
    if (tier->loop)
        loop_event_free(tier->loop);
    runtime_close(tier->runtime);
    server_secrets_close(&tier->secrets);
    egress_log_close(tier->egress);
    privacy_scanner_free(tier->scanner);
    config_free(tier->config);
    free(tier);
}

const struct tier_facts *tier_answers_facts(const struct tier_answers *tier)
{
    return &tier->tier->facts;
}

uint64_t tier_answers_identity(const struct tier_answers *tier)
{
    return tier->identity;
}

/* --- one question --- */

static void on_piece(void *ctx, const struct tier_piece *piece)
{
    struct asking *asking = ctx;
    struct tier_answers *from = asking->from;
    const struct td_token token = {.stats = piece->stats};
    if (from->identity == 0)
        from->identity = piece->server_identity;
    asking->other_server |= piece->server_identity != from->identity;
    if (!asking->stopped)
        asking->stopped =
            !asking->on_token(asking->ctx, piece->has_stats ? &token : NULL, piece->text);
}

static void on_done(void *ctx, const struct tier_result *result)
{
    struct asking *asking = ctx;
    asking->result = *result;
    loop_event_stop(asking->from->loop);
}

static enum td_status read_messages(const struct json *line,
                                    struct td_message messages[static MESSAGES_MAX], size_t *count,
                                    struct td_error *err)
{
    const struct json *prompt = json_get(line, "prompt"), *list = json_get(line, "messages");
    *count = json_count(list);
    if ((json_kind_of(prompt) == JSON_KIND_TEXT) == (*count > 0) || *count > MESSAGES_MAX)
        return error_set(err, TD_INVALID, "give one of 'prompt' and 'messages' (at most %d)",
                         MESSAGES_MAX);
    for (size_t i = 0; i < *count; i++) {
        const struct json *message = json_at(list, i);
        messages[i].content = json_text(json_get(message, "content"));
        if (json_kind_of(json_get(message, "content")) != JSON_KIND_TEXT ||
            !names_role_parse(json_text(json_get(message, "role")), &messages[i].role))
            return error_set(err, TD_INVALID, "messages[%zu] needs a role and a text", i);
    }
    if (*count == 0) {
        messages[0] = (struct td_message){.role = TD_ROLE_USER, .content = json_text(prompt)};
        *count = 1;
    }
    return TD_OK;
}

static enum td_status judge(const struct asking *asking, struct td_error *err)
{
    const struct tier_facts *facts = &asking->from->tier->facts;
    if (asking->result.status != TD_OK)
        return error_set(err, asking->result.status, "tier %s: %s", facts->name,
                         asking->result.err.message);
    if (asking->other_server)
        return error_set(err, TD_INVALID,
                         "tier %s answered with another model or build than before", facts->name);
    return TD_OK;
}

/* Runs until the answer has ended; pass NULL: it goes nowhere. */
static enum td_status run(struct asking *asking, const struct td_request *request,
                          const struct egress_pass *pass, struct td_error *err)
{
    struct tier_answers *tier = asking->from;
    struct tier_attempt *attempt;
    const struct tier_sink sink = {
        .on_piece = on_piece, .on_done = on_done, .ctx = asking, .judged = true, .pass = pass};
    loop_event_restart(tier->loop);
    enum td_status status = tier_start(tier->tier, tier->loop, request, &sink, &attempt, err);
    if (status != TD_OK)
        return status;
    loop_event_run(tier->loop);
    return judge(asking, err);
}

enum td_status
tier_answers_ask(struct tier_answers *tier, const struct json *line, uint32_t tokens_max,
                 bool (*on_token)(void *ctx, const struct td_token *token, struct td_str text),
                 void *ctx, enum td_finish *finish, struct td_error *err)
{
    struct td_message messages[MESSAGES_MAX];
    struct td_request request = {
        .messages = messages, .tokens_max = tokens_max, .sampling = {.temperature = 0, .top_p = 1}};
    struct asking asking = {.from = tier, .on_token = on_token, .ctx = ctx};
    struct egress_pass pass = {.purpose = EGRESS_VERIFICATION, .scanned = true};
    enum td_status status = read_messages(line, messages, &request.message_count, err);
    if (status != TD_OK)
        return status;
    if (tier->runtime) {
        request.sampling = td_sampling_default();
        request.sampling.temperature = 0;
        status = run(&asking, &request, NULL, err);
    } else {
        struct privacy_tally found = {0};
        pass.data_class = classify_higher((enum td_data_class)tier->config->privacy.data_class,
                                          classify_request(tier->scanner, &request, &found));
        status = run(&asking, &request, &pass, err);
    }
    *finish = asking.result.finish;
    return status;
}
