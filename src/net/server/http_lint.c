/* Reads request heads and chunked bodies; the header lists what is refused. A head is one
 * NUL-terminated copy that is cut up in place. So a request needs one allocation for its head, and
 * no field outlives it. */
#include "net/server/http_lint.h"

#include "base/core/ascii.h"
#include "base/core/assertion.h"
#include "base/core/str.h"
#include "base/text/utf8.h"

#include <string.h>
#include <strings.h>

/* The chunk-size line of an honest client has a few bytes. Extensions are legal, unused, and a
 * known way to make a server read much for little. */
#define CHUNK_LINE_BYTES_MAX 256
#define TRAILER_BYTES_MAX 4096
#define METHOD_BYTES_MAX 32

static bool is_token_char(unsigned char c)
{
    return ascii_is_alnum(c) || (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

bool http_is_token(struct td_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!is_token_char((unsigned char)text.data[i]))
            return false;
    return text.len > 0;
}

static bool is_field_char(unsigned char c)
{
    return c == '\t' || (c >= ' ' && c != 0x7f);
}

bool http_is_field_value(struct td_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!is_field_char((unsigned char)text.data[i]))
            return false;
    return true;
}

size_t http_head_end(struct td_str bytes, size_t *scanned)
{
    ASSERT(scanned != NULL && *scanned <= bytes.len);
    size_t at = *scanned;
    while (at < bytes.len) {
        const char *feed = memchr(bytes.data + at, '\n', bytes.len - at);
        if (feed == NULL) {
            *scanned = bytes.len;
            return 0;
        }
        at = (size_t)(feed - bytes.data);
        size_t next = at + 1;
        if (next < bytes.len && bytes.data[next] == '\r')
            next++;
        if (next >= bytes.len) {
            *scanned = at; /* the next bytes decide */
            return 0;
        }
        if (bytes.data[next] == '\n')
            return next + 1;
        at++;
    }
    return 0;
}

static int refuse(const char **reason, int code, const char *text)
{
    *reason = text;
    return code;
}

/* Decodes %XX in place. False for a broken encoding, a control byte, and what is not UTF-8. */
static bool decode_path(char *path)
{
    char *out = path;
    for (const char *in = path; *in; in++) {
        unsigned char byte = (unsigned char)*in;
        if (byte == '%') {
            int high = ascii_hex_value(in[1]);
            int low = high < 0 ? -1 : ascii_hex_value(in[2]);
            if (low < 0)
                return false;
            byte = (unsigned char)(high * 16 + low);
            in += 2;
        }
        if (byte < ' ' || byte == 0x7f)
            return false;
        *out++ = (char)byte;
    }
    *out = '\0';
    return utf8_is_valid((struct td_str){path, (size_t)(out - path)});
}

/* "." and ".." as whole segments: honest clients resolve them before they send. */
static bool has_dot_segment(const char *path)
{
    struct td_str rest = str_from(path), segment;
    while (str_next(&rest, '/', &segment))
        if (str_equal(segment, STR(".")) || str_equal(segment, STR("..")))
            return true;
    return false;
}

static bool query_is_encoded(const char *query)
{
    for (const char *in = query; *in; in++)
        if (*in == '%' && (ascii_hex_value(in[1]) < 0 || ascii_hex_value(in[2]) < 0))
            return false;
    return true;
}

/* Several slashes are one, and one at the end is none: base URLs are often written with a slash too
 * many. */
static void squeeze_slashes(char *path)
{
    char *to = path;
    for (const char *at = path; *at; at++)
        if (*at != '/' || to == path || to[-1] != '/')
            *to++ = *at;
    if (to > path + 1 && to[-1] == '/')
        to--;
    *to = '\0';
}

/* Reads the target: "/path?query", "*" for OPTIONS, or "http://host/path" as for a proxy (RFC 9112,
 * 3.2.2). The host of the last form goes to *authority, to be compared with the Host header. */
static int parse_target(struct http_head *head, char *target, struct td_str *authority,
                        const char **reason)
{
    for (const char *c = target; *c; c++)
        if (*c == '#' || (unsigned char)(*c - '!') > '~' - '!')
            return refuse(reason, 400, "the request target has a character that is not allowed");
    if (strcmp(target, "*") == 0 && strcmp(head->method, "OPTIONS") == 0) {
        head->path = target;
        return 0;
    }
    if (strncasecmp(target, "http://", 7) == 0 || strncasecmp(target, "https://", 8) == 0) {
        char *host = strchr(target, ':') + 3;
        char *slash = host + strcspn(host, "/?");
        *authority = (struct td_str){host, (size_t)(slash - host)};
        if (*slash != '/' || authority->len == 0)
            return refuse(reason, 400, "the request target has no path");
        target = slash;
    }
    if (*target != '/')
        return refuse(reason, 400, "the request target must be a path that begins with /");
    char *question = strchr(target, '?');
    if (question) {
        /* The authority stands before the question mark, so cutting here leaves it whole. */
        *question = '\0';
        head->query = question + 1;
        if (!query_is_encoded(head->query))
            return refuse(reason, 400, "the query has a broken percent encoding");
    }
    head->path = target;
    if (!decode_path(target))
        return refuse(reason, 400, "the path has a broken percent encoding");
    if (has_dot_segment(target))
        return refuse(reason, 400, "the path has a dot segment");
    squeeze_slashes(target);
    return 0;
}

/* Reads "GET /path HTTP/1.1" with single spaces. */
static int parse_request_line(struct http_head *head, char *line, struct td_str *authority,
                              const char **reason)
{
    char *method_end = strchr(line, ' ');
    if (method_end == NULL)
        return refuse(reason, 400, "the request line is malformed");
    *method_end = '\0';
    head->method = line;
    struct td_str method = str_from(line);
    if (!http_is_token(method) || method.len > METHOD_BYTES_MAX)
        return refuse(reason, 400, "the method is malformed");
    char *target = method_end + 1;
    char *target_end = strchr(target, ' ');
    if (target_end == NULL || target_end == target)
        return refuse(reason, 400, "the request line is malformed");
    *target_end = '\0';
    const char *version = target_end + 1;
    if (strncmp(version, "HTTP/", 5) != 0 || !ascii_is_digit(version[5]) || version[6] != '.' ||
        !ascii_is_digit(version[7]) || version[8] != '\0')
        return refuse(reason, 400, "the HTTP version is malformed");
    if (version[5] != '1' || version[7] > '1')
        return refuse(reason, 505, "only HTTP/1.1 and HTTP/1.0 are spoken here");
    head->version_1_1 = version[7] == '1';
    return parse_target(head, target, authority, reason);
}

static int parse_header_line(struct http_head *head, char *line, const char **reason)
{
    if (*line == ' ' || *line == '\t')
        return refuse(reason, 400, "a header is folded over two lines");
    char *colon = strchr(line, ':');
    if (colon == NULL || !http_is_token((struct td_str){line, (size_t)(colon - line)}))
        return refuse(reason, 400, "a header name is malformed");
    *colon = '\0';
    char *value = colon + 1 + strspn(colon + 1, " \t");
    size_t len = strlen(value);
    while (len > 0 && (value[len - 1] == ' ' || value[len - 1] == '\t'))
        value[--len] = '\0';
    if (!http_is_field_value((struct td_str){value, len}))
        return refuse(reason, 400, "a header value has a control character");
    if (head->header_count == head->headers_max)
        return refuse(reason, 431, "too many headers");
    head->headers[head->header_count++] = (struct http_header){line, value};
    return 0;
}

/* Accepts host[:port] or [ipv6][:port]; no user, no list, no path. */
static bool is_host(const char *value)
{
    for (const char *c = value; *c; c++)
        if (!ascii_is_alnum(*c) && strchr("-._~:[]%", *c) == NULL)
            return false;
    return *value != '\0';
}

static int take_length(struct http_head *head, const char *value, const char **reason)
{
    if (head->has_length)
        return refuse(reason, 400, "there is more than one Content-Length");
    head->has_length = true;
    if (!str_to_u64(str_from(value), &head->content_length))
        return refuse(reason, 400, "the Content-Length is not a number");
    return 0;
}

static int take_coding(struct http_head *head, const char *value, const char **reason)
{
    if (head->chunked)
        return refuse(reason, 400, "there is more than one Transfer-Encoding");
    head->chunked = true;
    if (strcasecmp(value, "chunked") != 0)
        return refuse(reason, 501, "the only transfer coding understood is chunked");
    return 0;
}

static void take_connection(const char *value, bool *close, bool *keep)
{
    struct td_str rest = str_from(value), part;
    while (str_next(&rest, ',', &part)) {
        part = str_trim(part);
        *close |= str_equal_nocase(part, STR("close"));
        *keep |= str_equal_nocase(part, STR("keep-alive"));
    }
}

/* Reads the headers that say where this request ends and which host it is for. */
static int read_framing(struct http_head *head, struct td_str authority, const char **reason)
{
    const char *host = NULL;
    bool close = false, keep = false;
    for (size_t i = 0; i < head->header_count; i++) {
        const char *name = head->headers[i].name, *value = head->headers[i].value;
        int code = 0;
        if (strcasecmp(name, "Content-Length") == 0) {
            code = take_length(head, value, reason);
        } else if (strcasecmp(name, "Transfer-Encoding") == 0) {
            code = take_coding(head, value, reason);
        } else if (strcasecmp(name, "Host") == 0) {
            if (host || !is_host(value))
                code = refuse(reason, 400,
                              host ? "there is more than one Host" : "the Host is malformed");
            host = value;
        } else if (strcasecmp(name, "Connection") == 0) {
            take_connection(value, &close, &keep);
        } else if (strcasecmp(name, "Expect") == 0) {
            if (strcasecmp(value, "100-continue") != 0)
                code = refuse(reason, 417, "the only expectation understood is 100-continue");
            head->expect_continue = head->version_1_1;
        }
        if (code)
            return code;
    }
    if (head->chunked && head->has_length)
        return refuse(reason, 400, "there are both Content-Length and Transfer-Encoding");
    if (head->chunked && !head->version_1_1)
        return refuse(reason, 400, "HTTP/1.0 has no Transfer-Encoding");
    if (host == NULL && head->version_1_1)
        return refuse(reason, 400, "there is no Host");
    if (authority.len && (host == NULL || !str_equal_nocase(authority, str_from(host))))
        return refuse(reason, 400, "the Host differs from the request target's");
    head->keep_alive = !close && (head->version_1_1 || keep);
    return 0;
}

int http_head_parse(struct http_head *head, char *text, size_t len, const char **reason)
{
    ASSERT(head != NULL && text != NULL && reason != NULL);
    *head = (struct http_head){.headers = head->headers, .headers_max = head->headers_max};
    if (memchr(text, '\0', len) != NULL)
        return refuse(reason, 400, "the head has a NUL byte");
    text[len] = '\0';
    struct td_str authority = {0};
    char *line = text;
    bool first = true;
    for (;;) {
        char *feed = strchr(line, '\n');
        if (feed == NULL || feed == line || feed[-1] != '\r')
            return refuse(reason, 400, "a line of the head does not end in CR LF");
        feed[-1] = '\0';
        if (feed - 1 == line)
            break; /* the empty line */
        if (strchr(line, '\r') != NULL)
            return refuse(reason, 400, "there is a CR inside a line of the head");
        int code = first ? parse_request_line(head, line, &authority, reason)
                         : parse_header_line(head, line, reason);
        if (code)
            return code;
        first = false;
        line = feed + 1;
    }
    if (first)
        return refuse(reason, 400, "there is no request line");
    return read_framing(head, authority, reason);
}

const char *http_head_find(const struct http_head *head, const char *name)
{
    for (size_t i = 0; i < head->header_count; i++)
        if (strcasecmp(head->headers[i].name, name) == 0)
            return head->headers[i].value;
    return NULL;
}

/* Chunked body (RFC 9112, 7.1): size [;extension] CRLF data CRLF ... 0 CRLF *(trailer CRLF) CRLF */
enum chunk_state {
    CHUNK_SIZE,
    CHUNK_EXTENSION,
    CHUNK_SIZE_LF,
    CHUNK_DATA,
    CHUNK_DATA_CR,
    CHUNK_DATA_LF,
    TRAILER_START,
    TRAILER_NAME,
    TRAILER_VALUE,
    TRAILER_LF,
    CHUNKS_END_LF
};

/* With more than 15 digits the size might overflow; it is far above every limit before that. */
#define CHUNK_DIGITS_MAX 15

static bool feed_size_line(struct http_chunks *chunks, char c)
{
    if (++chunks->line_bytes > CHUNK_LINE_BYTES_MAX)
        return false;
    if (chunks->state == CHUNK_SIZE_LF) {
        chunks->state = chunks->left > 0 ? CHUNK_DATA : TRAILER_START;
        chunks->line_bytes = 0;
        chunks->digits = 0;
        return c == '\n';
    }
    if (c == '\r') {
        chunks->state = CHUNK_SIZE_LF;
        return chunks->digits > 0;
    }
    if (chunks->state == CHUNK_EXTENSION)
        return is_field_char((unsigned char)c);
    if (c == ';') {
        chunks->state = CHUNK_EXTENSION;
        return chunks->digits > 0;
    }
    int digit = ascii_hex_value(c);
    if (digit < 0 || chunks->digits == CHUNK_DIGITS_MAX)
        return false;
    chunks->digits++;
    chunks->left = chunks->left * 16 + (uint64_t)digit;
    return true;
}

/* Trailers are checked and dropped: they may not carry anything that we act on. */
static bool feed_trailer(struct http_chunks *chunks, char c)
{
    if (++chunks->line_bytes > TRAILER_BYTES_MAX)
        return false;
    switch (chunks->state) {
    case TRAILER_START:
        chunks->state = c == '\r' ? CHUNKS_END_LF : TRAILER_NAME;
        return c == '\r' || is_token_char((unsigned char)c);
    case TRAILER_NAME:
        if (c == ':')
            chunks->state = TRAILER_VALUE;
        return c == ':' || is_token_char((unsigned char)c);
    case TRAILER_VALUE:
        if (c == '\r')
            chunks->state = TRAILER_LF;
        return c == '\r' || is_field_char((unsigned char)c);
    default: /* TRAILER_LF */
        chunks->state = TRAILER_START;
        return c == '\n';
    }
}

enum http_chunks_result http_chunks_feed(struct http_chunks *chunks, struct td_str bytes,
                                         size_t *used, struct td_str *data)
{
    ASSERT(chunks != NULL);
    size_t at = 0;
    bool good = true;
    while (good && at < bytes.len) {
        if (chunks->state == CHUNK_DATA) {
            size_t here = bytes.len - at;
            if (here > chunks->left)
                here = (size_t)chunks->left;
            *data = (struct td_str){bytes.data + at, here};
            chunks->left -= here;
            if (chunks->left == 0)
                chunks->state = CHUNK_DATA_CR;
            *used = at + here;
            return HTTP_CHUNKS_DATA;
        }
        char c = bytes.data[at++];
        if (chunks->state <= CHUNK_SIZE_LF) {
            good = feed_size_line(chunks, c);
        } else if (chunks->state == CHUNK_DATA_CR) {
            chunks->state = CHUNK_DATA_LF;
            good = c == '\r';
        } else if (chunks->state == CHUNK_DATA_LF) {
            chunks->state = CHUNK_SIZE;
            good = c == '\n';
        } else if (chunks->state == CHUNKS_END_LF) {
            *used = at;
            return c == '\n' ? HTTP_CHUNKS_END : HTTP_CHUNKS_BAD;
        } else {
            good = feed_trailer(chunks, c);
        }
    }
    *used = at;
    return good ? HTTP_CHUNKS_MORE : HTTP_CHUNKS_BAD;
}
