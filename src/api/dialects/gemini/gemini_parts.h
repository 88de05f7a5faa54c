/* The contents of a request of Gemini's API as messages of a chat:
 *
 *   text                      text; one of the model's thoughts is left out
 *   inlineData, fileData      image_url, input_audio or file, by its mimeType
 *   functionCall              tool_calls; its thoughtSignature in extra_content.google, as Google's
 *                             servers have it in OpenAI's form
 *   functionResponse          a message of the role tool
 *   what Google's servers ran nothing (gemini_parts_list_left_out)
 *
 * Calls need no id in Gemini's API. One without gets a number, and an answer without one belongs to
 * the first call of its name that has none. No thread state. */
#ifndef API_GEMINI_PARTS_H
#define API_GEMINI_PARTS_H

#include "api/dialects/chat_build.h"

/* Reads systemInstruction and contents. counts: nothing is to be answered. */
bool gemini_parts_read(struct chat_build *build, const struct json *body, bool counts);
/* Appends the kinds of parts that the chat does not have. */
void gemini_parts_list_left_out(const struct json *body, struct buf *out);
/* The text of a content's parts, for who embeds it: one after another, with a line feed between
 * them. False with the fault, also where a part is no text. */
bool gemini_parts_text(const struct json *content, const char *place, struct buf *out,
                       struct fault *fault);

#endif
