/* What is kept of responses: whose it is, how long, how much, and what goes first. */
#include "api/dialects/responses/responses_history.h"
#include "api/history/history.h"

#include "base/core/str.h"
#include "test.h"

#include <stdio.h>

static uint64_t now_ns;

static uint64_t tell(void *ctx)
{
    (void)ctx;
    return now_ns;
}

static const struct clock hands = {.monotonic_ns = tell, .wall_ms = tell};

static struct history *with_limits(size_t bytes_max, size_t caller_bytes_max, uint32_t count_max)
{
    const struct history_limits limits = {.keep_ms = 1000,
                                          .bytes_max = bytes_max,
                                          .caller_bytes_max = caller_bytes_max,
                                          .caller_count_max = count_max};
    struct history *history = history_new(&limits, &hands);
    CHECK(history);
    return history;
}

static enum td_status put_of(struct history *history, const char *caller, const char *user,
                             const char *id, struct td_str words, enum history_state state)
{
    struct history_text *text = history_text_new(words), *items = history_text_new(STR("[1]"));
    struct history_text *const lists[] = {items};
    const struct history_record record = {
        .id = id,
        .owner = {.caller = caller, .tenant = caller, .user = user},
        .state = state,
        .body = text,
        .lists = lists,
        .list_count = 1,
    };
    enum td_status status = history_put(history, &record);
    history_text_free(text);
    history_text_free(items);
    return status;
}

static enum td_status put(struct history *history, const char *caller, const char *id)
{
    return put_of(history, caller, NULL, id, STR("{}"), HISTORY_DONE);
}

static bool has(struct history *history, const char *caller, const char *id)
{
    struct history_found found;
    bool there = history_find(history, caller, str_from(id), &found);
    history_found_deinit(&found);
    return there;
}

static void test_a_record_is_its_callers(void)
{
    struct history *history = with_limits(1 << 20, 1 << 20, 10);
    CHECK(put(history, "a", "resp_1") == TD_OK);
    CHECK(has(history, "a", "resp_1") && !has(history, "b", "resp_1"));
    CHECK(!has(history, NULL, "resp_1") && !has(history, "a", "resp_2"));
    CHECK(!history_remove(history, "b", "resp_1") && has(history, "a", "resp_1"));
    struct history_text *other = history_text_new(STR("[2]"));
    CHECK(!history_replace(history, "b", "resp_1", NULL, other));
    CHECK(!history_cancel(history, "b", "resp_1", other));
    const struct history_record more = {
        .id = "resp_1", .owner = {.caller = "b"}, .lists = &other, .list_count = 1};
    CHECK(history_append(history, &more) == TD_NOT_FOUND);
    history_text_free(other);
    CHECK(history_remove(history, "a", "resp_1") && !has(history, "a", "resp_1"));
    CHECK(!history_remove(history, "a", "resp_1"));
    history_free(history);
}

static void test_what_is_not_used_is_dropped_in_time(void)
{
    struct history *history = with_limits(1 << 20, 1 << 20, 10);
    now_ns = 0;
    CHECK(put(history, "a", "resp_1") == TD_OK && put(history, "a", "resp_2") == TD_OK);
    now_ns = 900 * UINT64_C(1000000);
    CHECK(has(history, "a", "resp_2"));
    CHECK(history_sweep(history) <= 101);
    now_ns = 1100 * UINT64_C(1000000);
    CHECK(!has(history, "a", "resp_1"));
    CHECK(history_sweep(history) <= 801 && has(history, "a", "resp_2"));
    now_ns = 5000 * UINT64_C(1000000);
    CHECK(history_sweep(history) > 1000);
    CHECK(!has(history, "a", "resp_2"));
    history_free(history);
}

static void test_the_least_recently_used_goes_first_and_others_keep_theirs(void)
{
    struct history *history = with_limits(1 << 20, 1 << 20, 2);
    CHECK(put(history, "b", "resp_0") == TD_OK);
    CHECK(put(history, "a", "resp_1") == TD_OK && put(history, "a", "resp_2") == TD_OK);
    CHECK(has(history, "a", "resp_1"));
    CHECK(put(history, "a", "resp_3") == TD_OK);
    CHECK(has(history, "a", "resp_1") && !has(history, "a", "resp_2"));
    CHECK(has(history, "a", "resp_3") && has(history, "b", "resp_0"));
    history_free(history);
}

static void test_who_has_most_makes_room(void)
{
    static char words[10000];
    struct td_str large = {words, sizeof words};
    struct history *history = with_limits(40000, 35000, 100);
    char id[32];
    memset(words, 'x', sizeof words);
    CHECK(put(history, "small", "resp_s") == TD_OK);
    for (int i = 0; i < 6; i++) {
        snprintf(id, sizeof id, "resp_%d", i);
        CHECK(put_of(history, "large", NULL, id, large, HISTORY_DONE) == TD_OK);
    }
    CHECK(!has(history, "large", "resp_2") && has(history, "large", "resp_3"));
    CHECK(put_of(history, "third", NULL, "resp_t", large, HISTORY_DONE) == TD_OK);
    CHECK(has(history, "third", "resp_t") && has(history, "small", "resp_s"));
    CHECK(!has(history, "large", "resp_4") || !has(history, "large", "resp_3"));
    history_free(history);
    history = with_limits(40000, 5000, 100);
    CHECK(put_of(history, "a", NULL, "resp_1", large, HISTORY_DONE) == TD_LIMIT);
    CHECK(!has(history, "a", "resp_1"));
    history_free(history);
}

static void test_one_that_runs_is_cancelled_or_ends_but_not_both(void)
{
    struct history *history = with_limits(1 << 20, 1 << 20, 10);
    struct history_text *body = history_text_new(STR("{\"status\":\"cancelled\"}"));
    const struct history_record end = {.id = "resp_1", .owner = {.caller = "a"}, .body = body};
    CHECK(history_finish(history, &end) == TD_NOT_FOUND);
    CHECK(put_of(history, "a", NULL, "resp_1", STR("{}"), HISTORY_RUNNING) == TD_OK);
    CHECK(history_runs(history, "a", "resp_1") && !history_runs(history, "b", "resp_1"));
    CHECK(history_cancel(history, "a", "resp_1", body));
    CHECK(!history_runs(history, "a", "resp_1") && !history_cancel(history, "a", "resp_1", body));
    CHECK(history_finish(history, &end) == TD_NOT_FOUND);
    CHECK(put_of(history, "a", NULL, "resp_1", STR("{}"), HISTORY_RUNNING) == TD_OK);
    CHECK(history_finish(history, &end) == TD_OK);
    CHECK(!history_cancel(history, "a", "resp_1", body));
    history_text_free(body);
    history_free(history);
}

static void test_a_user_is_forgotten_with_all_that_was_added_for_him(void)
{
    struct history *history = with_limits(1 << 20, 1 << 20, 10);
    struct history_text *list = history_text_new(STR("[2]"));
    const struct history_record more = {.id = "conv_1",
                                        .owner = {.caller = "a", .tenant = "a", .user = "ann"},
                                        .data_class = {.seen = TD_CLASS_RESTRICTED},
                                        .lists = &list,
                                        .list_count = 1};
    struct history_found found;
    uint64_t count;
    CHECK(put_of(history, "a", "ann", "resp_1", STR("{}"), HISTORY_DONE) == TD_OK);
    CHECK(put_of(history, "a", "bob", "resp_2", STR("{}"), HISTORY_DONE) == TD_OK);
    CHECK(put_of(history, "b", "ann", "resp_3", STR("{}"), HISTORY_DONE) == TD_OK);
    CHECK(put_of(history, "a", "bob", "conv_1", STR("{}"), HISTORY_DONE) == TD_OK);
    CHECK(history_append(history, &more) == TD_OK);
    CHECK(history_find(history, "a", STR("conv_1"), &found));
    CHECK(found.list_count == 2 && found.data_class.seen == TD_CLASS_RESTRICTED);
    history_found_deinit(&found);
    CHECK(history_forget(history, "a", "ann", &count, NULL) == TD_OK && count == 2);
    CHECK(!has(history, "a", "resp_1") && !has(history, "a", "conv_1"));
    CHECK(has(history, "a", "resp_2") && has(history, "b", "resp_3"));
    CHECK(history_forget(history, NULL, "ann", &count, NULL) == TD_OK && count == 1);
    CHECK(!has(history, "b", "resp_3"));
    history_text_free(list);
    history_free(history);
}

/* What is said again in a later turn is as private as it was in the first one. */
static void test_a_response_has_the_highest_class_of_all_before_it(void)
{
    struct history *history = with_limits(1 << 20, 1 << 20, 10);
    struct history_text *text = history_text_new(STR("{}")), *items = history_text_new(STR("[1]"));
    struct history_text *const lists[] = {items};
    struct json *asked = json_new_object();
    json_put(asked, "input", json_new_cstr("hi"));
    json_put(asked, "previous_response_id", json_new_cstr("resp_3"));
    for (int private = 1; private <= 3; private ++) {
        for (int i = 1; i <= 3; i++) {
            char id[16], previous[16];
            snprintf(id, sizeof id, "resp_%d", i);
            snprintf(previous, sizeof previous, "resp_%d", i - 1);
            const struct history_record record = {
                .id = id,
                .owner = {.caller = "a"},
                .previous = i > 1 ? previous : NULL,
                .body = text,
                .data_class = {.declared = i == private ? TD_CLASS_SENSITIVE : TD_CLASS_PUBLIC,
                               .seen = i == private ? TD_CLASS_RESTRICTED : TD_CLASS_PUBLIC},
                .lists = lists,
                .list_count = 1,
            };
            CHECK(history_put(history, &record) == TD_OK);
        }
        const struct responses_history from = {
            .history = history, .caller = "a", .bytes_max = 1 << 20};
        struct history_turn turn;
        struct json *whole;
        struct fault fault;
        size_t earlier;
        REQUIRE(responses_history_read(&from, asked, &turn, &whole, &earlier, &fault));
        CHECK(earlier == 3 && json_count(json_get(whole, "input")) == 4);
        CHECK(turn.data_class.seen == TD_CLASS_RESTRICTED);
        CHECK(turn.data_class.declared == TD_CLASS_SENSITIVE);
        responses_history_deinit(&turn);
        json_free(whole);
    }
    json_free(asked);
    history_text_free(text);
    history_text_free(items);
    history_free(history);
}

static void test_what_was_found_stays_as_it_was(void)
{
    struct history *history = with_limits(1 << 20, 1 << 20, 10);
    struct history_text *other = history_text_new(STR("[2]"));
    struct history_found found;
    CHECK(put(history, "a", "conv_1") == TD_OK);
    CHECK(history_find(history, "a", STR("conv_1"), &found));
    CHECK(history_replace(history, "a", "conv_1", found.lists[0], other));
    CHECK(!history_replace(history, "a", "conv_1", found.lists[0], other));
    CHECK(history_remove(history, "a", "conv_1"));
    CHECK(str_equal(history_text_view(found.lists[0]), STR("[1]")));
    CHECK(str_equal(history_text_view(found.body), STR("{}")));
    history_found_deinit(&found);
    history_text_free(other);
    history_free(history);
}

int main(void)
{
    RUN(test_a_record_is_its_callers);
    RUN(test_what_is_not_used_is_dropped_in_time);
    RUN(test_the_least_recently_used_goes_first_and_others_keep_theirs);
    RUN(test_who_has_most_makes_room);
    RUN(test_one_that_runs_is_cancelled_or_ends_but_not_both);
    RUN(test_a_user_is_forgotten_with_all_that_was_added_for_him);
    RUN(test_a_response_has_the_highest_class_of_all_before_it);
    RUN(test_what_was_found_stays_as_it_was);
    return test_finish();
}
