#include "exchange/limits/gates.h"

#include "test.h"

#include <math.h>

static const struct gate_settings both = {.g2_on = true,
                                          .g2_tokens = 3,
                                          .g2_confidence_min = 0.5,
                                          .g3_on = true,
                                          .g3_confidence_min = 0.7};

static struct confidence tokens(uint32_t count, double probability, double not_mine)
{
    struct confidence confidence;
    confidence_init(&confidence, 0, 0);
    struct td_token_stats stats = {.logprob = (float)log(probability), .not_mine = (float)not_mine};
    for (uint32_t i = 0; i < count; i++)
        confidence_add(&confidence, &stats);
    return confidence;
}

/* Name of the gate that leaves the running answer; "" = it stays. */
static const char *look(const struct gate_settings *gates, const struct confidence *confidence,
                        uint32_t token_count)
{
    const struct gate_view view = {gates, confidence, token_count, false, false, ANSWER_SOUND};
    struct gate_verdict verdict = gates_look(&view);
    return verdict.left_by ? gate_name(verdict.left_by) : "";
}

static struct gate_verdict judge(const struct gate_settings *gates,
                                 const struct confidence *confidence, uint32_t token_count)
{
    return gates_judge(
        &(struct gate_view){gates, confidence, token_count, true, false, ANSWER_SOUND});
}

static bool is(const char *name, const char *expected)
{
    return strcmp(name, expected) == 0;
}

static void test_g2_looks_exactly_at_its_token(void)
{
    for (uint32_t n = 1; n <= 5; n++) {
        struct confidence c = tokens(n, 0.4, 0);
        CHECK(is(look(&both, &c, n), n == 3 ? "g2" : ""));
    }
    struct confidence c = tokens(3, 0.6, 0);
    CHECK(is(look(&both, &c, 3), ""));
}

static void test_not_mine_is_seen_at_the_first_token_only(void)
{
    struct confidence c = tokens(1, 0.9, 0.51);
    CHECK(is(look(&both, &c, 1), "not_mine"));
    CHECK(is(look(&both, &c, 2), ""));
    c = tokens(1, 0.9, 0.5);
    CHECK(is(look(&both, &c, 1), ""));
    struct gate_settings off = {0};
    c = tokens(1, 0.9, 0.99);
    CHECK(is(look(&off, &c, 1), ""));
}

static void test_g3_judges_with_its_own_bar(void)
{
    struct confidence c = tokens(8, 0.6, 0);
    struct gate_verdict verdict = judge(&both, &c, 8);
    CHECK(is(gate_name(verdict.left_by), "g3") && verdict.threshold == 0.7);
    c = tokens(8, 0.8, 0);
    CHECK(!judge(&both, &c, 8).left_by);
}

static void test_the_sentence_speaks_of_the_tokens_that_the_gate_saw(void)
{
    struct gate_view view = {&both, NULL, 3, false, false, ANSWER_SOUND};
    struct confidence c = tokens(3, 0.4, 0);
    char text[REASON_TEXT_BYTES];
    view.confidence = &c;
    struct gate_verdict verdict = gates_look(&view);
    view.whole = true; /* it is explained when the answer is complete */
    view.token_count = 9;
    gates_explain(&verdict, &view, "local", text);
    CHECK(strncmp(text, "confidence 0.40 after 3 tokens is below ", 40) == 0);
    struct confidence whole = tokens(8, 0.6, 0);
    verdict = judge(&both, &whole, 8);
    gates_explain(&verdict, &view, "local", text);
    CHECK(strncmp(text, "confidence 0.60 of the whole answer is below ", 45) == 0);
}

static void test_g2_judges_an_answer_shorter_than_its_look(void)
{
    struct gate_settings g2 = both;
    g2.g3_on = false;
    struct confidence c = tokens(2, 0.4, 0);
    CHECK(is(gate_name(judge(&g2, &c, 2).left_by), "g2"));
    c = tokens(3, 0.4, 0); /* was looked at while it ran */
    CHECK(!judge(&g2, &c, 3).left_by);
}

static void test_a_tier_without_stats_is_not_judged(void)
{
    struct confidence c = tokens(0, 1, 0);
    CHECK(!judge(&both, &c, 0).left_by);
}

static void test_g1_leaves_at_the_first_token_when_the_probe_expects_too_little(void)
{
    const struct gate_settings g1 = {.g1_on = true, .g1_probe_min = 0.4};
    struct confidence c;
    struct td_token_stats stats = {.probe = 0.3f};
    confidence_init(&c, 0, 0);
    confidence_add(&c, &stats);
    struct gate_verdict verdict =
        gates_look(&(struct gate_view){&g1, &c, 1, false, false, ANSWER_SOUND});
    CHECK(is(gate_name(verdict.left_by), "g1") && verdict.threshold == 0.4);
    stats.probe = 0; /* later tokens bring none; the first one's stays */
    confidence_add(&c, &stats);
    CHECK(is(look(&g1, &c, 2), "") && c.probe == 0.3f);
    confidence_init(&c, 0, 0);
    stats.probe = 0.5f;
    confidence_add(&c, &stats);
    CHECK(is(look(&g1, &c, 1), ""));
    c = tokens(1, 0.9, 0); /* a model without a probe is not judged by it */
    CHECK(is(look(&g1, &c, 1), "") && gates_on(&g1));
}

static void test_an_uncalibrated_answer_is_left_at_its_first_token_unless_a_probe_judges_it(void)
{
    const struct gate_settings nothing = {.uncalibrated = true};
    const struct gate_settings probed = {.uncalibrated = true, .g1_on = true, .g1_probe_min = 0.4};
    struct confidence sure = tokens(1, 0.99, 0);
    char text[REASON_TEXT_BYTES];
    CHECK(gates_on(&nothing) && is(look(&nothing, &sure, 1), "uncalibrated"));
    CHECK(is(look(&nothing, &sure, 2), ""));
    CHECK(is(look(&probed, &sure, 1), "uncalibrated")); /* the model has no probe */
    struct gate_verdict verdict = judge(&nothing, &sure, 1);
    const struct gate_view view = {&nothing, &sure, 1, true, false, ANSWER_SOUND};
    CHECK(gates_explain(&verdict, &view, "local", text) == REASON_LEFT_UNCALIBRATED);
    CHECK(strstr(text, "what local answers is uncalibrated"));
    struct td_token_stats stats = {.logprob = -0.1f, .probe = 0.6f};
    confidence_init(&sure, 0, 0);
    confidence_add(&sure, &stats);
    CHECK(is(look(&probed, &sure, 1), "") && !judge(&probed, &sure, 1).left_by);
}

static void test_an_answer_that_the_tier_cut_is_judged_after_its_confidence(void)
{
    char text[REASON_TEXT_BYTES];
    struct confidence low = tokens(8, 0.6, 0), high = tokens(8, 0.8, 0);
    struct gate_view view = {&both, &low, 8, true, true, ANSWER_SOUND};
    CHECK(!gate_is_cut(gates_judge(&view).left_by)); /* g3 comes first */
    view.confidence = &high;
    struct gate_verdict verdict = gates_judge(&view);
    CHECK(gate_is_cut(verdict.left_by) && !gate_is_cut(NULL));
    CHECK(gates_explain(&verdict, &view, "local", text) == REASON_LEFT_CUT);
    CHECK(is(text, "local's context ended the answer after 8 tokens"));
}

/* A call does something: it is kept only when it is surer, unless the route gives the number. */
static void test_a_call_has_to_be_surer_than_an_answer(void)
{
    struct confidence c = tokens(3, 0.7, 0);
    double at = confidence_value(&c);
    struct gate_settings g3 = {.g3_on = true, .g3_confidence_min = 0.55};
    REQUIRE(at > 0.55 && at < 0.85);
    CHECK(judge(&g3, &c, 3).left_by == NULL);
    c.calls = true;
    struct gate_verdict verdict = judge(&g3, &c, 3);
    CHECK(verdict.left_by != NULL && verdict.threshold == 0.85);
    g3.g3_given = true;
    CHECK(judge(&g3, &c, 3).left_by == NULL);
    g3 = (struct gate_settings){.g3_on = true, .g3_confidence_min = 0.95};
    CHECK(judge(&g3, &c, 3).threshold == 0.95);
}

/* What is exactly at a threshold stays; what is the least below it leaves. */
static void test_at_its_threshold_an_answer_stays(void)
{
    struct confidence c = tokens(3, 0.6, 0);
    double at = confidence_value(&c);
    for (int above = 0; above < 2; above++) {
        double threshold = above ? nextafter(at, 1) : at;
        const struct gate_settings g2 = {
            .g2_on = true, .g2_tokens = 3, .g2_confidence_min = threshold};
        const struct gate_settings shorter = {
            .g2_on = true, .g2_tokens = 4, .g2_confidence_min = threshold};
        const struct gate_settings g3 = {.g3_on = true, .g3_confidence_min = threshold};
        const struct gate_settings abandon = {.g2_abandon_under = threshold, .g2_every = 3};
        CHECK(is(look(&g2, &c, 3), above ? "g2" : ""));
        CHECK(is(look(&abandon, &c, 3), above ? "abandon" : ""));
        struct gate_verdict verdict = judge(&shorter, &c, 3);
        CHECK((verdict.left_by != NULL) == above && verdict.threshold == threshold);
        verdict = judge(&g3, &c, 3);
        CHECK((verdict.left_by != NULL) == above && verdict.confidence == at);
    }
    c.probe = 0.25f;
    for (int above = 0; above < 2; above++) {
        const struct gate_settings g1 = {.g1_on = true,
                                         .g1_probe_min = above ? nextafter(0.25, 1) : 0.25};
        CHECK(is(look(&g1, &c, 1), above ? "g1" : ""));
    }
}

/* Every so many tokens, but not where G2 looks, and not without a bar. */
static void test_a_hopeless_answer_is_given_up_at_every_so_many_tokens(void)
{
    struct confidence low = tokens(1, 0.3, 0);
    for (uint32_t n = 1; n <= 13; n++) {
        const struct gate_settings four = {.g2_abandon_under = 0.4, .g2_every = 4};
        const struct gate_settings every = {.g2_abandon_under = 0.4, .g2_every = 1};
        const struct gate_settings never = {.g2_abandon_under = 0.4, .g2_every = 0};
        const struct gate_settings no_bar = {.g2_abandon_under = 0, .g2_every = 1};
        const struct gate_settings lower = {.g2_abandon_under = 0.2, .g2_every = 1};
        const struct gate_settings beside = {.g2_on = true,
                                             .g2_tokens = 8,
                                             .g2_confidence_min = 0.1,
                                             .g2_abandon_under = 0.4,
                                             .g2_every = 4};
        CHECK(is(look(&four, &low, n), n % 4 == 0 ? "abandon" : ""));
        CHECK(is(look(&every, &low, n), "abandon"));
        CHECK(is(look(&never, &low, n), "") && is(look(&no_bar, &low, n), ""));
        CHECK(is(look(&lower, &low, n), ""));
        CHECK(is(look(&beside, &low, n), n == 4 || n == 12 ? "abandon" : "")); /* G2 alone at 8 */
        CHECK(judge(&every, &low, n).left_by == NULL);
    }
}

static void test_g2_without_a_number_looks_at_the_first_token(void)
{
    const struct gate_settings first = {.g2_on = true, .g2_confidence_min = 0.5};
    struct confidence low = tokens(1, 0.3, 0);
    for (uint32_t n = 1; n <= 3; n++)
        CHECK(is(look(&first, &low, n), n == 1 ? "g2" : ""));
    CHECK(judge(&first, &low, 1).left_by == NULL);
}

static void test_each_gate_alone_is_one(void)
{
    static const struct {
        struct gate_settings settings;
        bool on;
    } cases[] = {
        {{0}, false},
        {{.g1_on = true}, true},
        {{.g2_on = true}, true},
        {{.g3_on = true}, true},
        {{.g2_abandon_under = 0.1}, true},
        {{.uncalibrated = true}, true},
        {{.g1_probe_min = 1, .g2_tokens = 3, .g2_confidence_min = 1, .g3_confidence_min = 1},
         false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK(gates_on(&cases[i].settings) == cases[i].on);
}

/* A risk that no threshold can promise is said as that, not as a number without a bound. */
static void test_a_risk_that_cannot_be_promised_is_said(void)
{
    struct confidence c = tokens(1, 0.9, 0);
    c.probe = 0.5f;
    for (int reachable = 0; reachable < 2; reachable++) {
        const struct gate_settings settings[] = {
            {.g1_on = true, .g1_probe_min = reachable ? 0.75 : INFINITY},
            {.g2_on = true, .g2_confidence_min = reachable ? 0.95 : INFINITY},
        };
        for (size_t i = 0; i < 2; i++) {
            char text[REASON_TEXT_BYTES] = "";
            const struct gate_view view = {&settings[i], &c, 1, false, false, ANSWER_SOUND};
            struct gate_verdict verdict = gates_look(&view);
            REQUIRE(verdict.left_by != NULL);
            gates_explain(&verdict, &view, "local", text);
            CHECK((strstr(text, "the asked risk is out of reach: local") != NULL) == !reachable);
            CHECK((strstr(text, i ? "below 0.95" : "below 0.75") != NULL) == reachable);
        }
    }
}

static void test_high_stakes_leave_an_answer_that_every_other_gate_keeps(void)
{
    struct gate_settings gates = {.error_usd = 100, .review_usd = 5};
    struct confidence sure = tokens(4, 0.99, 0), less = tokens(4, 0.9, 0), none = tokens(0, 1, 0);
    CHECK(!judge(&gates, &sure, 4).left_by);
    CHECK(is(gate_name(judge(&gates, &less, 4).left_by), "stakes"));
    CHECK(is(gate_name(judge(&gates, &none, 0).left_by), "stakes")); /* half of 100 */
    CHECK(is(look(&gates, &less, 3), ""));
    CHECK(gates_on(&gates));
    gates.error_usd = 9;
    CHECK(!judge(&gates, &none, 0).left_by);
    char text[REASON_TEXT_BYTES];
    gates.error_usd = 100;
    const struct gate_view view = {&gates, &less, 4, true, false, ANSWER_SOUND};
    struct gate_verdict verdict = judge(&gates, &less, 4);
    CHECK(gates_explain(&verdict, &view, "local", text) == REASON_LEFT_STAKES);
    CHECK(strstr(text, "100 USD") && strstr(text, "review (5)"));
}

int main(void)
{
    RUN(test_an_uncalibrated_answer_is_left_at_its_first_token_unless_a_probe_judges_it);
    RUN(test_g2_looks_exactly_at_its_token);
    RUN(test_not_mine_is_seen_at_the_first_token_only);
    RUN(test_g3_judges_with_its_own_bar);
    RUN(test_the_sentence_speaks_of_the_tokens_that_the_gate_saw);
    RUN(test_g2_judges_an_answer_shorter_than_its_look);
    RUN(test_a_tier_without_stats_is_not_judged);
    RUN(test_g1_leaves_at_the_first_token_when_the_probe_expects_too_little);
    RUN(test_an_answer_that_the_tier_cut_is_judged_after_its_confidence);
    RUN(test_at_its_threshold_an_answer_stays);
    RUN(test_a_call_has_to_be_surer_than_an_answer);
    RUN(test_a_hopeless_answer_is_given_up_at_every_so_many_tokens);
    RUN(test_g2_without_a_number_looks_at_the_first_token);
    RUN(test_each_gate_alone_is_one);
    RUN(test_a_risk_that_cannot_be_promised_is_said);
    RUN(test_high_stakes_leave_an_answer_that_every_other_gate_keeps);
    return test_finish();
}
