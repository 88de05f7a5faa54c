#include "app/setup/credentials/credential_keeper.h"

#include "base/core/error.h"
#include "base/core/str.h"
#include "base/time/clock.h"
#include "base/time/log.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* After a failure. */
#define AGAIN_MS 10000

struct kept {
    struct kept *next;
    struct secret *text;
    struct credential_source source; /* of copies that it owns */
    char *words[CREDENTIAL_WORDS_MAX + 1], *file;
    char tier[64];
    uint64_t renew_wall_ms; /* 0 = never */
    bool busy;              /* the thread fetches it */
    bool dropped;           /* meanwhile */
    bool failing;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
static struct kept *all;
static bool running;

static void kept_free(struct kept *kept)
{
    for (size_t i = 0; i < CREDENTIAL_WORDS_MAX; i++)
        free(kept->words[i]);
    free(kept->file);
    secret_free(kept->text);
    free(kept);
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_source(const struct credential_source *a, const struct credential_source *b)
{
    size_t i = 0;
    if (a->kind != b->kind || !same_text(a->file, b->file) || !a->words != !b->words)
        return false;
    while (a->words && a->words[i] && same_text(a->words[i], b->words[i]))
        i++;
    return !a->words || same_text(a->words[i], b->words[i]);
}

static struct kept *kept_new(const char *tier, const struct credential_source *source)
{
    struct kept *kept = calloc(1, sizeof *kept);
    if (!kept)
        return NULL;
    bool ok = true;
    snprintf(kept->tier, sizeof kept->tier, "%s", tier);
    kept->source.kind = source->kind;
    for (size_t i = 0; source->words && source->words[i] && i < CREDENTIAL_WORDS_MAX; i++)
        ok &= (kept->words[i] = strdup(source->words[i])) != NULL;
    if (source->words)
        kept->source.words = (const char *const *)kept->words;
    if (source->file)
        ok &= (kept->file = strdup(source->file)) != NULL;
    kept->source.file = kept->file;
    if (ok)
        return kept;
    kept_free(kept);
    return NULL;
}

/* --- the thread --- */

/* The one that is to be fetched first. */
static struct kept *first_locked(void)
{
    struct kept *first = NULL;
    for (struct kept *kept = all; kept; kept = kept->next)
        if (kept->renew_wall_ms && (!first || kept->renew_wall_ms < first->renew_wall_ms))
            first = kept;
    return first;
}

static void take_locked(struct kept *kept, enum td_status status, struct credential *fresh,
                        const struct td_error *err)
{
    uint64_t now_ms = clock_wall_ms(NULL);
    bool ok =
        status == TD_OK && fresh->text && secret_replace(kept->text, secret_reveal(fresh->text));
    if (ok && kept->failing)
        log_event(LOG_LEVEL_INFO, "credentials_back", "tier=%s", kept->tier);
    if (!ok && !kept->failing)
        log_event(LOG_LEVEL_WARN, "credentials_not_renewed", "tier=%s kept=old reason=\"%s\"",
                  kept->tier, *err->message ? err->message : "there are none any more");
    kept->failing = !ok;
    kept->renew_wall_ms = ok ? fresh->renew_wall_ms : now_ms + AGAIN_MS;
    secret_free(fresh->text);
}

static void renew_locked(struct kept *kept)
{
    struct credential fresh = {.text = NULL};
    struct td_error err = {0};
    kept->busy = true;
    pthread_mutex_unlock(&lock);
    enum td_status status = credential_fetch(&kept->source, &fresh, &err);
    pthread_mutex_lock(&lock);
    kept->busy = false;
    if (kept->dropped) {
        secret_free(fresh.text);
        kept_free(kept);
    } else {
        take_locked(kept, status, &fresh, &err);
    }
}

static void *renew_all(void *ctx)
{
    (void)ctx;
    pthread_mutex_lock(&lock);
    for (;;) {
        struct kept *first = first_locked();
        uint64_t now_ms = clock_wall_ms(NULL);
        if (first && first->renew_wall_ms <= now_ms) {
            renew_locked(first);
            continue;
        }
        if (!first) {
            pthread_cond_wait(&wake, &lock);
            continue;
        }
        struct timespec until = {.tv_sec = (time_t)(first->renew_wall_ms / 1000) + 1};
        pthread_cond_timedwait(&wake, &lock, &until);
    }
    return NULL;
}

static bool start_locked(void)
{
    pthread_t thread;
    if (!running && pthread_create(&thread, NULL, renew_all, NULL) == 0) {
        pthread_detach(thread);
        running = true;
    }
    pthread_cond_signal(&wake);
    return running;
}

/* --- what callers have --- */

/* What another tier, or the snapshot of before, has of the same source. */
static bool borrow_locked(struct kept *fresh)
{
    for (struct kept *kept = all; kept; kept = kept->next)
        if (same_source(&kept->source, &fresh->source) && secret_reveal(kept->text).len > 0) {
            fresh->renew_wall_ms = kept->renew_wall_ms;
            fresh->text = secret_new(secret_reveal(kept->text));
            return fresh->text != NULL;
        }
    return false;
}

static enum td_status fill(struct kept *kept, struct td_error *missing, struct td_error *err)
{
    struct credential credential;
    enum td_status status = credential_fetch(&kept->source, &credential, missing);
    kept->text = credential.text;
    kept->renew_wall_ms = credential.renew_wall_ms;
    if (status == TD_OK)
        return TD_OK;
    missing->status = status;
    log_event(LOG_LEVEL_WARN, "credentials_missing", "tier=%s reason=\"%s\"", kept->tier,
              missing->message);
    kept->failing = true;
    kept->renew_wall_ms = clock_wall_ms(NULL) + AGAIN_MS;
    kept->text = secret_new(STR(""));
    return kept->text ? TD_OK : error_set(err, TD_NO_MEMORY, "no memory for a key");
}

enum td_status credential_keeper_take(const char *tier, const struct credential_source *source,
                                      struct secret **out, struct td_error *missing,
                                      struct td_error *err)
{
    struct kept *kept = kept_new(tier, source);
    enum td_status status = TD_OK;
    *out = NULL;
    if (!kept)
        return error_set(err, TD_NO_MEMORY, "no memory for a key");
    pthread_mutex_lock(&lock);
    bool borrowed = borrow_locked(kept);
    pthread_mutex_unlock(&lock);
    if (!borrowed)
        status = fill(kept, missing, err);
    if (status != TD_OK || !kept->text) {
        kept_free(kept);
        return status;
    }
    pthread_mutex_lock(&lock);
    kept->next = all;
    all = kept;
    *out = kept->text;
    if (kept->renew_wall_ms && !start_locked())
        log_event(LOG_LEVEL_WARN, "credentials_not_renewed",
                  "tier=%s kept=old reason=\"no thread for it\"", kept->tier);
    pthread_mutex_unlock(&lock);
    return TD_OK;
}

bool credential_keeper_drop(struct secret *secret)
{
    bool found = false;
    pthread_mutex_lock(&lock);
    for (struct kept **at = &all; *at && !found; at = &(*at)->next) {
        struct kept *kept = *at;
        if (kept->text != secret)
            continue;
        *at = kept->next;
        found = true;
        if (kept->busy)
            kept->dropped = true;
        else
            kept_free(kept);
        break;
    }
    pthread_mutex_unlock(&lock);
    return found;
}
