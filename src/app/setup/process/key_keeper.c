/* SQLite says by a counter in memory that is shared between processes whether somebody else has
 * committed (PRAGMA data_version): looking costs some microseconds and reads no page. The file may
 * come later, when the first key is made, and it may be another one after a backup was put back. A
 * store that vanishes or cannot be read changes nothing: the keys of before stay, because no fault
 * of a disk may open or shut the door. */
#include "app/setup/process/key_keeper.h"

#include "api/http/auth.h"
#include "app/setup/files/state_file.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "exchange/limits/meter.h"
#include "ledger/key_store.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LOOK_MS 250
#define LOOKS_A_SAVE 4    /* sums of what was spent: every second */
#define LOOKS_A_TOUCH 120 /* when keys were used last: every half minute */
#define AT_A_TIME 512

struct key_keeper {
    char path[STATE_PATH_BYTES];
    struct auth *auth;
    struct meters *meters;
    struct key_store *store; /* NULL = there is none yet */
    dev_t device;            /* of the open file */
    ino_t inode;
    int64_t version;
    uint64_t looks;
    bool restored; /* what was spent before the start */
    bool failed;   /* as the log has it */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool stop;
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

/* What others have changed since the last look. */
static enum td_status look(struct key_keeper *keeper, struct td_error *err)
{
    struct stat info;
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
    return TD_OK;
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

static void tend(struct key_keeper *keeper, bool last)
{
    struct td_error err = {0};
    enum td_status status = look(keeper, &err);
    keeper->looks++;
    if (keeper->store && status == TD_OK && (last || keeper->looks % LOOKS_A_SAVE == 0))
        status = save_spent(keeper, &err);
    if (keeper->store && status == TD_OK && (last || keeper->looks % LOOKS_A_TOUCH == 0))
        status = save_used(keeper, &err);
    bool failed = status != TD_OK;
    if (failed && !keeper->failed)
        log_event(LOG_LEVEL_ERROR, "keys_failed", "kept=old reason=\"%s\"", err.message);
    else if (!failed && keeper->failed)
        log_event(LOG_LEVEL_INFO, "keys_recovered", "file=%s", keeper->path);
    keeper->failed = failed;
}

/* --- the thread --- */

static void *run(void *ctx)
{
    struct key_keeper *keeper = ctx;
    pthread_mutex_lock(&keeper->lock);
    while (!keeper->stop) {
        const struct timespec until = clock_deadline(LOOK_MS);
        pthread_cond_timedwait(&keeper->wake, &keeper->lock, &until);
        pthread_mutex_unlock(&keeper->lock);
        tend(keeper, false);
        pthread_mutex_lock(&keeper->lock);
    }
    pthread_mutex_unlock(&keeper->lock);
    return NULL;
}

static void keeper_free(struct key_keeper *keeper)
{
    key_store_close(keeper->store);
    pthread_mutex_destroy(&keeper->lock);
    pthread_cond_destroy(&keeper->wake);
    free(keeper);
}

enum td_status key_keeper_start(const struct config *config, struct auth *auth,
                                struct meters *meters, struct key_keeper **out,
                                struct td_error *err)
{
    struct key_keeper *keeper = NULL;
    pthread_condattr_t monotonic;
    *out = NULL;
    if (!config->state_dir)
        return TD_OK;
    if (!(keeper = calloc(1, sizeof *keeper)))
        return error_set(err, TD_NO_MEMORY, "no memory for the keys");
    keeper->auth = auth;
    keeper->meters = meters;
    pthread_mutex_init(&keeper->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&keeper->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    enum td_status status = state_file_path(config, KEY_STORE_FILE, keeper->path, err);
    if (status == TD_OK)
        status = look(keeper, err);
    if (status == TD_OK && pthread_create(&keeper->thread, NULL, run, keeper) != 0)
        status = error_set(err, TD_NO_MEMORY, "no thread for the keys");
    if (status == TD_OK)
        *out = keeper;
    else
        keeper_free(keeper);
    return status;
}

void key_keeper_stop(struct key_keeper *keeper)
{
    if (!keeper)
        return;
    pthread_mutex_lock(&keeper->lock);
    keeper->stop = true;
    pthread_cond_signal(&keeper->wake);
    pthread_mutex_unlock(&keeper->lock);
    pthread_join(keeper->thread, NULL);
    tend(keeper, true);
    keeper_free(keeper);
}
