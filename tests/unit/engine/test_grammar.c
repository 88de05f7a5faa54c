/* GBNF: what a grammar accepts, what is refused and where, and that no grammar makes the matcher
 * explode. */
#include "engine/grammar/grammar_match.h"

#include "base/bytes/buf.h"
#include "base/core/str.h"
#include "base/crypto/rng.h"
#include "test.h"

static struct td_grammar *compile(const char *text)
{
    struct td_grammar *grammar = NULL;
    struct td_error err = {0};
    CHECK(td_grammar_parse(str_from(text), &grammar, &err) == TD_OK);
    if (err.status != TD_OK)
        fprintf(stderr, "%s\n", err.message);
    return grammar;
}

enum verdict { REFUSED, BEGUN, WHOLE };

static enum verdict match(struct td_grammar *grammar, struct td_str text)
{
    struct matcher *matcher = NULL;
    enum verdict verdict = REFUSED;
    if (matcher_new(grammar, &matcher, NULL) != TD_OK)
        return REFUSED;
    uint32_t set = matcher_start(matcher);
    for (size_t i = 0; i < text.len && set != MATCH_DEAD && set != MATCH_FULL; i++)
        set = matcher_step(matcher, set, (unsigned char)text.data[i]);
    if (set != MATCH_DEAD && set != MATCH_FULL)
        verdict = matcher_may_end(matcher, set) ? WHOLE : BEGUN;
    matcher_free(matcher);
    return verdict;
}

static enum verdict match_text(const char *grammar_text, const char *text)
{
    struct td_grammar *grammar = compile(grammar_text);
    enum verdict verdict = grammar ? match(grammar, str_from(text)) : REFUSED;
    td_grammar_free(grammar);
    return verdict;
}

static void test_grammars_accept_what_they_say(void)
{
    static const struct {
        const char *grammar, *text;
        enum verdict verdict;
    } cases[] = {
        {"root ::= \"yes\" | \"no\"", "yes", WHOLE},
        {"root ::= \"yes\" | \"no\"", "n", BEGUN},
        {"root ::= \"yes\" | \"no\"", "nyes", REFUSED},
        {"root ::= [a-c]+ \"!\"?", "abc", WHOLE},
        {"root ::= [a-c]+ \"!\"?", "abc!", WHOLE},
        {"root ::= [a-c]+ \"!\"?", "!", REFUSED},
        {"root ::= [^a-c]", "d", WHOLE},
        {"root ::= [^a-c]", "b", REFUSED},
        {"root ::= [^a-c]", "\xe2\x82\xac", WHOLE},
        {"root ::= [^a-c]", "\xe2\x82", BEGUN},
        {"root ::= [^a-c]", "\xed\xa0\x80", REFUSED}, /* a surrogate is no character */
        {"root ::= [^\xe2\x82\xac]", "\xe2\x82\xac", REFUSED},
        {"root ::= [\\u00e0-\\u0fff]", "\xc3\xa0", WHOLE},
        {"root ::= [\\u00e0-\\u0fff]", "\xc3\x9f", REFUSED},
        {"root ::= [\\u00e0-\\u0fff]", "\xe0\xbf\xbf", WHOLE},
        {"root ::= [\\u00e0-\\u0fff]", "\xe1\x80\x80", REFUSED},
        {"root ::= .", "\xf0\x9f\x98\x80", WHOLE},
        {"root ::= .", "\xf5\x80\x80\x80", REFUSED},
        {"root ::= \"\\x41\\u00e9\\U0001f600\\n\\\"\\\\\"", "A\xc3\xa9\xf0\x9f\x98\x80\n\"\\",
         WHOLE},
        {"root ::= \"a\"{2,3}", "a", BEGUN},
        {"root ::= \"a\"{2,3}", "aaa", WHOLE},
        {"root ::= \"a\"{2,3}", "aaaa", REFUSED},
        {"root ::= (\"ab\" | \"c\"){2}", "abc", WHOLE},
        {"root ::= (\"ab\" | \"c\"){2,}", "abcab", WHOLE},
        {"root ::= \"x\"{0} \"y\"", "y", WHOLE},
        {"root ::= \"(\" root \")\" | \"x\"", "((x))", WHOLE},
        {"root ::= \"(\" root \")\" | \"x\"", "((x)", BEGUN},
        {"root ::= \"(\" root \")\" | \"x\"", "(x))", REFUSED},
        {"# comment\nroot ::= a b # more\n\na ::= \"1\" |\n  \"2\"\nb ::=\n  (\n \"3\"\n  | \"4\" "
         ")*\n",
         "1343", WHOLE},
        {"root ::= \"a\"\n  | \"b\"\n", "b", WHOLE},
        {"root ::= (\"a\"*)*", "aaaa", WHOLE},
        {"root ::= ws ws \"x\" ws\nws ::= [ ]*", "  x ", WHOLE},
        {"root ::= \"\"", "", WHOLE},
        {"root ::= [a-]", "-", WHOLE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        enum verdict verdict = match_text(cases[i].grammar, cases[i].text);
        if (verdict != cases[i].verdict)
            fprintf(stderr, "case %zu: %s on %s\n", i, cases[i].grammar, cases[i].text);
        CHECK(verdict == cases[i].verdict);
    }
}

static void test_mistakes_are_named_with_line_and_column(void)
{
    static const struct {
        const char *grammar, *words;
    } cases[] = {
        {"", "no rule named root"},
        {"a ::= \"x\"", "no rule named root"},
        {"root ::= \"x", "line 1, column 10: this literal has no end"},
        {"root ::= [a", "line 1, column 10: this class has no end"},
        {"root ::= []", "line 1, column 10: this class has no character"},
        {"root ::= [z-a]", "line 1, column 11: this range is the wrong way round"},
        {"root ::= \"\\q\"", "line 1, column 11: unknown escape"},
        {"root ::= \"\\x4\"", "line 1, column 14: expected a hexadecimal digit"},
        {"root ::= \"\\uD800\"", "not a code point"},
        {"root ::= (\"a\"", "line 1, column 10: this ( has no )"},
        {"root ::= \"a\")", "line 1, column 13: unexpected character"},
        {"root ::= \"a\"{3,2}", "line 1, column 13: expected {m}"},
        {"root ::= \"a\"{}", "line 1, column 13: expected {m}"},
        {"root ::= \"a\"{99999999}", "a repetition of more than 65536"},
        {"root = \"a\"", "line 1, column 6: expected ::="},
        {"\n\nroot ::= a\n", "line 3, column 10: rule 'a' is not defined"},
        {"root ::= \"a\"\nroot ::= \"b\"", "line 2, column 1: rule 'root' is defined twice"},
        {"root ::= \"a\" root", "line 1, column 1: rule 'root' can never end"},
        {"root ::= root \"a\" | \"b\"", "rule 'root' is left-recursive"},
        {"root ::= a \"x\" | \"y\"\na ::= b?  c\nb ::= \"z\"\nc ::= root \"w\"",
         "is left-recursive"},
        {"root ::= \"a\xff\"", "not valid UTF-8"},
        {"root ::= <think>", "token references are not supported"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct td_grammar *grammar = NULL;
        struct td_error err = {0};
        enum td_status status = td_grammar_parse(str_from(cases[i].grammar), &grammar, &err);
        CHECK((status == TD_INVALID || status == TD_LIMIT) && grammar == NULL);
        if (strstr(err.message, cases[i].words) == NULL)
            fprintf(stderr, "case %zu: %s\n", i, err.message);
        CHECK(strstr(err.message, cases[i].words) != NULL);
    }
}

/* Recursion is followed up to the limit, and every path that was entered can be completed. */
static void test_nesting_stops_at_the_limit_and_can_still_end(void)
{
    struct td_grammar *grammar = compile("root ::= \"(y\" root \")\" | \"x\"");
    struct matcher *matcher = NULL;
    REQUIRE(grammar && matcher_new(grammar, &matcher, NULL) == TD_OK);
    uint32_t set = matcher_start(matcher), depth = 0;
    for (;; depth++) {
        uint32_t next = matcher_step(matcher, set, '(');
        if (next == MATCH_DEAD)
            break;
        set = matcher_step(matcher, next, 'y');
        REQUIRE(set != MATCH_DEAD && depth < 1000);
    }
    CHECK(depth >= GRAMMAR_DEPTH_MAX - 2 && depth <= GRAMMAR_DEPTH_MAX);
    CHECK(matcher_bytes_to_end(matcher, set) == depth + 1);
    set = matcher_step(matcher, set, 'x');
    for (uint32_t i = 0; i < depth; i++)
        set = matcher_step(matcher, set, ')');
    CHECK(matcher_must_end(matcher, set));
    matcher_free(matcher);
    td_grammar_free(grammar);
}

static void test_least_number_of_bytes_to_the_end_is_exact(void)
{
    struct td_grammar *grammar =
        compile("root ::= a{3} (\"long\" | b)\na ::= \"xyz\" | \"pq\"\nb ::= \"s\" b | \"tt\"");
    struct matcher *matcher = NULL;
    REQUIRE(grammar && matcher_new(grammar, &matcher, NULL) == TD_OK);
    uint32_t set = matcher_start(matcher);
    CHECK(matcher_bytes_to_end(matcher, set) == 8);
    set = matcher_step(matcher, set, 'x');
    CHECK(matcher_bytes_to_end(matcher, set) == 8);
    matcher_free(matcher);
    td_grammar_free(grammar);
}

static void test_forgetting_keeps_the_place(void)
{
    struct td_grammar *grammar = compile("root ::= \"(\" root \")\" | [a-z]+");
    struct matcher *matcher = NULL;
    REQUIRE(grammar && matcher_new(grammar, &matcher, NULL) == TD_OK);
    uint32_t set = matcher_start(matcher);
    for (const char *at = "(((ab"; *at; at++) {
        set = matcher_step(matcher, set, (unsigned char)*at);
        set = matcher_compact(matcher, set);
        REQUIRE(set != MATCH_FULL && set != MATCH_DEAD);
    }
    CHECK(matcher_bytes_to_end(matcher, set) == 3);
    for (int i = 0; i < 3; i++)
        set = matcher_compact(matcher, matcher_step(matcher, set, ')'));
    CHECK(matcher_must_end(matcher, set));
    matcher_free(matcher);
    td_grammar_free(grammar);
}

/* Grammars that are made to explode: each is refused, followed within the limits, or ends with a
 * clear error. */
static void test_hostile_grammars_are_bounded(void)
{
    static const char *const grammars[] = {
        "root ::= ((((\"a\"{1000}){1000}){1000}){1000}){1000}",
        "root ::= (\"a\"? \"a\"? \"a\"? \"a\"? \"a\"? \"a\"? \"a\"?){0,60000}",
        "root ::= \"a\" root \"b\" | \"a\" root \"c\" | \"a\" root root | \"\"",
        "root ::= a a a a a a a a\na ::= b b b b b b b b\nb ::= c c c c c c c c\nc ::= [a]{0,3}",
        "root ::= (\"a\" | \"a\" | \"a\" root \"a\")* \"b\"",
        "root ::= x{3000} \"b\"\nx ::= \"\" | \"a\" | \"a\" x \"a\"",
    };
    for (size_t i = 0; i < sizeof grammars / sizeof *grammars; i++) {
        struct td_grammar *grammar = NULL;
        struct matcher *matcher = NULL;
        if (td_grammar_parse(str_from(grammars[i]), &grammar, NULL) == TD_OK &&
            matcher_new(grammar, &matcher, NULL) == TD_OK) {
            uint32_t set = matcher_start(matcher);
            for (int step = 0; step < 300 && set != MATCH_DEAD && set != MATCH_FULL; step++)
                set = matcher_step(matcher, set, 'a');
        }
        matcher_free(matcher);
        td_grammar_free(grammar);
    }
    struct buf text;
    buf_init(&text, 1 << 20);
    buf_append_str(&text, STR("root ::= "));
    for (int i = 0; i < 100000; i++)
        buf_append_char(&text, '(');
    struct td_error err = {0};
    struct td_grammar *grammar = NULL;
    CHECK(td_grammar_parse(buf_view(&text), &grammar, &err) == TD_LIMIT);
    CHECK(strstr(err.message, "nested deeper than 64") != NULL);
    buf_clear(&text);
    buf_append_str(&text, STR("root ::= r0\n"));
    for (int i = 0; i < 20000; i++) /* deep chains are walked without recursion */
        buf_printf(&text, "r%d ::= r%d\n", i, i + 1);
    buf_append_str(&text, STR("r20000 ::= \"x\"\n"));
    CHECK(td_grammar_parse(buf_view(&text), &grammar, NULL) != TD_INVALID);
    td_grammar_free(grammar);
    buf_deinit(&text);
}

/* Random texts of the grammar's alphabet: the matcher agrees with a direct count of brackets. */
static void test_brackets_agree_with_counting(void)
{
    struct td_grammar *grammar = compile("root ::= (\"[\" root \"]\" | \"{\" root \"}\" | \"x\")*");
    REQUIRE(grammar != NULL);
    struct rng rng;
    rng_init(&rng, 5);
    for (int i = 0; i < 3000; i++) {
        char text[24], open[24];
        size_t len = (size_t)(rng_double(&rng) * 12), depth = 0;
        enum verdict expected = WHOLE;
        for (size_t j = 0; j < len; j++) {
            char c = "[]{}x"[(int)(rng_double(&rng) * 5)];
            text[j] = c;
            if (c == '[' || c == '{')
                open[depth++] = c == '[' ? ']' : '}';
            else if (c != 'x' && (depth == 0 || open[--depth] != c)) {
                expected = REFUSED;
                len = j + 1;
            }
        }
        if (expected == WHOLE && depth > 0)
            expected = BEGUN;
        CHECK(match(grammar, (struct td_str){text, len}) == expected);
    }
    td_grammar_free(grammar);
}

int main(void)
{
    RUN(test_grammars_accept_what_they_say);
    RUN(test_mistakes_are_named_with_line_and_column);
    RUN(test_nesting_stops_at_the_limit_and_can_still_end);
    RUN(test_least_number_of_bytes_to_the_end_is_exact);
    RUN(test_forgetting_keeps_the_place);
    RUN(test_hostile_grammars_are_bounded);
    RUN(test_brackets_agree_with_counting);
    return test_finish();
}
