/* The wire format of embeddings: what is accepted, what is refused and where, what comes back. */
#include "api/wire/embeddings_request.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "test.h"

#include <math.h>

static bool parse(const char *text, struct embeddings_request *out, struct fault *fault)
{
    *fault = (struct fault){0};
    return embeddings_request_parse(str_from(text), NULL, out, fault);
}

static void test_inputs_come_in_four_shapes(void)
{
    struct embeddings_request request;
    struct fault fault;
    CHECK(parse("{\"model\":\"m\",\"input\":\"one\"}", &request, &fault));
    CHECK(request.input_count == 1 && str_equal(request.inputs[0].text, STR("one")));
    CHECK(!request.base64 && request.dimensions == 0 && !request.user);
    embeddings_request_deinit(&request);
    CHECK(parse("{\"model\":\"m\",\"input\":[\"a\",\"b\"],\"encoding_format\":\"base64\","
                "\"dimensions\":7,\"user\":\"u\"}",
                &request, &fault));
    CHECK(request.input_count == 2 && str_equal(request.inputs[1].text, STR("b")));
    CHECK(request.base64 && request.dimensions == 7 && strcmp(request.user, "u") == 0);
    embeddings_request_deinit(&request);
    CHECK(parse("{\"model\":\"m\",\"input\":[5,6,7]}", &request, &fault));
    CHECK(request.input_count == 1 && request.inputs[0].id_count == 3 &&
          request.inputs[0].ids[2] == 7);
    embeddings_request_deinit(&request);
    CHECK(parse("{\"model\":\"m\",\"input\":[[5],\"x\",[6,7]]}", &request, &fault));
    CHECK(request.input_count == 3 && request.inputs[0].ids[0] == 5 &&
          request.inputs[2].id_count == 2 && request.inputs[2].ids[1] == 7);
    embeddings_request_deinit(&request);
}

static void check_refused(const char *text, const char *param)
{
    struct embeddings_request request;
    struct fault fault;
    bool refused = !parse(text, &request, &fault);
    if (!refused || strcmp(fault.param, param) != 0)
        fprintf(stderr, "%s: param '%s', %s\n", text, fault.param, fault.message);
    CHECK(refused && fault.code == 400 && strcmp(fault.param, param) == 0);
    embeddings_request_deinit(&request);
}

static void test_bad_requests_are_refused_with_the_place(void)
{
    check_refused("{", "");
    check_refused("[]", "");
    check_refused("{\"input\":\"x\"}", "model");
    check_refused("{\"model\":\"\",\"input\":\"x\"}", "model");
    check_refused("{\"model\":3,\"input\":\"x\"}", "model");
    check_refused("{\"model\":\"m\"}", "input");
    check_refused("{\"model\":\"m\",\"input\":null}", "input");
    check_refused("{\"model\":\"m\",\"input\":\"\"}", "input");
    check_refused("{\"model\":\"m\",\"input\":[]}", "input");
    check_refused("{\"model\":\"m\",\"input\":[\"a\",\"\"]}", "input[1]");
    check_refused("{\"model\":\"m\",\"input\":[\"a\",[]]}", "input[1]");
    check_refused("{\"model\":\"m\",\"input\":[1,\"a\"]}", "input");
    check_refused("{\"model\":\"m\",\"input\":[1,-1]}", "input");
    check_refused("{\"model\":\"m\",\"input\":[1,2147483648]}", "input");
    check_refused("{\"model\":\"m\",\"input\":[[1],[1.5]]}", "input[1]");
    check_refused("{\"model\":\"m\",\"input\":{\"a\":1}}", "input");
    check_refused("{\"model\":\"m\",\"input\":\"x\",\"encoding_format\":\"hex\"}",
                  "encoding_format");
    check_refused("{\"model\":\"m\",\"input\":\"x\",\"dimensions\":0}", "dimensions");
    check_refused("{\"model\":\"m\",\"input\":\"x\",\"dimensions\":1.5}", "dimensions");
    struct buf many;
    buf_init(&many, 1 << 20);
    buf_append_str(&many, STR("{\"model\":\"m\",\"input\":[\"a\""));
    for (int i = 0; i < EMBEDDINGS_INPUTS_MAX; i++)
        buf_append_str(&many, STR(",\"a\""));
    buf_append_str(&many, STR("]}"));
    check_refused(many.data, "input");
    buf_deinit(&many);
}

static void test_answers_are_in_the_form_that_was_asked_for(void)
{
    static const float vectors[] = {0.6f, 0.8f, 0, -1, 0, 0};
    static const struct embedding_answer answer = {
        .vectors = vectors, .count = 2, .size = 3, .token_count = 9};
    struct embeddings_request request = {0};
    struct buf out;
    buf_init(&out, 1 << 16);
    embeddings_write(&request, &answer, "m", 0, &out);
    CHECK(str_equal(
        buf_view(&out),
        STR("{\"object\":\"list\",\"data\":["
            "{\"object\":\"embedding\",\"index\":0,\"embedding\":[0.60000002,0.80000001,0]},"
            "{\"object\":\"embedding\",\"index\":1,\"embedding\":[-1,0,0]}],"
            "\"model\":\"m\",\"usage\":{\"prompt_tokens\":9,\"total_tokens\":9}}")));
    /* 3 floats are 12 bytes: no padding; 2 are 8, 1 is 4: one and two bytes over. By Python's
     * base64.b64encode(struct.pack("<3f", .6, .8, 0)). */
    request.base64 = true;
    buf_clear(&out);
    embeddings_write(&request, &answer, "m", 0, &out);
    CHECK(str_find(buf_view(&out), STR("\"embedding\":\"mpkZP83MTD8AAAAA\"}"), 0) != SIZE_MAX);
    request.dimensions = 2;
    buf_clear(&out);
    embeddings_write(&request, &answer, "m", 0, &out);
    CHECK(str_find(buf_view(&out), STR("\"embedding\":\"mpkZP83MTD8=\"}"), 0) != SIZE_MAX);
    /* shortened vectors have length 1 again */
    request.dimensions = 1;
    buf_clear(&out);
    embeddings_write(&request, &answer, "m", 0, &out);
    CHECK(str_find(buf_view(&out), STR("\"embedding\":\"AACAPw==\"}"), 0) != SIZE_MAX);
    buf_deinit(&out);
}

int main(void)
{
    RUN(test_inputs_come_in_four_shapes);
    RUN(test_bad_requests_are_refused_with_the_place);
    RUN(test_answers_are_in_the_form_that_was_asked_for);
    return test_finish();
}
