#include "privacy/scan/forgotten.h"

#include "base/core/str.h"
#include "base/crypto/hash.h"
#include "base/time/clock.h"

#include <stdlib.h>

#define PROBES 4
#define BITS_EACH 64 /* of capacity: 16 times as many additions find one in six by mistake */
#define BITS_MIN ((size_t)1 << 12)
#define BITS_MAX ((size_t)1 << 21)
#define PERIOD_MS (FORGOTTEN_DAYS * UINT64_C(86400000))

struct forgotten {
    uint64_t since_ms; /* wall time: when the newer one was begun */
    uint32_t newer;    /* 0 or 1 */
    size_t bits;       /* of each, a power of two */
    uint8_t bytes[];   /* of both */
};

static size_t bytes_of(const struct forgotten *forgotten)
{
    return forgotten->bits / 8;
}

static uint8_t *part_of(struct forgotten *forgotten, uint32_t part)
{
    return forgotten->bytes + part * bytes_of(forgotten);
}

struct forgotten *forgotten_new(size_t capacity)
{
    size_t bits = BITS_MIN;
    while (bits < BITS_MAX && bits / BITS_EACH < capacity)
        bits *= 2;
    struct forgotten *forgotten = calloc(1, sizeof *forgotten + 2 * bits / 8);
    if (!forgotten)
        return NULL;
    forgotten->bits = bits;
    forgotten->since_ms = clock_wall_ms(NULL);
    return forgotten;
}

/* Double hashing (Kirsch and Mitzenmacher, "Less Hashing, Same Performance", 2006). */
static size_t probe(const struct forgotten *forgotten, uint64_t id, enum td_data_class data_class,
                    unsigned i)
{
    uint64_t mixed = hash_mix64(id + (uint64_t)data_class);
    return ((uint32_t)mixed + i * ((uint32_t)(mixed >> 32) | 1)) & (forgotten->bits - 1);
}

static void grow_older(struct forgotten *forgotten)
{
    uint64_t now_ms = clock_wall_ms(NULL);
    if (now_ms < forgotten->since_ms) /* the clock was put back */
        forgotten->since_ms = now_ms;
    if (now_ms - forgotten->since_ms < PERIOD_MS)
        return;
    forgotten->since_ms = now_ms;
    forgotten->newer ^= 1;
    memset(part_of(forgotten, forgotten->newer), 0, bytes_of(forgotten));
}

void forgotten_add(struct forgotten *forgotten, uint64_t id, enum td_data_class data_class)
{
    grow_older(forgotten);
    uint8_t *bytes = part_of(forgotten, forgotten->newer);
    for (unsigned i = 0; i < PROBES; i++) {
        size_t bit = probe(forgotten, id, data_class, i);
        bytes[bit / 8] = (uint8_t)(bytes[bit / 8] | 1u << bit % 8);
    }
}

static bool has(const struct forgotten *forgotten, const uint8_t *bytes, uint64_t id,
                enum td_data_class data_class)
{
    for (unsigned i = 0; i < PROBES; i++) {
        size_t bit = probe(forgotten, id, data_class, i);
        if (!(bytes[bit / 8] >> bit % 8 & 1))
            return false;
    }
    return true;
}

enum td_data_class forgotten_find(const struct forgotten *forgotten, uint64_t id)
{
    for (int c = TD_CLASS_RESTRICTED; c > TD_CLASS_PUBLIC; c--)
        for (uint32_t part = 0; part < 2; part++)
            if (has(forgotten, forgotten->bytes + part * bytes_of(forgotten), id,
                    (enum td_data_class)c))
                return (enum td_data_class)c;
    return TD_CLASS_PUBLIC;
}

/* The time, which part is newer, the number of bits, the bits. */
struct head {
    uint64_t since_ms, newer, bits;
};

void forgotten_write(const struct forgotten *forgotten, struct buf *out)
{
    const struct head head = {forgotten->since_ms, forgotten->newer, forgotten->bits};
    buf_append(out, &head, sizeof head);
    buf_append(out, forgotten->bytes, 2 * bytes_of(forgotten));
}

/* Of another size, after a change of the capacity, it is laid over itself: a probe is a number
 * modulo the size, so a smaller filter is folded and a larger one repeats it. */
static void lay_over(struct forgotten *forgotten, uint32_t part, const char *from, size_t count)
{
    uint8_t *bytes = part_of(forgotten, part);
    size_t own = bytes_of(forgotten);
    for (size_t i = 0; i < (own > count ? own : count); i++)
        bytes[i % own] = (uint8_t)(bytes[i % own] | (uint8_t)from[i % count]);
}

bool forgotten_read(struct forgotten *forgotten, struct td_str *text)
{
    struct head head;
    if (text->len < sizeof head)
        return false;
    memcpy(&head, text->data, sizeof head);
    if (head.newer > 1 || head.bits < BITS_MIN || head.bits > BITS_MAX ||
        (head.bits & (head.bits - 1)) != 0 || text->len - sizeof head < head.bits / 4)
        return false;
    size_t count = (size_t)head.bits / 8;
    forgotten->since_ms = head.since_ms;
    forgotten->newer = (uint32_t)head.newer;
    for (uint32_t part = 0; part < 2; part++)
        lay_over(forgotten, part, text->data + sizeof head + part * count, count);
    *text = str_slice(*text, sizeof head + 2 * count, text->len);
    return true;
}
