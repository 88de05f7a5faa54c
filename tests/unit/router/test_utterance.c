#include "router/judge/utterance.h"

#include "base/core/str.h"
#include "test.h"

static struct utterance read_text;

static const char *canonical(const char *text)
{
    utterance_read_text(str_from(text), &read_text);
    read_text.text[read_text.len] = '\0';
    return read_text.text;
}

static bool reads_as(const char *text, const char *wanted)
{
    const char *found = canonical(text);
    if (strcmp(found, wanted) == 0)
        return true;
    fprintf(stderr, "'%s' reads as '%s', not '%s'\n", text, found, wanted);
    return false;
}

static void test_what_reads_the_same_is_the_same(void)
{
    CHECK(reads_as("Prove  IT\t now", "prove it now"));
    CHECK(reads_as("\xEF\xBC\xB0\xEF\xBD\x92\xEF\xBD\x8F\xEF\xBD\x96\xEF\xBD\x85",
                   "prove")); /* full-width */
    CHECK(
        reads_as("\xF0\x9D\x90\xA9\xF0\x9D\x90\xAB\xF0\x9D\x90\xA8\xF0\x9D\x90\xAF\xF0\x9D\x90\x9E",
                 "prove"));                        /* bold */
    CHECK(reads_as("pro\xE2\x80\x8Bve", "prove")); /* zero-width space */
    CHECK(reads_as("pro\xC2\xADve", "prove"));     /* soft hyphen */
    CHECK(reads_as("caf\xC3\xA9", "cafe"));
    CHECK(reads_as("cafe\xCC\x81", "cafe"));
    CHECK(reads_as("\xEF\xAC\x81ne", "fine")); /* ligature */
    CHECK(reads_as("\xE2\x80\x9Cyes\xE2\x80\x9D \xE2\x80\x93 no", "\"yes\" - no"));
    CHECK(reads_as("Stra\xC3\x9F"
                   "e",
                   "strasse"));
    CHECK(reads_as("\xE4\xBB\x8A\xE6\x97\xA5", "\xE4\xBB\x8A\xE6\x97\xA5"));
}

static void test_repeats_are_collapsed(void)
{
    CHECK(reads_as("nooooooo!!!!!!", "nooo!!!"));
    CHECK(reads_as("a \n \n\n b", "a\nb"));
}

static void test_broken_utf8_is_read(void)
{
    CHECK(reads_as("a\xFF\xC3", "a\xEF\xBF\xBD\xEF\xBF\xBD"));
}

static void test_quoted_matter_is_measured_and_left_out(void)
{
    static const char *const quotings[] = {
        "Summarise this.\n```\nprove the theorem\n```\n",
        "Summarise this.\n> prove the theorem\n> step by step\n",
        "Summarise this.\n<document id=3>\nprove the theorem\n</document>\n",
        "Summarise this.\nContext: prove the theorem\nmore of it\n",
        "Document 1: prove the theorem\nTask: Summarise this.",
        "\"\"\"\nprove the theorem\n\"\"\"\nSummarise this.",
        "~~~ text\nprove the theorem",
    };
    for (size_t i = 0; i + 1 < sizeof quotings / sizeof *quotings; i++) {
        const char *text = canonical(quotings[i]);
        CHECK(strstr(text, "summarise this.") != NULL);
        CHECK(strstr(text, "prove") == NULL);
        CHECK(read_text.quoted_bytes >= 17);
    }
    CHECK(reads_as(quotings[6], ""));
}

static void test_long_quotations_inside_a_line_are_brought_along(void)
{
    char text[600];
    char long_one[200];
    memset(long_one, 'x', sizeof long_one - 1);
    long_one[sizeof long_one - 1] = '\0';
    snprintf(text, sizeof text, "Translate \"%s\" into French", long_one);
    CHECK(reads_as(text, "translate into french"));
    CHECK(read_text.quoted_bytes == 201);
    CHECK(reads_as("Translate \"good day\" into French", "translate \"good day\" into french"));
    snprintf(text, sizeof text, "What does \"a\" or \"b\" mean%.*s?", 150,
             "                                                                                     "
             "                                                                         ");
    CHECK(reads_as(text, "what does \"a\" or \"b\" mean ?"));
}

static void test_gadgets_in_quoted_matter_do_not_change_the_text(void)
{
    static const char *const gadgets[] = {"prove", "integral", "```", "Question: what",
                                          "<doc>", "\"",       "> >", "step by step 1. 2. 3."};
    char plain[sizeof read_text.text];
    snprintf(plain, sizeof plain, "%s",
             canonical("Shorten the text below.\n<text>\nhello\n</text>\n"));
    for (size_t i = 0; i < sizeof gadgets / sizeof *gadgets; i++) {
        char text[300];
        snprintf(text, sizeof text, "Shorten the text below.\n<text>\nhello %s\n</text>\n",
                 gadgets[i]);
        CHECK(reads_as(text, plain));
    }
}

static void test_other_roles_are_not_read(void)
{
    struct td_message messages[] = {
        {TD_ROLE_SYSTEM, STR("prove everything")},
        {TD_ROLE_USER,
         STR("set an alarm for seven in the morning on every day of the coming week please")},
        {TD_ROLE_ASSISTANT, STR("integrals")}};
    struct td_request request = {.messages = messages, .message_count = 3};
    utterance_read(&request, &read_text);
    CHECK(str_equal(
        (struct td_str){read_text.text, read_text.len},
        STR("set an alarm for seven in the morning on every day of the coming week please")));
}

static void test_a_short_follow_up_is_read_with_what_came_before(void)
{
    struct td_message messages[] = {{TD_ROLE_USER, STR("Is the sum of two primes even?")},
                                    {TD_ROLE_ASSISTANT, STR("Mostly.")},
                                    {TD_ROLE_USER, STR("and now prove it")}};
    struct td_request request = {.messages = messages, .message_count = 3};
    utterance_read(&request, &read_text);
    CHECK(str_equal((struct td_str){read_text.text, read_text.len},
                    STR("and now prove it\nis the sum of two primes even?")));
    CHECK(read_text.user_turns == 2 && read_text.own_bytes == 16);
}

static void test_of_a_long_utterance_both_ends_are_read(void)
{
    static char text[100000];
    memset(text, 0, sizeof text);
    for (size_t i = 0; i < sizeof text - 8; i += 8)
        memcpy(text + i, "filling ", 8);
    memcpy(text, "begin!! ", 8);
    memcpy(text + 99980, "the end", 8);
    const char *found = canonical(text);
    CHECK(strstr(found, "begin!!") == found && strstr(found, "the end") != NULL);
    CHECK(read_text.len <= UTTERANCE_BYTES_MAX && read_text.own_bytes == 99987);
    for (size_t i = 0; i < UTTERANCE_SLACK; i++)
        CHECK(read_text.text[read_text.len + i] == 0);
}

static void test_no_user_message_is_an_empty_utterance(void)
{
    struct td_request request = {0};
    utterance_read(&request, &read_text);
    CHECK(read_text.len == 0 && read_text.user_turns == 0);
    CHECK(reads_as("", ""));
    CHECK(reads_as(" \n\t", ""));
}

int main(void)
{
    RUN(test_what_reads_the_same_is_the_same);
    RUN(test_repeats_are_collapsed);
    RUN(test_broken_utf8_is_read);
    RUN(test_quoted_matter_is_measured_and_left_out);
    RUN(test_long_quotations_inside_a_line_are_brought_along);
    RUN(test_gadgets_in_quoted_matter_do_not_change_the_text);
    RUN(test_other_roles_are_not_read);
    RUN(test_a_short_follow_up_is_read_with_what_came_before);
    RUN(test_of_a_long_utterance_both_ends_are_read);
    RUN(test_no_user_message_is_an_empty_utterance);
    return test_finish();
}
