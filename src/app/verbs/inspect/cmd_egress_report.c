/* tandem egress report: how much left, by where it went, its class, what it was for, what was
 * replaced in it, and the day. */
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/since_option.h"
#include "app/cli/verb.h"
#include "app/verbs/inspect/egress_record.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "ledger/egress_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROUPS_MAX 4096 /* of one property; what is beyond is one group */
#define NAME_BYTES 64

enum property { DESTINATION, CLASS, PURPOSE, KIND, DAY, PROPERTIES };
static const struct {
    const char *name, *member, *title;
} properties[PROPERTIES] = {
    [DESTINATION] = {"destinations", "host", "destination"},
    [CLASS] = {"classes", "class", "class of the data"},
    [PURPOSE] = {"purposes", "purpose", "sent for"},
    [KIND] = {"kinds", NULL, "kind of value that was replaced"},
    [DAY] = {"days", "time", "day (UTC)"},
};

struct group {
    char name[NAME_BYTES];
    uint64_t transfers, bytes, values; /* values: that were replaced, of a kind */
};
struct groups {
    struct group *items;
    size_t count, capacity;
};
struct report {
    char since[25]; /* ISO 8601, which sorts as text */
    struct groups of[PROPERTIES];
    uint64_t transfers, bytes;
};

/* The newest ones are looked at first: days come in their order. NULL without memory. */
static struct group *find_group(struct groups *groups, struct td_str name)
{
    char cut[NAME_BYTES];
    snprintf(cut, sizeof cut, "%.*s", (int)name.len, name.data ? name.data : "-");
    if (groups->count == GROUPS_MAX)
        snprintf(cut, sizeof cut, "(others)");
    for (size_t i = groups->count; i > 0; i--)
        if (strcmp(groups->items[i - 1].name, cut) == 0)
            return &groups->items[i - 1];
    if (groups->count == groups->capacity) {
        size_t capacity = groups->capacity ? 2 * groups->capacity : 16;
        struct group *items = realloc(groups->items, capacity * sizeof *items);
        if (!items)
            return NULL;
        groups->items = items;
        groups->capacity = capacity;
    }
    struct group *group = &groups->items[groups->count++];
    *group = (struct group){0};
    memcpy(group->name, cut, sizeof cut);
    return group;
}

static bool count_in(struct groups *groups, struct td_str name, uint64_t bytes, uint64_t values)
{
    struct group *group = find_group(groups, name);
    if (!group)
        return false;
    group->transfers++;
    group->bytes += bytes;
    group->values += values;
    return true;
}

static bool count_entry(struct report *report, const struct json *entry)
{
    uint64_t bytes = (uint64_t)json_int(json_get(entry, "bytes"), 0);
    bool done = true;
    for (int i = 0; i < PROPERTIES; i++) {
        struct td_str name =
            properties[i].member ? json_text(json_get(entry, properties[i].member)) : STR("");
        if (i == DAY && name.len > sizeof "2026-11-21" - 1)
            name.len = sizeof "2026-11-21" - 1;
        if (i != KIND)
            done = done && count_in(&report->of[i], name, bytes, 0);
    }
    const struct json *replaced = json_get(entry, "replaced"), *count;
    const char *type;
    void *iterator = NULL;
    while (json_next(replaced, &iterator, &type, &count))
        done = done &&
               count_in(&report->of[KIND], str_from(type), bytes, (uint64_t)json_int(count, 0));
    report->transfers++;
    report->bytes += bytes;
    return done;
}

static enum td_status take_line(void *ctx, struct td_str line, struct td_error *err)
{
    struct report *report = ctx;
    struct json *entry = NULL;
    if (!egress_is_entry(line))
        return TD_OK;
    if (json_parse(line, &entry, NULL) != TD_OK)
        return error_set(err, TD_CORRUPT,
                         "a line of the record is damaged; 'tandem egress verify' says which");
    const char *time = json_cstr(json_get(entry, "time"));
    bool done = strcmp(time ? time : "", report->since) < 0 || count_entry(report, entry);
    json_free(entry);
    return done ? TD_OK : error_set(err, TD_NO_MEMORY, "no memory for the report");
}

/* Most bytes first; days stay in their order. */
static int compare(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    return x->bytes != y->bytes ? (x->bytes < y->bytes ? 1 : -1) : strcmp(x->name, y->name);
}

static struct json *groups_json(const struct groups *groups, bool kind)
{
    struct json *list = json_new_array();
    for (size_t i = 0; i < groups->count; i++) {
        const struct group *group = &groups->items[i];
        struct json *of = json_new_object();
        json_put(of, "name", json_new_cstr(group->name));
        json_put(of, "transfers", json_new_int((int64_t)group->transfers));
        json_put(of, "bytes", json_new_int((int64_t)group->bytes));
        if (kind)
            json_put(of, "values", json_new_int((int64_t)group->values));
        json_push(list, of);
    }
    return list;
}

static struct json *report_json(const struct report *report)
{
    struct json *json = json_new_object();
    json_put(json, "transfers", json_new_int((int64_t)report->transfers));
    json_put(json, "bytes", json_new_int((int64_t)report->bytes));
    for (int i = 0; i < PROPERTIES; i++)
        json_put(json, properties[i].name, groups_json(&report->of[i], i == KIND));
    return json;
}

static void print_report(const struct report *report)
{
    printf("%llu transfers, %llu bytes\n", (unsigned long long)report->transfers,
           (unsigned long long)report->bytes);
    for (int i = 0; i < PROPERTIES; i++) {
        const struct groups *groups = &report->of[i];
        if (groups->count)
            printf("\n%-44s %10s %13s%s\n", properties[i].title, "transfers", "bytes",
                   i == KIND ? "    values" : "");
        for (size_t g = 0; g < groups->count; g++) {
            printf("%-44.44s %10llu %13llu", groups->items[g].name,
                   (unsigned long long)groups->items[g].transfers,
                   (unsigned long long)groups->items[g].bytes);
            if (i == KIND)
                printf(" %9llu", (unsigned long long)groups->items[g].values);
            printf("\n");
        }
    }
}

static int egress_report(int argc, char **argv)
{
    const char *config_path = NULL, *path;
    struct since_option since;
    struct report report = {0};
    bool json = false;
    since_option_init(&since, "all");
    const struct option options[] = {
        OPTION_ROW_CONFIG(config_path),
        OPTION_ROW_SINCE(since, "all"),
        OPTION_ROW_JSON(json),
    };
    const struct option_spec spec = {
        .verb = "egress report",
        .summary = "Sums what left the device: by destination, data class, purpose, kind of the "
                   "values that were replaced, and day.",
        OPTION_TABLE(options),
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, NULL, NULL);
    clock_format_iso8601(since.wall_ms, report.since);
    struct td_error err = {0};
    struct config *config = NULL;
    enum td_status status = egress_record_find(config_path, NULL, &config, &path, &err);
    if (status == TD_OK)
        status = egress_each_line(path, take_line, &report, &err);
    for (int i = 0; i < DAY; i++)
        if (report.of[i].count)
            qsort(report.of[i].items, report.of[i].count, sizeof *report.of[i].items, compare);
    bool printed = true;
    if (status == TD_OK && json)
        printed = command_print_json(report_json(&report));
    else if (status == TD_OK)
        print_report(&report);
    for (int i = 0; i < PROPERTIES; i++)
        free(report.of[i].items);
    config_free(config);
    return status == TD_OK ? !printed : command_fail("egress report", &err);
}

const struct verb verb_egress_report = {"report", egress_report,
                                        "sum what left by destination, class, kind and day"};
