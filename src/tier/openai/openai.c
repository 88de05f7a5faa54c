/* An attempt at an OpenAI-compatible server, over the loop's HTTP client. It is one
 * request, repeated at most once, and only while nothing of an answer has been passed on.
 *
 * A callback may cancel its attempt. The HTTP client that is just handing over bytes must keep its
 * transfer until the call returns. So an attempt that ends inside a callback is freed or finished
 * by its own timer in the loop's next turn, and stays silent until then. */
#include "base/core/assertion.h"
#include "tier/openai/openai_attempt.h"

#include "base/core/error.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "base/crypto/secret.h"
#include "base/time/clock.h"
#include "base/time/log.h"
#include "net/client/client_body.h"
#include "router/plan/model_names.h"
#include "tier/door.h"
#include "tier/health.h"
#include "tier/openai/openai_headers.h"
#include "tier/openai/openai_refusal.h"
#include "tier/openai/openai_usage.h"
#include "tier/openai/portal.h"

#include <stdio.h>
#include <stdlib.h>

/* The largest body that server.body_bytes_max allows, and room for what is added to it. */
#define REQUEST_BYTES_MAX ((size_t)320 << 20)
#define RESPONSE_BYTES_MAX (64 * 1024 * 1024)
#define ERROR_BODY_BYTES_MAX (16 * 1024)
#define RETRIES_MAX 1
#define BACKOFF_MS_MIN 200 /* outlasts a hiccup; short compared with a first token */
#define BACKOFF_MS_SPAN 200
#define RETRY_AFTER_MS_MAX 2000 /* for longer waits, the next tier is the better choice */
/* After [DONE] the peer usually ends the response within a packet or two, and the connection can
 * then be reused. A peer that takes longer is not waited for. */
#define LINGER_MS 50
/* How often a request without a connection asks whether it is worth waiting for. */
#define LOOK_MS 25
/* The same for one whose connection is silent. */
#define LOOK_MUTE_MS 250

static uint64_t now_ms(void)
{
    return clock_monotonic_ns(NULL) / 1000000;
}

static void end_connecting(struct tier_attempt *attempt, bool ok)
{
    const struct tier_server_options *options = &attempt->tier->options;
    if (!attempt->connecting)
        return;
    attempt->connecting = false;
    if (attempt->pending == PENDING_LOOK)
        attempt->pending = PENDING_NOTHING;
    double waited_ms = clock_monotonic_ms(NULL) - attempt->connect_ms;
    tier_health_connected(options->health, options->health_index, ok, (uint64_t)waited_ms,
                          now_ms());
}

static void drop_bodies(struct tier_attempt *attempt)
{
    client_body_drop(attempt->sent);
    attempt->sent = NULL;
    buf_deinit(&attempt->body);
    buf_deinit(&attempt->chat);
}

static void attempt_free(struct tier_attempt *attempt)
{
    end_connecting(attempt, false);
    if (attempt->transfer)
        client_cancel(attempt->transfer);
    loop_timer_free(attempt->loop, attempt->timer);
    openai_stream_deinit(&attempt->stream);
    buf_deinit(&attempt->refusal);
    drop_bodies(attempt);
    free(attempt->own_url);
    free(attempt);
}

static void later(struct tier_attempt *attempt, enum pending what, uint64_t delay_ms)
{
    attempt->pending = what;
    loop_timer_start(attempt->loop, attempt->timer, delay_ms);
}

/* --- the end --- */

static bool is_success(int code)
{
    return code >= 200 && code < 300;
}

/* Servers charge for what they began to answer, and may charge for what they had got when we left.
 * They do not charge for a request that they refused, nor for one that never came. */
bool openai_unbilled(const struct tier_attempt *attempt)
{
    return attempt->reach != TIER_REACHED ||
           (attempt->http_status && !is_success(attempt->http_status));
}

static struct tier_usage usage_of(const struct tier_attempt *attempt)
{
    const struct tier_facts *facts = &attempt->facts;
    const struct usage_evidence evidence = {
        .sent_bytes = attempt->body_bytes,
        .text_bytes = attempt->stream.text_bytes,
        .shown_bytes = attempt->stream.shown_bytes,
        .took_ms = clock_monotonic_ms(NULL) - attempt->start_ms,
        .limit = attempt->limit,
        .context_tokens = facts->context_tokens,
        .media = attempt->media,
    };
    struct tier_usage usage = attempt->stream.usage;
    openai_usage_check(&usage, &evidence);
    usage.most = attempt->limit;
    if (usage.refused)
        log_event(LOG_LEVEL_WARN, "usage_refused",
                  "tier=%s reason=\"%s\" told a usage that cannot be true; what it costs is "
                  "estimated",
                  facts->name, usage.refused);
    if (usage.exact || openai_unbilled(attempt))
        return usage;
    /* Four bytes per token is the rule of thumb for English. The record marks it as an estimate. */
    usage.prompt_tokens = attempt->prompt_estimate;
    usage.completion_tokens = (uint32_t)((attempt->stream.text_bytes + 3) / 4);
    return usage;
}

/* A whole answer shows that the server gives none. One without text shows nothing: few servers give
 * log-probabilities of calls. */
static void learn_logprobs(const struct tier_attempt *attempt)
{
    const struct openai_stream *stream = &attempt->stream;
    const struct tier_facts *facts = &attempt->facts;
    bool asked = attempt->asks_logprobs && stream->text_bytes > 0;
    if (stream->surplus_count > 0)
        log_event(LOG_LEVEL_WARN, "logprobs_ignored",
                  "tier=%s count=%llu reason=\"more than the text can have tokens\"", facts->name,
                  (unsigned long long)stream->surplus_count);
    if (stream->stats_count > 0 || !(asked || attempt->refused_logprobs))
        return;
    logprob_support_learn(&attempt->tier->tier.logprobs, attempt->kind, false,
                          (uint64_t)clock_monotonic_ms(NULL));
    log_event(LOG_LEVEL_INFO, "no_logprobs", "tier=%s model=%s refused=%d", facts->name,
              facts->model, attempt->refused_logprobs);
}

/* It answered without them. */
static void learn_extras(const struct tier_attempt *attempt)
{
    const struct tier_facts *facts = &attempt->facts;
    unsigned refused = attempt->extras_refused;
    unsigned kept = openai_is_tiers_model(attempt) ? refused : refused & ~EXTRAS_OF_MODEL;
    if (!refused)
        return;
    extra_support_learn(&attempt->tier->tier.extras, kept, now_ms());
    log_event(LOG_LEVEL_INFO, "not_taken",
              "tier=%s model=%s stream_options=%d stream=%d hints=%d sampling=%d max_tokens=%d",
              facts->name, facts->model, (refused & EXTRA_USAGE) != 0,
              (refused & EXTRA_STREAM) != 0, (refused & EXTRA_HINTS) != 0,
              (refused & EXTRA_SAMPLING) != 0, (refused & EXTRA_LIMIT) != 0);
}

/* Reports the result. The attempt is gone afterwards. */
static void deliver(struct tier_attempt *attempt, const struct td_error *err)
{
    struct tier_result result = {
        .status = err->status,
        .err = *err,
        .refusal = is_success(attempt->http_status) ? attempt->stream.refusal : attempt->refused,
        .http_status = attempt->captive && err->status != TD_OK ? 0 : attempt->http_status,
        .finish = attempt->stream.finish,
        .stop_number = attempt->stream.stop_number,
        .usage = usage_of(attempt),
        .first_ms = attempt->first_ms,
        .total_ms = clock_monotonic_ms(NULL) - attempt->start_ms,
        .retry_count = attempt->retry_count,
        .egress_bytes = attempt->egress_bytes,
        .reach = err->status == TD_OK ? TIER_REACHED : attempt->reach,
        .retry_after_ms = attempt->retry_after_ms == UINT64_MAX ? 0 : attempt->retry_after_ms,
        .captive = attempt->captive && err->status != TD_OK,
        .unbilled = openai_unbilled(attempt),
        .own_fault = attempt->stream.own_fault || attempt->too_large,
    };
    openai_hide_key(key_ring_at(attempt->tier->keys, attempt->key)->secret, result.err.message);
    openai_hide(door_host_name(attempt->tier->host), result.err.message);
    if (result.status == TD_OK) {
        learn_logprobs(attempt);
        learn_extras(attempt);
    }
    struct tier_sink sink = attempt->sink;
    attempt_free(attempt);
    sink.on_done(sink.ctx, &result);
}

static uint64_t backoff_ms(void)
{
    uint16_t random = 0;
    if (crypto_random(&random, sizeof random, NULL) != TD_OK)
        random = 0;
    return BACKOFF_MS_MIN + random % (BACKOFF_MS_SPAN + 1);
}

/* What waits until the deadline keeps the next tier from being asked. */
static bool is_in_time(const struct tier_attempt *attempt, uint64_t delay_ms)
{
    double passed_ms = clock_monotonic_ms(NULL) - attempt->start_ms;
    return attempt->sink.left_ms == 0 || passed_ms + (double)delay_ms < attempt->sink.left_ms;
}

/* Whether a second try may help: the failure is a passing one, nothing of an answer was passed on,
 * and the tier's budget of retries has one left. A hedge is not repeated, because it is itself the
 * second try beside the first. Where there is no server, there is none for a second try. */
static bool may_retry(const struct tier_attempt *attempt, enum td_status status)
{
    const struct egress_pass *pass = attempt->sink.pass;
    const struct tier_server_options *options = &attempt->tier->options;
    bool asked_to_wait = attempt->retry_after_ms != UINT64_MAX;
    return attempt->retry_count < RETRIES_MAX && !attempt->passed_on && !attempt->sink.once &&
           attempt->reach == TIER_REACHED && !(pass && pass->purpose == EGRESS_HEDGE) &&
           openai_refusal_passes(&attempt->refused, status) &&
           (!asked_to_wait || attempt->retry_after_ms <= RETRY_AFTER_MS_MAX) &&
           is_in_time(attempt, asked_to_wait ? attempt->retry_after_ms : BACKOFF_MS_MIN) &&
           tier_health_may_retry(options->health, options->health_index, now_ms());
}

static void retry_later(struct tier_attempt *attempt)
{
    uint64_t delay_ms = backoff_ms();
    if (attempt->retry_after_ms != UINT64_MAX && attempt->retry_after_ms > delay_ms)
        delay_ms = attempt->retry_after_ms;
    attempt->retry_count++;
    later(attempt, PENDING_RETRY, delay_ms);
}

/* A key that is refused or throttled rests, and says nothing of the tier while another one is
 * left. True when the request can be sent with that. */
static bool change_key(struct tier_attempt *attempt)
{
    struct key_ring *keys = attempt->tier->keys;
    uint64_t asked = attempt->retry_after_ms == UINT64_MAX ? 0 : attempt->retry_after_ms;
    int http = attempt->refused.http ? attempt->refused.http : attempt->http_status;
    uint64_t rest_ms = key_ring_rest_of(http, asked);
    if (rest_ms == 0 || attempt->passed_on || key_ring_count(keys) < 2)
        return false;
    key_ring_rest(keys, attempt->key, rest_ms, now_ms());
    log_event(LOG_LEVEL_WARN, "key_rests", "tier=%s key=%s http=%d for_ms=%llu",
              attempt->facts.name, key_ring_at(keys, attempt->key)->name, http,
              (unsigned long long)rest_ms);
    attempt->keys_tried |= UINT64_C(1) << attempt->key;
    size_t next =
        attempt->sink.once ? SIZE_MAX : key_ring_pick(keys, attempt->keys_tried, now_ms());
    if (next == SIZE_MAX || !is_in_time(attempt, 0))
        return false;
    attempt->key = next;
    attempt->retry_count++;
    return true;
}

static void finish(struct tier_attempt *attempt)
{
    unsigned refused = attempt->err.status != TD_OK ? openai_prepare_refused(attempt) : 0;
    if (!refused || !openai_prepare_without(attempt, refused)) {
        deliver(attempt, &attempt->err);
        return;
    }
    if (attempt->transfer)
        client_cancel(attempt->transfer);
    attempt->transfer = NULL;
    attempt->retry_count++;
    later(attempt, PENDING_RETRY, 0);
}

/* --- the transfer --- */

static void on_piece(void *ctx, const struct tier_piece *piece)
{
    struct tier_attempt *attempt = ctx;
    if (attempt->dead)
        return;
    bool shows = piece->text.len > 0 || piece->has_stats || json_get(piece->raw_delta, "delta");
    if (!attempt->passed_on && shows)
        attempt->first_ms = clock_monotonic_ms(NULL) - attempt->start_ms;
    if (!attempt->passed_on)
        drop_bodies(attempt); /* it is not repeated any more */
    attempt->passed_on = true;
    if (attempt->asks_logprobs && piece->has_stats) /* now: a gate may end the attempt early */
        logprob_support_learn(&attempt->tier->tier.logprobs, attempt->kind, true, 0);
    attempt->sink.on_piece(attempt->sink.ctx, piece);
}

/* Whether a server that does not answer a health check is not there. One nearby may have a single
 * thread, which the request itself keeps busy. */
static bool answers_while_it_thinks(const struct tier_attempt *attempt)
{
    enum td_place place = attempt->tier->tier.facts.place;
    return attempt->tier->options.health && place != TD_PLACE_DEVICE && place != TD_PLACE_PREMISES;
}

static void on_connected(void *ctx)
{
    struct tier_attempt *attempt = ctx;
    attempt->reach = TIER_REACHED;
    end_connecting(attempt, true);
    attempt->connected_ms = now_ms();
    if (answers_while_it_thinks(attempt))
        later(attempt, PENDING_LOOK, LOOK_MUTE_MS);
}

static void on_headers(void *ctx, int code, const char *content_type, const char *retry_after)
{
    struct tier_attempt *attempt = ctx;
    /* The media type is often wrong: an answer that can be read is one (openai_stream.c). */
    attempt->captive = !attempt->facts.loopback && portal_is_likely(code, content_type);
    const struct tier_server_options *options = &attempt->tier->options;
    if (attempt->pending == PENDING_LOOK)
        attempt->pending = PENDING_NOTHING;
    if (!attempt->captive)
        tier_health_heard(options->health, options->health_index, now_ms());
    attempt->http_status = code;
    attempt->retry_after_ms = openai_retry_after_ms(retry_after, clock_wall_ms(NULL));
}

/* Nothing that came is the server's: it was not reached. */
static void note_captive(struct tier_attempt *attempt)
{
    attempt->captive = attempt->captive && attempt->err.status != TD_OK && !attempt->passed_on;
    if (!attempt->captive)
        return;
    attempt->err = (struct td_error){0};
    error_set(&attempt->err, TD_UNAVAILABLE, "%s", PORTAL_WORDS);
    attempt->refused = (struct tier_refusal){0};
    attempt->reach = TIER_UNREACHED;
    attempt->http_status = 0;
}

static void on_body(void *ctx, struct td_str bytes)
{
    struct tier_attempt *attempt = ctx;
    if (attempt->dead || attempt->pending != PENDING_NOTHING)
        return;
    if (!is_success(attempt->http_status)) {
        buf_append_str(&attempt->refusal,
                       str_slice(bytes, 0, ERROR_BODY_BYTES_MAX - attempt->refusal.len));
        return;
    }
    attempt->in_callback = true;
    uint64_t before = openai_stream_progress(&attempt->stream);
    enum td_status status = openai_stream_feed(&attempt->stream, bytes, &attempt->err);
    attempt->in_callback = false;
    if (attempt->dead)
        return;
    if (openai_stream_progress(&attempt->stream) != before)
        client_note_progress(attempt->transfer);
    if (status != TD_OK) {
        note_captive(attempt);
        later(attempt, PENDING_FINISH, 0);
    } else if (attempt->stream.done)
        later(attempt, PENDING_FINISH, LINGER_MS);
}

static void read_refusal(struct tier_attempt *attempt)
{
    openai_read_error(attempt->http_status, buf_view(&attempt->refusal), &attempt->refused,
                      &attempt->err);
    if (attempt->retry_after_ms == UINT64_MAX && attempt->refused.retry_ms > 0)
        attempt->retry_after_ms = attempt->refused.retry_ms;
}

/* Decides what the ended transfer means for the attempt. */
static void judge(struct tier_attempt *attempt, enum td_status status, const struct td_error *err)
{
    bool whole = attempt->stream.finished || attempt->stream.done;
    if (attempt->pending == PENDING_FINISH || (status != TD_OK && whole))
        return;                              /* decided before, or cut after the complete answer */
    attempt->too_large = status == TD_LIMIT; /* which is the peer's fault */
    if (status == TD_LIMIT)
        status = TD_CORRUPT;
    if (status != TD_OK)
        error_set(&attempt->err, status, "%s",
                  err && err->message[0] ? err->message : "the connection failed");
    else if (!is_success(attempt->http_status))
        read_refusal(attempt);
    else if (openai_stream_end(&attempt->stream, &attempt->err) != TD_OK)
        error_set(&attempt->err, TD_CORRUPT, "malformed answer");
    note_captive(attempt);
}

static void on_done(void *ctx, enum td_status status, int code, const struct td_error *err)
{
    struct tier_attempt *attempt = ctx;
    attempt->transfer = NULL;
    end_connecting(attempt, false);
    if (attempt->dead)
        return; /* the timer frees it */
    if (code)
        attempt->http_status = code;
    attempt->in_callback = true; /* an answer that is not streamed gives its piece now */
    judge(attempt, status, err);
    attempt->in_callback = false;
    if (attempt->dead)
        return;
    if (attempt->err.status != TD_OK && change_key(attempt))
        later(attempt, PENDING_RETRY, 0);
    else if (attempt->err.status != TD_OK && !openai_prepare_refused(attempt) &&
             may_retry(attempt, attempt->err.status))
        retry_later(attempt);
    else
        finish(attempt);
}

static enum td_status send_through_door(struct tier_attempt *attempt, struct client *client,
                                        const struct client_request *request, struct td_error *err)
{
    const struct egress_pass *given = attempt->sink.pass;
    struct egress_pass pass = given ? *given : (struct egress_pass){0};
    if (attempt->retry_count > 0)
        pass.purpose = EGRESS_RETRY;
    return door_send(&attempt->tier->door, given ? &pass : NULL, client, request,
                     &attempt->transfer, err);
}

/* Health hears of every request that waits for a connection, and the timer asks it what others
 * have found. */
static void begin_connecting(struct tier_attempt *attempt)
{
    const struct tier_server_options *options = &attempt->tier->options;
    if (!options->health)
        return;
    attempt->connecting = true;
    attempt->connect_ms = clock_monotonic_ms(NULL);
    tier_health_connecting(options->health, options->health_index, now_ms());
    later(attempt, PENDING_LOOK, LOOK_MS);
}

static const char *url_of(const struct tier_attempt *attempt)
{
    return attempt->own_url      ? attempt->own_url
           : attempt->completion ? attempt->tier->completion_url
                                 : attempt->tier->chat_url;
}

static enum td_status close_body(struct tier_attempt *attempt, struct td_error *err)
{
    if (attempt->sent)
        return TD_OK;
    attempt->body_bytes = attempt->body.len;
    attempt->sent = client_body_new(buf_take(&attempt->body), attempt->body_bytes);
    return attempt->sent ? TD_OK : error_set(err, TD_NO_MEMORY, "no memory for a request");
}

static enum td_status send_request(struct tier_attempt *attempt, struct td_error *err)
{
    if (close_body(attempt, err) != TD_OK)
        return TD_NO_MEMORY;
    const struct tier_server_options *options = &attempt->tier->options;
    struct openai_headers headers;
    struct openai_header_source source = openai_header_source(attempt->tier, attempt->key);
    source.method = "POST";
    source.url = url_of(attempt);
    source.body = client_body_view(attempt->sent);
    bool written =
        openai_headers_init(&headers, &source, true, attempt->sink.pass, attempt->retry_count);
    struct client_request request = {
        .method = "POST",
        .url = url_of(attempt),
        .headers = headers.list,
        .body = client_body_view(attempt->sent),
        .shared = attempt->sent,
        .allow_http = true, /* the URL was checked in tier_openai_new */
        .ca_file = attempt->tier->ca_file,
        .pinned_key = attempt->tier->pinned_key,
        .connect_timeout_ms = tier_health_connect_ms(options->health, options->health_index,
                                                     options->connect_timeout_ms),
        .first_timeout_ms = options->first_timeout_ms,
        .idle_timeout_ms = options->idle_timeout_ms,
        .total_timeout_ms = options->total_timeout_ms,
        .response_bytes_max = RESPONSE_BYTES_MAX,
        .discreet = true,
        .notes_progress = true,
        .on_connected = on_connected,
        .on_headers = on_headers,
        .on_body = on_body,
        .on_done = on_done,
        .ctx = attempt,
    };
    struct client *client = client_of_loop(attempt->loop);
    enum td_status status = TD_OK;
    attempt->reach = TIER_UNREACHED;
    if (!written || !client)
        status = error_set(err, TD_NO_MEMORY, "no memory for a request");
    else
        status = send_through_door(attempt, client, &request, err);
    openai_headers_wipe(&headers);
    if (status != TD_OK)
        return status;
    attempt->egress_bytes += attempt->body_bytes;
    begin_connecting(attempt);
    return TD_OK;
}

static enum td_status begin_stream(struct tier_attempt *attempt, struct td_error *err)
{
    const struct tier_dialect *dialect = attempt->tier->server->dialect;
    openai_stream_init(&attempt->stream, attempt->completion, on_piece, attempt);
    attempt->stream.own_logprobs = attempt->asks_logprobs;
    attempt->stream.stops = attempt->stops;
    attempt->stream.stop_count = attempt->stop_count;
    return dialect ? openai_stream_speak(&attempt->stream, dialect, err) : TD_OK;
}

static void repeat(struct tier_attempt *attempt)
{
    openai_stream_deinit(&attempt->stream);
    buf_clear(&attempt->refusal);
    attempt->err = (struct td_error){0};
    attempt->refused = (struct tier_refusal){0};
    attempt->http_status = 0;
    attempt->captive = false;
    attempt->retry_after_ms = UINT64_MAX;
    if (begin_stream(attempt, &attempt->err) != TD_OK ||
        send_request(attempt, &attempt->err) != TD_OK)
        deliver(attempt, &attempt->err);
}

/* Goes on waiting for a connection or an answer, or leaves it to the next tier. */
static void look(struct tier_attempt *attempt)
{
    const struct tier_server_options *options = &attempt->tier->options;
    if (!attempt->connecting) {
        if (!tier_health_is_mute(options->health, options->health_index, attempt->connected_ms,
                                 attempt->sink.elsewhere, now_ms())) {
            later(attempt, PENDING_LOOK, LOOK_MUTE_MS);
            return;
        }
        error_set(&attempt->err, TD_TIMEOUT, "no answer, and none to a health check either");
        deliver(attempt, &attempt->err);
        return;
    }
    if (!tier_health_gives_up(options->health, options->health_index, (uint64_t)attempt->connect_ms,
                              attempt->sink.elsewhere, now_ms())) {
        later(attempt, PENDING_LOOK, LOOK_MS);
        return;
    }
    attempt->reach = TIER_NOT_AWAITED;
    error_set(&attempt->err, TD_UNAVAILABLE,
              "no connection yet, and other requests have waited for one in vain");
    deliver(attempt, &attempt->err);
}

static void on_timer(void *ctx)
{
    struct tier_attempt *attempt = ctx;
    enum pending pending = attempt->pending;
    attempt->pending = PENDING_NOTHING;
    if (pending == PENDING_FREE)
        attempt_free(attempt);
    else if (pending == PENDING_LOOK)
        look(attempt);
    else if (pending == PENDING_FINISH)
        finish(attempt);
    else if (pending == PENDING_RETRY)
        repeat(attempt);
}

/* --- the beginning and the end from outside --- */

enum td_status openai_start(struct tier *tier, struct loop *loop, const struct td_request *request,
                            const struct tier_sink *sink, struct tier_attempt **out,
                            struct td_error *err)
{
    ASSERT(loop != NULL && request != NULL && out != NULL);
    ASSERT(sink != NULL && sink->on_piece != NULL && sink->on_done != NULL);
    struct tier_attempt *attempt = calloc(1, sizeof *attempt);
    if (!attempt)
        return error_set(err, TD_NO_MEMORY, "no memory for an attempt on %s", tier->facts.name);
    attempt->tier = openai_of(tier);
    attempt->facts = tier->facts;
    model_names_take(&attempt->facts, request->model);
    attempt->loop = loop;
    attempt->sink = *sink;
    attempt->start_ms = clock_monotonic_ms(NULL);
    attempt->retry_after_ms = UINT64_MAX;
    attempt->key = key_ring_pick(attempt->tier->keys, 0, now_ms());
    attempt->completion = request->completion != NULL;
    attempt->stops = request->stops;
    attempt->stop_count = request->stop_count;
    attempt->media = request->media.kinds != 0;
    attempt->prompt_estimate = tier_estimate_prompt(request);
    attempt->limit = openai_usage_limit(request, tier->facts.prefill);
    buf_init(&attempt->body, REQUEST_BYTES_MAX);
    buf_init(&attempt->chat, REQUEST_BYTES_MAX);
    buf_init(&attempt->refusal, ERROR_BODY_BYTES_MAX);
    attempt->kind = logprob_kind_of(request);
    attempt->asks_logprobs =
        sink->judged && !request->logprobs && !attempt->tier->server->dialect &&
        logprob_support_ask(&tier->logprobs, attempt->kind, (uint64_t)attempt->start_ms);
    attempt->timer = loop_timer_new(loop, on_timer, attempt);
    enum td_status status = begin_stream(attempt, err);
    if (status == TD_OK)
        status = openai_prepare(attempt, request, err);
    if (status == TD_OK && !attempt->timer)
        status = error_set(err, TD_NO_MEMORY, "no memory for an attempt on %s", tier->facts.name);
    if (status == TD_OK)
        status = send_request(attempt, err);
    if (status != TD_OK) {
        attempt_free(attempt);
        return status;
    }
    *out = attempt;
    return TD_OK;
}

void openai_cancel(struct tier_attempt *attempt)
{
    if (!attempt->in_callback) {
        attempt_free(attempt);
        return;
    }
    attempt->dead = true;
    later(attempt, PENDING_FREE, 0);
}

uint64_t openai_egress_bytes(const struct tier_attempt *attempt)
{
    return attempt->egress_bytes;
}
