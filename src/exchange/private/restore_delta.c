/* A surrogate may be cut between two pieces, so each stream holds back what may still become one.
 * Texts that come whole (addresses and titles of citations, a server's own members) are restored
 * where they stand.
 * What is held comes out when the stream is over: text before a tool call begins, a call's
 * arguments before the next call, and everything at the end. */
#include "exchange/private/restore_delta.h"

#include "base/core/assertion.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "tier/openai/openai_beside.h"
#include "tier/openai/openai_delta.h"

#include <stdio.h>
#include <stdlib.h>

/* An answer's text, its reasoning, and the arguments of as many tool calls as anybody makes.
 * Further streams are restored piece by piece. */
#define STREAMS_MAX 64
#define TEXT_BYTES_MAX ((size_t)64 << 20)

enum stream_kind { STREAM_VISIBLE, STREAM_BESIDE, STREAM_ENTRY, STREAM_ARGUMENTS };

/* What says which stream a text continues. */
struct stream_key {
    enum stream_kind kind;
    const char *name; /* STREAM_BESIDE: the text's; STREAM_ENTRY: the list's */
    uint32_t call;    /* STREAM_ARGUMENTS: the call's number; STREAM_ENTRY: the entry's */
    bool custom;      /* STREAM_ARGUMENTS: they are no JSON */
};

struct stream {
    enum stream_kind kind;
    char name[32];
    uint32_t call;
    bool custom;
    const char *member; /* STREAM_ENTRY: that has the text, a constant */
    char type[40];      /* STREAM_ENTRY: the entry's */
    struct restorer restorer;
};

struct restore_delta {
    const struct restore_table *table;
    struct stream streams[STREAMS_MAX];
    size_t stream_count;
    struct restore_counts ended; /* of streams that are no more, and of whole texts */
    struct buf text, scratch, function;
    struct json *value; /* of the part at hand, restored */
    struct json *raw;
    struct tier_piece piece;
};

struct restore_delta *restore_delta_new(const struct restore_table *table)
{
    struct restore_delta *delta = calloc(1, sizeof *delta);
    if (!delta)
        return NULL;
    delta->table = table;
    buf_init(&delta->text, TEXT_BYTES_MAX);
    buf_init(&delta->scratch, TEXT_BYTES_MAX);
    buf_init(&delta->function, TEXT_BYTES_MAX);
    return delta;
}

static void forget_stream(struct restore_delta *delta, size_t index)
{
    struct stream *stream = &delta->streams[index];
    delta->ended.seen += stream->restorer.counts.seen;
    delta->ended.restored += stream->restorer.counts.restored;
    restorer_deinit(&stream->restorer);
    *stream = delta->streams[--delta->stream_count];
}

static void end_streams(struct restore_delta *delta)
{
    while (delta->stream_count > 0)
        forget_stream(delta, delta->stream_count - 1);
}

void restore_delta_reset(struct restore_delta *delta)
{
    ASSERT(delta);
    end_streams(delta);
    delta->ended = (struct restore_counts){0};
    json_free(delta->raw);
    json_free(delta->value);
    delta->raw = delta->value = NULL;
}

void restore_delta_free(struct restore_delta *delta)
{
    if (!delta)
        return;
    restore_delta_reset(delta);
    buf_deinit(&delta->text);
    buf_deinit(&delta->scratch);
    buf_deinit(&delta->function);
    free(delta);
}

static bool is_stream(const struct stream *stream, const struct stream_key *key)
{
    return stream->kind == key->kind && stream->call == key->call &&
           strcmp(stream->name, key->name ? key->name : "") == 0;
}

/* NULL when there is no room left. */
static struct stream *stream_of(struct restore_delta *delta, const struct stream_key *key)
{
    for (size_t i = 0; i < delta->stream_count; i++)
        if (is_stream(&delta->streams[i], key))
            return &delta->streams[i];
    if (delta->stream_count == STREAMS_MAX)
        return NULL;
    struct stream *stream = &delta->streams[delta->stream_count];
    *stream = (struct stream){.kind = key->kind, .call = key->call, .custom = key->custom};
    if (key->name && strlen(key->name) >= sizeof stream->name)
        return NULL;
    snprintf(stream->name, sizeof stream->name, "%s", key->name ? key->name : "");
    bool json = key->kind == STREAM_ARGUMENTS && !key->custom;
    if (!restorer_init(&stream->restorer, delta->table, json))
        return NULL;
    delta->stream_count++;
    return stream;
}

/* A text that comes whole. */
static void restore_whole(struct restore_delta *delta, struct td_str text, struct buf *out)
{
    struct restorer restorer;
    if (!restorer_init(&restorer, delta->table, false)) {
        buf_append_str(out, text);
        return;
    }
    restorer_feed(&restorer, text, out);
    restorer_end(&restorer, out);
    delta->ended.seen += restorer.counts.seen;
    delta->ended.restored += restorer.counts.restored;
    restorer_deinit(&restorer);
}

/* **borrows** scratch until the next text. */
static struct td_str restored_text(struct restore_delta *delta, const struct stream_key *key,
                                   struct td_str text)
{
    struct stream *stream = stream_of(delta, key);
    buf_clear(&delta->scratch);
    if (stream)
        restorer_feed(&stream->restorer, text, &delta->scratch);
    else
        restore_whole(delta, text, &delta->scratch);
    return buf_view(&delta->scratch);
}

/* A copy of a value with all its texts restored, each as a whole; names stay. No deeper than
 * base/json/json.h reads. **returns new** */
static struct json *restored_value(struct restore_delta *delta, const struct json *value)
{
    void *iterator = NULL;
    const char *name;
    const struct json *member;
    enum json_kind kind = json_kind_of(value);
    if (kind == JSON_KIND_TEXT) {
        buf_clear(&delta->scratch);
        restore_whole(delta, json_text(value), &delta->scratch);
        return json_new_text(buf_view(&delta->scratch));
    }
    if (kind != JSON_KIND_ARRAY && kind != JSON_KIND_OBJECT)
        return json_clone(value);
    struct json *copy = kind == JSON_KIND_ARRAY ? json_new_array() : json_new_object();
    for (size_t i = 0; kind == JSON_KIND_ARRAY && i < json_count(value); i++)
        json_push(copy, restored_value(delta, json_at(value, i)));
    while (kind == JSON_KIND_OBJECT && json_next(value, &iterator, &name, &member))
        json_put(copy, name, restored_value(delta, member));
    return copy;
}

/* --- the end of streams --- */

/* Gives out what a stream has held back. */
static void put_rest(struct restore_delta *delta, struct stream *stream, struct delta_writer *out)
{
    bool visible = stream->kind == STREAM_VISIBLE;
    buf_clear(&delta->scratch);
    restorer_end(&stream->restorer, visible ? &delta->text : &delta->scratch);
    if (delta->scratch.len == 0)
        return;
    struct td_str rest = buf_view(&delta->scratch);
    if (stream->kind == STREAM_ARGUMENTS)
        openai_delta_put(out, &(struct delta_part){.kind = DELTA_CALL,
                                                   .call = stream->call,
                                                   .custom = stream->custom,
                                                   .arguments = rest});
    else if (stream->kind == STREAM_ENTRY)
        openai_delta_put(out, &(struct delta_part){.kind = DELTA_ENTRY,
                                                   .name = stream->name,
                                                   .call = stream->call,
                                                   .member = stream->member,
                                                   .type = str_from(stream->type),
                                                   .text = rest});
    else
        openai_delta_put(
            out, &(struct delta_part){.kind = DELTA_TEXT, .name = stream->name, .text = rest});
}

/* The text before a call is over when the call begins. */
static void end_text(struct restore_delta *delta)
{
    for (size_t i = delta->stream_count; i-- > 0;) {
        if (delta->streams[i].kind != STREAM_VISIBLE)
            continue;
        restorer_end(&delta->streams[i].restorer, &delta->text);
        forget_stream(delta, i);
    }
}

/* A call is over when a later one begins. What was held of it comes out before, because clients
 * then take its arguments as complete. */
static void end_calls_before(struct restore_delta *delta, uint32_t call, struct delta_writer *out)
{
    for (size_t i = delta->stream_count; i-- > 0;) {
        struct stream *stream = &delta->streams[i];
        if (stream->kind != STREAM_ARGUMENTS || stream->call >= call)
            continue;
        put_rest(delta, stream, out);
        forget_stream(delta, i);
    }
}

/* What is held at the end of the answer; the calls come last. */
static void put_rests(struct restore_delta *delta, struct delta_writer *out)
{
    for (int calls = 0; calls < 2; calls++) {
        for (size_t i = 0; i < delta->stream_count; i++) {
            struct stream *stream = &delta->streams[i];
            bool is_call = stream->kind == STREAM_ARGUMENTS && stream->call != DELTA_OLD_CALL;
            if (is_call == (calls == 1))
                put_rest(delta, stream, out);
        }
    }
}

/* --- pieces --- */

static void restore_call(struct restore_delta *delta, struct delta_part *part,
                         struct delta_writer *out)
{
    if (part->call != DELTA_OLD_CALL) {
        end_text(delta);
        end_calls_before(delta, part->call, out);
    }
    if (part->function.len > 0) {
        buf_clear(&delta->function);
        restore_whole(delta, part->function, &delta->function);
        part->function = buf_view(&delta->function);
    }
    if (part->arguments.len > 0) {
        const struct stream_key key = {
            .kind = STREAM_ARGUMENTS, .call = part->call, .custom = part->custom};
        part->arguments = restored_text(delta, &key, part->arguments);
    }
}

/* A copy of an object, restored but for one member, which has a stream. NULL: all are. */
static const struct json *restored_but(struct restore_delta *delta, const struct json *object,
                                       const char *except)
{
    json_free(delta->value);
    void *iterator = NULL;
    const char *name;
    const struct json *member;
    delta->value = json_new_object();
    while (json_next(object, &iterator, &name, &member)) {
        bool whole = !except || strcmp(name, except) != 0;
        json_put(delta->value, name, whole ? restored_value(delta, member) : json_clone(member));
    }
    return delta->value;
}

static void restore_entry(struct restore_delta *delta, struct delta_part *part)
{
    const struct stream_key key = {.kind = STREAM_ENTRY, .name = part->name, .call = part->call};
    struct stream *stream = part->member ? stream_of(delta, &key) : NULL;
    part->value = restored_but(delta, part->value, stream ? part->member : NULL);
    if (!part->member)
        return;
    if (!stream) {
        part->text = json_text(json_get(part->value, part->member));
        return;
    }
    struct td_str type = json_text(json_get(part->value, "type"));
    stream->member = part->member;
    snprintf(stream->type, sizeof stream->type, STR_FMT, STR_ARG(str_slice(type, 0, 39)));
    part->text = restored_text(delta, &key, part->text);
}

static void restore_part(struct restore_delta *delta, struct delta_part *part,
                         struct delta_writer *out)
{
    switch (part->kind) {
    case DELTA_CALL:
        if (part->call != DELTA_OLD_CALL)
            part->value = restored_but(delta, part->value, part->custom ? "custom" : "function");
        restore_call(delta, part, out);
        break;
    case DELTA_ENTRY:
        restore_entry(delta, part);
        break;
    case DELTA_TEXT:
        part->text = restored_text(
            delta, &(struct stream_key){.kind = STREAM_BESIDE, .name = part->name}, part->text);
        break;
    case DELTA_OTHER:
        json_free(delta->value);
        part->value = delta->value = restored_value(delta, part->value);
        break;
    }
    openai_delta_put(out, part);
}

static void restore_parts(struct restore_delta *delta, const struct json *raw_delta)
{
    struct delta_reader reader;
    struct delta_writer writer = {0};
    struct delta_part part;
    const struct json *beside = json_get(raw_delta, OPENAI_BESIDE);
    openai_delta_read(&reader, raw_delta);
    while (openai_delta_next(&reader, &part))
        restore_part(delta, &part, &writer);
    delta->raw = openai_delta_end(&writer, raw_delta);
    if (beside)
        json_put(delta->raw, OPENAI_BESIDE, restored_value(delta, beside));
}

const struct tier_piece *restore_delta_piece(struct restore_delta *delta,
                                             const struct tier_piece *piece)
{
    ASSERT(delta && piece);
    struct stream *text = stream_of(delta, &(struct stream_key){.kind = STREAM_VISIBLE});
    delta->piece = *piece;
    buf_clear(&delta->text);
    if (text)
        restorer_feed(&text->restorer, piece->text, &delta->text);
    else
        buf_append_str(&delta->text, piece->text);
    json_free(delta->raw);
    delta->raw = NULL;
    if (piece->raw_delta)
        restore_parts(delta, piece->raw_delta);
    delta->piece.raw_delta = delta->raw;
    delta->piece.text = buf_view(&delta->text);
    return &delta->piece;
}

const struct tier_piece *restore_delta_end(struct restore_delta *delta)
{
    struct delta_writer writer = {0};
    buf_clear(&delta->text);
    put_rests(delta, &writer);
    end_streams(delta);
    json_free(delta->raw);
    delta->raw = openai_delta_end(&writer, NULL);
    delta->piece = (struct tier_piece){.text = buf_view(&delta->text), .raw_delta = delta->raw};
    return delta->text.len > 0 || delta->raw ? &delta->piece : NULL;
}

struct restore_counts restore_delta_counts(const struct restore_delta *delta)
{
    struct restore_counts counts = delta->ended;
    for (size_t i = 0; i < delta->stream_count; i++) {
        counts.seen += delta->streams[i].restorer.counts.seen;
        counts.restored += delta->streams[i].restorer.counts.restored;
    }
    return counts;
}
