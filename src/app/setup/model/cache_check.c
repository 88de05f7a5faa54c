/* The text has what makes caches fail if anything does: names and numbers that are taken up again,
 * an object in JSON, a line of code, another language. It is plain text, without the model's
 * template, so it is far from what some models were made for; that makes the measurement strict. */
#include "app/setup/model/cache_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/setup/files/state_file.h"
#include "base/bytes/file.h"
#include "base/bytes/path.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/text/names.h"
#include "base/time/clock.h"
#include "base/time/log.h"
#include "engine/measure/divergence.h"
#include "kernels/kv_page.h"

#define FILE_BYTES_MAX ((size_t)1 << 16)
#define NO_NUMBERS 1e6 /* the divergence where the output is none */

static const char text[] =
    "Dear Ms. Brown, on 14 March we received your payment of 250 euros for the invoice number "
    "1182. The remaining 75 euros are due by the end of April. Please reply to "
    "billing@example.com if anything is unclear. Kind regards, Peter Stone.\n"
    "The meeting was moved from Monday to Wednesday because two of the engineers are travelling, "
    "and the room has changed as well. It is now room 4 on the second floor. Everybody who wants "
    "to come should tell Anna before noon on Tuesday, so that she can order lunch.\n"
    "Why is the sky blue? Light from the sun has all colours. Air scatters short waves more than "
    "long ones, and blue light has short waves. So blue light reaches our eyes from all sides of "
    "the sky, and the sun itself looks a little yellow. In the evening the light goes a longer "
    "way through the air, and what is left of it is red.\n"
    "The name of the person in the letter is Peter Stone, the date is 14 March, and the amount "
    "is 250 euros.\n"
    "{\"name\": \"Peter Stone\", \"date\": \"14 March\", \"amount\": 250, \"open\": 75}\n"
    "for (int i = 0; i < count; i++) total += values[i];\n"
    "Ich habe gestern mit der neuen Kollegin gesprochen. Sie kommt aus Hamburg und arbeitet seit "
    "drei Wochen bei uns.\n";

/* --- types --- */

bool cache_check_is_needed(enum td_kv_type wanted)
{
    return kv_type_of_keys(wanted) == TD_KV_Q4_0 || kv_type_of_values(wanted) == TD_KV_Q4_0;
}

/* The type with these parts; there must be one. */
static enum td_kv_type type_of(enum td_kv_type keys, enum td_kv_type values)
{
    enum td_kv_type type = TD_KV_F16;
    while (kv_type_of_keys(type) != keys || kv_type_of_values(type) != values)
        type++;
    return type;
}

/* What costs less: keys first, because their errors count more. */
static enum td_kv_type milder(enum td_kv_type type)
{
    enum td_kv_type keys = kv_type_of_keys(type), values = kv_type_of_values(type);
    return keys == TD_KV_Q4_0 ? type_of(TD_KV_Q8_0, values) : type_of(keys, TD_KV_Q8_0);
}

static enum td_kv_type mildest(enum td_kv_type type)
{
    while (cache_check_is_needed(type))
        type = milder(type);
    return type;
}

/* --- the file --- */

static enum td_status file_path(const char *state_dir, const struct confidence_binding *identity,
                                char out[static STATE_PATH_BYTES], struct td_error *err)
{
    char digest[CONFIDENCE_DIGEST_BYTES];
    confidence_binding_digest(identity, digest);
    return path_format(out, STATE_PATH_BYTES, err, "%s/caches/%s.json", state_dir, digest);
}

/* **returns new** (json_free); NULL = there is none that can be read. */
static struct json *read_file(const char *state_dir, const struct confidence_binding *identity)
{
    char path[STATE_PATH_BYTES];
    struct json *file = NULL;
    struct buf bytes;
    buf_init(&bytes, FILE_BYTES_MAX);
    if (!state_dir || file_path(state_dir, identity, path, NULL) != TD_OK ||
        buf_read_file(&bytes, path, NULL) != TD_OK ||
        json_parse(buf_view(&bytes), &file, NULL) != TD_OK)
        file = NULL;
    buf_deinit(&bytes);
    return file;
}

bool cache_check_find(const char *state_dir, const struct confidence_binding *identity,
                      enum td_kv_type wanted, struct cache_verdict *out)
{
    struct json *file = read_file(state_dir, identity);
    const struct json *entry = file ? json_get(file, names_kv_type(wanted)) : NULL;
    struct td_str when = entry ? json_text(json_get(entry, "time")) : (struct td_str){NULL, 0};
    bool found = entry && when.len >= CACHE_DAY_BYTES - 1 &&
                 names_kv_type_parse(json_text(json_get(entry, "used")), &out->used);
    if (found) {
        out->kld = json_number(json_get(entry, "kld"), (double)NAN);
        memcpy(out->day, when.data, CACHE_DAY_BYTES - 1);
        out->day[CACHE_DAY_BYTES - 1] = '\0';
    }
    json_free(file);
    return found;
}

/* Beside what is known of other types. */
static enum td_status keep(const char *state_dir, const struct confidence_binding *identity,
                           enum td_kv_type wanted, const struct cache_verdict *verdict,
                           struct td_error *err)
{
    char path[STATE_PATH_BYTES], now[25];
    struct json *file = read_file(state_dir, identity), *entry = json_new_object();
    struct buf bytes;
    if (!file || json_kind_of(file) != JSON_KIND_OBJECT) {
        json_free(file);
        file = json_new_object();
    }
    clock_format_iso8601(clock_wall_ms(NULL), now);
    json_put(entry, "time", json_new_cstr(now));
    json_put(entry, "used", json_new_cstr(names_kv_type(verdict->used)));
    json_put(entry, "kld", json_new_double(verdict->kld));
    json_put(file, names_kv_type(wanted), entry);
    buf_init(&bytes, FILE_BYTES_MAX);
    json_write(file, &bytes);
    enum td_status status = file_path(state_dir, identity, path, err);
    if (status == TD_OK)
        status = state_file_make_folders(path, err);
    if (status == TD_OK && bytes.failed)
        status = error_set(err, TD_NO_MEMORY, "no memory for %s", path);
    if (status == TD_OK)
        status = file_replace(path, buf_view(&bytes), 0600, err);
    json_free(file);
    buf_deinit(&bytes);
    return status;
}

enum td_status cache_check_decide(const char *state_dir, const struct confidence_binding *identity,
                                  enum td_kv_type wanted, bool passed, struct td_error *err)
{
    const struct cache_verdict verdict = {.used = passed ? wanted : mildest(wanted), .kld = NAN};
    return keep(state_dir, identity, wanted, &verdict, err);
}

/* --- measuring --- */

static enum td_status compare(struct divergence *divergence, const struct td_model *model,
                              enum td_kv_type type, double *kld, struct td_error *err)
{
    const struct divergence_subject subject = {.model = model, .kv_type = type};
    struct divergence_result result;
    enum td_status status = divergence_measure(divergence, &subject, &result, NULL, err);
    *kld = status == TD_OK ? result.kld_mean : NO_NUMBERS;
    return status;
}

/* A cache with which the output is no number is one that the model does not bear. */
static enum td_status measure(const struct td_model *model, enum td_kv_type wanted,
                              uint32_t thread_count, struct cache_verdict *out,
                              struct td_error *err)
{
    static const size_t ids_max = sizeof text + 8;
    int32_t *ids = malloc(ids_max * sizeof *ids);
    const int32_t *const texts[] = {ids};
    size_t count = 0;
    struct divergence *divergence = NULL;
    enum td_status status = TD_NO_MEMORY;
    if (ids)
        status = td_tokenize(model, str_from(text), true, false, ids, ids_max, &count, err);
    const struct divergence_options options = {.thread_count = thread_count,
                                               .reference = model,
                                               .texts = texts,
                                               .counts = &count,
                                               .text_count = 1,
                                               .kv_type = TD_KV_F16};
    if (status == TD_OK)
        status = divergence_new(&options, &divergence, err);
    double kld = 0;
    out->kld = NAN;
    for (out->used = wanted; status == TD_OK && cache_check_is_needed(out->used);
         out->used = milder(out->used)) {
        status = compare(divergence, model, out->used, &kld, err);
        status = status == TD_CORRUPT ? TD_OK : status;
        out->kld = out->used == wanted ? kld : out->kld;
        if (status == TD_OK && kld <= CACHE_KLD_MAX)
            break;
    }
    divergence_free(divergence);
    free(ids);
    return status;
}

enum td_kv_type cache_check_choose(const struct td_model *model,
                                   const struct confidence_binding *identity, const char *state_dir,
                                   enum td_kv_type wanted, uint32_t thread_count)
{
    struct cache_verdict verdict;
    struct td_error err = {0};
    if (!cache_check_is_needed(wanted))
        return wanted;
    if (!cache_check_find(state_dir, identity, wanted, &verdict)) {
        if (measure(model, wanted, thread_count, &verdict, &err) != TD_OK) {
            log_event(LOG_LEVEL_WARN, "kv_cache_not_measured", "wanted=%s used=%s reason=\"%s\"",
                      names_kv_type(wanted), names_kv_type(mildest(wanted)), err.message);
            return mildest(wanted);
        }
        log_event(LOG_LEVEL_INFO, "kv_cache_measured", "wanted=%s kld=%.4f used=%s",
                  names_kv_type(wanted), verdict.kld, names_kv_type(verdict.used));
        if (state_dir && keep(state_dir, identity, wanted, &verdict, &err) != TD_OK)
            log_event(LOG_LEVEL_WARN, "kv_cache_not_kept", "reason=\"%s\"", err.message);
    }
    if (verdict.used != wanted)
        log_event(LOG_LEVEL_WARN, "kv_cache_not_used", "wanted=%s kld=%.4f used=%s",
                  names_kv_type(wanted), verdict.kld, names_kv_type(verdict.used));
    return verdict.used;
}
