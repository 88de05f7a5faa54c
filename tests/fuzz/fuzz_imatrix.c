/* Any bytes as an importance matrix of the older form: refused with words, or all of it is
 * finite. */
#include "quant/measure/imatrix.h"

#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct imatrix *imatrix = NULL;
    struct td_error err = {0};
    enum td_status status = imatrix_read_dat(data, size, "fuzz", &imatrix, &err);
    if ((status == TD_OK) != (imatrix != NULL) || (status != TD_OK && err.message[0] == '\0'))
        abort();
    for (size_t i = 0; i < imatrix_count(imatrix); i++) {
        const struct imatrix_entry *entry = imatrix_at(imatrix, i);
        for (size_t v = 0; v < (size_t)entry->cols * entry->experts; v++)
            if (!isfinite(entry->importance[v]) || entry->importance[v] <= 0)
                abort();
    }
    imatrix_free(imatrix);
    return 0;
}
