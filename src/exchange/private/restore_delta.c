/* A surrogate may be cut between two pieces, so each stream holds back what may still become one.
 * What is held comes out when the stream is over: text before a tool call begins, a call's
 * arguments before the next call, and everything at the end. */
#include "exchange/private/restore_delta.h"

#include "base/json.h"
#include "base/str.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

/* An answer's text, its reasoning, and the arguments of as many tool calls as anybody makes.
 * Further streams are restored piece by piece. */
#define STREAMS_MAX 64
#define TEXT_BYTES_MAX ((size_t)64 << 20)
#define NO_CALL UINT32_MAX

/* One member that grows: `name` of the delta, or of a tool call's function. */
struct stream {
    char name[32];
    uint32_t call; /* a tool call's index, or NO_CALL */
    struct restorer restorer;
};

struct restore_delta {
    const struct restore_table *table;
    struct stream streams[STREAMS_MAX];
    size_t stream_count;
    struct restore_counts ended; /* of streams that are no more, and of whole texts */
    struct buf text, scratch;
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
    assert(delta);
    end_streams(delta);
    delta->ended = (struct restore_counts){0};
    json_free(delta->raw);
    delta->raw = NULL;
}

void restore_delta_free(struct restore_delta *delta)
{
    if (!delta)
        return;
    restore_delta_reset(delta);
    buf_deinit(&delta->text);
    buf_deinit(&delta->scratch);
    free(delta);
}

/* NULL when there is no room left. */
static struct restorer *stream_of(struct restore_delta *delta, const char *name, uint32_t call)
{
    for (size_t i = 0; i < delta->stream_count; i++)
        if (delta->streams[i].call == call && strcmp(delta->streams[i].name, name) == 0)
            return &delta->streams[i].restorer;
    if (delta->stream_count == STREAMS_MAX)
        return NULL;
    struct stream *stream = &delta->streams[delta->stream_count];
    *stream = (struct stream){.call = call};
    snprintf(stream->name, sizeof stream->name, "%s", name);
    bool json = strcmp(name, "arguments") == 0;
    if (strlen(name) >= sizeof stream->name ||
        !restorer_init(&stream->restorer, delta->table, json))
        return NULL;
    delta->stream_count++;
    return &stream->restorer;
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

static struct json *restored_text(struct restore_delta *delta, const char *name, uint32_t call,
                                  bool grows, struct td_str text)
{
    struct restorer *restorer = grows ? stream_of(delta, name, call) : NULL;
    buf_clear(&delta->scratch);
    if (restorer)
        restorer_feed(restorer, text, &delta->scratch);
    else
        restore_whole(delta, text, &delta->scratch);
    return json_new_text(buf_view(&delta->scratch));
}

/* --- tool calls --- */

static struct json *restored_function(struct restore_delta *delta, const struct json *function,
                                      uint32_t call)
{
    struct json *copy = json_clone(function);
    if (json_kind_of(json_get(function, "arguments")) == JSON_KIND_TEXT)
        json_put(copy, "arguments",
                 restored_text(delta, "arguments", call, true,
                               json_text(json_get(function, "arguments"))));
    if (json_kind_of(json_get(function, "name")) == JSON_KIND_TEXT)
        json_put(copy, "name",
                 restored_text(delta, "name", call, false, json_text(json_get(function, "name"))));
    return copy;
}

static struct json *call_rest(uint32_t call, struct td_str rest)
{
    struct json *function = json_new_object(), *value = json_new_object();
    json_put(function, "arguments", json_new_text(rest));
    json_put(value, "index", json_new_int(call));
    json_put(value, "function", function);
    return value;
}

/* A call is over when a later one begins. What was held of it comes out before, because clients
 * then take its arguments as complete. */
static void end_calls_before(struct restore_delta *delta, uint32_t call, struct json *list)
{
    for (size_t i = delta->stream_count; i-- > 0;) {
        struct stream *stream = &delta->streams[i];
        if (stream->call == NO_CALL || stream->call >= call)
            continue;
        buf_clear(&delta->scratch);
        restorer_end(&stream->restorer, &delta->scratch);
        if (delta->scratch.len > 0)
            json_push(list, call_rest(stream->call, buf_view(&delta->scratch)));
        forget_stream(delta, i);
    }
}

static struct json *restored_calls(struct restore_delta *delta, const struct json *calls)
{
    struct json *list = json_new_array();
    for (size_t i = 0; list && i < json_count(calls); i++) {
        const struct json *call = json_at(calls, i);
        struct json *copy = json_clone(call);
        int64_t index = json_int(json_get(call, "index"), (int64_t)i);
        uint32_t number = index >= 0 && index < NO_CALL ? (uint32_t)index : NO_CALL - 1;
        end_calls_before(delta, number, list);
        if (json_kind_of(json_get(call, "function")) == JSON_KIND_OBJECT)
            json_put(copy, "function",
                     restored_function(delta, json_get(call, "function"), number));
        json_push(list, copy);
    }
    return list;
}

/* --- pieces --- */

/* The text before a call is over when the call begins. */
static void end_text(struct restore_delta *delta)
{
    for (size_t i = delta->stream_count; i-- > 0;) {
        struct stream *stream = &delta->streams[i];
        if (stream->call != NO_CALL || strcmp(stream->name, "content") != 0)
            continue;
        restorer_end(&stream->restorer, &delta->text);
        forget_stream(delta, i);
    }
}

static void restore_members(struct restore_delta *delta, const struct json *from, struct json *to)
{
    void *iterator = NULL;
    const char *key;
    const struct json *value;
    while (json_next(from, &iterator, &key, &value)) {
        enum json_kind kind = json_kind_of(value);
        if (strcmp(key, "role") == 0 || strcmp(key, "content") == 0)
            continue; /* the text has its own place in the piece */
        if (strcmp(key, "tool_calls") == 0 && kind == JSON_KIND_ARRAY)
            json_put(to, key, restored_calls(delta, value));
        else if (strcmp(key, "function_call") == 0 && kind == JSON_KIND_OBJECT)
            json_put(to, key, restored_function(delta, value, NO_CALL));
        else if (kind == JSON_KIND_TEXT)
            json_put(to, key, restored_text(delta, key, NO_CALL, true, json_text(value)));
    }
}

const struct tier_piece *restore_delta_piece(struct restore_delta *delta,
                                             const struct tier_piece *piece)
{
    assert(delta && piece);
    struct restorer *text = stream_of(delta, "content", NO_CALL);
    delta->piece = *piece;
    buf_clear(&delta->text);
    if (text)
        restorer_feed(text, piece->text, &delta->text);
    else
        buf_append_str(&delta->text, piece->text);
    if (json_count(json_get(json_get(piece->raw_delta, "delta"), "tool_calls")) > 0)
        end_text(delta);
    delta->piece.text = buf_view(&delta->text);
    json_free(delta->raw);
    delta->raw = NULL;
    if (piece->raw_delta) {
        struct json *members = json_clone(json_get(piece->raw_delta, "delta"));
        delta->raw = json_clone(piece->raw_delta);
        restore_members(delta, json_get(piece->raw_delta, "delta"), members);
        if (members)
            json_put(delta->raw, "delta", members);
        delta->piece.raw_delta = delta->raw;
    }
    return &delta->piece;
}

/* --- the end --- */

static void put_rest(struct json *members, struct json *calls, const struct stream *stream,
                     struct td_str rest)
{
    if (stream->call == NO_CALL && strcmp(stream->name, "arguments") != 0) {
        json_put(members, stream->name, json_new_text(rest));
        return;
    }
    if (stream->call != NO_CALL) {
        json_push(calls, call_rest(stream->call, rest));
        return;
    }
    struct json *function = json_new_object();
    json_put(function, "arguments", json_new_text(rest));
    json_put(members, "function_call", function);
}

const struct tier_piece *restore_delta_end(struct restore_delta *delta)
{
    struct json *members = json_new_object(), *calls = json_new_array();
    buf_clear(&delta->text);
    for (size_t i = 0; i < delta->stream_count; i++) {
        struct stream *stream = &delta->streams[i];
        bool is_text = stream->call == NO_CALL && strcmp(stream->name, "content") == 0;
        buf_clear(&delta->scratch);
        restorer_end(&stream->restorer, is_text ? &delta->text : &delta->scratch);
        if (!is_text && delta->scratch.len > 0)
            put_rest(members, calls, stream, buf_view(&delta->scratch));
    }
    if (json_count(calls) > 0)
        json_put(members, "tool_calls", calls);
    else
        json_free(calls);
    json_free(delta->raw);
    delta->raw = NULL;
    delta->piece = (struct tier_piece){.text = buf_view(&delta->text)};
    if (json_count(members) > 0) {
        delta->raw = json_new_object();
        json_put(delta->raw, "delta", members);
        delta->piece.raw_delta = delta->raw;
    } else {
        json_free(members);
    }
    end_streams(delta);
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
