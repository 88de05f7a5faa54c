/* SQLite says by a counter in memory that is shared between processes whether somebody else has
 * committed (PRAGMA data_version): looking costs some microseconds and reads no page. The file may
 * come later, when the first key is made, and it may be another one after a backup was put back. A
 * store that vanishes or cannot be read changes nothing: the keys of before stay, because no fault
 * of a disk may open or shut the door. A key that nobody knows may have been made just now, so the
 * counter is looked at before it is refused, too.
 *
 * A store that nodes share has a number that grows with each change of keys. A node keeps a copy of
 * it on its disk, with marks of keys like the store, so that it knows them when it starts while the
 * database is away. Without a copy it does not start then: nobody could be let in, or everybody. */
#include "app/setup/process/key_keeper.h"

#include "api/http/auth.h"
#include "app/setup/files/key_file.h"
#include "app/setup/files/state_file.h"
#include "base/core/error.h"
#include "base/thread/periodic.h"
#include "base/time/clock.h"
#include "base/time/log.h"
#include "exchange/limits/meter.h"
#include "exchange/limits/spending.h"
#include "exchange/private/consents.h"
#include "ledger/store/key_store.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define LOOK_MS 250
#define REREAD_MS 5
#define LOOKS_A_SAVE 4    /* sums of what was spent: every second */
#define LOOKS_A_COUNT 8   /* of nodes */
#define LOOKS_A_TOUCH 120 /* when keys were used last: every half minute */
#define AT_A_TIME 512
#define START_MS 10000 /* without a copy a start waits for the database */
#define COPY_FILE "keys-copy.db"

struct key_keeper {
    char path[STATE_PATH_BYTES]; /* of the file, or the database's URL */
    char copy[STATE_PATH_BYTES];
    bool shared;
    struct auth *auth;
    struct meters *meters;
    struct spending *spending; /* of budgets of the configuration */
    struct consents *consents;
    struct key_store *store; /* NULL = there is none yet */
    dev_t device;            /* of the open file */
    ino_t inode;
    int64_t version;
    uint64_t looks;
    uint32_t nodes; /* that are there */
    bool restored;  /* what was spent before the start */
    bool failed;    /* as the log has it */
    /* Whoever has it uses the store. A request that shows an unknown key waits no longer than
     * REREAD_MS for it. */
    pthread_mutex_t at_work;
    struct periodic thread;
};

/* --- reading --- */

static bool is_other_file(const struct key_keeper *keeper, const struct stat *info)
{
    return keeper->store && (info->st_dev != keeper->device || info->st_ino != keeper->inode);
}

static void restore(void *ctx, const struct key_spent *spent)
{
    meters_restore(ctx, spent);
}

static enum td_status open_store(struct key_keeper *keeper, const struct stat *info,
                                 struct td_error *err)
{
    char day[11], month[11];
    key_store_close(keeper->store);
    keeper->store = NULL;
    keeper->version = -1;
    enum td_status status = key_store_open(keeper->path, false, &keeper->store, err);
    if (status != TD_OK)
        return status;
    keeper->device = info->st_dev;
    keeper->inode = info->st_ino;
    keeper->version = key_store_version(keeper->store);
    status = auth_load(keeper->auth, keeper->store, keeper->meters, err);
    if (status != TD_OK || keeper->restored)
        return status;
    meters_periods(keeper->meters, day, month);
    status = key_store_spent(keeper->store, day, month, restore, keeper->meters, err);
    keeper->restored = status == TD_OK;
    return status;
}

/* --- a store that nodes share --- */

/* A copy that cannot be written is told, and stops nobody. */
static void keep_copy(struct key_keeper *keeper)
{
    struct td_error err = {0};
    struct key_store *copy;
    enum td_status status = key_store_open(keeper->copy, true, &copy, &err);
    if (status == TD_OK) {
        status = key_store_copy(keeper->store, copy, &err);
        key_store_close(copy);
    }
    if (status != TD_OK)
        log_event(LOG_LEVEL_WARN, "keys_not_copied", "file=%s reason=\"%s\"", keeper->copy,
                  err.message);
}

/* 'b': a budget of the configuration. */
static void restore_apart(void *ctx, const struct key_spent *spent)
{
    const struct key_keeper *keeper = ctx;
    struct key_spent own = *spent;
    own.usd = spent->own_usd;
    own.tokens = spent->own_tokens;
    if (*spent->whom == 'b') {
        spending_hear(keeper->spending, spent, true);
        return;
    }
    meters_restore(keeper->meters, &own);
    meters_hear(keeper->meters, spent);
}

static void hear(void *ctx, const struct key_spent *spent)
{
    const struct key_keeper *keeper = ctx;
    if (*spent->whom == 'b')
        spending_hear(keeper->spending, spent, false);
    else
        meters_hear(keeper->meters, spent);
}

/* Among how many a budget is shared. */
static enum td_status count_nodes(struct key_keeper *keeper, const char *day, struct td_error *err)
{
    enum td_status status = key_store_count_nodes(keeper->store, day, &keeper->nodes, err);
    if (status == TD_OK)
        spending_set_nodes(keeper->spending, keeper->nodes);
    if (status == TD_OK && keeper->looks % LOOKS_A_TOUCH == 0)
        status = key_store_end_days(keeper->store, day, err);
    return status;
}

/* What nodes have spent: at first all of it, and later what was changed. */
static enum td_status read_spent(struct key_keeper *keeper, struct td_error *err)
{
    char day[11], month[11];
    bool first = !keeper->restored;
    meters_periods(keeper->meters, day, month);
    enum td_status status = key_store_spent_apart(keeper->store, day, month, first,
                                                  first ? restore_apart : hear, keeper, err);
    if (status == TD_OK && (first || keeper->looks % LOOKS_A_COUNT == 0))
        status = count_nodes(keeper, day, err);
    keeper->restored |= status == TD_OK;
    if (status == TD_OK)
        meters_heard(keeper->meters);
    return status;
}

static enum td_status look_at_shared(struct key_keeper *keeper, struct td_error *err)
{
    enum td_status status = TD_OK;
    if (!keeper->store)
        status = key_store_open(keeper->path, true, &keeper->store, err);
    if (status != TD_OK)
        return status;
    int64_t version = key_store_version(keeper->store);
    if (version == keeper->version && version >= 0 && keeper->restored)
        return TD_OK;
    status = auth_load(keeper->auth, keeper->store, keeper->meters, err);
    if (status == TD_OK && !keeper->restored)
        status = read_spent(keeper, err);
    if (status != TD_OK)
        return status;
    log_event(LOG_LEVEL_INFO, keeper->version < 0 ? "keys_loaded" : "keys_changed", "file=%s",
              keeper->path);
    keeper->version = version;
    keep_copy(keeper);
    return TD_OK;
}

/* At the start: the copy stands in for a database that is away. */
static enum td_status load_copy(struct key_keeper *keeper, struct td_error *err)
{
    struct key_store *copy;
    struct td_error why = {0};
    if (key_store_open(keeper->copy, false, &copy, &why) != TD_OK)
        return err->status;
    enum td_status status = auth_load(keeper->auth, copy, keeper->meters, &why);
    key_store_close(copy);
    if (status != TD_OK)
        return err->status;
    log_event(LOG_LEVEL_WARN, "keys_from_copy", "file=%s reason=\"%s\"", keeper->copy,
              err->message);
    keeper->failed = true; /* keys_recovered comes with the database */
    return TD_OK;
}

/* What others have changed since the last look. */
static enum td_status look(struct key_keeper *keeper, struct td_error *err)
{
    struct stat info;
    if (keeper->shared)
        return look_at_shared(keeper, err);
    if (stat(keeper->path, &info) != 0)
        return keeper->store ? error_set(err, TD_IO, "%s: %s", keeper->path, strerror(errno))
                             : TD_OK;
    if (!keeper->store || is_other_file(keeper, &info)) {
        enum td_status status = open_store(keeper, &info, err);
        if (status == TD_OK)
            log_event(LOG_LEVEL_INFO, "keys_loaded", "file=%s", keeper->path);
        return status;
    }
    int64_t version = key_store_version(keeper->store);
    if (version == keeper->version)
        return TD_OK;
    enum td_status status = auth_load(keeper->auth, keeper->store, keeper->meters, err);
    if (status == TD_OK) { /* after a failure it is tried again */
        keeper->version = version;
        log_event(LOG_LEVEL_INFO, "keys_changed", "file=%s", keeper->path);
    }
    return status;
}

/* --- writing --- */

static enum td_status save_budgets(struct key_keeper *keeper, struct td_error *err)
{
    struct key_spent spent[AT_A_TIME];
    size_t count = AT_A_TIME;
    while (count == AT_A_TIME) {
        count = spending_take(keeper->spending, spent, AT_A_TIME);
        enum td_status status = count ? key_store_spend(keeper->store, spent, count, err) : TD_OK;
        if (status != TD_OK) {
            spending_give_back(keeper->spending, spent, count);
            return status;
        }
    }
    return TD_OK;
}

static enum td_status save_spent(struct key_keeper *keeper, struct td_error *err)
{
    struct key_spent spent[AT_A_TIME];
    size_t count = AT_A_TIME;
    while (count == AT_A_TIME) {
        count = meters_take(keeper->meters, spent, AT_A_TIME);
        enum td_status status = count ? key_store_spend(keeper->store, spent, count, err) : TD_OK;
        if (status != TD_OK) {
            meters_give_back(keeper->meters, spent, count);
            return status;
        }
    }
    return keeper->shared ? save_budgets(keeper, err) : TD_OK;
}

static enum td_status save_used(struct key_keeper *keeper, struct td_error *err)
{
    char ids[AT_A_TIME][STORED_KEY_ID_BYTES];
    size_t count = AT_A_TIME;
    enum td_status status = TD_OK;
    while (count == AT_A_TIME && status == TD_OK) {
        count = auth_take_used(keeper->auth, ids, AT_A_TIME);
        if (count)
            status =
                key_store_touch(keeper->store, (const char(*)[STORED_KEY_ID_BYTES])ids, count, err);
    }
    return status;
}

static void tend_locked(struct key_keeper *keeper, bool last)
{
    struct td_error err = {0};
    enum td_status status = look(keeper, &err);
    keeper->looks++;
    if (keeper->shared && status == TD_OK)
        status = consents_refresh(keeper->consents, &err);
    if (keeper->store && status == TD_OK && (last || keeper->looks % LOOKS_A_SAVE == 0))
        status = save_spent(keeper, &err);
    if (keeper->shared && status == TD_OK && !last && keeper->looks % LOOKS_A_SAVE == 0)
        status = read_spent(keeper, &err);
    if (keeper->shared && keeper->looks % LOOKS_A_SAVE == 0)
        meters_settle(keeper->meters);
    if (keeper->store && status == TD_OK && (last || keeper->looks % LOOKS_A_TOUCH == 0))
        status = save_used(keeper, &err);
    bool failed = status != TD_OK;
    if (keeper->shared && failed != keeper->failed)
        log_event(failed ? LOG_LEVEL_WARN : LOG_LEVEL_INFO,
                  failed ? "budgets_alone" : "budgets_together", "nodes=%u", keeper->nodes);
    if (failed && !keeper->failed)
        log_event(LOG_LEVEL_ERROR, "keys_failed", "kept=old reason=\"%s\"", err.message);
    else if (!failed && keeper->failed)
        log_event(LOG_LEVEL_INFO, "keys_recovered", "file=%s", keeper->path);
    keeper->failed = failed;
}

static void tend(struct key_keeper *keeper, bool last)
{
    pthread_mutex_lock(&keeper->at_work);
    tend_locked(keeper, last);
    pthread_mutex_unlock(&keeper->at_work);
}

/* For auth_on_unknown. A fault is told by the thread's own look. */
static void look_early(void *ctx)
{
    struct key_keeper *keeper = ctx;
    const struct timespec until = clock_deadline(REREAD_MS);
    if (pthread_mutex_clocklock(&keeper->at_work, CLOCK_MONOTONIC, &until) != 0)
        return;
    (void)!look(keeper, &(struct td_error){0});
    pthread_mutex_unlock(&keeper->at_work);
}

/* A busy machine may take a while to let us into its database. */
static enum td_status first_look(struct key_keeper *keeper, struct td_error *err)
{
    const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000};
    double until_ms = clock_monotonic_ms(NULL) + START_MS;
    struct td_error why = {0};
    enum td_status status = look(keeper, &why);
    while (status == TD_UNAVAILABLE && keeper->shared) {
        if ((status = load_copy(keeper, &why)) == TD_OK || clock_monotonic_ms(NULL) > until_ms)
            break;
        nanosleep(&pause, NULL);
        why = (struct td_error){0};
        status = look(keeper, &why);
    }
    return status == TD_OK ? TD_OK : error_set(err, status, "%s", why.message);
}

/* --- the thread --- */

static void *run(void *ctx)
{
    struct key_keeper *keeper = ctx;
    while (!periodic_pause(&keeper->thread, LOOK_MS))
        tend(keeper, false);
    return NULL;
}

static void keeper_free(struct key_keeper *keeper)
{
    key_store_close(keeper->store);
    pthread_mutex_destroy(&keeper->at_work);
    free(keeper);
}

enum td_status key_keeper_start(struct runtime *runtime, struct auth *auth, struct key_keeper **out,
                                struct td_error *err)
{
    const struct config *config = runtime_config(runtime);
    struct key_keeper *keeper = NULL;
    *out = NULL;
    if (!config->state_dir)
        return TD_OK;
    if (!(keeper = calloc(1, sizeof *keeper)))
        return error_set(err, TD_NO_MEMORY, "no memory for the keys");
    keeper->auth = auth;
    keeper->meters = runtime_meters(runtime);
    keeper->spending = runtime_spending(runtime);
    keeper->consents = runtime_consents(runtime);
    periodic_init(&keeper->thread);
    pthread_mutex_init(&keeper->at_work, NULL);
    keeper->shared = config->state != NULL;
    keeper->version = -1;
    enum td_status status = key_file_name(config, keeper->path, sizeof keeper->path, err);
    if (status == TD_OK)
        status = state_file_path(config, COPY_FILE, keeper->copy, err);
    if (status == TD_OK)
        status = first_look(keeper, err);
    if (status == TD_OK && !periodic_start(&keeper->thread, run, keeper))
        status = error_set(err, TD_NO_MEMORY, "no thread for the keys");
    if (status != TD_OK) {
        periodic_end(&keeper->thread);
        keeper_free(keeper);
        return status;
    }
    if (!keeper->shared) /* a database may be far away */
        auth_on_unknown(auth, look_early, keeper);
    *out = keeper;
    return TD_OK;
}

void key_keeper_stop(struct key_keeper *keeper)
{
    if (!keeper)
        return;
    auth_on_unknown(keeper->auth, NULL, NULL);
    periodic_end(&keeper->thread);
    tend(keeper, true);
    keeper_free(keeper);
}
