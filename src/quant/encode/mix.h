/* Which type each tensor of a model gets. A mix is a named choice such as Q4_K_M: a type for the
 * matrices, more bits where a mistake costs more. The mixes, their names and their numbers in
 * general.file_type are llama.cpp's, so that "Q4_K_M" means here what it means elsewhere. Pure; any
 * thread. */
#ifndef QUANT_MIX_H
#define QUANT_MIX_H

#include "engine/gguf/gguf.h"

struct mix;

/* NULL when there is none of that name (any case). */
const struct mix *mix_find(struct td_str name);
const char *mix_name(const struct mix *mix);
uint32_t mix_file_type(const struct mix *mix);
/* The names, separated by ", ". */
const char *mix_list(void);

/* What of the model decides. */
struct mix_model {
    uint32_t layer_count, expert_count;
    uint32_t group; /* query heads of a key head */
    bool tied;      /* there is no output.weight: the embedding is both */
    bool has_importance;
};

void mix_model_read(const struct gguf *gguf, bool has_importance, struct mix_model *out);

/* Whether a tensor stays as it is: vectors, norms, routers of experts, positions and what is
 * Tandem's own. They are small, or everything goes through them. */
bool mix_keeps(struct td_str name, const uint64_t dims[static 4]);

/* The type that a mix gives to a matrix, before mix_fit. */
enum tensor_type mix_type(const struct mix *mix, const struct mix_model *model, struct td_str name);

/* `type`, or the nearest larger type whose blocks fit rows of `cols`. */
enum tensor_type mix_fit(enum tensor_type type, uint64_t cols);

#endif
