/* GET /v1/models and /v1/models/ID: every name that a request's `model` may have. These are routes,
 * tiers, and the models and adapters of the tiers. */
#include "api/admin/handlers.h"
#include "api/http/reply.h"
#include "base/json.h"
#include "base/names.h"
#include "base/str.h"
#include "engine/embedding/embedding_service.h"

#include <stdio.h>

#define MODELS_BYTES_MAX (256u << 10)

struct model_row {
    const char *id;
    const char *kind;               /* "route", "tier", "model", "adapter", "embeddings" */
    const struct tier_facts *facts; /* NULL for a route and for embeddings */
};

#define MODEL_ROWS_MAX 256

static void row_add(struct model_row *rows, size_t *count, const char *id, const char *kind,
                    const struct tier_facts *facts)
{
    if (!id || !*id || *count == MODEL_ROWS_MAX)
        return;
    for (size_t i = 0; i < *count; i++)
        if (strcmp(rows[i].id, id) == 0)
            return;
    rows[(*count)++] = (struct model_row){id, kind, facts};
}

static size_t collect(const struct exchange_services *services, struct model_row *rows)
{
    size_t count = 0;
    row_add(rows, &count, "auto", "route", NULL);
    for (size_t i = 0; i < services->policy->route_count; i++)
        row_add(rows, &count, services->policy->routes[i].name, "route", NULL);
    for (size_t i = 0; i < services->tier_count; i++)
        row_add(rows, &count, services->tiers[i]->facts.name, "tier", &services->tiers[i]->facts);
    for (size_t i = 0; i < services->tier_count; i++)
        row_add(rows, &count, services->tiers[i]->facts.model, "model", &services->tiers[i]->facts);
    if (services->embeddings)
        row_add(rows, &count,
                td_model_get_info(embedding_service_model(services->embeddings))->name,
                "embeddings", NULL);
    for (size_t i = 0; i < services->tier_count; i++)
        for (size_t a = 0; a < services->tiers[i]->facts.adapter_count; a++)
            row_add(rows, &count, services->tiers[i]->facts.adapters[a], "adapter",
                    &services->tiers[i]->facts);
    return count;
}

static void write_row(const struct model_row *row, uint64_t created, struct buf *out)
{
    buf_append_str(out, STR("{\"id\":"));
    json_write_text(str_from(row->id), out);
    buf_printf(out, ",\"object\":\"model\",\"created\":%llu,\"owned_by\":\"tandem\",",
               (unsigned long long)created);
    buf_printf(out, "\"tandem\":{\"kind\":\"%s\"", row->kind);
    if (row->facts) {
        buf_append_str(out, STR(",\"tier\":"));
        json_write_text(str_from(row->facts->name), out);
        buf_printf(out, ",\"place\":\"%s\",\"context_tokens\":%u,\"usable\":%s",
                   names_place(row->facts->place), row->facts->context_tokens,
                   tier_facts_usable(row->facts) ? "true" : "false");
    }
    buf_append_str(out, STR("}}"));
}

void models_handle_list(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    struct exchange_services *services = api->host->acquire(api->host->ctx);
    struct model_row rows[MODEL_ROWS_MAX];
    size_t count = collect(services, rows);
    struct buf body;
    buf_init(&body, MODELS_BYTES_MAX);
    buf_append_str(&body, STR("{\"object\":\"list\",\"data\":["));
    for (size_t i = 0; i < count; i++) {
        if (i)
            buf_append_char(&body, ',');
        write_row(&rows[i], api->host->start_wall_ms / 1000, &body);
    }
    buf_append_str(&body, STR("]}"));
    api_reply_json(api, request, 200, &body);
    buf_deinit(&body);
    api->host->release(api->host->ctx, services);
}

void models_handle_one(struct api *api, struct http_request *request, const char *rest)
{
    struct exchange_services *services = api->host->acquire(api->host->ctx);
    struct model_row rows[MODEL_ROWS_MAX];
    size_t count = collect(services, rows), found = count;
    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].id, rest) == 0)
            found = i;
    if (found < count) {
        struct buf body;
        buf_init(&body, MODELS_BYTES_MAX);
        write_row(&rows[found], api->host->start_wall_ms / 1000, &body);
        api_reply_json(api, request, 200, &body);
        buf_deinit(&body);
    } else {
        struct fault fault;
        fault_set(&fault, 404, "invalid_request_error", "model_not_found",
                  "no route, tier or model is named '%.200s'; GET /v1/models lists them", rest);
        snprintf(fault.param, sizeof fault.param, "model");
        api_reply_fault(api, request, &fault);
    }
    api->host->release(api->host->ctx, services);
}
