/* Lists of models: an operator's own, and what a hub answers. What is taken from them is plain text
 * that fits a terminal and a path. */
#include "app/setup/model/catalog.h"
#include "app/setup/model/hub.h"
#include "app/setup/model/model_store.h"
#include "base/core/str.h"
#include "base/json/json.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_plain(const char *text)
{
    for (; *text; text++)
        if (*text < ' ' || *text > '~')
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct td_str text = {(const char *)data, size};
    struct catalog *catalog = NULL;
    struct json *root = NULL;
    struct td_error err = {0};
    char file[256];
    if (catalog_parse("list", text, &catalog, &err) == TD_OK) {
        for (size_t i = 0; i < catalog_count(catalog); i++) {
            const struct catalog_model *model = catalog_at(catalog, i);
            check_plain(model->good_at);
            if (!model_name_is_plain(model->name) || !catalog_find(catalog, model->name) ||
                model->active > model->parameters)
                abort();
        }
        catalog_free(catalog);
    } else if (!*err.message)
        abort();
    if (json_parse(text, &root, NULL) != TD_OK)
        return 0;
    if (hub_pick_file(root, STR("Q4_K_M"), file, sizeof file, NULL) == TD_OK)
        check_plain(file);
    struct json *list = hub_read_search(root);
    for (size_t i = 0; i < json_count(list); i++)
        check_plain(json_cstr(json_get(json_at(list, i), "name")));
    json_free(list);
    json_free(root);
    return 0;
}
