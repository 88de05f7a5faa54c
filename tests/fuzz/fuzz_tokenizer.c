/* A vocabulary and a text, both hostile. Input: 1 byte options (1 add_special, 2 parse_special,
 * 4 segments), 1 byte length of the text, the text, then a GGUF file. */
#include "base/core/str.h"
#include "engine/tokenizer/tokenizer.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void encode_and_decode(const struct tokenizer *tokenizer, struct td_str text,
                              uint8_t options)
{
    struct buf ids, back;
    enum td_status status;
    buf_init(&ids, 4096);
    buf_init(&back, 1 << 20);
    if (options & 4) {
        struct text_segment halves[] = {{0, text.len / 2, true}, {text.len / 2, text.len, false}};
        status = tokenizer_encode_segments(tokenizer, text, halves, 2, options & 1, &ids, NULL);
    } else {
        struct tokenizer_options how = {.add_special = options & 1, .parse_special = options & 2};
        status = tokenizer_encode(tokenizer, text, &how, &ids, NULL);
    }
    if (status != TD_OK && status != TD_LIMIT)
        abort();
    for (size_t i = 0; i < ids.len; i += sizeof(int32_t)) {
        int32_t id;
        memcpy(&id, ids.data + i, sizeof(id));
        if (id < 0 || (uint32_t)id >= tokenizer_count(tokenizer))
            abort();
        (void)tokenizer_is_end(tokenizer, id);
    }
    tokenizer_decode(tokenizer, (const int32_t *)(const void *)ids.data, ids.len / sizeof(int32_t),
                     true, &back);
    (void)tokenizer_find(tokenizer, text);
    buf_deinit(&ids);
    buf_deinit(&back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size < 2u + data[1])
        return 0;
    struct td_str text = {(const char *)data + 2, data[1]};
    struct gguf *gguf = NULL;
    struct tokenizer *tokenizer = NULL;
    if (gguf_open_memory(data + 2 + text.len, size - 2 - text.len, "fuzz", true, &gguf, NULL) !=
        TD_OK)
        return 0;
    if (tokenizer_open(gguf, &tokenizer, NULL) == TD_OK)
        encode_and_decode(tokenizer, text, data[0]);
    tokenizer_close(tokenizer);
    gguf_close(gguf);
    return 0;
}
