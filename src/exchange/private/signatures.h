/* What a server put into an answer for itself to read in the next turn: a thought signature, a
 * thought in cipher. It looks like a key, because it is a long random text, and without it the next
 * turn is refused. So it is known again, and not scanned, when a caller sends it back.
 *
 * Known is only what a server sent in an answer to that caller, byte by byte: no text of a caller's
 * own is taken for one, wherever it stands. It has the class of the request that was answered, as
 * that was sent, because a server may have put into it whatever it was told. Kept are keyed hashes,
 * in memory, of bounded number. Thread-safe. */
#ifndef EXCHANGE_SIGNATURES_H
#define EXCHANGE_SIGNATURES_H

#include "request/request.h"

struct signatures;

/* **returns new** (signatures_free), NULL without memory. */
struct signatures *signatures_new(void);
void signatures_free(struct signatures *signatures);

/* Remembers those of a piece of an answer. raw_delta: as the server sent it, before any value is
 * put back into it; NULL = none. caller NULL: nobody's. sent: the class of what the server got. */
void signatures_note(struct signatures *signatures, const char *caller, enum td_data_class sent,
                     const struct json *raw_delta);
/* Finds those of its caller among the request's messages and lists them in it; its class is at
 * least theirs. *out **returns new** (free) what the request then borrows. What is not found, also
 * without memory, is a text like any other. signatures NULL: none is known. */
void signatures_find(struct signatures *signatures, struct td_request *request,
                     struct td_str **out);

#endif
