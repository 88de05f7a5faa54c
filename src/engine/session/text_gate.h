/* Between a token's bytes and the text that a reader sees: holds back what may still become part of
 * a stop string or of a UTF-8 character, and lets through complete, valid UTF-8 only. One
 * thread. */
#ifndef ENGINE_TEXT_GATE_H
#define ENGINE_TEXT_GATE_H

#include "base/buf.h"

struct text_gate {
    const struct td_str *stops; /* borrowed until deinit */
    size_t stop_count;
    struct buf held; /* raw bytes that are not certain yet */
    struct buf text; /* what the last call let through */
    bool stopped;    /* a stop string was found: nothing more comes */
};

/* TD_INVALID for an empty stop string or too many. */
TD_MUST_CHECK enum td_status text_gate_init(struct text_gate *gate, const struct td_str *stops,
                                            size_t stop_count, struct td_error *err);
void text_gate_deinit(struct text_gate *gate);

/* Adds a piece. *text **borrows** until the next call: what became certain, up to a stop string
 * (the rest is dropped and gate->stopped set). TD_NO_MEMORY. */
TD_MUST_CHECK enum td_status text_gate_push(struct text_gate *gate, struct td_str piece,
                                            struct td_str *text, struct td_error *err);
/* The end: what was held back. An unfinished character becomes U+FFFD. */
TD_MUST_CHECK enum td_status text_gate_finish(struct text_gate *gate, struct td_str *text,
                                              struct td_error *err);

#endif
