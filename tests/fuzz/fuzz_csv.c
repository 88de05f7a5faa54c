/* Tables of anybody's: each field is part of the text, and the reader comes to its end. */
#include "app/cli/csv.h"
#include "base/core/str.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct td_str rest = {(const char *)data, size};
    struct buf field;
    bool line_end = true;
    char separator = csv_separator(rest);
    buf_init(&field, size + 1);
    for (size_t left = size; csv_next(&rest, separator, &field, &line_end); left = rest.len)
        if (field.failed || field.len > left || rest.len >= left)
            abort();
    if (rest.len || !line_end)
        abort();
    buf_deinit(&field);
    return 0;
}
