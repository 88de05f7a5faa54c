/* The configuration: any bytes either load or are refused with words; never more than that. */
#include "app/config/config.h"
#include "base/core/str.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *no_variable(void *ctx, const char *name)
{
    (void)ctx;
    return strcmp(name, "HOME") == 0 ? "/home/fuzz" : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct td_error err = {0};
    struct config *config = NULL;
    struct td_str text = {(const char *)data, size};
    enum td_status status = config_parse("fuzz", text, no_variable, NULL, &config, &err);
    if ((status == TD_OK) != (config != NULL) || (status != TD_OK && !*err.message))
        abort();
    config_free(config);
    return 0;
}
