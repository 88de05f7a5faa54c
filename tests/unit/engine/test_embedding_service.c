/* The thread for embeddings: callers and their jobs take turns, and a full queue is an answer. */
#include "base/core/error.h"
#include "base/core/str.h"
#include "engine/embedding/embedding_service.h"
#include "test.h"
#include "test_loop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MANY 400

static struct td_model *model;
static struct test_loop loop;

struct asker {
    struct embedding_job *job;
    enum td_status status;
    int place; /* in the order of the answers, from 1; 0 = none yet */
    char message[TD_ERROR_BYTES];
    size_t count;
    float *vectors;
};

static int answers;

static void on_done(void *ctx, enum td_status status, const struct embedding_answer *answer,
                    const struct td_error *err)
{
    struct asker *asker = ctx;
    asker->job = NULL;
    asker->status = status;
    asker->place = ++answers;
    snprintf(asker->message, sizeof asker->message, "%s", err->message);
    if (!answer)
        return;
    size_t bytes = answer->count * answer->size * sizeof *answer->vectors;
    asker->count = answer->count;
    asker->vectors = malloc(bytes);
    REQUIRE(asker->vectors != NULL);
    memcpy(asker->vectors, answer->vectors, bytes);
}

static enum td_status ask(struct embedding_service *service, struct asker *asker,
                          const char *caller, const struct embedding_input *inputs, size_t count)
{
    struct embedding_request request = {.inputs = inputs,
                                        .input_count = count,
                                        .caller = caller,
                                        .loop = &loop.loop,
                                        .on_done = on_done,
                                        .ctx = asker};
    struct td_error err = {0};
    *asker = (struct asker){0};
    enum td_status status = embedding_submit(service, &request, &asker->job, &err);
    snprintf(asker->message, sizeof asker->message, "%s", err.message);
    return status;
}

static void wait_for(const struct asker *asker)
{
    while (asker->place == 0)
        REQUIRE(test_loop_run_one(&loop, 60000));
}

static struct embedding_service *open_service(uint32_t capacity)
{
    struct embedding_service_options options = {
        .model = model, .thread_count = 1, .queue_capacity = capacity};
    struct embedding_service *service = NULL;
    CHECK(embedding_service_new(&options, &service, NULL) == TD_OK);
    test_loop_init(&loop);
    answers = 0;
    return service;
}

static void close_service(struct embedding_service *service, struct asker *askers, size_t count)
{
    embedding_service_free(service);
    test_loop_deinit(&loop);
    for (size_t i = 0; i < count; i++)
        free(askers[i].vectors);
}

static void fill(struct embedding_input *inputs, size_t count)
{
    static const char *const words[] = {"one", "two words", "three short words", "and so on"};
    for (size_t i = 0; i < count; i++)
        inputs[i] = (struct embedding_input){.text = str_from(words[i % 4])};
}

static void test_a_small_request_does_not_wait_for_those_of_another_caller(void)
{
    static struct embedding_input inputs[MANY];
    struct asker askers[5];
    fill(inputs, MANY);
    struct embedding_service *service = open_service(8);
    for (int i = 0; i < 4; i++)
        REQUIRE(ask(service, &askers[i], "many", inputs, MANY) == TD_OK);
    REQUIRE(ask(service, &askers[4], "one", inputs, 1) == TD_OK);
    for (int i = 0; i < 5; i++)
        wait_for(&askers[i]);
    /* In a plain queue the four would come first; here it comes before the second of them. */
    CHECK(askers[4].place < askers[1].place);
    for (int i = 0; i < 4; i++)
        CHECK(askers[i].status == TD_OK && askers[i].count == MANY);
    for (int i = 0; i < 3; i++)
        CHECK(askers[i].place < askers[i + 1].place);
    CHECK(memcmp(askers[4].vectors, askers[0].vectors,
                 td_model_get_info(model)->embedding_size * sizeof(float)) == 0);
    close_service(service, askers, 5);
}

static void test_turns_do_not_change_vectors(void)
{
    static struct embedding_input inputs[MANY];
    struct asker askers[2];
    size_t size = td_model_get_info(model)->embedding_size;
    fill(inputs, MANY);
    struct embedding_service *service = open_service(8);
    REQUIRE(ask(service, &askers[0], NULL, inputs, MANY) == TD_OK);
    REQUIRE(ask(service, &askers[1], NULL, inputs, 4) == TD_OK);
    wait_for(&askers[0]);
    wait_for(&askers[1]);
    for (size_t i = 0; i < MANY; i++)
        CHECK(memcmp(askers[0].vectors + i * size, askers[1].vectors + i % 4 * size,
                     size * sizeof(float)) == 0);
    close_service(service, askers, 2);
}

static void test_an_error_names_the_text_by_its_place_in_the_request(void)
{
    static struct embedding_input inputs[MANY];
    static const int32_t strange[1] = {INT32_MAX};
    struct asker asker;
    fill(inputs, MANY);
    inputs[MANY - 1] = (struct embedding_input){.ids = strange, .id_count = 1};
    struct embedding_service *service = open_service(8);
    REQUIRE(ask(service, &asker, NULL, inputs, MANY) == TD_OK);
    wait_for(&asker);
    CHECK(asker.status == TD_INVALID);
    CHECK(strstr(asker.message, "text 399, token 0") != NULL);
    close_service(service, &asker, 1);
}

static void test_a_full_line_is_busy_and_a_cancelled_job_makes_room(void)
{
    static struct embedding_input inputs[MANY];
    struct asker askers[4];
    fill(inputs, MANY);
    struct embedding_service *service = open_service(2);
    REQUIRE(ask(service, &askers[0], NULL, inputs, MANY) == TD_OK);
    REQUIRE(ask(service, &askers[1], NULL, inputs, MANY) == TD_OK);
    CHECK(ask(service, &askers[2], NULL, inputs, 1) == TD_BUSY);
    CHECK(strstr(askers[2].message, "2 requests") != NULL);
    embedding_cancel(askers[0].job);
    wait_for(&askers[1]);
    CHECK(askers[0].place == 0); /* nothing comes after cancelling */
    REQUIRE(ask(service, &askers[3], NULL, inputs, 1) == TD_OK);
    wait_for(&askers[3]);
    CHECK(askers[3].status == TD_OK);
    close_service(service, askers, 4);
}

static void test_a_service_that_ends_drops_what_waits(void)
{
    static struct embedding_input inputs[MANY];
    struct asker askers[2];
    fill(inputs, MANY);
    struct embedding_service *service = open_service(2);
    REQUIRE(ask(service, &askers[0], NULL, inputs, MANY) == TD_OK);
    REQUIRE(ask(service, &askers[1], NULL, inputs, MANY) == TD_OK);
    struct embedding_job *jobs[2] = {askers[0].job, askers[1].job};
    embedding_service_free(service);
    for (int i = 0; i < 2; i++)
        if (askers[i].place == 0)
            embedding_cancel(jobs[i]); /* the owner's reference */
    test_loop_deinit(&loop);
}

int main(void)
{
    if (td_model_open(TANDEM_NANO_DEFAULT, NULL, &model, NULL) != TD_OK)
        return 1;
    RUN(test_a_small_request_does_not_wait_for_those_of_another_caller);
    RUN(test_turns_do_not_change_vectors);
    RUN(test_an_error_names_the_text_by_its_place_in_the_request);
    RUN(test_a_full_line_is_busy_and_a_cancelled_job_makes_room);
    RUN(test_a_service_that_ends_drops_what_waits);
    td_model_close(model);
    return test_finish();
}
