/* GET /v1/models and /v1/models/ID: every name that a request's `model` may have, as far as its key
 * may use it. These are routes and their aliases, tiers, and the models and adapters of the tiers.
 *
 * A row is OpenAI's model. What a model takes stands in the members that OpenRouter gives them
 * (context_length, architecture, supported_parameters), because agents look there, and in `tandem`.
 * A request with `anthropic-version` gets Anthropic's list, in pages. One with a header of Google's
 * gets Gemini's, which has /v1beta/models as a path of its own. */
#include "api/admin/handlers.h"
#include "api/admin/model_rows.h"
#include "api/dialects/gemini/gemini_response.h"
#include "api/http/query.h"
#include "api/http/reply.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/text/names.h"
#include "engine/embedding/embedding_service.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define MODELS_BYTES_MAX (1u << 20)
#define NAME_BYTES 260
/* Anthropic's own; Gemini's most is the same. */
#define PAGE_DEFAULT 20
#define PAGE_MAX 1000
/* A row of Gemini's is named by its path below /v1beta. */
#define GEMINI_PREFIX "models/"

/* --- what they can do --- */

struct abilities {
    unsigned lacks;          /* of enum capability */
    uint32_t context_tokens; /* 0 = not known */
    bool usable;
};

static void add_tier(const struct tier_facts *facts, struct abilities *out)
{
    bool first = out->lacks == ~0u;
    out->lacks &= facts->lacks;
    /* Of a route the largest, because a long request goes where it fits. */
    if (first || !facts->context_tokens ||
        (out->context_tokens && facts->context_tokens > out->context_tokens))
        out->context_tokens = facts->context_tokens;
    out->usable |= tier_facts_usable(facts);
}

static struct abilities abilities_of(const struct model_rows *list, const struct model_row *row)
{
    struct abilities out = {.lacks = ~0u};
    if (row->facts) {
        struct tier_facts facts = *row->facts;
        model_names_take(&facts, row->id);
        add_tier(&facts, &out);
    }
    for (size_t t = 0; row->route && t < row->route->tier_count; t++)
        for (size_t i = 0; i < list->names.tier_count; i++)
            if (strcmp(list->facts[i].name, row->route->tiers[t]) == 0)
                add_tier(&list->facts[i], &out);
    if (!row->facts && !row->route) {
        const struct td_model *model = embedding_service_model(list->services->embeddings);
        out.context_tokens = td_model_get_info(model)->context_tokens;
        out.usable = true;
    }
    return out;
}

static void write_words(const char *name, const char *const *words, const unsigned *needs,
                        unsigned lacks, struct buf *out)
{
    const char *comma = "";
    buf_printf(out, "\"%s\":[", name);
    for (size_t i = 0; words[i]; i++) {
        if (needs[i] & lacks)
            continue;
        buf_printf(out, "%s\"%s\"", comma, words[i]);
        comma = ",";
    }
    buf_append_char(out, ']');
}

static void write_abilities(const struct abilities *able, bool embeds, struct buf *out)
{
    static const char *const inputs[] = {"text", "image", "audio", "file", NULL};
    static const unsigned input_needs[] = {0, CAPABILITY_IMAGE, CAPABILITY_AUDIO, CAPABILITY_FILE};
    static const char *const parameters[] = {
        "max_tokens",      "temperature",        "top_p", "stop",        "seed", "logprobs",
        "response_format", "structured_outputs", "tools", "tool_choice", NULL};
    static const unsigned parameter_needs[] = {
        0, 0, 0, 0, 0, 0, CAPABILITY_SCHEMA, CAPABILITY_SCHEMA, CAPABILITY_TOOLS, CAPABILITY_TOOLS};
    static const char *const embedding_parameters[] = {"dimensions", "encoding_format", NULL};
    static const unsigned no_needs[] = {0, 0};
    if (able->context_tokens)
        buf_printf(out, "\"context_length\":%u,", able->context_tokens);
    buf_append_str(out, STR("\"architecture\":{"));
    write_words("input_modalities", inputs, input_needs, embeds ? ~0u : able->lacks, out);
    buf_printf(out, ",\"output_modalities\":[\"%s\"]},", embeds ? "embeddings" : "text");
    write_words("supported_parameters", embeds ? embedding_parameters : parameters,
                embeds ? no_needs : parameter_needs, able->lacks, out);
    buf_append_char(out, ',');
}

/* --- as OpenAI's clients read it --- */

static void write_row(const struct model_rows *list, const struct model_row *row, uint64_t created,
                      struct buf *out)
{
    struct abilities able = abilities_of(list, row);
    buf_append_str(out, STR("{\"id\":"));
    json_write_text(str_from(row->id), out);
    buf_printf(out, ",\"object\":\"model\",\"created\":%llu,\"owned_by\":\"tandem\",",
               (unsigned long long)created);
    write_abilities(&able, !row->facts && !row->route, out);
    buf_printf(out, "\"tandem\":{\"kind\":\"%s\"", row->kind);
    if (row->route) {
        buf_append_str(out, STR(",\"route\":"));
        json_write_text(str_from(row->route->name), out);
    }
    if (row->facts) {
        buf_append_str(out, STR(",\"tier\":"));
        json_write_text(str_from(row->facts->name), out);
        buf_printf(out, ",\"place\":\"%s\"", names_place(row->facts->place));
    }
    buf_printf(out, ",\"context_tokens\":%u,\"usable\":%s}}", able.context_tokens,
               able.usable ? "true" : "false");
}

static bool write_list(const struct http_request *request, const struct model_rows *list,
                       uint64_t created, struct buf *out, struct fault *fault)
{
    (void)request;
    (void)fault;
    buf_append_str(out, STR("{\"object\":\"list\",\"data\":["));
    for (size_t i = 0; i < list->count; i++) {
        if (i)
            buf_append_char(out, ',');
        write_row(list, &list->rows[i], created, out);
    }
    buf_append_str(out, STR("]}"));
    return true;
}

/* --- as Anthropic's do --- */

static void write_anthropic(const struct model_rows *list, const struct model_row *row,
                            uint64_t created, struct buf *out)
{
    struct abilities able = abilities_of(list, row);
    time_t at = (time_t)created;
    struct tm utc = {0};
    char text[32] = "1970-01-01T00:00:00Z";
    if (gmtime_r(&at, &utc))
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    buf_append_str(out, STR("{\"type\":\"model\",\"id\":"));
    json_write_text(str_from(row->id), out);
    buf_append_str(out, STR(",\"display_name\":"));
    json_write_text(str_from(row->id), out);
    buf_printf(out, ",\"created_at\":\"%s\"", text);
    if (able.context_tokens)
        buf_printf(out, ",\"max_input_tokens\":%u", able.context_tokens);
    buf_append_char(out, '}');
}

struct page {
    size_t begin, end; /* of the rows */
    bool has_more;
};

static size_t find_row(const struct model_rows *list, const char *id)
{
    size_t i = 0;
    while (i < list->count && strcmp(list->rows[i].id, id) != 0)
        i++;
    return i;
}

static bool read_page(const struct http_request *request, const struct model_rows *list,
                      struct page *out, struct fault *fault)
{
    char after[NAME_BYTES], before[NAME_BYTES];
    uint64_t limit;
    if (!query_number(request, STR("limit"), PAGE_DEFAULT, &limit) || limit < 1 || limit > PAGE_MAX)
        return fault_request(fault, "limit", "limit must be from 1 to %d", PAGE_MAX);
    if (!query_text(request, STR("after_id"), after, sizeof after) ||
        (*after && find_row(list, after) == list->count))
        return fault_request(fault, "after_id", "after_id is no model of the list");
    if (!query_text(request, STR("before_id"), before, sizeof before) ||
        (*before && find_row(list, before) == list->count))
        return fault_request(fault, "before_id", "before_id is no model of the list");
    size_t begin = *after ? find_row(list, after) + 1 : 0;
    size_t end = *before ? find_row(list, before) : list->count;
    bool cut = end > begin && end - begin > limit;
    *out = (struct page){begin, end > begin ? end : begin, cut};
    if (cut && *before) /* the last ones before it */
        out->begin = end - (size_t)limit;
    else if (cut)
        out->end = begin + (size_t)limit;
    return true;
}

static void write_id(const char *name, const struct model_rows *list, const struct page *page,
                     size_t row, struct buf *out)
{
    buf_printf(out, ",\"%s\":", name);
    if (page->begin == page->end)
        buf_append_str(out, STR("null"));
    else
        json_write_text(str_from(list->rows[row].id), out);
}

static bool write_page(const struct http_request *request, const struct model_rows *list,
                       uint64_t created, struct buf *out, struct fault *fault)
{
    struct page page;
    if (!read_page(request, list, &page, fault))
        return false;
    buf_append_str(out, STR("{\"data\":["));
    for (size_t i = page.begin; i < page.end; i++) {
        if (i > page.begin)
            buf_append_char(out, ',');
        write_anthropic(list, &list->rows[i], created, out);
    }
    buf_printf(out, "],\"has_more\":%s", page.has_more ? "true" : "false");
    write_id("first_id", list, &page, page.begin, out);
    write_id("last_id", list, &page, page.end - 1, out);
    buf_append_char(out, '}');
    return true;
}

/* --- as Google's do --- */

static void write_gemini(const struct model_rows *list, const struct model_row *row,
                         uint64_t created, struct buf *out)
{
    struct abilities able = abilities_of(list, row);
    char name[sizeof GEMINI_PREFIX + NAME_BYTES];
    (void)created;
    snprintf(name, sizeof name, GEMINI_PREFIX "%s", row->id);
    buf_append_str(out, STR("{\"name\":"));
    json_write_text(str_from(name), out);
    buf_append_str(out, STR(",\"version\":\"1\",\"displayName\":"));
    json_write_text(str_from(row->id), out);
    buf_printf(out, ",\"description\":\"%s\"", row->kind);
    if (able.context_tokens)
        buf_printf(out, ",\"inputTokenLimit\":%u,\"outputTokenLimit\":%u", able.context_tokens,
                   able.context_tokens);
    buf_printf(out, ",\"supportedGenerationMethods\":[%s]}",
               strcmp(row->kind, "embeddings") == 0
                   ? "\"embedContent\",\"batchEmbedContents\""
                   : "\"generateContent\",\"streamGenerateContent\",\"countTokens\"");
}

/* Clients rarely ask for pages, so one is as large as it may be. A page's token is the name before
 * it. */
static bool write_gemini_page(const struct http_request *request, const struct model_rows *list,
                              uint64_t created, struct buf *out, struct fault *fault)
{
    char after[NAME_BYTES];
    uint64_t size;
    if (!query_number(request, STR("pageSize"), PAGE_MAX, &size))
        return fault_request(fault, "pageSize", "pageSize must be a number");
    if (!query_text(request, STR("pageToken"), after, sizeof after) ||
        (*after && find_row(list, after) == list->count))
        return fault_request(fault, "pageToken", "pageToken is none of this list");
    size_t begin = *after ? find_row(list, after) + 1 : 0;
    size_t most = size && size < PAGE_MAX ? (size_t)size : PAGE_MAX;
    size_t end = list->count - begin > most ? begin + most : list->count;
    buf_append_str(out, STR("{\"models\":["));
    for (size_t i = begin; i < end; i++) {
        if (i > begin)
            buf_append_char(out, ',');
        write_gemini(list, &list->rows[i], created, out);
    }
    buf_append_char(out, ']');
    if (end < list->count) {
        buf_append_str(out, STR(",\"nextPageToken\":"));
        json_write_text(str_from(list->rows[end - 1].id), out);
    }
    buf_append_char(out, '}');
    return true;
}

/* --- the endpoints --- */

struct form {
    const struct fault_form *faults; /* NULL = of the path */
    bool (*write_list)(const struct http_request *request, const struct model_rows *list,
                       uint64_t created, struct buf *out, struct fault *fault);
    void (*write_one)(const struct model_rows *list, const struct model_row *row, uint64_t created,
                      struct buf *out);
};

static const struct form openai = {NULL, write_list, write_row};
static const struct form anthropic = {NULL, write_page, write_anthropic};
static const struct form gemini = {&gemini_fault_form, write_gemini_page, write_gemini};

/* Three kinds of clients ask for one path, and say by a header which they are. */
static const struct form *form_of(const struct http_request *request)
{
    if (http_request_header(request, "anthropic-version"))
        return &anthropic;
    bool googles = http_request_header(request, "x-goog-api-key") ||
                   http_request_header(request, "x-goog-api-client");
    return googles ? &gemini : &openai;
}

static void reply_fault(struct api *api, struct http_request *request, const struct form *form,
                        const struct fault *fault)
{
    if (form->faults)
        api_reply_fault_in(api, request, form->faults, fault);
    else
        api_reply_fault(api, request, fault);
}

static void reply_list(struct api *api, struct http_request *request, const struct form *form)
{
    struct exchange_services *services = api->host->acquire(api->host->ctx);
    struct model_rows list;
    struct fault fault;
    struct buf body;
    model_rows_collect(api, services, &list);
    buf_init(&body, MODELS_BYTES_MAX);
    if (form->write_list(request, &list, api->host->start_wall_ms / 1000, &body, &fault))
        api_reply_json(api, request, 200, &body);
    else
        reply_fault(api, request, form, &fault);
    buf_deinit(&body);
    api->host->release(api->host->ctx, services);
}

/* A name that is not listed because a pattern takes it, or because it is spelled otherwise. */
static bool find_unlisted(const struct model_rows *list, const char *name, struct model_row *out)
{
    struct model_choice choice;
    if (!model_names_find(&list->names, name, &choice))
        return false;
    *out = (struct model_row){.id = name, .kind = "alias", .route = choice.route};
    if (choice.tier != SIZE_MAX)
        *out = (struct model_row){
            .id = choice.name, .kind = "model", .facts = &list->facts[choice.tier]};
    return true;
}

static void reply_one(struct api *api, struct http_request *request, const char *id,
                      const struct form *form)
{
    struct exchange_services *services = api->host->acquire(api->host->ctx);
    struct model_rows list;
    model_rows_collect(api, services, &list);
    size_t found = find_row(&list, id);
    struct model_row row;
    if (found < list.count)
        row = list.rows[found];
    if (found < list.count || find_unlisted(&list, id, &row)) {
        struct buf body;
        buf_init(&body, MODELS_BYTES_MAX);
        form->write_one(&list, &row, api->host->start_wall_ms / 1000, &body);
        api_reply_json(api, request, 200, &body);
        buf_deinit(&body);
    } else {
        struct fault fault;
        fault_set(&fault, 404, "invalid_request_error", "model_not_found",
                  "no route, tier, model or adapter is named '%.200s'%s; GET /v1/models lists them",
                  id, model_names_suggest(&list.names, id).text);
        snprintf(fault.param, sizeof fault.param, "model");
        reply_fault(api, request, form, &fault);
    }
    api->host->release(api->host->ctx, services);
}

void models_handle_list(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    reply_list(api, request, form_of(request));
}

void models_handle_one(struct api *api, struct http_request *request, const char *rest)
{
    reply_one(api, request, rest, form_of(request));
}

void gemini_handle_models(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    reply_list(api, request, &gemini);
}

void gemini_handle_model(struct api *api, struct http_request *request, const char *rest)
{
    reply_one(api, request, rest, &gemini);
}
