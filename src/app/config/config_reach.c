/* Who may see a class of data. Each class has places that it may go to without any rule; a rule
 * in privacy.classes replaces them and may ask for regions, certificates or tiers. Restricted
 * data never leaves the device, whatever a rule says. A class may not reach further than the
 * class below it. */
#include "app/config/config_reach.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/text/names.h"

#include <string.h>

static const unsigned default_places[CLASS_COUNT] = {
    [TD_CLASS_PUBLIC] = 1u << TD_PLACE_DEVICE | 1u << TD_PLACE_PREMISES | 1u << TD_PLACE_REGION |
                        1u << TD_PLACE_CLOUD,
    [TD_CLASS_SENSITIVE] = 1u << TD_PLACE_DEVICE | 1u << TD_PLACE_PREMISES,
    [TD_CLASS_CONTRACTUAL] = 1u << TD_PLACE_DEVICE | 1u << TD_PLACE_PREMISES,
    [TD_CLASS_RESTRICTED] = 1u << TD_PLACE_DEVICE,
};

static const char *const *list_of(const struct config_texts *texts)
{
    return texts->count ? (const char *const *)texts->items : NULL;
}

/* The place's bit, 0 for a name that is none. */
static unsigned place_bit(const char *name)
{
    for (unsigned i = 0; names_places[i]; i++)
        if (strcmp(names_places[i], name) == 0)
            return 1u << i;
    return 0;
}

static struct class_rule rule_of(const struct config_class *from)
{
    struct class_rule rule = {
        .given = true,
        .places = from->places.count ? 0 : default_places[from->data_class],
        .regions = list_of(&from->regions),
        .tiers = list_of(&from->tiers),
        .certified = list_of(&from->certified),
    };
    for (size_t i = 0; i < from->places.count; i++)
        rule.places |= place_bit(from->places.items[i]);
    return rule;
}

static void fill_facts(const struct config *config, const struct config_tier *tier,
                       struct tier_facts *facts)
{
    struct class_rule rules[CLASS_COUNT] = {0};
    for (size_t i = 0; i < config->privacy.class_count; i++)
        rules[config->privacy.classes[i].data_class] = rule_of(&config->privacy.classes[i]);
    facts->name = tier->name;
    facts->place = (enum td_place)tier->place;
    facts->region = tier->region;
    facts->certified = list_of(&tier->certified);
    facts->ruled = config->privacy.class_count > 0;
    facts->sees = reach_classes(rules, facts);
}

void config_reach_apply(const struct config *config, const struct config_tier *tier,
                        struct tier_facts *facts)
{
    ASSERT(tier >= config->tiers && tier < config->tiers + config->tier_count);
    fill_facts(config, tier, facts);
}

static enum td_status check_rule(const struct config *config, size_t index, struct td_error *err)
{
    const struct config_class *rule = &config->privacy.classes[index];
    const char *class_name = names_class((enum td_data_class)rule->data_class);
    for (size_t i = 0; i < index; i++)
        if (config->privacy.classes[i].data_class == rule->data_class)
            return error_set(err, TD_INVALID, "%s:%u: class %s has a rule already, in line %u",
                             config->label, rule->line, class_name,
                             config->privacy.classes[i].line);
    for (size_t i = 0; i < rule->places.count; i++)
        if (place_bit(rule->places.items[i]) == 0)
            return error_set(
                err, TD_INVALID,
                "%s:%u: '%.40s' is no place; the places are device, premises, region and cloud",
                config->label, rule->line, rule->places.items[i]);
    for (size_t i = 0; i < rule->tiers.count; i++)
        if (!config_tier_find(config, rule->tiers.items[i]))
            return error_set(err, TD_INVALID, "%s:%u: no tier is named '%.64s'%s", config->label,
                             rule->line, rule->tiers.items[i],
                             config_suggest_tier(config, rule->tiers.items[i]).text);
    if (rule->data_class == TD_CLASS_RESTRICTED &&
        (rule_of(rule).places & ~(1u << TD_PLACE_DEVICE)) != 0)
        return error_set(err, TD_INVALID,
                         "%s:%u: restricted data never leaves the device; use the class "
                         "contractual for data that some tiers may see",
                         config->label, rule->line);
    return TD_OK;
}

/* A conversation keeps the highest class that it had: what may reach a tier at that class must have
 * been allowed there at the lower ones that it holds as well. */
static enum td_status check_order(const struct config *config, const struct config_tier *tier,
                                  struct td_error *err)
{
    struct tier_facts facts = {0};
    fill_facts(config, tier, &facts);
    for (unsigned c = TD_CLASS_SENSITIVE; c < CLASS_COUNT && facts.place != TD_PLACE_DEVICE; c++)
        if ((facts.sees >> c & 1) && !(facts.sees >> (c - 1) & 1))
            return error_set(
                err, TD_INVALID,
                "%s:%u: privacy.classes lets tier '%.64s' see %s data but not %s data, "
                "which needs less protection; give %s a rule that allows it",
                config->label, tier->line, tier->name, names_class((enum td_data_class)c),
                names_class((enum td_data_class)(c - 1)), names_class((enum td_data_class)(c - 1)));
    return TD_OK;
}

enum td_status config_reach_check(const struct config *config, struct td_error *err)
{
    enum td_status status = TD_OK;
    for (size_t i = 0; i < config->privacy.class_count && status == TD_OK; i++)
        status = check_rule(config, i, err);
    for (size_t i = 0; i < config->tier_count && config->privacy.class_count && status == TD_OK;
         i++)
        status = check_order(config, &config->tiers[i], err);
    return status;
}
