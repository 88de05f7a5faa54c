/* The end of a part is a delimiter: CR LF "--" boundary. CR stands only at its beginning, because a
 * boundary has none. So after a mismatch the search goes on at the byte that did not match, and
 * what matched before it is content. A delimiter that is cut by the end of a piece needs no copy:
 * its first bytes are those of the delimiter. */
#include "api/files/multipart.h"

#include "base/core/str.h"

#include <stdio.h>
#include <strings.h>

enum state {
    PREAMBLE,
    DELIMITED, /* after a delimiter: CR LF, or "--" */
    LINE_END,  /* CR came, LF is to come */
    LAST_DASH, /* "-" came, another is to come */
    HEAD,
    CONTENT,
    EPILOGUE
};

static bool is_boundary(struct td_str text)
{
    static const char others[] = "'()+_,-./:=? ";
    if (text.len == 0 || text.len > MULTIPART_BOUNDARY_BYTES_MAX || text.data[text.len - 1] == ' ')
        return false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        bool plain = (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
        if (!plain && !(c && strchr(others, c)))
            return false;
    }
    return true;
}

/* The value of a parameter such as name="x" in a header's value, unquoted into out. False when it
 * is malformed; *found says whether it is there. */
static bool parameter(struct td_str value, const char *name, char *out, size_t size, bool *found)
{
    size_t at = str_find(value, STR(";"), 0);
    *found = false;
    while (at < value.len) {
        at++;
        while (at < value.len && (value.data[at] == ' ' || value.data[at] == '\t'))
            at++;
        size_t begin = at, len = 0;
        while (at < value.len && value.data[at] != '=' && value.data[at] != ';')
            at++;
        struct td_str key = str_trim(str_slice(value, begin, at));
        bool mine = str_equal_nocase(key, str_from(name));
        if (at == value.len || value.data[at] == ';')
            continue;
        bool quoted = ++at < value.len && value.data[at] == '"';
        at += quoted;
        bool closed = !quoted;
        for (; at < value.len && (quoted || value.data[at] != ';'); at++) {
            char c = value.data[at];
            if (quoted && c == '"') {
                closed = true;
                at++;
                break;
            }
            if (quoted && c == '\\' && at + 1 < value.len &&
                (value.data[at + 1] == '"' || value.data[at + 1] == '\\'))
                c = value.data[++at];
            if (!mine)
                continue;
            if (*found || len + 1 >= size || c == '\0')
                return false;
            out[len++] = c;
        }
        if (!closed)
            return false;
        if (mine) {
            *found = true;
            out[len] = '\0';
        }
        while (at < value.len && (value.data[at] == ' ' || value.data[at] == '\t'))
            at++;
        if (at < value.len && value.data[at] != ';')
            return false;
    }
    return true;
}

bool multipart_init(struct multipart *multipart, const char *content_type,
                    const struct multipart_events *events)
{
    static const char kind[] = "multipart/form-data";
    struct td_str value = str_from(content_type);
    char boundary[MULTIPART_BOUNDARY_BYTES_MAX + 1];
    bool found;
    *multipart = (struct multipart){.events = *events, .state = PREAMBLE};
    size_t end = str_find(value, STR(";"), 0);
    if (!str_equal_nocase(str_trim(str_slice(value, 0, end)), STR(kind)) ||
        !parameter(value, "boundary", boundary, sizeof boundary, &found) || !found ||
        !is_boundary(str_from(boundary)))
        return false;
    multipart->delimiter_len =
        (size_t)snprintf(multipart->delimiter, sizeof multipart->delimiter, "\r\n--%s", boundary);
    multipart->matched = 2; /* the first one may stand at the very beginning */
    return true;
}

bool multipart_is_whole(const struct multipart *multipart)
{
    return multipart->state == EPILOGUE;
}

static bool fail(struct multipart *multipart, const char *reason)
{
    multipart->fault = reason;
    return false;
}

/* --- the headers of a part --- */

/* The next line of the head; false at its end. */
static bool next_line(struct td_str *head, struct td_str *line)
{
    size_t end = str_find(*head, STR("\r\n"), 0);
    if (end == SIZE_MAX || end == 0)
        return false;
    *line = str_slice(*head, 0, end);
    *head = str_slice(*head, end + 2, head->len);
    return true;
}

static bool has_control(struct td_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (((unsigned char)text.data[i] < ' ' && text.data[i] != '\t') || text.data[i] == 0x7f)
            return true;
    return false;
}

struct head_texts {
    char name[256], filename[1024], type[256];
    bool named, is_file;
};

static bool read_header(struct multipart *multipart, struct td_str line, struct head_texts *out)
{
    struct td_str value = line, key;
    if (!str_next(&value, ':', &key) || has_control(line))
        return fail(multipart, "a header of a part is malformed");
    value = str_trim(value);
    if (str_equal_nocase(key, STR("content-type"))) {
        if (value.len >= sizeof out->type || out->type[0])
            return fail(multipart, "a part's Content-Type is too long, or stands twice");
        memcpy(out->type, value.data, value.len);
        return true;
    }
    if (!str_equal_nocase(key, STR("content-disposition")))
        return true;
    struct td_str kind = str_trim(str_slice(value, 0, str_find(value, STR(";"), 0)));
    if (out->named || !str_equal_nocase(kind, STR("form-data")) ||
        !parameter(value, "name", out->name, sizeof out->name, &out->named) || !out->named ||
        !parameter(value, "filename", out->filename, sizeof out->filename, &out->is_file))
        return fail(multipart, "a part's Content-Disposition must be form-data with one name");
    return true;
}

static bool end_head(struct multipart *multipart)
{
    struct td_str head = {multipart->head, multipart->head_len}, line;
    struct head_texts texts = {.named = false};
    while (next_line(&head, &line))
        if (!read_header(multipart, line, &texts))
            return false;
    if (!texts.named)
        return fail(multipart, "a part has no name");
    const struct multipart_part part = {texts.name, texts.is_file ? texts.filename : NULL,
                                        texts.type};
    multipart->state = CONTENT;
    multipart->matched = 0;
    return multipart->events.on_part(multipart->events.ctx, &part);
}

static bool ends_head(const struct multipart *multipart)
{
    size_t len = multipart->head_len;
    return len >= 2 && memcmp(multipart->head + len - 2, "\r\n", 2) == 0 &&
           (len == 2 || (len >= 4 && memcmp(multipart->head + len - 4, "\r\n\r\n", 4) == 0));
}

static bool feed_head(struct multipart *multipart, char c)
{
    if (multipart->head_len == sizeof multipart->head)
        return fail(multipart, "the headers of a part are too long");
    multipart->head[multipart->head_len++] = c;
    return !ends_head(multipart) || end_head(multipart);
}

/* --- content --- */

static bool give(struct multipart *multipart, const char *data, size_t len)
{
    if (len == 0 || multipart->state == PREAMBLE)
        return true;
    return multipart->events.on_data(multipart->events.ctx, (struct td_str){data, len});
}

/* Takes bytes up to the end of a delimiter, or all. What may be the beginning of one is held back
 * as a count. */
static bool feed_content(struct multipart *multipart, struct td_str bytes, size_t *used)
{
    size_t begin = 0, at = 0;
    while (at < bytes.len) {
        if (multipart->matched == 0) {
            const char *cr = memchr(bytes.data + at, '\r', bytes.len - at);
            at = cr ? (size_t)(cr - bytes.data) : bytes.len;
            if (!give(multipart, bytes.data + begin, at - begin))
                return false;
            begin = at;
            if (!cr)
                break;
        }
        if (bytes.data[at] != multipart->delimiter[multipart->matched]) {
            size_t held = multipart->matched;
            multipart->matched = 0;
            if (!give(multipart, multipart->delimiter, held))
                return false;
            begin = at;
            continue;
        }
        at++;
        begin = at;
        if (++multipart->matched == multipart->delimiter_len) {
            multipart->state = DELIMITED;
            break;
        }
    }
    *used = at;
    return true;
}

/* --- the whole --- */

static bool feed_byte(struct multipart *multipart, char c)
{
    switch (multipart->state) {
    case DELIMITED:
        if (c == ' ' || c == '\t') /* transport padding */
            return true;
        multipart->state = c == '\r' ? LINE_END : LAST_DASH;
        return c == '\r' || c == '-' || fail(multipart, "a boundary is followed by other text");
    case LINE_END:
        multipart->state = HEAD;
        multipart->head_len = 0;
        return c == '\n' || fail(multipart, "a boundary's line must end with CR LF");
    case LAST_DASH:
        multipart->state = EPILOGUE;
        return c == '-' ? multipart->events.on_part(multipart->events.ctx, NULL)
                        : fail(multipart, "a boundary is followed by other text");
    case HEAD:
        return feed_head(multipart, c);
    default:
        return true; /* what follows the end has no meaning */
    }
}

bool multipart_feed(struct multipart *multipart, struct td_str bytes)
{
    while (bytes.len > 0) {
        size_t used = 1;
        bool ok = multipart->state == PREAMBLE || multipart->state == CONTENT
                      ? feed_content(multipart, bytes, &used)
                      : feed_byte(multipart, bytes.data[0]);
        if (!ok)
            return false;
        bytes = str_slice(bytes, used, bytes.len);
    }
    return true;
}
