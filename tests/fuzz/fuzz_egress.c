/* Lines of an egress ledger, from any bytes: a line that follows must also be read, nothing that was
 * not signed is a head, and a head says in one way only how the lines before it end. */
#include "base/str.h"
#include "ledger/egress_line.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct td_str bytes = {(const char *)data, size}, line;
    struct egress_chain chain = {0, EGRESS_NO_HASH}, read;
    struct egress_head head;
    while (str_next(&bytes, '\n', &line)) {
        if (egress_line_follow(line, &chain, NULL) == TD_OK &&
            (!egress_line_read(line, &read) || read.count != chain.count))
            abort();
        if (egress_head_read(line, &head, NULL) != TD_OK)
            continue;
        enum egress_end end = egress_head_compare(&head, &chain);
        if (!head.date[0] || line.data[line.len - 1] != '}' ||
            (end == EGRESS_END_CUT) != (chain.count < head.chain.count) ||
            (end != EGRESS_END_CUT && end != EGRESS_END_FORGED &&
             chain.count > head.chain.count + 1))
            abort();
    }
    return 0;
}
