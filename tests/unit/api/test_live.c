/* Who is told of an exchange, and what becomes of those that are told too late. */
#include "test.h"

#include "api/telemetry/live.h"
#include "base/core/str.h"
#include "base/json/json.h"

#include <math.h>

static size_t count_of(const struct buf *text, const char *word)
{
    size_t count = 0;
    for (size_t at = 0; (at = str_find(buf_view(text), str_from(word), at)) != SIZE_MAX; at++)
        count++;
    return count;
}

static struct exchange_summary summary_of(const char *tenant)
{
    return (struct exchange_summary){.id = "ex_1",
                                     .tenant = tenant,
                                     .route = "auto",
                                     .tier = "near \"quoted\"\n",
                                     .model = "m",
                                     .confidence = NAN,
                                     .total_ms = 12.5,
                                     .end = ENDED_OK};
}

static void test_a_tenant_is_told_of_its_own_and_an_operator_of_all(void)
{
    struct live *live = live_new();
    struct live_looker own = {.tenant = "a"}, all = {.of_all = true}, late = {.of_all = true};
    struct exchange_summary of_a = summary_of("a"), of_b = summary_of("b"),
                            of_nobody = summary_of(NULL);
    struct buf out;
    buf_init(&out, 1 << 20);
    live_exchange(live, &of_a); /* nobody looks on */
    live_exchange(NULL, &of_a);
    live_join(live, &own);
    live_join(live, &all);
    live_exchange(live, &of_a);
    live_exchange(live, &of_b);
    live_exchange(live, &of_nobody);
    live_join(live, &late);
    CHECK(live_take(live, &own, &out) == 0 && count_of(&out, "event: exchange\n") == 1);
    buf_clear(&out);
    CHECK(live_take(live, &all, &out) == 0 && count_of(&out, "event: exchange\n") == 3);
    buf_clear(&out);
    CHECK(live_take(live, &all, &out) == 0 && out.len == 0); /* once */
    CHECK(live_take(live, &late, &out) == 0 && out.len == 0);
    live_leave(live, &all);
    live_leave(live, &own);
    live_leave(live, &late);
    live_free(live);
    live_free(NULL);
    buf_deinit(&out);
}

static void test_an_event_is_one_line_of_json_with_the_tiers_that_were_left(void)
{
    struct live *live = live_new();
    struct live_looker looker = {.of_all = true};
    const struct exchange_step steps[] = {
        {.tier = "near", .why_left = REASON_LEFT_PROBE, .next = "far"}, {.tier = "far"}};
    const struct reason reasons[] = {{REASON_CHOSEN_START, "near", "it starts"},
                                     {REASON_LEFT_PROBE, "far", "another's"},
                                     {REASON_LEFT_PROBE, "near", "it is \"low\""}};
    struct exchange_summary summary = summary_of(NULL);
    summary.steps = steps;
    summary.attempt_count = 2;
    summary.reasons = reasons;
    summary.reason_count = 3;
    struct buf out;
    buf_init(&out, 1 << 20);
    live_join(live, &looker);
    live_exchange(live, &summary);
    live_take(live, &looker, &out);
    struct td_str text = buf_view(&out);
    size_t begin = str_find(text, STR("data: "), 0), end = str_find(text, STR("\n\n"), 0);
    REQUIRE(begin != SIZE_MAX && end != SIZE_MAX && end + 2 == text.len);
    struct json *event = NULL;
    REQUIRE(json_parse(str_slice(text, begin + 6, end), &event, NULL) == TD_OK);
    CHECK(strcmp(json_cstr(json_get(event, "tier")), "near \"quoted\"\n") == 0);
    CHECK(json_kind_of(json_get(event, "confidence")) == JSON_KIND_NULL);
    const struct json *left = json_get(event, "left"), *first = json_at(left, 0);
    CHECK(json_count(left) == 1 && strcmp(json_cstr(json_get(first, "to")), "far") == 0);
    CHECK(strcmp(json_cstr(json_get(first, "text")), "it is \"low\"") == 0);
    json_free(event);
    live_leave(live, &looker);
    live_free(live);
    buf_deinit(&out);
}

static void test_what_does_not_fit_is_left_out_and_counted(void)
{
    struct live *live = live_new();
    struct live_looker slow = {.of_all = true}, other = {.tenant = "b"};
    struct exchange_summary summary = summary_of("a");
    struct buf out;
    char long_name[10000];
    buf_init(&out, 1 << 20);
    memset(long_name, 'x', sizeof long_name);
    long_name[sizeof long_name - 1] = '\0';
    live_join(live, &slow);
    live_join(live, &other);
    for (int i = 0; i < 5000; i++)
        live_exchange(live, &summary);
    uint64_t left_out = live_take(live, &slow, &out);
    CHECK(out.len <= LIVE_QUEUE_BYTES && out.len > LIVE_QUEUE_BYTES - 8192);
    CHECK(count_of(&out, "event: exchange\n") + left_out == 5000 && left_out > 0);
    CHECK(live_take(live, &other, &out) == 0); /* others' are none of its */
    live_exchange(live, &summary);             /* there is room again */
    buf_clear(&out);
    CHECK(live_take(live, &slow, &out) == left_out && out.len > 0);
    summary.model = long_name; /* more than an event may have */
    live_exchange(live, &summary);
    buf_clear(&out);
    CHECK(live_take(live, &slow, &out) == left_out + 1 && out.len == 0);
    live_leave(live, &slow);
    live_leave(live, &other);
    live_free(live);
    buf_deinit(&out);
}

int main(void)
{
    RUN(test_a_tenant_is_told_of_its_own_and_an_operator_of_all);
    RUN(test_an_event_is_one_line_of_json_with_the_tiers_that_were_left);
    RUN(test_what_does_not_fit_is_left_out_and_counted);
    return test_finish();
}
