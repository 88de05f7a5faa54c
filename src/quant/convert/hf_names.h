/* The families of models that are converted, and what their tensors are called there and in GGUF.
 * Constant tables; any thread. */
#ifndef QUANT_HF_NAMES_H
#define QUANT_HF_NAMES_H

#include "tandem/types.h"

/* What differs between the families of models; one row a `model_type` of config.json. */
struct hf_family {
    const char *model_type, *architecture; /* GGUF's */
    bool interleaved : 1;   /* rows of q and k go from halves to pairs (architecture.c) */
    bool norm_plus_one : 1; /* norms multiply by 1 + w */
    bool four_norms : 1;    /* norms before and after each block */
    bool short_conv : 1;    /* names of LFM2 */
    bool ssm : 1;           /* some layers are Mamba-2 layers */
    bool two_heads : 1;   /* Gemma 4: heads of two sizes, keys that layers share, layers' inputs */
    bool layer_norm : 1;  /* norms are LayerNorms */
    bool scales : 1;      /* the file must say how logits are scaled */
    bool gpt_oss : 1;     /* its experts' rows of gate and up alternate; biases of zeros count */
    bool openelm : 1;     /* config.json has other names, and lists the heads of each layer */
    bool no_adapters : 1; /* names in adapters (lora_peft.h) are not known */
    const char *epsilon;  /* the norms' key of config.json; NULL = rms_norm_eps */
};

/* NULL when there is none. */
const struct hf_family *hf_family_find(struct td_str model_type);
/* Their names, separated by ", "; of all, or of those whose adapters are known. */
void hf_family_list(bool adapters, char *out, size_t size);

/* The first family of that GGUF architecture whose adapters are known; NULL when there is none. */
const struct hf_family *hf_family_of(const char *architecture);
/* "blk.0.attn_q.weight" of "model.layers.0.self_attn.q_proj", and the reverse without ".weight".
 * False when there is no such name, or no room. */
bool hf_name_ours(const struct hf_family *family, struct td_str theirs, char out[static 65]);
bool hf_name_theirs(const struct hf_family *family, struct td_str ours, char *out, size_t size);

/* Their tensor, or the first or second half of its rows. */
enum hf_half { HF_WHOLE, HF_FIRST_HALF, HF_SECOND_HALF };

/* GGUF's name of that part of their tensor `stem`.`suffix`; of one expert without its number. False
 * when there is none. */
bool hf_name_of(const struct hf_family *family, struct td_str stem, enum hf_half half,
                const char *suffix, char out[static 65]);
/* The same for names that end without ".weight" or ".bias": `last` comes after the last point. */
bool hf_name_of_bare(struct td_str stem, struct td_str last, char out[static 65]);

#endif
