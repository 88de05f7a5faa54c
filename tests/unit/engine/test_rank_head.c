/* Rerankers against scores by another implementation in float64 (tests/golden/make_rankers.py), and
 * how pairs of texts are put together. */
#include "engine/embedding/embedding.h"
#include "engine/embedding/rank_head.h"

#include "formula_model.h"
#include "variants.h"

#include <math.h>

static struct json *golden;

static struct td_model *open_case(size_t i, enum td_cpu cpu)
{
    struct td_model_options options = {.cpu = cpu};
    const struct json *model = json_at(json_get(golden, "models"), i);
    return formula_model_open(model, (int)json_int(json_get(model, "vocab"), 0), &options);
}

static void check_scores(const struct json *scores, const struct td_model *model)
{
    enum { PAIRS_MAX = 8, IDS_MAX = 32, WIDE = 32 };
    const struct json *pairs = json_get(golden, "pairs");
    size_t count = json_count(pairs);
    int32_t ids[PAIRS_MAX][IDS_MAX];
    struct td_ids texts[PAIRS_MAX];
    float vectors[PAIRS_MAX * WIDE];
    struct td_embedder *embedder;
    struct td_error err = {0};
    REQUIRE(count > 0 && count <= PAIRS_MAX && json_count(scores) == count);
    for (size_t p = 0; p < count; p++) {
        const struct json *pair = json_at(pairs, p);
        texts[p] = (struct td_ids){ids[p], json_count(pair)};
        REQUIRE(texts[p].count <= IDS_MAX);
        for (size_t i = 0; i < texts[p].count; i++)
            ids[p][i] = (int32_t)json_int(json_at(pair, i), -1);
    }
    REQUIRE(embedder_new_ranker(model, 1, &embedder, &err) == TD_OK);
    CHECK(td_embed(embedder, texts, count, vectors, &err) == TD_OK);
    for (size_t p = 0; p < count; p++) {
        double expected = json_number(json_at(scores, p), -1);
        CHECK(fabs((double)vectors[p * WIDE] - expected) < 1e-3 * expected);
        CHECK(vectors[p * WIDE + 1] == 0);
    }
    td_embedder_free(embedder);
}

/* The cache of a decoder is in halves here, so scores are right to three digits; without types or
 * pooler they differ in the first. */
static void test_scores_are_those_of_the_other_implementation(void)
{
    const struct json *models = json_get(golden, "models");
    CHECK(json_count(models) == 2);
    for (size_t i = 0; i < json_count(models); i++)
        for (const struct variant *v = NULL; (v = variant_next(v, "rank head")) != NULL;) {
            struct td_model *model = open_case(i, v->cpu);
            REQUIRE(model != NULL);
            CHECK(rank_head_is_in(model));
            check_scores(json_get(json_at(models, i), "scores"), model);
            td_model_close(model);
        }
}

static void test_an_encoder_reads_a_pair_with_one_beginning(void)
{
    struct td_model *model = open_case(0, TD_CPU_AUTO);
    struct buf ids;
    REQUIRE(model != NULL);
    buf_init(&ids, 1 << 16);
    CHECK(rank_encode_pair(model, STR("w7 w8"), STR("w9"), &ids, NULL) == TD_OK);
    const int32_t expected[] = {2, 7, 8, 3, 9, 3};
    CHECK(ids.len == sizeof expected && memcmp(ids.data, expected, sizeof expected) == 0);
    buf_deinit(&ids);
    td_model_close(model);
}

/* Nothing that a document says becomes a control token: the prompt's own marks alone do. */
static void test_a_decoder_reads_its_prompt_and_no_marks_of_a_document(void)
{
    struct td_model *model = open_case(1, TD_CPU_AUTO);
    struct buf plain, marked;
    REQUIRE(model != NULL);
    buf_init(&plain, 1 << 16);
    buf_init(&marked, 1 << 16);
    CHECK(rank_encode_pair(model, STR("q"), STR("d"), &plain, NULL) == TD_OK);
    CHECK(rank_encode_pair(model, STR("q"), STR("d<|im_end|>"), &marked, NULL) == TD_OK);
    CHECK(plain.len > 0 && marked.len > plain.len);
    buf_deinit(&plain);
    buf_deinit(&marked);
    td_model_close(model);
}

static void test_a_model_without_a_head_is_no_reranker(void)
{
    struct td_model *model = tiny_model(1);
    struct td_embedder *embedder;
    struct td_error err = {0};
    REQUIRE(model != NULL);
    CHECK(!rank_head_is_in(model));
    CHECK(embedder_new_ranker(model, 1, &embedder, &err) == TD_UNSUPPORTED);
    CHECK(embedder == NULL && strstr(err.message, "'yes' and 'no'") != NULL);
    td_model_close(model);
}

int main(void)
{
    struct buf text;
    struct td_error err = {0};
    buf_init(&text, 1 << 22);
    if (buf_read_file(&text, TANDEM_GOLDEN_DIR "/rankers.json", &err) != TD_OK ||
        json_parse(buf_view(&text), &golden, &err) != TD_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    buf_deinit(&text);
    RUN(test_scores_are_those_of_the_other_implementation);
    RUN(test_an_encoder_reads_a_pair_with_one_beginning);
    RUN(test_a_decoder_reads_its_prompt_and_no_marks_of_a_document);
    RUN(test_a_model_without_a_head_is_no_reranker);
    json_free(golden);
    return test_finish();
}
