/* Spellings of pictures and recordings become OpenAI's; everything else stays as it was. */
#include "api/wire/media_forms.h"

#include "base/core/str.h"
#include "test.h"

#define BODY(part) "{\"messages\":[{\"role\":\"user\",\"content\":[" part "]}]}"
#define IMAGE(value) BODY("{\"type\":\"image_url\",\"image_url\":" value "}")
#define AUDIO(value) BODY("{\"type\":\"input_audio\",\"input_audio\":" value "}")

static void test_spellings_are_settled(void)
{
    static const struct {
        const char *body, *after; /* after NULL: the same */
    } cases[] = {
        {IMAGE("{\"url\":\"iVBORw0KGgoAAAA=\",\"detail\":\"low\"}"),
         IMAGE("{\"url\":\"data:image/png;base64,iVBORw0KGgoAAAA=\",\"detail\":\"low\"}")},
        {IMAGE("\"https://a.example/b.png\""), IMAGE("{\"url\":\"https://a.example/b.png\"}")},
        {IMAGE("\"/9j/AAAA\""), IMAGE("{\"url\":\"data:image/jpeg;base64,/9j/AAAA\"}")},
        {IMAGE("{\"url\":\"R0lGODAA\"}"), IMAGE("{\"url\":\"data:image/gif;base64,R0lGODAA\"}")},
        {IMAGE("{\"url\":\"UklGRAAA\"}"), IMAGE("{\"url\":\"data:image/webp;base64,UklGRAAA\"}")},
        {IMAGE("{\"url\":\"data:image/png;base64,AAAA\"}"), NULL},
        {IMAGE("{\"url\":\"QUJD\"}"), NULL},
        {IMAGE("{\"url\":7}"), NULL},
        {IMAGE("7"), NULL},
        {IMAGE("null"), NULL},
        {BODY("{\"type\":\"image_url\"}"), NULL},
        {AUDIO("{\"data\":\"UklGRAAA\"}"), AUDIO("{\"data\":\"UklGRAAA\",\"format\":\"wav\"}")},
        {AUDIO("{\"data\":\"SUQzAAAA\"}"), AUDIO("{\"data\":\"SUQzAAAA\",\"format\":\"mp3\"}")},
        {AUDIO("{\"data\":\"//uQAAAA\"}"), AUDIO("{\"data\":\"//uQAAAA\",\"format\":\"mp3\"}")},
        {AUDIO("{\"data\":\"ZkxhQwAA\"}"), AUDIO("{\"data\":\"ZkxhQwAA\",\"format\":\"flac\"}")},
        {AUDIO("{\"data\":\"UklGRAAA\",\"format\":\"mp3\"}"), NULL},
        {AUDIO("{\"data\":\"QUJD\"}"), NULL},
        {AUDIO("[]"), NULL},
        {BODY("{\"type\":\"text\",\"text\":\"iVBORw0KGgo\"},7,null,[]"), NULL},
        {"{\"messages\":[{\"role\":\"user\",\"content\":\"iVBORw0KGgo\"},7]}", NULL},
        {"{\"messages\":7}", NULL},
        {"{}", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct json *body = NULL;
        struct buf got;
        const char *wanted = cases[i].after ? cases[i].after : cases[i].body;
        REQUIRE(json_parse(str_from(cases[i].body), &body, NULL) == TD_OK);
        media_forms_settle(body);
        buf_init(&got, 65536);
        json_write(body, &got);
        CHECK(str_equal(buf_view(&got), str_from(wanted)));
        if (!str_equal(buf_view(&got), str_from(wanted)))
            fprintf(stderr, "got  %.*s\nwant %s\n", (int)got.len, got.data, wanted);
        buf_deinit(&got);
        json_free(body);
    }
}

static void test_pictures_are_known_by_their_first_bytes(void)
{
    CHECK(strcmp(media_forms_picture(STR("iVBORw0KGgo")), "png") == 0);
    CHECK(media_forms_picture(STR("iVBORw0KGg")) == NULL);
    CHECK(media_forms_picture(STR("")) == NULL);
}

int main(void)
{
    RUN(test_spellings_are_settled);
    RUN(test_pictures_are_known_by_their_first_bytes);
    return test_finish();
}
