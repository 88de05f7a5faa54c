/* Compactions of OpenAI's Responses API. POST /v1/responses/compact has a tier write a summary of
 * a conversation. The answer's output is the conversation's new beginning: the user's own messages,
 * and one item with the summary:
 *
 *   {"id": "cmp_...", "type": "compaction", "encrypted_content": HEX}
 *
 * HEX holds {"summary", "declared", "seen"}: the text, and the classes of what it is a summary of,
 * so that they are the next request's, too. It is sealed under the installation's key and labelled
 * with its caller (keyed_seal): to everybody else it is no compaction. Nothing of it is kept here.
 * In a request the item becomes a message of the user's with the summary. No thread state. */
#ifndef API_RESPONSES_COMPACT_H
#define API_RESPONSES_COMPACT_H

#include "api/dialects/dialect.h"

extern const struct dialect dialect_responses_compact;

bool responses_compact_is(const struct json *item);
/* Appends the message that the item at `place` stands for, and raises the class. False with the
 * fault: it was not made here, or not for this caller. */
bool responses_compact_open(const struct responses_history *from, const struct json *item,
                            const char *place, struct history_class *data_class, struct buf *out,
                            struct fault *fault);

#endif
