/* Days stay in their order, everything else comes with the most bytes first. */
#include "api/evidence/egress_report.h"

#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/time/clock.h"
#include "ledger/egress/egress_verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROUPS_MAX 4096 /* of one property; what is beyond is one group */

/* The member of a line that names the group, and that of the report. */
static const struct {
    const char *name, *member;
} properties[EGRESS_PROPERTIES] = {
    [EGRESS_BY_DESTINATION] = {"destinations", "host"},
    [EGRESS_BY_CLASS] = {"classes", "class"},
    [EGRESS_BY_PURPOSE] = {"purposes", "purpose"},
    [EGRESS_BY_KIND] = {"kinds", NULL},
    [EGRESS_BY_DAY] = {"days", "time"},
};

/* The newest ones are looked at first: days come in their order. NULL without memory. */
static struct egress_group *find_group(struct egress_groups *groups, struct td_str name)
{
    char cut[sizeof groups->items->name];
    snprintf(cut, sizeof cut, "%.*s", (int)name.len, name.data ? name.data : "-");
    if (groups->count == GROUPS_MAX)
        snprintf(cut, sizeof cut, "(others)");
    for (size_t i = groups->count; i > 0; i--)
        if (strcmp(groups->items[i - 1].name, cut) == 0)
            return &groups->items[i - 1];
    if (groups->count == groups->capacity) {
        size_t capacity = groups->capacity ? 2 * groups->capacity : 16;
        struct egress_group *items = realloc(groups->items, capacity * sizeof *items);
        if (!items)
            return NULL;
        groups->items = items;
        groups->capacity = capacity;
    }
    struct egress_group *group = &groups->items[groups->count++];
    *group = (struct egress_group){0};
    memcpy(group->name, cut, sizeof cut);
    return group;
}

static bool count_in(struct egress_groups *groups, struct td_str name, uint64_t bytes,
                     uint64_t values)
{
    struct egress_group *group = find_group(groups, name);
    if (!group)
        return false;
    group->transfers++;
    group->bytes += bytes;
    group->values += values;
    return true;
}

static bool count_entry(struct egress_report *report, const struct json *entry)
{
    uint64_t bytes = (uint64_t)json_int(json_get(entry, "bytes"), 0);
    bool done = true;
    for (int i = 0; i < EGRESS_PROPERTIES; i++) {
        struct td_str name =
            properties[i].member ? json_text(json_get(entry, properties[i].member)) : STR("");
        if (i == EGRESS_BY_DAY && name.len > sizeof "2026-11-21" - 1)
            name.len = sizeof "2026-11-21" - 1;
        if (i != EGRESS_BY_KIND)
            done = done && count_in(&report->of[i], name, bytes, 0);
    }
    const struct json *replaced = json_get(entry, "replaced"), *count;
    const char *type;
    void *iterator = NULL;
    while (json_next(replaced, &iterator, &type, &count))
        done = done && count_in(&report->of[EGRESS_BY_KIND], str_from(type), bytes,
                                (uint64_t)json_int(count, 0));
    report->bytes += bytes;
    return done;
}

static enum td_status take_line(void *ctx, struct td_str line, struct td_error *err)
{
    struct egress_report *report = ctx;
    struct json *entry;
    enum td_status status = egress_read_entry(line, report->since, &entry, err);
    if (status != TD_OK || !entry)
        return status;
    struct json **newest = &report->newest[report->transfers++ % EGRESS_NEWEST_MAX];
    json_free(*newest);
    *newest = entry;
    return count_entry(report, entry) ? TD_OK
                                      : error_set(err, TD_NO_MEMORY, "no memory for the report");
}

/* Most bytes first; days stay in their order. */
static int compare(const void *a, const void *b)
{
    const struct egress_group *x = a, *y = b;
    return x->bytes != y->bytes ? (x->bytes < y->bytes ? 1 : -1) : strcmp(x->name, y->name);
}

static struct json *groups_json(const struct egress_groups *groups, bool kind)
{
    struct json *list = json_new_array();
    for (size_t i = 0; i < groups->count; i++) {
        const struct egress_group *group = &groups->items[i];
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

struct json *egress_report_json(const struct egress_report *report)
{
    struct json *json = json_new_object();
    json_put(json, "transfers", json_new_int((int64_t)report->transfers));
    json_put(json, "bytes", json_new_int((int64_t)report->bytes));
    for (int i = 0; i < EGRESS_PROPERTIES; i++)
        json_put(json, properties[i].name, groups_json(&report->of[i], i == EGRESS_BY_KIND));
    return json;
}

enum td_status egress_report_read(const char *path, uint64_t since_wall_ms,
                                  struct egress_report *out, struct td_error *err)
{
    *out = (struct egress_report){0};
    clock_format_iso8601(since_wall_ms, out->since);
    enum td_status status = egress_each_line(path, take_line, out, err);
    for (int i = 0; i < EGRESS_BY_DAY; i++)
        if (out->of[i].count)
            qsort(out->of[i].items, out->of[i].count, sizeof *out->of[i].items, compare);
    return status;
}

void egress_report_deinit(struct egress_report *report)
{
    for (int i = 0; i < EGRESS_PROPERTIES; i++)
        free(report->of[i].items);
    for (size_t i = 0; i < EGRESS_NEWEST_MAX; i++)
        json_free(report->newest[i]);
    *report = (struct egress_report){0};
}

struct json *egress_proof_json(const struct egress_verdict *verdict)
{
    struct json *object = json_new_object();
    json_put(object, "sound", json_new_bool(verdict->sound));
    json_put(object, "transfers", json_new_int((int64_t)verdict->entry_count));
    json_put(object, "heads", json_new_int((int64_t)verdict->head_count));
    json_put(object, "bad_row",
             verdict->bad_row ? json_new_int((int64_t)verdict->bad_row) : json_new_null());
    json_put(object, "problem", json_new_cstr(verdict->sound ? NULL : verdict->problem));
    json_put(object, "unsigned_rows", json_new_int((int64_t)verdict->unsigned_rows));
    json_put(object, "unwritten_rows", json_new_int((int64_t)verdict->unwritten_rows));
    json_put(object, "key", json_new_cstr(verdict->key[0] ? verdict->key : NULL));
    return object;
}
