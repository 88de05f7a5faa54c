/* The tier is opened as a server would open it, and every question passes the door: it is scanned,
 * may go only where data of its class may go, and is on record as a verification. */
#include "app/evidence/server_answers.h"

#include "app/config/config.h"
#include "app/setup/files/secret_source.h"
#include "app/setup/policy/policy_build.h"
#include "app/setup/privacy/egress_setup.h"
#include "app/setup/privacy/privacy_setup.h"
#include "base/error.h"
#include "base/names.h"
#include "base/secret.h"
#include "base/str.h"
#include "exchange/private/classify.h"
#include "ledger/egress_log.h"
#include "net/loop_event.h"
#include "privacy/scan/scanner.h"
#include "privacy/scan/tally.h"
#include "tier/door.h"
#include "tier/servers.h"

#include <stdlib.h>

#define MESSAGES_MAX 256

struct server_answers {
    struct config *config;
    struct privacy_scanner *scanner;
    struct egress_log *egress;
    struct secret *key;
    struct tier *tier;
    struct loop *loop;
    uint64_t identity;
};

/* One question. */
struct asking {
    struct server_answers *server;
    bool (*on_token)(void *ctx, const struct td_token *token, struct td_str text);
    void *ctx;
    bool stopped, other_server;
    uint64_t stats_count;
    struct tier_result result;
};

enum td_status server_answers_open(const char *config_path, const char *tier,
                                   struct server_answers **out, struct td_error *err)
{
    struct server_answers *server = calloc(1, sizeof *server);
    *out = server;
    if (!server)
        return error_set(err, TD_NO_MEMORY, "no memory for a tier");
    enum td_status status = config_load(config_path, NULL, NULL, &server->config, err);
    const struct config_tier *from =
        status == TD_OK ? config_tier_find(server->config, tier) : NULL;
    if (status == TD_OK && (!from || from->kind == CONFIG_TIER_LOCAL))
        status =
            error_set(err, TD_NOT_FOUND, "the configuration has no tier '%.60s' with a server%s",
                      tier, config_suggest_tier(server->config, tier).text);
    if (status == TD_OK)
        status = privacy_setup(server->config, &server->scanner, err);
    if (status == TD_OK)
        status = egress_setup_open(server->config, &server->egress, err);
    if (status == TD_OK)
        status = secret_source_read(from->api_key_env, from->api_key_file, &server->key, err);
    if (status == TD_OK)
        status = loop_event_new(&server->loop, err);
    if (status != TD_OK)
        return status;
    const struct tier_facts facts = policy_tier_facts(server->config, from);
    const struct tier_server_options options = {
        .base_url = from->base_url,
        .api_key = server->key,
        .allow_http = from->allow_http,
        .ca_file = from->ca_file,
        .pinned_key = from->pinned_key,
        .connect_timeout_ms = from->connect_timeout_ms,
        .first_timeout_ms = from->first_timeout_ms,
        .idle_timeout_ms = from->idle_timeout_ms,
        .total_timeout_ms = from->total_timeout_ms,
        .pad_bytes = from->pad_bytes,
        .egress = server->egress,
    };
    return config_tier_server(from)->open(&facts, &options, &server->tier, err);
}

void server_answers_close(struct server_answers *server)
{
    if (!server)
        return;
    if (server->tier)
        tier_free(server->tier);
    if (server->loop)
        loop_event_free(server->loop);
    secret_free(server->key);
    egress_log_close(server->egress);
    privacy_scanner_free(server->scanner);
    config_free(server->config);
    free(server);
}

const char *server_answers_model(const struct server_answers *server)
{
    return server->tier->facts.model;
}

uint64_t server_answers_identity(const struct server_answers *server)
{
    return server->identity;
}

/* --- one question --- */

static void on_piece(void *ctx, const struct tier_piece *piece)
{
    struct asking *asking = ctx;
    struct server_answers *server = asking->server;
    const struct td_token token = {.stats = piece->stats};
    if (server->identity == 0)
        server->identity = piece->server_identity;
    asking->other_server |= piece->server_identity != server->identity;
    asking->stats_count += piece->has_stats;
    if (!asking->stopped)
        asking->stopped =
            !asking->on_token(asking->ctx, piece->has_stats ? &token : NULL, piece->text);
}

static void on_done(void *ctx, const struct tier_result *result)
{
    struct asking *asking = ctx;
    asking->result = *result;
    loop_event_stop(asking->server->loop);
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
    const struct tier_facts *facts = &asking->server->tier->facts;
    if (asking->result.status != TD_OK)
        return error_set(err, asking->result.status, "tier %s: %s", facts->name,
                         asking->result.err.message);
    if (asking->stats_count == 0)
        return error_set(err, TD_UNSUPPORTED,
                         "tier %s gave no log-probabilities, so nothing can be fitted",
                         facts->name);
    if (asking->other_server)
        return error_set(err, TD_INVALID,
                         "tier %s answered with another model or build than before", facts->name);
    return TD_OK;
}

enum td_status
server_answers_ask(struct server_answers *server, const struct json *line, uint32_t tokens_max,
                   bool (*on_token)(void *ctx, const struct td_token *token, struct td_str text),
                   void *ctx, enum td_finish *finish, struct td_error *err)
{
    struct td_message messages[MESSAGES_MAX];
    struct td_request request = {
        .messages = messages, .tokens_max = tokens_max, .sampling = {.temperature = 0, .top_p = 1}};
    struct privacy_tally found = {0};
    struct asking asking = {.server = server, .on_token = on_token, .ctx = ctx};
    struct tier_attempt *attempt;
    enum td_status status = read_messages(line, messages, &request.message_count, err);
    if (status != TD_OK)
        return status;
    enum td_data_class data_class =
        classify_higher((enum td_data_class)server->config->privacy.data_class,
                        classify_request(server->scanner, &request, &found));
    const struct egress_pass pass = {
        .purpose = EGRESS_VERIFICATION, .data_class = data_class, .scanned = true};
    const struct tier_sink sink = {
        .on_piece = on_piece, .on_done = on_done, .ctx = &asking, .judged = true, .pass = &pass};
    loop_event_restart(server->loop);
    status = tier_start(server->tier, server->loop, &request, &sink, &attempt, err);
    if (status != TD_OK)
        return status;
    loop_event_run(server->loop);
    *finish = asking.result.finish;
    return judge(&asking, err);
}
