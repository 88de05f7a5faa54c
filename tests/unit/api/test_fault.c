#include "test.h"

#include "api/http/fault.h"
#include "base/json.h"
#include "base/str.h"

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
    RUN(test_long_messages_are_cut_between_characters);
    return test_finish();
}
