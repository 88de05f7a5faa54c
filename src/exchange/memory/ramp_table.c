/* One entry for each route with a ramp, by the policy in force.
 *
 * A ramp is known by a hash of its plan. A ramp keeps its state as long as the policy does not
 * change it. A changed plan starts from nothing, because earlier judgements would mean something
 * else. What the file holds is kept aside until the first policy says which of it goes on. */
#include "exchange/memory/ramp_table.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "base/crypto/hash.h"
#include "base/time/log.h"
#include "exchange/limits/watch.h"
#include "exchange/memory/ramp_file.h"
#include "exchange/private/conversation_id.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A crash loses at most that many judgements, and never a step or a stop. */
#define JUDGED_UNWRITTEN_MAX 100

struct entry {
    struct ramp_saved saved;
    struct ramp_plan plan;
    char to[RAMP_NAME_BYTES];
    uint32_t unwritten;
    uint64_t alarm; /* number of the one that lasts; 0 = none */
};

struct ramp_table {
    pthread_mutex_t lock;
    const struct clock *clock;
    struct watch *watch;
    uint8_t key[KEYED_KEY_BYTES];
    char *path; /* NULL = memory alone */
    struct entry *entries;
    size_t count;
    struct ramp_saved *read; /* of the file, until a policy says which of them go on */
    size_t read_count;
    uint64_t heard[RAMP_HEARD_MAX]; /* hashes of exchanges' ids, a ring */
    size_t heard_next;
};

/* --- the file --- */

static enum td_status save_locked(struct ramp_table *ramps, struct td_error *err)
{
    if (!ramps->path)
        return TD_OK;
    struct ramp_saved *list = calloc(ramps->count + 1, sizeof *list);
    if (!list)
        return error_set(err, TD_NO_MEMORY, "no memory to keep %zu ramps", ramps->count);
    for (size_t i = 0; i < ramps->count; i++)
        list[i] = ramps->entries[i].saved;
    enum td_status status = ramp_file_write(ramps->path, list, ramps->count, err);
    for (size_t i = 0; i < ramps->count; i++)
        ramps->entries[i].unwritten = status == TD_OK ? 0 : 1; /* for the next time */
    free(list);
    return status;
}

static void save_or_say_locked(struct ramp_table *ramps)
{
    struct td_error err = {0};
    if (save_locked(ramps, &err) != TD_OK)
        log_event(LOG_LEVEL_WARN, "ramps_not_kept", "error=\"%s\"", err.message);
}

enum td_status ramp_table_open(const struct ramp_table_options *options, struct ramp_table **out,
                               struct td_error *err)
{
    struct ramp_table *ramps = calloc(1, sizeof *ramps);
    if (!ramps)
        return error_set(err, TD_NO_MEMORY, "no memory for ramps");
    pthread_mutex_init(&ramps->lock, NULL);
    ramps->clock = options->clock;
    ramps->watch = options->watch;
    memcpy(ramps->key, options->key, sizeof ramps->key);
    enum td_status status = TD_OK;
    if (options->path) {
        ramps->path = strdup(options->path);
        status = ramps->path ? ramp_file_read(ramps->path, &ramps->read, &ramps->read_count, err)
                             : error_set(err, TD_NO_MEMORY, "no memory for ramps");
    }
    if (status == TD_OK)
        *out = ramps;
    else
        ramp_table_close(ramps);
    return status;
}

void ramp_table_close(struct ramp_table *ramps)
{
    if (!ramps)
        return;
    bool unwritten = false;
    for (size_t i = 0; i < ramps->count; i++)
        unwritten = unwritten || ramps->entries[i].unwritten > 0;
    if (unwritten)
        save_or_say_locked(ramps);
    pthread_mutex_destroy(&ramps->lock);
    free(ramps->path);
    free(ramps->entries);
    free(ramps->read);
    free(ramps);
}

/* --- plans --- */

static uint64_t hash_number(double number, uint64_t basis)
{
    return hash_fnv1a64(&number, sizeof number, basis);
}

static uint64_t plan_hash(const struct route *route)
{
    const struct ramp_plan *plan = &route->ramp;
    const char *from = policy_start_of(route);
    uint64_t hash = hash_fnv1a64(route->ramp_to, strlen(route->ramp_to) + 1, HASH_FNV1A64_BASIS);
    hash = hash_fnv1a64(from, strlen(from) + 1, hash);
    for (uint32_t i = 0; i < plan->step_count; i++)
        hash = hash_number(plan->steps[i], hash);
    hash = hash_number(plan->judged_min, hash);
    hash = hash_number(plan->disagreement_max, hash);
    hash = hash_number(plan->loss_margin, hash);
    hash = hash_number(route->ramp_slo_ms, hash);
    return hash_number(plan->needs_agreement, hash);
}

static struct entry *find_locked(struct ramp_table *ramps, const char *route)
{
    for (size_t i = 0; i < ramps->count; i++)
        if (strcmp(ramps->entries[i].saved.route, route) == 0)
            return &ramps->entries[i];
    return NULL;
}

/* The same ramp of the policy before, or of the file. */
static const struct ramp_saved *earlier_locked(struct ramp_table *ramps, const struct route *route,
                                               uint64_t plan)
{
    const struct entry *entry = find_locked(ramps, route->name);
    if (entry && entry->saved.plan == plan)
        return &entry->saved;
    for (size_t i = 0; i < ramps->read_count; i++)
        if (strcmp(ramps->read[i].route, route->name) == 0 && ramps->read[i].plan == plan &&
            ramp_state_is_sound(&route->ramp, &ramps->read[i].state))
            return &ramps->read[i];
    return NULL;
}

static void follow_alarm(struct ramp_table *ramps, struct entry *entry)
{
    const struct ramp_state *state = &entry->saved.state;
    char text[WATCH_TEXT_BYTES] = "";
    if (!ramps->watch)
        return;
    snprintf(text, sizeof text, "the ramp of route %.64s to %.64s stopped at %g %%: %s",
             entry->saved.route, entry->to, entry->plan.steps[state->step],
             ramp_evidence_name(state->cause));
    watch_follow(ramps->watch, &entry->alarm, state->stopped, WATCH_RAMP_STOPPED,
                 (double[]){state->cause_loss, state->cause == RAMP_AGREEMENT
                                                   ? entry->plan.disagreement_max
                                                   : entry->plan.loss_margin},
                 text);
}

static void begin_locked(struct ramp_table *ramps, struct entry *entry)
{
    ramp_begin(&entry->saved.state);
    entry->unwritten++;
    entry->saved.changed_wall_ms = clock_wall_ms(ramps->clock);
}

static void fill_locked(struct ramp_table *ramps, const struct route *route, struct entry *to)
{
    uint64_t plan = plan_hash(route);
    const struct ramp_saved *earlier = earlier_locked(ramps, route, plan);
    const struct entry *before = find_locked(ramps, route->name);
    *to = (struct entry){.plan = route->ramp, .alarm = before ? before->alarm : 0};
    snprintf(to->to, sizeof to->to, "%s", route->ramp_to);
    if (earlier) {
        to->saved = *earlier;
        to->unwritten = before ? before->unwritten : 0;
        return;
    }
    snprintf(to->saved.route, sizeof to->saved.route, "%s", route->name);
    to->saved.plan = plan;
    begin_locked(ramps, to);
    log_event(LOG_LEVEL_INFO, "ramp_begun", "route=%s to=%s percent=%g", route->name,
              route->ramp_to, route->ramp.steps[0]);
}

void ramp_table_set_policy(struct ramp_table *ramps, const struct policy *policy)
{
    ASSERT(ramps && policy);
    pthread_mutex_lock(&ramps->lock);
    struct entry *entries = calloc(policy->route_count + 1, sizeof *entries);
    size_t count = 0;
    for (size_t i = 0; entries && i < policy->route_count; i++)
        if (policy->routes[i].ramp.step_count > 0)
            fill_locked(ramps, &policy->routes[i], &entries[count++]);
    for (size_t i = 0; i < ramps->count && ramps->watch; i++) {
        bool stays = false;
        for (size_t j = 0; j < count; j++)
            stays = stays || strcmp(entries[j].saved.route, ramps->entries[i].saved.route) == 0;
        if (!stays)
            watch_follow(ramps->watch, &ramps->entries[i].alarm, false, WATCH_RAMP_STOPPED,
                         (double[]){0, 0}, "");
    }
    free(ramps->entries);
    ramps->entries = entries; /* without memory there are no ramps: nobody is taken */
    ramps->count = count;
    for (size_t i = 0; i < count; i++)
        follow_alarm(ramps, &entries[i]);
    free(ramps->read);
    ramps->read = NULL;
    ramps->read_count = 0;
    if (count > 0)
        save_or_say_locked(ramps);
    pthread_mutex_unlock(&ramps->lock);
}

/* --- who is taken --- */

static uint64_t user_hash(const struct ramp_table *ramps, const struct route *route,
                          const struct td_request *request)
{
    uint8_t begins[CRYPTO_SHA256_BYTES], owner[CRYPTO_SHA256_BYTES], mac[KEYED_MAC_BYTES];
    struct td_str who = str_from(request->user);
    if (!request->user) {
        conversation_id_digest(request, begins, owner);
        who = (struct td_str){(const char *)begins, sizeof begins};
    }
    struct buf text;
    buf_init(&text, 1 << 20);
    buf_printf(&text, "ramp %s %s ", route->name, request->user ? "user" : "conversation");
    if (request->user && request->tenant)
        buf_printf(&text, "of %s ", request->tenant);
    buf_append_str(&text, who);
    keyed_mac(ramps->key, text.data, text.len, mac);
    buf_deinit(&text);
    uint64_t hash;
    memcpy(&hash, mac, sizeof hash);
    return hash;
}

static struct entry *of_locked(struct ramp_table *ramps, const struct route *route)
{
    struct entry *entry = find_locked(ramps, route->name);
    return entry && entry->saved.plan == plan_hash(route) ? entry : NULL;
}

void ramp_table_read(struct ramp_table *ramps, const struct route *route,
                     const struct td_request *request, struct ramp_signal *out)
{
    *out = (struct ramp_signal){.on = false};
    if (route->ramp.step_count == 0)
        return;
    pthread_mutex_lock(&ramps->lock);
    const struct entry *entry = of_locked(ramps, route);
    if (entry) {
        out->on = true;
        out->stopped = entry->saved.state.stopped;
        out->percent = ramp_percent(&entry->plan, &entry->saved.state);
    }
    pthread_mutex_unlock(&ramps->lock);
    if (out->percent > 0)
        out->taken = ramp_includes(out->percent, user_hash(ramps, route, request));
}

/* --- what it comes to --- */

static void tell_locked(struct ramp_table *ramps, struct entry *entry, enum ramp_event event)
{
    const struct ramp_state *state = &entry->saved.state;
    entry->saved.changed_wall_ms = clock_wall_ms(ramps->clock);
    if (event == RAMP_ADVANCED)
        log_event(LOG_LEVEL_INFO, "ramp_advanced", "route=%s to=%s percent=%g", entry->saved.route,
                  entry->to, ramp_percent(&entry->plan, state));
    else
        log_event(LOG_LEVEL_WARN, "ramp_stopped", "route=%s to=%s at_percent=%g cause=%s loss=%.3f",
                  entry->saved.route, entry->to, entry->plan.steps[state->step],
                  ramp_evidence_name(state->cause), state->cause_loss);
    follow_alarm(ramps, entry);
    save_or_say_locked(ramps);
}

void ramp_table_judge(struct ramp_table *ramps, const struct route *route,
                      enum ramp_evidence evidence, bool candidate, double loss)
{
    if (route->ramp.step_count == 0)
        return;
    pthread_mutex_lock(&ramps->lock);
    struct entry *entry = of_locked(ramps, route);
    if (entry && !entry->saved.state.stopped) {
        enum ramp_event event =
            ramp_judge(&entry->plan, &entry->saved.state, evidence, candidate, loss);
        entry->unwritten++;
        if (event != RAMP_GOES_ON)
            tell_locked(ramps, entry, event);
        else if (entry->unwritten >= JUDGED_UNWRITTEN_MAX)
            save_or_say_locked(ramps);
    }
    pthread_mutex_unlock(&ramps->lock);
}

static bool is_news_locked(struct ramp_table *ramps, const char *exchange)
{
    uint64_t hash = hash_fnv1a64(exchange, strlen(exchange), HASH_FNV1A64_BASIS);
    for (size_t i = 0; i < RAMP_HEARD_MAX; i++)
        if (ramps->heard[i] == hash)
            return false;
    ramps->heard[ramps->heard_next++ % RAMP_HEARD_MAX] = hash;
    return true;
}

void ramp_table_judge_feedback(struct ramp_table *ramps, const struct policy *policy,
                               const char *route, const struct ramp_judged *judged)
{
    const struct route *found = NULL;
    for (size_t i = 0; i < policy->route_count && !found; i++)
        if (strcmp(policy->routes[i].name, route) == 0)
            found = &policy->routes[i];
    if (!found || !found->ramp_to || strcmp(found->ramp_to, judged->to) != 0)
        return;
    pthread_mutex_lock(&ramps->lock);
    const struct entry *entry = of_locked(ramps, found);
    bool counts = entry && judged->wall_ms >= entry->saved.changed_wall_ms &&
                  is_news_locked(ramps, judged->exchange);
    pthread_mutex_unlock(&ramps->lock);
    if (counts)
        ramp_table_judge(ramps, found, RAMP_FEEDBACK, judged->candidate, judged->loss);
}

enum td_status ramp_table_restart(struct ramp_table *ramps, const char *route, struct td_error *err)
{
    pthread_mutex_lock(&ramps->lock);
    struct entry *entry = find_locked(ramps, route);
    enum td_status status = TD_OK;
    if (entry) {
        begin_locked(ramps, entry);
        follow_alarm(ramps, entry);
        log_event(LOG_LEVEL_INFO, "ramp_restarted", "route=%s to=%s", route, entry->to);
        status = save_locked(ramps, err);
    } else {
        status = error_set(err, TD_NOT_FOUND, "no route '%.64s' has a ramp", route);
    }
    pthread_mutex_unlock(&ramps->lock);
    return status;
}

size_t ramp_table_list(struct ramp_table *ramps, struct ramp_view *out, size_t capacity)
{
    pthread_mutex_lock(&ramps->lock);
    size_t count = ramps->count;
    for (size_t i = 0; i < count && i < capacity; i++) {
        const struct entry *entry = &ramps->entries[i];
        const struct ramp_state *state = &entry->saved.state;
        out[i] = (struct ramp_view){.percent = ramp_percent(&entry->plan, state),
                                    .step = state->step,
                                    .step_count = entry->plan.step_count,
                                    .stopped = state->stopped,
                                    .cause = state->cause,
                                    .cause_loss = state->cause_loss,
                                    .changed_wall_ms = entry->saved.changed_wall_ms};
        memcpy(out[i].route, entry->saved.route, sizeof out[i].route);
        memcpy(out[i].to, entry->to, sizeof out[i].to);
        for (int j = 0; j < RAMP_EVIDENCE_COUNT; j++) {
            out[i].evidence[j].judged = state->bets[j].judged;
            out[i].evidence[j].loss = ramp_mean_loss(state, (enum ramp_evidence)j);
        }
    }
    pthread_mutex_unlock(&ramps->lock);
    return count;
}
