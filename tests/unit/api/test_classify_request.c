/* A classification's request: each limit at its edge, and which member is at fault. */
#include "api/wire/classify_request.h"

#include "base/core/str.h"
#include "tandem/engine.h"
#include "test.h"

#include <math.h>

static bool parse(const char *text, struct classify_request *out, struct fault *fault)
{
    *fault = (struct fault){0};
    return classify_request_parse(str_from(text), out, fault);
}

#define LABELS "\"labels\":[\"a\",\"b\",\"c\",\"d\",\"e\",\"f\"]"
#define TEXT "\"text\":\"t\""

static void test_a_request_is_read_with_its_defaults(void)
{
    struct classify_request request;
    struct fault fault;
    CHECK(parse("{" TEXT "," LABELS "}", &request, &fault));
    CHECK(strcmp(request.model, "auto") == 0 && !request.user && !request.set);
    CHECK(!request.is_list && request.text_count == 1 && str_equal(request.texts[0], STR("t")));
    CHECK(request.label_count == 6 && str_equal(request.labels[5], STR("f")));
    CHECK(request.instruction.len == 0 && request.top == 5);
    classify_request_deinit(&request);
    CHECK(parse("{\"texts\":[\"x\",\"y\"],\"set\":\"mail\",\"model\":\"m\",\"user\":\"u\","
                "\"instruction\":\"which?\",\"top\":7}",
                &request, &fault));
    CHECK(strcmp(request.model, "m") == 0 && strcmp(request.user, "u") == 0);
    CHECK(strcmp(request.set, "mail") == 0 && request.label_count == 0);
    CHECK(request.is_list && request.text_count == 2 && str_equal(request.texts[1], STR("y")));
    CHECK(str_equal(request.instruction, STR("which?")) && request.top == 7);
    classify_request_deinit(&request);
}

/* No more labels come back than there are; of a set that is not known here. */
static void test_top_is_at_most_the_number_of_labels(void)
{
    static const struct {
        const char *members;
        uint32_t top;
    } cases[] = {{LABELS ",\"top\":1", 1},
                 {LABELS ",\"top\":6", 6},
                 {LABELS ",\"top\":7", 6},
                 {"\"labels\":[\"a\"]", 1},
                 {"\"labels\":[\"a\"],\"top\":null", 1},
                 {"\"set\":\"s\",\"top\":4096", TD_LABELS_MAX}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct classify_request request;
        struct fault fault;
        char text[256];
        snprintf(text, sizeof text, "{" TEXT ",%s}", cases[i].members);
        CHECK(parse(text, &request, &fault) && request.top == cases[i].top);
        classify_request_deinit(&request);
    }
}

static void test_what_is_wrong_is_named(void)
{
    static const struct {
        const char *text, *param;
    } cases[] = {
        {"[]", ""},
        {"{" LABELS "}", "text"},
        {"{" TEXT ",\"texts\":[\"t\"]," LABELS "}", "text"},
        {"{\"text\":\"\"," LABELS "}", "text"},
        {"{\"text\":\" \\n\"," LABELS "}", "text"},
        {"{\"text\":7," LABELS "}", "text"},
        {"{\"texts\":[]," LABELS "}", "texts"},
        {"{\"texts\":\"t\"," LABELS "}", "texts"},
        {"{\"texts\":{\"a\":\"t\"}," LABELS "}", "texts"},
        {"{\"texts\":[\"t\",\" \"]," LABELS "}", "texts[1]"},
        {"{\"texts\":[\"t\",7]," LABELS "}", "texts[1]"},
        {"{" TEXT "}", "labels"},
        {"{" TEXT ",\"labels\":[]}", "labels"},
        {"{" TEXT ",\"labels\":[\"a\",\"\"]}", "labels[1]"},
        {"{" TEXT ",\"labels\":[\"a\",null]}", "labels[1]"},
        {"{" TEXT ",\"set\":\"s\"," LABELS "}", "set"},
        {"{" TEXT ",\"set\":\"\"}", "set"},
        {"{" TEXT ",\"set\":7}", "set"},
        {"{" TEXT "," LABELS ",\"model\":7}", "model"},
        {"{" TEXT "," LABELS ",\"model\":\"\"}", "model"},
        {"{" TEXT "," LABELS ",\"user\":[]}", "user"},
        {"{" TEXT "," LABELS ",\"instruction\":1}", "instruction"},
        {"{" TEXT "," LABELS ",\"top\":0}", "top"},
        {"{" TEXT "," LABELS ",\"top\":-1}", "top"},
        {"{" TEXT "," LABELS ",\"top\":1.0}", "top"},
        {"{" TEXT "," LABELS ",\"top\":4097}", "top"},
        {"{" TEXT "," LABELS ",\"top\":\"1\"}", "top"},
        /* The later one of two that are the same, wherever they stand. */
        {"{" TEXT ",\"labels\":[\"a\",\"a\"]}", "labels[1]"},
        {"{" TEXT ",\"labels\":[\"b\",\"ab\",\"a\",\"b\",\"abc\"]}", "labels[3]"},
        {"{" TEXT ",\"labels\":[\"z\",\"y\",\"x\",\"y\"]}", "labels[3]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct classify_request request;
        struct fault fault;
        bool refused = !parse(cases[i].text, &request, &fault);
        CHECK(refused && fault.code == 400 && strcmp(fault.param, cases[i].param) == 0);
        if (strcmp(fault.param, cases[i].param) != 0)
            fprintf(stderr, "  %s: '%s' %s\n", cases[i].text, fault.param, fault.message);
        classify_request_deinit(&request);
    }
    struct classify_request request;
    struct fault fault;
    CHECK(!parse("{", &request, &fault) && strcmp(fault.error_code, "invalid_json") == 0);
    classify_request_deinit(&request);
    CHECK(parse("{" TEXT ",\"labels\":[\"a\",\"ab\",\"A\",\"a \"]}", &request, &fault));
    classify_request_deinit(&request);
}

/* Appends `count` strings of `len` bytes each, which are all different where `len` allows it. */
static void append_list(struct buf *out, size_t count, size_t len)
{
    for (size_t i = 0; i < count; i++) {
        buf_printf(out, "%s\"%04zu", i ? "," : "", i % 10000);
        for (size_t n = 4; n < len; n++)
            buf_append_char(out, 'x');
        buf_append_char(out, '"');
    }
}

static void test_lengths_and_counts_have_an_edge(void)
{
    static const struct {
        const char *member;
        bool list;
        size_t most;
    } cases[] = {
        {"labels", true, CLASSIFY_LABELS_MAX},
        {"texts", true, CLASSIFY_TEXTS_MAX},
        {"labels[0]", false, CLASSIFY_LABEL_BYTES_MAX},
        {"texts[0]", false, CLASSIFY_TEXT_BYTES_MAX},
        {"text", false, CLASSIFY_TEXT_BYTES_MAX},
        {"instruction", false, CLASSIFY_INSTRUCTION_BYTES_MAX},
        {"model", false, 256},
        {"user", false, 256},
        {"set", false, 256},
    };
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        const char *member = cases[i / 2].member;
        size_t over = i % 2, size = cases[i / 2].most + over;
        bool inner = strchr(member, '[') != NULL, many = cases[i / 2].list;
        struct classify_request request;
        struct fault fault;
        struct buf text;
        buf_init(&text, 4 << 20);
        buf_printf(&text, "{\"%.*s\":%s", (int)strcspn(member, "["), member,
                   many || inner ? "[" : "");
        append_list(&text, many ? size : 1, many ? 4 : size);
        buf_append_str(&text, many || inner ? STR("]") : STR(""));
        if (strncmp(member, "text", 4) != 0)
            buf_append_str(&text, STR("," TEXT));
        if (strncmp(member, "labels", 6) != 0 && strcmp(member, "set") != 0)
            buf_append_str(&text, STR(",\"labels\":[\"a\"]"));
        buf_append_str(&text, STR("}"));
        buf_append_char(&text, '\0');
        CHECK(parse(text.data, &request, &fault) == !over);
        CHECK(strcmp(fault.param, over ? member : "") == 0);
        if (strcmp(fault.param, over ? member : "") != 0)
            fprintf(stderr, "  %s %zu: '%s' %s\n", member, size, fault.param, fault.message);
        classify_request_deinit(&request);
        buf_deinit(&text);
    }
}

static void test_an_answer_has_at_most_so_many_scores(void)
{
    for (size_t count = 8; count <= 9; count++) {
        struct classify_request request;
        struct fault fault;
        struct buf text;
        buf_init(&text, 1 << 20);
        buf_append_str(&text, STR("{\"set\":\"s\",\"top\":4096,\"texts\":["));
        append_list(&text, count, 4);
        buf_append_str(&text, STR("]}"));
        buf_append_char(&text, '\0');
        CHECK(parse(text.data, &request, &fault) == (count * 4096 <= CLASSIFY_SCORES_MAX));
        CHECK(strcmp(fault.param, count == 9 ? "top" : "") == 0);
        classify_request_deinit(&request);
        buf_deinit(&text);
    }
}

/* Of equals the first in the list comes first, so that an answer is the same each time. */
static void test_the_likeliest_label_comes_first(void)
{
    static const float probabilities[] = {0.25f, 0.125f, 0.375f, 0.125f, 0, 0.125f};
    static const size_t wanted[] = {2, 0, 1, 3, 5, 4};
    size_t order[6] = {0};
    classify_order(probabilities, 6, order);
    CHECK(memcmp(order, wanted, sizeof wanted) == 0);
    classify_order(probabilities, 1, order);
    CHECK(order[0] == 0);
}

int main(void)
{
    RUN(test_a_request_is_read_with_its_defaults);
    RUN(test_top_is_at_most_the_number_of_labels);
    RUN(test_what_is_wrong_is_named);
    RUN(test_lengths_and_counts_have_an_edge);
    RUN(test_an_answer_has_at_most_so_many_scores);
    RUN(test_the_likeliest_label_comes_first);
    return test_finish();
}
