/* Importance is gathered for every matrix and every token, however many matrices there are. */
#include "quant/measure/collect.h"

#include "../engine/architecture_model.h"
#include "test.h"

#include <malloc.h>

static void test_every_matrix_of_a_deep_model_sees_every_token(void)
{
    enum {
        IDS = 150,
        DEEP = 12
    }; /* several passes; 84 matrices, of which there is room for 64 first */
    struct spec spec = {.architecture = "llama", .layers = DEEP};
    struct td_error err = {0};
    struct td_model *model = make(&spec, TD_CPU_AUTO, &err);
    REQUIRE(model != NULL);
    struct texts texts = {0};
    int32_t *ids = malloc(IDS * sizeof *ids);
    REQUIRE(ids != NULL);
    for (int i = 0; i < IDS; i++)
        ids[i] = 7 * i % TINY_VOCAB;
    REQUIRE(texts_take(&texts, ids, IDS, &err) == TD_OK);
    struct imatrix *imatrix = NULL;
    struct collect_result result;
    const struct collect_options options = {.thread_count = 1};
    REQUIRE(collect_importance(model, &texts, &options, &imatrix, &result, &err) == TD_OK);
    CHECK(imatrix_count(imatrix) >= 7 * DEEP);
    for (size_t i = 0; i < imatrix_count(imatrix); i++)
        CHECK(imatrix_at(imatrix, i)->counts[0] == IDS);
    const struct imatrix_entry *q = imatrix_find(imatrix, STR("blk.0.attn_q.weight"));
    const struct imatrix_entry *v = imatrix_find(imatrix, STR("blk.0.attn_v.weight"));
    REQUIRE(q != NULL && v != NULL);
    CHECK(memcmp(q->sums, v->sums, q->cols * sizeof *q->sums) == 0);
    imatrix_free(imatrix);
    texts_deinit(&texts);
    td_model_close(model);
}

int main(void)
{
    mallopt(M_PERTURB, 0xA5); /* what is freed is overwritten */
    RUN(test_every_matrix_of_a_deep_model_sees_every_token);
    return test_finish();
}
