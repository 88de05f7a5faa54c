/* tandem doctor: each thing that must work is tried, and what does not is said with what to do. A
 * check is one function; the table is their order. */
#include "app/cli/command.h"
#include "app/cli/device_words.h"
#include "app/cli/options.h"
#include "app/cli/server_check.h"
#include "app/cli/verb.h"
#include "app/config/config.h"
#include "app/config/mistakes.h"
#include "app/setup/credentials/server_secrets.h"
#include "app/setup/model/local_model.h"
#include "app/setup/model/model_file.h"
#include "app/setup/model/model_identity.h"
#include "app/setup/model/model_record.h"
#include "app/setup/model/retirement.h"
#include "app/setup/policy/calibration_file.h"
#include "app/setup/policy/confidence_file.h"
#include "app/setup/policy/policy_build.h"
#include "app/setup/privacy/egress_setup.h"
#include "app/setup/process/client_keys.h"
#include "app/setup/process/listeners.h"
#include "app/verbs/run/doctor.h"
#include "base/clock.h"
#include "base/confine.h"
#include "base/cores.h"
#include "base/json.h"
#include "base/memory_free.h"
#include "base/names.h"
#include "base/str.h"
#include "kernels/kernels.h"
#include "ledger/ledger.h"
#include "net/transport/listen.h"
#include "net/transport/tls.h"
#include "router/plan/model_names.h"
#include "router/plan/reach.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

static const char *const health_names[] = {"ok", "warn", "fail"};

void doctor_add(struct doctor *doctor, const char *name, enum health health, const char *advice,
                const char *format, ...)
{
    if (doctor->result_count == DOCTOR_RESULTS_MAX)
        return;
    struct result *result = &doctor->results[doctor->result_count++];
    result->health = health;
    snprintf(result->name, sizeof result->name, "%s", name);
    snprintf(result->advice, sizeof result->advice, "%s", advice ? advice : "");
    va_list args;
    va_start(args, format);
    vsnprintf(result->text, sizeof result->text, format, args);
    va_end(args);
}

static void check_cpu(struct doctor *doctor)
{
    struct td_error err = {0};
    const struct kernels *kernels = kernels_get(doctor->cpu, &err);
    if (!kernels)
        doctor_add(doctor, "cpu", HEALTH_FAIL, "remove --cpu, or use --cpu=ref", "%s", err.message);
    else if (strcmp(kernels->name, "ref") == 0 && doctor->cpu == TD_CPU_AUTO)
        doctor_add(doctor, "cpu", HEALTH_WARN, "a CPU with AVX2 or NEON is many times faster",
                   "this CPU can run only the slow reference kernels");
    else
        doctor_add(doctor, "cpu", HEALTH_OK, NULL, "kernel variant %s", kernels->name);
}

/* As the engine sees them: see base/cores.h. */
static void check_cores(struct doctor *doctor)
{
    struct cores cores;
    char quota[48] = "", slow[48] = "";
    cores_read("", NULL, &cores);
    if (cores.fast < cores.usable)
        snprintf(slow, sizeof slow, " (%u fast, %u slow)", cores.fast, cores.usable - cores.fast);
    if (cores.quota > 0)
        snprintf(quota, sizeof quota, ", a quota of %.2f cores", cores.quota);
    uint32_t fits = cores_thread_count(&cores), set = doctor->config->engine.threads;
    bool too_many = set > cores.usable || (cores.quota > 0 && set > fits);
    doctor_add(doctor, "cores", too_many ? HEALTH_WARN : HEALTH_OK,
               too_many ? "remove engine.threads: more threads than cores wait for each other"
                        : NULL,
               "%u usable%s%s, %u compute threads", cores.usable, slow, quota, set ? set : fits);
}

static void check_device(struct doctor *doctor)
{
    char words[384];
    bool usual = device_words_write(doctor->config->device.root, words, sizeof words);
    doctor_add(doctor, "device", usual ? HEALTH_OK : HEALTH_WARN,
               usual ? NULL : "docs/device.md says what a server does about it", "%s", words);
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
            doctor, name, HEALTH_WARN, advice,
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
        doctor_check_failures(doctor, name, path);
        return;
    }
    doctor_check_failures(doctor, name, path);
    add_file(doctor, name, path, model);
    check_tools_model(doctor, path);
    check_memory(doctor, td_model_get_info(model));
    doctor_check_bits(doctor, tier, model, path);
    doctor_check_cache(doctor, model, path);
    doctor_check_age(doctor, tier, path);
    check_confidence(doctor, tier, model, path);
    td_model_close(model);
}

static void check_models(struct doctor *doctor)
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

static void check_state(struct doctor *doctor)
{
    const char *dir = doctor->config->state_dir;
    struct stat stat_of;
    if (stat(dir, &stat_of) != 0 && errno == ENOENT) {
        doctor_add(doctor, "state directory", HEALTH_OK, NULL, "%s will be made at the first start",
                   dir);
        return;
    }
    if (access(dir, W_OK | X_OK) == 0)
        doctor_add(doctor, "state directory", HEALTH_OK, NULL, "%s is writable", dir);
    else
        doctor_add(doctor, "state directory", HEALTH_FAIL,
                   "make the folder writable, or choose another with TANDEM_STATE_DIR", "%s: %s",
                   dir, strerror(errno));
}

static void check_ledger(struct doctor *doctor)
{
    struct td_error err = {0};
    struct ledger_reader *reader = NULL;
    struct json *list = NULL;
    const char *path = doctor->config->ledger.path;
    if (!doctor->config->ledger.enabled) {
        doctor_add(doctor, "ledger", HEALTH_WARN,
                   "set ledger.enabled: true, else there are no explanations",
                   "switched off: no exchange is recorded");
        return;
    }
    if (ledger_is_file(path) && access(path, F_OK) != 0) {
        doctor_add(doctor, "ledger", HEALTH_OK, NULL, "%s will be made at the first start", path);
        return;
    }
    if (ledger_reader_open(path, &reader, &err) == TD_OK &&
        ledger_reader_list(reader, NULL, 0, 1, &list, &err) == TD_OK)
        doctor_add(doctor, "ledger", HEALTH_OK, NULL, "%s can be read", path);
    else
        doctor_add(
            doctor, "ledger", HEALTH_FAIL,
            ledger_is_file(path)
                ? "move the file away; the next start makes a new one"
                : "start the database, and 'tandem serve' once, which makes what it needs there",
            "%s", err.message);
    json_free(list);
    if (reader)
        doctor_check_skew(doctor, reader);
    ledger_reader_close(reader);
}

static void check_confinement(struct doctor *doctor)
{
    struct td_error err = {0};
    if (!doctor->config->privacy.confine)
        doctor_add(doctor, "confinement", HEALTH_WARN, "set privacy.confine: true",
                   "switched off: a process with network access answers restricted requests");
    else if (confine_try(&err) == TD_OK)
        doctor_add(
            doctor, "confinement", HEALTH_OK, NULL,
            "a confined worker was started as a test: it can open neither sockets nor files");
    else
        doctor_add(
            doctor, "confinement", HEALTH_FAIL,
            "restricted requests are refused; privacy.confine: false lets the server itself answer "
            "them",
            "%s", err.message);
}

static void check_retention(struct doctor *doctor)
{
    struct sysinfo memory;
    if (!doctor->config->privacy.zero_retention) {
        doctor_add(doctor, "retention", HEALTH_OK, NULL, "texts are %s",
                   doctor->config->ledger.store_prompts
                       ? "stored in the ledger (ledger.store_prompts)"
                       : "not stored; privacy.zero_retention is off");
        return;
    }
    bool swaps = sysinfo(&memory) == 0 && memory.totalswap > 0;
    doctor_add(
        doctor, "retention", swaps ? HEALTH_WARN : HEALTH_OK,
        swaps ? "switch swap off or encrypt it: it may write memory to the disk" : NULL,
        "zero retention: no texts, users or comments in the ledger, no cached prompts, freed "
        "memory is overwritten, no core files%s",
        swaps ? "; but this machine uses swap" : "");
}

static void check_address(struct doctor *doctor, const struct config_listen *address)
{
    struct td_error err = {0};
    int fd;
    if (address->path) {
        if (listen_try_path(address->path, &err))
            doctor_add(doctor, "socket", HEALTH_OK, NULL, "%s is free", address->path);
    } else if ((fd = listen_open(address->host, address->port, false, &err)) >= 0) {
        close(fd);
        doctor_add(doctor, "port", HEALTH_OK, NULL, "%s is free", address->text);
    }
    if (err.status == TD_INVALID)
        doctor_add(doctor, "port", HEALTH_FAIL, "write server.listen as HOST:PORT or unix:/PATH",
                   "%s", err.message);
    else if (err.status != TD_OK)
        doctor_add(doctor, address->path ? "socket" : "port", HEALTH_WARN,
                   "no problem if that is tandem; else choose another address with --listen or "
                   "TANDEM_LISTEN",
                   "%s", err.message);
}

static void check_tls(struct doctor *doctor)
{
    struct tls_options options;
    struct tls_files more[TLS_MORE_MAX];
    struct tls_keeper *keeper;
    struct td_error err = {0};
    if (!listeners_tls(doctor->config, more, &options))
        return;
    if (tls_keeper_new(&options, &keeper, &err) != TD_OK) {
        doctor_add(doctor, "certificate", HEALTH_FAIL, "check server.tls", "%s", err.message);
        return;
    }
    double days = difftime(tls_keeper_expiry(keeper), time(NULL)) / 86400;
    tls_keeper_free(keeper);
    if (days < 0)
        doctor_add(doctor, "certificate", HEALTH_FAIL,
                   "replace it; the server reads the new one by itself",
                   "%s ended %.0f days ago: clients refuse it", options.files.certificate, -days);
    else
        doctor_add(doctor, "certificate", days < LISTENERS_EXPIRY_DAYS ? HEALTH_WARN : HEALTH_OK,
                   days < LISTENERS_EXPIRY_DAYS
                       ? "replace it; the server reads the new one by itself"
                       : NULL,
                   "%s ends in %.0f days", options.files.certificate, days);
}

static void check_port(struct doctor *doctor)
{
    const struct config *config = doctor->config;
    struct td_error err = {0};
    if (client_keys_check_reach(config, &err) != TD_OK)
        doctor_add(doctor, "keys", HEALTH_FAIL, "set client keys, or say that everybody may come",
                   "%s", err.message);
    for (size_t i = 0; i < config->server.address_count; i++)
        check_address(doctor, &config->server.addresses[i]);
}

/* --- tiers elsewhere --- */

/* Where a tier is the configuration says, and nobody can look: so the words say who said it. */
static void describe_reach(const struct doctor *doctor, const struct config_tier *tier,
                           char words[static 96])
{
    const struct tier_facts facts = policy_tier_facts(doctor->config, tier);
    char seen[64] = "";
    for (int c = TD_CLASS_PUBLIC; c <= TD_CLASS_RESTRICTED; c++)
        if (reach_allowed(&facts, (enum td_data_class)c))
            snprintf(seen + strlen(seen), sizeof seen - strlen(seen), "%s%s", *seen ? ", " : "",
                     names_class((enum td_data_class)c));
    snprintf(words, 96, "place %s%s, sees %s data", names_place(facts.place),
             facts.place == TD_PLACE_DEVICE ? "" : " as configured", *seen ? seen : "no");
}

/* ", models a, b": what its server is asked for. */
static void describe_models(const struct config_tier *tier, char words[static 160])
{
    size_t used =
        (size_t)snprintf(words, 160, ", model%s %.40s", tier->model_count ? "s" : "", tier->model);
    for (size_t i = 0; i < tier->model_count && used < 160; i++)
        used += (size_t)snprintf(words + used, 160 - used, ", %.40s", tier->models[i].name);
}

static bool has_gate(const struct config_route *route)
{
    const struct gate_settings *gates = &route->gates;
    return gates->g1_probe_min > 0 || gates->g2_abandon_under > 0 ||
           (gates->g2_tokens > 0 && gates->g2_confidence_min > 0) || gates->g3_confidence_min > 0;
}

static void add_finding(struct doctor *doctor, const char *name,
                        const struct server_finding *finding, const char *reach)
{
    static const enum health healths[] = {
        [SERVER_OK] = HEALTH_OK, [SERVER_WARN] = HEALTH_WARN, [SERVER_FAIL] = HEALTH_FAIL};
    doctor_add(doctor, name, healths[finding->verdict], finding->advice, "%s%s%s", finding->text,
               *reach ? ", " : "", reach);
}

/* Whether a gate of some route decides if the answers of the tier are kept. */
static bool is_judged(const struct config *config, const struct config_tier *tier)
{
    for (size_t i = 0; i < config->route_count; i++) {
        const struct config_route *route = &config->routes[i];
        for (size_t t = 0; has_gate(route) && t + 1 < route->tiers.count; t++)
            if (strcmp(route->tiers.items[t], tier->name) == 0)
                return true;
    }
    return false;
}

/* What costs money or leaves the premises is not asked for anything but its list. */
static bool may_ask(const struct config_tier *tier)
{
    return tier->input_usd_per_mtok <= 0 && tier->output_usd_per_mtok <= 0 &&
           (tier->place == TD_PLACE_DEVICE || tier->place == TD_PLACE_PREMISES);
}

/* One of several keys. */
static void check_key(struct doctor *doctor, const struct server_check *check, const char *name)
{
    char key[160];
    struct server_finding finding;
    snprintf(key, sizeof key, "%.60s key %.64s", name, check->secrets->keys[check->key].name);
    server_check_reach(check, &finding);
    add_finding(doctor, key, &finding, "");
}

static void check_server(struct doctor *doctor, const struct config_tier *tier,
                         const struct server_secrets *secrets, const char *name, const char *reach)
{
    const struct tier_facts facts = policy_tier_facts(doctor->config, tier);
    struct server_check check = {
        .tier = tier, .facts = &facts, .secrets = secrets, .egress = doctor->egress};
    struct server_finding finding;
    for (check.key = secrets->key_count; check.key-- > 1;) /* the first one at last */
        check_key(doctor, &check, name);
    check.key = 0;
    server_check_reach(&check, &finding);
    add_finding(doctor, name, &finding, finding.verdict == SERVER_OK ? reach : "");
    if (finding.verdict == SERVER_FAIL || !is_judged(doctor->config, tier) || !may_ask(tier))
        return;
    server_check_logprobs(&check, &finding);
    add_finding(doctor, name, &finding, "");
}

static void check_tier(struct doctor *doctor, const struct config_tier *tier)
{
    char name[64], advice[256], reach[96], models[160];
    snprintf(name, sizeof name, "tier %.50s", tier->name);
    describe_reach(doctor, tier, reach);
    describe_models(tier, models);
    struct td_error err = {0};
    struct server_secrets secrets = {0};
    if (server_secrets_open(tier, &secrets, &err) != TD_OK) {
        doctor_add(doctor, name, HEALTH_FAIL,
                   tier->api_key_file || tier->key_count
                       ? "write the API key into that file"
                       : "docs/providers.md says where credentials are looked for",
                   "%s", err.message);
    } else if (secrets.missing.status != TD_OK) {
        doctor_add(
            doctor, name, HEALTH_FAIL,
            "docs/providers.md says where credentials are looked for; a server goes on trying",
            "no credentials: %.400s", secrets.missing.message);
    } else if (!server_secrets_suffice(&secrets, tier)) {
        snprintf(advice, sizeof advice, "set %.200s; until then only the other tiers answer",
                 tier->key_count     ? "the variable of one of its keys"
                 : tier->api_key_env ? tier->api_key_env
                                     : "its key");
        /* The default configuration has a cloud for those who give a key. */
        doctor_add(doctor, name, tier->model_assumed ? HEALTH_WARN : HEALTH_FAIL, advice,
                   "no API key: the tier is not used");
    } else if (doctor->offline) {
        doctor_add(doctor, name, HEALTH_OK, NULL,
                   "the API key is there (server not contacted), %s%s", reach, models);
    } else if (egress_setup_open(doctor->config, &doctor->egress, &err) != TD_OK) {
        doctor_add(doctor, name, HEALTH_FAIL, "check ledger.egress", "%s", err.message);
    } else {
        check_server(doctor, tier, &secrets, name, reach);
    }
    server_secrets_close(&secrets);
}

static void add_retirement(void *ctx, const struct config_tier *tier, const char *model,
                           const char *words)
{
    char name[64], advice[160];
    snprintf(name, sizeof name, "model of %.50s", tier->name);
    snprintf(advice, sizeof advice,
             "name another model; 'tandem models prices' shows what is known of one");
    doctor_add(ctx, name, HEALTH_WARN, advice, "model %.100s: %s", model, words);
}

static void check_retirement(struct doctor *doctor)
{
    retirement_each(doctor->config, clock_wall_ms(NULL), add_retirement, doctor);
}

/* By which names clients come to the route beside its own. */
static void check_names(struct doctor *doctor, const struct config_route *route)
{
    char name[64], list[480] = "";
    bool first = route == doctor->config->routes;
    const char *const *aliases = route->aliases.items ? route->aliases.items
                                 : first              ? model_names_common
                                                      : NULL;
    size_t used = 0;
    for (; aliases && *aliases && used < sizeof list - 1; aliases++)
        used +=
            (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", *aliases);
    snprintf(name, sizeof name, "names of %.50s", route->name);
    if (used)
        doctor_add(doctor, name, HEALTH_OK, NULL, "it also takes requests for %s", list);
}

static void check_routes(struct doctor *doctor)
{
    const struct config *config = doctor->config;
    doctor_add(doctor, "configuration", HEALTH_OK, NULL, "%s: %zu tier%s, %zu route%s",
               config->label, config->tier_count, config->tier_count == 1 ? "" : "s",
               config->route_count, config->route_count == 1 ? "" : "s");
    for (size_t i = 0; i < config->route_count; i++) {
        const struct config_route *route = &config->routes[i];
        char name[64];
        snprintf(name, sizeof name, "route %.50s", route->name);
        if (route->tiers.count > 1 && !has_gate(route))
            doctor_add(doctor, name, HEALTH_OK, NULL,
                       "no gate judges its answers: a further tier is asked only when one fails");
        check_names(doctor, route);
    }
}

/* --- the verb --- */

static void run_checks(struct doctor *doctor)
{
    static void (*const checks[])(struct doctor *) = {
        check_routes,    check_cpu,   check_cores,  check_device,
        check_models,    check_state, check_ledger, check_confinement,
        check_retention, check_port,  check_tls,    check_retirement};
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        checks[i](doctor);
    for (size_t i = 0; i < doctor->config->tier_count; i++)
        if (doctor->config->tiers[i].kind >= CONFIG_TIER_SERVER)
            check_tier(doctor, &doctor->config->tiers[i]);
}

static int print_results(const struct doctor *doctor, bool json)
{
    enum health worst = HEALTH_OK;
    struct json *object = json_new_object(), *checks = json_new_array();
    for (size_t i = 0; i < doctor->result_count; i++) {
        const struct result *result = &doctor->results[i];
        worst = result->health > worst ? result->health : worst;
        if (!json) {
            printf("%-4s  %-18s %s\n", health_names[result->health], result->name, result->text);
            if (*result->advice)
                printf("      %-18s -> %s\n", "", result->advice);
            continue;
        }
        struct json *check = json_new_object();
        json_put(check, "name", json_new_cstr(result->name));
        json_put(check, "status", json_new_cstr(health_names[result->health]));
        json_put(check, "text", json_new_cstr(result->text));
        json_put(check, "advice", json_new_cstr(*result->advice ? result->advice : NULL));
        json_push(checks, check);
    }
    json_put(object, "status", json_new_cstr(health_names[worst]));
    json_put(object, "checks", checks);
    if (json && !command_print_json(object))
        return 1;
    if (!json)
        json_free(object);
    return worst == HEALTH_FAIL ? 1 : 0;
}

static void add_mistakes(struct doctor *doctor, const char *path, const struct td_error *err)
{
    static const char advice[] = "see 'tandem help config'";
    struct config_mistakes *mistakes = config_find_mistakes(path);
    if (!mistakes)
        doctor_add(doctor, "configuration", HEALTH_FAIL, advice, "%s", err->message);
    for (size_t i = 0; mistakes && i < mistakes->count && i < CONFIG_MISTAKES_MAX; i++)
        doctor_add(doctor, "configuration", HEALTH_FAIL, advice, "%s", mistakes->text[i]);
    free(mistakes);
}

static int cmd_doctor(int argc, char **argv)
{
    const char *config_path = NULL;
    bool json = false;
    struct doctor doctor = {0};
    const struct option options[] = {
        OPTION_ROW_CONFIG(config_path),
        OPTION_ROW_MODEL(doctor.model_path),
        {"offline", 0, OPTION_FLAG, &doctor.offline, NULL, "do not contact the other tiers", 0, 0},
        OPTION_ROW_CPU(doctor.cpu),
        OPTION_ROW_JSON(json),
    };
    const struct option_spec spec = {
        .verb = "doctor",
        .summary = "Checks the configuration, CPU, model, state folder, ledger, port and the "
                   "other tiers, and says what to do. The exit code is 1 when something must be "
                   "fixed.",
        OPTION_TABLE(options),
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, NULL, NULL);
    struct td_error err = {0};
    if (config_load(config_path, &doctor.config, &err) == TD_OK)
        run_checks(&doctor);
    else
        add_mistakes(&doctor, config_path, &err);
    int code = print_results(&doctor, json);
    egress_log_close(doctor.egress);
    config_free(doctor.config);
    return code;
}

const struct verb verb_doctor = {"doctor", cmd_doctor, "check the installation and say what to do"};
