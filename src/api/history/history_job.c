/* Texts are shared and not copied; names are copied, because they are a request's, which ends. */
#include "api/history/history_job.h"

#include "api/history/history_internal.h"
#include "base/crypto/crypto.h"
#include "base/time/log.h"

#include <stdlib.h>
#include <string.h>

void history_job_free(struct history_job *job)
{
    history_text_free(job->record.body);
    for (size_t i = 0; i < HISTORY_LISTS_OF_RESPONSE; i++)
        history_text_free(job->lists[i]);
    free((char *)(uintptr_t)job->record.id);
    free((char *)(uintptr_t)job->record.owner.caller);
    free((char *)(uintptr_t)job->record.owner.tenant);
    free((char *)(uintptr_t)job->record.owner.user);
    free((char *)(uintptr_t)job->record.previous);
    free(job);
}

static bool copy_text(const char *from, const char **to)
{
    *to = from ? strdup(from) : NULL;
    return !from || *to;
}

struct history_job *history_job_new(enum history_job_kind kind, const struct history_record *from)
{
    struct history_job *job = calloc(1, sizeof *job);
    uint8_t mark[(HISTORY_MARK_BYTES - 1) / 2];
    if (!job)
        return NULL;
    job->kind = kind;
    job->bytes = HISTORY_RECORD_BYTES + history_text_view(from->body).len;
    job->record = *from;
    job->record.body = history_text_hold(from->body);
    job->record.lists = job->lists;
    job->record.list_count = 0;
    for (size_t i = 0; i < from->list_count && i < HISTORY_LISTS_OF_RESPONSE; i++) {
        job->lists[i] = history_text_hold(from->lists[i]);
        job->bytes += history_text_view(from->lists[i]).len;
        job->record.list_count = i + 1;
    }
    bool ok = copy_text(from->id, &job->record.id);
    ok = copy_text(from->owner.caller, &job->record.owner.caller) && ok;
    ok = copy_text(from->owner.tenant, &job->record.owner.tenant) && ok;
    ok = copy_text(from->owner.user, &job->record.owner.user) && ok;
    ok = copy_text(from->previous, &job->record.previous) && ok;
    if (!ok || crypto_random(mark, sizeof mark, NULL) != TD_OK) {
        history_job_free(job);
        return NULL;
    }
    crypto_hex(mark, sizeof mark, job->mark);
    return job;
}

void history_jobs_free(struct history_job *first)
{
    while (first) {
        struct history_job *next = first->next;
        history_job_free(first);
        first = next;
    }
}

void history_job_say_dropped(const struct history_job *job, const char *reason)
{
    log_event(LOG_LEVEL_WARN, "response_not_kept", "response=%s bytes=%zu reason=\"%s\"",
              job->record.id, job->bytes, reason);
}
