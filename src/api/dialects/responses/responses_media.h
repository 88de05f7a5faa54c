/* Parts `input_image`, `input_file` and `input_audio` of OpenAI's Responses API as parts of a chat
 * (chat_build_part_fn). */
#ifndef API_RESPONSES_MEDIA_H
#define API_RESPONSES_MEDIA_H

#include "api/dialects/chat_build.h"

chat_build_part_fn responses_media_image, responses_media_file, responses_media_audio;

#endif
