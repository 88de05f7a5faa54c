/* The commands that read and write files of the user. */
#ifndef APP_CHAT_FILES_H
#define APP_CHAT_FILES_H

#include "app/chat/chat.h"
#include "app/terminal/line_reader.h"

/* Each takes the path as the user wrote it: "~/" and quotes are understood. They say what they did
 * or why not; false = not. */
bool chat_attach(struct chat *chat, struct td_str path);
bool chat_save(struct chat *chat, struct td_str path);
bool chat_load(struct chat *chat, struct td_str path);
/* The same where there is such a file; a new conversation where there is none. */
bool chat_resume(struct chat *chat, struct td_str path);

/* Names of files that begin like this. */
void chat_complete_path(struct td_str begin, struct completions *out);

#endif
