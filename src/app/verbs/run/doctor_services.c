/* What `tandem doctor` says of what a server keeps, and of parts that an operator has switched on:
 * webhooks, people, deferred questions, checks of answers, similar questions. */
#include "app/setup/files/file_setup.h"
#include "app/setup/files/secret_source.h"
#include "app/setup/model/model_file.h"
#include "app/verbs/run/doctor.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/time/clock.h"
#include "ledger/record/ledger.h"
#include "net/client/webhook.h"
#include "router/plan/verify.h"

#include <stdio.h>
#include <sys/sysinfo.h>
#include <unistd.h>

/* Clocks of machines that share a ledger differ by less. */
#define SKEW_MS 60000

/* A record of the future: the clock has been set back, or was wrong. */
static void check_newest(struct doctor *doctor, const struct json *list)
{
    const struct json *newest = json_at(list, 0);
    int64_t wall_ms = json_int(json_get(newest, "wall_ms"), 0);
    double ahead_ms = (double)wall_ms - (double)clock_wall_ms(NULL);
    if (ahead_ms > SKEW_MS)
        doctor_add(doctor, "clock", HEALTH_FAIL,
                   "set the clock, as 'timedatectl set-ntp true' does; until it is right, budgets "
                   "and retention count wrong days",
                   "the newest exchange in the ledger is %.0f minutes in the future",
                   ahead_ms / 60000);
}

static void check_ledger(struct doctor *doctor)
{
    struct td_error err = {0};
    struct ledger_reader *reader = NULL;
    struct json *list = NULL;
    const char *path = doctor->config->ledger.path;
    if (!doctor->config->ledger.enabled) {
        doctor_add(doctor, "ledger", HEALTH_WARN,
                   "set ledger.enabled: true, else there are no explanations",
                   "switched off: no exchange is recorded");
        return;
    }
    if (ledger_is_file(path) && access(path, F_OK) != 0) {
        doctor_add(doctor, "ledger", HEALTH_OK, NULL, "%s will be made at the first start", path);
        return;
    }
    if (ledger_reader_open(path, &reader, &err) == TD_OK &&
        ledger_reader_list(reader, &(struct ledger_wanted){.limit = 1}, &list, &err) == TD_OK)
        doctor_add(doctor, "ledger", HEALTH_OK, NULL, "%s can be read", path);
    else
        doctor_add(
            doctor, "ledger", HEALTH_FAIL,
            strstr(err.message, "newer program")
                ? "use that program, or give this one a folder of its own with TANDEM_STATE_DIR"
            : ledger_is_file(path)
                ? "move the file away; the next start makes a new one"
                : "start the database, and 'tandem serve' once, which makes what it needs there",
            "%s", err.message);
    check_newest(doctor, list);
    json_free(list);
    if (reader)
        doctor_check_skew(doctor, reader);
    ledger_reader_close(reader);
}

static void check_retention(struct doctor *doctor)
{
    struct sysinfo memory;
    if (!doctor->config->privacy.zero_retention) {
        doctor_add(doctor, "retention", HEALTH_OK, NULL, "texts are %s",
                   doctor->config->ledger.store_prompts
                       ? "stored in the ledger (ledger.store_prompts)"
                       : "not stored; privacy.zero_retention is off");
        return;
    }
    bool swaps = sysinfo(&memory) == 0 && memory.totalswap > 0;
    doctor_add(
        doctor, "retention", swaps ? HEALTH_WARN : HEALTH_OK,
        swaps ? "switch swap off or encrypt it: it may write memory to the disk" : NULL,
        "zero retention: no texts, users or comments in the ledger, no cached prompts, freed "
        "memory is overwritten, no core files%s",
        swaps ? "; but this machine uses swap" : "");
}

static void check_webhooks(struct doctor *doctor)
{
    for (size_t i = 0; i < doctor->config->webhook_count; i++) {
        const struct config_webhook *hook = &doctor->config->webhooks[i];
        char name[64];
        struct td_error err = {0};
        struct secret *secret = NULL;
        snprintf(name, sizeof name, "webhook %.50s", hook->name);
        enum td_status status = webhook_check_url(hook->url, hook->allow_private, &err);
        if (status == TD_OK)
            status = secret_source_read(hook->secret_env, hook->secret_file, &secret, &err);
        if (status != TD_OK)
            doctor_add(doctor, name, HEALTH_FAIL, "correct url and secret_file under webhooks",
                       "%s", err.message);
        else if (!secret)
            doctor_add(doctor, name, HEALTH_FAIL,
                       "set the variable; without it a server does not "
                       "start",
                       "it has no secret: %s is not set", hook->secret_env ? hook->secret_env : "");
        else
            doctor_add(doctor, name, HEALTH_OK, NULL, "%s is told of %s%s, signed", hook->url,
                       hook->events.count ? hook->events.items[0] : "all events",
                       hook->events.count > 1 ? " and others" : "");
        secret_free(secret);
    }
}

static void check_people(struct doctor *doctor)
{
    const struct config *config = doctor->config;
    for (size_t i = 0; i < config->tier_count; i++) {
        const struct config_tier *tier = &config->tiers[i];
        char name[64];
        bool asked = false;
        if (tier->kind != CONFIG_TIER_REVIEW)
            continue;
        snprintf(name, sizeof name, "people of %.50s", tier->name);
        for (size_t r = 0; r < config->route_count && !asked; r++)
            asked = config_route_lists(&config->routes[r], tier->name);
        doctor_add(doctor, name, asked ? HEALTH_OK : HEALTH_WARN,
                   asked ? NULL : "add it as the last tier of a route",
                   asked ? "up to %u questions wait for them, %u minutes each; 'tandem review' "
                           "shows them"
                         : "no route asks them (up to %u questions, %u minutes)",
                   tier->review.queue_max, tier->review.sla_minutes);
    }
}

static void check_deferral(struct doctor *doctor)
{
    const struct config *config = doctor->config;
    const char *path = config->deferral.path;
    if (!deferral_setup_keeps(config)) {
        doctor_add(doctor, "deferral", HEALTH_OK, NULL,
                   "switched off: no question waits for a connection");
        return;
    }
    if (!config->state && ledger_is_file(path) && access(path, F_OK) == 0 &&
        access(path, R_OK | W_OK) != 0)
        doctor_add(doctor, "deferral", HEALTH_FAIL, "give the file to the user of the server",
                   "%s cannot be written", path);
    else
        doctor_add(doctor, "deferral", HEALTH_OK, NULL,
                   "up to %u questions wait for a connection, %s", config->deferral.count_max,
                   config->deferral.otherwise ? "of all requests" : "where a request asks for it");
}

/* Gate G4: who checks the answers, and whether there is somebody. */
static void check_verification(struct doctor *doctor)
{
    const struct config *config = doctor->config;
    for (size_t i = 0; i < config->route_count; i++) {
        const struct config_route *route = &config->routes[i];
        char name[64];
        if (route->g4.by == VERIFY_OFF)
            continue;
        const char *tier = route->g4.tier           ? route->g4.tier
                           : route->tiers.count > 1 ? route->tiers.items[1]
                                                    : NULL;
        snprintf(name, sizeof name, "checks of %.50s", route->name);
        if (!tier)
            doctor_add(doctor, name, HEALTH_FAIL, "add a tier, or name one with gates.g4.tier",
                       "gate G4 is on, but no tier is there to check an answer");
        else
            doctor_add(doctor, name, HEALTH_OK, NULL,
                       "%s checks answers with high stakes, and %g %% of the others", tier,
                       100 * route->g4.share);
    }
}

/* The configuration has seen to it that a model is named. */
static void check_similar(struct doctor *doctor)
{
    const struct config *config = doctor->config;
    struct td_error err = {0};
    char path[4096];
    if (!config->cache.similar)
        return;
    if (model_file_find(config->engine.embedding_model, config->models.dir, path, sizeof path,
                        &err) == TD_OK &&
        access(path, R_OK) == 0)
        doctor_add(doctor, "cache.similar", HEALTH_OK, NULL,
                   "an answer is given again to questions that are %g alike, by %s",
                   config->cache.similar_threshold, path);
    else
        doctor_add(doctor, "cache.similar", HEALTH_FAIL,
                   "name a model of embeddings with engine.embedding_model",
                   "only the same request gets an answer again: %s",
                   *err.message ? err.message : "its model cannot be read");
}

void doctor_check_kept(struct doctor *doctor)
{
    check_ledger(doctor);
    check_retention(doctor);
}

void doctor_check_services(struct doctor *doctor)
{
    check_webhooks(doctor);
    check_people(doctor);
    check_deferral(doctor);
    check_verification(doctor);
    check_similar(doctor);
}
