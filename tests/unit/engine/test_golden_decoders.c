/* Decoders of the architectures that the shared golden data do not have, against logits by another
 * implementation in float64 (tests/golden/make_decoders.py). Weights are a formula. */
#include "base/json/json.h"
#include "tandem/engine.h"

#include "formula_model.h"
#include "nmse.h"
#include "variants.h"

#include <math.h>

/* A feature that is left out moves the logits by more than 1e-3. */
#define NMSE_MAX 1e-9

static struct json *golden;

static void check_logits(const struct json *model, const struct td_model *made, const char *variant)
{
    enum { IDS_MAX = 64, LOGITS_MAX = 256 };
    const struct json *ids_json = json_get(golden, "ids"), *rows = json_get(model, "logits");
    size_t count = json_count(ids_json), row_count = json_count(rows);
    size_t vocab = json_count(json_at(rows, 0));
    int32_t ids[IDS_MAX];
    float got[LOGITS_MAX], expected[LOGITS_MAX];
    REQUIRE(count > 0 && count <= IDS_MAX && row_count * vocab <= LOGITS_MAX && vocab > 0);
    for (size_t i = 0; i < count; i++)
        ids[i] = (int32_t)json_int(json_at(ids_json, i), -1);
    for (size_t i = 0; i < row_count * vocab; i++)
        expected[i] = (float)json_number(json_at(json_at(rows, i / vocab), i % vocab), NAN);
    struct td_session *session = NULL;
    struct td_session_options options = {.kv_type = TD_KV_F32, .thread_count = 1};
    REQUIRE(td_session_new(made, &options, &session, NULL) == TD_OK);
    CHECK(td_session_forward(session, ids, count, got, row_count, NULL) == TD_OK);
    double error = nmse(got, expected, row_count * vocab);
    CHECK(error <= NMSE_MAX);
    printf("  %-16s %-8s nmse %.1e\n", json_cstr(json_get(model, "name")), variant, error);
    td_session_free(session);
}

static void test_logits_are_those_of_the_other_implementation(void)
{
    const struct json *models = json_get(golden, "models");
    CHECK(json_count(models) >= 18);
    for (size_t i = 0; i < json_count(models); i++) {
        const struct json *model = json_at(models, i);
        const char *name = json_cstr(json_get(model, "name"));
        for (const struct variant *v = NULL; (v = variant_next(v, name)) != NULL;) {
            struct td_model_options options = {.cpu = v->cpu};
            struct td_model *made =
                formula_model_open(model, (int)json_int(json_get(golden, "vocab"), 0), &options);
            CHECK(made != NULL);
            if (made)
                check_logits(model, made, v->name);
            td_model_close(made);
        }
    }
}

int main(void)
{
    struct buf text;
    struct td_error err = {0};
    buf_init(&text, 1 << 22);
    if (buf_read_file(&text, TANDEM_GOLDEN_DIR "/decoders.json", &err) != TD_OK ||
        json_parse(buf_view(&text), &golden, &err) != TD_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    buf_deinit(&text);
    RUN(test_logits_are_those_of_the_other_implementation);
    json_free(golden);
    return test_finish();
}
