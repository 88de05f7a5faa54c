/* Keeps an API key in its own allocation and wipes it before it is freed. The struct is hidden, so
 * a secret can be neither printed nor logged nor compared by accident. */
#include "base/secret.h"

#include "base/crypto.h"

#include <stdlib.h>
#include <string.h>

struct secret {
    size_t len;
    char data[];
};

struct secret *secret_new(struct td_str value)
{
    if (value.len > SIZE_MAX - sizeof(struct secret))
        return NULL;
    struct secret *secret = malloc(sizeof *secret + value.len);
    if (secret == NULL)
        return NULL;
    secret->len = value.len;
    if (value.len)
        memcpy(secret->data, value.data, value.len);
    return secret;
}

void secret_free(struct secret *secret)
{
    if (secret == NULL)
        return;
    crypto_wipe(secret->data, secret->len);
    free(secret);
}

struct td_str secret_reveal(const struct secret *secret)
{
    return secret ? (struct td_str){secret->data, secret->len} : (struct td_str){NULL, 0};
}
