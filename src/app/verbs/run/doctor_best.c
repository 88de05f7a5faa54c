/* Which of the model files here is the best for the memory that is free: what the configuration
 * names, and all in the folder of models. More parameters count before more bits a weight, as long
 * as the bits are not so few that somebody should measure them first (bit_policy.h). Speed and
 * training are not looked at, so the choice is said and not made. */
#include <stdio.h>
#include <string.h>

#include "app/setup/model/model_file.h"
#include "app/setup/model/model_identity.h"
#include "app/setup/model/model_policy.h"
#include "app/setup/model/model_record.h"
#include "app/setup/model/model_store.h"
#include "app/verbs/run/doctor.h"
#include "base/machine/memory_free.h"
#include "device/sysfs.h"
#include "engine/forward/kv_pool.h"
#include "engine/gguf/gguf_split.h"

#define CONTEXT_TOKENS 4096 /* of one sequence, as a server has by default */
#define SLACK 1.2           /* working memory, other sequences: as the check of memory takes it */

struct candidate {
    char path[LOCAL_MODEL_PATH_BYTES], words[96];
    uint64_t need_bytes, parameters;
    double bits;
    bool doubted;
};

struct search {
    struct doctor *doctor;
    const struct config_tier *tier;
    uint64_t free_bytes;
    struct candidate best;
    size_t count, fitting;
};

static uint64_t need_of(const struct td_model *model, enum td_kv_type kv_type)
{
    uint32_t own = td_model_get_info(model)->context_tokens;
    uint32_t tokens = own && own < CONTEXT_TOKENS ? own : CONTEXT_TOKENS;
    uint64_t cache = kv_pool_bytes(model, kv_type, kv_pages_of(tokens));
    double need = ((double)td_model_get_info(model)->file_bytes + (double)cache) * SLACK;
    return need < 1e18 ? (uint64_t)need : UINT64_MAX;
}

/* Nobody may use it, or nobody should before it is measured. */
static bool is_doubted(const struct search *search, const struct td_model *model, const char *path)
{
    struct confidence_binding identity;
    struct bits_finding found;
    bool known = model_identity_read(model, path, &identity, NULL) == TD_OK;
    model_policy_find_bits(search->doctor->config, search->tier, td_model_get_info(model),
                           known ? &identity : NULL, &found);
    return found.doubt != BITS_ENOUGH && found.verdict != EVALUATION_PASSED;
}

static bool is_better(const struct candidate *a, const struct candidate *b)
{
    if (a->doubted != b->doubted)
        return b->doubted;
    if (a->parameters > b->parameters + b->parameters / 5 ||
        b->parameters > a->parameters + a->parameters / 5)
        return a->parameters > b->parameters;
    return a->bits > b->bits;
}

static void look_at(struct search *search, const char *path)
{
    struct candidate found = {.need_bytes = 0};
    const struct td_model_options options = {.cpu = search->doctor->cpu};
    const struct config *config = search->doctor->config;
    char why[TD_ERROR_BYTES];
    struct td_model *model = NULL;
    if (model_record_failures(config->state_dir, path, why) >= MODEL_FAILURES_SAID ||
        td_model_open(path, &options, &model, NULL) != TD_OK)
        return;
    const struct td_model_info *info = td_model_get_info(model);
    if (!model->encoder) {
        search->count++;
        found.need_bytes = need_of(model, (enum td_kv_type)config->engine.kv_type);
        found.parameters = info->parameter_count;
        found.bits = bit_policy_bits(info->quantization);
        found.doubted = is_doubted(search, model, path);
        snprintf(found.path, sizeof found.path, "%s", path);
        snprintf(found.words, sizeof found.words, "%.40s, %.1f M parameters, needs %.0f MB",
                 info->quantization, (double)info->parameter_count / 1e6,
                 (double)found.need_bytes / 1e6);
        bool fits = found.need_bytes <= search->free_bytes;
        if (fits && (search->fitting++ == 0 || is_better(&found, &search->best)))
            search->best = found;
    }
    td_model_close(model);
}

static bool visit(void *ctx, const char *name, const char *path, bool part)
{
    struct gguf_part_name number;
    (void)name;
    if (!part && !(gguf_part_parse(path, &number) && number.number > 1))
        look_at(ctx, path);
    return true;
}

void doctor_check_best(struct doctor *doctor, const struct config_tier *tier, const char *path)
{
    struct memory_free left;
    struct sysfs sysfs;
    const char *dir = doctor->config->models.dir;
    (void)sysfs_init(&sysfs, doctor->config->device.root);
    memory_free_read(sysfs.whole, &left);
    struct search search = {.doctor = doctor, .tier = tier, .free_bytes = left.ram_bytes};
    size_t len = strlen(dir);
    bool is_in_dir = strncmp(path, dir, len) == 0 && path[len] == '/';
    if (*path && !is_in_dir)
        look_at(&search, path);
    if (model_store_walk(dir, visit, &search, NULL) != TD_OK || search.count < 2)
        return;
    if (search.fitting == 0)
        doctor_add(doctor, "best model", HEALTH_WARN, "pull a smaller or more quantised one",
                   "none of %zu models here fits into %.0f MB that are free", search.count,
                   (double)left.ram_bytes / 1e6);
    else if (strcmp(search.best.path, path) == 0)
        doctor_add(doctor, "best model", HEALTH_OK, NULL,
                   "of %zu models here the one in use is the best that fits (%s)", search.count,
                   search.best.words);
    else
        doctor_add(
            doctor, "best model", HEALTH_OK, NULL,
            "%.200s is the best of %zu models here that fits into %.0f MB (%s): engine.model",
            search.best.path, search.count, (double)left.ram_bytes / 1e6, search.best.words);
}
