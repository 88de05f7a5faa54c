/* A form comes to the same parts however it is cut, and one that is malformed is refused. */
#include "api/files/multipart.h"

#include "base/bytes/buf.h"
#include "base/core/str.h"
#include "test.h"

#define TYPE "multipart/form-data; boundary=bound"

/* What was read, as text: "[name|filename|type]content" of each part, "." at the end. */
static bool note_part(void *ctx, const struct multipart_part *part)
{
    struct buf *out = ctx;
    if (part)
        buf_printf(out, "[%s|%s|%s]", part->name, part->filename ? part->filename : "-",
                   part->type);
    else
        buf_append_char(out, '.');
    return true;
}

static bool note_data(void *ctx, struct td_str bytes)
{
    buf_append_str(ctx, bytes);
    return bytes.len > 0;
}

/* False where it was refused. */
static bool read_form(const char *type, struct td_str body, size_t step, struct buf *out)
{
    static struct multipart multipart;
    const struct multipart_events events = {note_part, note_data, out};
    buf_init(out, 1 << 20);
    if (!multipart_init(&multipart, type, &events))
        return false;
    for (size_t at = 0; at < body.len; at += step)
        if (!multipart_feed(&multipart, str_slice(body, at, at + step)))
            return false;
    return multipart_is_whole(&multipart);
}

static void expect(const char *type, struct td_str body, const char *wanted)
{
    struct buf out;
    for (size_t step = 1; step <= body.len + 1; step++) {
        bool ok = read_form(type, body, step, &out);
        CHECK(ok == (wanted != NULL));
        CHECK(!wanted || str_equal(buf_view(&out), str_from(wanted)));
        if (wanted && !str_equal(buf_view(&out), str_from(wanted)))
            fprintf(stderr, "step %zu: '%s', not '%s'\n", step, out.data, wanted);
        buf_deinit(&out);
    }
}

#define DISPOSITION "Content-Disposition: form-data; name="
#define ONE(head, content) STR("--bound\r\n" head "\r\n\r\n" content "\r\n--bound--\r\n")

static void test_parts_are_read_however_they_are_cut(void)
{
    expect(TYPE, ONE(DISPOSITION "\"a\"", "x"), "[a|-|]x.");
    expect(TYPE, ONE(DISPOSITION "a", ""), "[a|-|].");
    expect(TYPE, ONE(DISPOSITION "\"a\"; filename=\"b \\\"c\\\\.txt\"\r\ncontent-TYPE: a/b", "x"),
           "[a|b \"c\\.txt|a/b]x.");
    expect(TYPE, ONE(DISPOSITION "\"a\"; filename=\"\"", "x"), "[a||]x.");
    expect(TYPE, ONE(DISPOSITION "\"a;b\" ; filename=\"c\"", "x"), "[a;b|c|]x.");
    expect(TYPE, ONE("X-Other: y\r\n" DISPOSITION "\"a\"", "x"), "[a|-|]x.");
    expect("MULTIPART/form-data; charset=utf-8; Boundary=\"bound\"", ONE(DISPOSITION "a", "x"),
           "[a|-|]x.");
    expect(TYPE,
           STR("before\r\n--bound\r\n" DISPOSITION "a\r\n\r\n1\r\n--bound \t\r\n" DISPOSITION
               "b\r\n\r\n2\r\n--bound--after\r\n--bound\r\n"),
           "[a|-|]1[b|-|]2.");
}

static void test_content_that_looks_like_a_boundary_is_content(void)
{
    expect(TYPE, ONE(DISPOSITION "a", "\r\n--boun\r\r\n\r\n--\r\n--b\r\n-"),
           "[a|-|]\r\n--boun\r\r\n\r\n--\r\n--b\r\n-.");
    expect(TYPE, ONE(DISPOSITION "a", "--bound"), "[a|-|]--bound.");
    expect(TYPE, ONE(DISPOSITION "a", "\r"), "[a|-|]\r.");
    expect(TYPE, ONE(DISPOSITION "a", "\n--bound\n"), "[a|-|]\n--bound\n.");
}

static void test_what_is_malformed_is_refused(void)
{
    static const char *const types[] = {"",
                                        "text/plain; boundary=bound",
                                        "multipart/mixed; boundary=bound",
                                        "multipart/form-data",
                                        "multipart/form-data; boundary=",
                                        "multipart/form-data; boundary=\"bound",
                                        "multipart/form-data; boundary=\"a b \"",
                                        "multipart/form-data; boundary=bo\tnd",
                                        "multipart/form-data; boundary=a; boundary=bound",
                                        "multipart/form-data; boundary=\"bound\"x"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        expect(types[i], ONE(DISPOSITION "a", "x"), NULL);
    expect(NULL, ONE(DISPOSITION "a", "x"), NULL);
    expect(TYPE, ONE("", "x"), NULL);
    expect(TYPE, ONE("X: y", "x"), NULL);
    expect(TYPE, ONE("no header", "x"), NULL);
    expect(TYPE, ONE("Content-Disposition: attachment; name=a", "x"), NULL);
    expect(TYPE, ONE("Content-Disposition: form-data", "x"), NULL);
    expect(TYPE, ONE(DISPOSITION "a; name=b", "x"), NULL);
    expect(TYPE, ONE(DISPOSITION "a\r\n" DISPOSITION "b", "x"), NULL);
    expect(TYPE, ONE(DISPOSITION "\"a", "x"), NULL);
    expect(TYPE, ONE(DISPOSITION "a\r\nX: \1", "x"), NULL);
    expect(TYPE, STR("--bound\r\n" DISPOSITION "a\r\n\r\nx"), NULL);
    expect(TYPE, STR("--bound\r\n" DISPOSITION "a\r\n\r\nx\r\n--bound"), NULL);
    expect(TYPE, STR("--bound\n" DISPOSITION "a\r\n\r\nx\r\n--bound--"), NULL);
    expect(TYPE, STR("--boundx\r\n"), NULL);
    expect(TYPE, STR("--bound-x"), NULL);
    expect(TYPE, STR("--bound\rx"), NULL);
    expect(TYPE, STR(""), NULL);
}

static void test_headers_have_a_limit(void)
{
    static char body[2 * MULTIPART_HEAD_BYTES_MAX];
    struct buf out;
    size_t begin = (size_t)snprintf(body, sizeof body, "--bound\r\nX: ");
    memset(body + begin, 'x', sizeof body - begin);
    CHECK(!read_form(TYPE, (struct td_str){body, sizeof body}, 1000, &out));
    buf_deinit(&out);
}

static bool stop(void *ctx, const struct multipart_part *part)
{
    (void)ctx, (void)part;
    return false;
}

static void test_an_event_stops_the_reading(void)
{
    struct multipart multipart;
    const struct multipart_events events = {stop, note_data, NULL};
    REQUIRE(multipart_init(&multipart, TYPE, &events));
    CHECK(!multipart_feed(&multipart, ONE(DISPOSITION "a", "x")) && !multipart.fault);
}

int main(void)
{
    RUN(test_parts_are_read_however_they_are_cut);
    RUN(test_content_that_looks_like_a_boundary_is_content);
    RUN(test_what_is_malformed_is_refused);
    RUN(test_headers_have_a_limit);
    RUN(test_an_event_stops_the_reading);
    return test_finish();
}
