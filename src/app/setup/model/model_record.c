/* The file:
 *
 *   {"quarantine": [{"path": "/m/a.gguf", "bytes": 1, "changed_ns": 1, "program": "0.1.0",
 *                    "reason": "..."}, ... at most 32, oldest first],
 *    "good": {"local": "/m/b.gguf", ...},
 *    "failures": [{"path", "bytes", "changed_ns", "program", "reason", "hardware": "avx2, 4 cores,
 *                  16 GB", "count": 2}, ... likewise]}
 *
 * It is a help, and nothing depends on it. So one that cannot be read is empty, and one that cannot
 * be written is logged. */
#include "app/setup/model/model_record.h"

#include "base/bytes/buf.h"
#include "base/bytes/file.h"
#include "base/bytes/path.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/machine/cores.h"
#include "base/time/log.h"
#include "kernels/kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>

#define FILE_BYTES_MAX ((size_t)1 << 20)
#define PATH_BYTES 4096
#define QUARANTINE_MAX 32

/* What tells a file from its later selves. */
struct mark {
    char path[PATH_BYTES];
    int64_t bytes, changed_ns;
};

static bool mark_read(const char *path, struct mark *out)
{
    struct stat file;
    char *whole = realpath(path, NULL);
    bool fits = whole && snprintf(out->path, sizeof out->path, "%s", whole) < PATH_BYTES;
    free(whole);
    if (!fits || stat(path, &file) != 0)
        return false;
    out->bytes = file.st_size;
    out->changed_ns = (int64_t)file.st_mtim.tv_sec * 1000000000 + file.st_mtim.tv_nsec;
    return true;
}

static bool names_path(const struct json *entry, const struct mark *mark)
{
    return str_equal(json_get_text(entry, "path"), str_from(mark->path));
}

static bool holds(const struct json *entry, const struct mark *mark)
{
    return names_path(entry, mark) && json_int(json_get(entry, "bytes"), -1) == mark->bytes &&
           json_int(json_get(entry, "changed_ns"), -1) == mark->changed_ns &&
           str_equal(json_get_text(entry, "program"), STR(TANDEM_VERSION));
}

/* --- the file --- */

/* **returns new** (json_free); NULL = nothing is known. */
static struct json *load(const char *folder)
{
    char path[PATH_BYTES];
    struct json *record = NULL;
    struct buf text;
    buf_init(&text, FILE_BYTES_MAX);
    if (!folder || path_join(path, sizeof path, folder, "models.json", NULL) != TD_OK ||
        buf_read_file(&text, path, NULL) != TD_OK ||
        json_parse(buf_view(&text), &record, NULL) != TD_OK)
        record = NULL;
    buf_deinit(&text);
    return record;
}

static void save(const char *folder, const struct json *record)
{
    char path[PATH_BYTES];
    struct td_error err = {0};
    struct buf text;
    buf_init(&text, FILE_BYTES_MAX);
    json_write(record, &text);
    enum td_status status = path_join(path, sizeof path, folder, "models.json", &err);
    if (status == TD_OK)
        status = path_make_parents(path, 0700, &err);
    if (status == TD_OK && text.failed)
        status = error_set(&err, TD_NO_MEMORY, "no memory");
    if (status == TD_OK)
        status = file_replace(path, buf_view(&text), 0600, &err);
    if (status != TD_OK)
        log_event(LOG_LEVEL_WARN, "models_not_kept", "error=\"%s\"", err.message);
    buf_deinit(&text);
}

/* The entries of a list but those of `mark`'s path, the newest at most. **returns new**. */
static struct json *others_of(const struct json *record, const char *list, const struct mark *mark)
{
    const struct json *entries = json_get(record, list);
    struct json *kept = json_new_array();
    size_t count = json_count(entries), skip = 0;
    if (count >= QUARANTINE_MAX)
        skip = count - QUARANTINE_MAX + 1;
    for (size_t i = skip; i < count; i++)
        if (!names_path(json_at(entries, i), mark))
            json_push(kept, json_clone(json_at(entries, i)));
    return kept;
}

static struct json *other_entries(const struct json *record, const struct mark *mark)
{
    return others_of(record, "quarantine", mark);
}

/* **takes** the lists; NULL = that of the record stays. */
static void replace(const char *folder, const struct json *before, struct json *quarantine,
                    struct json *good, struct json *failures)
{
    struct json *record = json_new_object();
    json_put(record, "quarantine",
             quarantine ? quarantine : json_clone(json_get(before, "quarantine")));
    json_put(record, "good", good ? good : json_clone(json_get(before, "good")));
    json_put(record, "failures", failures ? failures : json_clone(json_get(before, "failures")));
    save(folder, record);
    json_free(record);
}

/* **returns new** (json_free): what tells the file from its later selves, and why. */
static struct json *entry_of(const struct mark *mark, const char *why)
{
    struct json *entry = json_new_object();
    json_put(entry, "path", json_new_cstr(mark->path));
    json_put(entry, "bytes", json_new_int(mark->bytes));
    json_put(entry, "changed_ns", json_new_int(mark->changed_ns));
    json_put(entry, "program", json_new_cstr(TANDEM_VERSION));
    json_put(entry, "reason", json_new_cstr(why));
    return entry;
}

/* --- use --- */

bool model_record_is_quarantined(const char *folder, const char *path,
                                 char why[static TD_ERROR_BYTES])
{
    struct mark mark;
    bool found = false;
    struct json *record = load(folder);
    const struct json *entries = json_get(record, "quarantine");
    for (size_t i = 0; !found && i < json_count(entries) && mark_read(path, &mark); i++) {
        found = holds(json_at(entries, i), &mark);
        if (found)
            snprintf(why, TD_ERROR_BYTES, STR_FMT,
                     STR_ARG(str_slice(json_get_text(json_at(entries, i), "reason"), 0,
                                       TD_ERROR_BYTES - 1)));
    }
    json_free(record);
    return found;
}

void model_record_quarantine(const char *folder, const char *path, const char *why)
{
    struct mark mark;
    if (!folder || !mark_read(path, &mark))
        return;
    struct json *record = load(folder);
    struct json *quarantine = other_entries(record, &mark);
    json_push(quarantine, entry_of(&mark, why));
    replace(folder, record, quarantine, NULL, NULL);
    json_free(record);
    log_event(LOG_LEVEL_WARN, "model_quarantined", "file=%s reason=\"%s\"", mark.path, why);
}

bool model_record_find_good(const char *folder, const char *tier, char *out, size_t size)
{
    struct json *record = load(folder);
    struct td_str path = json_get_text(json_get(record, "good"), tier);
    bool found = path.len > 0 && path.len < size;
    if (found)
        snprintf(out, size, STR_FMT, STR_ARG(path));
    json_free(record);
    return found;
}

void model_record_set_good(const char *folder, const char *tier, const char *path)
{
    struct mark mark;
    if (!folder || !mark_read(path, &mark))
        return;
    struct json *record = load(folder);
    struct json *quarantine = other_entries(record, &mark);
    struct json *failures = others_of(record, "failures", &mark);
    bool known = str_equal(json_get_text(json_get(record, "good"), tier), str_from(mark.path)) &&
                 json_count(quarantine) == json_count(json_get(record, "quarantine")) &&
                 json_count(failures) == json_count(json_get(record, "failures"));
    if (known) {
        json_free(quarantine);
        json_free(failures);
    } else {
        struct json *good = json_clone(json_get(record, "good"));
        good = good ? good : json_new_object();
        json_put(good, tier, json_new_cstr(mark.path));
        replace(folder, record, quarantine, good, failures);
    }
    json_free(record);
}

/* --- failures --- */

void model_record_hardware(char out[static MODEL_HARDWARE_BYTES])
{
    struct cores cores;
    struct sysinfo memory = {0};
    const struct kernels *kernels = kernels_get(TD_CPU_AUTO, NULL);
    cores_read("", NULL, &cores);
    (void)sysinfo(&memory);
    snprintf(out, MODEL_HARDWARE_BYTES, "%s, %u cores, %.0f GB", kernels ? kernels->name : "?",
             cores.usable, (double)memory.totalram * memory.mem_unit / 1e9);
}

/* Of this file on this hardware. */
static const struct json *find_failure(const struct json *record, const struct mark *mark)
{
    char hardware[MODEL_HARDWARE_BYTES];
    const struct json *entries = json_get(record, "failures");
    model_record_hardware(hardware);
    for (size_t i = 0; i < json_count(entries); i++)
        if (holds(json_at(entries, i), mark) &&
            str_equal(json_get_text(json_at(entries, i), "hardware"), str_from(hardware)))
            return json_at(entries, i);
    return NULL;
}

void model_record_failure(const char *folder, const char *path, const char *why)
{
    struct mark mark;
    char hardware[MODEL_HARDWARE_BYTES];
    if (!folder || !mark_read(path, &mark))
        return;
    struct json *record = load(folder), *entry = entry_of(&mark, why);
    int64_t count = json_int(json_get(find_failure(record, &mark), "count"), 0) + 1;
    struct json *failures = others_of(record, "failures", &mark);
    model_record_hardware(hardware);
    json_put(entry, "hardware", json_new_cstr(hardware));
    json_put(entry, "count", json_new_int(count));
    json_push(failures, entry);
    replace(folder, record, NULL, NULL, failures);
    json_free(record);
    if (count >= MODEL_FAILURES_SAID)
        log_event(LOG_LEVEL_WARN, "model_fails_here",
                  "file=%s count=%lld hardware=\"%s\" reason=\"%s\"", mark.path, (long long)count,
                  hardware, why);
}

uint32_t model_record_failures(const char *folder, const char *path,
                               char why[static TD_ERROR_BYTES])
{
    struct mark mark;
    struct json *record = load(folder);
    const struct json *entry = mark_read(path, &mark) ? find_failure(record, &mark) : NULL;
    int64_t count = json_int(json_get(entry, "count"), 0);
    snprintf(why, TD_ERROR_BYTES, STR_FMT,
             STR_ARG(str_slice(json_get_text(entry, "reason"), 0, TD_ERROR_BYTES - 1)));
    json_free(record);
    return count > 0 && count < UINT32_MAX ? (uint32_t)count : 0;
}
