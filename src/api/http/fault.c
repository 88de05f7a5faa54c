/* Failures and their HTTP form: one table from td_status to code, type and advice about retries. */
#include "api/http/fault.h"

#include "base/core/assertion.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/text/utf8.h"
#include "base/time/log.h"

#include <stdarg.h>
#include <stdio.h>

struct status_row {
    int code;
    const char *type;
    const char *error_code;
    bool no_retry;
    uint32_t retry_after_s;
};

/* Indexed by td_status. TD_LIMIT is the prompt that fits no tier (OpenAI's
 * context_length_exceeded); TD_DENIED is a rule of the policy, which a retry would only hit
 * again. Where the code is 500, something of this server is broken. */
static const struct status_row status_rows[] = {
    [TD_OK] = {500, "server_error", "internal_error", true, 0},
    [TD_INVALID] = {400, "invalid_request_error", "invalid_value", true, 0},
    [TD_NOT_FOUND] = {404, "invalid_request_error", "not_found", true, 0},
    [TD_UNSUPPORTED] = {400, "invalid_request_error", "unsupported", true, 0},
    [TD_CORRUPT] = {500, "server_error", "damaged_file", false, 0},
    [TD_LIMIT] = {400, "invalid_request_error", "context_length_exceeded", true, 0},
    [TD_BUSY] = {429, "rate_limit_error", "queue_full", false, 1},
    [TD_NO_MEMORY] = {503, "server_error", "out_of_memory", false, 5},
    [TD_IO] = {500, "server_error", "io_error", false, 0},
    [TD_UNAVAILABLE] = {503, "server_error", "no_tier_available", false, 2},
    [TD_TIMEOUT] = {504, "server_error", "timeout", false, 2},
    [TD_CANCELLED] = {499, "server_error", "cancelled", true, 0},
    [TD_DENIED] = {403, "permission_error", "refused_by_policy", true, 0},
    [TD_INTERNAL] = {500, "server_error", "internal_error", false, 0},
};

static void copy_text(char *out, size_t size, const char *text)
{
    struct td_str view = str_from(text);
    if (view.len >= size)
        view.len = size - 1;
    view.len = utf8_complete_len(view);
    if (view.len)
        memcpy(out, view.data, view.len);
    out[view.len] = '\0';
}

bool fault_request(struct fault *fault, const char *param, const char *format, ...)
{
    ASSERT(fault && format);
    fault->code = 400;
    fault->type = "invalid_request_error";
    fault->error_code = "invalid_value";
    fault->no_retry = true;
    fault->retry_after_s = 0;
    copy_text(fault->param, sizeof fault->param, param ? param : "");
    va_list args;
    va_start(args, format);
    vsnprintf(fault->message, sizeof fault->message, format, args);
    va_end(args);
    return false;
}

void fault_set(struct fault *fault, int code, const char *type, const char *error_code,
               const char *format, ...)
{
    ASSERT(fault && code >= 400 && type);
    fault->code = code;
    fault->type = type;
    fault->error_code = error_code;
    fault->param[0] = '\0';
    fault->no_retry = code < 500 && code != 408 && code != 409 && code != 429;
    fault->retry_after_s = 0;
    va_list args;
    va_start(args, format);
    vsnprintf(fault->message, sizeof fault->message, format, args);
    va_end(args);
}

/* A path of this server, which tells a client where to look. */
static bool is_endpoint(const char *at)
{
    return strncmp(at, "/v1/", 4) == 0 || strncmp(at, "/tandem/v1/", 11) == 0;
}

/* The folders of this machine are not for clients: of an absolute path the last name stays. */
static void strip_folders(char *text)
{
    char *to = text;
    for (const char *at = text; *at; at++) {
        bool begins = *at == '/' && (at == text || strchr(" '\"(=", at[-1])) && !is_endpoint(at);
        size_t len = begins ? strcspn(at, " '\":;,)") : 0;
        const char *last = begins ? memrchr(at, '/', len) : at;
        at = last > at ? last + 1 : at;
        if (*at)
            *to++ = *at;
        else
            break;
    }
    *to = '\0';
}

/* Messages about this server's own files name them. That is for its log. */
static const char *for_clients(const struct status_row *row, const char *message)
{
    if (row->code != 500 || !message || !*message)
        return message;
    log_event(LOG_LEVEL_WARN, "own_fault", "code=%s error=\"%s\"", row->error_code, message);
    return "this server could not use what it keeps; its log says more";
}

void fault_from_status(struct fault *fault, enum td_status status, const char *message,
                       const char *param)
{
    ASSERT(fault);
    size_t index = (size_t)status;
    if (index >= sizeof status_rows / sizeof *status_rows)
        index = TD_INTERNAL;
    const struct status_row *row = &status_rows[index];
    fault->code = row->code;
    fault->type = row->type;
    fault->error_code = row->error_code;
    fault->no_retry = row->no_retry;
    fault->retry_after_s = row->retry_after_s;
    if (status == TD_NOT_FOUND && param && strcmp(param, "model") == 0)
        fault->error_code = "model_not_found";
    copy_text(fault->param, sizeof fault->param, param ? param : "");
    message = for_clients(row, message);
    copy_text(fault->message, sizeof fault->message,
              message && *message ? message : td_status_name(status));
    strip_folders(fault->message);
}

bool fault_parse_json(struct td_str body, struct json **out, struct fault *fault)
{
    struct td_error err = {0};
    enum td_status status = json_parse(body, out, &err);
    if (status == TD_INVALID) {
        fault_request(fault, NULL, "the body: %s", err.message);
        fault->error_code = "invalid_json";
    } else if (status != TD_OK) {
        fault_from_status(fault, status, err.message, NULL);
    }
    return status == TD_OK;
}

void fault_upstream(struct fault *fault, bool denied, const char *message)
{
    ASSERT(fault && message);
    *fault = (struct fault){.code = 502, .type = "server_error"};
    fault->error_code = denied ? "upstream_denied" : "bad_upstream_answer";
    copy_text(fault->message, sizeof fault->message, message);
}

/* A status that says something of our credentials at that server is not the client's. */
static int status_for_clients(int http, bool quota)
{
    if (quota && (http == 401 || http == 403))
        return 429;
    return http >= 400 && http < 500 && http != 401 ? http : 503;
}

void fault_refused(struct fault *fault, int http, const char *error_code, const char *message,
                   const char *param)
{
    ASSERT(fault && message);
    bool quota = error_code && strcmp(error_code, "insufficient_quota") == 0;
    int code = status_for_clients(http, quota);
    bool limit = code == 429 && !quota;
    fault_from_status(fault, limit ? TD_BUSY : TD_INVALID, message, param);
    fault->code = code;
    if (error_code)
        fault->error_code = error_code;
    if (quota)
        fault->type = "insufficient_quota";
    if (code >= 500)
        fault->type = "server_error";
}

void fault_too_large(struct fault *fault)
{
    fault_set(fault, 500, "server_error", "answer_too_large",
              "the answer is larger than this server can send whole; ask for a stream");
}

bool fault_no_memory(struct fault *fault)
{
    fault_from_status(fault, TD_NO_MEMORY, "no memory for another request", NULL);
    return false;
}

void fault_stopping(struct fault *fault)
{
    fault_set(fault, 503, "server_error", "shutting_down", "the server is stopping");
    fault->retry_after_s = 1;
}

static void write_text_or_null(const char *text, struct buf *out)
{
    if (text && *text)
        json_write_text(str_from(text), out);
    else
        buf_append_str(out, STR("null"));
}

void fault_write(const struct fault *fault, struct buf *out)
{
    buf_append_str(out, STR("{\"error\":{\"message\":"));
    json_write_text(str_from(fault->message), out);
    buf_append_str(out, STR(",\"type\":"));
    write_text_or_null(fault->type, out);
    buf_append_str(out, STR(",\"param\":"));
    write_text_or_null(fault->param, out);
    buf_append_str(out, STR(",\"code\":"));
    write_text_or_null(fault->error_code, out);
    buf_append_str(out, STR("}}"));
}

void fault_write_words(const struct fault *fault, struct buf *out)
{
    json_write_text(str_from(fault->message), out);
    if (fault->error_code)
        buf_printf(out, ",\"code\":\"%s\"", fault->error_code);
    if (fault->param[0]) {
        buf_append_str(out, STR(",\"param\":"));
        json_write_text(str_from(fault->param), out);
    }
}

const struct fault_form fault_form_openai = {.write = fault_write};
