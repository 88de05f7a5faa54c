/* Images, recordings and files: what is well formed, and which of them nobody here can read. */
#include "api/wire/media_parts.h"

#include "base/core/str.h"
#include "base/json/json.h"
#include "test.h"

static void test_types_and_base64_and_addresses_are_checked(void)
{
    static const struct {
        const char *text;
        bool type, base64, url;
    } cases[] = {
        {"image/png", true, false, false},
        {"a/b", true, false, false},
        {"application/vnd.x+json", true, false, false},
        {"aZ09!#$&^_.+-/x", true, false, false},
        {"/png", false, true, false},
        {"image/", false, false, false},
        {"image", false, false, false},
        {"image/png/x", false, false, false},
        {"image/png;q=1", false, false, false},
        {"im age/png", false, false, false},
        {"QUJD", false, true, false},
        {"azAZ09+/", false, true, false},
        {"QUI=", false, true, false},
        {"QQ==", false, true, false},
        {"Q===", false, false, false},
        {"====", false, false, false},
        {"QUJ", false, false, false},
        {"QUJDQ", false, false, false},
        {"Q=JD", false, false, false},
        {"QU\nD", false, false, false},
        {"QU-_", false, false, false},
        {"QU@[", false, false, false},
        {"QU`{", false, false, false},
        {"QU:.", false, false, false},
        {"", false, false, false},
        {"https://a.example/x.png", false, false, true},
        {"HTTP://a.example", false, false, true},
        {"ftp://a.example", false, false, false},
        {"https://a.example/ x", false, false, false},
        {"https://a.example/\x7f", false, false, false},
        {"data:image/png;base64,QUJD", false, false, true},
        {"DATA:image/png;base64,QQ==", false, false, true},
        {"data:image/png;base64,", false, false, false},
        {"data:image/png;base64,QU", false, false, false},
        {"data:image/png,QUJD", false, false, false},
        {"data:;base64,QUJD", false, false, false},
        {"data:image/png;x=1;base64,QUJD", false, false, false},
        {"xdata:image/png;base64,QUJD", false, false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fault fault = {0};
        struct td_str text = str_from(cases[i].text);
        bool good = media_check_type(text, "here", &fault) == cases[i].type &&
                    media_check_base64(text, "here", &fault) == cases[i].base64 &&
                    media_check_url(text, "here", &fault) == cases[i].url;
        CHECK(good && strcmp(fault.param, "here") == 0 && fault.code == 400);
        if (!good)
            fprintf(stderr, "  '%s'\n", cases[i].text);
    }
}

static void test_a_type_and_an_address_have_a_longest(void)
{
    static char text[9000];
    struct fault fault;
    for (size_t over = 0; over < 2; over++) {
        memset(text, 'x', sizeof text);
        text[5] = '/';
        CHECK(media_check_type((struct td_str){text, 127 + over}, "p", &fault) == !over);
        memcpy(text, "https://", 8);
        CHECK(media_check_url((struct td_str){text, 8192 + over}, "p", &fault) == !over);
    }
}

/* A part of a type with its members. */
static bool read_part(const char *json, struct request_media *out, struct fault *fault,
                      struct arena *arena)
{
    struct json *part = NULL;
    *fault = (struct fault){0};
    if (json_parse(str_from(json), &part, NULL) != TD_OK)
        abort();
    bool good = media_part_read(part, "m[0]", arena, out, fault);
    json_free(part);
    return good;
}

static void test_each_kind_has_its_members_and_its_price(void)
{
    static const struct {
        const char *json, *param; /* "" = good */
        uint32_t tokens;
    } cases[] = {
        {"{\"type\":\"image_url\",\"image_url\":{\"url\":\"https://a.example\"}}", "", 1000},
        {"{\"type\":\"image_url\",\"image_url\":{\"url\":\"QUJD\"}}", "m[0].image_url.url", 0},
        {"{\"type\":\"image_url\",\"image_url\":{\"url\":\"\"}}", "m[0].image_url.url", 0},
        {"{\"type\":\"image_url\",\"image_url\":{}}", "m[0].image_url.url", 0},
        {"{\"type\":\"image_url\",\"image_url\":\"https://a.example\"}", "m[0].image_url", 0},
        {"{\"type\":\"image_url\"}", "m[0].image_url", 0},
        {"{\"type\":\"input_audio\",\"input_audio\":{\"data\":\"QUJD\",\"format\":\"wav\"}}", "",
         1},
        {"{\"type\":\"input_audio\",\"input_audio\":{\"data\":\"QUJD\"}}",
         "m[0].input_audio.format", 0},
        {"{\"type\":\"input_audio\",\"input_audio\":{\"data\":\"https://a\",\"format\":\"wav\"}}",
         "m[0].input_audio.data", 0},
        {"{\"type\":\"file\",\"file\":{\"file_data\":\"QUJD\"}}", "", 1},
        {"{\"type\":\"file\",\"file\":{\"file_data\":\"data:a/b;base64,QUJD\"}}", "", 1},
        {"{\"type\":\"file\",\"file\":{\"file_id\":\"f\"}}", "", 1},
        {"{\"type\":\"file\",\"file\":{\"file_id\":\"\"}}", "m[0].file.file_data", 0},
        {"{\"type\":\"file\",\"file\":{\"file_id\":\"f\",\"file_data\":\"\"}}",
         "m[0].file.file_data", 0},
        {"{\"type\":\"file\",\"file\":{\"file_data\":\"not base64\"}}", "m[0].file.file_data", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena *arena = arena_new(1 << 16);
        struct request_media media = {0};
        struct fault fault;
        bool good = read_part(cases[i].json, &media, &fault, arena);
        CHECK(good == !*cases[i].param && strcmp(fault.param, cases[i].param) == 0);
        CHECK(media.tokens == cases[i].tokens && (media.kinds != 0) == good);
        if (strcmp(fault.param, cases[i].param) != 0)
            fprintf(stderr, "  %s: '%s'\n", cases[i].json, fault.param);
        arena_free(arena);
    }
    CHECK(media_part_is("file") && media_part_is("image_url") && media_part_is("input_audio"));
    CHECK(!media_part_is("text") && !media_part_is("") && !media_part_is(NULL));
}

/* A file of `quads` times four characters; `marked`: the one that has control characters. */
static void write_file(struct buf *out, const char *before, size_t quads, size_t marked)
{
    buf_clear(out);
    buf_append_str(out, STR("{\"type\":\"file\",\"file\":{\"file_data\":\""));
    buf_append_str(out, str_from(before));
    for (size_t i = 0; i < quads; i++)
        buf_append_str(out, i == marked ? STR("AAEC") : STR("QUJD"));
    buf_append_str(out, STR("\"}}"));
    buf_append_char(out, '\0');
}

static void test_tokens_of_files_and_recordings_are_counted_by_length_and_added_up(void)
{
    struct arena *arena = arena_new(1 << 20);
    struct request_media media = {0};
    struct fault fault;
    struct buf text;
    buf_init(&text, 1 << 20);
    write_file(&text, "", 15, SIZE_MAX); /* 60 characters */
    CHECK(read_part(text.data, &media, &fault, arena) && media.tokens == 1);
    write_file(&text, "", 16, SIZE_MAX); /* 64 */
    CHECK(read_part(text.data, &media, &fault, arena) && media.tokens == 1 + 2);
    write_file(&text, "", 160, SIZE_MAX);
    CHECK(read_part(text.data, &media, &fault, arena) && media.tokens == 3 + 11);
    media.tokens = UINT32_MAX - 11;
    CHECK(read_part(text.data, &media, &fault, arena) && media.tokens == UINT32_MAX);
    CHECK(read_part(text.data, &media, &fault, arena) && media.tokens == UINT32_MAX);
    buf_deinit(&text);
    arena_free(arena);
}

/* What begins as a text can be scanned for private data, whatever it is called. The first 192
 * characters decide. */
static void test_a_payload_is_what_nobody_can_read(void)
{
    static const struct {
        const char *before;
        size_t marked; /* which four characters; SIZE_MAX = none */
        bool payload;
    } cases[] = {
        {"", SIZE_MAX, false},
        {"", 0, true},
        {"", 47, true},
        {"", 48, false},
        {"data:image/png;base64,", SIZE_MAX, false}, /* a text under a picture's name */
        {"data:image/png;base64,", 0, true},
        {"data:text/plain;base64,", 0, false},
        {"data:TEXT/html;base64,", 0, false},
        {"data:application/json;base64,", 0, false},
        {"data:application/xml;base64,", 0, false},
        {"data:application/pdf;base64,", 0, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena *arena = arena_new(1 << 16);
        struct request_media media = {0};
        struct fault fault;
        struct buf text;
        buf_init(&text, 1 << 20);
        write_file(&text, cases[i].before, REQUEST_PAYLOAD_BYTES_MIN / 4 + 100, cases[i].marked);
        CHECK(read_part(text.data, &media, &fault, arena));
        CHECK(media.payload_count == cases[i].payload);
        if (media.payload_count != cases[i].payload)
            fprintf(stderr, "  %s %zu\n", cases[i].before, cases[i].marked);
        buf_deinit(&text);
        arena_free(arena);
    }
}

static void test_payloads_have_a_shortest_and_a_number(void)
{
    struct arena *arena = arena_new(1 << 20);
    struct request_media media = {0};
    struct fault fault;
    struct buf text;
    const size_t quads = (REQUEST_PAYLOAD_BYTES_MIN + 3) / 4;
    buf_init(&text, 1 << 20);
    write_file(&text, "", quads - 1, 0);
    CHECK(read_part(text.data, &media, &fault, arena) && media.payload_count == 0);
    write_file(&text, "", quads, 0);
    for (size_t i = 1; i <= REQUEST_MEDIA_MAX; i++)
        CHECK(read_part(text.data, &media, &fault, arena) && media.payload_count == i);
    CHECK(!read_part(text.data, &media, &fault, arena));
    CHECK(strcmp(fault.param, "m[0].file") == 0 && media.payload_count == REQUEST_MEDIA_MAX);
    buf_deinit(&text);
    arena_free(arena);
}

int main(void)
{
    RUN(test_types_and_base64_and_addresses_are_checked);
    RUN(test_a_type_and_an_address_have_a_longest);
    RUN(test_each_kind_has_its_members_and_its_price);
    RUN(test_tokens_of_files_and_recordings_are_counted_by_length_and_added_up);
    RUN(test_a_payload_is_what_nobody_can_read);
    RUN(test_payloads_have_a_shortest_and_a_number);
    return test_finish();
}
