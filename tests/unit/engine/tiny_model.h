/* A llama model with random weights, small enough to make anew for every test. Its vocabulary has
 * byte tokens and a few longer pieces, so that generated text has tokens of all lengths and broken
 * UTF-8. */
#ifndef TESTS_TINY_MODEL_H
#define TESTS_TINY_MODEL_H

#include "gguf_builder.h"
#include "tandem/engine.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define TINY_VOCAB 320
#define TINY_CONTEXT 512
#define TINY_NOT_MINE 3

enum { TINY_LAYERS = 2, TINY_WIDE = 64, TINY_HEADS = 4, TINY_KV_HEADS = 2, TINY_FFN = 96 };

/* word: how the pieces after the first ones begin. */
static inline void tiny_vocabulary_of(struct gguf_builder *builder, const char *word)
{
    static const char *const pieces[] = {"\xe2\x96\x81the",  "ab",   "abc", "\xc3\xa9",
                                         "\xe2\x82\xac",     "STOP", "ST",  "OP",
                                         "\xf0\x9f\x98\x80", "\n"};
    builder_string(builder, "tokenizer.ggml.model", "llama");
    builder_array(builder, "tokenizer.ggml.tokens", GGUF_STRING, TINY_VOCAB);
    for (int i = 0; i < TINY_VOCAB; i++) {
        char text[32];
        static const char *const specials[] = {"<unk>", "<s>", "</s>", "<|not_mine|>"};
        if (i < 4)
            snprintf(text, sizeof text, "%s", specials[i]);
        else if (i < 260)
            snprintf(text, sizeof text, "<0x%02X>", (unsigned)(i - 4));
        else if (i < 270)
            snprintf(text, sizeof text, "%s", pieces[i - 260]);
        else
            snprintf(text, sizeof text, "%s%d", i < 300 ? "w" : word, i);
        builder_put_string(&builder->pairs, str_from(text));
    }
    builder_array(builder, "tokenizer.ggml.scores", GGUF_F32, TINY_VOCAB);
    for (int i = 0; i < TINY_VOCAB; i++) {
        float score = (float)-i;
        buf_append(&builder->pairs, &score, sizeof score);
    }
    builder_array(builder, "tokenizer.ggml.token_type", GGUF_I32, TINY_VOCAB);
    for (int i = 0; i < TINY_VOCAB; i++) /* 2 unknown, 3 control, 6 byte, 1 normal */
        builder_put_u32(&builder->pairs, i == 0 ? 2 : i < 4 ? 3 : i < 260 ? 6 : 1);
    builder_u32(builder, "tokenizer.ggml.bos_token_id", 1);
    builder_u32(builder, "tokenizer.ggml.eos_token_id", 2);
    builder_bool(builder, "tokenizer.ggml.add_bos_token", true);
    builder_u32(builder, "tandem.not_mine_token_id", TINY_NOT_MINE);
}

static inline void tiny_vocabulary(struct gguf_builder *builder)
{
    tiny_vocabulary_of(builder, "w");
}

static inline void tiny_hyperparameters_of(struct gguf_builder *builder, unsigned layers)
{
    builder_string(builder, "general.architecture", "llama");
    builder_u32(builder, "llama.context_length", TINY_CONTEXT);
    builder_u32(builder, "llama.block_count", layers);
    builder_u32(builder, "llama.embedding_length", TINY_WIDE);
    builder_u32(builder, "llama.feed_forward_length", TINY_FFN);
    builder_u32(builder, "llama.attention.head_count", TINY_HEADS);
    builder_u32(builder, "llama.attention.head_count_kv", TINY_KV_HEADS);
    builder_f32(builder, "llama.attention.layer_norm_rms_epsilon", 1e-5f);
}

static inline void tiny_hyperparameters(struct gguf_builder *builder)
{
    tiny_hyperparameters_of(builder, TINY_LAYERS);
}

/* Layer `idle` adds nothing to the residual stream. */
static inline void tiny_tensors_of(struct gguf_builder *builder, uint64_t seed, unsigned layers,
                                   unsigned idle)
{
    struct rng rng;
    rng_init(&rng, seed);
    uint64_t kv = TINY_WIDE / TINY_HEADS * TINY_KV_HEADS;
    builder_tensor(builder, "token_embd.weight", TINY_VOCAB, TINY_WIDE, 1.0f, &rng);
    for (unsigned i = 0; i < layers; i++) {
        const struct {
            const char *part;
            uint64_t rows, cols;
        } parts[] = {{"attn_norm", 0, TINY_WIDE},
                     {"attn_q", TINY_WIDE, TINY_WIDE},
                     {"attn_k", kv, TINY_WIDE},
                     {"attn_v", kv, TINY_WIDE},
                     {"attn_output", TINY_WIDE, TINY_WIDE},
                     {"ffn_norm", 0, TINY_WIDE},
                     {"ffn_gate", TINY_FFN, TINY_WIDE},
                     {"ffn_up", TINY_FFN, TINY_WIDE},
                     {"ffn_down", TINY_WIDE, TINY_FFN}};
        for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
            char name[64];
            snprintf(name, sizeof name, "blk.%u.%s.weight", i, parts[p].part);
            bool norm = parts[p].rows == 0, last = p == 4 || p == 8;
            builder_tensor(builder, name, parts[p].rows, parts[p].cols,
                           norm                ? 1.0f
                           : last && i == idle ? 0.0f
                                               : 0.4f,
                           norm ? NULL : &rng);
        }
    }
    builder_tensor(builder, "output_norm.weight", 0, TINY_WIDE, 1.0f, NULL);
    builder_tensor(builder, "output.weight", TINY_VOCAB, TINY_WIDE, 0.5f, &rng);
}

static inline void tiny_tensors(struct gguf_builder *builder, uint64_t seed)
{
    tiny_tensors_of(builder, seed, TINY_LAYERS, UINT_MAX);
}

/* Writes bytes to a new file, calls `use`, and removes the file; a file that `use` opened stays
 * mapped. */
static inline struct td_model *
tiny_open(const struct buf *file, const struct td_model_options *options, struct td_error *err)
{
    char path[] = "/tmp/tandem_test_XXXXXX";
    struct td_model *model = NULL;
    int fd = mkstemp(path);
    if (fd < 0)
        return NULL;
    if (write(fd, file->data, file->len) == (ssize_t)file->len &&
        td_model_open(path, options, &model, err) != TD_OK)
        model = NULL;
    close(fd);
    unlink(path);
    return model;
}

static inline struct td_model *tiny_model_of(uint64_t seed, const char *word)
{
    struct gguf_builder builder;
    struct buf file;
    struct td_error err = {0};
    builder_init(&builder);
    tiny_hyperparameters(&builder);
    tiny_vocabulary_of(&builder, word);
    tiny_tensors(&builder, seed);
    builder_finish(&builder, &file);
    struct td_model *model = tiny_open(&file, NULL, &err);
    if (model == NULL)
        fprintf(stderr, "tiny model: %s\n", err.message);
    builder_deinit(&builder);
    buf_deinit(&file);
    return model;
}

static inline struct td_model *tiny_model(uint64_t seed)
{
    return tiny_model_of(seed, "w");
}

/* Tokens from 300 on are other words. */
static inline struct td_model *tiny_model_renamed(uint64_t seed)
{
    return tiny_model_of(seed, "x");
}

#endif
