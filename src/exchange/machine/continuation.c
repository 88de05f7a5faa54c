/* What was shown is handed to the next tier as one more message, an assistant's. So it is read by
 * the detectors, masked and made smaller like any other, and a class that it brings in holds. A
 * tier that takes the beginning of an answer goes on with it; the others are told to
 * (tier/openai/openai_wire.c), and what they repeat is left out (limits/overlap.c).
 *
 * Only text can be joined. The second half of a tool call or of a JSON object, written by another
 * model, is a guess. */
#include "exchange/machine/continuation.h"

#include "base/core/assertion.h"
#include "base/core/shortage.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "exchange/machine/exchange_core.h"
#include "tier/openai/openai_delta.h"
#include "tier/openai/openai_wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void forget_request(struct continuation *own)
{
    free(own->messages);
    free(own->parts);
    free(own->members);
    json_free(own->said);
    own->messages = NULL;
    own->parts = NULL;
    own->members = NULL;
    own->said = NULL;
}

void continuation_deinit(struct continuation *own)
{
    forget_request(own);
    free(own->request);
    for (size_t i = 0; i < own->seam_count; i++)
        free(own->whys[i]);
    overlap_deinit(&own->overlap);
    buf_deinit(&own->fresh);
}

/* --- whether --- */

void continuation_note(struct exchange *ex, const struct tier_piece *piece)
{
    if (!openai_delta_is_text(piece->raw_delta))
        ex->continuation.sealed = true;
}

const char *continuation_obstacle(const struct exchange *ex)
{
    const struct td_request *request = &ex->request;
    const struct td_completion *completion = request->completion;
    bool prefilled =
        !completion && request->messages[request->message_count - 1].role == TD_ROLE_ASSISTANT;
    if (ex->continuation.sealed)
        return "it is more than text";
    if (ex->staying)
        return "it is of a document that stays";
    if (request->format != TD_FORMAT_TEXT)
        return "it has a form that both halves must keep";
    if (request->logprobs)
        return "it has log-probabilities";
    if (prefilled || (completion && (completion->echo || completion->ids)))
        return "it begins with a text of the client";
    if (ex->answer.text.failed)
        return "it is too long";
    return NULL;
}

/* People begin anew. */
static bool has_next(const struct exchange *ex)
{
    return ex->rung_next < ex->plan.rung_count && !ex->facts[ex->plan.rungs[ex->rung_next]].people;
}

bool continuation_has_rung(const struct exchange *ex)
{
    return ex->attempt_count < ATTEMPTS_MAX && ex->continuation.seam_count < SEAMS_MAX &&
           (has_next(ex) || ex->left || ex->kept);
}

size_t continuation_take_rung(struct exchange *ex)
{
    if (has_next(ex))
        return ex->rung_next++;
    struct attempt **before = ex->left ? &ex->left : &ex->kept;
    size_t rung = (*before)->rung;
    *before = NULL;
    return rung;
}

/* --- the request --- */

static struct json *longer_text(struct td_str prompt, struct td_str shown)
{
    struct buf text;
    buf_init(&text, prompt.len + shown.len + 1);
    buf_append_str(&text, prompt);
    buf_append_str(&text, shown);
    struct json *longer = text.failed ? NULL : json_new_text(buf_view(&text));
    buf_deinit(&text);
    return longer;
}

static bool copy_members(struct continuation *own, const struct td_request *from,
                         struct td_str shown)
{
    const struct json *list = request_value(from, REQUEST_MESSAGES);
    if (from->completion)
        own->said = longer_text(from->completion->text, shown);
    else
        own->said = list ? json_clone(list) : json_new_array();
    own->members = calloc(from->member_count + 1, sizeof *own->members);
    for (size_t i = 0; own->members && i < from->member_count; i++) {
        own->members[i] = from->members[i];
        if (own->members[i].kind == REQUEST_MESSAGES || own->members[i].kind == REQUEST_PROMPT)
            own->members[i].value = own->said;
    }
    own->request->members = own->members;
    return own->members && own->said;
}

/* A completion's text also stands as its only message. The message of a chat is the same text in
 * memory as in the list, so that it is read once. */
static bool copy_messages(struct continuation *own, const struct td_request *from,
                          struct td_str shown)
{
    size_t count = from->message_count;
    own->messages = calloc(count + 1, sizeof *own->messages);
    own->parts = calloc(count + 1, sizeof *own->parts);
    if (!own->messages || !own->parts)
        return false;
    memcpy(own->messages, from->messages, count * sizeof *own->messages);
    if (from->parts)
        memcpy(own->parts, from->parts, count * sizeof *own->parts);
    if (from->completion) {
        own->completion = *from->completion;
        own->completion.text = own->messages[0].content = json_text(own->said);
        own->request->completion = &own->completion;
    } else {
        struct td_str text = openai_add_message(own->said, TD_ROLE_ASSISTANT, shown);
        own->messages[count] = (struct td_message){TD_ROLE_ASSISTANT, text};
        own->request->message_count = count + 1;
    }
    own->request->messages = own->messages;
    own->request->parts = from->parts ? own->parts : NULL;
    return own->messages[own->request->message_count - 1].content.data != NULL;
}

static uint32_t tokens_left(const struct exchange *ex)
{
    uint64_t used = 0, wanted = ex->request.tokens_max;
    for (size_t i = 0; i < ex->continuation.seam_count; i++)
        used += ex->continuation.seams[i].usage.completion_tokens;
    used += ex->answer.shown->usage.completion_tokens;
    return wanted == 0 ? 0 : used < wanted ? (uint32_t)(wanted - used) : 1;
}

bool continuation_begin(struct exchange *ex, const struct tier_facts *facts)
{
    struct continuation *own = &ex->continuation;
    struct td_str shown = buf_view(&ex->answer.text);
    const struct td_completion *completion = ex->request.completion;
    uint32_t shortages = shortage_count();
    forget_request(own);
    overlap_init(&own->overlap, shown, facts->prefill != PREFILL_NONE || completion);
    if (shown.len == 0)
        return true; /* only thoughts were shown: it is asked as the first tier was */
    if (!own->request && !(own->request = malloc(sizeof *own->request)))
        return false;
    *own->request = ex->request;
    own->request->continues = true;
    own->request->tokens_max = tokens_left(ex);
    if (!copy_members(own, &ex->request, shown) || !copy_messages(own, &ex->request, shown))
        return false;
    outgoing_continue(ex, own->request);
    size_t tier = ex->current->tier; /* it reads, and may charge for, what was shown as well */
    ex->states[tier].prompt_tokens =
        tier_count_prompt(ex->services->tiers[tier], outgoing_plain(ex, facts));
    return !shortage_since(shortages); /* or something is missing in what was read and masked */
}

/* --- the answer --- */

static bool goes_on(const struct exchange *ex)
{
    return ex->current->purpose == EGRESS_CONTINUATION;
}

bool continuation_piece(struct exchange *ex, const struct tier_piece **piece,
                        struct tier_piece *fresh)
{
    struct continuation *own = &ex->continuation;
    if (!goes_on(ex) || !*piece)
        return true;
    bool text = openai_delta_is_text((*piece)->raw_delta);
    *fresh = **piece;
    if (text && own->overlap.shown.len > 0)
        fresh->raw_delta = NULL; /* thoughts after the words */
    buf_clear(&own->fresh);
    bool ok = overlap_feed(&own->overlap, fresh->text, &own->fresh);
    if (ok && !text)
        ok = overlap_end(&own->overlap, &own->fresh);
    fresh->text = buf_view(&own->fresh);
    *piece = fresh->text.len > 0 || fresh->raw_delta ? fresh : NULL;
    return ok && !own->fresh.failed;
}

bool continuation_end(struct exchange *ex, const struct tier_piece **piece,
                      struct tier_piece *fresh)
{
    struct continuation *own = &ex->continuation;
    *piece = NULL;
    if (!goes_on(ex))
        return true;
    buf_clear(&own->fresh);
    bool ok = overlap_end(&own->overlap, &own->fresh);
    *fresh = (struct tier_piece){.text = buf_view(&own->fresh)};
    if (fresh->text.len > 0)
        *piece = fresh;
    return ok && !own->fresh.failed;
}

/* --- the seam --- */

static uint64_t characters(struct td_str text)
{
    uint64_t count = 0;
    for (size_t i = 0; i < text.len; i++)
        count += ((unsigned char)text.data[i] & 0xC0) != 0x80;
    return count;
}

void continuation_add_seam(struct exchange *ex, const struct attempt *from)
{
    struct continuation *own = &ex->continuation;
    const char *to = ex->facts[ex->current->tier].name;
    ASSERT(own->seam_count < SEAMS_MAX);
    if (own->seam_count == 0)
        own->first = from;
    struct exchange_seam *seam = &own->seams[own->seam_count];
    char why[REASON_TEXT_BYTES];
    disclosure_cause(ex, from, why, sizeof why);
    char *kept = strdup(why);
    own->whys[own->seam_count++] = kept;
    *seam = (struct exchange_seam){
        .at_chars = characters(buf_view(&ex->answer.text)),
        .from = ex->facts[from->tier].name,
        .to = to,
        .why = kept ? kept : "no memory",
        .usage = from->usage,
    };
    plan_add_reason(&ex->plan, REASON_CONTINUED, to,
                    "goes on after the %llu characters that %s had shown",
                    (unsigned long long)seam->at_chars, seam->from);
}

/* The prompt counts once. An answer of two tiers has no exact count. */
struct tier_usage continuation_usage(const struct exchange *ex, const struct attempt *last)
{
    const struct continuation *own = &ex->continuation;
    struct tier_usage usage = last->usage;
    if (own->seam_count == 0)
        return usage;
    usage.prompt_tokens = own->seams[0].usage.prompt_tokens;
    usage.cached_tokens = 0;
    usage.exact = false;
    for (size_t i = 0; i < own->seam_count; i++)
        usage.completion_tokens += own->seams[i].usage.completion_tokens;
    return usage;
}
