/* A provider's list of models: whatever comes, what it is taken to say can be. */
#include "base/core/str.h"
#include "tier/cards/model_listed.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct json *root = NULL;
    if (json_parse((struct td_str){(const char *)data, size}, &root, NULL) != TD_OK)
        return 0;
    struct model_listed listed = model_listed_read(root, "m");
    assert(!(listed.input_usd < 0) && !(listed.output_usd < 0));
    assert(!(listed.abilities & ~listed.said));
    assert(listed.found || (!listed.said && !listed.context_tokens));
    json_free(root);
    return 0;
}
