/* POST /tandem/v1/classify: which of given labels texts have, by a model of this device. Nothing
 * leaves it, so it takes texts of every class. A text is one request to the local tier, which sends
 * protected classes to the confined worker (tier/local/sandbox.h). Some texts are asked at a time:
 * enough to share passes of the engine, and few enough that others find room in its queue. GET
 * shows the sets of labels that the models bring. The ledger and the metrics have the calls under
 * the route "classify".
 *
 * A struct classify_call lives until all texts have their labels, one fails, its deadline passes,
 * the client leaves or the server stops. */
#include "api/http/call.h"
#include "api/http/reply.h"
#include "api/inference/call_deadline.h"
#include "api/inference/handlers.h"
#include "api/inference/local_record.h"
#include "api/wire/classify_request.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/time/clock.h"
#include "engine/session/classifier.h"
#include "privacy/scan/privacy.h"
#include "router/plan/policy.h"
#include "tier/door.h"
#include "tier/tier.h"

#include <stdio.h>
#include <stdlib.h>

#define TEXTS_AT_ONCE 8
/* How soon to try again when others have filled the engine's queue between two texts. */
#define RETRY_MS 10
/* A log-probability is at most 0, but for what float rounds. */
#define LOG_MAX 1e-3
#define SETS_BYTES_MAX ((size_t)8 << 20)

enum text_state { TEXT_WAITS, TEXT_RUNS, TEXT_DONE };

/* A text that is asked for. */
struct asked {
    struct classify_call *call;
    struct tier_attempt *attempt; /* NULL = free */
    size_t text;
    struct buf content;
    struct td_message messages[CLASSIFIER_MESSAGES_MAX];
    struct td_request request;
};

struct classify_call {
    struct api_call base; /* first */
    struct exchange_services *services;
    struct http_request *http;
    struct classify_request request;
    struct local_record record;
    char caller[AUTH_DIGEST_BYTES];
    enum td_priority priority;
    struct tier *tier;
    struct td_classifier *classifier;
    struct td_labels labels;
    struct egress_pass pass; /* only tells the class: nothing is sent */
    struct asked asked[TEXTS_AT_ONCE];
    uint32_t running;
    struct loop_timer *retry; /* NULL = the queue was never full */
    struct call_deadline deadline;
    enum text_state *states; /* [texts] */
    struct classify_row *rows;
    float *probabilities; /* [texts, labels] */
    size_t first_waiting, done_count;
    uint64_t token_count;
};

static void call_free(struct classify_call *call)
{
    for (size_t i = 0; i < TEXTS_AT_ONCE; i++) {
        if (call->asked[i].attempt)
            tier_cancel(call->tier, call->asked[i].attempt);
        buf_deinit(&call->asked[i].content);
    }
    loop_timer_free(call->base.api->loop, call->retry);
    call_deadline_stop(&call->deadline, call->base.api);
    local_record_leave(&call->record);
    td_classifier_free(call->classifier);
    call->base.api->host->release(call->base.api->host->ctx, call->services);
    api_call_end(&call->base);
    classify_request_deinit(&call->request);
    free((void *)(uintptr_t)call->labels.texts);
    free(call->states);
    free(call->rows);
    free(call->probabilities);
    free(call);
}

/* --- ends --- */

static void call_gone(void *ctx)
{
    struct classify_call *call = ctx;
    api_count_code(call->base.api, 499);
    local_record_end(&call->record, TD_CANCELLED, call->token_count, NULL);
    call_free(call);
}

static void call_stop(struct api_call *base)
{
    struct classify_call *call = (struct classify_call *)base;
    struct fault fault;
    fault_stopping(&fault);
    local_record_end(&call->record, TD_CANCELLED, call->token_count, NULL);
    api_reply_fault(base->api, call->http, &fault);
    call_free(call);
}

/* What the client is told of a text that could not be asked for. */
static void set_fault(const struct classify_call *call, size_t text, const struct td_error *err,
                      struct fault *fault)
{
    char param[32] = "text";
    if (call->request.is_list)
        snprintf(param, sizeof param, "texts[%zu]", text);
    fault_from_status(fault, err->status, err->message, err->status == TD_LIMIT ? param : NULL);
}

static void reply_failure(struct classify_call *call, size_t text, const struct td_error *err)
{
    struct fault fault;
    set_fault(call, text, err, &fault);
    local_record_end(&call->record, err->status, call->token_count, err->message);
    local_record_headers(&call->record, call->http);
    api_reply_fault(call->base.api, call->http, &fault);
    call_free(call);
}

static void on_deadline(void *ctx)
{
    struct classify_call *call = ctx;
    struct td_error err = {0};
    (void)call_deadline_passed(&call->deadline, &err);
    reply_failure(call, 0, &err);
}

static void reply_rows(struct classify_call *call)
{
    struct buf body;
    unsigned long long tokens = call->token_count;
    buf_init(&body, CLASSIFY_ANSWER_BYTES_MAX);
    buf_append_str(&body, STR("{\"object\":\"list\",\"model\":"));
    json_write_text(str_from(call->record.model), &body);
    buf_append_str(&body, STR(",\"data\":["));
    for (size_t i = 0; i < call->request.text_count; i++) {
        buf_append_str(&body, i ? STR(",") : STR(""));
        classify_write_row(call->classifier, &call->rows[i], i, call->request.top, &body);
    }
    buf_printf(&body, "],\"usage\":{\"prompt_tokens\":%llu,\"total_tokens\":%llu}}", tokens,
               tokens);
    local_record_end(&call->record, TD_OK, call->token_count, NULL);
    local_record_headers(&call->record, call->http);
    api_reply_json(call->base.api, call->http, 200, &body);
    buf_deinit(&body);
    call_free(call);
}

/* --- the texts --- */

static enum td_status begin_texts(struct classify_call *call, size_t *failed, struct td_error *err);

/* Goes on after a text; ends the call when there is nothing left to do. */
static void go_on(struct classify_call *call)
{
    struct td_error err = {0};
    size_t failed;
    if (call->done_count == call->request.text_count)
        reply_rows(call);
    else if (begin_texts(call, &failed, &err) != TD_OK)
        reply_failure(call, failed, &err);
}

static void on_retry(void *ctx)
{
    go_on(ctx);
}

/* The confined worker may send anything. What are no probabilities leaves the text without its
 * row. */
static void on_piece(void *ctx, const struct tier_piece *piece)
{
    struct asked *asked = ctx;
    struct classify_call *call = asked->call;
    struct classify_row *row = &call->rows[asked->text];
    float *probabilities = call->probabilities + asked->text * call->labels.count;
    double logs[TD_LABELS_MAX];
    if (piece->label_count != call->labels.count ||
        !(piece->stats.not_mine >= 0 && piece->stats.not_mine <= 1))
        return;
    for (size_t i = 0; i < piece->label_count; i++) {
        logs[i] = (double)piece->label_scores[i];
        if (!(logs[i] <= LOG_MAX))
            return;
    }
    row->mass = (float)classifier_normalise(logs, piece->label_count, probabilities);
    bool says_not_mine = td_model_get_info(tier_local_model(call->tier))->not_mine_id >= 0;
    row->not_mine = says_not_mine ? piece->stats.not_mine : -1;
    row->probabilities = probabilities;
}

static void on_done(void *ctx, const struct tier_result *result)
{
    struct asked *asked = ctx;
    struct classify_call *call = asked->call;
    struct td_error err = result->err;
    enum td_status status = result->status;
    asked->attempt = NULL;
    call->running--;
    call->token_count += result->usage.prompt_tokens;
    if (status == TD_OK && !call->rows[asked->text].probabilities)
        status = error_set(&err, TD_INTERNAL, "the labels' scores did not come");
    err.status = status;
    bool again = status == TD_BUSY && (call->running > 0 || call->done_count > 0);
    if (status != TD_OK && !again) {
        reply_failure(call, asked->text, &err);
        return;
    }
    call->states[asked->text] = again ? TEXT_WAITS : TEXT_DONE;
    call->done_count += !again;
    if (again && asked->text < call->first_waiting)
        call->first_waiting = asked->text;
    go_on(call);
}

static enum td_status ask(struct classify_call *call, struct asked *asked, size_t text,
                          struct td_error *err)
{
    const struct tier_sink sink = {
        .on_piece = on_piece, .on_done = on_done, .ctx = asked, .pass = &call->pass};
    asked->call = call;
    asked->text = text;
    buf_deinit(&asked->content);
    buf_init(&asked->content, SIZE_MAX / 2);
    size_t count = classifier_messages(call->classifier, call->request.texts[text], &asked->content,
                                       asked->messages);
    if (asked->content.failed)
        return error_set(err, TD_NO_MEMORY, "no memory for a text");
    asked->request = (struct td_request){
        .messages = asked->messages,
        .message_count = count,
        .labels = &call->labels,
        .model = call->request.model,
        .data_class = call->record.data_class,
        .priority = call->priority,
        .caller = call->caller,
        .keep_nothing = call->services->zero_retention,
    };
    return tier_start(call->tier, call->base.api->loop, &asked->request, &sink, &asked->attempt,
                      err);
}

/* The next text without its labels; the number of texts when there is none. */
static size_t next_text(struct classify_call *call)
{
    while (call->first_waiting < call->request.text_count &&
           call->states[call->first_waiting] != TEXT_WAITS)
        call->first_waiting++;
    return call->first_waiting;
}

/* The queue is full. The client learns it when nothing was asked yet; later the texts wait. */
static enum td_status wait_for_room(struct classify_call *call, struct td_error *err)
{
    if (call->running > 0)
        return TD_OK;
    if (call->done_count == 0)
        return TD_BUSY;
    if (!call->retry)
        call->retry = loop_timer_new(call->base.api->loop, on_retry, call);
    if (!call->retry)
        return error_set(err, TD_NO_MEMORY, "no memory for another request");
    loop_timer_start(call->base.api->loop, call->retry, RETRY_MS);
    return TD_OK;
}

/* Asks for as many texts as fit. */
static enum td_status begin_texts(struct classify_call *call, size_t *failed, struct td_error *err)
{
    for (size_t i = 0; i < TEXTS_AT_ONCE; i++) {
        struct td_error cause = {0};
        size_t text = *failed = next_text(call);
        if (text == call->request.text_count)
            return TD_OK;
        if (call->asked[i].attempt)
            continue;
        enum td_status status = ask(call, &call->asked[i], text, &cause);
        if (status != TD_OK)
            *err = cause;
        if (status == TD_BUSY)
            return wait_for_room(call, err);
        if (status != TD_OK)
            return status;
        call->states[text] = TEXT_RUNS;
        call->running++;
    }
    return TD_OK;
}

/* --- the request --- */

static bool is_meant(const struct tier_facts *facts, const struct td_model *model, const char *name)
{
    return strcmp(name, "auto") == 0 || strcmp(name, facts->name) == 0 ||
           strcmp(name, td_model_get_info(model)->name) == 0 ||
           (facts->model && strcmp(name, facts->model) == 0) ||
           policy_find_adapter(facts, name) != SIZE_MAX;
}

static bool choose_tier(struct classify_call *call, struct fault *fault)
{
    const struct exchange_services *services = call->services;
    const char *wanted = call->request.model;
    bool any = false;
    for (size_t i = 0; i < services->tier_count && !call->tier; i++) {
        const struct td_model *model = tier_local_model(services->tiers[i]);
        any |= model != NULL;
        if (model && is_meant(&services->tiers[i]->facts, model, wanted))
            call->tier = services->tiers[i];
    }
    if (call->tier) {
        call->record.model = td_model_get_info(tier_local_model(call->tier))->name;
        snprintf(call->record.tier, sizeof call->record.tier, "%s", call->tier->facts.name);
        return true;
    }
    if (any) {
        fault_set(fault, 404, "invalid_request_error", "model_not_found",
                  "'%.200s' is no model of this device; only these classify", wanted);
        snprintf(fault->param, sizeof fault->param, "model");
    } else {
        fault_set(fault, 503, "server_error", "no_tier_available",
                  "there is no model on this device to classify with");
        fault->no_retry = true;
    }
    return false;
}

static void raise_class(struct classify_call *call, const struct td_str *texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        local_record_raise(&call->record,
                           privacy_classify(call->services->scanner, texts[i], NULL));
}

static bool classify_texts(struct classify_call *call, struct fault *fault)
{
    const struct classify_request *request = &call->request;
    if (!local_record_declare(&call->record, call->http, call->services->text_class, fault))
        return false;
    raise_class(call, request->texts, request->text_count);
    raise_class(call, request->labels, request->label_count);
    raise_class(call, &request->instruction, request->instruction.len > 0);
    call->pass.data_class = call->record.data_class;
    return true;
}

static bool make_classifier(struct classify_call *call, struct fault *fault)
{
    struct td_error err = {0};
    const struct classify_request *request = &call->request;
    const struct td_classifier_options options = {.set = request->set,
                                                  .labels = request->labels,
                                                  .label_count = request->label_count,
                                                  .instruction = request->instruction};
    enum td_status status =
        td_classifier_new(tier_local_model(call->tier), &options, &call->classifier, &err);
    if (status == TD_INVALID || status == TD_NOT_FOUND)
        return fault_request(fault, request->set ? "set" : "labels", "%s", err.message);
    if (status != TD_OK)
        fault_from_status(fault, status, err.message, NULL);
    return status == TD_OK;
}

/* Makes room for all that the texts will have. */
static bool make_room(struct classify_call *call, struct fault *fault)
{
    size_t texts = call->request.text_count, labels = td_classifier_count(call->classifier);
    struct td_str *names = calloc(labels, sizeof *names);
    call->labels =
        (struct td_labels){.texts = names, .count = labels, .classifier = call->classifier};
    for (size_t i = 0; names && i < labels; i++)
        names[i] = td_classifier_label(call->classifier, i);
    call->states = calloc(texts, sizeof *call->states);
    call->rows = calloc(texts, sizeof *call->rows);
    call->probabilities = calloc(texts, labels * sizeof *call->probabilities);
    if (names && call->states && call->rows && call->probabilities)
        return true;
    return fault_no_memory(fault);
}

/* Many texts can wait. The header's value was checked with the deadline's. */
static enum td_priority priority_of(const struct classify_call *call)
{
    const char *asked = http_request_header(call->http, "x-tandem-priority");
    enum td_priority priority = TD_PRIORITY_INTERACTIVE;
    if (call->request.text_count > TEXTS_AT_ONCE)
        return TD_PRIORITY_BATCH;
    return asked && names_priority_parse(str_from(asked), &priority) ? priority
                                                                     : TD_PRIORITY_INTERACTIVE;
}

static bool submit(struct classify_call *call, struct fault *fault)
{
    struct api *api = call->base.api;
    struct td_error err = {0};
    size_t failed = 0;
    enum td_status status = local_record_begin(&call->record, api, "classify", "cl", &err);
    memcpy(call->caller, api->who.caller, sizeof call->caller);
    call->priority = priority_of(call);
    call->record.requested_model = call->request.model;
    call->record.user = call->request.user;
    if (status == TD_OK)
        status = begin_texts(call, &failed, &err);
    if (status == TD_OK)
        return true;
    err.status = status;
    set_fault(call, failed, &err, fault);
    return false;
}

void classify_handle(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    struct fault fault = {0};
    struct classify_call *call = calloc(1, sizeof *call);
    if (!call) {
        fault_no_memory(&fault);
        api_reply_fault(api, request, &fault);
        return;
    }
    call->http = request;
    call->record.start_ms = clock_monotonic_ms(NULL);
    api_call_begin(api, &call->base, call_stop, true);
    call->services = api->host->acquire(api->host->ctx);
    if (!classify_request_parse(http_request_body(request), &call->request, &fault) ||
        !choose_tier(call, &fault) || !classify_texts(call, &fault) ||
        !local_record_enter(&call->record, api, request, call->request.model, &fault) ||
        !make_classifier(call, &fault) || !make_room(call, &fault) ||
        !call_deadline_start(&call->deadline, api, request, call->services->deadline_ms,
                             on_deadline, call, &fault) ||
        !submit(call, &fault)) {
        api_reply_fault(api, request, &fault);
        call_free(call);
        return;
    }
    http_request_on_gone(request, call_gone, call);
}

/* --- the sets --- */

static struct json *set_json(const struct td_model *model, const char *tier, struct td_str name)
{
    char set[128];
    struct td_error err = {0};
    struct td_classifier *classifier = NULL;
    snprintf(set, sizeof set, STR_FMT, STR_ARG(name));
    const struct td_classifier_options options = {.set = set};
    struct json *value = json_new_object(), *labels = json_new_array();
    json_put(value, "set", json_new_text(name));
    json_put(value, "model", json_new_cstr(td_model_get_info(model)->name));
    json_put(value, "tier", json_new_cstr(tier));
    enum td_status status = td_classifier_new(model, &options, &classifier, &err);
    for (size_t i = 0; status == TD_OK && i < td_classifier_count(classifier); i++)
        json_push(labels, json_new_text(td_classifier_label(classifier, i)));
    json_put(value, "labels", labels);
    td_classifier_free(classifier);
    return value;
}

void classify_handle_sets(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    struct exchange_services *services = api->host->acquire(api->host->ctx);
    struct json *value = json_new_object(), *data = json_new_array();
    for (size_t i = 0; i < services->tier_count; i++) {
        const struct td_model *model = tier_local_model(services->tiers[i]);
        struct td_str name;
        for (size_t n = 0; model && (name = td_label_set(model, n)).len > 0; n++)
            json_push(data, set_json(model, services->tiers[i]->facts.name, name));
    }
    json_put(value, "object", json_new_cstr("list"));
    json_put(value, "data", data);
    api->host->release(api->host->ctx, services);
    api_reply_value(api, request, value, SETS_BYTES_MAX);
}
