/* Two passes over the ledger: the first learns how long tiers took and how confident the device
 * was, the second decides each exchange again. The header says what counts in part. */
#include "api/evidence/replay.h"

#include "api/evidence/replay_signals.h"
#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/sort.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "router/plan/model_names.h"
#include "router/plan/tier_gates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- what is learnt first --- */

static int by_id(const void *a, const void *b)
{
    return strcmp(((const struct outcome_row *)a)->id, ((const struct outcome_row *)b)->id);
}

void replay_sort_outcomes(struct outcomes *outcomes)
{
    qsort(outcomes->rows, outcomes->count, sizeof *outcomes->rows, by_id);
}

static const struct outcome_row *outcome_of(const struct replay *replay, const char *id)
{
    if (!replay->outcomes || !id || strlen(id) >= OUTCOMES_ID_BYTES)
        return NULL;
    struct outcome_row key;
    memcpy(key.id, id, strlen(id) + 1);
    return bsearch(&key, replay->outcomes->rows, replay->outcomes->count, sizeof key, by_id);
}

static size_t tier_find(const struct replay *replay, const char *name)
{
    size_t tier = 0;
    while (tier < replay->tier_count && !(name && strcmp(replay->facts[tier].name, name) == 0))
        tier++;
    return tier;
}

static bool is_device(const char *place)
{
    return place && strcmp(place, "device") == 0;
}

enum td_status replay_learn(void *ctx, const struct ledger_history *row, struct td_error *err)
{
    struct replay *replay = ctx;
    for (size_t i = 0; i < row->attempt_count; i++) {
        const struct ledger_attempt *attempt = &row->attempts[i];
        size_t tier = tier_find(replay, attempt->tier);
        bool answered = attempt->outcome == ATTEMPT_ANSWERED;
        if (tier < replay->tier_count && answered && isfinite(attempt->total_ms)) {
            replay->ms_sum[tier] += attempt->total_ms;
            replay->ms_count[tier]++;
        }
        if (!is_device(attempt->place) || isnan(attempt->confidence))
            continue;
        if (replay->confidence_count == replay->confidence_capacity) {
            size_t capacity = replay->confidence_capacity ? 2 * replay->confidence_capacity : 1024;
            double *grown = realloc(replay->confidences, capacity * sizeof *grown);
            if (!grown)
                return error_set(err, TD_NO_MEMORY, "no memory for %zu confidences", capacity);
            replay->confidences = grown;
            replay->confidence_capacity = capacity;
        }
        replay->confidences[replay->confidence_count++] = attempt->confidence;
    }
    return TD_OK;
}

void replay_prepare(struct replay *replay)
{
    if (replay->confidence_count)
        sort_doubles(replay->confidences, replay->confidence_count);
}

/* Share of the recorded confidences at or above the bar; 1 where none is known. */
static double share_above(const struct replay *replay, double bar)
{
    size_t low = 0, high = replay->confidence_count;
    if (high == 0)
        return 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (replay->confidences[middle] < bar)
            low = middle + 1;
        else
            high = middle;
    }
    return (double)(replay->confidence_count - low) / (double)replay->confidence_count;
}

/* --- one exchange --- */

struct step {
    const struct replay *replay;
    const struct ledger_history *row;
    const struct plan *plan;
    const struct tier_facts *facts; /* of then */
    const struct signals *signals;
    const struct tier_state *states;
    bool not_mine;
};

/* Its times, tokens and confidence are of as much as there was. */
static bool was_stopped(const struct ledger_attempt *attempt)
{
    return attempt->outcome == ATTEMPT_CANCELLED;
}

static const struct ledger_attempt *attempt_at(const struct step *step, size_t tier)
{
    for (size_t i = 0; i < step->row->attempt_count; i++)
        if (step->row->attempts[i].tier && !was_stopped(&step->row->attempts[i]) &&
            strcmp(step->row->attempts[i].tier, step->replay->facts[tier].name) == 0)
            return &step->row->attempts[i];
    return NULL;
}

/* How probable it is that the tier's answer is kept. */
static double keeps(const struct step *step, size_t tier)
{
    const struct tier_facts *facts = &step->facts[tier];
    const struct ledger_attempt *attempt = attempt_at(step, tier);
    struct gate_settings own;
    const struct gate_settings *gates = &own;
    tier_gates_of(&step->plan->gates, facts, facts->adapts_always, &own);
    if (facts->place != TD_PLACE_DEVICE)
        return 1;
    if (gates->hopeless_under > 0 && step->signals->judged &&
        step->signals->p_strong < gates->hopeless_under)
        return 1;
    if (step->not_mine && (gates->g1_on || gates->g2_on || gates->g3_on))
        return 0;
    if (gates->g1_on && step->signals->probe > 0 && step->signals->probe < gates->g1_probe_min)
        return 0;
    if (gates->uncalibrated && !(gates->g1_on && step->signals->probe > 0))
        return 0;
    if (!gates->g2_on && !gates->g3_on)
        return 1;
    double bar = gates->g3_on ? gates->g3_confidence_min : gates->g2_confidence_min;
    if (attempt && isfinite(attempt->confidence)) {
        /* A running confidence that was low enough to leave is judged by the gate that saw it. */
        bool left = attempt->outcome == ATTEMPT_ESCALATED;
        if (left && gates->g2_on && attempt->completion_tokens <= gates->g2_tokens)
            bar = gates->g2_confidence_min;
        return attempt->confidence < bar ? 0 : 1;
    }
    return share_above(step->replay, bar);
}

static double ms_of(const struct step *step, size_t tier)
{
    const struct ledger_attempt *attempt = attempt_at(step, tier);
    const struct replay *replay = step->replay;
    if (attempt && isfinite(attempt->total_ms))
        return attempt->total_ms;
    if (replay->ms_count[tier] > 0)
        return replay->ms_sum[tier] / replay->ms_count[tier];
    return isfinite(step->row->total_ms) ? step->row->total_ms : 0;
}

/* At the other policy's prices. */
static double cost_of(const struct step *step, size_t tier)
{
    const struct tier_facts *facts = &step->replay->facts[tier];
    const struct ledger_attempt *attempt = attempt_at(step, tier);
    double prompt = step->states[tier].prompt_tokens, answer = 0;
    for (size_t i = 0; i < step->row->attempt_count; i++)
        if (step->row->attempts[i].completion_tokens > answer)
            answer = step->row->attempts[i].completion_tokens;
    if (attempt) {
        prompt = attempt->prompt_tokens;
        answer = attempt->completion_tokens;
    }
    return (prompt * facts->input_usd_per_mtok + answer * facts->output_usd_per_mtok) / 1e6;
}

/* Each rung is reached with what the rungs before it did not keep. */
static void walk(const struct step *step, struct replay_row *out)
{
    double reached = 1;
    for (size_t i = 0; i < step->plan->climb_count && reached > 0; i++) {
        size_t tier = step->plan->rungs[i];
        double kept = i + 1 < step->plan->climb_count ? keeps(step, tier) : 1;
        out->cost_after += reached * cost_of(step, tier);
        out->ms_after += reached * ms_of(step, tier);
        if (step->replay->facts[tier].place == TD_PLACE_DEVICE)
            out->local_after += reached * kept;
        reached *= 1 - kept;
    }
}

static void judge_quality(const struct replay *replay, const struct step *step,
                          struct replay_row *out)
{
    const struct outcome_row *outcome = outcome_of(replay, step->row->id);
    double local = step->signals->judged ? step->signals->p_local : (double)NAN;
    double cloud = step->signals->judged ? step->signals->p_strong : (double)NAN;
    if (outcome) {
        local = outcome->local.right;
        cloud = outcome->cloud.right;
    } else if (isfinite(step->row->score) && out->local_before > 0.5) {
        local = step->row->score; /* what somebody said of just this answer */
    } else if (isfinite(step->row->score)) {
        cloud = step->row->score;
    }
    /* Not 0 times something unknown. */
    out->right_before = out->local_before > 0.5 ? local : cloud;
    out->right_after = out->local_after >= 1 ? local
                       : out->local_after <= 0
                           ? cloud
                           : out->local_after * local + (1 - out->local_after) * cloud;
}

/* Room for one more of `size` bytes in an array that grows; NULL with the error. */
static void *grow(void *array, size_t count, size_t *capacity, size_t size, struct td_error *err)
{
    if (count == REPLAY_EXCHANGES_MAX) {
        error_set(err, TD_LIMIT, "more than %u exchanges; choose a shorter --since",
                  REPLAY_EXCHANGES_MAX);
        return NULL;
    }
    if (count < *capacity)
        return array;
    size_t wanted = *capacity ? 2 * *capacity : 1024;
    void *grown = realloc(array, wanted * size);
    if (!grown) {
        error_set(err, TD_NO_MEMORY, "no memory for %zu exchanges", wanted);
        return NULL;
    }
    *capacity = wanted;
    return grown;
}

/* A record names the application; its key is nobody's business. */
static const struct app *find_app(const struct policy *policy, const char *name)
{
    for (size_t i = 0; name && i < policy->app_count; i++)
        if (strcmp(policy->apps[i].name, name) == 0)
            return &policy->apps[i];
    return NULL;
}

/* A record that is decided again. */
struct replanned {
    struct replay_signals read;
    struct plan plan;
};

/* False when the record has no signals. */
static bool plan_again(const struct replay *replay, const struct json *root,
                       const struct ledger_history *row, struct replanned *out)
{
    struct replay_signals *read = &out->read;
    bool usable = replay_signals_read(root, row, replay->facts, replay->tier_count, read);
    const struct app *app = find_app(replay->policy, read->signals.app);
    const struct model_names names = {.policy = replay->policy,
                                      .facts = replay->facts,
                                      .tier_count = replay->tier_count,
                                      .app = app,
                                      .models = read->key_terms.models};
    struct model_choice choice;
    /* A name that the other policy does not know goes its default way. */
    if (!usable || (!model_names_find(&names, row->requested_model, &choice) &&
                    !model_names_find(&names, NULL, &choice)))
        return false;
    read->signals.ramp.on = read->signals.ramp.on && choice.route->ramp_to;
    policy_apply_rules(replay->policy, choice.route, &read->weights, app ? &app->weights : NULL,
                       &read->signals);
    plan_make(choice.route, choice.tier, &read->signals, read->facts, read->states,
              replay->tier_count, &out->plan);
    return true;
}

static void judge_answer(const struct replay *replay, const struct ledger_history *row,
                         const struct replanned *again, struct replay_row *out)
{
    const struct plan *plan = &again->plan;
    const struct step step = {
        .replay = replay,
        .row = row,
        .plan = plan,
        .facts = again->read.facts,
        .signals = &again->read.signals,
        .states = again->read.states,
        .not_mine = row->reasons_json && strstr(row->reasons_json, "\"left_not_mine\""),
    };
    *out = (struct replay_row){.cost_before = isfinite(row->cost_usd) ? row->cost_usd : 0,
                               .ms_before = isfinite(row->total_ms) ? row->total_ms : 0,
                               .local_before = is_device(row->place)};
    out->refused = plan->rung_count == 0;
    const char *began = row->attempt_count ? row->attempts[0].tier : row->tier;
    out->start_changed =
        out->refused || !began || strcmp(replay->facts[plan->rungs[0]].name, began) != 0;
    walk(&step, out);
    judge_quality(replay, &step, out);
    if (out->refused)
        out->right_after = 0;
}

/* The probabilities of the starts then and under the other policy, and what came of the one that
 * was. False when it started nowhere, or on a tier that the other policy does not have. */
static bool judge_start(const struct replay *replay, const struct json *root,
                        const struct ledger_history *row, const struct replanned *again,
                        struct off_policy_row *out)
{
    const struct json *decision = json_get(root, "decision");
    const struct json *drawn = json_get(decision, "propensity");
    const char *began = json_cstr(json_get(decision, "start"));
    bool device = is_device(row->place), failed = row->status == ENDED_FAILED;
    double verdict = isnan(row->score) && !device && isfinite(row->same) ? 1 : row->same;
    *out = (struct off_policy_row){
        .start = tier_find(replay, began),
        .end = failed   ? END_FAILED
               : device ? END_DEVICE
                        : END_ELSEWHERE,
        .p_local = again->read.signals.judged ? (float)again->read.signals.p_local : NAN,
        .reward = {row->cost_usd, row->total_ms, !failed && device,
                   failed                 ? 0
                   : isfinite(row->score) ? row->score
                                          : verdict},
    };
    for (size_t i = 0; i < replay->tier_count; i++) {
        double ran =
            drawn ? json_number(json_get(drawn, replay->facts[i].name), 0) : i == out->start;
        out->ran[i] = ran > 0 && ran <= 1 ? (float)ran : 0;
        if (again->plan.rung_count > 0)
            out->other[i] = (float)decision_propensity(&again->plan.decision, i);
    }
    return out->start < replay->tier_count;
}

static enum td_status judge_record(struct replay *replay, const struct json *root,
                                   const struct ledger_history *row, const struct replanned *again,
                                   struct td_error *err)
{
    void *starts = grow(replay->starts, replay->start_count, &replay->start_capacity,
                        sizeof *replay->starts, err);
    if (!starts)
        return TD_LIMIT;
    replay->starts = starts;
    replay->start_count +=
        judge_start(replay, root, row, again, &replay->starts[replay->start_count]);
    if (row->status != ENDED_OK) {
        replay->skipped++;
        return TD_OK;
    }
    void *rows = grow(replay->rows, replay->count, &replay->capacity, sizeof *replay->rows, err);
    if (!rows)
        return TD_LIMIT;
    replay->rows = rows;
    judge_answer(replay, row, again, &replay->rows[replay->count++]);
    return TD_OK;
}

static enum td_status replay_record(struct replay *replay, const struct json *root,
                                    const struct ledger_history *row, struct td_error *err)
{
    struct replanned again;
    if (!plan_again(replay, root, row, &again)) {
        replay->skipped++;
        return TD_OK;
    }
    enum td_status status = judge_record(replay, root, row, &again, err);
    plan_deinit(&again.plan);
    return status;
}

enum td_status replay_add(void *ctx, const struct ledger_history *row, struct td_error *err)
{
    ASSERT(((struct replay *)ctx)->policy); /* replay_prepare comes before */
    struct replay *replay = ctx;
    struct json *root = NULL;
    bool ended = row->status == ENDED_OK || row->status == ENDED_FAILED;
    if (!ended || !row->signals_json ||
        json_parse(str_from(row->signals_json), &root, NULL) != TD_OK) {
        replay->skipped++;
        return TD_OK;
    }
    enum td_status status = replay_record(replay, root, row, err);
    json_free(root);
    return status;
}

void replay_deinit(struct replay *replay)
{
    free(replay->rows);
    free(replay->starts);
    free(replay->confidences);
    *replay = (struct replay){0};
}
