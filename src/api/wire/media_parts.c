/* One table says what each type of part holds and where. Content that is a text, by its type or by
 * its first bytes, is left to the scanner of privacy, which reads base64. All other content is a
 * payload. */
#include "api/wire/media_parts.h"

#include "base/core/assertion.h"
#include "base/core/str.h"
#include "base/text/utf8.h"

#include <stdio.h>

#define PLACE_BYTES 192
#define TYPE_BYTES_MAX 127
#define URL_BYTES_MAX 8192
#define BEGIN_CHARACTERS 192 /* of base64, by which a text is known */
/* Rough, and rather too many: by them a context's limit is checked and a price is estimated. */
#define IMAGE_TOKENS 1000u
#define AUDIO_BYTES_A_TOKEN 512u
#define FILE_BYTES_A_TOKEN 64u

/* What the member with the content may be. */
enum content { CONTENT_URL, CONTENT_BASE64, CONTENT_EITHER };

static const struct media_kind {
    const char *type; /* and the name of its object */
    enum request_media_kind kind;
    const char *member, *otherwise; /* otherwise: may stand instead of the content; or NULL */
    bool elsewhere;                 /* that is an address */
    enum content content;
    const char *needs; /* a further text, or NULL */
    uint32_t tokens, bytes_a_token;
} media_kinds[] = {
    {"image_url", REQUEST_IMAGE, "url", NULL, false, CONTENT_URL, NULL, IMAGE_TOKENS, 0},
    {"input_audio", REQUEST_AUDIO, "data", "url", true, CONTENT_BASE64, "format", 0,
     AUDIO_BYTES_A_TOKEN},
    {"audio_url", REQUEST_AUDIO, "url", NULL, false, CONTENT_URL, NULL, 0, AUDIO_BYTES_A_TOKEN},
    /* Few servers take films, and no word of the configuration says which: those that take files
     * are asked. */
    {"input_video", REQUEST_FILE, "data", "url", true, CONTENT_BASE64, NULL, 0, FILE_BYTES_A_TOKEN},
    {"video_url", REQUEST_FILE, "url", NULL, false, CONTENT_URL, NULL, 0, FILE_BYTES_A_TOKEN},
    {"file", REQUEST_FILE, "file_data", "file_id", false, CONTENT_EITHER, NULL, 0,
     FILE_BYTES_A_TOKEN},
};

static const struct media_kind *find(const char *type)
{
    for (size_t i = 0; i < sizeof media_kinds / sizeof *media_kinds; i++)
        if (type && strcmp(media_kinds[i].type, type) == 0)
            return &media_kinds[i];
    return NULL;
}

bool media_part_is(const char *type)
{
    return find(type) != NULL;
}

/* --- texts --- */

static bool is_alphanumeric(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_base64(struct td_str text)
{
    if (text.len == 0 || text.len % 4 != 0)
        return false;
    for (int i = 0; i < 2 && text.data[text.len - 1] == '='; i++)
        text.len--;
    for (size_t i = 0; i < text.len; i++)
        if (!is_alphanumeric(text.data[i]) && text.data[i] != '+' && text.data[i] != '/')
            return false;
    return true;
}

bool media_check_base64(struct td_str text, const char *place, struct fault *fault)
{
    return is_base64(text) ||
           fault_request(fault, place, "%s must be base64 with its padding, on one line", place);
}

/* RFC 6838, with one slash. No parameters: they could hold anything. */
static bool is_type(struct td_str type)
{
    size_t slash = str_find(type, STR("/"), 0);
    if (type.len > TYPE_BYTES_MAX || slash == SIZE_MAX || slash == 0 || slash + 1 == type.len)
        return false;
    for (size_t i = 0; i < type.len; i++)
        if (i != slash && !is_alphanumeric(type.data[i]) &&
            (type.data[i] == '\0' || !strchr("!#$&^_.+-", type.data[i])))
            return false;
    return true;
}

bool media_check_type(struct td_str type, const char *place, struct fault *fault)
{
    return is_type(type) ||
           fault_request(fault, place, "%s must be a media type such as image/png", place);
}

static bool has_prefix(struct td_str text, struct td_str prefix)
{
    return str_equal_nocase(str_slice(text, 0, prefix.len), prefix);
}

/* The parts of "data:TYPE;base64,CONTENT"; false where it is something else. */
static bool split_data_url(struct td_str url, struct td_str *type, struct td_str *content)
{
    size_t begin = strlen("data:"), end = str_find(url, STR(";base64,"), begin);
    if (!has_prefix(url, STR("data:")) || end == SIZE_MAX)
        return false;
    *type = str_slice(url, begin, end);
    *content = str_slice(url, end + strlen(";base64,"), url.len);
    return is_type(*type) && is_base64(*content);
}

static bool is_address(struct td_str url)
{
    bool ok = has_prefix(url, STR("https://")) || has_prefix(url, STR("http://"));
    for (size_t i = 0; ok && i < url.len && i <= URL_BYTES_MAX; i++)
        ok = (unsigned char)url.data[i] > ' ' && url.data[i] != 0x7f;
    return ok && url.len <= URL_BYTES_MAX;
}

bool media_check_url(struct td_str url, const char *place, struct fault *fault)
{
    struct td_str type, content;
    return is_address(url) || split_data_url(url, &type, &content) ||
           fault_request(fault, place,
                         "%s must be data:TYPE;base64,CONTENT or an address with https, of at most "
                         "%d bytes",
                         place, URL_BYTES_MAX);
}

static int base64_value(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = strchr(digits, c);
    return at && c ? (int)(at - digits) : 0;
}

/* Whether its first bytes are those of a text: UTF-8 without control characters. */
static bool begins_as_text(struct td_str base64)
{
    char begin[BEGIN_CHARACTERS / 4 * 3];
    size_t count = 0;
    for (size_t i = 0; i + 4 <= base64.len && i < BEGIN_CHARACTERS; i += 4) {
        unsigned bits = 0;
        for (size_t c = 0; c < 4; c++)
            bits = bits << 6 | (unsigned)base64_value(base64.data[i + c]);
        for (int shift = 16; shift >= 0; shift -= 8)
            begin[count++] = (char)(bits >> shift);
    }
    for (size_t i = 0; i < count; i++)
        if ((unsigned char)begin[i] < ' ' && (!begin[i] || !strchr("\t\n\f\r", begin[i])))
            return false;
    return utf8_valid_prefix((struct td_str){begin, count}) + 3 >= count;
}

/* Can detectors read it? A text may be called an image, so its type alone does not decide. */
static bool is_readable(struct td_str text)
{
    static const char *const types[] = {"text/", "application/json", "application/xml"};
    struct td_str type, content;
    if (is_address(text))
        return true;
    if (!split_data_url(text, &type, &content))
        return begins_as_text(text);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (has_prefix(type, str_from(types[i])))
            return true;
    return begins_as_text(content);
}

/* --- parts --- */

static bool add_payload(struct td_str text, const char *place, struct arena *arena,
                        struct request_media *out, struct fault *fault)
{
    struct td_str *list = (struct td_str *)(uintptr_t)out->payloads;
    if (is_readable(text) || text.len < REQUEST_PAYLOAD_BYTES_MIN)
        return true;
    if (out->payload_count == REQUEST_MEDIA_MAX)
        return fault_request(fault, place, "a request may have %d images, recordings and files",
                             REQUEST_MEDIA_MAX);
    if (!list)
        list = arena_alloc_array(arena, REQUEST_MEDIA_MAX, sizeof *list);
    if (!list)
        return fault_request(fault, place, "the content is larger than this server accepts");
    list[out->payload_count++] = text;
    out->payloads = list;
    return true;
}

static bool read_text(const struct json *object, const char *place, const char *name, char *at,
                      struct td_str *out, struct fault *fault)
{
    const struct json *value = json_get(object, name);
    snprintf(at, PLACE_BYTES, "%s.%s", place, name);
    *out = json_text(value);
    return out->len > 0 || fault_request(fault, at, "%s must be a string, and not empty", at);
}

static bool check_content(const struct media_kind *kind, struct td_str text, const char *at,
                          struct fault *fault)
{
    if (kind->content == CONTENT_BASE64 || (kind->content == CONTENT_EITHER && is_base64(text)))
        return media_check_base64(text, at, fault);
    return media_check_url(text, at, fault);
}

static bool check_address(struct td_str text, const char *place, const char *name,
                          struct fault *fault)
{
    char at[PLACE_BYTES + 16];
    snprintf(at, sizeof at, "%s.%s", place, name);
    return is_address(text) ||
           fault_request(fault, at, "%s must be an address with https, of at most %d bytes", at,
                         URL_BYTES_MAX);
}

/* The part's own object, and its content unless something stands instead of it. */
static bool read_content(const struct media_kind *kind, const struct json *object,
                         const char *place, struct td_str *content, struct fault *fault)
{
    char at[PLACE_BYTES];
    struct td_str more;
    *content = (struct td_str){NULL, 0};
    if (json_kind_of(object) != JSON_KIND_OBJECT)
        return fault_request(fault, place, "%s must be an object, not %s", place,
                             json_kind_name(json_kind_of(object)));
    struct td_str other = json_text(kind->otherwise ? json_get(object, kind->otherwise) : NULL);
    if (other.len > 0 && json_absent(json_get(object, kind->member)))
        return !kind->elsewhere || check_address(other, place, kind->otherwise, fault);
    if (kind->needs && !read_text(object, place, kind->needs, at, &more, fault))
        return false;
    return read_text(object, place, kind->member, at, content, fault) &&
           check_content(kind, *content, at, fault);
}

bool media_part_read(const struct json *part, const char *place, struct arena *arena,
                     struct request_media *out, struct fault *fault)
{
    ASSERT(part && place && arena && out && fault);
    const struct media_kind *kind = find(json_cstr(json_get(part, "type")));
    char at[PLACE_BYTES];
    struct td_str content;
    ASSERT(kind);
    snprintf(at, sizeof at, "%s.%s", place, kind->type);
    if (!read_content(kind, json_get(part, kind->type), at, &content, fault) ||
        !add_payload(content, at, arena, out, fault))
        return false;
    size_t tokens = kind->tokens;
    if (kind->bytes_a_token)
        tokens += content.len / kind->bytes_a_token + 1;
    out->kinds |= kind->kind;
    out->tokens += tokens > UINT32_MAX - out->tokens ? UINT32_MAX - out->tokens : (uint32_t)tokens;
    return true;
}
