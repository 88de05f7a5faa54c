/* Strict reading: what two parsers could read differently is refused. */
#include "base/core/str.h"
#include "base/crypto/rng.h"
#include "base/json/json_writer.h"
#include "base/text/decimal.h"
#include "test.h"

#include <math.h>

static bool accepts(struct td_str text)
{
    struct json *value;
    struct td_error err = {0};
    bool ok = json_parse(text, &value, &err) == TD_OK;
    CHECK(ok == (value != NULL) && ok == (err.message[0] == '\0'));
    json_free(value);
    return ok;
}

static void test_malformed_texts_are_refused(void)
{
    const char *bad[] = {
        "",
        " ",
        "{",
        "[1,]",
        "{\"a\":1,}",
        "[01]",
        "[1.]",
        "[.5]",
        "[+1]",
        "[1e]",
        "[NaN]",
        "[Infinity]",
        "{\"a\":1 \"b\":2}",
        "{a:1}",
        "{'a':1}",
        "[1] x",
        "\"\x01\"",
        "\"\\x\"",
        "\"\\ud800\"",
        "nul",
        "\"\xc0\xaf\"",
        "\"\xed\xa0\x80\"",
        "\"\xff\"",
        "{\"a\":1,\"a\":2}",
        "[1e999]",
        "//x\n1",
        "\"\\u0000\"",
        "\"a\nb\"",
        "\"abc",
        "[\"a\\\"]",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (accepts(str_from(bad[i]))) {
            fprintf(stderr, "accepted: %s\n", bad[i]);
            CHECK(false);
        }
    CHECK(!accepts((struct td_str){"\"a\0b\"", 5}));
}

static void test_well_formed_texts_are_read(void)
{
    const char *good[] = {"1",
                          "\"x\"",
                          "null",
                          "[]",
                          "{}",
                          "[-0.5e+10, true]",
                          "\"\\ud83d\\ude00\"",
                          "{\"a\":{\"a\":1}}",
                          "9223372036854775807"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        CHECK(accepts(str_from(good[i])));
}

static void test_what_is_only_handed_on_is_checked_for_its_form(void)
{
    const char *good[] = {"{\"a\":1,\"a\":2}", "{\"t\":\"\\u0000\"}"};
    const char *bad[] = {"", "{", "{}}", "{\"a\":1,}", "{\"a\":\"\xff\"}", "{\"a\":01}"};
    enum json_kind kind;
    struct td_error err = {0};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        CHECK(!accepts(str_from(good[i])));
        CHECK(json_check(str_from(good[i]), &kind, &err) == TD_OK && kind == JSON_KIND_OBJECT);
    }
    CHECK(json_check(STR("[99999999999999999999]"), &kind, &err) == TD_OK);
    CHECK(json_check(STR("[1]"), &kind, &err) == TD_OK && kind == JSON_KIND_ARRAY);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(json_check(str_from(bad[i]), &kind, &err) == TD_INVALID && kind == JSON_KIND_ABSENT &&
              err.message[0]);
}

static void test_nesting_is_limited(void)
{
    char text[400];
    for (int depth = 60; depth < 70; depth++) {
        memset(text, '[', (size_t)depth);
        memset(text + depth, ']', (size_t)depth);
        CHECK(accepts((struct td_str){text, (size_t)depth * 2}) == (depth <= 65));
    }
    struct buf deep;
    buf_init(&deep, 1 << 20);
    for (int i = 0; i < 100000; i++)
        buf_append_char(&deep, '[');
    CHECK(!accepts(buf_view(&deep)));
    buf_deinit(&deep);
}

static void test_accessors_answer_absent_for_what_is_not_there(void)
{
    struct json *value;
    REQUIRE(json_parse(STR("{\"a\":[1,2.5,\"x\",true,null],\"b\":{}}"), &value, NULL) == TD_OK);
    const struct json *list = json_get(value, "a");
    CHECK(json_count(list) == 5 && json_count(value) == 2);
    CHECK(json_int(json_at(list, 0), -1) == 1 && json_number(json_at(list, 1), -1) == 2.5);
    CHECK(json_int(json_at(list, 1), -1) == -1);
    CHECK(str_equal(json_text(json_at(list, 2)), STR("x")) && json_bool(json_at(list, 3), false));
    CHECK(json_kind_of(json_at(list, 4)) == JSON_KIND_NULL);
    CHECK(json_kind_of(json_at(list, 5)) == JSON_KIND_ABSENT);
    CHECK(json_get(json_get(json_get(value, "no"), "no"), "no") == NULL);
    CHECK(json_cstr(list) == NULL && json_count(NULL) == 0);
    json_free(value);
}

static void test_written_text_reads_back(void)
{
    struct json *object = json_new_object(), *list = json_new_array();
    json_push(list, json_new_double(0.1));
    json_push(list, json_new_double(0.0 / 0.0));
    json_push(list, json_new_text((struct td_str){"q\"\\\n\xff", 5}));
    json_put(object, "list", list);
    json_put(object, "none", json_new_cstr(NULL));
    struct buf out;
    buf_init(&out, 1000);
    json_write(object, &out);
    CHECK(strcmp(out.data, "{\"list\":[0.1,null,\"q\\\"\\\\\\n\xef\xbf\xbd\"],\"none\":null}") ==
          0);
    struct json *again;
    CHECK(json_parse(buf_view(&out), &again, NULL) == TD_OK);
    json_free(again);
    buf_clear(&out);
    out.bytes_max = 5;
    json_write(object, &out);
    CHECK(out.failed);
    buf_deinit(&out);
    json_free(object);
}

/* RFC 8259, section 7: only these characters must be escaped. */
static void test_each_character_is_written_as_short_as_json_allows(void)
{
    static const char *const shortest[128] = {
        ['"'] = "\\\"", ['\\'] = "\\\\", ['\b'] = "\\b", ['\f'] = "\\f",
        ['\n'] = "\\n", ['\r'] = "\\r",  ['\t'] = "\\t"};
    struct buf out;
    buf_init(&out, 1000);
    for (int c = 1; c < 128; c++) {
        char wanted[96], escaped[16];
        const char text[] = {'a', (char)c, 'b', (char)c, '\0'};
        snprintf(escaped, sizeof escaped, c < ' ' ? "\\u%04X" : "%c", (unsigned)c);
        const char *as = shortest[c] ? shortest[c] : escaped;
        snprintf(wanted, sizeof wanted, "{\"a%sb%s\":\"a%sb%s\"}", as, as, as, as);
        struct json *object = json_new_object();
        json_put(object, text, json_new_cstr(text));
        buf_clear(&out);
        json_write(object, &out);
        CHECK(!out.failed && str_equal(buf_view(&out), str_from(wanted)));
        json_free(object);
    }
    buf_deinit(&out);
}

static void test_values_of_each_kind_are_written_and_read_to_the_same_text(void)
{
    static const char *const texts[] = {
        "[]",   "{}",   "[[],{},[{}]]",          "\"\"", "[1,-2,0.1,1e300,123456789012345678]",
        "null", "true", "{\"\":false,\"b\":[]}", "1.5",  "[\"Ã© ð\",\"/\"]"};
    struct buf out;
    buf_init(&out, 1000);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct json *value;
        REQUIRE(json_parse(str_from(texts[i]), &value, NULL) == TD_OK);
        buf_clear(&out);
        json_write(value, &out);
        CHECK(!out.failed && str_equal(buf_view(&out), str_from(texts[i])));
        json_free(value);
    }
    buf_deinit(&out);
}

static void test_an_integer_of_more_than_64_bits_is_read_as_a_double(void)
{
    struct json *value;
    REQUIRE(json_parse(STR("{\"maximum\":18446744073709551615,\"minimum\":-9223372036854775808,"
                           "\"below\":-9223372036854775809,\"n\":1}"),
                       &value, NULL) == TD_OK);
    CHECK(json_number(json_get(value, "maximum"), 0) == 18446744073709551616.0);
    CHECK(json_kind_of(json_get(value, "minimum")) == JSON_KIND_INT);
    CHECK(json_number(json_get(value, "below"), 0) == -9223372036854775808.0);
    CHECK(json_int(json_get(value, "n"), 0) == 1);
    json_free(value);
    CHECK(json_parse(STR("[1e400]"), &value, NULL) == TD_INVALID);
}

static void test_a_tree_that_is_too_deep_is_not_written(void)
{
    struct buf out;
    buf_init(&out, 1000);
    for (int depth = 126; depth <= 131; depth++) {
        struct json *value = json_new_int(1);
        for (int i = 0; i < depth; i++) {
            struct json *list = json_new_array();
            json_push(list, value);
            value = list;
        }
        buf_clear(&out);
        json_write(value, &out);
        CHECK(out.failed == (depth > 128));
        json_free(value);
    }
    buf_deinit(&out);
}

static void test_a_value_that_is_shared_outlives_either_owner(void)
{
    struct json *value, *object = json_new_object();
    REQUIRE(json_parse(STR("[1,2]"), &value, NULL) == TD_OK);
    json_put(object, "a", json_share(value));
    json_put(object, "b", json_share(NULL));
    CHECK(json_get(object, "a") == value && json_count(object) == 1);
    json_put(object, "a", json_new_int(1));
    CHECK(json_count(value) == 2);
    json_put(object, "a", json_share(value));
    json_free(value);
    CHECK(json_count(json_get(object, "a")) == 2);
    json_free(object);
}

static void test_members_are_walked_in_order(void)
{
    struct json *value;
    REQUIRE(json_parse(STR("{\"z\":1,\"a\":2,\"m\":3}"), &value, NULL) == TD_OK);
    void *iterator = NULL;
    const char *key, *expected[] = {"z", "a", "m"};
    const struct json *member;
    size_t n = 0;
    while (json_next(value, &iterator, &key, &member)) {
        CHECK(n < 3 && strcmp(key, expected[n]) == 0 && json_int(member, 0) == (int64_t)n + 1);
        n++;
    }
    CHECK(n == 3);
    json_free(value);
}

static void test_the_grammar_is_told_from_what_strings_hold(void)
{
    static const struct {
        const char *text;
        bool parses, grammatical;
    } cases[] = {
        {"{\"a\":[1,\"\\ud83d\\ude00\"]}", true, true},
        {"\"\\u0000\"", false, true},
        {"{\"\\u0000\":1}", false, true},
        {"\"\\ud800\"", false, true},
        {"\"\\udc00x\"", false, true},
        {"\"\\uD83D\\u0041\"", false, true},
        {"\"\xff\xc0\"", false, true},
        {"\"\\\\u0000\"", true, true}, /* a backslash, and then letters */
        {"{\"a\":1,\"a\":2}", false, true},
        {"\"\\u00\"", false, false},
        {"\"\\u00zz\"", false, false},
        {"\"\\", false, false},
        {"\"\\u0000", false, false},
        {"\"\\x\"", false, false},
        {"\xff", false, false},
        {"{\xff}", false, false},
        {"NaN", false, false},
        {"", false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        /* In memory of its own length, so that a sanitizer sees what is read behind it. */
        size_t len = strlen(cases[i].text);
        char *copy = malloc(len ? len : 1);
        REQUIRE(copy);
        memcpy(copy, cases[i].text, len);
        struct td_str text = {copy, len};
        struct json *value = NULL;
        CHECK((json_parse(text, &value, NULL) == TD_OK) == cases[i].parses);
        CHECK(json_is_grammatical(text) == cases[i].grammatical);
        json_free(value);
        free(copy);
    }
}

static void test_a_nul_is_named_as_what_it_is(void)
{
    struct td_str texts[] = {STR("{\"a\":\n\"x\\u0000\"}"), STR("{\n\"\\u0000\":1}")};
    for (size_t i = 0; i < 2; i++) {
        struct json *value = NULL;
        struct td_error err = {0};
        CHECK(json_parse(texts[i], &value, &err) == TD_INVALID);
        CHECK(strstr(err.message, "unusable JSON at line 2, column "));
        CHECK(strstr(err.message, "has a \\u0000: remove it"));
    }
}

/* Against printf, which the library uses: numbers of all sizes, short decimals, and what lies
 * beside powers of ten and halves. */
static void test_doubles_are_written_as_printf_writes_them(void)
{
    struct rng rng;
    size_t quick = 0, all = 0;
    rng_init(&rng, 3);
    for (int i = 0; i < 300000; i++) {
        uint64_t bits = rng_u64(&rng);
        double value = 0;
        switch (i % 5) {
        case 0:
            memcpy(&value, &bits, sizeof value);
            break;
        case 1: /* short decimals */
            value = (double)(bits % 2000001) / pow(10, (double)(bits >> 32 & 7)) - 1000;
            break;
        case 2:
            value = nextafter(pow(10, (int)(bits % 22) - 6), bits & 1 << 20 ? 0 : 1e30);
            break;
        case 3:
            value = (double)(bits % 1000000) + 0.5 * (double)(bits >> 40 & 1);
            break;
        default:
            value = rng_double(&rng) * pow(10, (int)(bits % 20) - 5);
        }
        char expected[64], out[DECIMAL_BYTES];
        if (!isfinite(value))
            continue;
        int len = snprintf(expected, sizeof expected, "%.15g", value);
        size_t got = decimal_write(value, out);
        all++;
        quick += got > 0;
        if (got > 0 && ((int)got != len || memcmp(out, expected, got) != 0)) {
            fprintf(stderr, "%s became %.*s\n", expected, (int)got, out);
            CHECK(false);
        }
    }
    CHECK(quick > all / 2);
}

static void test_what_is_written_by_member_is_what_a_tree_gives(void)
{
    struct buf by_member, by_tree;
    struct json_writer writer;
    struct json *root = json_new_object(), *list = json_new_array(), *object = json_new_object();
    buf_init(&by_member, 4096);
    buf_init(&by_tree, 4096);
    json_writer_begin(&writer, &by_member);
    json_writer_open(&writer, NULL, '{');
    json_writer_text(&writer, "text", "a \"b\"\n\x01 \xc3\xa9 \xff");
    json_writer_text(&writer, "none", NULL);
    json_writer_open(&writer, "list", '[');
    json_writer_int(&writer, NULL, INT64_MIN);
    json_writer_double(&writer, NULL, 0.1);
    json_writer_double(&writer, NULL, 1e300);
    json_writer_double(&writer, NULL, (double)INFINITY);
    json_writer_double(&writer, NULL, -0.0);
    json_writer_double(&writer, NULL, 3);
    json_writer_close(&writer, ']');
    json_writer_open(&writer, "empty", '{');
    json_writer_close(&writer, '}');
    json_writer_bool(&writer, "yes", true);
    json_writer_tree(&writer, "left out", NULL);
    json_writer_tree(&writer, "tree", json_new_int(7));
    json_writer_close(&writer, '}');
    json_put(root, "text", json_new_cstr("a \"b\"\n\x01 \xc3\xa9 \xff"));
    json_put(root, "none", json_new_null());
    json_push(list, json_new_int(INT64_MIN));
    json_push(list, json_new_double(0.1));
    json_push(list, json_new_double(1e300));
    json_push(list, json_new_double((double)INFINITY));
    json_push(list, json_new_double(-0.0));
    json_push(list, json_new_double(3));
    json_put(root, "list", list);
    json_put(root, "empty", object);
    json_put(root, "yes", json_new_bool(true));
    json_put(root, "tree", json_new_int(7));
    json_write(root, &by_tree);
    CHECK(str_equal(buf_view(&by_member), buf_view(&by_tree)));
    json_free(root);
    buf_deinit(&by_member);
    buf_deinit(&by_tree);
}

int main(void)
{
    RUN(test_a_nul_is_named_as_what_it_is);
    RUN(test_doubles_are_written_as_printf_writes_them);
    RUN(test_what_is_written_by_member_is_what_a_tree_gives);
    RUN(test_the_grammar_is_told_from_what_strings_hold);
    RUN(test_malformed_texts_are_refused);
    RUN(test_well_formed_texts_are_read);
    RUN(test_what_is_only_handed_on_is_checked_for_its_form);
    RUN(test_nesting_is_limited);
    RUN(test_accessors_answer_absent_for_what_is_not_there);
    RUN(test_written_text_reads_back);
    RUN(test_each_character_is_written_as_short_as_json_allows);
    RUN(test_values_of_each_kind_are_written_and_read_to_the_same_text);
    RUN(test_an_integer_of_more_than_64_bits_is_read_as_a_double);
    RUN(test_a_tree_that_is_too_deep_is_not_written);
    RUN(test_a_value_that_is_shared_outlives_either_owner);
    RUN(test_members_are_walked_in_order);
    return test_finish();
}
