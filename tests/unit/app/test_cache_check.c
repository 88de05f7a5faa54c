/* A cache of four bits is measured once, and not used where it hurts: stories260K does not bear
 * keys of four bits (its perplexity goes from 5.3 to 9.7), but values. */
#include "app/setup/model/cache_check.h"

#include <math.h>
#include <stdlib.h>

#include "app/setup/model/model_identity.h"
#include "base/bytes/buf.h"
#include "shared_data.h"
#include "test.h"

static char folder[64];

struct subject {
    struct td_model *model;
    struct confidence_binding identity;
};

static bool open_subject(const char *path, struct subject *out)
{
    const struct td_model_options options = {0};
    return td_model_open(path, &options, &out->model, NULL) == TD_OK &&
           model_identity_read(out->model, path, &out->identity, NULL) == TD_OK;
}

static enum td_kv_type choose(const struct subject *subject, enum td_kv_type wanted)
{
    return cache_check_choose(subject->model, &subject->identity, folder, wanted, 1);
}

static void test_only_four_bits_are_measured(void)
{
    static const enum td_kv_type plain[] = {TD_KV_F16, TD_KV_F32, TD_KV_Q8_0, TD_KV_F16_Q8_0,
                                            TD_KV_Q8_0_F16};
    static const enum td_kv_type four[] = {TD_KV_Q4_0, TD_KV_F16_Q4_0, TD_KV_Q8_0_Q4_0,
                                           TD_KV_Q4_0_F16, TD_KV_Q4_0_Q8_0};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        CHECK(!cache_check_is_needed(plain[i]) && cache_check_is_needed(four[i]));
}

static void test_a_cache_that_costs_little_is_used_and_the_result_is_kept(void)
{
    struct subject nano;
    struct cache_verdict verdict;
    REQUIRE(open_subject(NANO, &nano));
    CHECK(choose(&nano, TD_KV_Q8_0) == TD_KV_Q8_0);
    CHECK(!cache_check_find(folder, &nano.identity, TD_KV_Q8_0_Q4_0, &verdict));
    CHECK(choose(&nano, TD_KV_Q8_0_Q4_0) == TD_KV_Q8_0_Q4_0);
    REQUIRE(cache_check_find(folder, &nano.identity, TD_KV_Q8_0_Q4_0, &verdict));
    CHECK(verdict.used == TD_KV_Q8_0_Q4_0 && verdict.kld > 0 && verdict.kld <= CACHE_KLD_MAX);
    CHECK(strlen(verdict.day) == CACHE_DAY_BYTES - 1);
    CHECK(!cache_check_find(folder, &nano.identity, TD_KV_Q4_0, &verdict)); /* another type */
    CHECK(!cache_check_find(NULL, &nano.identity, TD_KV_Q8_0_Q4_0, &verdict));
    td_model_close(nano.model);
}

static void test_keys_that_a_model_does_not_bear_get_eight_bits(void)
{
    char path[512];
    struct subject stories;
    struct cache_verdict verdict;
    if (!shared_path(path, sizeof path, "golden/real/stories260K-f32.gguf")) {
        SKIP("a model that four bits hurt", "no golden data ($TANDEM_SHARED)");
        return;
    }
    REQUIRE(open_subject(path, &stories));
    CHECK(choose(&stories, TD_KV_Q4_0) == TD_KV_Q8_0_Q4_0);
    REQUIRE(cache_check_find(folder, &stories.identity, TD_KV_Q4_0, &verdict));
    CHECK(verdict.used == TD_KV_Q8_0_Q4_0 && verdict.kld > 5 * CACHE_KLD_MAX);
    CHECK(choose(&stories, TD_KV_Q4_0_F16) == TD_KV_Q8_0_F16);
    CHECK(choose(&stories, TD_KV_F16_Q4_0) == TD_KV_F16_Q4_0);
    CHECK(cache_check_find(folder, &stories.identity, TD_KV_Q4_0, &verdict)); /* beside these */
    td_model_close(stories.model);
}

static void test_the_word_of_an_evaluation_stands(void)
{
    struct subject nano;
    struct cache_verdict verdict;
    REQUIRE(open_subject(NANO, &nano));
    CHECK(cache_check_decide(folder, &nano.identity, TD_KV_Q8_0_Q4_0, false, NULL) == TD_OK);
    CHECK(choose(&nano, TD_KV_Q8_0_Q4_0) == TD_KV_Q8_0);
    CHECK(cache_check_decide(folder, &nano.identity, TD_KV_Q4_0, true, NULL) == TD_OK);
    CHECK(choose(&nano, TD_KV_Q4_0) == TD_KV_Q4_0);
    REQUIRE(cache_check_find(folder, &nano.identity, TD_KV_Q4_0, &verdict));
    CHECK(isnan(verdict.kld));
    td_model_close(nano.model);
}

static void test_a_damaged_file_is_measured_anew(void)
{
    static const char *const damages[] = {"", "{", "[]", "{\"q8_0/q4_0\":{\"time\":\"2026\"}}",
                                          "{\"q8_0/q4_0\":{\"time\":\"2026-11-27T\",\"used\":7}}"};
    char digest[CONFIDENCE_DIGEST_BYTES], path[256];
    struct subject nano;
    struct cache_verdict verdict;
    REQUIRE(open_subject(NANO, &nano));
    confidence_binding_digest(&nano.identity, digest);
    snprintf(path, sizeof path, "%s/caches/%s.json", folder, digest);
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        FILE *file = fopen(path, "w");
        REQUIRE(file && fputs(damages[i], file) >= 0 && fclose(file) == 0);
        CHECK(!cache_check_find(folder, &nano.identity, TD_KV_Q8_0_Q4_0, &verdict));
    }
    CHECK(choose(&nano, TD_KV_Q8_0_Q4_0) == TD_KV_Q8_0_Q4_0);
    CHECK(cache_check_find(folder, &nano.identity, TD_KV_Q8_0_Q4_0, &verdict));
    td_model_close(nano.model);
}

int main(void)
{
    char command[128];
    snprintf(folder, sizeof folder, "/tmp/tandem-caches-XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    RUN(test_only_four_bits_are_measured);
    RUN(test_a_cache_that_costs_little_is_used_and_the_result_is_kept);
    RUN(test_keys_that_a_model_does_not_bear_get_eight_bits);
    RUN(test_the_word_of_an_evaluation_stands);
    RUN(test_a_damaged_file_is_measured_anew);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0)
        return 1;
    return test_finish();
}
