/* POST /tandem/v1/feedback: a judgement of an answer.
 *
 *   {"id": "ex_...", "ok": true}   or   {"id": "ex_...", "score": 0.5, "comment": "..."}
 *
 * The id must be whole, so that a typing error judges no other exchange. The judgement goes into
 * the ledger beside the exchange. `tandem router tune` reads it as a label, `tandem report` shows
 * it. */
#include "api/admin/feedback.h"

#include "api/admin/handlers.h"
#include "api/admin/lookup.h"
#include "api/http/reply.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/text/names.h"
#include "base/time/clock.h"
#include "exchange/limits/watch.h"
#include "exchange/memory/ramp_table.h"
#include "ledger/record/ledger.h"

#include <stdlib.h>
#include <string.h>

#define REPLY_BYTES_MAX 4096

static bool read_score(const struct json *body, double *out, struct fault *fault)
{
    const struct json *ok = json_get(body, "ok"), *score = json_get(body, "score");
    enum json_kind ok_kind = json_kind_of(ok), score_kind = json_kind_of(score);
    if ((ok_kind == JSON_KIND_ABSENT) == (score_kind == JSON_KIND_ABSENT))
        return fault_request(fault, "ok", "give either ok (true or false) or score (from 0 to 1)");
    if (ok_kind != JSON_KIND_ABSENT) {
        *out = json_bool(ok, false);
        return ok_kind == JSON_KIND_BOOL ||
               fault_request(fault, "ok", "ok must be true or false, not a %s",
                             json_kind_name(ok_kind));
    }
    *out =
        score_kind == JSON_KIND_INT || score_kind == JSON_KIND_DOUBLE ? json_number(score, -1) : -1;
    return (*out >= 0 && *out <= 1) ||
           fault_request(fault, "score", "score must be a number from 0 to 1");
}

bool feedback_read(const struct json *body, struct feedback *out, struct fault *fault)
{
    struct td_str id = json_text(json_get(body, "id"));
    const struct json *comment = json_get(body, "comment");
    struct td_str text = json_text(comment);
    enum json_kind kind = json_kind_of(comment);
    *out = (struct feedback){0};
    if (json_kind_of(body) != JSON_KIND_OBJECT)
        return fault_request(fault, "", "the body must be an object with id and ok or score");
    if (id.len == 0 || id.len >= sizeof out->id || memchr(id.data, '\0', id.len))
        return fault_request(fault, "id", "id must be the exchange's id, as in x-tandem-exchange");
    memcpy(out->id, id.data, id.len);
    if (kind != JSON_KIND_ABSENT && kind != JSON_KIND_NULL && kind != JSON_KIND_TEXT)
        return fault_request(fault, "comment", "comment must be a text");
    if (text.len >= sizeof out->comment || (text.len && memchr(text.data, '\0', text.len)))
        return fault_request(fault, "comment", "comment has at most %zu bytes and no NUL",
                             sizeof out->comment - 1);
    if (text.len)
        memcpy(out->comment, text.data, text.len);
    return read_score(body, &out->score, fault);
}

static void reply_stored(struct api *api, struct http_request *request,
                         const struct feedback *feedback)
{
    struct json *object = json_new_object();
    json_put(object, "object", json_new_cstr("feedback"));
    json_put(object, "id", json_new_cstr(feedback->id));
    json_put(object, "score", json_new_double(feedback->score));
    api_reply_value(api, request, object, REPLY_BYTES_MAX);
}

/* A judged exchange that a ramp took, or could have taken, is evidence for the ramp. */
static void judge_ramp(const struct exchange_services *services, const struct json *exchange,
                       double score)
{
    const struct json *ramp = json_get(json_get(json_get(exchange, "signals"), "decision"), "ramp");
    const char *route = json_cstr(json_get(exchange, "route"));
    const int64_t wall_ms = json_int(json_get(exchange, "wall_ms"), -1);
    const struct ramp_judged judged = {
        .exchange = json_cstr(json_get(exchange, "id")),
        .to = json_cstr(json_get(ramp, "to")),
        .wall_ms = wall_ms > 0 ? (uint64_t)wall_ms : 0,
        .candidate = json_bool(json_get(ramp, "taken"), false),
        .loss = 1 - score,
    };
    if (services->ramp_table && route && judged.exchange && judged.to)
        ramp_table_judge_feedback(services->ramp_table, services->policy, route, &judged);
}

/* Compares the confidence of the device's own answers with what people say of them. */
static void watch_answer(struct api *api, const struct json *exchange, double score)
{
    const char *place = json_cstr(json_get(exchange, "place"));
    struct exchange_services *services = api->host->acquire(api->host->ctx);
    if (services->watch && place && strcmp(place, names_place(TD_PLACE_DEVICE)) == 0)
        watch_add_feedback(services->watch, json_number(json_get(exchange, "confidence"), -1),
                           score);
    judge_ramp(services, exchange, score);
    api->host->release(api->host->ctx, services);
}

static void found(struct api *api, struct http_request *request, struct json *value, void *ctx)
{
    struct feedback *feedback = ctx;
    struct fault fault;
    struct td_error err = {0};
    const char *id = json_cstr(json_get(value, "id"));
    enum td_status status = TD_NOT_FOUND;
    ledger_name_exchange(feedback->id); /* a client has the answer's id at hand */
    if (id && strcmp(id, feedback->id) == 0) {
        bool keep = !api->host->zero_retention &&
                    !json_bool(json_get(json_get(value, "signals"), "zero_retention"), false);
        const struct ledger_feedback record = {
            .exchange = feedback->id,
            .wall_ms = clock_wall_ms(NULL),
            .score = feedback->score,
            .comment = *feedback->comment && keep ? feedback->comment : NULL,
        };
        status = ledger_put_feedback(api->host->ledger, &record, &err);
    }
    if (status == TD_OK)
        watch_answer(api, value, feedback->score);
    json_free(value);
    if (status == TD_OK) {
        reply_stored(api, request, feedback);
        return;
    }
    fault_from_status(&fault, status,
                      status == TD_NOT_FOUND ? "no exchange has this id; it must be the whole one"
                                             : err.message,
                      status == TD_NOT_FOUND ? "id" : NULL);
    api_reply_fault(api, request, &fault);
}

void feedback_handle(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    struct fault fault = {0};
    struct json *body = NULL;
    struct feedback *feedback = calloc(1, sizeof *feedback);
    if (!feedback)
        fault_from_status(&fault, TD_NO_MEMORY, NULL, NULL);
    else if (!api->host->ledger)
        fault_from_status(&fault, TD_UNAVAILABLE, "this server keeps no ledger", NULL);
    else if (fault_parse_json(http_request_body(request), &body, &fault) &&
             feedback_read(body, feedback, &fault)) {
        json_free(body);
        exchanges_find(api, request, feedback->id, found, feedback);
        return;
    }
    json_free(body);
    free(feedback);
    api_reply_fault(api, request, &fault);
}
