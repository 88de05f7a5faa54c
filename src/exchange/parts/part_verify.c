/* Answers that a stronger tier checks (gate G4), and races that are settled by what both say.
 *
 * By answering: the stronger tier is asked at once beside the first one, and everything that it
 * says is withheld. When both answers are whole they are compared. If they agree, the first one
 * stands; if not, the other takes its place. When the stronger one is whole before the first, there
 * is nothing to wait for, and it is given.
 *
 * By scoring: when the first answer is whole, the stronger tier reads the conversation and the
 * answer and gives a verdict (router/watch/verdict.h). An answer that it finds wrong is left as a
 * gate leaves one: the next rung is asked.
 *
 * A client that asked for corrections sees the first answer at once, as provisional. Any other
 * client sees nothing before it is settled, so these wait only where the stakes are high; the rest
 * of the sample is checked in a shadow (part_shadow.c). What checks an answer is an attempt like
 * any other: it has a rung of the plan, passes the same door with a purpose of its own, is masked
 * and charged as the plan says, and the exchange's budgets must have room for it. */
#include "exchange/parts/part_verify.h"

#include "base/crypto/hash.h"
#include "base/text/names.h"
#include "base/time/log.h"
#include "exchange/machine/climb.h"
#include "exchange/machine/exchange_core.h"
#include "exchange/parts/ledger_json.h"
#include "exchange/parts/part_budget.h"
#include "router/watch/verdict.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the tier that checks is sent. */
struct question {
    struct td_request request;
    struct td_message messages[2];
    struct buf texts[2];
};

struct verify_state {
    struct loop_timer *timer; /* to ask, then the deadline; NULL until one was needed */
    enum verify_by by;        /* VERIFY_OFF: nothing (more) is checked */
    enum settle settle;       /* of by == VERIFY_ANSWER */
    size_t rung;              /* of the tier that checks */
    bool asked, judged, right;
    struct lane *first; /* whose answer is whole and waits; or NULL */
    size_t first_tier;
    double whole_ms; /* when it was */
    struct verdict_nonces nonces;
    struct question *question; /* NULL until it is asked: few exchanges are checked */
};

/* --- which exchanges --- */

static bool is_race(const struct exchange *ex)
{
    return ex->plan.route->race && ex->plan.route->settle != SETTLE_FIRST_GOOD;
}

static enum td_stakes stakes_of(const struct exchange *ex)
{
    const struct signals *signals = &ex->signals;
    const struct verify_view view = {.asked = ex->request.stakes,
                                     .data_class = signals->data_class,
                                     .task = signals->task,
                                     .p_local = signals->judged ? signals->p_local : (double)NAN};
    return verify_stakes(&ex->plan.route->verify, &view);
}

bool part_verify_is_sampled(const struct exchange *ex)
{
    const struct verify_settings *settings = &ex->plan.route->verify;
    return settings->by != VERIFY_OFF && stakes_of(ex) == STAKES_LOW &&
           hash_draw(ex->id, "verify") < settings->share;
}

/* The rung above the start whose tier the route names, or the next one; SIZE_MAX = none. People
 * check nothing while somebody waits. */
static size_t checking_rung(const struct exchange *ex)
{
    const char *wanted = is_race(ex) ? NULL : ex->plan.route->verify.tier;
    for (size_t i = 1; i < ex->plan.climb_count; i++) {
        const struct tier_facts *facts = &ex->facts[ex->plan.rungs[i]];
        if (!facts->people && (!wanted || strcmp(facts->name, wanted) == 0))
            return i;
    }
    return SIZE_MAX;
}

static bool is_wanted(const struct exchange *ex)
{
    const struct verify_settings *settings = &ex->plan.route->verify;
    const struct routing_rule *rule = ex->signals.rule;
    if (ex->staying || (rule && rule->stays) || exchange_is_hopeless(ex) ||
        !request_is_words_alone(&ex->request))
        return false;
    if (is_race(ex))
        return !ex->signals.batch && ex->signals.moment.network != TD_NETWORK_METERED;
    if (settings->by == VERIFY_OFF)
        return false;
    if (stakes_of(ex) == STAKES_HIGH)
        return true;
    return ex->request.corrections && ex->request.streamed && part_verify_is_sampled(ex) &&
           ex->signals.moment.network != TD_NETWORK_METERED;
}

static void give_up(struct exchange *ex, struct verify_state *own, enum verification_state state,
                    const char *why)
{
    own->by = VERIFY_OFF;
    if (own->timer)
        loop_timer_stop(ex->loop, own->timer);
    for (size_t i = 0; i < LANES_MAX; i++)
        ex->lanes[i].withheld = ex->lanes[i].checks;
    ex->verification.state = state;
    plan_add_reason(&ex->plan, REASON_UNVERIFIED, ex->facts[ex->plan.rungs[own->rung]].name,
                    "it did not check the answer: %s", why);
}

/* Nobody can be asked. Of what the device answers to high stakes that is said. */
static void tell_unchecked(struct exchange *ex, const struct verify_settings *settings)
{
    const struct tier_facts *first = &ex->facts[ex->plan.rungs[0]];
    if (is_race(ex) || first->place != TD_PLACE_DEVICE)
        return;
    ex->verification = (struct verification){.state = VERIFICATION_FAILED,
                                             .by = settings->by,
                                             .checked = first->name,
                                             .high = !part_verify_is_sampled(ex)};
    plan_add_reason(&ex->plan, REASON_UNVERIFIED, first->name,
                    "its answer is not checked: no tier that could do so can be asked");
}

/* What it may cost is promised here: the plan's own promise is for one answer. */
static void planned(struct exchange *ex, void *state)
{
    struct verify_state *own = state;
    const struct verify_settings *settings = &ex->plan.route->verify;
    if (ex->plan.climb_count == 0 || ex->plan.rung_count + 2 > ATTEMPTS_MAX || !is_wanted(ex))
        return;
    own->rung = checking_rung(ex);
    if (own->rung == SIZE_MAX) {
        tell_unchecked(ex, settings);
        return;
    }
    size_t tier = ex->plan.rungs[own->rung];
    double usd = part_budget_answer_usd(ex, tier);
    own->by = is_race(ex) ? VERIFY_ANSWER : settings->by;
    own->settle = is_race(ex) ? ex->plan.route->settle : SETTLE_AGREEMENT;
    ex->verification = (struct verification){.state = VERIFICATION_PROVISIONAL,
                                             .by = own->by,
                                             .tier = ex->facts[tier].name,
                                             .checked = ex->facts[ex->plan.rungs[0]].name,
                                             .high = !is_race(ex) && !part_verify_is_sampled(ex)};
    if (!part_budget_has_room(ex, usd)) {
        give_up(ex, own, VERIFICATION_FAILED, "the budget has no room for it");
        return;
    }
    part_budget_promise(ex, usd);
    ex->answer.keeps_text = true;
}

/* --- asking --- */

static void ask(struct exchange *ex, struct verify_state *own)
{
    struct lane *first = ex->lane;
    bool race = is_race(ex);
    const char *name = ex->facts[ex->plan.rungs[own->rung]].name;
    own->asked = true;
    plan_add_reason(&ex->plan, REASON_VERIFYING, name, "asked to %s %s",
                    own->by == VERIFY_SCORE ? "judge the answer of"
                    : race                  ? "answer in a race with"
                                            : "answer as well as",
                    ex->facts[first->attempt->tier].name);
    bool started = attempt_start(ex, own->rung, false, race ? EGRESS_HEDGE : EGRESS_VERIFICATION);
    if (ex->current == first->attempt) {
        give_up(ex, own, VERIFICATION_FAILED, "out of memory");
        return;
    }
    ex->checker = ex->current;
    if (started) {
        ex->current->gated = false; /* nothing leaves it: it is the better answer */
        ex->lane->withheld = ex->lane->checks = true;
    } else {
        give_up(ex, own, VERIFICATION_FAILED, ex->current->error);
    }
    lane_turn_to(ex, first);
}

/* Beside the first tier, if that one still runs. */
static void on_timer(void *ctx)
{
    struct exchange *ex = ctx;
    struct verify_state *own = part_state(ex, &part_verify);
    exchange_enter(ex);
    if (ex->waiting) {
        struct lane *waiting = ex->waiting;
        give_up(ex, own, VERIFICATION_TIMEOUT, "it said nothing in time");
        climb_settle(ex, waiting);
    } else if (own->by != VERIFY_OFF && !own->asked && ex->lane->running && !lane_beside(ex)) {
        ask(ex, own);
        if (own->by != VERIFY_OFF && ex->rung_next <= own->rung)
            ex->rung_next = own->rung + 1;
    }
    exchange_leave(ex);
}

static bool arm(struct exchange *ex, struct verify_state *own, uint64_t ms)
{
    if (!own->timer)
        own->timer = loop_timer_new(ex->loop, on_timer, ex);
    if (own->timer)
        loop_timer_start(ex->loop, own->timer, ms);
    return own->timer != NULL;
}

static void started(struct exchange *ex, void *state)
{
    struct verify_state *own = state;
    if (own->by == VERIFY_OFF || own->asked)
        return;
    if (ex->current->rung >= own->rung) { /* what answers now is no weaker */
        own->by = VERIFY_OFF;
        if (own->timer)
            loop_timer_stop(ex->loop, own->timer);
        ex->verification.state = VERIFICATION_NONE;
        return;
    }
    ex->verification.checked = ex->facts[ex->current->tier].name;
    ex->lane->withheld = ex->request.streamed && !ex->request.corrections;
    if (own->by == VERIFY_ANSWER && !arm(ex, own, 0))
        give_up(ex, own, VERIFICATION_FAILED, "out of memory");
}

/* --- the verdict by scoring --- */

/* Of a whole answer: as it was shown, or as it is held. */
static void read_answer(const struct exchange *ex, const struct lane *lane, struct buf *out)
{
    buf_init(out, HOLD_BYTES_MAX);
    if (lane->committed)
        buf_append_str(out, buf_view(&ex->answer.text));
    else
        hold_text(&lane->hold, out);
}

/* Question and answer as one request, which is scanned, masked and classed like any that leaves. Of
 * the conversation it has what the tier would be sent of it. */
static bool write_request(struct exchange *ex, struct verify_state *own, struct td_str answer)
{
    const struct td_request *asked = outgoing_plain(ex, &ex->facts[ex->plan.rungs[own->rung]]);
    struct question *question = own->question = calloc(1, sizeof *question);
    if (!question)
        return false;
    struct buf *task = &question->texts[0], *material = &question->texts[1];
    buf_init(task, 4096);
    buf_init(material, 2 * HOLD_BYTES_MAX);
    if (verdict_draw(&own->nonces, NULL) != TD_OK)
        return false;
    verdict_write_task(&own->nonces, task);
    verdict_write_case(&own->nonces, asked->messages, asked->message_count, answer, material);
    question->messages[0] = (struct td_message){.role = TD_ROLE_SYSTEM, .content = buf_view(task)};
    question->messages[1] =
        (struct td_message){.role = TD_ROLE_USER, .content = buf_view(material)};
    struct td_request *request = &question->request;
    *request = ex->request;
    request->messages = question->messages;
    request->message_count = 2;
    request->members = NULL;
    request->member_count = 0;
    request->stop_count = 0;
    request->format = TD_FORMAT_TEXT;
    request->tokens_max = VERDICT_TOKENS_MAX;
    request->format_is_guessed = false;
    request->sampling.temperature = 0;
    request->sampling.biases = NULL;
    request->sampling.bias_count = 0;
    request->logprobs = false;
    request->top_logprobs = 0;
    request->cache = CACHE_OFF;
    return !task->failed && !material->failed;
}

static void ask_for_verdict(struct exchange *ex, struct verify_state *own)
{
    struct buf answer;
    read_answer(ex, ex->lane, &answer);
    bool ok = !answer.failed && write_request(ex, own, buf_view(&answer));
    buf_deinit(&answer);
    size_t tier = ex->plan.rungs[own->rung];
    if (!ok) {
        give_up(ex, own, VERIFICATION_FAILED, "out of memory, or the answer is too long");
        return;
    }
    outgoing_continue(ex, &own->question->request);
    uint32_t prompt_tokens = ex->states[tier].prompt_tokens;
    ex->states[tier].prompt_tokens =
        tier_count_prompt(ex->services->tiers[tier], outgoing_plain(ex, &ex->facts[tier]));
    ask(ex, own);
    ex->states[tier].prompt_tokens = prompt_tokens;
}

/* --- settling --- */

static void note(struct exchange *ex, struct verify_state *own, bool right)
{
    own->judged = true;
    own->right = right;
    ex->verification.state = right ? VERIFICATION_COMMITTED : VERIFICATION_CORRECTED;
    ex->verification.ms =
        own->whole_ms > 0 ? exchange_now_ms(ex) - ex->created_ms - own->whole_ms : 0;
    if (own->timer)
        loop_timer_stop(ex->loop, own->timer);
}

static void stand(struct exchange *ex, struct verify_state *own)
{
    note(ex, own, true);
    ex->checker->outcome = ATTEMPT_CHECKED;
    plan_add_reason(&ex->plan, REASON_VERIFIED, ex->verification.checked, "%s %s",
                    ex->verification.tier,
                    own->by == VERIFY_SCORE ? "found it right" : "gave the same answer");
    climb_settle(ex, own->first);
}

static void settle_by_verdict(struct exchange *ex, struct verify_state *own, struct lane *checks)
{
    char why[REASON_TEXT_BYTES];
    struct buf said;
    buf_init(&said, VERDICT_TEXT_BYTES);
    hold_text(&checks->hold, &said);
    enum verdict verdict = said.failed ? VERDICT_NONE : verdict_read(&own->nonces, buf_view(&said));
    buf_deinit(&said);
    ex->checker->outcome = ATTEMPT_CHECKED;
    if (verdict == VERDICT_RIGHT) {
        stand(ex, own);
    } else if (verdict == VERDICT_NONE) {
        give_up(ex, own, VERIFICATION_FAILED, "what it said is no verdict");
        climb_settle(ex, own->first);
    } else {
        note(ex, own, false);
        own->by = VERIFY_OFF; /* the next answer is a better tier's */
        outgoing_continue(ex, &ex->request);
        ex->rung_next = own->rung;
        snprintf(why, sizeof why, "%s found it wrong", ex->verification.tier);
        climb_refute(ex, why);
    }
}

/* The stronger tier's answer takes the place of the first one. */
static void replace(struct exchange *ex, struct verify_state *own, struct lane *stronger,
                    const char *why)
{
    note(ex, own, false);
    own->judged = own->first && own->settle == SETTLE_AGREEMENT;
    if (own->first) {
        own->first->attempt->why_left = REASON_LEFT_REFUTED;
        own->first->attempt->outcome = ATTEMPT_ESCALATED;
    }
    plan_add_reason(&ex->plan, own->first ? REASON_LEFT_REFUTED : REASON_HEDGE_WON,
                    own->first ? ex->verification.checked : ex->verification.tier, "%s", why);
    climb_settle(ex, stronger);
}

static void settle_by_answers(struct exchange *ex, struct verify_state *own, struct lane *stronger)
{
    struct buf mine, other;
    char why[REASON_TEXT_BYTES];
    if (own->settle == SETTLE_STRONGEST) {
        snprintf(why, sizeof why, "%s answered, too, and is the stronger tier",
                 ex->verification.tier);
        replace(ex, own, stronger, why);
        return;
    }
    read_answer(ex, own->first, &mine);
    read_answer(ex, stronger, &other);
    bool agree = !mine.failed && !other.failed &&
                 answers_agree(ex->plan.route->verify.compare, buf_view(&mine), buf_view(&other),
                               stronger->attempt->finish == TD_FINISH_LENGTH);
    buf_deinit(&mine);
    buf_deinit(&other);
    snprintf(why, sizeof why, "%s gave another answer", ex->verification.tier);
    if (agree)
        stand(ex, own);
    else
        replace(ex, own, stronger, why);
}

/* The stronger tier is done: true unless the exchange goes on as it would without it. */
static bool checked(struct exchange *ex, struct verify_state *own)
{
    struct lane *stronger = ex->lane, *beside = lane_beside(ex);
    if (exchange_is_stuck(ex) || !stronger->hold_whole) {
        give_up(ex, own, VERIFICATION_FAILED, "an answer is too long to be held back");
        ex->current->outcome = ATTEMPT_CHECKED;
        if (own->first)
            climb_settle(ex, own->first);
        else if (beside)
            lane_turn_to(ex, beside);
    } else if (own->by == VERIFY_SCORE) {
        settle_by_verdict(ex, own, stronger);
    } else if (own->first) {
        settle_by_answers(ex, own, stronger);
    } else {
        replace(ex, own, stronger, "its answer was whole first");
    }
    return true;
}

static bool answered(struct exchange *ex, void *state)
{
    struct verify_state *own = state;
    if (own->by == VERIFY_OFF)
        return false;
    if (ex->lane->checks)
        return checked(ex, own);
    if (exchange_is_stuck(ex) || ex->current->rung >= own->rung)
        return false;
    own->first = ex->lane;
    own->first_tier = ex->current->tier;
    own->whole_ms = exchange_now_ms(ex) - ex->created_ms;
    ex->waiting = ex->lane;
    if (!own->asked && lane_beside(ex)) /* a hedge: its lane is needed */
        lane_stop(lane_beside(ex), ATTEMPT_CANCELLED);
    if (own->by == VERIFY_SCORE)
        ask_for_verdict(ex, own);
    else if (!own->asked) /* it was whole before the other was asked */
        ask(ex, own);
    uint32_t deadline_ms = ex->plan.route->verify.deadline_ms;
    if (is_race(ex) && own->timer) /* a race has the deadline of its request alone */
        loop_timer_stop(ex->loop, own->timer);
    if (own->by != VERIFY_OFF && (is_race(ex) || arm(ex, own, deadline_ms)))
        return true;
    ex->waiting = NULL;
    ex->lane->withheld = false;
    return false; /* it stands as it is */
}

/* The first tier's answer will not be given, so the other one's is; or the other one failed. */
static void left(struct exchange *ex, void *state)
{
    struct verify_state *own = state;
    struct lane *other = lane_beside(ex);
    if (own->by == VERIFY_OFF || !own->asked)
        return;
    if (ex->lane->checks) {
        ex->lane->checks = false;
        give_up(ex, own, VERIFICATION_FAILED, ex->current->error);
    } else if (other && other->checks) {
        own->by = VERIFY_OFF;
        ex->verification.state = VERIFICATION_NONE;
        other->withheld = other->checks = false;
    }
}

/* --- the end --- */

/* That its server named when it was asked last. */
static uint64_t identity_of(const struct exchange *ex, size_t tier)
{
    uint64_t identity = 0;
    for (size_t i = 0; i < ex->attempt_count; i++)
        if (ex->attempts[i]->tier == tier && ex->attempts[i]->server_identity)
            identity = ex->attempts[i]->server_identity;
    return identity;
}

/* What was found of the first tier's answer, for calibration. The cost is the attempt's. */
static void record(const struct exchange *ex, const struct verify_state *own)
{
    struct td_error err = {0};
    char version[LEDGER_VERSION_BYTES];
    bool stood = ex->current->tier == own->first_tier; /* the row is of the other one */
    size_t tier = stood ? ex->checker->tier : own->first_tier;
    const struct tier_facts *facts = &ex->facts[tier];
    const struct ledger_shadow row = {
        .exchange = ex->id,
        .wall_ms = clock_wall_ms(ex->services->clock),
        .tier = facts->name,
        .place = names_place(facts->place),
        .model = facts->model,
        .model_version = ledger_json_version(facts, identity_of(ex, tier), version),
        .agreement = own->right ? 1 : 0,
        .same = own->right,
        .kind = LEDGER_SHADOW_VERIFIED,
    };
    if (ledger_put_shadow(ex->services->ledger, &row, &err) != TD_OK)
        log_event(LOG_LEVEL_WARN, "verdict_not_recorded", "exchange=%s error=\"%s\"", ex->id,
                  err.message);
}

static void ended(struct exchange *ex, void *state, enum exchange_end how)
{
    const struct verify_state *own = state;
    if (own->timer)
        loop_timer_stop(ex->loop, own->timer);
    if (own->question && ex->outgoing.asked == &own->question->request)
        /* for parts that send what was asked */
        outgoing_continue(ex, &ex->request);
    if (own->judged && how == ENDED_OK && ex->services->ledger && !ex->request.keep_nothing)
        record(ex, own);
}

static void release(struct exchange *ex, void *state)
{
    struct verify_state *own = state;
    loop_timer_free(ex->loop, own->timer);
    for (size_t i = 0; own->question && i < 2; i++)
        buf_deinit(&own->question->texts[i]);
    free(own->question);
}

const struct exchange_part part_verify = {
    .name = "verify",
    .state_bytes = sizeof(struct verify_state),
    .planned = planned,
    .started = started,
    .answered = answered,
    .left = left,
    .ended = ended,
    .release = release,
};
