/* POST /v1/moderations: which private data texts hold, by the detectors of this device. Nothing
 * leaves it. The categories are the kinds of private data that the detectors know, and no others:
 * nothing here judges hate, violence or the like, so an answer does not say that they are absent. A
 * score is the detector's own, so what was not found has none. The ledger and the metrics have the
 * calls under the route "moderations". */
#include "api/http/reply.h"
#include "api/inference/handlers.h"
#include "api/inference/local_record.h"
#include "api/wire/openai_request.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/time/clock.h"
#include "privacy/scan/privacy.h"
#include "privacy/scan/scanner.h"

#include <stdio.h>
#include <stdlib.h>

#define INPUTS_MAX 1024
/* Of one text; its class counts all of them. */
#define FINDINGS_MAX 4096
#define ANSWER_BYTES_MAX ((size_t)16 << 20)
#define PARAM_BYTES 48
#define NAME_BYTES_MAX 256
#define JUDGE "tandem-detectors"
/* Of a rule of the operator's, beside those of kinds. */
#define PREFIX "pii/"

/* What was found in one input, which may have several texts. */
struct judged {
    struct privacy_span *spans; /* [FINDINGS_MAX] */
    size_t count;
    enum td_data_class data_class;
};

/* --- the request --- */

static bool is_text_part(const struct json *item)
{
    return str_equal(json_text(json_get(item, "type")), STR("text"));
}

/* A list of parts is one input; a list of strings is as many. */
static bool is_parts(const struct json *input)
{
    return json_kind_of(json_at(input, 0)) == JSON_KIND_OBJECT;
}

static bool check_item(const struct json *item, bool part, size_t index, struct fault *fault)
{
    char param[PARAM_BYTES];
    snprintf(param, sizeof param, "input[%zu]", index);
    if (part && json_kind_of(item) == JSON_KIND_OBJECT && !is_text_part(item)) {
        fault_request(fault, param, "%s: only parts of the type text are judged here", param);
        fault->error_code = "unsupported_content";
        return false;
    }
    const struct json *text = part ? json_get(item, "text") : item;
    return json_kind_of(text) == JSON_KIND_TEXT ||
           fault_request(fault, param,
                         part ? "%s must be {\"type\": \"text\", \"text\": ...}"
                              : "%s must be a string",
                         param);
}

static bool check_input(const struct json *input, struct fault *fault)
{
    size_t count = json_count(input);
    if (json_kind_of(input) == JSON_KIND_TEXT)
        return true;
    if (json_kind_of(input) != JSON_KIND_ARRAY || count == 0 || count > INPUTS_MAX)
        return fault_request(fault, "input",
                             "input must be a string, or a list of 1 to %d strings or parts",
                             INPUTS_MAX);
    for (size_t i = 0; i < count; i++)
        if (!check_item(json_at(input, i), is_parts(input), i, fault))
            return false;
    return true;
}

/* The record has it; OpenAI's own names are shorter. */
static bool check_name(const struct json *body, const char *name, struct fault *fault)
{
    const struct json *value = json_get(body, name);
    return json_absent(value) ||
           (json_kind_of(value) == JSON_KIND_TEXT && json_text(value).len <= NAME_BYTES_MAX) ||
           fault_request(fault, name, "%s must be a string of at most %d bytes", name,
                         NAME_BYTES_MAX);
}

/* --- the judgement --- */

static void judge_text(const struct privacy_scanner *scanner, struct td_str text,
                       struct judged *judged)
{
    size_t room = FINDINGS_MAX - judged->count;
    size_t found = privacy_scan(scanner, text, judged->spans + judged->count, room);
    enum td_data_class data_class = privacy_classify(scanner, text, NULL);
    judged->count += found < room ? found : room;
    if (data_class > judged->data_class)
        judged->data_class = data_class;
}

/* Whether the detectors of this server look for a kind. An operator's rules have names of their
 * own, and `PRIVACY_ID` is only for masking. */
static bool is_looked_for(const struct privacy_scanner *scanner, enum privacy_kind kind)
{
    if (kind == PRIVACY_CUSTOM || kind == PRIVACY_ID)
        return false;
    bool named = kind == PRIVACY_PERSON || kind == PRIVACY_PLACE || kind == PRIVACY_ORGANIZATION;
    return !named || privacy_scanner_names(scanner)->tagger;
}

/* The first of its name. */
static bool is_first(const struct judged *judged, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(span_name(&judged->spans[i]), span_name(&judged->spans[index])) == 0)
            return false;
    return true;
}

static bool was_found(const struct judged *judged, const char *name)
{
    for (size_t i = 0; i < judged->count; i++)
        if (strcmp(span_name(&judged->spans[i]), name) == 0)
            return true;
    return false;
}

static double best_score(const struct judged *judged, const char *name)
{
    double best = 0;
    for (size_t i = 0; i < judged->count; i++)
        if (strcmp(span_name(&judged->spans[i]), name) == 0 &&
            (double)judged->spans[i].score > best)
            best = (double)judged->spans[i].score;
    return best;
}

static void write_name(const char *name, struct buf *out)
{
    buf_append_str(out, STR(",\"" PREFIX));
    size_t begin = out->len;
    json_write_text(str_from(name), out);
    /* One string: the quotation mark that begins the name goes. */
    if (!out->failed)
        memmove(out->data + begin, out->data + begin + 1, out->len - begin - 1);
    buf_truncate(out, out->len - 1);
    buf_append_char(out, ':');
}

static void write_categories(const struct privacy_scanner *scanner, const struct judged *judged,
                             bool flagged, struct buf *out)
{
    buf_printf(out, "\"categories\":{\"pii\":%s", flagged ? "true" : "false");
    for (int kind = 0; kind < PRIVACY_KIND_COUNT; kind++) {
        const char *name = privacy_kind_name((enum privacy_kind)kind);
        if (!is_looked_for(scanner, (enum privacy_kind)kind) || was_found(judged, name))
            continue;
        write_name(name, out);
        buf_append_str(out, STR("false"));
    }
    for (size_t i = 0; i < judged->count; i++)
        if (is_first(judged, i)) {
            write_name(span_name(&judged->spans[i]), out);
            buf_append_str(out, STR("true"));
        }
    buf_append_char(out, '}');
}

/* An object whose first member has no comma before it. */
static void write_found(const struct judged *judged, const char *member, bool scores,
                        struct buf *out)
{
    buf_printf(out, ",\"%s\":{", member);
    size_t begin = out->len;
    for (size_t i = 0; i < judged->count; i++) {
        if (!is_first(judged, i))
            continue;
        write_name(span_name(&judged->spans[i]), out);
        if (scores)
            buf_printf(out, "%.4g", best_score(judged, span_name(&judged->spans[i])));
        else
            buf_append_str(out, STR("[\"text\"]"));
    }
    if (out->len > begin && !out->failed) {
        memmove(out->data + begin, out->data + begin + 1, out->len - begin - 1);
        buf_truncate(out, out->len - 1);
    }
    buf_append_char(out, '}');
}

static void write_result(const struct privacy_scanner *scanner, const struct judged *judged,
                         struct buf *out)
{
    bool flagged = judged->data_class > TD_CLASS_PUBLIC;
    buf_printf(out, "{\"flagged\":%s,", flagged ? "true" : "false");
    write_categories(scanner, judged, flagged, out);
    write_found(judged, "category_scores", true, out);
    write_found(judged, "category_applied_input_types", false, out);
    buf_printf(out, ",\"tandem\":{\"data_class\":\"%s\"}}", names_class(judged->data_class));
}

/* --- the call --- */

struct call {
    struct api *api;
    struct exchange_services *services;
    struct local_record record;
    struct json *body;
    struct judged judged;
};

static void judge_all(struct call *call, struct buf *out)
{
    const struct privacy_scanner *scanner = call->services->scanner;
    const struct json *input = json_get(call->body, "input");
    bool list = json_kind_of(input) == JSON_KIND_ARRAY, parts = list && is_parts(input);
    size_t count = list ? json_count(input) : 1;
    for (size_t i = 0; i < count && !out->failed; i++) {
        const struct json *item = list ? json_at(input, i) : input;
        judge_text(scanner, json_text(parts ? json_get(item, "text") : item), &call->judged);
        if (parts && i + 1 < count)
            continue;
        if (i > 0 && !parts)
            buf_append_char(out, ',');
        write_result(scanner, &call->judged, out);
        local_record_raise(&call->record, call->judged.data_class);
        call->judged.count = 0;
        call->judged.data_class = TD_CLASS_PUBLIC;
    }
}

static bool begin(struct call *call, struct http_request *request, struct fault *fault)
{
    struct td_error err = {0};
    snprintf(call->record.tier, sizeof call->record.tier, "local");
    if (!openai_request_read_object(http_request_body(request), &call->body, fault) ||
        !check_input(json_get(call->body, "input"), fault) ||
        !check_name(call->body, "model", fault) || !check_name(call->body, "user", fault) ||
        !local_record_declare(&call->record, request, call->services->text_class, fault) ||
        !local_record_enter(&call->record, call->api, request, NULL, fault))
        return false;
    call->judged.spans = calloc(FINDINGS_MAX, sizeof *call->judged.spans);
    enum td_status status =
        call->judged.spans && call->services->scanner
            ? local_record_begin(&call->record, call->api, "moderations", "mo", &err)
            : TD_NO_MEMORY;
    if (status == TD_OK)
        return true;
    fault_from_status(fault, status, err.message[0] ? err.message : NULL, NULL);
    return false;
}

static void reply(struct call *call, struct http_request *request)
{
    struct buf body;
    struct fault fault = {0};
    call->record.model = JUDGE;
    call->record.requested_model = json_cstr(json_get(call->body, "model"));
    call->record.user = json_cstr(json_get(call->body, "user"));
    buf_init(&body, ANSWER_BYTES_MAX);
    buf_printf(&body, "{\"id\":\"modr-%s\",\"model\":\"" JUDGE "\",\"results\":[",
               call->record.id + 3);
    judge_all(call, &body);
    buf_append_str(&body, STR("]}"));
    bool may = local_record_may(&call->record, call->api, &fault);
    local_record_end(&call->record,
                     !may          ? TD_DENIED
                     : body.failed ? TD_LIMIT
                                   : TD_OK,
                     0, may ? NULL : fault.message);
    local_record_headers(&call->record, request);
    if (may)
        api_reply_json(call->api, request, 200, &body);
    else
        api_reply_fault(call->api, request, &fault);
    buf_deinit(&body);
}

void moderations_handle(struct api *api, struct http_request *request, const char *rest)
{
    struct fault fault = {0};
    struct call call = {.api = api};
    (void)rest;
    call.record.start_ms = clock_monotonic_ms(NULL);
    call.services = api->host->acquire(api->host->ctx);
    if (begin(&call, request, &fault))
        reply(&call, request);
    else
        api_reply_fault(api, request, &fault);
    local_record_leave(&call.record);
    free(call.judged.spans);
    json_free(call.body);
    api->host->release(api->host->ctx, call.services);
}
