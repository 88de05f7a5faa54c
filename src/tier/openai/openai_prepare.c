/* Makes a request: the body of a chat, less what the server has refused before, then in the
 * server's own dialect, padded; and its address. What a server refuses is left out here, too. */
#include "tier/openai/openai_attempt.h"

#include "base/core/error.h"
#include "base/time/clock.h"
#include "net/client/client_body.h"
#include "tier/cards/model_cards.h"
#include "tier/openai/openai_dialect.h"

static uint64_t now_ms(void)
{
    return clock_monotonic_ns(NULL) / 1000000;
}

static const struct tier_server *tier_of(const struct tier_attempt *attempt)
{
    return attempt->tier->server;
}

/* Where the chat's body is written: in OpenAI's dialect it is what is sent. */
static struct buf *text_of(struct tier_attempt *attempt)
{
    return tier_of(attempt)->dialect ? &attempt->chat : &attempt->body;
}

bool openai_is_tiers_model(const struct tier_attempt *attempt)
{
    return attempt->facts.model == attempt->tier->tier.facts.model;
}

void openai_reopen_body(struct tier_attempt *attempt)
{
    if (!attempt->sent)
        return;
    buf_clear(&attempt->body);
    buf_append_str(&attempt->body, client_body_view(attempt->sent));
    client_body_drop(attempt->sent);
    attempt->sent = NULL;
}

static enum td_status drop_extras(struct tier_attempt *attempt, unsigned extras,
                                  struct td_error *err)
{
    return openai_drop_extras(text_of(attempt), extras, err);
}

static enum td_status translate(struct tier_attempt *attempt, struct td_error *err)
{
    const struct tier_server *server = tier_of(attempt);
    const struct dialect_ask ask = {.model = attempt->facts.model,
                                    .card = model_card_find(server->name, attempt->facts.model)};
    struct json *chat = NULL;
    enum td_status status = json_parse(buf_view(&attempt->chat), &chat, err);
    buf_clear(&attempt->body);
    if (server->dialect->thinks_beside && json_get(chat, "reasoning_effort"))
        attempt->limit = 0; /* how much it may think is not known here */
    if (status == TD_OK)
        status = server->dialect->write_body(chat, &ask, &attempt->body, err);
    json_free(chat);
    return status;
}

/* Of the chat's body what is sent. */
static enum td_status make_body(struct tier_attempt *attempt, struct td_error *err)
{
    enum td_status status = tier_of(attempt)->dialect ? translate(attempt, err) : TD_OK;
    return status == TD_OK ? openai_pad_body(&attempt->body, attempt->tier->options.pad_bytes, err)
                           : status;
}

/* What the client did not ask for and the server has refused is left out from the beginning, and so
 * is a stream that the client does not want, where the operator says so. */
static enum td_status write_chat(struct tier_attempt *attempt, const struct td_request *request,
                                 struct td_error *err)
{
    const struct tier *tier = &attempt->tier->tier;
    unsigned hints = request->translated ? EXTRA_HINTS : 0u;
    unsigned own =
        tier_of(attempt)->dialect ? hints : EXTRA_USAGE | EXTRA_STREAM | EXTRAS_OF_MODEL | hints;
    unsigned not_asked = extra_support_refused(&tier->extras, own, now_ms());
    if (!openai_is_tiers_model(attempt))
        not_asked &= ~EXTRAS_OF_MODEL;
    if (own & EXTRA_STREAM && tier->facts.streams_as_asked && !request->streamed)
        not_asked |= EXTRA_STREAM;
    if (not_asked & EXTRA_STREAM)
        not_asked |= EXTRA_USAGE;
    enum td_status status =
        openai_write_body(request, &attempt->facts, attempt->asks_logprobs, text_of(attempt), err);
    if (status == TD_OK && request->translated && !tier_of(attempt)->dialect &&
        !tier_of(attempt)->takes_marks)
        status = openai_drop_marks(text_of(attempt), err);
    attempt->extras = own & ~not_asked;
    return status == TD_OK ? drop_extras(attempt, not_asked, err) : status;
}

static enum td_status make_url(struct tier_attempt *attempt, struct td_error *err)
{
    const struct openai *tier = attempt->tier;
    if (!tier->server->write_url || openai_is_tiers_model(attempt))
        return TD_OK;
    const struct server_address address = {.base_url = tier->base_url,
                                           .api_version = tier->api_version,
                                           .model = attempt->facts.model,
                                           .path = attempt->completion ? SERVER_COMPLETION
                                                                       : SERVER_CHAT};
    attempt->own_url = server_url(tier->server, &address);
    return attempt->own_url ? TD_OK
                            : error_set(err, TD_NO_MEMORY, "no memory for an attempt on %s",
                                        tier->tier.facts.name);
}

enum td_status openai_prepare(struct tier_attempt *attempt, const struct td_request *request,
                              struct td_error *err)
{
    enum td_status status = write_chat(attempt, request, err);
    if (status == TD_OK)
        status = make_body(attempt, err);
    return status == TD_OK ? make_url(attempt, err) : status;
}

/* --- what a server refuses --- */

/* A server may refuse a request because we asked for log-probabilities. It says so, or it has not
 * answered such a question yet and says only that the request is wrong. */
static bool is_refusal_of_logprobs(const struct tier_attempt *attempt)
{
    int code = attempt->http_status;
    return attempt->asks_logprobs && !attempt->passed_on &&
           (openai_names_logprobs(buf_view(&attempt->refusal)) ||
            openai_names_logprobs(str_from(attempt->err.message)) ||
            ((code == 400 || code == 422) &&
             !logprob_support_known(&attempt->tier->tier.logprobs, attempt->kind)));
}

unsigned openai_prepare_refused(const struct tier_attempt *attempt)
{
    if (attempt->passed_on)
        return 0;
    if (is_refusal_of_logprobs(attempt))
        return EXTRA_LOGPROBS;
    return openai_extras_refused(attempt->extras, attempt->http_status,
                                 buf_view(&attempt->refusal));
}

/* Makes the request a step more what the client made it. */
bool openai_prepare_without(struct tier_attempt *attempt, unsigned extras)
{
    if (extras & EXTRA_LOGPROBS) {
        attempt->asks_logprobs = false;
        attempt->refused_logprobs = true;
    }
    attempt->extras_refused |= extras & ~(unsigned)EXTRA_LOGPROBS;
    attempt->extras &= ~(extras & EXTRA_STREAM ? extras | EXTRA_USAGE : extras);
    openai_reopen_body(attempt);
    return drop_extras(attempt, extras, NULL) == TD_OK && make_body(attempt, NULL) == TD_OK;
}
