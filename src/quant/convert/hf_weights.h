/* The weights of a Hugging Face folder under GGUF's names, in the order and the form that the
 * engine reads. Checkpoints that GPTQ or AWQ have quantised are read as the floats that they stand
 * for. */
#ifndef QUANT_HF_WEIGHTS_H
#define QUANT_HF_WEIGHTS_H

#include "base/json/json.h"
#include "quant/convert/hf_names.h"
#include "quant/convert/safetensors.h"

/* Which row of halves is row `index` of pairs. */
uint64_t hf_from_halves(uint64_t index, uint32_t head_size);

enum hf_packing { HF_PLAIN, HF_GPTQ, HF_AWQ, HF_MXFP4, HF_OWN };

struct hf_tensor {
    char name[65]; /* GGUF's */
    enum hf_packing packing;
    const struct safetensor *from; /* of GPTQ and AWQ: qweight; of MXFP4: the nibbles */
    const struct safetensor *scales, *zeros, *groups;
    float *own;          /* HF_OWN: computed values [cols] */
    uint64_t rows, cols; /* of one expert */
    uint32_t dim_count;
    uint32_t experts;               /* 0 = the matrix is not one of experts */
    const struct safetensor **each; /* [experts] if they are tensors of their own; else NULL */
    /* Of tensors that are not packed, and MXFP4's: the first element, and how far the next expert,
     * row and column are. */
    uint64_t first, expert_by, row_by, col_by;
    bool minus_exp;             /* the value is -exp(w) */
    uint32_t head_size, turned; /* not 0: of each head the first `turned` rows are brought from
                                   halves to pairs */
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

/* Of the layers without a window, by their norms of queries; 0 = there are none. */
uint32_t hf_global_head_size(const struct hf_weights *weights);
/* How many experts config.json names; 0 = none. */
uint32_t hf_expert_count(const struct json *config);
/* By GGUF's name; NULL = there is none. */
const struct hf_tensor *hf_weights_find(const struct hf_weights *weights, const char *name);
/* The first layer's tensor "blk.LAYER.part.weight"; NULL = no layer has one. */
const struct hf_tensor *hf_weights_first(const struct hf_weights *weights, const char *part);
/* The rows of the matrix "blk.LAYER.part.weight"; 0 = there is none. */
uint64_t hf_weights_rows(const struct hf_weights *weights, uint32_t layer, const char *part);
/* One row as floats, to out [cols]; rows of experts follow one another. Any thread. */
void hf_weights_read(const struct hf_weights *weights, size_t index, uint64_t row, float *out);
/* One row of an HF_MXFP4 tensor as GGUF's blocks of MXFP4, with the same bits. Any thread. */
void hf_weights_copy(const struct hf_weights *weights, size_t index, uint64_t row, uint8_t *out);

#endif
