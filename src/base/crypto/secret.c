/* Keeps an API key in its own allocation and wipes it before it is freed. The struct is hidden, so
 * a secret can be neither printed nor logged nor compared by accident. */
#include "base/crypto/secret.h"

#include "base/crypto/crypto.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct value {
    size_t len;
    char data[];
};

struct secret {
    _Atomic(struct value *) now;
    struct value *before; /* the one that was replaced last */
};

static struct value *value_new(struct td_str text)
{
    if (text.len > SIZE_MAX - sizeof(struct value))
        return NULL;
    struct value *value = malloc(sizeof *value + text.len);
    if (value == NULL)
        return NULL;
    value->len = text.len;
    if (text.len)
        memcpy(value->data, text.data, text.len);
    return value;
}

static void value_free(struct value *value)
{
    if (value == NULL)
        return;
    crypto_wipe(value->data, value->len);
    free(value);
}

struct secret *secret_new(struct td_str text)
{
    struct value *value = value_new(text);
    struct secret *secret = value ? calloc(1, sizeof *secret) : NULL;
    if (secret == NULL) {
        value_free(value);
        return NULL;
    }
    atomic_init(&secret->now, value);
    return secret;
}

bool secret_replace(struct secret *secret, struct td_str text)
{
    struct value *value = value_new(text);
    if (value == NULL)
        return false;
    value_free(secret->before);
    secret->before = atomic_exchange(&secret->now, value);
    return true;
}

void secret_free(struct secret *secret)
{
    if (secret == NULL)
        return;
    value_free(atomic_load(&secret->now));
    value_free(secret->before);
    free(secret);
}

struct td_str secret_reveal(const struct secret *secret)
{
    if (secret == NULL)
        return (struct td_str){NULL, 0};
    const struct value *value = atomic_load_explicit(&secret->now, memory_order_acquire);
    return (struct td_str){value->data, value->len};
}
