/* A file counts as unchanged when device, inode, size and time of change are the same. Its
 * adapter is then shared with the table before, and with it what was cached. */
#include "app/setup/model/adapter_table.h"

#include "base/error.h"
#include "base/log.h"
#include "engine/model/adapter.h"

#include <errno.h>
#include <string.h>

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* The one that was read from this very file. */
static const struct td_adapter *find_loaded(const struct adapter_table *before,
                                            const struct stat *file)
{
    for (size_t i = 0; before && i < before->count; i++)
        if (same_file(&before->files[i], file))
            return before->adapters[i].adapter;
    return NULL;
}

enum td_status adapter_table_load(struct adapter_table *table, const struct config *config,
                                  const struct td_model *model, const struct adapter_table *before,
                                  struct td_error *err)
{
    table->count = 0;
    for (size_t i = 0; i < config->engine.adapter_count; i++) {
        const struct config_adapter *from = &config->engine.adapters[i];
        const struct td_adapter *loaded = NULL;
        struct td_adapter *fresh = NULL;
        /* Before it is read: a change meanwhile is then seen at the next reload. */
        if (stat(from->file, &table->files[i]) != 0)
            return error_set(err, errno == ENOENT ? TD_NOT_FOUND : TD_IO, "adapter %s: %s: %s",
                             from->name, from->file, strerror(errno));
        loaded = find_loaded(before, &table->files[i]);
        if (!loaded) {
            enum td_status status = td_adapter_load(model, from->file, &fresh, err);
            if (status != TD_OK) {
                error_prefix(err, "adapter %s", from->name);
                return status;
            }
            const struct td_adapter_info *info = td_adapter_get_info(fresh);
            log_event(LOG_LEVEL_INFO, "adapter_loaded", "name=%s matrices=%u rank=%u bytes=%llu",
                      from->name, info->matrix_count, info->rank_max,
                      (unsigned long long)info->bytes);
        }
        table->names[i] = from->name;
        table->adapters[i] = (struct tier_adapter){fresh ? fresh : adapter_retain(loaded),
                                                   (float)from->scale, from->always};
        table->count++;
    }
    return TD_OK;
}

void adapter_table_deinit(struct adapter_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        td_adapter_free((struct td_adapter *)(uintptr_t)table->adapters[i].adapter);
    table->count = 0;
}
