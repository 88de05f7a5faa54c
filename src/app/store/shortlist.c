/* The catalogue goes from weak to strong, so the last model that fits and is as fast as one reads
 * is the best one. Where none is so fast, the fastest that fits is taken: the first. */
#include "app/store/shortlist.h"

#include "app/setup/model/model_store.h"
#include "app/store/machine_speed.h"
#include "base/json/json.h"
#include "base/machine/memory_free.h"
#include "base/time/clock.h"

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
    out->ram_bytes = memory.ram_bytes < memory.space_bytes ? memory.ram_bytes : memory.space_bytes;
    out->disk_bytes = free_disk(config->models.dir);
    out->best = NULL;
    if (!out->threads)
        out->bytes_per_s = machine_speed_measure(&out->threads);
    for (size_t i = 0; i < catalog_count(catalog); i++) {
        const struct catalog_model *model = catalog_at(catalog, i);
        if (model->codes || shortlist_lacks(out, model))
            continue;
        if (!out->best || shortlist_speed(out, model) >= SHORTLIST_TOKENS_PER_S)
            out->best = model;
    }
}

bool shortlist_is_there(const struct config *config, const struct catalog_model *model)
{
    char path[4096];
    return model_store_find(config->models.dir, model->name, path, sizeof path);
}

static struct json *row_to_json(const struct config *config, const struct shortlist *list,
                                const struct catalog_model *model)
{
    struct json *object = json_new_object();
    json_put(object, "name", json_new_cstr(model->name));
    json_put(object, "source", json_new_cstr(model->source));
    json_put(object, "bytes", json_new_int((int64_t)model->bytes));
    json_put(object, "sha256", json_new_cstr(model->sha256));
    json_put(object, "licence", json_new_cstr(model->licence));
    json_put(object, "parameters", json_new_double(model->parameters * 1e9));
    json_put(object, "context_tokens", json_new_int(model->context));
    json_put(object, "use", json_new_cstr(model->codes ? "code" : "chat"));
    json_put(object, "good_at", json_new_cstr(model->good_at));
    json_put(object, "lacks", json_new_cstr(shortlist_lacks(list, model)));
    json_put(object, "tokens_per_s", json_new_double(shortlist_speed(list, model)));
    json_put(object, "downloaded", json_new_bool(shortlist_is_there(config, model)));
    return object;
}

struct json *shortlist_to_json(const struct config *config, const struct catalog *catalog,
                               const struct shortlist *list)
{
    double days = catalog_days(catalog, clock_wall_ms(NULL));
    struct json *object = json_new_object(), *rows = json_new_array();
    json_put(object, "checked", json_new_cstr(catalog_day(catalog)));
    json_put(object, "is_old", json_new_bool(days > CATALOG_OLD_DAYS));
    json_put(object, "free_memory_bytes", json_new_int((int64_t)list->ram_bytes));
    json_put(object, "free_disk_bytes", json_new_int((int64_t)list->disk_bytes));
    json_put(object, "weight_bytes_per_s", json_new_double(list->bytes_per_s));
    json_put(object, "best", json_new_cstr(list->best ? list->best->name : NULL));
    for (size_t i = 0; i < catalog_count(catalog); i++)
        json_push(rows, row_to_json(config, list, catalog_at(catalog, i)));
    json_put(object, "models", rows);
    return object;
}
