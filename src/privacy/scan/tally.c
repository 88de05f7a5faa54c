/* Counts findings by type. A kind has a counter; a rule of the operator's gets a row with its name
 * when it is first seen. The rows are few: a request seldom meets more rules than that, and what is
 * beyond them is still counted, together. */
#include "privacy/scan/tally.h"

#include "base/core/assertion.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static void count_up(uint32_t *count)
{
    if (*count < UINT32_MAX)
        ++*count;
}

/* NULL: the tally names as many rules as it can. */
static struct privacy_tally_row *row_of(struct privacy_tally *tally, const char *rule)
{
    for (size_t i = 0; i < tally->rule_count; i++)
        if (strcmp(tally->rules[i].name, rule) == 0)
            return &tally->rules[i];
    if (tally->rule_count == PRIVACY_TALLY_RULES)
        return NULL;
    struct privacy_tally_row *row = &tally->rules[tally->rule_count++];
    snprintf(row->name, sizeof row->name, "%s", rule);
    return row;
}

void privacy_tally_add(struct privacy_tally *tally, const struct privacy_span *span)
{
    ASSERT((unsigned)span->kind < PRIVACY_KIND_COUNT);
    bool custom = span->kind == PRIVACY_CUSTOM && span->rule != NULL;
    count_up(&tally->kinds[span->kind]);
    struct privacy_tally_row *row = custom ? row_of(tally, span->rule) : NULL;
    if (row)
        count_up(&row->count);
}

/* Rules may share a name, also with a kind. */
static void add_row(struct privacy_tally_row *rows, size_t *count, const char *name, uint32_t found)
{
    size_t i = 0;
    while (i < *count && strcmp(rows[i].name, name) != 0)
        i++;
    if (i == *count) {
        snprintf(rows[i].name, sizeof rows[i].name, "%s", name);
        rows[(*count)++].count = 0;
    }
    rows[i].count = found < UINT32_MAX - rows[i].count ? rows[i].count + found : UINT32_MAX;
}

size_t privacy_tally_rows(const struct privacy_tally *tally,
                          struct privacy_tally_row rows[static PRIVACY_TALLY_ROWS_MAX])
{
    size_t count = 0;
    uint64_t named = 0;
    for (size_t i = 0; i < tally->rule_count; i++)
        named += tally->rules[i].count;
    for (int kind = 0; kind < PRIVACY_KIND_COUNT; kind++) {
        uint32_t found = tally->kinds[kind];
        if (kind == PRIVACY_CUSTOM)
            found = found > named ? (uint32_t)(found - named) : 0;
        if (found > 0)
            add_row(rows, &count, privacy_kind_name((enum privacy_kind)kind), found);
    }
    for (size_t i = 0; i < tally->rule_count; i++)
        add_row(rows, &count, tally->rules[i].name, tally->rules[i].count);
    return count;
}

bool privacy_tally_has_any(const struct privacy_tally *tally)
{
    for (size_t i = 0; i < PRIVACY_KIND_COUNT; i++)
        if (tally->kinds[i])
            return true;
    return tally->rule_count > 0;
}

size_t privacy_tally_bytes(const struct privacy_tally *tally)
{
    return offsetof(struct privacy_tally, rules) + tally->rule_count * sizeof tally->rules[0];
}
