/* A review is worth its price when the answer in hand is wrong with a probability whose loss is
 * higher: p * cost_of_error > review_usd. The same inequality leaves a confident answer when the
 * stakes are high (the gate "stakes" in limits/gates.c), and passes people over when they are low.
 * Without a cost of an error the other gates decide alone. */
#include "exchange/machine/review.h"

#include "base/core/str.h"
#include "base/text/names.h"
#include "exchange/machine/exchange_core.h"
#include "exchange/private/classify.h"
#include "privacy/scan/privacy.h"
#include "tier/review/review.h"

#include <math.h>

void review_deinit(struct review *review)
{
    for (size_t i = 0; i < review->candidate_count; i++)
        buf_deinit(&review->candidates[i].text);
    buf_deinit(&review->body);
}

static const struct tier_facts *facts_at(const struct exchange *ex, size_t rung)
{
    return &ex->facts[ex->plan.rungs[rung]];
}

void review_prepare(struct exchange *ex)
{
    struct gate_settings *gates = &ex->plan.gates;
    size_t last = ex->plan.climb_count;
    if (last < 2 || !facts_at(ex, last - 1)->people ||
        (ex->signals.rule && ex->signals.rule->stays))
        return;
    const struct tier_facts *people = facts_at(ex, last - 1);
    gates->error_usd =
        ex->request.cost_of_error > 0 ? ex->request.cost_of_error : people->cost_of_error;
    gates->review_usd = people->review_usd;
}

void review_skip_rungs(struct exchange *ex, double confidence)
{
    const struct gate_settings *gates = &ex->plan.gates;
    double loss = gates_loss_usd(gates, confidence);
    while (gates->error_usd > 0 && ex->rung_next < ex->plan.rung_count &&
           facts_at(ex, ex->rung_next)->people && loss <= gates->review_usd) {
        plan_add_reason(&ex->plan, REASON_REMOVED_NOT_WORTH, facts_at(ex, ex->rung_next)->name,
                        "a review costs %.4g USD, more than the answer's expected loss of %.4g USD",
                        gates->review_usd, loss);
        ex->rung_next++;
    }
}

bool review_is_next(const struct exchange *ex)
{
    return ex->rung_next < ex->plan.rung_count && facts_at(ex, ex->rung_next)->people;
}

/* --- what people are told --- */

static bool has_people_ahead(const struct exchange *ex)
{
    for (size_t i = ex->rung_next; i < ex->plan.rung_count; i++)
        if (facts_at(ex, i)->people)
            return true;
    return false;
}

void review_note_candidate(struct exchange *ex)
{
    struct review *review = &ex->review;
    if (review->candidate_count == REVIEW_CANDIDATES_MAX || !has_people_ahead(ex) ||
        !ex->lane->hold_whole)
        return;
    struct buf *text = &review->candidates[review->candidate_count].text;
    buf_init(text, HOLD_BYTES_MAX);
    hold_text(&ex->lane->hold, text);
    review->candidates[review->candidate_count++].attempt = ex->current;
}

/* What masking cannot lower: a class that somebody declared, or that earlier turns have given. */
static enum td_data_class unmasked_class(const struct exchange *ex)
{
    const struct signals *signals = &ex->signals;
    if (signals->masked)
        return signals->masked_class;
    enum td_data_class declared =
        classify_higher(classify_higher(ex->request.data_class, ex->request.class_before),
                        classify_higher(ex->plan.route->data_class, ex->services->text_class));
    enum td_data_class found =
        classify_higher(declared, classify_request(ex->services->scanner, &ex->request,
                                                   &(struct privacy_tally){0}));
    if (signals->data_class > signals->class_found || signals->class_found > found)
        return signals->data_class; /* a rule, or the conversation */
    return declared;
}

static enum td_status write_body(struct exchange *ex, struct td_error *err)
{
    struct review *review = &ex->review;
    struct review_candidate candidates[REVIEW_CANDIDATES_MAX];
    /* Whatever is found is replaced, and rather too much: privacy.pseudonyms is about tiers. */
    const struct mask_rules rules = {.scanner = ex->services->scanner,
                                     .strict = true,
                                     .classes = {[TD_CLASS_SENSITIVE] = true,
                                                 [TD_CLASS_CONTRACTUAL] = true,
                                                 [TD_CLASS_RESTRICTED] = true},
                                     .kinds = {[PRIVACY_PERSON] = true}};
    for (size_t i = 0; i < review->candidate_count; i++) {
        const struct attempt *attempt = review->candidates[i].attempt;
        const struct tier_facts *facts = &ex->facts[attempt->tier];
        candidates[i] = (struct review_candidate){.tier = facts->name,
                                                  .model = facts->model,
                                                  .place = facts->place,
                                                  .confidence = attempt->confidence,
                                                  .text = buf_view(&review->candidates[i].text)};
    }
    const struct tier_facts *people = &ex->facts[ex->current->tier];
    const struct review_case what = {.request = &ex->request,
                                     .candidates = candidates,
                                     .candidate_count = review->candidate_count,
                                     .reasons = ex->plan.reasons,
                                     .reason_count = ex->plan.reason_count,
                                     .route = ex->plan.route->name,
                                     .cost_of_error_usd = ex->request.cost_of_error > 0
                                                              ? ex->request.cost_of_error
                                                              : people->cost_of_error,
                                     .review_usd = people->review_usd,
                                     .rules = &rules,
                                     .unmasked = unmasked_class(ex)};
    buf_deinit(&review->body);
    buf_init(&review->body, REVIEW_CASE_BYTES_MAX);
    return review_case_write(&what, &review->body, err);
}

const struct tier_question *review_question(struct exchange *ex)
{
    struct review *review = &ex->review;
    struct td_error err = {0};
    if (!ex->facts[ex->current->tier].people || write_body(ex, &err) != TD_OK)
        return NULL;
    review->question = (struct tier_question){
        .body = buf_view(&review->body), .owner = ex->request.tenant, .user = ex->request.user};
    return &review->question;
}

void review_learn(struct exchange *ex)
{
    const struct review *review = &ex->review;
    if (!ex->current || !ex->facts[ex->current->tier].people || review->pending ||
        ex->current->status != TD_OK || !ex->services->ledger)
        return;
    for (size_t i = 0; i < review->candidate_count; i++) {
        const struct tier_facts *facts = &ex->facts[review->candidates[i].attempt->tier];
        struct ledger_shadow said = {.exchange = ex->id,
                                     .wall_ms = clock_wall_ms(ex->services->clock),
                                     .tier = facts->name,
                                     .place = names_place(facts->place),
                                     .model = facts->model,
                                     .model_version = facts->model_version};
        review_case_learn(ex->services->ledger, &said, review->accepted == i + 1);
    }
}

void review_note_pending(struct exchange *ex)
{
    const char *tier = ex->facts[ex->current->tier].name;
    ex->review.pending = ex->current;
    plan_add_reason(
        &ex->plan, REASON_REVIEW_PENDING, tier,
        "a person has not looked at it yet; the final answer will be at " REVIEW_ANSWER_PATH "%s",
        ex->id);
}
