/* llama-server's endpoints about the local model: /tokenize, /detokenize, /apply-template, /props,
 * /slots, /lora-adapters and the control of a chat (tools/server/README.md of llama.cpp). No tier
 * is asked, nothing leaves, and nothing is kept. /slots tells counts alone: llama-server would show
 * what is being asked. */
#include "api/http/reply.h"
#include "api/inference/handlers.h"
#include "api/wire/openai_messages.h"
#include "api/wire/openai_request.h"
#include "api/wire/token_ids.h"
#include "base/core/str.h"
#include "base/text/utf8.h"
#include "engine/model/chat_tools.h"
#include "engine/session/scheduler.h"

#include <stdlib.h>

/* A token takes some ten characters of JSON, with its piece some forty. */
#define ANSWER_BYTES_MAX ((size_t)16 << 20)
#define SMALL_BYTES_MAX 65536
#define TOKENS_MAX 4194304

/* One request: what it asks, of which model. */
struct question {
    struct exchange_services *services;
    const struct td_model *model;
    struct arena *arena;
    struct json *body; /* NULL of a GET */
    struct buf answer;
    struct fault fault; /* code 0 = `answer` is one */
};

typedef void answer_fn(struct question *question);

static void no_memory(struct question *question)
{
    fault_no_memory(&question->fault);
}

static void failed(struct question *question, enum td_status status, const struct td_error *err,
                   const char *param)
{
    fault_from_status(&question->fault, status, err->message, param);
}

static void read_body(struct question *question, struct http_request *request)
{
    if (question->fault.code || http_request_method(request) != HTTP_POST)
        return;
    (void)openai_request_read_object(http_request_body(request), &question->body, &question->fault);
}

static void handle(struct api *api, struct http_request *request, size_t bytes_max,
                   answer_fn *answer)
{
    struct question question = {.services = api->host->acquire(api->host->ctx)};
    question.model = question.services->model;
    question.arena = arena_new(api->host->arena_bytes_max);
    buf_init(&question.answer, bytes_max);
    if (!question.arena)
        no_memory(&question);
    else if (!question.model)
        fault_set(&question.fault, 503, "server_error", "no_tier_available",
                  "there is no model on this device");
    read_body(&question, request);
    if (!question.fault.code)
        answer(&question);
    if (question.fault.code)
        api_reply_fault(api, request, &question.fault);
    else
        api_reply_json(api, request, 200, &question.answer);
    buf_deinit(&question.answer);
    json_free(question.body);
    arena_free(question.arena);
    api->host->release(api->host->ctx, question.services);
}

/* --- tokens --- */

static bool read_flag(struct question *question, const char *name, bool otherwise)
{
    const struct json *value = json_get(question->body, name);
    if (!json_absent(value) && json_kind_of(value) != JSON_KIND_BOOL)
        fault_request(&question->fault, name, "%s must be true or false, not %s", name,
                      json_kind_name(json_kind_of(value)));
    return json_bool(value, otherwise);
}

/* Bytes that are no text come as numbers. */
static void write_piece(struct td_str piece, struct buf *out)
{
    if (utf8_is_valid(piece)) {
        json_write_text(piece, out);
        return;
    }
    for (size_t i = 0; i < piece.len; i++)
        buf_printf(out, "%c%u", i ? ',' : '[', (unsigned)(unsigned char)piece.data[i]);
    buf_append_char(out, ']');
}

static void write_tokens(struct question *question, const int32_t *ids, size_t count, bool pieces)
{
    struct buf *out = &question->answer;
    buf_append_str(out, STR("{\"tokens\":["));
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            buf_append_char(out, ',');
        if (!pieces) {
            buf_printf(out, "%d", ids[i]);
            continue;
        }
        buf_printf(out, "{\"id\":%d,\"piece\":", ids[i]);
        write_piece(td_token_piece(question->model, ids[i], true), out);
        buf_append_char(out, '}');
    }
    buf_append_str(out, STR("]}"));
}

static void tokenize(struct question *question)
{
    const struct json *content = json_get(question->body, "content");
    bool bos = read_flag(question, "add_special", false);
    bool special = read_flag(question, "parse_special", true);
    bool pieces = read_flag(question, "with_pieces", false);
    struct td_str text = json_text(content);
    struct td_error err = {0};
    size_t count = 0;
    if (!json_absent(content) && json_kind_of(content) != JSON_KIND_TEXT)
        fault_request(&question->fault, "content", "content must be a string, not %s",
                      json_kind_name(json_kind_of(content)));
    if (question->fault.code)
        return;
    int32_t *ids = calloc(text.len + 3, sizeof *ids);
    enum td_status status = TD_NO_MEMORY;
    if (ids)
        status = td_tokenize(question->model, text, bos, special, ids, text.len + 3, &count, &err);
    if (status == TD_OK)
        write_tokens(question, ids, count, pieces);
    else
        failed(question, status, &err, "content");
    free(ids);
}

static void detokenize(struct question *question)
{
    const struct json *tokens = json_get(question->body, "tokens");
    struct buf text;
    if (json_kind_of(tokens) != JSON_KIND_ARRAY || json_count(tokens) > TOKENS_MAX) {
        fault_request(&question->fault, "tokens", "tokens must be a list of token ids");
        return;
    }
    buf_init(&text, ANSWER_BYTES_MAX);
    int32_t id;
    for (size_t i = 0; i < json_count(tokens) &&
                       token_id_read(tokens, i, "tokens", question->model, &id, &question->fault);
         i++)
        buf_append_str(&text, td_token_piece(question->model, id, true));
    buf_append_str(&question->answer, STR("{\"content\":"));
    json_write_text(buf_view(&text), &question->answer);
    buf_append_char(&question->answer, '}');
    question->answer.failed |= text.failed;
    buf_deinit(&text);
}

/* --- the template --- */

static enum td_status render(struct question *question, const struct td_request *request,
                             struct buf *out, struct td_error *err)
{
    const struct json *tools = json_get(question->body, "tools");
    char *text = NULL;
    int32_t *ids = NULL;
    size_t len = 0;
    enum td_status status;
    if (json_count(tools) > 0)
        status = chat_tools_tokenize(question->model, json_get(question->body, "messages"), tools,
                                     &ids, &len, err);
    else
        status = td_template_render(question->model, request->messages, request->message_count,
                                    &text, &len, err);
    if (status == TD_OK && text)
        buf_append(out, text, len);
    for (size_t i = 0; status == TD_OK && ids && i < len; i++)
        buf_append_str(out, td_token_piece(question->model, ids[i], true));
    free(text);
    free(ids);
    return status;
}

static void apply_template(struct question *question)
{
    struct td_request request = {0};
    const struct json *tools = json_get(question->body, "tools");
    struct td_error err = {0};
    struct buf text;
    if (!json_absent(tools) && json_kind_of(tools) != JSON_KIND_ARRAY) {
        fault_request(&question->fault, "tools", "tools must be a list of tools");
        return;
    }
    if (!openai_messages_read(question->body, question->arena, &request, &question->fault))
        return;
    buf_init(&text, ANSWER_BYTES_MAX);
    enum td_status status = render(question, &request, &text, &err);
    if (status == TD_OK) {
        buf_append_str(&question->answer, STR("{\"prompt\":"));
        json_write_text(buf_view(&text), &question->answer);
        buf_append_char(&question->answer, '}');
        question->answer.failed |= text.failed;
    } else {
        failed(question, status, &err, "messages");
    }
    buf_deinit(&text);
}

/* --- the server --- */

/* The first local tier with a model, whose `model` is the question's. */
static const struct tier_facts *local_facts(const struct exchange_services *services)
{
    for (size_t i = 0; i < services->tier_count; i++)
        if (services->tiers[i]->facts.place == TD_PLACE_DEVICE)
            return &services->tiers[i]->facts;
    return NULL;
}

static uint32_t context_tokens(const struct question *question)
{
    const struct tier_facts *facts = local_facts(question->services);
    uint32_t known = facts ? facts->context_tokens : 0;
    return known ? known : td_model_get_info(question->model)->context_tokens;
}

static uint32_t running(const struct question *question)
{
    uint32_t count = 0;
    for (size_t i = 0; i < question->services->scheduler_count; i++)
        count += scheduler_get_load(question->services->schedulers[i]).running;
    return count;
}

static void props(struct question *question)
{
    const struct td_model_info *info = td_model_get_info(question->model);
    const struct td_sampling *sampling = &info->sampling;
    struct buf *out = &question->answer;
    buf_printf(out,
               "{\"default_generation_settings\":{\"n_ctx\":%u,\"params\":{\"temperature\":%.4g,"
               "\"top_k\":%u,\"top_p\":%.4g,\"min_p\":%.4g}},\"total_slots\":1,\"model_alias\":",
               context_tokens(question), (double)sampling->temperature, sampling->top_k,
               (double)sampling->top_p, (double)sampling->min_p);
    json_write_text(str_from(info->name), out);
    buf_append_str(out, STR(",\"model_path\":")); /* folders are nobody's business */
    json_write_text(str_from(info->name), out);
    buf_append_str(out, STR(",\"modalities\":{\"vision\":false,\"audio\":false},\"build_info\":"
                            "\"tandem " TANDEM_VERSION "\"}"));
}

/* One slot: the engine runs several requests in it, of all local models. */
static void slots(struct question *question)
{
    struct buf *out = &question->answer;
    buf_printf(out, "[{\"id\":0,\"n_ctx\":%u,\"is_processing\":%s,\"running\":%u}]",
               context_tokens(question), running(question) > 0 ? "true" : "false",
               running(question));
}

/* Their numbers are what a request's `lora` names. Folders of files are nobody's business. */
static void adapters(struct question *question)
{
    const struct tier_facts *facts = local_facts(question->services);
    struct buf *out = &question->answer;
    buf_append_char(out, '[');
    for (size_t i = 0; facts && i < facts->adapter_count; i++) {
        buf_printf(out, "%s{\"id\":%zu,\"path\":", i ? "," : "", i);
        json_write_text(str_from(facts->adapters[i]), out);
        buf_append_str(out, STR("}"));
    }
    buf_append_char(out, ']');
}

/* Nothing here can be told to end its reasoning. A chat that is not there has ended, says
 * llama-server, and does nothing; so does this. */
static void control(struct question *question)
{
    const struct json *id = json_get(question->body, "id");
    struct td_str action = json_text(json_get(question->body, "action"));
    if (json_kind_of(id) != JSON_KIND_TEXT)
        fault_request(&question->fault, "id", "id must be a string, not %s",
                      json_kind_name(json_kind_of(id)));
    else if (!str_equal(action, STR("reasoning_end")))
        fault_request(&question->fault, "action", "action must be reasoning_end");
    else
        buf_append_str(&question->answer,
                       STR("{\"success\":false,\"message\":\"no chat of this id can be told to "
                           "end its reasoning\"}"));
}

void llama_handle_tokenize(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    handle(api, request, ANSWER_BYTES_MAX, tokenize);
}

void llama_handle_detokenize(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    handle(api, request, ANSWER_BYTES_MAX, detokenize);
}

void llama_handle_template(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    handle(api, request, ANSWER_BYTES_MAX, apply_template);
}

void llama_handle_props(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    handle(api, request, SMALL_BYTES_MAX, props);
}

void llama_handle_slots(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    handle(api, request, SMALL_BYTES_MAX, slots);
}

void llama_handle_adapters(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    handle(api, request, SMALL_BYTES_MAX, adapters);
}

void llama_handle_control(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    handle(api, request, SMALL_BYTES_MAX, control);
}
