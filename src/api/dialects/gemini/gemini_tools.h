/* Functions of Gemini's API as those of a chat: tools[].functionDeclarations and
 * toolConfig.functionCallingConfig. Where only some functions are allowed, the others are not
 * offered. What Google's servers run (googleSearch, codeExecution, ...) is left out. Pure. */
#ifndef API_GEMINI_TOOLS_H
#define API_GEMINI_TOOLS_H

#include "api/dialects/chat_build.h"

bool gemini_tools_read(struct chat_build *build, const struct json *body);
/* Appends the names of the tools that the chat does not have. */
void gemini_tools_list_left_out(const struct json *body, struct buf *out);

#endif
