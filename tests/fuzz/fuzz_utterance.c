/* A prompt and a labelled line: any bytes are read within bounds. */
#include "base/core/str.h"
#include "router/learn/examples.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct ngrams ngrams;
    struct utterance utterance;
    struct features features;
    struct td_str text = {(const char *)data, size};
    utterance_read_text(text, &utterance);
    if (utterance.len > UTTERANCE_BYTES_MAX)
        abort();
    features_read(&utterance, &features);
    ngrams_read(&utterance, 8 + (unsigned)(size % 11), &ngrams);
    if (ngrams.count > NGRAMS_MAX || ngrams.word_count > ngrams.count)
        abort();
    struct examples examples;
    struct td_error err = {0};
    if (examples_read(text, &examples, &err) != TD_OK && !*err.message)
        abort();
    examples_deinit(&examples);
    return 0;
}
