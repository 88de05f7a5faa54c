/* What AWS asks of a request and sends as an answer: signatures as its documentation and its test
 * suite have them, and frames with their checksums. */
#include "base/bytes/buf.h"
#include "base/core/str.h"
#include "net/client/event_frames.h"
#include "test.h"
#include "tier/clouds/aws_sign.h"

/* Of the suite that AWS publishes (aws-sig-v4-test-suite). */
static const struct aws_credentials example = {
    {"AKIDEXAMPLE", 11}, {"wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", 40}, {"", 0}};

static struct aws_request request_of(const char *method, const char *path, const char *query)
{
    return (struct aws_request){.method = str_from(method),
                                .host = STR("example.amazonaws.com"),
                                .path = str_from(path),
                                .query = str_from(query),
                                .region = STR("us-east-1"),
                                .service = STR("service"),
                                .when = "20150830T123600Z"};
}

static void test_signatures_are_those_that_aws_publishes(void)
{
    static const struct {
        const char *method, *path, *query, *signature;
    } rows[] = {
        /* get-vanilla */
        {"GET", "/", "", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
        /* get-vanilla, with the path left out */
        {"GET", "", "", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
        /* get-vanilla-query-order-key-case */
        {"GET", "/", "Param2=value2&Param1=value1",
         "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
        /* post-vanilla */
        {"POST", "/", "", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct aws_request request = request_of(rows[i].method, rows[i].path, rows[i].query);
        char signature[AWS_SIGNATURE_HEX];
        aws_sign(&example, &request, signature);
        CHECK(strcmp(signature, rows[i].signature) == 0);
        request.when[7] = '1'; /* another day is another signature */
        aws_sign(&example, &request, signature);
        CHECK(strcmp(signature, rows[i].signature) != 0);
    }
}

static void test_the_headers_of_a_signed_request(void)
{
    struct buf key, out;
    buf_init(&key, 256);
    buf_init(&out, 4096);
    aws_credentials_pack(example.id, example.secret, STR("token+/="), &key);
    struct server_signing signing = {
        .key = buf_view(&key),
        .method = "POST",
        .url = "https://bedrock-runtime.eu-west-1.amazonaws.com/model/a%3A0/converse-stream",
        .body = STR("{}"),
        .wall_ms = UINT64_C(1440938160000)};
    CHECK(aws_sign_bedrock(&signing, &out) == 3);
    const char *line = out.data;
    CHECK(strcmp(line, "X-Amz-Date: 20150830T123600Z") == 0);
    line += strlen(line) + 1;
    CHECK(strcmp(line, "X-Amz-Security-Token: token+/=") == 0);
    line += strlen(line) + 1;
    static const char begin[] =
        "Authorization: AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/eu-west-1/bedrock/"
        "aws4_request, SignedHeaders=host;x-amz-date;x-amz-security-token, Signature=";
    CHECK(strncmp(line, begin, sizeof begin - 1) == 0 && strlen(line) == sizeof begin - 1 + 64);
    CHECK(!strstr(line, "wJalr"));
    buf_clear(&out);
    signing.key = STR("bedrock-api-key-1");
    CHECK(aws_sign_bedrock(&signing, &out) == 1);
    CHECK(strcmp(out.data, "Authorization: Bearer bedrock-api-key-1") == 0);
    buf_deinit(&out);
    buf_deinit(&key);
}

static void test_credentials_have_three_lines(void)
{
    static const char *const bad[] = {
        "", "id", "id\nsecret", "\nsecret\n", "id\n\n", "i d\nsecret\n", "id\nsecret\nto\nken"};
    struct aws_credentials out;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(!aws_credentials_unpack(str_from(bad[i]), &out));
    CHECK(aws_credentials_unpack(STR("id\nsecret\n"), &out) && out.token.len == 0);
}

/* Made by Python: struct and binascii.crc32. */
static const char frame[] =
    "\000\000\000\131\000\000\000\060\166\370\102\177\015\072\155\145\163\163"
    "\141\147\145\055\164\171\160\145\007\000\005\145\166\145\156\164\013\072"
    "\145\166\145\156\164\055\164\171\160\145\007\000\013\155\145\163\163\141"
    "\147\145\123\164\157\160\173\042\163\164\157\160\122\145\141\163\157\156"
    "\042\072\042\145\156\144\137\164\165\162\156\042\175\357\117\002\307";

struct seen {
    int count;
    char type[32], payload[64];
};

static void on_frame(void *ctx, const struct event_frame *event)
{
    struct seen *seen = ctx;
    seen->count++;
    CHECK(str_equal(event->message_type, STR("event")));
    snprintf(seen->type, sizeof seen->type, STR_FMT, STR_ARG(event->event_type));
    snprintf(seen->payload, sizeof seen->payload, STR_FMT, STR_ARG(event->payload));
}

static enum td_status read_frames(struct td_str bytes, size_t step, struct seen *seen,
                                  struct td_error *err)
{
    struct frame_reader reader;
    enum td_status status = TD_OK;
    *seen = (struct seen){0};
    frame_reader_init(&reader, 4096);
    for (size_t at = 0; at < bytes.len && status == TD_OK; at += step)
        status = frame_reader_feed(&reader, str_slice(bytes, at, at + step), on_frame, seen, err);
    CHECK(status != TD_OK ||
          frame_reader_is_inside(&reader) == (bytes.len % (sizeof frame - 1) != 0));
    frame_reader_deinit(&reader);
    return status;
}

static void test_frames_come_whole_however_they_are_cut(void)
{
    char twice[2 * sizeof frame];
    size_t len = sizeof frame - 1;
    struct seen seen;
    memcpy(twice, frame, len);
    memcpy(twice + len, frame, len);
    for (size_t step = 1; step <= 2 * len; step++) {
        CHECK(read_frames((struct td_str){twice, 2 * len}, step, &seen, NULL) == TD_OK);
        CHECK(seen.count == 2 && strcmp(seen.type, "messageStop") == 0);
        CHECK(strcmp(seen.payload, "{\"stopReason\":\"end_turn\"}") == 0);
    }
    CHECK(read_frames((struct td_str){frame, len - 1}, 7, &seen, NULL) == TD_OK && seen.count == 0);
}

static void test_a_changed_byte_ends_the_stream(void)
{
    char changed[sizeof frame];
    struct seen seen;
    for (size_t i = 0; i < sizeof frame - 1; i++) {
        struct td_error err = {0};
        memcpy(changed, frame, sizeof frame);
        changed[i] = (char)(changed[i] ^ 0x10);
        enum td_status status =
            read_frames((struct td_str){changed, sizeof frame - 1}, 16, &seen, &err);
        CHECK(status == TD_CORRUPT && seen.count == 0 && err.message[0]);
    }
}

static void test_a_frame_that_says_it_is_too_large_is_not_waited_for(void)
{
    /* 0x7fffffff bytes, no headers, and the right checksum of that. */
    static const char prelude[] = "\177\377\377\377\000\000\000\000\254\304\172\045";
    struct td_error err = {0};
    struct seen seen;
    struct frame_reader reader;
    frame_reader_init(&reader, 4096);
    CHECK(frame_reader_feed(&reader, (struct td_str){prelude, 12}, on_frame, &seen, &err) ==
          TD_LIMIT);
    frame_reader_deinit(&reader);
}

int main(void)
{
    RUN(test_signatures_are_those_that_aws_publishes);
    RUN(test_the_headers_of_a_signed_request);
    RUN(test_credentials_have_three_lines);
    RUN(test_frames_come_whole_however_they_are_cut);
    RUN(test_a_changed_byte_ends_the_stream);
    RUN(test_a_frame_that_says_it_is_too_large_is_not_waited_for);
    return test_finish();
}
