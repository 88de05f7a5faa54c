/* What Ollama's clients ask about models: /api/tags, /api/show, /api/ps, /api/version, /api/pull.
 *
 * A name is what a request's `model` may be: a route, a tier, a model (model_rows.h). The file's
 * size, family and quantisation are those of the local model; of others nothing is known here. A
 * client cannot load what the configuration does not name, so a pull of a name that is there
 * succeeds at once, and any other is refused with the command that an operator runs. */
#include "api/admin/handlers.h"
#include "api/admin/model_rows.h"
#include "api/http/reply.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/time/clock.h"
#include "engine/embedding/embedding_service.h"
#include "engine/session/scheduler.h"

#include <stdio.h>

#define LIST_BYTES_MAX (1u << 20)
/* Whose API this is; clients ask for the least version that has what they need. */
#define OLLAMA_VERSION "0.12.0"
/* Ollama's word for a model that stays loaded. */
#define NEVER "2318-01-01T00:00:00Z"
/* Of a digest, which clients cut to its first 12. */
#define DIGEST_DIGITS 64

/* --- what is known of a model --- */

/* NULL where the model is not of this device, or another than its first one. */
static const struct td_model_info *info_of(const struct exchange_services *services,
                                           const struct model_row *row)
{
    bool embeds = strcmp(row->kind, "embeddings") == 0;
    const struct td_model *model = services->model;
    if (embeds && services->embeddings)
        model = embedding_service_model(services->embeddings);
    else if (!row->facts || row->facts->place != TD_PLACE_DEVICE)
        model = NULL;
    const struct td_model_info *info = model ? td_model_get_info(model) : NULL;
    bool same =
        info && (embeds || !row->facts->model || strcmp(row->facts->model, info->name) == 0);
    return same ? info : NULL;
}

/* A route has what one of the tiers has. */
static bool has(const struct exchange_services *services, const struct model_row *row,
                enum capability capability)
{
    bool found = row->facts && !(row->facts->lacks & capability);
    for (size_t i = 0; !row->facts && i < services->tier_count; i++)
        found |= !(services->tiers[i]->facts.lacks & capability);
    return found;
}

static uint32_t context_of(const struct exchange_services *services, const struct model_row *row,
                           const struct td_model_info *info)
{
    uint32_t most = row->facts ? row->facts->context_tokens : info ? info->context_tokens : 0;
    for (size_t i = 0; !row->facts && !info && i < services->tier_count; i++)
        if (services->tiers[i]->facts.context_tokens > most)
            most = services->tiers[i]->facts.context_tokens;
    return most;
}

/* --- JSON --- */

static void put_text(struct buf *out, const char *name, const char *text)
{
    buf_printf(out, "\"%s\":", name);
    json_write_text(str_from(text ? text : ""), out);
}

static void write_details(const struct model_row *row, const struct td_model_info *info,
                          struct buf *out)
{
    const char *family = info ? info->architecture : row->kind;
    char size[32] = "";
    if (info)
        snprintf(size, sizeof size, "%.1fM", (double)info->parameter_count / 1e6);
    buf_append_str(out, STR("\"details\":{\"parent_model\":\"\","));
    put_text(out, "format", info ? "gguf" : "");
    buf_append_char(out, ',');
    put_text(out, "family", family);
    buf_append_str(out, STR(",\"families\":["));
    json_write_text(str_from(family), out);
    buf_append_str(out, STR("],"));
    put_text(out, "parameter_size", size);
    buf_append_char(out, ',');
    put_text(out, "quantization_level", info ? info->quantization : "");
    buf_append_char(out, '}');
}

/* The file's fingerprint, or zeros; of the length that clients expect. */
static void write_digest(const struct td_model_info *info, struct buf *out)
{
    char digest[DIGEST_DIGITS + 1];
    memset(digest, '0', DIGEST_DIGITS);
    digest[DIGEST_DIGITS] = '\0';
    size_t len = info ? strlen(info->fingerprint) : 0;
    memcpy(digest, info ? info->fingerprint : "", len < DIGEST_DIGITS ? len : DIGEST_DIGITS);
    buf_printf(out, "\"digest\":\"%s\"", digest);
}

static void write_names(const struct model_row *row, const struct td_model_info *info,
                        struct buf *out)
{
    buf_append_char(out, '{');
    put_text(out, "name", row->id);
    buf_append_char(out, ',');
    put_text(out, "model", row->id);
    buf_printf(out, ",\"size\":%llu,", info ? (unsigned long long)info->file_bytes : 0ULL);
    write_digest(info, out);
    buf_append_char(out, ',');
    write_details(row, info, out);
}

static void write_modified(const struct api *api, struct buf *out)
{
    char text[25];
    clock_format_iso8601(api->host->start_wall_ms, text);
    buf_printf(out, ",\"modified_at\":\"%s\"", text);
}

static void write_capabilities(const struct exchange_services *services,
                               const struct model_row *row, struct buf *out)
{
    bool embeds = strcmp(row->kind, "embeddings") == 0;
    buf_append_str(out, embeds ? STR(",\"capabilities\":[\"embedding\"")
                               : STR(",\"capabilities\":[\"completion\""));
    if (!embeds && has(services, row, CAPABILITY_TOOLS))
        buf_append_str(out, STR(",\"tools\""));
    if (!embeds && has(services, row, CAPABILITY_IMAGE))
        buf_append_str(out, STR(",\"vision\""));
    buf_append_char(out, ']');
}

/* --- lists --- */

/* Writes rows into {"models": [...]}; ps: only what is in this machine's memory. */
static void reply_list(struct api *api, struct http_request *request, bool ps)
{
    struct exchange_services *services = api->host->acquire(api->host->ctx);
    struct model_rows list;
    size_t written = 0;
    model_rows_collect(api, services, &list);
    struct buf body;
    buf_init(&body, LIST_BYTES_MAX);
    buf_append_str(&body, STR("{\"models\":["));
    for (size_t i = 0; i < list.count; i++) {
        const struct model_row *row = &list.rows[i];
        const struct td_model_info *info = info_of(services, row);
        bool loaded =
            info && (strcmp(row->kind, "model") == 0 || strcmp(row->kind, "embeddings") == 0);
        if (ps && !loaded)
            continue;
        if (written++ > 0)
            buf_append_char(&body, ',');
        write_names(row, info, &body);
        if (ps)
            buf_printf(&body,
                       ",\"expires_at\":\"" NEVER "\",\"size_vram\":0,\"context_length\":%u}",
                       context_of(services, row, info));
        else
            write_modified(api, &body);
        if (!ps)
            buf_append_char(&body, '}');
    }
    buf_append_str(&body, STR("]}"));
    api->host->release(api->host->ctx, services);
    api_reply_json(api, request, 200, &body);
    buf_deinit(&body);
}

void ollama_handle_tags(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    reply_list(api, request, false);
}

void ollama_handle_ps(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    reply_list(api, request, true);
}

void ollama_handle_version(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    api_reply_text(api, request, 200, "application/json",
                   STR("{\"version\":\"" OLLAMA_VERSION "\",\"tandem\":\"" TANDEM_VERSION "\"}"));
}

/* --- one model --- */

struct asked_model {
    struct json *body;
    struct exchange_services *services;
    struct model_rows list;
    const struct model_row *row;
    const char *name;
};

/* With and without the tag that Ollama's clients add. */
static bool is_called(const char *id, struct td_str name)
{
    static const char tag[] = ":latest";
    if (str_equal(str_from(id), name))
        return true;
    return str_ends_with(name, STR(tag)) &&
           str_equal(str_from(id), str_slice(name, 0, name.len - (sizeof tag - 1)));
}

/* The row that the body's `model` names, or `name` as older clients call it; row NULL: none. */
static bool read_model(struct api *api, struct http_request *request, struct asked_model *asked,
                       struct fault *fault)
{
    *asked = (struct asked_model){.row = NULL};
    if (!fault_parse_json(http_request_body(request), &asked->body, fault))
        return false;
    const struct json *name = json_get(asked->body, "model");
    if (json_absent(name))
        name = json_get(asked->body, "name");
    struct td_str text = json_text(name);
    asked->name = json_cstr(name);
    if (text.len == 0 || memchr(text.data, 0, text.len))
        return fault_request(fault, "model", "model must be a string, and not empty");
    asked->services = api->host->acquire(api->host->ctx);
    model_rows_collect(api, asked->services, &asked->list);
    for (size_t i = 0; i < asked->list.count && !asked->row; i++)
        if (is_called(asked->list.rows[i].id, text))
            asked->row = &asked->list.rows[i];
    return true;
}

static void forget_model(struct api *api, struct asked_model *asked)
{
    json_free(asked->body);
    if (asked->services)
        api->host->release(api->host->ctx, asked->services);
}

static void write_shown(struct api *api, const struct asked_model *asked, struct buf *out)
{
    const struct model_row *row = asked->row;
    const struct td_model_info *info = info_of(asked->services, row);
    const char *family = info ? info->architecture : "tandem";
    buf_append_char(out, '{');
    write_details(row, info, out);
    buf_append_str(out, STR(",\"modelfile\":\"\",\"parameters\":\"\",\"template\":\"\","
                            "\"model_info\":{\"general.architecture\":"));
    json_write_text(str_from(family), out);
    if (info)
        buf_printf(out, ",\"general.parameter_count\":%llu",
                   (unsigned long long)info->parameter_count);
    buf_append_str(out, STR(",\"general.name\":"));
    json_write_text(str_from(row->id), out);
    buf_printf(out, ",\"%s.context_length\":%u", family, context_of(asked->services, row, info));
    if (info)
        buf_printf(out, ",\"%s.embedding_length\":%u", family, info->embedding_size);
    buf_append_char(out, '}');
    write_capabilities(asked->services, row, out);
    write_modified(api, out);
    buf_append_char(out, '}');
}

void ollama_handle_show(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    struct asked_model asked;
    struct fault fault = {0};
    struct buf body;
    buf_init(&body, LIST_BYTES_MAX);
    if (read_model(api, request, &asked, &fault) && !asked.row) {
        fault_set(&fault, 404, "invalid_request_error", "model_not_found",
                  "model '%.200s' not found; GET /api/tags lists those there are", asked.name);
        snprintf(fault.param, sizeof fault.param, "model");
    }
    if (fault.code) {
        api_reply_fault(api, request, &fault);
    } else {
        write_shown(api, &asked, &body);
        api_reply_json(api, request, 200, &body);
    }
    buf_deinit(&body);
    forget_model(api, &asked);
}

void ollama_handle_pull(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    struct asked_model asked;
    struct fault fault = {0};
    if (read_model(api, request, &asked, &fault) && !asked.row) {
        fault_set(&fault, 404, "invalid_request_error", "model_not_found",
                  "'%.100s' is not served here, and no client loads a model: run 'tandem models "
                  "pull' on the server's machine, name the model in its configuration and reload",
                  asked.name);
        snprintf(fault.param, sizeof fault.param, "model");
    }
    bool lines = json_bool(json_get(asked.body, "stream"), true);
    if (fault.code)
        api_reply_fault(api, request, &fault);
    else
        api_reply_text(api, request, 200, lines ? "application/x-ndjson" : "application/json",
                       STR("{\"status\":\"success\"}\n"));
    forget_model(api, &asked);
}
