/* Which questions may have one answer: what they must have in common, how their vectors are kept
 * and compared, and of which requests the question alone may differ. */
#include "api/cache/answer_cache.h"
#include "api/cache/cache_key.h"
#include "api/cache/question_marks.h"
#include "api/cache/similar_question.h"
#include "base/core/str.h"
#include "base/crypto/rng.h"
#include "test.h"
#include "wire_members.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What two questions differ in; "nothing", or "" when one of them is never compared. */
static const char *differ(const char *one, const char *other)
{
    struct question_marks a, b;
    if (!question_marks_read(NULL, str_from(one), &a) ||
        !question_marks_read(NULL, str_from(other), &b))
        return "";
    enum question_mark mark = question_marks_differ(&a, &b);
    return mark == MARK_COUNT ? "nothing" : question_mark_name(mark);
}

static void test_what_two_questions_differ_in(void)
{
    static const char *const cases[][3] = {
        {"How do I reset my password?", "How can I reset my password", "nothing"},
        {"Please tell me how tides come about.", "what makes the tides", "nothing"},
        {"I'd like to know how rain forms", "How does rain form?", "nothing"},
        {"Pay 50 to my landlord", "Pay 500 to my landlord", "numbers"},
        {"What is 3 + 4 here?", "What is 3 - 4 here?", "numbers"},
        {"It costs $5 a month", "It costs €5 a month", "numbers"},
        {"a discount of 5 percent", "a discount of five percent", "numbers"},
        {"My first card was stolen", "My second card was stolen", "numbers"},
        {"Is it open on monday?", "Is it open on friday?", "numbers"},
        {"Was it version 1.5 or not", "Was it version 15 or not", "numbers"},
        {"Can I pay by card?", "Can't I pay by card?", "negations"},
        {"Why is it not there?", "Why is it there?", "negations"},
        {"Why can't I pay by card", "Why can I not pay by card", "nothing"},
        {"Why can\xe2\x80\x99t I pay by card", "Why cannot I pay by card", "nothing"},
        {"a plan with ads", "a plan without ads", "negations"},
        {"How do I turn it on?", "How do I turn it off?", "negations"},
        {"the word before that", "the word after that", "negations"},
        {"How do I get to Rome?", "How do I get to Bonn?", "names"},
        {"a train from Rome to Bonn", "a train from Bonn to Rome", "names"},
        {"Paris weather this evening?", "London weather this evening?", "names"},
        {"What is in /etc/passwd now", "What is in /etc/hosts now", "names"},
        {"explain what foo.bar does", "explain what foo.baz does", "names"},
        {"How big is the US army", "How big is us army", "names"},
        {"translate 'good luck' to french", "translate 'good night' to french", "quotations"},
        {"translate \"good day\" to french", "translate \xe2\x80\x9cgood day\xe2\x80\x9d to french",
         "nothing"},
        {"what does `ls` print", "what does `rm` print", "quotations"},
        {"what does \"ls print", "what does \"rm print", "quotations"},
        {"the users' names are wrong", "the users' names were wrong", "nothing"},
        {"Hi", "Hi", ""},
        {"\xe4\xbb\x8a\xe5\xa4\xa9 a b c", "a b c", ""}, /* no capitals to know names by */
        {"", "", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *found = differ(cases[i][0], cases[i][1]);
        if (strcmp(found, cases[i][2]) != 0)
            printf("'%s' and '%s': %s\n", cases[i][0], cases[i][1], found);
        CHECK(strcmp(found, cases[i][2]) == 0);
    }
}

static void test_a_long_text_is_no_question(void)
{
    char text[QUESTION_BYTES_MAX + 1];
    struct question_marks marks;
    memset(text, 'a', sizeof text);
    text[3] = text[7] = ' ';
    CHECK(question_marks_read(NULL, (struct td_str){text, sizeof text - 1}, &marks));
    CHECK(!question_marks_read(NULL, (struct td_str){text, sizeof text}, &marks));
}

static void test_any_bytes_are_read(void)
{
    struct rng rng;
    rng_init(&rng, 7);
    for (int round = 0; round < 20000; round++) {
        size_t len = rng_u64(&rng) % 60;
        char *text = malloc(len + 1);
        struct question_marks marks;
        REQUIRE(text != NULL);
        for (size_t i = 0; i < len; i++)
            text[i] = "ab '\"`\n.3-\xc2\xab\xe2\x80\x9c\x98\xff\xf0"[rng_u64(&rng) % 18];
        (void)question_marks_read(NULL, (struct td_str){text, len}, &marks);
        free(text);
    }
}

/* --- vectors --- */

static const uint8_t scope[32] = {1}, elsewhere[32] = {1, 0, 0, 0, 2};
static const struct question_marks no_marks = {{0}};

static void test_rounding_changes_a_cosine_by_less_than_a_five_hundredth(void)
{
    enum { SIZE = 384 };
    float one[SIZE], other[SIZE];
    struct rng rng;
    double worst = 0;
    rng_init(&rng, 3);
    for (int round = 0; round < 200; round++) {
        double product = 0, ones = 0, others = 0;
        for (int i = 0; i < SIZE; i++) {
            one[i] = (float)rng_double(&rng) - 0.5f;
            other[i] = one[i] + (float)(rng_double(&rng) - 0.5) * (float)round / 200;
            product += (double)one[i] * (double)other[i];
            ones += (double)one[i] * (double)one[i];
            others += (double)other[i] * (double)other[i];
        }
        struct similar_question *a = similar_question_new(scope, &no_marks, one, SIZE);
        struct similar_question *b = similar_question_new(scope, &no_marks, other, SIZE);
        REQUIRE(a && b);
        worst = fmax(worst,
                     fabs((double)similar_question_compare(a, b) - product / sqrt(ones * others)));
        CHECK(fabsf(similar_question_compare(a, a) - 1) < 1e-6f);
        similar_question_free(a);
        similar_question_free(b);
    }
    CHECK(worst < 0.002);
}

static void test_vectors_that_are_none_are_refused(void)
{
    const float zero[2] = {0, 0}, odd[2] = {1, NAN}, large[2] = {INFINITY, 1}, some[2] = {1, 2};
    CHECK(similar_question_new(scope, &no_marks, zero, 2) == NULL);
    CHECK(similar_question_new(scope, &no_marks, odd, 2) == NULL);
    CHECK(similar_question_new(scope, &no_marks, large, 2) == NULL);
    CHECK(similar_question_new(scope, &no_marks, some, 0) == NULL);
    CHECK(similar_question_new(scope, &no_marks, some, SIMILAR_VECTOR_MAX + 1) == NULL);
    struct similar_question *two = similar_question_new(scope, &no_marks, some, 2);
    struct similar_question *one = similar_question_new(scope, &no_marks, some, 1);
    REQUIRE(one && two);
    CHECK(similar_question_compare(one, two) < 0);
    similar_question_free(one);
    similar_question_free(two);
    similar_question_free(NULL);
}

/* --- in the cache --- */

static void put(struct answer_cache *cache, int number, const uint8_t *of, uint64_t now_ms)
{
    const float vector[2] = {1, (float)number};
    struct kept *kept = kept_new(1 << 16);
    REQUIRE(kept != NULL);
    crypto_sha256(&number, sizeof number, kept->key);
    answer_owner_init(&kept->owner, "tenant", number % 2 ? "odd" : "even");
    buf_append_char(&kept->pieces, 'x');
    if (of)
        kept->question = similar_question_new(of, &no_marks, vector, 2);
    answer_cache_put(cache, kept, now_ms);
}

static size_t count_of(struct answer_cache *cache, const uint8_t of[static 32], uint64_t now_ms,
                       uint64_t age_max_ms)
{
    struct kept *some[8];
    const struct cache_wish wish = {.now_ms = now_ms, .age_max_ms = age_max_ms};
    size_t count = answer_cache_similar(cache, of, &wish, some, 8);
    for (size_t i = 0; i < count; i++)
        kept_drop(some[i]);
    return count;
}

static void test_questions_are_found_by_their_scope_and_go_with_their_answers(void)
{
    struct answer_cache *cache =
        answer_cache_new((struct answer_cache_limits){.bytes_max = 1 << 20, .ttl_ms = 1000});
    for (int i = 0; i < 4; i++)
        put(cache, i, scope, (uint64_t)i * 100);
    put(cache, 4, elsewhere, 0); /* in the same bucket */
    put(cache, 5, NULL, 0);
    CHECK(count_of(cache, scope, 300, 0) == 4 && count_of(cache, elsewhere, 300, 0) == 1);
    CHECK(count_of(cache, scope, 300, 150) == 2); /* younger ones alone */
    CHECK(count_of(cache, scope, 1150, 0) == 2);  /* the others are too old */
    put(cache, 2, NULL, 200);                     /* its answer came anew, without a question */
    CHECK(count_of(cache, scope, 300, 0) == 3);
    CHECK(answer_cache_forget(cache, "tenant", "odd") == 3);
    CHECK(count_of(cache, scope, 300, 0) == 1);
    for (int i = 10; i < 40; i++)
        put(cache, i, scope, 0);
    CHECK(count_of(cache, scope, 0, 0) == 8); /* no more than is asked for */
    struct kept *held[8];
    REQUIRE(answer_cache_similar(cache, scope, &(struct cache_wish){0}, held, 8) == 8);
    answer_cache_set_limits(cache, (struct answer_cache_limits){0, 1000});
    CHECK(count_of(cache, scope, 0, 0) == 0 && count_of(cache, elsewhere, 0, 0) == 0);
    answer_cache_use_similar(cache, held[0]); /* it went meanwhile */
    for (size_t i = 0; i < 8; i++)
        kept_drop(held[i]);
    answer_cache_free(cache);
}

/* --- requests --- */

static const struct tier_facts facts = {.name = "cloud", .model = "m"};
static const struct egress_pass pass = {.scanned = true};

static bool scope_of(const char *body, struct td_request request, const char *with,
                     uint8_t out[static 32])
{
    struct wire_members wire;
    struct td_str text;
    wire_members_init(&wire, body, &request);
    for (size_t i = 0; i < request.member_count; i++)
        if (strcmp(request.members[i].name, "messages") == 0)
            ((struct request_member *)(uintptr_t)&request.members[i])->kind = REQUEST_MESSAGES;
    const struct cache_question question = {
        .request = &request, .pass = &pass, .facts = &facts, .identity = "policy"};
    bool ok = cache_key_question(&request, &text) && cache_key_scope(&question, with, out);
    wire_members_deinit(&wire);
    return ok;
}

#define BODY(before, text) \
    "{\"messages\":[" before "{\"role\":\"user\",\"content\":" text "}],\"top_p\":0.5}"

static void test_only_the_last_users_text_may_differ(void)
{
    const struct td_message hi[2] = {{TD_ROLE_SYSTEM, STR("be brief")}, {TD_ROLE_USER, STR("hi")}};
    const struct td_message ho[2] = {{TD_ROLE_SYSTEM, STR("be brief")}, {TD_ROLE_USER, STR("ho")}};
    const struct td_message other[2] = {{TD_ROLE_SYSTEM, STR("be long")},
                                        {TD_ROLE_USER, STR("hi")}};
    const struct td_request plain = {.messages = hi, .message_count = 2, .tenant = "a"};
    const char *system = BODY("{\"role\":\"system\",\"content\":\"be brief\"},", "\"hi\"");
    struct td_request request = plain;
    uint8_t first[32], second[32];
    REQUIRE(scope_of(system, plain, "m1", first));
    request.messages = ho;
    REQUIRE(scope_of(BODY("{\"role\":\"system\",\"content\":\"be brief\"},",
                          "[{\"type\":\"text\",\"text\":\"ho\"}]"),
                     request, "m1", second));
    CHECK(memcmp(first, second, 32) == 0);
    REQUIRE(scope_of(system, plain, "m2", second));
    CHECK(memcmp(first, second, 32) != 0); /* vectors of another model */
    request.messages = other;
    REQUIRE(scope_of(system, request, "m1", second));
    CHECK(memcmp(first, second, 32) != 0);
    REQUIRE(scope_of(BODY("{\"role\":\"system\",\"content\":\"be b\"},", "\"hi\""), plain, "m1",
                     second));
    CHECK(memcmp(first, second, 32) != 0);
    request = plain;
    request.tenant = "b";
    REQUIRE(scope_of(system, request, "m1", second));
    CHECK(memcmp(first, second, 32) != 0);
    request = plain;
    request.tool_count = 1;
    REQUIRE(scope_of(system, request, "m1", second));
    CHECK(memcmp(first, second, 32) != 0);
}

static void test_whose_answer_is_for_nobody_else(void)
{
    const struct td_message hi = {TD_ROLE_USER, STR("hi")}, said = {TD_ROLE_ASSISTANT, STR("hi")};
    const struct td_completion completion = {.text = STR("hi")};
    const struct td_request plain = {.messages = &hi, .message_count = 1};
    struct td_request request = plain;
    uint8_t out[32];
    CHECK(scope_of(BODY("", "\"hi\""), plain, "m", out));
    CHECK(!scope_of(BODY("", "[{\"type\":\"image_url\"}]"), plain, "m", out));
    CHECK(!scope_of(BODY("", "[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"text\"}]"), plain,
                    "m", out));
    CHECK(!scope_of(BODY("", "[{\"type\":\"text\",\"text\":\"a\",\"cache_control\":{}}]"), plain,
                    "m", out));
    CHECK(!scope_of(BODY("", "\"hi\",\"name\":\"bob\""), plain, "m", out));
    request.messages = &said;
    CHECK(!scope_of(BODY("", "\"hi\""), request, "m", out));
    request = plain;
    request.message_count = 0;
    CHECK(!scope_of(BODY("", "\"hi\""), request, "m", out));
    request = plain;
    request.has_calls = true;
    CHECK(!scope_of(BODY("", "\"hi\""), request, "m", out));
    request = plain;
    request.media.kinds = REQUEST_IMAGE;
    CHECK(!scope_of(BODY("", "\"hi\""), request, "m", out));
    request = plain;
    request.format = TD_FORMAT_JSON;
    CHECK(!scope_of(BODY("", "\"hi\""), request, "m", out));
    request = plain;
    request.completion = &completion;
    CHECK(!scope_of(BODY("", "\"hi\""), request, "m", out));
    request = plain;
    request.continues = true;
    CHECK(!scope_of(BODY("", "\"hi\""), request, "m", out));
}

int main(void)
{
    RUN(test_what_two_questions_differ_in);
    RUN(test_a_long_text_is_no_question);
    RUN(test_any_bytes_are_read);
    RUN(test_rounding_changes_a_cosine_by_less_than_a_five_hundredth);
    RUN(test_vectors_that_are_none_are_refused);
    RUN(test_questions_are_found_by_their_scope_and_go_with_their_answers);
    RUN(test_only_the_last_users_text_may_differ);
    RUN(test_whose_answer_is_for_nobody_else);
    return test_finish();
}
