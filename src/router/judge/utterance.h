/* What the user said, apart from what they brought along, in canonical form.
 *
 * A decision must not depend on what others wrote: fenced code, quoted lines, tagged documents, long quotations and texts under a
 * heading such as "Context:" are left out of the text and only measured; other roles' messages and tool schemas are never looked at. A
 * short follow-up ("and now prove it") is read with the user's turns before it.
 *
 * Own storage of the caller, no allocation; pure; any thread. */
#ifndef ROUTER_UTTERANCE_H
#define ROUTER_UTTERANCE_H

#include "request/request.h"

/* Of a longer utterance the first two thirds of this and the last third are read: what is asked stands at the beginning or at the end. */
#define UTTERANCE_BYTES_MAX 1024
#define UTTERANCE_SLACK 8 /* zeros after the text, so that words of 8 bytes can be read anywhere */

struct utterance {
    /* Folded characters (fold.h), lower case, one blank or newline for any white space, at most three of a character in a row. */
    char text[UTTERANCE_BYTES_MAX + UTTERANCE_SLACK];
    size_t len;
    size_t own_bytes;    /* before folding, of the last user message */
    size_t quoted_bytes; /* of the last user message */
    uint32_t user_turns;
    uint32_t fences;            /* fenced blocks in the last user message */
    uint32_t letters, capitals; /* ASCII, of what was read */
};

void utterance_read(const struct td_request *request, struct utterance *out);
void utterance_read_text(struct td_str text, struct utterance *out); /* a single user message */

#endif
