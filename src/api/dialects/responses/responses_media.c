/* The members are the chat's with other names, one level higher. */
#include "api/dialects/responses/responses_media.h"

#include "api/wire/media_parts.h"
#include "base/core/str.h"

/* A member of such a part, and its name in the chat's. */
struct member {
    const char *from, *to;
    bool content; /* an address, or content as a data URL */
};

/* {"type": type, type: {...}} of the members that are there. */
static bool translate(const struct json *part, const char *place, const char *type,
                      const struct member *members, struct json *parts, struct fault *fault)
{
    struct json *object = json_new_object(), *copy = json_new_object();
    bool ok = true, some = false;
    for (; ok && members->from; members++) {
        char at[CHAT_BUILD_PLACE_BYTES];
        struct td_str text;
        if (json_absent(json_get(part, members->from)))
            continue;
        chat_build_place(at, "%s.%s", place, members->from);
        ok = chat_build_text(part, place, members->from, &text, fault) &&
             (!members->content || media_check_url(text, at, fault));
        some = some || members->content || strcmp(members->to, "file_id") == 0;
        json_put(object, members->to, json_new_text(text));
    }
    if (ok && !some)
        ok = fault_request(fault, place, "%s has neither content nor a file's id", place);
    if (!ok) {
        json_free(object);
        json_free(copy);
        return false;
    }
    json_put(copy, "type", json_new_cstr(type));
    json_put(copy, type, object);
    return chat_build_push(parts, copy, fault);
}

bool responses_media_image(const struct json *part, const char *place, struct json *parts,
                           struct fault *fault)
{
    static const struct member members[] = {
        {"image_url", "url", true}, {"detail", "detail", false}, {NULL, NULL, false}};
    static const struct member file[] = {{"file_id", "file_id", false}, {NULL, NULL, false}};
    if (json_absent(json_get(part, "image_url")) && !json_absent(json_get(part, "file_id")))
        return translate(part, place, "file", file, parts, fault);
    return translate(part, place, "image_url", members, parts, fault);
}

bool responses_media_file(const struct json *part, const char *place, struct json *parts,
                          struct fault *fault)
{
    /* A chat has no member for an address; servers that take one expect it as the content. */
    static const struct member members[] = {{"file_url", "file_data", true},
                                            {"file_data", "file_data", true},
                                            {"file_id", "file_id", false},
                                            {"filename", "filename", false},
                                            {NULL, NULL, false}};
    return translate(part, place, "file", members, parts, fault);
}

bool responses_media_audio(const struct json *part, const char *place, struct json *parts,
                           struct fault *fault)
{
    const struct json *audio = json_get(part, "input_audio");
    char at[CHAT_BUILD_PLACE_BYTES];
    struct td_str data, format;
    chat_build_place(at, "%s.input_audio", place);
    if (!chat_build_text(audio, at, "data", &data, fault) ||
        !chat_build_text(audio, at, "format", &format, fault))
        return false;
    chat_build_place(at, "%s.input_audio.data", place);
    return media_check_base64(data, at, fault) && chat_build_push(parts, json_clone(part), fault);
}
