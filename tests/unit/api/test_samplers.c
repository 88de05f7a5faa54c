/* Members in which other servers' clients say how tokens are drawn. */
#include "api/wire/samplers.h"

#include "base/core/str.h"
#include "test.h"

/* What clients of other servers send with every request means nothing; what would change the answer
 * is named. */
static void test_settings_that_the_engine_has_not_got_are_named(void)
{
    static const struct {
        const char *body, *member;
    } cases[] = {
        {"{}", NULL},
        {"{\"min_keep\":0,\"tfs_z\":1,\"min_tokens\":0,\"bad_words\":[],\"length_penalty\":1.0,"
         "\"use_beam_search\":false,\"stop_token_ids\":null,\"adaptive_target\":-1.0,"
         "\"t_max_predict_ms\":-1,\"n_indent\":0}",
         NULL},
        {"{\"min_tokens\":5}", "min_tokens"},
        {"{\"min_keep\":2}", "min_keep"},
        {"{\"tfs_z\":0.9}", "tfs_z"},
        {"{\"stop_token_ids\":[7]}", "stop_token_ids"},
        {"{\"use_beam_search\":true}", "use_beam_search"},
        {"{\"adaptive_target\":0.5}", "adaptive_target"},
        {"{\"bad_words\":\"x\"}", "bad_words"},
        {"{\"samplers\":[]}", NULL},
        {"{\"samplers\":[\"penalties\",\"dry\",\"top_n_sigma\",\"top_k\",\"typ_p\",\"top_p\","
         "\"min_p\",\"xtc\",\"temperature\"]}",
         NULL}, /* llama.cpp's own: typ_p is off here */
        {"{\"samplers\":[\"top_k\",\"min_p\",\"typical_p\"]}", NULL},
        {"{\"samplers\":[\"temperature\",\"top_k\"]}", "samplers"},
        {"{\"samplers\":[\"min_p\",\"top_k\"]}", "samplers"},
        {"{\"samplers\":[\"top_k\",\"infill\"]}", "samplers"},
        {"{\"samplers\":[5]}", "samplers"},
        {"{\"samplers\":\"kmt\"}", "samplers"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct td_sampling sampling = {
            .temperature = 0.5f, .top_k = 9, .top_p = 1, .min_p = 0.1f, .repetition_penalty = 1};
        struct json *body = NULL;
        REQUIRE(json_parse(str_from(cases[i].body), &body, NULL) == TD_OK);
        const char *member = samplers_read(body, &sampling);
        CHECK(cases[i].member ? member && strcmp(member, cases[i].member) == 0 : member == NULL);
        json_free(body);
    }
}

static void test_a_list_turns_off_what_it_leaves_out(void)
{
    struct td_sampling sampling = {
        .temperature = 0.5f, .top_k = 9, .top_p = 0.5f, .repetition_penalty = 1};
    struct json *body = NULL;
    REQUIRE(json_parse(STR("{\"samplers\":[\"top_k\",\"temperature\"]}"), &body, NULL) == TD_OK);
    CHECK(samplers_read(body, &sampling) == NULL);
    CHECK(sampling.top_k == 9 && sampling.temperature == 0.5f && sampling.top_p == 1);
    json_free(body);
}

/* Each stage is on with its own setting alone, is off at the value that does nothing, and is turned
 * off by a list without it. */
static void test_each_stage_counts_as_on_by_its_own_setting(void)
{
    static const struct td_sampling idle = {
        .temperature = 1, .top_p = 1, .repetition_penalty = 1, .typical_p = 1};
    static const char *const names[] = {"penalties",   "penalties", "penalties",   "dry",
                                        "top_n_sigma", "typical_p", "top_k",       "top_p",
                                        "min_p",       "xtc",       "temperature", "temperature"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct td_sampling set[] = {idle, idle};
        struct td_sampling *s = &set[0];
        float *const numbers[] = {&s->repetition_penalty,
                                  &s->presence_penalty,
                                  &s->frequency_penalty,
                                  &s->dry_multiplier,
                                  &s->top_n_sigma,
                                  &s->typical_p,
                                  NULL,
                                  &s->top_p,
                                  &s->min_p,
                                  &s->xtc_probability,
                                  &s->temperature,
                                  &s->dynamic_range};
        if (numbers[i])
            *numbers[i] = 0.5f;
        else
            s->top_k = 5;
        set[1] = set[0];
        struct json *body = NULL;
        REQUIRE(json_parse(STR("{\"samplers\":[]}"), &body, NULL) == TD_OK);
        CHECK(samplers_read(body, &set[0]) == NULL && !memcmp(&set[0], &set[1], sizeof *set));
        json_free(body);
        /* Two that are on have one order; one that is off may stand anywhere. */
        if (strcmp(names[i], "temperature") != 0)
            for (int on = 0; on < 2; on++) {
                struct td_sampling two = on ? set[0] : idle;
                char list[64];
                two.temperature = 0.5f;
                snprintf(list, sizeof list, "{\"samplers\":[\"temperature\",\"%s\"]}", names[i]);
                REQUIRE(json_parse(str_from(list), &body, NULL) == TD_OK);
                CHECK((samplers_read(body, &two) != NULL) == on);
                json_free(body);
            }
        /* A list that names only another stage. */
        const char *other = strcmp(names[i], "top_k") == 0 ? "min_p" : "top_k";
        char text[64];
        snprintf(text, sizeof text, "{\"samplers\":[\"%s\"]}", other);
        REQUIRE(json_parse(str_from(text), &body, NULL) == TD_OK);
        CHECK(samplers_read(body, &set[0]) == NULL);
        json_free(body);
        CHECK(set[0].temperature == 1 && set[0].dynamic_range <= 0 && set[0].top_p == 1);
        CHECK(set[0].repetition_penalty == 1 && set[0].presence_penalty == 0);
        CHECK(set[0].frequency_penalty == 0 && set[0].dry_multiplier == 0 && set[0].top_k == 0);
        CHECK(set[0].top_n_sigma == 0 && set[0].min_p == 0 && set[0].xtc_probability == 0);
        CHECK(set[0].typical_p == 0 || set[0].typical_p == 1);
    }
}

int main(void)
{
    RUN(test_settings_that_the_engine_has_not_got_are_named);
    RUN(test_each_stage_counts_as_on_by_its_own_setting);
    RUN(test_a_list_turns_off_what_it_leaves_out);
    return test_finish();
}
