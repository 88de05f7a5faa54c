/* Members in which other servers' clients say how tokens are drawn. */
#include "api/wire/samplers.h"

#include "base/str.h"
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

int main(void)
{
    RUN(test_settings_that_the_engine_has_not_got_are_named);
    RUN(test_a_list_turns_off_what_it_leaves_out);
    return test_finish();
}
