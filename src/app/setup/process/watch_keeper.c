/* A thread with an event loop of its own, so that a slow webhook or disk holds nobody up.
 *
 * An alarm's beginning and its end are told once each, one after the other. What fails is tried
 * again after 1, 2, 4 ... 60 seconds, ten times in all; then it is logged and left. What was told
 * is kept with the alarm, so a restart goes on where it was. The webhook is the operator's: it gets
 * kinds, numbers and names of the configuration, and nothing of requests or callers. */
#include "app/setup/process/watch_keeper.h"

#include "api/metrics/tier_condition.h"
#include "app/setup/files/secret_source.h"
#include "app/setup/files/state_file.h"
#include "app/setup/process/snapshot.h"
#include "app/setup/process/watch_file.h"
#include "base/bytes/buf.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "base/crypto/secret.h"
#include "base/time/log.h"
#include "net/client/client.h"
#include "net/client/loop_event.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define TICK_MS 1000
#define WRITE_MS 10000
#define TRIES_MAX 10
#define BACKOFF_MS_MAX 60000
#define CONNECT_TIMEOUT_MS 5000
#define ANSWER_TIMEOUT_MS 10000
#define ANSWER_BYTES_MAX (64u << 10)

struct watch_keeper {
    struct runtime *runtime;
    struct watch *watch;
    struct loop *loop;
    struct loop_timer *timer;
    struct client *client;
    struct client_transfer *transfer; /* the push that runs; NULL = none */
    pthread_t thread;
    char path[STATE_PATH_BYTES]; /* "" = nothing is written */
    struct watch_kept kept;      /* as it was at the last tick */
    struct watch_kept written;
    double write_ms, push_ms; /* not before */
    uint64_t number;          /* of the alarm that is told, or was last */
    enum watch_told told;
    uint32_t tries;
    bool write_failed;
    /* What the log said last of each tier, so that it says it once; by name, because a reload may
     * change their order. */
    struct said {
        char tier[64];
        const char *code;
    } said[CONFIG_TIERS_MAX];
    size_t said_count;
};

/* --- the file --- */

/* Compared as bytes: where only padding differs, it is written once too often. */
static void write_file(struct watch_keeper *keeper)
{
    struct td_error err = {0};
    if (!*keeper->path || memcmp(&keeper->kept, &keeper->written, sizeof keeper->kept) == 0)
        return;
    enum td_status status = watch_file_write(keeper->path, &keeper->kept, &err);
    if (status != TD_OK && !keeper->write_failed)
        log_event(LOG_LEVEL_WARN, "watch_not_kept", "error=\"%s\"", err.message);
    keeper->write_failed = status != TD_OK;
    if (status == TD_OK)
        keeper->written = keeper->kept;
}

static enum td_status read_file(struct watch_keeper *keeper, const struct config *config,
                                struct td_error *err)
{
    struct td_error why = {0};
    char aside[STATE_PATH_BYTES + 8];
    if (!config->state_dir || config->privacy.zero_retention)
        return TD_OK;
    enum td_status status = state_file_path(config, "watch.json", keeper->path, err);
    if (status != TD_OK)
        return status;
    watch_keep(keeper->watch, &keeper->kept);
    if (watch_file_read(keeper->path, &keeper->kept, &why) != TD_OK) {
        snprintf(aside, sizeof aside, "%s.bad", keeper->path);
        bool moved = rename(keeper->path, aside) == 0;
        log_event(LOG_LEVEL_WARN, "watch_begins_anew", "kept=%s error=\"%s\"",
                  moved ? aside : "nothing", why.message);
        return TD_OK;
    }
    watch_restore(keeper->watch, &keeper->kept);
    watch_set_usual_share(keeper->watch, config->watch.escalation_share);
    return TD_OK;
}

/* --- the webhook --- */

/* The oldest thing that is still to be told. */
static const struct watch_alarm *next_alarm(const struct alarms *alarms, enum watch_told *what)
{
    for (size_t i = 0; i < alarms->count; i++) {
        const struct watch_alarm *alarm = &alarms->items[i];
        *what = !(alarm->told & WATCH_TOLD_BEGUN) ? WATCH_TOLD_BEGUN : WATCH_TOLD_ENDED;
        if (*what == WATCH_TOLD_BEGUN || (alarm->end_wall_ms && !(alarm->told & *what)))
            return alarm;
    }
    return NULL;
}

static void on_told(void *ctx, enum td_status status, int code, const struct td_error *err)
{
    struct watch_keeper *keeper = ctx;
    bool done = status == TD_OK && code >= 200 && code < 300;
    keeper->transfer = NULL;
    if (!done && ++keeper->tries < TRIES_MAX) {
        double backoff_ms = 1000.0 * (1u << keeper->tries) / 2;
        keeper->push_ms =
            clock_monotonic_ms(NULL) + (backoff_ms < BACKOFF_MS_MAX ? backoff_ms : BACKOFF_MS_MAX);
        return;
    }
    if (!done)
        log_event(LOG_LEVEL_WARN, "alarm_not_told", "alarm=%" PRIu64 " http_status=%d error=\"%s\"",
                  keeper->number, code, status != TD_OK ? err->message : "");
    watch_set_told(keeper->watch, keeper->number, keeper->told);
    watch_keep(keeper->watch, &keeper->kept);
    write_file(keeper); /* at once: whoever was told is not told again after a kill */
}

static void write_body(const struct watch_alarm *alarm, enum watch_told what, struct buf *out)
{
    struct json *body = watch_file_alarm(alarm);
    json_put(body, "event",
             json_new_cstr(what == WATCH_TOLD_BEGUN ? "alarm_begun" : "alarm_ended"));
    json_write(body, out);
    json_free(body);
}

static enum td_status send(struct watch_keeper *keeper, const struct config *config,
                           struct td_str body, struct td_error *err)
{
    struct secret *key = NULL;
    struct buf authorization;
    enum td_status status = secret_source_read(config->watch.webhook_key_env, NULL, &key, err);
    struct td_str bearer = key ? secret_reveal(key) : STR("");
    buf_init(&authorization, bearer.len + 64);
    buf_append_str(&authorization, STR("Authorization: Bearer "));
    buf_append_str(&authorization, bearer);
    const char *headers[] = {"Content-Type: application/json", "User-Agent: tandem/" TANDEM_VERSION,
                             key ? authorization.data : NULL, NULL};
    const struct client_request request = {
        .method = "POST",
        .url = config->watch.webhook,
        .headers = headers,
        .body = body,
        .allow_http = true, /* the address was checked with the configuration */
        .connect_timeout_ms = CONNECT_TIMEOUT_MS,
        .first_timeout_ms = ANSWER_TIMEOUT_MS,
        .idle_timeout_ms = ANSWER_TIMEOUT_MS,
        .response_bytes_max = ANSWER_BYTES_MAX,
        .on_done = on_told,
        .ctx = keeper,
    };
    if (status == TD_OK && authorization.failed)
        status = error_set(err, TD_NO_MEMORY, "no memory for a request");
    if (status == TD_OK)
        status = client_start(keeper->client, &request, &keeper->transfer, err);
    if (authorization.data)
        crypto_wipe(authorization.data, authorization.len);
    buf_deinit(&authorization);
    secret_free(key);
    return status;
}

static void tell(struct watch_keeper *keeper, const struct config *config)
{
    enum watch_told what;
    const struct watch_alarm *alarm = next_alarm(&keeper->kept.alarms, &what);
    struct td_error err = {0};
    struct buf body;
    if (keeper->transfer || !alarm || clock_monotonic_ms(NULL) < keeper->push_ms)
        return;
    if (!config->watch.webhook) { /* one that is set later is not told of the past */
        watch_set_told(keeper->watch, alarm->number, what);
        return;
    }
    if (alarm->number != keeper->number || what != keeper->told)
        keeper->tries = 0;
    keeper->number = alarm->number;
    keeper->told = what;
    buf_init(&body, ANSWER_BYTES_MAX);
    write_body(alarm, what, &body);
    enum td_status status = send(keeper, config, buf_view(&body), &err);
    buf_deinit(&body);
    if (status != TD_OK)
        on_told(keeper, status, 0, &err);
}

/* --- the thread --- */

/* The place of what was said of the tier; NULL when there are too many. */
static struct said *find_said(struct watch_keeper *keeper, const char *tier)
{
    for (size_t i = 0; i < keeper->said_count; i++)
        if (strncmp(keeper->said[i].tier, tier, sizeof keeper->said[i].tier - 1) == 0)
            return &keeper->said[i];
    if (keeper->said_count == CONFIG_TIERS_MAX)
        return NULL;
    struct said *said = &keeper->said[keeper->said_count++];
    *said = (struct said){.code = "up"};
    snprintf(said->tier, sizeof said->tier, "%s", tier);
    return said;
}

/* A tier that somebody has to mend is said once, and when it works again. */
static void say_condition(struct watch_keeper *keeper, const struct exchange_services *services,
                          size_t tier)
{
    const char *name = services->tiers[tier]->facts.name;
    struct said *said = find_said(keeper, name);
    struct tier_condition condition;
    tier_condition_read(services, tier, &condition);
    const char *code = condition.broken ? condition.code : "up";
    if (!said || strcmp(said->code, code) == 0)
        return;
    bool more = strcmp(said->code, "up") != 0 && condition.broken;
    if (more && strcmp(code, "failing") == 0) /* it was tried, and is as it was */
        return;
    said->code = code;
    if (condition.broken)
        log_event(LOG_LEVEL_WARN, "tier_down", "tier=%s code=%s reason=\"%s\"", name, code,
                  condition.why);
    else
        log_event(LOG_LEVEL_INFO, "tier_up", "tier=%s", name);
}

static void look_at_tiers(struct watch_keeper *keeper, const struct exchange_services *services,
                          const struct config *config)
{
    uint64_t now_ms = (uint64_t)clock_monotonic_ms(services->clock);
    for (size_t i = 0; i < services->tier_count; i++)
        say_condition(keeper, services, i);
    for (size_t i = 0; i < services->tier_count && services->health; i++)
        watch_tier_rests(keeper->watch, services->tiers[i]->facts.name,
                         !tier_health_usable(services->health, i, now_ms),
                         (uint64_t)config->watch.resting_s * 1000);
}

static void on_tick(void *ctx)
{
    struct watch_keeper *keeper = ctx;
    struct exchange_services *services = runtime_acquire(keeper->runtime);
    const struct config *config = snapshot_config(snapshot_of(services));
    watch_set_objective(keeper->watch, config->watch.objective);
    look_at_tiers(keeper, services, config);
    watch_tick(keeper->watch);
    watch_keep(keeper->watch, &keeper->kept);
    tell(keeper, config);
    runtime_release(keeper->runtime, services);
    runtime_look_at_storage(keeper->runtime);
    if (clock_monotonic_ms(NULL) >= keeper->write_ms ||
        keeper->kept.alarms.number != keeper->written.alarms.number) {
        keeper->write_ms = clock_monotonic_ms(NULL) + WRITE_MS;
        write_file(keeper);
    }
    loop_timer_start(keeper->loop, keeper->timer, TICK_MS);
}

static void *keeper_run(void *ctx)
{
    struct watch_keeper *keeper = ctx;
    loop_timer_start(keeper->loop, keeper->timer, TICK_MS);
    loop_event_run(keeper->loop);
    return NULL;
}

static void keeper_free(struct watch_keeper *keeper)
{
    client_free(keeper->client);
    if (keeper->loop) {
        loop_timer_free(keeper->loop, keeper->timer);
        loop_event_free(keeper->loop);
    }
    free(keeper);
}

static enum td_status keeper_open(struct watch_keeper *keeper, struct td_error *err)
{
    enum td_status status = read_file(keeper, runtime_config(keeper->runtime), err);
    if (status == TD_OK)
        status = loop_event_new(&keeper->loop, err);
    if (status == TD_OK)
        status = client_new(keeper->loop, &keeper->client, err);
    if (status == TD_OK && !(keeper->timer = loop_timer_new(keeper->loop, on_tick, keeper)))
        status = error_set(err, TD_NO_MEMORY, "no memory for a timer");
    if (status == TD_OK && pthread_create(&keeper->thread, NULL, keeper_run, keeper) != 0)
        status = error_set(err, TD_NO_MEMORY, "no thread for the watch");
    return status;
}

enum td_status watch_keeper_start(struct runtime *runtime, struct watch_keeper **out,
                                  struct td_error *err)
{
    struct watch_keeper *keeper = calloc(1, sizeof *keeper);
    *out = NULL;
    if (!keeper)
        return error_set(err, TD_NO_MEMORY, "no memory for the watch");
    struct exchange_services *services = runtime_acquire(runtime);
    keeper->runtime = runtime;
    keeper->watch = services->watch; /* lives as long as the runtime */
    runtime_release(runtime, services);
    enum td_status status = keeper_open(keeper, err);
    if (status == TD_OK)
        *out = keeper;
    else
        keeper_free(keeper);
    return status;
}

void watch_keeper_stop(struct watch_keeper *keeper)
{
    if (!keeper)
        return;
    loop_event_stop(keeper->loop);
    pthread_join(keeper->thread, NULL);
    watch_keep(keeper->watch, &keeper->kept);
    write_file(keeper);
    keeper_free(keeper);
}
