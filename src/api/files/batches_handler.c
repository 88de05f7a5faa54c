/* POST and GET /v1/batches, GET /v1/batches/ID, POST /v1/batches/ID/cancel: what a batch is told
 * and what it tells. The runner does the work (batch_runner.h). */
#include "api/files/batch_runner.h"
#include "api/files/file_object.h"
#include "api/files/handlers.h"
#include "api/http/reply.h"
#include "api/wire/openai_request.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "ledger/store/batch_store.h"

#include <stdio.h>

#define LIMIT_DEFAULT 20
#define LIMIT_MAX 100
#define WINDOW_S_MAX (7 * 86400)
/* OpenAI's limits of metadata. */
#define METADATA_COUNT_MAX 16
#define METADATA_KEY_BYTES_MAX 64
#define METADATA_VALUE_BYTES_MAX 512

static const char *const state_names[BATCH_STATE_COUNT] = {
    [BATCH_VALIDATING] = "validating",   [BATCH_FAILED] = "failed",
    [BATCH_IN_PROGRESS] = "in_progress", [BATCH_FINALIZING] = "finalizing",
    [BATCH_COMPLETED] = "completed",     [BATCH_EXPIRED] = "expired",
    [BATCH_CANCELLING] = "cancelling",   [BATCH_CANCELLED] = "cancelled",
};

/* --- what it tells --- */

static struct json *text_or_null(const char *text)
{
    return *text ? json_new_cstr(text) : json_new_null();
}

static struct json *time_or_null(int64_t seconds)
{
    return seconds ? json_new_int(seconds) : json_new_null();
}

static struct json *parsed_or_null(const char *text)
{
    struct json *value = NULL;
    if (*text && json_parse(str_from(text), &value, NULL) == TD_OK)
        return value;
    return json_new_null();
}

static struct json *errors_of(const struct stored_batch *batch)
{
    if (!*batch->faults)
        return json_new_null();
    struct json *errors = json_new_object();
    json_put(errors, "object", json_new_cstr("list"));
    json_put(errors, "data", parsed_or_null(batch->faults));
    return errors;
}

static struct json *batch_object(const struct stored_batch *batch)
{
    static const struct {
        const char *name;
        enum batch_state state;
    } times[] = {{"in_progress_at", BATCH_IN_PROGRESS}, {"finalizing_at", BATCH_FINALIZING},
                 {"completed_at", BATCH_COMPLETED},     {"failed_at", BATCH_FAILED},
                 {"expired_at", BATCH_EXPIRED},         {"cancelling_at", BATCH_CANCELLING},
                 {"cancelled_at", BATCH_CANCELLED}};
    struct json *object = json_new_object(), *counts = json_new_object();
    json_put(object, "id", json_new_cstr(batch->id));
    json_put(object, "object", json_new_cstr("batch"));
    json_put(object, "endpoint", json_new_cstr(batch->endpoint));
    json_put(object, "errors", errors_of(batch));
    json_put(object, "input_file_id", json_new_cstr(batch->input));
    json_put(object, "completion_window", json_new_cstr(batch->window));
    json_put(object, "status", json_new_cstr(state_names[batch->state]));
    json_put(object, "output_file_id", text_or_null(batch->output));
    json_put(object, "error_file_id", text_or_null(batch->errors));
    json_put(object, "created_at", json_new_int(batch->created_s));
    json_put(object, "expires_at", json_new_int(batch->expires_s));
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        json_put(object, times[i].name, time_or_null(batch->times_s[times[i].state]));
    json_put(counts, "total", json_new_int((int64_t)batch->total));
    json_put(counts, "completed", json_new_int((int64_t)batch->completed));
    json_put(counts, "failed", json_new_int((int64_t)batch->failed));
    json_put(object, "request_counts", counts);
    json_put(object, "metadata", parsed_or_null(batch->metadata));
    return object;
}

static void reply_batch(struct api *api, struct http_request *request,
                        const struct stored_batch *batch)
{
    api_reply_value(api, request, batch_object(batch), FILES_REPLY_BYTES_MAX);
}

static void push(void *ctx, const struct stored_batch *batch)
{
    json_push(ctx, batch_object(batch));
}

void batches_handle_list(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    struct file_page_texts texts;
    struct stored_page page;
    struct fault fault;
    if (!files_are_kept(api, request))
        return;
    if (!file_page_read(request, LIMIT_DEFAULT, LIMIT_MAX, &texts, &page, &fault)) {
        api_reply_fault(api, request, &fault);
        return;
    }
    struct json *data = json_new_array();
    bool listed = batch_store_list(api->host->files, file_owner(&api->who), &page, push, data);
    file_page_reply(api, request, &page, data, listed ? NULL : "Batch");
}

static bool find(struct api *api, struct http_request *request, const char *rest,
                 struct stored_batch *batch)
{
    struct td_str id = file_path_name(rest);
    if (!files_are_kept(api, request))
        return false;
    if (batch_store_find(api->host->files, file_owner(&api->who), id, batch))
        return true;
    file_reply_absent(api, request, "Batch", id);
    return false;
}

void batches_handle_one(struct api *api, struct http_request *request, const char *rest)
{
    struct stored_batch batch;
    if (find(api, request, rest, &batch))
        reply_batch(api, request, &batch);
}

/* --- what it is told --- */

void batches_handle_cancel(struct api *api, struct http_request *request, const char *rest)
{
    static const enum batch_state states[] = {BATCH_VALIDATING, BATCH_IN_PROGRESS};
    struct stored_batch batch;
    struct fault fault;
    if (!find(api, request, rest, &batch))
        return;
    enum td_status status = TD_NOT_FOUND;
    for (size_t i = 0; i < 2 && status == TD_NOT_FOUND; i++)
        status = batch_store_move(api->host->files, batch.id, states[i], BATCH_CANCELLING, NULL);
    if (!batch_store_find(api->host->files, batch.owner, str_from(batch.id), &batch)) {
        file_reply_absent(api, request, "Batch", str_from(batch.id));
        return;
    }
    if (status == TD_OK || batch.state == BATCH_CANCELLING || batch.state == BATCH_CANCELLED) {
        batch_runner_wake(api->host->batches);
        reply_batch(api, request, &batch);
        return;
    }
    fault_set(&fault, 409, "invalid_request_error", NULL, "Cannot cancel a batch with status '%s'.",
              state_names[batch.state]);
    fault.no_retry = true;
    api_reply_fault(api, request, &fault);
}

/* "24h", "90m" or "2d", up to a week. */
static bool read_window(const char *text, int64_t *seconds)
{
    size_t len = text ? strlen(text) : 0;
    uint64_t number, unit = 0;
    if (len < 2 || len > 8 || !str_to_u64((struct td_str){text, len - 1}, &number))
        return false;
    unit = text[len - 1] == 'm' ? 60 : text[len - 1] == 'h' ? 3600 : 0;
    unit = text[len - 1] == 'd' ? 86400 : unit;
    if (unit == 0 || number == 0 || number > WINDOW_S_MAX / unit)
        return false;
    *seconds = (int64_t)(number * unit);
    return true;
}

static bool read_metadata(const struct json *metadata, struct stored_batch *out,
                          struct fault *fault)
{
    void *at = NULL;
    const char *key;
    const struct json *value;
    if (json_absent(metadata))
        return true;
    if (json_kind_of(metadata) != JSON_KIND_OBJECT || json_count(metadata) > METADATA_COUNT_MAX)
        return fault_request(fault, "metadata", "metadata must be an object of at most %d members",
                             METADATA_COUNT_MAX);
    while (json_next(metadata, &at, &key, &value))
        if (json_kind_of(value) != JSON_KIND_TEXT || strlen(key) > METADATA_KEY_BYTES_MAX ||
            json_text(value).len > METADATA_VALUE_BYTES_MAX)
            return fault_request(fault, "metadata",
                                 "metadata has strings of at most %d bytes under names of %d",
                                 METADATA_VALUE_BYTES_MAX, METADATA_KEY_BYTES_MAX);
    struct buf text;
    buf_init(&text, sizeof out->metadata - 1);
    json_write(metadata, &text);
    bool ok = !text.failed;
    if (ok)
        memcpy(out->metadata, text.data, text.len + 1);
    buf_deinit(&text);
    return ok || fault_request(fault, "metadata", "metadata is too large");
}

static bool no_such_file(struct td_str id, struct fault *fault)
{
    fault_set(fault, 404, "invalid_request_error", NULL, "No such File object: " STR_FMT,
              STR_ARG(str_slice(id, 0, 100)));
    memcpy(fault->param, "input_file_id", sizeof "input_file_id");
    return false;
}

static bool read_input(struct api *api, const struct json *body, struct stored_batch *out,
                       struct fault *fault)
{
    struct stored_file file;
    struct td_str id = json_text(json_get(body, "input_file_id"));
    if (id.len == 0)
        return fault_request(fault, "input_file_id", "input_file_id must be a string");
    if (!file_store_find(api->host->files, out->owner, id, &file))
        return no_such_file(id, fault);
    if (strcmp(file.purpose, "batch") != 0)
        return fault_request(fault, "input_file_id", "the file's purpose must be batch, not %s",
                             file.purpose);
    memcpy(out->input, file.id, sizeof out->input);
    return true;
}

static bool read_body(struct api *api, const struct json *body, struct stored_batch *out,
                      struct fault *fault)
{
    static const char *const endpoints[] = {"/v1/chat/completions", "/v1/completions",
                                            "/v1/embeddings", "/v1/responses"};
    const char *endpoint = json_cstr(json_get(body, "endpoint"));
    const char *window = json_cstr(json_get(body, "completion_window"));
    *out = (struct stored_batch){.state = BATCH_VALIDATING};
    snprintf(out->owner, sizeof out->owner, "%s", file_owner(&api->who));
    snprintf(out->key_id, sizeof out->key_id, "%s", api->who.key_id);
    for (size_t i = 0; endpoint && i < sizeof endpoints / sizeof *endpoints; i++)
        if (strcmp(endpoint, endpoints[i]) == 0)
            snprintf(out->endpoint, sizeof out->endpoint, "%s", endpoint);
    if (!*out->endpoint)
        return fault_request(fault, "endpoint",
                             "endpoint must be /v1/chat/completions, /v1/completions, "
                             "/v1/embeddings or /v1/responses");
    if (!read_window(window, &out->expires_s)) /* batch_store_add makes a time of it */
        return fault_request(fault, "completion_window",
                             "completion_window must be a time such as 24h, of at most 7d");
    snprintf(out->window, sizeof out->window, "%s", window);
    return read_metadata(json_get(body, "metadata"), out, fault) &&
           read_input(api, body, out, fault);
}

void batches_handle_new(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    struct fault fault = {0};
    struct td_error err = {0};
    struct json *body = NULL;
    struct stored_batch batch;
    if (!files_are_kept(api, request))
        return;
    bool ok = openai_request_read_object(http_request_body(request), &body, &fault) &&
              read_body(api, body, &batch, &fault);
    json_free(body);
    enum td_status status = ok ? batch_store_add(api->host->files, &batch, &err) : TD_OK;
    if (status == TD_NOT_FOUND) /* it was deleted a moment ago */
        ok = no_such_file(str_from(batch.input), &fault);
    if (!ok) {
        api_reply_fault(api, request, &fault);
        return;
    }
    if (status != TD_OK) {
        file_reply_status(api, request, status, &err);
        return;
    }
    batch_runner_wake(api->host->batches);
    reply_batch(api, request, &batch);
}
