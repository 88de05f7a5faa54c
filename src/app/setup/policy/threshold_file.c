/* A file of thresholds belongs to one gate; for another gate its numbers would mean something
 * else. */
#include "app/setup/policy/threshold_file.h"

#include "base/core/error.h"

#include <stdlib.h>

/* 64 tasks of some 100 bytes; a larger file is something else. */
#define FILE_BYTES_MAX (64u << 10)

enum td_status threshold_file_read(const char *path, enum threshold_gate gate,
                                   struct thresholds **out, struct td_error *err)
{
    struct buf text;
    struct td_error wrong = {0};
    *out = calloc(1, sizeof **out);
    if (!*out)
        return error_set(err, TD_NO_MEMORY, "no memory for thresholds");
    buf_init(&text, FILE_BYTES_MAX);
    enum td_status status = buf_read_file(&text, path, &wrong);
    if (status == TD_OK) {
        status = thresholds_read(buf_view(&text), *out, &wrong);
        error_prefix(&wrong, "%s", path);
    }
    if (status == TD_OK && (*out)->gate != gate)
        status = error_set(&wrong, TD_INVALID,
                           "%s was tuned for gate %s and is named by gate %s; tune one with --gate "
                           "%s",
                           path, thresholds_gate_name((*out)->gate), thresholds_gate_name(gate),
                           thresholds_gate_name(gate));
    buf_deinit(&text);
    if (status == TD_OK)
        return TD_OK;
    free(*out);
    *out = NULL;
    return error_set(err, status, "%s", wrong.message);
}
