/* Files can be taken away under a server that runs: a disk fills, somebody cleans up a folder. An
 * exchange must not wait for a look at the disk, so a thread looks once a second and keeps what it
 * saw. That a write has failed is known from the write itself. */
#include "app/setup/process/storage.h"

#include "app/setup/files/state_file.h"
#include "app/setup/files/state_lock.h"
#include "base/bytes/path.h"
#include "base/core/error.h"
#include "base/time/log.h"
#include "ledger/egress/egress_log.h"
#include "ledger/record/ledger.h"
#include "privacy/scan/class_file.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>

/* Less than this is gone with the next few exchanges. */
#define FREE_BYTES_MIN (1u << 20)

struct storage {
    struct state_lock *folder, *vaults; /* or NULL */
    char state_dir[STATE_PATH_BYTES];   /* "" = there is none */
    struct ledger *_Atomic ledger;      /* what is looked at; or NULL */
    struct egress_log *_Atomic egress;
    struct class_file *_Atomic classes;
    const char *_Atomic fault;
};

/* --- the owner --- */

static enum td_status take_folder(struct storage *storage, const struct config *config,
                                  uint32_t wait_ms, struct td_error *err)
{
    char path[STATE_PATH_BYTES], what[STATE_PATH_BYTES + 32];
    if (!config->state_dir)
        return TD_OK;
    enum td_status status = state_file_path(config, "server.lock", path, err);
    snprintf(storage->state_dir, sizeof storage->state_dir, "%s", config->state_dir);
    snprintf(what, sizeof what, "the state folder %s", config->state_dir);
    const struct state_lock_options options = {
        .path = path,
        .what = what,
        .instead = "give this server a folder of its own with TANDEM_STATE_DIR",
        .wait_ms = wait_ms,
    };
    return status == TD_OK ? state_lock_take(&options, &storage->folder, err) : status;
}

/* It may lie outside of the state folder, where a server with another folder names it, too. */
static enum td_status take_vaults(struct storage *storage, const struct config *config,
                                  uint32_t wait_ms, struct td_error *err)
{
    char path[STATE_PATH_BYTES], what[STATE_PATH_BYTES + 32];
    const char *file = config->privacy.pseudonyms.vault_file;
    if (!file)
        return TD_OK;
    enum td_status status = path_format(path, sizeof path, err, "%s.lock", file);
    snprintf(what, sizeof what, "the file of vaults %s", file);
    const struct state_lock_options options = {
        .path = path,
        .what = what,
        .instead = "name another file in privacy.pseudonyms.vault.file",
        .wait_ms = wait_ms,
    };
    return status == TD_OK ? state_lock_take(&options, &storage->vaults, err) : status;
}

enum td_status storage_open(const struct config *config, uint32_t wait_ms, struct storage **out,
                            struct td_error *err)
{
    *out = NULL;
    struct storage *storage = calloc(1, sizeof *storage);
    if (!storage)
        return error_set(err, TD_NO_MEMORY, "no memory to start");
    enum td_status status = take_folder(storage, config, wait_ms, err);
    if (status == TD_OK)
        status = take_vaults(storage, config, wait_ms, err);
    if (status == TD_OK)
        *out = storage;
    else
        storage_close(storage);
    return status;
}

void storage_close(struct storage *storage)
{
    if (!storage)
        return;
    state_lock_release(storage->vaults);
    state_lock_release(storage->folder);
    free(storage);
}

void storage_tell_address(struct storage *storage, const char *address)
{
    if (storage->folder)
        state_lock_tell(storage->folder, address);
    if (storage->vaults)
        state_lock_tell(storage->vaults, address);
}

/* --- what can be written --- */

static enum td_status check_owner(struct storage *storage, struct td_error *err)
{
    enum td_status status = storage->folder ? state_lock_check(storage->folder, err) : TD_OK;
    return status == TD_OK && storage->vaults ? state_lock_check(storage->vaults, err) : status;
}

static enum td_status check_space(const struct storage *storage, struct td_error *err)
{
    struct statvfs disk;
    if (!*storage->state_dir || statvfs(storage->state_dir, &disk) != 0 ||
        (uint64_t)disk.f_bavail * disk.f_frsize >= FREE_BYTES_MIN)
        return TD_OK;
    return error_set(err, TD_LIMIT, "%s: the disk is full", storage->state_dir);
}

void storage_watch(struct storage *storage, struct services_parts *parts)
{
    atomic_store(&storage->ledger, parts->base.ledger);
    atomic_store(&storage->egress, atomic_load(&parts->egress));
    atomic_store(&storage->classes, parts->class_file);
}

/* The first fault, as clients may read it; the words for the log are in err. */
static const char *find_fault(struct storage *storage, struct td_error *err)
{
    struct ledger *ledger = atomic_load(&storage->ledger);
    struct egress_log *egress = atomic_load(&storage->egress);
    struct class_file *classes = atomic_load(&storage->classes);
    if (check_owner(storage, err) != TD_OK)
        return "the state folder cannot be used by this server";
    if (check_space(storage, err) != TD_OK)
        return "the disk of the state folder is full";
    if (ledger && ledger_check(ledger, err) != TD_OK)
        return "the ledger cannot be written";
    if (egress && (egress_log_check(egress, err) != TD_OK || egress_log_mark(egress, err) != TD_OK))
        return "the record of what leaves cannot be written";
    if (classes && class_file_check(classes, err) != TD_OK)
        return "the classes of conversations cannot be written";
    return NULL;
}

void storage_look(struct storage *storage)
{
    struct td_error err = {0};
    const char *fault = find_fault(storage, &err);
    const char *before = atomic_exchange(&storage->fault, fault);
    if (fault && fault != before)
        log_event(LOG_LEVEL_ERROR, "storage_failed", "fault=\"%s\" reason=\"%s\"", fault,
                  err.message);
    else if (!fault && before)
        log_event(LOG_LEVEL_INFO, "storage_recovered", "was=\"%s\"", before);
}

const char *storage_fault(struct storage *storage)
{
    return atomic_load(&storage->fault);
}
