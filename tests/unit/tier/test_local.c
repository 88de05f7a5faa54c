/* The local tier over an engine that the test plays: what is submitted, and what comes of it. */
#include "tier/tier.h"

#include "base/error.h"
#include "base/str.h"
#include "engine/model/adapter.h"
#include "engine/model/chat_tools.h"
#include "engine/session/generate.h"
#include "engine/session/scheduler.h"
#include "virtual_loop.h"
#include "wire_members.h"

/* --- the engine, played by the test --- */

struct job {
    struct job_request request;
};

static struct {
    struct job job;
    int submit_count, cancel_count, tokenize_count;
    size_t prompt_count;
    enum td_status tokenize_status, submit_status;
    int32_t first_id;
    struct td_adapter_use uses[TD_ADAPTERS_MAX];
    size_t use_count;
    int set_references;
    enum tool_format tool_format;
    size_t tools_seen, messages_seen; /* of the last chat_tools_tokenize */
    int tools_count;
} engine;

enum tool_format chat_tool_format(const struct td_model *model)
{
    (void)model;
    return engine.tool_format;
}

/* Token 7 is a control token, without text in an answer. */
struct td_str td_token_piece(const struct td_model *model, int32_t id, bool special)
{
    (void)model;
    return id == 7 && special ? STR("[TOOL_CALLS]") : STR("");
}

enum td_status chat_tools_tokenize(const struct td_model *model, const struct json *messages,
                                   const struct json *tools, int32_t **ids, size_t *count,
                                   struct td_error *err)
{
    engine.tools_count++;
    engine.tools_seen = json_count(tools);
    engine.messages_seen = json_count(messages);
    return td_chat_tokenize(model, NULL, 0, ids, count, err);
}

enum td_status adapter_set_new(const struct td_model *model, const struct td_adapter_use *uses,
                               size_t count, struct adapter_set **out, struct td_error *err)
{
    (void)model, (void)err;
    for (size_t i = 0; i < count; i++)
        engine.uses[i] = uses[i];
    engine.use_count = count;
    engine.set_references += count > 0;
    *out = count ? (struct adapter_set *)&engine : NULL;
    return TD_OK;
}

void adapter_set_release(struct adapter_set *set)
{
    engine.set_references -= set != NULL;
}

const struct td_model_info *td_model_get_info(const struct td_model *model)
{
    static const struct td_model_info info = {.context_tokens = 512,
                                              .sampling = {.temperature = 0.25f,
                                                           .top_k = 20,
                                                           .top_p = 0.5f,
                                                           .repetition_penalty = 1.5f,
                                                           .repetition_window = 32,
                                                           .mirostat_tau = 4,
                                                           .mirostat_version = 2}};
    (void)model;
    return &info;
}

enum td_status td_chat_tokenize(const struct td_model *model, const struct td_message *messages,
                                size_t message_count, int32_t **ids, size_t *count,
                                struct td_error *err)
{
    (void)model, (void)messages, (void)message_count;
    engine.tokenize_count++;
    if (engine.tokenize_status != TD_OK)
        return error_set(err, engine.tokenize_status, "no template");
    *ids = calloc(engine.prompt_count + 1, sizeof **ids);
    if (!*ids)
        abort();
    (*ids)[0] = 42;
    *count = engine.prompt_count;
    return TD_OK;
}

enum td_status td_tokenize(const struct td_model *model, struct td_str text, bool add_bos,
                           bool parse_special, int32_t *ids, size_t capacity, size_t *count,
                           struct td_error *err)
{
    (void)model, (void)text, (void)add_bos, (void)parse_special, (void)ids, (void)capacity;
    (void)count;
    return error_set(err, TD_UNSUPPORTED, "no texts here");
}

const struct prompt_score *job_prompt_scores(const struct job *job)
{
    static const struct prompt_score scores[] = {{0}, {.logprob = -0.5f}, {.logprob = -0.25f}};
    return job->request.score_prompt ? scores : NULL;
}

enum td_status scheduler_submit(struct scheduler *scheduler, const struct job_request *request,
                                struct job **out, struct td_error *err)
{
    (void)scheduler;
    engine.submit_count++;
    if (engine.submit_status != TD_OK)
        return error_set(err, engine.submit_status, "the queue is full");
    engine.job.request = *request;
    engine.first_id = request->ids[0];
    *out = &engine.job;
    return TD_OK;
}

struct scheduler_load scheduler_get_load(struct scheduler *scheduler)
{
    (void)scheduler;
    return (struct scheduler_load){.loaded = true};
}

double job_waited_ms(const struct job *job)
{
    CHECK(job == &engine.job);
    return 30;
}

void scheduler_forecast(struct scheduler *scheduler, enum td_priority priority, uint32_t coming,
                        uint32_t prompt_tokens, struct scheduler_forecast *out)
{
    (void)scheduler;
    CHECK(priority == TD_PRIORITY_INTERACTIVE && coming == 2 && prompt_tokens == 100);
    *out = (struct scheduler_forecast){
        .wait_ms = 500, .prompt_row_ms = 2, .token_ms = 10, .answer_mean = 20, .answer_most = 50};
}

void job_cancel(struct job *job)
{
    CHECK(job == &engine.job);
    engine.cancel_count++;
}

struct td_sampling td_sampling_default(void)
{
    return (struct td_sampling){.temperature = 1.0f, .top_p = 1.0f, .repetition_penalty = 1.0f};
}

/* --- the scene --- */

struct scene {
    struct virtual_loop loop;
    struct tier *tier;
    struct tier_attempt *attempt;
    struct td_request request;
    struct td_message message;
    char text[128];
    int stats_count, done_count;
    struct td_token_stats stats;
    bool cancels;
    char calls[512]; /* the last raw delta as text */
    struct tier_result result;
};

static void on_piece(void *ctx, const struct tier_piece *piece)
{
    struct scene *scene = ctx;
    size_t len = strlen(scene->text);
    snprintf(scene->text + len, sizeof scene->text - len, STR_FMT, STR_ARG(piece->text));
    scene->stats_count += piece->has_stats;
    if (piece->has_stats)
        scene->stats = piece->stats;
    if (piece->raw_delta) {
        struct buf out;
        buf_init(&out, sizeof scene->calls - 1);
        json_write(piece->raw_delta, &out);
        snprintf(scene->calls, sizeof scene->calls, STR_FMT, STR_ARG(buf_view(&out)));
        buf_deinit(&out);
    }
    if (scene->cancels)
        tier_cancel(scene->tier, scene->attempt);
}

static void on_done(void *ctx, const struct tier_result *result)
{
    struct scene *scene = ctx;
    scene->done_count++;
    scene->result = *result;
}

static void scene_init_with(struct scene *scene, uint32_t context_tokens, size_t prompt_count,
                            enum tool_format tool_format)
{
    memset(scene, 0, sizeof *scene);
    memset(&engine, 0, sizeof engine);
    engine.prompt_count = prompt_count;
    engine.tool_format = tool_format;
    virtual_loop_init(&scene->loop);
    struct tier_facts facts = {.name = "local", .context_tokens = context_tokens, .has_key = true};
    const struct tier_local_options options = {.model = (const void *)&engine,
                                               .scheduler = (void *)&engine}; /* not looked into */
    CHECK(tier_local_new(&facts, &options, &scene->tier, NULL) == TD_OK);
    scene->message = (struct td_message){TD_ROLE_USER, STR("hello")};
    scene->request = (struct td_request){.messages = &scene->message, .message_count = 1};
}

static void scene_init(struct scene *scene, uint32_t context_tokens, size_t prompt_count)
{
    scene_init_with(scene, context_tokens, prompt_count, TOOL_FORMAT_NONE);
}

static enum td_status scene_start(struct scene *scene, struct td_error *err)
{
    struct tier_sink sink = {.on_piece = on_piece, .on_done = on_done, .ctx = scene};
    return tier_start(scene->tier, &scene->loop.loop, &scene->request, &sink, &scene->attempt, err);
}

static void finish_job(enum td_status status)
{
    struct td_generate_result result = {
        .finish = TD_FINISH_LENGTH, .prompt_tokens = 10, .completion_tokens = 2};
    engine.job.request.on_done(engine.job.request.ctx, status, &result, NULL);
}

static void test_tokens_become_pieces_with_stats(void)
{
    struct scene s;
    scene_init(&s, 0, 10);
    s.request.stops[0] = STR("END");
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

/* A conversation of one message, and a tool that may be called. */
static void offer_tool(struct scene *s, struct wire_members *wire)
{
    wire_members_init(
        wire,
        "{\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}],\"tools\":[{\"type\":"
        "\"function\",\"function\":{\"name\":\"stop\"}}]}",
        &s->request);
    s->request.tool_count = 1;
}

static void say(const char *text, int32_t id)
{
    struct td_token token = {.id = id, .piece = str_from(text)};
    engine.job.request.on_token(engine.job.request.ctx, &token, str_from(text));
}

static void stop_job(void)
{
    struct td_generate_result result = {.finish = TD_FINISH_STOP};
    engine.job.request.on_done(engine.job.request.ctx, TD_OK, &result, NULL);
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

static void test_calls_of_tools_come_as_openai_has_them(void)
{
    struct scene s;
    struct wire_members wire;
    scene_init_with(&s, 0, 10, TOOL_FORMAT_HERMES);
    offer_tool(&s, &wire);
    CHECK(!(s.tier->facts.lacks & CAPABILITY_TOOLS));
    CHECK(s.tier->facts.lacks & CAPABILITY_TOOL_CHOICE);
    CHECK(scene_start(&s, NULL) == TD_OK && engine.tools_seen == 1 && engine.messages_seen == 1);
    say("Well <tool", 1);
    CHECK(strcmp(s.text, "Well ") == 0);
    say("_call>{\"name\":\"stop\",\"arguments\":{\"a\":1}}</tool_", 1);
    CHECK(s.calls[0] == '\0');
    say("call>", 1);
    stop_job();
    CHECK(strcmp(s.text, "Well ") == 0 && s.stats_count == 3);
    CHECK(strstr(s.calls, "{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"call_"));
    CHECK(strstr(s.calls, "\"function\":{\"name\":\"stop\",\"arguments\":\"{\\\"a\\\":1}\"}"));
    CHECK(s.done_count == 1 && s.result.finish == TD_FINISH_TOOL_CALLS);
    tier_free(s.tier);
    wire_members_deinit(&wire);
}

static void test_a_mark_that_is_a_control_token_and_a_call_at_the_very_end(void)
{
    struct scene s;
    struct wire_members wire;
    scene_init_with(&s, 0, 10, TOOL_FORMAT_MISTRAL);
    offer_tool(&s, &wire);
    CHECK(scene_start(&s, NULL) == TD_OK);
    say("", 7);
    say("[{\"name\":\"stop\",\"arguments\":{}}]", 1);
    CHECK(s.calls[0] == '\0' && s.text[0] == '\0');
    stop_job();
    CHECK(strstr(s.calls, "\"name\":\"stop\"") && s.text[0] == '\0');
    CHECK(s.done_count == 1 && s.result.finish == TD_FINISH_TOOL_CALLS);
    /* a client that leaves when the last piece comes */
    CHECK(scene_start(&s, NULL) == TD_OK);
    s.done_count = 0;
    say("", 7);
    say("no list", 1);
    s.cancels = true;
    stop_job();
    CHECK(strcmp(s.text, "[TOOL_CALLS]no list") == 0 && s.done_count == 0 &&
          engine.cancel_count == 0);
    tier_free(s.tier);
    wire_members_deinit(&wire);
}

static void test_tools_that_may_not_be_called_leave_the_answer_alone(void)
{
    struct scene s;
    struct wire_members wire;
    scene_init_with(&s, 0, 10, TOOL_FORMAT_HERMES);
    offer_tool(&s, &wire);
    s.request.tool_choice = TOOL_CHOICE_NONE;
    CHECK(scene_start(&s, NULL) == TD_OK && engine.tools_count == 0);
    say("<tool_call>{\"name\":\"stop\"}</tool_call>", 1);
    CHECK(strcmp(s.text, "<tool_call>{\"name\":\"stop\"}</tool_call>") == 0);
    stop_job();
    CHECK(s.result.finish == TD_FINISH_STOP);
    tier_free(s.tier);
    wire_members_deinit(&wire);
    scene_init(&s, 0, 10); /* a template without tools */
    CHECK(s.tier->facts.lacks & CAPABILITY_TOOLS);
    tier_free(s.tier);
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
    const struct tier_local_options options = {.model = (const void *)&engine,
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

int main(void)
{
    RUN(test_a_request_runs_with_the_adapters_that_it_means);
    RUN(test_tokens_become_pieces_with_stats);
    RUN(test_a_completion_begins_with_its_echo_and_its_tokens_are_listed);
    RUN(test_offsets_count_characters_where_tokens_are_parts_of_them);
    RUN(test_a_prompt_that_is_only_scored_is_echoed_at_the_end);
    RUN(test_a_client_may_leave_while_its_prompt_is_echoed);
    RUN(test_calls_of_tools_come_as_openai_has_them);
    RUN(test_a_mark_that_is_a_control_token_and_a_call_at_the_very_end);
    RUN(test_tools_that_may_not_be_called_leave_the_answer_alone);
    RUN(test_an_answer_gets_the_room_that_is_left);
    RUN(test_the_model_recommends_what_the_request_leaves_open);
    RUN(test_dry_and_the_end_go_to_the_engine_as_asked);
    RUN(test_a_prompt_without_room_is_refused);
    RUN(test_refusals_of_the_engine_are_passed_on);
    RUN(test_a_failed_job_has_words);
    RUN(test_cancel_stops_the_job_also_from_inside_a_piece);
    RUN(test_prompts_are_counted_exactly_unless_they_cannot_fit);
    RUN(test_a_forecast_is_of_the_queue_the_prompt_and_the_answer);
    return test_finish();
}
