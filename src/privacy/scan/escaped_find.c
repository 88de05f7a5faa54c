/* Only the surroundings of escapes are read a second time, by pieces of bounded size; findings have
 * the places of the text as it stands. */
#include "privacy/scan/escaped_find.h"

#include "base/core/assertion.h"
#include "base/core/str.h"
#include "privacy/detect/detect.h"
#include "privacy/kind/spans.h"
#include "privacy/scan/scan.h"
#include "privacy/scan/scanner.h"
#include "privacy/text/disguise.h"
#include "privacy/text/escaped.h"

#include <stdlib.h>

#define REACH 256u   /* around an escape: a word that announces something, a value */
#define PIECE 65536u /* bytes of the text at a time */
#define OVERLAP \
    4096u /* of two pieces where escapes go on: longer than any finding but the largest keys */
#define ESCAPED_LEVELS 3 /* JSON in JSON in JSON: deeper is nobody's habit */

struct escaped {
    const struct privacy_scanner *scanner;
    struct spans found;
    bool strict;
    const struct rereader *rereader;
    size_t base; /* of the piece */
    char plain[PIECE + REACH];
    uint32_t origin[PIECE + REACH + 1];
};

static void add_span(void *ctx, const struct privacy_span *span)
{
    struct escaped *escaped = ctx;
    struct privacy_span own = *span;
    own.begin = escaped->base + escaped->origin[span->begin];
    own.end = escaped->base + escaped->origin[span->end];
    spans_add(&escaped->found, &own);
}

static void scan_decoded(struct escaped *escaped, struct td_str text)
{
    struct privacy_span *rules;
    size_t count = privacy_rules_find(privacy_scanner_rules(escaped->scanner), text, &rules);
    if (count == SIZE_MAX) {
        const struct privacy_span whole = privacy_unread(text);
        add_span(escaped, &whole);
        return;
    }
    const struct scan_beside beside = {.names = privacy_scanner_names(escaped->scanner),
                                       .others = rules,
                                       .other_count = count,
                                       .strict = escaped->strict};
    scan_text(text, &beside, add_span, escaped);
    free(rules);
}

static void read_piece(struct escaped *escaped, struct td_str text, size_t begin, size_t end)
{
    struct td_str piece = str_slice(text, begin, end);
    const uint32_t *from = NULL;
    escaped->base = begin;
    for (int level = 0; level < ESCAPED_LEVELS; level++) {
        bool read = false;
        if (escaped_next(piece, 0) != SIZE_MAX) {
            piece.len = escaped_read(piece, from, escaped->plain, escaped->origin);
            piece.data = escaped->plain;
            from = escaped->origin;
            read = true;
        }
        if (disguise_next(&(struct disguise_cursor){0}, piece, 0) != SIZE_MAX) {
            piece.len = disguise_read(piece, from, escaped->plain, escaped->origin);
            piece.data = escaped->plain;
            from = escaped->origin;
            read = true;
        }
        if (!read)
            return;
        if (escaped->rereader != NULL)
            escaped->rereader->see(escaped->rereader->ctx, piece, escaped->origin, begin);
        scan_decoded(escaped, piece);
    }
}

/* Where the next escape or disguise stands, each looked for once over the whole text. */
struct cursor {
    size_t escape; /* offset + 1; 0: not looked for yet */
    struct disguise_cursor disguise;
    bool goes_on; /* the last piece was cut: the next one begins at its floor */
};

static size_t cursor_next(struct cursor *cursor, struct td_str text, size_t from)
{
    if (cursor->escape == 0 || (cursor->escape != SIZE_MAX && cursor->escape - 1 < from)) {
        size_t found = escaped_next(text, from);
        cursor->escape = found == SIZE_MAX ? SIZE_MAX : found + 1;
    }
    size_t disguise = disguise_next(&cursor->disguise, text, from);
    return cursor->escape != SIZE_MAX && cursor->escape - 1 < disguise ? cursor->escape - 1
                                                                       : disguise;
}

/* The beginning of the word at the place, if it is near: half a word is another one. */
static size_t word_begin(struct td_str text, size_t at, size_t floor)
{
    size_t begin = at;
    while (begin > floor && at - begin < 64 && (unsigned char)text.data[begin - 1] > ' ')
        begin--;
    return begin > floor && at - begin == 64 ? at : begin;
}

/* Reads the piece that begins with the escape at `at` and not before `floor`; answers from where on
 * the next escape is looked for. */
static size_t next_piece(struct escaped *escaped, struct td_str text, struct cursor *cursor,
                         size_t at, size_t floor)
{
    size_t begin =
               !cursor->goes_on && at > floor + REACH ? word_begin(text, at - REACH, floor) : floor,
           last = at, next;
    while ((next = cursor_next(cursor, text, last + 1)) != SIZE_MAX && next - last <= 2 * REACH &&
           next - begin < PIECE)
        last = next;
    cursor->goes_on = next != SIZE_MAX && next - last <= 2 * REACH;
    size_t end = text.len - last > REACH ? last + REACH : text.len;
    read_piece(escaped, text, begin, end);
    if (!cursor->goes_on)
        return end;
    size_t resume = end - OVERLAP; /* not inside an escape */
    for (size_t back = 1; back <= 5; back++)
        if (text.data[resume - back] == '\\')
            return resume - back;
    while (((unsigned char)text.data[resume] & 0xC0) == 0x80)
        resume--; /* nor inside a character */
    return resume;
}

static int by_begin(const void *a, const void *b)
{
    const struct privacy_span *first = a, *second = b;
    return first->begin < second->begin ? -1 : first->begin > second->begin;
}

bool escaped_find(const struct privacy_scanner *scanner, struct td_str text, bool strict,
                  const struct rereader *rereader, struct privacy_span **spans, size_t *count)
{
    ASSERT(scanner != NULL && spans != NULL && count != NULL);
    struct cursor cursor = {0};
    size_t at = cursor_next(&cursor, text, 0), floor = 0;
    if (at == SIZE_MAX)
        return true;
    struct escaped *escaped = malloc(sizeof *escaped);
    if (escaped == NULL)
        return false;
    escaped->found = (struct spans){*spans, *count, *count, false};
    escaped->scanner = scanner;
    escaped->strict = strict;
    escaped->rereader = rereader;
    for (; at != SIZE_MAX; at = cursor_next(&cursor, text, floor))
        floor = next_piece(escaped, text, &cursor, at, floor);
    *spans = escaped->found.spans;
    *count = escaped->found.count;
    if (*count > 1)
        qsort(*spans, *count, sizeof **spans, by_begin);
    bool ok = !escaped->found.failed;
    free(escaped);
    return ok;
}
