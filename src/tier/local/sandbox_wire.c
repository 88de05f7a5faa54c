/* The bytes between a server and its confined worker. Requests are trusted (the server wrote them),
 * frames are not: the worker reads text that may try to take it over. So every count, text and enum
 * of a frame is checked against the bytes that are there, and one failed read makes the whole frame
 * malformed. One reader (struct source) serves both directions, so requests are checked the same
 * way. */
#include "tier/local/sandbox_wire.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "engine/sampling/sampler.h"

#include <stdlib.h>
#include <string.h>

#define NO_TEXT UINT32_MAX /* the length that stands for NULL */

/* --- writing --- */

static void put_u32(struct buf *out, size_t value)
{
    uint32_t number = (uint32_t)value;
    if (value >= NO_TEXT)
        out->failed = true;
    buf_append(out, &number, sizeof number);
}

static void put_text(struct buf *out, struct td_str text)
{
    put_u32(out, text.len);
    buf_append_str(out, text);
}

static void put_cstr(struct buf *out, const char *text)
{
    const uint32_t none = NO_TEXT;
    if (text)
        put_text(out, str_from(text));
    else
        buf_append(out, &none, sizeof none);
}

static void put_json(struct buf *out, const struct json *value)
{
    struct buf text;
    buf_init(&text, SANDBOX_REQUEST_BYTES_MAX);
    if (value)
        json_write(value, &text);
    out->failed |= text.failed;
    put_cstr(out, value ? text.data : NULL);
    buf_deinit(&text);
}

static void put_completion(struct buf *out, const struct td_completion *completion)
{
    buf_append_char(out, completion != NULL);
    if (!completion)
        return;
    put_text(out, completion->text);
    put_text(out, completion->after);
    buf_append_char(out, completion->ids != NULL);
    put_u32(out, completion->ids ? completion->id_count : 0);
    if (completion->ids)
        buf_append(out, completion->ids, completion->id_count * sizeof *completion->ids);
    buf_append_char(out, completion->echo);
    buf_append_char(out, completion->prompt_only);
}

static void put_labels(struct buf *out, const struct td_labels *labels)
{
    put_u32(out, labels ? labels->count : 0);
    for (size_t i = 0; labels && i < labels->count; i++)
        put_text(out, labels->texts[i]);
}

static void put_adapters(struct buf *out, const struct td_request *request)
{
    put_u32(out, request->adapter_count);
    for (size_t i = 0; i < request->adapter_count; i++) {
        struct td_adapter_choice choice = request->adapters[i];
        put_cstr(out, choice.name);
        choice.name = NULL;
        buf_append(out, &choice, sizeof choice);
    }
    buf_append_char(out, request->names_adapters);
}

/* Of the members only what a chat template reads: nothing is sent on from there. */
static const enum request_kind kinds[SANDBOX_MEMBERS] = {REQUEST_MESSAGES, REQUEST_TOOLS};

enum work { WORK_ANSWER, WORK_EMBEDDING };

void sandbox_write_request(const char *tier, const struct td_request *request, struct buf *out)
{
    ASSERT(tier != NULL && request != NULL);
    struct td_sampling sampling = request->sampling;
    put_u32(out, WORK_ANSWER);
    put_cstr(out, tier);
    put_u32(out, request->message_count);
    for (size_t i = 0; i < request->message_count; i++) {
        put_u32(out, (size_t)request->messages[i].role);
        put_text(out, request->messages[i].content);
    }
    put_completion(out, request->completion);
    put_labels(out, request->labels);
    put_cstr(out, request->model);
    put_u32(out, request->tokens_max ? request->tokens_max : request->tokens_eased);
    put_u32(out, sampling.bias_count);
    buf_append(out, sampling.biases, sampling.bias_count * sizeof *sampling.biases);
    sampling.biases = NULL;
    buf_append(out, &sampling, sizeof sampling);
    put_u32(out, request->stop_count);
    for (size_t i = 0; i < request->stop_count; i++)
        put_text(out, request->stops[i]);
    buf_append_char(out, request->logprobs);
    buf_append_char(out, (char)request->top_logprobs);
    put_u32(out, (size_t)request->format);
    put_json(out, request->schema);
    put_text(out, request->grammar_source);
    put_u32(out, request->left_to_model);
    put_text(out, request->dry_breakers);
    put_u32(out, request->dry_window);
    buf_append_char(out, request->ignore_eos);
    put_u32(out, request->tool_count);
    put_u32(out, (size_t)request->tool_choice);
    put_text(out, request->tool_named);
    buf_append_char(out, request->one_call);
    buf_append_char(out, request->has_calls);
    buf_append_char(out, request->continues);
    put_adapters(out, request);
    put_u32(out, (size_t)request->priority);
    buf_append_char(out, request->keep_nothing);
    put_cstr(out, request->caller);
    for (size_t i = 0; i < SANDBOX_MEMBERS; i++)
        put_json(out, request_value(request, kinds[i]));
}

void sandbox_write_embedding(const struct embedding_request *request, struct buf *out)
{
    ASSERT(request != NULL && (request->input_count == 0 || request->inputs != NULL));
    put_u32(out, WORK_EMBEDDING);
    put_u32(out, request->input_count);
    for (size_t i = 0; i < request->input_count; i++) {
        const struct embedding_input *input = &request->inputs[i];
        put_u32(out, input->id_count);
        if (input->id_count)
            buf_append(out, input->ids, input->id_count * sizeof *input->ids);
        else
            put_text(out, input->text);
    }
    put_cstr(out, request->caller);
}

/* Leaves room for the length, which end_frame fills in. */
static size_t begin_frame(struct buf *out, enum sandbox_frame_kind kind)
{
    size_t begin = out->len;
    put_u32(out, 0);
    buf_append_char(out, (char)kind);
    return begin;
}

static void end_frame(struct buf *out, size_t begin)
{
    if (out->failed)
        return;
    uint32_t len = (uint32_t)(out->len - begin - sizeof len);
    memcpy(out->data + begin, &len, sizeof len);
}

void sandbox_write_piece(const struct tier_piece *piece, struct buf *out)
{
    ASSERT(piece != NULL);
    size_t begin = begin_frame(out, SANDBOX_PIECE);
    size_t top_count =
        piece->top_count < TD_TOP_LOGPROBS_MAX ? piece->top_count : TD_TOP_LOGPROBS_MAX;
    put_text(out, piece->text);
    buf_append_char(out, piece->has_stats);
    buf_append(out, &piece->stats, sizeof piece->stats);
    buf_append_char(out, piece->in_call);
    buf_append_char(out, piece->computed);
    put_text(out, piece->token_text);
    put_u32(out, top_count);
    buf_append(out, piece->top, top_count * sizeof *piece->top);
    put_json(out, piece->raw_delta);
    put_u32(out, piece->label_count);
    if (piece->label_count)
        buf_append(out, piece->label_scores, piece->label_count * sizeof *piece->label_scores);
    end_frame(out, begin);
}

void sandbox_write_vectors(const float *floats, size_t count, struct buf *out)
{
    ASSERT(floats != NULL || count == 0);
    while (count > 0) {
        size_t part = count < SANDBOX_FLOATS_MAX ? count : SANDBOX_FLOATS_MAX;
        size_t begin = begin_frame(out, SANDBOX_VECTORS);
        buf_append(out, floats, part * sizeof *floats);
        end_frame(out, begin);
        floats += part;
        count -= part;
    }
}

void sandbox_write_beat(struct buf *out)
{
    end_frame(out, begin_frame(out, SANDBOX_BEAT));
}

void sandbox_write_done(const struct tier_result *result, struct buf *out)
{
    ASSERT(result != NULL);
    size_t begin = begin_frame(out, SANDBOX_DONE);
    put_u32(out, (size_t)result->status);
    put_cstr(out, result->err.message);
    put_u32(out, (size_t)result->finish);
    put_u32(out, result->stop_number);
    put_u32(out, result->usage.prompt_tokens);
    put_u32(out, result->usage.completion_tokens);
    put_u32(out, result->usage.cached_tokens);
    end_frame(out, begin);
}

/* --- reading --- */

struct source {
    struct td_str rest;
    bool failed;
};

static void get_bytes(struct source *source, void *out, size_t len)
{
    if (source->failed || len > source->rest.len) {
        source->failed = true;
        memset(out, 0, len);
        return;
    }
    if (len)
        memcpy(out, source->rest.data, len);
    source->rest = str_slice(source->rest, len, source->rest.len);
}

static uint32_t get_u32(struct source *source)
{
    uint32_t number;
    get_bytes(source, &number, sizeof number);
    return number;
}

/* A count of at most `max` items that the rest of the bytes can hold, at `each` bytes or more. */
static uint32_t get_count(struct source *source, uint32_t max, size_t each)
{
    uint32_t count = get_u32(source);
    if (count > max || count > source->rest.len / each)
        source->failed = true;
    return source->failed ? 0 : count;
}

/* A bool is read as a byte and checked: any other value in a bool is undefined behaviour. */
static bool get_bool(struct source *source)
{
    unsigned char byte;
    get_bytes(source, &byte, 1);
    source->failed |= byte > 1;
    return byte == 1;
}

/* Borrows the bytes. *none: the text was NULL. */
static struct td_str get_text(struct source *source, bool *none)
{
    uint32_t len = get_u32(source);
    *none = source->failed || len == NO_TEXT;
    if (*none)
        return (struct td_str){NULL, 0};
    if (len > source->rest.len) {
        source->failed = true;
        return (struct td_str){NULL, 0};
    }
    struct td_str text = str_slice(source->rest, 0, len);
    source->rest = str_slice(source->rest, len, source->rest.len);
    return text;
}

static const char *get_cstr(struct source *source, struct arena *arena)
{
    bool none;
    struct td_str text = get_text(source, &none);
    const char *copy = none ? NULL : arena_copy(arena, text);
    source->failed |= !none && !copy;
    return copy;
}

/* A required text. Borrows the bytes. */
static struct td_str get_view(struct source *source)
{
    bool none;
    struct td_str text = get_text(source, &none);
    source->failed |= none;
    return text;
}

static struct json *get_json(struct source *source)
{
    bool none;
    struct json *value = NULL;
    struct td_str text = get_text(source, &none);
    if (!none && json_parse(text, &value, NULL) != TD_OK)
        source->failed = true;
    return value;
}

static int get_choice(struct source *source, uint32_t last)
{
    uint32_t value = get_u32(source);
    source->failed |= value > last;
    return source->failed ? 0 : (int)value;
}

static void *get_array(struct source *source, struct arena *arena, size_t count, size_t each)
{
    if (count == 0)
        return NULL;
    void *array = arena_alloc_array(arena, count, each);
    if (array)
        get_bytes(source, array, count * each);
    source->failed |= !array;
    return array;
}

static void get_messages(struct source *source, struct sandbox_request *out)
{
    size_t count = get_count(source, UINT32_MAX - 1, 2 * sizeof(uint32_t));
    struct td_message *messages = arena_alloc_array(out->arena, count, sizeof *messages);
    if (!messages) {
        source->failed = true;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        messages[i].role = (enum td_role)get_choice(source, TD_ROLE_TOOL);
        messages[i].content = get_view(source);
    }
    out->request.messages = messages;
    out->request.message_count = count;
}

static void get_completion(struct source *source, struct sandbox_request *out)
{
    if (!get_bool(source))
        return;
    struct td_completion *completion = &out->completion;
    completion->text = get_view(source);
    completion->after = get_view(source);
    bool has_ids = get_bool(source);
    completion->id_count = get_count(source, UINT32_MAX - 1, sizeof *completion->ids);
    completion->ids = get_array(source, out->arena, completion->id_count, sizeof *completion->ids);
    if (has_ids && !completion->ids)
        completion->ids = arena_alloc(out->arena, sizeof *completion->ids);
    completion->echo = get_bool(source);
    completion->prompt_only = get_bool(source);
    out->request.completion = completion;
}

static const struct td_str *get_views(struct source *source, struct arena *arena, size_t count)
{
    struct td_str *texts = count ? arena_alloc_array(arena, count, sizeof *texts) : NULL;
    source->failed |= count > 0 && !texts;
    for (size_t i = 0; texts && i < count; i++)
        texts[i] = get_view(source);
    return texts;
}

static void get_labels(struct source *source, struct sandbox_request *out)
{
    size_t count = get_count(source, TD_LABELS_MAX, sizeof(uint32_t));
    out->labels = (struct td_labels){.texts = get_views(source, out->arena, count), .count = count};
    out->request.labels = count ? &out->labels : NULL;
}

static void get_adapters(struct source *source, struct sandbox_request *out)
{
    struct td_request *request = &out->request;
    request->adapter_count = get_count(source, TD_ADAPTERS_MAX, sizeof(struct td_adapter_choice));
    for (size_t i = 0; i < request->adapter_count; i++) {
        const char *name = get_cstr(source, out->arena);
        get_bytes(source, &request->adapters[i], sizeof request->adapters[i]);
        request->adapters[i].name = name;
    }
    request->names_adapters = get_bool(source);
}

static void get_sampling(struct source *source, struct sandbox_request *out)
{
    struct td_sampling *sampling = &out->request.sampling;
    size_t count = get_count(source, TD_LOGIT_BIASES_MAX, sizeof *sampling->biases);
    const struct td_logit_bias *biases =
        get_array(source, out->arena, count, sizeof *sampling->biases);
    get_bytes(source, sampling, sizeof *sampling);
    sampling->biases = biases;
    sampling->bias_count = count;
}

static void get_members(struct source *source, struct sandbox_request *out)
{
    struct td_request *request = &out->request;
    request->members = out->members;
    for (size_t i = 0; i < SANDBOX_MEMBERS; i++) {
        struct json *value = out->values[i] = get_json(source);
        if (value)
            out->members[request->member_count++] = (struct request_member){"", kinds[i], value};
    }
}

static void get_request(struct source *source, struct sandbox_request *out)
{
    struct td_request *request = &out->request;
    out->tier = get_cstr(source, out->arena);
    get_messages(source, out);
    get_completion(source, out);
    get_labels(source, out);
    request->model = get_cstr(source, out->arena);
    request->tokens_max = get_u32(source);
    get_sampling(source, out);
    request->stop_count = get_count(source, TD_STOPS_MAX, sizeof(uint32_t));
    request->stops = get_views(source, out->arena, request->stop_count);
    request->logprobs = get_bool(source);
    get_bytes(source, &request->top_logprobs, 1);
    request->format = (enum td_format)get_choice(source, TD_FORMAT_GRAMMAR);
    request->schema = out->schema = get_json(source);
    request->grammar_source = get_view(source);
    request->left_to_model = get_u32(source);
    request->dry_breakers = get_view(source);
    request->dry_window = get_u32(source);
    request->ignore_eos = get_bool(source);
    request->tool_count = get_u32(source);
    request->tool_choice = (enum request_tool_choice)get_choice(source, TOOL_CHOICE_FORCED);
    request->tool_named = get_view(source);
    request->one_call = get_bool(source);
    request->has_calls = get_bool(source);
    request->continues = get_bool(source);
    source->failed |= request->continues && request->message_count == 0;
    source->failed |= request->dry_breakers.len >= SAMPLER_BREAKERS_BYTES;
    get_adapters(source, out);
    request->priority = (enum td_priority)get_choice(source, TD_PRIORITY_BATCH);
    request->keep_nothing = get_bool(source);
    request->caller = get_cstr(source, out->arena);
    get_members(source, out);
    source->failed |= !out->tier || request->top_logprobs > TD_TOP_LOGPROBS_MAX;
}

static void get_embedding(struct source *source, struct sandbox_request *out)
{
    size_t count = get_count(source, UINT32_MAX - 1, sizeof(uint32_t));
    out->inputs = count ? arena_alloc_array(out->arena, count, sizeof *out->inputs) : NULL;
    source->failed |= !out->inputs;
    for (size_t i = 0; i < count && !source->failed; i++) {
        struct embedding_input *input = &out->inputs[i];
        *input = (struct embedding_input){
            .id_count = get_count(source, UINT32_MAX - 1, sizeof *input->ids)};
        if (input->id_count)
            input->ids = get_array(source, out->arena, input->id_count, sizeof *input->ids);
        else
            input->text = get_view(source);
    }
    out->input_count = count;
    out->caller = get_cstr(source, out->arena);
}

enum td_status sandbox_read_request(struct td_str bytes, struct sandbox_request *out,
                                    struct td_error *err)
{
    struct source source = {bytes, false};
    *out = (struct sandbox_request){.arena = arena_new(2 * (size_t)SANDBOX_REQUEST_BYTES_MAX)};
    if (!out->arena)
        return error_set(err, TD_NO_MEMORY, "no memory for a request");
    if (get_choice(&source, WORK_EMBEDDING) == WORK_EMBEDDING)
        get_embedding(&source, out);
    else
        get_request(&source, out);
    if (source.failed || source.rest.len > 0)
        return error_set(err, TD_CORRUPT, "a request for the confined worker is malformed");
    return TD_OK;
}

void sandbox_request_deinit(struct sandbox_request *request)
{
    for (size_t i = 0; i < SANDBOX_MEMBERS; i++)
        json_free(request->values[i]);
    json_free(request->schema);
    arena_free(request->arena);
    *request = (struct sandbox_request){0};
}

static void get_piece(struct source *source, struct sandbox_frame *out)
{
    struct tier_piece *piece = &out->piece;
    piece->text = get_view(source);
    piece->has_stats = get_bool(source);
    get_bytes(source, &piece->stats, sizeof piece->stats);
    piece->in_call = get_bool(source);
    piece->computed = get_bool(source);
    piece->token_text = get_view(source);
    piece->top_count = get_count(source, TD_TOP_LOGPROBS_MAX, sizeof *piece->top);
    get_bytes(source, out->top, piece->top_count * sizeof *piece->top);
    piece->top = piece->top_count ? out->top : NULL;
    piece->raw_delta = out->delta = get_json(source);
    piece->label_count = get_count(source, TD_LABELS_MAX, sizeof *piece->label_scores);
    if (piece->label_count == 0)
        return;
    out->label_scores = calloc(piece->label_count, sizeof *out->label_scores);
    source->failed |= !out->label_scores;
    if (out->label_scores)
        get_bytes(source, out->label_scores, piece->label_count * sizeof *out->label_scores);
    piece->label_scores = out->label_scores;
}

static void get_done(struct source *source, struct sandbox_frame *out)
{
    bool none;
    struct tier_result *result = &out->result;
    result->status = (enum td_status)get_choice(source, TD_INTERNAL);
    struct td_str message = get_text(source, &none);
    result->finish = (enum td_finish)get_choice(source, TD_FINISH_CONTENT_FILTER);
    result->stop_number = (uint32_t)get_choice(source, TD_STOPS_MAX);
    result->usage.prompt_tokens = get_u32(source);
    result->usage.completion_tokens = get_u32(source);
    result->usage.cached_tokens = get_u32(source);
    result->usage.exact = true;
    if (result->status != TD_OK)
        error_set(&result->err, result->status, STR_FMT, STR_ARG(message));
}

static void get_vectors(struct source *source, struct sandbox_frame *out)
{
    out->floats = source->rest;
    source->failed |= out->floats.len == 0 || out->floats.len % sizeof(float) != 0;
    source->rest = str_slice(source->rest, source->rest.len, source->rest.len);
}

enum td_status sandbox_read_frame(struct td_str bytes, size_t *used, struct sandbox_frame *out,
                                  struct td_error *err)
{
    ASSERT(used != NULL && out != NULL);
    uint32_t len;
    *used = 0;
    memset(out, 0, sizeof *out);
    if (bytes.len < sizeof len)
        return TD_OK;
    memcpy(&len, bytes.data, sizeof len);
    if (len == 0 || len > SANDBOX_FRAME_BYTES_MAX)
        return error_set(err, TD_CORRUPT, "a frame of %u bytes from the confined worker", len);
    if (bytes.len - sizeof len < len)
        return TD_OK;
    struct source source = {str_slice(bytes, sizeof len + 1, sizeof len + len), false};
    out->kind = (enum sandbox_frame_kind)bytes.data[sizeof len];
    if (out->kind == SANDBOX_PIECE)
        get_piece(&source, out);
    else if (out->kind == SANDBOX_DONE)
        get_done(&source, out);
    else if (out->kind == SANDBOX_VECTORS)
        get_vectors(&source, out);
    else
        source.failed = out->kind != SANDBOX_BEAT;
    if (!source.failed && source.rest.len == 0) {
        *used = sizeof len + len;
        return TD_OK;
    }
    sandbox_frame_deinit(out);
    return error_set(err, TD_CORRUPT, "a malformed frame from the confined worker");
}

void sandbox_frame_deinit(struct sandbox_frame *frame)
{
    json_free(frame->delta);
    free(frame->label_scores);
    frame->delta = NULL;
    frame->label_scores = NULL;
    frame->piece.raw_delta = NULL;
    frame->piece.label_scores = NULL;
}
