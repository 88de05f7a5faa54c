/* tandem lora: works with adapters as files. */
#define HELP_OF 40
#include "app/cli/verb.h"
#include "app/config/packed_help.h"

extern const struct verb verb_lora_export, verb_lora_merge;

static int cmd_lora(int argc, char **argv)
{
    static const struct verb *const verbs[] = {&verb_lora_merge, &verb_lora_export, NULL};
    return verb_run("lora", HELP_TEXT("Works with LoRA adapters as files."), verbs, argc, argv);
}

const struct verb verb_lora = {"lora", cmd_lora,
                               HELP_TEXT("merge an adapter into a model, or export it")};
