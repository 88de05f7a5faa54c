/* A smaller model that guesses ahead for the scheduler's streams: answers stay the same, whatever
 * other jobs begin, end or are cancelled. */
#include "engine/session/scheduler_draft.h"

#include "scheduler_client.h"

static struct scheduler *open_drafted(const struct td_model *draft, uint32_t slots)
{
    struct scheduler *scheduler = NULL;
    struct td_error err = {0};
    const struct scheduler_options options = {.model = model,
                                              .slot_count = slots,
                                              .queue_capacity = 32,
                                              .thread_count = 1,
                                              .speculation = TD_SPECULATION_DRAFT,
                                              .draft = draft};
    CHECK(scheduler_new(&options, &scheduler, &err) == TD_OK);
    return scheduler;
}

static struct td_generate_options options_of(int way)
{
    struct td_generate_options options = plain_options(100);
    options.sampling.seed = (uint64_t)way;
    options.sampling.temperature = way % 3 == 0 ? 0 : 0.7f;
    options.sampling.repetition_penalty = way % 4 == 3 ? 1.1f : 1;
    return options;
}

/* One after the other, so that it drafts for each; the model itself is never wrong. */
static void test_a_draft_model_changes_nothing(void)
{
    struct td_model *other = tiny_model(2);
    REQUIRE(other != NULL);
    for (int self = 0; self < 2; self++) {
        struct scheduler *scheduler = open_drafted(self ? model : other, 2);
        for (int way = 0; way < 8; way++) {
            int32_t ids[200];
            struct client client = {0};
            struct td_error err;
            struct td_generate_options options = options_of(way);
            fill_prompt(ids, 200, (uint64_t)(way / 2)); /* some come twice, and are known then */
            REQUIRE(submit(scheduler, &client, ids, 200, &options, &err) == TD_OK);
            run_until_done(&client, 1);
            expect_text(ids, 200, &options, &client.text);
            if (self)
                CHECK(client.result.accepted_tokens + 1 >= client.result.drafted_tokens);
            buf_deinit(&client.text);
        }
        while (scheduler_get_load(scheduler).running) /* the last one's end is counted then */
            usleep(100);
        struct scheduler_load load = scheduler_get_load(scheduler);
        CHECK(load.accepted_tokens <= load.drafted_tokens);
        CHECK(!self || load.accepted_tokens > 8);
        scheduler_free(scheduler);
    }
    td_model_close(other);
}

/* More texts than two pools hold: jobs that cannot draft lose nothing by it. */
static void test_company_that_comes_and_goes_changes_nothing(void)
{
    enum { JOBS = 16 };
    int32_t ids[JOBS][150];
    struct client clients[JOBS] = {0};
    struct td_error err;
    struct scheduler *scheduler = open_drafted(model, 3);
    for (int i = 0; i < JOBS; i++) {
        struct td_generate_options options = options_of(i);
        options.tokens_max = 20 + 7 * (uint32_t)i;
        fill_prompt(ids[i], 150, 500 + (uint64_t)i);
        clients[i].cancel_after = i % 5 == 1 ? 9 : 0;
        CHECK(submit(scheduler, &clients[i], ids[i], 10 + 9 * (size_t)i, &options, &err) == TD_OK);
        if (i == JOBS / 2)
            scheduler_forget(scheduler, NULL);
    }
    run_until_done(clients, JOBS);
    for (int i = 0; i < JOBS; i++) {
        struct td_generate_options options = options_of(i);
        options.tokens_max = 20 + 7 * (uint32_t)i;
        if (!clients[i].gone)
            expect_text(ids[i], 10 + 9 * (size_t)i, &options, &clients[i].text);
        buf_deinit(&clients[i].text);
    }
    scheduler_free(scheduler);
    while (test_loop_run_one(&loop, 0))
        ;
}

static void test_a_draft_that_does_not_belong_is_refused(void)
{
    struct td_model *other = tiny_model_renamed(1);
    REQUIRE(other != NULL);
    struct scheduler *scheduler = NULL;
    struct td_error err = {0};
    struct scheduler_options options = {.model = model,
                                        .slot_count = 1,
                                        .queue_capacity = 1,
                                        .thread_count = 1,
                                        .speculation = TD_SPECULATION_DRAFT,
                                        .draft = other};
    CHECK(scheduler_new(&options, &scheduler, &err) == TD_INVALID && scheduler == NULL);
    CHECK(strstr(err.message, "draft model") && strstr(err.message, "token 300"));
    options.draft = NULL;
    err = (struct td_error){0};
    CHECK(scheduler_new(&options, &scheduler, &err) == TD_INVALID);
    options.draft = model;
    options.speculation = TD_SPECULATION_NGRAM;
    err = (struct td_error){0};
    CHECK(scheduler_new(&options, &scheduler, &err) == TD_INVALID);
    CHECK(strstr(err.message, "draft speculation"));
    td_model_close(other);
}

/* The draft's sessions alone: the number of jobs decides whether there are guesses, and only a job
 * of the same scope uses the text of an ended answer. */
static void test_drafts_are_for_few_and_within_a_scope(void)
{
    struct thread_pool *threads = thread_pool_new(1);
    struct scheduler_draft *draft = NULL;
    struct td_session *session = NULL;
    struct td_error err = {0};
    int32_t ids[300];
    fill_prompt(ids, 300, 8);
    const struct scheduler_draft_options open = {
        .model = model, .draft = model, .slot_count = 2, .context_size = 512, .threads = threads};
    REQUIRE(scheduler_draft_new(&open, &draft, &err) == TD_OK);
    REQUIRE(td_session_new(model, NULL, &session, &err) == TD_OK);
    CHECK(scheduler_draft_bytes(draft) > 0);
    REQUIRE(td_session_forward(session, ids, 300, NULL, 0, &err) == TD_OK);
    const struct prefix_scope mine = {{1}}, foreign = {{2}};
    for (int turn = 0; turn < 6; turn++) {
        static struct generation generation;
        struct td_session *drafting = scheduler_draft_begin(draft, (uint32_t)turn % 2, NULL);
        struct td_generate_options options = plain_options(20);
        options.speculation = TD_SPECULATION_DRAFT;
        options.draft = drafting;
        options.sampling.temperature = 0;
        REQUIRE(generation_init(&generation, &session->sequence, ids, 1, &options, &err) == TD_OK);
        generation.speculation.always = true;
        generation.chosen_count = 1;
        const struct prefix_scope *scope = turn == 2 ? &foreign : &mine;
        uint32_t streams = turn == 0 ? SPECULATION_DRAFT_STREAMS_MAX + 1 : 1;
        generation.speculation.streams = streams;
        scheduler_draft_prepare(draft, (uint32_t)turn % 2, &generation, scope, streams);
        CHECK(td_session_length(drafting) == (turn == 3 || turn == 4 ? 300 : 0));
        /* A text is read in pieces, before there are guesses. */
        for (uint32_t read = td_session_length(drafting); read < 300 && turn;) {
            speculation_guess(&generation.speculation, &session->sequence, 70, &generation.sampler,
                              NULL, 4);
            if (td_session_length(drafting) >= 300)
                break;
            CHECK(generation.speculation.guess_count == 0);
            CHECK(td_session_length(drafting) > read && td_session_length(drafting) <= read + 128);
            read = td_session_length(drafting);
            speculation_note(&generation.speculation, 0, 1);
        }
        if (turn == 0) {
            speculation_guess(&generation.speculation, &session->sequence, 70, &generation.sampler,
                              NULL, 4);
            CHECK(generation.speculation.guess_count == 0 && td_session_length(drafting) == 0);
        }
        generation_deinit(&generation);
        td_session_truncate(drafting, 300);
        scheduler_draft_end(draft, (uint32_t)turn % 2, turn == 2 ? NULL : scope);
        CHECK(td_session_length(drafting) == 0);
        scheduler_draft_forget(draft, turn == 4, NULL); /* the last one finds nothing */
    }
    td_session_free(session);
    scheduler_draft_free(draft);
    thread_pool_free(threads);
}

int main(void)
{
    model = tiny_model(1);
    if (model == NULL)
        return 1;
    test_loop_init(&loop);
    RUN(test_a_draft_model_changes_nothing);
    RUN(test_company_that_comes_and_goes_changes_nothing);
    RUN(test_a_draft_that_does_not_belong_is_refused);
    RUN(test_drafts_are_for_few_and_within_a_scope);
    test_loop_deinit(&loop);
    td_model_close(model);
    return test_finish();
}
