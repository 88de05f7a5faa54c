/* HMAC against RFC 4231; AES-256-GCM against its own reader and against every changed bit. */
#include "test.h"

#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "base/crypto/keyed.h"

static void test_hmac_of_rfc_4231(void)
{
    uint8_t key[KEYED_KEY_BYTES] = {0}, mac[KEYED_MAC_BYTES];
    char hex[2 * KEYED_MAC_BYTES + 1];
    memset(key, 0x0b, 20); /* test case 1: HMAC pads keys with zeros */
    keyed_mac(key, "Hi There", 8, mac);
    crypto_hex(mac, sizeof mac, hex);
    CHECK(strcmp(hex, "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7") == 0);
}

/* The vectors of the reference implementation: key 00 01 .. 0f, input 00 01 .. */
static void test_short_hash_is_siphash_2_4_128(void)
{
    uint8_t key[KEYED_SHORT_KEY_BYTES], out[KEYED_SHORT_BYTES];
    char hex[2 * KEYED_SHORT_BYTES + 1];
    for (size_t i = 0; i < sizeof key; i++)
        key[i] = (uint8_t)i;
    keyed_short(key, key, 0, out);
    crypto_hex(out, sizeof out, hex);
    CHECK(strcmp(hex, "a3817f04ba25a8e66df67214c7550293") == 0);
    keyed_short(key, key, 1, out);
    crypto_hex(out, sizeof out, hex);
    CHECK(strcmp(hex, "da87c1d86b99af44347659119b22fc45") == 0);
}

static void test_what_was_sealed_opens_with_its_key_and_label_alone(void)
{
    uint8_t key[KEYED_KEY_BYTES] = {1, 2, 3}, other[KEYED_KEY_BYTES] = {1, 2, 4};
    struct buf sealed, opened;
    struct td_error err = {0};
    buf_init(&sealed, 4096);
    buf_init(&opened, 4096);
    REQUIRE(keyed_seal(key, STR("label"), STR("a private text"), &sealed, &err) == TD_OK);
    CHECK(sealed.len == 14 + 12 + 16);
    CHECK(str_find(buf_view(&sealed), STR("private"), 0) == SIZE_MAX);
    REQUIRE(keyed_open(key, STR("label"), buf_view(&sealed), &opened, &err) == TD_OK);
    CHECK(str_equal(buf_view(&opened), STR("a private text")));
    buf_clear(&opened);
    CHECK(keyed_open(other, STR("label"), buf_view(&sealed), &opened, &err) == TD_DENIED);
    CHECK(strstr(err.message, "key") != NULL && opened.len == 0);
    CHECK(keyed_open(key, STR("Label"), buf_view(&sealed), &opened, NULL) == TD_DENIED);
    for (size_t i = 0; i < sealed.len * 8; i++) {
        sealed.data[i / 8] ^= (char)(1 << i % 8);
        CHECK(keyed_open(key, STR("label"), buf_view(&sealed), &opened, NULL) == TD_DENIED);
        sealed.data[i / 8] ^= (char)(1 << i % 8);
    }
    for (size_t len = 0; len < sealed.len; len++)
        CHECK(keyed_open(key, STR("label"), str_slice(buf_view(&sealed), 0, len), &opened, NULL) !=
              TD_OK);
    CHECK(opened.len == 0);
    buf_deinit(&sealed);
    buf_deinit(&opened);
}

static void test_the_same_text_is_sealed_differently_each_time(void)
{
    uint8_t key[KEYED_KEY_BYTES] = {9};
    struct buf a, b;
    buf_init(&a, 4096);
    buf_init(&b, 4096);
    CHECK(keyed_seal(key, STR(""), STR(""), &a, NULL) == TD_OK && a.len == 28);
    CHECK(keyed_seal(key, STR(""), STR(""), &b, NULL) == TD_OK);
    CHECK(!str_equal(buf_view(&a), buf_view(&b)));
    buf_clear(&b);
    CHECK(keyed_open(key, STR(""), buf_view(&a), &b, NULL) == TD_OK && b.len == 0);
    buf_deinit(&a);
    buf_deinit(&b);
}

static void test_as_text_every_length_opens_and_every_changed_character_is_refused(void)
{
    static const char text[] = "a private text";
    const uint8_t key[KEYED_KEY_BYTES] = {1, 2, 3};
    struct buf sealed, opened;
    buf_init(&sealed, 4096);
    buf_init(&opened, 4096);
    for (size_t len = 0; len < sizeof text; len++) {
        const struct td_str part = {text, len};
        buf_clear(&sealed);
        buf_clear(&opened);
        REQUIRE(keyed_seal_text(key, STR("label"), part, &sealed, NULL) == TD_OK);
        CHECK(sealed.len == (len + 12 + 16 + 2) / 3 * 4 && strlen(sealed.data) == sealed.len);
        CHECK(keyed_open_text(key, STR("label"), buf_view(&sealed), &opened, NULL) == TD_OK);
        CHECK(str_equal(buf_view(&opened), part));
        buf_clear(&opened);
        /* The last characters may have bits that no byte has. */
        for (size_t i = 0; i < sealed.len - 4; i++) {
            static const char others[] = "AB \n\xff"; /* "=" is read as "A" */
            char was = sealed.data[i];
            for (size_t j = 0; j < sizeof others; j++) {
                sealed.data[i] = others[j];
                CHECK(was == others[j] || keyed_open_text(key, STR("label"), buf_view(&sealed),
                                                          &opened, NULL) != TD_OK);
            }
            sealed.data[i] = was;
        }
        for (size_t cut = 0; cut < sealed.len; cut++)
            CHECK(keyed_open_text(key, STR("label"), str_slice(buf_view(&sealed), 0, cut), &opened,
                                  NULL) != TD_OK);
        CHECK(opened.len == 0);
    }
    buf_deinit(&sealed);
    buf_deinit(&opened);
}

static void test_a_key_is_64_hexadecimal_digits_and_never_quoted(void)
{
    uint8_t key[KEYED_KEY_BYTES];
    struct td_error err = {0};
    CHECK(keyed_key_parse(STR("00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00Fe"),
                          key, &err) == TD_OK);
    CHECK(key[0] == 0 && key[1] == 0xff && key[31] == 0xfe);
    CHECK(keyed_key_parse(STR("secretsecretsecretsecretsecretsecretsecretsecretsecretsecretsecr"),
                          key, &err) == TD_INVALID);
    CHECK(strstr(err.message, "64") != NULL && strstr(err.message, "secret") == NULL);
    CHECK(keyed_key_parse(STR(""), key, NULL) == TD_INVALID);
}

int main(void)
{
    RUN(test_hmac_of_rfc_4231);
    RUN(test_short_hash_is_siphash_2_4_128);
    RUN(test_what_was_sealed_opens_with_its_key_and_label_alone);
    RUN(test_the_same_text_is_sealed_differently_each_time);
    RUN(test_as_text_every_length_opens_and_every_changed_character_is_refused);
    RUN(test_a_key_is_64_hexadecimal_digits_and_never_quoted);
    return test_finish();
}
