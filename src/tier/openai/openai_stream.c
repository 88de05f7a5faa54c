/* Reads an answer of an OpenAI-compatible server: chat.completion.chunk events, or one
 * chat.completion object, which some servers send although a stream was requested. Both become the
 * same pieces: a whole object is turned into the one chunk that says the same. What does not have
 * the documented shape ends the stream with TD_CORRUPT. */
#include "base/core/assertion.h"
#include "tier/openai/openai_wire.h"

#include "base/core/error.h"
#include "base/core/shortage.h"
#include "base/core/str.h"
#include "base/crypto/hash.h"
#include "base/json/json.h"
#include "base/text/names.h"
#include "tier/openai/openai_beside.h"
#include "tier/openai/openai_cut.h"
#include "tier/openai/openai_delta.h"
#include "tier/openai/openai_dialect.h"
#include "tier/openai/openai_token_stats.h"
#include "tier/openai/openai_usage.h"

#include <math.h>
#include <stdlib.h>

/* One event carries a few tokens; a megabyte is a tool call with very long arguments. */
#define EVENT_BYTES_MAX (1024 * 1024)
#define EVENT_TEXT "1 MiB"
/* A whole answer of 16k tokens with log-probabilities. */
#define WHOLE_BYTES_MAX (8 * 1024 * 1024)
#define WHOLE_TEXT "8 MiB"
/* The end, the marks of a call or of a thought: far fewer in one chunk. */
#define TOKENS_WITHOUT_TEXT_MAX 64

/* The server does not speak as it should. */
static enum td_status malformed(struct openai_stream *stream, const char *what)
{
    return error_set(stream->err, TD_CORRUPT, "malformed answer: %s", what);
}

/* It does, but nothing can be made of what it said: that may be due to what it was asked. */
static enum td_status unusable(struct openai_stream *stream, const char *what)
{
    stream->own_fault = true;
    return malformed(stream, what);
}

static bool is(const struct json *value, enum json_kind kind)
{
    return json_kind_of(value) == kind;
}

/* A usage that cannot be true does not make the answer untrue: an estimate takes its place. */
static void read_usage(struct openai_stream *stream, const struct json *usage)
{
    if (stream->usage_was_cut) {
        stream->usage = (struct tier_usage){.refused = "it is not JSON"};
    } else if (!json_absent(usage)) {
        stream->usage = openai_usage_read(usage);
        openai_beside_note_usage(&stream->beside, usage);
    }
}

/* Which of the request's texts ended the answer; vLLM and SGLang say so beside OpenAI's members. */
static void read_stop(struct openai_stream *stream, const struct json *choice)
{
    const struct json *told = json_get(choice, "stop_reason");
    if (!is(told, JSON_KIND_TEXT))
        told = json_get(choice, "matched_stop");
    for (size_t i = 0; i < stream->stop_count && is(told, JSON_KIND_TEXT); i++)
        if (str_equal(json_text(told), stream->stops[i]))
            stream->stop_number = (uint32_t)i + 1;
}

static void read_finish(struct openai_stream *stream, const struct json *choice)
{
    const struct json *reason = json_get(choice, "finish_reason");
    read_stop(stream, choice);
    if (json_absent(reason))
        return;
    if (!is(reason, JSON_KIND_TEXT)) {
        malformed(stream, "finish_reason is not a string");
        return;
    }
    stream->finished = true;
    if (str_equal(json_text(reason), STR("function_call"))) /* OpenAI's name before 2023-11 */
        stream->finish = TD_FINISH_TOOL_CALLS;
    else if (!names_finish_parse(json_text(reason), &stream->finish))
        stream->finish = TD_FINISH_STOP; /* a server's own reason ("eos") means stop */
}

/* Whether a choice has more than plain text: tool calls, a refusal, ... */
static bool has_more_than_text(const struct json *choice)
{
    struct delta_reader reader;
    struct delta_part part;
    openai_delta_read(&reader, choice);
    while (openai_delta_next(&reader, &part))
        if (!is(part.value, JSON_KIND_ARRAY) || json_count(part.value) > 0)
            return true;
    return false;
}

/* Of all that the choice shows. */
static size_t bytes_of(const struct json *choice, struct td_str text)
{
    struct delta_reader reader;
    struct delta_part part;
    size_t bytes = text.len;
    openai_delta_read(&reader, choice);
    while (openai_delta_next(&reader, &part))
        bytes += openai_delta_bytes(&part);
    return bytes;
}

/* A token has a byte at least, but for a few that end or divide an answer. What a server sends
 * beyond that is not counted. */
static void bound_stats(struct openai_stream *stream, size_t bytes, struct token_stats_list *list)
{
    size_t most = bytes + TOKENS_WITHOUT_TEXT_MAX;
    if (list->count <= most)
        return;
    stream->surplus_count += list->count - most;
    list->count = most;
}

/* Log-probabilities that only we asked for do not go to the client, and what stands beside the
 * answer is told at its end. **returns new** */
static struct json *without_others(const struct json *choice, bool logprobs)
{
    struct json *bare = json_clone(choice);
    if (!logprobs)
        json_remove(bare, "logprobs");
    json_remove(bare, OPENAI_BESIDE);
    return bare;
}

/* False when a client asked for a number and there is none. In the lists of a completion there may
 * be none: the first token of an echoed prompt has nothing before it. */
static bool read_stats(struct openai_stream *stream, const struct token_stats_list *list, size_t at,
                       struct tier_piece *piece)
{
    bool listed = at < list->count;
    piece->has_stats = listed || stream->chunk_was_cut;
    piece->stats =
        listed ? openai_token_stats_read(list, at) : (struct td_token_stats){.logprob = (float)NAN};
    if (!piece->has_stats || stream->own_logprobs || !isnan(piece->stats.logprob))
        return true;
    piece->has_stats = false;
    return !list->entries;
}

/* Gives out one piece with the text and the first token's stats. Further tokens of the same chunk
 * follow as pieces with stats only, for the confidence. more: the choice has more than its text. */
static void emit(struct openai_stream *stream, const struct json *choice, struct td_str text,
                 bool more)
{
    const struct json *logprobs = json_get(choice, "logprobs");
    struct token_stats_list list = openai_token_stats_open(logprobs);
    size_t bytes = bytes_of(choice, text);
    bound_stats(stream, bytes, &list);
    stream->shown_bytes += bytes;
    bool own = stream->own_logprobs;
    bool hides = own && !json_absent(logprobs);
    bool tells = more || (!own && !json_absent(logprobs));
    bool posing = json_get(choice, OPENAI_BESIDE) != NULL;
    struct json *bare = tells && (hides || posing) ? without_others(choice, !hides) : NULL;
    struct tier_piece piece = {.text = text, .server_identity = stream->identity};
    if (tells)
        piece.raw_delta = bare ? bare : choice;
    for (size_t i = 0; i < list.count || (i == 0 && (text.len > 0 || piece.raw_delta)); i++) {
        if (!read_stats(stream, &list, i, &piece)) {
            unusable(stream, "a logprobs entry has no logprob");
            break;
        }
        stream->text_bytes += piece.text.len;
        stream->stats_count += piece.has_stats;
        stream->on_piece(stream->ctx, &piece);
        piece = (struct tier_piece){.server_identity = stream->identity};
    }
    json_free(bare);
}

/* A choice of a completion: its text, and its log-probabilities. */
static void read_text_choice(struct openai_stream *stream, const struct json *choice)
{
    emit(stream, choice, json_text(json_get(choice, "text")), false);
    openai_beside_note_choice(&stream->beside, choice);
    if (stream->err->status == TD_OK)
        read_finish(stream, choice);
}

static bool is_text_choice(const struct openai_stream *stream, const struct json *choice)
{
    return stream->completion && is(json_get(choice, "text"), JSON_KIND_TEXT);
}

/* What a client asked for must be what it expects. What only we asked for may be anything: then
 * nothing is known, and the answer is as good as without it. */
static void check_logprobs(struct openai_stream *stream, const struct json *logprobs)
{
    if (stream->own_logprobs || json_absent(logprobs))
        return;
    const struct json *content = json_get(logprobs, "content");
    if (!is(logprobs, JSON_KIND_OBJECT))
        unusable(stream, "logprobs is not an object");
    else if (!json_absent(content) && !is(content, JSON_KIND_ARRAY))
        unusable(stream, "logprobs.content is not an array");
}

static void read_choice(struct openai_stream *stream, const struct json *choice)
{
    if (!is(choice, JSON_KIND_OBJECT)) {
        malformed(stream, "a choice is not an object");
        return;
    }
    if (json_int(json_get(choice, "index"), 0) != 0) /* n is 1: not the answer we asked for */
        return;
    const struct json *delta = json_get(choice, "delta");
    if (!json_absent(delta) && !is(delta, JSON_KIND_OBJECT))
        malformed(stream, "delta is not an object");
    else if (!json_absent(json_get(delta, "content")) &&
             !is(json_get(delta, "content"), JSON_KIND_TEXT))
        malformed(stream, "delta.content is not a string");
    else if (!openai_delta_numbered(delta))
        unusable(stream, "the index of a tool call is no number from 0 to 127");
    else
        check_logprobs(stream, json_get(choice, "logprobs"));
    if (stream->err->status != TD_OK)
        return;
    if (is_text_choice(stream, choice)) {
        read_text_choice(stream, choice);
        return;
    }
    emit(stream, choice, json_text(json_get(delta, "content")), has_more_than_text(choice));
    openai_beside_note_choice(&stream->beside, choice);
    if (stream->err->status == TD_OK)
        read_finish(stream, choice);
}

static void read_error(struct openai_stream *stream, const struct json *root)
{
    struct buf text;
    buf_init(&text, EVENT_BYTES_MAX);
    json_write(root, &text);
    struct td_error err = {0};
    openai_read_error(0, buf_view(&text), &stream->refusal, &err);
    error_set(stream->err, err.status, "error in the stream: %s", err.message);
    buf_deinit(&text);
}

/* What a server says of itself: the model that answers, and which build of which configuration. */
static void read_identity(struct openai_stream *stream, const struct json *root)
{
    static const char *const members[] = {"model", "system_fingerprint"};
    uint64_t hash = HASH_FNV1A64_BASIS;
    for (size_t i = 0; i < 2 && stream->identity == 0; i++) {
        struct td_str text = json_text(json_get(root, members[i]));
        hash = hash_fnv1a64(text.data, text.len, hash);
        hash = hash_fnv1a64("", 1, hash);
    }
    if (stream->identity == 0)
        stream->identity = hash ? hash : 1;
}

static void read_chunk(struct openai_stream *stream, const struct json *root)
{
    const struct json *choices = json_get(root, "choices");
    if (!is(root, JSON_KIND_OBJECT)) {
        malformed(stream, "a chunk is not an object");
        return;
    }
    if (!json_absent(json_get(root, "error"))) {
        read_error(stream, root);
        return;
    }
    if (json_absent(choices) && json_absent(json_get(root, "usage"))) {
        malformed(stream, "a chunk has no choices");
        return;
    }
    if (!json_absent(choices) && !is(choices, JSON_KIND_ARRAY)) {
        malformed(stream, "choices is not an array");
        return;
    }
    read_identity(stream, root);
    openai_beside_note_chunk(&stream->beside, root);
    for (size_t i = 0; i < json_count(choices) && stream->err->status == TD_OK; i++)
        read_choice(stream, json_at(choices, i));
    if (stream->err->status == TD_OK)
        read_usage(stream, json_get(root, "usage"));
}

/* The text without its usage, its log-probabilities or both. **returns new**; NULL when that is no
 * JSON either. */
static struct json *parse_without(struct td_str text, bool usage, bool logprobs)
{
    struct buf once, twice;
    struct json *root = NULL;
    buf_init(&once, WHOLE_BYTES_MAX);
    buf_init(&twice, WHOLE_BYTES_MAX);
    bool cut = openai_cut_member(text, usage ? STR("usage") : STR("logprobs"), &once);
    if (cut && usage && logprobs)
        cut = openai_cut_member(buf_view(&once), STR("logprobs"), &twice);
    if (cut && json_parse(buf_view(usage && logprobs ? &twice : &once), &root, NULL) != TD_OK)
        root = NULL;
    buf_deinit(&once);
    buf_deinit(&twice);
    return root;
}

/* NULL when it is no JSON. A text may be JSON but for a usage, which is then refused, or for
 * log-probabilities that only we asked for, whose tokens then count as impossible: some servers
 * write -Infinity. **returns new** */
static struct json *parse(struct openai_stream *stream, struct td_str text)
{
    struct json *root = NULL;
    stream->chunk_was_cut = stream->usage_was_cut = false;
    if (json_parse(text, &root, NULL) == TD_OK)
        return root;
    for (unsigned without = 1; !root && without <= (stream->own_logprobs ? 3u : 1u); without++) {
        stream->usage_was_cut = without & 1;
        stream->chunk_was_cut = without & 2;
        root = parse_without(text, stream->usage_was_cut, stream->chunk_was_cut);
    }
    return root;
}

/* A text that is no JSON, or JSON that nobody can read. */
static void refuse_text(struct openai_stream *stream, struct td_str text, const char *what)
{
    if (json_is_grammatical(text))
        unusable(stream, "a text is no Unicode, or a name stands twice");
    else
        malformed(stream, what);
}

/* The last piece of an answer: what was said beside its message. */
static void tell_beside(struct openai_stream *stream)
{
    struct json *raw_delta = openai_beside_take(&stream->beside);
    if (raw_delta && stream->err->status == TD_OK)
        stream->on_piece(stream->ctx, &(struct tier_piece){.server_identity = stream->identity,
                                                           .raw_delta = raw_delta});
    json_free(raw_delta);
}

/* --- another provider's stream --- */

static void on_dialect_chunk(void *ctx, const struct json *chunk)
{
    struct openai_stream *stream = ctx;
    if (!stream->done && stream->err->status == TD_OK)
        read_chunk(stream, chunk);
}

static void on_dialect_malformed(void *ctx, const char *what)
{
    struct openai_stream *stream = ctx;
    if (!stream->done && stream->err->status == TD_OK)
        malformed(stream, what);
}

static void on_dialect_done(void *ctx)
{
    struct openai_stream *stream = ctx;
    if (stream->done || stream->err->status != TD_OK)
        return;
    stream->done = true;
    tell_beside(stream);
}

static void read_dialect(struct openai_stream *stream, struct td_str name, struct td_str data)
{
    const struct dialect_out out = {on_dialect_chunk, on_dialect_malformed, on_dialect_done,
                                    stream};
    struct json *root = NULL;
    if (json_parse(data, &root, NULL) != TD_OK)
        refuse_text(stream, data, "an event is not JSON");
    else if (!is(root, JSON_KIND_OBJECT))
        malformed(stream, "an event is not an object");
    else
        stream->dialect->read(stream->dialect_state, name, root, &out);
    json_free(root);
}

/* An exception ends the stream; its payload may be {"message": ...} or nothing. */
static void on_frame(void *ctx, const struct event_frame *frame)
{
    struct openai_stream *stream = ctx;
    if (stream->done || stream->err->status != TD_OK)
        return;
    if (str_equal(frame->message_type, STR("event"))) {
        read_dialect(stream, frame->event_type, frame->payload);
        return;
    }
    const struct dialect_out out = {on_dialect_chunk, on_dialect_malformed, on_dialect_done,
                                    stream};
    struct json *root = NULL;
    struct td_str message = frame->error_message;
    if (message.len == 0 && json_parse(frame->payload, &root, NULL) == TD_OK)
        message = json_text(json_get(root, "message"));
    dialect_put_error(&out, frame->event_type, 0, message);
    json_free(root);
}

static void on_event(void *ctx, struct td_str event, struct td_str data)
{
    struct openai_stream *stream = ctx;
    if (stream->done || stream->err->status != TD_OK)
        return;
    if (stream->dialect) {
        read_dialect(stream, event, data);
        return;
    }
    /* OpenAI's chat streams do not name events. */
    if (str_equal(str_trim(data), STR("[DONE]"))) {
        stream->done = true;
        tell_beside(stream);
        return;
    }
    struct json *root = parse(stream, data);
    if (!root)
        refuse_text(stream, data, "a chunk is not JSON");
    else
        read_chunk(stream, root);
    json_free(root);
}

/* In a message, the order of the tool calls numbers them; in a delta, each call has its index. */
static struct json *delta_of_message(const struct json *message)
{
    struct json *delta = json_clone(message);
    const struct json *calls = json_get(message, "tool_calls");
    if (!delta || json_count(calls) == 0)
        return delta;
    struct json *list = json_new_array();
    for (size_t i = 0; list && i < json_count(calls); i++) {
        struct json *call = json_clone(json_at(calls, i));
        if (is(call, JSON_KIND_OBJECT))
            json_put(call, "index", json_new_int((int64_t)i));
        json_push(list, call);
    }
    json_put(delta, "tool_calls", list);
    return delta;
}

/* Turns {choices: [{message}]} into the chunk that says the same, and reads that chunk. */
static void read_whole(struct openai_stream *stream, const struct json *root)
{
    const struct json *choices = json_get(root, "choices");
    const struct json *first = json_at(choices, 0);
    if (!is(root, JSON_KIND_OBJECT) || !json_absent(json_get(root, "error")) ||
        is_text_choice(stream, first)) {
        read_chunk(stream, root);
        return;
    }
    if (!is(choices, JSON_KIND_ARRAY) || !is(json_get(first, "message"), JSON_KIND_OBJECT)) {
        malformed(stream, "no choices with a message");
        return;
    }
    struct json *chunk = json_new_object();
    struct json *list = json_new_array();
    struct json *choice = json_clone(first);
    if (chunk && list && choice) {
        json_put(choice, "delta", delta_of_message(json_get(first, "message")));
        json_remove(choice, "message");
        json_push(list, choice);
        json_put(chunk, "choices", list);
        json_put(chunk, "usage", json_clone(json_get(root, "usage")));
        read_identity(stream, root);
        openai_beside_note_chunk(&stream->beside, root);
        read_chunk(stream, chunk);
    } else {
        json_free(choice);
        json_free(list);
        error_set(stream->err, TD_NO_MEMORY, "no memory for an answer");
    }
    json_free(chunk);
}

void openai_stream_init(struct openai_stream *stream, bool completion, openai_piece_fn *on_piece,
                        void *ctx)
{
    ASSERT(stream != NULL && on_piece != NULL);
    *stream = (struct openai_stream){.on_piece = on_piece, .ctx = ctx, .completion = completion};
    sse_reader_init(&stream->events, EVENT_BYTES_MAX);
    frame_reader_init(&stream->frames, EVENT_BYTES_MAX);
    buf_init(&stream->whole, WHOLE_BYTES_MAX);
}

enum td_status openai_stream_speak(struct openai_stream *stream, const struct tier_dialect *dialect,
                                   struct td_error *err)
{
    ASSERT(stream != NULL && dialect != NULL && !stream->dialect_state);
    stream->dialect = dialect;
    stream->dialect_state = calloc(1, dialect->state_bytes + 1);
    return stream->dialect_state ? TD_OK : error_set(err, TD_NO_MEMORY, "no memory for an answer");
}

void openai_stream_deinit(struct openai_stream *stream)
{
    sse_reader_deinit(&stream->events);
    frame_reader_deinit(&stream->frames);
    free(stream->dialect_state);
    buf_deinit(&stream->whole);
    openai_beside_deinit(&stream->beside);
}

/* The first byte after white space decides: no event stream begins with a brace. */
static enum openai_form form_of(struct td_str bytes)
{
    struct td_str text = str_trim(bytes);
    if (text.len == 0)
        return OPENAI_FORM_UNKNOWN;
    return text.data[0] == '{' ? OPENAI_FORM_WHOLE : OPENAI_FORM_EVENTS;
}

uint64_t openai_stream_progress(const struct openai_stream *stream)
{
    return stream->shown_bytes + stream->stats_count + stream->whole.len + stream->finished +
           stream->usage.exact + stream->done;
}

/* A piece that memory was short for is not the peer's fault, and may have had a hole. */
static enum td_status conclude(struct openai_stream *stream, uint32_t shortages,
                               struct td_error *err)
{
    struct td_error *own = stream->err;
    stream->err = NULL;
    stream->failed = shortage_judge(shortages, own->status, own);
    return stream->failed == TD_OK ? TD_OK : error_set(err, stream->failed, "%s", own->message);
}

/* No dialect has an answer that is not streamed: it was asked for a stream. */
static void feed_dialect(struct openai_stream *stream, struct td_str bytes)
{
    struct td_error err = {0};
    enum td_status status = stream->dialect->frames
                                ? frame_reader_feed(&stream->frames, bytes, on_frame, stream, &err)
                                : sse_reader_feed(&stream->events, bytes, on_event, stream, NULL);
    if (status == TD_LIMIT)
        unusable(stream, "an event is larger than " EVENT_TEXT);
    else if (status != TD_OK && stream->err->status == TD_OK)
        error_set(stream->err, TD_CORRUPT, "malformed answer: %s", err.message);
}

enum td_status openai_stream_feed(struct openai_stream *stream, struct td_str bytes,
                                  struct td_error *err)
{
    ASSERT(stream->on_piece != NULL);
    uint32_t shortages = shortage_count();
    struct td_error own = {0};
    if (stream->failed != TD_OK)
        return error_set(err, stream->failed, "the answer had failed before");
    stream->err = &own;
    if (stream->form == OPENAI_FORM_UNKNOWN)
        stream->form = stream->dialect ? OPENAI_FORM_EVENTS : form_of(bytes);
    if (stream->dialect)
        feed_dialect(stream, bytes);
    else if (stream->form == OPENAI_FORM_WHOLE) {
        buf_append_str(&stream->whole, bytes);
        if (stream->whole.failed)
            unusable(stream, "larger than " WHOLE_TEXT);
    } else if (sse_reader_feed(&stream->events, bytes, on_event, stream, NULL) != TD_OK) {
        unusable(stream, "an event is larger than " EVENT_TEXT);
    }
    return conclude(stream, shortages, err);
}

enum td_status openai_stream_end(struct openai_stream *stream, struct td_error *err)
{
    ASSERT(stream->on_piece != NULL);
    uint32_t shortages = shortage_count();
    struct td_error own = {.status = stream->failed, "the answer had failed before"};
    stream->err = &own;
    if (stream->err->status == TD_OK && stream->form == OPENAI_FORM_WHOLE) {
        struct json *root = parse(stream, buf_view(&stream->whole));
        if (!root)
            refuse_text(stream, buf_view(&stream->whole), "the body is not JSON");
        else
            read_whole(stream, root);
        json_free(root);
        stream->done = true;
    }
    if (stream->err->status == TD_OK && !stream->finished && !stream->done)
        error_set(stream->err, TD_CORRUPT, "the answer was cut before its end");
    tell_beside(stream);
    return conclude(stream, shortages, err);
}
