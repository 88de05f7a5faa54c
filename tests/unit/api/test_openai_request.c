/* A chat request: what good bodies become, and which place a bad one names. */
#include "chat_parse.h"

static void test_bad_bodies_are_400_and_name_the_place(void)
{
    static const struct {
        const char *body, *param;
    } cases[] = {
        {"", ""},
        {"{", ""},
        {"[]", ""},
        {"\"x\"", ""},
        {"{} x", ""},
        {"{\"messages\":[" USER "],\"messages\":[]}", ""},
        {"{}", "messages"},
        {"{\"messages\":[]}", "messages"},
        {"{\"messages\":\"hi\"}", "messages"},
        {"{\"messages\":null}", "messages"},
        {"{\"messages\":[1]}", "messages[0]"},
        {"{\"messages\":[" USER ",{\"content\":\"x\"}]}", "messages[1].role"},
        {"{\"messages\":[" USER "," USER ",{\"role\":\"king\",\"content\":\"x\"}]}",
         "messages[2].role"},
        {"{\"messages\":[{\"role\":5,\"content\":\"x\"}]}", "messages[0].role"},
        {"{\"messages\":[{\"role\":\"user\"}]}", "messages[0].content"},
        {"{\"messages\":[{\"role\":\"user\",\"content\":5}]}", "messages[0].content"},
        {"{\"messages\":[{\"role\":\"user\",\"content\":null}]}", "messages[0].content"},
        {"{\"messages\":[{\"role\":\"assistant\",\"content\":null}]}", "messages[0].content"},
        {"{\"messages\":[{\"role\":\"user\",\"content\":[7]}]}", "messages[0].content[0]"},
        {"{\"messages\":[{\"role\":\"user\",\"content\":[{\"text\":\"x\"}]}]}",
         "messages[0].content[0].type"},
        {"{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"a\"},"
         "{\"type\":\"image_url\",\"image_url\":{}}]}]}",
         "messages[0].content[1].image_url.url"},
        {"{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"film_url\"}]}]}",
         "messages[0].content[0].type"},
        {"{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":3}]}]}",
         "messages[0].content[0].text"},
        {WITH("\"tool_choice\":\"bogus\""), "tool_choice"},
        {WITH("\"temperature\":\"hot\""), "temperature"},
        {WITH("\"temperature\":2.01"), "temperature"},
        {WITH("\"temperature\":-0.1"), "temperature"},
        {WITH("\"temperature\":true"), "temperature"},
        {WITH("\"top_p\":1.5"), "top_p"},
        {WITH("\"top_k\":-2"), "top_k"},
        {WITH("\"top_k\":1.5"), "top_k"},
        {WITH("\"min_p\":2"), "min_p"},
        {WITH("\"repetition_penalty\":0"), "repetition_penalty"},
        {WITH("\"frequency_penalty\":3"), "frequency_penalty"},
        {WITH("\"presence_penalty\":\"x\""), "presence_penalty"},
        {WITH("\"max_tokens\":0"), "max_tokens"},
        {WITH("\"max_tokens\":-5"), "max_tokens"},
        {WITH("\"max_tokens\":1.5"), "max_tokens"},
        {WITH("\"max_tokens\":9007199254740993"), "max_tokens"},
        {WITH("\"max_completion_tokens\":\"9\""), "max_completion_tokens"},
        {WITH("\"n\":2"), "n"},
        {WITH("\"n\":\"1\""), "n"},
        {WITH("\"n\":1.5"), "n"},
        {WITH("\"seed\":\"x\""), "seed"},
        {WITH("\"seed\":1.5"), "seed"},
        {WITH("\"stop\":5"), "stop"},
        {WITH("\"stop\":[\"a\",5]"), "stop[1]"},
        {WITH("\"stop\":[\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\",\"9\",\"10\",\"11\","
              "\"12\",\"13\",\"14\",\"15\",\"16\",\"17\"]"),
         "stop"},
        {WITH("\"stream\":\"yes\""), "stream"},
        {WITH("\"stream_options\":1"), "stream_options"},
        {WITH("\"stream_options\":{\"include_usage\":1}"), "stream_options.include_usage"},
        {WITH("\"stream_options\":{\"include_obfuscation\":1}"),
         "stream_options.include_obfuscation"},
        {WITH("\"logprobs\":1"), "logprobs"},
        {WITH("\"top_logprobs\":2"), "top_logprobs"},
        {WITH("\"logprobs\":true,\"top_logprobs\":21"), "top_logprobs"},
        {WITH("\"logprobs\":true,\"top_logprobs\":-1"), "top_logprobs"},
        {WITH("\"model\":5"), "model"},
        {WITH("\"model\":\"\""), "model"},
        {WITH("\"model\":\"a\\u0000b\""), ""},
        {WITH("\"user\":[]"), "user"},
        {WITH("\"logit_bias\":{\"x\":1}"), "logit_bias"},
        {WITH("\"logit_bias\":{\"5\":101}"), "logit_bias"},
        {WITH("\"logit_bias\":[1]"), "logit_bias"},
        {WITH("\"grammar\":7"), "grammar"},
        {WITH("\"grammar\":\"root ::= (\""), "grammar"},
        {WITH("\"grammar\":\"root ::= [a]\",\"response_format\":{\"type\":\"json_object\"}"),
         "grammar"},
        {WITH("\"response_format\":{\"type\":\"xml\"}"), "response_format.type"},
        {WITH("\"response_format\":\"json\""), "response_format"},
        {WITH("\"response_format\":{\"type\":\"json_schema\"}"), "response_format.json_schema"},
        {WITH("\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"a\","
              "\"schema\":{"
              "\"type\":\"strin\"}}}"),
         "response_format.json_schema.schema"},
        {WITH("\"tandem\":{\"mode\":\"only-local\"},\"response_format\":{\"type\":\"json_schema\","
              "\"json_schema\":{\"name\":\"a\",\"schema\":{\"not\":{}}}}"),
         "response_format.json_schema.schema"},
        {WITH("\"lora\":1"), "lora"},
        {WITH("\"lora\":[1]"), "lora[0]"},
        {WITH("\"lora\":[{\"scale\":1}]"), "lora[0]"},
        {WITH("\"lora\":[{\"id\":-1}]"), "lora[0]"},
        {WITH("\"lora\":[{\"id\":0},{\"id\":1,\"scale\":1e5}]"), "lora[1]"},
        {WITH("\"lora\":[{\"id\":0},{\"id\":0}]"), "lora[1]"},
        {WITH("\"lora\":[0,1,2,3,4,5,6,7,8]"), "lora"},
        {WITH("\"lora\":[],\"tandem\":{\"adapters\":[]}"), "tandem.adapters"},
        {WITH("\"tandem\":{\"adapters\":[\"a\",\"a\"]}"), "tandem.adapters[1]"},
        {WITH("\"tandem\":{\"adapters\":[{\"name\":\"a\",\"scale\":\"x\"}]}"),
         "tandem.adapters[0]"},
        {WITH("\"modalities\":[\"text\",\"smell\"]"), "modalities"},
        {WITH("\"tandem\":5"), "tandem"},
        {WITH("\"tandem\":{\"mode\":\"fast\"}"), "tandem.mode"},
        {WITH("\"tandem\":{\"mode\":1}"), "tandem.mode"},
        {WITH("\"tandem\":{\"data_class\":\"secret\"}"), "tandem.data_class"},
        {WITH("\"tandem\":{\"slo_ms\":0}"), "tandem.slo_ms"},
        {WITH("\"tandem\":{\"slo_ttft_ms\":\"5\"}"), "tandem.slo_ttft_ms"},
        {WITH("\"tandem\":{\"corrections\":1}"), "tandem.corrections"},
        {WITH("\"tandem\":{\"user\":\"\"}"), "tandem.user"},
        {WITH("\"tandem\":{\"priority\":\"urgent\"}"), "tandem.priority"},
        {WITH("\"tandem\":{\"priority\":1}"), "tandem.priority"},
        {WITH("\"tandem\":{\"weights\":{\"speed\":1}}"), "tandem.weights"},
        {WITH("\"tandem\":{\"weights\":{\"cost\":2}}"), "tandem.weights"},
        {WITH("\"repeat_last_n\":-2"), "repeat_last_n"},
        {WITH("\"repeat_last_n\":4097"), "repeat_last_n"},
        {WITH("\"repeat_last_n\":1.5"), "repeat_last_n"},
        {WITH("\"repeat_penalty\":0"), "repeat_penalty"},
        {WITH("\"dynatemp_range\":-0.5"), "dynatemp_range"},
        {WITH("\"dynatemp_exponent\":\"1\""), "dynatemp_exponent"},
        {WITH("\"dry_allowed_length\":-1"), "dry_allowed_length"},
        {WITH("\"dry_base\":0.5"), "dry_base"},
        {WITH("\"dry_sequence_breakers\":[]"), "dry_sequence_breakers"},
        {WITH("\"dry_sequence_breakers\":\"x\""), "dry_sequence_breakers"},
        {WITH("\"dry_sequence_breakers\":[\"x\",\"\"]"), "dry_sequence_breakers"},
        {WITH("\"dry_sequence_breakers\":[\"x\",5]"), "dry_sequence_breakers"},
        {WITH("\"dry_sequence_breakers\":["
              "\"0123456789012345678901234567890123456789012345678901234567"
              "8901234\"]"),
         "dry_sequence_breakers"},
        {WITH("\"dry_penalty_last_n\":-2"), "dry_penalty_last_n"},
        {WITH("\"dry_penalty_last_n\":1.5"), "dry_penalty_last_n"},
        {WITH("\"ignore_eos\":1"), "ignore_eos"},
        {WITH("\"mirostat\":3"), "mirostat"},
        {WITH("\"mirostat\":true"), "mirostat"},
        {WITH("\"top_n_sigma\":-0.5"), "top_n_sigma"},
        {WITH("\"xtc_threshold\":0"), "xtc_threshold"},
        {WITH("\"typical_p\":1.5"), "typical_p"},
        {WITH("\"repetition_window\":5000"), "repetition_window"},
        {WITH("\"min_p\":[]"), "min_p"},
        {WITH("\"tandem\":{\"mdoe\":\"auto\"}"), "tandem.mdoe"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena *arena;
        struct chat_request request;
        struct fault fault;
        bool ok = parse(cases[i].body, NULL, &arena, &request, &fault);
        bool model_nul = strstr(cases[i].body, "u0000") != NULL; /* refused by parser or reader */
        if (ok || fault.code != 400 || !*fault.message ||
            (!model_nul && strcmp(fault.param, cases[i].param) != 0))
            fprintf(stderr, "case %zu: %s -> ok=%d code=%d param '%s' (%s)\n", i, cases[i].body, ok,
                    fault.code, fault.param, fault.message);
        CHECK(!ok);
        CHECK(fault.code == 400);
        CHECK(strcmp(fault.type, "invalid_request_error") == 0);
        CHECK(*fault.message);
        CHECK(model_nul || strcmp(fault.param, cases[i].param) == 0);
        arena_free(arena);
    }
}

static void test_weights_tags_and_network_arrive_and_headers_win(void)
{
    struct headers list[] = {{"x-tandem-weights", "cost=0.25, latency"},
                             {"x-tandem-tags", " legal , tax"},
                             {"x-tandem-network", "metered"},
                             {NULL, NULL}};
    struct arena *arena;
    struct chat_request request;
    struct fault fault;
    const char *body = WITH("\"tandem\":{\"weights\":{\"privacy\":1},\"tags\":[\"draft\"],"
                            "\"network\":\"offline\"}");
    CHECK(parse(body, NULL, &arena, &request, &fault));
    CHECK(request.td.weights.set && request.td.weights.privacy == 1 &&
          request.td.weights.cost == 0);
    CHECK(request.td.tag_count == 1 && strcmp(request.td.tags[0], "draft") == 0);
    CHECK(request.td.network == TD_NETWORK_OFFLINE);
    openai_request_deinit(&request);
    arena_free(arena);
    CHECK(parse(body, list, &arena, &request, &fault));
    CHECK(request.td.weights.latency == 1 && request.td.weights.cost == 0.25 &&
          request.td.weights.privacy == 0);
    CHECK(request.td.tag_count == 2 && strcmp(request.td.tags[0], "legal") == 0 &&
          strcmp(request.td.tags[1], "tax") == 0);
    CHECK(request.td.network == TD_NETWORK_METERED);
    openai_request_deinit(&request);
    arena_free(arena);
}

/* Whichever of body and header asks for a promise, the other cannot take it back. */
static void test_of_two_declarations_of_a_promise_the_stricter_one_holds(void)
{
    static const char *const said[] = {NULL, "true", "false"};
    static const struct {
        const char *member, *header;
        size_t offset;
    } promises[] = {
        {"no_train", "x-tandem-no-train", offsetof(struct td_request, no_train)},
        {"no_retention", "x-tandem-no-retention", offsetof(struct td_request, no_retention)},
    };
    for (size_t p = 0; p < sizeof promises / sizeof *promises; p++)
        for (size_t b = 0; b < 3; b++)
            for (size_t h = 0; h < 3; h++) {
                struct arena *arena;
                struct chat_request request;
                struct fault fault;
                char body[256];
                const struct headers list[] = {{promises[p].header, said[h]}, {NULL, NULL}};
                snprintf(body, sizeof body, WITH("\"tandem\":{\"%s\":%s}"), promises[p].member,
                         said[b] ? said[b] : "null");
                REQUIRE(parse(body, said[h] ? list : NULL, &arena, &request, &fault));
                const bool *held = (const bool *)((const char *)&request.td + promises[p].offset);
                CHECK(*held == (b == 1 || h == 1));
                openai_request_deinit(&request);
                arena_free(arena);
            }
}

/* A client may say twice when it hangs up: it does so at the earlier time. What is no time says
 * nothing. */
static void test_of_two_times_of_a_client_the_shorter_one_counts(void)
{
    static const struct {
        const char *text;
        uint32_t ms;
    } times[] = {{NULL, 0},        {"600", 600000}, {"2.5", 2500}, {" 30 ", 30000}, {"0.0001", 1},
                 {"NOT_GIVEN", 0}, {"0", 0},        {"-3", 0},     {"1e300", 0},    {"", 0}};
    const size_t count = sizeof times / sizeof *times;
    for (size_t r = 0; r < count; r++)
        for (size_t w = 0; w < count; w++) {
            struct arena *arena;
            struct chat_request request;
            struct fault fault;
            struct headers list[3] = {{NULL, NULL}};
            size_t n = 0;
            if (times[r].text)
                list[n++] = (struct headers){"x-stainless-read-timeout", times[r].text};
            if (times[w].text)
                list[n++] = (struct headers){"x-stainless-timeout", times[w].text};
            list[n] = (struct headers){NULL, NULL};
            uint32_t a = times[r].ms, b = times[w].ms;
            REQUIRE(parse("{\"messages\":[" USER "]}", list, &arena, &request, &fault));
            CHECK(request.td.client_timeout_ms == (a && b ? (a < b ? a : b) : a + b));
            openai_request_deinit(&request);
            arena_free(arena);
        }
}

static void test_bad_headers_are_400_and_named(void)
{
    static const struct headers cases[] = {
        {"x-tandem-mode", "fastest"},
        {"x-tandem-data-class", "top"},
        {"x-tandem-slo-ms", "-4"},
        {"x-tandem-slo-ttft-ms", "soon"},
        {"x-tandem-slo-ms", "99999999999999999999"},
        {"x-tandem-weights", "speed=1"},
        {"x-tandem-weights", "cost=2"},
        {"x-tandem-weights", "cost=0.5=1"},
        {"x-tandem-network", "wifi"},
        {"x-tandem-tags", "a,,b"},
        {"x-tandem-corrections", "yes"},
        {"x-tandem-user", ""},
        {"x-tandem-priority", "low"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct headers list[] = {cases[i], {NULL, NULL}};
        struct arena *arena;
        struct chat_request request;
        struct fault fault;
        CHECK(!parse(WITH("\"n\":1"), list, &arena, &request, &fault));
        CHECK(fault.code == 400);
        CHECK(strcmp(fault.param, cases[i].name) == 0);
        CHECK(strstr(fault.message, cases[i].name) != NULL);
        arena_free(arena);
    }
}

static void test_formats_become_grammars(void)
{
    static const struct {
        const char *body;
        enum td_format format;
        bool grammar;
    } cases[] = {
        {WITH("\"temperature\":1"), TD_FORMAT_TEXT, false},
        {WITH("\"response_format\":{\"type\":\"text\"}"), TD_FORMAT_TEXT, false},
        {WITH("\"response_format\":{\"type\":\"json_object\"}"), TD_FORMAT_JSON, true},
        {WITH("\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"a\","
              "\"strict\":true,\"schema\":{\"type\":\"object\",\"properties\":{}}}}"),
         TD_FORMAT_JSON, true},
        /* what the engine cannot promise is left to a tier that can */
        {WITH("\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"a\","
              "\"schema\":{\"not\":{}}}}"),
         TD_FORMAT_JSON, false},
        {WITH("\"grammar\":\"root ::= [0-9]+\""), TD_FORMAT_GRAMMAR, true},
        {WITH("\"guided_regex\":\"^[a-f]{2}|\\\\s$\""), TD_FORMAT_GRAMMAR, true},
        {WITH("\"guided_choice\":[\"a\",\"ab\",\"\",\"a\",\"\u00e9\",\"\u00e8\"]"),
         TD_FORMAT_GRAMMAR, true},
        {WITH("\"structured_outputs\":{\"json\":\"{\\\"type\\\":\\\"object\\\"}\"}"),
         TD_FORMAT_JSON, true},
        {WITH("\"structured_outputs\":{\"json_object\":false}"), TD_FORMAT_TEXT, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena *arena;
        struct chat_request request;
        struct fault fault;
        REQUIRE(parse(cases[i].body, NULL, &arena, &request, &fault));
        CHECK(request.td.format == cases[i].format);
        CHECK((request.td.grammar != NULL) == cases[i].grammar);
        openai_request_deinit(&request);
        arena_free(arena);
    }
}

static void test_penalties_and_biases_arrive(void)
{
    struct arena *arena;
    struct chat_request request;
    struct fault fault;
    REQUIRE(parse(WITH("\"presence_penalty\":0.5,\"frequency_penalty\":-1,\"typical_p\":0.25,"
                       "\"logit_bias\":{\"5\":-100,\"70000\":2.5}"),
                  NULL, &arena, &request, &fault));
    const struct td_sampling *sampling = &request.td.sampling;
    CHECK(sampling->presence_penalty == 0.5f && sampling->frequency_penalty == -1.0f);
    CHECK(sampling->typical_p == 0.25f && sampling->bias_count == 2);
    CHECK(sampling->biases[0].id == 5 && sampling->biases[0].bias == -100.0f);
    CHECK(sampling->biases[1].id == 70000 && sampling->biases[1].bias == 2.5f);
    openai_request_deinit(&request);
    arena_free(arena);
}

/* What llama.cpp's clients send with every request. */
static void test_llama_cpp_s_names_for_sampling_mean_the_same(void)
{
    struct arena *arena;
    struct chat_request request;
    struct fault fault;
    REQUIRE(parse(WITH("\"repeat_penalty\":1.25,\"repeat_last_n\":32,\"dynatemp_range\":0.5,"
                       "\"dynatemp_exponent\":2,\"dry_multiplier\":0.75,\"dry_base\":2,"
                       "\"dry_allowed_length\":3,\"top_k\":-1,\"top_n_sigma\":-1,"
                       "\"mirostat\":0,\"mirostat_tau\":5,\"mirostat_eta\":0.1,\"seed\":-1,"
                       "\"grammar\":\"\""),
                  NULL, &arena, &request, &fault));
    const struct td_sampling *sampling = &request.td.sampling;
    CHECK(sampling->repetition_penalty == 1.25f && sampling->repetition_window == 32);
    CHECK(sampling->dynamic_range == 0.5f && sampling->dynamic_exponent == 2);
    CHECK(sampling->dry_multiplier == 0.75f && sampling->dry_base == 2);
    CHECK(sampling->dry_allowed == 3 && sampling->top_k == 0 && sampling->top_n_sigma == 0);
    CHECK(sampling->mirostat_tau == 0); /* its switch is off */
    CHECK(!sampling->seed_set && request.td.format == TD_FORMAT_TEXT);
    openai_request_deinit(&request);
    arena_free(arena);
    REQUIRE(parse(WITH("\"mirostat\":1,\"repeat_last_n\":-1,\"repeat_penalty\":3,"
                       "\"repetition_penalty\":2"),
                  NULL, &arena, &request, &fault));
    CHECK(sampling->mirostat_version == 1 && sampling->mirostat_tau == 5);
    CHECK(sampling->repetition_window == 4096 && sampling->repetition_penalty == 2);
    openai_request_deinit(&request);
    arena_free(arena);
    REQUIRE(
        parse(WITH("\"repeat_last_n\":0,\"repeat_penalty\":3"), NULL, &arena, &request, &fault));
    CHECK(sampling->repetition_penalty == 1); /* looks back at nothing */
    openai_request_deinit(&request);
    arena_free(arena);
    /* The samplers that a list leaves out are off. */
    REQUIRE(parse(WITH("\"dry_sequence_breakers\":[\"\\n\",\"end\"],\"dry_penalty_last_n\":-1,"
                       "\"ignore_eos\":true,\"top_k\":5,\"min_p\":0.5,\"temperature\":0.5,"
                       "\"dry_multiplier\":1,\"samplers\":[\"dry\",\"min_p\"]"),
                  NULL, &arena, &request, &fault));
    CHECK(sampling->top_k == 0 && sampling->min_p == 0.5f && sampling->temperature == 1);
    CHECK(sampling->dry_multiplier == 1);
    openai_request_deinit(&request);
    arena_free(arena);
}

static void test_every_member_arrives(void)
{
    struct arena *arena;
    struct chat_request request;
    struct fault fault;
    REQUIRE(
        parse("{\"model\":\"m\",\"messages\":["
              "{\"role\":\"system\",\"content\":\"s\"},"
              "{\"role\":\"developer\",\"content\":\"d\"},"
              "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"a\"},"
              "{\"type\":\"text\",\"text\":\"b\"}]},"
              "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"1\"}]},"
              "{\"role\":\"tool\",\"content\":\"t\"},{\"role\":\"function\",\"content\":\"f\"}],"
              "\"temperature\":0.5,\"top_p\":0.25,\"top_k\":7,\"min_p\":0.125,"
              "\"repetition_penalty\":1.5,\"seed\":-2,\"max_tokens\":5,"
              "\"max_completion_tokens\":6,\"stop\":[\"x\",\"yy\"],\"logprobs\":true,"
              "\"top_logprobs\":3,\"stream\":true,\"stream_options\":{\"include_usage\":true},"
              "\"user\":\"u\",\"n\":1,\"tools\":[],\"logit_bias\":{},"
              "\"tandem\":{\"mode\":\"prefer-cloud\",\"data_class\":\"sensitive\","
              "\"slo_ttft_ms\":10,\"slo_ms\":20,\"corrections\":true,"
              "\"weights\":{\"cost\":0.5}}}",
              NULL, &arena, &request, &fault));
    const struct td_request *td = &request.td;
    CHECK(td->message_count == 6);
    CHECK(td->messages[1].role == TD_ROLE_DEVELOPER);
    CHECK(str_equal(td->messages[2].content, STR("a\nb")));
    CHECK(td->messages[3].role == TD_ROLE_ASSISTANT && td->messages[3].content.len == 0);
    CHECK(td->messages[5].role == TD_ROLE_TOOL);
    CHECK(strcmp(td->model, "m") == 0);
    CHECK(td->tokens_max == 6);
    CHECK(td->sampling.temperature == 0.5f && td->sampling.top_p == 0.25f);
    CHECK(td->sampling.top_k == 7 && td->sampling.min_p == 0.125f);
    CHECK(td->sampling.repetition_penalty == 1.5f);
    CHECK(td->sampling.seed_set && td->sampling.seed == UINT64_MAX - 1);
    CHECK(td->stop_count == 2 && str_equal(td->stops[1], STR("yy")));
    CHECK(td->logprobs && td->top_logprobs == 3);
    CHECK(td->streamed && request.include_usage);
    CHECK(strcmp(td->user, "u") == 0);
    CHECK(td->mode == TD_MODE_PREFER_CLOUD);
    CHECK(td->data_class == TD_CLASS_SENSITIVE);
    CHECK(td->slo_ttft_ms == 10 && td->slo_ms == 20 && td->corrections);
    CHECK(json_kind_of(request_value(td, REQUEST_TOOLS)) == JSON_KIND_ARRAY);
    openai_request_deinit(&request);
    arena_free(arena);
}

static void test_adapters_arrive_by_name_and_by_number(void)
{
    struct arena *arena;
    struct chat_request request;
    struct fault fault;
    REQUIRE(parse(WITH("\"lora\":[{\"id\":3,\"scale\":0.5},{\"id\":0}]"), NULL, &arena, &request,
                  &fault));
    const struct td_adapter_choice *adapters = request.td.adapters;
    CHECK(request.td.names_adapters && request.td.adapter_count == 2);
    CHECK(!adapters[0].name && adapters[0].number == 3 && adapters[0].scale == 0.5f);
    CHECK(adapters[0].has_scale && !adapters[1].has_scale && adapters[1].number == 0);
    openai_request_deinit(&request);
    arena_free(arena);
    REQUIRE(parse(WITH("\"tandem\":{\"adapters\":[\"law\",{\"name\":\"sql\",\"scale\":-1}]}"), NULL,
                  &arena, &request, &fault));
    adapters = request.td.adapters;
    CHECK(request.td.adapter_count == 2 && strcmp(adapters[0].name, "law") == 0);
    CHECK(!adapters[0].has_scale && strcmp(adapters[1].name, "sql") == 0);
    CHECK(adapters[1].has_scale && adapters[1].scale == -1.0f);
    openai_request_deinit(&request);
    arena_free(arena);
    REQUIRE(parse(WITH("\"tandem\":{\"adapters\":[]}"), NULL, &arena, &request, &fault));
    CHECK(request.td.names_adapters && request.td.adapter_count == 0); /* none, said aloud */
    openai_request_deinit(&request);
    arena_free(arena);
}

static void test_null_members_count_as_absent(void)
{
    struct arena *arena;
    struct chat_request request;
    struct fault fault;
    REQUIRE(parse(WITH("\"temperature\":null,\"stop\":null,\"seed\":null,\"stream\":null,"
                       "\"model\":null,\"user\":null,\"n\":null,\"logprobs\":null,"
                       "\"top_logprobs\":null,\"stream_options\":null,\"tandem\":null,"
                       "\"max_tokens\":null"),
                  NULL, &arena, &request, &fault));
    CHECK(request.td.sampling.temperature == 1.0f && !request.td.sampling.seed_set);
    CHECK(!request.td.model && request.td.stop_count == 0 && request.td.tokens_max == 0);
    CHECK(request.td.mode == TD_MODE_AUTO && request.td.data_class == TD_CLASS_PUBLIC);
    openai_request_deinit(&request);
    arena_free(arena);
}

static void test_the_stricter_class_of_header_and_body_holds(void)
{
    static const struct headers lower[] = {{"x-tandem-data-class", "public"}, {NULL, NULL}};
    static const struct headers higher[] = {{"x-tandem-data-class", "restricted"}, {NULL, NULL}};
    const struct headers *const headers[] = {lower, higher};
    static const enum td_data_class wanted[] = {TD_CLASS_SENSITIVE, TD_CLASS_RESTRICTED};
    for (size_t i = 0; i < 2; i++) {
        struct arena *arena;
        struct chat_request request;
        struct fault fault;
        REQUIRE(parse(WITH("\"tandem\":{\"data_class\":\"sensitive\"}"), headers[i], &arena,
                      &request, &fault));
        CHECK(request.td.data_class == wanted[i]);
        openai_request_deinit(&request);
        arena_free(arena);
    }
}

static void test_a_header_wins_over_the_body(void)
{
    static const struct headers headers[] = {{"x-tandem-mode", "only-local"},
                                             {"x-tandem-user", "from-header"},
                                             {"x-tandem-slo-ms", "77"},
                                             {"x-tandem-corrections", "false"},
                                             {"x-tandem-weights", "latency=0.2, cost=0.8"},
                                             {NULL, NULL}};
    struct arena *arena;
    struct chat_request request;
    struct fault fault;
    REQUIRE(parse(WITH("\"user\":\"u\",\"tandem\":{\"mode\":\"only-cloud\",\"slo_ms\":5,"
                       "\"corrections\":true}"),
                  headers, &arena, &request, &fault));
    CHECK(request.td.mode == TD_MODE_ONLY_LOCAL);
    CHECK(strcmp(request.td.user, "from-header") == 0);
    CHECK(request.td.slo_ms == 77);
    CHECK(!request.td.corrections);
    openai_request_deinit(&request);
    arena_free(arena);
}

static void test_priority_is_interactive_unless_header_or_member_say_batch(void)
{
    static const struct headers batch[] = {{"x-tandem-priority", " batch "}, {NULL, NULL}};
    static const struct headers interactive[] = {{"x-tandem-priority", "interactive"},
                                                 {NULL, NULL}};
    static const struct {
        const char *body;
        const struct headers *headers;
        enum td_priority wanted;
    } cases[] = {
        {WITH("\"n\":1"), NULL, TD_PRIORITY_INTERACTIVE},
        {WITH("\"n\":1"), batch, TD_PRIORITY_BATCH},
        {WITH("\"tandem\":{\"priority\":\"batch\"}"), NULL, TD_PRIORITY_BATCH},
        {WITH("\"tandem\":{\"priority\":\"batch\"}"), interactive, TD_PRIORITY_INTERACTIVE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena *arena;
        struct chat_request request;
        struct fault fault;
        REQUIRE(parse(cases[i].body, cases[i].headers, &arena, &request, &fault));
        CHECK(request.td.priority == cases[i].wanted);
        openai_request_deinit(&request);
        arena_free(arena);
    }
}

static void test_a_body_of_very_many_values_is_refused_before_it_is_parsed(void)
{
    struct buf body;
    buf_init(&body, 1 << 20);
    buf_append_str(&body, STR("{\"messages\":[" USER "],\"text\":\"\\\\\\\""));
    for (int i = 0; i < OPENAI_VALUES_MAX; i++)
        buf_append_str(&body, STR("[,")); /* inside a string: no values */
    buf_append_str(&body, STR("\",\"list\":["));
    size_t head = body.len;
    for (int i = 0; i < 2; i++) {
        int count = i ? OPENAI_VALUES_MAX : OPENAI_VALUES_MAX / 2;
        body.len = head;
        for (int k = 0; k < count; k++)
            buf_append_str(&body, STR("0,"));
        buf_append_str(&body, STR("0]}"));
        struct arena *arena = arena_new(65536);
        struct chat_request request;
        struct fault fault = {0};
        bool good = openai_request_parse(buf_view(&body), NULL, NULL, arena, &request, &fault);
        CHECK(good == (i == 0));
        if (good)
            openai_request_deinit(&request);
        else
            CHECK(fault.code == 400 && strstr(fault.message, "values"));
        arena_free(arena);
    }
    buf_deinit(&body);
}

static void test_a_request_that_outgrows_its_arena_is_refused(void)
{
    struct buf body;
    buf_init(&body, 1 << 20);
    buf_append_str(&body, STR("{\"messages\":["));
    for (int i = 0; i < 2000; i++)
        buf_printf(&body, "%s" USER, i ? "," : "");
    buf_append_str(&body, STR("]}"));
    struct arena *arena = arena_new(4096);
    struct chat_request request;
    struct fault fault = {0};
    CHECK(!openai_request_parse(buf_view(&body), NULL, NULL, arena, &request, &fault));
    CHECK(fault.code == 400 && strcmp(fault.param, "messages") == 0);
    arena_free(arena);
    buf_deinit(&body);
}

int main(void)
{
    RUN(test_bad_bodies_are_400_and_name_the_place);
    RUN(test_weights_tags_and_network_arrive_and_headers_win);
    RUN(test_of_two_declarations_of_a_promise_the_stricter_one_holds);
    RUN(test_of_two_times_of_a_client_the_shorter_one_counts);
    RUN(test_bad_headers_are_400_and_named);
    RUN(test_formats_become_grammars);
    RUN(test_penalties_and_biases_arrive);
    RUN(test_llama_cpp_s_names_for_sampling_mean_the_same);
    RUN(test_every_member_arrives);
    RUN(test_adapters_arrive_by_name_and_by_number);
    RUN(test_null_members_count_as_absent);
    RUN(test_a_header_wins_over_the_body);
    RUN(test_priority_is_interactive_unless_header_or_member_say_batch);
    RUN(test_the_stricter_class_of_header_and_body_holds);
    RUN(test_a_body_of_very_many_values_is_refused_before_it_is_parsed);
    RUN(test_a_request_that_outgrows_its_arena_is_refused);
    return test_finish();
}
