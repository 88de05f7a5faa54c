#include "tier/local/local_attempt.h"

#include "base/core/error.h"
#include "base/core/str.h"
#include "base/crypto/hash.h"
#include "base/time/clock.h"
#include "tier/local/local_computed.h"
#include "tier/openai/openai_delta.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a tool parser may give out at once: the text it has held back, with room to spare. */
#define PLAIN_BYTES_MAX ((size_t)4 << 20)

static void forget_otherwise(struct tier_attempt *attempt)
{
    td_grammar_free(attempt->otherwise.job.options.grammar);
    free(attempt->otherwise.ids);
    attempt->otherwise = (struct otherwise){.scheduler = NULL};
}

void local_attempt_free(struct tier_attempt *attempt)
{
    if (attempt && attempt->parser.format != TOOL_FORMAT_NONE)
        tool_parser_deinit(&attempt->parser);
    if (attempt) {
        forget_otherwise(attempt);
        free(attempt->ids);
        label_plan_release(attempt->plan);
    }
    free(attempt);
}

/* Whether the answer has had the same call with arguments. A model that is asked for two things and
 * knows one of them calls it twice, as sure as ever. */
static bool is_repeated(struct tier_attempt *attempt, const struct tool_call *call)
{
    bool repeated = false;
    uint64_t hash = hash_fnv1a64(call->function.data, call->function.len, HASH_FNV1A64_BASIS);
    hash = hash_fnv1a64(call->arguments.data, call->arguments.len, hash);
    for (uint32_t i = 0; i < call->number && i < LOCAL_CALLS_SEEN; i++)
        repeated |= attempt->calls_seen[i] == hash;
    if (call->number < LOCAL_CALLS_SEEN)
        attempt->calls_seen[call->number] = hash;
    return repeated && call->arguments.len > strlen("{}");
}

/* Gives out a piece with the calls that the parser has found. **takes** plain. The attempt may be
 * gone afterwards. */
static void emit(struct tier_attempt *attempt, struct tier_piece *piece, struct buf *plain)
{
    struct tier_sink sink = attempt->sink;
    struct delta_writer writer = {0};
    struct json *raw_delta;
    for (size_t i = 0; i < attempt->parser.ready_count; i++) {
        const struct tool_call *call = &attempt->parser.ready[i];
        if (is_repeated(attempt, call))
            piece->stats = (struct td_token_stats){.logprob = -INFINITY};
        openai_delta_put(&writer, &(struct delta_part){.kind = DELTA_CALL,
                                                       .call = call->number,
                                                       .id = str_from(call->id),
                                                       .function = buf_view(&call->function),
                                                       .arguments = buf_view(&call->arguments)});
    }
    piece->text = buf_view(plain);
    piece->raw_delta = raw_delta = openai_delta_end(&writer, NULL);
    sink.on_piece(sink.ctx, piece);
    json_free(raw_delta);
    buf_deinit(plain);
}

/* Gives out what the parser lets through. A mark that is a control token has no text of its own, so
 * its spelling is looked up. */
static void parse_token(struct tier_attempt *attempt, const struct td_token *token,
                        struct td_str text, struct tier_piece *piece)
{
    struct buf plain;
    struct td_str mark = {NULL, 0};
    if (token && token->piece.len == 0)
        mark = td_token_piece(attempt->model, token->id, true);
    if (tool_parser_is_mark(&attempt->parser, mark))
        text = mark;
    buf_init(&plain, PLAIN_BYTES_MAX);
    tool_parser_feed(&attempt->parser, text, &plain);
    piece->in_call =
        attempt->must_call || attempt->parser.in_call || attempt->parser.ready_count > 0;
    emit(attempt, piece, &plain);
}

static void set_uncalled(struct tier_result *out)
{
    out->status = error_set(&out->err, TD_UNSUPPORTED,
                            "the model called no tool, and the request asks for a call");
    out->own_fault = true;
}

/* The model says that the request is not its task, so no call comes. The gates look first. */
static void refuse_call(struct tier_attempt *attempt, struct tier_piece *piece)
{
    struct tier_sink sink = attempt->sink;
    struct tier_result out = {
        .first_ms = attempt->first_ms,
        .total_ms = clock_monotonic_ms(NULL) - attempt->start_ms,
        .usage = {.prompt_tokens = attempt->prompt_tokens, .completion_tokens = 1, .exact = true}};
    piece->text = (struct td_str){NULL, 0};
    attempt->ending = true; /* a cancel now only marks the attempt */
    sink.on_piece(sink.ctx, piece);
    bool wanted = !attempt->cancelled;
    job_cancel(attempt->job);
    local_attempt_free(attempt);
    set_uncalled(&out);
    if (wanted)
        sink.on_done(sink.ctx, &out);
}

/* The answer's first token begins no call, so the computed answer takes its place. False when the
 * engine has no room: then the model's own goes on. */
static bool answer_otherwise(struct tier_attempt *attempt)
{
    struct job *before = attempt->job;
    if (scheduler_submit(attempt->otherwise.scheduler, &attempt->otherwise.job, &attempt->job,
                         NULL) != TD_OK) {
        attempt->job = before;
        return false;
    }
    job_cancel(before);
    forget_otherwise(attempt);
    attempt->computed = true;
    return true;
}

/* Gives out a piece of a completion. **takes** logprobs. */
static void give_text(const struct tier_sink *sink, struct tier_piece *piece, struct json *logprobs)
{
    struct json *raw_delta = openai_delta_logprobs(logprobs);
    piece->raw_delta = raw_delta;
    sink->on_piece(sink->ctx, piece);
    json_free(raw_delta);
}

/* Gives out the prompt as the beginning of the answer (echo). False when the callback cancelled the
 * attempt; the caller then frees it. */
static bool echo_prompt(struct tier_attempt *attempt)
{
    const struct td_completion *completion = attempt->completion;
    if (!attempt->echo_due)
        return true;
    attempt->echo_due = false;
    struct tier_piece piece = {.text = completion->text};
    struct json *logprobs = NULL;
    if (attempt->with_logprobs) {
        const struct text_prompt prompt = {completion->text, attempt->ids,
                                           job_prompt_scores(attempt->job), attempt->prompt_tokens};
        logprobs = openai_logprobs_prompt(&attempt->logprobs, &prompt);
    }
    bool ending = attempt->ending;
    attempt->ending = true; /* a cancel now only marks the attempt */
    give_text(&attempt->sink, &piece, logprobs);
    attempt->ending = ending;
    return !attempt->cancelled;
}

static void complete_token(struct tier_attempt *attempt, const struct td_token *token,
                           struct tier_piece *piece)
{
    if (!echo_prompt(attempt)) {
        job_cancel(attempt->job);
        local_attempt_free(attempt);
        return;
    }
    struct json *logprobs = NULL;
    if (token && attempt->with_logprobs)
        logprobs = openai_logprobs_token(&attempt->logprobs, token);
    give_text(&attempt->sink, piece, logprobs);
}

void local_attempt_on_token(void *ctx, const struct td_token *token, struct td_str text)
{
    struct tier_attempt *attempt = ctx;
    bool is_refused = attempt->must_call && attempt->first_ms == 0 && token &&
                      token->id == td_model_get_info(attempt->model)->not_mine_id;
    const struct otherwise *otherwise = &attempt->otherwise;
    if (otherwise->scheduler && token && token->id != otherwise->job.marks.open_id &&
        answer_otherwise(attempt))
        return;
    forget_otherwise(attempt);
    if (attempt->first_ms == 0)
        attempt->first_ms = clock_monotonic_ms(NULL) - attempt->start_ms;
    struct tier_piece piece = {.text = text};
    if (token) {
        piece.has_stats = true;
        piece.stats = attempt->computed ? local_computed_stats(attempt->declined) : token->stats;
        piece.computed = attempt->computed && !attempt->declined;
        piece.token_text = token->piece;
        piece.top = token->top;
        piece.top_count = attempt->computed ? 0 : token->top_count;
        piece.model = attempt->model;
    }
    if (attempt->completion)
        complete_token(attempt, token, &piece);
    else if (is_refused)
        refuse_call(attempt, &piece);
    else if (attempt->parser.format != TOOL_FORMAT_NONE)
        parse_token(attempt, token, text, &piece);
    else
        attempt->sink.on_piece(attempt->sink.ctx, &piece);
    /* Each of these may cancel, so the attempt may be gone here. */
}

/* Gives out what the parser has held back. False when the callback cancelled the attempt. */
static bool end_parser(struct tier_attempt *attempt, struct tier_result *out)
{
    struct buf plain;
    struct tier_piece piece = {0};
    if (attempt->parser.format == TOOL_FORMAT_NONE || out->status != TD_OK)
        return true;
    buf_init(&plain, PLAIN_BYTES_MAX);
    /* Half a call is of no use to anybody. LLAMA's calls are only known at their end. */
    bool half = attempt->held && attempt->parser.in_call && out->finish == TD_FINISH_LENGTH &&
                attempt->parser.format == TOOL_FORMAT_HERMES;
    tool_parser_end(&attempt->parser, &plain);
    if (half)
        buf_clear(&plain);
    if (attempt->must_call && attempt->parser.call_count == 0 && out->finish == TD_FINISH_STOP) {
        buf_deinit(&plain);
        set_uncalled(out);
        return true;
    }
    if (attempt->parser.call_count > 0 && out->finish == TD_FINISH_STOP)
        out->finish = TD_FINISH_TOOL_CALLS;
    attempt->ending = true;
    if (plain.len > 0 || attempt->parser.ready_count > 0)
        emit(attempt, &piece, &plain);
    else
        buf_deinit(&plain);
    return !attempt->cancelled;
}

void local_attempt_on_done(void *ctx, enum td_status status,
                           const struct td_generate_result *result, const struct td_error *err)
{
    struct tier_attempt *attempt = ctx;
    struct tier_result out = {
        .status = status,
        .first_ms = attempt->first_ms,
        .total_ms = clock_monotonic_ms(NULL) - attempt->start_ms,
        .usage = {.prompt_tokens = attempt->prompt_tokens, .exact = true},
    };
    if (result) {
        out.finish = result->finish;
        out.stop_number = result->stop_number;
        out.usage.prompt_tokens = result->prompt_tokens;
        out.usage.completion_tokens = result->completion_tokens;
        out.usage.cached_tokens = result->cached_tokens;
        out.waited_ms = job_waited_ms(attempt->job);
    }
    if (status != TD_OK) {
        if (err && err->status != TD_OK)
            out.err = *err;
        else
            error_set(&out.err, status, "the engine stopped: %s", td_status_name(status));
    }
    struct tier_sink sink = attempt->sink;
    bool wanted = end_parser(attempt, &out);
    if (wanted && status == TD_OK) {
        attempt->ending = true; /* the job is gone */
        wanted = echo_prompt(attempt);
    }
    local_attempt_free(attempt);
    if (wanted)
        sink.on_done(sink.ctx, &out);
}
