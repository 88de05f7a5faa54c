/* What a confined worker that was taken over could send to its server, and, as the other direction,
 * a request. */
#include "tier/local/sandbox_wire.h"

#include "base/core/str.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct td_str bytes = {(const char *)data, size}, rest = bytes;
    struct sandbox_frame frame;
    struct sandbox_request request;
    size_t used;
    while (sandbox_read_frame(rest, &used, &frame, NULL) == TD_OK && used > 0) {
        sandbox_frame_deinit(&frame);
        rest = str_slice(rest, used, rest.len);
    }
    if (sandbox_read_request(bytes, &request, NULL) == TD_OK && !request.tier == !request.inputs)
        __builtin_trap();
    sandbox_request_deinit(&request);
    return 0;
}
