#include "exchange/limits/hold.h"

#include "base/core/str.h"
#include "base/json/json.h"
#include "test.h"

static char replayed[256];
static size_t replay_stop_after;

static bool collect(void *ctx, const struct tier_piece *piece)
{
    size_t *count = ctx;
    size_t len = strlen(replayed);
    snprintf(replayed + len, sizeof replayed - len, STR_FMT "|" STR_FMT "|%zu|%d|%d;",
             STR_ARG(piece->text), STR_ARG(piece->token_text), piece->top_count,
             piece->top_count ? piece->top[piece->top_count - 1].id : -1, piece->raw_delta != NULL);
    return ++*count != replay_stop_after;
}

static bool keep_piece(void *ctx, const struct tier_piece *piece)
{
    *(struct tier_piece *)ctx = *piece;
    return true;
}

static void test_pieces_come_back_whole_after_their_source_is_gone(void)
{
    struct hold hold = {0};
    char text[] = "abc";
    struct td_top_logprob top[2] = {{.id = 5}, {.id = 6}};
    struct json *raw = NULL;
    REQUIRE(json_parse(STR("{\"delta\":{\"tool_calls\":[1]}}"), &raw, NULL) == TD_OK);
    struct tier_piece piece = {
        .text = str_from(text), .token_text = {text + 1, 2}, .top = top, .top_count = 2};
    CHECK(hold_add(&hold, &piece));
    piece = (struct tier_piece){.raw_delta = raw};
    CHECK(hold_add(&hold, &piece));
    memset(text, 'x', 3);
    memset(top, 0, sizeof top);
    json_free(raw);
    size_t count = 0;
    replayed[0] = '\0';
    hold_replay(&hold, collect, &count);
    CHECK(strcmp(replayed, "abc|bc|2|6|0;||0|-1|1;") == 0);
    hold_deinit(&hold);
    CHECK(hold.count == 0);
}

/* Nothing of a piece lies where something else of it lies, whatever it has. */
static void test_each_member_of_a_piece_has_its_own_bytes(void)
{
    for (size_t tops = 0; tops <= 3; tops++)
        for (size_t text_len = 0; text_len <= 9; text_len += 3)
            for (size_t token_len = 0; token_len <= 9; token_len += 3) {
                struct td_top_logprob top[3] = {{1, -1}, {2, -2}, {3, -3}};
                char text[] = "abcdefghi", token[] = "123456789";
                struct json *raw = tops % 2 ? json_new_object() : NULL;
                const struct tier_piece piece = {.text = {text, text_len},
                                                 .token_text = {token, token_len},
                                                 .top = top,
                                                 .top_count = tops,
                                                 .raw_delta = raw};
                struct hold hold = {0};
                struct tier_piece out = {0};
                CHECK(hold_add(&hold, &piece));
                memset(top, 0, sizeof top);
                memset(text, 0, sizeof text);
                memset(token, 0, sizeof token);
                hold_replay(&hold, keep_piece, &out);
                CHECK(out.text.len == text_len && out.token_text.len == token_len);
                CHECK(memcmp(out.text.data, "abcdefghi", text_len) == 0);
                CHECK(memcmp(out.token_text.data, "123456789", token_len) == 0);
                CHECK((out.raw_delta != NULL) == (raw != NULL) && (!raw || out.raw_delta != raw));
                CHECK(out.top_count == tops);
                for (size_t i = 0; i < tops; i++)
                    CHECK(out.top[i].id == (int)i + 1 && out.top[i].logprob == -(float)(i + 1));
                json_free(raw);
                hold_deinit(&hold);
            }
}

static void test_replay_stops_when_told(void)
{
    struct hold hold = {0};
    struct tier_piece piece = {.text = STR("x")};
    for (int i = 0; i < 100; i++)
        CHECK(hold_add(&hold, &piece));
    size_t count = 0;
    replayed[0] = '\0';
    replay_stop_after = 3;
    hold_replay(&hold, collect, &count);
    replay_stop_after = 0;
    CHECK(count == 3);
    hold_deinit(&hold);
}

static void test_a_hold_is_bounded(void)
{
    static char text[64 * 1024];
    memset(text, 'a', sizeof text);
    struct hold hold = {0};
    struct tier_piece piece = {.text = {text, sizeof text}};
    size_t count = 0;
    while (count < 1000 && hold_add(&hold, &piece))
        count++;
    CHECK(count > 50 && count < 65 && hold.bytes <= HOLD_BYTES_MAX);
    CHECK(hold.count == count);
    hold_deinit(&hold);
    CHECK(hold_add(&hold, &piece)); /* usable again */
    hold_deinit(&hold);
}

static void test_what_a_client_can_see(void)
{
    static const struct {
        const char *raw;
        bool visible;
    } cases[] = {
        {"{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}", false},
        {"{\"delta\":{\"tool_calls\":null}}", false},
        {"{\"delta\":{\"tool_calls\":[{}]}}", true},
        {"{\"delta\":{\"refusal\":\"no\"}}", true},
        {"{\"logprobs\":{}}", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct json *raw = NULL;
        REQUIRE(json_parse(str_from(cases[i].raw), &raw, NULL) == TD_OK);
        struct tier_piece piece = {.raw_delta = raw};
        CHECK(piece_is_visible(&piece) == cases[i].visible);
        json_free(raw);
    }
    CHECK(piece_is_visible(&(struct tier_piece){.text = STR("a")}));
    CHECK(!piece_is_visible(&(struct tier_piece){.has_stats = true}));
}

int main(void)
{
    RUN(test_pieces_come_back_whole_after_their_source_is_gone);
    RUN(test_each_member_of_a_piece_has_its_own_bytes);
    RUN(test_replay_stops_when_told);
    RUN(test_a_hold_is_bounded);
    RUN(test_what_a_client_can_see);
    return test_finish();
}
