/* Addresses of cryptocurrencies, by their checksums: base58check (Bitcoin, Litecoin, Dogecoin,
 * Tron), bech32 and bech32m (BIP 173, BIP 350), and Ethereum's 20 bytes in hex. And strings that
 * are long and look drawn by lot. */
#include "privacy/detect/detect.h"

#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "privacy/text/entropy.h"

#include <string.h>

#define REACH 48 /* between "wallet" and an address that has no checksum: Solana's 32 bytes */
#define BASE58_BYTES 25 /* version, 20 bytes of hash, 4 of checksum */

static const char base58[] = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
static const char base58_ripple[] = "rpshnaf39wBUDNEGHJKLM4PQRST7VWXYZ2bcdeCg65jkm8oFqi1tuvAxyz";

static int base58_value(const char *digits, char c)
{
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

static bool base58check_holds(const char *digits, const char *text, size_t len)
{
    uint32_t limbs[7] = {0}; /* big-endian, 200 of the 224 bits are the address */
    uint8_t bytes[BASE58_BYTES];
    for (size_t i = 0; i < len; i++) {
        int digit = base58_value(digits, text[i]);
        if (digit < 0)
            return false;
        uint64_t carry = (uint64_t)digit;
        for (size_t k = 7; k-- > 0;) {
            carry += (uint64_t)limbs[k] * 58;
            limbs[k] = (uint32_t)carry;
            carry >>= 32;
        }
        if (carry != 0 || limbs[0] > 0xff)
            return false;
    }
    bytes[0] = (uint8_t)limbs[0];
    for (size_t i = 1; i < BASE58_BYTES; i++)
        bytes[i] = (uint8_t)(limbs[1 + (i - 1) / 4] >> (24 - (i - 1) % 4 * 8));
    /* version bytes: Bitcoin 0, 5; Litecoin 48, 50; Dogecoin 30, 22; Tron 65; test nets 111, 196 */
    static const uint8_t versions[] = {0, 5, 48, 50, 30, 22, 65, 111, 196};
    if (memchr(versions, bytes[0], sizeof versions) == NULL)
        return false;
    uint8_t once[CRYPTO_SHA256_BYTES], twice[CRYPTO_SHA256_BYTES];
    crypto_sha256(bytes, BASE58_BYTES - 4, once);
    crypto_sha256(once, sizeof once, twice);
    return memcmp(twice, bytes + BASE58_BYTES - 4, 4) == 0;
}

static uint32_t bech32_step(uint32_t sum, uint32_t value)
{
    static const uint32_t generators[] = {0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd,
                                          0x2a1462b3};
    uint32_t top = sum >> 25;
    sum = (sum & 0x1ffffff) << 5 ^ value;
    for (int i = 0; i < 5; i++)
        if (top >> i & 1)
            sum ^= generators[i];
    return sum;
}

static bool bech32_holds(struct td_str text)
{
    static const char digits[] = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
    static const char *const prefixes[] = {"bc", "tb", "ltc", "addr", "stake", "cosmos", NULL};
    size_t one = 0;
    for (size_t i = 0; prefixes[i] != NULL && one == 0; i++) {
        size_t len = strlen(prefixes[i]);
        if (text.len > len + 7 && text.data[len] == '1' &&
            str_equal_nocase(str_slice(text, 0, len), str_from(prefixes[i])))
            one = len;
    }
    if (one == 0)
        return false;
    uint32_t sum = 1;
    for (size_t i = 0; i < one; i++)
        sum = bech32_step(sum, (uint32_t)ascii_lower(text.data[i]) >> 5);
    sum = bech32_step(sum, 0);
    for (size_t i = 0; i < one; i++)
        sum = bech32_step(sum, (uint32_t)ascii_lower(text.data[i]) & 31);
    for (size_t i = one + 1; i < text.len; i++) {
        int c = ascii_lower(text.data[i]);
        const char *at = c ? strchr(digits, c) : NULL;
        if (at == NULL)
            return false;
        sum = bech32_step(sum, (uint32_t)(at - digits));
    }
    return sum == 1 || sum == 0x2bc830a3;
}

static bool is_ethereum(struct td_str text)
{
    if (text.len != 42 || text.data[0] != '0' || (text.data[1] | 0x20) != 'x')
        return false;
    unsigned differ = 0;
    for (size_t i = 2; i < text.len; i++) {
        if (!ascii_is_hex((unsigned char)text.data[i]))
            return false;
        differ += text.data[i] != text.data[i - 1];
    }
    return differ > 10;
}

static bool is_base58(struct td_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (base58_value(base58, text.data[i]) < 0)
            return false;
    return entropy_classes(text) >= 3;
}

/* Base58 of 69 bytes in blocks, the first the network's: no other thing is written so long in it.
 */
static bool is_monero(struct td_str text)
{
    return (text.data[0] == '4' || text.data[0] == '8') && is_base58(text);
}

#define ETHEREUM_KEY_DIGITS 64

/* A private key of Ethereum has the form of any hash of 32 bytes, so a word must say what it is. */
static bool is_ethereum_key(const struct place *place, struct td_str word)
{
    static const char *const keys[] = {"private", "privkey", "priv",    "secret",
                                       "seed",    "wallet",  "signing", NULL};
    static const char *const hashes[] = {"hash",   "tx",    "sha",      "digest", "transaction",
                                         "public", "block", "checksum", NULL};
    size_t begin = word.len > 2 && (word.data[1] | 0x20) == 'x' ? 2 : 0;
    if (word.len - begin != ETHEREUM_KEY_DIGITS)
        return false;
    for (size_t i = begin; i < word.len; i++)
        if (!ascii_is_hex((unsigned char)word.data[i]))
            return false;
    return context_before(place->text, place->begin, REACH, keys) &&
           !context_before(place->text, place->begin, REACH, hashes);
}

static bool read_address(const struct place *place, struct privacy_span *out)
{
    size_t word_end = place->run_end;
    struct td_str word = str_slice(place->text, place->begin, word_end);
    if (word.len < 25 || word.len > 110 || is_word(place->before))
        return false;
    char first = (char)ascii_lower((unsigned char)word.data[0]);
    bool holds = word.len <= 35 && strchr("13lmdta29n", first) != NULL &&
                 base58check_holds(base58, word.data, word.len);
    if (!holds && word.len <= 35 && word.data[0] == 'r')
        holds = base58check_holds(base58_ripple, word.data, word.len);
    if (!holds && strchr("btlasc", first) != NULL)
        holds = bech32_holds(word);
    if (!holds && (word.len == 95 || word.len == 106))
        holds = is_monero(word);
    if (!holds && word.len >= 43 && word.len <= 44)
        holds = place_context(place, PRIVACY_CRYPTO, REACH) && is_base58(word);
    if (!holds && first == '0')
        holds = is_ethereum(word);
    if (!holds && is_ethereum_key(place, word)) {
        *out = span_of(PRIVACY_PRIVATE_KEY, place->begin, word_end, 0.9f);
        return true;
    }
    if (!holds)
        return false;
    *out = (struct privacy_span){
        .kind = PRIVACY_CRYPTO, .begin = place->begin, .end = word_end, .score = 1.0f};
    return true;
}

/* Half and more of it in words: "getUserAccountBalanceWithRetry100". In a random string one letter
 * in six stands in a row of three small ones. */
static bool is_made_of_words(const char *body, size_t len)
{
    size_t row = 0, in_words = 0;
    for (size_t i = 0; i < len; i++) {
        row = body[i] >= 'a' && body[i] <= 'z' ? row + 1 : 0;
        in_words += row == 3 ? 3 : row > 3;
    }
    return in_words * 2 >= len;
}

/* Secrets without a name or a known prefix: 32 to 128 base64 characters of all three classes with
 * the entropy of a random string of that length (base64 of 32: 4.4 bits; words, hashes in hex and
 * identifiers stay below 4.2). Data URLs and integrity hashes are announced as such. */
static bool read_random(const struct place *place, struct privacy_span *out)
{
    size_t word_end = place->run_end;
    static const char *const harmless[] = {"base64", "sha256", "sha384",    "sha512",
                                           "sha1",   "md5",    "integrity", NULL};
    char body[129];
    size_t len = 0, end = word_end;
    if (word_end - place->begin < 10 || place->before == '/' || place->before == '+' ||
        place->before == '.' || is_word(place->before))
        return false;
    for (size_t i = place->begin; i < place->text.len && len < sizeof body; i++) {
        unsigned char c = (unsigned char)place->text.data[i];
        if (!ascii_is_alnum(c) && c != '+' && c != '/' && c != '_' && c != '-' && c != '=')
            break;
        body[len++] = (char)c;
        end = i + 1;
    }
    while (len > 0 && (body[len - 1] == '-' || body[len - 1] == '/')) {
        len--;
        end--;
    }
    unsigned changes = 0, lower = 0, upper = 0, digits = 0;
    for (size_t i = 0; i < len; i++) {
        lower += body[i] >= 'a' && body[i] <= 'z';
        upper += body[i] >= 'A' && body[i] <= 'Z';
        digits += ascii_is_digit(body[i]);
        changes += i > 0 && (ascii_is_digit(body[i]) != ascii_is_digit(body[i - 1]) ||
                             (body[i] >= 'a') != (body[i - 1] >= 'a'));
    }
    if (len < 32 || len > 128 || lower < 6 || upper < 6 || digits < 3 || changes * 4 < len ||
        is_made_of_words(body, len) || entropy_bits_per_char((struct td_str){body, len}) < 4.2 ||
        context_before(place->text, place->begin, 12, harmless))
        return false;
    *out = (struct privacy_span){
        .kind = PRIVACY_API_KEY, .begin = place->begin, .end = end, .score = 0.6f};
    return true;
}

static bool find_crypto(const struct place *place, struct privacy_span *out)
{
    bool is_long = place->shape & WORD_25_ON;
    bool coded = (place->shape & WORD_HAS_DIGIT) && place->run_end - place->begin >= 10;
    if (place->run_end <= place->memory->decoded_end)
        return false; /* base64 of a text, so it is not drawn by lot */
    return (is_long && read_address(place, out)) || ((is_long || coded) && read_random(place, out));
}

const struct detector detector_crypto = {
    .kinds = {PRIVACY_CRYPTO, PRIVACY_API_KEY, PRIVACY_PRIVATE_KEY, KINDS_END},
    .triggers = ON(RUN),
    .any = WORD_25_ON | WORD_JOINT,
    .find = find_crypto,
};
