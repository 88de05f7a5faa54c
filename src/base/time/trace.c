/* Reading is strict, because an id goes on into headers, the ledger and the log: what is not
 * exactly W3C's form is treated as absent. Ids must differ, but they are no secrets. So the spans
 * of attempts are made from the span above them and need no further random numbers. */
#include "base/time/trace.h"

#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "base/crypto/hash.h"
#include "base/time/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define HEADER_CHARS (TRACE_HEADER_BYTES - 1)
#define ID_AT 3
#define SPAN_AT (ID_AT + TRACE_ID_BYTES)
#define FLAGS_AT (SPAN_AT + TRACE_SPAN_BYTES)
#define SAMPLED 0x01 /* the ledger records every exchange */
#define FLAGS_KNOWN 0x03

static bool read_bytes(const char *text, size_t chars, uint8_t *out)
{
    return crypto_unhex((struct td_str){text, chars}, out, chars / 2);
}

static bool is_zero(const uint8_t *bytes, size_t len)
{
    uint8_t any = 0;
    for (size_t i = 0; i < len; i++)
        any |= bytes[i];
    return any == 0;
}

/* A later version may go on after the flags. */
static bool length_fits(const char *header, uint8_t version)
{
    size_t len = strnlen(header, HEADER_CHARS + 1);
    return len >= HEADER_CHARS &&
           (header[HEADER_CHARS] == '\0' || (version > 0 && header[HEADER_CHARS] == '-'));
}

static bool read_header(const char *header, struct trace *out)
{
    uint8_t version, id[16], span[8], flags;
    if (strnlen(header, HEADER_CHARS) < HEADER_CHARS || !read_bytes(header, 2, &version) ||
        version == 0xff || !length_fits(header, version) || header[ID_AT - 1] != '-' ||
        header[SPAN_AT - 1] != '-' || header[FLAGS_AT - 1] != '-')
        return false;
    if (!read_bytes(header + ID_AT, TRACE_ID_BYTES - 1, id) || is_zero(id, sizeof id) ||
        !read_bytes(header + SPAN_AT, TRACE_SPAN_BYTES - 1, span) || is_zero(span, sizeof span) ||
        !read_bytes(header + FLAGS_AT, 2, &flags))
        return false;
    memcpy(out->id, header + ID_AT, TRACE_ID_BYTES - 1);
    memcpy(out->parent, header + SPAN_AT, TRACE_SPAN_BYTES - 1);
    out->flags = flags & FLAGS_KNOWN;
    return true;
}

static void write_span(uint64_t value, char out[static TRACE_SPAN_BYTES])
{
    snprintf(out, TRACE_SPAN_BYTES, "%016" PRIx64, value ? value : 1);
}

void trace_mark_time(char *digits)
{
    char text[TRACE_TIME_DIGITS + 1];
    snprintf(text, sizeof text, "%05x", (unsigned)(clock_wall_ms(NULL) >> 16 & 0xfffff));
    memcpy(digits, text, TRACE_TIME_DIGITS);
}

void trace_begin(struct trace *trace, const char *header)
{
    uint64_t random[3];
    if (crypto_random(random, sizeof random, NULL) != TD_OK) /* then the time must do */
        for (size_t i = 0; i < 3; i++)
            random[i] = hash_mix64(clock_monotonic_ns(NULL) + i);
    *trace = (struct trace){.flags = SAMPLED};
    write_span(random[2], trace->span);
    if (header && read_header(header, trace))
        return;
    trace->restarted = header != NULL;
    write_span(random[0], trace->id);
    write_span(random[1], trace->id + TRACE_SPAN_BYTES - 1);
    trace_mark_time(trace->id);
}

void trace_child(const struct trace *trace, uint32_t number, char out[static TRACE_SPAN_BYTES])
{
    uint64_t above = hash_fnv1a64(trace->span, TRACE_SPAN_BYTES - 1, HASH_FNV1A64_BASIS);
    write_span(hash_mix64(above + number), out);
}

void trace_write(const struct trace *trace, const char *span, char out[static TRACE_HEADER_BYTES])
{
    snprintf(out, TRACE_HEADER_BYTES, "00-%s-%s-%02x", trace->id, span, trace->flags);
}
