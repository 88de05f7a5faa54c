/* The forward pass against llama.cpp's logits, greedy continuations and perplexities (golden/ of
 * the shared data), with every kernel variant that this CPU has, or with the one that is named:
 *
 *   test_golden_logits [variant] */
#include "base/bytes/buf.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "engine/measure/perplexity.h"
#include "nmse.h"
#include "shared_data.h"
#include "tandem/engine.h"
#include "variants.h"

#include <math.h>

/* Float weights: the project's own limit. The index suggests 1e-8, which the reference reaches. */
#define NMSE_F32_MAX 1e-6

static struct json *golden;

static const char *only; /* variant that is named on the command line */

static float *read_floats(const char *name, size_t count)
{
    char relative[256], path[512];
    snprintf(relative, sizeof relative, "golden/%s", name);
    if (!shared_path(path, sizeof path, relative))
        return NULL;
    FILE *file = fopen(path, "rb");
    float *values = malloc(count * sizeof *values);
    if (file == NULL || fread(values, sizeof *values, count, file) != count) {
        free(values);
        values = NULL;
    }
    if (file)
        fclose(file);
    return values;
}

static char *read_text(const char *name, size_t *len)
{
    char relative[256], path[512];
    struct buf text;
    snprintf(relative, sizeof relative, "golden/%s", name);
    buf_init(&text, 1 << 20);
    if (!shared_path(path, sizeof path, relative) || buf_read_file(&text, path, NULL) != TD_OK)
        return NULL;
    *len = text.len;
    return buf_take(&text);
}

static size_t read_ids(const struct json *array, int32_t *ids, size_t capacity)
{
    size_t count = json_count(array) < capacity ? json_count(array) : capacity;
    for (size_t i = 0; i < count; i++)
        ids[i] = (int32_t)json_int(json_at(array, i), -1);
    return count;
}

/* TD_UNSUPPORTED: *model stays NULL. */
static enum td_status open_model(const struct json *test, enum td_cpu cpu, struct td_model **model,
                                 struct td_error *err)
{
    char relative[256], path[512];
    struct td_model_options options = {.cpu = cpu};
    snprintf(relative, sizeof relative, "golden/%s", json_cstr(json_get(test, "model")));
    shared_path(path, sizeof path, relative);
    *err = (struct td_error){0};
    return td_model_open(path, &options, model, err);
}

static struct td_session *open_session(const struct td_model *model)
{
    struct td_session *session = NULL;
    struct td_error err = {0};
    struct td_session_options options = {.kv_type = TD_KV_F32, .thread_count = 1};
    if (td_session_new(model, &options, &session, &err) != TD_OK)
        fprintf(stderr, "session: %s\n", err.message);
    return session;
}

static int32_t argmax(const float *logits, size_t count)
{
    size_t best = 0;
    for (size_t i = 1; i < count; i++)
        if (logits[i] > logits[best])
            best = i;
    return (int32_t)best;
}

/* Continues greedily, id by id, as long as the golden margins are clear. */
static void check_greedy(struct td_session *session, const float *last, size_t vocab,
                         const struct json *greedy, const char *name)
{
    const struct json *ids = json_get(greedy, "ids"), *margins = json_get(greedy, "margins");
    struct td_error err = {0};
    float *logits = malloc(vocab * sizeof *logits);
    memcpy(logits, last, vocab * sizeof *logits);
    for (size_t i = 0; i < json_count(ids); i++) {
        double margin =
            json_number(json_at(margins, i), json_number(json_get(greedy, "min_margin"), 0));
        if (margin < 1e-3)
            break;
        int32_t id = argmax(logits, vocab);
        if (id != json_int(json_at(ids, i), -1))
            fprintf(stderr, "%s: greedy token %zu is %d\n", name, i, id);
        REQUIRE(id == json_int(json_at(ids, i), -1));
        if (td_session_length(session) >= 512)
            break;
        CHECK(td_session_forward(session, &id, 1, logits, 1, &err) == TD_OK);
    }
    free(logits);
}

static bool is_float_file(const struct json *test)
{
    const char *name = json_cstr(json_get(test, "name"));
    return strstr(name, "/f32/") != NULL;
}

static double tolerance_of(const struct json *test)
{
    const struct json *tolerance = json_get(test, "tolerance");
    if (is_float_file(test))
        return NMSE_F32_MAX;
    return json_number(json_get(tolerance, "nmse_native"), 0);
}

/* Distance to the nearest golden result that is correct for a quantised file. For float files only
 * the exact one counts, because llama.cpp's GELU is a table of F16. */
static double distance(const struct json *test, const float *rows, size_t count)
{
    const char *names[2] = {json_cstr(json_get(test, "golden")),
                            json_cstr(json_get(test, "golden_deq"))};
    double best = INFINITY;
    if (is_float_file(test) && json_get(test, "golden_exact"))
        names[0] = json_cstr(json_get(test, "golden_exact"));
    for (int i = 0; i < 2; i++) {
        float *values = names[i] ? read_floats(names[i], count) : NULL;
        if (values)
            best = fmin(best, nmse(rows, values, count));
        free(values);
    }
    return best;
}

static void check_logits(const struct json *test, const struct td_model *model,
                         const struct variant *variant)
{
    const char *name = json_cstr(json_get(test, "name"));
    int32_t ids[1024];
    size_t count = read_ids(json_get(test, "ids"), ids, 1024);
    size_t rows = (size_t)json_int(json_at(json_get(test, "shape"), 0), 0);
    size_t vocab = td_model_get_info(model)->vocab_count;
    struct td_error err = {0};
    struct td_session *session = open_session(model);
    REQUIRE(session != NULL && rows > 0 && rows <= count);
    float *logits = malloc(rows * vocab * sizeof *logits);
    CHECK(td_session_forward(session, ids, count, logits, rows, &err) == TD_OK);
    double found = distance(test, logits, rows * vocab), most = tolerance_of(test);
    printf("  %-28s %-7s nmse %.3g (at most %.1g)\n", name, variant->name, found, most);
    if (!(found <= most))
        fprintf(stderr, "%s %s: nmse %.3g, at most %.3g\n", name, variant->name, found, most);
    CHECK(found <= most);
    if (is_float_file(test) && json_get(test, "greedy"))
        check_greedy(session, logits + (rows - 1) * vocab, vocab, json_get(test, "greedy"), name);
    td_session_free(session);
    free(logits);
}

/* The limit of the index: both sides compute with floats. */
static void check_adapter(const struct json *test, const struct td_model *model,
                          const struct variant *variant)
{
    const char *name = json_cstr(json_get(test, "name"));
    char relative[256], path[512];
    int32_t ids[1024];
    size_t count = read_ids(json_get(test, "ids"), ids, 1024);
    size_t values = count * td_model_get_info(model)->vocab_count;
    struct td_adapter *adapter = NULL;
    struct td_error err = {0};
    snprintf(relative, sizeof relative, "golden/%s", json_cstr(json_get(test, "lora")));
    REQUIRE(shared_path(path, sizeof path, relative));
    CHECK(td_adapter_load(model, path, &adapter, &err) == TD_OK);
    REQUIRE(adapter != NULL);
    struct td_session *session = open_session(model);
    float scale = (float)json_number(json_get(test, "lora_scale"), 0);
    CHECK(td_session_set_adapters(session, &(struct td_adapter_use){adapter, scale}, 1, &err) ==
          TD_OK);
    float *logits = malloc(values * sizeof *logits);
    float *golden_logits = read_floats(json_cstr(json_get(test, "golden")), values);
    REQUIRE(golden_logits != NULL);
    CHECK(td_session_forward(session, ids, count, logits, count, &err) == TD_OK);
    double found = nmse(logits, golden_logits, values);
    double most = json_number(json_get(json_get(test, "tolerance"), "nmse"), 0);
    printf("  %-28s %-7s nmse %.3g (at most %.1g)\n", name, variant->name, found, most);
    CHECK(found <= most);
    free(golden_logits);
    free(logits);
    td_session_free(session);
    td_adapter_free(adapter);
}

static void check_greedy_case(const struct json *test, const struct td_model *model,
                              const struct variant *variant)
{
    const char *name = json_cstr(json_get(test, "name"));
    int32_t ids[1024];
    size_t count = read_ids(json_get(test, "ids"), ids, 1024);
    size_t vocab = td_model_get_info(model)->vocab_count;
    struct td_error err = {0};
    struct td_session *session = open_session(model);
    REQUIRE(session != NULL);
    float *logits = malloc(vocab * sizeof *logits);
    CHECK(td_session_forward(session, ids, count, logits, 1, &err) == TD_OK);
    check_greedy(session, logits, vocab, json_get(test, "greedy"), name);
    printf("  %-28s %-7s %zu tokens\n", name, variant->name,
           json_count(json_get(json_get(test, "greedy"), "ids")));
    free(logits);
    td_session_free(session);
}

static void check_perplexity(const struct json *test, const struct td_model *model,
                             const struct variant *variant)
{
    const char *name = json_cstr(json_get(test, "name"));
    size_t scored = (size_t)json_int(json_get(test, "n_predicted"), 0), len = 0;
    float *nll = malloc(scored * sizeof *nll);
    float *expected = read_floats(json_cstr(json_get(test, "golden")), scored);
    char *text = read_text(json_cstr(json_get(test, "text_file")), &len);
    struct perplexity_options options = {.session = {.kv_type = TD_KV_F32, .thread_count = 1},
                                         .windows_max = 1};
    struct perplexity_result result;
    struct td_error err = {0};
    REQUIRE(expected != NULL && text != NULL);
    CHECK(perplexity_measure(model, (struct td_str){text, len}, &options, &result, nll, scored,
                             &err) == TD_OK);
    double most = json_number(json_get(json_get(test, "tolerance"), "ppl_rel"), 0);
    double golden_ppl = json_number(json_get(test, "ppl"), 0);
    double deq = json_number(json_get(test, "ppl_deq"), golden_ppl);
    double off = fmin(fabs(result.perplexity / golden_ppl - 1), fabs(result.perplexity / deq - 1));
    printf("  %-28s %-7s %.5f (golden %.5f)\n", name, variant->name, result.perplexity, golden_ppl);
    CHECK(result.scored_count == scored);
    CHECK(off <= most);
    for (size_t i = 0; i < scored && is_float_file(test); i++)
        CHECK(fabs((double)(nll[i] - expected[i])) <= 1e-3);
    free(nll);
    free(expected);
    free(text);
}

typedef void check_fn(const struct json *test, const struct td_model *model,
                      const struct variant *variant);

static void run_kind(const char *kind, check_fn *check)
{
    const struct json *cases = json_get(golden, "cases");
    for (size_t i = 0; i < json_count(cases); i++) {
        const struct json *test = json_at(cases, i);
        if (!str_equal(json_text(json_get(test, "kind")), str_from(kind)))
            continue;
        const char *name = json_cstr(json_get(test, "name"));
        for (const struct variant *v = NULL; (v = variant_next(v, name)) != NULL;) {
            struct td_model *model;
            struct td_error err;
            if (only && strcmp(only, v->name) != 0)
                continue;
            enum td_status status = open_model(test, v->cpu, &model, &err);
            bool whole_file = status == TD_UNSUPPORTED && strstr(err.message, ".gguf") != NULL;
            if (status == TD_UNSUPPORTED &&
                !(whole_file && (v > variants || is_float_file(test)))) {
                char what[128];
                snprintf(what, sizeof what, "%s %s", name, v->name);
                SKIP(what, err.message);
                if (v == variants)
                    break; /* the file, not the CPU */
                continue;
            }
            if (status != TD_OK)
                fprintf(stderr, "%s: %s\n", name, err.message);
            CHECK(status == TD_OK);
            if (model)
                check(test, model, v);
            td_model_close(model);
        }
    }
}

static void test_logits_of_float_models(void)
{
    run_kind("logits", check_logits);
}

static void test_logits_of_quantised_models(void)
{
    run_kind("logits-quant", check_logits);
}

static void test_logits_with_adapters(void)
{
    run_kind("lora", check_adapter);
}

static void test_greedy_continuations_are_identical(void)
{
    run_kind("greedy", check_greedy_case);
}

static void test_perplexity_of_a_story(void)
{
    run_kind("perplexity", check_perplexity);
}

int main(int argc, char **argv)
{
    only = argc > 1 ? argv[1] : NULL;
    char path[512];
    struct td_error err = {0};
    if (!shared_path(path, sizeof path, "golden/index.json")) {
        SKIP("golden logits, greedy, perplexity", "no golden data ($TANDEM_SHARED)");
        return test_finish();
    }
    struct buf text;
    buf_init(&text, 16 << 20);
    if (buf_read_file(&text, path, &err) != TD_OK ||
        json_parse(buf_view(&text), &golden, &err) != TD_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    buf_deinit(&text);
    RUN(test_logits_of_float_models);
    RUN(test_logits_of_quantised_models);
    RUN(test_logits_with_adapters);
    RUN(test_greedy_continuations_are_identical);
    RUN(test_perplexity_of_a_story);
    json_free(golden);
    return test_finish();
}
