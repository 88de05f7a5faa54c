/* A conversation as a file, for /save and /load: JSON that only its owner may read (mode 0600).
 *
 *   {"tandem_conversation": 1, "private": false,
 *    "messages": [{"role": "system", "content": "..."}, {"role": "user", ...}, ...]} */
#ifndef APP_CONVERSATION_FILE_H
#define APP_CONVERSATION_FILE_H

#include "app/chat/conversation.h"

#define CONVERSATION_FILE_BYTES_MAX (32u << 20)

/* Fills an empty conversation; after a failure it is to be deinitialised. TD_INVALID with what is
 * wrong; TD_UNSUPPORTED: a newer version wrote it. */
TD_MUST_CHECK enum td_status
conversation_parse(struct td_str text, struct conversation *conversation, struct td_error *err);
/* Fails as a buf does. */
void conversation_write(const struct conversation *conversation, struct buf *out);

#endif
