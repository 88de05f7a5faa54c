/* A classifier file: any bytes are refused with words or judge a text without touching what is not
 * theirs. The hash is put right, so that what stands behind it is reached; the file's size is what
 * the header says where that is small. */
#include "base/core/str.h"
#include "base/crypto/hash.h"
#include "router/judge/classifier_format.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is missing at the end is rows of zeros: they need not be found by the search. */
static size_t whole_size(const uint8_t *data, size_t size)
{
    struct classifier_header header;
    if (size < sizeof header)
        return size;
    memcpy(&header, data, sizeof header);
    if (header.tasks > CLASSIFIER_TASKS_MAX || header.outputs > CLASSIFIER_OUTPUTS_MAX ||
        header.bits > 12 || header.row_bytes > 64)
        return size;
    size_t whole = classifier_rows_at(header.outputs, header.tasks) +
                   ((size_t)header.row_bytes << header.bits);
    return whole > size ? whole : size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t bytes = whole_size(data, size);
    uint8_t *file = calloc(1, bytes + 1);
    if (!file)
        return 0;
    memcpy(file, data, size);
    if (bytes > CLASSIFIER_HASHED_FROM) {
        uint64_t hash = hash_words64(file + CLASSIFIER_HASHED_FROM, bytes - CLASSIFIER_HASHED_FROM);
        memcpy(file + 16, &hash, sizeof hash);
    }
    struct classifier *classifier = NULL;
    struct td_error err = {0};
    enum td_status status = classifier_read(file, bytes, &classifier, &err);
    if ((status == TD_OK) != (classifier != NULL) || (status != TD_OK && !*err.message))
        abort();
    if (classifier) {
        static struct classifier_work work;
        struct utterance utterance;
        struct features features;
        struct verdict verdict;
        utterance_read_text((struct td_str){(const char *)data, size}, &utterance);
        features_read(&utterance, &features);
        classifier_judge(classifier, &utterance, &features, &work, &verdict);
        if (verdict.task != SIZE_MAX && !classifier_task_name(classifier, verdict.task))
            abort();
    }
    classifier_close(classifier);
    free(file);
    return 0;
}
