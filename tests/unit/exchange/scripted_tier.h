/* A tier that answers from a script: tokens with given probabilities, delays, failures, stalls. It
 * counts what was asked of it. */
#ifndef TESTS_SCRIPTED_TIER_H
#define TESTS_SCRIPTED_TIER_H

#include "base/bytes/buf.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/text/names.h"
#include "tier/door.h"
#include "tier/tier.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum script_kind {
    SCRIPT_TOKEN,
    SCRIPT_TEXT,
    SCRIPT_EMPTY,
    SCRIPT_ECHO_HALF, /* half of the first message */
    SCRIPT_ECHO_REST, /* and the rest of it */
    SCRIPT_VERDICT,   /* what it was asked to say of an answer, with this verdict */
    SCRIPT_LABELS,    /* of two labels: `probability` is the first one's */
    SCRIPT_DONE,
    SCRIPT_FAIL,
    SCRIPT_STALL
};

struct script_step {
    enum script_kind kind;
    uint64_t delay_ms;
    const char *text;   /* of a token or text; FAIL: the message */
    double probability; /* of a token */
    double not_mine;    /* of a token */
    double probe;       /* of the first token; 0 = none */
    enum td_status status;
    int http_status;
    uint64_t retry_after_ms; /* of FAIL */
};

#define TOKEN(t, p)                                                           \
    {                                                                         \
        .kind = SCRIPT_TOKEN, .delay_ms = 10, .text = (t), .probability = (p) \
    }
#define NOT_MINE(p)                                                                           \
    {                                                                                         \
        .kind = SCRIPT_TOKEN, .delay_ms = 10, .text = "", .probability = (p), .not_mine = (p) \
    }
#define TEXT(t)                                          \
    {                                                    \
        .kind = SCRIPT_TEXT, .delay_ms = 10, .text = (t) \
    }
#define ROLE_ONLY                            \
    {                                        \
        .kind = SCRIPT_EMPTY, .delay_ms = 10 \
    }
#define ECHO_HALF                                \
    {                                            \
        .kind = SCRIPT_ECHO_HALF, .delay_ms = 10 \
    }
#define ECHO_REST                                \
    {                                            \
        .kind = SCRIPT_ECHO_REST, .delay_ms = 10 \
    }
#define VERDICT(t)                                          \
    {                                                       \
        .kind = SCRIPT_VERDICT, .delay_ms = 10, .text = (t) \
    }
#define LABELS(p)                                                             \
    {                                                                         \
        .kind = SCRIPT_LABELS, .delay_ms = 10, .text = "", .probability = (p) \
    }
#define DONE                                \
    {                                       \
        .kind = SCRIPT_DONE, .delay_ms = 10 \
    }
#define FAIL(s, m)                                                      \
    {                                                                   \
        .kind = SCRIPT_FAIL, .delay_ms = 10, .status = (s), .text = (m) \
    }
#define FAIL_HTTP(s, h, m)                                                                  \
    {                                                                                       \
        .kind = SCRIPT_FAIL, .delay_ms = 10, .status = (s), .text = (m), .http_status = (h) \
    }
#define STALL                \
    {                        \
        .kind = SCRIPT_STALL \
    }

#define SCRIPTED_STARTS_MAX 4

struct scripted_tier {
    struct tier tier; /* first */
    /* one a start; NULL = the first again */
    const struct script_step *scripts[SCRIPTED_STARTS_MAX];
    enum td_status start_status; /* not TD_OK: start fails at once */
    uint32_t prompt_tokens;
    enum td_finish finish; /* of an answer that ends well; zero is STOP */
    int start_count, cancel_count, running;
    /* of the last start */
    enum egress_purpose purpose;
    enum td_priority priority;
    unsigned left_to_model; /* of the request that came last */
    bool ignore_eos, continues;
    size_t member_count;
    uint32_t tokens_max;
    char asked[512]; /* the first message */
    char check[17];  /* the number that a verdict repeats, in the first message */
    char said[128];  /* a verdict */
    char *whole;     /* [65536] texts of all messages; NULL = not kept */
    size_t message_count;
    char all[512]; /* ROLE:CONTENT of each message, then the stops; a bar after each */
    char caller[32], tracestate[64];
    char members[512]; /* NAME=VALUE of each, as JSON */
    enum td_data_class data_class;
    size_t replaced_count;
};

struct tier_attempt {
    struct scripted_tier *tier;
    struct loop *loop;
    struct loop_timer *timer;
    struct tier_sink sink;
    const struct script_step *next;
    uint32_t token_count;
    bool in_callback, dead;
};

static void scripted_free_attempt(struct tier_attempt *attempt)
{
    attempt->tier->running--;
    loop_timer_free(attempt->loop, attempt->timer);
    free(attempt);
}

static void scripted_end(struct tier_attempt *attempt, const struct script_step *step)
{
    struct tier_result result = {
        .status = step->kind == SCRIPT_FAIL ? step->status : TD_OK,
        .http_status = step->http_status,
        .retry_after_ms = step->retry_after_ms,
        .finish = attempt->tier->finish,
        .usage = {.prompt_tokens = attempt->token_count ? attempt->tier->prompt_tokens : 0,
                  .completion_tokens = attempt->token_count,
                  .exact = true},
        .egress_bytes = attempt->tier->tier.facts.place == TD_PLACE_DEVICE ? 0 : 77,
    };
    if (step->kind == SCRIPT_FAIL)
        error_set(&result.err, step->status, "%s", step->text);
    struct tier_sink sink = attempt->sink;
    scripted_free_attempt(attempt);
    sink.on_done(sink.ctx, &result);
}

static void scripted_step(void *ctx)
{
    struct tier_attempt *attempt = ctx;
    const struct script_step *step = attempt->next++;
    if (step->kind == SCRIPT_DONE || step->kind == SCRIPT_FAIL) {
        scripted_end(attempt, step);
        return;
    }
    struct tier_piece piece = {.text = str_from(step->text),
                               .has_stats = step->kind == SCRIPT_TOKEN};
    const struct td_str asked = str_from(attempt->tier->asked);
    if (step->kind == SCRIPT_ECHO_HALF)
        piece.text = str_slice(asked, 0, asked.len / 2);
    else if (step->kind == SCRIPT_ECHO_REST)
        piece.text = str_slice(asked, asked.len / 2, asked.len);
    else if (step->kind == SCRIPT_VERDICT) {
        snprintf(attempt->tier->said, sizeof attempt->tier->said,
                 "{\"check\":\"%s\",\"verdict\":\"%s\"}", attempt->tier->check, step->text);
        piece.text = str_from(attempt->tier->said);
    }
    const float scores[2] = {(float)log(step->probability), (float)log(1 - step->probability)};
    if (step->kind == SCRIPT_LABELS) {
        piece.label_scores = scores;
        piece.label_count = 2;
    }
    piece.token_text = piece.text;
    piece.stats.logprob = (float)log(step->probability);
    piece.stats.not_mine = (float)step->not_mine;
    piece.stats.probe = (float)step->probe;
    attempt->token_count += step->kind != SCRIPT_EMPTY;
    attempt->in_callback = true;
    attempt->sink.on_piece(attempt->sink.ctx, &piece);
    attempt->in_callback = false;
    if (attempt->dead)
        scripted_free_attempt(attempt);
    else if (attempt->next->kind != SCRIPT_STALL)
        loop_timer_start(attempt->loop, attempt->timer, attempt->next->delay_ms);
}

static void scripted_keep_texts(struct scripted_tier *self, const struct td_request *request)
{
    struct buf text;
    buf_init(&text, sizeof self->all);
    for (size_t i = 0; i < request->message_count; i++)
        buf_printf(&text, "%s:" STR_FMT "|", names_role(request->messages[i].role),
                   STR_ARG(request->messages[i].content));
    for (size_t i = 0; i < request->stop_count; i++)
        buf_printf(&text, STR_FMT "|", STR_ARG(request->stops[i]));
    snprintf(self->all, sizeof self->all, STR_FMT, STR_ARG(buf_view(&text)));
    snprintf(self->caller, sizeof self->caller, "%s", request->caller ? request->caller : "");
    buf_deinit(&text);
}

static void scripted_keep_members(struct scripted_tier *self, const struct td_request *request)
{
    struct buf text;
    buf_init(&text, sizeof self->members);
    for (size_t i = 0; i < request->member_count; i++) {
        buf_printf(&text, "%s=", request->members[i].name);
        json_write(request->members[i].value, &text);
        buf_append_char(&text, ' ');
    }
    snprintf(self->members, sizeof self->members, STR_FMT, STR_ARG(buf_view(&text)));
    buf_deinit(&text);
}

static enum td_status scripted_start(struct tier *tier, struct loop *loop,
                                     const struct td_request *request, const struct tier_sink *sink,
                                     struct tier_attempt **out, struct td_error *err)
{
    struct scripted_tier *self = (struct scripted_tier *)tier;
    int start = self->start_count++;
    self->purpose = sink->pass->purpose;
    self->priority = request->priority;
    self->left_to_model = request->left_to_model;
    self->ignore_eos = request->ignore_eos;
    self->continues = request->continues;
    self->member_count = request->member_count;
    self->tokens_max = request->tokens_max;
    scripted_keep_texts(self, request);
    scripted_keep_members(self, request);
    self->message_count = request->message_count;
    const char *state = sink->pass->tracestate;
    snprintf(self->tracestate, sizeof self->tracestate, "%s", state ? state : "");
    self->data_class = sink->pass->data_class;
    self->replaced_count = sink->pass->replaced_count;
    if (request->message_count > 0)
        snprintf(self->asked, sizeof self->asked, STR_FMT, STR_ARG(request->messages[0].content));
    static const char check[] = "{\"check\":\"";
    const char *at = request->message_count > 0 && request->messages[0].content.len > 0
                         ? memmem(request->messages[0].content.data,
                                  request->messages[0].content.len, check, sizeof check - 1)
                         : NULL;
    snprintf(self->check, sizeof self->check, "%.16s", at ? at + sizeof check - 1 : "");
    for (size_t i = 0, len = 0; self->whole && i < request->message_count; i++)
        len += (size_t)snprintf(self->whole + len, 65536 - len, STR_FMT "\n",
                                STR_ARG(request->messages[i].content));
    if (self->start_status != TD_OK)
        return error_set(err, self->start_status, "scripted refusal");
    struct tier_attempt *attempt = calloc(1, sizeof *attempt);
    if (!attempt)
        abort();
    const struct script_step *script = start < SCRIPTED_STARTS_MAX && self->scripts[start]
                                           ? self->scripts[start]
                                           : self->scripts[0];
    *attempt = (struct tier_attempt){.tier = self, .loop = loop, .sink = *sink, .next = script};
    attempt->timer = loop_timer_new(loop, scripted_step, attempt);
    if (script->kind != SCRIPT_STALL)
        loop_timer_start(loop, attempt->timer, script->delay_ms);
    self->running++;
    *out = attempt;
    return TD_OK;
}

static void scripted_cancel(struct tier_attempt *attempt)
{
    attempt->tier->cancel_count++;
    if (attempt->in_callback)
        attempt->dead = true;
    else
        scripted_free_attempt(attempt);
}

static uint32_t scripted_count(struct tier *tier, const struct td_request *request)
{
    (void)request;
    return ((struct scripted_tier *)tier)->prompt_tokens;
}

static uint64_t scripted_egress(const struct tier_attempt *attempt)
{
    return attempt->tier->tier.facts.place == TD_PLACE_DEVICE ? 0 : 77;
}

static void scripted_free(struct tier *tier)
{
    (void)tier;
}

static const struct tier_ops scripted_ops = {
    .start = scripted_start,
    .cancel = scripted_cancel,
    .count_prompt = scripted_count,
    .free = scripted_free,
    .egress_bytes = scripted_egress,
};

#endif
