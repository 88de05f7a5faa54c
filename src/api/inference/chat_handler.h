/* One chat, whatever dialect it is asked in. One loop's thread. */
#ifndef API_CHAT_HANDLER_H
#define API_CHAT_HANDLER_H

#include "api/dialects/dialect.h"

/* Replies, now or later. path: what the body does not say. */
void chat_handle_on(struct api *api, struct http_request *request, const struct dialect *dialect,
                    struct dialect_path path);

#endif
