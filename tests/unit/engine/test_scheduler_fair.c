/* Owners that wait for the engine get their shares, whoever asks how often. */
#include "scheduler_client.h"

#include <math.h>

#define ENOUGH 10 /* answers of 20 that may be there before there is somebody to take turns with */

static int32_t ids[10];

static enum td_status submit_of(struct scheduler *scheduler, struct client *client, uint64_t owner,
                                uint32_t weight, uint32_t tokens, struct td_error *err)
{
    struct job_request request = {.ids = ids,
                                  .id_count = 10,
                                  .owner = owner,
                                  .weight = weight,
                                  .options = plain_options(tokens),
                                  .loop = &loop.loop,
                                  .on_token = on_token,
                                  .on_done = on_done,
                                  .ctx = client};
    buf_init(&client->text, 1 << 20);
    *err = (struct td_error){0};
    return scheduler_submit(scheduler, &request, &client->job, err);
}

static void free_texts(struct client *clients, size_t count)
{
    for (size_t i = 0; i < count; i++)
        buf_deinit(&clients[i].text);
}

/* One slot. The first owner has submitted everything before the second one comes. Returns how many
 * of its answers were there by then: that depends on when this thread got to hand the others in. */
static size_t take_turns(void)
{
    enum { EACH = 20 };
    static struct client busy[EACH], calm[EACH];
    struct td_error err;
    memset(busy, 0, sizeof busy);
    memset(calm, 0, sizeof calm);
    struct scheduler *scheduler = open_scheduler(1, 2 * EACH);
    for (int i = 0; i < EACH; i++)
        CHECK(submit_of(scheduler, &busy[i], 1, 1, 8, &err) == TD_OK);
    for (int i = 0; i < EACH; i++)
        CHECK(submit_of(scheduler, &calm[i], 2, 1, 8, &err) == TD_OK);
    run_until_done(calm, EACH);
    /* From the second one's first turn on they take turns. */
    size_t ahead = 0, early = 0;
    for (int i = 0; i < EACH; i++) {
        ahead += busy[i].first_order && busy[i].first_order < calm[0].first_order;
        early += busy[i].first_order > calm[0].first_order &&
                 busy[i].first_order < calm[EACH / 2].first_order;
    }
    size_t due = EACH - ahead < EACH / 2 ? EACH - ahead : EACH / 2;
    CHECK(early + 2 >= due && early <= due + 2);
    run_until_done(busy, EACH);
    free_texts(busy, EACH);
    free_texts(calm, EACH);
    scheduler_free(scheduler);
    return ahead;
}

static void test_who_came_with_more_has_no_more_turns(void)
{
    size_t ahead = ENOUGH + 1;
    for (int i = 0; i < 20 && ahead > ENOUGH; i++)
        ahead = take_turns();
    CHECK(ahead <= ENOUGH);
}

/* Tokens that were computed for each owner while all wait: the second has long answers, and the
 * third counts twice. All prompts are one text, of which only the last token is computed again. */
static void test_shares_are_of_tokens_and_by_weight(void)
{
    enum { OWNERS = 3, EACH = 60 };
    static struct client clients[OWNERS][EACH];
    static const uint32_t weights[OWNERS] = {1, 1, 2}, tokens[OWNERS] = {5, 30, 15};
    struct td_error err;
    memset(clients, 0, sizeof clients);
    struct scheduler *scheduler = open_scheduler(2, OWNERS * EACH);
    for (int i = 0; i < EACH; i++)
        for (int o = 0; o < OWNERS; o++)
            CHECK(submit_of(scheduler, &clients[o][i], (uint64_t)o + 1, weights[o], tokens[o],
                            &err) == TD_OK);
    double got[OWNERS] = {0}, all = 0;
    while (!clients[0][EACH - 1].done && !clients[2][EACH - 1].done)
        CHECK(test_loop_run_one(&loop, WAIT_MS));
    for (int o = 0; o < OWNERS; o++)
        for (int i = 0; i < EACH; i++)
            if (clients[o][i].tokens)
                got[o] += 1 + (double)clients[o][i].tokens;
    for (int o = 0; o < OWNERS; o++)
        all += got[o];
    for (int o = 0; o < OWNERS; o++) {
        double share = got[o] / all, due = weights[o] / 4.0;
        printf("owner %d: %.3f of the tokens, %.3f is due\n", o + 1, share, due);
        CHECK(fabs(share / due - 1) < 0.1);
        run_until_done(clients[o], EACH);
        free_texts(clients[o], EACH);
    }
    scheduler_free(scheduler);
}

enum { QUEUE = 6, BUSY = QUEUE + 1 };

/* False: the first request of 100 tokens had ended before the other owner came, because this thread
 * had to wait, so there was a place anyway. */
static bool fill_queue_before_another_comes(void)
{
    enum { LONG = 100 };
    static struct client busy[BUSY], calm[1];
    struct td_error err;
    memset(busy, 0, sizeof busy);
    memset(calm, 0, sizeof calm);
    struct scheduler *scheduler = open_scheduler(1, QUEUE);
    CHECK(submit_of(scheduler, &busy[0], 1, 1, LONG, &err) == TD_OK);
    while (scheduler_get_load(scheduler).running == 0)
        usleep(100);
    for (int i = 1; i < BUSY; i++)
        CHECK(submit_of(scheduler, &busy[i], 1, 1, 2, &err) == TD_OK);
    CHECK(submit_of(scheduler, &calm[0], 2, 1, 2, &err) == TD_OK);
    bool full = scheduler_get_load(scheduler).completion_tokens < LONG;
    run_until_done(calm, 1);
    CHECK(calm[0].status == TD_OK);
    run_until_done(busy, BUSY);
    if (full)
        CHECK(busy[BUSY - 1].status == TD_BUSY && busy[BUSY - 1].tokens == 0); /* the youngest */
    for (int i = 0; i < BUSY - 1; i++)
        CHECK(busy[i].status == TD_OK);
    free_texts(busy, BUSY);
    free_texts(calm, 1);
    scheduler_free(scheduler);
    return full;
}

static void test_who_fills_the_queue_gives_places_up_to_others(void)
{
    bool full = false;
    for (int i = 0; i < 200 && !full; i++)
        full = fill_queue_before_another_comes();
    CHECK(full);
}

int main(void)
{
    model = tiny_model(1);
    if (model == NULL)
        return 1;
    test_loop_init(&loop);
    fill_prompt(ids, 10, 5);
    RUN(test_who_came_with_more_has_no_more_turns);
    RUN(test_shares_are_of_tokens_and_by_weight);
    RUN(test_who_fills_the_queue_gives_places_up_to_others);
    test_loop_deinit(&loop);
    td_model_close(model);
    return test_finish();
}
