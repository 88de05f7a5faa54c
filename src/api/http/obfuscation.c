/* Padding of events: each JSON object gets a member of random characters that fills its event up to
 * a multiple of some bytes. */
#include "api/http/obfuscation.h"

#include "base/str.h"

#include <assert.h>

#define MEMBER ",\"obfuscation\":\""
#define END "\"}\n\n"

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

static void write_event(struct td_str event, size_t multiple, struct rng *rng, struct buf *out)
{
    if (event.len < 3 || event.data[event.len - 3] != '}') {
        buf_append_str(out, event);
        return;
    }
    struct td_str open = str_slice(event, 0, event.len - 3);
    size_t len = open.len + sizeof MEMBER - 1 + sizeof END - 1;
    buf_append_str(out, open);
    buf_append_str(out, STR(MEMBER));
    write_characters((multiple - len % multiple) % multiple, rng, out);
    buf_append_str(out, STR(END));
}

void obfuscation_write(struct td_str events, size_t multiple, struct rng *rng, struct buf *out)
{
    assert(multiple > 0 && rng && out);
    size_t start = 0, end;
    while ((end = str_find(events, STR("\n\n"), start)) != SIZE_MAX) {
        write_event(str_slice(events, start, end + 2), multiple, rng, out);
        start = end + 2;
    }
    buf_append_str(out, str_slice(events, start, events.len));
}
