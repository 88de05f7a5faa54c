/* Turns the bytes of tokens into text for a reader. It holds back bytes that may still become part
 * of a stop string or of a UTF-8 character, and gives only complete, valid UTF-8. One thread. */
#ifndef ENGINE_TEXT_GATE_H
#define ENGINE_TEXT_GATE_H

#include "base/bytes/buf.h"

struct text_gate {
    const struct td_str *stops; /* borrowed until deinit */
    size_t stop_count;
    struct buf held; /* bytes that are not certain yet */
    struct buf text; /* the text of the last call */
    bool stopped;    /* a stop string was found; no more text comes */
    size_t found;    /* which one, then */
};

/* TD_INVALID for an empty stop string or too many. */
TD_MUST_CHECK enum td_status text_gate_init(struct text_gate *gate, const struct td_str *stops,
                                            size_t stop_count, struct td_error *err);
void text_gate_deinit(struct text_gate *gate);

/* Adds a piece. *text is what became certain, up to a stop string; then the rest is dropped and
 * gate->stopped is set. It **borrows** until the next call. TD_NO_MEMORY. */
TD_MUST_CHECK enum td_status text_gate_push(struct text_gate *gate, struct td_str piece,
                                            struct td_str *text, struct td_error *err);
/* Ends the text: gives what was held back. An unfinished character becomes U+FFFD. */
TD_MUST_CHECK enum td_status text_gate_finish(struct text_gate *gate, struct td_str *text,
                                              struct td_error *err);

#endif
