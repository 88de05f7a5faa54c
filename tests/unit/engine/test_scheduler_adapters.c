/* Jobs with different adapters: answers are as if alone, different adapters share no prefix, and
 * adapters may be freed while a job runs with them. */
#include "scheduler_client.h"
#include "tiny_adapter.h"

#define PROMPT 60
#define ANSWER 30

static int32_t ids[PROMPT];

static enum td_status submit_with(struct scheduler *scheduler, struct client *client,
                                  const struct td_adapter_use *uses, size_t count)
{
    struct td_error err = {0};
    struct adapter_set *set = NULL;
    struct job_request request = {.ids = ids,
                                  .id_count = PROMPT,
                                  .options = plain_options(ANSWER),
                                  .loop = &loop.loop,
                                  .on_token = on_token,
                                  .on_done = on_done,
                                  .ctx = client};
    *client = (struct client){0};
    buf_init(&client->text, 1 << 20);
    CHECK(adapter_set_new(model, uses, count, &set, &err) == TD_OK);
    request.adapters = set;
    enum td_status status = scheduler_submit(scheduler, &request, &client->job, &err);
    adapter_set_release(set); /* the job has its own */
    return status;
}

/* What a session of its own makes of it. */
static void answer_alone(const struct td_adapter_use *uses, size_t count, struct buf *text)
{
    struct td_session *session = NULL;
    struct td_error err = {0};
    struct td_generate_options options = plain_options(ANSWER);
    buf_init(text, 1 << 20);
    CHECK(td_session_new(model, NULL, &session, &err) == TD_OK);
    CHECK(td_session_set_adapters(session, uses, count, &err) == TD_OK);
    CHECK(td_generate(session, ids, PROMPT, &options, append_text, text, NULL, &err) == TD_OK);
    td_session_free(session);
}

static bool same_text(const struct buf *a, const struct buf *b)
{
    return str_equal(buf_view(a), buf_view(b));
}

static void test_jobs_with_different_adapters_answer_as_alone(void)
{
    enum { JOBS = 8 };
    struct td_adapter *one = tiny_adapter(model, 1), *two = tiny_adapter(model, 2);
    const struct td_adapter_use uses[] = {{one, 1}, {two, 0.5f}};
    const size_t first[4] = {0, 0, 1, 0}, count[4] = {0, 1, 1, 2};
    struct client clients[JOBS];
    struct buf alone[4];
    struct scheduler *scheduler = open_scheduler(4, JOBS);
    for (int i = 0; i < 4; i++)
        answer_alone(uses + first[i], count[i], &alone[i]);
    CHECK(!same_text(&alone[0], &alone[1]) && !same_text(&alone[1], &alone[3]));
    for (int i = 0; i < JOBS; i++)
        CHECK(submit_with(scheduler, &clients[i], uses + first[i % 4], count[i % 4]) == TD_OK);
    td_adapter_free(one); /* swapped out while they run: they keep theirs */
    td_adapter_free(two);
    run_until_done(clients, JOBS);
    for (int i = 0; i < JOBS; i++) {
        CHECK(clients[i].status == TD_OK && same_text(&clients[i].text, &alone[i % 4]));
        buf_deinit(&clients[i].text);
    }
    for (int i = 0; i < 4; i++)
        buf_deinit(&alone[i]);
    scheduler_free(scheduler);
}

/* One slot and one prompt: what was cached under other adapters is not used, under the same it
 * is. */
static void test_a_prefix_is_shared_only_under_the_same_adapters(void)
{
    struct td_adapter *one = tiny_adapter(model, 1), *again = tiny_adapter(model, 1);
    const struct td_adapter_use use = {one, 1}, weaker = {one, 0.5f}, reloaded = {again, 1};
    const struct td_adapter_use *const turns[] = {&use, &use, NULL, NULL, &weaker, &use, &reloaded};
    struct scheduler *scheduler = open_scheduler(1, 1);
    for (size_t i = 0; i < sizeof turns / sizeof *turns; i++) {
        struct client client;
        struct buf alone;
        CHECK(submit_with(scheduler, &client, turns[i], turns[i] != NULL) == TD_OK);
        run_until_done(&client, 1);
        answer_alone(turns[i], turns[i] != NULL, &alone);
        CHECK(client.status == TD_OK && same_text(&client.text, &alone));
        if (i == 0 || i == 2 || i == 4 || i == 6) /* the first of its kind */
            CHECK(client.result.cached_tokens == 0);
        if (i == 1 || i == 3)
            CHECK(client.result.cached_tokens > 0);
        buf_deinit(&client.text);
        buf_deinit(&alone);
    }
    scheduler_free(scheduler);
    td_adapter_free(one);
    td_adapter_free(again);
}

int main(void)
{
    model = tiny_model(1);
    if (model == NULL)
        return 1;
    test_loop_init(&loop);
    fill_prompt(ids, PROMPT, 5);
    RUN(test_jobs_with_different_adapters_answer_as_alone);
    RUN(test_a_prefix_is_shared_only_under_the_same_adapters);
    test_loop_deinit(&loop);
    td_model_close(model);
    return test_finish();
}
