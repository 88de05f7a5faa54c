/* What the user said, without what they brought along, in canonical form.
 *
 * A decision must not depend on what others wrote. So fenced code, quoted lines, tagged documents,
 * long quotations and texts under a heading such as "Context:" are left out of the text and only
 * measured. Messages of other roles and schemas of tools are never looked at. A short follow-up
 * ("and now prove it") is read together with the user's turns before it.
 *
 * The caller owns the storage; no allocation; pure; any thread. */
#ifndef ROUTER_UTTERANCE_H
#define ROUTER_UTTERANCE_H

#include "request/request.h"

/* Of a longer utterance only the beginning (two thirds of this) and the end (one third) are read:
 * the question stands at one of them. */
#define UTTERANCE_BYTES_MAX 1024
#define UTTERANCE_SLACK 8 /* zeros after the text, so that words of 8 bytes can be read anywhere */

struct utterance {
    /* Folded characters (fold.h) in lower case. White space is one blank or newline, and a
     * character stands at most three times in a row. */
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
