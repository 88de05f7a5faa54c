/* Kinds of servers: where their addresses are, and how they are shown a key. */
#include "base/bytes/buf.h"
#include "base/core/str.h"
#include "base/crypto/secret.h"
#include "test.h"
#include "tier/openai/openai_headers.h"
#include "tier/servers.h"

#include <stdlib.h>

static void check_url(const struct tier_server *server, struct server_address address,
                      const char *expected)
{
    char *url = server_url(server, &address);
    CHECK(url && strcmp(url, expected) == 0);
    free(url);
}

static void test_openais_paths_stand_below_the_base_url(void)
{
    check_url(&server_openai, (struct server_address){"https://h/v1//", NULL, "m", SERVER_CHAT},
              "https://h/v1/chat/completions");
    check_url(&server_groq, (struct server_address){"https://h/v1", NULL, "m", SERVER_COMPLETION},
              "https://h/v1/completions");
    check_url(&server_vllm, (struct server_address){"https://h/v1", NULL, "m", SERVER_MODELS},
              "https://h/v1/models");
}

static void test_azure_names_the_deployment_where_there_is_a_version(void)
{
    static const char *const bases[] = {"https://r.openai.azure.com", "https://r.openai.azure.com/",
                                        "https://r.openai.azure.com/openai/"};
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++) {
        struct server_address address = {bases[i], "2024-10-21", "my dep/1", SERVER_CHAT};
        check_url(&server_azure, address,
                  "https://r.openai.azure.com/openai/deployments/my%20dep%2F1/chat/completions"
                  "?api-version=2024-10-21");
        address.path = SERVER_MODELS;
        check_url(&server_azure, address,
                  "https://r.openai.azure.com/openai/models?api-version=2024-10-21");
        address = (struct server_address){bases[i], NULL, "d", SERVER_CHAT};
        check_url(&server_azure, address, "https://r.openai.azure.com/openai/v1/chat/completions");
    }
    struct server_address v1 = {"https://r/openai/v1/", "preview", "d", SERVER_CHAT};
    check_url(&server_azure, v1, "https://r/openai/v1/chat/completions?api-version=preview");
}

static bool has(const struct openai_headers *headers, const char *line)
{
    for (size_t i = 0; headers->list[i]; i++)
        if (strcmp(headers->list[i], line) == 0)
            return true;
    return false;
}

static void test_a_key_goes_into_the_header_of_its_kind(void)
{
    struct secret *key = secret_new(STR("sk-1")), *value = secret_new(STR("a b"));
    const struct tier_header extra[] = {{"X-Title", value}, {"X-None", NULL}};
    struct openai_header_source source = {
        .server = &server_azure, .key = key, .extra = extra, .extra_count = 2};
    struct openai_headers headers;
    CHECK(openai_headers_init(&headers, &source, true, NULL, 0));
    CHECK(has(&headers, "api-key: sk-1") && has(&headers, "X-Title: a b"));
    CHECK(!has(&headers, "Authorization: Bearer sk-1") && headers.count == 5);
    openai_headers_wipe(&headers);
    source.server = &server_openai;
    CHECK(openai_headers_init(&headers, &source, false, NULL, 0));
    CHECK(has(&headers, "Authorization: Bearer sk-1") && headers.count == 3);
    openai_headers_wipe(&headers);
    secret_free(key);
    secret_free(value);
}

static void test_what_the_connection_and_the_key_need_may_not_be_set(void)
{
    static const char *const refused[] = {"Host",          "content-length",
                                          "AUTHORIZATION", "te",
                                          "Connection",    "api-key",
                                          "a b",           "a:",
                                          "x\r\ny",        "",
                                          "Upgrade"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        CHECK(!openai_header_may_be_set(refused[i]));
    CHECK(openai_header_may_be_set("X-Title") && openai_header_may_be_set("HTTP-Referer"));
    CHECK(openai_header_may_be_set("OpenAI-Organization"));
    struct secret *folded = secret_new(STR("a\r\nb: c"));
    CHECK(!openai_header_is_clean(folded) && openai_header_is_clean(NULL));
    secret_free(folded);
}

static void test_each_kind_can_be_told_by_its_name_alone(void)
{
#define COUNT(name, text) +1
    const size_t count = 0 TIER_SERVERS(COUNT);
#define TEXT(name, text) text,
    static const char *const names[] = {TIER_SERVERS(TEXT)};
    for (size_t i = 0; i < count; i++) {
        const struct tier_server *server = tier_servers[i];
        CHECK(strcmp(server->name, names[i]) == 0);
        CHECK(server->open != NULL && (server->base_url || server->base_url_env));
        CHECK(server->key_env || server->of_ones_own);
        CHECK(!server->of_ones_own || strncmp(server->base_url, "http://127.0.0.1:", 17) == 0);
        for (size_t j = 0; j < i; j++)
            CHECK(strcmp(tier_servers[j]->name, server->name) != 0);
    }
}

int main(void)
{
    RUN(test_openais_paths_stand_below_the_base_url);
    RUN(test_azure_names_the_deployment_where_there_is_a_version);
    RUN(test_a_key_goes_into_the_header_of_its_kind);
    RUN(test_what_the_connection_and_the_key_need_may_not_be_set);
    RUN(test_each_kind_can_be_told_by_its_name_alone);
    return test_finish();
}
