/* Rules as they stand in the file become rules as the router matches them: names become bits,
 * hours and days become masks, bounds become ranges. A rule that can never match, leaves no tier
 * or does nothing is refused with its line, because nobody would notice it at run time. Rules of
 * a preset are not checked against the tiers, which a preset does not know. */
#include "app/config/config_rules.h"

#include "app/config/keys.h"
#include "app/config/presets.h"
#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

TD_PRINTF(4, 5)
static enum td_status refuse(const struct config *config, const struct config_rule *rule,
                             struct td_error *err, const char *format, ...)
{
    char what[TD_ERROR_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return error_set(err, TD_INVALID, "%s:%u: rule '%.60s' %s", config->label, rule->line,
                     rule->name, what);
}

struct td_weights config_weights_read(const struct config_weights *weights)
{
    struct td_weights out = {.set = isfinite(weights->latency) || isfinite(weights->privacy) ||
                                    isfinite(weights->cost)};
    out.latency = isfinite(weights->latency) ? weights->latency : 0;
    out.privacy = isfinite(weights->privacy) ? weights->privacy : 0;
    out.cost = isfinite(weights->cost) ? weights->cost : 0;
    return out;
}

/* --- when --- */

/* Names that must be there, with the nearest one; tasks, users and tags may be anything. */
static enum td_status check_name(const struct config *config, const struct config_rule *rule,
                                 enum rule_choice choice, const char *name, struct td_error *err)
{
    const char *known[CONFIG_APPS_MAX];
    size_t count = 0;
    if (choice == RULE_ROUTE)
        for (; count < config->route_count && count < CONFIG_APPS_MAX; count++)
            known[count] = config->routes[count].name;
    else if (choice == RULE_APP)
        for (; count < config->app_count; count++)
            known[count] = config->apps[count].name;
    else
        return TD_OK;
    for (size_t i = 0; i < count; i++)
        if (strcmp(known[i], name) == 0)
            return TD_OK;
    return refuse(config, rule, err, "names an unknown %s '%.60s'%s", rule_choice_name(choice),
                  name, error_suggest(str_from(name), known, count).text);
}

static enum td_status compile_names(struct config *config, const struct config_rule *from,
                                    struct routing_rule *to, struct td_error *err)
{
    for (size_t choice = 0; choice < RULE_NAMED_COUNT; choice++) {
        const struct config_texts *names = &from->named[choice];
        uint64_t bits = 0;
        for (size_t i = 0; i < names->count; i++) {
            enum td_status status =
                check_name(config, from, (enum rule_choice)choice, names->items[i], err);
            if (status != TD_OK)
                return status;
            uint64_t bit = routing_rules_add_name(&config->rule_set, (enum rule_choice)choice,
                                                  names->items[i]);
            if (!bit)
                return refuse(
                    config, from, err,
                    "names too many: all rules together may name at most %d different values of %s",
                    RULE_NAMES_MAX, rule_choice_name((enum rule_choice)choice));
            bits |= bit;
        }
        to->any[choice] = names->count ? bits : RULE_WHATEVER;
    }
    return TD_OK;
}

/* "9", "9-17" (to 16:59), "22-6" over midnight. */
static bool read_hours(struct td_str text, uint64_t *bits)
{
    struct td_str first;
    uint64_t from, to;
    bool has_end = memchr(text.data, '-', text.len) != NULL;
    if (!str_next(&text, '-', &first) || !str_to_u64(first, &from) || from > 23)
        return false;
    to = from + 1;
    if (has_end && (!str_to_u64(text, &to) || to > 24 || to == from))
        return false;
    for (uint64_t hour = from; hour % 24 != to % 24 || hour == from; hour++)
        *bits |= UINT64_C(1) << hour % 24;
    return true;
}

static void compile_flag(int wanted, enum rule_flag flag, struct routing_rule *to)
{
    to->yes |= wanted == 1 ? (uint32_t)flag : 0;
    to->no |= wanted == 0 ? (uint32_t)flag : 0;
}

static enum td_status compile_when(struct config *config, const struct config_rule *from,
                                   struct routing_rule *to, struct td_error *err)
{
    enum td_status status = compile_names(config, from, to, err);
    uint64_t hours = 0;
    if (status != TD_OK)
        return status;
    for (size_t i = 0; i < from->hours.count; i++)
        if (!read_hours(str_from(from->hours.items[i]), &hours))
            return refuse(config, from, err, "has hours '%.30s'; write 9, 9-17 or 22-6",
                          from->hours.items[i]);
    const struct {
        enum rule_choice choice;
        uint64_t bits;
    } masks[] = {{RULE_CLASS, from->classes},    {RULE_LANGUAGE, from->languages},
                 {RULE_NETWORK, from->networks}, {RULE_PRIORITY, from->priorities},
                 {RULE_DAY, from->days},         {RULE_HOUR, hours}};
    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++)
        to->any[masks[i].choice] = masks[i].bits ? masks[i].bits : RULE_WHATEVER;
    for (size_t i = 0; i < RULE_NUMBER_COUNT; i++) {
        if (!isfinite(from->over[i]) && !isfinite(from->under[i]))
            continue;
        to->asked |= 1u << i;
        to->range[i].over = isfinite(from->over[i]) ? from->over[i] : (double)-INFINITY;
        to->range[i].under = isfinite(from->under[i]) ? from->under[i] : (double)INFINITY;
        if (!(to->range[i].over < to->range[i].under))
            return refuse(config, from, err, "can never match: %s over %.6g and under %.6g",
                          rule_number_name((enum rule_number)i), from->over[i], from->under[i]);
    }
    compile_flag(from->code, RULE_CODE, to);
    compile_flag(from->maths, RULE_MATHS, to);
    compile_flag(from->question, RULE_QUESTION, to);
    compile_flag(from->multi_step, RULE_MULTI_STEP, to);
    compile_flag(from->fresh, RULE_FRESH, to);
    compile_flag(from->jailbreak, RULE_JAILBREAK, to);
    compile_flag(from->tools, RULE_TOOLS, to);
    compile_flag(from->media, RULE_MEDIA, to);
    compile_flag(from->on_battery, RULE_ON_BATTERY, to);
    return TD_OK;
}

/* --- then --- */

/* The tier's index, SIZE_MAX when there is none. */
static size_t find_tier(const struct config *config, const char *name)
{
    const struct config_tier *tier = config_tier_find(config, name);
    return tier ? (size_t)(tier - config->tiers) : SIZE_MAX;
}

static enum td_status unknown_tier(const struct config *config, const struct config_rule *rule,
                                   const char *name, struct td_error *err)
{
    return refuse(config, rule, err, "names an unknown tier '%.60s'%s", name,
                  config_suggest_tier(config, name).text);
}

static bool rule_keeps(const struct config *config, const struct routing_rule *rule, size_t tier)
{
    int place = config->tiers[tier].place;
    bool device = place == TD_PLACE_DEVICE;
    return !(rule->only == RULE_ONLY_LOCAL && !device) &&
           !(rule->only == RULE_ONLY_CLOUD && device) &&
           !(rule->tiers && !(rule->tiers >> tier & 1)) &&
           !(rule->places && !(rule->places >> place & 1));
}

/* Is there a route that the rule applies to and leaves a tier on? If not, all that it matches would
 * end with an empty ladder, which `deny` says better. */
static enum td_status check_keeps(const struct config *config, const struct config_rule *from,
                                  const struct routing_rule *rule, struct td_error *err)
{
    bool keeps = false, starts = rule->start >= RULE_START_CLOUD;
    for (size_t r = 0; r < config->route_count; r++) {
        const struct config_route *route = &config->routes[r];
        if (!(routing_rules_name_bit(&config->rule_set, RULE_ROUTE, route->name) &
              rule->any[RULE_ROUTE]))
            continue;
        for (size_t i = 0; i < route->tiers.count; i++) {
            size_t tier = find_tier(config, route->tiers.items[i]);
            bool kept = tier != SIZE_MAX && rule_keeps(config, rule, tier);
            keeps = keeps || kept;
            starts = starts || (kept && tier == rule->start);
        }
    }
    if (!keeps)
        return refuse(config, from, err,
                      "leaves no tier on any route that it applies to; write deny: REASON to "
                      "refuse requests");
    if (!starts)
        return refuse(
            config, from, err,
            "starts on '%.60s', which the rule itself removes, or which is on none of its routes",
            from->start);
    return TD_OK;
}

static enum td_status compile_then(const struct config *config, const struct config_rule *from,
                                   struct routing_rule *to, struct td_error *err)
{
    to->deny = from->deny;
    to->only = (enum rule_only)(from->only + 1);
    to->places = from->places;
    to->stays = from->escalate == 0;
    to->data_class = from->data_class;
    to->weights = config_weights_read(&from->weights);
    to->start = RULE_START_NONE;
    for (size_t i = 0; i < from->tiers.count; i++) {
        size_t tier = find_tier(config, from->tiers.items[i]);
        if (tier == SIZE_MAX)
            return unknown_tier(config, from, from->tiers.items[i], err);
        to->tiers |= 1u << tier;
    }
    if (from->start) {
        to->start = find_tier(config, from->start);
        if (to->start == SIZE_MAX && strcmp(from->start, "local") == 0)
            to->start = RULE_START_LOCAL;
        else if (to->start == SIZE_MAX && strcmp(from->start, "cloud") == 0)
            to->start = RULE_START_CLOUD;
        else if (to->start == SIZE_MAX)
            return unknown_tier(config, from, from->start, err);
    }
    bool restricts = to->only || to->tiers || to->places || from->start || from->escalate >= 0 ||
                     to->weights.set;
    if (to->deny && (restricts || to->data_class >= 0))
        return refuse(config, from, err, "denies the request, so nothing else may stand in `then`");
    if (!to->deny && !restricts && to->data_class < 0)
        return refuse(config, from, err, "does nothing: `then` is empty");
    /* A preset does not know which tiers there are. */
    return to->deny || !from->line ? TD_OK : check_keeps(config, from, to, err);
}

/* --- all --- */

static enum td_status append_preset(struct config *config, struct td_error *err)
{
    const struct preset *preset = preset_find(config->policy.preset);
    if (!preset) {
        const char *names[16];
        size_t count = 0;
        while (presets[count].name && count < 16) {
            names[count] = presets[count].name;
            count++;
        }
        return error_set(err, TD_INVALID, "%s: policy.preset: there is no preset '%.60s'%s",
                         config->label, config->policy.preset,
                         error_suggest(str_from(config->policy.preset), names, count).text);
    }
    struct yaml_node *tree;
    struct config *part = arena_alloc(config->arena, sizeof *part);
    if (!part)
        return error_set(err, TD_NO_MEMORY, "no memory for the configuration");
    enum td_status status =
        yaml_tree_read(preset->name, str_from(preset->rules), config->arena, &tree, err);
    if (status == TD_OK)
        status = keys_read_own(preset->name, &keys_root, tree, config->arena, part, err);
    if (status != TD_OK)
        return status;
    size_t count = config->rule_count + part->rule_count;
    struct config_rule *all = arena_alloc_array(config->arena, count, sizeof *all);
    if (!all)
        return error_set(err, TD_NO_MEMORY, "no memory for the configuration");
    if (config->rule_count)
        memcpy(all, config->rules, config->rule_count * sizeof *all);
    memcpy(all + config->rule_count, part->rules, part->rule_count * sizeof *all);
    for (size_t i = config->rule_count; i < count; i++)
        all[i].line = 0;
    config->rules = all;
    config->rule_count = count;
    return TD_OK;
}

/* Earlier rules that leave nothing; those of a preset may be covered by the operator's own. */
static enum td_status check_reachable(const struct config *config, size_t index,
                                      struct td_error *err)
{
    bool alone;
    const struct config_rule *rule = &config->rules[index];
    size_t by = rule->line ? routing_rules_find_shadow(&config->rule_set, index, &alone) : SIZE_MAX;
    if (by == SIZE_MAX)
        return TD_OK;
    return refuse(config, rule, err,
                  "can never be reached: %s '%.60s' in line %u already match%s everything",
                  alone ? "rule" : "the rules down to", config->rules[by].name,
                  config->rules[by].line, alone ? "es" : "");
}

enum td_status config_rules_compile(struct config *config, struct td_error *err)
{
    ASSERT(config->rule_set.rules == NULL && config->rule_count <= CONFIG_RULES_MAX);
    enum td_status status = config->policy.preset ? append_preset(config, err) : TD_OK;
    if (status != TD_OK || config->rule_count == 0)
        return status;
    struct routing_rule *rules =
        arena_alloc_array(config->arena, config->rule_count, sizeof *rules);
    if (!rules)
        return error_set(err, TD_NO_MEMORY, "no memory for the configuration");
    config->rule_set.rules = rules;
    for (size_t i = 0; i < config->rule_count && status == TD_OK; i++) {
        const struct config_rule *from = &config->rules[i];
        for (size_t j = 0; j < i; j++)
            if (strcmp(config->rules[j].name, from->name) == 0)
                return refuse(config, from, err, "has the same name as the rule in line %u",
                              config->rules[j].line);
        rules[i].name = from->name;
        rules[i].line = from->line;
        status = compile_when(config, from, &rules[i], err);
        if (status == TD_OK)
            status = compile_then(config, from, &rules[i], err);
        config->rule_set.count = i + 1;
        if (status == TD_OK)
            status = check_reachable(config, i, err);
    }
    return status;
}
