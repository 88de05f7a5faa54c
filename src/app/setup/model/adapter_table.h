/* The loaded adapters of a configuration. A reload takes over those whose file has not changed, so
 * what was cached for them stays valid. It reads the others again. Answers under way keep the
 * adapters with which they began. Belongs to a snapshot. */
#ifndef APP_ADAPTER_TABLE_H
#define APP_ADAPTER_TABLE_H

#include "app/config/config.h"
#include "tier/tier.h"

#include <sys/stat.h>

struct adapter_table {
    const struct td_model *model; /* that they belong to */
    size_t count;
    const char *names[CONFIG_ADAPTERS_MAX];            /* borrowed from the configuration */
    struct tier_adapter adapters[CONFIG_ADAPTERS_MAX]; /* each a reference of the table's */
    struct stat files[CONFIG_ADAPTERS_MAX];
};

struct adapter_source {
    const struct config *config;
    const struct td_model *model;
    bool only_fitting; /* adapters that the model does not take are left out and logged */
};

/* before: the table in use, or NULL. Afterwards adapter_table_deinit, success or not. */
TD_MUST_CHECK enum td_status adapter_table_load(struct adapter_table *table,
                                                const struct adapter_source *source,
                                                const struct adapter_table *before,
                                                struct td_error *err);
void adapter_table_deinit(struct adapter_table *table);

#endif
