/* Signed manifests of models: what was signed is read back, and any change is noticed. */
#include "app/setup/model/model_manifest.h"

#include "base/core/str.h"
#include "test.h"

static const uint8_t seed[CRYPTO_SIGN_KEY_BYTES] = {7, 1, 3};
#define SHA256 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static bool make(const char *body_text, struct buf *out)
{
    struct crypto_signer *signer = NULL;
    struct json *body = NULL;
    uint8_t key[CRYPTO_SIGN_KEY_BYTES];
    char digits[SIGN_KEY_DIGITS + 1];
    struct td_error err = {0};
    buf_init(out, MODEL_MANIFEST_BYTES_MAX);
    bool ok = crypto_signer_new(seed, &signer, &err) == TD_OK &&
              crypto_sign_public(seed, key, &err) == TD_OK &&
              json_parse(str_from(body_text), &body, &err) == TD_OK;
    for (size_t i = 0; ok && i < sizeof key; i++)
        snprintf(digits + 2 * i, 3, "%02x", key[i]);
    ok = ok && model_manifest_sign(body, signer, digits, out, &err) == TD_OK;
    json_free(body);
    crypto_signer_free(signer);
    return ok;
}

static enum td_status read_text(struct td_str text)
{
    struct model_manifest manifest;
    struct td_error err = {0};
    enum td_status status = model_manifest_read(text, &manifest, &err);
    if ((status != TD_OK) == (*err.message == '\0'))
        status = TD_INTERNAL;
    model_manifest_deinit(&manifest);
    return status;
}

static const char good[] = "{\"format\":\"tandem-model-manifest\",\"model\":{\"bytes\":12,"
                           "\"sha256\":\"" SHA256 "\"},\"license\":\"mit\\n\\\"}\"}";

static void test_what_was_signed_is_read_back(void)
{
    struct buf text;
    struct model_manifest manifest;
    struct json *whole = NULL;
    REQUIRE(make(good, &text));
    REQUIRE(model_manifest_read(buf_view(&text), &manifest, NULL) == TD_OK);
    CHECK(manifest.bytes == 12 && strcmp(manifest.sha256, SHA256) == 0);
    CHECK(str_equal(json_text(json_get(manifest.body, "license")), STR("mit\n\"}")));
    model_manifest_deinit(&manifest);
    CHECK(json_parse(buf_view(&text), &whole, NULL) == TD_OK);
    json_free(whole);
    buf_deinit(&text);
}

static void test_every_changed_byte_is_noticed(void)
{
    struct buf text;
    REQUIRE(make(good, &text));
    for (size_t i = 0; i < text.len; i++) {
        text.data[i] ^= 1;
        CHECK(read_text(buf_view(&text)) == TD_DENIED || read_text(buf_view(&text)) == TD_CORRUPT);
        text.data[i] ^= 1;
    }
    for (size_t i = 0; i < text.len; i++)
        CHECK(read_text((struct td_str){text.data, i}) == TD_CORRUPT);
    CHECK(read_text(buf_view(&text)) == TD_OK);
    buf_deinit(&text);
}

static void test_signed_words_that_are_no_manifest_are_refused(void)
{
    static const char *const bodies[] = {
        "{}",
        "{\"format\":\"tandem-model-manifest\"}",
        "{\"format\":\"other\",\"model\":{\"bytes\":1,\"sha256\":\"" SHA256 "\"}}",
        "{\"format\":\"tandem-model-manifest\",\"model\":{\"bytes\":-1,\"sha256\":\"" SHA256 "\"}}",
        "{\"format\":\"tandem-model-manifest\",\"model\":{\"bytes\":1,\"sha256\":\"abc\"}}",
        "{\"format\":\"tandem-model-manifest\",\"model\":[]}",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct buf text;
        REQUIRE(make(bodies[i], &text));
        CHECK(read_text(buf_view(&text)) == TD_CORRUPT);
        buf_deinit(&text);
    }
    CHECK(read_text(STR("")) == TD_CORRUPT && read_text(STR("{\"manifest\":")) == TD_CORRUPT);
}

int main(void)
{
    RUN(test_what_was_signed_is_read_back);
    RUN(test_every_changed_byte_is_noticed);
    RUN(test_signed_words_that_are_no_manifest_are_refused);
    return test_finish();
}
