/* Event streams, cut at every byte. */
#include "base/core/str.h"
#include "net/client/sse.h"
#include "test.h"

/* The events of a stream as "name|data;" each. */
static void collect(void *ctx, struct td_str event, struct td_str data)
{
    struct buf *out = ctx;
    buf_append_str(out, event);
    buf_append_char(out, '|');
    buf_append_str(out, data);
    buf_append_char(out, ';');
}

static enum td_status feed(struct sse_reader *reader, struct td_str bytes, struct buf *out)
{
    struct td_error err = {0};
    enum td_status status = sse_reader_feed(reader, bytes, collect, out, &err);
    CHECK(status == TD_OK || err.message[0]);
    return status;
}

static bool reads_as(struct td_str stream, struct td_str wanted)
{
    struct sse_reader reader;
    struct buf out;
    sse_reader_init(&reader, 4096);
    buf_init(&out, 65536);
    bool good = feed(&reader, stream, &out) == TD_OK && str_equal(buf_view(&out), wanted);
    if (!good)
        fprintf(stderr, "got \"%s\"\n", out.data ? out.data : "");
    sse_reader_deinit(&reader);
    buf_deinit(&out);
    return good;
}

static void test_events_of_openai_and_anthropic(void)
{
    CHECK(reads_as(STR("data: {\"a\":1}\n\ndata: [DONE]\n\n"),
                   STR("message|{\"a\":1};message|[DONE];")));
    CHECK(
        reads_as(STR("event: ping\ndata: {}\n\nevent: end\ndata: {}\n\n"), STR("ping|{};end|{};")));
}

static void test_fields_as_the_standard_says(void)
{
    CHECK(reads_as(STR("data\n\ndata\ndata\n\ndata:"), STR("message|;message|\n;")));
    CHECK(reads_as(STR("data:test\n\ndata: test\n\ndata:  two\n\n"),
                   STR("message|test;message|test;message| two;")));
    CHECK(reads_as(STR("data: YHOO\ndata: +2\ndata: 10\n\n"), STR("message|YHOO\n+2\n10;")));
    CHECK(reads_as(STR(": comment\n\n:\n\ndata: x\n: y\nid: 7\nretry: 10\nother: z\n\n"),
                   STR("message|x;")));
    CHECK(reads_as(STR("event: lost\n\ndata: x\n\n"), STR("message|x;")));
    CHECK(reads_as(STR("event: a\nevent: b\ndata: x\n\n"), STR("b|x;")));
    CHECK(reads_as(STR(" data: x\nDATA: y\ndata : z\n\n"), STR("")));
    CHECK(reads_as(STR("\n\n\n"), STR("")));
    CHECK(reads_as(STR("data: unfinished"), STR("")));
    CHECK(reads_as(STR("\xef\xbb\xbf"
                       "data: x\n\n\xef\xbb\xbf"
                       "data: y\n\n"),
                   STR("message|x;")));
    CHECK(reads_as(STR("\xef\xbb\xbf\ndata: x\n\n"), STR("message|x;")));
    CHECK(reads_as(STR("data: a\0b\n\n"), STR("message|a\0b;")));
    CHECK(reads_as(STR("data: a\rdata: b\r\rdata: c\r\n\r\ndata: d\n\r\n"),
                   STR("message|a\nb;message|c;message|d;")));
}

static void test_every_cut_of_a_stream_gives_the_same_events(void)
{
    const struct td_str stream =
        STR("\xef\xbb\xbf: hello\r\nevent: delta\r\ndata: {\"t\":\"\xc3\xa9\"}\r\n\r\ndata: "
            "a\rdata: b\r\rdata:c\n\ndata\0: d\n"
            "data: \0\n\n\r\n\r\nevent: x\n\ndata: last\r\n\r\n");
    const struct td_str wanted =
        STR("delta|{\"t\":\"\xc3\xa9\"};message|a\nb;message|c;message|\0;message|last;");
    CHECK(reads_as(stream, wanted));
    for (size_t a = 0; a <= stream.len; a++)
        for (size_t b = a; b <= stream.len; b++) {
            struct sse_reader reader;
            struct buf out;
            sse_reader_init(&reader, 4096);
            buf_init(&out, 65536);
            CHECK(feed(&reader, str_slice(stream, 0, a), &out) == TD_OK);
            CHECK(feed(&reader, str_slice(stream, a, b), &out) == TD_OK);
            CHECK(feed(&reader, str_slice(stream, b, stream.len), &out) == TD_OK);
            CHECK(str_equal(buf_view(&out), wanted));
            sse_reader_deinit(&reader);
            buf_deinit(&out);
        }
}

static void test_too_large_events_are_refused_and_many_small_ones_are_not(void)
{
    struct sse_reader reader;
    struct buf out;
    sse_reader_init(&reader, 32);
    buf_init(&out, 65536);
    for (int i = 0; i < 1000; i++)
        CHECK(feed(&reader, STR("data: 0123456789\n\n"), &out) == TD_OK);
    CHECK(feed(&reader, STR("data: 0123456789012345678901234567890"), &out) == TD_LIMIT);
    sse_reader_deinit(&reader);
    sse_reader_init(&reader, 32);
    CHECK(feed(&reader, STR("data: 0123456789\ndata: 0123456789\n"), &out) == TD_OK);
    CHECK(feed(&reader, STR("data: 0123456789\n"), &out) == TD_LIMIT);
    sse_reader_deinit(&reader);
    sse_reader_init(&reader, 32); /* a line that comes whole is no exception */
    CHECK(feed(&reader, STR(": 0123456789012345678901234567890\n"), &out) == TD_LIMIT);
    sse_reader_deinit(&reader);
    buf_deinit(&out);
}

/* Thousands of streams hold a reader each. */
static void test_only_a_line_that_was_cut_is_kept(void)
{
    struct sse_reader reader;
    struct buf out;
    sse_reader_init(&reader, 4096);
    buf_init(&out, 65536);
    CHECK(feed(&reader, STR("event: a\r\ndata: 1\r\n\r\ndata: 2\n\n"), &out) == TD_OK);
    CHECK(reader.line.capacity == 0);
    CHECK(feed(&reader, STR("data: 3"), &out) == TD_OK && reader.line.len == 7);
    CHECK(feed(&reader, STR("\n\n"), &out) == TD_OK && reader.line.len == 0);
    CHECK(str_equal(buf_view(&out), STR("a|1;message|2;message|3;")));
    sse_reader_deinit(&reader);
    buf_deinit(&out);
}

static void test_what_is_written_reads_back(void)
{
    static const struct {
        const char *name, *data, *wanted;
    } cases[] = {{NULL, "x", "message|x;"},
                 {NULL, " lead", "message| lead;"},
                 {"ping", "{\"type\":\"ping\"}", "ping|{\"type\":\"ping\"};"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf stream;
        buf_init(&stream, 4096);
        sse_begin(&stream, cases[i].name);
        buf_append_str(&stream, str_from(cases[i].data));
        sse_end(&stream);
        CHECK(reads_as(buf_view(&stream), str_from(cases[i].wanted)));
        buf_deinit(&stream);
    }
}

int main(void)
{
    RUN(test_events_of_openai_and_anthropic);
    RUN(test_fields_as_the_standard_says);
    RUN(test_every_cut_of_a_stream_gives_the_same_events);
    RUN(test_too_large_events_are_refused_and_many_small_ones_are_not);
    RUN(test_only_a_line_that_was_cut_is_kept);
    RUN(test_what_is_written_reads_back);
    return test_finish();
}
