/* POST /tandem/v1/replay {"since_wall_ms", "route", "policies": [{"confidence_min" (g3),
 * "early_min" (g2), "p_local_under" (g0), "weights": {"latency", "privacy", "cost"}}]}: what the
 * exchanges of the ledger would have come to under other thresholds of a route, each policy for
 * itself. No model runs (replay.h). What a policy leaves out stays as it is.
 *    {"object": "replay", "exchanges", "skipped", "before": {"cost_usd", "ms", "share_local",
 *     "right"}, "after": [the same, with "right_before" (of those of which both are known),
 *     "right_known", "start_changed", "refused"]}
 * All numbers are means of an exchange. It reads the ledger in the background. */
#include "api/evidence/handlers.h"
#include "api/evidence/replay.h"
#include "api/http/background_reply.h"
#include "api/http/reply.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define POLICIES_MAX 32
/* A second or so of work with as many policies. */
#define EXCHANGES_MAX 20000u
#define REPLY_BYTES_MAX ((size_t)1 << 20)

/* Sums over exchanges. */
struct sums {
    double cost, ms, local, right;
    uint64_t right_known, changed, refused;
};

/* One other policy: the server's own with another route. */
struct tried {
    struct policy policy;
    struct route *routes; /* [policy.route_count] */
    struct replay replay;
    struct sums after;
    double right_before; /* of exchanges with a right_after */
};

struct work {
    struct background_reply reply; /* first */
    const struct api_host *host;
    struct exchange_services *services;
    uint64_t since_wall_ms;
    struct tier_facts facts[RUNGS_MAX];
    struct tried tried[POLICIES_MAX];
    size_t count;
    struct sums before;
    uint64_t exchanges, skipped;
};

/* --- the request --- */

/* A number from 0 to 1, or NAN where there is none. */
static bool read_share(const struct json *object, const char *name, double *out,
                       struct fault *fault)
{
    const struct json *value = json_get(object, name);
    *out = json_number(value, (double)NAN);
    if (json_absent(value) || (*out >= 0 && *out <= 1))
        return true;
    return fault_request(fault, "policies", "%s must be a number from 0 to 1", name);
}

static bool read_weights(const struct json *object, struct td_weights *out, struct fault *fault)
{
    const struct json *weights = json_get(object, "weights");
    struct td_weights given = {.set = true};
    if (json_absent(weights))
        return true;
    if (!read_share(weights, "latency", &given.latency, fault) ||
        !read_share(weights, "privacy", &given.privacy, fault) ||
        !read_share(weights, "cost", &given.cost, fault))
        return false;
    if (!(given.latency + given.privacy + given.cost > 0))
        return fault_request(fault, "policies",
                             "weights must have latency, privacy and cost, not all of them 0");
    *out = given;
    return true;
}

/* As a configuration that gives the same numbers of g3, g2 and g0. */
static bool change_route(struct route *route, const struct json *wish, struct fault *fault)
{
    double keep, early, start;
    struct gate_settings *gates = &route->gates;
    if (!read_share(wish, "confidence_min", &keep, fault) ||
        !read_share(wish, "early_min", &early, fault) ||
        !read_share(wish, "p_local_under", &start, fault) ||
        !read_weights(wish, &route->weights, fault))
        return false;
    if (!isnan(keep)) {
        gates->g3_on = keep > 0;
        gates->g3_given = true;
        gates->g3_confidence_min = keep;
        gates->thresholds[THRESHOLD_G3] = NULL;
    }
    if (!isnan(early)) {
        gates->g2_on = early > 0 && gates->g2_tokens > 0;
        gates->g2_given = true;
        gates->g2_confidence_min = early;
    }
    if (!isnan(start)) {
        gates->g0_p_local_under = start;
        gates->thresholds[THRESHOLD_G0] = NULL;
    }
    return true;
}

static bool read_policy(struct work *work, size_t route, const struct json *wish,
                        struct fault *fault)
{
    const struct policy *own = work->services->policy;
    struct tried *tried = &work->tried[work->count];
    if (json_kind_of(wish) != JSON_KIND_OBJECT)
        return fault_request(fault, "policies", "each of policies must be an object");
    tried->routes = calloc(own->route_count, sizeof *tried->routes);
    if (!tried->routes) {
        fault_from_status(fault, TD_NO_MEMORY, NULL, NULL);
        return false;
    }
    work->count++;
    memcpy(tried->routes, own->routes, own->route_count * sizeof *tried->routes);
    tried->policy = *own;
    tried->policy.routes = tried->routes;
    tried->replay = (struct replay){
        .policy = &tried->policy, .facts = work->facts, .tier_count = work->services->tier_count};
    return change_route(&tried->routes[route], wish, fault);
}

static bool read_body(struct work *work, const struct json *body, struct fault *fault)
{
    const struct policy *own = work->services->policy;
    const struct json *policies = json_get(body, "policies"), *name = json_get(body, "route");
    int64_t since = json_int(json_get(body, "since_wall_ms"), 0);
    size_t route = 0;
    while (!json_absent(name) && route < own->route_count &&
           !str_equal(str_from(own->routes[route].name), json_text(name)))
        route++;
    if (route == own->route_count)
        return fault_request(fault, "route", "there is no route of that name");
    if (since < 0)
        return fault_request(fault, "since_wall_ms",
                             "since_wall_ms must be milliseconds since 1970");
    if (json_count(policies) < 1 || json_count(policies) > POLICIES_MAX)
        return fault_request(fault, "policies", "policies must be a list of 1 to %d", POLICIES_MAX);
    work->since_wall_ms = (uint64_t)since;
    for (size_t i = 0; i < work->services->tier_count; i++)
        work->facts[i] = work->services->tiers[i]->facts;
    for (size_t i = 0; i < json_count(policies); i++)
        if (!read_policy(work, route, json_at(policies, i), fault))
            return false;
    return true;
}

/* --- the thread --- */

static enum td_status learn(void *ctx, const struct ledger_history *row, struct td_error *err)
{
    struct work *work = ctx;
    return replay_learn(&work->tried[0].replay, row, err);
}

static void add(struct sums *sums, double cost, double ms, double local)
{
    sums->cost += cost;
    sums->ms += ms;
    sums->local += local;
}

/* Takes the row out again: of a replay only sums are kept. */
static void take(struct work *work, struct tried *tried, bool first)
{
    const struct replay_row *row = tried->replay.rows;
    if (tried->replay.count == 0)
        return;
    if (first) {
        work->exchanges++;
        add(&work->before, row->cost_before, row->ms_before, row->local_before);
        if (isfinite(row->right_before)) {
            work->before.right += row->right_before;
            work->before.right_known++;
        }
    }
    add(&tried->after, row->cost_after, row->ms_after, row->local_after);
    if (isfinite(row->right_before) && isfinite(row->right_after)) {
        tried->after.right += row->right_after;
        tried->right_before += row->right_before;
        tried->after.right_known++;
    }
    tried->after.changed += row->start_changed;
    tried->after.refused += row->refused;
    tried->replay.count = tried->replay.start_count = 0;
}

static enum td_status decide(void *ctx, const struct ledger_history *row, struct td_error *err)
{
    struct work *work = ctx;
    enum td_status status = TD_OK;
    if (work->exchanges == EXCHANGES_MAX)
        return error_set(err, TD_LIMIT, "more than %u exchanges; choose a shorter time",
                         EXCHANGES_MAX);
    for (size_t i = 0; i < work->count && status == TD_OK; i++) {
        status = replay_add(&work->tried[i].replay, row, err);
        if (status == TD_OK)
            take(work, &work->tried[i], i == 0);
    }
    return status;
}

/* What the first pass learnt is the same for all. */
static void share_learnt(struct work *work)
{
    const struct replay *learnt = &work->tried[0].replay;
    replay_prepare(&work->tried[0].replay);
    for (size_t i = 1; i < work->count; i++) {
        struct replay *replay = &work->tried[i].replay;
        memcpy(replay->ms_sum, learnt->ms_sum, sizeof replay->ms_sum);
        memcpy(replay->ms_count, learnt->ms_count, sizeof replay->ms_count);
        replay->confidences = learnt->confidences;
        replay->confidence_count = learnt->confidence_count;
    }
}

static struct json *sums_json(const struct sums *sums, uint64_t exchanges)
{
    const double n = exchanges ? (double)exchanges : (double)NAN;
    const double known = sums->right_known ? (double)sums->right_known : (double)NAN;
    struct json *object = json_new_object();
    json_put(object, "cost_usd", json_new_double(sums->cost / n));
    json_put(object, "ms", json_new_double(sums->ms / n));
    json_put(object, "share_local", json_new_double(sums->local / n));
    json_put(object, "right", json_new_double(sums->right / known));
    return object;
}

static struct json *result_json(const struct work *work)
{
    struct json *object = json_new_object(), *after = json_new_array();
    json_put(object, "object", json_new_cstr("replay"));
    json_put(object, "exchanges", json_new_int((int64_t)work->exchanges));
    json_put(object, "skipped", json_new_int((int64_t)work->tried[0].replay.skipped));
    json_put(object, "before", sums_json(&work->before, work->exchanges));
    for (size_t i = 0; i < work->count; i++) {
        const struct tried *tried = &work->tried[i];
        const struct sums *sums = &tried->after;
        struct json *row = sums_json(sums, work->exchanges);
        json_put(row, "right_before",
                 json_new_double(sums->right_known ? tried->right_before / (double)sums->right_known
                                                   : (double)NAN));
        json_put(row, "right_known", json_new_int((int64_t)sums->right_known));
        json_put(row, "start_changed", json_new_int((int64_t)sums->changed));
        json_put(row, "refused", json_new_int((int64_t)sums->refused));
        json_push(after, row);
    }
    json_put(object, "after", after);
    return object;
}

static void work_run(void *ctx)
{
    struct work *work = ctx;
    struct background_reply *reply = &work->reply;
    struct ledger_reader *reader = NULL;
    reply->status = ledger_reader_open(work->host->ledger_path, &reader, &reply->err);
    if (reply->status == TD_OK)
        reply->status =
            ledger_reader_history(reader, work->since_wall_ms, learn, work, &reply->err);
    if (reply->status == TD_OK) {
        share_learnt(work);
        reply->status =
            ledger_reader_history(reader, work->since_wall_ms, decide, work, &reply->err);
    }
    ledger_reader_close(reader);
    if (reply->status == TD_OK)
        reply->value = result_json(work);
}

static void work_deinit(void *ctx)
{
    struct work *work = ctx;
    for (size_t i = 0; i < work->count; i++) {
        if (i > 0)
            work->tried[i].replay.confidences = NULL; /* those of the first */
        replay_deinit(&work->tried[i].replay);
        free(work->tried[i].routes);
    }
    if (work->services)
        work->host->release(work->host->ctx, work->services);
}

/* --- the loop --- */

void replay_handle(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    struct fault fault = {0};
    struct json *body = NULL;
    struct work *work = calloc(1, sizeof *work);
    if (!api->host->ledger_path) {
        fault_from_status(&fault, TD_UNAVAILABLE, "this server keeps no ledger", NULL);
    } else if (fault_parse_json(http_request_body(request), &body, &fault) && work) {
        work->host = api->host;
        work->services = api->host->acquire(api->host->ctx);
        work->reply = (struct background_reply){.run = work_run,
                                                .deinit = work_deinit,
                                                .param = "since_wall_ms",
                                                .bytes_max = REPLY_BYTES_MAX};
        (void)read_body(work, body, &fault);
    }
    if (fault.code) {
        background_reply_free(work);
        api_reply_fault(api, request, &fault);
    } else {
        background_reply_begin(api, request, work);
    }
    json_free(body);
}
