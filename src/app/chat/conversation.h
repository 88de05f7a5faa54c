/* What was said: a system prompt, and the messages of user and assistant in turn. The oldest pair
 * goes first when there are too many. One owner; one thread. */
#ifndef APP_CONVERSATION_H
#define APP_CONVERSATION_H

#include "base/bytes/buf.h"
#include "tandem/types.h"

#define CONVERSATION_MESSAGES_MAX 256
#define CONVERSATION_BYTES_MAX (8u << 20)

struct conversation {
    struct td_message items[CONVERSATION_MESSAGES_MAX + 1]; /* [0] is the system prompt's place */
    size_t count;                                           /* without the system prompt */
    size_t bytes;                                           /* of all texts */
    size_t dropped;                                         /* messages that went */
    /* It was said in private: it never leaves the device, also not later. */
    bool is_private;
};

void conversation_init(struct conversation *conversation);
void conversation_deinit(struct conversation *conversation);

/* Copies the text. TD_LIMIT: it is longer than a whole conversation may be. */
TD_MUST_CHECK enum td_status conversation_add(struct conversation *conversation, enum td_role role,
                                              struct td_str text, struct td_error *err);
void conversation_drop_last(struct conversation *conversation);
/* The system prompt stays. */
void conversation_clear(struct conversation *conversation);
/* An empty text: there is none. */
TD_MUST_CHECK enum td_status conversation_set_system(struct conversation *conversation,
                                                     struct td_str text, struct td_error *err);
struct td_str conversation_system(const struct conversation *conversation); /* "" = none */

/* With the system prompt. **borrows** until the next change. */
const struct td_message *conversation_messages(const struct conversation *conversation,
                                               size_t *count);

#endif
