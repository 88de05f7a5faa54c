#include "test.h"

#include "api/http/fault.h"
#include "base/core/str.h"
#include "base/json/json.h"

static void test_every_status_has_a_code_and_openais_shape(void)
{
    for (int status = TD_OK; status <= TD_INTERNAL + 1; status++) {
        struct fault fault;
        struct buf out;
        buf_init(&out, 8192);
        fault_from_status(&fault, (enum td_status)status, "it \"broke\"", "messages[1]");
        CHECK(fault.code >= 400 && fault.code < 600);
        fault_write(&fault, &out);
        struct json *body = NULL;
        REQUIRE(json_parse(buf_view(&out), &body, NULL) == TD_OK);
        const struct json *error = json_get(body, "error");
        bool told = strcmp(json_cstr(json_get(error, "message")), "it \"broke\"") == 0;
        CHECK(told == (fault.code != 500)); /* what broke here is for the log */
        CHECK(strcmp(json_cstr(json_get(error, "param")), "messages[1]") == 0);
        CHECK(json_cstr(json_get(error, "type")));
        CHECK(json_count(error) == 4);
        json_free(body);
        buf_deinit(&out);
    }
}

static void test_statuses_map_as_clients_expect(void)
{
    static const struct {
        enum td_status status;
        int code;
        bool no_retry;
    } cases[] = {{TD_INVALID, 400, true},  {TD_LIMIT, 400, true}, {TD_NOT_FOUND, 404, true},
                 {TD_DENIED, 403, true},   {TD_BUSY, 429, false}, {TD_TIMEOUT, 504, false},
                 {TD_CORRUPT, 500, false}, {TD_IO, 500, false},   {TD_UNAVAILABLE, 503, false},
                 {TD_INTERNAL, 500, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fault fault;
        fault_from_status(&fault, cases[i].status, NULL, NULL);
        CHECK(fault.code == cases[i].code);
        CHECK(fault.no_retry == cases[i].no_retry);
        CHECK(*fault.message);
    }
    struct fault busy, unknown;
    fault_from_status(&busy, TD_BUSY, "full", NULL);
    CHECK(busy.retry_after_s > 0);
    fault_from_status(&unknown, TD_NOT_FOUND, "no such model", "model");
    CHECK(strcmp(unknown.error_code, "model_not_found") == 0);
}

static void test_what_a_server_answered_is_told_from_what_broke_here(void)
{
    static const enum td_status own[] = {TD_CORRUPT, TD_IO, TD_INTERNAL};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        struct fault fault;
        fault_from_status(&fault, own[i], "cannot read /var/lib/tandem/ledger.db", NULL);
        CHECK(fault.code == 500 && !strchr(fault.message, '/') && fault.message[0]);
        CHECK(!strstr(fault.error_code, "upstream"));
    }
    static const char *const paths[][2] = {
        {"there is no ledger /var/lib/tandem/ledger.db", "there is no ledger ledger.db"},
        {"/a/b/c.gguf: no such file", "c.gguf: no such file"},
        {"cannot open '/a/b': gone (/x/y/z)", "cannot open 'b': gone (z)"},
        {"neither 1/2 nor / nor /root nor https://a/b nor /a/", "neither 1/2 nor / nor /root nor "
                                                                "https://a/b nor "},
        /* Its own paths are no folders: they say where to look. */
        {"see /v1/models or (/tandem/v1/keys), not /v1 /tandem/x",
         "see /v1/models or (/tandem/v1/keys), not /v1 x"},
        {"", "not_found"},
    };
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct fault fault;
        fault_from_status(&fault, TD_NOT_FOUND, paths[i][0], NULL);
        CHECK(strcmp(fault.message, paths[i][1]) == 0);
    }
    for (int denied = 0; denied < 2; denied++) {
        struct fault fault;
        fault_upstream(&fault, denied, "cloud: nonsense");
        CHECK(fault.code == 502 && strcmp(fault.message, "cloud: nonsense") == 0);
        CHECK(strcmp(fault.error_code, denied ? "upstream_denied" : "bad_upstream_answer") == 0);
        CHECK(!fault.no_retry);
    }
}

/* A fault that held another one before. */
static struct fault used_fault(void)
{
    struct fault fault;
    fault_from_status(&fault, TD_UNAVAILABLE, "an earlier one", "earlier");
    CHECK(fault.retry_after_s == 2 && strcmp(fault.param, "earlier") == 0);
    return fault;
}

static void test_each_status_says_what_to_do(void)
{
    static const struct {
        enum td_status status;
        const char *type, *error_code;
        uint32_t retry_after_s;
    } cases[] = {
        {TD_INVALID, "invalid_request_error", "invalid_value", 0},
        {TD_NOT_FOUND, "invalid_request_error", "not_found", 0},
        {TD_UNSUPPORTED, "invalid_request_error", "unsupported", 0},
        {TD_LIMIT, "invalid_request_error", "context_length_exceeded", 0},
        {TD_BUSY, "rate_limit_error", "queue_full", 1},
        {TD_NO_MEMORY, "server_error", "out_of_memory", 5},
        {TD_UNAVAILABLE, "server_error", "no_tier_available", 2},
        {TD_TIMEOUT, "server_error", "timeout", 2},
        {TD_DENIED, "permission_error", "refused_by_policy", 0},
        {TD_INTERNAL, "server_error", "internal_error", 0},
        {(enum td_status)99, "server_error", "internal_error", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fault fault = used_fault();
        fault_from_status(&fault, cases[i].status, "m", NULL);
        CHECK(strcmp(fault.type, cases[i].type) == 0 && !*fault.param);
        CHECK(strcmp(fault.error_code, cases[i].error_code) == 0);
        CHECK(fault.retry_after_s == cases[i].retry_after_s);
    }
    struct fault other;
    fault_from_status(&other, TD_NOT_FOUND, "m", "lora");
    CHECK(strcmp(other.error_code, "not_found") == 0);
    fault_from_status(&other, TD_INVALID, "m", "model");
    CHECK(strcmp(other.error_code, "invalid_value") == 0);
}

static void test_a_fault_of_the_request_is_told_with_its_place_and_not_to_be_repeated(void)
{
    struct fault fault = used_fault();
    CHECK(!fault_request(&fault, "stop[1]", "%s is %d", "it", 7));
    CHECK(fault.code == 400 && strcmp(fault.type, "invalid_request_error") == 0);
    CHECK(strcmp(fault.error_code, "invalid_value") == 0 && strcmp(fault.param, "stop[1]") == 0);
    CHECK(fault.no_retry && fault.retry_after_s == 0 && strcmp(fault.message, "it is 7") == 0);
    CHECK(!fault_request(&fault, NULL, "nowhere") && !*fault.param);
    struct json *body;
    fault = used_fault();
    CHECK(!fault_parse_json(STR("{\n\n}}"), &body, &fault) && !body && fault.code == 400);
    CHECK(!*fault.param && strcmp(fault.error_code, "invalid_json") == 0);
    CHECK(strstr(fault.message, "line 3"));
    char param[400];
    memset(param, 'p', sizeof param - 1);
    param[sizeof param - 1] = '\0';
    CHECK(!fault_request(&fault, param, "m") && strlen(fault.param) == sizeof fault.param - 1);
}

static void test_which_codes_may_be_asked_again(void)
{
    static const struct {
        int code;
        bool no_retry;
    } cases[] = {{400, true},  {401, true},  {403, true}, {404, true},  {407, true},
                 {408, false}, {409, false}, {410, true}, {413, true},  {428, true},
                 {429, false}, {430, true},  {499, true}, {500, false}, {503, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fault fault = used_fault();
        fault_set(&fault, cases[i].code, "a_type", "a_code", "%d", cases[i].code);
        CHECK(fault.code == cases[i].code && fault.no_retry == cases[i].no_retry);
        CHECK(strcmp(fault.type, "a_type") == 0 && strcmp(fault.error_code, "a_code") == 0);
        CHECK(!*fault.param && fault.retry_after_s == 0);
    }
    struct fault stopping = used_fault(), large = used_fault();
    fault_stopping(&stopping);
    CHECK(stopping.code == 503 && stopping.retry_after_s == 1 && !stopping.no_retry);
    CHECK(strcmp(stopping.error_code, "shutting_down") == 0 && !*stopping.param);
    fault_too_large(&large);
    CHECK(large.code == 500 && strcmp(large.error_code, "answer_too_large") == 0);
}

static void test_what_is_not_known_is_null(void)
{
    struct fault fault;
    struct buf out;
    buf_init(&out, 4096);
    fault_set(&fault, 400, "t", NULL, "m");
    fault_write(&fault, &out);
    CHECK(str_equal(buf_view(&out), STR("{\"error\":{\"message\":\"m\",\"type\":\"t\","
                                        "\"param\":null,\"code\":null}}")));
    buf_deinit(&out);
}

static void test_long_messages_are_cut_between_characters(void)
{
    char text[4096];
    for (size_t i = 0; i + 2 < sizeof text; i += 2)
        memcpy(text + i, "\xc3\xa9", 3);
    struct fault fault;
    fault_from_status(&fault, TD_INVALID, text, NULL);
    CHECK(strlen(fault.message) < sizeof fault.message);
    CHECK(strlen(fault.message) % 2 == 0);
}

int main(void)
{
    RUN(test_every_status_has_a_code_and_openais_shape);
    RUN(test_statuses_map_as_clients_expect);
    RUN(test_what_a_server_answered_is_told_from_what_broke_here);
    RUN(test_each_status_says_what_to_do);
    RUN(test_a_fault_of_the_request_is_told_with_its_place_and_not_to_be_repeated);
    RUN(test_which_codes_may_be_asked_again);
    RUN(test_what_is_not_known_is_null);
    RUN(test_long_messages_are_cut_between_characters);
    return test_finish();
}
