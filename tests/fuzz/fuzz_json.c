/* What the reader accepts, the writer writes, and the reader reads again to the same text. */
#include "base/json.h"

#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct json *value, *again;
    if (json_parse((struct td_str){(const char *)data, size}, &value, NULL) != TD_OK)
        return 0;
    struct buf first, second;
    buf_init(&first, 1 << 22);
    buf_init(&second, 1 << 22);
    json_write(value, &first);
    assert(!first.failed);
    assert(json_parse(buf_view(&first), &again, NULL) == TD_OK);
    json_write(again, &second);
    assert(first.len == second.len && memcmp(first.data, second.data, first.len) == 0);
    buf_deinit(&first);
    buf_deinit(&second);
    json_free(value);
    json_free(again);
    return 0;
}
