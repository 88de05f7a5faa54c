/* A block has a source: content in base64, an address, a file that the server has, or plain text.
 * One table says what may be the source of what. */
#include "api/dialects/messages/messages_media.h"

#include "api/wire/media_parts.h"
#include "base/bytes/buf.h"
#include "base/core/str.h"

#define CONTENT_BYTES_MAX ((size_t)256 << 20)

/* A source that is being read: what is found stands for the member in the fault. */
struct source {
    const struct json *value;
    char place[CHAT_BUILD_PLACE_BYTES];
    struct td_str type;
    struct fault *fault;
};

static bool open_source(const struct json *block, const char *place, struct source *out,
                        struct fault *fault)
{
    out->fault = fault;
    out->value = json_get(block, "source");
    chat_build_place(out->place, "%s.source", place);
    if (!chat_build_part_type(out->value, out->place, fault))
        return false;
    out->type = json_get_text(out->value, "type");
    return true;
}

static bool source_is(const struct source *source, const char *type)
{
    return str_equal(source->type, str_from(type));
}

static bool refuse_source(const struct source *source)
{
    char param[CHAT_BUILD_PLACE_BYTES];
    chat_build_place(param, "%s.type", source->place);
    return chat_build_unsupported(source->fault, param,
                                  "a source of type '%.40s' is not supported here",
                                  json_cstr(json_get(source->value, "type")));
}

/* NULL with the fault. */
static struct json *data_url(const struct source *source)
{
    struct td_str type, data;
    char at[CHAT_BUILD_PLACE_BYTES];
    if (!chat_build_text(source->value, source->place, "media_type", &type, source->fault) ||
        !chat_build_text(source->value, source->place, "data", &data, source->fault))
        return NULL;
    chat_build_place(at, "%s.media_type", source->place);
    if (!media_check_type(type, at, source->fault))
        return NULL;
    chat_build_place(at, "%s.data", source->place);
    if (!media_check_base64(data, at, source->fault))
        return NULL;
    struct buf url;
    buf_init(&url, CONTENT_BYTES_MAX);
    buf_printf(&url, "data:" STR_FMT ";base64,", STR_ARG(type));
    buf_append_str(&url, data);
    struct json *text = url.failed ? NULL : json_new_text(buf_view(&url));
    buf_deinit(&url);
    return text;
}

static struct json *address(const struct source *source)
{
    struct td_str url;
    char at[CHAT_BUILD_PLACE_BYTES];
    chat_build_place(at, "%s.url", source->place);
    if (!chat_build_text(source->value, source->place, "url", &url, source->fault) ||
        !media_check_url(url, at, source->fault))
        return NULL;
    return json_new_text(url);
}

/* {"type": type, type: object} */
static bool push_part(const char *type, struct json *object, struct json *parts,
                      struct fault *fault)
{
    struct json *part = json_new_object();
    json_put(part, "type", json_new_cstr(type));
    json_put(part, type, object);
    return chat_build_push(parts, part, fault);
}

/* A file that the server has under an id. */
static bool push_file_id(const struct source *source, struct json *parts)
{
    struct td_str id;
    struct json *object = json_new_object();
    if (!chat_build_text(source->value, source->place, "file_id", &id, source->fault)) {
        json_free(object);
        return false;
    }
    json_put(object, "file_id", json_new_text(id));
    return push_part("file", object, parts, source->fault);
}

/* content NULL: with the fault, or without memory. */
static bool push_content(const struct source *source, const char *type, const char *member,
                         struct td_str title, struct json *content, struct json *parts)
{
    if (!content && source->fault->code)
        return false;
    struct json *object = json_new_object();
    if (title.len > 0)
        json_put(object, "filename", json_new_text(title));
    json_put(object, member, content);
    return push_part(type, object, parts, source->fault);
}

bool messages_media_image(const struct json *block, const char *place, struct json *parts,
                          struct fault *fault)
{
    struct source source;
    const struct td_str untitled = {NULL, 0};
    if (!open_source(block, place, &source, fault))
        return false;
    if (source_is(&source, "file"))
        return push_file_id(&source, parts);
    if (source_is(&source, "base64"))
        return push_content(&source, "image_url", "url", untitled, data_url(&source), parts);
    if (source_is(&source, "url"))
        return push_content(&source, "image_url", "url", untitled, address(&source), parts);
    return refuse_source(&source);
}

static bool push_text(struct td_str text, struct json *parts, struct fault *fault)
{
    struct json *part = json_new_object();
    json_put(part, "type", json_new_cstr("text"));
    json_put(part, "text", json_new_text(text));
    return chat_build_push(parts, part, fault);
}

/* What a document says about itself goes before it; as text, it is read like any other. */
static bool push_heading(const struct json *block, const char *place, const char *name,
                         struct json *parts, struct fault *fault)
{
    struct td_str text;
    if (json_absent(json_get(block, name)))
        return true;
    return chat_build_text(block, place, name, &text, fault) && push_text(text, parts, fault);
}

/* A document of texts and images. */
static bool push_blocks(const struct source *source, struct json *parts)
{
    static const struct chat_build_kind kinds[] = {
        {"text", chat_build_text_part}, {"image", messages_media_image}, {NULL, NULL}};
    const struct json *content = json_get(source->value, "content");
    char at[CHAT_BUILD_PLACE_BYTES];
    chat_build_place(at, "%s.content", source->place);
    struct json *blocks = chat_build_plain(content, at, kinds, source->fault);
    bool ok = blocks != NULL;
    if (ok && json_kind_of(blocks) == JSON_KIND_TEXT)
        ok = push_text(json_text(blocks), parts, source->fault);
    for (size_t i = 0; ok && i < json_count(blocks); i++)
        ok = chat_build_push(parts, json_clone(json_at(blocks, i)), source->fault);
    json_free(blocks);
    return ok;
}

static bool push_document(const struct source *source, struct td_str title, struct json *parts)
{
    struct td_str text;
    if (source_is(source, "base64"))
        return push_content(source, "file", "file_data", title, data_url(source), parts);
    if (source_is(source, "url"))
        return push_content(source, "file", "file_data", title, address(source), parts);
    if (source_is(source, "file"))
        return push_file_id(source, parts);
    if (source_is(source, "content"))
        return push_blocks(source, parts);
    if (source_is(source, "text"))
        return chat_build_text(source->value, source->place, "data", &text, source->fault) &&
               push_text(text, parts, source->fault);
    return refuse_source(source);
}

bool messages_media_document(const struct json *block, const char *place, struct json *parts,
                             struct fault *fault)
{
    struct source source;
    char at[CHAT_BUILD_PLACE_BYTES];
    if (!open_source(block, place, &source, fault))
        return false;
    chat_build_place(at, "%s.citations", place);
    if (json_bool(json_get(json_get(block, "citations"), "enabled"), false))
        return chat_build_unsupported(fault, at, "citations are not supported: no answer has them");
    /* Servers want a name for a file; the title is the best there is. */
    bool named = source_is(&source, "base64") || source_is(&source, "url");
    struct td_str title = json_get_text(block, "title");
    return (named || push_heading(block, place, "title", parts, fault)) &&
           push_heading(block, place, "context", parts, fault) &&
           push_document(&source, named && title.len == 0 ? STR("document") : title, parts);
}
