/* Which usages are believed: each limit at its edge, and one beyond it. */
#include "tier/openai/openai_usage.h"

#include "base/core/str.h"
#include "test.h"
#include "wire_members.h"

static struct tier_usage read_text(const char *text)
{
    struct json *value = NULL;
    CHECK(json_parse(str_from(text), &value, NULL) == TD_OK);
    struct tier_usage usage = openai_usage_read(value);
    json_free(value);
    return usage;
}

#define USAGE(more) "{\"prompt_tokens\":100,\"completion_tokens\":50" more "}"
#define REASONING(n) "\"completion_tokens_details\":{\"reasoning_tokens\":" n "}"

static void test_counts_are_whole_numbers_that_fit_together(void)
{
    static const struct {
        const char *text;
        const char *refused; /* a part of why; NULL = believed */
        uint32_t completion, cached;
    } cases[] = {
        {USAGE(""), NULL, 50, 0},
        {USAGE(",\"cached_tokens\":100"), NULL, 50, 100},
        {USAGE(",\"cached_tokens\":101"), "cached", 0, 0},
        {USAGE(",\"cached_tokens\":null"), NULL, 50, 0},
        {USAGE(",\"cached_tokens\":-1"), "no number", 0, 0},
        {USAGE(",\"prompt_cache_hit_tokens\":60"), NULL, 50, 60},
        {USAGE(",\"prompt_tokens_details\":{\"cached_tokens\":101}"), "cached", 0, 0},
        {USAGE("," REASONING("50")), NULL, 50, 0},
        {USAGE("," REASONING("51")), "reasoning", 0, 0},
        {USAGE("," REASONING("-1")), "no number", 0, 0},
        {USAGE("," REASONING("1.5")), "no number", 0, 0},
        {USAGE("," REASONING("51") ",\"total_tokens\":201"), NULL, 101, 0},
        {USAGE("," REASONING("51") ",\"total_tokens\":200"), "reasoning", 0, 0},
        {"{\"prompt_tokens\":8388608,\"completion_tokens\":8388608}", NULL, 8388608, 0},
        {"{\"prompt_tokens\":8388609,\"completion_tokens\":1}", "no number", 0, 0},
        {"{\"prompt_tokens\":1,\"completion_tokens\":8388609}", "no number", 0, 0},
        {"{\"prompt_tokens\":1,\"completion_tokens\":1e3}", "no number", 0, 0},
        {"{\"prompt_tokens\":1}", "no number", 0, 0},
        {"[]", "no number", 0, 0},
        {"7", "no number", 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tier_usage usage = read_text(cases[i].text);
        CHECK(usage.exact == !cases[i].refused && !usage.refused == !cases[i].refused);
        CHECK(!cases[i].refused || strstr(usage.refused, cases[i].refused));
        CHECK(usage.completion_tokens == cases[i].completion);
        CHECK(usage.cached_tokens == cases[i].cached);
    }
}

static bool is_believed(uint32_t prompt, uint32_t completion, struct usage_evidence evidence)
{
    struct tier_usage usage = {
        .prompt_tokens = prompt, .completion_tokens = completion, .exact = true};
    openai_usage_check(&usage, &evidence);
    CHECK(usage.exact == !usage.refused);
    CHECK(usage.exact || (usage.prompt_tokens == 0 && usage.completion_tokens == 0));
    return usage.exact;
}

static void test_what_was_sent_and_what_came_bound_what_is_believed(void)
{
    const struct usage_evidence short_one = {
        .sent_bytes = 100, .text_bytes = 20, .shown_bytes = 30};
    CHECK(is_believed(4196, 1, short_one) && !is_believed(4197, 1, short_one));
    CHECK(is_believed(1, 94, short_one) && !is_believed(1, 95, short_one));
    CHECK(!is_believed(1, 0, short_one));       /* a text of no tokens */
    struct usage_evidence pictures = short_one; /* each may be no more than an address */
    pictures.media = true;
    CHECK(is_believed(8 * 1024 * 1024, 1, pictures));
    pictures.context_tokens = 5000;
    CHECK(is_believed(5000, 1, pictures) && !is_believed(5001, 1, pictures));
    pictures.sent_bytes = 1000;
    CHECK(is_believed(5096, 1, pictures) && !is_believed(5097, 1, pictures));
    CHECK(is_believed(1, 0, (struct usage_evidence){.sent_bytes = 100}));
    struct usage_evidence slow = short_one;
    slow.took_ms = 100; /* a thousand thoughts that nobody saw */
    CHECK(is_believed(1, 1094, slow) && !is_believed(1, 1095, slow));
    slow.context_tokens = 500;
    CHECK(is_believed(1, 594, slow) && !is_believed(1, 595, slow));
    slow.took_ms = -5;
    CHECK(is_believed(1, 94, slow) && !is_believed(1, 95, slow));
    slow = (struct usage_evidence){.took_ms = 1e9, .limit = 16, .shown_bytes = 1000};
    CHECK(is_believed(1, 32, slow) && !is_believed(1, 33, slow));
    slow.limit = 0;
    CHECK(is_believed(1, 33, slow));
}

static void test_only_a_limit_that_the_server_was_told_counts(void)
{
    struct td_request request = {.tokens_max = 7};
    CHECK(openai_usage_limit(&request, PREFILL_NONE) == 7);
    request.continues = true;
    CHECK(openai_usage_limit(&request, PREFILL_MESSAGE) == 7);
    CHECK(openai_usage_limit(&request, PREFILL_NONE) == 0); /* it may begin anew */
    static const struct {
        const char *body;
        uint32_t limit;
    } cases[] = {
        {"{\"messages\":[]}", 0},
        {"{\"messages\":[],\"max_tokens\":7}", 7},
        {"{\"messages\":[],\"max_completion_tokens\":7}", 7},
        {"{\"messages\":[],\"max_tokens\":null}", 0},
        {"{\"messages\":[],\"max_tokenss\":7}", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct wire_members wire;
        request = (struct td_request){.tokens_max = 7};
        wire_members_init(&wire, cases[i].body, &request);
        CHECK(openai_usage_limit(&request, PREFILL_NONE) == cases[i].limit);
        wire_members_deinit(&wire);
    }
}

int main(void)
{
    RUN(test_counts_are_whole_numbers_that_fit_together);
    RUN(test_what_was_sent_and_what_came_bound_what_is_believed);
    RUN(test_only_a_limit_that_the_server_was_told_counts);
    return test_finish();
}
