/* Any answer to any request: in pieces it is judged as the whole is. */
#include "base/core/str.h"
#include "exchange/limits/answer_values.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The request's text up to a zero byte, then the answer. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct td_str all = {(const char *)data, size};
    size_t zero = 0;
    while (zero < all.len && all.data[zero] != '\0')
        zero++;
    struct td_str answer = str_slice(all, zero + 1, all.len);
    const struct td_message said = {TD_ROLE_USER, str_slice(all, 0, zero)};
    const struct td_request request = {
        .messages = &said, .message_count = 1, .format = TD_FORMAT_JSON};
    struct answer_values whole, pieces;
    answer_values_init(&whole, &request);
    answer_values_init(&pieces, &request);
    answer_values_add(&whole, answer);
    for (size_t at = 0; at < answer.len; at++)
        answer_values_add(&pieces, str_slice(answer, at, at + 1));
    if (answer_values_judge(&whole) != answer_values_judge(&pieces))
        abort();
    return 0;
}
