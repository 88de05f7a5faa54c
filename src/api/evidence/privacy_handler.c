/* POST /tandem/v1/privacy/check {"text", "model", "data_class"}: what is private in a text, and
 * what each tier of the route would be sent of it. The same scan, rules and plan as for a request
 * that says this text; but nothing is sent, and nothing is recorded or remembered.
 *
 *   {"object": "privacy.check", "class", "route", "rule", "spans": [as `tandem scan` has them],
 *    "masked": the text with surrogates or null, "masked_class", "why_not_masked",
 *    "replaced": [{"type", "count"}],
 *    "tiers": [{"name", "place", "gets": "text", "masked" or "nothing", "first", "why"}]}
 *
 * The surrogates are examples: each conversation draws its own. */
#include "api/admin/model_rows.h"
#include "api/evidence/findings.h"
#include "api/evidence/handlers.h"
#include "api/http/reply.h"
#include "api/metrics/tier_condition.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "exchange/private/classify.h"
#include "exchange/private/consents.h"
#include "privacy/pseudonym/mask.h"
#include "router/plan/reach.h"
#include "router/plan/signals.h"

#include <stdlib.h>
#include <string.h>

/* A loop reads it at once, so it is no book. */
#define TEXT_BYTES_MAX ((size_t)256 << 10)
#define REPLY_BYTES_MAX ((size_t)32 << 20)

struct check {
    struct td_str text;
    struct td_message message;
    struct td_request request;
    struct signals signals;
    struct tier_state states[RUNGS_MAX];
    struct plan plan;
    struct model_choice choice;
    struct model_rows rows; /* whose facts and names the plan borrows */
};

/* --- the request --- */

static bool read_body(struct check *check, const struct json *body, struct fault *fault)
{
    const struct json *text = json_get(body, "text"), *model = json_get(body, "model");
    const struct json *data_class = json_get(body, "data_class");
    check->text = json_text(text);
    if (json_kind_of(text) != JSON_KIND_TEXT || check->text.len > TEXT_BYTES_MAX)
        return fault_request(fault, "text", "text must be a string of at most %zu bytes",
                             TEXT_BYTES_MAX);
    if (!json_absent(model) && json_kind_of(model) != JSON_KIND_TEXT)
        return fault_request(fault, "model", "model must be a string");
    if (!json_absent(data_class) &&
        !names_class_parse(json_text(data_class), &check->request.data_class))
        return fault_request(fault, "data_class",
                             "data_class must be public, sensitive, contractual or restricted");
    check->message = (struct td_message){TD_ROLE_USER, check->text};
    check->request.messages = &check->message;
    check->request.message_count = 1;
    check->request.model = json_cstr(model);
    return true;
}

static bool find_route(struct check *check, struct fault *fault)
{
    if (model_names_find(&check->rows.names, check->request.model, &check->choice)) {
        for (size_t i = 0; i < check->rows.names.tier_count; i++)
            model_names_take(&check->rows.facts[i], check->choice.name);
        return true;
    }
    fault_request(fault, "model", "there is no model of that name; see /v1/models");
    return false;
}

/* --- what would be sent --- */

/* With a vault of its own, which is wiped: nothing of it is kept. */
static void mask(struct check *check, const struct exchange_services *services, struct json *out)
{
    const struct route *route = check->choice.route;
    struct td_error err = {0};
    struct vault *vault = NULL;
    struct vault_uses uses = {0};
    struct buf masked;
    enum td_data_class rest = check->request.data_class;
    if (!services->pseudonyms || !route->pseudonyms)
        return;
    struct mask_rules rules = services->pseudonyms->rules;
    rules.scanner = services->scanner;
    rules.strict = route->strict;
    buf_init(&masked, REPLY_BYTES_MAX / 8);
    enum td_status status = vault_new(&vault, &err);
    struct mask *mask = status == TD_OK ? mask_new(vault, &rules, &uses) : NULL;
    if (status == TD_OK)
        status = mask ? mask_one(mask, check->text, &masked, &rest, &err)
                      : error_set(&err, TD_NO_MEMORY, "no memory to replace anything");
    if (status == TD_OK && !masked.failed) {
        struct privacy_tally_row rows[PRIVACY_TALLY_ROWS_MAX];
        struct json *replaced = json_new_array();
        size_t count = privacy_tally_rows(mask_replaced(mask), rows);
        for (size_t i = 0; i < count; i++) {
            struct json *row = json_new_object();
            json_put(row, "type", json_new_cstr(rows[i].name));
            json_put(row, "count", json_new_int(rows[i].count));
            json_push(replaced, row);
        }
        check->signals.masked = true;
        check->signals.masked_class = classify_higher(rest, route->data_class);
        json_put(out, "masked", json_new_text(buf_view(&masked)));
        json_put(out, "masked_class", json_new_cstr(names_class(check->signals.masked_class)));
        json_put(out, "replaced", replaced);
    } else {
        json_put(out, "why_not_masked", json_new_cstr(err.message));
    }
    mask_free(mask);
    vault_uses_deinit(&uses);
    vault_free(vault);
    buf_deinit(&masked);
}

static void decide(struct check *check, const struct exchange_services *services, struct json *out)
{
    const struct route *route = check->choice.route;
    enum td_data_class declared = classify_higher(check->request.data_class, route->data_class);
    signals_extract(&check->request, services->classifier, NULL, &check->signals);
    check->signals.data_class =
        classify_higher(declared, classify_request(services->scanner, &check->request, NULL));
    mask(check, services, out);
    const struct app *app = check->rows.names.app;
    check->signals.key_terms = check->rows.names.models ? &check->rows.terms : NULL;
    if (route->consent) /* this text brings none */
        check->signals.consent_missing = consent_state_text(CONSENT_NONE);
    for (size_t i = 0; i < services->tier_count; i++) {
        struct tier_condition condition;
        tier_condition_read(services, i, &condition);
        check->states[i] =
            (struct tier_state){.reachable = condition.up || condition.broken,
                                .prompt_tokens = (uint32_t)(check->text.len / 4 + 4)};
    }
    check->signals.app = app ? app->name : NULL;
    policy_apply_rules(services->policy, route, &check->request.weights, app ? &app->weights : NULL,
                       &check->signals);
    plan_make(route, check->choice.tier, &check->signals, check->rows.facts, check->states,
              services->tier_count, &check->plan);
}

/* --- the answer --- */

static const char *why_removed(const struct plan *plan, const char *tier)
{
    for (size_t i = 0; i < plan->reason_count; i++)
        if (plan->reasons[i].code <= REASON_REMOVED_CAPPED &&
            strcmp(plan->reasons[i].tier ? plan->reasons[i].tier : "", tier) == 0)
            return plan->reasons[i].text;
    return NULL;
}

static bool is_rung(const struct plan *plan, size_t tier)
{
    for (size_t i = 0; i < plan->rung_count; i++)
        if (plan->rungs[i] == tier)
            return true;
    return false;
}

static struct json *tiers_json(const struct check *check)
{
    const struct plan *plan = &check->plan;
    const struct route *route = check->choice.route;
    struct json *list = json_new_array();
    for (size_t r = 0; r < route->tier_count; r++)
        for (size_t i = 0; i < check->rows.names.tier_count; i++) {
            const struct tier_facts *facts = &check->rows.facts[i];
            if (strcmp(facts->name, route->tiers[r]) != 0)
                continue;
            bool masked = policy_sends_masked(route, &check->signals, facts);
            struct json *row = json_new_object();
            json_put(row, "name", json_new_cstr(facts->name));
            json_put(row, "place", json_new_cstr(names_place(facts->place)));
            json_put(row, "gets",
                     json_new_cstr(!is_rung(plan, i) ? "nothing"
                                   : masked          ? "masked"
                                                     : "text"));
            json_put(row, "first", json_new_bool(plan->rung_count && plan->rungs[0] == i));
            json_put(row, "why", json_new_cstr(why_removed(plan, facts->name)));
            json_push(list, row);
        }
    return list;
}

static enum td_status answer(struct check *check, const struct exchange_services *services,
                             struct json **out, struct td_error *err)
{
    const struct findings_options how = {.scanner = services->scanner};
    struct findings findings;
    enum td_status status = findings_of(check->text, &how, &findings, err);
    if (status == TD_OK) {
        *out = findings_json(check->text, &findings);
        decide(check, services, *out);
        json_put(*out, "object", json_new_cstr("privacy.check"));
        json_put(*out, "class", json_new_cstr(names_class(check->signals.data_class)));
        json_put(*out, "route", json_new_cstr(check->choice.route->name));
        json_put(*out, "rule",
                 json_new_cstr(check->signals.rule ? check->signals.rule->name : NULL));
        json_put(*out, "tiers", tiers_json(check));
    }
    findings_deinit(&findings);
    return status;
}

void privacy_handle_check(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    struct fault fault = {0};
    struct td_error err = {0};
    struct json *body = NULL, *value = NULL;
    struct check *check = calloc(1, sizeof *check);
    struct exchange_services *services = api->host->acquire(api->host->ctx);
    bool told = false;
    enum td_status status = check ? TD_OK : TD_NO_MEMORY;
    if (status == TD_OK)
        told = !fault_parse_json(http_request_body(request), &body, &fault);
    if (status == TD_OK && !told) {
        model_rows_collect(api, services, &check->rows);
        told = !read_body(check, body, &fault) || !find_route(check, &fault);
    }
    if (status == TD_OK && !told)
        status = answer(check, services, &value, &err);
    if (told)
        api_reply_fault(api, request, &fault);
    else if (status == TD_OK)
        api_reply_value(api, request, value, REPLY_BYTES_MAX);
    else
        api_reply_status(api, request, status, &err, NULL);
    if (status != TD_OK || told)
        json_free(value);
    api->host->release(api->host->ctx, services);
    json_free(body);
    if (check)
        plan_deinit(&check->plan);
    free(check);
}
