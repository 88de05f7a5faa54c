/* Repeated options keep their order: a scale belongs to the file before it. */
#include "app/cli/lora_options.h"

#include "base/core/assertion.h"
#include "base/core/str.h"

static bool add_file(void *ctx, const char *text)
{
    struct lora_options *lora = ctx;
    if (lora->count == TD_ADAPTERS_MAX)
        return false;
    lora->files[lora->count++] = text;
    return true;
}

static bool add_scale(void *ctx, const char *text)
{
    struct lora_options *lora = ctx;
    double scale;
    if (!str_to_double(str_from(text), &scale) || !(scale >= -(double)TD_ADAPTER_SCALE_MAX) ||
        !(scale <= (double)TD_ADAPTER_SCALE_MAX))
        return false;
    lora->scale_given = true;
    lora->scales[lora->count ? lora->count - 1 : 0] = (float)scale;
    return true;
}

void lora_options_init(struct lora_options *lora)
{
    *lora =
        (struct lora_options){.file_option = {add_file, lora, "at most 8 files"},
                              .scale_option = {add_scale, lora, "a number from -10000 to 10000"}};
    for (size_t i = 0; i < TD_ADAPTERS_MAX; i++)
        lora->scales[i] = 1;
}

enum td_status lora_options_apply(const struct lora_options *lora, const struct td_model *model,
                                  struct td_session *session, struct td_error *err)
{
    ASSERT(lora->count <= TD_ADAPTERS_MAX && session);
    struct td_adapter *adapters[TD_ADAPTERS_MAX] = {NULL};
    struct td_adapter_use uses[TD_ADAPTERS_MAX];
    enum td_status status = TD_OK;
    for (size_t i = 0; status == TD_OK && i < lora->count; i++) {
        status = td_adapter_load(model, lora->files[i], &adapters[i], err);
        uses[i] = (struct td_adapter_use){adapters[i], lora->scales[i]};
    }
    if (status == TD_OK)
        status = td_session_set_adapters(session, uses, lora->count, err);
    for (size_t i = 0; i < lora->count; i++)
        td_adapter_free(adapters[i]);
    return status;
}
