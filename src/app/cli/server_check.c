/* A check is a request or two, and a table that says what each status means. */
#include "app/cli/server_check.h"

#include "app/setup/credentials/server_secrets.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "net/client/client.h"
#include "net/client/loop_event.h"
#include "net/client/loopback.h"
#include "tier/cards/model_listed.h"
#include "tier/door.h"
#include "tier/openai/openai_headers.h"
#include "tier/openai/openai_token_stats.h"
#include "tier/openai/openai_wire.h"
#include "tier/openai/portal.h"
#include "tier/servers.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REACH_TIMEOUT_MS 4000
#define TOKEN_TIMEOUT_MS 30000 /* a server may load the model first */
#define BODY_BYTES_MAX (4u << 20)
#define MODELS_SHOWN 4
#define MODEL_BYTES_SHOWN 60

/* One request and what came of it. */
struct question {
    const char *method;
    enum server_path path;
    struct td_str body;
    enum egress_purpose purpose;
    uint32_t timeout_ms;
    struct loop *loop;
    int code;
    enum td_status status;
    char message[TD_ERROR_BYTES];
    bool is_portal;
    struct buf answer;
};

TD_PRINTF(4, 5)
static void find(struct server_finding *out, enum server_verdict verdict, const char *advice,
                 const char *format, ...)
{
    out->verdict = verdict;
    snprintf(out->advice, sizeof out->advice, "%s", advice ? advice : "");
    va_list args;
    va_start(args, format);
    vsnprintf(out->text, sizeof out->text, format, args);
    va_end(args);
}

/* --- the request --- */

static void on_done(void *ctx, enum td_status status, int code, const struct td_error *err)
{
    struct question *question = ctx;
    question->status = status;
    question->code = code;
    snprintf(question->message, sizeof question->message, "%s", err ? err->message : "");
    loop_event_stop(question->loop);
}

static void on_body(void *ctx, struct td_str bytes)
{
    buf_append_str(&((struct question *)ctx)->answer, bytes);
}

static void on_headers(void *ctx, int code, const char *content_type, const char *retry_after)
{
    struct question *question = ctx;
    (void)retry_after;
    question->code = code;
    question->is_portal = portal_is_likely(code, content_type);
}

static enum td_status send_and_wait(const struct server_check *check, struct question *question,
                                    const struct client_request *request, struct td_error *err)
{
    const struct egress_pass pass = {
        .purpose = question->purpose, .data_class = TD_CLASS_PUBLIC, .scanned = true};
    struct client *client = NULL;
    struct client_transfer *transfer;
    char *host = door_host(check->tier->base_url);
    const struct door door = {check->facts, host ? host : check->tier->base_url, check->egress};
    enum td_status status = loop_event_new(&question->loop, err);
    if (status == TD_OK)
        status = client_new(question->loop, &client, err);
    if (status == TD_OK)
        status = door_send(&door, &pass, client, request, &transfer, err);
    if (status == TD_OK)
        loop_event_run(question->loop);
    client_free(client);
    free(host);
    if (question->loop)
        loop_event_free(question->loop);
    return status;
}

static const struct secret *key_of(const struct server_check *check)
{
    return check->key < check->secrets->key_count ? check->secrets->key_texts[check->key] : NULL;
}

static bool send_question(const struct server_check *check, struct question *question,
                          const char *url, struct td_error *err)
{
    const struct config_tier *tier = check->tier;
    const struct openai_header_source source = {.server = config_tier_server(tier),
                                                .key = key_of(check),
                                                .method = question->method,
                                                .url = url,
                                                .region = check->facts->region,
                                                .body = question->body,
                                                .extra = check->secrets->headers,
                                                .extra_count = check->secrets->header_count};
    struct openai_headers headers;
    bool written = openai_headers_init(&headers, &source, question->body.len > 0, NULL, 0);
    const struct client_request request = {.method = question->method,
                                           .url = url,
                                           .headers = headers.list,
                                           .body = question->body,
                                           .allow_http = true,
                                           .ca_file = tier->ca_file,
                                           .pinned_key = tier->pinned_key,
                                           .connect_timeout_ms = REACH_TIMEOUT_MS,
                                           .first_timeout_ms = question->timeout_ms,
                                           .total_timeout_ms = 2 * question->timeout_ms,
                                           .response_bytes_max = BODY_BYTES_MAX,
                                           .on_headers = on_headers,
                                           .on_body = on_body,
                                           .on_done = on_done,
                                           .ctx = question};
    bool sent = written && url && send_and_wait(check, question, &request, err) == TD_OK;
    openai_headers_wipe(&headers);
    return sent;
}

/* False when it could not be sent or nobody answered; *out says so. */
static bool ask(const struct server_check *check, struct question *question,
                struct server_finding *out)
{
    const struct config_tier *tier = check->tier;
    const struct server_address address = {.base_url = tier->base_url,
                                           .api_version = tier->api_version,
                                           .model = check->facts->model,
                                           .path = question->path};
    char *url = server_url(config_tier_server(tier), &address);
    struct td_error err = {0};
    buf_init(&question->answer, BODY_BYTES_MAX);
    bool sent = send_question(check, question, url, &err);
    free(url);
    if (!sent)
        find(out, SERVER_FAIL, "check base_url and ledger.egress", "%s", err.message);
    else if (question->status != TD_OK)
        find(out, SERVER_FAIL,
             tier->pinned_key
                 ? "check the network, base_url and pinned_key; until then other tiers answer"
                 : "check the network and base_url; until then other tiers answer",
             "%s cannot be reached: %s", tier->base_url, question->message);
    else if (question->is_portal && !loopback_is_url(str_from(tier->base_url)))
        find(out, SERVER_FAIL,
             "open a page in a browser and sign in to the network; else correct base_url",
             "%s answered %d: " PORTAL_WORDS, tier->base_url, question->code);
    else
        return true;
    return false;
}

/* --- what it means --- */

/* What a status says of a server. True when it says enough. */
static bool judge_status(const struct server_check *check, int code, struct server_finding *out)
{
    const char *url = check->tier->base_url;
    if (code == 401 && !key_of(check))
        find(out, SERVER_FAIL, "it wants a key: name one with api_key_env or api_key_file",
             "%s answered 401, and the tier has no API key", url);
    else if (code == 401)
        find(out, SERVER_FAIL, "the API key is wrong or has expired: put a valid one in its place",
             "%s answered 401: it does not know the API key", url);
    else if (code == 402 || code == 403)
        find(out, SERVER_FAIL, "the API key has no access: look at its rights and at the account",
             "%s answered %d: it refuses this API key", url, code);
    else if (code == 429)
        find(out, SERVER_WARN, "look at the account's limits; until then other tiers answer",
             "%s answered 429: it is overloaded, or a limit is used up", url);
    else if (code >= 500)
        find(out, SERVER_WARN, "look at the server's log; until then other tiers answer",
             "%s answered %d: it is there, but fails", url, code);
    else
        return false;
    return true;
}

/* A name of a server's: it goes to a terminal. */
static void append_name(struct buf *out, struct td_str name)
{
    struct td_str shown = str_slice(name, 0, MODEL_BYTES_SHOWN);
    buf_append_str(out, out->len ? STR(", ") : STR(""));
    for (size_t i = 0; i < shown.len; i++)
        buf_append_char(out, shown.data[i] < ' ' || shown.data[i] > '~' ? '?' : shown.data[i]);
}

static bool is_listed(const struct json *list, const char *model)
{
    for (size_t i = 0; i < json_count(list); i++)
        if (str_equal(model_listed_name(json_at(list, i)), str_from(model)))
            return true;
    return false;
}

static void judge_list(const struct server_check *check, const struct json *list, int code,
                       struct server_finding *out)
{
    const struct config_tier *tier = check->tier;
    const struct tier_facts *facts = check->facts;
    const char *missing = is_listed(list, facts->model) ? NULL : facts->model;
    struct buf names;
    buf_init(&names, 1024);
    for (size_t i = 0; i < json_count(list) && i < MODELS_SHOWN; i++)
        append_name(&names, model_listed_name(json_at(list, i)));
    for (size_t i = 0; i < facts->model_count && !missing; i++)
        missing = is_listed(list, facts->models[i].name) ? NULL : facts->models[i].name;
    if (!missing)
        find(out, SERVER_OK, NULL, "%s answers (%d) and has the model %s%s", tier->base_url, code,
             facts->model, facts->model_count ? " and the further ones" : "");
    else
        find(out, SERVER_WARN,
             "write one of its names as model; only a server with a single model takes any name",
             "%s answers (%d), but does not list the model %s; it has %.*s%s", tier->base_url, code,
             missing, (int)(names.len ? names.len : 4), names.len ? names.data : "none",
             json_count(list) > MODELS_SHOWN ? ", ..." : "");
    buf_deinit(&names);
}

/* Nobody is at the address of the list. Some servers have none, so the address of chats is tried,
 * without a text: a server that has it finds the request wrong. */
static void judge_missing_list(const struct server_check *check, int list_code,
                               struct server_finding *out)
{
    struct question question = {.method = "POST",
                                .path = SERVER_CHAT,
                                .purpose = EGRESS_HEALTH_CHECK,
                                .timeout_ms = REACH_TIMEOUT_MS};
    const char *url = check->tier->base_url;
    bool asked = ask(check, &question, out);
    bool known = asked && judge_status(check, question.code, out) && question.code < 500;
    if (asked && !known && (question.code == 404 || question.code == 405))
        find(out, SERVER_FAIL, "correct base_url: it usually ends in /v1",
             "%s/models answered %d and %s/chat/completions %d: OpenAI's API is not there", url,
             list_code, url, question.code);
    else if (asked && !known)
        find(out, SERVER_OK, NULL, "%s answers chats, but has no list of models (%d), model %s",
             url, list_code, check->facts->model);
    buf_deinit(&question.answer);
}

struct json *server_check_list(const struct server_check *check, struct server_finding *out)
{
    struct question question = {.method = "GET",
                                .path = SERVER_MODELS,
                                .purpose = EGRESS_HEALTH_CHECK,
                                .timeout_ms = REACH_TIMEOUT_MS};
    struct json *root = NULL;
    *out = (struct server_finding){.verdict = SERVER_OK};
    bool asked = ask(check, &question, out) && !judge_status(check, question.code, out);
    if (asked && (json_parse(buf_view(&question.answer), &root, NULL) != TD_OK ||
                  !model_listed_rows(root))) {
        find(out, SERVER_WARN, "", "%s has no list of models (%d)", check->tier->base_url,
             question.code);
        json_free(root);
        root = NULL;
    }
    buf_deinit(&question.answer);
    return root;
}

void server_check_reach(const struct server_check *check, struct server_finding *out)
{
    struct question question = {.method = "GET",
                                .path = SERVER_MODELS,
                                .purpose = EGRESS_HEALTH_CHECK,
                                .timeout_ms = REACH_TIMEOUT_MS};
    struct json *root = NULL;
    *out = (struct server_finding){.verdict = SERVER_OK};
    if (ask(check, &question, out) && !judge_status(check, question.code, out)) {
        bool success = question.code >= 200 && question.code < 300;
        const struct json *list = NULL;
        if (success && json_parse(buf_view(&question.answer), &root, NULL) == TD_OK)
            list = model_listed_rows(root);
        if (question.code == 404 || question.code == 405)
            judge_missing_list(check, question.code, out);
        else if (json_kind_of(list) == JSON_KIND_ARRAY)
            judge_list(check, list, question.code, out);
        else
            find(out, SERVER_WARN, "correct base_url: it usually ends in /v1",
                 "%s/models answered %d, but with no list of models", check->tier->base_url,
                 question.code);
    }
    json_free(root);
    buf_deinit(&question.answer);
}

/* --- log-probabilities --- */

static bool gives_logprobs(struct td_str answer)
{
    struct json *root = NULL;
    bool gives = json_parse(answer, &root, NULL) == TD_OK;
    if (gives) {
        const struct json *choice = json_at(json_get(root, "choices"), 0);
        gives = openai_token_stats_open(json_get(choice, "logprobs")).count > 0;
    }
    json_free(root);
    return gives;
}

static void judge_token(const struct server_check *check, const struct question *question,
                        struct server_finding *out)
{
    static const char advice[] = "its answers climb only when it fails; docs/runtimes.md has more";
    const char *model = check->facts->model;
    struct td_error err = {0};
    bool success = question->code >= 200 && question->code < 300;
    if (success && gives_logprobs(buf_view(&question->answer))) {
        find(out, SERVER_OK, NULL, "%s gives log-probabilities: gates judge its answers", model);
    } else if (success || openai_names_logprobs(buf_view(&question->answer))) {
        find(out, SERVER_WARN, advice, "%s gives no log-probabilities: no gate judges its answers",
             model);
    } else {
        openai_read_error(question->code, buf_view(&question->answer), &(struct tier_refusal){0},
                          &err);
        find(out, SERVER_FAIL, "correct model, or start it at that server",
             "%s did not answer a question: %s", model, err.message);
    }
}

void server_check_logprobs(const struct server_check *check, struct server_finding *out)
{
    struct json *body = json_new_object(), *messages = json_new_array(),
                *message = json_new_object();
    struct buf text;
    buf_init(&text, 4096);
    json_put(message, "role", json_new_cstr("user"));
    json_put(message, "content", json_new_cstr("Hi"));
    json_push(messages, message);
    json_put(body, "model", json_new_cstr(check->facts->model));
    json_put(body, "messages", messages);
    json_put(body, "max_tokens", json_new_int(1));
    json_put(body, "logprobs", json_new_bool(true));
    json_put(body, "top_logprobs", json_new_int(2));
    json_write(body, &text);
    json_free(body);
    struct question question = {.method = "POST",
                                .path = SERVER_CHAT,
                                .body = buf_view(&text),
                                .purpose = EGRESS_ATTEMPT,
                                .timeout_ms = TOKEN_TIMEOUT_MS};
    *out = (struct server_finding){.verdict = SERVER_OK};
    if (ask(check, &question, out))
        judge_token(check, &question, out);
    buf_deinit(&question.answer);
    buf_deinit(&text);
}
