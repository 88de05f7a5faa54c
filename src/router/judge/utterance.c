/* Line by line, each message is cut into what the user said and what they brought along: fences,
 * tags, quoted lines, headings such as "Context:". An attacker writes into what is brought along,
 * so it must not move a decision; how much there is of it may. What remains is folded into one
 * short canonical text. */
#include "router/judge/utterance.h"

#include "base/core/str.h"
#include "base/text/utf8.h"
#include "router/judge/fold.h"

/* A follow-up shorter than this says too little by itself. */
#define SHORT_BYTES 80
/* A quotation inside a line counts as brought along from here on; a shorter one is part of the
 * question. */
#define QUOTATION_BYTES_MIN 120
#define HEAD_BYTES (UTTERANCE_BYTES_MAX / 3 * 2)
#define TAIL_BYTES (UTTERANCE_BYTES_MAX - HEAD_BYTES - 1) /* a line break stands between */
#define SPANS_MAX 64

/* The user's own parts of one message, in order. */
struct spans {
    struct td_str span[SPANS_MAX];
    size_t count, own_bytes, quoted_bytes;
    uint32_t fences;
};

enum quoting { QUOTING_NONE, QUOTING_FENCE, QUOTING_TAG, QUOTING_HEADING };

struct line_reader {
    enum quoting quoting;
    char fence[4];     /* what closes a fence */
    struct td_str tag; /* what closes a tag, without "</" and ">" */
    struct spans *spans;
};

/* Tags and headings under which people and templates put documents. */
static const char *const document_words[] = {
    "article", "context", "data", "doc",  "document",  "documents", "email",
    "excerpt", "file",    "log",  "logs", "passage",   "quote",     "report",
    "source",  "sources", "text", "tool", "transcript"};
static const char *const request_words[] = {"answer", "instruction", "instructions", "prompt",
                                            "query",  "question",    "request",      "task"};

static bool is_one_of(struct td_str word, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (str_equal_nocase(word, str_from(words[i])))
            return true;
    return false;
}

/* "Context:" gives "Context": the heading's one or two words before a colon; empty when the line
 * has none. */
static struct td_str heading_of(struct td_str line)
{
    size_t end = 0;
    while (end < line.len && end < 24 && line.data[end] != ':')
        end++;
    if (end == line.len || line.data[end] != ':')
        return (struct td_str){0};
    struct td_str heading = str_slice(line, 0, end);
    size_t space = str_find(heading, STR(" "), 0); /* "Document 1:" */
    return space == SIZE_MAX ? heading : str_slice(heading, 0, space);
}

/* "<document index=1>" gives "document" when it is one of the words; empty otherwise. */
static struct td_str tag_of(struct td_str line)
{
    if (line.len < 3 || line.data[0] != '<')
        return (struct td_str){0};
    size_t end = 1;
    while (end < line.len && line.data[end] != '>' && line.data[end] != ' ')
        end++;
    struct td_str name = str_slice(line, 1, end);
    bool known = is_one_of(name, document_words, sizeof document_words / sizeof *document_words);
    return known ? name : (struct td_str){0};
}

static bool closes_tag(struct td_str line, struct td_str tag)
{
    for (size_t at = str_find(line, STR("</"), 0); at != SIZE_MAX;
         at = str_find(line, STR("</"), at + 2))
        if (str_equal_nocase(str_slice(line, at + 2, at + 2 + tag.len), tag))
            return true;
    return false;
}

static void add_own(struct spans *spans, struct td_str text)
{
    spans->own_bytes += text.len;
    struct td_str *last = spans->count ? &spans->span[spans->count - 1] : NULL;
    if (last && last->data + last->len == text.data)
        last->len += text.len;
    else if (spans->count < SPANS_MAX && text.len > 0)
        spans->span[spans->count++] = text;
}

/* A line of the user's, without long quotations in it. */
static void add_line(struct spans *spans, struct td_str line)
{
    while (line.len > QUOTATION_BYTES_MIN) {
        size_t open = str_find(line, STR("\""), 0);
        size_t close = open == SIZE_MAX ? SIZE_MAX : str_find(line, STR("\""), open + 1);
        if (close == SIZE_MAX)
            break;
        if (close - open < QUOTATION_BYTES_MIN) {
            add_own(spans, str_slice(line, 0, close)); /* its end may be the next one's beginning */
            line = str_slice(line, close, line.len);
            if (line.len == 0 || str_find(line, STR("\""), 1) == SIZE_MAX)
                break;
            add_own(spans, str_slice(line, 0, 1));
            line = str_slice(line, 1, line.len);
            continue;
        }
        add_own(spans, str_slice(line, 0, open));
        spans->quoted_bytes += close + 1 - open;
        line = str_slice(line, close + 1, line.len);
    }
    add_own(spans, line);
}

/* Does the line open a quoted block? */
static bool opens(struct line_reader *reader, struct td_str line, struct td_str trimmed)
{
    static const char *const fences[] = {"```", "~~~", "\"\"\""};
    for (size_t i = 0; i < sizeof fences / sizeof *fences; i++) {
        struct td_str fence = str_from(fences[i]);
        /* Three quotes inside code are a docstring; a fence of quotes stands alone in its line. */
        bool found = i < 2 ? str_starts_with(trimmed, fence)
                           : str_equal(str_slice(line, 0, trimmed.len), fence);
        bool closed = /* ```code``` in one line */
            found && i < 2 && str_find(trimmed, fence, 3) != SIZE_MAX;
        if (found && !closed) {
            memcpy(reader->fence, fences[i], 4);
            reader->quoting = QUOTING_FENCE;
            reader->spans->fences++;
            return true;
        }
    }
    struct td_str tag = tag_of(trimmed);
    if (tag.len > 0) {
        reader->tag = tag;
        reader->quoting = closes_tag(trimmed, tag) ? QUOTING_NONE : QUOTING_TAG;
        return true;
    }
    if (is_one_of(heading_of(trimmed), document_words,
                  sizeof document_words / sizeof *document_words)) {
        reader->quoting = QUOTING_HEADING;
        return true;
    }
    return false;
}

static void read_line(struct line_reader *reader, struct td_str line)
{
    struct td_str trimmed = str_trim(line);
    bool own = false;
    switch (reader->quoting) {
    case QUOTING_FENCE:
        if (str_starts_with(trimmed, str_from(reader->fence)))
            reader->quoting = QUOTING_NONE;
        break;
    case QUOTING_TAG:
        if (closes_tag(trimmed, reader->tag))
            reader->quoting = QUOTING_NONE;
        break;
    case QUOTING_HEADING:
        if (is_one_of(heading_of(trimmed), request_words,
                      sizeof request_words / sizeof *request_words)) {
            reader->quoting = QUOTING_NONE;
            own = true;
        }
        break;
    case QUOTING_NONE:
        own = !opens(reader, line, trimmed) && !(trimmed.len > 0 && trimmed.data[0] == '>');
        break;
    }
    if (own)
        add_line(reader->spans, line);
    else
        reader->spans->quoted_bytes += line.len;
}

static void split(struct td_str text, struct spans *spans)
{
    struct line_reader reader = {.spans = spans};
    spans->count = spans->own_bytes = spans->quoted_bytes = spans->fences = 0;
    for (size_t at = 0; at < text.len;) {
        const char *end = memchr(text.data + at, '\n', text.len - at);
        size_t next = end ? (size_t)(end - text.data) + 1 : text.len;
        read_line(&reader, str_slice(text, at, next));
        at = next;
    }
}

static bool is_white(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Appends one folded byte; white space and repeats are collapsed. */
static inline void put(struct utterance *out, size_t limit, char c)
{
    size_t len = out->len;
    if (is_white(c)) {
        bool line = c == '\n' || c == '\r';
        if (len == 0 || out->text[len - 1] == '\n')
            return;
        if (out->text[len - 1] == ' ') {
            if (line)
                out->text[len - 1] = '\n';
            return;
        }
        c = line ? '\n' : ' ';
    } else if (len >= 3 && out->text[len - 1] == c && out->text[len - 2] == c &&
               out->text[len - 3] == c && (unsigned char)c < 0x80) {
        return;
    }
    if (len < limit)
        out->text[out->len++] = c;
}

static void put_text(struct utterance *out, size_t limit, struct td_str text)
{
    for (size_t at = 0; at < text.len && out->len < limit;) {
        unsigned char byte = (unsigned char)text.data[at];
        if (byte < 0x80) {
            bool capital = byte >= 'A' && byte <= 'Z';
            out->capitals += capital;
            out->letters += capital || (byte >= 'a' && byte <= 'z');
            if (byte >= 0x20 ? byte != 0x7F : is_white((char)byte))
                put(out, limit, (char)(capital ? byte + 32 : byte));
            at++;
            continue;
        }
        char folded[FOLD_BYTES_MAX];
        size_t len = fold_character(utf8_next(text, &at), folded);
        for (size_t i = 0; i < len; i++)
            put(out, limit, folded[i]);
    }
}

/* The spans from the byte `skip` of their concatenation on. */
static void put_spans(struct utterance *out, size_t limit, const struct spans *spans, size_t skip)
{
    for (size_t i = 0; i < spans->count && out->len < limit; i++) {
        struct td_str span = spans->span[i];
        size_t left_out = skip < span.len ? skip : span.len;
        skip -= left_out;
        if (i > 0 && left_out < span.len)
            put(out, limit, ' ');
        put_text(out, limit, str_slice(span, left_out, span.len));
    }
}

static void put_message(struct utterance *out, const struct spans *spans)
{
    size_t all = 0;
    for (size_t i = 0; i < spans->count; i++)
        all += spans->span[i].len;
    if (all <= UTTERANCE_BYTES_MAX) {
        put_spans(out, UTTERANCE_BYTES_MAX, spans, 0);
        return;
    }
    put_spans(out, HEAD_BYTES, spans, 0);
    put(out, HEAD_BYTES + 1, '\n');
    put_spans(out, UTTERANCE_BYTES_MAX, spans, all - TAIL_BYTES);
}

static void finish(struct utterance *out)
{
    while (out->len > 0 && is_white(out->text[out->len - 1]))
        out->len--;
    memset(out->text + out->len, 0, UTTERANCE_SLACK);
}

void utterance_read(const struct td_request *request, struct utterance *out)
{
    out->len = out->own_bytes = out->quoted_bytes = 0;
    out->user_turns = out->fences = out->letters = out->capitals = 0;
    for (size_t i = request->message_count; i > 0; i--) {
        const struct td_message *message = &request->messages[i - 1];
        if (message->role != TD_ROLE_USER)
            continue;
        out->user_turns++;
        if (out->user_turns > 1 && out->len >= SHORT_BYTES)
            continue;
        struct spans spans;
        split(message->content, &spans);
        if (out->user_turns == 1) {
            out->own_bytes = spans.own_bytes;
            out->quoted_bytes = spans.quoted_bytes;
            out->fences = spans.fences;
        } else {
            put(out, UTTERANCE_BYTES_MAX, '\n');
        }
        put_message(out, &spans);
    }
    finish(out);
}

void utterance_read_text(struct td_str text, struct utterance *out)
{
    struct td_message message = {.role = TD_ROLE_USER, .content = text};
    struct td_request request = {.messages = &message, .message_count = 1};
    utterance_read(&request, out);
}
