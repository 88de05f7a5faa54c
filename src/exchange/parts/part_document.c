/* Long documents that stay on the device (machine/staying.h), read for a tier that is better at
 * thinking: MinionS (Narayan et al. 2025, arXiv 2502.15964) with jobs in a fixed form in the place
 * of generated code.
 *
 *   asked ──> jobs? ── the device reads ──> asked again, with quotations ──> ... ──> an answer
 *
 * Each round is an attempt like any other: it passes the same door, is scanned, masked and charged,
 * and stands in the record. Nothing of it is shown before it is known to be an answer. A tier whose
 * jobs cannot be read is told so once, then left for the next rung; the last rungs are tiers that
 * may see the documents, which answer alone. When the time gets short, a round is the last. */
#include "base/core/str.h"
#include "exchange/machine/climb.h"
#include "exchange/machine/exchange_core.h"
#include "exchange/parts/part_budget.h"

#include <stdio.h>

/* A round is begun only while so many as long as the last one would fit in what is left. */
#define ROUNDS_LEFT_MIN 3

struct document_state {
    uint32_t asked; /* times that a tier was asked again */
    bool told;      /* the current tier was told what was wrong */
};

/* --- the plan --- */

static void remove_rung(struct exchange *ex, size_t tier, const char *why)
{
    static const char *const places[] = {"on the device", "on the premises", "in the region",
                                         "in the cloud"};
    plan_add_reason(&ex->plan, REASON_REMOVED_DOCUMENT, ex->facts[tier].name,
                    "%s must not see the document, which stays %s: %s", ex->facts[tier].name,
                    places[ex->staying->settings->place], why);
}

/* Whether the tier may be asked with the whole text. */
static bool may_see(const struct exchange *ex, size_t tier)
{
    const struct tier_facts *facts = &ex->facts[tier];
    return !facts->people && !policy_sends_masked(ex->plan.route, &ex->signals, facts);
}

static size_t count_beyond(const struct exchange *ex)
{
    size_t count = 0;
    for (size_t i = 0; i < ex->plan.rung_count; i++)
        count += staying_from(ex, &ex->facts[ex->plan.rungs[i]]);
    return count;
}

/* Those who have it read come first, in the order of the plan, then those who read it. */
static void planned(struct exchange *ex, void *state)
{
    (void)state;
    struct plan *plan = &ex->plan;
    struct staying *own = ex->staying;
    size_t rungs[RUNGS_MAX], count = 0;
    if (!own)
        return;
    for (size_t i = 0; i < plan->rung_count; i++) {
        size_t tier = plan->rungs[i];
        if (!staying_from(ex, &ex->facts[tier]))
            continue;
        if (own->facts.obstacle || ex->facts[tier].people)
            remove_rung(ex, tier, own->facts.obstacle ? own->facts.obstacle : "people read all");
        else
            rungs[count++] = tier;
    }
    size_t climb = count;
    own->alone = climb == 0 && own->facts.obstacle && count_beyond(ex) > 0;
    for (size_t i = 0; i < plan->rung_count; i++) {
        size_t tier = plan->rungs[i];
        if (staying_from(ex, &ex->facts[tier]))
            continue;
        if (may_see(ex, tier))
            rungs[count++] = tier;
        else
            remove_rung(ex, tier, "it would get it in part");
    }
    memcpy(plan->rungs, rungs, count * sizeof *rungs);
    plan->rung_count = count;
    plan->climb_count = climb ? climb : count;
    plan->decision.start = count ? rungs[0] : SIZE_MAX;
    if (climb)
        plan_add_reason(plan, REASON_DOCUMENT, ex->facts[rungs[0]].name,
                        "asked what the device shall read for it: %zu document%s of %llu "
                        "characters stay%s",
                        own->facts.document_count, PLURAL(own->facts.document_count),
                        (unsigned long long)own->facts.characters,
                        own->facts.document_count == 1 ? "s" : "");
}

static bool reads(const struct exchange *ex)
{
    return staying_from(ex, &ex->facts[ex->current->tier]);
}

static void started(struct exchange *ex, void *state)
{
    (void)state;
    if (!reads(ex))
        return;
    ex->current->gated = false; /* the tier that it would be left for cannot read better */
    ex->lane->withheld = ex->lane->plans = true;
}

/* --- rounds --- */

static void fail(struct exchange *ex, struct document_state *own, enum td_status status,
                 const char *why)
{
    struct attempt *attempt = ex->current;
    own->told = false; /* the next tier was not */
    attempt->outcome = ATTEMPT_FAILED;
    attempt->status = status;
    attempt->http_status = 0; /* its server did its part */
    attempt->why_left = REASON_LEFT_ERROR;
    snprintf(attempt->error, sizeof attempt->error, "%s", why);
    plan_add_reason(&ex->plan, REASON_LEFT_ERROR, ex->facts[attempt->tier].name, "%s", why);
    climb_fail(ex);
}

/* One more question to the same tier. What it may cost is promised here, as the plan's own promise
 * is for one answer. */
static void ask_again(struct exchange *ex, struct document_state *own)
{
    size_t tier = ex->current->tier;
    double usd = part_budget_answer_usd(ex, tier);
    if (!part_budget_has_room(ex, usd)) {
        fail(ex, own, TD_LIMIT, "the budget has no room for another round");
        return;
    }
    part_budget_promise(ex, usd);
    own->asked++;
    ex->current->outcome = ATTEMPT_PLANNED;
    outgoing_renew(ex, &ex->staying->request);
    climb_again(ex);
}

/* Is there no time, or no right, for jobs after those of this round? */
static bool is_last(const struct exchange *ex)
{
    uint32_t left_ms = deadline_left_for_attempt(ex);
    return ex->staying->facts.rounds + 1 >= ex->staying->settings->rounds ||
           ex->staying->round_count + 1 >= DOCUMENT_ROUNDS_MAX ||
           (left_ms && left_ms < ROUNDS_LEFT_MIN * ex->current->total_ms);
}

static void take_jobs(struct exchange *ex, struct document_state *own, struct td_str said,
                      const struct document_plan *plan)
{
    struct staying_facts *facts = &ex->staying->facts;
    uint32_t jobs = facts->jobs, abstained = facts->abstained;
    size_t quotes = facts->quote_count;
    if (facts->rounds >= ex->staying->settings->rounds ||
        ex->staying->round_count >= DOCUMENT_ROUNDS_MAX) {
        fail(ex, own, TD_CORRUPT, "it asked for more rounds than it may, in place of an answer");
        return;
    }
    if (!staying_add_round(ex->staying, said, plan, NULL, is_last(ex))) {
        fail(ex, own, TD_NO_MEMORY, "out of memory for what the device read");
        return;
    }
    plan_add_reason(&ex->plan, REASON_DOCUMENT, ex->facts[ex->current->tier].name,
                    "round %u: %u jobs, %u of them without a find; %zu new quotations",
                    facts->rounds, facts->jobs - jobs, facts->abstained - abstained,
                    facts->quote_count - quotes);
    ask_again(ex, own);
}

static void object(struct exchange *ex, struct document_state *own, struct td_str said,
                   const char *why, const char *words)
{
    if (own->told || ex->staying->round_count >= DOCUMENT_ROUNDS_MAX) {
        fail(ex, own, TD_CORRUPT, why);
        return;
    }
    own->told = true;
    if (staying_add_round(ex->staying, said, NULL, words, false))
        ask_again(ex, own);
    else
        fail(ex, own, TD_NO_MEMORY, "out of memory for what the device read");
}

static void object_to_jobs(struct exchange *ex, struct document_state *own, struct td_str said,
                           const char *fault)
{
    char why[128], words[256];
    snprintf(why, sizeof why, "its jobs cannot be read: %.80s", fault);
    snprintf(words, sizeof words,
             "This cannot be read: %.100s. Reply with {\"jobs\":[...]} as told, or answer in plain "
             "text.",
             fault);
    object(ex, own, said, why, words);
}

/* False: what was said is the answer. */
static bool read_said(struct exchange *ex, struct document_state *own, struct td_str said)
{
    struct document_plan plan;
    struct td_error err = {0};
    switch (document_plan_read(said, ex->staying->facts.chunk_count, &plan, &err)) {
    case DOCUMENT_SAID_JOBS:
        take_jobs(ex, own, said, &plan);
        document_plan_deinit(&plan);
        return true;
    case DOCUMENT_SAID_WRONG:
        object_to_jobs(ex, own, said, err.message);
        return true;
    case DOCUMENT_SAID_ANSWER:
        break;
    }
    if (ex->staying->facts.rounds > 0 || own->told)
        return false;
    object(ex, own, said, "it answered without having anything read",
           "You have had nothing read. Have it read with {\"jobs\":[...]}; or say the same again "
           "if the documents are not needed for it.");
    return true;
}

static bool answered(struct exchange *ex, void *state)
{
    struct document_state *own = state;
    struct buf said;
    if (!ex->staying || !reads(ex))
        return false;
    if (!ex->lane->hold_whole) {
        fail(ex, own, TD_CORRUPT, "its answer is too long");
        return true;
    }
    buf_init(&said, HOLD_BYTES_MAX);
    hold_text(&ex->lane->hold, &said);
    bool goes_on = true;
    if (said.failed)
        fail(ex, own, TD_NO_MEMORY, "out of memory for its answer");
    else
        goes_on = read_said(ex, own, buf_view(&said));
    buf_deinit(&said);
    if (goes_on)
        return true;
    ex->lane->withheld = ex->lane->plans = false;
    plan_add_reason(&ex->plan, REASON_DOCUMENT, ex->facts[ex->current->tier].name,
                    "answered from %zu quotations, %llu of %llu characters",
                    ex->staying->facts.quote_count,
                    (unsigned long long)ex->staying->facts.quoted_characters,
                    (unsigned long long)ex->staying->facts.characters);
    return false;
}

const struct exchange_part part_document = {
    .name = "document",
    .state_bytes = sizeof(struct document_state),
    .planned = planned,
    .started = started,
    .answered = answered,
};
