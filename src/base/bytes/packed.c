/* One lock for all: data are expanded a few times in the life of a process. zlib gets its state
 * from a block that is used again each time, so a program short of memory can still read what it
 * has built in. */
#include "base/bytes/packed.h"

#include "base/core/assertion.h"

#include <pthread.h>
#include <string.h>
#define ZLIB_CONST /* zlib reads its input and does not write it */
#include <zlib.h>

#define RAW_DEFLATE (-15)    /* zlib's number for a stream without a header, with any window */
#define STATE_BYTES 0x10000u /* zlib takes 7 KB, zlib-ng 48; pages that nobody uses cost nothing */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Alignas(64) unsigned char state[STATE_BYTES];

/* opaque: how many bytes of the state are taken. */
static void *take_locked(void *opaque, unsigned count, unsigned bytes)
{
    size_t *taken = opaque, wanted = ((size_t)count * bytes + 63) / 64 * 64;
    if (wanted > STATE_BYTES - *taken)
        return NULL;
    *taken += wanted;
    return state + *taken - wanted;
}

static void give_back(void *opaque, void *block)
{
    (void)opaque, (void)block;
}

static void expand_locked(const struct packed *packed)
{
    size_t taken = 0;
    z_stream stream = {.next_in = packed->bytes,
                       .avail_in = (uInt)packed->packed_len,
                       .next_out = (Bytef *)packed->room,
                       .avail_out = (uInt)packed->len,
                       .zalloc = take_locked,
                       .zfree = give_back,
                       .opaque = &taken};
    int began = inflateInit2(&stream, RAW_DEFLATE);
    ASSERT(began == Z_OK);
    int done = inflate(&stream, Z_FINISH);
    ASSERT(done == Z_STREAM_END && stream.avail_out == 0);
    inflateEnd(&stream);
}

const char *packed_open(struct packed *packed)
{
    if (atomic_load_explicit(&packed->open, memory_order_acquire))
        return packed->room;
    pthread_mutex_lock(&lock);
    if (!atomic_load_explicit(&packed->open, memory_order_relaxed)) {
        expand_locked(packed);
        atomic_store_explicit(&packed->open, true, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
    return packed->room;
}

const char *packed_next(const char *text)
{
    return text + strlen(text) + 1;
}

const char *packed_string(struct packed *packed, size_t number)
{
    const char *text = packed_open(packed);
    for (; number > 0; number--)
        text = packed_next(text);
    ASSERT(text < packed->room + packed->len);
    return text;
}
