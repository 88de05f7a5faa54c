/* Numbers of a model's metadata, checked as they are read, and the limits of sizes. Used while a
 * model is loaded. */
#ifndef ENGINE_MODEL_KEYS_H
#define ENGINE_MODEL_KEYS_H

#include "engine/model/model.h"

/* Limits far above any known model. They keep products of sizes within 64 bits. */
#define LAYERS_MAX 1024
#define EMBEDDING_MAX (1u << 17)
#define FFN_MAX (1u << 20)
#define HEADS_MAX 1024
#define CONTEXT_MAX (1u << 24)

/* Returns status, with the words behind the file's name. */
enum td_status model_fail(const struct td_model *model, struct td_error *err, enum td_status status,
                          const char *format, ...) TD_PRINTF(4, 5);
/* TD_CORRUPT: "key: reason". */
enum td_status model_key_bad(const struct td_model *model, struct td_error *err, const char *key,
                             const char *reason);

/* "llama.suffix". */
void model_key_name(const struct td_model *model, const char *suffix, char out[static 96]);
/* A number in [1, max]. When the key is absent and not required, *value does not change. */
TD_MUST_CHECK enum td_status model_key_u32(const struct td_model *model, const char *suffix,
                                           bool required, uint32_t max, uint32_t *value,
                                           struct td_error *err);
/* As model_key_u32, but the number may be 0, which an absent key means, too. */
TD_MUST_CHECK enum td_status model_key_count(const struct td_model *model, const char *suffix,
                                             uint32_t max, uint32_t *value, struct td_error *err);
TD_MUST_CHECK enum td_status model_key_f32(const struct td_model *model, const char *suffix,
                                           bool required, float min, float max, float *value,
                                           struct td_error *err);

/* One number for all layers, or one for each. */
struct model_numbers {
    const uint8_t *each; /* [layers], packed; NULL = `most` is that of all */
    uint32_t most;
};

uint32_t model_numbers_at(const struct model_numbers *numbers, uint32_t layer);
/* As model_key_u32, but the value may be an array (pruned models). Not all of it may be 0. */
TD_MUST_CHECK enum td_status model_key_numbers(const struct td_model *model, const char *suffix,
                                               bool required, uint32_t max,
                                               struct model_numbers *numbers, struct td_error *err);
TD_MUST_CHECK enum td_status model_key_heads(const struct td_model *model,
                                             struct model_numbers *heads,
                                             struct model_numbers *kv_heads, struct td_error *err);
/* TD_CORRUPT when heads cannot share key-value heads evenly. */
TD_MUST_CHECK enum td_status model_check_heads(const struct td_model *model, uint32_t heads,
                                               uint32_t kv_heads, struct td_error *err);

#endif
