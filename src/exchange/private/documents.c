#include "exchange/private/documents.h"

#include "base/core/ascii.h"
#include "base/core/str.h"

/* A question is rarely longer; the paragraph of a contract often is. */
#define QUESTION_BYTES_MAX 600

struct finding {
    struct documents *out;
    struct buf *left;
    size_t bytes_min;
    bool last; /* of the messages */
    bool open; /* the text begins within a document */
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

struct tag {
    size_t at, behind; /* from its '<' to behind its '>' */
    bool end;
};

/* The next <document ...> or </document> from `from` on, in letters of any case; false: none. */
static bool find_tag(struct td_str text, size_t from, struct tag *out)
{
    for (size_t at = from; (at = str_find(text, STR("<"), at)) != SIZE_MAX; at++) {
        size_t name = at + 1 + (at + 1 < text.len && text.data[at + 1] == '/');
        size_t after = name + STR("document").len;
        if (after >= text.len || !str_equal_nocase(str_slice(text, name, after), STR("document")) ||
            (text.data[after] != '>' && !ascii_is_space(text.data[after])))
            continue;
        size_t close = str_find(text, STR(">"), after);
        *out = (struct tag){.at = at, .behind = close + 1, .end = name > at + 1};
        return close != SIZE_MAX; /* no later one has a '>', either */
    }
    return false;
}

/* The end of the document whose text begins at `at`; false: not in this text. Tags may stand in it,
 * too, and what might be its own text must not leave: it ends with as many ends as beginnings, and
 * further ends before the next beginning are of it. */
static bool find_end(struct td_str text, size_t at, struct tag *out)
{
    struct tag tag;
    bool found = false;
    for (size_t depth = 1; find_tag(text, at, &tag) && (tag.end || !found); at = tag.behind) {
        depth = !tag.end ? depth + 1 : depth > 0 ? depth - 1 : 0;
        if (depth == 0)
            *out = tag;
        found = found || depth == 0;
    }
    return found;
}

/* Takes what belongs to the document that is open, up to its end. Gives the offset behind that. */
static size_t take_open(struct finding *f, struct td_str text, size_t begin)
{
    struct tag end = {0};
    bool ends = find_end(text, begin, &end);
    struct td_str body = str_trim(str_slice(text, begin, ends ? end.at : text.len));
    if (!f->open || body.len > 0)
        take(f, body);
    f->open = !ends;
    return ends ? end.behind : text.len;
}

static void read_text(struct finding *f, struct td_str text)
{
    size_t from = f->open ? take_open(f, text, 0) : 0;
    struct tag tag;
    while (find_tag(text, from, &tag)) {
        read_untagged(f, str_slice(text, from, tag.at));
        from = take_open(f, text, tag.behind);
    }
    if (from < text.len)
        read_untagged(f, str_slice(text, from, text.len));
}

/* The texts of a message: its content, or the parts of it. */
static size_t texts_of(const struct td_request *request, size_t message, const struct td_str **out)
{
    const struct request_parts *parts = request->parts ? &request->parts[message] : NULL;
    bool whole = !parts || parts->count == 0;
    *out = whole ? &request->messages[message].content : parts->texts;
    return whole ? 1 : parts->count;
}

/* Of the messages from `from` to before `to`, the first that has a tag, where that tag is an end:
 * what stands before it is a document's, though its beginning is in an earlier message or was lost.
 * SIZE_MAX: there is none, and a document without an end goes on to the end of its message. */
static size_t ending_message(const struct td_request *request, size_t from, size_t to)
{
    const struct td_str *texts;
    struct tag tag;
    for (size_t i = from; i < to; i++) {
        size_t count = texts_of(request, i, &texts);
        for (size_t t = 0; t < count; t++)
            if (find_tag(texts[t], 0, &tag))
                return tag.end ? i : SIZE_MAX;
    }
    return SIZE_MAX;
}

void documents_find(const struct td_request *request, size_t bytes_min, struct documents *out,
                    struct buf *left, size_t *ends)
{
    struct finding f = {.out = out, .left = left, .bytes_min = bytes_min};
    const struct td_str *texts;
    size_t ending = SIZE_MAX;
    *out = (struct documents){0};
    for (size_t i = 0; i < request->message_count; i++) {
        size_t count = texts_of(request, i, &texts);
        f.last = i + 1 == request->message_count;
        if (!f.open || ending == SIZE_MAX || i > ending) /* else that message is still to come */
            ending = ending_message(request, i, f.open ? request->message_count : i + 1);
        f.open = ending != SIZE_MAX;
        for (size_t t = 0; t < count; t++) {
            if (t > 0)
                buf_append_char(left, '\n');
            read_text(&f, texts[t]);
        }
        ends[i] = left->len;
    }
}
