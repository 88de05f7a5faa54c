/* Reading a request while memory runs out at every allocation in turn. The client is never blamed,
 * and what is read is the whole request: what is lost of it might have kept it on the device. */
#include "api/http/fault.h"
#include "api/wire/completion_request.h"
#include "api/wire/dialect.h"
#include "api/wire/embeddings_request.h"
#include "api/wire/openai_format.h"
#include "base/str.h"
#include "tandem/engine.h"
#include "test.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);

static long until_failure = LONG_MAX; /* counts down to the allocation that fails */
static bool failed;

static bool fails_now(void)
{
    bool now = until_failure == 0;
    failed |= now;
    until_failure -= until_failure < LONG_MAX && until_failure >= 0;
    if (now)
        errno = ENOMEM;
    return now;
}

void *__wrap_malloc(size_t bytes)
{
    return fails_now() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return fails_now() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *old, size_t bytes)
{
    return fails_now() ? NULL : __real_realloc(old, bytes);
}

/* jansson's reader of texts writes beyond its memory when it has too little, so here it has enough
 * or none at all. */
json_t *__real_json_loadb(const char *text, size_t len, size_t flags, json_error_t *error);
json_t *__wrap_json_loadb(const char *text, size_t len, size_t flags, json_error_t *error);

json_t *__wrap_json_loadb(const char *text, size_t len, size_t flags, json_error_t *error)
{
    if (fails_now())
        return NULL;
    long saved = until_failure;
    until_failure = LONG_MAX;
    json_t *value = __real_json_loadb(text, len, flags, error);
    until_failure = saved;
    return value;
}

/* Runs `read` with the first allocation failing, then the second, until none is left to fail. */
typedef bool read_fn(struct arena *arena, const char *body, struct fault *fault);

static void fail_in_turn(read_fn *read, const char *body)
{
    long refused = 0;
    for (long k = 0;; k++) {
        struct fault fault = {0};
        struct arena *arena = arena_new(1 << 20);
        REQUIRE(arena && k < 100000);
        failed = false;
        until_failure = k;
        bool ok = read(arena, body, &fault);
        until_failure = LONG_MAX;
        arena_free(arena);
        if (!ok && (fault.code != 503 || !fault.retry_after_s)) {
            fprintf(stderr, "allocation %ld: %d %s\n", k, fault.code, fault.message);
            CHECK(fault.code == 503 && fault.retry_after_s);
            return;
        }
        refused += !ok;
        if (!failed) {
            CHECK(ok && refused > 0);
            return;
        }
    }
}

static const char *no_header(void *ctx, const char *name)
{
    (void)ctx;
    return strcmp(name, "x-tandem-tags") == 0 ? "a,b" : NULL;
}

static bool read_as(const struct dialect *dialect, struct arena *arena, const char *body,
                    struct fault *fault)
{
    struct chat_request request;
    bool ok = dialect_read(dialect, str_from(body), no_header, NULL, arena, &request, fault);
    long saved = until_failure;
    bool had_failed = failed;
    until_failure = LONG_MAX;
    if (ok) { /* nothing may be missing of what would be sent */
        struct arena *again = arena_new(1 << 20);
        struct chat_request expected;
        struct fault none = {0};
        struct buf got, wanted;
        buf_init(&got, 1 << 20);
        buf_init(&wanted, 1 << 20);
        CHECK(dialect_read(dialect, str_from(body), no_header, NULL, again, &expected, &none));
        json_write(request.body, &got);
        json_write(expected.body, &wanted);
        CHECK(str_equal(buf_view(&got), buf_view(&wanted)));
        CHECK(request.td.message_count == expected.td.message_count);
        CHECK(request.td.tag_count == expected.td.tag_count);
        buf_deinit(&got);
        buf_deinit(&wanted);
        openai_request_deinit(&expected);
        openai_request_deinit(&request);
        arena_free(again);
    }
    until_failure = saved;
    failed = had_failed;
    return ok;
}

static bool read_chat(struct arena *arena, const char *body, struct fault *fault)
{
    return read_as(&dialect_chat, arena, body, fault);
}

static bool read_messages(struct arena *arena, const char *body, struct fault *fault)
{
    return read_as(&dialect_messages, arena, body, fault);
}

static bool read_responses(struct arena *arena, const char *body, struct fault *fault)
{
    return read_as(&dialect_responses, arena, body, fault);
}

static bool read_completion(struct arena *arena, const char *body, struct fault *fault)
{
    struct completion_request request;
    bool ok = completion_request_parse(str_from(body), NULL, arena, &request, fault);
    completion_request_deinit(&request);
    return ok;
}

static bool read_embeddings(struct arena *arena, const char *body, struct fault *fault)
{
    (void)arena;
    struct embeddings_request request;
    bool ok = embeddings_request_parse(str_from(body), NULL, &request, fault);
    embeddings_request_deinit(&request);
    return ok;
}

/* Compiled elsewhere than read (inference/format_task.c). */
static bool compile_format(struct arena *arena, const char *body, struct fault *fault)
{
    struct chat_request request;
    if (!dialect_read(&dialect_chat, str_from(body), NULL, NULL, arena, &request, fault))
        return false;
    struct td_grammar *grammar = NULL;
    struct td_error err = {0};
    bool ok = true;
    if (openai_format_is_due(&request.td)) {
        enum td_status status = openai_format_compile(&request.td, &grammar, &err);
        ok = openai_format_accept(status, grammar, &err, &request.td, fault);
        CHECK(!ok || request.td.grammar); /* not sent elsewhere instead */
    }
    openai_request_deinit(&request);
    return ok;
}

#define CALL                                                                            \
    "\"tool_calls\":[{\"id\":\"a\",\"type\":\"function\",\"function\":{\"name\":\"f\"," \
    "\"arguments\":\"{}\"}}]"
#define SCHEMA                                                                               \
    "{\"type\":\"object\",\"properties\":{\"a\":{\"enum\":[\"x\",1,null]},\"b\":{\"type\":"  \
    "\"string\",\"pattern\":\"^a+$\"},\"c\":{\"$ref\":\"#/$defs/d\"}},\"required\":[\"a\"]," \
    "\"allOf\":[{\"minProperties\":1}],\"$defs\":{\"d\":{\"type\":\"integer\",\"minimum\":3}}}"

static void test_chats(void)
{
    fail_in_turn(
        read_chat,
        "{\"model\":\"auto\",\"messages\":[{\"role\":\"system\",\"content\":\"be\\u00e9\"},"
        "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"one\"},{\"type\":"
        "\"text\",\"text\":\"two\"}]},{\"role\":\"assistant\",\"content\":null," CALL "}],"
        "\"logit_bias\":{\"5\":1},\"temperature\":0.5,\"stop\":[\"x\"],"
        "\"dry_sequence_breakers\":[\"a\"],\"tandem\":{\"data_class\":\"restricted\"},"
        "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\"}}],"
        "\"response_format\":{\"type\":\"json_object\"}}");
}

static void test_messages(void)
{
    fail_in_turn(
        read_messages,
        "{\"model\":\"auto\",\"max_tokens\":9,\"system\":\"s\",\"messages\":[{\"role\":"
        "\"user\",\"content\":[{\"type\":\"text\",\"text\":\"one\"},{\"type\":\"text\","
        "\"text\":\"two\"}]},{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\","
        "\"id\":\"a\",\"name\":\"f\",\"input\":{\"x\":1}}]},{\"role\":\"user\",\"content\":"
        "[{\"type\":\"tool_result\",\"tool_use_id\":\"a\",\"content\":\"ok\"}]}],"
        "\"tools\":[{\"name\":\"f\",\"description\":\"d\",\"input_schema\":{\"type\":"
        "\"object\"}}],\"stop_sequences\":[\"x\"],\"tandem\":{\"data_class\":"
        "\"restricted\"},\"metadata\":{\"user_id\":\"u\"}}");
}

static void test_responses(void)
{
    fail_in_turn(
        read_responses,
        "{\"model\":\"auto\",\"instructions\":\"i\",\"input\":[{\"role\":\"user\","
        "\"content\":[{\"type\":\"input_text\",\"text\":\"one\"}]},{\"type\":"
        "\"function_call\",\"call_id\":\"a\",\"name\":\"f\",\"arguments\":\"{}\"},{\"type\":"
        "\"function_call_output\",\"call_id\":\"a\",\"output\":\"ok\"}],\"tools\":[{\"type\":"
        "\"function\",\"name\":\"f\",\"parameters\":{}}],\"text\":{\"format\":{\"type\":"
        "\"json_object\"}},\"tandem\":{\"mode\":\"only-local\"}}");
}

static void test_completions_and_embeddings(void)
{
    fail_in_turn(read_completion,
                 "{\"model\":\"auto\",\"prompt\":[\"one\",\"two\"],\"logit_bias\":{\"5\":1}}");
    fail_in_turn(read_embeddings, "{\"model\":\"auto\",\"input\":[\"one\",\"two\"]}");
}

static void test_formats(void)
{
    fail_in_turn(compile_format,
                 "{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}],\"response_format\":{"
                 "\"type\":\"json_schema\",\"json_schema\":{\"name\":\"n\",\"schema\":" SCHEMA
                 "}}}");
    fail_in_turn(compile_format,
                 "{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}],\"grammar\":"
                 "\"root ::= [a-z]{1,9} ws | \\\"x\\\"*\\nws ::= \\\" \\\"?\\n\"}");
}

int main(void)
{
    json_set_alloc_funcs(__wrap_malloc, free);
    RUN(test_chats);
    RUN(test_messages);
    RUN(test_responses);
    RUN(test_completions_and_embeddings);
    RUN(test_formats);
    return test_finish();
}
