#include "base/names.h"

#include "base/str.h"

/* In the order of the enums: the index is the value. */
const char *const names_places[] = {"device", "premises", "region", "cloud", NULL};
const char *const names_modes[] = {"auto",         "only-local", "prefer-local",
                                   "prefer-cloud", "only-cloud", NULL};
const char *const names_classes[] = {"public", "sensitive", "contractual", "restricted", NULL};
const char *const names_cpus[] = {"auto", "ref", "avx2", "avx512", "neon", NULL};
const char *const names_kv_types[] = {"f16", "f32", "q8_0", NULL};
const char *const names_networks[] = {"unknown", "online", "metered", "offline", NULL};
static const char *const priorities[] = {"interactive", "batch", NULL};
static const char *const roles[] = {"system", "developer", "user", "assistant", "tool", NULL};
static const char *const finishes[] = {"stop", "length", "tool_calls", "content_filter", NULL};

static const char *name_at(const char *const *names, size_t index)
{
    for (size_t i = 0; names[i]; i++)
        if (i == index)
            return names[i];
    return "unknown";
}

static bool name_find(const char *const *names, struct td_str text, size_t *index)
{
    for (size_t i = 0; names[i]; i++) {
        if (str_equal(str_from(names[i]), text)) {
            *index = i;
            return true;
        }
    }
    return false;
}

const char *names_place(enum td_place place)
{
    return name_at(names_places, (size_t)place);
}

const char *names_mode(enum td_mode mode)
{
    return name_at(names_modes, (size_t)mode);
}

const char *names_class(enum td_data_class data_class)
{
    return name_at(names_classes, (size_t)data_class);
}

const char *names_role(enum td_role role)
{
    return name_at(roles, (size_t)role);
}

const char *names_finish(enum td_finish finish)
{
    return name_at(finishes, (size_t)finish);
}

const char *names_kv_type(enum td_kv_type kv_type)
{
    return name_at(names_kv_types, (size_t)kv_type);
}

bool names_mode_parse(struct td_str text, enum td_mode *out)
{
    size_t index;
    if (!name_find(names_modes, text, &index))
        return false;
    *out = (enum td_mode)index;
    return true;
}

bool names_class_parse(struct td_str text, enum td_data_class *out)
{
    size_t index;
    if (!name_find(names_classes, text, &index))
        return false;
    *out = (enum td_data_class)index;
    return true;
}

bool names_network_parse(struct td_str text, enum td_network *out)
{
    size_t index;
    if (!name_find(names_networks, text, &index))
        return false;
    *out = (enum td_network)index;
    return true;
}

bool names_priority_parse(struct td_str text, enum td_priority *out)
{
    size_t index;
    if (!name_find(priorities, text, &index))
        return false;
    *out = (enum td_priority)index;
    return true;
}

bool names_role_parse(struct td_str text, enum td_role *out)
{
    size_t index;
    if (!name_find(roles, text, &index))
        return false;
    *out = (enum td_role)index;
    return true;
}

bool names_finish_parse(struct td_str text, enum td_finish *out)
{
    size_t index;
    if (!name_find(finishes, text, &index))
        return false;
    *out = (enum td_finish)index;
    return true;
}

bool names_kv_type_parse(struct td_str text, enum td_kv_type *out)
{
    size_t index;
    if (!name_find(names_kv_types, text, &index))
        return false;
    *out = (enum td_kv_type)index;
    return true;
}
