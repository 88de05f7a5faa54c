/* A tier's model is looked for in this order: the one that the configuration names; the one that
 * the tier has now; the one that last worked for it. The model that came with the program is never
 * put in the place of another: it would answer worse than what was asked for, where the next tier
 * may answer better.
 *
 * A file that is damaged or of an unknown form goes into quarantine (model_record.h). Memory may be
 * free and files may be there the next time, so those are always tried again. */
#include "app/setup/process/engine_setup.h"

#include "app/setup/model/model_file.h"
#include "app/setup/model/model_record.h"
#include "app/setup/policy/policy_build.h"
#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/time/log.h"

#include <stdio.h>
#include <string.h>

/* In the place of a tier's name, which has no spaces. */
#define EMBEDDINGS "the embeddings"

struct opening {
    const struct config *config;
    const struct engine_options *options;
    const struct engine_parts *before;
    const struct config_tier *asks; /* NULL = the embeddings */
    const char *tier;               /* its name, or EMBEDDINGS */
    const char *wanted;             /* NULL = the default */
    struct local_model_use use;
    char draft[LOCAL_MODEL_PATH_BYTES];
};

/* --- what is asked for --- */

static struct opening opening_of(const struct config *config, const struct engine_options *options,
                                 const struct engine_parts *before)
{
    return (struct opening){
        .config = config,
        .options = options,
        .before = before,
        .use = {.config = config,
                .cpu = options->cpu == TD_CPU_AUTO ? (enum td_cpu)config->engine.cpu : options->cpu,
                .context_max = POLICY_CONTEXT_TOKENS,
                .warm = options->keeps},
    };
}

static void ask_for_draft(struct opening *opening)
{
    const char *wanted = opening->config->engine.draft_model;
    struct td_error err = {0};
    if (!wanted)
        return;
    if (model_file_find(wanted, opening->config->models.dir, opening->draft, sizeof opening->draft,
                        &err) == TD_OK)
        opening->use.draft_path = opening->draft;
    else
        log_event(LOG_LEVEL_WARN, "draft_model_not_used", "file=%s reason=\"%s\"", wanted,
                  err.message);
}

static void ask_for_tier(struct opening *opening, const struct config_tier *tier)
{
    opening->asks = tier;
    opening->tier = tier->name;
    opening->use.generates = true;
    opening->use.embeds = !opening->config->engine.embedding_model;
    opening->use.is_own = !config_tier_runs_engine_model(tier);
    opening->wanted = opening->use.is_own ? tier->model : opening->config->engine.model;
    if (!opening->use.is_own)
        ask_for_draft(opening);
    else if (!opening->options->stays)
        opening->use.idle_ms = tier->idle_s * 1000;
}

static void ask_for_embeddings(struct opening *opening)
{
    opening->tier = EMBEDDINGS;
    opening->wanted = opening->config->engine.embedding_model;
    opening->use.embeds = true;
}

/* --- faults --- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The first row whose status it is; the last one is for all others. */
static const struct {
    enum td_status status;
    const char *code, *words;
    bool is_of_file; /* the file will not get better by itself */
} kinds[] = {
    {TD_NOT_FOUND, "missing", "was not found", false},
    {TD_CORRUPT, "corrupt", "is damaged", true},
    {TD_UNSUPPORTED, "unsupported", "is of a kind that this version cannot run", true},
    {TD_NO_MEMORY, "too_large", "needs more memory than is free", false},
    {TD_OK, "failed", "could not be opened", false},
};

static size_t kind_of(enum td_status status)
{
    size_t kind = 0;
    while (kind + 1 < sizeof kinds / sizeof *kinds && kinds[kind].status != status)
        kind++;
    return kind;
}

static void set_fault(struct engine_tier *tier, const char *wanted, const char *code,
                      const char *words)
{
    const char *name = wanted ? base_name(wanted) : "nano.gguf";
    tier->is_faulty = true;
    tier->fault = (struct model_fault){.code = code, .stands_in = tier->model != NULL};
    snprintf(tier->fault.text, sizeof tier->fault.text, "the model %.60s %s", name, words);
    for (char *c = tier->fault.text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == '"' || *c == '\\')
            *c = '?';
}

/* --- one model --- */

static struct local_model *model_before(const struct opening *opening)
{
    const struct engine_tier *tier =
        opening->before ? engine_setup_find(opening->before, opening->tier) : NULL;
    return tier ? tier->model : NULL;
}

/* The model of `before` if it is exactly what is asked for; else NULL. */
static struct local_model *take_over(const struct opening *opening, const char *path)
{
    char key[LOCAL_MODEL_KEY_BYTES];
    struct local_model *model = model_before(opening);
    local_model_key(path, &opening->use, key);
    return model && strcmp(model->key, key) == 0 ? local_model_hold(model) : NULL;
}

/* Opens a file that is not in quarantine, and puts it there when it belongs there. */
static enum td_status open_file(const struct opening *opening, const char *path,
                                struct local_model **out, struct td_error *err)
{
    const char *folder = opening->options->keeps ? opening->config->state_dir : NULL;
    char why[TD_ERROR_BYTES];
    if (folder && model_record_is_quarantined(folder, path, why))
        return error_set(err, TD_CORRUPT, "in quarantine until the file changes: %.400s", why);
    struct td_error cause = {0};
    enum td_status status = local_model_open(path, &opening->use, out, &cause);
    if (folder && status != TD_OK && kinds[kind_of(status)].is_of_file)
        model_record_quarantine(folder, path, cause.message);
    else if (folder && status != TD_OK)
        model_record_failure(folder, path, cause.message);
    return status == TD_OK ? status : error_set(err, status, "%s", cause.message);
}

static enum td_status open_wanted(const struct opening *opening, struct local_model **out,
                                  struct td_error *err)
{
    char path[LOCAL_MODEL_PATH_BYTES];
    enum td_status status =
        model_file_find(opening->wanted, opening->config->models.dir, path, sizeof path, err);
    if (status != TD_OK)
        return status;
    *out = take_over(opening, path);
    return *out ? TD_OK : open_file(opening, path, out, err);
}

/* What stands in for the model that cannot be had; NULL = nothing does. */
static struct local_model *find_stand_in(const struct opening *opening)
{
    struct local_model *now = model_before(opening);
    char path[LOCAL_MODEL_PATH_BYTES];
    struct local_model *model = NULL;
    struct td_error err = {0};
    if (now)
        return local_model_hold(now);
    if (!opening->options->keeps ||
        !model_record_find_good(opening->config->state_dir, opening->tier, path, sizeof path))
        return NULL;
    if (open_file(opening, path, &model, &err) != TD_OK)
        log_event(LOG_LEVEL_WARN, "model_stands_not_in", "tier=%s file=%s reason=\"%s\"",
                  opening->tier, path, err.message);
    return model;
}

/* A model that the policy refuses is as one that cannot be opened, and nothing stands in: what runs
 * or worked before may be the same. */
static enum td_status rule_on(const struct opening *opening, struct engine_tier *out,
                              struct td_error *err)
{
    struct model_judgement judgement;
    if (!opening->asks)
        return TD_OK;
    model_policy_judge(opening->config, opening->asks, out->model, opening->options->keeps,
                       &judgement);
    snprintf(out->unproven, sizeof out->unproven, "%s", judgement.unproven);
    if (!judgement.refused)
        return TD_OK;
    local_model_drop(out->model);
    out->model = NULL;
    set_fault(out, opening->wanted, judgement.refused, "is refused by the policy of models");
    log_event(LOG_LEVEL_ERROR, "model_refused", "tier=%s code=%s reason=\"%s\"", opening->tier,
              judgement.refused, judgement.why);
    return error_set(err, TD_DENIED, "%s: %s", out->fault.text, judgement.why);
}

typedef enum td_status opening_fn(const struct opening *opening, struct engine_tier *out,
                                  struct td_error *err);

static enum td_status open_one(const struct opening *opening, struct engine_tier *out,
                               struct td_error *err)
{
    struct td_error cause = {0};
    enum td_status status = open_wanted(opening, &out->model, &cause);
    if (status == TD_OK) {
        if (opening->options->keeps)
            model_record_set_good(opening->config->state_dir, opening->tier, out->model->path);
        return rule_on(opening, out, err);
    }
    size_t kind = kind_of(status);
    out->model = find_stand_in(opening);
    set_fault(out, opening->wanted, kinds[kind].code, kinds[kind].words);
    log_event(LOG_LEVEL_ERROR, "model_not_used", "tier=%s code=%s uses=%s reason=\"%s\"",
              opening->tier, kinds[kind].code, out->model ? out->model->path : "none",
              cause.message);
    return error_set(err, status, "%s", cause.message);
}

static enum td_status keep_one(const struct opening *opening, struct engine_tier *out,
                               struct td_error *err)
{
    char path[LOCAL_MODEL_PATH_BYTES];
    if (model_file_find(opening->wanted, opening->config->models.dir, path, sizeof path, NULL) ==
        TD_OK)
        out->model = take_over(opening, path);
    if (out->model)
        return rule_on(opening, out, err);
    out->model = local_model_hold(model_before(opening));
    set_fault(out, opening->wanted, "loading", "is being loaded");
    out->fault.is_loading = true;
    return error_set(err, TD_BUSY, "%s", out->fault.text);
}

/* --- all --- */

static enum td_status open_all(const struct opening *opening, opening_fn *open,
                               struct engine_parts *out, struct td_error *err)
{
    const struct config *config = opening->config;
    enum td_status first = TD_OK, status;
    *out = (struct engine_parts){.tier_count = 0};
    for (size_t i = 0; i < config->tier_count; i++) {
        if (config->tiers[i].kind != CONFIG_TIER_LOCAL)
            continue;
        struct opening one = *opening;
        struct engine_tier *tier = &out->tiers[out->tier_count++];
        snprintf(tier->name, sizeof tier->name, "%s", config->tiers[i].name);
        ask_for_tier(&one, &config->tiers[i]);
        tier->is_own = one.use.is_own;
        status = open(&one, tier, first == TD_OK ? err : NULL);
        first = first == TD_OK ? status : first;
    }
    if (!config->engine.embedding_model)
        return first;
    struct opening one = *opening;
    snprintf(out->embedder.name, sizeof out->embedder.name, "%s", EMBEDDINGS);
    ask_for_embeddings(&one);
    status = open(&one, &out->embedder, first == TD_OK ? err : NULL);
    return first == TD_OK ? status : first;
}

enum td_status engine_setup_open(const struct config *config, const struct engine_options *options,
                                 const struct engine_parts *before, struct engine_parts *out,
                                 struct td_error *err)
{
    ASSERT(config->models.dir && out != before);
    const struct opening opening = opening_of(config, options, before);
    return open_all(&opening, open_one, out, err);
}

bool engine_setup_keep(const struct config *config, const struct engine_options *options,
                       const struct engine_parts *before, struct engine_parts *out)
{
    ASSERT(config->models.dir && before && out != before);
    const struct opening opening = opening_of(config, options, before);
    return open_all(&opening, keep_one, out, NULL) == TD_OK;
}

static void fall_back(struct engine_tier *tier, const struct engine_parts *now)
{
    const struct engine_tier *old = engine_setup_find(now, tier->name);
    struct local_model *tried = tier->model;
    if (!tried || (old && old->model == tried))
        return;
    tier->model = old ? local_model_hold(old->model) : NULL;
    memcpy(tier->unproven, old ? old->unproven : "", old ? sizeof tier->unproven : 1);
    set_fault(tier, tried->path, "failed", "does not fit the rest of the configuration");
    local_model_drop(tried);
}

void engine_setup_fall_back(const struct engine_parts *tried, const struct engine_parts *now,
                            struct engine_parts *out)
{
    engine_setup_copy(tried, out);
    for (size_t i = 0; i < out->tier_count; i++)
        fall_back(&out->tiers[i], now);
    fall_back(&out->embedder, now);
}

void engine_setup_copy(const struct engine_parts *from, struct engine_parts *out)
{
    *out = *from;
    for (size_t i = 0; i < out->tier_count; i++)
        local_model_hold(out->tiers[i].model);
    local_model_hold(out->embedder.model);
}

void engine_setup_close(struct engine_parts *parts)
{
    for (size_t i = 0; i < parts->tier_count; i++)
        local_model_drop(parts->tiers[i].model);
    local_model_drop(parts->embedder.model);
    *parts = (struct engine_parts){.tier_count = 0};
}

const struct engine_tier *engine_setup_find(const struct engine_parts *parts, const char *tier)
{
    for (size_t i = 0; i < parts->tier_count; i++)
        if (strcmp(parts->tiers[i].name, tier) == 0)
            return &parts->tiers[i];
    return strcmp(parts->embedder.name, tier) == 0 ? &parts->embedder : NULL;
}

const char *engine_setup_path(const struct engine_parts *parts)
{
    for (size_t i = 0; i < parts->tier_count; i++)
        if (parts->tiers[i].model && !parts->tiers[i].is_own)
            return parts->tiers[i].model->path;
    return NULL;
}

const struct local_model *engine_setup_main(const struct engine_parts *parts)
{
    for (size_t i = 0; i < parts->tier_count; i++)
        if (parts->tiers[i].model)
            return parts->tiers[i].model;
    return NULL;
}

struct embedding_service *engine_setup_embeddings(const struct engine_parts *parts)
{
    const struct local_model *model =
        parts->embedder.name[0] ? parts->embedder.model : engine_setup_main(parts);
    return model ? model->embeddings : NULL;
}
