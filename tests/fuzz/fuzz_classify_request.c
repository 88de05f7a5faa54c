/* A body of /tandem/v1/classify: any bytes become a request or a 400 that says why. */
#include "api/wire/classify_request.h"
#include "base/core/str.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every byte must be readable, and no text blank. */
static void read_all(const struct td_str *texts, size_t count)
{
    volatile char sink = 0;
    for (size_t i = 0; i < count; i++) {
        if (str_trim(texts[i]).len == 0)
            abort();
        for (size_t b = 0; b < texts[i].len; b++)
            sink = texts[i].data[b];
    }
    (void)sink;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct classify_request request;
    struct fault fault = {0};
    struct td_str body = {(const char *)data, size};
    if (classify_request_parse(body, &request, &fault)) {
        if (request.text_count == 0 || request.text_count > CLASSIFY_TEXTS_MAX ||
            request.label_count > CLASSIFY_LABELS_MAX || request.top == 0 ||
            request.top * request.text_count > CLASSIFY_SCORES_MAX || request.model == NULL ||
            (request.label_count == 0) == (request.set == NULL))
            abort();
        read_all(request.texts, request.text_count);
        read_all(request.labels, request.label_count);
    } else if (fault.code != 400 || !*fault.message) {
        abort();
    }
    classify_request_deinit(&request);
    return 0;
}
