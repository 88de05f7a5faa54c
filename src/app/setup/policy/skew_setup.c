#include "app/setup/policy/skew_setup.h"

#include "base/json/json.h"
#include "base/time/clock.h"
#include "base/time/log.h"
#include "exchange/memory/skew_table.h"
#include "ledger/record/ledger.h"

#define RECENT_MS (UINT64_C(30) * 86400000)

static bool has_shadows(const struct config *config)
{
    for (size_t i = 0; i < config->route_count; i++)
        if (config->routes[i].shadow_cloud_share > 0 || config->routes[i].shadow_edge_share > 0)
            return true;
    return false;
}

/* The newest row of two tiers comes first, and the table keeps the first. Rows of the same two the
 * other way round are older counts of their own, and left out. */
static void put_row(struct skew_table *table, const struct json *row)
{
    const struct skew_sides sides = {
        .tiers = {json_cstr(json_get(row, "tier")), json_cstr(json_get(row, "shadow"))},
        .versions = {json_cstr(json_get(row, "version")),
                     json_cstr(json_get(row, "shadow_version"))}};
    if (sides.tiers[0] && sides.tiers[1])
        skew_table_restore(table, &sides, json_number(json_get(row, "compared"), 0),
                           json_number(json_get(row, "same"), 0));
}

void skew_setup_restore(const struct config *config, struct skew_table *table)
{
    struct ledger_reader *reader = NULL;
    struct json *list = NULL;
    struct td_error err = {0};
    if (!has_shadows(config) || !config->ledger.path)
        return;
    enum td_status status = ledger_reader_open(config->ledger.path, &reader, &err);
    if (status == TD_OK)
        status = ledger_reader_skew(reader, clock_wall_ms(NULL) - RECENT_MS, &list, &err);
    for (size_t i = 0; status == TD_OK && i < json_count(list); i++)
        put_row(table, json_at(list, i));
    if (status != TD_OK)
        log_event(LOG_LEVEL_WARN, "skew_unknown", "reason=\"%s\"", err.message);
    json_free(list);
    ledger_reader_close(reader);
}
