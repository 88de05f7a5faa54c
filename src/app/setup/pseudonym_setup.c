#include "app/setup/pseudonym_setup.h"

#include "base/error.h"
#include "base/names.h"
#include "base/str.h"

static enum td_status add_class(const char *name, struct mask_rules *rules, struct td_error *err)
{
    enum td_data_class data_class;
    if (!names_class_parse(str_from(name), &data_class) || data_class == TD_CLASS_PUBLIC)
        return error_set(err, TD_INVALID,
                         "privacy.pseudonyms.classes: '%.40s' is no class of private data", name);
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
    const char *near = str_nearest(str_from(name), names, PRIVACY_KIND_COUNT);
    return error_set(err, TD_INVALID, "privacy.pseudonyms.types: nothing is called '%.64s'%s%s%s",
                     name, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
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
