/* The role of a container (ECS, EKS Pod Identity) or of a machine (EC2), as AWS's own clients find
 * it: https://docs.aws.amazon.com/sdkref/latest/guide/feature-container-credentials.html and
 * .../feature-imds-credentials.html. Only IMDSv2 is spoken: its token keeps a request that somebody
 * talked a server into (SSRF) from getting credentials. */
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
#include "tier/clouds/aws_sign.h"

#include <stdio.h>
#include <stdlib.h>

#define ANSWER_BYTES_MAX (64 * 1024)
#define URL_BYTES 1024
#define CONTAINER_HOST "http://169.254.170.2"
#define MACHINE_HOST "http://169.254.169.254"
#define ROLES "/latest/meta-data/iam/security-credentials/"
/* Elsewhere than at AWS nobody answers at that address, and this is how long a start waits. */
#define CONNECT_MS 1000
#define TOTAL_MS 5000

static const char *environment(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static enum td_status ask_for(const char *method, const char *url, const char *header,
                              struct buf *answer, int *code, struct td_error *err)
{
    const char *headers[] = {header, NULL};
    const struct fetch_ask ask = {.method = method,
                                  .url = url,
                                  .headers = headers,
                                  .direct = str_starts_with(str_from(url), STR("http://")),
                                  .connect_ms = CONNECT_MS,
                                  .total_ms = TOTAL_MS};
    buf_clear(answer);
    return fetch_now(&ask, answer, code, err);
}

/* {"AccessKeyId", "SecretAccessKey", "Token", "Expiration"} */
static enum td_status take_credentials(const char *url, int code, struct td_str answer,
                                       struct credential *out, struct td_error *err)
{
    struct json *root = NULL;
    struct buf packed;
    bool parsed = code == 200 && json_parse(answer, &root, NULL) == TD_OK;
    struct td_str id = json_text(json_get(root, "AccessKeyId"));
    struct td_str secret = json_text(json_get(root, "SecretAccessKey"));
    uint64_t now_ms = clock_wall_ms(NULL);
    uint64_t end_ms = credential_read_time(json_cstr(json_get(root, "Expiration")));
    enum td_status status = TD_OK;
    buf_init(&packed, ANSWER_BYTES_MAX);
    if (!parsed || id.len == 0 || secret.len == 0) {
        status = error_set(err, TD_DENIED, "%.200s gave no credentials (HTTP %d)", url, code);
    } else {
        aws_credentials_pack(id, secret, json_text(json_get(root, "Token")), &packed);
        out->text = packed.failed ? NULL : secret_new(buf_view(&packed));
        out->renew_wall_ms = end_ms ? credential_renew_at(now_ms, end_ms) : 0;
        if (!out->text)
            status = error_set(err, TD_NO_MEMORY, "no memory for a key");
    }
    if (packed.data)
        crypto_wipe(packed.data, packed.len);
    buf_deinit(&packed);
    json_free(root);
    return status;
}

/* Credentials may only be asked for from this machine, or over TLS: the variable may come from
 * somebody who can set nothing else. */
static bool is_near(const char *url)
{
    static const char *const hosts[] = {CONTAINER_HOST, "http://169.254.170.23",
                                        "http://[fd00:ec2::23]"};
    struct td_str text = str_from(url);
    bool near = str_starts_with(text, STR("https://")) || loopback_is_url(text);
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts && !near; i++) {
        size_t len = strlen(hosts[i]);
        near = str_starts_with(text, str_from(hosts[i])) &&
               (url[len] == '/' || url[len] == ':' || url[len] == '\0');
    }
    return near;
}

static enum td_status read_authorization(struct buf *out, struct td_error *err)
{
    struct secret *text = NULL;
    enum td_status status =
        secret_source_read("AWS_CONTAINER_AUTHORIZATION_TOKEN",
                           environment("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"), &text, err);
    struct td_str token = secret_reveal(text);
    for (size_t i = 0; status == TD_OK && i < token.len; i++)
        if ((unsigned char)token.data[i] < ' ')
            status = error_set(err, TD_INVALID,
                               "the container's authorization token has a line "
                               "break in it");
    if (status == TD_OK && token.len > 0) {
        buf_append_str(out, STR("Authorization: "));
        buf_append_str(out, token);
        buf_append_char(out, '\0');
    }
    secret_free(text);
    return status;
}

static enum td_status of_container(const char *url, struct buf *answer, struct credential *out,
                                   struct td_error *err)
{
    struct buf authorization;
    int code = 0;
    if (!is_near(url))
        return error_set(err, TD_INVALID,
                         "AWS_CONTAINER_CREDENTIALS_FULL_URI must be an https address, or one of "
                         "this machine");
    buf_init(&authorization, ANSWER_BYTES_MAX);
    enum td_status status = read_authorization(&authorization, err);
    if (status == TD_OK)
        status =
            ask_for("GET", url, authorization.len ? authorization.data : NULL, answer, &code, err);
    if (status == TD_OK)
        status = take_credentials(url, code, buf_view(answer), out, err);
    if (authorization.data)
        crypto_wipe(authorization.data, authorization.len);
    buf_deinit(&authorization);
    return status;
}

/* Nobody there is no failure: most machines are not AWS's. */
static enum td_status of_machine(struct buf *answer, struct credential *out, struct td_error *err)
{
    const char *host = environment("AWS_EC2_METADATA_SERVICE_ENDPOINT");
    char url[URL_BYTES], token[512], name[128];
    struct td_error unreached = {0};
    int code = 0;
    host = host ? host : MACHINE_HOST;
    size_t len = strlen(host);
    len -= len > 0 && host[len - 1] == '/';
    snprintf(url, sizeof url, "%.*s/latest/api/token", (int)len, host);
    if (ask_for("PUT", url, "X-aws-ec2-metadata-token-ttl-seconds: 21600", answer, &code,
                &unreached) != TD_OK ||
        code != 200 || answer->len == 0 || answer->len > 400)
        return TD_OK;
    snprintf(token, sizeof token, "X-aws-ec2-metadata-token: %.*s", (int)answer->len, answer->data);
    snprintf(url, sizeof url, "%.*s" ROLES, (int)len, host);
    enum td_status status = ask_for("GET", url, token, answer, &code, err);
    if (status == TD_OK && (code == 404 || answer->len == 0))
        return TD_OK; /* the machine has no role */
    struct td_str role = str_trim(buf_view(answer)), line;
    if (status != TD_OK || !str_next(&role, '\n', &line))
        return status;
    snprintf(name, sizeof name, "%.*s", (int)(line.len < sizeof name ? line.len : 0), line.data);
    if (strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+=,.@_-") !=
            strlen(name) ||
        !*name)
        return error_set(err, TD_CORRUPT, "%.200s gave no name of a role", url);
    snprintf(url, sizeof url, "%.*s" ROLES "%s", (int)len, host, name);
    status = ask_for("GET", url, token, answer, &code, err);
    crypto_wipe(token, sizeof token);
    return status == TD_OK ? take_credentials(url, code, buf_view(answer), out, err) : status;
}

enum td_status credential_of_aws_role(struct credential *out, struct td_error *err)
{
    const char *relative = environment("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
    const char *full = environment("AWS_CONTAINER_CREDENTIALS_FULL_URI");
    const char *off = environment("AWS_EC2_METADATA_DISABLED");
    char url[URL_BYTES];
    struct buf answer;
    enum td_status status = TD_OK;
    buf_init(&answer, ANSWER_BYTES_MAX);
    if (relative) {
        snprintf(url, sizeof url, CONTAINER_HOST "%s%.900s", *relative == '/' ? "" : "/", relative);
        status = of_container(url, &answer, out, err);
    } else if (full) {
        status = of_container(full, &answer, out, err);
    } else if (!off || !str_equal_nocase(str_from(off), STR("true"))) {
        status = of_machine(&answer, out, err);
    }
    if (answer.data)
        crypto_wipe(answer.data, answer.len);
    buf_deinit(&answer);
    return status;
}
