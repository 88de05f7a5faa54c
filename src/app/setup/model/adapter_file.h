/* What the file of an adapter says, without the model that it changes. Only td_adapter_load can
 * say whether it fits a model. */
#ifndef APP_ADAPTER_FILE_H
#define APP_ADAPTER_FILE_H

#include "tandem/types.h"

struct json;

struct adapter_file {
    char architecture[64]; /* of the base model; "" = not said */
    uint32_t rank_max;
    uint64_t matrix_count; /* that it changes */
    uint64_t tensor_count;
    float alpha; /* 0 = not said: the scale is the whole factor */
};

/* False when `path` is no LoRA adapter (layout: engine/model/adapter.c) with a matrix in it. */
bool adapter_file_read(const char *path, struct adapter_file *out);

/* **returns new** (json_free). */
struct json *adapter_file_to_json(const struct adapter_file *adapter);

#endif
