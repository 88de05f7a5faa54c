/* Lines that begin with a slash: commands to the program. They are never sent to a model, also when
 * there is no such command. */
#ifndef APP_CHAT_COMMAND_H
#define APP_CHAT_COMMAND_H

#include "app/chat/chat.h"
#include "app/terminal/line_reader.h"

enum command_outcome { COMMAND_DONE, COMMAND_FAILED, COMMAND_QUIT };

bool chat_command_is(struct td_str line);
enum command_outcome chat_command_run(struct chat *chat, struct td_str line);
/* For the Tab key; ctx is the struct chat. */
void chat_command_complete(void *ctx, struct td_str before, struct completions *out);

/* Nothing of the conversation leaves the device, and none of it is kept. */
void chat_begin_private(struct chat *chat);

#endif
