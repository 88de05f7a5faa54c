/* The sentences that people read: why an answer is less than it could be, and why there is none.
 *
 * The cause that the reader can do something about comes first. Words of a tier's server go only to
 * the client, in the message of a failure: they may repeat what the server was sent. */
#include "exchange/machine/disclosure.h"

#include "base/core/assertion.h"
#include "base/core/str.h"
#include "exchange/limits/spending.h"
#include "exchange/machine/exchange_core.h"
#include "tier/review/review.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

/* Appends to a NUL-terminated text of `size` bytes; what does not fit is cut. */
TD_PRINTF(3, 4) static void add(char *text, size_t size, const char *format, ...)
{
    size_t len = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + len, size - len, format, args);
    va_end(args);
}

static void add_separator(char *text, size_t size)
{
    if (text[0])
        add(text, size, "; ");
}

/* --- causes --- */

static const char *verb_of(enum td_status status, int http_status)
{
    switch (status) {
    case TD_UNAVAILABLE:
        return http_status ? "failed" : "could not be reached";
    case TD_TIMEOUT:
        return "did not answer in time";
    case TD_DENIED:
        return http_status ? "refused the credentials" : "was not allowed";
    case TD_IO:
    case TD_INTERNAL:
        return "was not asked";
    case TD_BUSY:
        return "is overloaded";
    case TD_CORRUPT:
        return "sent a broken answer";
    case TD_NOT_FOUND:
        return "does not know the model";
    case TD_INVALID:
        return "refused the request";
    case TD_LIMIT:
        return "finds the request too long";
    default:
        return "failed";
    }
}

void disclosure_cause(const struct exchange *ex, const struct attempt *attempt, char *out,
                      size_t size)
{
    const char *name = ex->facts[attempt->tier].name;
    const char *verb = attempt->outcome == ATTEMPT_PENDING
                           ? "will answer later"
                           : verb_of(attempt->status, attempt->http_status);
    /* With an HTTP status the words are the server's, and may repeat what it was sent. */
    if (attempt->http_status >= 300)
        snprintf(out, size, "tier %s %s (HTTP %d)", name, verb, attempt->http_status);
    else if (attempt->http_status == 0 && attempt->error[0])
        snprintf(out, size, "tier %s %s (%s)", name, verb, attempt->error);
    else
        snprintf(out, size, "tier %s %s", name, verb);
}

static void add_failures(const struct exchange *ex, char *out, size_t size)
{
    char cause[REASON_TEXT_BYTES];
    for (size_t i = 0; i < ex->attempt_count; i++) {
        const struct attempt *attempt = ex->attempts[i];
        if (attempt->status == TD_OK || attempt->tier == ex->current->tier)
            continue;
        disclosure_cause(ex, attempt, cause, sizeof cause);
        add_separator(out, size);
        add(out, size, "%s", cause);
    }
}

static void add_outrun(const struct exchange *ex, char *out, size_t size)
{
    for (size_t i = 0; i < ex->attempt_count; i++)
        if (ex->attempts[i]->outrun)
            add(out, size, "tier %s had not answered after %.0f ms",
                ex->facts[ex->attempts[i]->tier].name, ex->attempts[i]->total_ms);
}

static const struct tier_facts *facts_of(const struct exchange *ex, const char *tier)
{
    for (size_t i = 0; i < ex->services->tier_count; i++)
        if (strcmp(ex->facts[i].name, tier) == 0)
            return &ex->facts[i];
    return NULL;
}

/* Why a better tier was not on the ladder, or NULL. What the user can repair comes first. */
static const struct reason *removal_of(const struct exchange *ex)
{
    static const enum reason_code order[] = {
        REASON_REMOVED_DOCUMENT, REASON_REMOVED_TOO_SLOW,   REASON_REMOVED_OFFLINE,
        REASON_REMOVED_NO_MODEL, REASON_REMOVED_DEVICE,     REASON_REMOVED_NO_KEY,
        REASON_REMOVED_CLASS,    REASON_REMOVED_MODE,       REASON_REMOVED_NAMED,
        REASON_REMOVED_CONTEXT,  REASON_REMOVED_CAPABILITY, REASON_REMOVED_ROUTE_KIND,
        REASON_REMOVED_BUDGET,   REASON_REMOVED_RULE,       REASON_REMOVED_REGION,
        REASON_REMOVED_UNPROVEN,
    };
    for (size_t o = 0; o < sizeof order / sizeof *order; o++)
        for (size_t i = 0; i < ex->plan.reason_count; i++)
            if (ex->plan.reasons[i].code == order[o])
                return &ex->plan.reasons[i];
    return NULL;
}

/* What would give the key of the tier that has none; NULL: the removal is another one. */
static const char *missing_key(const struct exchange *ex, const struct reason *removal)
{
    if (!removal || removal->code != REASON_REMOVED_NO_KEY)
        return NULL;
    const struct tier_facts *facts = facts_of(ex, removal->tier);
    return facts ? facts->key_hint : NULL;
}

static void add_removal(const struct exchange *ex, char *out, size_t size)
{
    const struct reason *removal = removal_of(ex);
    const char *key = missing_key(ex, removal);
    if (key)
        add(out, size, "no cloud is configured (set %s)", key);
    else if (removal)
        add(out, size, "%s", removal->text);
}

/* Nothing failed; there is nobody else to ask. Then the reader is told how that is changed. */
static bool write_lonely(const struct exchange *ex, char out[static DISCLOSURE_BYTES])
{
    const struct tier_facts *facts = &ex->facts[ex->current->tier];
    const char *key = missing_key(ex, removal_of(ex));
    if (!key || facts->place != TD_PLACE_DEVICE || ex->current->fault != ANSWER_SOUND ||
        (ex->current->low && ex->current->uncalibrated))
        return false;
    add(out, DISCLOSURE_BYTES,
        "I cannot answer this well: only %.64s on this device is running. Add a larger model "
        "(tandem models recommend) or a cloud (set %.64s).",
        facts->model, key);
    return true;
}

/* A spent budget is named first, because it may be the only reason. */
static void add_spent(const struct exchange *ex, char *out, size_t size)
{
    for (size_t i = 0; i < ex->plan.reason_count; i++)
        if (ex->plan.reasons[i].code == REASON_REMOVED_BUDGET && !out[0])
            add(out, size, "%s", ex->plan.reasons[i].text);
}

bool disclosure_stands_in(const struct exchange *ex, const struct attempt *attempt)
{
    const struct decision *decision = &ex->plan.decision;
    bool below = decision->busy;
    for (size_t i = 0; i <= attempt->rung && i < ex->plan.rung_count; i++)
        below = below && ex->plan.rungs[i] != decision->runner_up;
    return below;
}

/* An answer that several tiers have written. */
static void write_seams(const struct exchange *ex, char out[static DISCLOSURE_BYTES])
{
    const struct continuation *joined = &ex->continuation;
    add(out, DISCLOSURE_BYTES, "Begun by tier %s and continued by", joined->seams[0].from);
    for (size_t i = 0; i < joined->seam_count; i++)
        add(out, DISCLOSURE_BYTES, "%s tier %s after %llu characters", i ? ", then" : "",
            joined->seams[i].to, (unsigned long long)joined->seams[i].at_chars);
    for (size_t i = 0; i < joined->seam_count; i++)
        add(out, DISCLOSURE_BYTES, "%s%s", i ? "; " : ": ", joined->seams[i].why);
    if (ex->current->cut)
        add(out, DISCLOSURE_BYTES, "; it was cut off at the deadline of %u ms",
            ex->deadline.passed_ms);
    add(out, DISCLOSURE_BYTES, ".");
}

/* The words of an answer to a text that its tier has not seen. */
static void write_staying(const struct exchange *ex, char out[static DISCLOSURE_BYTES])
{
    if (!staying_from(ex, &ex->facts[ex->current->tier]))
        return;
    const struct staying_facts *facts = &ex->staying->facts;
    add(out, DISCLOSURE_BYTES,
        "Tier %s has not seen the document, but %zu passages that were found on the device (%llu "
        "of %llu characters).",
        ex->facts[ex->current->tier].name, facts->quote_count,
        (unsigned long long)facts->quoted_characters, (unsigned long long)facts->characters);
}

/* The words of an answer that was kept for another question. */
static void write_similar(const struct attempt *by, char out[static DISCLOSURE_BYTES])
{
    if (by->cache == TIER_CACHE_SIMILAR)
        add(out, DISCLOSURE_BYTES,
            "This answer was given %u s ago to a similar question (similarity %.3f), not to this "
            "one.",
            by->cache_facts.age_s, (double)by->cache_facts.similarity);
}

static void write_degraded(const struct exchange *ex, char out[static DISCLOSURE_BYTES])
{
    const struct tier_facts *facts = &ex->facts[ex->current->tier];
    char cause[DISCLOSURE_BYTES / 2] = "";
    if (ex->continuation.seam_count > 0) {
        write_seams(ex, out);
        return;
    }
    if (ex->review.pending) {
        add(out, DISCLOSURE_BYTES,
            "%s: a person has not looked at it yet. The final answer will be at " REVIEW_ANSWER_PATH
            "%s.",
            ex->review.pending == ex->current ? "No answer yet" : "Interim answer", ex->id);
        return;
    }
    if (ex->current->cut)
        add(cause, sizeof cause, "it was cut off at the deadline of %u ms", ex->deadline.passed_ms);
    else if (ex->deadline.passed)
        add(cause, sizeof cause, "no better answer came within the deadline of %u ms",
            ex->deadline.passed_ms);
    if (!cause[0] && ex->plan.spent && !ex->current->fallback)
        add_spent(ex, cause, sizeof cause);
    if (!cause[0])
        add_failures(ex, cause, sizeof cause);
    if (!cause[0] && facts->model_fault && !facts->model_fault->is_loading)
        add(cause, sizeof cause, "%s; %.64s stands in", facts->model_fault->text, facts->model);
    if (!cause[0] && ex->current->fallback)
        add_outrun(ex, cause, sizeof cause);
    if (!cause[0] && disclosure_stands_in(ex, ex->current))
        add(cause, sizeof cause, "tier %s is busy (a wait of about %.1f s)",
            ex->facts[ex->plan.decision.runner_up].name,
            ex->states[ex->plan.decision.runner_up].wait_ms / 1000);
    if (!cause[0] && ex->signals.capped_at)
        add(cause, sizeof cause, "the larger models may be asked %u times an hour, and were",
            ex->signals.capped_at);
    if (!cause[0] && ex->current->eased)
        add(cause, sizeof cause, "it was ended after %u tokens because %s",
            ex->request.tokens_eased, ex->device_why);
    if (!cause[0] && ex->hopeless)
        add(cause, sizeof cause, "no tier is likely to get it right; have a person look at it");
    if (!cause[0] && ex->current->low && ex->rung_next < ex->plan.climb_count)
        add(cause, sizeof cause, "part of it had been shown before its confidence was known");
    if (!cause[0] && write_lonely(ex, out))
        return;
    if (!cause[0])
        add_removal(ex, cause, sizeof cause);
    if (ex->current->fault != ANSWER_SOUND) {
        add_separator(cause, sizeof cause);
        add(cause, sizeof cause, "its answer says nothing: %s",
            answer_fault_text(ex->current->fault));
    }
    bool uncalibrated = ex->current->low && ex->current->uncalibrated;
    if (uncalibrated) {
        add_separator(cause, sizeof cause);
        add(cause, sizeof cause, "%s is uncalibrated: what its confidence is worth is not known",
            facts->name);
    }
    if (!cause[0] && isfinite(ex->current->confidence))
        add(cause, sizeof cause, "its confidence is low (%.2f) and there is no larger model to ask",
            ex->current->confidence);
    if (!cause[0])
        add(cause, sizeof cause, "there is no larger model to ask");
    if (facts->place == TD_PLACE_DEVICE)
        add(out, DISCLOSURE_BYTES,
            "Answered by the small on-device model with reduced capability: %s.", cause);
    else
        add(out, DISCLOSURE_BYTES, "Answered by tier %s with reduced capability: %s.", facts->name,
            cause);
}

void disclosure_write(const struct exchange *ex, bool degraded, char out[static DISCLOSURE_BYTES])
{
    ASSERT(ex->current);
    out[0] = '\0';
    write_similar(ex->current, out);
    write_staying(ex, out);
    if (degraded && out[0])
        add(out, DISCLOSURE_BYTES, " ");
    if (degraded)
        write_degraded(ex, out);
}

/* --- no answer --- */

static bool is_removal(enum reason_code code)
{
    return code <= REASON_REMOVED_CAPPED;
}

static void add_removals(const struct exchange *ex, bool all, char message[static MESSAGE_BYTES])
{
    for (size_t i = 0; i < ex->plan.reason_count; i++) {
        const struct reason *reason = &ex->plan.reasons[i];
        if (!is_removal(reason->code) || (!all && reason->code == REASON_REMOVED_NAMED))
            continue;
        if (message[strlen(message) - 1] != ' ')
            add(message, MESSAGE_BYTES, "; ");
        add(message, MESSAGE_BYTES, "%s", reason->text);
    }
}

static bool was_removed_for(const struct exchange *ex, enum reason_code code)
{
    for (size_t i = 0; i < ex->plan.reason_count; i++)
        if (ex->plan.reasons[i].code == code)
            return true;
    return false;
}

/* True when the prompt alone would have fitted every tier: then the wish for a long answer is at
 * fault. */
static bool answer_is_at_fault(const struct exchange *ex)
{
    for (size_t i = 0; i < ex->plan.reason_count; i++) {
        const struct reason *reason = &ex->plan.reasons[i];
        const struct tier_facts *facts = facts_of(ex, reason->tier);
        if (reason->code == REASON_REMOVED_CONTEXT && facts &&
            ex->states[facts - ex->facts].prompt_tokens >= facts->context_tokens)
            return false;
    }
    return true;
}

static const char *prompt_member(const struct exchange *ex)
{
    return ex->request.completion ? "prompt" : "messages";
}

/* The member that asks for what a tier has not got; NULL when none did, or when a policy keeps the
 * request from a tier that may have it. */
static const char *missing_member(const struct exchange *ex)
{
    static const enum reason_code policies[] = {REASON_REMOVED_CLASS, REASON_REMOVED_REGION,
                                                REASON_REMOVED_CONSENT, REASON_REMOVED_RULE};
    const char *member = NULL;
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++)
        if (was_removed_for(ex, policies[i]))
            return NULL;
    for (size_t i = 0; !member && i < ex->plan.reason_count; i++) {
        const struct reason *reason = &ex->plan.reasons[i];
        const struct tier_facts *facts = facts_of(ex, reason->tier);
        if (reason->code == REASON_REMOVED_CAPABILITY && facts)
            member = plan_missing_member(&ex->signals, facts);
    }
    if (member && strcmp(member, "messages") == 0)
        return prompt_member(ex);
    return member;
}

/* Clients know such an error by words of its message, whatever its code is: "prompt is too long" is
 * Anthropic's, "available context size" llama-server's (LiteLLM looks for it), "maximum context
 * length" OpenAI's. LangChain and LiteLLM raise an error of their own for them. */
#define TOO_LONG \
    "the prompt is too long and exceeds the available context size, the maximum context length "

/* Nothing was tried: the plan's reasons say why. A tier that rests may be back soon, so that a
 * retry makes sense; a tier without a key will not, and does not make a long prompt shorter. */
static enum td_status empty_ladder(const struct exchange *ex, char message[static MESSAGE_BYTES],
                                   const char **param)
{
    enum td_status status = TD_DENIED;
    const char *text = "no tier may answer this request: ";
    if (was_removed_for(ex, REASON_REMOVED_OFFLINE)) {
        status = TD_UNAVAILABLE;
        text = "no tier that may answer can be reached: ";
    } else if (was_removed_for(ex, REASON_REMOVED_NO_MODEL)) {
        status = TD_UNAVAILABLE;
        text = "no tier that may answer has a model: ";
    } else if (was_removed_for(ex, REASON_REMOVED_BUDGET)) {
        status = TD_BUSY;
        text = "every tier that may answer has a price, and the budget is spent: ";
    } else if (was_removed_for(ex, REASON_REMOVED_CAPPED)) {
        status = TD_BUSY;
        text = "every tier that may answer is off the device: ";
    } else if (was_removed_for(ex, REASON_REMOVED_FULL)) {
        status = TD_BUSY;
        text = "as many questions wait for people as may: ";
    } else if (was_removed_for(ex, REASON_REMOVED_CONTEXT)) {
        status = TD_LIMIT;
        text = TOO_LONG "of every tier that may answer: ";
        *param = answer_is_at_fault(ex) ? "max_tokens" : prompt_member(ex);
    } else if (was_removed_for(ex, REASON_REMOVED_NO_KEY)) {
        status = TD_UNAVAILABLE;
        text = "no tier that may answer is configured: ";
    } else if (missing_member(ex)) {
        status = TD_UNSUPPORTED;
        text = "no tier that may answer can do what the request asks for: ";
        *param = missing_member(ex);
    }
    add(message, MESSAGE_BYTES, "%s", text);
    add_removals(ex, true, message);
    return status;
}

/* One failure is its own status. Several make the exchange unavailable, unless they agree. */
static enum td_status common_status(const struct exchange *ex)
{
    enum td_status status = TD_OK;
    if (attempt_refused(ex))
        return TD_INVALID;
    for (size_t i = 0; i < ex->attempt_count; i++) {
        enum td_status other = ex->attempts[i]->status;
        if (other == TD_OK)
            continue;
        if (status != TD_OK && other != status)
            return TD_UNAVAILABLE;
        status = other;
    }
    return status == TD_OK ? TD_UNAVAILABLE : status;
}

/* The word of the one who found the request wrong counts. Else that of the last one who failed,
 * where all failures are of one kind. */
const struct tier_refusal *disclosure_refusal(const struct exchange *ex, enum td_status status)
{
    const struct attempt *attempt = attempt_refused(ex);
    for (size_t i = ex->attempt_count; !attempt && i > 0; i--)
        if (ex->attempts[i - 1]->status == status && ex->attempts[i - 1]->refusal.code)
            attempt = ex->attempts[i - 1];
    return ex->deadline.passed || !attempt ? NULL : &attempt->refusal;
}

bool disclosure_upstream_denied(const struct exchange *ex)
{
    for (size_t i = 0; i < ex->attempt_count; i++)
        if (ex->attempts[i]->status == TD_DENIED && ex->attempts[i]->http_status)
            return true;
    return false;
}

/* A tier that failed in passing and asked for nothing may be asked again soon. */
static double wait_after(const struct attempt *attempt)
{
    bool passing = attempt->status == TD_BUSY || attempt->status == TD_UNAVAILABLE ||
                   attempt->status == TD_TIMEOUT;
    return attempt->retry_after_ms ? (double)attempt->retry_after_ms : passing ? 0 : INFINITY;
}

/* A spent budget begins again with the day. What is only promised may come back at any time. */
static double wait_for_budget(const struct exchange *ex)
{
    if (ex->signals.budget_frees || ex->signals.budget_wait_ms)
        return ex->signals.budget_frees ? 0 : ex->signals.budget_wait_ms;
    return (double)spending_day_left_ms(ex->services->clock);
}

/* The first tier that comes back is the one to wait for. */
uint32_t disclosure_retry_after_s(const struct exchange *ex)
{
    double wait_ms = INFINITY;
    for (size_t i = 0; i < ex->attempt_count; i++)
        if (ex->attempts[i]->status != TD_OK)
            wait_ms = fmin(wait_ms, wait_after(ex->attempts[i]));
    for (size_t i = 0; i < ex->plan.reason_count; i++) {
        const struct reason *reason = &ex->plan.reasons[i];
        const struct tier_facts *facts = facts_of(ex, reason->tier);
        if (reason->code == REASON_REMOVED_OFFLINE && facts)
            wait_ms = fmin(wait_ms, ex->states[facts - ex->facts].rest_ms);
        if (reason->code == REASON_REMOVED_BUDGET)
            wait_ms = fmin(wait_ms, wait_for_budget(ex));
    }
    return isfinite(wait_ms) ? (uint32_t)ceil(wait_ms / 1000) : 0;
}

enum td_status disclosure_failure(const struct exchange *ex, char message[static MESSAGE_BYTES],
                                  const char **param)
{
    message[0] = '\0';
    if (ex->plan.rung_count == 0)
        return empty_ladder(ex, message, param);
    enum td_status status = ex->deadline.passed ? TD_TIMEOUT : common_status(ex);
    const struct tier_refusal *refusal = disclosure_refusal(ex, status);
    bool too_long = status == TD_LIMIT || (refusal && refusal->code &&
                                           strcmp(refusal->code, "context_length_exceeded") == 0);
    if (ex->deadline.passed)
        add(message, MESSAGE_BYTES, "the deadline of %u ms%s passed: ", ex->deadline.passed_ms,
            ex->deadline.first_passed ? " for the first text" : "");
    else
        add(message, MESSAGE_BYTES,
            ex->answer.shown ? "the answer broke off: "
            : too_long       ? TOO_LONG "of the tier that was asked: "
                             : "no tier could answer: ");
    bool first = true;
    for (size_t i = 0; i < ex->attempt_count; i++) {
        const struct attempt *attempt = ex->attempts[i];
        if (attempt->status == TD_OK)
            continue;
        add(message, MESSAGE_BYTES, "%s%s: %s", first ? "" : "; ", ex->facts[attempt->tier].name,
            attempt->error);
        first = false;
    }
    if (first)
        add(message, MESSAGE_BYTES, "no tier had been asked yet");
    if (ex->short_of_memory)
        add(message, MESSAGE_BYTES, "; no memory to ask another tier");
    const char *obstacle = exchange_is_stuck(ex) ? continuation_obstacle(ex) : NULL;
    if (obstacle)
        add(message, MESSAGE_BYTES, "; no other tier can go on with it: %s", obstacle);
    add_removals(ex, false, message);
    if (too_long)
        *param = prompt_member(ex);
    return status;
}
