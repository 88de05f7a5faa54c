/* Adapters of the tiny model, in memory: as many changed matrices as asked for, random values. */
#ifndef TESTS_TINY_ADAPTER_H
#define TESTS_TINY_ADAPTER_H

#include "engine/model/adapter.h"
#include "tiny_model.h"

struct tiny_change {
    const char *stem;
    uint32_t in, out;
};

/* Every kind of matrix that the tiny model has. */
static const struct tiny_change tiny_changes[] = {
    {"blk.0.attn_q.weight", TINY_WIDE, TINY_WIDE},
    {"blk.0.attn_k.weight", TINY_WIDE, TINY_WIDE / TINY_HEADS *TINY_KV_HEADS},
    {"blk.0.attn_v.weight", TINY_WIDE, TINY_WIDE / TINY_HEADS *TINY_KV_HEADS},
    {"blk.0.attn_output.weight", TINY_WIDE, TINY_WIDE},
    {"blk.1.attn_v.weight", TINY_WIDE, TINY_WIDE / TINY_HEADS *TINY_KV_HEADS},
    {"blk.1.ffn_gate.weight", TINY_WIDE, TINY_FFN},
    {"blk.1.ffn_up.weight", TINY_WIDE, TINY_FFN},
    {"blk.1.ffn_down.weight", TINY_FFN, TINY_WIDE},
    {"output.weight", TINY_WIDE, TINY_VOCAB},
};
enum { TINY_CHANGES = sizeof tiny_changes / sizeof *tiny_changes };

struct tiny_adapter_options {
    const char *type, *architecture, *kind; /* NULL: those of an adapter of the tiny model */
    const struct tiny_change *changes;
    size_t change_count;
    uint32_t rank;
    float alpha; /* negative: no such key */
    float size;  /* of the values */
    uint64_t seed;
    bool embedding; /* also what tokens look up */
};

static inline void tiny_adapter_keys(struct gguf_builder *builder,
                                     const struct tiny_adapter_options *options)
{
    builder_string(builder, "general.type", options->type ? options->type : "adapter");
    builder_string(builder, "general.architecture",
                   options->architecture ? options->architecture : "llama");
    builder_string(builder, "adapter.type", options->kind ? options->kind : "lora");
    builder_string(builder, "general.name", "tiny adapter");
    if (options->alpha >= 0)
        builder_f32(builder, "adapter.lora.alpha", options->alpha);
}

static inline void tiny_adapter_build(const struct tiny_adapter_options *options, struct buf *out)
{
    struct gguf_builder builder;
    struct rng rng;
    char name[80];
    rng_init(&rng, options->seed);
    builder_init(&builder);
    tiny_adapter_keys(&builder, options);
    for (size_t i = 0; i < options->change_count; i++) {
        const struct tiny_change *change = &options->changes[i];
        snprintf(name, sizeof name, "%s.lora_a", change->stem);
        builder_tensor(&builder, name, options->rank, change->in, options->size, &rng);
        snprintf(name, sizeof name, "%s.lora_b", change->stem);
        builder_tensor(&builder, name, change->out, options->rank, options->size, &rng);
    }
    if (options->embedding) {
        builder_tensor(&builder, "token_embd.weight.lora_a", TINY_VOCAB, options->rank,
                       options->size, &rng);
        builder_tensor(&builder, "token_embd.weight.lora_b", TINY_WIDE, options->rank,
                       options->size, &rng);
    }
    builder_finish(&builder, out);
    builder_deinit(&builder);
}

/* All matrices, rank 5, alpha 10. **returns new** (td_adapter_free), NULL on failure. */
static inline struct td_adapter *tiny_adapter(const struct td_model *base, uint64_t seed)
{
    struct tiny_adapter_options options = {.changes = tiny_changes,
                                           .change_count = TINY_CHANGES,
                                           .rank = 5,
                                           .alpha = 10,
                                           .size = 0.2f,
                                           .seed = seed,
                                           .embedding = true};
    struct td_adapter *adapter = NULL;
    struct td_error err = {0};
    struct buf file;
    tiny_adapter_build(&options, &file);
    if (adapter_load_memory(base, file.data, file.len, "tiny", &adapter, &err) != TD_OK)
        fprintf(stderr, "tiny adapter: %s\n", err.message);
    buf_deinit(&file);
    return adapter;
}

#endif
