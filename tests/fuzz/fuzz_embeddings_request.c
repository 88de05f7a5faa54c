/* An embeddings request's body: any bytes become a request or a 400 that says why. */
#include "api/wire/embeddings_request.h"
#include "base/core/str.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct embeddings_request request;
    struct fault fault = {0};
    struct td_str body = {(const char *)data, size};
    if (embeddings_request_parse(body, NULL, &request, &fault)) {
        if (request.input_count == 0 || request.input_count > EMBEDDINGS_INPUTS_MAX ||
            request.model == NULL)
            abort();
        volatile char sink = 0; /* every byte must be readable */
        for (size_t i = 0; i < request.input_count; i++) {
            const struct embedding_input *input = &request.inputs[i];
            if ((input->text.len == 0) == (input->id_count == 0))
                abort();
            for (size_t b = 0; b < input->text.len; b++)
                sink = input->text.data[b];
            for (size_t b = 0; b < input->id_count; b++)
                sink = (char)input->ids[b];
        }
        (void)sink;
    } else if (fault.code != 400 || !*fault.message) {
        abort();
    }
    embeddings_request_deinit(&request);
    return 0;
}
