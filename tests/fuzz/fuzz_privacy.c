/* Any bytes: spans are in order, apart, inside the text; what is counted is what is listed. */
#include "../scanners.h"
#include "privacy/scan/privacy.h"
#include "privacy/scan/tally.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SPANS = 64 };

/* In order, apart, inside the text. */
static size_t check_spans(const struct privacy_span *spans, size_t count, size_t size)
{
    size_t before = 0;
    for (size_t i = 0; i < count && i < SPANS; i++) {
        if (spans[i].begin < before || spans[i].begin >= spans[i].end || spans[i].end > size ||
            (unsigned)spans[i].kind >= PRIVACY_KIND_COUNT ||
            spans[i].data_class < privacy_kind_class(spans[i].kind) || !(spans[i].score > 0) ||
            spans[i].score > 1)
            abort();
        before = spans[i].end;
    }
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + (size == 0)); /* exact size: a byte read too many is seen */
    if (text == NULL)
        return 0;
    memcpy(text, data, size);
    struct privacy_span spans[SPANS];
    const struct td_str all = {text, size};
    size_t count = check_spans(spans, privacy_scan(plain_scanner(), all, spans, SPANS), size);
    struct privacy_span strict[SPANS];
    if (check_spans(strict, privacy_scan_strict(plain_scanner(), all, strict, SPANS), size) < count)
        abort(); /* without names there is no less */
    struct privacy_tally found = {0};
    enum td_data_class data_class =
        privacy_classify(plain_scanner(), (struct td_str){text, size}, &found);
    size_t total = 0;
    for (size_t i = 0; i < PRIVACY_KIND_COUNT; i++)
        total += found.kinds[i];
    if (total != count || (data_class != TD_CLASS_PUBLIC && count == 0))
        abort();
    free(text);
    return 0;
}
