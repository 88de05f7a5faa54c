/* What a picture or a recording is, is told by its first bytes. In base64 they are the first
 * characters, because each group of three bytes stands for itself. */
#include "api/wire/media_forms.h"

#include "base/core/str.h"

#include <stdint.h>

/* What stands around a picture in its data URL. */
#define URL_BYTES 64

struct sign {
    const char *begins, *type;
};

static const struct sign pictures[] = {
    {"/9j/", "jpeg"}, {"iVBORw0KGgo", "png"}, {"R0lGOD", "gif"}, {"UklGR", "webp"}};
/* RIFF, an MP3 with a tag or without, and FLAC. */
static const struct sign recordings[] = {{"UklGR", "wav"}, {"SUQz", "mp3"}, {"//u", "mp3"},
                                         {"//M", "mp3"},   {"//I", "mp3"},  {"ZkxhQ", "flac"}};

static const char *find(const struct sign *signs, size_t count, struct td_str base64)
{
    for (size_t i = 0; i < count; i++)
        if (str_starts_with(base64, str_from(signs[i].begins)))
            return signs[i].type;
    return NULL;
}

const char *media_forms_picture(struct td_str base64)
{
    return find(pictures, sizeof pictures / sizeof *pictures, base64);
}

static struct json *data_url(struct td_str content, const char *type)
{
    struct buf url;
    buf_init(&url, content.len + URL_BYTES);
    buf_printf(&url, "data:image/%s;base64,", type);
    buf_append_str(&url, content);
    struct json *text = url.failed ? NULL : json_new_text(buf_view(&url));
    buf_deinit(&url);
    return text;
}

/* A member that is replaced only when there is memory for the new one. */
static void replace(struct json *object, const char *name, struct json *value)
{
    if (value)
        json_put(object, name, value);
}

static void settle_image(struct json *part)
{
    const struct json *where = json_get(part, "image_url");
    if (json_kind_of(where) == JSON_KIND_TEXT) {
        struct json *object = json_new_object();
        json_put(object, "url", json_clone(where));
        replace(part, "image_url", object);
        where = json_get(part, "image_url");
    }
    struct td_str url = json_text(json_get(where, "url"));
    const char *type = media_forms_picture(url);
    if (type) /* the tree is the caller's own */
        replace((struct json *)(uintptr_t)where, "url", data_url(url, type));
}

static void settle_audio(struct json *part)
{
    struct json *audio = (struct json *)(uintptr_t)json_get(part, "input_audio");
    const char *type = find(recordings, sizeof recordings / sizeof *recordings,
                            json_text(json_get(audio, "data")));
    if (type && json_absent(json_get(audio, "format")))
        replace(audio, "format", json_new_cstr(type));
}

void media_forms_settle(struct json *body)
{
    const struct json *messages = json_get(body, "messages");
    for (size_t i = 0; i < json_count(messages); i++) {
        const struct json *content = json_get(json_at(messages, i), "content");
        bool parts = json_kind_of(content) == JSON_KIND_ARRAY;
        for (size_t p = 0; parts && p < json_count(content); p++) {
            struct json *part = (struct json *)(uintptr_t)json_at(content, p);
            struct td_str type = json_text(json_get(part, "type"));
            if (str_equal(type, STR("image_url")))
                settle_image(part);
            else if (str_equal(type, STR("input_audio")))
                settle_audio(part);
        }
    }
}
