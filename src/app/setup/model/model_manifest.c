#include "app/setup/model/model_manifest.h"

#include "base/bytes/path.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"

#include <stdio.h>

#define HEAD STR("{\"manifest\":")
#define KEY_HEAD STR(",\n\"public_key\":\"")
#define SIGNATURE_HEAD STR("\",\n\"signature\":\"")
#define TAIL STR("\"}\n")
#define SIGNATURE_DIGITS (2 * CRYPTO_SIGNATURE_BYTES)

enum td_status model_manifest_sign(const struct json *body, const struct crypto_signer *signer,
                                   const char *key, struct buf *out, struct td_error *err)
{
    struct buf message;
    uint8_t signature[CRYPTO_SIGNATURE_BYTES];
    char digits[SIGNATURE_DIGITS + 1];
    const size_t domain = sizeof MODEL_MANIFEST_DOMAIN - 1;
    buf_init(&message, MODEL_MANIFEST_BYTES_MAX);
    buf_append(&message, MODEL_MANIFEST_DOMAIN, domain);
    json_write(body, &message);
    enum td_status status =
        message.failed ? error_set(err, TD_LIMIT, "the manifest is over %zu bytes or memory ended",
                                   MODEL_MANIFEST_BYTES_MAX)
                       : crypto_signer_sign(signer, buf_view(&message), signature, err);
    if (status == TD_OK) {
        crypto_hex(signature, sizeof signature, digits);
        buf_append_str(out, HEAD);
        buf_append_str(out, str_slice(buf_view(&message), domain, message.len));
        buf_append_str(out, KEY_HEAD);
        buf_append_str(out, str_from(key));
        buf_append_str(out, SIGNATURE_HEAD);
        buf_append_str(out, str_from(digits));
        buf_append_str(out, TAIL);
        if (out->failed)
            status = error_set(err, TD_NO_MEMORY, "no memory for the manifest");
    }
    buf_deinit(&message);
    return status;
}

/* Takes `part` off the end of *text. */
static bool take_end(struct td_str *text, struct td_str part)
{
    if (!str_ends_with(*text, part))
        return false;
    *text = str_slice(*text, 0, text->len - part.len);
    return true;
}

/* Takes `len` bytes that are `2 * size` hex digits. */
static bool take_digits(struct td_str *text, uint8_t *out, size_t size, struct td_str *digits)
{
    if (text->len < 2 * size)
        return false;
    *digits = str_slice(*text, text->len - 2 * size, text->len);
    *text = str_slice(*text, 0, text->len - 2 * size);
    return crypto_unhex(*digits, out, size);
}

/* What is signed, the key and the signature. */
static bool divide(struct td_str text, struct td_str *body,
                   uint8_t key[static CRYPTO_SIGN_KEY_BYTES],
                   uint8_t signature[static CRYPTO_SIGNATURE_BYTES],
                   char digits[static SIGN_KEY_DIGITS + 1])
{
    struct td_str part;
    bool ok = str_starts_with(text, HEAD) && take_end(&text, TAIL) &&
              take_digits(&text, signature, CRYPTO_SIGNATURE_BYTES, &part) &&
              take_end(&text, SIGNATURE_HEAD) &&
              take_digits(&text, key, CRYPTO_SIGN_KEY_BYTES, &part);
    if (ok)
        snprintf(digits, SIGN_KEY_DIGITS + 1, STR_FMT, STR_ARG(part));
    if (!ok || !take_end(&text, KEY_HEAD) || text.len < HEAD.len)
        return false;
    *body = str_slice(text, HEAD.len, text.len);
    return true;
}

static bool is_signed(struct td_str body, const uint8_t key[static CRYPTO_SIGN_KEY_BYTES],
                      const uint8_t signature[static CRYPTO_SIGNATURE_BYTES])
{
    struct buf message;
    buf_init(&message, MODEL_MANIFEST_BYTES_MAX + sizeof MODEL_MANIFEST_DOMAIN);
    buf_append(&message, MODEL_MANIFEST_DOMAIN, sizeof MODEL_MANIFEST_DOMAIN - 1);
    buf_append_str(&message, body);
    bool ok = !message.failed && crypto_sign_verify(key, buf_view(&message), signature);
    buf_deinit(&message);
    return ok;
}

enum td_status model_manifest_read(struct td_str text, struct model_manifest *out,
                                   struct td_error *err)
{
    uint8_t key[CRYPTO_SIGN_KEY_BYTES], signature[CRYPTO_SIGNATURE_BYTES];
    struct td_str body;
    uint8_t hash[CRYPTO_SHA256_BYTES];
    *out = (struct model_manifest){.bytes = -1};
    if (text.len > MODEL_MANIFEST_BYTES_MAX || !divide(text, &body, key, signature, out->key))
        return error_set(err, TD_CORRUPT, "it is no manifest of a model");
    if (!is_signed(body, key, signature))
        return error_set(err, TD_DENIED, "its signature is not that of its words: it was changed");
    enum td_status status = json_parse(text, &out->root, err);
    if (status != TD_OK)
        return TD_CORRUPT;
    out->body = json_get(out->root, "manifest");
    const struct json *model = json_get(out->body, "model");
    struct td_str sha256 = json_text(json_get(model, "sha256"));
    out->bytes = json_int(json_get(model, "bytes"), -1);
    if (!str_equal(json_text(json_get(out->body, "format")), STR(MODEL_MANIFEST_FORMAT)) ||
        !crypto_unhex(sha256, hash, sizeof hash) || out->bytes < 0)
        return error_set(err, TD_CORRUPT, "it is a manifest of another kind or version");
    snprintf(out->sha256, sizeof out->sha256, STR_FMT, STR_ARG(sha256));
    return TD_OK;
}

void model_manifest_deinit(struct model_manifest *manifest)
{
    json_free(manifest->root);
    manifest->root = NULL;
    manifest->body = NULL;
}

enum td_status model_manifest_path(const char *model_path,
                                   char out[static MODEL_MANIFEST_PATH_BYTES], struct td_error *err)
{
    return path_format(out, MODEL_MANIFEST_PATH_BYTES, err, "%s" MODEL_MANIFEST_ENDING, model_path);
}

enum td_status model_manifest_load(const char *model_path, struct model_manifest *out,
                                   struct td_error *err)
{
    char path[MODEL_MANIFEST_PATH_BYTES];
    struct buf text;
    *out = (struct model_manifest){.bytes = -1};
    buf_init(&text, MODEL_MANIFEST_BYTES_MAX);
    enum td_status status = model_manifest_path(model_path, path, err);
    if (status == TD_OK)
        status = buf_read_file(&text, path, err);
    if (status == TD_OK) {
        status = model_manifest_read(buf_view(&text), out, err);
        error_prefix(err, "%s", path);
    }
    buf_deinit(&text);
    return status;
}

bool model_manifest_is_key_of(const char *folder, const char *key)
{
    char path[MODEL_MANIFEST_PATH_BYTES];
    struct buf text;
    buf_init(&text, 4096);
    bool same = path_join(path, sizeof path, folder, "key.pub", NULL) == TD_OK &&
                buf_read_file(&text, path, NULL) == TD_OK &&
                str_equal(str_trim(buf_view(&text)), str_from(key));
    buf_deinit(&text);
    return same;
}
