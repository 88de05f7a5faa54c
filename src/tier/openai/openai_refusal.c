/* The codes are those of OpenAI's API, with the names that other servers have for the same. A code
 * that is not listed is dropped: it may be anything, also an address or a key. */
#include "tier/openai/openai_refusal.h"

#include "base/core/assertion.h"
#include "base/core/str.h"

#include <string.h>

/* Whom a refusal is about: the request, which every tier would find wrong, or this server, which
 * cannot do what another one may. */
enum about { OF_REQUEST, OF_SERVER };

/* http: what the code has where it comes without a status, in a stream. */
static const struct known {
    const char *name; /* of `code` or `type` */
    const char *code; /* what clients are told; NULL: it says something about our configuration */
    int http;
    enum about about;
} known_codes[] = {
    {"context_length_exceeded", "context_length_exceeded", 400, OF_SERVER},
    {"exceed_context_size_error", "context_length_exceeded", 400, OF_SERVER}, /* llama.cpp */
    {"rate_limit_exceeded", "rate_limit_exceeded", 429, OF_SERVER},
    {"rate_limit_error", "rate_limit_exceeded", 429, OF_SERVER},
    {"overloaded_error", NULL, 529, OF_SERVER}, /* these of Anthropic */
    {"api_error", NULL, 500, OF_SERVER},
    {"timeout_error", NULL, 504, OF_SERVER},
    {"authentication_error", NULL, 401, OF_SERVER},
    {"permission_error", NULL, 403, OF_SERVER},
    {"not_found_error", NULL, 404, OF_SERVER},
    {"billing_error", "insufficient_quota", 402, OF_SERVER},
    {"request_too_large", NULL, 413, OF_SERVER},
    {"RESOURCE_EXHAUSTED", "rate_limit_exceeded", 429, OF_SERVER}, /* these of Google */
    {"UNAVAILABLE", NULL, 503, OF_SERVER},
    {"DEADLINE_EXCEEDED", NULL, 504, OF_SERVER},
    {"INTERNAL", NULL, 500, OF_SERVER},
    {"UNAUTHENTICATED", NULL, 401, OF_SERVER},
    {"PERMISSION_DENIED", NULL, 403, OF_SERVER},
    {"NOT_FOUND", NULL, 404, OF_SERVER},
    {"FAILED_PRECONDITION", NULL, 400, OF_SERVER}, /* an account without billing, a place */
    {"throttlingException", "rate_limit_exceeded", 429, OF_SERVER}, /* these of AWS */
    {"serviceUnavailableException", NULL, 503, OF_SERVER},
    {"internalServerException", NULL, 500, OF_SERVER},
    {"modelStreamErrorException", NULL, 502, OF_SERVER},
    {"modelTimeoutException", NULL, 504, OF_SERVER},
    {"insufficient_quota", "insufficient_quota", 429, OF_SERVER},
    {"billing_hard_limit_reached", "insufficient_quota", 429, OF_SERVER},
    {"content_filter", "content_filter", 400, OF_REQUEST}, /* Azure */
    {"content_policy_violation", "content_policy_violation", 400, OF_REQUEST},
    {"unsupported_parameter", "unsupported_parameter", 400, OF_SERVER},
    {"unsupported_value", "unsupported_value", 400, OF_SERVER},
    {"unknown_parameter", "unknown_parameter", 400, OF_SERVER},
    {"model_not_found", NULL, 404, OF_SERVER},
    {"invalid_value", "invalid_value", 400, OF_REQUEST},
    {"invalid_type", "invalid_type", 400, OF_REQUEST},
    {"missing_required_parameter", "missing_required_parameter", 400, OF_REQUEST},
    {"integer_above_max_value", "integer_above_max_value", 400, OF_REQUEST},
    {"integer_below_min_value", "integer_below_min_value", 400, OF_REQUEST},
    {"string_above_max_length", "string_above_max_length", 400, OF_REQUEST},
    {"array_above_max_length", "array_above_max_length", 400, OF_REQUEST},
    {"invalid_function_parameters", "invalid_function_parameters", 400, OF_REQUEST},
    {"invalid_image_format", "invalid_image_format", 400, OF_REQUEST},
    {"invalid_base64_image", "invalid_base64_image", 400, OF_REQUEST},
    {"image_parse_error", "image_parse_error", 400, OF_REQUEST},
};

/* In lower case. Many servers give no code for what they have not got. */
static const char *const incapable[] = {"support",      "unknown field", "unrecognized",
                                        "unrecognised", "not permitted", "chat template"};

/* Members of requests that a client may have sent. What we put into a request ourselves (model,
 * stream_options) is not among them. */
static const char *const members[] = {
    "messages",
    "prompt",
    "max_tokens",
    "max_completion_tokens",
    "temperature",
    "top_p",
    "n",
    "stop",
    "seed",
    "stream",
    "logprobs",
    "top_logprobs",
    "tools",
    "tool_choice",
    "functions",
    "function_call",
    "user",
    "response_format",
    "presence_penalty",
    "frequency_penalty",
    "logit_bias",
    "reasoning_effort",
    "parallel_tool_calls",
    "modalities",
    "audio",
    "metadata",
    "prediction",
    "prompt_cache_key",
    "safety_identifier",
    "service_tier",
    "store",
    "top_k",
    "verbosity",
    "web_search_options",
    "content",
    "role",
    "name",
    "type",
    "text",
    "image_url",
    "url",
    "detail",
    "input_audio",
    "file",
    "tool_calls",
    "tool_call_id",
    "function",
    "arguments",
    "parameters",
    "description",
    "strict",
    "json_schema",
    "schema",
};

/* What only we can have put there. */
static const char *const own_members[] = {"model", "stream_options"};

static bool is_listed(struct td_str word, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (str_equal(word, str_from(list[i])))
            return true;
    return false;
}

#define LISTED(word, list) is_listed(word, list, sizeof(list) / sizeof *(list))

static bool is_number(struct td_str word)
{
    size_t digits = 0;
    while (digits < word.len && word.data[digits] >= '0' && word.data[digits] <= '9')
        digits++;
    return digits == word.len && digits > 0 && digits <= 6;
}

/* messages[1].content, or messages.1.content as some servers write it: names that are listed and
 * numbers, and nothing else. */
static bool is_known_member(struct td_str param)
{
    size_t begin = 0;
    for (size_t at = 0; at <= param.len; at++) {
        if (at < param.len && !strchr(".[]", param.data[at]))
            continue;
        struct td_str word = str_slice(param, begin, at);
        bool after_bracket = word.len == 0 && at > 0 && param.data[at - 1] == ']';
        bool first = begin == 0;
        if (!after_bracket && !LISTED(word, members) && (first || !is_number(word)))
            return false;
        begin = at + 1;
    }
    return param.len > 0;
}

static const struct known *find_known(const struct json *error)
{
    const struct td_str names[] = {json_get_text(error, "code"), json_get_text(error, "type"),
                                   json_get_text(error, "status")};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (size_t k = 0; k < sizeof known_codes / sizeof *known_codes; k++)
            if (str_equal(names[i], str_from(known_codes[k].name)))
                return &known_codes[k];
    return NULL;
}

static bool holds(struct td_str text, const char *phrase)
{
    struct td_str what = str_from(phrase);
    for (size_t at = 0; at + what.len <= text.len; at++)
        if (str_equal_nocase(str_slice(text, at, at + what.len), what))
            return true;
    return false;
}

#define DELAY_SECONDS_MAX 3600u

static bool says_incapable(struct td_str text)
{
    for (size_t i = 0; i < sizeof incapable / sizeof *incapable; i++)
        if (holds(text, incapable[i]))
            return true;
    return false;
}

/* As servers say it without a code. */
static bool says_too_long(struct td_str text)
{
    static const char *const phrases[] = {"context length",       /* vLLM, SGLang */
                                          "context size",         /* llama-server */
                                          "prompt is too long",   /* Anthropic */
                                          "exceed context limit", /* the same, with the answer */
                                          "input token count",    /* Google */
                                          "input is too long"};   /* Bedrock */
    for (size_t i = 0; i < sizeof phrases / sizeof *phrases; i++)
        if (holds(text, phrases[i]))
            return true;
    return false;
}

struct td_str openai_refusal_text(const struct json *root)
{
    const struct json *error = json_get(root, "error");
    const struct json *const places[] = {json_get(error, "message"), error,
                                         json_get(root, "message"), json_get(root, "detail")};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (json_text(places[i]).len > 0)
            return json_text(places[i]);
    return (struct td_str){NULL, 0};
}

/* "17s" or "0.5s" as milliseconds; 0 for anything else. */
static uint64_t read_delay(struct td_str text)
{
    double seconds;
    if (text.len < 2 || text.data[text.len - 1] != 's' ||
        !str_to_double(str_slice(text, 0, text.len - 1), &seconds) || !(seconds > 0))
        return 0;
    return seconds < DELAY_SECONDS_MAX ? (uint64_t)(seconds * 1000) : DELAY_SECONDS_MAX * 1000;
}

/* https://google.aip.dev/193: a wrong key is a 400 there, and only the details say so; how long to
 * wait stands in them, too. */
static void read_details(const struct json *error, struct tier_refusal *out)
{
    const struct json *details = json_get(error, "details");
    for (size_t i = 0; json_kind_of(details) == JSON_KIND_ARRAY && i < json_count(details); i++) {
        const struct json *detail = json_at(details, i);
        if (str_equal(json_get_text(detail, "reason"), STR("API_KEY_INVALID")))
            out->http = 401;
        uint64_t delay_ms = read_delay(json_get_text(detail, "retryDelay"));
        if (delay_ms > 0)
            out->retry_ms = delay_ms;
    }
}

static int http_in_stream(const struct json *error, const struct known *known)
{
    int64_t code = json_int(json_get(error, "code"), 0);
    return code >= 400 && code < 600 ? (int)code : known ? known->http : 500;
}

void openai_refusal_read(int http, const struct json *root, struct tier_refusal *out)
{
    ASSERT(out != NULL);
    const struct json *error = json_get(root, "error");
    const struct known *known = find_known(error);
    struct td_str param = json_get_text(error, "param");
    struct td_str text = openai_refusal_text(root);
    *out = (struct tier_refusal){.http = http ? http : http_in_stream(error, known)};
    read_details(error, out);
    if (known && known->code)
        out->code = known->code;
    else if (out->http == 429)
        out->code = "rate_limit_exceeded";
    else if (out->http == 400 && says_too_long(text))
        out->code = "context_length_exceeded";
    if (param.len < sizeof out->param && is_known_member(param))
        memcpy(out->param, param.data, param.len);
    bool wrong = out->http == 400 || out->http == 422;
    if (known && known->about == OF_REQUEST)
        out->of_request = wrong || out->http == 403;
    else
        out->of_request = wrong && !known && !LISTED(param, own_members) && !says_incapable(text) &&
                          !says_too_long(text);
}

bool openai_refusal_passes(const struct tier_refusal *refusal, enum td_status status)
{
    bool spent = refusal->code && strcmp(refusal->code, "insufficient_quota") == 0;
    return status == TD_UNAVAILABLE || (status == TD_BUSY && !spent);
}
