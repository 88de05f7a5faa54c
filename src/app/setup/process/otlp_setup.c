/* The variables are those of the specification
 * (https://opentelemetry.io/docs/specs/otel/protocol/exporter):
 *
 *   OTEL_EXPORTER_OTLP_ENDPOINT           the base; /v1/traces and /v1/metrics are added
 *   OTEL_EXPORTER_OTLP_TRACES_ENDPOINT    the whole address of one of the two
 *   OTEL_EXPORTER_OTLP_METRICS_ENDPOINT
 *   OTEL_EXPORTER_OTLP_HEADERS            name=value,name=value, percent-encoded
 *   OTEL_EXPORTER_OTLP_CERTIFICATE        file of certificates
 *   OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES
 *   OTEL_TRACES_EXPORTER, OTEL_METRICS_EXPORTER, OTEL_SDK_DISABLED   "none" or "true": off
 *
 * A key of the file goes before its variable. The encoding is JSON alone: a variable that asks for
 * gRPC or protobuf is passed over with a word in the log, as collectors take JSON at the same
 * address as protobuf. */
#include "app/setup/process/otlp_setup.h"

#include "api/telemetry/otlp.h"
#include "api/telemetry/otlp_json.h"
#include "base/bytes/file.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "base/time/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADERS_MAX 32
#define PAIR_BYTES_MAX 4096
#define URL_BYTES 2048

static const char *variable(const char *name)
{
    const char *value = name ? getenv(name) : NULL;
    return value && *value ? value : NULL;
}

static bool says(const char *name, const char *word)
{
    const char *value = variable(name);
    return value && str_equal_nocase(str_from(value), str_from(word));
}

static enum td_status check_url(const char *url, struct td_error *err)
{
    struct td_str text = str_from(url);
    bool scheme = str_starts_with(text, STR("http://")) || str_starts_with(text, STR("https://"));
    bool plain = strlen(url) < URL_BYTES - 16 && strcspn(url, " \t\r\n\"<>\\^`{|}") == strlen(url);
    const char *host = scheme ? strstr(url, "//") + 2 : url;
    size_t authority = strcspn(host, "/?#");
    if (scheme && plain && authority > 0 && !memchr(host, '@', authority))
        return TD_OK;
    return error_set(err, TD_INVALID,
                     "the address of the collector (otlp.endpoint or OTEL_EXPORTER_OTLP_ENDPOINT) "
                     "must be an http or https address without user and password; a key goes into "
                     "the headers");
}

/* NULL: it is not sent. `out` has URL_BYTES. */
static enum td_status make_url(const char *base, const char *whole, const char *path, char *out,
                               const char **url, struct td_error *err)
{
    const char *from = whole ? whole : base;
    *url = NULL;
    if (!from)
        return TD_OK;
    enum td_status status = check_url(from, err);
    if (status != TD_OK)
        return status;
    size_t len = strlen(from);
    while (!whole && len > 0 && from[len - 1] == '/')
        len--;
    snprintf(out, URL_BYTES, "%.*s%s", (int)len, from, whole ? "" : path);
    *url = out;
    return TD_OK;
}

static bool unhex(char c, unsigned *out)
{
    const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c | 0x20) : NULL;
    *out = at ? (unsigned)(at - digits) : 0;
    return at != NULL;
}

/* Percent-decodes; false where what comes out is no text of one line, or too long. */
static bool decode(struct td_str text, char *out, size_t size)
{
    size_t len = 0;
    for (size_t i = 0; i < text.len && len + 1 < size; i++) {
        unsigned high, low;
        char c = text.data[i];
        if (c == '%' && i + 2 < text.len && unhex(text.data[i + 1], &high) &&
            unhex(text.data[i + 2], &low)) {
            c = (char)(high << 4 | low);
            i += 2;
        }
        if ((unsigned char)c < 0x20 || c == 0x7f)
            return false;
        out[len++] = c;
    }
    out[len] = '\0';
    return len + 1 < size;
}

/* The next name=value of a list; false at its end. *ok false: it is none. */
static bool next_pair(struct td_str *rest, char name[static PAIR_BYTES_MAX],
                      char value[static PAIR_BYTES_MAX], bool *ok)
{
    struct td_str part, key;
    do
        if (!str_next(rest, ',', &part))
            return false;
    while (str_trim(part).len == 0);
    bool equals = memchr(part.data, '=', part.len) != NULL;
    *ok = str_next(&part, '=', &key) && equals && str_trim(key).len > 0 &&
          decode(str_trim(key), name, PAIR_BYTES_MAX) &&
          decode(str_trim(part), value, PAIR_BYTES_MAX);
    return true;
}

struct header_list {
    char *items[HEADERS_MAX + 1];
    size_t count;
};

static void free_headers(struct header_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        crypto_wipe(list->items[i], strlen(list->items[i]));
        free(list->items[i]);
    }
}

static enum td_status read_headers(const char *name_of_variable, struct header_list *out,
                                   struct td_error *err)
{
    static const char token[] = "!#$&'*+-.^_`|~0123456789"
                                "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const char *text = variable(name_of_variable);
    struct td_str rest = str_from(text ? text : "");
    char name[PAIR_BYTES_MAX], value[PAIR_BYTES_MAX];
    enum td_status status = TD_OK;
    bool ok;
    while (status == TD_OK && next_pair(&rest, name, value, &ok)) {
        char *item = NULL;
        if (!ok || strspn(name, token) != strlen(name) || out->count == HEADERS_MAX)
            status = error_set(err, TD_INVALID, "%s is no list of at most %d headers name=value",
                               name_of_variable, HEADERS_MAX);
        else if (asprintf(&item, "%s: %s", name, value) < 0)
            status = error_set(err, TD_NO_MEMORY, "no memory for headers");
        else
            out->items[out->count++] = item;
    }
    crypto_wipe(value, sizeof value);
    return status;
}

/* Who sends: the service, its version, this process, and what the operator adds. */
static enum td_status write_resource(const struct config *config, struct buf *out,
                                     struct td_error *err)
{
    const char *service = config->otlp.service_name;
    char name[PAIR_BYTES_MAX], value[PAIR_BYTES_MAX], instance[33];
    uint8_t random[16];
    enum td_status status = crypto_random(random, sizeof random, err);
    if (status != TD_OK)
        return status;
    crypto_hex(random, sizeof random, instance);
    service = service ? service : variable("OTEL_SERVICE_NAME");
    otlp_json_text(out, "service.version", STR(TANDEM_VERSION));
    otlp_json_text(out, "service.instance.id", str_from(instance));
    const char *more = variable("OTEL_RESOURCE_ATTRIBUTES");
    struct td_str rest = str_from(more ? more : "");
    bool ok, named = service != NULL;
    while (next_pair(&rest, name, value, &ok)) {
        bool is_name = ok && strcmp(name, "service.name") == 0;
        if (!ok || strcspn(name, "\"\\") != strlen(name))
            return error_set(err, TD_INVALID, "OTEL_RESOURCE_ATTRIBUTES is no list of name=value");
        if (!is_name || !named)
            otlp_json_text(out, name, str_from(value));
        named = named || is_name;
    }
    if (service || !named)
        otlp_json_text(out, "service.name", str_from(service ? service : "tandem"));
    return out->failed ? error_set(err, TD_LIMIT, "OTEL_RESOURCE_ATTRIBUTES is too long") : TD_OK;
}

static void warn_of_encoding(void)
{
    const char *asked = variable("OTEL_EXPORTER_OTLP_PROTOCOL");
    if (asked && strcmp(asked, "http/json") != 0)
        log_event(LOG_LEVEL_WARN, "otlp_encoding", "asked=\"%.40s\" used=http/json", asked);
}

static enum td_status open_with(const struct config *config, struct otlp_options *options,
                                struct otlp **out, struct td_error *err)
{
    struct header_list headers = {.count = 0};
    struct buf resource;
    buf_init(&resource, 4 * PAIR_BYTES_MAX);
    enum td_status status = write_resource(config, &resource, err);
    if (status == TD_OK)
        status = read_headers(config->otlp.headers_env, &headers, err);
    if (status == TD_OK)
        status = file_check_regular(options->ca_file, err);
    options->headers = (const char *const *)headers.items;
    options->resource = resource.data;
    if (status == TD_OK)
        status = otlp_new(options, out, err);
    free_headers(&headers);
    buf_deinit(&resource);
    return status;
}

enum td_status otlp_setup_open(const struct config *config, struct otlp **out, struct td_error *err)
{
    char traces[URL_BYTES], metrics[URL_BYTES];
    const char *base = config->otlp.endpoint, *given = base;
    struct otlp_options options = {.metrics_interval_ms = config->otlp.metrics_interval_s * 1000};
    *out = NULL;
    base = base ? base : variable("OTEL_EXPORTER_OTLP_ENDPOINT");
    if ((given && strcmp(given, "none") == 0) || says("OTEL_SDK_DISABLED", "true"))
        return TD_OK;
    const char *traces_only = given ? NULL : variable("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
    const char *metrics_only = given ? NULL : variable("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT");
    enum td_status status =
        make_url(base, traces_only, "/v1/traces", traces, &options.traces_url, err);
    if (status == TD_OK)
        status = make_url(base, metrics_only, "/v1/metrics", metrics, &options.metrics_url, err);
    if (!config->otlp.traces || says("OTEL_TRACES_EXPORTER", "none"))
        options.traces_url = NULL;
    if (!config->otlp.metrics || says("OTEL_METRICS_EXPORTER", "none"))
        options.metrics_url = NULL;
    if (status != TD_OK || (!options.traces_url && !options.metrics_url))
        return status;
    options.ca_file =
        config->otlp.ca_file ? config->otlp.ca_file : variable("OTEL_EXPORTER_OTLP_CERTIFICATE");
    warn_of_encoding();
    status = open_with(config, &options, out, err);
    if (status == TD_OK)
        log_event(LOG_LEVEL_INFO, "otlp_begins", "traces=%s metrics=%s",
                  options.traces_url ? "yes" : "no", options.metrics_url ? "yes" : "no");
    return status;
}
