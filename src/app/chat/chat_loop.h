/* The conversation itself: line by line until the user leaves. */
#ifndef APP_CHAT_LOOP_H
#define APP_CHAT_LOOP_H

#include "app/chat/chat.h"

/* state_dir: the folder of the history; NULL = there is none. Gives the exit code: on a terminal 0;
 * without one that of the last question. A signal that ended it gives 128 and its number. */
int chat_loop(struct chat *chat, const char *state_dir);

#endif
