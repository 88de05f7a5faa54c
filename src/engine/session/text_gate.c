/* Holds bytes back until they are certain: a tail that may begin a stop string, and the first bytes
 * of an unfinished UTF-8 character. What is held is always shorter than the longest stop string, so
 * a search in it costs little. */
#include "engine/session/text_gate.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/text/utf8.h"

/* Far above a piece (one vocabulary entry) and the held bytes (less than a stop string). */
#define HELD_BYTES_MAX ((size_t)16 << 20)

enum td_status text_gate_init(struct text_gate *gate, const struct td_str *stops, size_t stop_count,
                              struct td_error *err)
{
    ASSERT(stops != NULL || stop_count == 0);
    *gate = (struct text_gate){.stops = stops, .stop_count = stop_count};
    buf_init(&gate->held, HELD_BYTES_MAX);
    buf_init(&gate->text, 4 * HELD_BYTES_MAX); /* a bad byte becomes U+FFFD, three bytes */
    if (stop_count > TD_STOPS_MAX)
        return error_set(err, TD_INVALID, "%zu stop strings, at most %d", stop_count, TD_STOPS_MAX);
    for (size_t i = 0; i < stop_count; i++)
        if (stops[i].len == 0)
            return error_set(err, TD_INVALID, "stop string %zu is empty", i);
    return TD_OK;
}

void text_gate_deinit(struct text_gate *gate)
{
    buf_deinit(&gate->held);
    buf_deinit(&gate->text);
}

/* Offset of the earliest stop string, which becomes gate->found, or SIZE_MAX. */
static size_t find_stop(struct text_gate *gate)
{
    size_t earliest = SIZE_MAX;
    for (size_t i = 0; i < gate->stop_count; i++) {
        size_t at = str_find(buf_view(&gate->held), gate->stops[i], 0);
        if (at >= earliest)
            continue;
        earliest = at;
        gate->found = i;
    }
    return earliest;
}

/* How many bytes are before the longest tail that begins a stop string. */
static size_t before_possible_stop(const struct text_gate *gate)
{
    struct td_str held = buf_view(&gate->held);
    size_t tail_max = 0;
    for (size_t i = 0; i < gate->stop_count; i++) {
        size_t tail = gate->stops[i].len - 1 < held.len ? gate->stops[i].len - 1 : held.len;
        for (; tail > tail_max; tail--)
            if (memcmp(held.data + held.len - tail, gate->stops[i].data, tail) == 0)
                tail_max = tail;
    }
    return held.len - tail_max;
}

/* Moves the first `len` held bytes to the text; bytes that are not UTF-8 become U+FFFD. */
static enum td_status let_through(struct text_gate *gate, size_t len, struct td_str *text,
                                  struct td_error *err)
{
    struct td_str part = str_slice(buf_view(&gate->held), 0, len);
    buf_clear(&gate->text);
    while (part.len > 0) {
        size_t valid = utf8_valid_prefix(part);
        buf_append(&gate->text, part.data, valid);
        part = str_slice(part, valid, part.len);
        if (part.len > 0) {
            buf_append(&gate->text, "\xef\xbf\xbd", 3);
            part = str_slice(part, 1, part.len);
        }
    }
    buf_consume(&gate->held, len);
    *text = buf_view(&gate->text);
    if (gate->text.failed || gate->held.failed)
        return error_set(err, TD_NO_MEMORY, "no memory for the generated text");
    return TD_OK;
}

enum td_status text_gate_push(struct text_gate *gate, struct td_str piece, struct td_str *text,
                              struct td_error *err)
{
    ASSERT(text != NULL);
    *text = (struct td_str){NULL, 0};
    if (gate->stopped)
        return TD_OK;
    buf_append_str(&gate->held, piece);
    size_t stop = gate->held.failed ? SIZE_MAX : find_stop(gate);
    if (stop != SIZE_MAX) {
        enum td_status status = let_through(gate, stop, text, err);
        buf_clear(&gate->held);
        gate->stopped = true;
        return status;
    }
    size_t certain = before_possible_stop(gate);
    return let_through(gate, utf8_complete_len(str_slice(buf_view(&gate->held), 0, certain)), text,
                       err);
}

enum td_status text_gate_finish(struct text_gate *gate, struct td_str *text, struct td_error *err)
{
    return let_through(gate, gate->held.len, text, err);
}
