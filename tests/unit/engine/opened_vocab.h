/* A vocabulary in memory, opened for a test. */
#ifndef TESTS_OPENED_VOCAB_H
#define TESTS_OPENED_VOCAB_H

#include "engine/tokenizer/tokenizer.h"
#include "gguf_builder.h"

/* The tokenizer with the file that it borrows from. */
struct opened {
    struct buf file;
    struct gguf *gguf;
    struct tokenizer *tokenizer; /* NULL when it was refused */
};

/* Opens the builder's file and frees the builder. The caller calls close_vocab in any case. */
static inline enum td_status open_vocab(struct gguf_builder *builder, struct opened *opened,
                                        struct td_error *err)
{
    *opened = (struct opened){0};
    *err = (struct td_error){0};
    builder_finish(builder, &opened->file);
    builder_deinit(builder);
    enum td_status status =
        gguf_open_memory(opened->file.data, opened->file.len, "test", true, &opened->gguf, err);
    return status == TD_OK ? tokenizer_open(opened->gguf, &opened->tokenizer, err) : status;
}

static inline void close_vocab(struct opened *opened)
{
    tokenizer_close(opened->tokenizer);
    gguf_close(opened->gguf);
    buf_deinit(&opened->file);
}

#endif
