/* Writes requests for an OpenAI-compatible server and reads its refusals. A chat keeps the client's
 * own JSON. Only what the tier decides is replaced (model, streaming, our options), so members that
 * this version does not know reach the server unchanged. */
#include "tier/openai/openai_wire.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/shortage.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/text/names.h"
#include "base/text/utf8.h"
#include "net/client/loopback.h"
#include "tier/openai/openai_refusal.h"

#include <stdio.h>
#include <time.h>

/* --- the address --- */

/* The host of "host:port/path", with the brackets of an IPv6 address. */
static struct td_str host_of(struct td_str rest)
{
    size_t end = 0;
    if (rest.len > 0 && rest.data[0] == '[') {
        end = str_find(rest, STR("]"), 0);
        return end == SIZE_MAX ? (struct td_str){NULL, 0} : str_slice(rest, 0, end + 1);
    }
    while (end < rest.len && !strchr(":/?#", rest.data[end]))
        end++;
    return str_slice(rest, 0, end);
}

enum td_status openai_check_url(struct td_str url, bool allow_http, struct td_error *err)
{
    for (size_t i = 0; i < url.len; i++)
        if ((unsigned char)url.data[i] <= ' ' || url.data[i] == 0x7f || url.data[i] == '\\')
            return error_set(err, TD_INVALID,
                             "the base URL has a space, backslash or control character");
    size_t scheme_end = str_find(url, STR("://"), 0);
    struct td_str scheme = str_slice(url, 0, scheme_end == SIZE_MAX ? 0 : scheme_end);
    bool https = str_equal_nocase(scheme, STR("https"));
    if (!https && !str_equal_nocase(scheme, STR("http")))
        return error_set(err, TD_INVALID, "the base URL must begin with https:// or http://");
    struct td_str rest = str_slice(url, scheme_end + 3, url.len);
    struct td_str host = host_of(rest);
    if (host.len == 0)
        return error_set(err, TD_INVALID, "the base URL has no host");
    struct td_str authority = rest;
    for (size_t i = 0; i < rest.len; i++) {
        if (strchr("/?#", rest.data[i])) {
            authority = str_slice(rest, 0, i);
            break;
        }
    }
    if (str_find(authority, STR("@"), 0) != SIZE_MAX)
        return error_set(err, TD_INVALID, "the base URL may not hold a user name or password");
    if (!https && !allow_http && !loopback_is_url(url))
        return error_set(
            err, TD_INVALID,
            "plain http is allowed only to this machine: use https, or set allow_http");
    return TD_OK;
}

/* --- the body --- */

struct td_str openai_add_message(struct json *list, enum td_role role, struct td_str text)
{
    struct json *message = list ? json_new_object() : NULL;
    struct td_str none = {NULL, 0};
    if (!message)
        return none;
    json_put(message, "role", json_new_cstr(names_role(role)));
    json_put(message, "content", json_new_text(text));
    size_t count = json_count(list);
    json_push(list, message);
    return json_count(list) > count ? json_text(json_get(message, "content")) : none;
}

static struct json *messages_of(const struct td_request *request)
{
    struct json *list = json_new_array();
    for (size_t i = 0; list && i < request->message_count; i++)
        openai_add_message(list, request->messages[i].role, request->messages[i].content);
    return list;
}

/* The shortest decimal of a float: 0.7f is sent as 0.7 and not as 0.699999988079071. */
static struct json *number_of(float value)
{
    char text[32];
    double number = value;
    snprintf(text, sizeof text, "%.7g", (double)value);
    return json_new_double(str_to_double(str_from(text), &number) ? number : (double)value);
}

static struct json *body_from_messages(const struct td_request *request)
{
    struct json *body = json_new_object();
    if (!body)
        return NULL;
    const struct td_sampling *sampling = &request->sampling;
    json_put(body, "messages", messages_of(request));
    if (request->tokens_max)
        json_put(body, "max_tokens", json_new_int(request->tokens_max));
    /* What a client leaves open is left to the tier: some models take no temperature. */
    if (!(request->left_to_model & SETTING_TEMPERATURE))
        json_put(body, "temperature", number_of(sampling->temperature));
    if (sampling->top_p < 1)
        json_put(body, "top_p", number_of(sampling->top_p));
    if (sampling->seed_set && sampling->seed <= INT64_MAX)
        json_put(body, "seed", json_new_int((int64_t)sampling->seed));
    if (request->stop_count > 0) {
        struct json *stops = json_new_array();
        for (size_t i = 0; stops && i < request->stop_count; i++)
            json_push(stops, json_new_text(request->stops[i]));
        json_put(body, "stop", stops);
    }
    if (request->logprobs) {
        json_put(body, "logprobs", json_new_bool(true));
        json_put(body, "top_logprobs", json_new_int(request->top_logprobs));
    }
    return body;
}

/* The members' values are the request's own: none of them is changed below, only replaced. */
static struct json *body_from_members(const struct td_request *request)
{
    struct json *body = json_new_object();
    for (size_t i = 0; body && i < request->member_count; i++)
        json_put(body, request->members[i].name, json_share(request->members[i].value));
    return body;
}

/* --- an answer that another tier has begun --- */

#define WORDS_BYTES_MAX 48 /* of its end: a few words */

/* The last words of a text, from the beginning of one. */
static struct td_str last_words(struct td_str text)
{
    size_t begin = text.len > WORDS_BYTES_MAX ? text.len - WORDS_BYTES_MAX : 0;
    begin = utf8_character_begin(text, begin);
    size_t word = begin > 0 ? str_find(text, STR(" "), begin) : SIZE_MAX;
    return str_slice(text, word != SIZE_MAX && word + 1 < text.len ? word + 1 : begin, text.len);
}

/* The words are said again so that the place is clear to the letter; whoever reads the answer
 * leaves them out. */
static void wish_to_go_on(struct json *list, struct td_str begun)
{
    struct buf text;
    buf_init(&text, 1024);
    buf_printf(&text,
               "Your last message was cut off. Go on with it from where it ends, as if it had not "
               "been: write its last words again exactly as they stand (\"" STR_FMT
               "\") and then what follows. Repeat nothing before them, and do not comment.",
               STR_ARG(last_words(begun)));
    openai_add_message(list, TD_ROLE_USER, buf_view(&text));
    buf_deinit(&text);
}

/* The messages end with the beginning of the answer; how the server is told to go on is a fact. */
static struct json *messages_to_go_on(const struct json *messages, enum prefill prefill)
{
    struct json *list = json_new_array();
    size_t count = json_count(messages);
    for (size_t i = 0; i < count; i++) {
        struct json *message = json_clone(json_at(messages, i));
        if (i + 1 == count && prefill == PREFILL_PREFIX)
            json_put(message, "prefix", json_new_bool(true));
        json_push(list, message);
    }
    if (prefill == PREFILL_NONE)
        wish_to_go_on(list, json_text(json_get(json_at(messages, count - 1), "content")));
    return list;
}

/* What a client allows is less by what was written. A server that may begin anew is allowed the
 * whole. */
static void limit_tokens(struct json *body, uint32_t tokens_max)
{
    static const char *const names[] = {"max_tokens", "max_completion_tokens"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (tokens_max > 0 && !json_absent(json_get(body, names[i])))
            json_put(body, names[i], json_new_int(tokens_max));
}

static void ask_to_go_on(struct json *body, const struct td_request *request, enum prefill prefill)
{
    if (request->completion || prefill != PREFILL_NONE)
        limit_tokens(body, request->tokens_max);
    if (request->completion)
        return;
    json_put(body, "messages", messages_to_go_on(json_get(body, "messages"), prefill));
    if (prefill == PREFILL_FINAL) {
        json_put(body, "continue_final_message", json_new_bool(true));
        json_put(body, "add_generation_prompt", json_new_bool(false));
    }
}

/* Time-outs then watch the first byte, and a client that disconnects stops the work. */
static void ask_for_stream(struct json *body)
{
    const struct json *given = json_get(body, "stream_options");
    struct json *options =
        json_kind_of(given) == JSON_KIND_OBJECT ? json_clone(given) : json_new_object();
    if (options)
        json_put(options, "include_usage", json_new_bool(true));
    json_put(body, "stream_options", options);
    json_put(body, "stream", json_new_bool(true));
}

/* Two alternatives give the margin; more would only make the answer larger. */
static void ask_for_logprobs(struct json *body, bool completion)
{
    json_put(body, "logprobs", completion ? json_new_int(2) : json_new_bool(true));
    if (!completion)
        json_put(body, "top_logprobs", json_new_int(2));
}

/* Without memory a member may be missing. */
static enum td_status check_body(const struct buf *body, uint32_t shortages, struct td_error *err)
{
    enum td_status status =
        body->failed
            ? error_set(err, TD_LIMIT, "the request is larger than %zu bytes", body->bytes_max)
            : TD_OK;
    return shortage_judge(shortages, status, err);
}

bool openai_offers_tool(const struct json *tools, struct td_str name)
{
    for (size_t i = 0; name.len > 0 && i < json_count(tools); i++) {
        const struct json *function = json_get(json_at(tools, i), "function");
        if (str_equal(json_text(json_get(function, "name")), name))
            return true;
    }
    return false;
}

enum td_status openai_pad_body(struct buf *body, uint32_t multiple, struct td_error *err)
{
    uint32_t shortages = shortage_count();
    while (multiple > 0 && body->len % multiple != 0 && !body->failed)
        buf_append_char(body, ' ');
    return check_body(body, shortages, err);
}

enum td_status openai_write_body(const struct td_request *request, const struct tier_facts *facts,
                                 bool judged, struct buf *out, struct td_error *err)
{
    ASSERT(request != NULL && facts != NULL && facts->model != NULL && out != NULL);
    ASSERT(request->member_count > 0 || !request->completion);
    uint32_t shortages = shortage_count();
    struct json *body =
        request->member_count > 0 ? body_from_members(request) : body_from_messages(request);
    if (!body)
        return error_set(err, TD_NO_MEMORY, "no memory for a request to %s", facts->name);
    if (request->no_retention && json_bool(json_get(body, "store"), false))
        json_put(body, "store", json_new_bool(false)); /* nothing may be kept */
    json_put(body, "model", json_new_cstr(facts->model));
    if (judged && !request->logprobs)
        ask_for_logprobs(body, request->completion != NULL);
    if (request->continues)
        ask_to_go_on(body, request, facts->prefill);
    ask_for_stream(body);
    json_write(body, out);
    json_free(body);
    return check_body(out, shortages, err);
}

/* --- refusals --- */

enum td_status openai_status_of_http(int code)
{
    switch (code) {
    case 401:
    case 402:
    case 403:
        return TD_DENIED;
    case 404:
        return TD_NOT_FOUND;
    case 408:
        return TD_TIMEOUT;
    case 413:
        return TD_LIMIT;
    case 429:
        return TD_BUSY;
    case 501: /* these will be said again, and so will a redirect, which is not followed */
    case 505:
    case 506:
    case 508:
    case 510:
    case 511:
        return TD_CORRUPT;
    default:
        return code >= 500 && code < 600   ? TD_UNAVAILABLE
               : code >= 400 && code < 500 ? TD_INVALID
                                           : TD_CORRUPT;
    }
}

#define PEER_TEXT_BYTES 240

/* A peer's text goes to logs, headers and terminals, so it becomes one bounded line without control
 * characters. */
static void copy_clean(struct td_str text, char out[PEER_TEXT_BYTES])
{
    size_t len = text.len < PEER_TEXT_BYTES - 1 ? text.len : PEER_TEXT_BYTES - 1;
    len = utf8_complete_len(str_slice(text, 0, len));
    for (size_t at = 0, begin = 0; at < len; begin = at) {
        uint32_t point = utf8_next(str_slice(text, 0, len), &at);
        bool control = point < ' ' || (point >= 0x7f && point < 0xa0); /* C0, DEL, C1 */
        for (size_t i = begin; i < at; i++)
            out[i] = control ? ' ' : text.data[i];
    }
    out[len] = '\0';
}

void openai_read_error(int code, struct td_str body, struct tier_refusal *refusal,
                       struct td_error *err)
{
    ASSERT(refusal != NULL && err != NULL);
    char text[PEER_TEXT_BYTES] = "";
    struct json *root = NULL;
    if (json_parse(body, &root, NULL) == TD_OK)
        copy_clean(openai_refusal_text(root), text);
    openai_refusal_read(code, root, refusal);
    code = refusal->http;
    json_free(root);
    error_set(err, openai_status_of_http(code), text[0] ? "HTTP %d: %s" : "HTTP %d%s", code, text);
}

#define RETRY_AFTER_SECONDS_MAX 3600

/* RFC 9110, section 10.2.3: seconds, or a date in the preferred form of section 5.6.7. */
uint64_t openai_retry_after_ms(const char *value, uint64_t now_wall_ms)
{
    struct td_str text = str_trim(str_from(value ? value : ""));
    uint64_t seconds = RETRY_AFTER_SECONDS_MAX;
    struct tm date = {0};
    const char *end;
    if (text.len > 0 && strspn(text.data, "0123456789") >= text.len) {
        if (!str_to_u64(text, &seconds)) /* more than 64 bits */
            seconds = RETRY_AFTER_SECONDS_MAX;
    } else if (text.len > 0 && (end = strptime(text.data, "%a, %d %b %Y %H:%M:%S GMT", &date)) &&
               end == text.data + text.len) {
        time_t until = timegm(&date);
        uint64_t now = now_wall_ms / 1000;
        seconds = until > 0 && (uint64_t)until > now ? (uint64_t)until - now : 0;
    } else {
        return UINT64_MAX;
    }
    return 1000 * (seconds < RETRY_AFTER_SECONDS_MAX ? seconds : RETRY_AFTER_SECONDS_MAX);
}
