/* Any JSON as tokenizer.json (the first line) and tokenizer_config.json (the rest): refused with
 * words, or metadata come out. */
#include "quant/convert/hf_tokenizer.h"

#include "base/core/str.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct td_str rest = {(const char *)data, size}, first = {NULL, 0};
    struct json *tokenizer = NULL, *config = NULL;
    struct td_error err = {0};
    struct buf pairs;
    uint64_t count = 0;
    str_next(&rest, '\n', &first);
    buf_init(&pairs, 1 << 24);
    if (json_parse(first, &tokenizer, NULL) == TD_OK) {
        if (json_parse(rest, &config, NULL) != TD_OK)
            config = NULL;
        enum td_status status = hf_tokenizer_convert(tokenizer, config, config, (struct td_str){0},
                                                     64, &pairs, &count, &err);
        if (status != TD_OK ? err.message[0] == '\0' : count == 0)
            abort();
    }
    json_free(tokenizer);
    json_free(config);
    buf_deinit(&pairs);
    return 0;
}
