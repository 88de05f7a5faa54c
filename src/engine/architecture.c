#include "engine/architecture.h"

#include "base/str.h"

/* Rope pairing: files of the llama architecture have their q/k rows permuted for neighbouring pairs
 * by the converter; qwen keeps the halves of the original code. */
static const struct architecture architectures[] = {
    {"llama", true, PRESENCE_OPTIONAL, PRESENCE_NEVER},
    {"qwen2", false, PRESENCE_REQUIRED, PRESENCE_NEVER},
    {"qwen3", false, PRESENCE_OPTIONAL, PRESENCE_REQUIRED},
};

const struct architecture *architecture_find(struct td_str name)
{
    for (size_t i = 0; i < sizeof architectures / sizeof *architectures; i++)
        if (str_equal(name, str_from(architectures[i].name)))
            return &architectures[i];
    return NULL;
}

const char *architecture_list(void)
{
    return "llama, qwen2, qwen3";
}
