/* What a judge of answers said, and two answers that are held against each other: bounded reading,
 * and nothing but the exact object is a verdict. */
#include "base/core/str.h"
#include "router/watch/agreement.h"
#include "router/watch/verdict.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct verdict_nonces nonces = {"0123456789abcdef", "fedcba9876543210"};
    struct td_str text = {(const char *)data, size};
    enum verdict verdict = verdict_read(&nonces, text);
    if (verdict != VERDICT_NONE && !memmem(data, size, nonces.check, 16))
        abort();
    struct td_str a = str_slice(text, 0, size / 2), b = str_slice(text, size / 2, size);
    for (int by = COMPARE_MEANING; by <= COMPARE_STRUCTURE; by++) {
        if (!answers_agree((enum compare_by)by, text, text, false))
            abort(); /* an answer agrees with itself */
        if (answers_agree((enum compare_by)by, a, b, false) !=
            answers_agree((enum compare_by)by, b, a, false))
            abort();
    }
    return 0;
}
