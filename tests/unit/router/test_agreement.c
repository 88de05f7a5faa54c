/* Agreement orders the same, a paraphrase and something else; labels and numbers are exact. */
#include "router/watch/agreement.h"

#include "base/core/str.h"
#include "test.h"

#include <stdlib.h>

static struct agreement compare(const char *a, const char *b)
{
    struct agreement forth, back;
    CHECK(agreement_compare(str_from(a), str_from(b), AGREEMENT_END_OWN, &forth));
    CHECK(agreement_compare(str_from(b), str_from(a), AGREEMENT_END_OWN, &back));
    CHECK(forth.kind == back.kind && forth.same == back.same && forth.score >= 0 &&
          forth.score <= 1);
    CHECK(forth.score <= back.score && forth.score >= back.score);
    return forth;
}

static void test_labels_are_the_same_or_not(void)
{
    CHECK(compare("Positive.", " positive\n").score >= 1);
    CHECK(compare("the card_arrival", "card arrival").score >= 1);
    CHECK(compare("positive", "not positive").score <= 0);
    CHECK(compare("yes", "The answer depends on many things.").score <= 0);
    CHECK(compare("", "").score >= 1 && compare("", "no").score <= 0);
    CHECK(compare("{}", "...").score <= 0 && compare("...", " ...\n").score >= 1);
    CHECK(compare("1,000", "1000").score >= 1 && compare("3.14", "3.15").score <= 0);
    CHECK(compare("Größe", "größe").score >= 1);
    CHECK(compare("yes", "no").kind == AGREEMENT_LABEL);
    CHECK(compare("one two three four", "one two three five").kind == AGREEMENT_TEXT);
}

static void test_the_same_a_paraphrase_and_another_answer_are_in_order(void)
{
    static const char *const triples[][3] = {
        {"The meeting was moved to Friday because the room is taken.",
         "Because the room is taken, the meeting is on Friday now.",
         "Bananas have about ninety calories and some potassium in them."},
        {"Restart the router and then check the cable behind the desk.",
         "Check the cable behind your desk after you restart the router.",
         "Your order was shipped yesterday and will arrive on Monday."},
    };
    for (size_t i = 0; i < sizeof triples / sizeof *triples; i++) {
        double same = compare(triples[i][0], triples[i][0]).score;
        double paraphrase = compare(triples[i][0], triples[i][1]).score;
        double other = compare(triples[i][0], triples[i][2]).score;
        CHECK(same >= 1 && paraphrase > 0.5 && paraphrase < 1 && other < 0.3);
    }
}

static void test_an_answer_that_denies_the_other_is_another_one(void)
{
    static const char *const pairs[][2] = {
        {"The mushroom is safe to eat raw.", "The mushroom is not safe to eat raw."},
        {"You can take both pills together.", "You can't take both pills together."},
        {"Der Laden ist am Sonntag offen.", "Der Laden ist nicht am Sonntag offen."},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        CHECK(!compare(pairs[i][0], pairs[i][1]).same);
    CHECK(compare("The shop is not open on Sunday.", "The shop isn't open on Sunday.").score >= 1);
    CHECK(compare("No, the shop is open on Sunday.", "The shop is open on Sunday.").same);
    CHECK(compare("I would not go without a coat.", "I would never go without a coat.").same);
}

static void test_another_number_is_another_answer(void)
{
    CHECK(compare("The train arrives at 17 hours today.", "The train arrives at 18 hours today.")
              .score < 0.5);
    CHECK(compare("The train arrives at 17 hours today.", "The train arrives in the evening today.")
              .score >= 0.5);
}

/* Chinese, Japanese and Thai put no space between words, Korean does. */
static void test_scripts_without_spaces_are_compared_by_their_characters(void)
{
    static const char *const triples[][3] = {
        {"会议改到星期五，因为房间被占用了。", "因为房间被占用，会议现在改到星期五了。",
         "香蕉含有大约九十卡路里和一些钾。"},
        {"会議は金曜日に変更されました。部屋が使えないためです。",
         "部屋が使えないため、会議は金曜日に変更になりました。",
         "バナナには約九十キロカロリーとカリウムが含まれる。"},
        {"การประชุมเลื่อนไปวันศุกร์เพราะห้องไม่ว่าง", "เพราะห้องไม่ว่าง การประชุมจึงเลื่อนไปวันศุกร์",
         "你好，今天的天气很好，我们去公园吧"},
    };
    for (size_t i = 0; i < sizeof triples / sizeof *triples; i++) {
        struct agreement paraphrase = compare(triples[i][0], triples[i][1]);
        CHECK(compare(triples[i][0], triples[i][0]).score >= 1);
        CHECK(paraphrase.kind == AGREEMENT_TEXT && paraphrase.same && paraphrase.score < 1);
        CHECK(!compare(triples[i][0], triples[i][2]).same);
    }
    CHECK(compare("是的。", "是的").score >= 1 && compare("「是」", "是！").score >= 1);
    CHECK(compare("天气预报", "天气通报").kind == AGREEMENT_LABEL && !compare("正面", "负面").same);
    CHECK(compare("价格是20元，明天送到你家", "价格是30元，明天送到你家").score < 0.5);
    CHECK(compare("날씨가 좋아요", "날씨가 나빠요").kind == AGREEMENT_LABEL);
    CHECK(compare("zero\xE2\x80\x8Bwidth", "zerowidth").score >= 1);
}

static void test_json_is_equal_by_its_leaves(void)
{
    static const char *const person = "{\"name\": \"Ada\", \"age\": 36, \"tags\": [\"a\", \"b\"]}";
    struct agreement same =
        compare(person, "```json\n{\"tags\":[\"a\",\"b\"],\"age\":36.0,\"name\":\"Ada\"}\n```\n");
    CHECK(same.kind == AGREEMENT_JSON && same.same && same.score >= 1);
    struct agreement near = compare(person, "{\"name\":\"Ada\",\"age\":37,\"tags\":[\"a\",\"b\"]}");
    CHECK(near.kind == AGREEMENT_JSON && !near.same && near.score > 0.7 && near.score < 0.8);
    CHECK(compare("[1,2]", "[2,1]").score <= 0 && compare("[]", "{}").score <= 0);
    CHECK(compare("[true,null,[]]", "[true,null,[]]").same);
    CHECK(!compare("{\"a\":{\"b\":1}}", "{\"a\":[1]}").same);
    CHECK(compare("{\"a\":1}", "a: 1").kind != AGREEMENT_JSON);
    CHECK(compare("{\"a\":1,\"a\":2}", "{\"a\":1,\"a\":2}").kind != AGREEMENT_JSON); /* not JSON */
}

static void test_an_answer_that_a_limit_cut_is_compared_with_as_many_words(void)
{
    const char *whole = "one two three four five six seven eight nine ten eleven twelve";
    struct agreement out;
    struct td_str begin = STR("one two three four five six seven eight");
    CHECK(agreement_compare(str_from(whole), begin, AGREEMENT_CUT_SHORT, &out) && out.same &&
          out.score >= 1);
    CHECK(agreement_compare(str_from(whole), begin, AGREEMENT_END_OWN, &out) && out.score < 1);
}

static void test_an_answer_that_was_cut_before_it_said_anything_is_not_compared(void)
{
    const char *whole = "one two three four five six seven eight nine ten eleven twelve";
    static const char *const begins[] = {"", "...", "one", "one two three four five six seven"};
    struct agreement out = {.same = false, .score = -1};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        CHECK(!agreement_compare(str_from(whole), str_from(begins[i]), AGREEMENT_CUT_SHORT, &out));
    CHECK(!agreement_compare(STR("{}"), STR(""), AGREEMENT_CUT_SHORT, &out));
    CHECK(!agreement_compare(STR("no"), STR(""), AGREEMENT_CUT_SHORT, &out));
    CHECK(!out.same && out.score < 0);
    /* but where who asked wanted no more, it is the answer */
    CHECK(agreement_compare(str_from(whole), STR("one two"), AGREEMENT_CUT_AS_ASKED, &out) &&
          out.same);
    CHECK(agreement_compare(str_from(whole), STR("one six"), AGREEMENT_CUT_AS_ASKED, &out) &&
          !out.same);
    CHECK(agreement_compare(str_from(whole), STR(""), AGREEMENT_CUT_AS_ASKED, &out) && !out.same);
    /* nothing of it is missing that the other one has: a label of one token each */
    CHECK(agreement_compare(STR("yes"), STR("yes"), AGREEMENT_CUT_SHORT, &out) && out.same);
    CHECK(agreement_compare(STR("yes"), STR("no"), AGREEMENT_CUT_SHORT, &out) && !out.same);
}

static void test_long_and_broken_texts_are_read_within_bounds(void)
{
    struct agreement out;
    size_t len = 100000;
    char *text = malloc(len);
    if (!text)
        abort();
    for (size_t i = 0; i < len; i++)
        text[i] = i % 3 ? 'a' : ' ';
    CHECK(agreement_compare((struct td_str){text, len}, (struct td_str){text, len},
                            AGREEMENT_END_OWN, &out));
    CHECK(out.score >= 1);
    memset(text, 0xC3, len);
    CHECK(agreement_compare((struct td_str){text, len}, (struct td_str){text, 5}, AGREEMENT_END_OWN,
                            &out));
    CHECK(out.score >= 0 && out.score <= 1);
    free(text);
}

static void check_agree(enum compare_by by, const char *a, const char *b, bool want)
{
    bool there = answers_agree(by, str_from(a), str_from(b), false);
    CHECK(there == want && answers_agree(by, str_from(b), str_from(a), false) == want);
    if (there != want)
        fprintf(stderr, "  %s: '%s' and '%s'\n", compare_names[by], a, b);
}

static void test_each_rule_of_a_policy_says_when_answers_agree(void)
{
    check_agree(COMPARE_EXACT, "Paris.", " Paris.\n", true);
    check_agree(COMPARE_EXACT, "Paris.", "paris.", false);
    check_agree(COMPARE_NORMALISED, "The answer: Paris!", "answer paris", true);
    check_agree(COMPARE_NORMALISED, "Paris, France", "France Paris", false);
    check_agree(COMPARE_NORMALISED, "It is safe", "It is not safe", false);
    check_agree(COMPARE_NORMALISED, "!!", "??", false);
    check_agree(COMPARE_STRUCTURE, "{\"a\": 1, \"b\": [2]}", "```json\n{\"b\":[2.0],\"a\":1}\n```",
                true);
    check_agree(COMPARE_STRUCTURE, "{\"a\": 1}", "{\"a\": 1, \"b\": null}", false);
    check_agree(COMPARE_STRUCTURE, "{\"a\": 1}", "a is 1", false);
    check_agree(COMPARE_STRUCTURE, "It costs 1,200 EUR.", "The price is 1200 euros", true);
    check_agree(COMPARE_STRUCTURE, "It costs 1,200 EUR.", "It costs 1,300 EUR.", false);
    check_agree(COMPARE_STRUCTURE, "3 of 7", "7 of 3", false);
    check_agree(COMPARE_STRUCTURE, "yes", "Yes.", true);
    check_agree(COMPARE_STRUCTURE, "yes", "no", false);
    check_agree(COMPARE_MEANING, "", "", true);
    check_agree(COMPARE_MEANING, "something", "", false);
}

/* A check that took these for the same would confirm what harms. */
static void test_meaning_is_not_the_same_when_one_denies_what_the_other_says(void)
{
    static const char *const pairs[][2] = {
        {"You may take both medicines together with food, and drink plenty of water during the day "
         "while you do so.",
         "You may not take both medicines together with food, and drink plenty of water during the "
         "day while you do so."},
        {"The contract can be ended by either side within thirty days.",
         "The contract can never be ended by either side within thirty days."},
        {"Das Gerät darf in der Nähe von Wasser benutzt werden.",
         "Das Gerät darf nicht in der Nähe von Wasser benutzt werden."},
        {"Mix the two cleaners in a bucket and leave the room.",
         "Do not mix the two cleaners in a bucket and leave the room."},
        {"The capital of Australia is Sydney, and it has been since 1913.",
         "The capital of Australia is Canberra, and it has been since 1913."},
        {"The dose is 20 mg twice a day after a meal with water.",
         "The dose is 200 mg twice a day after a meal with water."},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        check_agree(COMPARE_MEANING, pairs[i][0], pairs[i][1], false);
    check_agree(COMPARE_MEANING, "No refund is due after thirty days.",
                "A refund is not due after thirty days.", true);
    check_agree(COMPARE_MEANING, "The meeting is on Tuesday at 3 in the small room.",
                "On Tuesday at 3 the meeting is in the small room.", true);
    check_agree(COMPARE_MEANING, "The capital of Australia is Canberra.",
                "The capital of Australia is Canberra, a city in the south east.", true);
}

int main(void)
{
    RUN(test_labels_are_the_same_or_not);
    RUN(test_the_same_a_paraphrase_and_another_answer_are_in_order);
    RUN(test_an_answer_that_denies_the_other_is_another_one);
    RUN(test_another_number_is_another_answer);
    RUN(test_scripts_without_spaces_are_compared_by_their_characters);
    RUN(test_json_is_equal_by_its_leaves);
    RUN(test_an_answer_that_a_limit_cut_is_compared_with_as_many_words);
    RUN(test_an_answer_that_was_cut_before_it_said_anything_is_not_compared);
    RUN(test_long_and_broken_texts_are_read_within_bounds);
    RUN(test_each_rule_of_a_policy_says_when_answers_agree);
    RUN(test_meaning_is_not_the_same_when_one_denies_what_the_other_says);
    return test_finish();
}
