/* Anthropic's blocks `image` and `document` as parts of a chat (chat_build_part_fn). */
#ifndef API_MESSAGES_MEDIA_H
#define API_MESSAGES_MEDIA_H

#include "api/dialects/chat_build.h"

chat_build_part_fn messages_media_image, messages_media_document;

#endif
