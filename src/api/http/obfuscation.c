/* Padding of events: each JSON object gets a member of random characters that fills its event up to
 * a multiple of some bytes. */
#include "api/http/obfuscation.h"

#include "base/core/assertion.h"
#include "base/core/str.h"

#define MEMBER ",\"obfuscation\":\""
#define END "\"}"

/* Six bits a character, none of which JSON escapes. */
static void write_characters(size_t count, struct rng *rng, struct buf *out)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    uint64_t bits = 0;
    for (size_t i = 0; i < count; i++, bits >>= 6) {
        if (i % 10 == 0)
            bits = rng_u64(rng);
        buf_append_char(out, alphabet[bits & 63]);
    }
}

/* end: what an event's object is followed by. */
static void write_event(struct td_str event, struct td_str end, size_t multiple, struct rng *rng,
                        struct buf *out)
{
    size_t closing = end.len + 1;
    if (event.len < closing || event.data[event.len - closing] != '}') {
        buf_append_str(out, event);
        return;
    }
    struct td_str open = str_slice(event, 0, event.len - closing);
    size_t len = open.len + sizeof MEMBER - 1 + sizeof END - 1 + end.len;
    buf_append_str(out, open);
    buf_append_str(out, STR(MEMBER));
    write_characters((multiple - len % multiple) % multiple, rng, out);
    buf_append_str(out, STR(END));
    buf_append_str(out, end);
}

void obfuscation_write(struct td_str events, bool lines, size_t multiple, struct rng *rng,
                       struct buf *out)
{
    ASSERT(multiple > 0 && rng && out);
    struct td_str end = lines ? STR("\n") : STR("\n\n");
    size_t start = 0, at;
    while ((at = str_find(events, end, start)) != SIZE_MAX) {
        write_event(str_slice(events, start, at + end.len), end, multiple, rng, out);
        start = at + end.len;
    }
    buf_append_str(out, str_slice(events, start, events.len));
}
