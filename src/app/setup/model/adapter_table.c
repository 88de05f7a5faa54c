/* A file counts as unchanged when device, inode, size and time of change are the same. Its
 * adapter is then shared with the table before, and with it what was cached. */
#include "app/setup/model/adapter_table.h"

#include "base/core/error.h"
#include "base/time/log.h"
#include "engine/model/adapter.h"

#include <errno.h>
#include <string.h>

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* The one that was read from this very file for this very model. */
static const struct td_adapter *find_loaded(const struct adapter_table *before,
                                            const struct td_model *model, const struct stat *file)
{
    for (size_t i = 0; before && before->model == model && i < before->count; i++)
        if (same_file(&before->files[i], file))
            return before->adapters[i].adapter;
    return NULL;
}

/* Puts one adapter at the end of the table. */
static enum td_status add(struct adapter_table *table, const struct config_adapter *from,
                          const struct td_model *model, const struct adapter_table *before,
                          struct td_error *err)
{
    size_t at = table->count;
    struct td_adapter *fresh = NULL;
    /* Before it is read: a change meanwhile is then seen at the next reload. */
    if (stat(from->file, &table->files[at]) != 0)
        return error_set(err, errno == ENOENT ? TD_NOT_FOUND : TD_IO, "adapter %s: %s: %s",
                         from->name, from->file, strerror(errno));
    const struct td_adapter *loaded = find_loaded(before, model, &table->files[at]);
    if (!loaded) {
        enum td_status status = td_adapter_load(model, from->file, &fresh, err);
        if (status != TD_OK) {
            error_prefix(err, "adapter %s", from->name);
            return status;
        }
        const struct td_adapter_info *info = td_adapter_get_info(fresh);
        log_event(LOG_LEVEL_INFO, "adapter_loaded", "name=%s matrices=%u rank=%u bytes=%llu",
                  from->name, info->matrix_count, info->rank_max, (unsigned long long)info->bytes);
    }
    table->names[at] = from->name;
    table->adapters[at] = (struct tier_adapter){fresh ? fresh : adapter_retain(loaded),
                                                (float)from->scale, from->always};
    table->count++;
    return TD_OK;
}

enum td_status adapter_table_load(struct adapter_table *table, const struct adapter_source *source,
                                  const struct adapter_table *before, struct td_error *err)
{
    table->count = 0;
    table->model = source->model;
    for (size_t i = 0; i < source->config->engine.adapter_count; i++) {
        const struct config_adapter *from = &source->config->engine.adapters[i];
        struct td_error why = {0};
        enum td_status status = add(table, from, source->model, before, &why);
        if (status == TD_OK)
            continue;
        if (!source->only_fitting)
            return error_set(err, status, "%s", why.message);
        log_event(LOG_LEVEL_WARN, "adapter_not_used", "name=%s reason=\"%s\"", from->name,
                  why.message);
    }
    return TD_OK;
}

void adapter_table_deinit(struct adapter_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        td_adapter_free((struct td_adapter *)(uintptr_t)table->adapters[i].adapter);
    table->count = 0;
}
