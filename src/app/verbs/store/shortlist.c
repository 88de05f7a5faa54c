/* The catalogue goes from weak to strong, so the last model that fits and is as fast as one reads
 * is the best one. Where none is so fast, the fastest that fits is taken: the first. */
#include "app/verbs/store/shortlist.h"

#include "app/verbs/store/machine_speed.h"
#include "base/memory_free.h"

#include <string.h>
#include <sys/statvfs.h>

/* Left for everything else that is written. */
#define DISK_BYTES_KEPT (UINT64_C(512) << 20)

/* The folder may not be there yet: then the one above it says how much there is. */
static uint64_t free_disk(const char *dir)
{
    char path[4096];
    struct statvfs disk;
    size_t len = strlen(dir);
    if (len == 0 || len >= sizeof path)
        return UINT64_MAX;
    memcpy(path, dir, len + 1);
    while (statvfs(path, &disk) != 0) {
        char *slash = strrchr(path, '/');
        if (!slash)
            return statvfs(".", &disk) == 0 ? disk.f_bavail * disk.f_frsize : UINT64_MAX;
        slash[slash == path] = '\0';
        if (slash == path && statvfs(path, &disk) != 0)
            return UINT64_MAX;
    }
    return disk.f_bavail * disk.f_frsize;
}

uint64_t shortlist_memory(const struct catalog_model *model)
{
    return model->bytes + model->bytes / 5;
}

const char *shortlist_lacks(const struct shortlist *list, const struct catalog_model *model)
{
    if (shortlist_memory(model) > list->ram_bytes)
        return "memory";
    return model->bytes + DISK_BYTES_KEPT > list->disk_bytes ? "disk" : NULL;
}

double shortlist_speed(const struct shortlist *list, const struct catalog_model *model)
{
    return list->bytes_per_s / ((double)model->bytes * model->active / model->parameters);
}

void shortlist_make(const struct config *config, const struct catalog *catalog,
                    struct shortlist *out)
{
    struct memory_free memory;
    memory_free_read("", &memory);
    *out = (struct shortlist){
        .ram_bytes = memory.ram_bytes < memory.space_bytes ? memory.ram_bytes : memory.space_bytes,
        .disk_bytes = free_disk(config->models.dir)};
    out->bytes_per_s = machine_speed_measure(&out->threads);
    for (size_t i = 0; i < catalog_count(catalog); i++) {
        const struct catalog_model *model = catalog_at(catalog, i);
        if (model->codes || shortlist_lacks(out, model))
            continue;
        if (!out->best || shortlist_speed(out, model) >= SHORTLIST_TOKENS_PER_S)
            out->best = model;
    }
}
