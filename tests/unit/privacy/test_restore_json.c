/* An answer that quotes the request as JSON, in JSON in JSON if need be: every surrogate in it is
 * its value again, whatever stands between a value's letters and digits. */
#include "masked.h"

#include "base/text/utf8.h"

#define DEPTH_MAX 3

/* The text as a JSON string, less its quotes. ascii: as Python writes it by default. */
static void quote(struct td_str text, bool ascii, struct buf *out)
{
    static const char controls[] = "\n\t\r", letters[] = "ntr";
    for (size_t at = 0; at < text.len;) {
        size_t begin = at;
        uint32_t c = utf8_next(text, &at);
        const char *control = c < 0x80 ? strchr(controls, (int)c) : NULL;
        if (c == '"' || c == '\\')
            buf_printf(out, "\\%c", (char)c);
        else if (control)
            buf_printf(out, "\\%c", letters[control - controls]);
        else if (c >= 0x10000 && ascii)
            buf_printf(out, "\\u%04x\\u%04x", 0xd7c0 + (c >> 10), 0xdc00 + (c & 0x3ff));
        else if (c >= 0x80 && ascii)
            buf_printf(out, "\\u%04x", c);
        else
            buf_append_str(out, str_slice(text, begin, at));
    }
}

static void quote_often(struct td_str text, size_t depth, bool ascii, struct buf *out)
{
    struct buf inner;
    buf_init(&inner, 1 << 20);
    buf_clear(out);
    buf_append_str(out, text);
    for (size_t i = 0; i < depth; i++) {
        buf_clear(&inner);
        quote(buf_view(out), ascii, &inner);
        buf_clear(out);
        buf_append_str(out, buf_view(&inner));
    }
    buf_deinit(&inner);
}

static void check_quoted(const struct world *world, const char *text, size_t depth, bool ascii)
{
    struct buf answer, expected;
    struct restore_counts counts = {0};
    buf_init(&answer, 1 << 20);
    buf_init(&expected, 1 << 20);
    quote_often(buf_view(&world->masked), depth, ascii, &answer);
    quote_often(view(text), depth, ascii, &expected);
    check_answer(world, answer.data, expected.data, false);
    (void)restore(world, buf_view(&answer), SIZE_MAX, false, &counts);
    CHECK(counts.seen == counts.restored && counts.restored > 0);
    buf_deinit(&answer);
    buf_deinit(&expected);
}

static void test_a_value_comes_back_in_an_answer_that_quotes_it_as_json(void)
{
    static const char *const texts[] = {
        "My IBAN is DE58 2572 3107 6164 5061 78, so it is.",
        "My IBAN is DE58\xe2\x80\xa2"
        "2572\xe2\x80\xa2"
        "3107\xe2\x80\xa2"
        "6164\xe2\x80\xa2"
        "5061\xe2\x80\xa2"
        "78, so it is.",
        "My IBAN is DE58\", \"2572\", \"3107\", \"6164\", \"5061\", \"78 and that is so.",
        "My card is 4539\t5787\t6362\t1486, so it is.",
        "My card is 4539|5787|6362|1486, so it is.",
        "My SSN is 269<br>85<br>7110, so it is.",
        "My SSN is 2\xef\xb8\x8f\xe2\x83\xa3"
        "6\xef\xb8\x8f\xe2\x83\xa3"
        "9\xef\xb8\x8f\xe2\x83\xa3"
        "8\xef\xb8\x8f\xe2\x83\xa3"
        "5\xef\xb8\x8f\xe2\x83\xa3"
        "7\xef\xb8\x8f\xe2\x83\xa3"
        "1\xef\xb8\x8f\xe2\x83\xa3"
        "1\xef\xb8\x8f\xe2\x83\xa3"
        "0\xef\xb8\x8f\xe2\x83\xa3, so it is.",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEAsZ3xV0bTq9cWl2eRt8yUoP5a\n"
        "Qw4rT6yU8iO0pA2sD4fG6hJ8kL0zX2cV\n-----END RSA PRIVATE KEY-----\n",
        "Write to ann.lee@acme.com or \"ann.lee@acme.com\"\n\tand call (415) 867-5309.",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct world world;
        REQUIRE(world_init(&world, texts[i]));
        CHECK(strcmp(world.masked.data, texts[i]) != 0);
        for (size_t depth = 0; depth < DEPTH_MAX; depth++) {
            check_quoted(&world, texts[i], depth, false);
            check_quoted(&world, texts[i], depth, true);
        }
        world_deinit(&world);
    }
}

/* The same letters and digits with other punctuation are something else. */
static void test_other_punctuation_makes_no_surrogate(void)
{
    struct world world;
    REQUIRE(world_init(&world, "My card is 4539\t5787\t6362\t1486, so it is."));
    const char *card = surrogate_of(&world, "4539\t5787\t6362\t1486");
    static const char *const joints[] = {"t", "\\u2022", ";", "\", \"", "\\u{", " x "};
    REQUIRE(strlen(card) == 19);
    for (size_t i = 0; i < sizeof joints / sizeof *joints; i++) {
        char answer[128];
        snprintf(answer, sizeof answer, "It is %.4s%s%.4s%s%.4s%s%.4s.", card, joints[i], card + 5,
                 joints[i], card + 10, joints[i], card + 15);
        check_answer(&world, answer, answer, false);
    }
    world_deinit(&world);
}

int main(void)
{
    RUN(test_a_value_comes_back_in_an_answer_that_quotes_it_as_json);
    RUN(test_other_punctuation_makes_no_surrogate);
    return test_finish();
}
