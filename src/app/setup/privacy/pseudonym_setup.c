/* Names of classes and types in the configuration become tables that a mask looks up. */
#include "app/setup/privacy/pseudonym_setup.h"

#include "base/core/error.h"
#include "base/core/str.h"
#include "base/text/names.h"

static enum td_status add_class(const char *name, struct mask_rules *rules, struct td_error *err)
{
    enum td_data_class data_class;
    if (!names_class_parse(str_from(name), &data_class) || data_class == TD_CLASS_PUBLIC)
        return error_set(
            err, TD_INVALID,
            "privacy.pseudonyms.classes: must be sensitive, contractual or restricted, not '%.40s'",
            name);
    rules->classes[data_class] = true;
    return TD_OK;
}

static enum td_status add_type(const char *name, struct mask_rules *rules, struct td_error *err)
{
    const char *names[PRIVACY_KIND_COUNT];
    for (int kind = 0; kind < PRIVACY_KIND_COUNT; kind++) {
        names[kind] = privacy_kind_name((enum privacy_kind)kind);
        if (strcmp(names[kind], name) == 0) {
            rules->kinds[kind] = true;
            return TD_OK;
        }
    }
    return error_set(err, TD_INVALID, "privacy.pseudonyms.types: there is no type '%.64s'%s", name,
                     error_suggest(str_from(name), names, PRIVACY_KIND_COUNT).text);
}

enum td_status pseudonym_setup_rules(const struct config *config, struct mask_rules *rules,
                                     struct td_error *err)
{
    const struct config_texts *classes = &config->privacy.pseudonyms.classes;
    const struct config_texts *types = &config->privacy.pseudonyms.types;
    enum td_status status = TD_OK;
    *rules = (struct mask_rules){0};
    rules->classes[TD_CLASS_SENSITIVE] = classes->count == 0;
    rules->kinds[PRIVACY_PERSON] = types->count == 0;
    for (size_t i = 0; i < classes->count && status == TD_OK; i++)
        status = add_class(classes->items[i], rules, err);
    for (size_t i = 0; i < types->count && status == TD_OK; i++)
        status = add_type(types->items[i], rules, err);
    if (status != TD_OK)
        error_prefix(err, "%s", config->label);
    return status;
}
