#include "app/setup/credentials/server_secrets.h"

#include "app/config/config.h"
#include "app/setup/credentials/aws_credentials.h"
#include "app/setup/credentials/credential_keeper.h"
#include "app/setup/files/secret_source.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/crypto/secret.h"
#include "tier/servers.h"

#include <stdlib.h>

static enum td_status read_header(const struct config_header *header, struct secret **out,
                                  struct td_error *err)
{
    if (header->env)
        return secret_source_read(header->env, NULL, out, err);
    *out = secret_new(str_from(header->value));
    return *out ? TD_OK : error_set(err, TD_NO_MEMORY, "no memory for a header");
}

static bool is_set(const char *variable)
{
    const char *value = variable ? getenv(variable) : NULL;
    return value && *value;
}

/* Google's own clients look there for a file. */
#define GOOGLE_FILE "GOOGLE_APPLICATION_CREDENTIALS"

/* A file of Google's is JSON; one that holds a token is not. */
static bool is_google_file(const char *path)
{
    struct secret *text = NULL;
    bool json = secret_source_read(NULL, path, &text, NULL) == TD_OK && secret_reveal(text).len &&
                secret_reveal(text).data[0] == '{';
    secret_free(text);
    return json;
}

/* Where a key that ends comes from; CREDENTIAL_NONE: it is one that does not. */
static struct credential_source source_of(const struct config_tier *tier)
{
    const struct tier_server *server = config_tier_server(tier);
    struct credential_source source = {.kind = CREDENTIAL_NONE};
    if (tier->token_command.count > 0) {
        source.kind = CREDENTIAL_COMMAND;
        source.words = tier->token_command.items;
        return source;
    }
    if (server != &server_vertex)
        return source;
    if (tier->api_key_file && is_google_file(tier->api_key_file))
        source.file = tier->api_key_file;
    else if (!tier->api_key_file && !is_set(tier->api_key_env) && is_set(GOOGLE_FILE))
        source.file = getenv(GOOGLE_FILE);
    source.kind = source.file ? CREDENTIAL_GOOGLE : CREDENTIAL_NONE;
    return source;
}

/* A kind whose key signs has several texts of it, at the places where its clients look, and the
 * last of these is the role of the machine. */
static enum td_status read_key(const struct config_tier *tier, struct secret **out,
                               struct td_error *missing, struct td_error *err)
{
    const struct tier_server *server = config_tier_server(tier);
    struct credential_source source = source_of(tier);
    bool own = tier->api_key_env && strcmp(tier->api_key_env, server->key_env) != 0;
    if (source.kind != CREDENTIAL_NONE)
        return credential_keeper_take(tier->name, &source, out, missing, err);
    if (!server->sign || own)
        return secret_source_read(tier->api_key_env, tier->api_key_file, out, err);
    enum td_status status = aws_credentials_read(tier->api_key_file, out, err);
    source.kind = CREDENTIAL_AWS_ROLE;
    return status == TD_OK && !*out ? credential_keeper_take(tier->name, &source, out, missing, err)
                                    : status;
}

static void add_key(struct server_secrets *out, const char *name, uint32_t weight,
                    struct secret *text)
{
    if (!text)
        return;
    out->key_texts[out->key_count] = text;
    out->keys[out->key_count++] = (struct tier_key){name, text, weight};
}

/* Of several keys those that are there do. */
static enum td_status read_keys(const struct config_tier *tier, struct server_secrets *out,
                                struct td_error *err)
{
    struct secret *text = NULL;
    enum td_status status = TD_OK;
    if (tier->key_count == 0) {
        status = read_key(tier, &text, &out->missing, err);
        add_key(out, "key", 1, text);
    }
    for (size_t i = 0; i < tier->key_count && i < TIER_KEYS_MAX && status == TD_OK; i++) {
        const struct config_tier_key *key = &tier->keys[i];
        status = secret_source_read(key->env, key->file, &text, err);
        add_key(out, key->name, key->weight, text);
    }
    return status;
}

enum td_status server_secrets_open(const struct config_tier *tier, struct server_secrets *out,
                                   struct td_error *err)
{
    enum td_status status = read_keys(tier, out, err);
    for (size_t i = 0; i < tier->header_count && i < TIER_HEADERS_MAX && status == TD_OK; i++) {
        status = read_header(&tier->headers[i], &out->values[i], err);
        out->headers[i] = (struct tier_header){tier->headers[i].name, out->values[i]};
        out->header_count = i + 1;
    }
    return status;
}

void server_secrets_close(struct server_secrets *secrets)
{
    for (size_t i = 0; i < secrets->key_count; i++)
        if (!credential_keeper_drop(secrets->key_texts[i]))
            secret_free(secrets->key_texts[i]);
    for (size_t i = 0; i < secrets->header_count; i++)
        secret_free(secrets->values[i]);
    *secrets = (struct server_secrets){0};
}

void server_secrets_give(const struct server_secrets *secrets, struct tier_server_options *options)
{
    options->keys = secrets->keys;
    options->key_count = secrets->key_count;
    options->headers = secrets->headers;
    options->header_count = secrets->header_count;
}

bool server_secrets_same_keys(const struct server_secrets *a, const struct server_secrets *b)
{
    bool same = a->key_count == b->key_count;
    for (size_t i = 0; i < a->key_count && same; i++)
        same = str_equal(secret_reveal(a->key_texts[i]), secret_reveal(b->key_texts[i]));
    return same;
}

bool server_secrets_suffice(const struct server_secrets *secrets, const struct config_tier *tier)
{
    return secrets->key_count > 0 || (!tier->api_key_env && !tier->api_key_file &&
                                      !tier->key_count && !tier->token_command.count);
}
