/* The table of models, and what providers' own lists say. */
#include "base/core/str.h"
#include "test.h"
#include "tier/cards/model_cards.h"
#include "tier/cards/model_listed.h"
#include "tier/servers.h"

#include <math.h>
#include <time.h>

static void test_models_are_found_by_kind_and_name(void)
{
    const struct model_card *card = model_card_find("openai", "gpt-4o-mini");
    REQUIRE(card != NULL);
    CHECK(card->input_usd == 0.15 && card->output_usd == 0.6 && card->context_tokens == 128000);
    CHECK(card->abilities & CARD_TOOLS && card->abilities & CARD_IMAGE);
    CHECK(!(card->abilities & CARD_REASONING));
    CHECK(!model_card_find("groq", "gpt-4o-mini") && !model_card_find("openai", ""));
    CHECK(!model_card_find("zzz", "gpt-4o-mini") && !model_card_find("", ""));
    CHECK(model_cards_count() > 500 && strlen(model_cards_day()) == 10);
}

static void test_a_retirement_is_told_ninety_days_before(void)
{
    char words[MODEL_CARD_END_BYTES] = "";
    const uint64_t day_ms = 24 * 60 * 60 * UINT64_C(1000), end_ms = UINT64_C(1799884800000);
    const struct model_card ends = {.until = 20270114}, never = {0};
    CHECK(!model_card_ends(&ends, end_ms - 91 * day_ms, words));
    CHECK(model_card_ends(&ends, end_ms - 90 * day_ms, words) && strstr(words, "in 90 days"));
    CHECK(model_card_ends(&ends, end_ms - 1, words) && strstr(words, "in 1 days (2027-01-14)"));
    CHECK(model_card_ends(&ends, end_ms, words) && strstr(words, "has retired it"));
    CHECK(!model_card_ends(&never, end_ms, words));
    CHECK(!model_card_ends(NULL, end_ms, words));
}

static void test_no_default_model_is_retired_soon_after_the_day_of_the_table(void)
{
    struct tm date = {0};
    char words[MODEL_CARD_END_BYTES];
    CHECK(strptime(model_cards_day(), "%Y-%m-%d", &date) != NULL);
#define ONE(name, text) +1
    for (size_t i = 0; i < 0 TIER_SERVERS(ONE); i++)
        if (tier_servers[i]->model)
            CHECK(!model_card_ends(model_card_find(tier_servers[i]->name, tier_servers[i]->model),
                                   (uint64_t)timegm(&date) * 1000, words));
}

static void test_each_default_model_is_known_with_its_price(void)
{
#define COUNT(name, text) +1
    for (size_t i = 0; i < 0 TIER_SERVERS(COUNT); i++) {
        const struct tier_server *server = tier_servers[i];
        if (!server->model || server->of_ones_own || strcmp(server->name, "openrouter") == 0)
            continue;
        const struct model_card *card = model_card_find(server->name, server->model);
        CHECK(card && card->input_usd > 0 && card->output_usd > 0 && card->context_tokens > 0);
        CHECK(card && card->abilities & CARD_TOOLS);
    }
}

static struct model_listed read_list(const char *text, const char *model)
{
    struct json *root = NULL;
    CHECK(json_parse(str_from(text), &root, NULL) == TD_OK);
    struct model_listed listed = model_listed_read(root, model);
    json_free(root);
    return listed;
}

static void test_lists_of_providers(void)
{
    struct model_listed router = read_list(
        "{\"data\":[{\"id\":\"x\"},{\"id\":\"a/b\",\"context_length\":131072,\"pricing\":{"
        "\"prompt\":\"0.0000006\",\"completion\":\"0.000002\"},\"architecture\":{"
        "\"input_modalities\":[\"text\",\"image\"]},\"supported_parameters\":[\"tools\","
        "\"logprobs\"],\"top_provider\":{\"max_completion_tokens\":4096}}]}",
        "a/b");
    CHECK(router.found && router.context_tokens == 131072 && router.output_tokens == 4096);
    CHECK(fabs(router.input_usd - 0.6) < 1e-9 && fabs(router.output_usd - 2) < 1e-9);
    CHECK(router.abilities == (CARD_TOOLS | CARD_IMAGE | CARD_LOGPROBS));
    CHECK(router.said & CARD_SCHEMA && router.said & CARD_AUDIO);
    struct model_listed together = read_list(
        "[{\"id\":\"m\",\"context_length\":8192,\"pricing\":{\"input\":0.2,\"output\":0.3}}]", "m");
    CHECK(together.found && together.input_usd == 0.2 && together.context_tokens == 8192);
    struct model_listed google =
        read_list("{\"models\":[{\"name\":\"models/gemini-x\",\"inputTokenLimit\":1048576,"
                  "\"outputTokenLimit\":65536,\"thinking\":true}]}",
                  "gemini-x");
    CHECK(google.found && google.output_tokens == 65536 && google.abilities == CARD_REASONING);
    struct model_listed mistral =
        read_list("{\"data\":[{\"id\":\"m\",\"max_context_length\":32768,\"capabilities\":{"
                  "\"function_calling\":true,\"vision\":false}}]}",
                  "m");
    CHECK(mistral.abilities == CARD_TOOLS && mistral.said == (CARD_TOOLS | CARD_IMAGE));
    struct model_listed llama =
        read_list("{\"data\":[{\"id\":\"m\",\"meta\":{\"n_ctx_train\":4096}}]}", "m");
    CHECK(llama.context_tokens == 4096);
}

static void test_what_cannot_be_is_not_said(void)
{
    static const char *const lists[] = {
        "{}",
        "[]",
        "{\"data\":{}}",
        "{\"data\":[1,null,\"m\"]}",
        "{\"data\":[{\"id\":7}]}",
        "{\"data\":[{\"id\":\"m\",\"context_length\":-1,\"pricing\":{\"prompt\":\"-1\","
        "\"completion\":\"1e300\"},\"supported_parameters\":{},\"capabilities\":[]}]}"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        struct model_listed listed = read_list(lists[i], "m");
        CHECK(listed.context_tokens == 0 && isnan(listed.input_usd) && isnan(listed.output_usd));
        CHECK(listed.said == 0 && listed.abilities == 0);
    }
}

int main(void)
{
    RUN(test_models_are_found_by_kind_and_name);
    RUN(test_a_retirement_is_told_ninety_days_before);
    RUN(test_no_default_model_is_retired_soon_after_the_day_of_the_table);
    RUN(test_each_default_model_is_known_with_its_price);
    RUN(test_lists_of_providers);
    RUN(test_what_cannot_be_is_not_said);
    return test_finish();
}
