/* What `tandem doctor` says of local models beside whether they run: few bits, age, skew. */
#include "app/setup/model/cache_check.h"
#include "app/setup/model/model_age.h"
#include "app/setup/model/model_identity.h"
#include "app/setup/model/model_policy.h"
#include "app/setup/model/model_record.h"
#include "app/verbs/run/doctor.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/names.h"
#include "ledger/ledger.h"

#include <math.h>
#include <stdio.h>

/* Few bits are worth a measurement. */
void doctor_check_bits(struct doctor *doctor, const struct config_tier *tier,
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
void doctor_check_cache(struct doctor *doctor, const struct td_model *model, const char *path)
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

void doctor_check_age(struct doctor *doctor, const struct config_tier *tier, const char *path)
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

void doctor_check_failures(struct doctor *doctor, const char *name, const char *path)
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
                   "update the local model, or lower its share with the route's weights; 'tandem "
                   "models versions' shows the figures",
                   "%.40s and %.40s said something else in %.0f %% of %.0f answers (%s to %s); "
                   "models.max_skew is %g",
                   skew.tier, skew.shadow, 100 * skew.differ, skew.compared, skew.first_day,
                   skew.last_day, doctor->config->models.max_skew);
    json_free(list);
}
