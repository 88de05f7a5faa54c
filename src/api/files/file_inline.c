#include "api/files/file_inline.h"

#include "api/files/file_object.h"
#include "api/wire/openai_request.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "base/json/json.h"

#include <stdlib.h>
#include <unistd.h>

/* "file-" and 24 hexadecimal digits: what file_store.c makes. */
#define ID_PREFIX "file-"
#define ID_BYTES (sizeof ID_PREFIX - 1 + 24)

struct filling {
    struct file_store *store;
    const char *owner;
    size_t bytes_max, bytes; /* of all contents, in base64 */
    bool changed;
    struct fault *fault;
};

static bool is_own(struct td_str id)
{
    uint8_t random[12];
    return id.len == ID_BYTES && str_starts_with(id, STR(ID_PREFIX)) &&
           crypto_unhex(str_slice(id, sizeof ID_PREFIX - 1, id.len), random, sizeof random);
}

static void append_base64(struct td_str bytes, struct buf *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < bytes.len; i += 3) {
        size_t left = bytes.len - i;
        const unsigned char *in = (const unsigned char *)bytes.data + i;
        unsigned bits =
            (unsigned)in[0] << 16 | (left > 1 ? (unsigned)in[1] << 8 : 0) | (left > 2 ? in[2] : 0);
        const char four[4] = {digits[bits >> 18], digits[bits >> 12 & 63],
                              left > 1 ? digits[bits >> 6 & 63] : '=',
                              left > 2 ? digits[bits & 63] : '='};
        buf_append(out, four, 4);
    }
}

static bool read_all(struct filling *filling, const struct stored_file *file, struct buf *out)
{
    struct td_error err = {0};
    int fd = -1;
    char piece[65536];
    ssize_t len = -1;
    if (file_store_read(filling->store, file->id, &fd, &err) == TD_OK) {
        while ((len = read(fd, piece, sizeof piece)) > 0)
            buf_append(out, piece, (size_t)len);
        close(fd);
    }
    if (len == 0 && !out->failed && out->len == file->bytes)
        return true;
    fault_from_status(filling->fault, TD_IO, "a file could not be read", NULL);
    return false;
}

/* The contents in base64, after "data:TYPE;base64," where as_url. NULL with the fault. */
static struct json *content(struct filling *filling, const struct stored_file *file, bool as_url)
{
    struct buf bytes, text;
    uint64_t encoded = file->bytes / 3 * 4 + 4;
    if (encoded > filling->bytes_max - filling->bytes) {
        fault_set(filling->fault, 413, "invalid_request_error", "body_too_large",
                  "with its files the request is larger than server.body_bytes_max");
        return NULL;
    }
    filling->bytes += (size_t)encoded;
    buf_init(&bytes, (size_t)file->bytes + 1);
    buf_init(&text, (size_t)encoded + STORED_TYPE_BYTES + 32);
    struct json *value = NULL;
    if (read_all(filling, file, &bytes)) {
        if (as_url)
            buf_printf(&text, "data:%s;base64,",
                       *file->type ? file->type : "application/octet-stream");
        append_base64(buf_view(&bytes), &text);
        value = text.failed ? NULL : json_new_text(buf_view(&text));
        if (!value)
            fault_from_status(filling->fault, TD_NO_MEMORY, "no memory for a file", NULL);
    }
    buf_deinit(&bytes);
    buf_deinit(&text);
    filling->changed = true;
    return value;
}

/* The file that `object` names. False: none of this server's, or with the fault. */
static bool find(struct filling *filling, const struct json *object, struct stored_file *file)
{
    struct td_str id = json_text(json_get(object, "file_id"));
    if (!is_own(id))
        return false;
    if (file_store_find(filling->store, filling->owner, id, file))
        return true;
    fault_set(filling->fault, 404, "invalid_request_error", NULL, "No such File object: " STR_FMT,
              STR_ARG(id));
    memcpy(filling->fault->param, "file_id", sizeof "file_id");
    return false;
}

static void put(struct filling *filling, struct json *object, const char *name,
                const struct stored_file *file, bool named)
{
    struct json *value = content(filling, file, true);
    if (!value)
        return;
    json_remove(object, "file_id");
    json_put(object, name, value);
    if (named && json_absent(json_get(object, "filename")))
        json_put(object, "filename", json_new_cstr(file->name));
}

/* {"type": "file", "file_id"} of Anthropic's sources. */
static void put_source(struct filling *filling, struct json *source, const struct stored_file *file)
{
    struct json *value = content(filling, file, false);
    if (!value)
        return;
    json_remove(source, "file_id");
    json_put(source, "type", json_new_cstr("base64"));
    json_put(source, "media_type",
             json_new_cstr(*file->type ? file->type : "application/octet-stream"));
    json_put(source, "data", value);
}

static struct json *mutable(const struct json *value)
{
    return (struct json *)(uintptr_t)value; /* of the tree that file_inline owns */
}

/* One object: a content part of some dialect, or anything else. */
static void fill_part(struct filling *filling, const struct json *part)
{
    struct td_str type = json_text(json_get(part, "type"));
    const struct json *file = json_get(part, "file"), *source = json_get(part, "source");
    struct stored_file found;
    if (str_equal(type, STR("file")) && find(filling, file, &found))
        put(filling, mutable(file), "file_data", &found, true);
    else if (str_equal(type, STR("input_file")) && find(filling, part, &found))
        put(filling, mutable(part), "file_data", &found, true);
    else if (str_equal(type, STR("input_image")) && find(filling, part, &found))
        put(filling, mutable(part), "image_url", &found, false);
    else if (str_equal(json_text(json_get(source, "type")), STR("file")) &&
             find(filling, source, &found))
        put_source(filling, mutable(source), &found);
}

/* As deep as json_parse allows. */
static void fill(struct filling *filling, const struct json *value)
{
    void *at = NULL;
    const char *key;
    const struct json *member;
    if (filling->fault->code)
        return;
    if (json_kind_of(value) == JSON_KIND_ARRAY)
        for (size_t i = 0; i < json_count(value); i++)
            fill(filling, json_at(value, i));
    if (json_kind_of(value) != JSON_KIND_OBJECT)
        return;
    fill_part(filling, value);
    while (json_next(value, &at, &key, &member))
        fill(filling, member);
}

bool file_inline(struct file_store *store, const char *owner, struct td_str body, struct buf *out,
                 bool *changed, struct fault *fault)
{
    struct json *value = NULL;
    struct filling filling = {
        .store = store, .owner = owner, .bytes_max = out->bytes_max, .fault = fault};
    *changed = false;
    fault->code = 0;
    if (str_find(body, STR("\"file_id\""), 0) == SIZE_MAX ||
        openai_request_count_values(body) > OPENAI_VALUES_MAX ||
        json_parse(body, &value, NULL) != TD_OK) /* whoever reads it says what is wrong */
        return true;
    const char *const places[] = {"messages", "input", "system"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        fill(&filling, json_get(value, places[i]));
    *changed = filling.changed && !fault->code;
    if (*changed)
        json_write(value, out);
    json_free(value);
    if (out->failed && !fault->code)
        fault_set(fault, 413, "invalid_request_error", "body_too_large",
                  "with its files the request is larger than server.body_bytes_max");
    return !fault->code;
}

bool file_inline_request(const struct api *api, const struct http_request *request,
                         struct buf *filled, struct td_str *body, struct fault *fault)
{
    bool changed = false;
    *body = http_request_body(request);
    if (!api->host->files)
        return true;
    buf_init(filled, api->host->body_bytes_max);
    if (!file_inline(api->host->files, file_owner(&api->who), *body, filled, &changed, fault))
        return false;
    if (changed)
        *body = buf_view(filled);
    return true;
}
