/* A manifest from beside a downloaded model: any bytes are refused with words, or are a manifest
 * with a hash and a size. The same bytes also as the signed words, by a key of this test. */
#include "app/setup/model/model_manifest.h"

#include "base/core/str.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use(struct td_str text)
{
    struct model_manifest manifest;
    struct td_error err = {0};
    enum td_status status = model_manifest_read(text, &manifest, &err);
    if ((status != TD_OK) != (*err.message != '\0') ||
        (status == TD_OK && (strlen(manifest.sha256) != 64 || manifest.bytes < 0)))
        abort();
    model_manifest_deinit(&manifest);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct crypto_signer *signer;
    static const uint8_t seed[CRYPTO_SIGN_KEY_BYTES] = {1};
    static const char key[] = "cecc1507dc1ddd7295951c290888f095adb9044d1b73d696e6df065d683bd4fc";
    const struct td_str text = {(const char *)data, size};
    struct json *body = NULL;
    struct buf made;
    use(text);
    if (!signer && crypto_signer_new(seed, &signer, NULL) != TD_OK)
        abort();
    if (json_parse(text, &body, NULL) != TD_OK)
        return 0;
    buf_init(&made, 2 * MODEL_MANIFEST_BYTES_MAX);
    if (model_manifest_sign(body, signer, key, &made, NULL) == TD_OK)
        use(buf_view(&made));
    buf_deinit(&made);
    json_free(body);
    return 0;
}
