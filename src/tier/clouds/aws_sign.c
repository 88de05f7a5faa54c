/* The steps have the names that AWS gives them: canonical request, string to sign, signing key,
 * signature. Hashes of parts are compared nowhere, so nothing here needs constant time. */
#include "tier/clouds/aws_sign.h"

#include "base/core/assertion.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "base/crypto/keyed.h"

#include <stdlib.h>
#include <time.h>

#define QUERY_PAIRS_MAX 32
#define CANONICAL_BYTES_MAX (64 * 1024)

void aws_credentials_pack(struct td_str id, struct td_str secret, struct td_str token,
                          struct buf *out)
{
    buf_append_str(out, id);
    buf_append_char(out, '\n');
    buf_append_str(out, secret);
    buf_append_char(out, '\n');
    buf_append_str(out, token);
}

static bool is_plain(struct td_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.data[i] <= ' ' || text.data[i] > '~')
            return false;
    return true;
}

bool aws_credentials_unpack(struct td_str text, struct aws_credentials *out)
{
    size_t first = str_find(text, STR("\n"), 0);
    size_t second = first == SIZE_MAX ? SIZE_MAX : str_find(text, STR("\n"), first + 1);
    if (second == SIZE_MAX)
        return false;
    *out = (struct aws_credentials){str_slice(text, 0, first), str_slice(text, first + 1, second),
                                    str_slice(text, second + 1, text.len)};
    return out->id.len > 0 && out->secret.len > 0 && is_plain(out->id) && is_plain(out->secret) &&
           is_plain(out->token);
}

/* --- canonical request --- */

static int compare_pairs(const void *a, const void *b)
{
    const struct td_str *left = a, *right = b;
    size_t len = left->len < right->len ? left->len : right->len;
    int order = memcmp(left->data, right->data, len);
    return order ? order : (left->len > right->len) - (left->len < right->len);
}

/* Names and values are encoded already where the address was written; only their order is ours. */
static void write_query(struct td_str query, struct buf *out)
{
    struct td_str pairs[QUERY_PAIRS_MAX], rest = query, pair;
    size_t count = 0;
    while (count < QUERY_PAIRS_MAX && str_next(&rest, '&', &pair))
        pairs[count++] = pair;
    qsort(pairs, count, sizeof *pairs, compare_pairs);
    for (size_t i = 0; i < count; i++) {
        buf_append_str(out, i ? STR("&") : STR(""));
        buf_append_str(out, pairs[i]);
        if (str_find(pairs[i], STR("="), 0) == SIZE_MAX)
            buf_append_char(out, '=');
    }
}

/* All services but S3 encode the path once more than it is sent. */
static void write_path(struct td_str path, struct buf *out)
{
    if (path.len == 0)
        buf_append_char(out, '/');
    for (size_t begin = 0; begin < path.len;) {
        size_t slash = str_find(path, STR("/"), begin);
        size_t end = slash == SIZE_MAX ? path.len : slash;
        server_write_segment(str_slice(path, begin, end), out);
        if (slash != SIZE_MAX)
            buf_append_char(out, '/');
        begin = end + 1;
    }
}

static void write_hash(struct td_str text, struct buf *out)
{
    uint8_t hash[CRYPTO_SHA256_BYTES];
    char hex[2 * CRYPTO_SHA256_BYTES + 1];
    crypto_sha256(text.data ? text.data : "", text.len, hash);
    crypto_hex(hash, sizeof hash, hex);
    buf_append_str(out, str_from(hex));
}

static const char *signed_headers(const struct aws_credentials *credentials)
{
    return credentials->token.len > 0 ? "host;x-amz-date;x-amz-security-token" : "host;x-amz-date";
}

static void write_canonical(const struct aws_credentials *credentials,
                            const struct aws_request *request, struct buf *out)
{
    buf_printf(out, STR_FMT "\n", STR_ARG(request->method));
    write_path(request->path, out);
    buf_append_char(out, '\n');
    write_query(request->query, out);
    buf_printf(out, "\nhost:" STR_FMT "\nx-amz-date:%s\n", STR_ARG(request->host), request->when);
    if (credentials->token.len > 0)
        buf_printf(out, "x-amz-security-token:" STR_FMT "\n", STR_ARG(credentials->token));
    buf_printf(out, "\n%s\n", signed_headers(credentials));
    write_hash(request->body, out);
}

/* --- signature --- */

static void write_scope(const struct aws_request *request, struct buf *out)
{
    buf_printf(out, "%.8s/" STR_FMT "/" STR_FMT "/aws4_request", request->when,
               STR_ARG(request->region), STR_ARG(request->service));
}

static void derive_key(const struct aws_credentials *credentials, const struct aws_request *request,
                       uint8_t key[static KEYED_MAC_BYTES])
{
    const struct td_str steps[] = {request->region, request->service, STR("aws4_request")};
    struct buf first;
    buf_init(&first, credentials->secret.len + 8);
    buf_append_str(&first, STR("AWS4"));
    buf_append_str(&first, credentials->secret);
    keyed_mac_under(first.failed ? STR("-") : buf_view(&first), request->when, 8, key);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        keyed_mac(key, steps[i].data, steps[i].len, key);
    if (first.data)
        crypto_wipe(first.data, first.len);
    buf_deinit(&first);
}

void aws_sign(const struct aws_credentials *credentials, const struct aws_request *request,
              char out[static AWS_SIGNATURE_HEX])
{
    ASSERT(credentials && request && strlen(request->when) == 16);
    struct buf canonical, text;
    uint8_t key[KEYED_MAC_BYTES], signature[KEYED_MAC_BYTES];
    buf_init(&canonical, CANONICAL_BYTES_MAX);
    buf_init(&text, CANONICAL_BYTES_MAX);
    write_canonical(credentials, request, &canonical);
    buf_printf(&text, "AWS4-HMAC-SHA256\n%s\n", request->when);
    write_scope(request, &text);
    buf_append_char(&text, '\n');
    write_hash(buf_view(&canonical), &text);
    derive_key(credentials, request, key);
    keyed_mac(key, text.data ? text.data : "", text.len, signature);
    crypto_hex(signature, sizeof signature, out);
    crypto_wipe(key, sizeof key);
    buf_deinit(&canonical);
    buf_deinit(&text);
}

/* --- Bedrock --- */

/* "https://host:port/path?query" in its parts; the host with a port that is not the scheme's. */
static void split_url(const char *url, struct aws_request *out)
{
    struct td_str text = str_from(url);
    size_t scheme = str_find(text, STR("://"), 0);
    struct td_str rest = str_slice(text, scheme == SIZE_MAX ? 0 : scheme + 3, text.len);
    size_t slash = str_find(rest, STR("/"), 0), mark = str_find(rest, STR("?"), 0);
    size_t path = slash < mark ? slash : mark;
    out->host = str_slice(rest, 0, path);
    out->path = str_slice(rest, path, mark);
    out->query = mark == SIZE_MAX ? STR("") : str_slice(rest, mark + 1, rest.len);
}

/* The second label of "bedrock-runtime.eu-central-1.amazonaws.com". */
static struct td_str region_of(struct td_str host)
{
    size_t first = str_find(host, STR("."), 0);
    size_t second = first == SIZE_MAX ? SIZE_MAX : str_find(host, STR("."), first + 1);
    bool aws = str_ends_with(host, STR(".amazonaws.com")) && second != SIZE_MAX;
    return aws ? str_slice(host, first + 1, second) : STR("us-east-1");
}

static void write_when(uint64_t wall_ms, char out[static 17])
{
    time_t seconds = (time_t)(wall_ms / 1000);
    struct tm utc;
    if (!gmtime_r(&seconds, &utc) || strftime(out, 17, "%Y%m%dT%H%M%SZ", &utc) != 16)
        memcpy(out, "19700101T000000Z", 17);
}

static size_t write_bearer(struct td_str key, struct buf *out)
{
    buf_append_str(out, STR("Authorization: Bearer "));
    buf_append_str(out, key);
    buf_append_char(out, '\0');
    return 1;
}

size_t aws_sign_bedrock(const struct server_signing *signing, struct buf *out)
{
    struct aws_credentials credentials;
    struct aws_request request = {
        .method = str_from(signing->method), .body = signing->body, .service = STR("bedrock")};
    char signature[AWS_SIGNATURE_HEX];
    if (!aws_credentials_unpack(signing->key, &credentials))
        return write_bearer(signing->key, out);
    split_url(signing->url, &request);
    request.region = signing->region ? str_from(signing->region) : region_of(request.host);
    write_when(signing->wall_ms, request.when);
    aws_sign(&credentials, &request, signature);
    buf_printf(out, "X-Amz-Date: %s%c", request.when, '\0');
    if (credentials.token.len > 0)
        buf_printf(out, "X-Amz-Security-Token: " STR_FMT "%c", STR_ARG(credentials.token), '\0');
    buf_printf(out, "Authorization: AWS4-HMAC-SHA256 Credential=" STR_FMT "/",
               STR_ARG(credentials.id));
    write_scope(&request, out);
    buf_printf(out, ", SignedHeaders=%s, Signature=%s%c", signed_headers(&credentials), signature,
               '\0');
    return credentials.token.len > 0 ? 3 : 2;
}
