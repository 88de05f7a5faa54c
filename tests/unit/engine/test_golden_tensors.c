/* Every tensor of the golden files, read through the GGUF directory and dequantised row by row,
 * against hashes of the same from another implementation (golden/dequant/ of the shared data). */
#include "base/crypto/crypto.h"
#include "base/json/json.h"
#include "engine/gguf/gguf.h"
#include "shared_data.h"
#include "test.h"

static const struct json *current;

static bool golden_path(char *out, size_t size, const char *name)
{
    char relative[256];
    snprintf(relative, sizeof relative, "golden/%s", name ? name : "");
    return shared_path(out, size, relative);
}

/* SHA-256 of the little-endian floats of a whole tensor, in hexadecimal. */
static void hash_tensor(const struct gguf_tensor *tensor, char out[2 * CRYPTO_SHA256_BYTES + 1])
{
    const struct tensor_traits *traits = tensor_traits_get(tensor->type);
    const uint8_t *from = tensor->data;
    size_t blocks = tensor->bytes / traits->block_bytes, cols = (size_t)tensor->dims[0];
    size_t count = blocks * traits->block_elements;
    size_t row_bytes = cols / traits->block_elements * traits->block_bytes;
    uint8_t hash[CRYPTO_SHA256_BYTES];
    float *values = malloc(count * sizeof *values);
    if (values == NULL)
        abort();
    for (size_t at = 0; at < count; at += cols, from += row_bytes)
        kernels_get(TD_CPU_AUTO, NULL)
            ->dequantize((enum tensor_type)tensor->type, from, cols, values + at);
    crypto_sha256(values, count * sizeof *values, hash);
    for (size_t i = 0; i < sizeof hash; i++)
        snprintf(out + 2 * i, 3, "%02x", hash[i]);
    free(values);
}

static void check_tensor(const struct gguf_tensor *tensor, const struct json *hashes)
{
    char name[128], hash[2 * CRYPTO_SHA256_BYTES + 1];
    snprintf(name, sizeof name, "%.*s", (int)tensor->name.len, tensor->name.data);
    const char *expected = json_cstr(json_get(json_get(hashes, name), "sha256_gguf_py"));
    hash_tensor(tensor, hash);
    CHECK(expected != NULL && strcmp(hash, expected) == 0);
}

static enum td_status read_json(const char *path, struct json **out, struct td_error *err)
{
    struct buf text;
    buf_init(&text, 16 << 20);
    enum td_status status = buf_read_file(&text, path, err);
    if (status == TD_OK)
        status = json_parse(buf_view(&text), out, err);
    buf_deinit(&text);
    return status;
}

static void test_every_tensor_of_the_file_dequantizes_to_the_bit(void)
{
    char path[512];
    struct gguf *gguf = NULL;
    struct json *hashes = NULL;
    struct td_error err = {0};
    REQUIRE(golden_path(path, sizeof path, json_cstr(json_get(current, "hashes"))));
    REQUIRE(read_json(path, &hashes, &err) == TD_OK);
    CHECK(golden_path(path, sizeof path, json_cstr(json_get(current, "model"))));
    CHECK(gguf_open(path, false, &gguf, &err) == TD_OK);
    CHECK(gguf != NULL && gguf_tensor_count(gguf) == json_count(hashes));
    for (size_t i = 0; gguf != NULL && i < gguf_tensor_count(gguf); i++)
        check_tensor(gguf_tensor_at(gguf, i), hashes);
    gguf_close(gguf);
    json_free(hashes);
}

int main(void)
{
    char path[512];
    struct json *index = NULL;
    struct td_error err = {0};
    if (!golden_path(path, sizeof path, "index.json")) {
        SKIP("golden tensors", "no golden data ($TANDEM_SHARED)");
        return test_finish();
    }
    if (read_json(path, &index, &err) != TD_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    const struct json *cases = json_get(index, "cases");
    for (size_t i = 0; i < json_count(cases); i++) {
        current = json_at(cases, i);
        if (json_get(current, "hashes") == NULL)
            continue;
        int failed = test_failures();
        RUN(test_every_tensor_of_the_file_dequantizes_to_the_bit);
        if (test_failures() != failed)
            fprintf(stderr, "  in %s\n", json_cstr(json_get(current, "name")));
    }
    json_free(index);
    return test_finish();
}
