/* Any bytes as a GGUF file. It is refused with words, or everything in it can be read. A file that
 * opens is also given to the tokenizer as a vocabulary. The bytes are also read as the two files of
 * a model, the second beginning at the last "GGUF" in them. */
#include "engine/gguf/gguf_split.h"
#include "engine/tokenizer/tokenizer.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned walk(const struct gguf *gguf)
{
    unsigned sum = 0;
    struct td_str key, text;
    enum gguf_type type;
    char value[80], name[300];
    for (size_t i = 0; gguf_describe(gguf, i, &key, &type, value, sizeof value); i++) {
        const void *cursor = NULL;
        memcpy(name, key.data, key.len);
        name[key.len] = '\0';
        while (type == GGUF_ARRAY && gguf_next_string(gguf, name, &cursor, &text))
            sum += text.len ? (unsigned char)text.data[text.len - 1] : 0;
        sum += (unsigned char)value[0];
    }
    for (size_t i = 0; i < gguf_tensor_count(gguf); i++) {
        const struct gguf_tensor *tensor = gguf_tensor_at(gguf, i);
        if (tensor->data && tensor->bytes)
            sum += ((const uint8_t *)tensor->data)[tensor->bytes - 1];
    }
    return sum;
}

/* Where the last "GGUF" begins, or 0. */
static size_t second_file(const uint8_t *data, size_t size)
{
    for (size_t at = size > 4 ? size - 4 : 0; at > 0; at--)
        if (memcmp(data + at, "GGUF", 4) == 0)
            return at;
    return 0;
}

static unsigned join(const uint8_t *data, size_t size)
{
    struct gguf *parts[2] = {NULL, NULL}, *whole = NULL;
    struct td_error err = {0};
    size_t cut = second_file(data, size);
    if (cut == 0 || gguf_open_memory(data, cut, "a", false, &parts[0], NULL) != TD_OK)
        return 0;
    if (gguf_open_memory(data + cut, size - cut, "b", false, &parts[1], NULL) != TD_OK) {
        gguf_close(parts[0]);
        return 0;
    }
    enum td_status status = gguf_join(parts, 2, &whole, &err);
    if ((status == TD_OK) != (whole != NULL) || (status != TD_OK && err.message[0] == '\0'))
        abort();
    unsigned sum = whole ? walk(whole) : 0;
    gguf_close(whole);
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static volatile unsigned sink;
    sink = sink + join(data, size);
    for (int vocab_only = 0; vocab_only < 2; vocab_only++) {
        struct gguf *gguf;
        struct td_error err = {0};
        enum td_status status = gguf_open_memory(data, size, "fuzz", vocab_only, &gguf, &err);
        if ((status == TD_OK) != (gguf != NULL) || (status != TD_OK && err.message[0] == '\0'))
            abort();
        if (gguf == NULL)
            continue;
        sink = sink + walk(gguf);
        struct tokenizer *tokenizer;
        if (tokenizer_open(gguf, &tokenizer, &err) == TD_OK)
            tokenizer_close(tokenizer);
        gguf_close(gguf);
    }
    return 0;
}
