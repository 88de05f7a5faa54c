#include "app/setup/model/model_age.h"

#include "app/setup/model/model_manifest.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/time/clock.h"
#include "engine/gguf/gguf.h"

#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#define DAY_MS 86400000u

bool model_day_parse(struct td_str text, uint64_t *wall_ms)
{
    uint64_t year, month, day;
    if (text.len < MODEL_DAY_BYTES - 1 || !str_to_u64(str_slice(text, 0, 4), &year) ||
        !str_to_u64(str_slice(text, 5, 7), &month) || !str_to_u64(str_slice(text, 8, 10), &day) ||
        year < 1970 || year > 9999 || month < 1 || month > 12 || day < 1 || day > 31)
        return false;
    struct tm when = {.tm_year = (int)year - 1900, .tm_mon = (int)month - 1, .tm_mday = (int)day};
    *wall_ms = (uint64_t)timegm(&when) * 1000;
    return true;
}

static void write_day(uint64_t wall_ms, char day[static MODEL_DAY_BYTES])
{
    char text[25];
    clock_format_iso8601(wall_ms, text);
    snprintf(day, MODEL_DAY_BYTES, "%.10s", text);
}

static bool of_manifest(const char *path, uint64_t *wall_ms)
{
    struct model_manifest manifest;
    bool found = model_manifest_load(path, &manifest, NULL) == TD_OK &&
                 model_day_parse(json_text(json_get(manifest.body, "built")), wall_ms);
    model_manifest_deinit(&manifest);
    return found;
}

static bool of_metadata(const char *path, uint64_t *wall_ms)
{
    struct gguf *gguf = NULL;
    struct td_str text;
    bool found = gguf_open(path, true, &gguf, NULL) == TD_OK &&
                 gguf_get_string(gguf, "tandem.source.converted", &text) &&
                 model_day_parse(text, wall_ms);
    gguf_close(gguf);
    return found;
}

bool model_age_read(const char *path, uint64_t now_ms, char day[static MODEL_DAY_BYTES],
                    double *days)
{
    struct stat file;
    uint64_t made_ms = 0;
    if (stat(path, &file) != 0)
        return false;
    if (!of_manifest(path, &made_ms) && !of_metadata(path, &made_ms))
        made_ms = file.st_mtim.tv_sec > 0 ? (uint64_t)file.st_mtim.tv_sec * 1000 : 0;
    write_day(made_ms, day);
    *days = now_ms > made_ms ? (double)((now_ms - made_ms) / DAY_MS) : 0;
    return true;
}

static const char *text_of(const struct json *row, const char *name)
{
    const char *text = json_cstr(json_get(row, name));
    return text ? text : "";
}

/* The list has the newest first: an earlier row of the same two tiers is of newer versions. */
static bool is_superseded(const struct json *list, size_t at)
{
    const struct json *row = json_at(list, at);
    for (size_t i = 0; i < at; i++)
        if (strcmp(text_of(json_at(list, i), "tier"), text_of(row, "tier")) == 0 &&
            strcmp(text_of(json_at(list, i), "shadow"), text_of(row, "shadow")) == 0)
            return true;
    return false;
}

bool model_skew_next(const struct json *list, double most, size_t *at, struct model_skew *out)
{
    for (; *at < json_count(list); ++*at) {
        const struct json *row = json_at(list, *at);
        double compared = json_number(json_get(row, "compared"), 0);
        if (compared < MODEL_SKEW_COMPARED_MIN || is_superseded(list, *at) ||
            1 - json_number(json_get(row, "same_high"), 1) <= most)
            continue;
        *out = (struct model_skew){
            .tier = text_of(row, "tier"),
            .shadow = text_of(row, "shadow"),
            .version = text_of(row, "version"),
            .shadow_version = text_of(row, "shadow_version"),
            .compared = compared,
            .differ = 1 - json_number(json_get(row, "same_share"), 1),
        };
        write_day((uint64_t)json_int(json_get(row, "first_ms"), 0), out->first_day);
        write_day((uint64_t)json_int(json_get(row, "last_ms"), 0), out->last_day);
        ++*at;
        return true;
    }
    return false;
}
