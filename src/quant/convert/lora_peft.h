/* Adapters between the two forms that they are published in: GGUF, which the engine reads, and a
 * folder of Hugging Face's PEFT (adapter_config.json, adapter_model.safetensors). A folder is
 * hostile until it was read. One thread. */
#ifndef QUANT_LORA_PEFT_H
#define QUANT_LORA_PEFT_H

#include "engine/model/model.h"

struct lora_peft_result {
    size_t matrices;
    uint32_t rank_max;
    float alpha;
};

/* Writes the folder of a GGUF adapter of that model; makes the folder. TD_UNSUPPORTED: a matrix or
 * an architecture that has no name there. */
TD_MUST_CHECK enum td_status lora_to_peft(const struct td_model *model, const char *adapter,
                                          const char *folder, struct lora_peft_result *result,
                                          struct td_error *err);
/* Writes the GGUF file of a folder, in F32. TD_UNSUPPORTED: DoRA, patterns of alpha, trained
 * modules beside the adapter. TD_INVALID: it is of another model. */
TD_MUST_CHECK enum td_status lora_from_peft(const struct td_model *model, const char *folder,
                                            const char *adapter, struct lora_peft_result *result,
                                            struct td_error *err);

#endif
