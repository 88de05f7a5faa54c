/* Server-sent events of one length, whatever their texts. Otherwise an observer of the encrypted
 * stream could count bytes: an event's length minus a constant is its token's length. This is
 * OpenAI's form: each JSON object gets a member `obfuscation` of random characters, which no
 * compression can remove. */
#ifndef API_OBFUSCATION_H
#define API_OBFUSCATION_H

#include "base/bytes/buf.h"
#include "base/crypto/rng.h"

/* What a client gets that asks for it (stream_options.include_obfuscation). */
#define OBFUSCATION_BYTES_DEFAULT 256

/* Appends the events, each whose data is a JSON object made as long as the next multiple of
 * `multiple` bytes. Events are as sse_begin and sse_end write them, or lines of NDJSON; others stay
 * as they are. */
void obfuscation_write(struct td_str events, bool lines, size_t multiple, struct rng *rng,
                       struct buf *out);

#endif
