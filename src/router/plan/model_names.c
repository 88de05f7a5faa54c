/* An exact name goes before a pattern, so a tier can always be asked for by the name of its model,
 * whatever the patterns of the routes are. What remains are the names of vendors' models that
 * nobody configured: a program whose base URL alone was changed asks for them, and a refusal would
 * help nobody. They go the way of "auto", on which all rules hold. A name that is neither is
 * refused: a mistyped name must not run on another model. */
#include "router/plan/model_names.h"

#include "base/core/str.h"

#include <string.h>

#define NAME_BYTES_MAX 256
#define CANDIDATES_MAX 256

const char *const model_names_common[] = {"gpt-*", "chatgpt-*", "codex-*",  "o1*", "o3*",
                                          "o4*",   "claude-*",  "gemini-*", NULL};

bool model_names_match(const char *pattern, const char *name)
{
    const char *star = NULL, *from = NULL;
    while (*name) {
        if (*pattern == '*') {
            star = pattern++;
            from = name;
        } else if (*pattern == *name) {
            pattern++;
            name++;
        } else if (star) { /* the star takes one more */
            pattern = star + 1;
            name = ++from;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}

bool model_names_listed(const char *patterns, const char *name)
{
    struct td_str rest = str_from(patterns), item;
    char pattern[NAME_BYTES_MAX];
    if (!*patterns)
        return true;
    while (str_next(&rest, ',', &item)) {
        if (item.len >= sizeof pattern)
            continue;
        memcpy(pattern, item.data, item.len);
        pattern[item.len] = '\0';
        if (model_names_match(pattern, name))
            return true;
    }
    return false;
}

bool model_names_allowed(const struct model_names *names, const char *name)
{
    const struct app *app = names->app;
    if (names->models && !model_names_listed(names->models, name))
        return false;
    if (!app || app->model_count == 0)
        return true;
    for (size_t i = 0; i < app->model_count; i++)
        if (model_names_match(app->models[i], name))
            return true;
    return false;
}

static bool same(const char *name, const char *wanted)
{
    return name && strcmp(name, wanted) == 0;
}

static const struct tier_model *find_model(const struct tier_facts *facts, const char *name)
{
    for (size_t i = 0; i < facts->model_count; i++)
        if (strcmp(facts->models[i].name, name) == 0)
            return &facts->models[i];
    return NULL;
}

bool model_names_take(struct tier_facts *facts, const char *model)
{
    const struct tier_model *found = model ? find_model(facts, model) : NULL;
    if (!found)
        return false;
    facts->model = found->name;
    facts->context_tokens = found->context_tokens;
    facts->input_usd_per_mtok = found->input_usd_per_mtok;
    facts->output_usd_per_mtok = found->output_usd_per_mtok;
    facts->cached_input_usd_per_mtok = found->cached_input_usd_per_mtok;
    facts->lacks = (facts->lacks & ~(unsigned)CAPABILITY_MEDIA) | found->lacks;
    facts->confidence_model = NULL; /* it is of the tier's own model */
    facts->has_thresholds = false;
    facts->server_identity = 0;
    return true;
}

/* --- one spelling of a name --- */

static bool choose(struct model_choice *out, const struct route *route, size_t tier,
                   const char *name, const char *alias)
{
    *out = (struct model_choice){route, tier, name, alias};
    return true;
}

static bool route_allowed(const struct model_names *names, const struct route *route)
{
    return model_names_allowed(names, route->name) ||
           (route == names->policy->routes && model_names_allowed(names, "auto"));
}

/* The route that the caller gets when it names none. */
static const struct route *first_route(const struct model_names *names)
{
    const struct policy *policy = names->policy;
    for (size_t i = 0; i < policy->route_count; i++)
        if (route_allowed(names, &policy->routes[i]))
            return &policy->routes[i];
    return NULL;
}

/* A name of a tier's model says which model is meant if the route comes to that tier. */
static const char *model_of_tiers(const struct model_names *names, const char *name)
{
    for (size_t i = 0; i < names->tier_count && model_names_allowed(names, name); i++) {
        const struct tier_model *found = find_model(&names->facts[i], name);
        if (found)
            return found->name;
    }
    return NULL;
}

/* `patterns`: of the aliases only those with a star, else only those without. */
static bool find_alias(const struct model_names *names, const char *name, bool patterns,
                       struct model_choice *out)
{
    for (size_t i = 0; i < names->policy->route_count; i++) {
        const struct route *route = &names->policy->routes[i];
        bool allowed = route_allowed(names, route) || model_names_allowed(names, name);
        if (route->aliases == model_names_common) {
            route = first_route(names); /* they stand for "auto", and each caller has its own */
            if (!route && model_names_allowed(names, name)) /* it may name just these */
                route = names->policy->routes;
            allowed = route != NULL;
        }
        const char *const *alias = names->policy->routes[i].aliases;
        for (; allowed && alias && *alias; alias++) {
            if (!strchr(*alias, '*') == patterns || !model_names_match(*alias, name))
                continue;
            const char *model = model_of_tiers(names, name);
            return choose(out, route, SIZE_MAX, model ? model : route->name, *alias);
        }
    }
    return false;
}

static bool find_route(const struct model_names *names, const char *name, struct model_choice *out)
{
    const struct policy *policy = names->policy;
    for (size_t i = 0; i < policy->route_count; i++)
        if (same(policy->routes[i].name, name) && route_allowed(names, &policy->routes[i]))
            return choose(out, &policy->routes[i], SIZE_MAX, policy->routes[i].name, NULL);
    return false;
}

static bool find_tier(const struct model_names *names, const char *name, struct model_choice *out)
{
    for (size_t i = 0; i < names->tier_count; i++)
        if (same(names->facts[i].name, name) && model_names_allowed(names, name))
            return choose(out, names->policy->routes, i, names->facts[i].name, NULL);
    return false;
}

/* assumed: only models that no configuration names, else only those that one does. */
static bool find_tier_model(const struct model_names *names, const char *name, bool assumed,
                            struct model_choice *out)
{
    for (size_t i = 0; i < names->tier_count && model_names_allowed(names, name); i++) {
        const struct tier_facts *facts = &names->facts[i];
        const struct tier_model *further = assumed ? NULL : find_model(facts, name);
        if (further || (same(facts->model, name) && facts->model_assumed == assumed))
            return choose(out, names->policy->routes, i, further ? further->name : facts->model,
                          NULL);
    }
    return false;
}

static bool find_adapter(const struct model_names *names, const char *name,
                         struct model_choice *out)
{
    for (size_t i = 0; i < names->tier_count && model_names_allowed(names, name); i++) {
        size_t adapter = policy_find_adapter(&names->facts[i], name);
        if (adapter != SIZE_MAX)
            return choose(out, names->policy->routes, i, names->facts[i].adapters[adapter], NULL);
    }
    return false;
}

static bool find_spelling(const struct model_names *names, const char *name,
                          struct model_choice *out)
{
    const struct route *first = first_route(names);
    if (first && (!*name || strcmp(name, "auto") == 0))
        return choose(out, first, SIZE_MAX, first->name, NULL);
    return find_route(names, name, out) || find_tier(names, name, out) ||
           find_alias(names, name, false, out) || find_tier_model(names, name, false, out) ||
           find_adapter(names, name, out) || find_alias(names, name, true, out) ||
           find_tier_model(names, name, true, out);
}

/* --- the spellings --- */

/* Without what programs put around a name: false when there is nothing of it. A provider before a
 * slash (LiteLLM, OpenRouter), Gemini's "models/", Ollama's ":latest". */
static bool strip(char *name)
{
    static const char *const before[] = {"models/", "openai/", "anthropic/",  "google/",
                                         "gemini/", "ollama/", "openrouter/", "tandem/"};
    static const char latest[] = ":latest";
    size_t len = strlen(name), end = len, begin = 0;
    if (len > sizeof latest - 1 && strcmp(name + len - (sizeof latest - 1), latest) == 0)
        end -= sizeof latest - 1;
    for (size_t i = 0; i < sizeof before / sizeof *before && begin == 0; i++)
        if (strncmp(name, before[i], strlen(before[i])) == 0 && strlen(before[i]) < end)
            begin = strlen(before[i]);
    memmove(name, name + begin, end - begin);
    name[end - begin] = '\0';
    return end - begin < len;
}

bool model_names_find(const struct model_names *names, const char *model, struct model_choice *out)
{
    char name[NAME_BYTES_MAX + 1];
    size_t len = model ? strlen(model) : 0;
    if (names->policy->route_count == 0 || len > NAME_BYTES_MAX)
        return false;
    memcpy(name, model ? model : "", len + 1);
    do {
        if (find_spelling(names, name, out))
            return true;
    } while (strip(name));
    return false;
}

/* --- names like it --- */

struct error_suggestion model_names_suggest(const struct model_names *names, const char *model)
{
    const char *list[CANDIDATES_MAX];
    size_t count = 0;
#define ADD(candidate)                                                                      \
    do {                                                                                    \
        if (count < CANDIDATES_MAX && (candidate) && model_names_allowed(names, candidate)) \
            list[count++] = (candidate);                                                    \
    } while (0)
    ADD("auto");
    for (size_t i = 0; i < names->policy->route_count; i++) {
        ADD(names->policy->routes[i].name);
        for (const char *const *alias = names->policy->routes[i].aliases; alias && *alias; alias++)
            if (!strchr(*alias, '*'))
                ADD(*alias);
    }
    for (size_t i = 0; i < names->tier_count; i++) {
        const struct tier_facts *facts = &names->facts[i];
        ADD(facts->name);
        ADD(facts->model);
        for (size_t m = 0; m < facts->model_count; m++)
            ADD(facts->models[m].name);
        for (size_t a = 0; a < facts->adapter_count; a++)
            ADD(facts->adapters[a]);
    }
#undef ADD
    return error_suggest(str_from(model), list, count);
}
