/* What is kept and for how long, how pieces are kept, and which requests are the same. */
#include "api/cache/answer_cache.h"

#include "api/cache/cache_bytes.h"
#include "api/cache/cache_key.h"
#include "api/cache/kept_pieces.h"
#include "base/core/str.h"
#include "test.h"
#include "wire_members.h"

#include <stdio.h>
#include <stdlib.h>

static const struct answer_cache_limits large = {1 << 20, 10000};

static void key_of_number(int number, uint8_t out[static 32])
{
    crypto_sha256(&number, sizeof number, out);
}

static void put(struct answer_cache *cache, int number, size_t bytes, const char *user,
                uint64_t now_ms)
{
    struct kept *kept = kept_new(1 << 20);
    REQUIRE(kept != NULL);
    key_of_number(number, kept->key);
    answer_owner_init(&kept->owner, "tenant", user);
    kept->server_identity = 7;
    for (size_t i = 0; i < bytes; i++)
        buf_append_char(&kept->pieces, 'x');
    answer_cache_put(cache, kept, now_ms);
}

static bool is_there(struct answer_cache *cache, int number, uint64_t now_ms)
{
    uint8_t key[32];
    key_of_number(number, key);
    struct kept *kept = answer_cache_find(cache, key, &(struct cache_wish){0, 0, now_ms});
    bool there = kept != NULL;
    kept_drop(kept);
    return there;
}

static void test_an_answer_is_found_until_it_is_too_old(void)
{
    struct answer_cache *cache = answer_cache_new(large);
    uint8_t key[32];
    key_of_number(1, key);
    put(cache, 1, 10, "u", 1000);
    CHECK(is_there(cache, 1, 1000) && is_there(cache, 1, 11000) && !is_there(cache, 2, 1000));
    CHECK(answer_cache_find(cache, key, &(struct cache_wish){0, 500, 2000}) ==
          NULL); /* too old for this one alone */
    CHECK(is_there(cache, 1, 2000));
    CHECK(!is_there(cache, 1, 11001) && !is_there(cache, 1, 1000));
    put(cache, 1, 10, "u", 1000);
    CHECK(answer_cache_find(cache, key, &(struct cache_wish){8, 0, 1000}) ==
          NULL); /* of another server: dropped */
    CHECK(!is_there(cache, 1, 1000));
    answer_cache_free(cache);
}

static void test_bytes_give_the_same_answers_older_by_what_passed(void)
{
    struct answer_cache *cache = answer_cache_new(large), *again = answer_cache_new(large);
    struct buf bytes;
    put(cache, 1, 10, "u", 1000);
    put(cache, 2, 20, "v", 5000);
    buf_init(&bytes, 1 << 20);
    cache_bytes_write(cache, &(struct cache_now){6000, 1000000}, &bytes);
    /* The clock that begins with the machine begins anew; 4 s passed. */
    CHECK(cache_bytes_read(buf_view(&bytes), &(struct cache_now){10, 1004000}, 10000, again));
    CHECK(is_there(again, 1, 10) && is_there(again, 1, 1010) && !is_there(again, 1, 1011));
    CHECK(is_there(again, 2, 5010) && !is_there(again, 2, 5011));
    CHECK(cache_bytes_read(buf_view(&bytes), &(struct cache_now){10, 1004000}, 10000, again));
    CHECK(answer_cache_forget(again, "tenant", "v") == 1);
    answer_cache_free(again);
    again = answer_cache_new(large);
    CHECK(cache_bytes_read(buf_view(&bytes), &(struct cache_now){10, 1006000}, 10000, again));
    CHECK(!is_there(again, 1, 10) && is_there(again, 2, 10)); /* 11 s and 7 s */
    answer_cache_free(again);
    answer_cache_free(cache);
    buf_deinit(&bytes);
}

static void test_bytes_that_are_cut_or_changed_harm_nothing(void)
{
    struct answer_cache *cache = answer_cache_new(large);
    struct cache_now now = {6000, 1000000};
    struct buf bytes;
    put(cache, 1, 10, "u", 1000);
    put(cache, 2, 20, "v", 5000);
    buf_init(&bytes, 1 << 20);
    cache_bytes_write(cache, &now, &bytes);
    for (size_t len = 0; len < bytes.len; len++) {
        struct answer_cache *part = answer_cache_new(large);
        char *copy = malloc(len + 1);
        REQUIRE(copy != NULL);
        memcpy(copy, bytes.data, len);
        bool whole = cache_bytes_read((struct td_str){copy, len}, &now, 10000, part);
        CHECK(whole == (len == 8 || len == 8 + 142 + 10));
        free(copy);
        answer_cache_free(part);
    }
    for (size_t at = 0; at < bytes.len; at++) {
        struct answer_cache *other = answer_cache_new(large);
        bytes.data[at] = (char)~bytes.data[at];
        (void)cache_bytes_read(buf_view(&bytes), &now, 10000, other);
        bytes.data[at] = (char)~bytes.data[at];
        answer_cache_free(other);
    }
    answer_cache_free(cache);
    buf_deinit(&bytes);
}

static void test_the_least_recently_used_makes_room(void)
{
    struct answer_cache *cache = answer_cache_new((struct answer_cache_limits){10000, 10000});
    struct answer_cache_counts counts;
    for (int i = 0; i < 50; i++) {
        put(cache, i, 1000, "u", 0);
        CHECK(is_there(cache, i, 0) && (i == 0 || is_there(cache, 0, 0)));
        answer_cache_read(cache, &counts);
        CHECK(counts.bytes <= 10000);
    }
    CHECK(!is_there(cache, 1, 0) && is_there(cache, 49, 0));
    CHECK(counts.stored == 50 && counts.evicted == 50 - counts.count);
    put(cache, 99, 20000, "u", 0);
    CHECK(!is_there(cache, 99, 0));
    put(cache, 5, 10, "u", 0);
    put(cache, 5, 20, "u", 0); /* in the place of the other */
    CHECK(is_there(cache, 5, 0));
    answer_cache_set_limits(cache, (struct answer_cache_limits){0, 10000});
    answer_cache_read(cache, &counts);
    CHECK(counts.count == 0 && counts.bytes == 0 && !is_there(cache, 5, 0));
    answer_cache_free(cache);
    answer_cache_free(NULL);
}

static void test_an_answer_in_use_outlives_its_place(void)
{
    struct answer_cache *cache = answer_cache_new(large);
    uint8_t key[32];
    key_of_number(1, key);
    put(cache, 1, 10, "u", 0);
    struct kept *held = answer_cache_find(cache, key, &(struct cache_wish){7, 0, 0});
    REQUIRE(held != NULL);
    answer_cache_free(cache);
    CHECK(held->pieces.len == 10 && held->pieces.data[9] == 'x');
    kept_drop(held);
    kept_drop(NULL);
}

static void test_a_user_is_forgotten_of_one_tenant_or_of_all(void)
{
    struct answer_cache *cache = answer_cache_new(large);
    put(cache, 1, 10, "anna", 0);
    put(cache, 2, 10, "bob", 0);
    put(cache, 3, 10, NULL, 0);
    CHECK(answer_cache_forget(cache, "other", "anna") == 0);
    CHECK(answer_cache_forget(cache, "tenant", "anna") == 1 && !is_there(cache, 1, 0));
    CHECK(answer_cache_forget(cache, NULL, "bob") == 1 && is_there(cache, 3, 0));
    CHECK(answer_cache_forget(NULL, NULL, "bob") == 0);
    answer_cache_free(cache);
}

/* --- pieces --- */

static void test_pieces_are_read_as_they_were_written(void)
{
    struct buf out;
    struct json *raw = NULL;
    struct tier_piece piece;
    buf_init(&out, 1 << 16);
    REQUIRE(json_parse(STR("{\"delta\":{\"tool_calls\":[{\"index\":0}]}}"), &raw, NULL) == TD_OK);
    struct piece_writer writer = {.out = &out};
    const struct tier_piece plain = {.text = STR("word "), .server_identity = 3};
    const struct tier_piece counted = {.text = STR("t"),
                                       .token_text = STR("t"),
                                       .has_stats = true,
                                       .in_call = true,
                                       .stats = {.logprob = -0.5f, .forced = 1}};
    const struct tier_piece call = {.raw_delta = raw};
    for (int i = 0; i < 100; i++)
        piece_writer_add(&writer, &plain);
    piece_writer_add(&writer, &counted);
    piece_writer_add(&writer, &call);
    piece_writer_add(&writer, &plain);
    CHECK(!writer.unfit && !out.failed && writer.visible == 103);
    struct piece_reader reader = {.from = buf_view(&out)};
    size_t text = 0, pieces = 0, calls = 0, stats = 0;
    while (piece_reader_next(&reader, &piece)) {
        pieces++;
        text += piece.text.len;
        calls += piece.raw_delta != NULL;
        stats += piece.has_stats && piece.in_call && piece.stats.logprob < 0 &&
                 str_equal(piece.token_text, STR("t"));
        CHECK(piece.text.len <= 256);
    }
    CHECK(text == 506 && calls == 1 && stats == 1);
    CHECK(pieces == 5 && reader.at == out.len); /* 500 bytes in two, and three more */
    for (size_t cut = 0; cut < out.len; cut++) {
        char *copy = malloc(cut + 1);
        REQUIRE(copy != NULL);
        memcpy(copy, out.data, cut);
        struct piece_reader part = {.from = {copy, cut}};
        while (piece_reader_next(&part, &piece))
            CHECK(part.at <= cut);
        piece_reader_deinit(&part);
        free(copy);
    }
    json_free(raw);
    buf_deinit(&out);
}

static void test_what_another_model_or_moment_would_change_is_not_kept(void)
{
    const float score = 0;
    const struct td_top_logprob top = {1, -1};
    const struct tier_piece unfit[] = {{.text = STR("x"), .computed = true},
                                       {.text = STR("x"), .top = &top, .top_count = 1},
                                       {.label_scores = &score, .label_count = 1}};
    for (size_t i = 0; i < 3; i++) {
        struct buf out;
        buf_init(&out, 4096);
        struct piece_writer writer = {.out = &out};
        piece_writer_add(&writer, &unfit[i]);
        CHECK(writer.unfit && out.len == 0);
        buf_deinit(&out);
    }
}

/* --- keys --- */

static const struct tier_facts facts = {.name = "cloud", .model = "m"};
static const struct egress_pass pass = {.scanned = true};

static struct cache_question ask(const struct td_request *request)
{
    return (struct cache_question){
        .request = request, .pass = &pass, .facts = &facts, .identity = "policy"};
}

static bool may(struct td_request request, enum cache_answers which)
{
    const struct cache_question question = ask(&request);
    return cache_key_may(&question, which);
}

static void test_what_may_be_kept(void)
{
    const struct td_request greedy = {.sampling.temperature = 0};
    const struct td_request random = {.sampling.temperature = 1};
    struct td_request request = random;
    CHECK(may(greedy, CACHE_ANSWERS_DETERMINISTIC) && !may(greedy, CACHE_ANSWERS_NONE));
    CHECK(!may(random, CACHE_ANSWERS_DETERMINISTIC) && may(random, CACHE_ANSWERS_ALL));
    request.sampling.seed_set = true;
    CHECK(may(request, CACHE_ANSWERS_DETERMINISTIC));
    request = random;
    request.cache = CACHE_USE;
    CHECK(may(request, CACHE_ANSWERS_DETERMINISTIC) && !may(request, CACHE_ANSWERS_NONE));
    request = greedy;
    request.left_to_model = SETTING_TEMPERATURE;
    CHECK(!may(request, CACHE_ANSWERS_DETERMINISTIC));
    request = greedy;
    request.cache = CACHE_OFF;
    CHECK(!may(request, CACHE_ANSWERS_ALL));
    request = greedy;
    request.keep_nothing = true;
    CHECK(!may(request, CACHE_ANSWERS_ALL));
    request = greedy;
    request.no_retention = true;
    CHECK(!may(request, CACHE_ANSWERS_ALL));
    request = greedy;
    request.foreign_tools = true;
    CHECK(!may(request, CACHE_ANSWERS_ALL));
}

static void test_classes_that_are_never_kept(void)
{
    const struct td_request request = {.sampling.temperature = 0};
    struct egress_pass other = pass;
    struct cache_question question = ask(&request);
    question.pass = &other;
    CHECK(cache_key_may(&question, CACHE_ANSWERS_ALL));
    other.asked_class = TD_CLASS_RESTRICTED; /* also where it was masked and nothing is left */
    CHECK(!cache_key_may(&question, CACHE_ANSWERS_ALL));
    other.asked_class = TD_CLASS_CONTRACTUAL;
    CHECK(!cache_key_may(&question, CACHE_ANSWERS_ALL));
    other = pass;
    other.scanned = false;
    CHECK(!cache_key_may(&question, CACHE_ANSWERS_ALL));
    other = pass;
    other.purpose = EGRESS_CONTINUATION;
    CHECK(!cache_key_may(&question, CACHE_ANSWERS_ALL));
    question.pass = NULL;
    CHECK(!cache_key_may(&question, CACHE_ANSWERS_ALL));
}

static void key_of(const char *body, struct td_request request, uint8_t out[static 32])
{
    struct wire_members wire;
    wire_members_init(&wire, body, &request);
    const struct cache_question question = ask(&request);
    CHECK(cache_key_of(&question, out));
    wire_members_deinit(&wire);
}

static bool same(const char *a, const char *b, struct td_request one, struct td_request other)
{
    uint8_t first[32], second[32];
    key_of(a, one, first);
    key_of(b, other, second);
    return memcmp(first, second, sizeof first) == 0;
}

static void test_the_key_holds_every_value_and_no_order(void)
{
    const struct td_message hi = {TD_ROLE_USER, STR("hi")}, ho = {TD_ROLE_USER, STR("ho")};
    const struct td_request plain = {.messages = &hi, .message_count = 1, .caller = "a"};
    struct td_request other;
    const char *body = "{\"a\":{\"x\":1,\"y\":[1,\"2\"]},\"b\":0.5}";
    CHECK(same(body, body, plain, plain));
    CHECK(same(body, "{\"b\":0.5,\"a\":{\"y\":[1,\"2\"],\"x\":1}}", plain, plain));
    CHECK(same(body, "{\"a\":{\"x\":1,\"y\":[1,\"2\"]},\"b\":0.5,\"stream\":true}", plain, plain));
    const char *const bodies[] = {"{\"a\":{\"x\":1,\"y\":[\"2\",1]},\"b\":0.5}",
                                  "{\"a\":{\"x\":1,\"y\":[1,2]},\"b\":0.5}",
                                  "{\"a\":{\"x\":1,\"y\":[1,\"2\"]},\"b\":0.25}",
                                  "{\"a\":{\"x\":1,\"y\":[1,\"2\"]}}",
                                  "{\"a\":{\"x\":1,\"y\":[1,\"2\",null]},\"b\":0.5}",
                                  "{}"};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        CHECK(!same(body, bodies[i], plain, plain));
#define DIFFERS(member, value) \
    other = plain;             \
    other.member = value;      \
    CHECK(!same(body, body, plain, other));
    DIFFERS(messages, &ho)
    DIFFERS(caller, "b")
    DIFFERS(caller, NULL)
    DIFFERS(tenant, "t")
    DIFFERS(user, "u")
    DIFFERS(user, "")
    DIFFERS(model, "other")
    DIFFERS(tokens_max, 5)
    DIFFERS(sampling.temperature, 0.5f)
    DIFFERS(sampling.seed_set, true)
    DIFFERS(tool_choice, TOOL_CHOICE_NONE)
    DIFFERS(format, TD_FORMAT_JSON)
    DIFFERS(grammar_source, STR("root ::= \"x\""))
    DIFFERS(logprobs, true)
    other = plain;
    other.streamed = true;
    CHECK(same(body, body, plain, other));
}

int main(void)
{
    RUN(test_an_answer_is_found_until_it_is_too_old);
    RUN(test_bytes_give_the_same_answers_older_by_what_passed);
    RUN(test_bytes_that_are_cut_or_changed_harm_nothing);
    RUN(test_the_least_recently_used_makes_room);
    RUN(test_an_answer_in_use_outlives_its_place);
    RUN(test_a_user_is_forgotten_of_one_tenant_or_of_all);
    RUN(test_pieces_are_read_as_they_were_written);
    RUN(test_what_another_model_or_moment_would_change_is_not_kept);
    RUN(test_what_may_be_kept);
    RUN(test_classes_that_are_never_kept);
    RUN(test_the_key_holds_every_value_and_no_order);
    return test_finish();
}
