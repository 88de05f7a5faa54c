/* The weights of a Hugging Face folder under GGUF's names, in the order and the form that the
 * engine reads. Checkpoints that GPTQ or AWQ have quantised are read as the floats that they stand
 * for. */
#ifndef QUANT_HF_WEIGHTS_H
#define QUANT_HF_WEIGHTS_H

#include "base/json.h"
#include "quant/safetensors.h"

/* What differs between the families of models; one row a `model_type` of config.json. */
struct hf_family {
    const char *model_type, *architecture; /* GGUF's */
    bool interleaved;    /* rows of q and k go from halves to pairs (architecture.c) */
    bool norm_plus_one;  /* norms multiply by 1 + w */
    bool four_norms;     /* norms before and after each block */
    bool short_conv;     /* names of LFM2 */
    const char *epsilon; /* the norms' key of config.json; NULL = rms_norm_eps */
};

/* NULL when there is none. */
const struct hf_family *hf_family_find(struct td_str model_type);
const char *hf_family_list(void);

/* The first family of that GGUF architecture; NULL when there is none. */
const struct hf_family *hf_family_of(const char *architecture);
/* "blk.0.attn_q.weight" of "model.layers.0.self_attn.q_proj", and the reverse without ".weight".
 * False when there is no such name, or no room. */
bool hf_name_ours(const struct hf_family *family, struct td_str theirs, char out[static 65]);
bool hf_name_theirs(const struct hf_family *family, struct td_str ours, char *out, size_t size);
/* Which row of halves is row `index` of pairs. */
uint64_t hf_from_halves(uint64_t index, uint32_t head_size);

enum hf_packing { HF_PLAIN, HF_GPTQ, HF_AWQ, HF_OWN };

struct hf_tensor {
    char name[65]; /* GGUF's */
    enum hf_packing packing;
    const struct safetensor *from; /* of GPTQ and AWQ: qweight */
    const struct safetensor *scales, *zeros, *groups;
    float *own; /* HF_OWN: computed values [cols] */
    uint64_t rows, cols;
    uint32_t dim_count;
    uint32_t head_size; /* not 0: rows are brought from halves to pairs */
    bool plus_one;
};

/* What config.json says of rotary positions: rope_scaling or rope_parameters, of the layers that
 * see everything. NULL when there is nothing. */
const struct json *hf_rope(const struct json *config);
/* The base of the angles, of layers with a window if `sliding`; 0 = not said. */
double hf_rope_base(const struct json *config, bool sliding);

/* Elements of a head; 0 = config.json says nothing that is even and sensible. */
uint32_t hf_head_size(const struct json *config);
/* The share of a head that rope turns. */
double hf_rotary_part(const struct json *config);

struct hf_weights {
    struct hf_tensor *tensors; /* [count] */
    size_t count;
    bool tied;          /* there is no matrix of its own for the output */
    const char *packed; /* "gptq", "awq" or NULL */
};

/* config: config.json, or the part of it that describes the text model. **borrows** all. **returns
 * new** (hf_weights_deinit). TD_UNSUPPORTED: a tensor that the architecture has no use for. */
TD_MUST_CHECK enum td_status hf_weights_init(struct hf_weights *weights,
                                             const struct hf_family *family,
                                             const struct json *config,
                                             const struct safetensors *files, struct td_error *err);
void hf_weights_deinit(struct hf_weights *weights);

/* The rows of the matrix "blk.LAYER.part.weight"; 0 = there is none. */
uint64_t hf_weights_rows(const struct hf_weights *weights, uint32_t layer, const char *part);
/* One row as floats. Any thread. */
void hf_weights_read(const struct hf_weights *weights, size_t index, uint64_t row, float *out);

#endif
