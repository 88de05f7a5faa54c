/* Rows of texts in which brackets mark the span that a scan must find. */
#ifndef TESTS_MARKED_ROWS_H
#define TESTS_MARKED_ROWS_H

#include "privacy/scan/privacy.h"

#include "scanners.h"
#include "test.h"

#include <string.h>

#define OPEN "\x01"
#define CLOSE "\x02"
#define X(span) OPEN span CLOSE

struct marked_row {
    enum privacy_kind kind;
    const char *text;
};

struct marked_text {
    char bytes[1024];
    size_t len, begin, end; /* without the brackets; the marked span */
};

static inline struct td_str marked_read(const char *row, struct marked_text *out)
{
    *out = (struct marked_text){.len = 0};
    for (const char *p = row; *p; p++)
        if (*p == OPEN[0])
            out->begin = out->len;
        else if (*p == CLOSE[0])
            out->end = out->len;
        else
            out->bytes[out->len++] = *p;
    return (struct td_str){out->bytes, out->len};
}

static inline void marked_report(enum privacy_kind kind, struct td_str text,
                                 const struct privacy_span *spans, size_t count)
{
    fprintf(stderr,
            "  %s in \"%.*s\":", kind < PRIVACY_KIND_COUNT ? privacy_kind_name(kind) : "none",
            (int)text.len, text.data);
    for (size_t i = 0; i < count; i++)
        fprintf(stderr, " %s \"%.*s\"", privacy_kind_name(spans[i].kind),
                (int)(spans[i].end - spans[i].begin), text.data + spans[i].begin);
    fprintf(stderr, "%s\n", count ? "" : " nothing");
}

/* The marked span is among the findings, with its kind. */
static inline void check_marked(const struct marked_row *row)
{
    struct marked_text marked;
    struct td_str text = marked_read(row->text, &marked);
    struct privacy_span spans[16];
    size_t count = privacy_scan(plain_scanner(), text, spans, 16);
    if (count > 16)
        count = 16;
    bool right = false;
    for (size_t i = 0; i < count; i++)
        right |= spans[i].kind == row->kind && spans[i].begin == marked.begin &&
                 spans[i].end == marked.end;
    CHECK(right);
    if (!right)
        marked_report(row->kind, text, spans, count);
}

/* The kind is not among the findings. */
static inline void check_miss(const struct marked_row *row)
{
    struct privacy_span spans[16];
    struct td_str text = {row->text, strlen(row->text)};
    size_t count = privacy_scan(plain_scanner(), text, spans, 16);
    for (size_t i = 0; i < count && i < 16; i++) {
        CHECK(spans[i].kind != row->kind);
        if (spans[i].kind == row->kind)
            fprintf(stderr, "  %s found in \"%s\"\n", privacy_kind_name(row->kind), row->text);
    }
}

#endif
