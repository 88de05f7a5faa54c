/* A traceparent is taken exactly as W3C writes it, or a new trace begins. */
#include "test.h"

#include "base/time/trace.h"

#define ID "4bf92f3577b34da6a3ce929d0e0e4736"
#define SPAN "00f067aa0ba902b7"

static bool is_taken(const char *header)
{
    struct trace trace;
    trace_begin(&trace, header);
    CHECK(strlen(trace.id) == 32 && strlen(trace.span) == 16);
    CHECK(strspn(trace.id, "0123456789abcdef") == 32 && strspn(trace.id, "0") < 32);
    return strcmp(trace.id, ID) == 0 && strcmp(trace.parent, SPAN) == 0 && !trace.restarted;
}

static void test_a_well_formed_header_goes_on(void)
{
    struct trace trace;
    char out[TRACE_HEADER_BYTES];
    CHECK(is_taken("00-" ID "-" SPAN "-01") && is_taken("00-" ID "-" SPAN "-00"));
    CHECK(is_taken("01-" ID "-" SPAN "-01-whatever") && is_taken("cc-" ID "-" SPAN "-01"));
    trace_begin(&trace, "00-" ID "-" SPAN "-ff");
    trace_write(&trace, trace.span, out);
    CHECK(strlen(out) == 55 && strncmp(out, "00-" ID "-", 36) == 0 && strcmp(out + 53, "03") == 0);
    CHECK(strcmp(trace.span, SPAN) != 0);
}

static void test_anything_else_begins_anew_and_says_so(void)
{
    static const char *const bad[] = {
        "",
        "00",
        "00-" ID "-" SPAN "-0",
        "00-" ID "-" SPAN "-011",
        "00-" ID "-" SPAN "-01-more",
        "ff-" ID "-" SPAN "-01",
        "0g-" ID "-" SPAN "-01",
        "00-00000000000000000000000000000000-" SPAN "-01",
        "00-" ID "-0000000000000000-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-" SPAN "-01",
        "00_" ID "-" SPAN "-01",
        "00-" ID "_" SPAN "-01",
        "00-" ID "-" SPAN "_01",
        "01-" ID "-" SPAN "-01.",
    };
    struct trace trace;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK(!is_taken(bad[i]));
        trace_begin(&trace, bad[i]);
        CHECK(trace.restarted && !*trace.parent);
    }
    trace_begin(&trace, NULL);
    CHECK(!trace.restarted && !*trace.parent);
}

static void test_children_differ_from_each_other_and_between_traces(void)
{
    struct trace a, b;
    char spans[3][TRACE_SPAN_BYTES];
    trace_begin(&a, NULL);
    trace_begin(&b, NULL);
    trace_child(&a, 1, spans[0]);
    trace_child(&a, 2, spans[1]);
    trace_child(&b, 1, spans[2]);
    CHECK(strcmp(a.id, b.id) != 0 && strcmp(a.span, b.span) != 0);
    CHECK(strcmp(spans[0], spans[1]) != 0 && strcmp(spans[0], spans[2]) != 0 &&
          strcmp(spans[0], a.span) != 0);
}

int main(void)
{
    RUN(test_a_well_formed_header_goes_on);
    RUN(test_anything_else_begins_anew_and_says_so);
    RUN(test_children_differ_from_each_other_and_between_traces);
    return test_finish();
}
