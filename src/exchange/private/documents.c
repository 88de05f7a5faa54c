#include "exchange/private/documents.h"

#include "base/ascii.h"
#include "base/str.h"

/* A question is rarely longer; the paragraph of a contract often is. */
#define QUESTION_BYTES_MAX 600
#define DOCUMENT_END STR("</document>")

struct finding {
    struct documents *out;
    struct buf *left;
    size_t bytes_min;
    bool last; /* of the messages */
    bool open; /* a document has begun in an earlier part of the message */
};

static uint64_t characters_of(struct td_str text)
{
    uint64_t count = 0;
    for (size_t i = 0; i < text.len; i++)
        count += ((unsigned char)text.data[i] & 0xC0) != 0x80;
    return count;
}

static void take(struct finding *f, struct td_str text)
{
    struct documents *out = f->out;
    if (out->count == DOCUMENTS_MAX) {
        out->too_many = true;
        buf_append_str(f->left, STR("[document]"));
        return;
    }
    uint32_t chunks = (uint32_t)(text.len / DOCUMENT_CHUNK_BYTES + 1);
    uint64_t characters = characters_of(text);
    out->texts[out->count] = text;
    out->chunks[out->count++] = chunks;
    out->bytes += text.len;
    out->characters += characters;
    buf_printf(f->left, "[document %zu: chunks %u to %u, %llu characters]", out->count,
               out->chunk_count + 1, out->chunk_count + chunks, (unsigned long long)characters);
    out->chunk_count += chunks;
}

static void leave(struct finding *f, struct td_str text)
{
    buf_append_str(f->left, text);
    f->out->asked = f->out->asked || (f->last && str_trim(text).len > 0);
}

/* The first and the last paragraph, where they are the user's words. */
static void split(struct finding *f, struct td_str text)
{
    struct td_str body = str_trim(text);
    size_t first = str_find(body, STR("\n\n"), 0), last = SIZE_MAX;
    struct td_str paragraph = str_trim(str_slice(body, 0, first));
    if (first != SIZE_MAX && first <= QUESTION_BYTES_MAX &&
        (str_ends_with(paragraph, STR(":")) || str_ends_with(paragraph, STR("?")))) {
        leave(f, paragraph);
        buf_append_char(f->left, '\n');
        body = str_trim(str_slice(body, first, body.len));
    }
    size_t from = body.len > QUESTION_BYTES_MAX ? body.len - QUESTION_BYTES_MAX : 0;
    for (size_t at = from; (at = str_find(body, STR("\n\n"), at)) != SIZE_MAX; at++)
        last = at;
    paragraph = last == SIZE_MAX ? STR("") : str_trim(str_slice(body, last, body.len));
    if (!str_ends_with(paragraph, STR("?"))) {
        take(f, body);
        return;
    }
    take(f, str_trim(str_slice(body, 0, last)));
    buf_append_char(f->left, '\n');
    leave(f, paragraph);
}

static void read_untagged(struct finding *f, struct td_str text)
{
    if (str_trim(text).len >= f->bytes_min)
        split(f, text);
    else
        leave(f, text);
}

/* The next tag <document ...> from `at` on, and the offset behind it; SIZE_MAX: none. */
static size_t find_tag(struct td_str text, size_t at, size_t *behind)
{
    for (; (at = str_find(text, STR("<document"), at)) != SIZE_MAX; at++) {
        size_t after = at + STR("<document").len;
        if (after >= text.len || (text.data[after] != '>' && !ascii_is_space(text.data[after])))
            continue;
        size_t close = str_find(text, STR(">"), after);
        *behind = close == SIZE_MAX ? text.len : close + 1;
        return close == SIZE_MAX ? SIZE_MAX : at; /* no later one has a '>', either */
    }
    return SIZE_MAX;
}

/* Where the document ends whose text begins at `at`; SIZE_MAX: not in this text. Tags may stand in
 * it, too, and what might be its own text must not leave: it ends with as many ends as beginnings,
 * and further ends before the next beginning are of it. */
static size_t document_end(struct td_str text, size_t at)
{
    size_t end = SIZE_MAX, behind = 0, depth = 1;
    size_t open = find_tag(text, at, &behind), close = str_find(text, DOCUMENT_END, at);
    while (close != SIZE_MAX && (open > close || end == SIZE_MAX)) {
        if (open < close) {
            depth++;
            open = find_tag(text, behind, &behind);
            continue;
        }
        depth -= depth > 0;
        end = depth == 0 ? close : end;
        close = str_find(text, DOCUMENT_END, close + DOCUMENT_END.len);
    }
    return end;
}

/* Takes what belongs to the document that is open, up to its end. Gives the offset behind that. */
static size_t take_open(struct finding *f, struct td_str text, size_t begin)
{
    size_t end = document_end(text, begin);
    struct td_str body = str_trim(str_slice(text, begin, end == SIZE_MAX ? text.len : end));
    if (!f->open || body.len > 0)
        take(f, body);
    f->open = end == SIZE_MAX;
    return f->open ? text.len : end + DOCUMENT_END.len;
}

/* One without an end goes on to the end of the message: nothing of it may pass for the user's. */
static void read_text(struct finding *f, struct td_str text)
{
    size_t from = f->open ? take_open(f, text, 0) : 0, at, begin = 0;
    while ((at = find_tag(text, from, &begin)) != SIZE_MAX) {
        read_untagged(f, str_slice(text, from, at));
        from = take_open(f, text, begin);
    }
    if (from < text.len)
        read_untagged(f, str_slice(text, from, text.len));
}

void documents_find(const struct td_request *request, size_t bytes_min, struct documents *out,
                    struct buf *left, size_t *ends)
{
    struct finding f = {.out = out, .left = left, .bytes_min = bytes_min};
    *out = (struct documents){0};
    for (size_t i = 0; i < request->message_count; i++) {
        const struct request_parts *parts = request->parts ? &request->parts[i] : NULL;
        f.last = i + 1 == request->message_count;
        f.open = false;
        for (size_t p = 0; parts && p < parts->count; p++) {
            if (p > 0)
                buf_append_char(left, '\n');
            read_text(&f, parts->texts[p]);
        }
        if (!parts || parts->count == 0)
            read_text(&f, request->messages[i].content);
        ends[i] = left->len;
    }
}
