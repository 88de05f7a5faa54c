/* Any answer after any shown text, in any pieces: the same is new of it as of the whole, and what
 * is left out is the end of what was shown. */
#include "base/core/str.h"
#include "exchange/limits/overlap.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Pieces of 1 to 16 bytes, or all at once. */
static bool run(struct td_str shown, struct td_str answer, bool exact, unsigned step,
                struct buf *out)
{
    struct overlap overlap = {0};
    bool ok = true;
    overlap_init(&overlap, shown, exact);
    for (size_t at = 0; ok && at < answer.len;) {
        size_t len = step ? 1 + (at * step) % 16 : answer.len;
        ok = overlap_feed(&overlap, str_slice(answer, at, at + len), out);
        at += len;
    }
    ok = ok && overlap_end(&overlap, out);
    overlap_deinit(&overlap);
    return ok;
}

/* First byte: exact, and the pieces. The shown text up to a zero byte, then the answer; \x01 in the
 * answer stands for the whole of what was shown, \x02 for its second half. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf answer, whole, pieces;
    if (size < 2 || size > 65536)
        return 0;
    struct td_str all = {(const char *)data + 1, size - 1};
    size_t zero = 0;
    while (zero < all.len && all.data[zero] != '\0')
        zero++;
    struct td_str shown = str_slice(all, 0, zero);
    buf_init(&answer, 1 << 20);
    for (size_t i = zero + 1; i < all.len; i++) {
        if (all.data[i] == '\x01')
            buf_append_str(&answer, shown);
        else if (all.data[i] == '\x02')
            buf_append_str(&answer, str_slice(shown, shown.len / 2, shown.len));
        else
            buf_append_char(&answer, all.data[i]);
    }
    buf_init(&whole, 2 << 20);
    buf_init(&pieces, 2 << 20);
    bool exact = data[0] & 1;
    bool ok = run(shown, buf_view(&answer), exact, 0, &whole);
    if (ok != run(shown, buf_view(&answer), exact, data[0] >> 1, &pieces))
        abort();
    if (ok && !answer.failed) {
        struct td_str text = buf_view(&answer), fresh = buf_view(&whole);
        if (!str_equal(fresh, buf_view(&pieces)) || !str_ends_with(text, fresh) ||
            !str_ends_with(shown, str_slice(text, 0, text.len - fresh.len)))
            abort();
    }
    buf_deinit(&answer);
    buf_deinit(&whole);
    buf_deinit(&pieces);
    return 0;
}
