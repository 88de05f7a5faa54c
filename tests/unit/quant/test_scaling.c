/* Scales are folded only where the model computes the same with them: models of every architecture,
 * whose groups are scaled by far and written as floats, give the logits that they gave. What a
 * search makes of it is for tests/e2e/test_quantize.py. */
#include "base/thread/thread_pool.h"
#include "engine/session/session.h"
#include "quant/quantize/scaling_groups.h"

#include "../engine/architecture_model.h"
#include "test.h"

#include <math.h>
#include <unistd.h>

enum { IDS = 20 };

static float one[IDS * TINY_VOCAB], other[IDS * TINY_VOCAB];

static void run(const struct td_model *model, float *rows)
{
    struct td_session *session = NULL;
    struct td_error err = {0};
    const struct td_session_options options = {.thread_count = 1, .kv_type = TD_KV_F32};
    int32_t ids[IDS];
    for (int i = 0; i < IDS; i++)
        ids[i] = 7 * i % TINY_VOCAB;
    REQUIRE(td_session_new(model, &options, &session, &err) == TD_OK);
    REQUIRE(td_session_forward(session, ids, IDS, rows, IDS, &err) == TD_OK);
    td_session_free(session);
}

/* All columns are as important as all others. */
static void make_importance(const struct gguf *gguf, struct imatrix **out)
{
    struct td_error err = {0};
    struct imatrix *imatrix = *out = imatrix_new();
    REQUIRE(imatrix != NULL);
    for (size_t i = 0; i < gguf_tensor_count(gguf); i++) {
        const struct gguf_tensor *tensor = gguf_tensor_at(gguf, i);
        struct imatrix_entry *entry = imatrix_add(imatrix, tensor->name, (uint32_t)tensor->dims[0],
                                                  (uint32_t)tensor->dims[2]);
        REQUIRE(entry != NULL);
        for (uint64_t c = 0; c < tensor->dims[0] * tensor->dims[2]; c++)
            entry->sums[c] = 1;
        for (uint64_t e = 0; e < tensor->dims[2]; e++)
            entry->counts[e] = 1;
    }
    REQUIRE(imatrix_settle(imatrix, &err) == TD_OK);
}

/* Scales of 1/4 to 4; columns that a row makes have the row's. */
static void scale_by_far(struct scaling *scaling, struct quantize_plan *plan,
                         const struct scaling_group *group)
{
    size_t cols = (size_t)plan->items[group->users[0]].tensor->dims[0];
    float *scales = malloc(cols * sizeof *scales);
    REQUIRE(scales != NULL);
    for (size_t i = 0; i < cols; i++)
        scales[i] = exp2f((float)(scaling_group_row(group, i) * 5 % 17) / 4 - 2);
    CHECK(scaling_fold(scaling, plan, group, scales, cols));
    free(scales);
}

/* How many groups of each kind there are. */
struct found {
    unsigned kinds[SCALING_KINDS];
};

/* Writes the model with all its groups scaled. */
static void write_scaled(const struct td_model *model, const char *path, struct found *found)
{
    struct td_error err = {0};
    struct quantize_plan plan;
    struct mix_model traits;
    struct encode_result result;
    struct imatrix *imatrix = NULL;
    struct scaling *scaling = calloc(1, sizeof *scaling);
    struct quantize_options options = {.out = path, .threads = thread_pool_new(1)};
    make_importance(model->gguf, &imatrix);
    REQUIRE(scaling != NULL && options.threads != NULL);
    REQUIRE(quantize_plan_init(&plan, model->gguf, mix_find(STR("F32")), imatrix, &err) == TD_OK);
    mix_model_read(model->gguf, true, &traits);
    for (unsigned layer = 0; layer < traits.layer_count; layer++)
        for (unsigned kind = 0; kind < SCALING_KINDS; kind++) {
            struct scaling_group group;
            if (scaling_group_find(&plan, &traits, layer, kind, &group)) {
                found->kinds[kind]++;
                scale_by_far(scaling, &plan, &group);
            }
        }
    CHECK(quantize_write(&plan, &options, &result, &err) == TD_OK);
    thread_pool_free(options.threads);
    quantize_plan_deinit(&plan);
    scaling_free(scaling);
    imatrix_free(imatrix);
}

static double largest_difference(void)
{
    double largest = 0;
    for (size_t i = 0; i < IDS * TINY_VOCAB; i++)
        if (!(fabs((double)one[i] - (double)other[i]) <= largest))
            largest = fabs((double)one[i] - (double)other[i]);
    return largest;
}

/* *far: how far the logits are from those without scales. */
static void scale_model(const struct spec *spec, struct found *found, double *far)
{
    char path[] = "/tmp/tandem-scaling-XXXXXX";
    struct td_error err = {0};
    struct td_model *model = make(spec, TD_CPU_AUTO, &err), *scaled = NULL;
    *far = INFINITY;
    REQUIRE(model != NULL);
    int fd = mkstemp(path);
    REQUIRE(fd >= 0);
    close(fd);
    run(model, one);
    *found = (struct found){{0}};
    write_scaled(model, path, found);
    td_model_close(model);
    REQUIRE(td_model_open(path, NULL, &scaled, &err) == TD_OK);
    run(scaled, other);
    td_model_close(scaled);
    unlink(path);
    *far = largest_difference();
}

static void test_a_model_of_any_architecture_computes_the_same_with_scales(void)
{
    unsigned groups = 0;
    for (size_t n = 0; n < ARCHITECTURES; n++) {
        struct spec spec = usual_spec(architecture_names[n]);
        struct found found;
        double far;
        scale_model(&spec, &found, &far);
        for (unsigned kind = 0; kind < SCALING_KINDS; kind++)
            groups += found.kinds[kind];
        if (!(far < 1e-3))
            fprintf(stderr, "%s: %g\n", architecture_names[n], far);
        CHECK(far < 1e-3);
    }
    CHECK(groups > 100);
}

static void test_query_heads_that_share_a_key_head_share_its_scale(void)
{
    struct spec spec = usual_spec("llama");
    struct found found;
    double far;
    scale_model(&spec, &found, &far);
    CHECK(TINY_HEADS > TINY_KV_HEADS); /* columns of o share the rows of v */
    for (unsigned kind = 0; kind < SCALING_KINDS; kind++)
        CHECK(found.kinds[kind] == LAYERS);
}

static void test_v_is_not_scaled_where_its_scale_does_not_reach_o(void)
{
    struct found found;
    double far;
    /* a norm of the values takes a scale away */
    struct spec spec = usual_spec("gemma4");
    scale_model(&spec, &found, &far);
    CHECK(found.kinds[3] == 0);
    /* which heads share a key head differs between layers */
    static const int32_t heads[] = {4, 2, 4, 2}, kv_heads[] = {2, 2, 1, 1};
    spec = (struct spec){.architecture = "deci", .heads = heads, .kv_heads = kv_heads};
    scale_model(&spec, &found, &far);
    CHECK(found.kinds[3] == 0);
    CHECK(far < 1e-3);
}

int main(void)
{
    RUN(test_a_model_of_any_architecture_computes_the_same_with_scales);
    RUN(test_query_heads_that_share_a_key_head_share_its_scale);
    RUN(test_v_is_not_scaled_where_its_scale_does_not_reach_o);
    return test_finish();
}
