/* An attempt is either a replay, or one of the other tier's with a writer that listens.
 *
 * Below the exchange is the right place: what is kept is what the tier said, with surrogates where
 * values were masked, and every gate, dialect and record above sees a hit as an answer. Above it, a
 * copy of restored text would be kept, and each dialect would need a replay of its own.
 *
 * An answer to a similar question is looked for after one to the same request, and before the tier
 * is asked. Its question's vector takes a while, so the tier is asked later, from the loop.
 *
 * Whole answers alone are kept: ended by the model, by a stop text, by a call, or by the number of
 * tokens that the request named. */
#include "api/cache/cached_tier.h"

#include "api/cache/kept_pieces.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/time/clock.h"
#include "exchange/limits/cost.h"

#include <stdlib.h>
#include <string.h>

struct cached_tier {
    struct tier tier; /* first: the caller's view */
    struct tier *inner;
    struct answer_cache *cache;
    enum cache_answers which;
    struct similar_settings similar;
    _Atomic uint64_t server_identity; /* that its server named last */
    char identity[];
};

struct tier_attempt {
    struct cached_tier *owner;
    struct tier_sink sink; /* the exchange's */
    bool looked;           /* there was none, and its pieces say so */
    /* One that the other tier makes. */
    struct tier_attempt *inner;
    struct kept *kept; /* that is being written; NULL = nothing is */
    struct piece_writer writer;
    uint32_t tokens_max;
    bool called; /* it has a call of a tool */
    /* One that is not asked for yet: a similar question is looked for. */
    struct similar_look *look;
    const struct td_request *request;
    uint64_t began_ms;
    struct tier_cache_facts facts;
    /* A replay. */
    struct loop *loop;
    struct loop_timer *timer; /* NULL = it is none */
    struct kept *found;
    bool replaying, cancelled;
};

static uint64_t now_ms(void)
{
    return (uint64_t)clock_monotonic_ms(NULL);
}

static void attempt_free(struct tier_attempt *attempt)
{
    if (attempt->timer)
        loop_timer_free(attempt->loop, attempt->timer);
    similar_look_cancel(attempt->look);
    kept_drop(attempt->kept);
    kept_drop(attempt->found);
    free(attempt);
}

/* --- a replay --- */

static void end_replay(struct tier_attempt *attempt)
{
    const struct kept *found = attempt->found;
    struct tier_sink sink = attempt->sink;
    struct tier_result result = {.status = TD_OK,
                                 .finish = found->finish,
                                 .stop_number = found->stop_number,
                                 .usage = found->usage,
                                 .unbilled = true};
    answer_cache_add_saved(attempt->owner->cache,
                           cost_usd(&attempt->owner->inner->facts, &found->usage));
    attempt_free(attempt);
    sink.on_done(sink.ctx, &result);
}

static void replay(void *ctx)
{
    struct tier_attempt *attempt = ctx;
    struct kept *found = attempt->found;
    struct piece_reader reader = {.from = buf_view(&found->pieces)};
    struct tier_piece piece;
    attempt->facts.age_s = (uint32_t)(kept_age_ms(found, now_ms()) / 1000);
    attempt->replaying = true;
    while (!attempt->cancelled && piece_reader_next(&reader, &piece)) {
        piece.cache = attempt->facts.similarity > 0 ? TIER_CACHE_SIMILAR : TIER_CACHE_HIT;
        piece.cache_facts = attempt->facts;
        attempt->sink.on_piece(attempt->sink.ctx, &piece);
    }
    piece_reader_deinit(&reader);
    attempt->replaying = false;
    if (attempt->cancelled)
        attempt_free(attempt);
    else
        end_replay(attempt);
}

/* --- an answer of the other tier --- */

static void on_piece(void *ctx, const struct tier_piece *piece)
{
    struct tier_attempt *attempt = ctx;
    if (piece->server_identity)
        atomic_store(&attempt->owner->server_identity, piece->server_identity);
    if (attempt->kept) {
        if (piece->server_identity)
            attempt->kept->server_identity = piece->server_identity;
        piece_writer_add(&attempt->writer, piece);
    }
    struct tier_piece told = *piece;
    attempt->called = attempt->called || piece->in_call || piece->raw_delta;
    told.cache = attempt->looked ? TIER_CACHE_MISS : TIER_CACHE_NONE;
    told.cache_facts = attempt->facts;
    attempt->sink.on_piece(attempt->sink.ctx, &told); /* the attempt may be gone */
}

static bool is_whole(const struct tier_attempt *attempt, const struct tier_result *result)
{
    bool ended = result->finish == TD_FINISH_STOP || result->finish == TD_FINISH_TOOL_CALLS ||
                 (result->finish == TD_FINISH_LENGTH && attempt->tokens_max > 0 &&
                  result->usage.completion_tokens >= attempt->tokens_max);
    return result->status == TD_OK && ended && !result->own_fault && !attempt->writer.unfit &&
           attempt->writer.visible > 0 && !attempt->kept->pieces.failed;
}

static void on_done(void *ctx, const struct tier_result *result)
{
    struct tier_attempt *attempt = ctx;
    struct tier_sink sink = attempt->sink;
    if (attempt->kept && is_whole(attempt, result)) {
        struct kept *kept = attempt->kept;
        kept->usage = result->usage;
        kept->finish = result->finish;
        kept->stop_number = result->stop_number;
        attempt->kept = NULL;
        if (attempt->called ||
            result->finish != TD_FINISH_STOP) { /* it is of this question alone */
            similar_question_free(kept->question);
            kept->question = NULL;
        }
        answer_cache_put(attempt->owner->cache, kept, now_ms());
    }
    attempt_free(attempt);
    sink.on_done(sink.ctx, result);
}

/* --- the beginning --- */

static enum td_status ask_inner(struct tier_attempt *attempt, const struct td_request *request,
                                struct td_error *err)
{
    struct tier_sink sink = attempt->sink;
    sink.on_piece = on_piece;
    sink.on_done = on_done;
    sink.ctx = attempt;
    return tier_start(attempt->owner->inner, attempt->loop, request, &sink, &attempt->inner, err);
}

/* There is no similar question: the tier is asked after all. A failure comes by the sink now. */
static void ask_late(struct tier_attempt *attempt)
{
    struct tier_result failure = {.unbilled = true};
    uint64_t late_ms = now_ms() - attempt->began_ms;
    if (attempt->sink.left_ms)
        attempt->sink.left_ms -=
            late_ms < attempt->sink.left_ms ? (uint32_t)late_ms : attempt->sink.left_ms - 1;
    failure.status = ask_inner(attempt, attempt->request, &failure.err);
    if (failure.status == TD_OK)
        return;
    struct tier_sink sink = attempt->sink;
    failure.total_ms = (double)late_ms;
    attempt_free(attempt);
    sink.on_done(sink.ctx, &failure);
}

static void on_looked(void *ctx, struct similar_result *result)
{
    struct tier_attempt *attempt = ctx;
    attempt->look = NULL;
    attempt->facts = result->facts;
    if (result->kept) {
        similar_question_free(result->question);
        attempt->found = result->kept;
        replay(attempt);
        return;
    }
    if (attempt->kept)
        attempt->kept->question = result->question;
    else
        similar_question_free(result->question);
    ask_late(attempt);
}

static struct cache_wish wish_of(const struct cached_tier *owner, const struct td_request *request)
{
    return (struct cache_wish){.server_identity = atomic_load(&owner->server_identity),
                               .age_max_ms = (uint64_t)request->cache_age_max_s * 1000,
                               .now_ms = now_ms()};
}

static bool begin_look(struct tier_attempt *attempt, const struct cache_question *question)
{
    struct cached_tier *owner = attempt->owner;
    const struct similar_wish wish = {.settings = &owner->similar,
                                      .cache = owner->cache,
                                      .question = question,
                                      .wish = wish_of(owner, question->request),
                                      .only_keeps = question->request->cache == CACHE_REFRESH,
                                      .loop = attempt->loop,
                                      .on_done = on_looked,
                                      .ctx = attempt};
    attempt->request = question->request;
    attempt->began_ms = now_ms();
    attempt->look = similar_look_begin(&wish);
    return attempt->look != NULL;
}

/* A writer for the answer; without memory there is none. */
static void begin_keeping(struct tier_attempt *attempt, const struct td_request *request,
                          const uint8_t key[static CRYPTO_SHA256_BYTES])
{
    struct kept *kept = kept_new(answer_cache_entry_max(attempt->owner->cache));
    if (!kept)
        return;
    memcpy(kept->key, key, sizeof kept->key);
    answer_owner_init(&kept->owner, request->tenant, request->user);
    attempt->kept = kept;
    attempt->writer = (struct piece_writer){.out = &kept->pieces};
    attempt->tokens_max = request->tokens_max;
}

/* True: the attempt has an answer, and a timer that gives it. */
static bool find(struct tier_attempt *attempt, const struct td_request *request,
                 const uint8_t key[static CRYPTO_SHA256_BYTES])
{
    struct cached_tier *owner = attempt->owner;
    attempt->looked = true;
    if (request->cache == CACHE_REFRESH)
        return false;
    const struct cache_wish wish = wish_of(owner, request);
    attempt->found = answer_cache_find(owner->cache, key, &wish);
    if (attempt->found)
        attempt->timer = loop_timer_new(attempt->loop, replay, attempt);
    if (attempt->timer)
        loop_timer_start(attempt->loop, attempt->timer, 0);
    return attempt->timer != NULL;
}

static struct cache_question question_of(const struct cached_tier *owner,
                                         const struct td_request *request,
                                         const struct tier_sink *sink)
{
    return (struct cache_question){.request = request,
                                   .pass = sink->pass,
                                   .facts = &owner->inner->facts,
                                   .identity = owner->identity,
                                   .judged = sink->judged};
}

static bool cached_has_answer(struct tier *tier, const struct td_request *request,
                              const struct tier_sink *sink)
{
    struct cached_tier *owner = (struct cached_tier *)tier;
    uint8_t key[CRYPTO_SHA256_BYTES];
    const struct cache_question question = question_of(owner, request, sink);
    const struct cache_wish wish = wish_of(owner, request);
    return request->cache != CACHE_REFRESH && cache_key_may(&question, owner->which) &&
           cache_key_of(&question, key) && answer_cache_has(owner->cache, key, &wish);
}

static enum td_status cached_start(struct tier *tier, struct loop *loop,
                                   const struct td_request *request, const struct tier_sink *sink,
                                   struct tier_attempt **out, struct td_error *err)
{
    struct cached_tier *owner = (struct cached_tier *)tier;
    struct tier_attempt *attempt = calloc(1, sizeof *attempt);
    uint8_t key[CRYPTO_SHA256_BYTES];
    if (!attempt)
        return error_set(err, TD_NO_MEMORY, "no memory for an attempt");
    attempt->owner = owner;
    attempt->sink = *sink;
    attempt->loop = loop;
    const struct cache_question question = question_of(owner, request, sink);
    if (cache_key_may(&question, owner->which) && cache_key_of(&question, key)) {
        *out = attempt;
        if (find(attempt, request, key))
            return TD_OK;
        begin_keeping(attempt, request, key);
        if (begin_look(attempt, &question))
            return TD_OK;
    }
    enum td_status status = ask_inner(attempt, request, err);
    if (status == TD_OK)
        *out = attempt;
    else
        attempt_free(attempt);
    return status;
}

static void cached_cancel(struct tier_attempt *attempt)
{
    if (attempt->inner)
        tier_cancel(attempt->owner->inner, attempt->inner);
    if (attempt->replaying)
        attempt->cancelled = true;
    else
        attempt_free(attempt);
}

static uint32_t cached_count_prompt(struct tier *tier, const struct td_request *request)
{
    return tier_count_prompt(((struct cached_tier *)tier)->inner, request);
}

static uint64_t cached_egress_bytes(const struct tier_attempt *attempt)
{
    return attempt->inner ? tier_egress_bytes(attempt->owner->inner, attempt->inner) : 0;
}

static bool cached_unbilled(const struct tier_attempt *attempt)
{
    return !attempt->inner || tier_is_unbilled(attempt->owner->inner, attempt->inner);
}

static void cached_free(struct tier *tier)
{
    free(tier);
}

static const struct tier_ops cached_ops = {.start = cached_start,
                                           .cancel = cached_cancel,
                                           .count_prompt = cached_count_prompt,
                                           .egress_bytes = cached_egress_bytes,
                                           .unbilled = cached_unbilled,
                                           .has_answer = cached_has_answer,
                                           .free = cached_free};

struct tier *cached_tier_new(const struct cached_tier_options *options)
{
    size_t bytes = strlen(options->identity) + 1;
    struct cached_tier *tier = calloc(1, sizeof *tier + bytes);
    if (!tier)
        return NULL;
    tier->tier.ops = &cached_ops;
    tier->tier.facts = options->inner->facts;
    tier->inner = options->inner;
    tier->cache = options->cache;
    tier->which = options->which;
    tier->similar = options->similar;
    memcpy(tier->identity, options->identity, bytes);
    return &tier->tier;
}
