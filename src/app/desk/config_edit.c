/* The configuration's file over HTTP: shown with a version, checked as `tandem policy check` does,
 * and replaced as a whole. Who changed a text that is not the newest is told so: the version is a
 * digest of the file. A text that the server refuses when it reloads goes out of the file again,
 * because the next start would fail at it. The text of before stays beside it as FILE.bak. */
#include "app/config/config_listen.h"
#include "app/config/mistakes.h"
#include "app/config/yaml_tree.h"
#include "app/desk/config_text.h"
#include "app/desk/desk_internal.h"
#include "app/evidence/policy_report.h"
#include "app/setup/process/client_keys.h"
#include "app/setup/process/restart_keys.h"
#include "app/setup/process/runtime.h"
#include "base/bytes/file.h"
#include "base/bytes/path.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "base/json/json.h"
#include "base/time/log.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define CASES_ARENA_BYTES (8u << 20)
#define VERSION_BYTES (2 * CRYPTO_SHA256_BYTES + 1)
#define GROUPS_MAX 256

/* The file as it is now. */
struct present {
    char path[PATH_MAX]; /* behind links */
    struct stat info;
    struct buf text;
    char version[VERSION_BYTES];
    struct config *config; /* NULL = it has mistakes */
    struct td_error why;   /* then the first one */
};

static void close_present(struct present *present)
{
    buf_deinit(&present->text);
    config_free(present->config);
}

static void digest_of(const struct buf *text, char version[static VERSION_BYTES])
{
    uint8_t digest[CRYPTO_SHA256_BYTES];
    crypto_sha256(text->data, text->len, digest);
    crypto_hex(digest, sizeof digest, version);
}

/* To be closed, also after a failure. */
static enum td_status read_present(const struct desk *desk, struct present *out,
                                   struct td_error *err)
{
    const char *path = desk->options.config_path;
    out->config = NULL;
    buf_init(&out->text, YAML_BYTES_MAX);
    if (!path)
        return error_set(err, TD_UNSUPPORTED,
                         "this server runs without a configuration file; write one with 'tandem "
                         "init', and start with --config FILE");
    if (!realpath(path, out->path) || stat(out->path, &out->info) != 0)
        return error_set(err, TD_NOT_FOUND, "%s: %s", path, strerror(errno));
    enum td_status status = buf_read_file(&out->text, out->path, err);
    if (status != TD_OK)
        return status;
    digest_of(&out->text, out->version);
    if (config_parse(path, buf_view(&out->text), NULL, NULL, &out->config, &out->why) != TD_OK)
        out->config = NULL;
    return TD_OK;
}

/* --- who may change it --- */

/* Also by way of a proxy, which has a name of its own, or of a page of another origin. */
static bool is_reachable(const struct config *config)
{
    bool far = config->server.allowed_hosts.count || config->server.cors_origins.count ||
               config->server.local_origins || config->server.proxy_protocol_from.count;
    for (size_t i = 0; i < config->server.address_count; i++) {
        const struct config_listen *address = &config->server.addresses[i];
        far = far || (address->host && !config_listen_is_near(address->host));
    }
    return far;
}

static bool is_our_group(gid_t group)
{
    gid_t groups[GROUPS_MAX];
    int count = getgroups(GROUPS_MAX, groups);
    bool ours = geteuid() == 0 || group == getegid();
    for (int i = 0; i < count; i++)
        ours = ours || groups[i] == group;
    return ours;
}

/* Whether the file can be replaced and keep its owner. */
static enum td_status check_file(const struct present *present, struct td_error *err)
{
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", present->path);
    *strrchr(folder, '/') = '\0';
    bool owned = geteuid() == 0 || present->info.st_uid == geteuid();
    if (access(*folder ? folder : "/", W_OK) != 0 || access(present->path, W_OK) != 0)
        return error_set(err, TD_DENIED,
                         "the server may not write %s or its folder: %s; change the file there",
                         present->path, strerror(errno));
    if (!owned || !is_our_group(present->info.st_gid))
        return error_set(err, TD_DENIED,
                         "%s belongs to another user or group than the server; change it there",
                         present->path);
    return TD_OK;
}

static enum td_status check_may(const struct desk *desk, const struct api_desk_ask *ask,
                                const struct present *present, struct td_error *err)
{
    const struct config *first = runtime_config(desk->options.runtime);
    bool far = is_reachable(first);
    if (!ask->admin)
        return error_set(err, TD_DENIED,
                         "only an operator's key of the configuration (server.operator_keys_env or "
                         "operator_keys_file) may check or change it");
    if (first->server.config_edit == CONFIG_EDIT_OFF)
        return error_set(err, TD_DENIED, "server.config_edit is off; change the file itself");
    if (far && first->server.config_edit != CONFIG_EDIT_ON)
        return error_set(
            err, TD_DENIED,
            "others reach this server (by its address, a proxy, or pages of other origins), so "
            "its file is not changed here; server.config_edit: on allows it");
    if (far && ask->open)
        return error_set(err, TD_DENIED,
                         "others reach this server, and it needs no key; set "
                         "server.operator_keys_env to change its file here");
    return check_file(present, err);
}

/* --- the steps --- */

/* "file:line: what", or a text without a line. */
static struct json *remark(const char *label, const char *text)
{
    size_t len = strlen(label);
    struct json *row = json_new_object();
    char *end = NULL;
    unsigned long line = 0;
    if (strncmp(text, label, len) == 0 && text[len] == ':')
        line = strtoul(text + len + 1, &end, 10);
    bool placed = line > 0 && end && strncmp(end, ": ", 2) == 0;
    json_put(row, "line", placed ? json_new_int((int64_t)line) : json_new_null());
    json_put(row, "text", json_new_cstr(placed ? end + 2 : text));
    return row;
}

static void put_mistakes(struct json *report, struct json *errors, const char *label,
                         struct td_str text, const struct td_error *err)
{
    struct config_mistakes *mistakes = config_find_mistakes_in(label, text);
    size_t count = mistakes ? mistakes->count : 0;
    for (size_t i = 0; i < count && i < CONFIG_MISTAKES_MAX; i++)
        json_push(errors, remark(label, mistakes->text[i]));
    if (!count)
        json_push(errors, remark(label, err->message));
    json_put(report, "error_count", json_new_int((int64_t)(count ? count : 1)));
    free(mistakes);
}

/* The tests beside it: FILE.test.yaml of FILE.yaml. NULL where there are none. */
static struct json *run_tests(const struct present *present, const struct policy_opened *opened)
{
    char path[PATH_MAX + 16];
    struct td_error err = {0};
    struct buf text;
    struct policy_cases cases = {NULL, NULL, 0};
    const char *dot = strrchr(present->path, '.');
    int len = dot && !strchr(dot, '/') ? (int)(dot - present->path) : (int)strlen(present->path);
    snprintf(path, sizeof path, "%.*s.test.yaml", len, present->path);
    const char *name = strrchr(path, '/') + 1;
    if (access(path, F_OK) != 0)
        return json_new_null();
    struct policy_tally tally = {.label = name, .results = json_new_array()};
    struct json *report = json_new_object();
    struct arena *arena = arena_new(CASES_ARENA_BYTES);
    buf_init(&text, YAML_BYTES_MAX);
    enum td_status status = arena ? buf_read_file(&text, path, &err) : TD_NO_MEMORY;
    if (status == TD_OK)
        status = policy_cases_read(name, buf_view(&text), arena, &cases, &err);
    if (status == TD_OK)
        status = policy_report_cases(opened, &cases, &tally, &err);
    json_put(report, "file", json_new_cstr(name));
    json_put(report, "passed", json_new_int((int64_t)tally.passed));
    json_put(report, "failed", json_new_int((int64_t)tally.failed));
    json_put(report, "tests", tally.results);
    json_put(report, "error", json_new_cstr(status == TD_OK ? NULL : err.message));
    buf_deinit(&text);
    arena_free(arena);
    return report;
}

static void put_restart(struct json *report, const struct config *first, const struct config *next)
{
    const char *sections[RESTART_SECTIONS_MAX];
    size_t count = restart_keys_find(first, next, sections);
    struct json *list = json_new_array();
    for (size_t i = 0; i < count; i++)
        json_push(list, json_new_cstr(sections[i]));
    json_put(report, "restart", list);
}

/* What a sound text makes. */
static enum td_status put_found(const struct desk *desk, const struct present *present,
                                const struct policy_opened *opened, struct json *report)
{
    const struct config *config = opened->config;
    struct td_error err = {0};
    struct json *found = policy_report_warnings(config), *warnings = json_new_array();
    for (size_t i = 0; i < json_count(found); i++)
        json_push(warnings, remark(config->label, json_cstr(json_at(found, i))));
    if (client_keys_check(config, &err) != TD_OK)
        json_push(warnings, remark(config->label, err.message));
    json_free(found);
    json_put(report, "warnings", warnings);
    json_put(report, "policy_version", json_new_cstr(opened->parts->policy.version));
    json_put(report, "tiers", json_new_int((int64_t)config->tier_count));
    json_put(report, "routes", json_new_int((int64_t)config->route_count));
    json_put(report, "rules", json_new_int((int64_t)config->rule_count));
    json_put(report, "tests", run_tests(present, opened));
    put_restart(report, runtime_config(desk->options.runtime), config);
    return TD_OK;
}

/* {"ok", "errors", "error_count"}, and of a sound text what put_found says. */
static struct json *check_text(const struct desk *desk, const struct api_desk_ask *ask,
                               const struct present *present, struct td_str text)
{
    const char *label = desk->options.config_path;
    struct td_error err = {0};
    struct config *config;
    struct policy_opened opened = {.config = NULL};
    struct json *report = json_new_object(), *errors = json_new_array();
    json_put(report, "object", json_new_cstr("config_check"));
    enum td_status status = config_parse(label, text, NULL, NULL, &config, &err);
    if (status == TD_OK) {
        config_text_refuse(present->config, config, ask->open, errors);
        status = json_count(errors) ? TD_DENIED : policy_opened_of(config, &opened, &err);
        if (status == TD_DENIED)
            config_free(config);
        else if (status == TD_OK)
            status = policy_opened_check_start(&opened, &err);
        if (status == TD_OK)
            status = put_found(desk, present, &opened, report);
        else if (status != TD_DENIED)
            json_push(errors, remark(label, err.message));
    } else {
        put_mistakes(report, errors, label, text, &err);
    }
    if (!json_get(report, "error_count"))
        json_put(report, "error_count", json_new_int((int64_t)json_count(errors)));
    json_put(report, "ok", json_new_bool(status == TD_OK));
    json_put(report, "errors", errors);
    policy_opened_free(&opened);
    return report;
}

enum td_status desk_config_show(struct desk *desk, const struct api_desk_ask *ask,
                                struct json **out, struct td_error *err)
{
    struct present present;
    struct buf text;
    struct td_error why = {0};
    buf_init(&text, 2 * YAML_BYTES_MAX);
    enum td_status status = read_present(desk, &present, err);
    bool none = status == TD_UNSUPPORTED;
    if (none)
        why = *err;
    else if (status == TD_OK && !present.config)
        status =
            error_set(err, TD_UNSUPPORTED, "the file has a mistake, so its text is not shown: %s",
                      present.why.message);
    else if (status == TD_OK)
        status = config_text_hide(present.config, buf_view(&present.text), &text, err);
    bool may = !none && status == TD_OK && check_may(desk, ask, &present, &why) == TD_OK;
    if (none || status == TD_OK) {
        const char *path = desk->options.config_path;
        struct json *object = *out = json_new_object(), *sections = json_new_array();
        for (const char *const *at = config_text_open_sections; ask->open && *at; at++)
            json_push(sections, json_new_cstr(*at));
        json_put(object, "object", json_new_cstr("config"));
        json_put(object, "file", json_new_cstr(path));
        json_put(object, "text", json_new_text(none ? STR("") : buf_view(&text)));
        json_put(object, "version", json_new_cstr(none ? NULL : present.version));
        json_put(object, "may_change", json_new_bool(may));
        json_put(object, "why_not", json_new_cstr(may ? NULL : why.message));
        json_put(object, "sections", sections);
        status = text.failed ? TD_NO_MEMORY : TD_OK;
    }
    buf_deinit(&text);
    close_present(&present);
    return status;
}

/* The text as it would stand in the file. */
static enum td_status restore(const struct present *present, struct td_str text, struct buf *out,
                              struct td_error *err)
{
    buf_init(out, YAML_BYTES_MAX);
    if (present->config)
        config_text_restore(present->config, text, out);
    else
        buf_append_str(out, text);
    return out->failed
               ? error_set(err, TD_LIMIT, "a configuration has at most %u bytes", YAML_BYTES_MAX)
               : TD_OK;
}

enum td_status desk_config_check(struct desk *desk, const struct api_desk_ask *ask,
                                 struct json **out, struct td_error *err)
{
    struct present present;
    struct buf text = {0};
    enum td_status status = read_present(desk, &present, err);
    if (status == TD_OK)
        status = check_may(desk, ask, &present, err);
    if (status == TD_OK)
        status = restore(&present, ask->text, &text, err);
    if (status == TD_OK)
        *out = check_text(desk, ask, &present, buf_view(&text));
    buf_deinit(&text);
    close_present(&present);
    return status;
}

/* Only the owner reads it until it has the group and the mode of before. */
static enum td_status replace(const struct present *present, struct td_str text,
                              struct td_error *err)
{
    enum td_status status = file_replace(present->path, text, present->info.st_mode & 0600, err);
    if (status == TD_OK && (chown(present->path, present->info.st_uid, present->info.st_gid) != 0 ||
                            chmod(present->path, present->info.st_mode & 07777) != 0))
        status = error_set(err, TD_IO, "%s: %s", present->path, strerror(errno));
    return status;
}

static enum td_status write_and_reload(struct desk *desk, const struct present *present,
                                       struct td_str text, struct td_error *err)
{
    char backup[PATH_MAX + 8];
    struct td_error again = {0};
    snprintf(backup, sizeof backup, "%s.bak", present->path);
    enum td_status status =
        file_replace(backup, buf_view(&present->text), present->info.st_mode & 0700, err);
    if (status == TD_OK)
        status = replace(present, text, err);
    if (status != TD_OK)
        return status;
    status = desk_reload(desk, err);
    if (status == TD_OK || status == TD_TIMEOUT)
        return status;
    error_prefix(err, "the server refused the text, and the file is as it was");
    if (replace(present, buf_view(&present->text), &again) != TD_OK)
        log_event(LOG_LEVEL_ERROR, "config_not_put_back", "error=\"%s\"", again.message);
    return TD_INVALID;
}

static enum td_status check_version(const struct present *present, const char *version,
                                    struct td_error *err)
{
    return version && strcmp(version, present->version) == 0
               ? TD_OK
               : error_set(err, TD_BUSY,
                           "the file is not the one that was changed: read it again, and give its "
                           "version");
}

enum td_status desk_config_apply(struct desk *desk, const struct api_desk_ask *ask,
                                 struct json **out, struct td_error *err)
{
    struct present present;
    struct buf text = {0};
    struct json *report = NULL;
    char version[VERSION_BYTES];
    pthread_mutex_lock(&desk->edit);
    enum td_status status = read_present(desk, &present, err);
    if (status == TD_OK)
        status = check_may(desk, ask, &present, err);
    if (status == TD_OK)
        status = check_version(&present, ask->version, err);
    if (status == TD_OK)
        status = restore(&present, ask->text, &text, err);
    if (status == TD_OK) {
        report = check_text(desk, ask, &present, buf_view(&text));
        const struct json *first = json_at(json_get(report, "errors"), 0);
        if (!json_bool(json_get(report, "ok"), false))
            status = error_set(err, TD_INVALID, "line %lld: %s",
                               (long long)json_int(json_get(first, "line"), 0),
                               first ? json_cstr(json_get(first, "text")) : "no memory");
    }
    if (status == TD_OK)
        status = write_and_reload(desk, &present, buf_view(&text), err);
    if (status == TD_OK) {
        digest_of(&text, version);
        log_event(LOG_LEVEL_INFO, "config_changed",
                  "file=%s key=%s policy=%s version=%.12s before=%.12s", present.path,
                  *ask->key_id ? ask->key_id : "none",
                  json_cstr(json_get(report, "policy_version")), version, present.version);
        json_put(report, "object", json_new_cstr("config_change"));
        json_put(report, "version", json_new_cstr(version));
        *out = report;
        report = NULL;
    }
    json_free(report);
    buf_deinit(&text);
    close_present(&present);
    pthread_mutex_unlock(&desk->edit);
    return status;
}
