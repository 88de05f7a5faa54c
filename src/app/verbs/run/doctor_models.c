/* What `tandem doctor` says of local models: whether they run, what their confidence is worth, few
 * bits, age, skew. */
#include "app/setup/model/cache_check.h"
#include "app/setup/model/local_model.h"
#include "app/setup/model/model_age.h"
#include "app/setup/model/model_file.h"
#include "app/setup/model/model_identity.h"
#include "app/setup/model/model_policy.h"
#include "app/setup/model/model_record.h"
#include "app/setup/policy/calibration_file.h"
#include "app/setup/policy/confidence_file.h"
#include "app/verbs/run/doctor.h"
#include "base/json/json.h"
#include "base/machine/memory_free.h"
#include "base/text/names.h"
#include "base/time/clock.h"
#include "ledger/record/ledger.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Few bits are worth a measurement. */
static void check_bits(struct doctor *doctor, const struct config_tier *tier,
                       const struct td_model *model, const char *path)
{
    struct confidence_binding identity;
    struct bits_finding found;
    struct td_error err = {0};
    bool known = model_identity_read(model, path, &identity, &err) == TD_OK;
    model_policy_find_bits(doctor->config, tier, td_model_get_info(model), known ? &identity : NULL,
                           &found);
    const char *ruled = doctor->config->models.few_bits == MODEL_WARN ? ""
                        : found.doubt == BITS_FEW_FOR_A_USE
                            ? "; it does not answer questions of medicine and law"
                            : "; it is not used";
    if (found.doubt == BITS_ENOUGH)
        return;
    if (found.verdict == EVALUATION_PASSED)
        doctor_add(doctor, "few bits", HEALTH_OK, NULL, "%s; an evaluation of %s passed", found.why,
                   found.day);
    else if (found.verdict == EVALUATION_REFUSED)
        doctor_add(doctor, "few bits", HEALTH_WARN, "use a model with more bits",
                   "%s, and an evaluation of %s refused it%s", found.why, found.day, ruled);
    else
        doctor_add(doctor, "few bits", HEALTH_WARN,
                   "use more bits, or measure what they cost: 'tandem quant-eval ORIGINAL MODEL "
                   "--traffic --gate FILE'",
                   "%s; nobody has measured what that costs%s", found.why, ruled);
}

/* A cache of four bits is measured when a server opens the model. */
static void check_cache(struct doctor *doctor, const struct td_model *model, const char *path)
{
    enum td_kv_type wanted = (enum td_kv_type)doctor->config->engine.kv_type;
    const char *name = names_kv_type(wanted);
    struct confidence_binding identity;
    struct cache_verdict verdict;
    struct td_error err = {0};
    if (!cache_check_is_needed(wanted))
        return;
    if (model_identity_read(model, path, &identity, &err) != TD_OK ||
        !cache_check_find(doctor->config->state_dir, &identity, wanted, &verdict))
        doctor_add(doctor, "KV cache", HEALTH_OK, NULL, "%s; the next start measures what it costs",
                   name);
    else if (verdict.used == wanted && isnan(verdict.kld))
        doctor_add(doctor, "KV cache", HEALTH_OK, NULL, "%s; an evaluation of %s passed", name,
                   verdict.day);
    else if (verdict.used == wanted)
        doctor_add(doctor, "KV cache", HEALTH_OK, NULL,
                   "%s; it costs %.3f nats a token (%s; at most %g)", name, verdict.kld,
                   verdict.day, CACHE_KLD_MAX);
    else if (isnan(verdict.kld))
        doctor_add(doctor, "KV cache", HEALTH_WARN, "set engine.kv_type to what is used",
                   "an evaluation of %s refused %s, so %s is used", verdict.day, name,
                   names_kv_type(verdict.used));
    else
        doctor_add(doctor, "KV cache", HEALTH_WARN, "set engine.kv_type to what is used",
                   "the model does not bear %s (%.3f nats a token, at most %g; %s), so %s is used",
                   name, verdict.kld, CACHE_KLD_MAX, verdict.day, names_kv_type(verdict.used));
}

static void check_age(struct doctor *doctor, const struct config_tier *tier, const char *path)
{
    char day[MODEL_DAY_BYTES], name[80];
    double days;
    uint32_t most = doctor->config->models.max_age_days;
    if (!most || !model_age_read(path, clock_wall_ms(NULL), day, &days))
        return;
    snprintf(name, sizeof name, "age of %.60s", tier->name);
    bool refused = doctor->config->models.too_old == MODEL_REFUSE;
    doctor_add(doctor, name, days > most ? HEALTH_WARN : HEALTH_OK,
               days > most ? "use a newer model, or raise models.max_age_days" : NULL,
               "its model was made on %s, %.0f days ago%s", day, days,
               days > most && refused ? "; it is not used" : "");
}

static void check_failures(struct doctor *doctor, const char *name, const char *path)
{
    char why[TD_ERROR_BYTES], hardware[MODEL_HARDWARE_BYTES];
    const char *folder = doctor->config->state_dir;
    uint32_t count = folder ? model_record_failures(folder, path, why) : 0;
    if (count < MODEL_FAILURES_SAID)
        return;
    model_record_hardware(hardware);
    doctor_add(doctor, name, HEALTH_WARN, "use a smaller or more quantised model on this machine",
               "it could not be opened %u times on this hardware (%s): %.250s", count, hardware,
               why);
}

/* Whether a route judges the tier's answers by the default numbers of its gates. */
static bool relies_on_defaults(const struct config *config, const struct config_tier *tier)
{
    for (size_t i = 0; i < config->route_count; i++) {
        const struct config_route *route = &config->routes[i];
        bool own = route->gates.g2_given || route->gates.g3_given ||
                   route->thresholds[THRESHOLD_G3] != NULL;
        for (size_t t = 0; !own && t < route->tiers.count; t++)
            if (strcmp(route->tiers.items[t], tier->name) == 0)
                return true;
    }
    return false;
}

/* By the state folder, or by what the model's file brings. */
static void check_calibration(struct doctor *doctor, const struct config_tier *tier,
                              const struct td_model *model, const char *path, const char *name,
                              const struct confidence_binding *identity)
{
    struct td_error err = {0};
    struct confidence_model *calibration = NULL;
    char advice[256];
    snprintf(advice, sizeof advice, "measure it: tandem calibrate -m %.200s", path);
    if (calibration_file_find(doctor->config->state_dir, identity, &calibration, &err) != TD_OK)
        doctor_add(doctor, name, HEALTH_WARN, advice, "uncalibrated: %.400s", err.message);
    else if (calibration)
        doctor_add(
            doctor, name, HEALTH_OK, NULL,
            "calibrated (%u answers): whole answers are kept from %.2f, %.2f or %.2f on, for a "
            "risk of 2, 5 or 10 %%",
            calibration->samples, calibration->threshold[0], calibration->threshold[1],
            calibration->threshold[2]);
    else if (td_model_get_info(model)->calibration.temperature > 0)
        doctor_add(doctor, name, HEALTH_OK, NULL, "calibrated by the model's file");
    else if (relies_on_defaults(doctor->config, tier))
        doctor_add(
            doctor, name, HEALTH_FAIL, advice,
            "uncalibrated: nobody measured what its confidence is worth, so its answers climb "
            "unless the route gives thresholds");
    else
        doctor_add(doctor, name, HEALTH_OK, NULL,
                   "uncalibrated: the routes' own thresholds judge it");
    free(calibration);
}

/* What router.confidence names belongs to the main model. */
static void check_confidence(struct doctor *doctor, const struct config_tier *tier,
                             const struct td_model *model, const char *path)
{
    struct td_error err = {0};
    struct confidence_model *confidence = NULL;
    struct confidence_binding identity;
    char why[160], name[80] = "confidence";
    const char *file = tier->model ? NULL : doctor->config->router.confidence;
    if (tier->model)
        snprintf(name, sizeof name, "confidence of %.64s", tier->name);
    if (model_identity_read(model, path, &identity, &err) != TD_OK ||
        (file && confidence_file_read(file, &confidence, &err) != TD_OK))
        doctor_add(doctor, name, HEALTH_FAIL, "train one with 'tandem router confidence'", "%s",
                   err.message);
    else if (file && !confidence_file_fits(confidence, &identity, why))
        doctor_add(doctor, name, HEALTH_WARN,
                   "train one for this model with 'tandem router confidence'", "%s is not used: %s",
                   file, why);
    else if (file)
        doctor_add(doctor, name, HEALTH_OK, NULL, "calibrated by %s (%u answers)", file,
                   confidence->samples);
    else
        check_calibration(doctor, tier, model, path, name, &identity);
    free(confidence);
}

/* What a server does about a model that cannot be opened. */
static void add_model_failure(struct doctor *doctor, const char *name, const char *tier,
                              const char *path, const char *why)
{
    const char *folder = doctor->config->state_dir;
    char then[TD_ERROR_BYTES], good[4096], words[256] = "";
    bool kept_out = *path && model_record_is_quarantined(folder, path, then);
    if (model_record_find_good(folder, tier, good, sizeof good) && strcmp(good, path) != 0)
        snprintf(words, sizeof words, "; a server uses %.200s", good);
    else if (doctor->config->tier_count > 1)
        snprintf(words, sizeof words, "; a server starts without it");
    doctor_add(doctor, name, HEALTH_FAIL,
               kept_out
                   ? "replace the file, or name another one with engine.model, TANDEM_MODEL or -m"
                   : "name a GGUF file with engine.model, TANDEM_MODEL or -m",
               "%.250s%s%s", why, kept_out ? "; in quarantine until the file changes" : "", words);
}

static void check_memory(struct doctor *doctor, const struct td_model_info *info)
{
    struct memory_free left;
    memory_free_read("", &left);
    double free_mb = (double)left.ram_bytes / 1e6, need_mb = (double)info->file_bytes / 1e6;
    bool tight = need_mb * 1.2 > free_mb;
    doctor_add(doctor, "memory", tight ? HEALTH_WARN : HEALTH_OK,
               tight ? "use a smaller or more quantised model" : NULL,
               "model %.0f MB, %.0f MB are free (%s)", need_mb, free_mb, left.bound);
}

static void add_file(struct doctor *doctor, const char *name, const char *path,
                     const struct td_model *model)
{
    const struct td_model_info *info = td_model_get_info(model);
    doctor_add(doctor, name, HEALTH_OK, NULL, "%s: %s %s, %.1f MB", path, info->architecture,
               info->quantization, (double)info->file_bytes / 1e6);
}

/* The one that requests with tools have, where a tier's model has one. */
static void check_tools_model(struct doctor *doctor, const char *main_path)
{
    char path[LOCAL_MODEL_PATH_BYTES];
    struct td_error err = {0};
    struct td_model *model = NULL;
    const struct td_model_options options = {.cpu = doctor->cpu};
    if (!local_model_tools_beside(main_path, path))
        return;
    if (td_model_open(path, &options, &model, &err) == TD_OK)
        add_file(doctor, "model for tools", path, model);
    else
        doctor_add(doctor, "model for tools", HEALTH_WARN,
                   "replace the file; until then the main model has the requests with tools", "%s",
                   err.message);
    td_model_close(model);
}

static void check_model(struct doctor *doctor, const struct config_tier *tier)
{
    struct td_error err = {0};
    char path[4096] = "", name[80] = "model";
    struct td_model *model = NULL;
    struct td_model_options options = {.cpu = doctor->cpu};
    const char *wanted = doctor->model_path ? doctor->model_path : doctor->config->engine.model;
    if (tier->model) {
        wanted = tier->model;
        snprintf(name, sizeof name, "model of %.64s", tier->name);
    }
    if (model_file_find(wanted, doctor->config->models.dir, path, sizeof path, &err) != TD_OK ||
        td_model_open(path, &options, &model, &err) != TD_OK) {
        add_model_failure(doctor, name, tier->name, path, err.message);
        check_failures(doctor, name, path);
        return;
    }
    check_failures(doctor, name, path);
    add_file(doctor, name, path, model);
    check_tools_model(doctor, path);
    check_memory(doctor, td_model_get_info(model));
    check_bits(doctor, tier, model, path);
    check_cache(doctor, model, path);
    check_age(doctor, tier, path);
    check_confidence(doctor, tier, model, path);
    td_model_close(model);
}

void doctor_check_models(struct doctor *doctor)
{
    const struct config_tier *main = NULL; /* the first that runs engine.model */
    for (size_t i = 0; i < doctor->config->tier_count; i++) {
        const struct config_tier *tier = &doctor->config->tiers[i];
        if (tier->kind != CONFIG_TIER_LOCAL)
            continue;
        check_model(doctor, tier);
        main = main == NULL && !tier->model ? tier : main;
    }
    char path[LOCAL_MODEL_PATH_BYTES] = "";
    const char *wanted = doctor->model_path ? doctor->model_path : doctor->config->engine.model;
    if (main &&
        model_file_find(wanted, doctor->config->models.dir, path, sizeof path, NULL) == TD_OK)
        doctor_check_best(doctor, main, path);
    else if (main)
        doctor_check_best(doctor, main, "");
}

void doctor_check_skew(struct doctor *doctor, struct ledger_reader *reader)
{
    struct td_error err = {0};
    struct json *list = NULL;
    struct model_skew skew;
    size_t at = 0;
    if (ledger_reader_skew(reader, 0, &list, &err) != TD_OK)
        doctor_add(doctor, "model skew", HEALTH_WARN, NULL, "%s", err.message);
    while (list && model_skew_next(list, doctor->config->models.max_skew, &at, &skew))
        doctor_add(doctor, "model skew", HEALTH_WARN,
                   "update the local model; models.skewed says what happens until then, and "
                   "'tandem models versions' shows the figures",
                   "%.40s and %.40s said something else in %.0f %% of %.0f answers (%s to %s); "
                   "models.max_skew is %g",
                   skew.tier, skew.shadow, 100 * skew.differ, skew.compared, skew.first_day,
                   skew.last_day, doctor->config->models.max_skew);
    json_free(list);
}
