/* The local tier over an engine that the test plays: what is submitted, and what comes of it. */
#include "local_scene.h"

static void test_tokens_become_pieces_with_stats(void)
{
    struct scene s;
    scene_init(&s, 0, 10);
    const struct td_str stop = STR("END");
    s.request.stops = &stop;
    s.request.stop_count = 1;
    s.request.logprobs = true;
    s.request.top_logprobs = 4;
    s.request.grammar = (void *)&s; /* passed on, not read */
    CHECK(scene_start(&s, NULL) == TD_OK && engine.first_id == 42);
    CHECK(engine.job.request.options.stop_count == 1 &&
          engine.job.request.options.top_logprobs == 4);
    CHECK(engine.job.request.options.grammar == (void *)&s);
    CHECK(!(s.tier->facts.lacks & CAPABILITY_SCHEMA));
    struct td_token token = {
        .id = 1, .piece = STR("Hi"), .stats = {.logprob = -0.5f, .not_mine = 0.25f}};
    engine.job.request.on_token(engine.job.request.ctx, &token, STR("Hi"));
    engine.job.request.on_token(engine.job.request.ctx, NULL, STR("!"));
    CHECK(strcmp(s.text, "Hi!") == 0 && s.stats_count == 1 && s.stats.not_mine == 0.25f);
    finish_job(TD_OK);
    CHECK(s.done_count == 1 && s.result.status == TD_OK && s.result.finish == TD_FINISH_LENGTH);
    CHECK(s.result.usage.prompt_tokens == 10 && s.result.usage.completion_tokens == 2);
    CHECK(s.result.egress_bytes == 0);
    tier_free(s.tier);
}

static const int32_t prompt_ids[] = {3, 4, 5};
static const struct td_completion echoing = {
    .text = {"Once", 4}, .ids = prompt_ids, .id_count = 3, .echo = true};

static void test_a_completion_begins_with_its_echo_and_its_tokens_are_listed(void)
{
    struct scene s;
    scene_init(&s, 0, 10);
    s.request.completion = &echoing;
    s.request.logprobs = true;
    CHECK(scene_start(&s, NULL) == TD_OK && engine.first_id == 3 && engine.tokenize_count == 0);
    CHECK(engine.job.request.score_prompt && !engine.job.request.prompt_only);
    say(" upon", 1);
    CHECK(strcmp(s.text, "Once upon") == 0 && s.stats_count == 1);
    CHECK(strstr(s.calls, "\"text_offset\":[4]") != NULL);
    CHECK(strstr(s.calls, "\"top_logprobs\":[null]") != NULL);
    finish_job(TD_OK);
    CHECK(s.done_count == 1 && strcmp(s.text, "Once upon") == 0);
    tier_free(s.tier);
}

static void test_a_gap_is_read_by_its_marks_and_a_model_without_them_says_so(void)
{
    static const struct td_completion gap = {.text = {"a", 1}, .after = {"b", 1}};
    struct scene s;
    scene_init(&s, 0, 10);
    CHECK((s.tier->facts.lacks & CAPABILITY_INFILL) != 0);
    CHECK(strcmp(s.tier->facts.infill_missing, "tokenizer.ggml.fim_pre_token_id") == 0);
    s.request.completion = &gap;
    CHECK(scene_start(&s, NULL) == TD_OK && engine.first_id == 11 && engine.tokenize_count == 1);
    CHECK(engine.job.request.id_count == 3);
    finish_job(TD_OK);
    tier_free(s.tier);
}

/* Bytes that belong to no character are sent as a U+FFFD each, and count as one. */
static void test_offsets_count_characters_where_tokens_are_parts_of_them(void)
{
    static const struct {
        const char *piece;
        int offset;
    } tokens[] = {{"\xe2", 4},          {"\x82", 4},      {"\xac!", 4}, {"", 6},
                  {"\xc3", 6},          {"A", 7},         {"\xff", 8},  {"b", 9},
                  {"\xf0\x9f\x98", 10}, {"", 10},         {"\xe2", 13}, {"\x82", 13},
                  {"\xe2\x82\xac", 15}, {"\xf0\x9f", 16}, {"\x98", 16}, {"\x80 \xc3", 16},
                  {"\xa9", 18},         {"end", 19}};
    struct scene s;
    scene_init(&s, 0, 10);
    s.request.completion = &echoing;
    s.request.logprobs = true;
    CHECK(scene_start(&s, NULL) == TD_OK);
    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) {
        char expected[64];
        struct td_token token = {.id = 1, .piece = str_from(tokens[i].piece)};
        engine.job.request.on_token(engine.job.request.ctx, &token, STR(""));
        snprintf(expected, sizeof expected, "\"text_offset\":[%d]", tokens[i].offset);
        CHECK(strstr(s.calls, expected) != NULL);
        if (!strstr(s.calls, expected))
            fprintf(stderr, "token %zu: %s, not %s\n", i, s.calls, expected);
    }
    finish_job(TD_OK);
    tier_free(s.tier);
}

static void test_a_prompt_that_is_only_scored_is_echoed_at_the_end(void)
{
    struct td_completion scored = echoing;
    struct scene s;
    scored.prompt_only = true;
    scene_init(&s, 3, 10); /* the prompt fills the context */
    s.request.completion = &scored;
    s.request.logprobs = true;
    CHECK(scene_start(&s, NULL) == TD_OK);
    CHECK(engine.job.request.prompt_only && engine.job.request.options.tokens_max == 1);
    finish_job(TD_OK);
    CHECK(s.done_count == 1 && strcmp(s.text, "Once") == 0 && s.stats_count == 0);
    CHECK(strstr(s.calls, "\"token_logprobs\":[null,-0.5,-0.25]") != NULL);
    scored.prompt_only = false;
    CHECK(scene_start(&s, NULL) == TD_LIMIT);
    tier_free(s.tier);
}

static void test_a_client_may_leave_while_its_prompt_is_echoed(void)
{
    struct scene s;
    for (int at_end = 0; at_end < 2; at_end++) {
        scene_init(&s, 0, 10);
        s.request.completion = &echoing;
        s.cancels = true;
        CHECK(scene_start(&s, NULL) == TD_OK);
        if (at_end)
            finish_job(TD_OK);
        else
            say(" upon", 1);
        CHECK(s.done_count == 0 && strcmp(s.text, "Once") == 0);
        CHECK(engine.cancel_count == !at_end); /* at the end the job no longer exists */
        tier_free(s.tier);
    }
}

static void test_an_answer_gets_the_room_that_is_left(void)
{
    static const struct {
        uint32_t context, wanted, given;
        size_t prompt;
    } cases[] = {
        {4096, 0, 1024, 100},  {4096, 0, 96, 4000},     {4096, 50, 50, 4000},
        {4096, 500, 96, 4000}, {4096, 3000, 3000, 100}, {0, 0, 412, 100},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scene s;
        scene_init(&s, cases[i].context, cases[i].prompt);
        s.request.tokens_max = cases[i].wanted;
        CHECK(scene_start(&s, NULL) == TD_OK);
        CHECK(engine.job.request.options.tokens_max == cases[i].given);
        tier_cancel(s.tier, s.attempt);
        tier_free(s.tier);
    }
}

static struct td_sampling sampling_of(const struct td_sampling *asked, unsigned left_to_model)
{
    struct scene s;
    scene_init(&s, 4096, 10);
    s.request.sampling = *asked;
    s.request.left_to_model = left_to_model;
    CHECK(scene_start(&s, NULL) == TD_OK);
    tier_cancel(s.tier, s.attempt);
    tier_free(s.tier);
    return engine.job.request.options.sampling;
}

static void test_the_model_recommends_what_the_request_leaves_open(void)
{
    struct td_sampling asked = td_sampling_default();
    struct td_sampling got = sampling_of(&asked, SETTINGS_ALL);
    CHECK(got.temperature == 0.25f && got.top_k == 20 && got.top_p == 0.5f);
    CHECK(got.repetition_window == 32 && got.repetition_penalty == 1.5f);
    CHECK(got.mirostat_tau == 4 && got.mirostat_version == 2);
    got = sampling_of(&asked, SETTING_TOP_K | SETTING_TOP_P);
    CHECK(got.temperature == 1 && got.top_k == 20 && got.repetition_penalty == 1);
    CHECK(got.mirostat_tau == 0 && got.mirostat_version == 0);
    got = sampling_of(&asked, 0); /* a program, which means every member */
    CHECK(got.temperature == 1 && got.top_k == 0 && got.mirostat_tau == 0);
}

static void test_dry_and_the_end_go_to_the_engine_as_asked(void)
{
    struct scene s;
    scene_init(&s, 4096, 10);
    s.request.dry_breakers = STR("\n\0::\0");
    s.request.dry_window = 77;
    s.request.ignore_eos = true;
    CHECK(scene_start(&s, NULL) == TD_OK);
    const struct job_request *job = &engine.job.request;
    CHECK(job->dry.window == 77 && job->options.ignore_eos);
    CHECK(memcmp(job->dry.breakers, "\n\0::\0", 6) == 0);
    tier_cancel(s.tier, s.attempt);
    tier_free(s.tier);
}

static void test_a_prompt_without_room_is_refused(void)
{
    struct scene s;
    struct td_error err = {0};
    scene_init(&s, 100, 100);
    CHECK(scene_start(&s, &err) == TD_LIMIT && engine.submit_count == 0);
    CHECK(strcmp(err.message, "prompt of 100 tokens exceeds local's limit of 100") == 0);
    tier_free(s.tier);
}

static void test_refusals_of_the_engine_are_passed_on(void)
{
    struct scene s;
    struct td_error err = {0};
    scene_init(&s, 0, 10);
    engine.submit_status = TD_BUSY;
    CHECK(scene_start(&s, &err) == TD_BUSY && strstr(err.message, "queue"));
    engine.tokenize_status = TD_UNSUPPORTED;
    CHECK(scene_start(&s, NULL) == TD_UNSUPPORTED);
    tier_free(s.tier);
}

static void test_a_failed_job_has_words(void)
{
    struct scene s;
    scene_init(&s, 0, 10);
    CHECK(scene_start(&s, NULL) == TD_OK);
    finish_job(TD_NO_MEMORY);
    CHECK(s.result.status == TD_NO_MEMORY && s.result.err.message[0]);
    tier_free(s.tier);
}

static void test_cancel_stops_the_job_also_from_inside_a_piece(void)
{
    struct scene s;
    scene_init(&s, 0, 10);
    CHECK(scene_start(&s, NULL) == TD_OK);
    tier_cancel(s.tier, s.attempt);
    CHECK(engine.cancel_count == 1);
    CHECK(scene_start(&s, NULL) == TD_OK);
    s.cancels = true;
    struct td_token token = {.id = 1};
    engine.job.request.on_token(engine.job.request.ctx, &token, STR("x"));
    CHECK(engine.cancel_count == 2 && s.done_count == 0);
    tier_free(s.tier);
}

static void test_prompts_are_counted_exactly_unless_they_cannot_fit(void)
{
    static char huge[100000];
    memset(huge, 'a', sizeof huge);
    struct scene s;
    scene_init(&s, 0, 17);
    CHECK(tier_count_prompt(s.tier, &s.request) == 17);
    engine.tokenize_count = 0;
    s.message.content = (struct td_str){huge, sizeof huge};
    CHECK(tier_count_prompt(s.tier, &s.request) > 512 && engine.tokenize_count == 0);
    s.message.content = STR("four");
    engine.tokenize_status = TD_UNSUPPORTED;
    CHECK(tier_count_prompt(s.tier, &s.request) == 1 + 4);
    tier_free(s.tier);
}

/* Starts the request and returns the adapters that it runs with: "name*scale ..." */
static const char *adapters_of(const struct td_request *asked, enum td_status expected)
{
    static char text[128];
    static const char *const names[] = {"law", "tone", "sql"};
    const struct td_adapter *const handles[] = {(const void *)&names[0], (const void *)&names[1],
                                                (const void *)&names[2]};
    const struct tier_adapter adapters[] = {
        {handles[0], 1, false}, {handles[1], 0.5f, true}, {handles[2], 2, false}};
    const struct tier_local_options options = {.main = {.model = (const void *)&engine},
                                               .adapters = adapters};
    struct tier_facts facts = {
        .name = "local", .has_key = true, .adapters = names, .adapter_count = 3};
    struct scene s;
    scene_init(&s, 0, 10);
    tier_free(s.tier);
    CHECK(tier_local_new(&facts, &options, &s.tier, NULL) == TD_OK);
    s.request.model = asked->model;
    s.request.names_adapters = asked->names_adapters;
    s.request.adapter_count = asked->adapter_count;
    memcpy(s.request.adapters, asked->adapters, sizeof asked->adapters);
    CHECK(scene_start(&s, NULL) == expected);
    text[0] = '\0';
    for (size_t i = 0; i < engine.use_count; i++) {
        size_t len = strlen(text);
        for (size_t n = 0; n < 3; n++)
            if (engine.uses[i].adapter == handles[n])
                snprintf(text + len, sizeof text - len, "%s*%g ", names[n],
                         (double)engine.uses[i].scale);
    }
    CHECK(engine.set_references == 0); /* the tier keeps none */
    if (expected == TD_OK)
        tier_cancel(s.tier, s.attempt);
    tier_free(s.tier);
    return text;
}

/* The scheduler that gets a request with a tool, of a tier that has a second one for these. */
static const void *scheduler_of(const struct td_request *more, void *main, void *tools)
{
    static const char *const names[] = {"law"};
    const struct tier_adapter adapters[] = {{(const void *)names, 1, false}};
    const struct tier_facts facts = {
        .name = "local", .has_key = true, .adapters = names, .adapter_count = 1};
    struct wire_members wire;
    struct scene s;
    scene_init_with(&s, 0, 10, TOOL_FORMAT_HERMES);
    const struct tier_local_options options = {
        .main = {.model = (const void *)&engine, .scheduler = main},
        .for_tools = {.model = (const void *)&engine, .scheduler = tools},
        .adapters = adapters};
    tier_free(s.tier);
    CHECK(tier_local_new(&facts, &options, &s.tier, NULL) == TD_OK);
    CHECK(!(s.tier->facts.lacks & CAPABILITY_TOOLS));
    offer_tool(&s, &wire);
    s.request.model = more->model;
    s.request.names_adapters = more->names_adapters;
    s.request.tool_choice = more->tool_choice;
    CHECK(scene_start(&s, NULL) == TD_OK);
    const void *scheduler = engine.scheduler;
    tier_cancel(s.tier, s.attempt);
    tier_free(s.tier);
    wire_members_deinit(&wire);
    return scheduler;
}

static void test_a_second_model_has_the_requests_that_bring_tools(void)
{
    static char main, tools;
    struct td_request plain = {0};
    CHECK(scheduler_of(&plain, &main, &tools) == &tools);
    plain.tool_choice = TOOL_CHOICE_NONE;
    CHECK(scheduler_of(&plain, &main, &tools) == &main);
    CHECK(scheduler_of(&(struct td_request){.names_adapters = true}, &main, &tools) == &main);
    CHECK(scheduler_of(&(struct td_request){.model = "law"}, &main, &tools) == &main);
    struct scene s;
    scene_init(&s, 0, 10);
    CHECK(scene_start(&s, NULL) == TD_OK && engine.scheduler == (void *)&engine);
    tier_cancel(s.tier, s.attempt);
    tier_free(s.tier);
}

static void test_a_request_runs_with_the_adapters_that_it_means(void)
{
    struct td_request silent = {0}, by_model = {.model = "law"};
    struct td_request none = {.names_adapters = true};
    struct td_request listed = {
        .names_adapters = true,
        .adapter_count = 2,
        .adapters = {{.name = "sql"}, {.name = "law", .scale = -1, .has_scale = true}}};
    struct td_request numbered = {
        .names_adapters = true, .adapter_count = 1, .adapters = {{.number = 2}}};
    struct td_request both = {
        .model = "sql", .names_adapters = true, .adapter_count = 1, .adapters = {{.name = "tone"}}};
    struct td_request unknown = {
        .names_adapters = true, .adapter_count = 1, .adapters = {{.number = 3}}};
    CHECK(strcmp(adapters_of(&silent, TD_OK), "tone*0.5 ") == 0);
    CHECK(strcmp(adapters_of(&none, TD_OK), "") == 0);
    CHECK(strcmp(adapters_of(&by_model, TD_OK), "law*1 ") == 0);
    CHECK(strcmp(adapters_of(&listed, TD_OK), "sql*2 law*-1 ") == 0);
    CHECK(strcmp(adapters_of(&numbered, TD_OK), "sql*2 ") == 0);
    CHECK(strcmp(adapters_of(&both, TD_OK), "sql*2 tone*0.5 ") == 0);
    adapters_of(&unknown, TD_INVALID);
    CHECK(engine.submit_count == 0);
}

static void test_a_forecast_is_of_the_queue_the_prompt_and_the_answer(void)
{
    struct scene scene;
    struct tier_state state = {0};
    struct tier_ask ask = {.prompt_tokens = 100};
    scene_init_with(&scene, 4096, 3, TOOL_FORMAT_NONE);
    scene.tier->ops->forecast(scene.tier, &ask, 2, &state);
    CHECK(state.wait_ms == 500 && state.forecast_ttft_ms == 500 + 200 + 10);
    CHECK(state.forecast_total_ms == 710 + 49 * 10); /* as few answers are longer */
    ask.tokens_max = 5;
    scene.tier->ops->forecast(scene.tier, &ask, 2, &state);
    CHECK(state.forecast_total_ms == 710 + 4 * 10);
    state.unloaded = true; /* its model must be loaded first */
    state.load_ms = 70;
    scene.tier->ops->forecast(scene.tier, &ask, 2, &state);
    CHECK(state.wait_ms == 570 && state.forecast_total_ms == 780 + 4 * 10);
    tier_free(scene.tier);
}

/* The cache is one caller's: whose it is depends on the whole name, and nobody's is another one. */
static void test_each_caller_has_a_cache_of_its_own(void)
{
    static const char *const callers[] = {NULL, "", "tenant a", "tenant b", "tenant a "};
    enum { COUNT = sizeof callers / sizeof *callers };
    struct prefix_scope scopes[2 * COUNT];
    for (size_t i = 0; i < 2 * COUNT; i++) {
        struct scene s;
        scene_init(&s, 0, 10);
        s.request.caller = callers[i % COUNT];
        CHECK(scene_start(&s, NULL) == TD_OK);
        scopes[i] = engine.job.request.scope;
        finish_job(TD_OK);
        tier_free(s.tier);
    }
    for (size_t a = 0; a < 2 * COUNT; a++)
        for (size_t b = 0; b < 2 * COUNT; b++)
            CHECK((memcmp(&scopes[a], &scopes[b], sizeof *scopes) == 0) ==
                  (a % COUNT == b % COUNT));
}

static void test_what_the_engine_counted_and_how_long_it_waited_is_in_the_result(void)
{
    struct scene s;
    scene_init(&s, 0, 10);
    CHECK(scene_start(&s, NULL) == TD_OK);
    say("Hi", 1);
    const struct td_generate_result result = {
        .finish = TD_FINISH_STOP, .prompt_tokens = 12, .completion_tokens = 3, .cached_tokens = 8};
    engine.job.request.on_done(engine.job.request.ctx, TD_OK, &result, NULL);
    CHECK(s.result.usage.exact && s.result.usage.prompt_tokens == 12);
    CHECK(s.result.usage.completion_tokens == 3 && s.result.usage.cached_tokens == 8);
    CHECK(s.result.waited_ms == 30 && s.result.finish == TD_FINISH_STOP);
    CHECK(s.result.first_ms > 0 && s.result.first_ms <= s.result.total_ms);
    tier_free(s.tier);
    scene_init(&s, 0, 10); /* one that ended before it began */
    CHECK(scene_start(&s, NULL) == TD_OK);
    const struct td_error err = {.status = TD_TIMEOUT, .message = "the deadline has passed"};
    engine.job.request.on_done(engine.job.request.ctx, TD_TIMEOUT, NULL, &err);
    CHECK(s.done_count == 1 && s.result.status == TD_TIMEOUT && s.result.first_ms == 0);
    CHECK(strcmp(s.result.err.message, "the deadline has passed") == 0);
    CHECK(s.result.usage.prompt_tokens == 10 && s.result.usage.completion_tokens == 0);
    tier_free(s.tier);
    scene_init(&s, 0, 10); /* without words, it has some */
    CHECK(scene_start(&s, NULL) == TD_OK);
    engine.job.request.on_done(engine.job.request.ctx, TD_INTERNAL, NULL, NULL);
    CHECK(s.result.err.status == TD_INTERNAL && s.result.err.message[0]);
    tier_free(s.tier);
}

/* The engine writes it, but what its weights think of it is of no interest. */
static void test_what_can_be_computed_is_all_that_the_grammar_allows(void)
{
    struct scene s;
    scene_init(&s, 0, 10);
    s.message.content = STR("upper case: a \"b\"\nc\\d");
    CHECK(scene_start(&s, NULL) == TD_OK && engine.job.request.options.grammar != NULL);
    CHECK(strcmp(engine.grammar_source, "root ::= \"A \\x22B\\x22\\x0AC\\x5CD\"") == 0);
    CHECK(engine.grammar_references == 0); /* the job would hold its own */
    say("A", 1);
    CHECK(s.stats_count == 1 && s.stats.logprob == 0 && s.stats.margin == 1 && s.stats.forced);
    CHECK(s.stats.not_mine == 0 && s.computed_count == 1);
    finish_job(TD_OK);
    tier_free(s.tier);
}

/* Of several things the model would give one, and be sure of it. */
static void test_several_things_at_once_are_not_its_task(void)
{
    struct scene s;
    scene_init(&s, 0, 10);
    s.message.content = STR("extract the date and the amount: 3 May, 12 EUR");
    CHECK(scene_start(&s, NULL) == TD_OK && engine.job.request.options.grammar != NULL);
    CHECK(strstr(engine.grammar_source, "That is outside") != NULL);
    say("That", 1);
    CHECK(s.stats_count == 1 && s.stats.not_mine == 1 && s.computed_count == 0);
    finish_job(TD_OK);
    tier_free(s.tier);
}

/* A label is an answer only to someone who asked for one. */
static void test_labels_of_intents_are_forbidden_unless_asked_for(void)
{
    static const struct {
        const char *system, *user;
        bool asked;
    } chats[] = {
        {NULL, "what is my balance", false},
        {"You are a helpful assistant.", "what is my balance", false},
        {NULL, "Classify the intent: what is my balance", true},
        {NULL, "what is my balance?\nWhich CATEGORY is that?", true},
        {NULL, "Welche Absicht hat das: what is my balance", true},
        {"Reply with one of our departments.", "what is my balance", true},
    };
    for (size_t i = 0; i < sizeof chats / sizeof *chats; i++) {
        struct scene s;
        scene_init(&s, 0, 10);
        tier_free(s.tier);
        engine.has_sets = true;
        struct tier_facts facts = {.name = "local", .has_key = true};
        const struct tier_local_options options = {
            .main = {.model = (const void *)&engine, .scheduler = (void *)&engine}};
        CHECK(tier_local_new(&facts, &options, &s.tier, NULL) == TD_OK);
        CHECK(engine.classifier_count == 0);
        const struct td_message messages[] = {{TD_ROLE_SYSTEM, str_from(chats[i].system)},
                                              {TD_ROLE_USER, str_from(chats[i].user)}};
        s.request.messages = chats[i].system ? messages : messages + 1;
        s.request.message_count = chats[i].system ? 2 : 1;
        CHECK(scene_start(&s, NULL) == TD_OK);
        const struct td_sampling *sampling = &engine.job.request.options.sampling;
        CHECK(sampling->bias_count == (chats[i].asked ? 0 : 3));
        if (!chats[i].asked) {
            CHECK(sampling->biases[1].id == 71 && sampling->biases[1].bias <= -100);
            CHECK(sampling->biases[2].id == 9 && sampling->biases[2].bias > 0); /* not mine */
        }
        finish_job(TD_OK);
        tier_free(s.tier);
    }
}

static void test_what_something_else_decides_is_the_models(void)
{
    const struct td_message chats[][3] = {
        {{TD_ROLE_SYSTEM, STR("Translate to French.")}, {TD_ROLE_USER, STR("2 + 2")}},
        {{TD_ROLE_SYSTEM, STR("You are an assistant. Answer in French.")},
         {TD_ROLE_USER, STR("2 + 2")}},
        {{TD_ROLE_USER, STR("2 + 2")}, {TD_ROLE_ASSISTANT, STR("4")}},
        {{TD_ROLE_USER, STR("2 + 2")}, {TD_ROLE_TOOL, STR("2 + 2")}},
        {{TD_ROLE_SYSTEM, STR("You are a helpful assistant.")}, {TD_ROLE_USER, STR("2 + 2")}},
        {{TD_ROLE_USER, STR("hello")}, {TD_ROLE_USER, STR("2 + 2")}},
    };
    for (size_t i = 0; i < sizeof chats / sizeof *chats; i++) {
        struct scene s;
        scene_init(&s, 0, 10);
        s.request.messages = chats[i];
        s.request.message_count = 2;
        CHECK(scene_start(&s, NULL) == TD_OK);
        CHECK((engine.job.request.options.grammar != NULL) == (i >= 4));
        finish_job(TD_OK);
        tier_free(s.tier);
    }
    for (int i = 0; i < 5; i++) {
        struct scene s;
        scene_init(&s, 0, 10);
        s.message.content = STR("2 + 2");
        s.request.tool_count = i == 0;
        s.request.format = i == 1 ? TD_FORMAT_JSON : TD_FORMAT_TEXT;
        s.request.media.kinds = i == 2 ? REQUEST_IMAGE : 0;
        s.request.names_adapters = i == 3;
        s.request.has_calls = i == 4;
        CHECK(scene_start(&s, NULL) == TD_OK && !engine.job.request.options.grammar);
        finish_job(TD_OK);
        tier_free(s.tier);
    }
}

/* The prompt is scored only for one who reads its log-probabilities. Without an echo the offsets
 * begin behind it all the same. */
static void test_a_prompt_is_scored_only_where_it_is_shown(void)
{
    for (int echo = 0; echo < 2; echo++)
        for (int logprobs = 0; logprobs < 2; logprobs++) {
            const struct td_completion completion = {
                .text = STR("Once"), .ids = prompt_ids, .id_count = 3, .echo = echo};
            struct scene s;
            scene_init(&s, 0, 10);
            s.request.completion = &completion;
            s.request.logprobs = logprobs;
            CHECK(scene_start(&s, NULL) == TD_OK);
            CHECK(engine.job.request.score_prompt == (echo && logprobs));
            say(" upon", 1);
            CHECK(strcmp(s.text, echo ? "Once upon" : " upon") == 0);
            CHECK(!strstr(s.calls, "\"text_offset\":[4]") == !logprobs);
            CHECK(!logprobs == !s.calls[0]); /* nobody asked */
            finish_job(TD_OK);
            CHECK(s.done_count == 1);
            tier_free(s.tier);
        }
}

static void test_an_engine_that_is_loaded_is_not_said_to_be_unloaded(void)
{
    struct scene s;
    struct tier_state state = {.unloaded = true, .load_ms = 9};
    scene_init(&s, 0, 10);
    s.tier->ops->look(s.tier, &state);
    CHECK(!state.unloaded && state.load_ms == 0);
    CHECK(s.tier->facts.prefill == PREFILL_MESSAGE);
    tier_free(s.tier);
}

int main(void)
{
    RUN(test_a_request_runs_with_the_adapters_that_it_means);
    RUN(test_a_second_model_has_the_requests_that_bring_tools);
    RUN(test_tokens_become_pieces_with_stats);
    RUN(test_a_completion_begins_with_its_echo_and_its_tokens_are_listed);
    RUN(test_a_gap_is_read_by_its_marks_and_a_model_without_them_says_so);
    RUN(test_offsets_count_characters_where_tokens_are_parts_of_them);
    RUN(test_a_prompt_that_is_only_scored_is_echoed_at_the_end);
    RUN(test_a_client_may_leave_while_its_prompt_is_echoed);
    RUN(test_an_answer_gets_the_room_that_is_left);
    RUN(test_the_model_recommends_what_the_request_leaves_open);
    RUN(test_dry_and_the_end_go_to_the_engine_as_asked);
    RUN(test_a_prompt_without_room_is_refused);
    RUN(test_refusals_of_the_engine_are_passed_on);
    RUN(test_a_failed_job_has_words);
    RUN(test_cancel_stops_the_job_also_from_inside_a_piece);
    RUN(test_prompts_are_counted_exactly_unless_they_cannot_fit);
    RUN(test_a_forecast_is_of_the_queue_the_prompt_and_the_answer);
    RUN(test_each_caller_has_a_cache_of_its_own);
    RUN(test_what_the_engine_counted_and_how_long_it_waited_is_in_the_result);
    RUN(test_what_can_be_computed_is_all_that_the_grammar_allows);
    RUN(test_several_things_at_once_are_not_its_task);
    RUN(test_labels_of_intents_are_forbidden_unless_asked_for);
    RUN(test_what_something_else_decides_is_the_models);
    RUN(test_a_prompt_is_scored_only_where_it_is_shown);
    RUN(test_an_engine_that_is_loaded_is_not_said_to_be_unloaded);
    return test_finish();
}
