/* The configuration: defaults, the environment, every kind of mistake with its file, line and
 * nearest name, and the examples that are shipped. */
#include "test.h"

#include "app/cli/config_help.h"
#include "app/config/config.h"
#include "app/config/config_reach.h"
#include "base/bytes/buf.h"
#include "base/core/str.h"
#include "tandem/engine.h"

struct variable {
    const char *name, *value;
};

static const char *find_variable(void *ctx, const char *name)
{
    for (const struct variable *at = ctx; at && at->name; at++)
        if (strcmp(at->name, name) == 0)
            return at->value;
    return NULL;
}

/* An empty environment but for a home, so that a developer's own variables change nothing. */
static const struct variable no_variables[] = {{"HOME", "/home/test"}, {NULL, NULL}};

static struct config *parse(const char *text, const struct variable *variables,
                            struct td_error *err)
{
    struct config *config = NULL;
    *err = (struct td_error){0};
    enum td_status status =
        config_parse("test.yaml", str_from(text), find_variable,
                     (void *)(uintptr_t)(variables ? variables : no_variables), &config, err);
    CHECK((status == TD_OK) == (config != NULL));
    return config;
}

static void test_defaults_serve_the_embedded_model_and_openai(void)
{
    struct td_error err;
    struct config *config = parse("", NULL, &err);
    REQUIRE(config != NULL);
    CHECK(strcmp(config->server.host, "127.0.0.1") == 0 && config->server.port == 8080);
    CHECK(config->engine.model == NULL);
    CHECK(strcmp(config->ledger.path, "/home/test/.local/state/tandem/ledger.db") == 0);
    CHECK(!config->ledger.store_prompts && config->ledger.enabled);
    REQUIRE(config->tier_count == 2);
    CHECK(config->tiers[0].kind == CONFIG_TIER_LOCAL);
    CHECK(config->tiers[0].place == TD_PLACE_DEVICE);
    CHECK(config->tiers[1].place == TD_PLACE_CLOUD);
    CHECK(strcmp(config->tiers[1].base_url, "https://api.openai.com/v1") == 0);
    CHECK(strcmp(config->tiers[1].model, "gpt-6-luna") == 0);
    CHECK(strcmp(config->tiers[1].api_key_env, "OPENAI_API_KEY") == 0);
    CHECK(config->tiers[1].input_usd_per_mtok == 0.1);
    REQUIRE(config->route_count == 1);
    const struct config_route *route = &config->routes[0];
    CHECK(strcmp(route->name, "auto") == 0 && route->kind == ROUTE_HYBRID);
    CHECK(route->tiers.count == 2 && strcmp(route->tiers.items[1], "openai") == 0);
    CHECK(route->gates.g2_tokens == 1 && route->gates.g2_confidence_min == 0.35);
    CHECK(route->gates.g3_confidence_min == 0.55 && route->gates.commit_tokens == 32);
    CHECK(route->climb == 0 && route->hedge_percentile == 95 && route->hedge_share == 0.1);
    config_free(config);
}

static void test_environment_wins_over_the_file(void)
{
    static const struct variable variables[] = {
        {"TANDEM_LISTEN", "[::1]:9"},        {"TANDEM_STATE_DIR", "/state"},
        {"TANDEM_MODEL", "/m.gguf"},         {"OPENAI_BASE_URL", "http://127.0.0.1:1/v1"},
        {"TANDEM_OPENAI_MODEL", "scripted"}, {NULL, NULL}};
    struct td_error err;
    struct config *config =
        parse("server: {listen: \"0.0.0.0:1\"}\nengine: {model: /other.gguf}\n", variables, &err);
    REQUIRE(config != NULL);
    CHECK(strcmp(config->server.host, "::1") == 0 && config->server.port == 9);
    CHECK(strcmp(config->engine.model, "/m.gguf") == 0);
    CHECK(strcmp(config->ledger.path, "/state/ledger.db") == 0);
    CHECK(strcmp(config->tiers[1].base_url, "http://127.0.0.1:1/v1") == 0);
    CHECK(strcmp(config->tiers[1].model, "scripted") == 0);
    config_free(config);
}

#define TIERS "tiers:\n  - {name: local, kind: local}\n  - {name: cloud, kind: openai}\n"
#define ROUTE(rest) TIERS "routes:\n  - name: r\n    kind: hybrid\n" rest

static void test_every_key_arrives(void)
{
    struct td_error err;
    struct config *config =
        parse("state_dir: /s\n"
              "server: {workers: 3, body_bytes_max: 2048, cors_origins: [\"https://a\", \"*\"],\n"
              "         api_keys_env: KEYS, deadline_ms: 7}\n"
              "engine: {cpu: ref, threads: 2, context_tokens: 512, cache_tokens: 2048, slots: 9, "
              "queue: 11,\n"
              "         adapters: [{name: law, file: /law.gguf}, {name: sql, file: s.gguf,\n"
              "                    scale: -0.5, always: true}]}\n"
              "tiers:\n"
              "  - name: near\n    kind: openai\n    place: premises\n    model: m\n"
              "    base_url: \"http://10.0.0.1/v1\"\n    allow_http: true\n    context_tokens: 77\n"
              "    price: {input_usd_per_mtok: 1.5, output_usd_per_mtok: 2}\n"
              "    timeouts: {idle_ms: 99}\n"
              "routes:\n"
              "  - name: r\n    kind: cloud-only\n    tiers: [near]\n    start: near\n"
              "    data_class: sensitive\n    mode: prefer-cloud\n"
              "    gates: {g0: {tokens_over: 5}, g2: {tokens: 6, confidence_min: 0.5},\n"
              "            g3: {confidence_min: 0.75}, commit_tokens: all}\n"
              "    climb: hedged\n    hedge: {after_percentile: 90, requests_share: 0.2}\n"
              "privacy: {data_class: sensitive, conversations_max: 20}\n"
              "ledger: {enabled: false, path: /l.db, store_prompts: true}\n"
              "log: {level: debug}\n",
              NULL, &err);
    if (!config)
        fprintf(stderr, "%s\n", err.message);
    REQUIRE(config != NULL);
    CHECK(config->server.workers == 3 && config->server.body_bytes_max == 2048);
    CHECK(config->server.cors_origins.count == 2 && !config->server.cors_origins.items[2]);
    CHECK(strcmp(config->server.api_keys_env, "KEYS") == 0 && config->server.deadline_ms == 7);
    CHECK(config->engine.cpu == TD_CPU_REF && config->engine.slots == 9 &&
          config->engine.cache_tokens == 2048);
    CHECK(config->engine.threads == 2 && config->engine.queue == 11);
    REQUIRE(config->engine.adapter_count == 2);
    const struct config_adapter *adapters = config->engine.adapters;
    CHECK(strcmp(adapters[0].name, "law") == 0 && adapters[0].scale == 1 && !adapters[0].always);
    CHECK(strcmp(adapters[1].file, "s.gguf") == 0 && adapters[1].scale == -0.5);
    CHECK(adapters[1].always);
    const struct config_tier *tier = &config->tiers[0];
    CHECK(tier->place == TD_PLACE_PREMISES && tier->allow_http && tier->context_tokens == 77);
    CHECK(tier->input_usd_per_mtok == 1.5 && tier->output_usd_per_mtok == 2);
    CHECK(tier->idle_timeout_ms == 99 && tier->connect_timeout_ms == 5000);
    CHECK(!tier->api_key_env && !tier->api_key_file); /* a server of one's own may need no key */
    const struct config_route *route = &config->routes[0];
    CHECK(strcmp(route->start, "near") == 0 && route->mode == TD_MODE_PREFER_CLOUD);
    CHECK(route->data_class == TD_CLASS_SENSITIVE && route->gates.g0_tokens_over == 5);
    CHECK(route->gates.g2_tokens == 6 && route->gates.commit_tokens == UINT32_MAX);
    CHECK(route->climb == 1 && route->hedge_percentile == 90 && route->hedge_after_ms == 0);
    CHECK(route->hedge_share == 0.2);
    CHECK(config->privacy.data_class == TD_CLASS_SENSITIVE);
    CHECK(!config->ledger.enabled && strcmp(config->ledger.path, "/l.db") == 0);
    config_free(config);
}

static void test_mistakes_name_file_line_and_nearest_name(void)
{
    static const struct {
        const char *text, *words[4];
    } cases[] = {
        {"server:\n  lisen: x\n", {"test.yaml:2", "'lisen'", "server", "'listen'"}},
        {"sever: {}\n", {"test.yaml:1", "'sever'", "'server'"}},
        {TIERS "  - name: x\n    kind: openai\n    timouts: {}\n",
         {"test.yaml:6", "'timouts'", "tiers[2]", "'timeouts'"}},
        {TIERS "  - name: x\n    kind: openai\n    timeouts: {idel_ms: 5}\n",
         {"test.yaml:6", "'idel_ms'", "tiers[2].timeouts", "'idle_ms'"}},
        {ROUTE("    tiers: [local]\n    gates:\n      g2: {tokns: 3}\n"),
         {"test.yaml:9", "'tokns'", "routes[0].gates.g2", "'tokens'"}},
        {"tiers:\n  - name: a\n", {"test.yaml:2", "(a)", "'kind'"}},
        {"engine: {adapters: [{name: a}]}\n", {"test.yaml:1", "(a)", "'file'"}},
        {"engine:\n  adapters:\n  - {name: a, file: f}\n  - {name: a, file: g}\n",
         {"test.yaml:4", "two adapters", "'a'"}},
        {"engine: {adapters: [{name: local, file: f}]}\n", {"test.yaml:1", "shares", "'local'"}},
        {"engine: {adapters: [{name: auto, file: f}]}\n", {"test.yaml:1", "shares", "'auto'"}},
        {"engine: {adapters: [{name: a, file: f, scale: 1e5}]}\n", {"test.yaml:1", "scale"}},
        {TIERS "routes:\n  - name: auto\n    tiers: [local]\n",
         {"test.yaml:5", "(auto)", "'kind'"}},
        {"tiers:\n  - {name: a, kind: opneai}\n",
         {"test.yaml:2", "opneai", "local, review, openai"}},
        {"server:\n  workers: many\n", {"test.yaml:2", "workers", "whole number", "many"}},
        {"server:\n  workers: 1.5\n", {"test.yaml:2", "workers"}},
        {"server:\n  workers: -1\n", {"test.yaml:2", "workers"}},
        {"server:\n  workers: 257\n", {"test.yaml:2", "workers", "256"}},
        {"server:\n  workers: \"2\"\n", {"test.yaml:2", "workers"}},
        {"server:\n  listen: {a: 1}\n", {"test.yaml:2", "listen", "a list"}},
        {"server:\n  listen: []\n", {"test.yaml:2", "listen", "list of texts"}},
        {"server:\n  listen: [\"a:1\", \"a:1\"]\n", {"server.listen", "a:1 twice"}},
        {"server:\n  listen: unix:x.sock\n", {"server.listen", "unix:/PATH"}},
        {"server:\n  tls: {key_file: k}\n", {"key_file without certificate_file"}},
        {"server:\n  tls: {client_ca_file: k}\n", {"client_ca_file without certificate_file"}},
        {"server:\n  tls: {client_auth: maybe}\n", {"client_auth", "required"}},
        {"apps:\n  - {name: a, certificate: b}\n", {"'a'", "server.tls.client_ca_file"}},
        {"apps:\n  - {name: a, certificate: b, key_env: K}\n", {"exactly one", "certificate"}},
        {"server:\n  unix_mode: rw\n", {"server.unix_mode", "octal", "'rw'"}},
        {"server:\n  unix_mode: 01777\n", {"server.unix_mode", "octal"}},
        {"server:\n  proxy_protocol_from: 10.0.0.1/8\n", {"'10.0.0.1/8'", "zeros behind"}},
        {"server:\n  listen: nowhere\n", {"test.yaml", "HOST:PORT"}},
        {"server:\n  listen: \"::1:80\"\n", {"HOST:PORT"}},
        {"server:\n  listen: \"a:99999\"\n", {"HOST:PORT"}},
        {"server: 5\n", {"test.yaml:1", "server", "map"}},
        {"server:\n  cors_origins: x\n", {"test.yaml:2", "cors_origins", "list"}},
        {"ledger:\n  enabled: yes\n", {"test.yaml:2", "enabled", "true or false"}},
        {"log:\n  level: loud\n", {"test.yaml", "log.level", "loud"}},
        {"engine:\n  cpu: vax\n", {"test.yaml", "engine.cpu", "vax"}},
        {"engine:\n  model:\n", {"test.yaml:2", "model"}},
        {"tiers: []\n", {"test.yaml:1", "tiers"}},
        {"tiers: {}\n", {"test.yaml:1", "tiers"}},
        {"tiers: [1]\n", {"test.yaml:1", "tiers[0]"}},
        {"- a\n", {"test.yaml:1", "map of keys"}},
        {"server: {\n", {"test.yaml:"}},
        {"a: b: c\n", {"test.yaml:1"}},
        {"log: {level: info}\nlog: {}\n", {"test.yaml:2", "'log'", "twice", "line 1"}},
        {"log: &x {level: info}\n", {"test.yaml:1", "anchors"}},
        {"log: *x\n", {"test.yaml:1"}},
        {"log: !!map {}\n", {"test.yaml:1", "tags"}},
        {"log: {}\n---\nlog: {}\n", {"one document"}},
        {"? [a]\n: b\n", {"test.yaml:1", "plain name"}},
        {"tiers:\n  - {name: a, kind: openai, api_key: sk-literal}\n",
         {"test.yaml:2", "api_key_env", "api_key_file"}},
        {"server: {api_keys: [a]}\n", {"test.yaml:1", "api_keys_env"}},
        {"tiers:\n  - {name: a, kind: openai, api_key_env: A, api_key_file: B}\n",
         {"test.yaml:2", "not both"}},
        {"tiers:\n  - {name: a, kind: openai, base_url: \"ftp://x\"}\n",
         {"test.yaml:2", "base_url"}},
        {"tiers:\n  - {name: a, kind: local, place: cloud}\n", {"test.yaml:2", "on the device"}},
        {"tiers:\n  - {name: a, kind: local, base_url: \"http://x\"}\n", {"test.yaml:2"}},
        {"tiers:\n  - {name: a, kind: local}\n  - {name: a, kind: openai}\n",
         {"test.yaml:3", "two tiers"}},
        {"tiers:\n  - {name: a, kind: local}\n  - {name: b, kind: local}\n",
         {"test.yaml:3", "both run engine.model"}},
        {"tiers:\n  - {name: \"a b\", kind: local}\n", {"test.yaml:2", "visible ASCII"}},
        {ROUTE("    tiers: [local, clod]\n"), {"test.yaml:5", "'clod'", "'cloud'"}},
        {ROUTE("    tiers: [local, local]\n"), {"test.yaml:5", "twice"}},
        {ROUTE("    tiers: []\n"), {"test.yaml:5"}},
        {ROUTE("    tiers: [local]\n    start: cloud\n"), {"test.yaml:5", "start"}},
        {ROUTE("    tiers: [local]\n    mode: fast\n"), {"test.yaml:8", "mode", "only-local"}},
        {ROUTE("    tiers: [local]\n    climb: hedge\n"), {"test.yaml:8", "climb", "hedged"}},
        {ROUTE("    tiers: [local]\n    climb: race\n"), {"test.yaml:5", "race", "one tier"}},
        {ROUTE("    tiers: [local]\n    gates: {g4: {verify: score}}\n"), {"test.yaml:5", "g4"}},
        {ROUTE("    tiers: [local]\n    gates: {g4: {verify: read}}\n"), {"verify", "read"}},
        {"webhooks:\n  - {name: a, url: \"http://10.0.0.1/\", secret_env: S}\n",
         {"test.yaml:2", "https", "allow_private"}},
        {"webhooks:\n  - {name: a, url: \"https://h.example/\"}\n", {"test.yaml:2", "secret_env"}},
        {ROUTE("    tiers: [local]\n    hedge: {after_percentile: 100}\n"),
         {"test.yaml:8", "after_percentile", "50"}},
        {ROUTE("    tiers: [local]\n    gates: {commit_tokens: some}\n"),
         {"test.yaml:8", "commit_tokens", "all"}},
        {TIERS "routes:\n  - {name: r, kind: local-only, tiers: [local, cloud]}\n",
         {"test.yaml:5", "local-only"}},
        {TIERS "routes:\n  - {name: r, kind: cloud-only, tiers: [local, cloud]}\n",
         {"test.yaml:5", "cloud-only"}},
        {TIERS "routes:\n  - {name: local, kind: hybrid, tiers: [local]}\n",
         {"test.yaml:5", "share the name"}},
        {TIERS "routes:\n  - {name: r, kind: hybrid, tiers: [local]}\n"
               "  - {name: auto, kind: hybrid, tiers: [local]}\n",
         {"test.yaml:6", "first route"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct td_error err;
        struct config *config = parse(cases[i].text, NULL, &err);
        CHECK(config == NULL);
        for (size_t w = 0; w < 4 && cases[i].words[w]; w++) {
            bool found = strstr(err.message, cases[i].words[w]) != NULL;
            if (!found)
                fprintf(stderr, "case %zu: no '%s' in: %s\n", i, cases[i].words[w], err.message);
            CHECK(found);
        }
        CHECK(!strstr(err.message, "sk-literal")); /* a secret is not repeated */
        config_free(config);
    }
}

static bool loads_on_the_device(const char *base_url, struct td_error *err)
{
    char text[512];
    snprintf(text, sizeof text,
             "tiers:\n  - {name: local, kind: local}\n"
             "  - {name: near, kind: openai, place: device, allow_http: true, base_url: \"%s\"}\n",
             base_url);
    struct config *config = parse(text, NULL, err);
    config_free(config);
    return config != NULL;
}

static void test_plain_http_elsewhere_is_refused_with_its_line(void)
{
    struct td_error err = {0};
    CHECK(!parse("tiers:\n  - {name: local, kind: local}\n"
                 "  - {name: far, kind: openai, base_url: \"http://api.example.test/v1\"}\n",
                 NULL, &err));
    CHECK(strstr(err.message, "test.yaml:3: ") && strstr(err.message, "'far'") &&
          strstr(err.message, "allow_http"));
}

static void test_another_machine_is_not_the_device(void)
{
    static const char *const here[] = {"http://127.0.0.1:1/v1", "https://127.8.9.10/v1",
                                       "http://127.1:1/v1", "http://[::1]:1/v1",
                                       "http://localhost:1/v1"};
    static const char *const elsewhere[] = {"http://192.0.2.2:1/v1",
                                            "http://10.0.0.1/v1",
                                            "https://api.example.test/v1",
                                            "http://127.0.0.1.nip.test/v1",
                                            "http://127.example.test/1",
                                            "http://0.0.0.0:1/v1",
                                            "http://[::]:1/v1",
                                            "http://[::ffff:192.0.2.2]/",
                                            "http://localhost.test/v1",
                                            "http://127.0.0.1@192.0.2.2/",
                                            "http://192.0.2.2#127.0.0.1",
                                            "http://a.test?127.0.0.1",
                                            "http://localhost%2etest/v1",
                                            "https:///v1"};
    struct td_error err;
    for (size_t i = 0; i < sizeof here / sizeof *here; i++)
        CHECK(loads_on_the_device(here[i], &err));
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++) {
        bool loaded = loads_on_the_device(elsewhere[i], &err);
        CHECK(!loaded && strstr(err.message, "test.yaml:3: ") && strstr(err.message, "'near'") &&
              strstr(err.message, "write place: premises"));
        if (loaded)
            fprintf(stderr, "%s\n", elsewhere[i]);
    }
    /* The address may come from the environment as well. */
    static const struct variable variables[] = {{"OPENAI_BASE_URL", "http://192.0.2.2/v1"},
                                                {NULL, NULL}};
    struct config *config =
        parse("tiers: [{name: near, kind: openai, place: device}]\n", variables, &err);
    CHECK(config == NULL && strstr(err.message, "place: premises"));
    config_free(config);
}

#define HASH_42 "Dd1JSsEF4cTjZyGzFiWCwB0/PrWO0+Vhk9xLyMCm8X"
#define PIN "sha256//" HASH_42 "Y="

static bool pins(const char *pinned_key, const char *base_url, struct td_error *err)
{
    char text[512];
    snprintf(text, sizeof text,
             "tiers:\n  - {name: local, kind: local}\n"
             "  - {name: far, kind: openai, base_url: \"%s\", pinned_key: \"%s\"}\n",
             base_url, pinned_key);
    struct config *config = parse(text, NULL, err);
    bool same = config && strcmp(config->tiers[1].pinned_key, pinned_key) == 0;
    config_free(config);
    return same;
}

static void test_a_pin_that_no_key_can_match_is_refused(void)
{
    static const char *const malformed[] = {"sha256//",
                                            HASH_42 "Y=",
                                            "sha1//" HASH_42 "Y=",
                                            "SHA256//" HASH_42 "Y=",
                                            "sha256//" HASH_42 "Y",
                                            "sha256//" HASH_42 "==",
                                            "sha256//" HASH_42 "Z=", /* no 32 bytes end so */
                                            "sha256//-" HASH_42 "=",
                                            PIN ";",
                                            PIN "; " PIN,
                                            PIN "," PIN,
                                            PIN ";/etc/key.pem",
                                            "/etc/key.pem"};
    struct td_error err;
    CHECK(pins(PIN, "https://x.test/v1", &err));
    CHECK(pins(PIN ";" PIN ";" PIN, "https://x.test/v1", &err));
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++) {
        bool refused = !pins(malformed[i], "https://x.test/v1", &err) &&
                       strstr(err.message, "test.yaml:3: ") && strstr(err.message, "sha256//") &&
                       strstr(err.message, "docs/egress.md");
        CHECK(refused);
        if (!refused)
            fprintf(stderr, "%s: %s\n", malformed[i], err.message);
    }
    CHECK(!pins(PIN, "http://x.test/v1", &err) && strstr(err.message, "test.yaml:3: ") &&
          strstr(err.message, "needs https://"));
    struct config *config =
        parse("tiers: [{name: local, kind: local, pinned_key: '" PIN "'}]\n", NULL, &err);
    CHECK(config == NULL && strstr(err.message, "test.yaml:1"));
    config_free(config);
}

static void test_limits_hold_against_hostile_files(void)
{
    struct td_error err = {0};
    struct config *config = NULL;
    struct buf text;
    buf_init(&text, 4u << 20);
    for (int i = 0; i < 1000; i++)
        buf_append_char(&text, '[');
    CHECK(config_parse("deep", buf_view(&text), find_variable, NULL, &config, &err) != TD_OK);
    buf_clear(&text);
    buf_append_str(&text, STR("a: ["));
    for (int i = 0; i < 50000; i++)
        buf_append_str(&text, STR("1,"));
    buf_append_str(&text, STR("1]\n"));
    err = (struct td_error){0};
    CHECK(config_parse("wide", buf_view(&text), find_variable, NULL, &config, &err) != TD_OK);
    CHECK(strstr(err.message, "too many values"));
    buf_clear(&text);
    for (int i = 0; i < 2 << 20; i++)
        buf_append_char(&text, '#');
    err = (struct td_error){0};
    CHECK(config_parse("large", buf_view(&text), find_variable, NULL, &config, &err) != TD_OK);
    CHECK(strstr(err.message, "larger than"));
    buf_deinit(&text);
}

static void test_a_missing_file_is_said_by_name(void)
{
    struct td_error err = {0};
    struct config *config = NULL;
    CHECK(config_load("/nonexistent/tandem.yaml", &config, &err) == TD_NOT_FOUND);
    CHECK(strstr(err.message, "/nonexistent/tandem.yaml"));
}

static struct config *load(const char *path)
{
    struct td_error err = {0};
    struct config *config = NULL;
    struct buf text;
    buf_init(&text, 1u << 20);
    if (buf_read_file(&text, path, &err) != TD_OK ||
        config_parse(path, buf_view(&text), find_variable, (void *)(uintptr_t)no_variables, &config,
                     &err) != TD_OK)
        fprintf(stderr, "%s\n", err.message);
    buf_deinit(&text);
    return config;
}

static void test_the_examples_load(void)
{
    static const char *const files[] = {EXAMPLES "/edge-first.yaml", EXAMPLES "/router-split.yaml",
                                        EXAMPLES "/rollout.yaml"};
    for (size_t i = 0; i < 3; i++) {
        struct config *config = load(files[i]);
        REQUIRE(config != NULL);
        CHECK(strcmp(config->routes[0].name, "auto") == 0);
        CHECK(config->routes[0].kind == ROUTE_HYBRID && config->tier_count == 2);
        if (i == 1) {
            CHECK(config->route_count == 3);
            CHECK(config->routes[1].kind == ROUTE_LOCAL_ONLY);
            CHECK(config->routes[1].data_class == TD_CLASS_RESTRICTED);
            CHECK(config->routes[0].gates.g0_tokens_over == 400 &&
                  config->routes[0].gates.commit_tokens == 0);
        }
        if (i == 2) {
            CHECK(strcmp(config->routes[0].ramp.to, "local") == 0);
            CHECK(config->routes[0].ramp.steps.count == 5);
        }
        config_free(config);
    }
}

static bool sees(const struct config *config, const char *tier, enum td_data_class data_class)
{
    for (size_t i = 0; i < config->tier_count; i++) {
        struct tier_facts facts = {0};
        if (strcmp(config->tiers[i].name, tier) != 0)
            continue;
        config_reach_apply(config, &config->tiers[i], &facts);
        return reach_allowed(&facts, data_class);
    }
    CHECK(false); /* no tier has that name */
    return false;
}

static void test_the_example_policies_say_who_sees_what(void)
{
    static const struct {
        const char *file, *tier;
        bool classes[4]; /* public, sensitive, contractual, restricted */
    } rows[] = {
        {"hipaa", "local", {true, true, true, true}},
        {"hipaa", "clinic", {true, true, true, false}},
        {"hipaa", "contracted", {true, true, true, false}},
        {"hipaa", "public-cloud", {true, false, false, false}},
        {"gdpr", "house", {true, true, true, false}},
        {"gdpr", "eu-processor", {true, true, false, false}},
        {"gdpr", "elsewhere", {true, false, false, false}},
        {"pci", "local", {true, true, true, true}},
        {"pci", "assessed", {true, true, true, false}},
        {"pci", "any-cloud", {true, false, false, false}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char path[512];
        snprintf(path, sizeof path, EXAMPLES "/policies/%s.yaml", rows[i].file);
        struct config *config = load(path);
        REQUIRE(config != NULL);
        for (int c = 0; c < 4; c++)
            CHECK(sees(config, rows[i].tier, (enum td_data_class)c) == rows[i].classes[c]);
        config_free(config);
    }
}

static void test_rules_of_classes_that_cannot_hold_are_refused_with_their_line(void)
{
    static const struct {
        const char *rule, *words;
    } wrong[] = {
        {"{class: restricted, places: [device, premises]}", "never leaves the device"},
        {"{class: secret}", "secret"},
        {"{class: sensitive, places: [moon]}", "'moon' is no place"},
        {"{class: sensitive, tiers: [nobody]}", "no tier is named 'nobody'"},
        {"{class: sensitive}\n    - {class: sensitive}", "has a rule already, in line 5"},
        {"{class: contractual, places: [cloud]}", "see contractual data but not sensitive data"},
        {"{class: public, places: [device]}\n    - {class: sensitive, places: [device, cloud]}",
         "see sensitive data but not public data"},
        {"{class: public, places: [device]}\n    - {class: sensitive, places: [device, cloud]}\n"
         "    - {class: contractual, places: [device, cloud]}",
         "see sensitive data but not public data"},
        {"{class: restricted, tiers: [far], places: [cloud]}", "never leaves the device"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct td_error err = {0};
        struct config *config = NULL;
        char text[512];
        snprintf(
            text, sizeof text,
            "tiers:\n  - {name: far, kind: openai, base_url: 'https://x.example/v1', model: m}\n"
            "privacy:\n  classes:\n    - %s\n",
            wrong[i].rule);
        CHECK(config_parse("c.yaml", str_from(text), find_variable, (void *)(uintptr_t)no_variables,
                           &config, &err) == TD_INVALID);
        CHECK(strstr(err.message, "c.yaml:") != NULL);
        if (strstr(err.message, wrong[i].words) == NULL)
            fprintf(stderr, "%s: %s\n", wrong[i].rule, err.message);
        CHECK(strstr(err.message, wrong[i].words) != NULL);
    }
}

/* A shadow that can never be drawn: by the tiers, by the route's retention or by the server's. */
static void test_a_shadow_that_could_never_be_drawn_is_refused(void)
{
    static const struct {
        const char *tiers, *shadow, *more, *privacy, *words; /* words NULL: it is right */
    } cases[] = {
        {"[local, openai]", "{edge_share: 0.1}", "", "", NULL},
        {"[local, openai]", "{cloud_share: 0.1}", "", "", NULL},
        {"[openai]", "{edge_share: 0.1}", "", "", NULL}, /* the device's tier is on no route */
        {"[openai]", "{cloud_share: 0.1}", "", "", "needs a tier on the device and one elsewhere"},
        {"[local]", "{edge_share: 0.1}", "", "",
         "needs a tier on the device, and a tier elsewhere"},
        {"[local]", "{cloud_share: 0.1}", "", "", "needs a tier on the device and one elsewhere"},
        {"[local, openai]", "{edge_share: 0.1}", ", zero_retention: true", "",
         "nothing to compare"},
        {"[local, openai]", "{cloud_share: 0.1}", ", zero_retention: true", "",
         "nothing to compare"},
        {"[local, openai]", "{edge_share: 0.1}", "", "true", "nothing to compare"},
        {"[local, openai]", "{cloud_share: 0.1}", "", "true", "nothing to compare"},
        {"[local, openai]", "{edge_share: 0}", ", zero_retention: true", "true", NULL},
        {"[local, openai]", "{cloud_share: 0}", ", zero_retention: true", "true", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct td_error err;
        char text[512];
        snprintf(text, sizeof text,
                 "privacy: {zero_retention: %s}\nroutes:\n  - {name: auto, kind: hybrid, tiers: "
                 "%s, shadow: %s%s}\n",
                 *cases[i].privacy ? cases[i].privacy : "false", cases[i].tiers, cases[i].shadow,
                 cases[i].more);
        struct config *config = parse(text, NULL, &err);
        bool right = cases[i].words ? config == NULL && strstr(err.message, cases[i].words) != NULL
                                    : config != NULL;
        if (!right)
            fprintf(stderr, "row %zu: %s\n", i, err.message);
        CHECK(right);
        config_free(config);
    }
}

static void test_help_names_every_key(void)
{
    static const struct {
        const char *section, *key;
    } keys[] = {{"\nserver: ", "\n  listen "},
                {"\ntiers[].price: ", "\n  input_usd_per_mtok"},
                {"\nroutes[].gates.g2: ", "\n  confidence_min "},
                {"\nledger: ", "\n  store_prompts "},
                {"\nlog: ", "\n  level "}};
    char *text = NULL;
    size_t len = 0;
    struct td_error err = {0};
    FILE *out = open_memstream(&text, &len);
    CHECK(out && config_help_print(NULL, out, &err) == TD_OK);
    fclose(out);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *section = strstr(text, keys[i].section);
        const char *end = section ? strstr(section, "\n\n") : NULL;
        const char *key = section ? strstr(section, keys[i].key) : NULL;
        CHECK(key && (!end || key < end));
    }
    free(text);
}

static void test_help_of_a_section_has_what_stands_in_it(void)
{
    char *text = NULL;
    size_t len = 0;
    struct td_error err = {0};
    FILE *out = open_memstream(&text, &len);
    CHECK(out && config_help_print("routes", out, &err) == TD_OK);
    CHECK(config_help_print("privcy", out, &err) == TD_NOT_FOUND);
    CHECK(strstr(err.message, "privacy") != NULL);
    fclose(out);
    CHECK(strstr(text, "routes[].gates.g2: ") && !strstr(text, "tiers[]: "));
    free(text);
}

int main(void)
{
    RUN(test_defaults_serve_the_embedded_model_and_openai);
    RUN(test_environment_wins_over_the_file);
    RUN(test_every_key_arrives);
    RUN(test_mistakes_name_file_line_and_nearest_name);
    RUN(test_plain_http_elsewhere_is_refused_with_its_line);
    RUN(test_another_machine_is_not_the_device);
    RUN(test_a_pin_that_no_key_can_match_is_refused);
    RUN(test_limits_hold_against_hostile_files);
    RUN(test_a_missing_file_is_said_by_name);
    RUN(test_the_examples_load);
    RUN(test_the_example_policies_say_who_sees_what);
    RUN(test_rules_of_classes_that_cannot_hold_are_refused_with_their_line);
    RUN(test_a_shadow_that_could_never_be_drawn_is_refused);
    RUN(test_help_names_every_key);
    RUN(test_help_of_a_section_has_what_stands_in_it);
    return test_finish();
}
