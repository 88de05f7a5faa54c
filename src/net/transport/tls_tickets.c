/* Session tickets save a client that comes back the costly half of a handshake. Whoever has a
 * ticket's key can read the sessions of TLS 1.2 that were resumed with it, so keys are replaced
 * after some hours and never written down. All loops share them, and a reload keeps them: a client
 * may come back to any of them. The one before is still believed for as long as it was used.
 *
 * A ticket says who the client's certificate was without checking it again. So whoever replaces the
 * authorities of clients drops the keys (tls_tickets_forget). */
#include "net/transport/tls_internal.h"

#include "base/crypto/crypto.h"
#include "base/time/clock.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <string.h>

#define USE_S_DEFAULT (6u * 3600)

static uint64_t now_ms(void)
{
    return clock_monotonic_ns(NULL) / 1000000 + 1; /* never 0 */
}

void tls_tickets_init(struct tls_tickets *tickets, uint32_t use_s)
{
    *tickets = (struct tls_tickets){.use_ms = (use_s ? use_s : USE_S_DEFAULT) * 1000ull};
    pthread_mutex_init(&tickets->lock, NULL);
}

void tls_tickets_deinit(struct tls_tickets *tickets)
{
    tls_tickets_forget(tickets);
    pthread_mutex_destroy(&tickets->lock);
}

void tls_tickets_forget(struct tls_tickets *tickets)
{
    pthread_mutex_lock(&tickets->lock);
    crypto_wipe(&tickets->now, sizeof tickets->now);
    crypto_wipe(&tickets->before, sizeof tickets->before);
    tickets->now.begun_ms = tickets->before.begun_ms = 0;
    pthread_mutex_unlock(&tickets->lock);
}

/* The key that makes tickets now. */
static bool current_locked(struct tls_tickets *tickets, struct tls_ticket_key *out)
{
    uint64_t now = now_ms();
    struct tls_ticket_key fresh;
    if (!tickets->now.begun_ms || now - tickets->now.begun_ms >= tickets->use_ms) {
        if (RAND_bytes(fresh.name, sizeof fresh.name) != 1 ||
            RAND_priv_bytes(fresh.cipher, sizeof fresh.cipher) != 1 ||
            RAND_priv_bytes(fresh.mac, sizeof fresh.mac) != 1)
            return false;
        fresh.begun_ms = now;
        tickets->before = tickets->now;
        tickets->now = fresh;
        crypto_wipe(&fresh, sizeof fresh);
    }
    *out = tickets->now;
    return true;
}

/* The key of this name; *old: the ticket is to be replaced. */
static bool find_locked(const struct tls_tickets *tickets, const uint8_t *name,
                        struct tls_ticket_key *out, bool *old)
{
    const struct tls_ticket_key *keys[] = {&tickets->now, &tickets->before};
    for (size_t i = 0; i < 2; i++) {
        uint64_t age_ms = now_ms() - keys[i]->begun_ms;
        if (!keys[i]->begun_ms || age_ms >= 2 * tickets->use_ms ||
            memcmp(keys[i]->name, name, sizeof keys[i]->name) != 0)
            continue;
        *out = *keys[i];
        *old = age_ms >= tickets->use_ms;
        return true;
    }
    return false;
}

static bool set_keys(const struct tls_ticket_key *key, const uint8_t *iv, EVP_CIPHER_CTX *cipher,
                     EVP_MAC_CTX *mac, int encrypts)
{
    char digest[] = "SHA256";
    uint8_t copy[sizeof key->mac];
    memcpy(copy, key->mac, sizeof copy);
    OSSL_PARAM params[] = {OSSL_PARAM_octet_string(OSSL_MAC_PARAM_KEY, copy, sizeof copy),
                           OSSL_PARAM_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
                           OSSL_PARAM_END};
    bool good =
        EVP_CipherInit_ex(cipher, EVP_aes_256_cbc(), NULL, key->cipher, iv, encrypts) == 1 &&
        EVP_MAC_CTX_set_params(mac, params) == 1;
    crypto_wipe(copy, sizeof copy);
    return good;
}

/* OpenSSL's protocol: -1 failure, 0 no ticket or not ours, 1 good, 2 good and to be replaced. */
static int on_ticket(SSL *ssl, unsigned char *name, unsigned char *iv, EVP_CIPHER_CTX *cipher,
                     EVP_MAC_CTX *mac, int encrypts)
{
    struct tls_tickets *tickets = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
    struct tls_ticket_key key;
    bool old = false;
    pthread_mutex_lock(&tickets->lock);
    bool found = encrypts ? current_locked(tickets, &key) : find_locked(tickets, name, &key, &old);
    pthread_mutex_unlock(&tickets->lock);
    if (!found)
        return encrypts ? -1 : 0;
    if (encrypts)
        memcpy(name, key.name, sizeof key.name);
    bool good = (!encrypts || RAND_bytes(iv, EVP_CIPHER_get_iv_length(EVP_aes_256_cbc())) == 1) &&
                set_keys(&key, iv, cipher, mac, encrypts);
    crypto_wipe(&key, sizeof key);
    return !good ? -1 : old ? 2 : 1;
}

void tls_tickets_attach(struct tls_tickets *tickets, SSL_CTX *context)
{
    SSL_CTX_set_app_data(context, tickets);
    SSL_CTX_set_tlsext_ticket_key_evp_cb(context, on_ticket);
    SSL_CTX_set_timeout(context, (long)(tickets->use_ms / 1000));
    SSL_CTX_set_num_tickets(context, 1);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF); /* tickets alone, no memory */
}
