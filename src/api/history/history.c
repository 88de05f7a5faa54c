/* A table of records by id, and one of callers, each with a list of his records in the order of
 * use. One lock for all: what is done under it takes microseconds, because texts are shared and
 * never copied. */
#include "api/history/history.h"

#include "api/history/history_internal.h"
#include "api/history/history_shared.h"
#include "base/core/assertion.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "base/crypto/hash.h"

#include <pthread.h>
#include <stdlib.h>

#define BUCKETS 4096 /* a power of two; records are some ten thousands at most */
#define SWEEP_MS_MAX 60000
/* Of one record: above it nothing is added. They are walked under the lock. */
#define USERS_MAX 256

struct caller {
    struct caller *next; /* in its bucket */
    char *name;
    size_t bytes;
    uint32_t count;
    struct record *newest, *oldest; /* by their last use */
};

struct record {
    struct record *next; /* in its bucket */
    struct caller *caller;
    struct record *newer, *older; /* of the caller's */
    char id[HISTORY_ID_BYTES];
    char *tenant;
    char **users; /* [user_count]: whoever asked for a part of it */
    size_t user_count;
    double used_ms;
    size_t bytes;
    struct history_found kept;
};

struct history {
    pthread_mutex_t lock;
    struct history_limits limits;
    const struct clock *clock;
    size_t bytes;
    struct history_shared *shared; /* where nodes share a database; NULL elsewhere */
    struct record *records[BUCKETS];
    struct caller *callers[BUCKETS];
};

/* --- the tables --- */

struct history *history_new(const struct history_limits *limits, const struct clock *clock)
{
    ASSERT(limits);
    struct history *history = calloc(1, sizeof *history);
    if (!history)
        return NULL;
    pthread_mutex_init(&history->lock, NULL);
    history->limits = *limits;
    history->clock = clock;
    return history;
}

static size_t bucket_of(struct td_str name)
{
    return hash_mix64(hash_fnv1a64(name.data, name.len, HASH_FNV1A64_BASIS)) & (BUCKETS - 1);
}

static struct caller **find_caller_locked(struct history *history, const char *name)
{
    struct caller **at = &history->callers[bucket_of(str_from(name))];
    while (*at && strcmp((*at)->name, name) != 0)
        at = &(*at)->next;
    return at;
}

static struct record **find_locked(struct history *history, const char *caller, struct td_str id)
{
    struct record **at = &history->records[bucket_of(id)];
    while (*at && (!str_equal(str_from((*at)->id), id) ||
                   strcmp((*at)->caller->name, caller ? caller : "") != 0))
        at = &(*at)->next;
    return at;
}

static void unlink_use(struct record *record)
{
    struct caller *caller = record->caller;
    *(record->newer ? &record->newer->older : &caller->newest) = record->older;
    *(record->older ? &record->older->newer : &caller->oldest) = record->newer;
    record->newer = record->older = NULL;
}

static void link_use(struct record *record)
{
    struct caller *caller = record->caller;
    record->older = caller->newest;
    *(record->older ? &record->older->newer : &caller->oldest) = record;
    caller->newest = record;
}

static void use_locked(struct history *history, struct record *record)
{
    record->used_ms = clock_monotonic_ms(history->clock);
    unlink_use(record);
    link_use(record);
}

static void record_free(struct record *record)
{
    history_found_deinit(&record->kept);
    for (size_t i = 0; i < record->user_count; i++)
        free(record->users[i]);
    free(record->users);
    free(record->tenant);
    free(record);
}

static void drop_caller_locked(struct history *history, struct caller *caller)
{
    if (caller->count > 0)
        return;
    struct caller **at = find_caller_locked(history, caller->name);
    *at = caller->next;
    free(caller->name);
    free(caller);
}

static void drop_locked(struct history *history, struct record *record)
{
    struct record **at = &history->records[bucket_of(str_from(record->id))];
    while (*at != record)
        at = &(*at)->next;
    *at = record->next;
    unlink_use(record);
    record->caller->bytes -= record->bytes;
    record->caller->count--;
    history->bytes -= record->bytes;
    drop_caller_locked(history, record->caller);
    record_free(record);
}

void history_free(struct history *history)
{
    if (!history)
        return;
    history_shared_close(history->shared);
    for (size_t i = 0; i < BUCKETS; i++)
        while (history->records[i])
            drop_locked(history, history->records[i]);
    pthread_mutex_destroy(&history->lock);
    free(history);
}

static size_t bytes_of(const struct history_found *kept)
{
    size_t bytes = HISTORY_RECORD_BYTES + history_text_view(kept->body).len;
    for (size_t i = 0; i < kept->list_count; i++)
        bytes += HISTORY_LIST_BYTES + history_text_view(kept->lists[i]).len;
    return bytes;
}

/* --- limits --- */

/* Records that have not been used for long enough are at the ends of their callers' lists. Returns
 * the time until the next one is. */
static double sweep_locked(struct history *history)
{
    double now = clock_monotonic_ms(history->clock), wait = SWEEP_MS_MAX;
    for (size_t i = 0; i < BUCKETS; i++) {
        for (struct caller *caller = history->callers[i], *next; caller; caller = next) {
            next = caller->next;
            double left = 0;
            for (struct record *old = caller->oldest, *newer; old; old = newer) {
                newer = old->newer; /* NULL with the last one, with which the caller goes */
                left = old->used_ms + (double)history->limits.keep_ms - now;
                if (left > 0)
                    break;
                drop_locked(history, old);
            }
            wait = left > 0 && left < wait ? left : wait;
        }
    }
    return wait;
}

uint64_t history_sweep(struct history *history)
{
    pthread_mutex_lock(&history->lock);
    double wait = sweep_locked(history);
    pthread_mutex_unlock(&history->lock);
    return (uint64_t)wait + 1;
}

static struct caller *largest_locked(struct history *history)
{
    struct caller *largest = NULL;
    for (size_t i = 0; i < BUCKETS; i++)
        for (struct caller *caller = history->callers[i]; caller; caller = caller->next)
            if (!largest || caller->bytes > largest->bytes)
                largest = caller;
    return largest;
}

/* Makes room after `fresh` has grown. Of its caller's, it goes last. */
static void shrink_locked(struct history *history, struct record *fresh)
{
    const struct history_limits *limits = &history->limits;
    struct caller *own = fresh->caller;
    while (own->oldest != fresh &&
           (own->count > limits->caller_count_max || own->bytes > limits->caller_bytes_max))
        drop_locked(history, own->oldest);
    while (history->bytes > limits->bytes_max)
        drop_locked(history, largest_locked(history)->oldest);
}

/* Counts what the record has now. */
static void weigh_locked(struct history *history, struct record *record)
{
    size_t bytes = bytes_of(&record->kept);
    record->caller->bytes += bytes - record->bytes;
    history->bytes += bytes - record->bytes;
    record->bytes = bytes;
}

/* --- putting --- */

void history_class_raise(struct history_class *data_class, const struct history_class *by)
{
    if (by->declared > data_class->declared)
        data_class->declared = by->declared;
    if (by->seen > data_class->seen)
        data_class->seen = by->seen;
}

static bool same(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

static enum td_status add_user(struct record *record, const char *user)
{
    if (!user)
        return TD_OK;
    for (size_t i = 0; i < record->user_count; i++)
        if (strcmp(record->users[i], user) == 0)
            return TD_OK;
    if (record->user_count == USERS_MAX)
        return TD_LIMIT;
    char **more = realloc(record->users, (record->user_count + 1) * sizeof *more);
    if (!more)
        return TD_NO_MEMORY;
    record->users = more;
    more[record->user_count] = strdup(user);
    if (!more[record->user_count])
        return TD_NO_MEMORY;
    record->user_count++;
    return TD_OK;
}

/* Replaces what a record holds. False without memory: it is then as it was. */
static bool fill(struct record *record, const struct history_record *from)
{
    struct history_found kept = {.state = from->state,
                                 .background = from->background,
                                 .data_class = from->data_class,
                                 .body = history_text_hold(from->body)};
    if (from->previous)
        memcpy(kept.previous, from->previous, strnlen(from->previous, sizeof kept.previous - 1));
    kept.lists = calloc(from->list_count + 1, sizeof *kept.lists);
    if (!kept.lists || !from->body || add_user(record, from->owner.user) != TD_OK) {
        history_found_deinit(&kept);
        return false;
    }
    for (size_t i = 0; i < from->list_count; i++)
        if (from->lists[i])
            kept.lists[kept.list_count++] = history_text_hold(from->lists[i]);
    history_found_deinit(&record->kept);
    record->kept = kept;
    return true;
}

static struct caller *take_caller_locked(struct history *history, const char *name)
{
    struct caller **at = find_caller_locked(history, name);
    if (*at)
        return *at;
    struct caller *fresh = calloc(1, sizeof *fresh);
    if (!fresh || !(fresh->name = strdup(name))) {
        free(fresh);
        return NULL;
    }
    *at = fresh;
    return fresh;
}

static struct record *make_locked(struct history *history, const struct history_record *from)
{
    struct record *record = calloc(1, sizeof *record);
    struct caller *caller =
        take_caller_locked(history, from->owner.caller ? from->owner.caller : "");
    if (!record || !caller ||
        (from->owner.tenant && !(record->tenant = strdup(from->owner.tenant))) ||
        !fill(record, from)) {
        if (record)
            record_free(record);
        if (caller)
            drop_caller_locked(history, caller);
        return NULL;
    }
    memcpy(record->id, from->id, strnlen(from->id, sizeof record->id - 1));
    struct record **bucket = &history->records[bucket_of(str_from(record->id))];
    record->next = *bucket;
    *bucket = record;
    record->caller = caller;
    caller->count++;
    link_use(record);
    return record;
}

static enum td_status put_locked(struct history *history, const struct history_record *from,
                                 bool running)
{
    struct record *record = *find_locked(history, from->owner.caller, str_from(from->id));
    if (running && (!record || record->kept.state != HISTORY_RUNNING))
        return TD_NOT_FOUND;
    if (record && !fill(record, from))
        return TD_NO_MEMORY;
    if (!record && !(record = make_locked(history, from)))
        return TD_NO_MEMORY;
    weigh_locked(history, record);
    use_locked(history, record);
    if (record->bytes > history->limits.caller_bytes_max ||
        record->bytes > history->limits.bytes_max) {
        drop_locked(history, record);
        return TD_LIMIT;
    }
    shrink_locked(history, record);
    return TD_OK;
}

static enum td_status put_here(struct history *history, const struct history_record *record,
                               bool running)
{
    pthread_mutex_lock(&history->lock);
    enum td_status status = put_locked(history, record, running);
    pthread_mutex_unlock(&history->lock);
    return status;
}

static bool is_for_all(const struct history *history, const struct history_class *data_class)
{
    return history->shared && history_shared_may_have(data_class);
}

enum td_status history_put(struct history *history, const struct history_record *record)
{
    ASSERT(strlen(record->id) < HISTORY_ID_BYTES);
    return is_for_all(history, &record->data_class)
               ? history_shared_put(history->shared, record, false)
               : put_here(history, record, false);
}

/* One that is found to be restricted when it ends is not for all nodes any more. */
enum td_status history_finish(struct history *history, const struct history_record *record)
{
    const char *caller = record->owner.caller;
    bool shared = history->shared && history_shared_runs(history->shared, caller, record->id);
    if (shared && is_for_all(history, &record->data_class))
        return history_shared_put(history->shared, record, true);
    if (shared && !history_shared_drop_running(history->shared, caller, record->id))
        return TD_NOT_FOUND;
    return put_here(history, record, !shared);
}

static enum td_status append_locked(struct history *history, struct record *record,
                                    const char *user, struct history_class data_class,
                                    struct history_text *list)
{
    struct history_found *kept = &record->kept;
    if (kept->list_count >= HISTORY_LISTS_MAX)
        return TD_LIMIT;
    struct history_text **more = realloc(kept->lists, (kept->list_count + 1) * sizeof *more);
    if (!more)
        return TD_NO_MEMORY;
    kept->lists = more;
    enum td_status status = list ? add_user(record, user) : TD_NO_MEMORY;
    if (status != TD_OK)
        return status;
    more[kept->list_count++] = history_text_hold(list);
    history_class_raise(&kept->data_class, &data_class);
    weigh_locked(history, record);
    use_locked(history, record);
    if (record->bytes > history->limits.caller_bytes_max) {
        /* With a hole in it, it would be another conversation. */
        drop_locked(history, record);
        return TD_LIMIT;
    }
    shrink_locked(history, record);
    return TD_OK;
}

static enum td_status append_here(struct history *history, const struct history_record *from)
{
    pthread_mutex_lock(&history->lock);
    struct record *record = *find_locked(history, from->owner.caller, str_from(from->id));
    enum td_status status =
        record ? append_locked(history, record, from->owner.user, from->data_class, from->lists[0])
               : TD_NOT_FOUND;
    pthread_mutex_unlock(&history->lock);
    return status;
}

struct homecoming {
    struct history *history;
    const struct history_record *record;
};

static void add_user_here(void *ctx, const char *user)
{
    const struct homecoming *coming = ctx;
    struct history *history = coming->history;
    pthread_mutex_lock(&history->lock);
    struct record *record =
        *find_locked(history, coming->record->owner.caller, str_from(coming->record->id));
    if (record)
        (void)!add_user(record, user);
    pthread_mutex_unlock(&history->lock);
}

/* A conversation that gets what may be in no database is from now on in the memory of this node,
 * whole, and nowhere else. */
static enum td_status bring_home(struct history *history, const struct history_record *record)
{
    struct history_found found;
    struct homecoming coming = {history, record};
    const char *caller = record->owner.caller;
    if (!history_find(history, caller, str_from(record->id), &found))
        return TD_NOT_FOUND;
    struct history_record whole = *record;
    whole.state = found.state;
    whole.body = found.body;
    whole.lists = found.lists;
    whole.list_count = found.list_count;
    whole.previous = found.previous;
    history_class_raise(&whole.data_class, &found.data_class);
    enum td_status status = put_here(history, &whole, false);
    if (status == TD_OK &&
        !(history_shared_users(history->shared, caller, record->id, add_user_here, &coming) &&
          history_shared_remove(history->shared, caller, record->id))) {
        (void)history_remove(history, caller, record->id);
        status = TD_NOT_FOUND;
    }
    history_found_deinit(&found);
    return status;
}

enum td_status history_append(struct history *history, const struct history_record *record)
{
    ASSERT(record->list_count == 1);
    enum td_status status = append_here(history, record);
    if (status != TD_NOT_FOUND || !history->shared)
        return status;
    if (is_for_all(history, &record->data_class))
        return history_shared_append(history->shared, record);
    status = bring_home(history, record);
    return status == TD_OK ? append_here(history, record) : status;
}

static struct history_text **place_of(struct record *record, const struct history_text *before)
{
    if (!before)
        return &record->kept.body;
    for (size_t i = 0; i < record->kept.list_count; i++)
        if (record->kept.lists[i] == before)
            return &record->kept.lists[i];
    return NULL;
}

bool history_replace(struct history *history, const char *caller, const char *id,
                     const struct history_text *before, struct history_text *after)
{
    pthread_mutex_lock(&history->lock);
    struct record *record = *find_locked(history, caller, str_from(id));
    struct history_text **at = record && after ? place_of(record, before) : NULL;
    if (at) {
        history_text_free(*at);
        *at = history_text_hold(after);
        weigh_locked(history, record);
        use_locked(history, record);
        shrink_locked(history, record);
    }
    pthread_mutex_unlock(&history->lock);
    return at || (!record && after && history->shared &&
                  history_shared_replace(history->shared, caller, id, before, after));
}

/* --- finding --- */

static bool copy(const struct history_found *kept, struct history_found *out)
{
    *out = *kept;
    out->lists = calloc(kept->list_count + 1, sizeof *out->lists);
    if (!out->lists)
        return false;
    for (size_t i = 0; i < kept->list_count; i++)
        out->lists[i] = history_text_hold(kept->lists[i]);
    history_text_hold(out->body);
    return true;
}

static bool find_here(struct history *history, const char *caller, struct td_str id,
                      struct history_found *out)
{
    *out = (struct history_found){.state = HISTORY_DONE};
    pthread_mutex_lock(&history->lock);
    struct record *record = *find_locked(history, caller, id);
    if (record &&
        record->used_ms + (double)history->limits.keep_ms <= clock_monotonic_ms(history->clock)) {
        drop_locked(history, record);
        record = NULL;
    }
    bool found = record && copy(&record->kept, out);
    if (record)
        use_locked(history, record);
    pthread_mutex_unlock(&history->lock);
    if (!found)
        *out = (struct history_found){.state = HISTORY_DONE};
    return found;
}

static bool find_run(struct history *history, const char *caller, struct td_str id,
                     size_t count_max, struct history_run *out)
{
    out->count = find_here(history, caller, id, &out->found[0]) ? 1 : 0;
    if (out->count && id.len < HISTORY_ID_BYTES) {
        memcpy(out->ids[0], id.data, id.len);
        out->ids[0][id.len] = '\0';
    }
    return out->count ||
           (history->shared && history_shared_find(history->shared, caller, id, count_max, out));
}

bool history_find(struct history *history, const char *caller, struct td_str id,
                  struct history_found *out)
{
    struct history_run run;
    bool found = find_run(history, caller, id, 1, &run);
    *out = found ? run.found[0] : (struct history_found){.state = HISTORY_DONE};
    return found;
}

bool history_find_run(struct history *history, const char *caller, struct td_str id,
                      struct history_run *out)
{
    return find_run(history, caller, id, HISTORY_RUN_MAX, out);
}

bool history_runs(struct history *history, const char *caller, const char *id)
{
    pthread_mutex_lock(&history->lock);
    const struct record *record = *find_locked(history, caller, str_from(id));
    bool runs = record && record->kept.state == HISTORY_RUNNING;
    pthread_mutex_unlock(&history->lock);
    return runs || (history->shared && history_shared_runs(history->shared, caller, id));
}

bool history_cancel(struct history *history, const char *caller, const char *id,
                    struct history_text *body)
{
    pthread_mutex_lock(&history->lock);
    struct record *record = *find_locked(history, caller, str_from(id));
    bool runs = record && record->kept.state == HISTORY_RUNNING && body;
    if (runs) {
        history_text_free(record->kept.body);
        record->kept.body = history_text_hold(body);
        record->kept.state = HISTORY_CANCELLED;
        weigh_locked(history, record);
        use_locked(history, record);
        shrink_locked(history, record);
    }
    pthread_mutex_unlock(&history->lock);
    return runs || (!record && body && history->shared &&
                    history_shared_cancel(history->shared, caller, id, body));
}

bool history_remove(struct history *history, const char *caller, const char *id)
{
    pthread_mutex_lock(&history->lock);
    struct record *record = *find_locked(history, caller, str_from(id));
    if (record)
        drop_locked(history, record);
    pthread_mutex_unlock(&history->lock);
    return record || (history->shared && history_shared_remove(history->shared, caller, id));
}

static bool is_of(const struct record *record, const char *tenant, const char *user)
{
    if (tenant && !same(record->tenant, tenant))
        return false;
    for (size_t i = 0; i < record->user_count; i++)
        if (same(record->users[i], user))
            return true;
    return false;
}

enum td_status history_forget(struct history *history, const char *tenant, const char *user,
                              uint64_t *count, struct td_error *err)
{
    uint64_t here = 0;
    *count = 0;
    pthread_mutex_lock(&history->lock);
    for (size_t i = 0; i < BUCKETS; i++) {
        for (struct record *record = history->records[i], *next; record; record = next) {
            next = record->next;
            if (!is_of(record, tenant, user))
                continue;
            drop_locked(history, record);
            here++;
        }
    }
    pthread_mutex_unlock(&history->lock);
    enum td_status status =
        history->shared ? history_shared_forget(history->shared, tenant, user, count, err) : TD_OK;
    *count += here;
    return status;
}

/* --- with other nodes --- */

enum td_status history_share(struct history *history, const struct history_share *share,
                             struct td_error *err)
{
    return history_shared_open(share, &history->limits, &history->shared, err);
}

bool history_is_away(const struct history *history)
{
    return history && history->shared && history_shared_is_away(history->shared);
}

struct history_wait *history_wait(struct history *history, struct loop *loop, void (*fn)(void *ctx),
                                  void *ctx)
{
    return history && history->shared ? history_shared_wait(history->shared, loop, fn, ctx) : NULL;
}
