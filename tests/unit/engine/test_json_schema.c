/* JSON Schema as a grammar: what each keyword allows, and which schemas are refused by name. */
#include "engine/grammar/json_schema.h"

#include "base/core/str.h"
#include "engine/grammar/grammar_match.h"
#include "test.h"

static bool accepts(struct td_grammar *grammar, struct td_str text)
{
    struct matcher *matcher = NULL;
    if (matcher_new(grammar, &matcher, NULL) != TD_OK)
        return false;
    uint32_t set = matcher_start(matcher);
    for (size_t i = 0; i < text.len && set != MATCH_DEAD && set != MATCH_FULL; i++)
        set = matcher_step(matcher, set, (unsigned char)text.data[i]);
    bool whole = set != MATCH_DEAD && set != MATCH_FULL && matcher_may_end(matcher, set);
    matcher_free(matcher);
    return whole;
}

/* Words of `yes` and `no` are separated by a line end. */
static void check(const char *schema, const char *yes, const char *no)
{
    struct td_grammar *grammar = NULL;
    struct td_error err = {0};
    if (td_grammar_from_schema(str_from(schema), &grammar, &err) != TD_OK) {
        fprintf(stderr, "%s: %s\n", schema, err.message);
        CHECK(grammar != NULL);
        return;
    }
    struct td_str rest = str_from(yes), text;
    while (str_next(&rest, '\n', &text)) {
        if (!accepts(grammar, text))
            fprintf(stderr, "%s should take " STR_FMT "\n", schema, STR_ARG(text));
        CHECK(accepts(grammar, text));
    }
    rest = str_from(no);
    while (str_next(&rest, '\n', &text)) {
        if (accepts(grammar, text))
            fprintf(stderr, "%s should refuse " STR_FMT "\n", schema, STR_ARG(text));
        CHECK(!accepts(grammar, text));
    }
    td_grammar_free(grammar);
}

static void test_scalars(void)
{
    check("{\"type\":\"string\"}", "\"\"\n\"a\\u00e9\\n\"\n\"\xe2\x82\xac\"",
          "1\n\"\n\"\\ud800\"\n\"\\u0000\"\n\"\\x\"\n\"\t\"");
    check("{\"type\":\"integer\"}", "0\n-7\n123456", "01\n1.5\n+1\n-\n1e3");
    check("{\"type\":\"number\"}", "0\n-7.25\n1e10\n3.0E-5", "01\n.5\n1.\nNaN");
    check("{\"type\":\"boolean\"}", "true\nfalse", "True\nnull");
    check("{\"type\":[\"null\",\"integer\"]}", "null\n4", "\"4\"");
    check("{\"type\":\"string\",\"minLength\":2,\"maxLength\":3}",
          "\"ab\"\n\"abc\"\n\"\xe2\x82\xac\\n\"", "\"a\"\n\"abcd\"");
    check("{\"enum\":[\"a\\\"b\",1,null,{\"x\":[true]}]}", "\"a\\\"b\"\n1\nnull\n{\"x\":[true]}",
          "\"a\"\n2\n{}");
    check("{\"type\":\"string\",\"enum\":[\"a\",1]}", "\"a\"", "1");
    check("{\"const\":3.5}", "3.5", "3");
    check("{}", "{}\n[1, {\"a\": null}]\n\"x\"\n{\"a\":{ \"b\": []}}", "{a:1}\n[1,]\n{\"a\":1,}");
    check("true", "1\n{}", "");
}

static void test_number_ranges(void)
{
    check("{\"type\":\"integer\",\"minimum\":3,\"maximum\":1207}",
          "3\n9\n10\n99\n100\n999\n1000\n1199\n1207", "2\n0\n1208\n1300\n-5\n9999\n03");
    check("{\"type\":\"integer\",\"minimum\":-12,\"exclusiveMaximum\":5}", "-12\n-1\n0\n4",
          "-13\n5\n-20\n-0\n10");
    check("{\"type\":\"integer\",\"exclusiveMinimum\":-1}", "0\n1\n123456789", "-1");
    check("{\"type\":\"integer\",\"maximum\":-5}", "-5\n-17\n-123", "-4\n0\n5");
    check("{\"type\":\"number\",\"minimum\":0,\"maximum\":1}", "0\n1\n0.5\n0.123456",
          "1.5\n-0.5\n2");
    check("{\"type\":\"number\",\"exclusiveMinimum\":0}", "1\n0.01\n12.5", "0\n0.0\n-1");
    check("{\"type\":\"number\",\"minimum\":-2.5,\"maximum\":2.5}", "-2\n-1.25\n2\n1.75\n-0.5",
          "-2.75\n2.75\n3");
    check("{\"type\":\"number\",\"minimum\":0.25,\"maximum\":0.75}", "0.500000\n0.333333",
          "0.249999\n0.750001\n1");
}

static void test_arrays(void)
{
    check("{\"type\":\"array\",\"items\":{\"type\":\"integer\"}}", "[]\n[1]\n[1, 2,3]",
          "[a]\n[1,]");
    check("{\"type\":\"array\",\"items\":{\"type\":\"integer\"},\"minItems\":2,\"maxItems\":3}",
          "[1,2]\n[1,2,3]", "[]\n[1]\n[1,2,3,4]");
    check("{\"type\":\"array\",\"maxItems\":0}", "[]", "[1]");
    check("{\"type\":\"array\",\"maxItems\":1}", "[]\n[1]", "[1,2]");
    check("{\"type\":\"array\",\"prefixItems\":[{\"type\":\"integer\"},{\"type\":\"string\"}],"
          "\"items\":false}",
          "[]\n[1]\n[1,\"a\"]", "[\"a\"]\n[1,\"a\",2]");
    check("{\"type\":\"array\",\"prefixItems\":[{\"type\":\"integer\"}],\"items\":{\"type\":"
          "\"null\"},\"minItems\":2,\"maxItems\":3}",
          "[1,null]\n[1,null,null]", "[1]\n[1,2]\n[1,null,null,null]");
}

static void test_objects(void)
{
    const char *two = "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"},\"b\":{"
                      "\"type\":\"null\"},\"c\":{\"type\":\"boolean\"}},\"required\":[\"b\"]}";
    check(two,
          "{\"b\":null}\n{\"a\": 1, \"b\": null}\n{\"a\":1,\"b\":null,\"c\":true}\n{\"b\":null,"
          "\"c\":false}",
          "{}\n{\"a\":1}\n{\"b\":null,\"a\":1}\n{\"b\":null,\"d\":1}\n{,\"b\":null}");
    check("{\"type\":\"object\",\"properties\":{},\"additionalProperties\":false}", "{}\n{ }",
          "{\"a\":1}");
    check("{\"type\":\"object\"}", "{}\n{\"a\":{\"b\":1}}", "[]");
    check("{\"type\":\"object\",\"properties\":{\"ab\":{\"type\":\"integer\"},\"ac\":{\"type\":"
          "\"integer\"}},\"additionalProperties\":{\"type\":\"string\"}}",
          "{\"ab\":1,\"x\":\"y\"}\n{\"a\":\"s\"}\n{\"abc\":\"s\"}\n{\"\":\"s\"}\n{\"ac\":2,\"b\":"
          "\"\"}",
          "{\"ab\":\"s\"}\n{\"x\":1}\n{\"\\u0061b\":\"s\"}");
    check("{\"type\":\"object\",\"required\":[\"k\"]}", "{\"k\":1,\"z\":2}", "{}\n{\"z\":1}");
    check("{\"properties\":{\"q\\\"\":{\"const\":1}},\"required\":[\"q\\\"\"]}", "{\"q\\\"\":1}",
          "{\"q\":1}");
}

static void test_combinations_and_references(void)
{
    check("{\"anyOf\":[{\"type\":\"integer\"},{\"const\":\"x\"}]}", "1\n\"x\"", "\"y\"");
    check(
        "{\"oneOf\":[{\"type\":\"object\",\"properties\":{\"t\":{\"const\":\"a\"}},\"required\":["
        "\"t\"]},{\"type\":\"object\",\"properties\":{\"t\":{\"const\":\"b\"}},\"required\":[\"t\"]"
        "}]}",
        "{\"t\":\"a\"}\n{\"t\":\"b\"}", "{\"t\":\"c\"}");
    check("{\"allOf\":[{\"$ref\":\"#/$defs/a~1b\"}],\"title\":\"x\",\"$defs\":{\"a/b\":{\"type\":"
          "\"null\"}}}",
          "null", "1");
    check(
        "{\"$ref\":\"#/$defs/"
        "node\",\"$defs\":{\"node\":{\"type\":\"object\",\"properties\":{\"v\":{"
        "\"type\":\"integer\"},\"next\":{\"anyOf\":[{\"$ref\":\"#/$defs/node\"},{\"type\":\"null\"}"
        "]}},\"required\":[\"v\",\"next\"]}}}",
        "{\"v\":1,\"next\":null}\n{\"v\":1,\"next\":{\"v\":2,\"next\":null}}",
        "{\"v\":1}\n{\"v\":1,\"next\":1}");
}

static void test_formats_and_patterns(void)
{
    check("{\"type\":\"string\",\"format\":\"date\"}",
          "\"2024-02-28\"\n\"1999-12-31\"\n\"2000-04-30\"",
          "\"2024-02-30\"\n\"2024-04-31\"\n\"2024-13-01\"\n\"2024-1-1\"");
    check("{\"type\":\"string\",\"format\":\"date-time\"}", "\"2024-02-28T23:59:59Z\"",
          "\"2024-02-28\"\n\"2024-02-28T24:00:00Z\"");
    check("{\"type\":\"string\",\"format\":\"time\"}", "\"12:00:00+01:30\"\n\"00:00:00.25Z\"",
          "\"12:00\"");
    check("{\"type\":\"string\",\"format\":\"uuid\"}", "\"123e4567-e89b-12d3-a456-426614174000\"",
          "\"123e4567\"");
    check("{\"type\":\"string\",\"format\":\"email\"}", "\"a.b@example.org\"",
          "\"a@b\"\n\"@b.org\"");
    check("{\"type\":\"string\",\"format\":\"ipv4\"}", "\"10.0.255.1\"",
          "\"256.1.1.1\"\n\"1.1.1\"");
    check("{\"type\":\"string\",\"pattern\":\"^[A-Z]{2}-\\\\d+$\"}", "\"AB-12\"",
          "\"A-12\"\n\"AB-\"");
    check("{\"type\":\"string\",\"pattern\":\"^(a|bc)*$\"}", "\"\"\n\"abca\"", "\"b\"");
    check("{\"type\":\"string\",\"pattern\":\"ab\"}", "\"ab\"\n\"xaby\"", "\"a\"");
    check("{\"type\":\"string\",\"pattern\":\"^\\\"\\\\w[^a]$\"}", "\"\\\"xb\"",
          "\"\\\"xa\"\n\"xb\"");
    check("{\"type\":\"string\",\"pattern\":\"^[\\\\s!-~]\\\\.$\"}", "\" .\"\n\"!.\"",
          "\"\\\".\"\n\"ab\"");
}

static void test_schemas_that_hold_at_once_are_merged(void)
{
    check("{\"allOf\":[{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"}},"
          "\"required\":[\"a\"]},{\"properties\":{\"a\":{\"minimum\":3},\"b\":{\"type\":\"null\"}},"
          "\"required\":[\"b\"]}]}",
          "{\"a\":3,\"b\":null}\n{\"a\":17,\"b\":null}",
          "{\"a\":3}\n{\"a\":2,\"b\":null}\n{\"b\":null}");
    check("{\"$ref\":\"#/$defs/"
          "n\",\"maximum\":5,\"$defs\":{\"n\":{\"type\":\"number\",\"minimum\":4}}}",
          "4\n5\n4.5", "3\n6\n\"4\"");
    check("{\"type\":[\"string\",\"integer\",\"null\"],\"allOf\":[{\"type\":[\"number\",\"string\"]"
          "},{"
          "\"not\":{\"type\":\"string\"}}]}",
          "1", "1.5\n\"a\"\nnull");
    check(
        "{\"enum\":[1,2,3,\"a\"],\"allOf\":[{\"enum\":[3,\"a\",4]}],\"minimum\":2,\"maxLength\":0}",
        "3", "1\n2\n4\n\"a\"");
    check("{\"const\":2,\"type\":\"integer\",\"maximum\":3}", "2", "1\n3");
    check("{\"allOf\":[{\"additionalProperties\":false,\"properties\":{\"a\":{}}},{\"properties\":{"
          "\"b\":{}}}"
          ",{\"type\":\"object\"}]}",
          "{}\n{\"a\":1}", "{\"b\":1}\n{\"a\":1,\"b\":1}");
    check("{\"allOf\":[{\"prefixItems\":[{\"type\":\"integer\"}],\"items\":false},{\"items\":{"
          "\"minimum\":5}"
          "}],\"type\":\"array\",\"minItems\":1}",
          "[5]\n[60]", "[]\n[4]\n[5,6]\n[\"a\"]");
    /* recursion costs only what is used of it */
    check("{\"$ref\":\"#/$defs/"
          "t\",\"$defs\":{\"t\":{\"allOf\":[{\"type\":\"object\",\"required\":[\"v\"]},"
          "{\"properties\":{\"v\":{\"type\":\"integer\"},\"next\":{\"$ref\":\"#/$defs/t\"}}}]}}}",
          "{\"v\":1}\n{\"v\":1,\"next\":{\"v\":2,\"next\":{\"v\":3}}}",
          "{}\n{\"v\":1,\"next\":{}}");
}

static void test_alternatives_beside_other_keywords_are_spread_out(void)
{
    check(
        "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"null\"},\"b\":{\"type\":\"null\"}},"
        "\"anyOf\":[{\"required\":[\"a\"]},{\"required\":[\"b\"]}]}",
        "{\"a\":null}\n{\"b\":null}\n{\"a\":null,\"b\":null}", "{}");
    check(
        "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"null\"},\"b\":{\"type\":\"null\"}},"
        "\"oneOf\":[{\"required\":[\"a\"]},{\"required\":[\"b\"]}]}",
        "{\"a\":null}\n{\"b\":null}", "{}\n{\"a\":null,\"b\":null}");
    check("{\"oneOf\":[{\"type\":\"object\",\"properties\":{\"a\":{\"const\":1}},\"required\":["
          "\"a\"]},{"
          "\"type\":\"object\",\"properties\":{\"b\":{\"const\":1}},\"required\":[\"b\"]}]}",
          "{\"a\":1}\n{\"b\":1}", "{\"a\":1,\"b\":1}\n{}");
    check(
        "{\"type\":\"integer\",\"anyOf\":[{\"minimum\":5},{\"type\":\"string\"},{\"maximum\":-5}]}",
        "5\n-5", "0\n\"a\"");
    check("{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"integer\"}],\"allOf\":[{\"anyOf\":[{"
          "\"type\":"
          "\"integer\"},{\"type\":\"null\"}]}]}",
          "4", "\"a\"\nnull");
}

static void test_of_one_of_only_what_no_other_accepts_is_written(void)
{
    /* every value of the second satisfies the first */
    check(
        "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"null\"},\"b\":{\"type\":\"null\"}},"
        "\"required\":[\"a\"],\"oneOf\":[{\"required\":[\"a\"]},{\"required\":[\"b\"]}]}",
        "{\"a\":null}", "{\"a\":null,\"b\":null}\n{\"b\":null}");
}

static void test_conditions_and_dependencies_hold(void)
{
    check("{\"type\":\"object\",\"properties\":{\"k\":{\"enum\":[\"a\",\"b\"]},\"n\":{\"type\":"
          "\"integer\"}},"
          "\"if\":{\"properties\":{\"k\":{\"const\":\"a\"}},\"required\":[\"k\"]},\"then\":{"
          "\"required\":["
          "\"n\"]},\"else\":{\"required\":[\"z\"]}}",
          "{\"k\":\"a\",\"n\":1}", "{\"k\":\"a\"}\n{\"k\":\"b\"}\n{}");
    check("{\"type\":\"object\",\"properties\":{\"a\":{},\"b\":{}},\"dependentRequired\":{\"a\":["
          "\"b\"]}}",
          "{\"a\":1,\"b\":2}\n{\"b\":2}", "{\"a\":1}");
    check("{\"type\":\"object\",\"properties\":{\"a\":{},\"b\":{\"type\":\"integer\"}},"
          "\"dependencies\":{"
          "\"a\":{\"properties\":{\"b\":{\"minimum\":3}}}}}",
          "{\"a\":1,\"b\":3}", "{\"a\":1,\"b\":2}");
    check("{\"type\":\"object\",\"properties\":{\"a\":{},\"b\":{}},\"not\":{\"required\":[\"b\"]}}",
          "{\"a\":1}\n{}", "{\"b\":1}\n{\"a\":1,\"b\":1}");
    check("{\"allOf\":[{\"properties\":{\"a\":{\"type\":\"null\"}}}],\"type\":\"object\","
          "\"unevaluatedProperties\":false}",
          "{}\n{\"a\":null}", "{\"b\":1}");
    check("{\"type\":\"array\",\"items\":{\"type\":\"integer\"},\"contains\":{\"minimum\":5},"
          "\"maxItems\":2}",
          "[5]\n[7,8]", "[]\n[4]\n[5,6,7]");
}

static void test_older_spellings_mean_the_same(void)
{
    check("{\"type\":\"array\",\"items\":[{\"type\":\"integer\"},{\"type\":\"null\"}],"
          "\"additionalItems\":"
          "false}",
          "[]\n[1]\n[1,null]", "[null]\n[1,null,2]");
    check("{\"type\":\"integer\",\"minimum\":3,\"exclusiveMinimum\":true,\"maximum\":5,"
          "\"exclusiveMaximum\":"
          "false}",
          "4\n5", "3\n6");
}

static void test_elements_that_differ_come_in_the_order_of_the_list(void)
{
    check("{\"type\":\"array\",\"items\":{\"enum\":[\"a\",\"b\",3]},\"uniqueItems\":true}",
          "[]\n[\"a\"]\n[\"a\",3]\n[\"a\",\"b\",3]\n[3]",
          "[\"a\",\"a\"]\n[\"c\"]\n[3,3]\n[\"a\",]");
    check("{\"type\":\"array\",\"items\":{\"enum\":[1,2,3,4]},\"uniqueItems\":true,\"minItems\":2,"
          "\"maxItems\":3}",
          "[1,2]\n[1,4]\n[3,4]\n[2,3,4]", "[]\n[1]\n[4]\n[1,2,3,4]\n[1,1]");
    check("{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/"
          "b\"},\"uniqueItems\":true,\"$defs\":{\"b\":{"
          "\"type\":\"boolean\"}}}",
          "[false,true]\n[]\n[true]", "[true,true]");
    check("{\"type\":\"array\",\"items\":{\"enum\":[1,\"a\",null,2]},\"uniqueItems\":true,"
          "\"contains\":{"
          "\"type\":\"integer\"}}",
          "[1]\n[2]\n[1,2]", "[]\n[\"a\"]\n[1,\"a\"]");
    check("{\"type\":\"array\",\"uniqueItems\":true,\"maxItems\":1}", "[]\n[{}]", "[1,2]");
}

static void test_multiples(void)
{
    check("{\"type\":\"integer\",\"multipleOf\":5}", "0\n5\n-10\n12345\n100", "1\n12\n-4\n05\n5.0");
    check("{\"type\":\"integer\",\"multipleOf\":100}", "0\n100\n-4200", "10\n150\n00");
    check("{\"type\":\"integer\",\"multipleOf\":7}", "0\n7\n-14\n700", "1\n13");
    check("{\"type\":\"integer\",\"multipleOf\":3,\"minimum\":10,\"maximum\":20}", "12\n15\n18",
          "9\n21\n10\n0");
    check("{\"type\":\"integer\",\"multipleOf\":4,\"maximum\":-10}", "-12\n-16", "-8\n0\n-10");
    check("{\"type\":\"number\",\"multipleOf\":0.01}", "1\n1.5\n-2.25", "1.234\n1.");
    check("{\"type\":\"number\",\"multipleOf\":0.5,\"minimum\":1,\"maximum\":3}", "1\n2\n3",
          "0\n1.2\n4");
    check("{\"allOf\":[{\"multipleOf\":4},{\"multipleOf\":6}],\"type\":\"integer\"}", "0\n12\n24",
          "4\n6");
}

static void test_names_by_pattern(void)
{
    check("{\"type\":\"object\",\"patternProperties\":{\"^x-[a-z]+$\":{\"type\":\"integer\"}},"
          "\"additionalProperties\":false}",
          "{}\n{\"x-a\":1}\n{\"x-a\":1, \"x-bc\":2}", "{\"y\":1}\n{\"x-a\":\"1\"}");
    check("{\"type\":\"object\",\"properties\":{\"ab\":{\"type\":\"integer\"},\"b\":{\"type\":"
          "\"integer\"}},"
          "\"patternProperties\":{\"^a\":{\"minimum\":5}}}",
          "{\"ab\":5,\"b\":1}", "{\"ab\":4}\n{\"ax\":5}");
    check("{\"type\":\"object\",\"propertyNames\":{\"pattern\":\"^[a-z]{2}$\"},"
          "\"additionalProperties\":{"
          "\"type\":\"null\"}}",
          "{}\n{\"ab\":null}", "{\"abc\":null}\n{\"ab\":1}");
    check("{\"type\":\"object\",\"properties\":{\"a\":{},\"b\":{},\"c\":{}},\"minProperties\":2}",
          "{\"a\":1,\"b\":2}\n{\"a\":1,\"b\":2,\"c\":3}", "{}\n{\"a\":1}");
    check("{\"type\":\"object\",\"properties\":{\"a\":{},\"b\":{},\"c\":{}},\"required\":[\"c\"],"
          "\"maxProperties\":2}",
          "{\"c\":1}\n{\"a\":1,\"c\":2}", "{\"a\":1,\"b\":1,\"c\":1}\n{\"a\":1}");
    check(
        "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"integer\"},\"minProperties\":1,"
        "\"maxProperties\":2}",
        "{\"a\":1}\n{\"a\":1,\"b\":2}", "{}\n{\"a\":1,\"b\":2,\"c\":3}");
}

static void test_what_cannot_be_promised_is_refused_by_name(void)
{
    static const struct {
        const char *schema, *words;
    } cases[] = {
        {"{\"not\":{}}", "at #: keyword 'not' is not supported"},
        {"{\"properties\":{\"a\":{\"frobnicate\":{}}}}", "at #/properties/a: keyword 'frobnicate'"},
        {"{\"patternProperties\":{\"^a\":{},\"b$\":{}}}", "several patternProperties"},
        {"{\"propertyNames\":{\"maxLength\":2},\"properties\":{\"abc\":{}}}",
         "propertyNames beside"},
        {"{\"type\":\"array\",\"uniqueItems\":true}", "uniqueItems is only supported"},
        {"{\"type\":\"integer\",\"multipleOf\":0}", "multipleOf must be"},
        {"{\"type\":\"number\",\"multipleOf\":1.5}", "no multiple"},
        {"{\"type\":\"integer\",\"multipleOf\":7,\"minimum\":1,\"maximum\":6}", "no multiple"},
        {"{\"oneOf\":[{\"type\":\"integer\"},{\"type\":\"number\"}]}",
         "schemas 0 and 1 may both hold"},
        {"{\"allOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]}", "no value satisfies"},
        {"{\"allOf\":[{\"$ref\":\"#\"}]}", "refers to itself without end"},
        {"{\"allOf\":[{\"pattern\":\"a\"},{\"pattern\":\"b\"}]}",
         "two different values of 'pattern'"},
        {"{\"allOf\":[{\"minimun\":1}]}", "keyword 'minimun'"},
        {"{\"type\":\"string\",\"enum\":[\"a\"],\"pattern\":\"b\"}",
         "'pattern' beside listed values"},
        {"{\"properties\":{\"a\":{}},\"required\":[\"a\"],\"allOf\":[{\"additionalProperties\":"
         "false}]}",
         "additionalProperties forbids it"},
        {"{\"type\":\"string\",\"format\":\"uri-template\"}",
         "format 'uri-template' is not supported"},
        {"{\"type\":\"string\",\"format\":\"uuid\",\"maxLength\":10}", "only one of pattern"},
        {"{\"type\":\"string\",\"pattern\":\"(?=a)\"}", "look-around"},
        {"{\"type\":\"string\",\"pattern\":\"(a)\\\\1\"}", "back references"},
        {"{\"type\":\"string\",\"pattern\":\"^a|b$\"}", "alternatives beside ^"},
        {"{\"type\":\"string\",\"pattern\":\"a(\"}", "a group without an end"},
        {"{\"type\":\"string\",\"pattern\":\"a{,3}\"}", "a { that begins no repetition"},
        {"{\"type\":\"string\",\"pattern\":\"a{3,1}\"}", "with m above n"},
        {"{\"type\":\"string\",\"pattern\":\"a{1,,}\"}", "a { that begins no repetition"},
        {"{\"type\":\"string\",\"pattern\":\"a\",\"maxLength\":3}", "only one of pattern"},
        {"{\"$ref\":\"other.json\"}", "$ref 'other.json' leads to nothing"},
        {"{\"$ref\":\"#/$defs/x\"}", "leads to nothing"},
        {"{\"$ref\":\"#\"}", "refers to itself without end"},
        {"{\"type\":\"object\",\"properties\":{\"a\":{\"$ref\":\"#\"}},\"required\":[\"a\"]}",
         "refers to itself without end"},
        {"{\"type\":\"strin\"}", "type 'strin' is not a type"},
        {"{\"enum\":[]}", "no value is allowed"},
        {"{\"type\":\"integer\",\"minimum\":5,\"maximum\":4}", "no number"},
        {"{\"type\":\"array\",\"minItems\":3,\"maxItems\":2}", "minItems is above maxItems"},
        {"{\"type\":\"string\",\"minLength\":-1}", "minLength must be an integer"},
        {"{\"type\":\"object\",\"minProperties\":2}", "minProperties"},
        {"{\"properties\":{\"a\":false}}", "a schema that is false"},
        {"3", "a schema must be an object, not integer"},
        {"{", "malformed JSON"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct td_grammar *grammar = NULL;
        struct td_error err = {0};
        CHECK(td_grammar_from_schema(str_from(cases[i].schema), &grammar, &err) != TD_OK);
        if (strstr(err.message, cases[i].words) == NULL)
            fprintf(stderr, "%s: %s\n", cases[i].schema, err.message);
        CHECK(strstr(err.message, cases[i].words) != NULL && grammar == NULL);
    }
}

static void test_hostile_schemas_are_bounded(void)
{
    struct td_grammar *grammar = NULL;
    struct buf text;
    buf_init(&text, 4 << 20);
    buf_append_str(&text, STR("{\"properties\":{"));
    for (int i = 0; i < 5000; i++)
        buf_printf(&text, "%s\"k%d\":{}", i ? "," : "", i);
    buf_append_str(&text, STR("}}"));
    CHECK(td_grammar_from_schema(buf_view(&text), &grammar, NULL) == TD_LIMIT);
    buf_clear(&text);
    buf_append_str(&text, STR("{\"enum\":["));
    for (int i = 0; i < 100000; i++)
        buf_printf(&text, "%s\"value number %d\"", i ? "," : "", i);
    buf_append_str(&text, STR("]}"));
    CHECK(td_grammar_from_schema(buf_view(&text), &grammar, NULL) == TD_LIMIT);
    check("{\"type\":\"array\",\"items\":{\"type\":\"array\",\"items\":{\"type\":\"string\","
          "\"maxLength\":99999999999},\"maxItems\":70000},\"maxItems\":70000}",
          "[]\n[[\"a\"]]", "");
    struct td_error err = {0};
    CHECK(td_grammar_from_schema(
              STR("{\"type\":\"array\",\"minItems\":60000,\"items\":{\"type\":\"array\","
                  "\"minItems\":60000}}"),
              &grammar, &err) == TD_LIMIT);
    buf_deinit(&text);
}

/* Each is short and would take minutes, or gigabytes. */
static void test_work_beyond_the_length_of_a_schema_is_bounded(void)
{
    struct td_grammar *grammar = NULL;
    struct buf text;
    buf_init(&text, 4 << 20);
    static const char *const both[] = {"allOf", "oneOf"};
    for (int k = 0; k < 2; k++) { /* values that are all compared */
        buf_clear(&text);
        buf_printf(&text, "{\"%s\":[{\"enum\":[-1", both[k]);
        for (int i = 0; i < 5000; i++)
            buf_printf(&text, ",%d", i);
        buf_append_str(&text, STR("]},{\"enum\":[-2"));
        for (int i = 0; i < 5000; i++)
            buf_printf(&text, ",\"%d\"", i);
        for (int i = 0; i < 5000; i++)
            buf_printf(&text, ",%d", i + 5000);
        buf_append_str(&text, STR("]}]}"));
        CHECK(td_grammar_from_schema(buf_view(&text), &grammar, NULL) == TD_LIMIT);
    }
    buf_clear(&text);
    buf_append_str(&text, STR("{\"allOf\":[{}")); /* merged one after the other */
    for (int i = 0; i < 3000; i++)
        buf_printf(&text, ",{\"properties\":{\"a%d\":{\"type\":\"string\"}}}", i);
    buf_append_str(&text, STR("]}"));
    CHECK(td_grammar_from_schema(buf_view(&text), &grammar, NULL) == TD_LIMIT);
    buf_clear(&text); /* whether they differ is asked of all members of all members, ... */
    buf_append_str(&text, STR("{\"$defs\":{"));
    for (int k = 0; k < 2; k++) {
        buf_printf(&text, "%s\"%c\":{\"type\":\"object\",\"required\":[\"m0\"", k ? "," : "",
                   'a' + k);
        for (int i = 1; i < 40; i++)
            buf_printf(&text, ",\"m%d\"", i);
        buf_append_str(&text, STR("],\"properties\":{\"m0\":{}"));
        for (int i = 1; i < 40; i++)
            buf_printf(&text, ",\"m%d\":{\"$ref\":\"#/$defs/%c\"}", i, 'a' + k);
        buf_append_str(&text, STR("}}"));
    }
    buf_append_str(&text, STR("},\"oneOf\":[{\"$ref\":\"#/$defs/a\"},{\"$ref\":\"#/$defs/b\"}]}"));
    CHECK(td_grammar_from_schema(buf_view(&text), &grammar, NULL) == TD_LIMIT);
    buf_clear(&text); /* one long alternative with each of many */
    buf_append_str(&text, STR("{\"anyOf\":[{\"enum\":[0"));
    for (int i = 1; i < 20000; i++)
        buf_printf(&text, ",%d", i);
    buf_append_str(&text, STR("]}],\"allOf\":[{\"anyOf\":[{}"));
    for (int i = 1; i < 250; i++)
        buf_printf(&text, ",{\"minimum\":%d}", i);
    buf_append_str(&text, STR("]}]}"));
    CHECK(td_grammar_from_schema(buf_view(&text), &grammar, NULL) == TD_LIMIT);
    buf_deinit(&text);
}

int main(void)
{
    RUN(test_scalars);
    RUN(test_number_ranges);
    RUN(test_arrays);
    RUN(test_objects);
    RUN(test_combinations_and_references);
    RUN(test_formats_and_patterns);
    RUN(test_schemas_that_hold_at_once_are_merged);
    RUN(test_alternatives_beside_other_keywords_are_spread_out);
    RUN(test_of_one_of_only_what_no_other_accepts_is_written);
    RUN(test_conditions_and_dependencies_hold);
    RUN(test_older_spellings_mean_the_same);
    RUN(test_elements_that_differ_come_in_the_order_of_the_list);
    RUN(test_multiples);
    RUN(test_names_by_pattern);
    RUN(test_what_cannot_be_promised_is_refused_by_name);
    RUN(test_hostile_schemas_are_bounded);
    RUN(test_work_beyond_the_length_of_a_schema_is_bounded);
    return test_finish();
}
