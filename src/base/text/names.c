/* The tables of names, and for each the two directions: the name of a value, the value of a name.
 * The names are part of interfaces (configuration, wire, ledger): a name that is there is never
 * changed, and new values come last. */
#include "base/text/names.h"

#include "base/core/assertion.h"
#include "base/core/str.h"

const char *const names_places[] = {"device", "premises", "region", "cloud", NULL};
const char *const names_modes[] = {"auto",         "only-local", "prefer-local",
                                   "prefer-cloud", "only-cloud", NULL};
const char *const names_classes[] = {"public", "sensitive", "contractual", "restricted", NULL};
const char *const names_cpus[] = {"auto", "ref", "avx2", "avx512", "neon", NULL};
const char *const names_kv_types[] = {"f16",      "f32",       "q8_0",     "q4_0",
                                      "f16/q8_0", "f16/q4_0",  "q8_0/f16", "q8_0/q4_0",
                                      "q4_0/f16", "q4_0/q8_0", NULL};
const char *const names_networks[] = {"unknown", "online", "metered", "offline", NULL};
static const char *const priorities[] = {"interactive", "batch", NULL};
static const char *const roles[] = {"system", "developer", "user", "assistant", "tool", NULL};
static const char *const finishes[] = {"stop", "length", "tool_calls", "content_filter", NULL};
static const char *const outcomes[] = {"open",      "answered", "escalated", "failed",  "cancelled",
                                       "continued", "checked",  "pending",   "planned", NULL};
static const char *const ends[] = {"open", "ok", "failed", "cancelled", NULL};
static const char *const reactions[] = {"none",      "regenerated", "edited",
                                        "abandoned", "continued",   NULL};
static const char *const standings[] = {"none", "degraded", "full", NULL};
static const char *const bases[] = {"none", "cloud", "ratio", "prior", NULL};

const char *names_table_name(const char *const *names, size_t value)
{
    ASSERT(names != NULL);
    for (size_t i = 0; names[i]; i++)
        if (i == value)
            return names[i];
    return "unknown";
}

bool names_table_find(const char *const *names, struct td_str text, size_t *value)
{
    ASSERT(names != NULL && value != NULL);
    for (size_t i = 0; names[i]; i++) {
        if (str_equal(str_from(names[i]), text)) {
            *value = i;
            return true;
        }
    }
    return false;
}

size_t names_table_count(const char *const *names)
{
    size_t count = 0;
    while (names[count])
        count++;
    return count;
}

#define NAME_OF(function, type, table)                 \
    const char *function(enum type value)              \
    {                                                  \
        return names_table_name(table, (size_t)value); \
    }

#define PARSE_OF(function, type, table)                     \
    bool function(struct td_str text, enum type *out)       \
    {                                                       \
        size_t value;                                       \
        bool known = names_table_find(table, text, &value); \
        if (known)                                          \
            *out = (enum type)value;                        \
        return known;                                       \
    }

NAME_OF(names_place, td_place, names_places)
NAME_OF(names_mode, td_mode, names_modes)
NAME_OF(names_class, td_data_class, names_classes)
NAME_OF(names_role, td_role, roles)
NAME_OF(names_finish, td_finish, finishes)
NAME_OF(names_kv_type, td_kv_type, names_kv_types)
NAME_OF(names_outcome, attempt_outcome, outcomes)
NAME_OF(names_end, exchange_end, ends)
NAME_OF(names_reaction, reaction, reactions)
NAME_OF(names_standing, answer_standing, standings)
NAME_OF(names_basis, cost_basis, bases)

PARSE_OF(names_mode_parse, td_mode, names_modes)
PARSE_OF(names_class_parse, td_data_class, names_classes)
PARSE_OF(names_network_parse, td_network, names_networks)
PARSE_OF(names_priority_parse, td_priority, priorities)
PARSE_OF(names_role_parse, td_role, roles)
PARSE_OF(names_finish_parse, td_finish, finishes)
PARSE_OF(names_kv_type_parse, td_kv_type, names_kv_types)
PARSE_OF(names_outcome_parse, attempt_outcome, outcomes)
PARSE_OF(names_end_parse, exchange_end, ends)
