/* Converts a Hugging Face folder (safetensors, config.json, tokenizer.json, tokenizer_config.json)
 * into a GGUF file, with where it came from in its metadata. One thread. */
#ifndef QUANT_CONVERT_H
#define QUANT_CONVERT_H

#include "quant/encode/encode_file.h"
#include "quant/encode/mix.h"

struct convert_options {
    const char *folder, *out;
    const struct mix *mix;
    const char *name, *license, *teacher, *method; /* for metadata; or NULL */
    bool force;
    const atomic_bool *cancel;
    struct thread_pool *threads;
    void (*progress)(void *ctx, uint64_t done, uint64_t total); /* may be NULL */
    void *progress_ctx;
};

struct convert_result {
    struct encode_result file;
    char architecture[32];
    size_t tensor_count;
    const char *packed; /* "gptq" or "awq": what was read as floats; NULL = plain */
};

TD_MUST_CHECK enum td_status convert_folder(const struct convert_options *options,
                                            struct convert_result *result, struct td_error *err);

#endif
