/* The cost and the accuracy of the types of the KV cache, on real weights: the nano model and a
 * text. */
#include "engine/forward/kv_pool.h"
#include "engine/measure/perplexity.h"
#include "kernels/kv_page.h"

#include "base/bytes/buf.h"
#include "base/core/str.h"
#include "nmse.h"
#include "shared_data.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>

enum { POSITIONS = 96 };

static struct td_model *model;

static const char text[] =
    "Extract the name, the date and the amount from this letter. Dear Ms. Brown, on 14 March we "
    "received your payment of 250 euros for the invoice number 1182. The remaining 75 euros are "
    "due "
    "by the end of April. Please reply to billing@example.com if anything is unclear. Kind "
    "regards, "
    "Peter Stone. Summarise the following in one sentence: The meeting was moved from Monday to "
    "Wednesday because two of the engineers are travelling, and the room has changed as well.";

static void run(enum td_kv_type kv_type, float *logits)
{
    int32_t ids[sizeof text];
    struct td_session *session = NULL;
    const struct td_session_options options = {.thread_count = 1, .kv_type = kv_type};
    size_t count;
    REQUIRE(td_tokenize(model, str_from(text), true, false, ids, sizeof text, &count, NULL) ==
                TD_OK &&
            count >= POSITIONS);
    REQUIRE(td_session_new(model, &options, &session, NULL) == TD_OK);
    CHECK(td_session_forward(session, ids, POSITIONS, logits, POSITIONS, NULL) == TD_OK);
    td_session_free(session);
}

static void test_logits_stay_close_in_every_type(void)
{
    size_t floats = (size_t)POSITIONS * model->vocab_count;
    float *exact = malloc(floats * sizeof *exact), *got = malloc(floats * sizeof *got);
    REQUIRE(exact != NULL && got != NULL);
    run(TD_KV_F32, exact);
    run(TD_KV_F16, got);
    double f16 = nmse(got, exact, floats);
    run(TD_KV_Q8_0, got);
    double q8_0 = nmse(got, exact, floats);
    printf("nmse of logits: f16 %.2e, q8_0 %.2e\n", f16, q8_0);
    CHECK(f16 > 0 && f16 < 3e-4);
    CHECK(q8_0 > 0 && q8_0 < 1e-3);
    free(exact);
    free(got);
}

static double perplexity_with(const struct td_model *of, struct td_str story,
                              enum td_kv_type kv_type)
{
    struct perplexity_result result;
    const struct perplexity_options options = {
        .session = {.context_tokens = 512, .thread_count = 1, .kv_type = kv_type}};
    CHECK(perplexity_measure(of, story, &options, &result, NULL, 0, NULL) == TD_OK);
    return result.perplexity;
}

static void test_perplexity_does_not_suffer(void)
{
    char model_path[512], story_path[512];
    struct td_model *stories = NULL;
    struct buf story;
    if (!shared_path(model_path, sizeof model_path, "golden/real/stories260K-f32.gguf") ||
        !shared_path(story_path, sizeof story_path, "golden/real/story.txt")) {
        SKIP("perplexity of cache types", "no golden data ($TANDEM_SHARED)");
        return;
    }
    buf_init(&story, 1 << 20);
    REQUIRE(td_model_open(model_path, NULL, &stories, NULL) == TD_OK);
    REQUIRE(buf_read_file(&story, story_path, NULL) == TD_OK);
    double exact = perplexity_with(stories, buf_view(&story), TD_KV_F32);
    double f16 = perplexity_with(stories, buf_view(&story), TD_KV_F16);
    double q8_0 = perplexity_with(stories, buf_view(&story), TD_KV_Q8_0);
    printf("perplexity: f32 %.4f, f16 %.4f, q8_0 %.4f\n", exact, f16, q8_0);
    CHECK(fabs(f16 / exact - 1) < 0.001);
    CHECK(fabs(q8_0 / exact - 1) < 0.005);
    buf_deinit(&story);
    td_model_close(stories);
}

static void test_q8_0_takes_little_more_than_half_of_f16(void)
{
    /* Keys and values of 6 layers, 2 heads of 64. The pages hold sums for the probe, too, which are
     * floats whatever the type. */
    double values = 100.0 * KV_PAGE_TOKENS * 6 * 2 * 64 * 2;
    double f16 = (double)kv_pool_bytes(model, TD_KV_F16, 100);
    CHECK((double)kv_pool_bytes(model, TD_KV_F32, 100) - f16 == values * (4 - 2));
    CHECK(f16 - (double)kv_pool_bytes(model, TD_KV_Q8_0, 100) == values * (2 - 34.0 / 32));
}

int main(void)
{
    const char *path = getenv("TANDEM_NANO");
    struct td_error err = {0};
    if (td_model_open(path ? path : TANDEM_NANO_DEFAULT, NULL, &model, &err) != TD_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    RUN(test_logits_stay_close_in_every_type);
    RUN(test_perplexity_does_not_suffer);
    RUN(test_q8_0_takes_little_more_than_half_of_f16);
    td_model_close(model);
    return test_finish();
}
