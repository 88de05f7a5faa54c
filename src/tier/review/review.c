/* The queue is looked at four times a second while a request is held: a read by the primary key,
 * which also sees what another process or node has written. Few requests are held at a time,
 * because the queue has a limit. */
#include "tier/review/review.h"

#include "base/bytes/buf.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/time/clock.h"
#include "ledger/store/queue_keeper.h"
#include "ledger/store/queue_store.h"
#include "tier/door.h"

#include <stdio.h>
#include <stdlib.h>

#define LOOK_MS 250
#define MARGIN_MS 100 /* of the attempt's time, for what follows a pending end */

struct review_tier {
    struct tier tier; /* first */
    struct review_settings settings;
    struct queue_store *queue;
};

struct tier_attempt {
    struct review_tier *owner;
    struct loop *loop;
    struct loop_timer *timer;
    struct tier_sink sink;
    uint64_t began_ms;
    uint32_t hold_ms;
    char id[QUEUED_ID_BYTES], about[QUEUED_NAME_BYTES];
    /* What the last look found. */
    enum queued_state state;
    struct buf text; /* of the answer */
    uint32_t accepted;
    bool answered;
    bool replying, cancelled;
};

static uint64_t now_ms(void)
{
    return (uint64_t)clock_monotonic_ms(NULL);
}

static void attempt_free(struct tier_attempt *attempt)
{
    loop_timer_free(attempt->loop, attempt->timer);
    buf_deinit(&attempt->text);
    free(attempt);
}

static void end(struct tier_attempt *attempt, struct tier_result *result)
{
    struct tier_sink sink = attempt->sink;
    result->total_ms = (double)(now_ms() - attempt->began_ms);
    result->own_fault = true; /* how it went says nothing of others */
    result->usage.exact = true;
    attempt_free(attempt);
    sink.on_done(sink.ctx, result);
}

static void say(struct tier_attempt *attempt, struct td_str text, bool pending)
{
    struct tier_result result = {.status = TD_OK,
                                 .finish = TD_FINISH_STOP,
                                 .pending = pending,
                                 .accepted = attempt->accepted};
    const struct tier_piece piece = {.text = text};
    result.first_ms = (double)(now_ms() - attempt->began_ms);
    attempt->replying = true;
    attempt->sink.on_piece(attempt->sink.ctx, &piece);
    if (attempt->cancelled)
        attempt_free(attempt);
    else
        end(attempt, &result);
}

static bool take_row(void *ctx, const struct queued *row)
{
    struct tier_attempt *attempt = ctx;
    struct json *result = NULL;
    attempt->state = row->state;
    if (row->state == QUEUED_ENDED && json_parse(row->result, &result, NULL) == TD_OK) {
        struct td_str text = json_text(json_get(result, "text"));
        attempt->answered = text.len > 0;
        if (strcmp(row->outcome, "accepted") == 0)
            attempt->accepted = (uint32_t)(json_int(json_get(result, "candidate"), -1) + 1);
        buf_append_str(&attempt->text, text);
    }
    json_free(result);
    return true;
}

static void wait_over(struct tier_attempt *attempt)
{
    char notice[256];
    struct tier_result result = {.pending = true};
    snprintf(notice, sizeof notice,
             "A person will answer this. The answer will be at " REVIEW_ANSWER_PATH "%s.",
             attempt->about);
    bool alone = attempt->owner->settings.interim == REVIEW_NOTICE || !attempt->sink.elsewhere;
    (void)!queue_store_note(attempt->owner->queue, attempt->id, REVIEW_NOTE_WHO,
                            alone ? REVIEW_NOTE_NOTICE : REVIEW_NOTE_INTERIM, NULL);
    if (alone) {
        say(attempt, str_from(notice), true);
        return;
    }
    result.status = error_set(&result.err, TD_UNAVAILABLE, "a person has not looked at it yet");
    end(attempt, &result);
}

static void look(void *ctx)
{
    struct tier_attempt *attempt = ctx;
    struct tier_result result = {.status = TD_OK};
    enum td_status status =
        queue_store_find(attempt->owner->queue, NULL, attempt->id, take_row, attempt, &result.err);
    bool waits = status == TD_OK && attempt->state <= QUEUED_TAKEN;
    if (attempt->answered) {
        say(attempt, buf_view(&attempt->text), false);
    } else if (waits && now_ms() - attempt->began_ms < attempt->hold_ms) {
        loop_timer_start(attempt->loop, attempt->timer, LOOK_MS);
    } else if (waits) {
        wait_over(attempt);
    } else {
        result.status =
            status != TD_OK ? status
            : attempt->state == QUEUED_ENDED
                ? error_set(&result.err, TD_UNSUPPORTED, "a reviewer rejected every answer")
                : error_set(&result.err, TD_TIMEOUT, "no reviewer took it in time");
        end(attempt, &result);
    }
}

static enum td_status put_ticket(struct tier_attempt *attempt, const struct tier_sink *sink,
                                 struct td_error *err)
{
    const struct review_tier *owner = attempt->owner;
    const struct tier_question *ticket = sink->question;
    const struct queue_entry entry = {.queue = owner->tier.facts.name,
                                      .owner = ticket->owner,
                                      .user = ticket->user,
                                      .about = sink->pass->exchange,
                                      .data_class = (int)sink->pass->data_class,
                                      .expires_s = (int64_t)(clock_wall_ms(NULL) / 1000) +
                                                   owner->settings.expires_s,
                                      .open_max = owner->settings.open_max,
                                      .body = ticket->body};
    snprintf(attempt->about, sizeof attempt->about, "%s", entry.about);
    return queue_store_add(owner->queue, &entry, attempt->id, err);
}

static enum td_status review_start(struct tier *tier, struct loop *loop,
                                   const struct td_request *request, const struct tier_sink *sink,
                                   struct tier_attempt **out, struct td_error *err)
{
    struct review_tier *owner = (struct review_tier *)tier;
    if (request->labels || request->completion)
        return error_set(err, TD_UNSUPPORTED, "people are asked questions, and nothing else");
    if (!owner->queue || !sink->question || !sink->pass || !sink->pass->exchange)
        return error_set(err, TD_UNSUPPORTED, "no ticket can be made of this");
    struct tier_attempt *attempt = calloc(1, sizeof *attempt);
    if (!attempt)
        return error_set(err, TD_NO_MEMORY, "no memory for an attempt");
    *attempt = (struct tier_attempt){.owner = owner,
                                     .loop = loop,
                                     .sink = *sink,
                                     .began_ms = now_ms(),
                                     .hold_ms = owner->settings.hold_ms};
    attempt->sink.question = NULL;
    if (sink->left_ms && attempt->hold_ms + MARGIN_MS > sink->left_ms)
        attempt->hold_ms = sink->left_ms > MARGIN_MS ? sink->left_ms - MARGIN_MS : 0;
    buf_init(&attempt->text, QUEUED_TEXT_BYTES_MAX);
    attempt->timer = loop_timer_new(loop, look, attempt);
    enum td_status status = attempt->timer
                                ? put_ticket(attempt, sink, err)
                                : error_set(err, TD_NO_MEMORY, "no memory for an attempt");
    if (status != TD_OK) {
        attempt_free(attempt);
        return status;
    }
    if (owner->settings.keeper)
        queue_keeper_ask(owner->settings.keeper);
    loop_timer_start(loop, attempt->timer, 0);
    *out = attempt;
    return TD_OK;
}

static void review_cancel(struct tier_attempt *attempt)
{
    if (attempt->replying)
        attempt->cancelled = true;
    else
        attempt_free(attempt);
}

static uint32_t review_count_prompt(struct tier *tier, const struct td_request *request)
{
    (void)tier;
    return tier_estimate_prompt(request);
}

static void review_look(struct tier *tier, struct tier_state *out)
{
    const struct review_tier *owner = (const struct review_tier *)tier;
    if (owner->settings.keeper)
        out->tickets = queue_keeper_waiting(owner->settings.keeper, tier->facts.name);
}

static void review_free(struct tier *tier)
{
    free(tier);
}

static const struct tier_ops review_ops = {.start = review_start,
                                           .cancel = review_cancel,
                                           .count_prompt = review_count_prompt,
                                           .look = review_look,
                                           .free = review_free};

static const struct review_tier *people_of(const struct tier *tier)
{
    return tier->ops == &review_ops ? (const struct review_tier *)tier : NULL;
}

struct queue_store *tier_review_queue(const struct tier *tier)
{
    return people_of(tier) ? people_of(tier)->queue : NULL;
}

uint32_t tier_review_lease_s(const struct tier *tier)
{
    return people_of(tier) ? people_of(tier)->settings.lease_s : REVIEW_LEASE_S;
}

enum td_status tier_review_new(const struct tier_facts *facts,
                               const struct review_settings *settings, struct queue_store *queue,
                               struct tier **out, struct td_error *err)
{
    struct review_tier *tier = calloc(1, sizeof *tier);
    if (!tier)
        return error_set(err, TD_NO_MEMORY, "no memory for a tier");
    tier->tier.ops = &review_ops;
    tier->tier.facts = *facts;
    tier->settings = *settings;
    tier->queue = queue;
    *out = &tier->tier;
    return TD_OK;
}
