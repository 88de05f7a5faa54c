/* The OpenAI wire format without a network: addresses, bodies, refusals. */
#include "tier/openai/openai_delta.h"
#include "tier/openai/openai_extras.h"
#include "tier/openai/openai_headers.h"
#include "tier/openai/openai_wire.h"

#include "base/core/str.h"
#include "base/crypto/secret.h"
#include "base/json/json.h"
#include "wire_members.h"

#include <math.h>

/* --- addresses --- */

static void test_plain_http_only_reaches_this_machine(void)
{
    static const struct {
        const char *url;
        bool plain, with_allow_http;
    } cases[] = {
        {"https://api.example.com/v1", true, true},
        {"HTTPS://api.example.com", true, true},
        {"http://localhost:8080/v1", true, true},
        {"http://127.0.0.1:1/v1", true, true},
        {"http://127.8.9.1", true, true},
        {"http://[::1]:80/", true, true},
        {"http://api.example.com/v1", false, true},
        {"http://127.example.com/v1", false, true},
        {"http://localhost.example.com", false, true},
        {"http://[::2]/", false, true},
        {"http://[::1", false, false},
        {"http://127.0.0.1@example.com/", false, false},
        {"https://user:pass@example.com/", false, false},
        {"http://127.0.0.1\\@example.com/", false, false},
        {"https:///v1", false, false},
        {"ftp://example.com", false, false},
        {"file:///etc/passwd", false, false},
        {"example.com", false, false},
        {"", false, false},
        {"https://exa mple.com", false, false},
        {"https://exa\x7fmple.com", false, false},
        {"https://example.com/@team?to=a@b#@", true, true},
        {"https://example.com?@", true, true},
        {"https://a@example.com", false, false},
        {"https://[::1]@example.com/", false, false},
        {"https://example.com/\r\nX: y", false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct td_error err = {0};
        bool plain = openai_check_url(str_from(cases[i].url), false, &err) == TD_OK;
        bool allowed = openai_check_url(str_from(cases[i].url), true, NULL) == TD_OK;
        CHECK(plain == cases[i].plain && allowed == cases[i].with_allow_http);
        CHECK(plain || err.message[0]);
        if (plain != cases[i].plain || allowed != cases[i].with_allow_http)
            fprintf(stderr, "  case: %s\n", cases[i].url);
    }
}

/* --- bodies --- */

static const struct tier_facts facts = {.name = "openai", .model = "gpt-x"};

static bool writes(const struct td_request *request, const char *wanted)
{
    struct buf out;
    buf_init(&out, 65536);
    bool same = openai_write_body(request, &facts, false, &out, NULL) == TD_OK && out.data &&
                strcmp(out.data, wanted) == 0;
    if (!same)
        fprintf(stderr, "  wrote: %s\n", out.data ? out.data : "(nothing)");
    buf_deinit(&out);
    return same;
}

static void test_a_clients_members_are_handed_on_with_our_model(void)
{
    struct wire_members wire;
    struct td_request request = {.messages = NULL};
    wire_members_init(&wire,
                      "{\"model\":\"auto\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}],"
                      "\"tools\":[{\"type\":\"function\"}],"
                      "\"stream\":false,\"stream_options\":{\"include_obfuscation\":false}}",
                      &request);
    CHECK(writes(&request,
                 "{\"model\":\"gpt-x\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}],"
                 "\"tools\":[{\"type\":\"function\"}],\"stream\":true,"
                 "\"stream_options\":{\"include_obfuscation\":false,\"include_usage\":true}}"));
    CHECK(strcmp(json_cstr(json_get(wire.body, "model")), "auto") == 0); /* unchanged */
    wire_members_deinit(&wire);
}

static void test_a_body_is_built_from_messages(void)
{
    struct td_message messages[] = {{TD_ROLE_SYSTEM, STR("be \"brief\"")},
                                    {TD_ROLE_USER, STR("hi\n")}};
    const struct td_str stop = STR("END");
    struct td_request request = {
        .messages = messages,
        .message_count = 2,
        .tokens_max = 9,
        .sampling = {.temperature = 0.7f, .top_p = 0.9f, .seed = 5, .seed_set = true},
        .stops = &stop,
        .stop_count = 1,
    };
    CHECK(writes(&request, "{\"messages\":[{\"role\":\"system\",\"content\":\"be \\\"brief\\\"\"},"
                           "{\"role\":\"user\",\"content\":\"hi\\n\"}],\"max_tokens\":9,"
                           "\"temperature\":0.7,\"top_p\":0.9,\"seed\":5,\"stop\":[\"END\"],"
                           "\"model\":\"gpt-x\",\"stream_options\":{\"include_usage\":true},"
                           "\"stream\":true}"));
}

static void test_logprobs_are_asked_for_only_when_the_client_did(void)
{
    struct td_message message = {TD_ROLE_USER, STR("hi")};
    struct td_request request = {.messages = &message,
                                 .message_count = 1,
                                 .sampling = {.temperature = 1, .top_p = 1},
                                 .logprobs = true,
                                 .top_logprobs = 3};
    CHECK(writes(&request,
                 "{\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}],\"temperature\":1.0,"
                 "\"logprobs\":true,\"top_logprobs\":3,\"model\":\"gpt-x\","
                 "\"stream_options\":{\"include_usage\":true},\"stream\":true}"));
}

static void test_a_judged_answer_is_asked_for_with_logprobs_and_asked_for_without(void)
{
    static const char plain[] =
        "{\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}],\"temperature\":1.0,"
        "\"model\":\"gpt-x\",\"stream_options\":{\"include_usage\":true},\"stream\":true}";
    struct td_message message = {TD_ROLE_USER, STR("hi")};
    struct td_request request = {
        .messages = &message, .message_count = 1, .sampling = {.temperature = 1, .top_p = 1}};
    struct buf out;
    buf_init(&out, 4096);
    CHECK(openai_write_body(&request, &facts, true, &out, NULL) == TD_OK);
    CHECK(strstr(out.data, "\"logprobs\":true,\"top_logprobs\":2"));
    CHECK(openai_drop_extras(&out, EXTRA_LOGPROBS, NULL) == TD_OK);
    CHECK(str_equal(buf_view(&out), str_from(plain)));
    buf_clear(&out);
    request.logprobs = true; /* the client's own question stays as it is */
    CHECK(openai_write_body(&request, &facts, true, &out, NULL) == TD_OK);
    CHECK(strstr(out.data, "\"logprobs\":true,\"top_logprobs\":0"));
    buf_deinit(&out);
}

static void test_a_refusal_may_speak_of_logprobs(void)
{
    CHECK(openai_names_logprobs(STR("extra input: [\"body\",\"Top_LogProbs\"]")));
    CHECK(openai_names_logprobs(STR("logprob")));
    CHECK(!openai_names_logprobs(STR("logpro")) && !openai_names_logprobs(STR("")));
}

static void test_what_is_left_to_the_model_is_not_sent(void)
{
    struct td_message message = {TD_ROLE_USER, STR("hi")};
    struct td_request request = {.messages = &message,
                                 .message_count = 1,
                                 .sampling = {.temperature = 1, .top_p = 1},
                                 .left_to_model = SETTING_TEMPERATURE};
    CHECK(writes(&request, "{\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}],"
                           "\"model\":\"gpt-x\",\"stream_options\":{\"include_usage\":true},"
                           "\"stream\":true}"));
}

/* What the client allows is allowed in whichever member it said so; who may begin anew is allowed
 * the whole. */
static void test_a_tier_that_goes_on_is_allowed_what_is_left(void)
{
    static const struct {
        enum prefill prefill;
        const char *body, *wanted;
        uint32_t left;
    } cases[] = {
#define BODY(more) "{\"messages\":[{\"role\":\"assistant\",\"content\":\"So\"}]" more "}"
        {PREFILL_MESSAGE, BODY(",\"max_tokens\":90"), "\"max_tokens\":40", 40},
        {PREFILL_MESSAGE, BODY(",\"max_completion_tokens\":90"), "\"max_completion_tokens\":40",
         40},
        {PREFILL_MESSAGE, BODY(",\"max_tokens\":90,\"max_completion_tokens\":80"),
         "\"max_tokens\":40,\"max_completion_tokens\":40", 40},
        {PREFILL_PREFIX, BODY(",\"max_tokens\":90"), "\"max_tokens\":40", 40},
        {PREFILL_PREFIX, BODY(",\"max_completion_tokens\":90"), "\"max_completion_tokens\":40", 40},
        {PREFILL_FINAL, BODY(",\"max_tokens\":90"), "\"max_tokens\":40", 40},
        {PREFILL_FINAL, BODY(",\"max_completion_tokens\":90"), "\"max_completion_tokens\":40", 40},
        {PREFILL_NONE, BODY(",\"max_tokens\":90"), "\"max_tokens\":90", 40},
        {PREFILL_NONE, BODY(",\"max_completion_tokens\":90"), "\"max_completion_tokens\":90", 40},
        {PREFILL_MESSAGE, BODY(",\"max_tokens\":90"), "\"max_tokens\":90", 0}, /* unknown */
#undef BODY
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct wire_members wire;
        struct td_request request = {.continues = true, .tokens_max = cases[i].left};
        struct tier_facts server = facts;
        struct buf out;
        server.prefill = cases[i].prefill;
        buf_init(&out, 1 << 16);
        wire_members_init(&wire, cases[i].body, &request);
        CHECK(openai_write_body(&request, &server, false, &out, NULL) == TD_OK);
        buf_append_char(&out, '\0');
        if (!strstr(out.data, cases[i].wanted))
            printf("row %zu: %s\n", i, out.data);
        CHECK(strstr(out.data, cases[i].wanted));
        wire_members_deinit(&wire);
        buf_deinit(&out);
    }
}

/* The last words of an answer, as a letter quotes them; NULL = as they are. */
static void test_an_answer_goes_on_as_the_server_is_told(void)
{
    static const struct {
        enum prefill prefill;
        const char *begun;
        const char *wanted[2], *unwanted[2];
    } cases[] = {
#define MARKED "\"content\":\"So it\",\"prefix\":true"
        {PREFILL_PREFIX,
         "So it",
         {MARKED, "{\"role\":\"user\",\"content\":\"hi\"}"},
         {"cut off", "continue_final"}},
        {PREFILL_FINAL,
         "So it",
         {"\"continue_final_message\":true", "\"add_generation_prompt\":false"},
         {"prefix", "cut off"}},
        {PREFILL_MESSAGE, "So it", {"\"content\":\"So it\"}]", ""}, {"prefix", "cut off"}},
        {PREFILL_NONE,
         "So it",
         {"\"content\":\"So it\"},{\"role\":\"user\",", "(\\\"So it\\\")"},
         {"prefix", "continue_final"}},
        /* 48 bytes are quoted whole; of more, what begins with a word. */
        {PREFILL_NONE,
         "0123456789 123456789 123456789 123456789 1234567",
         {"(\\\"0123456789 1", ""},
         {"prefix", "continue_final"}},
        {PREFILL_NONE,
         "A0123456789 123456789 123456789 123456789 1234567",
         {"(\\\"123456789 1", ""},
         {"(\\\"0123456789", "(\\\"A01"}},
        {PREFILL_NONE,
         "AB0123456789012345678901234567890123456789012345 ",
         {"(\\\"B01234", ""},
         {"(\\\"AB0", "(\\\"\\\")"}},
        {PREFILL_NONE,
         "\xc3\xa9"
         "0123456789012345678901234567890123456789012345x",
         {"(\\\"\xc3\xa9"
          "0123",
          ""},
         {"prefix", "(\\\"0"}},
#undef MARKED
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct wire_members wire;
        struct td_request request = {.continues = true};
        struct tier_facts server = facts;
        struct buf out;
        char body[256];
        snprintf(body, sizeof body,
                 "{\"messages\":[{\"role\":\"user\",\"content\":\"hi\"},"
                 "{\"role\":\"assistant\",\"content\":\"%s\"}]}",
                 cases[i].begun);
        server.prefill = cases[i].prefill;
        buf_init(&out, 1 << 16);
        wire_members_init(&wire, body, &request);
        CHECK(openai_write_body(&request, &server, false, &out, NULL) == TD_OK);
        buf_append_char(&out, '\0');
        for (int n = 0; n < 2; n++) {
            CHECK(strstr(out.data, cases[i].wanted[n]) && !strstr(out.data, cases[i].unwanted[n]));
            if (!strstr(out.data, cases[i].wanted[n]) || strstr(out.data, cases[i].unwanted[n]))
                printf("row %zu: %s\n", i, out.data);
        }
        wire_members_deinit(&wire);
        buf_deinit(&out);
    }
}

static void test_only_the_tools_of_the_request_are_offered(void)
{
    struct json *tools = NULL;
    REQUIRE(json_parse(STR("[{\"function\":{\"name\":\"a\"}},{},{\"function\":{\"name\":\"bc\"}}]"),
                       &tools, NULL) == TD_OK);
    CHECK(openai_offers_tool(tools, STR("a")) && openai_offers_tool(tools, STR("bc")));
    CHECK(!openai_offers_tool(tools, STR("b")) && !openai_offers_tool(tools, STR("")));
    CHECK(!openai_offers_tool(tools, STR("bcd")) && !openai_offers_tool(NULL, STR("a")));
    json_free(tools);
}

static void test_a_seed_is_sent_when_json_has_a_number_for_it(void)
{
    struct td_message message = {TD_ROLE_USER, STR("hi")};
    static const struct {
        uint64_t seed;
        bool set;
        const char *wanted; /* NULL: none */
    } cases[] = {{0, true, "\"seed\":0,"},
                 {5, false, NULL},
                 {INT64_MAX, true, "\"seed\":9223372036854775807,"},
                 {(uint64_t)INT64_MAX + 1, true, NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct td_request request = {.messages = &message, .message_count = 1};
        struct buf out;
        request.sampling =
            (struct td_sampling){.top_p = 1, .seed = cases[i].seed, .seed_set = cases[i].set};
        buf_init(&out, 4096);
        CHECK(openai_write_body(&request, &facts, false, &out, NULL) == TD_OK);
        CHECK(strstr(out.data, cases[i].wanted ? cases[i].wanted : "\"seed\"")
                  ? cases[i].wanted != NULL
                  : cases[i].wanted == NULL);
        buf_deinit(&out);
    }
}

/* A "store" that the client set is taken back where nothing may be kept; none is added. */
static void test_nothing_is_kept_where_nothing_may_be(void)
{
    static const struct {
        const char *body;
        bool no_retention;
        const char *wanted; /* NULL: no member */
    } cases[] = {{"{\"messages\":[],\"store\":true}", true, "\"store\":false"},
                 {"{\"messages\":[],\"store\":true}", false, "\"store\":true"},
                 {"{\"messages\":[],\"store\":false}", true, "\"store\":false"},
                 {"{\"messages\":[]}", true, NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct td_request request = {.no_retention = cases[i].no_retention};
        struct wire_members wire;
        struct buf out;
        buf_init(&out, 4096);
        wire_members_init(&wire, cases[i].body, &request);
        CHECK(openai_write_body(&request, &facts, false, &out, NULL) == TD_OK);
        CHECK(cases[i].wanted ? strstr(out.data, cases[i].wanted) != NULL
                              : strstr(out.data, "store") == NULL);
        wire_members_deinit(&wire);
        buf_deinit(&out);
    }
}

/* What an answer shows beside its text: with which of it another tier can go on. */
static void test_a_delta_is_text_when_nothing_in_it_must_be_kept_whole(void)
{
    static const struct {
        const char *delta;
        bool text;
    } cases[] = {
        {"{}", true},
        {"{\"role\":\"assistant\",\"content\":\"So\"}", true},
        {"{\"content\":\"\",\"refusal\":null}", true},
        {"{\"reasoning_content\":\"hm\"}", true},
        {"{\"reasoning\":\"hm\",\"reasoning_details\":[{\"type\":\"x\"}]}", true},
        {"{\"note\":\"a server's own\"}", true},
        {"{\"annotations\":[]}", true},
        {"{\"tool_calls\":[]}", true},
        {"{\"refusal\":\"I will not\"}", false},
        {"{\"content\":\"So\",\"refusal\":\"I will not\"}", false},
        {"{\"annotations\":[{\"type\":\"url\"}]}", false},
        {"{\"audio\":{\"id\":\"a\"}}", false},
        {"{\"tool_calls\":[{\"index\":0,\"function\":{\"name\":\"f\"}}]}", false},
        {"{\"function_call\":{\"name\":\"f\"}}", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct json *choice = json_new_object(), *delta = NULL;
        REQUIRE(json_parse(str_from(cases[i].delta), &delta, NULL) == TD_OK);
        json_put(choice, "delta", delta);
        if (openai_delta_is_text(choice) != cases[i].text)
            printf("%s\n", cases[i].delta);
        CHECK(openai_delta_is_text(choice) == cases[i].text);
        json_free(choice);
    }
}

static void test_a_body_over_the_limit_is_an_error(void)
{
    struct td_message message = {TD_ROLE_USER, STR("a rather long message for a small buffer")};
    struct td_request request = {.messages = &message, .message_count = 1};
    struct buf out;
    struct td_error err = {0};
    buf_init(&out, 50);
    CHECK(openai_write_body(&request, &facts, false, &out, &err) == TD_LIMIT && err.message[0]);
    buf_deinit(&out);
}

/* --- refusals --- */

static void test_http_codes_say_what_to_do(void)
{
    static const struct {
        int code;
        enum td_status status;
    } cases[] = {
        {400, TD_INVALID},     {401, TD_DENIED},      {402, TD_DENIED},      {403, TD_DENIED},
        {404, TD_NOT_FOUND},   {408, TD_TIMEOUT},     {413, TD_LIMIT},       {422, TD_INVALID},
        {429, TD_BUSY},        {500, TD_UNAVAILABLE}, {503, TD_UNAVAILABLE}, {502, TD_UNAVAILABLE},
        {504, TD_UNAVAILABLE}, {529, TD_UNAVAILABLE}, {599, TD_UNAVAILABLE}, {501, TD_CORRUPT},
        {505, TD_CORRUPT},     {506, TD_CORRUPT},     {508, TD_CORRUPT},     {510, TD_CORRUPT},
        {511, TD_CORRUPT},     {300, TD_CORRUPT},     {302, TD_CORRUPT},     {307, TD_CORRUPT},
        {399, TD_CORRUPT},     {600, TD_CORRUPT},     {999, TD_CORRUPT},     {199, TD_CORRUPT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK(openai_status_of_http(cases[i].code) == cases[i].status);
}

static void test_error_messages_are_found_bounded_and_clean(void)
{
    static char longest[4000];
    memset(longest, 'x', sizeof longest - 1);
    memcpy(longest, "{\"error\":\"", 10);
    memcpy(longest + sizeof longest - 3, "\"}", 2);
    static const struct {
        const char *body, *message;
    } cases[] = {
        {"{\"error\":{\"message\":\"no such model\",\"type\":\"x\"}}", "HTTP 404: no such model"},
        {"{\"error\":\"plain\"}", "HTTP 404: plain"},
        {"{\"message\":\"top\"}", "HTTP 404: top"},
        {"{\"detail\":\"fast\"}", "HTTP 404: fast"},
        {"{\"detail\":[{\"loc\":1}]}", "HTTP 404"},
        {"{\"error\":{\"message\":\"a\\u001b[31m\\nb\\u007f\"}}", "HTTP 404: a [31m b "},
        {"<html>not json</html>", "HTTP 404"},
        {"", "HTTP 404"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct td_error err = {0};
        openai_read_error(404, str_from(cases[i].body), &(struct tier_refusal){0}, &err);
        CHECK(err.status == TD_NOT_FOUND && strcmp(err.message, cases[i].message) == 0);
    }
    struct td_error err = {0};
    openai_read_error(404, str_from(longest), &(struct tier_refusal){0}, &err);
    CHECK(strlen(err.message) < 300 && strlen(err.message) > 200);
    for (size_t len = 237; len <= 241; len++) /* 239 bytes, and no half of a character */
        for (int wide = 0; wide < 2; wide++) {
            char body[400];
            err = (struct td_error){0};
            snprintf(body, sizeof body, "{\"error\":\"%0*d%s\"}", (int)len - 2 * wide, 0,
                     wide ? "\xc3\xa9" : "");
            openai_read_error(404, str_from(body), &(struct tier_refusal){0}, &err);
            size_t shown = len <= 239 ? len : wide && len == 240 ? 238 : 239;
            CHECK(strlen(err.message) == strlen("HTTP 404: ") + shown);
        }
}

/* Eight bytes are a secret; a part of eight is hidden where the message ends with it. */
static void test_secrets_are_hidden_whole_and_where_a_message_was_cut(void)
{
    static const struct {
        const char *secret, *message, *hidden;
    } cases[] = {
        {"sk-5678", "key sk-5678!", "key sk-5678!"},
        {"sk-56789", "key sk-56789!", "key ********!"},
        {"sk-56789", "sk-56789sk-56789", "****************"},
        {"sk-56789abc", "key sk-56789abc", "key ***********"},
        {"sk-56789abc", "key sk-56789ab", "key **********"},
        {"sk-56789abc", "key sk-56789", "key ********"},
        {"sk-56789abc", "key sk-5678", "key sk-5678"},
        {"sk-56789abc", "key sk-56789ab and more", "key sk-56789ab and more"},
        {"sk-56789abc", "", ""},
        {"", "anything", "anything"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char message[64];
        snprintf(message, sizeof message, "%s", cases[i].message);
        openai_hide(str_from(cases[i].secret), message);
        CHECK(strcmp(message, cases[i].hidden) == 0);
    }
}

static void test_a_key_has_no_spaces_and_no_control_characters(void)
{
    static const struct {
        struct td_str key;
        bool clean;
    } cases[] = {{{"sk-!~", 5}, true},  {{"a b", 3}, false},    {{" a", 2}, false},
                 {{"a\x1f", 2}, false}, {{"a\x7f", 2}, false},  {{"a\0", 2}, false},
                 {{"a\n", 2}, false},   {{"\xc3\xa9", 2}, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct secret *key = secret_new(cases[i].key);
        CHECK(openai_key_is_clean(key, false) == cases[i].clean);
        secret_free(key);
    }
    CHECK(openai_key_is_clean(NULL, false));
}

static void test_retry_after_in_seconds_only(void)
{
    const uint64_t hour_ms = 3600000, now_ms = UINT64_C(1792567650000); /* 07:27:30 of that day */
    CHECK(openai_retry_after_ms("2", now_ms) == 2000 && openai_retry_after_ms(" 0 ", now_ms) == 0);
    CHECK(openai_retry_after_ms("Wed, 21 Oct 2026 07:28:00 GMT", now_ms) == 30000);
    CHECK(openai_retry_after_ms("Wed, 21 Oct 2020 07:28:00 GMT", now_ms) == 0);
    CHECK(openai_retry_after_ms("Wed, 21 Oct 9999 07:28:00 GMT", now_ms) == hour_ms);
    CHECK(openai_retry_after_ms("3599", now_ms) == hour_ms - 1000);
    CHECK(openai_retry_after_ms("3600", now_ms) == hour_ms);
    CHECK(openai_retry_after_ms("3601", now_ms) == hour_ms);
    CHECK(openai_retry_after_ms("Wed, 21 Oct 2026 07:27:30 GMT", now_ms) == 0);
    CHECK(openai_retry_after_ms("Wed, 21 Oct 2026 07:27:31 GMT", now_ms) == 1000);
    CHECK(openai_retry_after_ms("18446744073709551615", now_ms) == hour_ms);
    CHECK(openai_retry_after_ms("99999999999999999999999", now_ms) == hour_ms);
    static const char *const malformed[] = {
        NULL, "", "-1", "1.5", "2 s", "soon", "Wed, 99 Foo 26", "Wed, 21 Oct 2026 07:28:00 GMT x"};
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++)
        CHECK(openai_retry_after_ms(malformed[i], now_ms) == UINT64_MAX);
}

int main(void)
{
    RUN(test_plain_http_only_reaches_this_machine);
    RUN(test_a_clients_members_are_handed_on_with_our_model);
    RUN(test_a_body_is_built_from_messages);
    RUN(test_logprobs_are_asked_for_only_when_the_client_did);
    RUN(test_a_judged_answer_is_asked_for_with_logprobs_and_asked_for_without);
    RUN(test_a_refusal_may_speak_of_logprobs);
    RUN(test_what_is_left_to_the_model_is_not_sent);
    RUN(test_a_tier_that_goes_on_is_allowed_what_is_left);
    RUN(test_an_answer_goes_on_as_the_server_is_told);
    RUN(test_only_the_tools_of_the_request_are_offered);
    RUN(test_a_seed_is_sent_when_json_has_a_number_for_it);
    RUN(test_nothing_is_kept_where_nothing_may_be);
    RUN(test_secrets_are_hidden_whole_and_where_a_message_was_cut);
    RUN(test_a_key_has_no_spaces_and_no_control_characters);
    RUN(test_a_delta_is_text_when_nothing_in_it_must_be_kept_whole);
    RUN(test_a_body_over_the_limit_is_an_error);
    RUN(test_http_codes_say_what_to_do);
    RUN(test_error_messages_are_found_bounded_and_clean);
    RUN(test_retry_after_in_seconds_only);
    return test_finish();
}
