/* A buffer never holds more than its maximum. The first append that would exceed it, or that finds
 * no memory, sets `failed`, and all later appends do nothing. So a writer makes its calls without
 * checks and looks at `failed` once at the end. The capacity doubles, which keeps appending linear
 * in time. */
#include "base/bytes/buf.h"

#include "base/bytes/file.h"
#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/shortage.h"
#include "base/core/str.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void buf_init(struct buf *buf, size_t bytes_max)
{
    ASSERT(buf != NULL && bytes_max < SIZE_MAX);
    *buf = (struct buf){.bytes_max = bytes_max};
}

void buf_deinit(struct buf *buf)
{
    free(buf->data);
    *buf = (struct buf){.bytes_max = buf->bytes_max};
}

void buf_clear(struct buf *buf)
{
    buf->len = 0;
    buf->failed = false;
    if (buf->data)
        buf->data[0] = '\0';
}

static bool buf_grow(struct buf *buf, size_t needed)
{
    size_t capacity = buf->capacity ? buf->capacity : 64;
    while (capacity < needed)
        capacity = capacity > SIZE_MAX / 2 ? needed : capacity * 2;
    if (capacity > buf->bytes_max + 1) /* a body whose length is known takes no more than that */
        capacity = buf->bytes_max + 1;
    char *data = realloc(buf->data, capacity);
    if (data == NULL) {
        shortage_note();
        buf->failed = true;
        return false;
    }
    buf->data = data;
    buf->capacity = capacity;
    return true;
}

/* Makes room for `more` bytes and the NUL. */
static inline bool buf_reserve(struct buf *buf, size_t more)
{
    ASSERT(buf->len <= buf->bytes_max);
    if (buf->failed)
        return false;
    if (more > buf->bytes_max - buf->len) {
        buf->failed = true;
        return false;
    }
    size_t needed = buf->len + more + 1;
    return needed <= buf->capacity || buf_grow(buf, needed);
}

void buf_append(struct buf *buf, const void *data, size_t len)
{
    ASSERT(data != NULL || len == 0);
    if (!buf_reserve(buf, len))
        return;
    if (len)
        memcpy(buf->data + buf->len, data, len);
    buf->len += len;
    buf->data[buf->len] = '\0';
}

void buf_append_str(struct buf *buf, struct td_str text)
{
    buf_append(buf, text.data, text.len);
}

void buf_append_char(struct buf *buf, char c)
{
    if (!buf_reserve(buf, 1))
        return;
    buf->data[buf->len++] = c;
    buf->data[buf->len] = '\0';
}

static void append_number(struct buf *buf, uint64_t left, bool negative)
{
    char digits[24], *at = digits + sizeof digits;
    do
        *--at = (char)('0' + left % 10);
    while (left /= 10);
    if (negative)
        *--at = '-';
    buf_append(buf, at, (size_t)(digits + sizeof digits - at));
}

static void append_integer(struct buf *buf, int64_t value)
{
    append_number(buf, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, value < 0);
}

/* Appends what the conversion after '%' asks for, and moves behind it; false: it is not plain. */
static bool append_plain(struct buf *buf, const char **format, va_list *args)
{
    const char *at = *format;
    if (*at == 's') {
        const char *text = va_arg(*args, const char *);
        buf_append_str(buf, str_from(text ? text : "(null)"));
    } else if (*at == 'u') {
        append_number(buf, va_arg(*args, unsigned), false);
    } else if (*at == 'd') {
        append_integer(buf, va_arg(*args, int));
    } else if (*at == 'c') {
        buf_append_char(buf, (char)va_arg(*args, int));
    } else if (*at == 'z' && at[1] == 'u') {
        append_number(buf, va_arg(*args, size_t), false);
        at++;
    } else if (*at == 'l' && at[1] == 'l' && at[2] == 'u') {
        append_number(buf, va_arg(*args, unsigned long long), false);
        at += 2;
    } else if (*at == 'l' && at[1] == 'l' && at[2] == 'd') {
        append_integer(buf, va_arg(*args, long long));
        at += 2;
    } else {
        return false;
    }
    *format = at + 1;
    return true;
}

/* Formats whose conversions have neither width nor precision, which are most: vsnprintf takes 500
 * instructions for each and more for a whole, and would have to run twice, first for the length.
 * Answers false with the buffer as it was for the others. */
static bool print_plain(struct buf *buf, const char *format, va_list *args)
{
    const size_t before = buf->len;
    const bool failed = buf->failed;
    for (;;) {
        const char *mark = strchrnul(format, '%');
        buf_append(buf, format, (size_t)(mark - format));
        if (*mark == '\0')
            break;
        format = mark + 1;
        if (append_plain(buf, &format, args))
            continue;
        buf->len = before;
        buf->failed = failed;
        if (buf->data)
            buf->data[before] = '\0';
        return false;
    }
    if (buf->failed && buf->len != before) { /* all of it or nothing */
        buf->len = before;
        buf->data[before] = '\0';
    }
    return true;
}

void buf_printf(struct buf *buf, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    bool done = print_plain(buf, format, &args);
    va_end(args);
    va_copy(args, again);
    int len = done ? 0 : vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (len < 0)
        buf->failed = true;
    else if (!done && buf_reserve(buf, (size_t)len)) {
        vsnprintf(buf->data + buf->len, (size_t)len + 1, format, again);
        buf->len += (size_t)len;
    }
    va_end(again);
}

enum td_status buf_read_file(struct buf *buf, const char *path, struct td_error *err)
{
    const char *label = path ? path : "standard input";
    FILE *file = stdin;
    if (path) {
        int fd;
        enum td_status status = file_open_regular(path, 0, &fd, NULL, err);
        if (status != TD_OK)
            return status;
        file = fdopen(fd, "rb");
        if (!file) {
            close(fd);
            return error_set(err, TD_NO_MEMORY, "%s: %s", label, strerror(errno));
        }
    }
    char block[16384];
    size_t count;
    uint32_t shortages = shortage_count();
    while (!buf->failed && (count = fread(block, 1, sizeof block, file)) > 0)
        buf_append(buf, block, count);
    bool broken = ferror(file) != 0;
    if (path)
        fclose(file);
    if (broken)
        return error_set(err, TD_IO, "%s: cannot be read", label);
    if (buf->failed)
        return shortage_judge(
            shortages, error_set(err, TD_LIMIT, "%s: larger than %zu bytes", label, buf->bytes_max),
            err);
    return TD_OK;
}

void buf_truncate(struct buf *buf, size_t len)
{
    if (len >= buf->len)
        return;
    buf->len = len;
    buf->data[len] = '\0';
}

void buf_consume(struct buf *buf, size_t len)
{
    if (len >= buf->len) {
        buf->len = 0;
    } else {
        memmove(buf->data, buf->data + len, buf->len - len);
        buf->len -= len;
    }
    if (buf->data)
        buf->data[buf->len] = '\0';
}

struct td_str buf_view(const struct buf *buf)
{
    return (struct td_str){buf->data, buf->len};
}

char *buf_take(struct buf *buf)
{
    if (buf->failed)
        return NULL;
    buf_append(buf, "", 0); /* so that an empty buffer gives "" */
    char *data = buf->data;
    if (data == NULL)
        return NULL;
    *buf = (struct buf){.bytes_max = buf->bytes_max};
    return data;
}
