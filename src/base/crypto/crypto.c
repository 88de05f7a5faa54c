/* OpenSSL's digests and random numbers behind our own types, so that no OpenSSL type leaves this
 * folder. What cannot fail with valid arguments is asserted, because a caller could do nothing
 * about it. */
#include "base/crypto/crypto.h"

#include "base/core/ascii.h"
#include "base/core/assertion.h"
#include "base/core/error.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

static pthread_once_t found = PTHREAD_ONCE_INIT;
static EVP_MD *sha256;

static void find_sha256(void)
{
    sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
}

/* OpenSSL looks an algorithm up anew with each use of EVP_sha256, which takes longer than to hash a
 * line. It is looked up once, and kept for the life of the process. */
static const EVP_MD *get_sha256(void)
{
    pthread_once(&found, find_sha256);
    return sha256 ? sha256 : EVP_sha256();
}

void crypto_sha256(const void *data, size_t len, uint8_t out[static CRYPTO_SHA256_BYTES])
{
    ASSERT(data != NULL || len == 0);
    int ok = EVP_Digest(data, len, out, NULL, get_sha256(), NULL);
    ASSERT(ok == 1); /* fails only without memory for a context of fixed size */
    (void)ok;
}

/* Never defined: a pointer to it is a pointer to OpenSSL's context under another name. */
struct crypto_sha256 *crypto_sha256_begin(void)
{
    EVP_MD_CTX *state = EVP_MD_CTX_new();
    if (state && EVP_DigestInit_ex(state, get_sha256(), NULL) != 1) {
        EVP_MD_CTX_free(state);
        state = NULL;
    }
    return (struct crypto_sha256 *)state;
}

void crypto_sha256_feed(struct crypto_sha256 *hash, const void *data, size_t len)
{
    int ok = EVP_DigestUpdate((EVP_MD_CTX *)hash, data, len);
    ASSERT(ok == 1); /* cannot fail between begin and end */
    (void)ok;
}

void crypto_sha256_end(struct crypto_sha256 *hash, uint8_t out[static CRYPTO_SHA256_BYTES])
{
    unsigned int len = 0;
    int ok = EVP_DigestFinal_ex((EVP_MD_CTX *)hash, out, &len);
    ASSERT(ok == 1 && len == CRYPTO_SHA256_BYTES);
    (void)ok;
    EVP_MD_CTX_free((EVP_MD_CTX *)hash);
}

void crypto_hex(const uint8_t *data, size_t len, char *out)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < len; i++) {
        out[2 * i] = digits[data[i] >> 4];
        out[2 * i + 1] = digits[data[i] & 15];
    }
    out[2 * len] = '\0';
}

/* Lower case only, so that bytes have exactly one spelling. */
static int hex_value(char c)
{
    return ascii_is_upper(c) ? -1 : ascii_hex_value(c);
}

bool crypto_unhex(struct td_str text, uint8_t *out, size_t len)
{
    ASSERT(out != NULL);
    if (text.len / 2 != len || text.len % 2 != 0)
        return false;
    for (size_t i = 0; i < len; i++) {
        int high = hex_value(text.data[2 * i]), low = hex_value(text.data[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        out[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

/* A request draws several ids, and each call of the generator takes a system call and more than a
 * microsecond, for few bytes as for many. So a thread draws ahead for what is short. What was
 * handed out is wiped, and a child process, which would otherwise give out its parent's numbers
 * again, begins anew. */
#define POOL_BYTES 512
#define POOL_PART_BYTES 32

static pthread_once_t watched = PTHREAD_ONCE_INIT;
static atomic_uint forks;
static _Thread_local struct {
    uint8_t bytes[POOL_BYTES];
    size_t used;
    unsigned forks;
    bool filled;
} pool;

static void count_fork(void)
{
    atomic_fetch_add_explicit(&forks, 1, memory_order_relaxed);
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, count_fork);
}

static bool random_from_pool(uint8_t *out, size_t len)
{
    pthread_once(&watched, watch_forks);
    const unsigned now = atomic_load_explicit(&forks, memory_order_relaxed);
    if (!pool.filled || pool.forks != now || len > sizeof pool.bytes - pool.used) {
        pool.filled = RAND_bytes(pool.bytes, sizeof pool.bytes) == 1;
        pool.forks = now;
        pool.used = 0;
    }
    if (!pool.filled)
        return false;
    memcpy(out, pool.bytes + pool.used, len);
    crypto_wipe(pool.bytes + pool.used, len);
    pool.used += len;
    return true;
}

enum td_status crypto_random(void *out, size_t len, struct td_error *err)
{
    ASSERT(out != NULL);
    const bool ok = len <= POOL_PART_BYTES ? random_from_pool(out, len)
                                           : len <= INT32_MAX && RAND_bytes(out, (int)len) == 1;
    return ok ? TD_OK
              : error_set(err, TD_INTERNAL, "the system's random numbers are not available");
}

bool crypto_equal(const void *a, const void *b, size_t len)
{
    return CRYPTO_memcmp(a, b, len) == 0;
}

void crypto_wipe(void *data, size_t len)
{
    OPENSSL_cleanse(data, len);
}

__attribute__((noinline)) void crypto_wipe_stack(void)
{
    char below[512 * 1024]; /* more than any of our threads uses; their stacks have 8 MB or more */
    OPENSSL_cleanse(below, sizeof below);
}
