/* Access tokens of Google Cloud (https://developers.google.com/identity/protocols/oauth2).
 *
 * service_account: a statement that is signed with the account's key (RFC 7523) is exchanged for a
 * token at the file's token_uri. authorized_user: what 'gcloud auth application-default login'
 * writes, with a refresh token. */
#include "app/setup/credentials/credential.h"

#include "app/setup/credentials/fetch.h"
#include "app/setup/files/secret_source.h"
#include "base/bytes/buf.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "base/json/json.h"
#include "base/time/clock.h"
#include "net/client/loopback.h"
#include "net/transport/jwt.h"

#define SCOPE "https://www.googleapis.com/auth/cloud-platform"
#define TOKEN_URI "https://oauth2.googleapis.com/token"
#define LIFE_S 3600
#define BODY_BYTES_MAX (64 * 1024)

static void append_escaped(struct td_str text, struct buf *out)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.data[i];
        bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                     c == '-' || c == '_' || c == '.' || c == '~';
        if (plain)
            buf_append_char(out, (char)c);
        else
            buf_printf(out, "%%%02X", c);
    }
}

static enum td_status write_statement(const struct json *account, const char *uri, struct buf *out,
                                      struct td_error *err)
{
    struct json *header = json_new_object(), *claims = json_new_object();
    struct buf head, body;
    int64_t now_s = (int64_t)(clock_wall_ms(NULL) / 1000);
    json_put(header, "alg", json_new_cstr("RS256"));
    json_put(header, "typ", json_new_cstr("JWT"));
    if (json_get_text(account, "private_key_id").len > 0)
        json_put(header, "kid", json_clone(json_get(account, "private_key_id")));
    json_put(claims, "iss", json_clone(json_get(account, "client_email")));
    json_put(claims, "scope", json_new_cstr(SCOPE));
    json_put(claims, "aud", json_new_cstr(uri));
    json_put(claims, "iat", json_new_int(now_s));
    json_put(claims, "exp", json_new_int(now_s + LIFE_S));
    buf_init(&head, 4096);
    buf_init(&body, 4096);
    json_write(header, &head);
    json_write(claims, &body);
    buf_append_str(
        out, STR("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion="));
    enum td_status status =
        jwt_sign(json_get_text(account, "private_key"), buf_view(&head), buf_view(&body), out, err);
    json_free(header);
    json_free(claims);
    buf_deinit(&head);
    buf_deinit(&body);
    return status;
}

static void write_refresh(const struct json *account, struct buf *out)
{
    static const char *const names[] = {"client_id", "client_secret", "refresh_token"};
    buf_append_str(out, STR("grant_type=refresh_token"));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        buf_printf(out, "&%s=", names[i]);
        append_escaped(json_get_text(account, names[i]), out);
    }
}

static enum td_status read_answer(const char *uri, int code, struct td_str answer,
                                  struct credential *out, struct td_error *err)
{
    struct json *root = NULL;
    bool parsed = json_parse(answer, &root, NULL) == TD_OK;
    struct td_str token = json_get_text(root, "access_token");
    struct td_str why = json_get_text(root, "error_description");
    int64_t seconds = json_int(json_get(root, "expires_in"), LIFE_S);
    enum td_status status = TD_OK;
    uint64_t now_ms = clock_wall_ms(NULL);
    if (why.len == 0)
        why = json_get_text(root, "error");
    if (code != 200 || !parsed || token.len == 0 || seconds <= 0 || seconds > INT32_MAX)
        status = error_set(err, TD_DENIED, "%.200s gave no access token (HTTP %d)%s%.*s", uri, code,
                           why.len ? ": " : "", (int)(why.len < 200 ? why.len : 200), why.data);
    else if (!(out->text = secret_new(token)))
        status = error_set(err, TD_NO_MEMORY, "no memory for a key");
    out->renew_wall_ms = credential_renew_at(now_ms, now_ms + (uint64_t)seconds * 1000);
    json_free(root);
    return status;
}

static enum td_status exchange(const char *uri, struct td_str body, struct credential *out,
                               struct td_error *err)
{
    static const char *const headers[] = {"Content-Type: application/x-www-form-urlencoded", NULL};
    const struct fetch_ask ask = {.method = "POST",
                                  .url = uri,
                                  .headers = headers,
                                  .body = body,
                                  .connect_ms = 5000,
                                  .total_ms = 20000};
    struct buf answer;
    int code = 0;
    buf_init(&answer, BODY_BYTES_MAX);
    enum td_status status = fetch_now(&ask, &answer, &code, err);
    if (status == TD_OK)
        status = read_answer(uri, code, buf_view(&answer), out, err);
    if (answer.data)
        crypto_wipe(answer.data, answer.len);
    buf_deinit(&answer);
    return status;
}

static enum td_status fetch_for(const struct json *account, const char *file,
                                struct credential *out, struct td_error *err)
{
    struct td_str type = json_get_text(account, "type");
    const char *uri = json_cstr(json_get(account, "token_uri"));
    struct buf body;
    enum td_status status = TD_OK;
    uri = uri ? uri : TOKEN_URI;
    if (!str_starts_with(str_from(uri), STR("https://")) && !loopback_is_url(str_from(uri)))
        return error_set(err, TD_INVALID, "%s: token_uri must be an https address", file);
    buf_init(&body, BODY_BYTES_MAX);
    if (str_equal(type, STR("service_account")) && json_get_text(account, "client_email").len > 0)
        status = write_statement(account, uri, &body, err);
    else if (str_equal(type, STR("authorized_user")) &&
             json_get_text(account, "refresh_token").len > 0)
        write_refresh(account, &body);
    else
        status = error_set(err, TD_INVALID,
                           "it is neither a service account's key (type service_account, with "
                           "client_email and private_key) nor an authorized_user's");
    if (status == TD_OK && body.failed)
        status = error_set(err, TD_LIMIT, "its members are too long");
    if (status != TD_OK)
        error_prefix(err, "%s", file);
    else
        status = exchange(uri, buf_view(&body), out, err);
    if (body.data)
        crypto_wipe(body.data, body.len);
    buf_deinit(&body);
    return status;
}

enum td_status credential_of_google(const char *file, struct credential *out, struct td_error *err)
{
    struct secret *whole = NULL;
    struct json *account = NULL;
    enum td_status status = secret_source_read(NULL, file, &whole, err);
    if (status == TD_OK && json_parse(secret_reveal(whole), &account, NULL) != TD_OK)
        status = error_set(err, TD_INVALID,
                           "%s is no JSON: name the file of a service account's "
                           "key",
                           file);
    if (status == TD_OK)
        status = fetch_for(account, file, out, err);
    json_free(account);
    secret_free(whole);
    return status;
}
