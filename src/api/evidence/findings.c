/* The findings of a scan as JSON. Positions are given in bytes and in characters, because
 * programs in other languages count characters; they are counted in one pass over the text. */
#include "api/evidence/findings.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/json/json.h"
#include "base/text/names.h"
#include "base/text/utf8.h"

#include <math.h>
#include <stdlib.h>

/* Most texts have a few: one pass then does. */
#define FIRST_CAPACITY 256

enum td_status findings_of(struct td_str text, const struct findings_options *options,
                           struct findings *out, struct td_error *err)
{
    ASSERT(text.data || text.len == 0);
    size_t capacity = FIRST_CAPACITY;
    *out = (struct findings){0};
    for (;;) {
        struct privacy_span *spans = realloc(out->spans, capacity * sizeof *spans);
        if (spans == NULL)
            return error_set(err, TD_NO_MEMORY, "no memory for %zu findings", capacity);
        out->spans = spans;
        out->count = options->strict ? privacy_scan_strict(options->scanner, text, spans, capacity)
                                     : privacy_scan(options->scanner, text, spans, capacity);
        if (out->count <= capacity)
            break;
        capacity = out->count;
    }
    for (size_t i = 0; i < out->count; i++)
        if (out->spans[i].data_class > out->data_class)
            out->data_class = out->spans[i].data_class;
    return TD_OK;
}

void findings_deinit(struct findings *findings)
{
    free(findings->spans);
    *findings = (struct findings){0};
}

/* Code points up to `offset`, going on from where the last question ended. */
struct char_count {
    size_t offset, chars;
};

static size_t chars_to(struct td_str text, size_t offset, struct char_count *at)
{
    while (at->offset < offset) {
        (void)utf8_next(text, &at->offset);
        at->chars++;
    }
    return at->chars;
}

struct json *findings_json(struct td_str text, const struct findings *findings)
{
    struct json *object = json_new_object(), *rows = json_new_array();
    struct char_count at = {0};
    for (size_t i = 0; i < findings->count; i++) {
        const struct privacy_span *span = &findings->spans[i];
        struct json *row = json_new_object();
        json_put(row, "type", json_new_cstr(span_name(span)));
        json_put(row, "score", json_new_double(round((double)span->score * 1000) / 1000));
        json_put(row, "class", json_new_cstr(names_class(span->data_class)));
        json_put(row, "start", json_new_int((int64_t)span->begin));
        json_put(row, "end", json_new_int((int64_t)span->end));
        json_put(row, "char_start", json_new_int((int64_t)chars_to(text, span->begin, &at)));
        json_put(row, "char_end", json_new_int((int64_t)chars_to(text, span->end, &at)));
        json_push(rows, row);
    }
    json_put(object, "class", json_new_cstr(names_class(findings->data_class)));
    json_put(object, "spans", rows);
    return object;
}
